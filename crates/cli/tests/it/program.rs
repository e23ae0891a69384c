//! The program under test.

use assert_cmd::Command;
use std::path::Path;

/// A process of the program, to be spoken to while it runs.
pub fn process(words: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("necrodome"));
    command.args(words).env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR").env_remove("COLUMNS");
    command
}

/// A command of the program.
pub fn necrodome(words: &[&str]) -> Command {
    Command::from_std(process(words))
}

/// A command of the program, run in a folder.
pub fn necrodome_in(folder: &Path, words: &[&str]) -> Command {
    let mut command = necrodome(words);
    command.current_dir(folder);
    command
}

/// Standard output of a command that succeeds.
pub fn output(command: &mut Command) -> String {
    let result = command.output().unwrap();
    let out = String::from_utf8(result.stdout).unwrap();
    assert!(result.status.success(), "{command:?}\n{out}\n{}", String::from_utf8_lossy(&result.stderr));
    out
}

/// Standard output of a command that succeeds in a folder.
pub fn output_in(folder: &Path, words: &[&str]) -> String {
    output(&mut necrodome_in(folder, words))
}

/// Standard output of a command that succeeds and says nothing on standard error.
pub fn quiet_output(command: &mut Command) -> String {
    let result = command.assert().success().stderr("");
    String::from_utf8(result.get_output().stdout.clone()).unwrap()
}

/// Standard error of a command that is refused: one line and hints, nothing on standard output.
pub fn refusal(command: &mut Command, code: i32) -> String {
    let result = command.assert().code(code).stdout("");
    let error = String::from_utf8(result.get_output().stderr.clone()).unwrap();
    // On a busy machine it may take so long that progress is shown. How programs are confined is told before they start.
    let comes_before = ["asking: ", "playing: ", "programs are confined by "];
    let is_before = |line: &&str| comes_before.iter().any(|start| line.starts_with(start));
    let error: String = error.split_inclusive('\n').filter(|line| !is_before(line)).collect();
    assert!(error.starts_with("error: "), "{error}");
    assert!(error.lines().skip(1).all(|line| line.starts_with("hint: ")), "{error}");
    error.trim_end().to_owned()
}
