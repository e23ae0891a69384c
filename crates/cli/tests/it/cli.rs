//! The binary, end to end.

use crate::program::{self, necrodome, quiet_output};
use serde_json::Value;

fn output(words: &[&str]) -> String {
    quiet_output(&mut necrodome(words))
}

fn json(words: &[&str]) -> Value {
    serde_json::from_str(&output(words)).unwrap()
}

fn refusal(words: &[&str]) -> String {
    program::refusal(&mut necrodome(words), 2)
}

#[test]
fn games_lists_ids_seats_options_defaults_and_meanings() {
    insta::assert_snapshot!(output(&["games"]));
    let games = json(&["games", "--json"]);
    let ids: Vec<&str> = games.as_array().unwrap().iter().map(|game| game["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        ["zombie-dice", "zombie-dice-solo", "zombie-dice-race", "last-bullet", "infection", "tokyo"]
    );
    assert_eq!(games[0]["seats"], serde_json::json!({ "min": 2, "max": 99 }));
    let option = games[0]["options"].as_array().unwrap().iter().find(|o| o["name"] == "out_of_dice").unwrap();
    assert_eq!(option["default"], "end_turn");
    assert_eq!(option["values"], "end_turn or recycle_brains");
}

#[test]
fn bots_lists_names_and_parameters() {
    insta::assert_snapshot!(output(&["bots"]));
    assert_eq!(json(&["bots", "tokyo", "--json"])[0]["bots"][1]["name"], "angry");
    assert!(refusal(&["bots", "toyko"]).contains("did you mean tokyo?"));
}

#[test]
fn a_match_of_zombie_dice_is_told() {
    insta::assert_snapshot!(output(&["match", "zombie-dice", "greedy", "cautious", "random", "--seed", "8"]));
}

#[test]
fn a_solo_turn_and_a_race_are_told() {
    insta::assert_snapshot!(output(&["match", "zombie-dice-solo", "stop-at:brains=5", "--seed", "3"]));
    insta::assert_snapshot!(output(&["match", "zombie-dice-race", "greedy", "greedy", "--seed", "1"]));
}

#[test]
fn a_match_of_last_bullet_is_told_and_shows_the_board() {
    let words = ["match", "last-bullet", "gunner", "runner", "huddle", "--seed", "2"];
    insta::assert_snapshot!(output(&[&words[..], &["--set", "copies=4", "--set", "max_turns=40"]].concat()));
}

#[test]
fn a_match_of_infection_is_told() {
    let bots = ["match", "infection", "careful", "spreader", "random", "careful", "--seed", "5"];
    insta::assert_snapshot!(output(&[&bots[..], &["--set", "start_antibodies=2"]].concat()));
}

#[test]
fn a_match_of_tokyo_is_told() {
    insta::assert_snapshot!(output(&["match", "tokyo", "angry", "point-hunter", "--seed", "1"]));
}

#[test]
fn quiet_prints_the_result_only() {
    insta::assert_snapshot!(output(&["match", "tokyo", "angry", "angry", "--seed", "9", "--quiet"]));
}

#[test]
fn json_is_one_document_with_all_that_is_needed_to_play_it_again() {
    let words = ["match", "zombie-dice", "greedy", "greedy", "--seed", "3", "--json"];
    let result = json(&words);
    assert_eq!(result["game"], "zombie-dice");
    assert_eq!(result["options"]["tiebreak"], "one_round");
    assert_eq!(result["seed"], 3);
    assert_eq!(result["entries"][0], serde_json::json!({ "name": "greedy", "bot": "greedy" }));
    assert_eq!(result["entries"][1], serde_json::json!({ "name": "greedy-2", "bot": "greedy" }));
    assert_eq!(result["places"].as_array().unwrap().len(), 2);
    assert_eq!(result["scores"].as_array().unwrap().len(), 2);
    assert!(result["turns"].as_u64().unwrap() >= 2);
    assert_eq!(result, json(&words), "the same seed gives the same match");
}

#[test]
fn options_change_the_match() {
    let words = ["match", "last-bullet", "runner", "runner", "--seed", "3", "--json"];
    let short = json(&[&words[..], &["--set", "max_turns=7", "--set", "density=0.1"]].concat());
    assert_eq!(short["turns"], 7);
    assert_eq!(short["options"]["density"], 0.1);
}

#[test]
fn without_a_seed_a_random_one_is_chosen_and_printed() {
    let words = ["match", "zombie-dice-solo", "greedy", "--json"];
    let seeds: Vec<Value> = (0..4).map(|_| json(&words)["seed"].clone()).collect();
    assert!(seeds.iter().any(|seed| *seed != seeds[0]), "{seeds:?}");
    assert!(output(&["match", "zombie-dice-solo", "greedy"]).contains("seed "));
}

#[test]
fn mistakes_get_one_line_and_hints() {
    let refusals = [
        refusal(&["match", "zombiedice", "greedy", "greedy"]),
        refusal(&["match", "chess", "greedy", "greedy"]),
        refusal(&["match", "zombie-dice", "gredy", "cautious"]),
        refusal(&["match", "zombie-dice", "greedy"]),
        refusal(&["match", "zombie-dice-race", "greedy", "greedy", "greedy"]),
        refusal(&["match", "tokyo"]),
        refusal(&["match", "zombie-dice", "greedy", "stop-at:brain=3"]),
        refusal(&["match", "zombie-dice", "greedy", "stop-at:brains=many"]),
        refusal(&["match", "zombie-dice", "greedy", "greedy:"]),
        refusal(&["match", "zombie-dice", "greedy", "cautious:x=1"]),
        refusal(&["match", "zombie-dice", "greedy", "greedy", "--set", "out_of_dic=end_turn"]),
        refusal(&["match", "zombie-dice", "greedy", "greedy", "--set", "out_of_dice=7"]),
        refusal(&["match", "zombie-dice", "greedy", "greedy", "--set", "tiebreak"]),
        refusal(&["match", "last-bullet", "runner", "--set", "density=0"]),
        refusal(&["match", "last-bullet", "runner", "--set", "density=0.000001"]),
        refusal(&["match", "infection", "random", "random", "--set", "zombies=2"]),
    ];
    insta::assert_snapshot!(refusals.join("\n"));
}

#[test]
fn flags_that_do_not_exist_or_make_no_sense_are_refused() {
    necrodome(&["match", "tokyo", "angry", "angry", "--sed", "4"]).assert().code(2);
    necrodome(&["match", "tokyo", "angry", "angry", "--seed", "minus one"]).assert().code(2);
    necrodome(&["fight"]).assert().code(2);
}

#[test]
fn every_command_has_help_with_examples() {
    for command in [&["--help"][..], &["games", "--help"], &["bots", "--help"], &["match", "--help"]] {
        assert!(output(command).contains("Examples:\n  necrodome"), "{command:?}");
    }
}

/// All words that name a command, from the list of commands in its help.
fn subcommands(help: &str) -> Vec<String> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = list.take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  "));
    let name = |line: &str| line.split(' ').next().filter(|name| !name.is_empty()).map(str::to_owned);
    names.filter_map(name).filter(|name| name != "help").collect()
}

/// Paragraphs are wrapped once: no line ends early because the source has a line break there.
#[test]
fn help_is_wrapped_for_the_terminal_only() {
    let mut left: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(words) = left.pop() {
        let all: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
        let help = String::from_utf8(necrodome(&all).env("COLUMNS", "80").output().unwrap().stdout).unwrap();
        let lines: Vec<&str> = help.lines().collect();
        for pair in lines.windows(2) {
            let is_plain = |line: &str| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
            let first = pair[1].split(' ').next().unwrap_or_default();
            let fits = pair[0].chars().count() + 1 + first.chars().count() <= 80;
            let is_early = is_plain(pair[0]) && is_plain(pair[1]) && fits;
            assert!(!is_early, "{all:?}:\n{}\n{}", pair[0], pair[1]);
        }
        left.extend(subcommands(&help).into_iter().map(|name| [&words[..], &[name]].concat()));
    }
}

#[test]
fn colours_come_only_where_they_are_wanted() {
    let words = ["match", "zombie-dice-solo", "greedy", "--seed", "1"];
    assert!(!output(&words).contains('\u{1b}'), "a pipe gets no colours");
    let forced = necrodome(&words).env("CLICOLOR_FORCE", "1").assert().success();
    assert!(forced.get_output().stdout.contains(&0x1b));
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let binary = assert_cmd::cargo::cargo_bin!("necrodome");
    let mut child = std::process::Command::new(binary)
        .args(["match", "last-bullet", "runner", "gunner", "--seed", "1"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let result = child.wait_with_output().unwrap();
    assert!(result.status.success(), "{result:?}");
    assert_eq!(String::from_utf8_lossy(&result.stderr), "");
}

#[test]
fn a_step_beyond_the_end_of_a_replay_is_refused_with_the_number_of_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let replay = folder.path().join("my.replay").display().to_string();
    let words = ["match", "zombie-dice-solo", "stop-at:brains=5", "--quiet", "--seed=3", "--replay", &replay];
    necrodome(&words).assert().success();
    let steps: usize = output(&["replay", &replay, "--verify"])
        .split_whitespace()
        .find_map(|word| word.parse().ok())
        .unwrap();
    let words = ["replay", &replay, "--at", "99999"];
    let expected =
        format!("error: --at 99999: the match has {steps} decisions, so expected a number from 0 to {steps}");
    assert_eq!(refusal(&words), expected);
    assert!(
        output(&["replay", &replay, "--at", &steps.to_string()])
            .starts_with(&format!("decision {steps} of {steps}"))
    );
}

#[test]
fn a_missing_bot_is_named_as_it_was_written() {
    let refused = refusal(&["match", "tokyo", "angry", "./nope.py"]);
    assert_eq!(refused, r#"error: there is no file "./nope.py""#);
}

#[test]
fn a_replay_becomes_a_page_that_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (replay, page) = (path("my.replay"), path("my.html"));
    let words =
        ["match", "zombie-dice-race", "greedy", "cautious", "--quiet", "--seed=3", "--replay", &replay];
    necrodome(&words).assert().success();

    let made = necrodome(&["replay", &replay, "--html", &page]).output().unwrap();
    if !made.status.success() {
        // Built without Node.js: it says so, and leaves nothing behind.
        let told = String::from_utf8(made.stderr).unwrap();
        assert!(told.contains("not included") && told.contains("Node.js"), "{told}");
        assert!(!std::path::Path::new(&page).exists());
        return;
    }
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.contains("id=\"film\""));
    let loads = ["<script src=", "<link rel=\"stylesheet\""];
    assert!(!loads.iter().any(|tag| html.contains(tag)), "it needs no other file");

    std::fs::write(&page, "mine").unwrap();
    let told = necrodome(&["replay", &replay, "--html", &page]).assert().code(1).stdout("");
    assert!(String::from_utf8_lossy(&told.get_output().stderr).contains("--force"));
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "mine");
    necrodome(&["replay", &replay, "--html", &page, "--force"]).assert().success();
    assert_eq!(std::fs::read_to_string(&page).unwrap(), html);

    // Several on one page.
    let (other, both) = (path("other.replay"), path("both.html"));
    necrodome(&["match", "tokyo", "angry", "point-hunter", "--quiet", "--seed=4", "--replay", &other])
        .assert()
        .success();
    necrodome(&["replay", &replay, &other, "--html", &both]).assert().success();
    let films = std::fs::read_to_string(&both).unwrap();
    assert!(films.contains("<title>2 matches") && films.contains(r#"[{"game":"zombie-dice-race""#));
    assert!(films.contains(r#",{"game":"tokyo""#));
}

#[test]
fn several_replays_are_for_a_page() {
    let refused = refusal(&["replay", "one.replay", "two.replay"]);
    assert_eq!(
        refused,
        "error: expected one file, got 2\nhint: --html OUT.html shows several matches on one page"
    );
}
