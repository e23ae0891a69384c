//! What is played: flags, files and formats, and the mistakes in them.

use super::store::contents;
use super::{LINE_UP, hash, json, refusal, tournament};
use crate::program::{necrodome_in, output_in};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

#[test]
fn the_same_plan_gives_the_same_results_on_any_number_of_threads() {
    let run = |threads| json(&[&LINE_UP[..], &["--blocks=300", threads]].concat());
    let (one, two, five) = (run("--threads=1"), run("--threads=2"), run("--threads=5"));
    assert_eq!(one, two);
    assert_eq!(one, five);
    assert_eq!(one["blocks"], 300);
    assert_eq!(one["matches"], 1800, "three seats in all six orders");
    let other = json(&["zombie-dice", "greedy", "cautious", "random", "--seed=8", "--blocks=300"]);
    assert_ne!(hash(&one), hash(&other));
}

#[test]
fn formats_meet_as_they_should() {
    let bots = ["greedy", "cautious", "random", "stop-at:brains=3"];
    let matches = |words: &[&str]| {
        json(&[&["zombie-dice", "--seed=1", "--blocks=3"], words, &bots[..]].concat())["matches"].clone()
    };
    assert_eq!(matches(&["--format=table"]), 72, "four seats in all 24 orders");
    assert_eq!(matches(&["--format=round-robin"]), 36);
    assert_eq!(matches(&["--format=round-robin", "--seats=3"]), 72);
    assert_eq!(matches(&["--format=gauntlet"]), 18);
    let battle = json(&["last-bullet", "runner", "gunner", "--seed=1", "--blocks=3", "--set=copies=5"]);
    assert_eq!((battle["matches"].clone(), battle["plan"]["format"].clone()), (3.into(), "battle".into()));
    assert!(
        battle["standings"][0]["median_score"].as_f64() >= battle["standings"][1]["median_score"].as_f64()
    );
}

#[test]
fn a_file_describes_a_tournament_and_mistakes_name_the_line() {
    let folder = TempDir::new().unwrap();
    let file = |text: &str| {
        let path = folder.path().join("t.toml");
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let good = "game = \"zombie-dice\"\nbots = [\"greedy\", \"Ada=cautious\"]\nblocks = 5\nseed = 1\n\
                [options]\ntiebreak = \"until_broken\"\n[limits]\ndecision_ms = 50\n";
    let report = json(&[&file(good)]);
    assert_eq!(report["plan"]["options"]["tiebreak"], "until_broken");
    assert_eq!(report["plan"]["entries"][1]["name"], "Ada");
    for (text, message) in [
        (
            "game = \"zombie-dice\"\nblock = 3\n",
            "t.toml:2:1: unknown key \"block\": expected one of game, bots, blocks, ",
        ),
        ("game = \"zombie-dice\"\nblock = 3\n", "\nhint: did you mean blocks?"),
        ("game = \"zombie-dice\"\n[limits]\n  decison_ms = 3\n", "t.toml:3:3: unknown key \"decison_ms\": "),
        ("game = \n", "t.toml:1:8: "),
        ("blocks = 3\n", "t.toml: expected a game"),
        ("blocks = 0\n", "t.toml:1:10: expected a whole number, 1 or more, got 0"),
        (
            "seed = \"x\"\n",
            "t.toml:1:8: expected a whole number, 0 or more, or up to 32 hexadecimal digits after 0x, got \"x\"",
        ),
        ("seed = -1\n", "after 0x, got -1"),
        ("bots = 3\n", "t.toml:1:8: expected a list, got 3"),
        ("limits = 3\n", "t.toml:1:10: expected a table, got 3"),
        ("game = \"tokyo\"\nuntil = \"dawn\"\n", "t.toml:2:9: expected \"decided\", got \"dawn\""),
        ("threads = 0\n", "t.toml:1:11: expected a whole number from 1 to 1024, got 0"),
        (
            "game = \"zombie-dice\"\nbots = [\"a\", \"b\"]\n[options]\ntiebreak = \"never\"\n",
            "t.toml:4:1: bad value \"never\" for option tiebreak: expected one_round or until_broken",
        ),
        (
            "game = \"zombie-dice\"\nbots = [\"a\", \"b\"]\n[options]\n tiebrake = \"never\"\n",
            "t.toml:4:2: unknown option \"tiebrake\": expected one of first_roll, max_rounds, out_of_dice, tiebreak\n\
             hint: did you mean tiebreak?",
        ),
    ] {
        let error = refusal(&[&file(text)], 2);
        assert!(error.contains(message) && error.lines().count() <= 2, "{text}: {error}");
    }
    // A flag is blamed for what the flag says.
    let error = refusal(&[&file(good), "--set=tiebreak=never"], 2);
    assert!(error.starts_with("error: zombie-dice --set: bad value \"never\""), "{error}");
    assert!(refusal(&["nowhere.toml"], 2).contains("nowhere.toml"));
}

/// The help says that a file holds the same as the flags: every flag is a key, and overrides it.
#[test]
fn every_flag_is_a_key_of_the_file() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.toml");
    let values = [
        ("blocks", "7"),
        ("seed", "5"),
        ("public-dice", "true"),
        ("format", "\"round-robin\""),
        ("seats", "2"),
        ("set", "{ tiebreak = \"until_broken\" }"),
        ("until", "\"decided\""),
        ("margin", "0.05"),
        ("rank-by", "\"plain\""),
        ("threads", "2"),
        ("store", "\"t.store\""),
        ("new-version", "true"),
        ("wide", "true"),
        ("explain", "true"),
        ("json", "true"),
        ("csv", "\"t.csv\""),
        ("csv-pairs", "\"pairs.csv\""),
        ("csv-matches", "\"matches.csv\""),
        ("force", "true"),
    ];
    let help = tournament(&["--help"]).assert().success();
    let help = String::from_utf8(help.get_output().stdout.clone()).unwrap();
    // Limits have a table of their own.
    let options = help.split_once("\nOptions:\n").unwrap().1.split_once("\nLimits of programs:\n").unwrap().0;
    let flag = |line: &str| Some(line.trim().split_once("--")?.1.split(' ').next()?.to_owned());
    let flags: Vec<String> = options
        .lines()
        .filter(|line| line.trim_start().starts_with('-'))
        .filter_map(flag)
        // A test is between two entries, only some meet in a round-robin only, a plan is not played, public dice have no secret, rounds
        // are a battle's, a film needs a browser, a dry run is for language models, no file may overwrite others: all tried elsewhere.
        .filter(|flag| {
            ![
                "help",
                "test",
                "only",
                "plan",
                "difference",
                "secret",
                "rounds",
                "watch",
                "dry-run",
                "plan-out",
                "force",
            ]
            .contains(&flag.as_str())
        })
        .collect();
    assert!(flags.len() >= 10, "{flags:?}");
    let mut text = String::from("game = \"zombie-dice\"\nbots = [\"greedy\", \"random\", \"cautious\"]\n");
    for flag in &flags {
        let (_, value) =
            values.iter().find(|(name, _)| name == flag).unwrap_or_else(|| panic!("no value for {flag}"));
        text += &format!("{flag} = {value}\n");
    }
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let told = tournament(&[path]).assert().success();
    let report: Value = serde_json::from_slice(&told.get_output().stdout).unwrap();
    let plan = &report["plan"];
    assert_eq!((&plan["blocks"], &plan["seed"], &plan["seats"]), (&7.into(), &5.into(), &2.into()));
    assert_eq!((&plan["format"], &plan["until_decided"]), (&"round-robin".into(), &true.into()));
    let told = tournament(&[path, "--decision-ms=77", "--force", "--new-version"]).assert();
    let said = String::from_utf8(told.get_output().stderr.clone()).unwrap();
    assert!(said.contains("the limit decision_ms is 500 there, 77 here"), "flags go over the file: {said}");
    assert_eq!((&plan["margin"], &plan["rank_by"]), (&0.05.into(), &"plain".into()));
    assert_eq!(plan["options"]["tiebreak"], "until_broken");
    assert!(
        ["t.store", "t.csv", "pairs.csv", "matches.csv"].iter().all(|file| folder.path().join(file).exists())
    );

    let other = folder.path().join("other.store").display().to_string();
    let flags = [
        "--blocks=3",
        "--seed=6",
        "--format=table",
        "--seats=3",
        "--set=tiebreak=one_round",
        "--store",
        &other,
        "--force",
    ];
    let told = tournament(&[&[path][..], &flags].concat()).assert().success();
    let report: Value = serde_json::from_slice(&told.get_output().stdout).unwrap();
    let plan = &report["plan"];
    assert_eq!((&plan["blocks"], &plan["seed"], &plan["seats"]), (&3.into(), &6.into(), &3.into()));
    assert_eq!((&plan["format"], &plan["options"]["tiebreak"]), (&"table".into(), &"one_round".into()));
}

/// Neither SQLite, nor the system, nor Rust speaks to users.
#[test]
fn mistakes_are_told_in_plain_words() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    fs::write(folder.path().join("zero.toml"), "game = \"tokyo\"\n[limits]\nfiles = 0\n").unwrap();
    let race = ["tournament", "zombie-dice-race", "greedy", "random"];
    let with = |more: &[&'static str]| [&race[..], more].concat();
    let above = "expected a whole number above 0";
    for (words, code, why) in [
        (
            with(&["--store=folder"]),
            1,
            "folder: the store cannot be opened: expected a file in a folder that is there",
        ),
        (with(&["--store=nowhere/t.store"]), 1, "nowhere/t.store: the store cannot be opened"),
        (with(&["--blocks=0"]), 2, above),
        (with(&["--blocks=99999999999"]), 2, "expected a smaller number"),
        (with(&["--decision-ms=0"]), 2, above),
        (with(&["--decision-ms", "-5"]), 2, above),
        (with(&["--threads=0"]), 2, "expected a whole number from 1 to 1024"),
        (with(&["--seed=x"]), 2, "expected a whole number, 0 or more"),
        (with(&["--force"]), 2, "--force means nothing without --csv"),
        (with(&["--margin=0.1"]), 2, "margin means nothing without until decided"),
        (
            vec!["tournament", "zero.toml"],
            2,
            "zero.toml: limits.files: expected a whole number above 0, got 0",
        ),
        (vec!["tournament", "nowhere.toml"], 2, "error: there is no file nowhere.toml\n"),
        (vec!["report", "nowhere.store"], 2, "error: there is no file nowhere.store\n"),
        (vec!["store", "check", "nowhere.store"], 2, "error: there is no file nowhere.store\n"),
        (vec!["replay", "nowhere.replay"], 2, "error: there is no file nowhere.replay\n"),
    ] {
        let refused = necrodome_in(folder.path(), &words).assert().code(code);
        let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
        assert!(said.contains(why), "{words:?}: {said}");
        for raw in ["os error", "..=", "unable to", "database", "invalid digit"] {
            assert!(!said.contains(raw), "{words:?}: {said}");
        }
    }
}

#[test]
fn mistakes_are_found_before_anything_starts() {
    for (words, message) in [
        (vec!["zombie-dice", "greedy"], "a table needs at least 2 entries, got 1"),
        (vec!["zombie-dice", "greedy", "./nowhere.py"], "there is no file"),
        (vec!["zombie-dice", "x=greedy", "X=random"], "is taken"),
        (vec!["zombie-dice", "greedy", "gredy"], "no bot"),
        (vec!["zombie-dice", "greedy", "random", "--format=cup"], "no format"),
        (
            vec!["zombie-dice", "greedy", "random", "--format=gauntlet", "--seats=3"],
            "a match of this gauntlet has exactly 2 seats, got 3\nhint: --seats is for --format round-robin",
        ),
        (vec!["zombie-dice", "greedy", "human"], "hint: `necrodome match` and `necrodome play` seat a human"),
        (vec!["zombie-dice", "greedy", "gredy"], "hint: did you mean greedy?"),
        (
            vec!["tokyo", "angry", "angry", "angry", "angry", "angry", "angry", "angry"],
            "a table needs 2 to 6 entries, got 7\nhint: --format round-robin",
        ),
    ] {
        let error = refusal(&words, 2);
        assert!(error.contains(message), "{words:?}: {error}");
    }
}

#[test]
fn a_plan_says_how_many_blocks_are_needed_and_keeps_nothing() {
    let folder = TempDir::new().unwrap();
    let line_up = "game = \"zombie-dice-race\"\nbots = [\"greedy\", \"twin=greedy\", \"random\"]\nformat = \"round-robin\"\n";
    let more =
        "blocks = 300\nseed = 1\nstore = \"t.store\"\ncsv = \"t.csv\"\nplan = true\ndifference = 0.04\n";
    fs::write(folder.path().join("t.toml"), format!("{line_up}{more}")).unwrap();
    let plan = |words: &[&str]| -> Value {
        serde_json::from_str(&output_in(
            folder.path(),
            &[&["tournament", "t.toml", "--json"], words].concat(),
        ))
        .unwrap()
    };
    let blocks = |forecast: &Value| forecast["needed"]["blocks"].as_u64().unwrap();
    let (coarse, fine) = (plan(&[]), plan(&["--difference=0.01"]));
    // A quarter of the difference takes sixteen times the blocks; the pilot is the same.
    assert_eq!(coarse["pairs"][0]["ahead"], fine["pairs"][0]["ahead"]);
    let ratio = blocks(&fine) as f64 / blocks(&coarse) as f64;
    assert!((15.0..17.0).contains(&ratio), "{ratio}");
    assert_eq!(fine["needed"]["matches"], 6 * blocks(&fine), "three pairs in both orders");
    // What so many blocks show is what they are needed for.
    let shown = plan(&["--blocks", &blocks(&coarse).to_string()])["visible"].as_f64().unwrap();
    assert!((0.039..0.0401).contains(&shown), "{shown}");
    let pairs = fine["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 3);
    let twins = |pair: &Value| ["one", "other"].iter().all(|name| pair[name] != "random");
    assert!(twins(&pairs[0]), "twins are hardest to tell apart: {pairs:?}");
    assert!(
        pairs[1..]
            .iter()
            .all(|pair| pair["other"] == "random" && pair["needed"]["blocks"].as_u64() < Some(20))
    );
    let files: Vec<_> = contents(folder.path()).into_keys().collect();
    assert_eq!(files, [folder.path().join("t.toml")], "a pilot leaves nothing behind");
    let told = output_in(folder.path(), &["tournament", "t.toml"]);
    assert!(
        told.starts_with("To tell entries apart that differ by 4.0 points of win rate, play about "),
        "{told}"
    );
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    for (words, message) in [
        (&["--difference=0.02"][..], "--difference means nothing without --plan"),
        (&["--plan", "--difference=2"], "--difference is a share of matches"),
        (&["--plan", "--difference=0"], "expected a number above 0"),
    ] {
        let error = refusal(&[&LINE_UP[..], words].concat(), 2);
        assert!(error.contains(message), "{words:?}: {error}");
    }
}
