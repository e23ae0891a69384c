//! `necrodome judge watch`: plain text, and the view in a real terminal while the script is edited.

use crate::{program::necrodome, terminal::Terminal};
#[allow(dead_code, reason = "shared with other tests")]
use std::{
    fs::{self, OpenOptions},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::channel,
    thread,
    time::Duration,
};
use tempfile::TempDir;

const PARTY: &str = "HUMAN tim\nHUMAN olga\nHUMAN nina\nHUMAN ida\nZOMBIE kiril\nGAME_START\n";

fn script(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("game.txt");
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn append(path: &Path, text: impl AsRef<[u8]>) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_ref()).unwrap();
}

/// As many editors save: a new file that takes the name.
fn replace(path: &Path, text: impl AsRef<[u8]>) {
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(&new, path).unwrap();
}

fn watch(path: &Path) -> Terminal {
    Terminal::run(&["judge", "watch", path.to_str().unwrap()])
}

/// Waits until all of the screen is drawn: the curtain is drawn and opened, and the last row comes last.
fn settle(terminal: &mut Terminal) {
    terminal.press("c");
    terminal.expect_on_screen("c opens the curtain");
    terminal.press("c");
    terminal.expect_on_screen("q quit");
}

fn once(path: &Path) -> assert_cmd::assert::Assert {
    necrodome(&["judge", "watch", "--once"]).arg(path).assert()
}

#[test]
fn once_prints_how_it_stands() {
    let (_folder, path) = script(&format!("{PARTY}i tim olga\nfoo\nkiril!\ni tim kir"));
    let result = once(&path).success().stderr("");
    let output = String::from_utf8(result.get_output().stdout.clone()).unwrap();
    assert_eq!(
        output,
        "turn 1 of 8
tim    human     1 antibody, met 1
olga   human     1 antibody, met 1
nina   human     0 antibodies, met nobody
ida    human     0 antibodies, met nobody
kiril  zombie    0 viruses, met nobody
met nobody yet: nina, ida, kiril
announced: 4 humans, 1 zombie; the most antibodies anybody has: 0, the most viruses: 0
whispered
tim    you are human and have 0 antibodies
olga   you are human and have 0 antibodies
nina   you are human and have 0 antibodies
ida    you are human and have 0 antibodies
kiril  you are a zombie and have 0 viruses
line 8, column 1: there is no command \"foo\"; expected HUMAN, ZOMBIE, GAME_START, INTERACT (i), ANTIDOTE (a), END (e) or NEXT_TURN (nt)
line 9, column 1: there is no command \"kiril\"; expected HUMAN, ZOMBIE, GAME_START, INTERACT (i), ANTIDOTE (a), END (e) or NEXT_TURN (nt)
line 10 does not count yet: finish it with a line break
"
    );
    let missing = once(&path.with_extension("nope")).code(2).stdout("");
    let error = String::from_utf8(missing.get_output().stderr.clone()).unwrap();
    assert!(error.contains("game.nope: No such file"), "{error}");
}

#[test]
fn without_a_terminal_every_change_is_printed() {
    let (_folder, path) = script(PARTY);
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("necrodome"))
        .args(["judge", "watch"])
        .arg(&path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (sender, output) = channel();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let hear = |wanted: &str| {
        while !output.recv_timeout(Duration::from_secs(120)).unwrap().contains(wanted) {}
    };
    hear("met nobody yet: tim, olga, nina, ida, kiril");
    append(&path, "i tim kiril\n");
    hear("---");
    hear("tim    infected  0 antibodies, met 1");
    replace(&path, format!("{PARTY}nt\n"));
    hear("---");
    hear("turn 2 of 8");
    // Saved in place the file is empty for a moment: that is never shown.
    for turns in (2..6).chain(1..5) {
        fs::write(&path, format!("{PARTY}{}", "nt\n".repeat(turns))).unwrap();
        let wanted = format!("turn {} of 8", turns + 1);
        loop {
            let line = output.recv_timeout(Duration::from_secs(120)).unwrap();
            assert!(!line.contains("before the game"), "{line}");
            if line.contains(&wanted) {
                break;
            }
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_view_follows_every_way_of_saving() {
    let (_folder, path) = script(PARTY);
    let mut terminal = watch(&path);
    terminal.expect_on_screen("q quit");
    terminal.expect_on_screen("met nobody yet: tim, olga, nina, ida, kiril");
    assert!(terminal.screen().contains("6   GAME_START"), "{}", terminal.screen());
    // Appended.
    append(&path, "i tim kiril\n");
    terminal.expect_on_screen("7   i tim kiril");
    terminal.expect_on_screen("tim    infected  0 antibodies, met 1");
    // Replaced, twice: the second is another file again.
    for name in ["olga", "tim"] {
        replace(&path, format!("{PARTY}i {name} kiril\ne {name}\n"));
        terminal.expect_on_screen(&format!("8   e {name}"));
        terminal.expect_on_screen("0 antibodies, met 1, ended");
    }
    // Written in place.
    fs::write(&path, format!("{PARTY}i olga tim\nnt\n")).unwrap();
    terminal.expect_on_screen("turn 2 of 8");
    // Away, and back again.
    fs::remove_file(&path).unwrap();
    terminal.expect_on_screen("this is the last version");
    assert!(terminal.screen().contains("turn 2 of 8"), "{}", terminal.screen());
    fs::write(&path, format!("{PARTY}nt\nnt\n")).unwrap();
    terminal.expect_on_screen("turn 3 of 8");
    settle(&mut terminal);
    assert!(!terminal.screen().contains("this is the last version"), "{}", terminal.screen());
    // Emptied for good.
    fs::write(&path, "").unwrap();
    terminal.expect_on_screen("nobody has joined yet");
    terminal.press("q");
    assert_eq!(terminal.exit_code(), 0);
    terminal.assert_restored();
}

#[test]
fn a_half_typed_line_does_not_count() {
    let (_folder, path) = script(PARTY);
    let mut terminal = watch(&path);
    terminal.expect_on_screen("q quit");
    for half in ["i ti", "m kir", "il"] {
        append(&path, half);
        terminal.expect_on_screen("line 7 does not count yet");
        let screen = terminal.screen();
        assert!(screen.contains("met nobody yet: tim, olga, nina, ida, kiril"), "{screen}");
    }
    terminal.expect_on_screen("7 … i tim kiril");
    append(&path, "\n");
    terminal.expect_on_screen("7   i tim kiril");
    terminal.expect_on_screen("met nobody yet: olga, nina, ida");
    terminal.press("\u{3}");
    assert_eq!(terminal.exit_code(), 0);
    terminal.assert_restored();
}

#[test]
fn mistakes_are_marked_whatever_is_in_the_file() {
    let (_folder, path) = script(PARTY);
    let mut terminal = watch(&path);
    terminal.expect_on_screen("q quit");
    append(&path, b"i tim\n\xff\xfe\x1b[2J\xc3\ni tim olaf\n\x80");
    terminal.expect_on_screen("3 mistakes");
    terminal.expect_on_screen("7 ! i tim_");
    terminal.expect_on_screen("9 ! i tim olaf");
    terminal.expect_on_screen("line 9, column 7: nobody is called \"olaf\"");
    assert!(
        terminal.screen().contains("met nobody yet: tim, olga, nina, ida, kiril"),
        "{}",
        terminal.screen()
    );
    replace(&path, b"\xff".repeat(5_000));
    terminal.expect_on_screen("this is not a script");
    replace(&path, PARTY);
    terminal.expect_on_screen("6   GAME_START");
    // A long script: the end is shown, the keys go back.
    replace(&path, format!("{PARTY}{}# the end\n", "# more\n".repeat(500)));
    terminal.expect_on_screen("507   # the end");
    terminal.press("\u{1b}[5~");
    terminal.expect_on_screen("475   # more");
    settle(&mut terminal);
    assert!(!terminal.screen().contains("# the end"), "{}", terminal.screen());
    terminal.press("\u{1b}[6~");
    terminal.expect_on_screen("507   # the end");
    terminal.terminate();
    assert_eq!(terminal.ending_signal(), "Terminated");
    terminal.assert_restored();
}

#[test]
fn the_curtain_hides_every_secret() {
    let (_folder, path) = script(&format!("{PARTY}i tim kiril\nfoo\n"));
    let mut terminal = watch(&path);
    terminal.expect_on_screen("q quit");
    terminal.expect_on_screen("infected");
    for key in ["c", "\t"] {
        terminal.press(key);
        terminal.expect_on_screen("c opens the curtain");
        assert_no_secret(&terminal.screen());
        assert!(terminal.screen().contains("The game begins: 4 humans, 1 zombie"), "{}", terminal.screen());
        terminal.press(key);
        terminal.expect_on_screen("q quit");
        let screen = terminal.screen();
        assert!(screen.contains("tim    infected") && screen.contains("8 ! foo"), "{screen}");
    }
    // The script goes on behind the curtain: only what is announced is seen.
    terminal.press("c");
    terminal.expect_on_screen("c opens the curtain");
    append(&path, "i olga kiril\nbar\nnt\n");
    terminal.expect_on_screen("turn 2 of 8");
    terminal.expect_on_screen("Turn 1 is over: 2 humans, 3 zombies");
    assert_no_secret(&terminal.screen());
    terminal.press("q");
    assert_eq!(terminal.exit_code(), 0);
    terminal.assert_restored();
    assert_no_secret(&terminal.screen());
}

fn assert_no_secret(screen: &str) {
    for secret in [
        "tim",
        "olga",
        "nina",
        "kiril",
        "infected",
        "GAME_START",
        "whisper",
        "met ",
        "judge only",
        "mistake",
        "foo",
    ] {
        assert!(!screen.contains(secret), "{secret:?} on\n{screen}");
    }
}
