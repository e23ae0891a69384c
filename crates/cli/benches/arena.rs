//! How fast the arena is: `cargo bench -p necrodome`. Each number stands beside a baseline of the same run, and every
//! benchmark checks its answers.

#![allow(clippy::unwrap_used)]

use necrodome_arena::{
    entry::EntrySpec,
    lineup::{Terms, built_in, player},
    process::Limits,
    run::run_match,
    tournament::{self, Archive, Format, Plan, PlannedEntry, Report, Store},
};
use necrodome_rules::{
    catalog::Listed,
    chance::Seeded,
    game::Silent,
    last_bullet::{LastBullet, LastBulletRules},
    names::Names,
    options::{parse, split_pair},
    play::{Memory, play_with},
    tokyo::Tokyo,
    zombie_dice::{Race, RaceRules, Solo, Table as DiceTable},
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
    built_ins(scale);
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

/// The solved games through the whole tournament path: with luck and without, in memory and with the store on disk, on one
/// thread and on two. The baseline is a plain loop over the same bots and seeds, without tournament.
fn built_ins(scale: u32) {
    println!("{:<46} {:>12}", "matches/s (share of the plain loop)", "plain loop");
    for optimal in [false, true] {
        let with = |bot: &'static str| if optimal { "optimal" } else { bot };
        // A limit that nobody reaches: with it the game is not solved, so that there is no luck to measure.
        solved::<DiceTable>(["greedy", with("cautious")], Some("max_rounds=199"), 100_000 / scale);
        solved::<Race>(["greedy", with("cautious")], Some("max_rounds=199"), 100_000 / scale);
        solved::<Tokyo>(["angry", with("point-hunter")], Some("max_turns=1000000"), 100_000 / scale);
        solved::<Solo>(["greedy", with("cautious")], None, 200_000 / scale);
    }
}

fn solved<G: Listed>(bots: [&str; 2], limit: Option<&str>, blocks: u32) {
    let baseline = plain_loop::<G>(bots, blocks);
    println!("{:<46} {baseline:>12.0}", format!("{}, {}", G::ID, bots.join(" and ")));
    let without_luck = limit.map(|limit| vec![split_pair(limit).unwrap()]);
    for (luck, settings) in [("luck off", without_luck), ("luck on", Some(Vec::new()))] {
        let Some(settings) = settings else { continue };
        let rules: G::Rules = parse(&settings).unwrap();
        let run = |stored: bool, threads: usize| {
            let (rate, report) = tournament_of::<G>(&rules, bots, blocks, stored, threads);
            let adjusted = report.standings.iter().all(|entry| entry.luck_adjusted.is_some());
            assert_eq!(adjusted, settings.is_empty(), "{}: luck is not as it should be", G::ID);
            (rate, report.hash)
        };
        let ((in_memory, hash), (one, same), (two, too)) = (run(false, 1), run(true, 1), run(true, 2));
        assert!(hash == same && hash == too, "the store or the number of threads changed the results");
        for (name, rate) in [("store off, 1 thread", in_memory), ("store on, 1 thread", one)] {
            row(&format!("  {luck}, {name}"), rate, "games", &format!("{:.2}x of plain", rate / baseline));
        }
        let note = format!("{:.2}x of plain, {:.2}x of 1 thread", two / baseline, two / one);
        row(&format!("  {luck}, store on, 2 threads"), two, "games", &note);
    }
}

/// The matches of all blocks without plan, threads, store and luck.
fn plain_loop<G: Listed>(bots: [&str; 2], blocks: u32) -> f64 {
    let rules = G::Rules::default();
    let seats = 2.clamp(*G::SEATS.start(), *G::SEATS.end());
    let build = |bot: &str| built_in::<G>(&bot.parse().unwrap(), &rules, Seeded::new(0, "bot", 0)).unwrap();
    let names = Names::new(&bots[..seats]).unwrap();
    let mut seatings = [[build(bots[0]), build(bots[1])], [build(bots[1]), build(bots[0])]];
    let mut memory = Memory::default();
    let (start, mut played) = (Instant::now(), 0);
    for seed in 0..blocks {
        for seating in &mut seatings {
            let mut chance = Seeded::new(seed.into(), "match", 0);
            let mut game = G::new(&names, &rules, &mut chance, &mut Silent).unwrap();
            let outcome =
                play_with(&mut memory, &mut game, &mut seating[..seats], &mut chance, &mut Silent).unwrap();
            played += u32::from(outcome.turns > 0);
        }
    }
    assert_eq!(played, 2 * blocks);
    f64::from(played) / start.elapsed().as_secs_f64()
}

fn tournament_of<G: Listed>(
    rules: &G::Rules,
    bots: [&str; 2],
    blocks: u32,
    stored: bool,
    threads: usize,
) -> (f64, Report) {
    let seats = 2.clamp(*G::SEATS.start(), *G::SEATS.end());
    let plan = Plan {
        options: serde_json::to_value(rules).unwrap(),
        ..Plan::new(
            G::ID,
            bots.iter().map(|bot| PlannedEntry::new(*bot, *bot)).collect(),
            Format::RoundRobin,
            seats,
            blocks,
            1,
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let mut store = match stored {
        true => Archive::open(&folder.path().join("bench.store")).unwrap().begin(&plan).unwrap(),
        false => Store::in_memory(&plan).unwrap(),
    };
    let launcher = env!("CARGO_BIN_EXE_necrodome").into();
    let never = AtomicBool::new(false);
    let start = Instant::now();
    let stopped =
        tournament::run(&plan, &entries(&bots), &launcher, &mut store, threads, &never, &mut |_| {});
    let time = start.elapsed();
    assert_eq!(stopped.unwrap(), tournament::Stop::Done);
    let schedule = tournament::Schedule::new(&plan, G::SEATS).unwrap();
    let report = tournament::report(&plan, &schedule, &store).unwrap();
    (report.matches as f64 / time.as_secs_f64(), report)
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
    let finished = run_match(&names, &terms.rules, 1, &mut players, |_: &Race, _| {}).unwrap();
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
