//! Output for people fits terminals of 60, 80 and 120 columns: no line is longer, and no word is broken.

use crate::{
    program::{necrodome, refusal},
    terminal::Terminal,
};
use necrodome_rules::{catalog::Listed, last_bullet::LastBullet};

const WIDTHS: [u16; 3] = [60, 80, 120];

/// All words, in an order that does not depend on where lines end. Keys are left out: where the terminal echoes them depends on
/// how fast the program reads.
fn words(text: &str) -> Vec<&str> {
    let is_word = |word: &&str| word.chars().filter(|letter| letter.is_alphabetic()).count() > 2;
    let mut words: Vec<&str> = text.split_whitespace().filter(is_word).collect();
    words.sort_unstable();
    words
}

/// Runs a command in a window of each width, with these keys, and compares what it says.
fn fits(command: &[&str], keys: &[(&str, &str)]) {
    let at = |width: u16| {
        let mut terminal = Terminal::run_sized(command, &[], width);
        for (expected, key) in keys {
            terminal.expect(expected);
            terminal.press(key);
        }
        terminal.exit_code();
        let text = terminal.plain();
        for line in text.lines() {
            assert!(
                line.trim_end().chars().count() <= width.into(),
                "{command:?} at {width}: {line:?}\n{text}"
            );
        }
        text
    };
    let [narrow, usual, wide] = WIDTHS.map(at);
    assert_eq!(words(&narrow), words(&wide), "{command:?}: a word was broken\n{narrow}");
    assert_eq!(words(&usual), words(&wide), "{command:?}: a word was broken\n{usual}");
    assert!(narrow.lines().count() > wide.lines().count(), "{command:?}: nothing was too long\n{narrow}");
}

#[test]
fn lists_fit() {
    fits(&["games"], &[]);
    fits(&["bots"], &[]);
}

#[test]
fn a_ledger_fits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("race.replay").display().to_string();
    necrodome(&["match", "zombie-dice-race", "greedy", "cautious", "--seed", "1", "--replay", &path])
        .assert()
        .success();
    fits(&["analyze", &path], &[]);
}

#[test]
fn play_fits() {
    let leave = [("?", "q"), ("Leave the table?", "y")];
    let ask = |question: &'static str| [&[(question, "?"), ("leaves the table", "")][..], &leave].concat();
    fits(&["play", "zombie-dice", "--seed", "7"], &ask("[s]top"));
    fits(&["play", "infection", "--seed", "7"], &ask("[p]recaution"));
    let tokyo = [
        ("[k]eep all", "1"),
        ("[k]eep all", "?"),
        ("leaves the table", ""),
        ("[k]eep all", "q"),
        ("Leave the table?", "y"),
    ];
    fits(&["play", "tokyo", "angry", "--seed", "7"], &tokyo);
}

/// Last Bullet draws a window: the field on the left, words on the right, rules over all.
#[test]
fn the_window_of_last_bullet_fits() {
    let panels = WIDTHS.map(|width| {
        let mut terminal = Terminal::run_sized(&["play", "last-bullet", "--seed", "7"], &[], width);
        terminal.expect_on_screen("player: clock 0");
        // The last corner of the frame.
        terminal.expect_on_screen("┘");
        let panel: Vec<String> =
            terminal.screen().lines().map(|row| row.chars().skip(38).collect::<String>() + "\n").collect();
        terminal.press("?");
        terminal.expect_on_screen("Any key goes back.");
        let rules = terminal.screen();
        for word in LastBullet::CARD.rules.split_whitespace() {
            assert!(rules.lines().any(|row| row.contains(word)), "{word:?} at {width}:\n{rules}");
        }
        terminal.press(" ");
        terminal.press("q");
        terminal.expect_on_screen("Leave the table?");
        terminal.press("y");
        terminal.exit_code();
        panel.concat()
    });
    let [narrow, usual, wide] = &panels;
    assert!(narrow.contains("bullets: "), "{narrow}");
    assert_eq!(words(narrow), words(wide), "a word was broken\n{narrow}");
    assert_eq!(words(usual), words(wide), "a word was broken\n{usual}");
}

#[test]
fn advice_and_stories_fit() {
    let advice = ["advise", "zombie-dice-solo", "brains", "4", "shotguns", "1", "feet", "green", "yellow"];
    fits(&advice, &[]);
    fits(&["match", "last-bullet", "gunner", "runner", "--seed=1"], &[]);
}

#[test]
fn errors_fit_a_terminal_and_are_whole_lines_elsewhere() {
    let unknown = ["new-bot", "tokyo", "pyton", "x"];
    fits(&unknown, &[]);
    let error = refusal(&mut necrodome(&unknown), 2);
    assert_eq!(error.lines().count(), 2, "{error}");
}

#[test]
fn columns_can_be_asked_for() {
    let text = necrodome(&["games"]).env("COLUMNS", "60").assert().success();
    let text = String::from_utf8(text.get_output().stdout.clone()).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
}

#[test]
fn a_profile_fits() {
    let words = ["analyze", "zombie-dice-race", "random", "--blocks=5", "--seed=1"];
    for width in [60, 80] {
        let output = necrodome(&words).env("COLUMNS", width.to_string()).assert().success();
        let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
    }
}
