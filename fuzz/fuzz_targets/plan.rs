//! Arbitrary JSON as the plan of a stored tournament: nothing panics, and what is written is read to the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use necrodome_arena::tournament::Plan;

fuzz_target!(|bytes: &[u8]| {
    let Ok(plan) = serde_json::from_slice::<Plan>(bytes) else { return };
    let written = serde_json::to_vec(&plan).unwrap();
    assert_eq!(serde_json::from_slice::<Plan>(&written).unwrap(), plan);
});
