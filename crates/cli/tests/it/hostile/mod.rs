//! Hostile bots beside honest ones, run as an ordinary user: each has the outcome that the tables of `docs/security.md` state, and
//! nobody else notices anything.

mod table;
pub mod world;

use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};
pub use table::rows;
use table::{Level, Row};
use world::{Place, Stranger, World, user_may};

/// Hostile bots in one tournament. All have as many, so that one tournament without them is what all are compared with.
const STRANGERS: usize = 12;
/// Tournaments at the same time.
const LANES: usize = 2;
/// The file of those who talk to each other, and come in twos.
const TALKERS: &str = "talk";
/// Those who take processes as fast as they can. Without a namespace all bots of a user share what there is, so that others could not do
/// what they came for: these play with honest bots alone.
const STORMS: [&str; 6] = [
    "linger comet",
    "linger comet-swarm",
    "hoard processes",
    "hoard clones",
    "hoard zombies",
    "hoard fork-storm",
];

/// Every match of a tournament, by block and number: who sat where, and what came of it.
type Matches = BTreeMap<(String, String), Vec<[String; 5]>>;

fn matches(csv: &Path) -> Matches {
    let mut found = Matches::new();
    for line in fs::read_to_string(csv).unwrap().lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [block, number, seat, name, place, score, turns, ..] = cells[..] else { panic!("{line}") };
        let seated = [seat, name, place, score, turns].map(str::to_owned);
        found.entry((block.to_owned(), number.to_owned())).or_default().push(seated);
    }
    found
}

/// The rows as tournaments of the same size.
fn tournaments(rows: &[Row]) -> Vec<Vec<Stranger>> {
    let mut all: Vec<Vec<Stranger>> = vec![Vec::new()];
    for row in rows {
        let copies = if row.file == TALKERS { 2 } else { 1 };
        if all.last().is_some_and(|last| last.len() + copies > STRANGERS) {
            all.push(Vec::new());
        }
        let last = all.last_mut().unwrap();
        last.extend((0..copies).map(|number| Stranger { row: Some(row.clone()), number }));
    }
    for strangers in &mut all {
        strangers.resize_with(STRANGERS, || Stranger { row: None, number: 0 });
    }
    all
}

/// What is wrong with a tournament, line by line.
fn wrong_with(strangers: &[Stranger], level: Level, usual: &Matches) -> Vec<String> {
    let world = World::new(strangers);
    let played = world.play(level.name());
    let mut wrong = world.traces(&played, level.name());
    let report: Value = match serde_json::from_slice(&played.stdout) {
        Ok(report) if played.status.success() => report,
        _ => {
            let said = String::from_utf8_lossy(&played.stderr).into_owned();
            wrong.push(format!("no tournament: {}: {said}", played.status));
            return wrong;
        }
    };
    let mut faulty = BTreeSet::new();
    for (name, stranger) in world::names().zip(honest().chain(strangers.iter().cloned())) {
        let faults = report["faults"].as_array().unwrap().iter().filter(|fault| fault["name"] == name);
        let faults: Vec<&Value> = faults.collect();
        let kinds: BTreeSet<&str> = faults.iter().map(|fault| fault["kind"].as_str().unwrap()).collect();
        let logs = report["logs"].as_array().unwrap().iter().filter(|log| log["name"] == name);
        let log: Vec<&str> = logs
            .flat_map(|log| log["lines"].as_array().unwrap())
            .map(|line| line.as_str().unwrap())
            .collect();
        let fits = match &stranger.row {
            Some(row) => row.outcome(level).fits(&kinds, &log, row),
            None => kinds.is_empty(),
        };
        if !fits {
            let what = stranger.row.as_ref().map_or_else(|| "honest".into(), Row::name);
            wrong.push(format!("{what}: faults {faults:?}, log {log:?}"));
        }
        if !kinds.is_empty() {
            faulty.insert(name);
        }
    }
    let played = matches(&world.csv());
    let is_faultless = |seated: &Vec<[String; 5]>| seated.iter().all(|[_, name, ..]| !faulty.contains(name));
    for (at, usual) in usual.iter().filter(|(_, seated)| is_faultless(seated)) {
        if played.get(at) != Some(usual) {
            wrong.push(format!(
                "match {at:?} came to {:?}, without hostile bots to {usual:?}",
                played.get(at)
            ));
        }
    }
    wrong
}

fn honest() -> impl Iterator<Item = Stranger> {
    (0..world::HONEST).map(|_| Stranger { row: None, number: 0 })
}

/// The matches of a tournament in which everybody only plays.
fn usual_matches(level: Level) -> Matches {
    let world = World::new(&tournaments(&[])[0]);
    let played = world.play(level.name());
    assert!(played.status.success(), "{played:?}");
    let report: Value = serde_json::from_slice(&played.stdout).unwrap();
    assert_eq!(report["faults"], serde_json::json!([]));
    assert_eq!(world.traces(&played, level.name()), [""; 0]);
    matches(&world.csv())
}

/// Plays rows at a level, in lanes.
fn play_all(rows: &[Row], level: Level) {
    let _place = Place::get();
    let usual = usual_matches(level);
    let is_storm = |row: &Row| STORMS.contains(&row.name().as_str());
    let (storms, calm): (Vec<Row>, Vec<Row>) = rows.iter().cloned().partition(is_storm);
    let all = tournaments(&calm);
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                while let Some(strangers) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = wrong_with(strangers, level, &usual);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    for storm in storms {
        wrong.lock().unwrap().extend(wrong_with(&tournaments(&[storm])[0], level, &usual));
    }
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} at level {}:\n{}", wrong.len(), level.name(), wrong.join("\n"));
}

pub fn has_namespaces() -> bool {
    let may = user_may(Command::new("unshare").args(["--user", "--pid", "--fork", "--mount", "true"]));
    if !may {
        eprintln!("not tested: this machine has no user namespaces for ordinary users");
    }
    may
}

#[test]
fn a_full_sandbox_holds_all_who_reach_out() {
    if has_namespaces() {
        play_all(&reaching_out(), Level::Full);
    }
}

#[test]
fn a_strict_sandbox_holds_all_who_reach_out() {
    play_all(&reaching_out(), Level::Strict);
}

/// All but those who take the machine for themselves, or their time.
fn reaching_out() -> Vec<Row> {
    let rows: Vec<Row> =
        rows().into_iter().filter(|row| !["hoard", "linger"].contains(&&*row.file)).collect();
    assert!(rows.len() >= 60);
    rows
}

#[test]
#[ignore = "it takes the whole machine for minutes: scripts/hostile"]
fn a_full_sandbox_holds_every_hostile_bot() {
    if has_namespaces() {
        play_all(&rows(), Level::Full);
    }
}

#[test]
#[ignore = "it takes the whole machine for minutes: scripts/hostile"]
fn a_strict_sandbox_holds_every_hostile_bot() {
    play_all(&rows(), Level::Strict);
}

/// What needs no sandbox: faults have their names, time and memory their bounds, and processes an end.
#[test]
fn limits_alone_hold_some() {
    const HELD: [&str; 16] = [
        "hoard heap",
        "hoard open-files",
        "hoard stack",
        "linger survive",
        "linger nameless",
        "linger holds-pipes",
        "linger hands-over",
        "linger kill-group",
        "linger exit-240",
        "linger exit-242",
        "linger exit-255",
        "linger closes-all",
        "linger byte-by-byte",
        "manners escapes",
        "manners half-letters",
        "manners stderr-bytes",
    ];
    let rows: Vec<Row> = rows().into_iter().filter(|row| HELD.contains(&row.name().as_str())).collect();
    assert_eq!(rows.len(), HELD.len());
    play_all(&rows, Level::Limits);
}

#[test]
fn every_attack_is_in_the_tables() {
    let folder = world::bots();
    let mut there = BTreeSet::new();
    for file in rows().iter().map(|row| row.file.clone()).collect::<BTreeSet<_>>() {
        let text = fs::read_to_string(folder.join(&file).with_extension("py")).unwrap();
        let mut lines = text.lines();
        while lines.by_ref().any(|line| line == "@attack") {
            let name = lines.next().unwrap().strip_prefix("def ").unwrap().split('(').next().unwrap();
            there.insert(format!("{file} {}", name.replace('_', "-")));
        }
    }
    let listed: BTreeSet<String> = rows().iter().map(Row::name).collect();
    assert_eq!(listed, there);
    assert!(listed.len() >= 60 && listed.len() == rows().len());
}
