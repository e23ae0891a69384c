//! The example game has only rules, and yet works everywhere.

use crate::program::{necrodome_in, output_in};
use serde_json::Value;
use std::fs;

#[test]
fn it_is_narrated_recorded_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let words =
        ["match", "pig", "hold-at", "random", "hold-at:points=10", "--seed", "3", "--replay", "pig.replay"];
    let story = output_in(folder.path(), &words);
    // The name of a player stands above each of their turns.
    for name in ["hold-at", "random"] {
        assert!(story.contains(&format!("{name}\n  rolled, die ")), "{story}");
        assert!(!story.contains(&format!("  {name} rolled")), "{story}");
    }
    assert!(story.contains("1. "), "{story}");
    assert!(story.contains("points"), "{story}");
    assert!(output_in(folder.path(), &["replay", "pig.replay", "--verify"]).starts_with("verified"));
    let told = output_in(folder.path(), &["replay", "pig.replay"]);
    assert!(story.starts_with(&told), "a replay tells the same story");
    let document: Value =
        serde_json::from_str(&output_in(folder.path(), &[&words[..7], &["--json"]].concat())).unwrap();
    assert_eq!(document["game"], "pig");
    assert!(document["scores"].as_array().unwrap().iter().any(|score| score.as_i64() >= Some(100)));
}

#[test]
fn a_person_plays_it_from_a_menu() {
    let folder = tempfile::tempdir().unwrap();
    let mut play = necrodome_in(folder.path(), &["play", "pig", "--seed", "1"]);
    let played = play.write_stdin("dance\n".to_owned() + &"1\n1\n2\n".repeat(200)).output().unwrap();
    let story = String::from_utf8(played.stdout).unwrap();
    assert!(played.status.success(), "{story}");
    assert!(story.contains("[1] roll, [2] hold"), "{story}");
    assert!(story.contains("Expected [1] roll, [2] hold, got \"dance\"."), "{story}");
    assert!(story.contains("Result"), "{story}");
}

#[test]
fn a_process_plays_it_through_the_protocol() {
    let folder = tempfile::tempdir().unwrap();
    output_in(folder.path(), &["new-bot", "pig", "python", "bot.py"]);
    let check = output_in(folder.path(), &["check-bot", "pig", "./bot.py"]);
    assert!(check.contains("ready for the arena"), "{check}");
    let words = ["match", "pig", "./bot.py", "hold-at", "--seed", "5", "--public-dice", "--json"];
    let document: Value = serde_json::from_str(&output_in(folder.path(), &words)).unwrap();
    assert_eq!(document["faults"].as_array().unwrap().len(), 0, "{document}");
}

#[test]
fn a_tournament_has_a_report_and_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let words =
        ["tournament", "pig", "hold-at", "random", "--blocks", "50", "--seed", "2", "--store", "pig.store"];
    let report = output_in(folder.path(), &words);
    let [first, second] = ["hold-at", "random"].map(|name| report.find(&format!(" {name} ")).unwrap());
    assert!(first < second, "{report}");
    output_in(folder.path(), &["replay", "pig.store", "--from", "3.0", "--save", "pig.replay"]);
    assert!(output_in(folder.path(), &["replay", "pig.replay", "--verify"]).starts_with("verified"));
    // Without a line-up there is one all the same.
    let report = output_in(folder.path(), &["tournament", "pig", "--blocks", "5", "--seed", "2"]);
    assert!(report.contains("hold-at:points=10"), "{report}");
}

#[test]
fn its_film_opens_in_a_browser() {
    let folder = tempfile::tempdir().unwrap();
    output_in(
        folder.path(),
        &["match", "pig", "hold-at", "random", "--seed", "3", "--quiet", "--replay", "pig.replay"],
    );
    output_in(folder.path(), &["replay", "pig.replay", "--html", "pig.html"]);
    let page = fs::read_to_string(folder.path().join("pig.html")).unwrap();
    assert!(page.contains("Pig: hold-at and random"), "the title");
}

#[test]
fn users_do_not_see_it() {
    let folder = tempfile::tempdir().unwrap();
    for words in [&["games"][..], &["bots"], &["docs"]] {
        let listed = output_in(folder.path(), words).to_lowercase();
        assert!(!listed.contains("pig"), "{listed}");
    }
    let refused = necrodome_in(folder.path(), &["solve", "pig"]).assert().code(2);
    let refused = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(refused.contains("pig is not solved"), "{refused}");
}
