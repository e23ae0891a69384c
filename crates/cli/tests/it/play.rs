//! A person as a player: over plain pipes for every game, and in a real terminal.

use crate::{
    program::{self, necrodome},
    terminal::Terminal,
};

/// Standard output of a match that is played to its end.
fn played(words: &[&str], input: impl Into<String>) -> String {
    let result = necrodome(words).write_stdin(input.into()).assert().success().stderr("");
    let output = String::from_utf8(result.get_output().stdout.clone()).unwrap();
    assert!(output.contains("\nResult\n"), "{output}");
    assert!(!output.contains('\u{1b}'), "no escape codes on a pipe");
    output
}

fn refusal(words: &[&str]) -> String {
    program::refusal(necrodome(words).write_stdin(""), 2)
}

#[test]
fn a_solo_turn_is_played_over_a_pipe() {
    insta::assert_snapshot!(played(
        &["play", "zombie-dice-solo", "--seed", "7"],
        "?\nperhaps\ngo\ngo\nstop\n"
    ));
}

#[test]
fn table_and_race_are_played_over_a_pipe() {
    let table = played(&["play", "zombie-dice", "--seed", "7"], "go\nstop\nstop\n".repeat(100));
    assert!(table.contains("you have 3, cautious 0, greedy 0"), "{table}");
    let race = played(
        &["play", "zombie-dice-race", "greedy", "--seed", "7", "--name", "Ada"],
        "go\nstop\n".repeat(200),
    );
    assert!(race.contains("Zombie Dice, race: you are Ada"), "{race}");
}

#[test]
fn tokyo_is_played_over_a_pipe() {
    let input = "keep 1 7\nyield now\nkeep 1 3\nkeep\nkeep all\nstay\n".repeat(100);
    let story = played(&["play", "tokyo", "--seed", "7"], input);
    assert!(story.contains(r#"Expected places of dice from 1 to 6, got "7"."#), "{story}");
    assert!(story.contains("(3) [heal] (3)"), "the dice named are kept: {story}");
    assert!(story.contains("player stays in Tokyo"), "{story}");
    assert!(story.contains("Expected leave or stay"), "{story}");
}

#[test]
fn infection_is_played_over_a_pipe_and_tells_no_secret() {
    let input = "contact nobody\ncontact 1 precaution\ncontact 1\nend\nanswer antidote\nanswer\n".repeat(300);
    for seed in ["1", "2", "3", "7"] {
        let story = played(&["play", "infection", "--seed", seed], input.clone());
        assert!(story.contains("Expected the name of somebody you can meet"), "{story}");
        for secret in ["becomes", "turns into", "takes the antidote", "tries the antidote", "no antibody"] {
            assert!(!story.contains(secret), "{secret}: {story}");
        }
        let told = story.lines().filter(|line| line.contains(" is told: "));
        assert!(told.clone().all(|line| line.starts_with("  player is told")), "{story}");
        assert!(told.count() > 1, "{story}");
        let met = story.lines().filter(|line| line.contains(" meets "));
        assert!(met.clone().all(|line| line.contains("player")), "{story}");
        assert!(met.count() > 1, "{story}");
    }
}

#[test]
fn last_bullet_is_played_over_a_pipe_and_tells_no_secret() {
    let input = "north\nshoot 1\nnext\nsoutheast\nupward\nstay\n".repeat(300);
    let story = played(&["play", "last-bullet", "--seed", "7"], input);
    assert!(story.contains(". . @ . ."), "{story}");
    assert!(story.contains("spare survivors"), "{story}");
    assert!(story.contains("got \"upward\""), "{story}");
    assert!(story.contains("You are gone; you lived to clock "), "{story}");
    let counts = story.lines().filter(|line| line.starts_with("clock") && line.contains("corpse"));
    assert_eq!(counts.count(), 1, "the numbers of all come at the end only: {story}");
}

#[test]
fn a_shot_names_its_target() {
    let quits = |words: &[&str], input: String| {
        let result = necrodome(words).write_stdin(input).assert().code(1);
        String::from_utf8(result.get_output().stdout.clone()).unwrap()
    };
    let words = ["play", "last-bullet", "--seed", "7"];
    let story = quits(&words, "stay\n".to_owned());
    let target = story.lines().find(|line| line.contains(": Zombie, ")).unwrap();
    let number = target.trim().split(':').next().unwrap();
    let story = quits(&words, format!("shoot {number}\n"));
    assert!(story.contains("Your shot hit."), "{story}");
    assert!(story.contains("2 bullets"), "{story}");
}

#[test]
fn the_end_of_the_input_leaves_the_table() {
    for game in ["zombie-dice", "zombie-dice-solo", "zombie-dice-race", "tokyo", "infection", "last-bullet"] {
        for (input, message) in [("", "The input ended"), ("quit\n", "You leave the table.")] {
            let result = necrodome(&["play", game, "--seed", "1"]).write_stdin(input).assert().code(1);
            let output = result.get_output();
            assert!(String::from_utf8_lossy(&output.stdout).contains(message), "{game}");
            let error = String::from_utf8_lossy(&output.stderr);
            assert_eq!(error, "error: a player has left the table: the match has no result\n", "{game}");
        }
    }
}

#[test]
fn a_human_is_an_entry_of_a_match() {
    let story = played(&["match", "zombie-dice", "greedy", "human", "--seed", "3"], "stop\n".repeat(300));
    assert!(story.starts_with("Zombie Dice: you are human"), "{story}");
    assert_eq!(story.matches("\n  1. ").count() + story.matches("\n   1. ").count(), 1, "{story}");
}

#[test]
fn mistakes_of_the_command_line_are_named() {
    assert!(refusal(&["match", "tokyo", "human", "Ada=human"]).contains("only one human"));
    assert!(refusal(&["match", "tokyo", "human", "angry", "--json"]).contains("leave out --json"));
    assert!(refusal(&["play", "toyko"]).contains("did you mean tokyo?"));
    assert!(refusal(&["play", "zombie-dice-solo", "greedy"]).contains("expected exactly 1 player"));
    assert!(refusal(&["play", "tokyo", "--name", "a/b"]).contains("expected a name without"));
}

#[test]
fn a_hint_says_what_perfect_play_would_do() {
    let mut terminal = Terminal::run(&["play", "zombie-dice-solo", "--seed", "7"]);
    terminal.expect("h gives a hint");
    terminal.expect("[r]oll or [s]top?  [h]int");
    terminal.press("h");
    terminal.expect("Perfect play: roll.");
    terminal.expect("points");
    terminal.expect("cost");
    // The value of the whole game, and what it costs to give it up.
    terminal.expect("2.259");
    terminal.expect("stop");
    terminal.expect("2.259");
    terminal.expect("[r]oll or [s]top?");
    terminal.press("s");
    assert_eq!(terminal.exit_code(), 0);

    let story = played(&["play", "zombie-dice-solo", "--seed", "7"], "hint\nstop\n");
    assert!(story.contains("Perfect play: roll."), "{story}");
    let story = played(
        &["play", "zombie-dice", "cautious", "greedy", "--seed", "7"],
        "hint\n".to_owned() + &"stop\n".repeat(300),
    );
    assert!(story.contains("No exact hint: zombie-dice is solved for two seats, not for 3."), "{story}");
    assert!(story.contains("would roll."), "{story}");
    let unsolved =
        played(&["play", "infection", "--seed", "1"], "hint\ncontact 1\nend\nanswer\n".repeat(200));
    assert!(unsolved.contains("got \"hint\""), "{unsolved}");
}

#[test]
fn zombie_dice_is_played_with_single_keys() {
    let mut terminal = Terminal::run(&["play", "zombie-dice", "cautious", "--seed", "7"]);
    terminal.expect("┌─green─────┐");
    terminal.expect("[r]oll or [s]top and bank 1?");
    terminal.press("?");
    terminal.expect("How to win: bank the most brains. Once somebody has 13");
    terminal.expect("Three shotguns end the turn, and you bank nothing.");
    terminal.expect("h  says what perfect play would do");
    terminal.expect("[r]oll or [s]top and bank 1?");
    terminal.press("q");
    terminal.expect("Leave the table?");
    terminal.press("n");
    terminal.expect("[r]oll or [s]top and bank 1?");
    terminal.press("g");
    terminal.expect("[r]oll or [s]top and bank 3?");
    terminal.press("s");
    terminal.expect("stops and banks 3, score 3");
    terminal.expect("cautious");
    terminal.expect("[s]top");
    terminal.press("q");
    terminal.expect("Leave the table?");
    terminal.press("y");
    terminal.expect("You leave the table.");
    assert_eq!(terminal.exit_code(), 1);
    terminal.assert_restored();
}

#[test]
fn a_solo_turn_ends_with_the_result() {
    let mut terminal = Terminal::run(&["play", "zombie-dice-solo", "--seed", "7"]);
    terminal.expect("[r]oll or [s]top?");
    terminal.press("g");
    terminal.expect("bank 1?");
    terminal.press("s");
    terminal.expect("Result");
    terminal.expect("1 brain");
    assert_eq!(terminal.exit_code(), 0);
    terminal.assert_restored();
}

#[test]
fn tokyo_marks_dice_with_digits() {
    let mut terminal = Terminal::run(&["play", "tokyo", "angry", "--seed", "7"]);
    terminal.expect("2 rerolls left");
    terminal.expect("[Enter] roll the others");
    terminal.press("1");
    terminal.expect("╔═1══════╗");
    terminal.expect("[Enter] roll the others");
    terminal.press("3");
    terminal.expect("╔═3══════╗");
    terminal.expect("[Enter] roll the others");
    let marked = terminal.screen();
    assert_eq!(marked.matches("keep═").count(), 2, "drawn in place, not twice:\n{marked}");
    terminal.press("\r");
    terminal.expect("1 reroll left");
    terminal.expect("╔═1══════╗ ┌─2──────┐ ╔═3══════╗");
    terminal.expect("[k]eep all");
    terminal.press("k");
    terminal.expect("enters Tokyo");
    terminal.expect("angry begins a turn");
    terminal.expect("[l]eave Tokyo or [s]tay?");
    terminal.press("l");
    terminal.expect("player leaves Tokyo");
    terminal.expect("[k]eep all");
    // Before that Ctrl-C would be a signal.
    terminal.await_raw_mode();
    terminal.press("\u{3}");
    terminal.expect("You leave the table.");
    assert_eq!(terminal.exit_code(), 1);
    terminal.assert_restored();
}

#[test]
fn infection_is_played_with_single_keys() {
    let mut terminal = Terminal::run(&["play", "infection", "careful", "--seed", "7"]);
    terminal.expect("[p]recaution: no");
    terminal.press("p");
    terminal.expect("[p]recaution: yes");
    terminal.press("t");
    terminal.expect("an[t]idote first: yes");
    terminal.press("q");
    terminal.expect("Leave the table?");
    terminal.press("y");
    assert_eq!(terminal.exit_code(), 1);
    terminal.assert_restored();
}

#[test]
fn last_bullet_is_steered_in_its_window() {
    let mut terminal = Terminal::run(&["play", "last-bullet", "--seed", "7"]);
    terminal.expect_on_screen("player: clock 0");
    // The last corner of the frame.
    terminal.expect_on_screen("┘");
    let window = terminal.screen();
    let rows: Vec<&str> = window.lines().take(19).collect();
    assert_eq!(rows[9].chars().nth(18), Some('@'), "in the middle of 17 x 17:\n{window}");
    assert!(rows[18].starts_with('└'), "{window}");
    terminal.press("\u{1b}[A");
    terminal.expect_on_screen("player: clock 1");
    terminal.press("?");
    terminal.expect_on_screen("outlive everybody else");
    terminal.press(" ");
    terminal.expect_on_screen("o another survivor");
    terminal.press("f");
    terminal.expect_on_screen("Shoot whom?");
    terminal.expect_on_screen("a Zombie, ");
    terminal.press("a");
    terminal.expect_on_screen("player: clock 2");
    terminal.expect_on_screen("bullets: 2");
    terminal.expect_on_screen("Your shot hit.");
    terminal.press("q");
    terminal.expect_on_screen("Leave the table?");
    terminal.press("y");
    terminal.expect("You leave the table.");
    assert_eq!(terminal.exit_code(), 1);
    terminal.assert_restored();
}

#[test]
fn last_bullet_ends_with_the_result_on_the_plain_screen() {
    let mut terminal = Terminal::run(&["play", "last-bullet", "--seed", "7", "--set", "max_turns=2"]);
    terminal.expect_on_screen("player: clock 0");
    terminal.press(".");
    terminal.expect_on_screen("player: clock 1");
    terminal.press(".");
    terminal.expect("Result");
    assert_eq!(terminal.exit_code(), 0);
    terminal.assert_restored();
}

#[test]
fn a_signal_restores_the_terminal() {
    for game in ["zombie-dice", "last-bullet"] {
        let mut terminal = Terminal::run(&["play", game, "--seed", "7"]);
        terminal.expect(if game == "last-bullet" { "clock" } else { "[s]top" });
        terminal.await_raw_mode();
        terminal.terminate();
        assert_eq!(terminal.ending_signal(), "Terminated");
        terminal.assert_restored();
    }
}
