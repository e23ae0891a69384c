//! `judge simulate` and `judge balance` through the binary.

use crate::{
    program::{necrodome, quiet_output},
    terminal::Terminal,
};
use assert_cmd::Command;
use serde_json::Value;
use std::fs;

fn judge(words: &[&str]) -> Command {
    necrodome(&[&["judge"], words].concat())
}

fn output(words: &[&str]) -> String {
    // No progress bar where nobody watches.
    quiet_output(&mut judge(words))
}

fn refusal(words: &[&str]) -> String {
    let result = judge(words).assert().code(2).stdout("");
    String::from_utf8(result.get_output().stderr.clone()).unwrap()
}

const SMALL: [&str; 11] =
    ["simulate", "--players", "12", "--zombies", "2", "--turns", "5", "--games", "400", "--seed", "3"];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn a_table_for_people_and_a_document_for_programs() {
    let text = output(&small(&[]));
    assert!(
        text.starts_with("12 players, 2 zombies, 5 turns\nhumans play careful, zombies play spreader\n"),
        "{text}"
    );
    assert!(text.contains("400 games, seed 3"), "{text}");
    for line in ["zombies win", "one survivor wins", "humans win", "turns"] {
        assert!(text.contains(&format!("\n  {line}")), "{line}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(!text.contains('\u{1b}'));
    let document: Value = serde_json::from_str(&output(&small(&["--json"]))).unwrap();
    assert_eq!(document["game"], "infection");
    assert_eq!(document["options"]["max_turns"], 5);
    assert_eq!((&document["seed"], &document["games"]), (&3.into(), &400.into()));
    for share in ["zombies_win", "survivor_wins", "humans_win"] {
        for key in ["games", "rate", "low", "high"] {
            assert!(document[share][key].is_number(), "{share}.{key} in {document}");
        }
    }
    let rate = document["zombies_win"]["rate"].as_f64().unwrap();
    assert!(text.contains(&format!("{:.1}% [", 100.0 * rate)), "{rate}: {text}");
    let start = &document["turns"][0];
    assert_eq!(start["zombies"]["mean"], 2.0);
    for curve in ["humans", "zombies", "infected"] {
        for key in ["lower_quartile", "median", "upper_quartile"] {
            for end in ["value", "low", "high"] {
                assert!(start[curve][key][end].is_u64(), "{curve}.{key}.{end} in {start}");
            }
        }
    }
    assert!(document["length"]["mean"].is_number() && document["length"]["median"]["value"].is_u64());
}

#[test]
fn the_same_on_any_number_of_threads_and_another_with_another_seed() {
    let one = output(&small(&["--json", "--threads", "1"]));
    assert_eq!(one, output(&small(&["--json", "--threads", "3"])));
    let mut other = small(&["--json"]);
    *other.iter_mut().find(|word| **word == "3").unwrap() = "4";
    assert_ne!(one, output(&other));
    // A random seed is told.
    let words = ["simulate", "--players", "5", "--games", "10", "--json"];
    let document: Value = serde_json::from_str(&output(&words)).unwrap();
    assert!(document["seed"].as_str().unwrap().starts_with("0x"));
}

#[test]
fn ways_to_play_and_options_make_a_difference() {
    let number = |of: &[&str; 2], more: &[&str]| {
        let document: Value = serde_json::from_str(&output(&small(&[more, &["--json"]].concat()))).unwrap();
        document[of[0]][of[1]].as_f64().unwrap()
    };
    // Zombies who meet one other a turn take longer.
    let low = number(&["length", "low"], &["--zombie-play", "careful"]);
    assert!(low > number(&["length", "high"], &[]));
    // Who starts with many antibodies survives.
    let low = number(&["humans_win", "low"], &["--set", "start_antibodies=20"]);
    assert!(low > number(&["humans_win", "high"], &[]));
    let document: Value =
        serde_json::from_str(&output(&small(&["--humans", "careful:reserve=9", "--json"]))).unwrap();
    assert_eq!(document["humans_play"], "careful:reserve=9");
}

#[test]
fn a_chart_is_a_picture_with_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("party.svg");
    judge(&small(&["--svg", path.to_str().unwrap()])).assert().success();
    let svg = fs::read_to_string(&path).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for word in
        ["turns finished", "players", "zombies", "humans", "infected", "12 players, 2 zombies, 5 turns"]
    {
        assert!(svg.contains(word), "{word}");
    }
    assert!(svg.matches("<polygon").count() >= 3, "a band for each");
    let nowhere = folder.path().join("no").join("party.svg");
    judge(&small(&["--svg", nowhere.to_str().unwrap()])).assert().code(1);
}

#[test]
fn balance_recommends_and_shows_the_trade_off() {
    let words = [
        "balance",
        "--players",
        "12",
        "--max-zombies",
        "4",
        "--max-turns",
        "5",
        "--games",
        "500",
        "--seed",
        "1",
    ];
    let text = output(&words);
    assert!(text.starts_with("12 players: "), "{text}");
    assert!(text.contains("the fairest") && text.contains("zombies down, turns across"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let json = |more: &[&str]| output(&[&words[..], &["--json"], more].concat());
    let all = json(&[]);
    assert_eq!(all, json(&["--threads", "1"]));
    let document: Value = serde_json::from_str(&all).unwrap();
    assert_eq!(document["cells"].as_array().unwrap().len(), 20);
    assert_eq!(document["fairest"].as_array().unwrap().len(), 10);
    let best = &document["recommended"];
    let title = text.lines().next().unwrap();
    assert!(title.contains(&format!("{} zombie", best["zombies"])), "{title}");
    for key in ["zombies_win", "humans_win", "unfairness", "length"] {
        assert!(best[key]["low"].is_number() && best[key]["high"].is_number(), "{key} in {best}");
    }
}

#[test]
fn every_table_fits_into_80_columns() {
    let words = ["simulate", "--players", "500", "--zombies", "499", "--games", "10", "--seed", "1"];
    let many = ["balance", "--players", "6", "--max-turns", "100", "--games", "50", "--seed", "1"];
    for words in [&words[..], &many[..]] {
        let text = output(words);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}

#[test]
fn mistakes_are_explained() {
    let near = refusal(&small(&["--humans", "carefull"]));
    assert!(near.contains("did you mean careful?"), "{near}");
    assert!(refusal(&small(&["--zombie-play", "brain"])).contains("infection has no bot \"brain\""));
    assert!(refusal(&small(&["--humans", "careful:reserve"])).contains("expected option=value"));
    assert!(refusal(&small(&["--humans", "careful:reserve=0"])).contains("from 1 to 1000"));
    assert!(refusal(&small(&["--set", "start_antibody=1"])).contains("did you mean start_antibodies?"));
    assert!(refusal(&small(&["--set", "zombies=1"])).contains("use --zombies"));
    assert!(refusal(&small(&["--set", "max_turns=1"])).contains("use --turns"));
    assert!(
        refusal(&["simulate", "--players", "4", "--zombies", "4"]).contains("fewer zombies than players")
    );
    assert!(refusal(&["balance", "--players", "4", "--max-zombies", "4"]).contains("at most 3"));
    for words in [
        &["simulate"][..],
        &["simulate", "--players", "1"],
        &["simulate", "--players", "501"],
        &["simulate", "--players", "5", "--turns", "0"],
        &["simulate", "--players", "5", "--games", "0"],
        &["simulate", "--players", "5", "--threads", "0"],
        &["balance", "--players", "5", "--max-turns", "0"],
    ] {
        refusal(words);
    }
}

#[test]
fn ctrl_c_stops_it_cleanly() {
    for words in [
        &["simulate", "--players", "100", "--zombies", "10", "--games", "100000000"][..],
        &["balance", "--players", "100", "--games", "100000000"],
    ] {
        let mut terminal = Terminal::run(&[&["judge"], words].concat());
        terminal.expect_on_screen("playing");
        terminal.press("\x03");
        terminal.expect("interrupted");
        assert_eq!(terminal.exit_code(), 130);
    }
}

/// The set-up that `judge new` writes is simulated as it is, and humans can win it.
#[test]
fn a_set_up_is_simulated_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let at = |file: &str| folder.path().join(file).display().to_string();
    let (config, script) = (at("config.yml"), at("game.txt"));
    judge(&["new", "--config", &config, "--script", &script, "--seed", "1"]).assert().success();
    let simulate = ["simulate", "--config", &config, "--games", "400", "--seed", "3", "--json"];
    let document: Value = serde_json::from_str(&output(&simulate)).unwrap();
    let options = &document["options"];
    assert_eq!(
        (&document["players"], &options["zombies"], &options["max_turns"]),
        (&8.into(), &1.into(), &4.into())
    );
    assert_eq!(options["start_antibodies"], 3);
    let lost = document["zombies_win"]["rate"].as_f64().unwrap();
    assert!((0.25..0.75).contains(&lost), "{document}");
    let balance =
        ["balance", "--config", &config, "--games", "50", "--max-turns", "5", "--seed", "1", "--json"];
    let document: Value = serde_json::from_str(&output(&balance)).unwrap();
    assert_eq!(document["options"]["start_antibodies"], 3);
    assert!(refusal(&["simulate", "--config", &config, "--players", "9"]).contains("--players"));
}
