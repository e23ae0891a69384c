//! Arbitrary bytes as a pack: nothing panics, and nothing is written outside of the folder that it is unpacked into.

#![no_main]

use libfuzzer_sys::fuzz_target;
use necrodome_arena::tournament::PlanFile;
use std::fs;

fuzz_target!(|bytes: &[u8]| {
    // Two folders up from where packs are unpacked, nothing may appear.
    let home = std::env::temp_dir().join(format!("necrodome-fuzz-{}", std::process::id()));
    let (file, inner) = (home.join("a.pack"), home.join("tmp/deep"));
    fs::create_dir_all(&inner).unwrap();
    fs::write(&file, bytes).unwrap();
    // Packs are unpacked into a temporary folder, which is below this one.
    tempfile::env::override_temp_dir(&inner).ok();
    drop(PlanFile::read(&file));
    let names = |folder: &std::path::Path| fs::read_dir(folder).unwrap().count();
    assert_eq!((names(&home), names(&home.join("tmp")), names(&inner)), (2, 1, 0));
    fs::remove_dir_all(&home).unwrap();
});
