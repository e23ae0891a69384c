//! The scores of each round of a battle, and the film of the last one.

use crate::program::{necrodome_in, output_in};
use serde_json::Value;
use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::Path};

const BATTLE: [&str; 8] = [
    "tournament",
    "last-bullet",
    "gunner",
    "runner",
    "huddle",
    "--seed=7",
    "--set=copies=4",
    "--store=battle.store",
];

/// The scores of each entry by round, and their median, worked out from the stored matches.
fn scores(folder: &Path) -> BTreeMap<String, (Vec<i64>, f64)> {
    output_in(folder, &["report", "battle.store", "--csv-matches", "matches.csv", "--force"]);
    let mut all: BTreeMap<String, Vec<(usize, i64)>> = BTreeMap::new();
    for row in fs::read_to_string(folder.join("matches.csv")).unwrap().lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        all.entry(cells[3].to_owned())
            .or_default()
            .push((cells[0].parse().unwrap(), cells[5].parse().unwrap()));
    }
    let with_median = |(name, mut rounds): (String, Vec<(usize, i64)>)| {
        rounds.sort_unstable();
        let scores: Vec<i64> = rounds.iter().map(|(_, score)| *score).collect();
        let mut sorted = scores.clone();
        sorted.sort_unstable();
        let middle = sorted.len() / 2;
        let below = if sorted.len().is_multiple_of(2) { middle - 1 } else { middle };
        let median = (sorted[middle] + sorted[below]) as f64 / 2.0;
        (name, (scores, median))
    };
    all.into_iter().map(with_median).collect()
}

/// The lines under the title of the rounds.
fn table(text: &str) -> Vec<&str> {
    let lines = text.lines().skip_while(|line| *line != "the score in each round, and the median").skip(1);
    lines.take_while(|line| !line.is_empty()).collect()
}

#[test]
fn rounds_are_printed_as_they_were_played_best_median_first() {
    let folder = tempfile::tempdir().unwrap();
    let told = output_in(folder.path(), &[&BATTLE[..], &["--rounds=5"]].concat());
    let known = scores(folder.path());
    let lines = table(&told);
    let heads: Vec<&str> = lines[0].split("  ").map(str::trim).filter(|head| !head.is_empty()).collect();
    assert_eq!(heads, ["entry", "round 1", "round 2", "round 3", "round 4", "round 5", "median"]);
    assert_eq!(lines.len(), 4, "{told}");
    let mut medians = Vec::new();
    for line in &lines[1..] {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let (rounds, median) = &known[cells[0]];
        let shown: Vec<i64> = cells[1..6].iter().map(|cell| cell.parse().unwrap()).collect();
        assert_eq!((&shown, cells[6].parse::<f64>().unwrap()), (rounds, *median), "{told}");
        medians.push(*median);
    }
    assert!(medians.is_sorted_by(|one, next| one >= next), "{told}");
    assert!(known.values().any(|(rounds, _)| rounds.iter().any(|score| score != &rounds[0])), "{known:?}");

    // From the store: the same table, the same numbers as JSON, and in Markdown.
    let again = output_in(folder.path(), &["report", "battle.store", "--rounds"]);
    assert_eq!(table(&again), lines);
    let json: Value =
        serde_json::from_str(&output_in(folder.path(), &["report", "battle.store", "--json"])).unwrap();
    for entry in json["standings"].as_array().unwrap() {
        let rounds: Vec<i64> = serde_json::from_value(entry["rounds"].clone()).unwrap();
        assert_eq!(rounds, known[entry["name"].as_str().unwrap()].0);
    }
    let markdown = output_in(folder.path(), &["report", "battle.store", "--markdown", "--rounds"]);
    assert!(markdown.contains("| entry | Round 1 | Round 2 |"), "{markdown}");
    // Nobody is shown what they did not ask for.
    assert!(table(&output_in(folder.path(), &["report", "battle.store"])).is_empty());
}

#[test]
fn many_rounds_are_continued_below_within_80_columns() {
    let folder = tempfile::tempdir().unwrap();
    let told = output_in(folder.path(), &[&BATTLE[..], &["--rounds=40"]].concat());
    let known = scores(folder.path());
    let lines = table(&told);
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{told}");
    let mut shown: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in &lines {
        let mut cells = line.split_whitespace();
        let name = cells.next().unwrap();
        if name == "entry" {
            continue;
        }
        shown.entry(name).or_default().extend(cells.map(|cell| cell.parse::<f64>().unwrap()));
    }
    for (name, (rounds, median)) in &known {
        let all: Vec<f64> = rounds.iter().map(|&score| score as f64).chain([*median]).collect();
        assert_eq!(shown[name.as_str()], all, "{told}");
    }
    let heads: Vec<&str> = lines.iter().filter(|line| line.starts_with("entry")).copied().collect();
    assert!(heads.len() > 1, "{told}");
    let numbers: Vec<String> =
        heads.join(" ").split_whitespace().filter(|head| *head != "entry").map(str::to_owned).collect();
    assert_eq!(
        numbers,
        (1..=40).map(|round| round.to_string()).chain(["median".to_owned()]).collect::<Vec<_>>()
    );
}

#[test]
fn rounds_are_for_battles() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["tournament", "zombie-dice", "greedy", "cautious", "--rounds=2"];
    let output = necrodome_in(folder.path(), &words).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        error.contains("--rounds is for a battle, and this is a table") && error.contains("--blocks"),
        "{error}"
    );
    output_in(
        folder.path(),
        &["tournament", "zombie-dice", "greedy", "cautious", "--blocks=2", "--store=night.store"],
    );
    let output = necrodome_in(folder.path(), &["report", "night.store", "--rounds"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("--rounds is for a battle"));
}

#[test]
fn the_film_of_the_last_round_is_opened_or_named() {
    let folder = tempfile::tempdir().unwrap();
    let opener = folder.path().join("xdg-open");
    fs::write(&opener, "#!/bin/sh\necho \"$1\" > opened.new && mv opened.new opened\n").unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let watch = |path: &str| {
        let mut command = necrodome_in(folder.path(), &[&BATTLE[..], &["--rounds=2", "--watch"]].concat());
        command.env("PATH", path).env("TMPDIR", folder.path()).output().unwrap()
    };
    let output = watch(&path);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if told.contains("not included") {
        // Built without Node.js: said before anything is played.
        assert!(!output.status.success() && !folder.path().join("battle.store").exists(), "{told}");
        return;
    }
    assert!(output.status.success(), "{told}");
    let file = told.lines().find_map(|line| line.strip_prefix("the film of the last match is ")).unwrap();
    let page = fs::read_to_string(file).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("id=\"film\""));
    // The browser is on its own: the program does not wait for it.
    let opened = folder.path().join("opened");
    while !opened.exists() {
        std::thread::yield_now();
    }
    assert_eq!(fs::read_to_string(opened).unwrap().trim(), file);
    // Without a browser it says where the film is.
    let told = String::from_utf8_lossy(&watch("/nowhere").stderr).into_owned();
    assert!(
        told.contains("the film of the last match is ") && told.contains("open the file yourself"),
        "{told}"
    );
}

#[test]
fn one_entry_alone_has_rounds_too() {
    let folder = tempfile::tempdir().unwrap();
    let words = [
        "tournament",
        "last-bullet",
        "gunner",
        "--seed=7",
        "--set=copies=4",
        "--rounds=3",
        "--store=alone.store",
    ];
    let lines = table(&output_in(folder.path(), &words)).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let cells: Vec<f64> = lines[1].split_whitespace().skip(1).map(|cell| cell.parse().unwrap()).collect();
    let mut scores = cells[..3].to_vec();
    scores.sort_by(f64::total_cmp);
    assert_eq!((cells.len(), cells[3]), (4, scores[1]));
    assert_eq!(table(&output_in(folder.path(), &["report", "alone.store", "--rounds"])), lines);
}
