//! The program, run in a folder.

use assert_cmd::Command;
use std::path::Path;

/// A command of the program.
pub fn necrodome(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("necrodome"));
    command.current_dir(folder).args(words).env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
    command
}

/// Standard output of a command that succeeds.
pub fn output(folder: &Path, words: &[&str]) -> String {
    let result = necrodome(folder, words).output().unwrap();
    let out = String::from_utf8(result.stdout).unwrap();
    assert!(result.status.success(), "{words:?}\n{out}\n{}", String::from_utf8_lossy(&result.stderr));
    out
}
