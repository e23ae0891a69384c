//! Stored tournaments whose entries come and go.

use crate::program::{necrodome_in, output_in};
use serde_json::Value;
use std::{fs, path::Path};
use tempfile::TempDir;

fn words(more: &[&'static str]) -> Vec<&'static str> {
    let all =
        ["tournament", "zombie-dice-race", "--format=round-robin", "--store=s", "--seed=3", "--threads=2"];
    [&all[..], more].concat()
}

/// The report of a tournament, and what was said meanwhile.
fn played(folder: &Path, more: &[&'static str]) -> (Value, String) {
    let told = necrodome_in(folder, &[words(more), vec!["--json"]].concat()).assert().success();
    let output = told.get_output();
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    (serde_json::from_slice(&output.stdout).unwrap(), said)
}

fn standings(report: &Value) -> Vec<(&str, u64)> {
    let entries = report["standings"].as_array().unwrap().iter();
    entries.map(|entry| (entry["name"].as_str().unwrap(), entry["games"].as_u64().unwrap())).collect()
}

#[test]
fn entries_join_and_leave_and_chosen_ones_meet_more_often() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    played(folder, &["greedy", "random", "--blocks=30"]);
    let (report, said) = played(folder, &["greedy", "random", "cautious", "--blocks=30"]);
    assert!(
        said.contains("joined: cautious\nwhat was played stays; only what is missing is played\n"),
        "{said}"
    );
    assert_eq!((&report["blocks"], &report["matches"]), (&60.into(), &180.into()));
    let (report, _) =
        played(folder, &["greedy", "random", "cautious", "--blocks=90", "--only=greedy,cautious"]);
    assert_eq!(standings(&report), [("greedy", 240), ("cautious", 240), ("random", 120)]);
    assert_eq!(report["blocks_each"], serde_json::json!([30, 90]));
    let (report, said) = played(folder, &["greedy", "cautious", "--blocks=90"]);
    assert!(said.contains("left: random\n"), "{said}");
    assert_eq!((&report["left"], &report["matches"]), (&serde_json::json!(["random"]), &180.into()));
    // What is stored is shown as it is now, without the command.
    let shown = output_in(folder, &["report", "s", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap()["standings"], report["standings"]);
    let table = output_in(folder, &["report", "s"]);
    assert!(table.contains("no longer in it: random"), "{table}");
    // Its matches are still there.
    output_in(folder, &["replay", "s", "--from", "0.1"]);
}

#[test]
fn a_changed_program_is_a_new_entry_and_only_its_matches_are_played() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    output_in(folder, &["new-bot", "zombie-dice-race", "python", "mine.py"]);
    let line_up = ["greedy", "random", "./mine.py", "--blocks=6"];
    played(folder, &line_up);
    let path = folder.join("mine.py");
    fs::write(&path, fs::read_to_string(&path).unwrap() + "# another version\n").unwrap();
    let refused = necrodome_in(folder, &words(&line_up)).assert().code(2);
    let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(said.contains("the program of mine has changed") && said.contains("--new-version"), "{said}");
    let (report, said) = played(folder, &["greedy", "random", "./mine.py", "--blocks=6", "--new-version"]);
    assert!(said.contains("another version, and the old one leaves: mine\n"), "{said}");
    assert_eq!((&report["blocks"], &report["matches"]), (&12.into(), &36.into()));
    assert_eq!(report["left"], serde_json::json!(["mine (version 1)"]));
    assert_eq!(report["faults"], serde_json::json!([]));
    // The old one again: all its matches are there.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("# another version\n", "")).unwrap();
    let (report, _) = played(folder, &line_up);
    assert_eq!((&report["blocks"], &report["left"]), (&12.into(), &serde_json::json!(["mine (version 2)"])));
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    played(folder, &["greedy", "random", "--blocks=5"]);
    for (more, expected) in [
        (&["greedy", "random", "--only=greedy,nobody"][..], "there is no entry \"nobody\" in the line-up"),
        (&["greedy", "random", "--only=greedy"], "a round-robin needs at least 2 entries, got 1"),
        (&["greedy=optimal", "random"], "the name greedy belongs to greedy there, and to optimal here"),
    ] {
        let refused = necrodome_in(folder, &words(more)).assert().failure();
        let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
        assert!(said.contains(expected), "{said}");
    }
    let table = ["tournament", "zombie-dice", "greedy", "random", "--blocks=5", "--store=t", "--seed=1"];
    output_in(folder, &table);
    let told = necrodome_in(folder, &[&table[..], &["cautious"]].concat()).assert().success();
    let said = String::from_utf8(told.get_output().stderr.clone()).unwrap();
    assert!(said.contains("tournament 2 of t: a new edition, beside the old one"), "{said}");
}

#[test]
fn a_mistyped_bot_leaves_no_trace() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let said = |more: &[&'static str]| {
        let refused = necrodome_in(folder, &words(more)).assert().failure();
        String::from_utf8(refused.get_output().stderr.clone()).unwrap()
    };
    assert!(said(&["greedy", "cautios"]).contains("did you mean cautious?"));
    assert!(!folder.join("s").exists());
    let (first, _) = played(folder, &["greedy", "cautious", "--blocks=5"]);
    assert!(said(&["greedy", "cautious", "nobody", "--blocks=5"]).contains("no bot"));
    let shown: Value = serde_json::from_str(&output_in(folder, &["report", "s", "--json"])).unwrap();
    assert_eq!(shown, first);
}

#[test]
fn a_tournament_goes_on_from_another_folder() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("elsewhere")).unwrap();
    output_in(folder, &["new-bot", "zombie-dice-race", "python", "mine.py"]);
    fs::write(
        folder.join("t.toml"),
        "game = \"zombie-dice-race\"\nbots = [\"greedy\", \"mine.py\"]\nblocks = 2\nseed = 1\nstore = \"s\"\njson = true\n",
    )
    .unwrap();
    let here = output_in(folder, &["tournament", "t.toml"]);
    assert_eq!(output_in(&folder.join("elsewhere"), &["tournament", "../t.toml"]), here);
}
