//! `necrodome exam`, through the binary.

use crate::program::{self, necrodome, necrodome_in, output_in};
use serde_json::Value;
use std::fs;

fn json(words: &[&str]) -> Value {
    serde_json::from_str(&program::output(&mut necrodome(words))).unwrap()
}

/// Says hello, and then nothing but nonsense.
const NONSENSE: &str = r#"mad=cmd:python3 -uc 'import sys; [print("{\"type\":\"ready\",\"protocol\":1}" if "hello" in line else "[]") for line in sys.stdin if "hello" in line or "decide" in line]'"#;

#[test]
fn entries_are_ranked_by_regret_and_questions_follow_from_the_seed() {
    let words = ["exam", "tokyo", "random", "angry", "optimal", "--positions=40", "--seed=7", "--json"];
    let exam = json(&words);
    assert_eq!(exam, json(&words));
    let entries = exam["entries"].as_array().unwrap();
    let names: Vec<&str> = entries.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["optimal", "angry", "random"]);
    for key in ["regret", "perfect", "unusable", "tokens", "cost"] {
        assert!(entries.iter().all(|entry| entry[key].is_number()), "{key}");
    }
    assert!(entries[0]["regret"].as_f64().unwrap() <= 1e-12);
    assert!(entries[2]["rank"]["best"] == 3 && exam["pairs"].as_array().unwrap().len() == 3);
    // An entry's marks do not depend on who else is there.
    let alone = json(&["exam", "tokyo", "random", "--positions=40", "--seed=7", "--json"]);
    assert_eq!(alone["entries"][0]["regret"], entries[2]["regret"]);
    let other = json(&["exam", "tokyo", "random", "--positions=40", "--seed=8", "--json"]);
    assert_ne!(other["entries"][0]["regret"], entries[2]["regret"]);
}

#[test]
fn people_read_it_in_eighty_columns() {
    let text = program::quiet_output(&mut necrodome(&[
        "exam",
        "zombie-dice",
        "greedy",
        "a-bot-with-a-very-long-name-indeed=random",
        "cautious",
        "optimal",
        "--null",
        "--positions=40",
    ]));
    let wide = text.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None, "{text}");
    for part in [
        "Zombie Dice: 40 positions, seed 0",
        "rank  entry ",
        "the same entry twice: greedy and greedy again cannot be told apart: 0.00%",
        "regret by kind of decision",
        "regret by what is at stake",
        "the worst answers",
        "A perfect player ",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
}

#[test]
fn programs_are_asked_and_their_faults_counted() {
    let folder = tempfile::tempdir().unwrap();
    let bot = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bots/python/zombie_dice.py");
    let words =
        ["exam", "zombie-dice-race", bot, NONSENSE, "optimal", "--positions=20", "--json", "--csv=e.csv"];
    let exam: Value = serde_json::from_str(&output_in(folder.path(), &words)).unwrap();
    let of =
        |name: &str| exam["entries"].as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap();
    // As in a tournament it is started again some times, and then is out.
    assert_eq!(of("mad")["lost_by_kind"], serde_json::json!({ "garbage": 4, "out": 16 }));
    let table = fs::read_to_string(folder.path().join("e.csv")).unwrap();
    assert!(table.contains(",lost,lost_by_kind,") && table.contains(",20,\"4 garbage, 16 out\","), "{table}");
    assert_eq!((&of("mad")["unusable"], &of("mad")["lost"]), (&20.into(), &20.into()));
    assert_eq!((&of("zombie_dice")["unusable"], &of("zombie_dice")["answered"]), (&0.into(), &20.into()));
    assert!(of("mad")["regret"].as_f64() > of("zombie_dice")["regret"].as_f64());
    // A program that does not start has no marks.
    let refused = necrodome(&["exam", "zombie-dice-race", "cmd:false", "--positions=20"]).assert().code(1);
    let error = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(error.contains("false did not start"), "{error}");
}

#[test]
fn tables_pages_and_charts_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let name = "<b>x=greedy";
    let words = [
        "exam",
        "zombie-dice-solo",
        name,
        "random",
        "--positions=20",
        "--csv=e.csv",
        "--csv-answers=a.csv",
        "--html=e.html",
        "--svg=e.svg",
    ];
    output_in(folder.path(), &words);
    let read = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
    assert!(read("e.csv").starts_with("name,bot,rank_best,") && read("e.csv").lines().count() == 3);
    assert_eq!(read("a.csv").lines().count(), 41);
    let page = read("e.html");
    assert!(
        page.contains("&lt;b&gt;x") && !page.contains("<b>x") && page.contains("Content-Security-Policy")
    );
    assert!(read("e.svg").contains("&lt;b&gt;x") && read("e.svg").starts_with("<svg"));
    assert!(!read("e.svg").lines().any(|line| line.trim().starts_with("-0")), "{}", read("e.svg"));
    // Nothing is overwritten, and nothing asked before that is known.
    let again = program::refusal(&mut necrodome_in(folder.path(), &words), 1);
    assert!(again.contains("e.csv is there already") && again.contains("--force"), "{again}");
    let twice = ["exam", "tokyo", "angry", "--csv=x", "--html=x"];
    assert!(program::refusal(&mut necrodome_in(folder.path(), &twice), 2).contains("name the same file"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (words, text) in [
        (&["exam", "last-bullet", "gunner"][..], "last-bullet is not solved: expected one of zombie-dice, "),
        (&["exam", "infection", "careful"], "hint: `necrodome tournament` compares entries in any game"),
        (&["exam", "tokyo", "angry", "--set", "max_turns=10"], "expected max_turns=none"),
        (&["exam", "tokyo", "angryy"], "did you mean angry?"),
        (&["exam", "tokyo", "human"], "a human can only play at a terminal"),
        (&["exam", "tokyo", "a=angry", "A=random"], "is taken"),
    ] {
        let refused = program::refusal(&mut necrodome(words), 2);
        assert!(refused.contains(text), "{words:?}: {refused}");
    }
}
