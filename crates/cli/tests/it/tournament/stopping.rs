//! When a tournament stops, and what its report may claim then.

use super::{endless, hash, json, tournament};
use crate::program::{necrodome_in, output_in};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

#[test]
fn ctrl_c_stops_cleanly_and_says_how_to_go_on() {
    let folder = TempDir::new().unwrap();
    let stored = format!("--store={}", folder.path().join("t.store").display());
    let (mut arena, lines) = endless(&stored);
    let pid = nix::unistd::Pid::from_raw(arena.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let last = lines.map_while(Result::ok).find(|line| line.contains("run the same command again"));
    assert!(last.is_some(), "it says how to go on");
    assert_eq!(arena.wait().unwrap().code(), Some(130));
}

#[test]
fn until_decided_stops_early_and_says_so() {
    let words = ["tokyo", "angry", "random", "--seed=1", "--blocks=3000", "--until=decided"];
    let report = json(&words);
    assert!(report["blocks"].as_u64().unwrap() < 1000, "{}", report["blocks"]);
    let on_two = json(&[&words[..], &["--threads=2"]].concat());
    assert_eq!(hash(&report), hash(&on_two));
    let told = tournament(&words).assert().success();
    assert!(String::from_utf8_lossy(&told.get_output().stdout).contains("stopped early"));
}

#[test]
fn twins_cannot_be_told_apart_and_unequals_can() {
    let report = json(&["zombie-dice-race", "a=greedy", "b=greedy", "c=random", "--seed=5", "--blocks=400"]);
    let undecided: Vec<String> =
        report["undecided"].as_array().unwrap().iter().map(|pair| pair.to_string()).collect();
    assert_eq!(undecided.len(), 1, "{undecided:?}");
    assert!(undecided[0].contains("\"a\"") && undecided[0].contains("\"b\""), "{undecided:?}");
    let last = report["standings"].as_array().unwrap().last().unwrap();
    assert_eq!(last["name"], "c");
    assert_eq!(last["rank"], serde_json::json!({ "best": 3, "worst": 3 }));
}

#[test]
fn intervals_of_a_tournament_that_went_on_hold_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let report = |blocks: &str| -> Value {
        let words =
            ["tournament", "zombie-dice-race", "greedy", "cautious", "--seed=3", "--store=t.store", "--json"];
        serde_json::from_str(&output_in(folder.path(), &[&words[..], &["--blocks", blocks]].concat()))
            .unwrap()
    };
    let width = |report: &Value| {
        let rate = &report["standings"][0]["win_rate"];
        rate["high"].as_f64().unwrap() - rate["low"].as_f64().unwrap()
    };
    let (first, more) = (report("50"), report("60"));
    assert_eq!((&first["confidence"], &more["confidence"]), (&"fixed".into(), &"anytime".into()));
    assert!(width(&more) > 1.2 * width(&first), "{first} {more}");
}

#[test]
fn a_test_between_two_claims_stops_when_it_is_decided() {
    let folder = TempDir::new().unwrap();
    let run =
        |words: &[&str]| output_in(folder.path(), &[&["tournament", "zombie-dice-race"], words].concat());
    let better = run(&["optimal", "cautious", "--test", "0,50", "--seed=1", "--blocks=3000"]);
    assert!(
        better.contains("Test: optimal is more than 0 Elo better than cautious, with 95% confidence."),
        "{better}"
    );
    assert!(better.contains("stopped early: the test is decided"), "{better}");
    let equal = run(&["greedy", "twin=greedy", "--test=-10,60", "--seed=1", "--blocks=3000"]);
    assert!(
        equal.contains("Test: greedy is less than 60 Elo better than twin, with 95% confidence."),
        "{equal}"
    );
    let short = run(&["greedy", "twin=greedy", "--test=0,5", "--seed=1", "--blocks=20"]);
    assert!(
        short.contains("Test not decided") && short.contains("not decided: all blocks are played"),
        "{short}"
    );
    fs::write(
        folder.path().join("t.toml"),
        "game = \"zombie-dice\"\nbots = [\"greedy\", \"random\"]\ntest = \"5\"\n",
    )
    .unwrap();
    for (words, why) in [
        (
            &["tournament", "zombie-dice-race", "greedy", "random", "--test=5,0"][..],
            "expected two differences in Elo",
        ),
        (
            &["tournament", "zombie-dice", "greedy", "random", "cautious", "--test=0,5"],
            "a test compares two entries, got 3",
        ),
        (
            &["tournament", "zombie-dice-solo", "greedy", "random", "--test=0,5"],
            "a match of a test has exactly 2 seats, got 1",
        ),
        (
            &["tournament", "zombie-dice", "greedy", "random", "--test=0,5", "--until=decided"],
            "two rules for stopping",
        ),
        (
            &["tournament", "zombie-dice", "greedy", "random", "--until=decided", "--margin=2"],
            "expected a number below 1, got 2",
        ),
        (&["tournament", "t.toml"], "t.toml:3:8: expected two differences in Elo"),
    ] {
        let refused = necrodome_in(folder.path(), words).assert().code(2);
        let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
        assert!(said.contains(why), "{words:?}: {said}");
    }
}

#[test]
fn twins_who_play_alone_are_never_told_apart() {
    for seed in 1..=6 {
        let report =
            json(&["zombie-dice-solo", "greedy", "twin=greedy", "--blocks=50", &format!("--seed={seed}")]);
        assert_eq!(report["undecided"].as_array().unwrap().len(), 1, "{}", report["summary"]);
    }
}
