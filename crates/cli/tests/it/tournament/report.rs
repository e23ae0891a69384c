//! What a report says.

use super::{LINE_UP, json, tournament};
use crate::program::{necrodome, necrodome_in, output_in};
use serde_json::Value;
use std::fs;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};
use tempfile::TempDir;

/// In a battle every entry keeps its seat: a strong entry is not a strong seat.
#[test]
fn the_seat_is_judged_only_where_entries_change_seats() {
    let words = |format| ["tokyo", "angry", "random", "random", "--seed=1", "--blocks=200", format];
    let battle = words("--format=battle");
    assert_eq!(json(&battle)["seats"], Value::Null);
    let told = |words: &[&str]| {
        let result = tournament(words).assert().success();
        String::from_utf8(result.get_output().stdout.clone()).unwrap()
    };
    assert!(!told(&battle).contains("seat"), "{}", told(&battle));
    let table = words("--format=table");
    assert_eq!(json(&table)["seats"]["win_rates"].as_array().unwrap().len(), 3);
    assert!(told(&table).contains("seat 0 wins"));
}

/// What happens when a process ends belongs to the report too.
#[test]
fn bad_endings_and_logs_are_reported() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bots/misbehaving");
    let bot = |name: &str| format!("{folder}/{name}.py");
    let (stubborn, crash) = (bot("ignores_sigterm"), bot("crash"));
    let report = json(&["zombie-dice", "greedy", &stubborn, &crash, "--seed=1", "--blocks=1", "--threads=1"]);
    let faults = report["faults"].as_array().unwrap();
    let has = |name: &str, kind: &str| faults.iter().any(|f| f["name"] == name && f["kind"] == kind);
    assert!(has("ignores_sigterm", "ignored_sigterm") && has("crash", "crash"), "{faults:?}");
    assert!(report["logs"].to_string().contains("Traceback"), "{}", report["logs"]);
}

#[test]
fn players_who_play_alone_are_compared_by_their_scores() {
    let report = json(&["zombie-dice-solo", "greedy", "random", "--seed=1", "--blocks=500"]);
    assert_eq!(report["matches"], 1000);
    let best = &report["standings"][0];
    assert_eq!((best["name"].clone(), best["rank"]["worst"].clone()), ("greedy".into(), 1.into()));
    let mean = best["mean_score"]["mean"].as_f64().unwrap();
    assert!((1.7..2.5).contains(&mean), "the exact value is 2.087, this is {mean}");
}

#[test]
fn a_measure_that_is_not_there_is_not_passed_over_in_silence() {
    let folder = TempDir::new().unwrap();
    let said = |words: &[&str]| {
        let result = necrodome_in(folder.path(), words).assert().success();
        String::from_utf8(result.get_output().stderr.clone()).unwrap()
    };
    const NOTE: &str = "note: --rank-by luck-adjusted changes nothing: ";
    let tournament = |more: &[&'static str]| {
        said(
            &[&["tournament", "zombie-dice", "greedy", "random"], more, &["--seed=1", "--blocks=3"]].concat(),
        )
    };
    let asked = tournament(&["cautious", "--rank-by=luck-adjusted", "--store=t.store"]);
    assert!(asked.contains(NOTE) && asked.contains("in zombie-dice with 3 seats"), "{asked}");
    assert!(said(&["report", "t.store", "--rank-by=luck-adjusted"]).contains(NOTE));
    assert!(!said(&["report", "t.store"]).contains(NOTE));
    assert!(!tournament(&["cautious"]).contains(NOTE));
    assert!(!tournament(&["--rank-by=luck-adjusted"]).contains(NOTE), "two seats are solved");
}

#[test]
fn who_never_started_is_told_first() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("broken.py"), "def act(:\n").unwrap();
    let words = [
        "tournament",
        "zombie-dice-race",
        "greedy",
        "./broken.py",
        "--seed=1",
        "--public-dice",
        "--blocks=2",
        "--store=t.store",
    ];
    let result = necrodome_in(folder.path(), &words).assert().success();
    let said = String::from_utf8(result.get_output().stdout.clone()).unwrap();
    output_in(folder.path(), &["report", "t.store", "--html=site"]);
    let page = |name: &str| fs::read_to_string(folder.path().join("site").join(name)).unwrap();
    // What nobody did has no price, and matches that were missed are not counted as faults.
    assert!(page("bot-1.html").contains("its decisions cost"));
    assert!(!page("bot-2.html").contains("its decisions cost"));
    assert!(page("bot-2.html").contains(r#"<td class="name">out</td><td></td>"#), "{}", page("bot-2.html"));
    assert!(said.starts_with("broken never started, and forfeited all its decisions: "), "{said}");
    assert!(said.lines().filter(|line| !line.starts_with("log:")).all(|line| line.len() <= 80), "{said}");
}

#[test]
fn csv_has_a_row_for_each_entry() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.csv");
    let csv = format!("--csv={}", path.display());
    json(&[&LINE_UP[..], &["--blocks=5", &csv]].concat());
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 4);
    let columns = |line: &str| line.split(',').count();
    assert!(text.lines().all(|line| columns(line) == columns(text.lines().next().unwrap())), "{text}");
}

#[test]
fn a_stored_tournament_is_reported_without_its_command() {
    let folder = tempfile::tempdir().unwrap();
    let words = [
        "tournament",
        "zombie-dice-race",
        "greedy",
        "cautious",
        "--blocks=60",
        "--seed=3",
        "--store=t.store",
    ];
    let played = output_in(folder.path(), &words);
    assert_eq!(output_in(folder.path(), &["report", "t.store"]), played);
    assert!(played.lines().all(|line| line.chars().count() <= 80), "{played}");
    let plain = output_in(folder.path(), &["report", "t.store", "--rank-by", "plain", "--json"]);
    let plain: Value = serde_json::from_str(&plain).unwrap();
    assert_eq!((&plain["plan"]["rank_by"], &plain["measure"]), (&"plain".into(), &"win-rate".into()));
    let explained = output_in(folder.path(), &["report", "t.store", "--explain"]);
    assert!(
        explained.starts_with(&played) && explained.contains("\nrank: by the share of matches won"),
        "{explained}"
    );
    assert!(explained.lines().all(|line| line.chars().count() <= 80), "{explained}");
    let markdown = output_in(folder.path(), &["report", "t.store", "--markdown", "--csv", "t.csv"]);
    assert!(markdown.contains("\n| rank | entry | luck-adjusted % |"), "{markdown}");
    assert!(fs::read_to_string(folder.path().join("t.csv")).unwrap().starts_with("rank_best,"));
    let missing = necrodome_in(folder.path(), &["report", "t.store", "7"]).assert().code(2);
    let said = String::from_utf8(missing.get_output().stderr.clone()).unwrap();
    assert!(
        said.contains(
            "the store has no tournament 7: it has 1 (zombie-dice-race: greedy, cautious; 60 blocks)"
        ),
        "{said}"
    );
    necrodome_in(folder.path(), &["report", "nothing.store"]).assert().code(2);
}

#[test]
fn pairs_are_named_and_listed_once() {
    let report = json(&[&LINE_UP[..], &["--blocks=20"]].concat());
    let pairs: Vec<(&str, &str)> = report["head_to_head"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| (pair["one"].as_str().unwrap(), pair["other"].as_str().unwrap()))
        .collect();
    assert_eq!(pairs, [("greedy", "cautious"), ("greedy", "random"), ("cautious", "random")]);
    let last = &report["head_to_head"][2];
    assert_eq!(last["games"], 120, "in each of the six matches of a block");
    let [low, mean, high] = ["low", "mean", "high"].map(|end| last["better"][end].as_f64().unwrap());
    assert!(0.5 < low && low < mean && mean < high, "cautious beats random: {last}");
    // Only those who have met.
    let gauntlet = json(&[&LINE_UP[..], &["--blocks=2", "--format=gauntlet"]].concat());
    assert_eq!(gauntlet["head_to_head"].as_array().unwrap().len(), 2);
}

/// The rows of a table, by the names of its columns.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_path(path).unwrap().deserialize().collect::<Result<_, _>>().unwrap()
}

#[test]
fn pairs_and_matches_are_tables_too() {
    let folder = TempDir::new().unwrap();
    let crash =
        r#"d=cmd:python3 -c 'print("{\"type\":\"ready\",\"protocol\":1}", flush=True); input(); input()'"#;
    let words = ["tournament", "zombie-dice-race", "a,\"b=greedy", "c=random", crash, "--format=round-robin"];
    let more = ["--blocks=3", "--seed=1", "--store=t.store", "--csv-pairs=p.csv", "--csv-matches=m.csv"];
    output_in(folder.path(), &[&words[..], &more, &["--json"]].concat());
    let again = ["report", "t.store", "--json", "--csv-pairs=p2.csv", "--csv-matches=m2.csv"];
    let report: Value = serde_json::from_str(&output_in(folder.path(), &again)).unwrap();
    let file = |name: &str| folder.path().join(name);
    for (played, stored) in [("p.csv", "p2.csv"), ("m.csv", "m2.csv")] {
        assert_eq!(fs::read(file(played)).unwrap(), fs::read(file(stored)).unwrap());
    }
    let pairs = rows(&file("p.csv"));
    assert_eq!(pairs.len(), 3);
    for (row, pair) in pairs.iter().zip(report["head_to_head"].as_array().unwrap()) {
        assert_eq!(
            (row["one"].as_str(), row["other"].as_str()),
            (pair["one"].as_str().unwrap(), pair["other"].as_str().unwrap())
        );
        assert_eq!(row["better_low"].parse::<f64>().ok(), pair["better"]["low"].as_f64());
    }
    let matches = rows(&file("m.csv"));
    assert_eq!(matches.len(), 3 * 6 * 2, "blocks, matches, seats");
    let number = |row: &BTreeMap<String, String>, column: &str| row[column].parse::<f64>().unwrap();
    for seats in matches.chunks(2) {
        assert_eq!(seats[0]["match"], seats[1]["match"]);
        assert_eq!(["0", "1"], [&seats[0]["seat"][..], &seats[1]["seat"]]);
        assert_eq!(number(&seats[0], "luck"), -number(&seats[1], "luck"));
    }
    for entry in report["standings"].as_array().unwrap() {
        let name = entry["name"].as_str().unwrap();
        let own: Vec<_> = matches.iter().filter(|row| row["name"] == name).collect();
        let places = own.iter().map(|row| number(row, "place")).sum::<f64>() / own.len() as f64;
        assert_eq!(own.len() as u64, entry["games"]);
        assert!((places - entry["mean_place"]["mean"].as_f64().unwrap()).abs() < 1e-9, "{name}");
        let faults: f64 = own.iter().map(|row| number(row, "faults")).sum();
        assert_eq!(faults > 0.0, name == "d", "{name} has {faults} faults");
    }
}

#[test]
fn no_name_is_a_formula() {
    let folder = TempDir::new().unwrap();
    let words = ["tournament", "zombie-dice-race", "+1=greedy", "@x=random", "--blocks=2", "--seed=1"];
    let files = ["--csv=s.csv", "--csv-pairs=p.csv", "--csv-matches=m.csv"];
    output_in(folder.path(), &[&words[..], &files].concat());
    for file in ["s.csv", "p.csv", "m.csv"] {
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        let cells = text.lines().skip(1).flat_map(|line| line.split(','));
        assert!(cells.clone().any(|cell| cell.starts_with('\'')), "{text}");
        assert!(!cells.clone().any(|cell| cell.starts_with(['+', '@'])), "{text}");
    }
}

/// Sentences and tables follow the width of the terminal, and no word is broken.
#[test]
fn standings_read_well_at_all_widths() {
    let words = [
        "tournament",
        "zombie-dice-race",
        "greedy",
        "cautious",
        "random",
        "--seed=7",
        "--blocks=300",
        "--explain",
    ];
    let shown = |columns: usize| {
        let result = necrodome(&words).env("COLUMNS", columns.to_string()).output().unwrap();
        String::from_utf8(result.stdout).unwrap()
    };
    let known: BTreeSet<String> = shown(120).split_whitespace().map(str::to_owned).collect();
    let mut longest = Vec::new();
    for columns in [60, 80, 120] {
        let text = shown(columns);
        // A hash has 64 characters, and cannot be shorter.
        let is_text = |line: &&str| line.split(' ').all(|word| word.len() < 50);
        let length = text.lines().filter(is_text).map(|line| line.chars().count()).max().unwrap();
        assert!(length <= columns, "{columns}:\n{text}");
        longest.push(length);
        let is_word = |word: &&str| word.len() < 40 && word.chars().all(char::is_alphabetic);
        for word in text.lines().filter(is_text).flat_map(str::split_whitespace).filter(is_word) {
            assert!(known.contains(word), "{word} at {columns}:\n{text}");
        }
    }
    assert!(longest.is_sorted_by(|one, other| one < other), "{longest:?}");
}
