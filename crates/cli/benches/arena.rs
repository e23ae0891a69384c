//! How fast the arena is: `cargo bench -p necrodome`. Each number stands beside a baseline of the same run, and every
//! benchmark checks its answers.

#![allow(clippy::unwrap_used)]

use necrodome_arena::{
    entry::EntrySpec,
    lineup::{Terms, player},
    process::Limits,
    run::run_match,
    tournament::{self, Format, Plan, PlannedEntry, Store},
};
use necrodome_rules::{
    chance::Seeded,
    game::Game,
    last_bullet::{LastBullet, LastBulletRules},
    names::Names,
    options::{parse, split_pair},
    zombie_dice::{RaceRules, Table as DiceTable, TableRules},
};
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

fn main() {
    // `cargo test --benches` only tries it out.
    let measured = std::env::args().any(|arg| arg == "--bench");
    let scale = if measured { 1 } else { 100 };
    built_ins(100_000 / scale);
    pipes(20_000 / scale as usize);
    at_once(if measured { 40 } else { 2 });
}

fn row(name: &str, rate: f64, unit: &str, note: &str) {
    println!("{name:<46} {rate:>12.0} {unit}/s   {note}");
}

fn terms<R>(rules: R, seats: usize) -> Terms<R> {
    let launcher = env!("CARGO_BIN_EXE_necrodome").into();
    Terms { launcher, limits: Limits::default(), rules, seats }
}

fn entries(words: &[&str]) -> Vec<EntrySpec> {
    words.iter().map(|word| EntrySpec::parse(word, Path::new(".")).unwrap()).collect()
}

/// Two-player Zombie Dice through the whole tournament path, store on disk.
fn built_ins(blocks: u32) {
    let bots = ["greedy", "cautious"];
    let rules = TableRules::default();
    let plan = Plan {
        game: "zombie-dice".into(),
        options: serde_json::to_value(rules).unwrap(),
        entries: bots.iter().map(|bot| PlannedEntry { name: (*bot).into(), bot: (*bot).into() }).collect(),
        format: Format::Table,
        seats: 2,
        blocks,
        seed: 1,
        until_decided: false,
        limits: Limits::default(),
    };
    let folder = tempfile::tempdir().unwrap();
    let run = |threads: usize| {
        let path = folder.path().join(format!("{threads}.store"));
        let mut store = Store::open(&path, &plan).unwrap();
        let start = Instant::now();
        let launcher = env!("CARGO_BIN_EXE_necrodome").into();
        let stopped = tournament::run(
            &plan,
            &entries(&bots),
            &launcher,
            &mut store,
            threads,
            &AtomicBool::new(false),
            &mut |_| {},
        );
        let time = start.elapsed();
        assert_eq!(stopped.unwrap(), tournament::Stop::Done);
        let schedule = tournament::Schedule::new(&plan, DiceTable::SEATS).unwrap();
        let report = tournament::report(&plan, &schedule, &store).unwrap();
        let rate = report.matches as f64 / time.as_secs_f64();
        (rate, report.hash)
    };
    let (one, hash) = run(1);
    let (two, same) = run(2);
    assert_eq!(hash, same, "the number of threads changed the results");
    row("tournament, 2 built-ins, 1 thread, store on", one, "games", "");
    row(
        "tournament, 2 built-ins, 2 threads, store on",
        two,
        "games",
        &format!("{:.2}x of 1 thread", two / one),
    );
}

/// A bot that answers `stop` to everything, as plain as can be.
const TRIVIAL: &str = r#"
import sys
for line in sys.stdin:
    if '"decide"' in line:
        i = line.index('"id":') + 5
        print('{"id":' + line[i:line.index(",", i)] + ',"action":{"type":"stop"}}', flush=True)
    elif '"hello"' in line:
        print('{"type":"ready","protocol":1}', flush=True)
"#;

/// Decisions of a trivial Python bot through the arena, against a bare loop over its pipes with the same lines.
fn pipes(decisions: usize) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trivial.py");
    fs::write(&file, TRIVIAL).unwrap();
    let line = r#"{"type":"decide","id":1,"view":{"turn":{"brains":0,"shotguns":0,"hand":null,"cup":{"green":6,"yellow":4,"red":3},"brain_dice":{"green":0,"yellow":0,"red":0}},"score":0,"opponent_score":0},"legal":[{"type":"go"},{"type":"stop"}]}"#;
    let bare = bare_loop(&file, line, decisions);

    let rounds = format!("max_rounds={decisions}");
    let rules: RaceRules = parse(&[split_pair(&rounds).unwrap()]).unwrap();
    let path = file.to_str().unwrap();
    let entries = entries(&["stop-at:brains=0", path]);
    let names = Names::new(["built-in", "trivial"]).unwrap();
    let mut terms = terms(rules, 2);
    terms.limits.match_ms = 1_000_000;
    let mut players: Vec<_> = entries
        .iter()
        .zip(names.iter())
        .map(|(entry, name)| player(entry, name, &terms, Seeded::new(1, "bot", 0)).unwrap())
        .collect();
    let start = Instant::now();
    let finished =
        run_match(&names, &terms.rules, 1, &mut players, |_: &necrodome_rules::zombie_dice::Race, _| {})
            .unwrap();
    let time = start.elapsed();
    assert_eq!(finished.faults, []);
    assert_eq!(finished.outcome.turns as usize, 2 * decisions);
    for player in &mut players {
        assert_eq!(player.close().0, []);
    }
    let arena = decisions as f64 / time.as_secs_f64();
    let overhead = (1e6 / arena) - (1e6 / bare);
    row("trivial Python bot, bare pipe", bare, "decisions", "");
    row(
        "trivial Python bot, through the arena",
        arena,
        "decisions",
        &format!(
            "{:.0}% of the bare pipe, {overhead:.1} us more a decision (start-up included)",
            100.0 * arena / bare
        ),
    );
}

fn bare_loop(file: &Path, line: &str, decisions: usize) -> f64 {
    let mut bot = Command::new("python3")
        .arg("-u")
        .arg(file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = bot.stdin.take().unwrap();
    let mut output = BufReader::new(bot.stdout.take().unwrap());
    let mut answer = String::new();
    let start = Instant::now();
    for _ in 0..decisions {
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        answer.clear();
        output.read_line(&mut answer).unwrap();
        assert!(answer.contains("stop"), "{answer:?}");
    }
    let time = start.elapsed();
    drop(input);
    bot.wait().unwrap();
    decisions as f64 / time.as_secs_f64()
}

/// A bot for Last Bullet that thinks for a fixed time before it lets all its copies stay.
const THINKER: &str = r#"
import sys, time
for line in sys.stdin:
    if '"decide"' in line:
        time.sleep(0.005)
        i = line.index('"id":') + 5
        print('{"id":' + line[i:line.index(",", i)] + ',"action":{"orders":[]}}', flush=True)
    elif '"hello"' in line:
        print('{"type":"ready","protocol":1}', flush=True)
"#;

/// Twenty processes that think for 5 ms each: asked at once, a turn takes little more than 5 ms, not 100.
fn at_once(turns: u32) {
    const ENTRIES: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("thinker.py");
    fs::write(&file, THINKER).unwrap();
    let settings = [split_pair("copies=5").unwrap(), split_pair(&format!("max_turns={turns}")).unwrap()];
    let rules: LastBulletRules = parse(&settings).unwrap();
    let names = Names::new((0..ENTRIES).map(|i| format!("thinker {i}"))).unwrap();
    let entry = EntrySpec::parse(file.to_str().unwrap(), Path::new(".")).unwrap();
    let terms = terms(rules, ENTRIES);
    let mut players: Vec<_> = names
        .iter()
        .map(|name| player::<LastBullet>(&entry, name, &terms, Seeded::new(1, "bot", 0)).unwrap())
        .collect();
    let mut began = None;
    let finished = run_match(&names, &terms.rules, 1, &mut players, |_: &LastBullet, _| {
        // The first turn waits for twenty interpreters to start.
        began.get_or_insert_with(Instant::now);
    });
    let finished = finished.unwrap();
    assert_eq!(finished.faults, []);
    let time: Duration = began.map_or(Duration::ZERO, |began: Instant| began.elapsed());
    let played = finished.outcome.turns;
    let one_by_one = Duration::from_millis(5) * ENTRIES as u32 * played;
    let note = format!("{:.1}x of asking one after the other", one_by_one.as_secs_f64() / time.as_secs_f64());
    row("last-bullet, 20 processes of 5 ms", f64::from(played) / time.as_secs_f64(), "turns", &note);
}
