//! What the program says about itself: documents, rules, completions, man pages.

use crate::{
    program::{necrodome_in, quiet_output},
    terminal::Terminal,
};
use assert_cmd::Command;
use std::{fs, path::Path};

/// Somewhere else than in the checkout.
fn necrodome(words: &[&str]) -> Command {
    necrodome_in(Path::new("/"), words)
}

fn output(words: &[&str]) -> String {
    quiet_output(&mut necrodome(words))
}

fn document(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)).unwrap()
}

#[test]
fn documents_are_listed_and_printed_as_they_are_written() {
    let list = output(&["docs"]);
    for page in ["protocol", "rules/tokyo", "schema/last-bullet"] {
        assert!(list.lines().any(|line| line.split_whitespace().next() == Some(page)), "{page}: {list}");
    }
    assert_eq!(output(&["docs", "protocol"]), document("protocol.md"));
    assert_eq!(output(&["docs", "docs/protocol.md"]), document("protocol.md"));
    assert_eq!(output(&["docs", "tokyo"]), document("rules/tokyo.md"));
    assert_eq!(output(&["docs", "schema/tokyo"]), document("schema/tokyo.json"));
    assert_eq!(output(&["rules", "zombie-dice-race"]), document("rules/zombie-dice.md"));
    assert_eq!(output(&["rules", "tokyo"]), document("rules/tokyo.md"));
}

#[test]
fn an_unknown_document_is_refused_with_the_nearest_name() {
    let refused = necrodome(&["docs", "protocl"]).assert().code(2);
    let error = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(error.ends_with("hint: `necrodome docs` lists them\n"), "{error}");
    for (words, near) in [(["docs", "protocl"], "protocol"), (["rules", "tokio"], "tokyo")] {
        let refused = necrodome(&words).assert().code(2).stdout("");
        let error = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(error.contains(&format!("did you mean {near}?")), "{error}");
    }
}

#[test]
fn a_terminal_gets_a_pager() {
    let folder = tempfile::tempdir().unwrap();
    let pager = folder.path().join("pager");
    fs::write(&pager, "#!/bin/sh\nhead -n 1\necho \"shown by $1\"\n").unwrap();
    let pager = format!("sh {} me", pager.display());
    let mut terminal = Terminal::run_with(&["docs", "protocol"], &[("PAGER", &pager)]);
    terminal.expect(document("protocol.md").lines().next().unwrap());
    terminal.expect("shown by me");
    assert_eq!(terminal.exit_code(), 0);

    // None at all where it cannot be run, is not wanted, or could not draw.
    for variable in [("PAGER", "no-such-pager"), ("PAGER", ""), ("TERM", "dumb")] {
        let mut terminal = Terminal::run_with(&["rules", "tokyo"], &[variable]);
        terminal.expect(document("rules/tokyo.md").lines().last().unwrap());
        assert_eq!(terminal.exit_code(), 0);
    }
}

#[test]
fn ctrl_c_is_left_to_the_pager() {
    let folder = tempfile::tempdir().unwrap();
    let pager = folder.path().join("pager");
    // Waits for the signal itself: a trap of a shell is not run if the signal comes just before the shell reads.
    let program = "\
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
print('ready', flush=True)
for _ in range(2):
    signal.sigwait({signal.SIGINT})
    print('still here', flush=True)
open('/dev/tty').readline()
print('bye', flush=True)
";
    fs::write(&pager, program).unwrap();
    let pager = format!("python3 {}", pager.display());
    let mut terminal = Terminal::run_with(&["docs", "protocol"], &[("PAGER", &pager)]);
    terminal.expect("ready");
    for _ in 0..2 {
        terminal.press("\x03");
        terminal.expect("still here");
    }
    terminal.press("q\n");
    terminal.expect("bye");
    assert_eq!(terminal.exit_code(), 0);
}

#[test]
fn shells_complete_commands() {
    for (shell, word) in
        [("bash", "complete -F"), ("zsh", "#compdef necrodome"), ("fish", "complete -c necrodome")]
    {
        let text = output(&["completions", shell]);
        assert!(text.contains(word) && text.contains("check-bot"), "{shell}: {text}");
    }
    // The shell on every machine finds nothing wrong with its own.
    let bash =
        std::process::Command::new("bash").args(["-n", "-c", &output(&["completions", "bash"])]).status();
    assert!(bash.unwrap().success());
}

#[test]
fn every_command_has_a_man_page() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("share/man1");
    necrodome(&["man", "--out", out.to_str().unwrap()]).assert().success().stdout("");
    for page in ["necrodome.1", "necrodome-tournament.1", "necrodome-judge-simulate.1"] {
        let text = fs::read_to_string(out.join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}: {text}");
    }
    necrodome(&["man", "--out", "/dev/null/x"]).assert().code(1);
}
