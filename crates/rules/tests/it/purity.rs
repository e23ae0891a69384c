//! Purity: the compiler keeps `std` out of the rules (`no_std`); these tests close the other ways in.

use std::{fs, path::Path, process::Command};

fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn the_standard_library_is_let_in_for_tests_only() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 20, "{} files", files.len());
    let root = &files.iter().find(|(path, _)| path.ends_with("src/lib.rs")).unwrap().1;
    assert!(root.lines().any(|line| line == "#![no_std]"));
    for (path, text) in &files {
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let lets_in = line.contains("extern crate std");
            let for_tests = number > 0 && lines[number - 1].trim() == "#[cfg(test)]";
            assert!(!lets_in || for_tests, "{path}:{}: {line}", number + 1);
        }
    }
}

#[test]
fn no_dependency_can_ask_the_system_for_randomness() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "-p", "necrodome-rules", "-e", "normal", "--prefix", "none"])
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).unwrap();
    assert!(tree.contains("rand_chacha"), "{tree}");
    for entropy in ["getrandom", "rand_os", "fastrand"] {
        assert!(!tree.contains(entropy), "{entropy} is a dependency of the rules:\n{tree}");
    }
}
