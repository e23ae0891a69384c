//! `necrodome judge live`: over plain pipes, killed in the middle, and in a real terminal.

use crate::{
    program::{necrodome, refusal},
    terminal::Terminal,
};
#[allow(dead_code, reason = "shared with other tests")]
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};
use tempfile::TempDir;

/// After this long a test has failed.
const PATIENCE: Duration = Duration::from_secs(120);

const PARTY: &str = "HUMAN tim\nHUMAN olga\nHUMAN nina\nHUMAN ida\nZOMBIE kiril\nGAME_START\n";

/// A folder with a script.
fn script(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("game.txt");
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// A judge who types into a pipe.
struct Live {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
}

impl Live {
    fn start(path: &Path) -> Self {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("necrodome"))
            .args(["judge", "live"])
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let (sender, output) = channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let input = child.stdin.take();
        Live { child, input, output }
    }

    /// Waits for a line with some text, and returns it.
    fn hear(&self, wanted: &str) -> String {
        loop {
            let line = self.output.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("never {wanted:?}"));
            if line.contains(wanted) {
                return line;
            }
        }
    }

    fn type_in(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Types a command and waits for a line of its answer.
    fn say(&mut self, command: &str, wanted: &str) -> String {
        self.type_in(command);
        self.hear(wanted)
    }

    /// As `kill -9` does.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Leaves; returns what was still said.
    fn quit(mut self) -> Vec<String> {
        self.type_in("quit");
        assert!(self.child.wait().unwrap().success());
        self.output.iter().collect()
    }
}

/// What is typed, what is answered, what is appended.
const GAME: [(&str, &str, &str); 9] = [
    ("human tim", "tim joins as a human", "HUMAN tim"),
    ("h \"Anna Maria\"", "2 players", "HUMAN \"Anna Maria\""),
    ("z kiril", "3 players", "ZOMBIE kiril"),
    ("start", "announce: 2 humans, 1 zombie", "GAME_START"),
    ("i ti ann", "each gains an antibody", "INTERACT tim \"Anna Maria\""),
    ("i tim! KIR # careful", "the precaution holds", "INTERACT tim! kiril # careful"),
    ("e anna", "Anna Maria ends their turn", "END \"Anna Maria\""),
    ("# a note", "noted", "# a note"),
    ("nt", "turn 1 is over", "NEXT_TURN"),
];

#[test]
fn every_command_is_in_the_script_when_its_answer_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.txt");
    let mut live = Live::start(&path);
    live.hear("a new script");
    let mut expected = String::new();
    for (typed, answer, line) in GAME {
        live.say(typed, answer);
        expected += &format!("{line}\n");
        assert_eq!(read(&path), expected, "after {typed}");
    }
    live.quit();
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["new.txt"], "nothing is left behind");
}

#[test]
fn a_kill_between_any_two_commands_loses_nothing() {
    let (_folder, path) = script("");
    let mut expected = String::new();
    for (typed, answer, line) in GAME {
        let mut live = Live::start(&path);
        live.hear("game.txt: ");
        live.say(typed, answer);
        live.kill();
        expected += &format!("{line}\n");
        assert_eq!(read(&path), expected, "after {typed}");
    }
    let mut live = Live::start(&path);
    live.hear("goes on, turn 2 of 8");
    live.say("undo", "taken back: NEXT_TURN");
    live.kill();
    let mut live = Live::start(&path);
    live.hear("goes on, turn 1 of 8");
    live.say("who has not met anyone yet", "everybody has met somebody");
    live.quit();
}

#[test]
fn refused_commands_are_not_written() {
    let (_folder, path) = script(PARTY);
    let mut live = Live::start(&path);
    for (typed, why) in [
        ("i tim olaf", "refused, column 7: nobody is called \"olaf\"; expected the name of a player"),
        ("i tim*2 olga", "tim is not a zombie"),
        ("i tim! olga", "tim has no antibody to spend"),
        ("i tim", "the line ends too early; expected whom they meet"),
        ("set max_turns 3", "the game has started"),
        ("undoo", "there is no command \"undoo\""),
        ("a \"tim", "the quotes are not closed"),
        ("what if", "what if what?"),
    ] {
        live.say(typed, why);
        assert_eq!(read(&path), PARTY, "after {typed}");
    }
    assert!(live.say("undoo", "refused").contains("did you mean undo?"));
    live.input.as_mut().unwrap().write_all(b"i \xff\xfe tim\n").unwrap();
    live.hear("nobody is called");
    assert_eq!(live.quit(), [""; 0], "nothing is listed as a mistake of the script");
    assert_eq!(read(&path), PARTY);
}

#[test]
fn undo_and_redo_go_over_the_end_of_a_turn() {
    let (_folder, path) = script("");
    let start = "# our party\nHUMAN tim\nHUMAN olga\nHUMAN nina\nHUMAN ida\nZOMBIE kiril\nGAME_START\n";
    fs::write(&path, start).unwrap();
    let mut live = Live::start(&path);
    live.say("i tim olga", "each gains");
    live.say("i kiril olga", "the human is infected");
    for name in ["tim", "nina", "ida", "olga"] {
        live.say(&format!("e {name}"), "ends their turn");
    }
    live.say("# soon", "noted");
    live.say("e kiril", "announce:");
    let whole = read(&path);
    live.say("state", "turn 2 of 8");
    live.say("undo", "taken back: END kiril");
    live.hear("now: turn 1 of 8");
    assert_eq!(read(&path), whole.replace("END kiril\n", ""));
    // The comment stays, the command before it goes.
    live.say("undo", "taken back: END olga");
    assert_eq!(read(&path), whole.replace("END olga\n# soon\nEND kiril\n", "# soon\n"));
    live.say("redo", "done again: END olga");
    live.say("redo", "done again: END kiril");
    live.hear("now: turn 2 of 8");
    assert_eq!(read(&path), whole);
    live.say("redo", "there is nothing to do again");
    for _ in 0..7 {
        live.say("undo", "taken back");
    }
    // The game itself is taken back only by somebody who says so.
    let started = read(&path);
    live.say("undo", "that takes back GAME_START");
    live.say("who", "met nobody yet");
    live.say("yes", "there is no command \"yes\"");
    live.say("undo", "type yes if you mean it");
    assert_eq!(read(&path), started);
    live.say("yes", "taken back: GAME_START");
    for _ in 0..5 {
        live.say("undo", "taken back");
    }
    assert_eq!(read(&path), "# our party\n# soon\n");
    live.say("undo", "there is nothing to take back");
    live.say("redo", "done again: HUMAN tim");
    // Something new makes an end of what could be done again.
    live.say("human anna", "anna joins");
    live.say("redo", "there is nothing to do again");
    assert_eq!(read(&path), "# our party\nHUMAN tim\n# soon\nHUMAN anna\n");
    live.quit();
}

#[test]
fn what_if_changes_nothing() {
    let (_folder, path) = script(PARTY);
    let mut live = Live::start(&path);
    live.say("what if i tim kiril", "if INTERACT tim kiril");
    live.hear("tim: becomes infected");
    live.hear("nothing was done");
    live.say("WHAT  if nt", "if NEXT_TURN");
    live.hear("turn 1 is over");
    live.hear("broke a rule, met nobody: tim, olga, nina, ida, kiril");
    live.say("what if i tim kiril*2", "refused");
    live.say("what if set max_turns 3", "the game has started");
    assert_eq!(read(&path), PARTY);
    live.say("who", "met nobody yet: tim, olga, nina, ida, kiril");
    live.say("i tim kiril", "tim: becomes infected");
    live.say("who has not met anyone yet?", "met nobody yet: olga, nina, ida");
    let told = live.say("public", "The game begins");
    assert!(told.contains("4 humans, 1 zombie"), "{told}");
    assert_eq!(live.quit(), [""; 0], "what happens in a turn is not public");
}

#[test]
fn a_script_with_mistakes_is_left_alone() {
    let broken =
        b"HUMAN tim\nHUMEN olga\nHUMAN olga\n\xff\xfe\nZOMBIE kiril\nstart\ni tim nobody\ni tim olga";
    let (_folder, path) = script("");
    fs::write(&path, broken).unwrap();
    let mut live = Live::start(&path);
    live.hear("goes on, turn 1 of 8");
    live.hear("line 2, column 1: there is no command \"HUMEN\"");
    live.hear("line 4, column 1: ");
    live.hear("line 7, column 7: nobody is called \"nobody\"");
    live.hear("they are left as they are");
    live.hear("the last line has no line break");
    live.say("e tim", "tim ends their turn");
    assert_eq!(fs::read(&path).unwrap(), [&broken[..], b"\nEND tim\n"].concat());
    live.say("undo", "taken back: END tim");
    live.say("undo", "taken back: INTERACT tim olga");
    live.say("undo", "type yes if you mean it");
    live.say("yes", "taken back: GAME_START");
    let left = b"HUMAN tim\nHUMEN olga\nHUMAN olga\n\xff\xfe\nZOMBIE kiril\ni tim nobody\n";
    assert_eq!(fs::read(&path).unwrap(), left, "bytes that are no text stay, too");
    live.quit();
}

#[test]
fn two_cannot_write_one_script() {
    let (folder, path) = script(PARTY);
    let mut first = Live::start(&path);
    first.hear("goes on");
    let second = || {
        let mut command = necrodome(&["judge", "live"]);
        refusal(command.arg(&path).write_stdin("e tim\n").timeout(PATIENCE), 1)
    };
    assert!(second().contains("is in use: another `necrodome judge live` writes this script"));
    // The script is another file after this.
    first.say("undo", "type yes if you mean it");
    first.say("yes", "taken back: GAME_START");
    assert!(second().contains("is in use"));
    first.say("start", "the game begins");
    assert_eq!(read(&path), PARTY);
    // A link leads to the same script.
    let link = folder.path().join("link.txt");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    first.quit();
    let mut live = Live::start(&link);
    live.say("undo", "type yes if you mean it");
    live.say("yes", "taken back");
    live.quit();
    assert!(link.is_symlink());
    assert_eq!(read(&path), PARTY.replace("GAME_START\n", ""));
}

#[test]
fn changes_by_somebody_else_are_seen_before_anything_is_written() {
    let (folder, path) = script(PARTY);
    let mut live = Live::start(&path);
    live.hear("goes on");
    // In place.
    let edited = format!("{PARTY}i tim olga\n");
    fs::write(&path, &edited).unwrap();
    live.say("i tim olga", "somebody else has changed the script: turn 1 of 8");
    live.hear("your command was not carried out");
    assert_eq!(read(&path), edited);
    live.say("i tim olga", "have already met in this turn");
    // Replaced.
    let new = folder.path().join("new");
    fs::write(&new, PARTY).unwrap();
    fs::rename(&new, &path).unwrap();
    live.say("undo", "somebody else has changed the script");
    live.hear("your command was not carried out");
    live.say("i tim olga", "each gains");
    assert_eq!(read(&path), format!("{PARTY}INTERACT tim olga\n"));
    // Gone.
    fs::remove_file(&path).unwrap();
    live.say("e tim", "the script was gone: it has been written again, complete");
    live.hear("tim ends their turn");
    assert_eq!(read(&path), format!("{PARTY}INTERACT tim olga\nEND tim\n"));
    live.quit();
}

#[test]
fn a_script_that_cannot_be_written_is_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no such folder/game.txt");
    let error = refusal(necrodome(&["judge", "live"]).arg(&path).write_stdin(""), 2);
    assert!(error.contains("no such folder/game.txt: "), "{error}");
}

#[test]
fn a_binary_file_is_one_error_and_stays_as_it_is() {
    let mut bytes = b"\x7fELF\0".to_vec();
    bytes.extend((0..5000u32).map(|number| (number * 131 % 251) as u8));
    let mut latin = b"\xe9\xe8\xfc".repeat(100);
    latin.push(b'\n');
    for bytes in [bytes, latin] {
        let (_folder, path) = script("");
        fs::write(&path, &bytes).unwrap();
        let name = path.to_str().unwrap();
        for words in
            [vec!["run", name], vec!["live", name], vec!["watch", "--once", name], vec!["convert", name]]
        {
            let error = refusal(necrodome(&[&["judge"][..], &words].concat()).write_stdin("e tim\n"), 2);
            assert!(error.contains("this is not a script"), "{words:?}: {error}");
            assert_eq!(error.lines().count(), 1, "{words:?}: {error}");
        }
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn whispers_are_for_one_player_after_the_other() {
    let (_folder, path) = script(PARTY);
    let mut live = Live::start(&path);
    live.say("whisper", "whisper to tim: you are human and have 0 antibodies");
    live.hear("whisper to kiril: you are a zombie and have 0 viruses");
    live.quit();

    let mut terminal = open(&path);
    terminal.expect_on_screen("Ctrl-C leaves");
    terminal.press("i tim olga\rnt\r");
    terminal.expect_on_screen("F3 whispers to each player");
    terminal.press("\u{1b}OR");
    for (place, name) in ["tim", "olga", "nina", "ida", "kiril"].into_iter().enumerate() {
        terminal.expect_on_screen(&format!("{name} ({} of 5), come alone", place + 1));
        assert!(!terminal.screen().contains("you are human and"), "{}", terminal.screen());
        // Only Enter shows it.
        terminal.press("undo");
        terminal.press("\r");
        let words = match name {
            "kiril" => "you are a zombie and have 0 viruses",
            "tim" | "olga" => "you are human and have 1 antibody",
            _ => "you are human and have 0 antibodies",
        };
        terminal.expect_on_screen(words);
        let screen = terminal.screen();
        let others = ["tim", "olga", "nina", "ida", "kiril"].into_iter().filter(|&other| other != name);
        others.for_each(|other| assert!(!screen.contains(other), "{other} on\n{screen}"));
        terminal.press("\r");
    }
    terminal.expect_on_screen("Esc opens the curtain");
    assert_no_secret(&terminal.screen());
    terminal.press("\u{1b}");
    terminal.expect_on_screen("judge only");
    terminal.press("\u{3}");
    assert_eq!(terminal.exit_code(), 0);
}

fn open(path: &Path) -> Terminal {
    Terminal::run(&["judge", "live", path.to_str().unwrap()])
}

#[test]
fn the_desk_completes_and_answers() {
    let (_folder, path) = script(PARTY);
    let mut terminal = open(&path);
    terminal.expect_on_screen("met nobody yet: tim, olga, nina, ida, kiril");
    terminal.press("int\t");
    terminal.expect_on_screen("> INTERACT");
    terminal.press("t\t");
    terminal.expect_on_screen("> INTERACT tim");
    terminal.press("\t");
    terminal.expect_on_screen("tim  olga  nina  ida  kiril");
    terminal.press("k\t\r");
    terminal.expect_on_screen("tim: becomes infected");
    terminal.expect_on_screen("infected  0 antibodies, met 1");
    assert_eq!(read(&path), format!("{PARTY}INTERACT tim kiril\n"));
    // The command before, edited: the cursor goes back over "kiril ".
    terminal.press("\u{1b}[A");
    terminal.expect_on_screen("> INTERACT tim kiril");
    terminal.press("\u{17}olga\r");
    terminal.expect_on_screen("INTERACT tim olga");
    terminal.expect_on_screen("olga: becomes infected");
    terminal.press("undo\r");
    terminal.expect_on_screen("taken back: INTERACT tim olga");
    terminal.press("nt\r");
    terminal.expect_on_screen("turn 2 of 8");
    terminal.press("quit\r");
    terminal.expect("Everything is in");
    assert_eq!(terminal.exit_code(), 0);
    terminal.assert_restored();
    assert_eq!(read(&path), format!("{PARTY}INTERACT tim kiril\nNEXT_TURN\n"));
}

/// Nothing on the screen that a player may not see.
fn assert_no_secret(screen: &str) {
    for secret in [
        "tim",
        "olga",
        "nina",
        "kiril",
        "infected",
        "INTERACT",
        "GAME_START",
        "whisper",
        "met ",
        "judge only",
        "> ",
    ] {
        assert!(!screen.contains(secret), "{secret:?} on\n{screen}");
    }
}

#[test]
fn the_curtain_hides_every_secret() {
    let (_folder, path) = script(PARTY);
    let mut terminal = open(&path);
    terminal.expect_on_screen("Ctrl-C leaves");
    terminal.press("i tim kiril\r");
    terminal.expect_on_screen("tim: becomes infected");
    terminal.press("what if i olga");
    terminal.expect_on_screen("> what if i olga");
    for key in ["\u{1b}", "\u{1b}OQ"] {
        terminal.press(key);
        terminal.expect_on_screen("Esc opens the curtain");
        let screen = terminal.screen();
        assert_no_secret(&screen);
        assert!(screen.contains("The game begins: 4 humans, 1 zombie"), "{screen}");
        assert!(screen.contains("turn 1 of 8"), "{screen}");
        // Nothing can be done where nothing is seen.
        terminal.press("tim\rundo\r\t");
        terminal.press(key);
        terminal.expect_on_screen("> what if i olga");
        terminal.expect_on_screen("Ctrl-C leaves");
        let screen = terminal.screen();
        assert!(screen.contains("tim: becomes infected"), "{screen}");
        assert!(screen.contains("judge only"), "{screen}");
        assert!(!screen.contains("taken back"), "{screen}");
    }
    assert_eq!(read(&path), format!("{PARTY}INTERACT tim kiril\n"));
    // The next announcement is there when the curtain is.
    terminal.press("\u{15}nt\r");
    terminal.expect_on_screen("turn 2 of 8");
    terminal.press("\u{1b}");
    terminal.expect_on_screen("Esc opens the curtain");
    let screen = terminal.screen();
    assert_no_secret(&screen);
    assert!(screen.contains("Turn 1 is over: 3 humans, 2 zombies"), "{screen}");
    terminal.press("\u{3}");
    assert_eq!(terminal.exit_code(), 0);
    terminal.assert_restored();
    assert_no_secret(&terminal.screen());
}

#[test]
fn changes_by_somebody_else_are_shown() {
    let (_folder, path) = script(PARTY);
    let mut terminal = open(&path);
    terminal.expect_on_screen("Ctrl-C leaves");
    fs::write(&path, format!("{PARTY}i tim olga\n")).unwrap();
    terminal.expect_on_screen("somebody else has changed the script");
    terminal.expect_on_screen("met nobody yet: nina, ida, kiril");
    terminal.terminate();
    assert_eq!(terminal.ending_signal(), "Terminated");
    terminal.assert_restored();
}
