//! Measures how fast the arena is: `cargo bench -p necrodome`. Each number stands beside a baseline from the same run, and every
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
    chance::{Seed, Seeded},
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

/// The solved games through the whole tournament path, report included: with luck and without, in memory and with the store on
/// disk, on one thread and on two. The baseline plays the very same matches in a plain loop, without any tournament.
fn built_ins(scale: u32) {
    println!("tournaments of two built-in bots, {}; the best of {ROUNDS} runs in turn", instructions());
    for optimal in [false, true] {
        let with = |bot: &'static str| if optimal { "optimal" } else { bot };
        // A limit that nobody reaches: with it the game is not solved, so that there is no luck to measure. Solo has none.
        solved::<DiceTable>(["greedy", with("cautious")], Some("max_rounds=199"), 60_000 / scale);
        solved::<Race>(["greedy", with("cautious")], Some("max_rounds=199"), 60_000 / scale);
        solved::<Tokyo>(["angry", with("point-hunter")], Some("max_turns=1000000"), 60_000 / scale);
        solved::<Solo>(["greedy", with("cautious")], None, 120_000 / scale);
    }
}

/// How often each is measured: the first time fills caches and tables.
const ROUNDS: usize = 3;

/// The widest vectors that this machine has.
fn instructions() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    return match (is_x86_feature_detected!("avx512f"), is_x86_feature_detected!("avx2")) {
        (true, _) => "x86-64 with AVX-512",
        (_, true) => "x86-64 with AVX2",
        _ => "x86-64 without AVX2",
    };
    #[cfg(not(target_arch = "x86_64"))]
    return std::env::consts::ARCH;
}

/// How a tournament is played.
#[derive(Clone, Copy)]
struct Way {
    luck: bool,
    stored: bool,
    threads: usize,
}

fn solved<G: Listed>(bots: [&str; 2], limit: Option<&str>, blocks: u32) {
    let without_luck = limit.map(|limit| parse::<G::Rules>(&[split_pair(limit).unwrap()]).unwrap());
    let ways = [true, false].into_iter().filter(|&luck| luck || without_luck.is_some()).flat_map(|luck| {
        let ways = [(false, 1), (true, 1), (true, 2)];
        ways.map(|(stored, threads)| Way { luck, stored, threads })
    });
    let ways: Vec<Way> = ways.collect();
    let (mut plain, mut rates) = (0.0_f64, vec![0.0_f64; ways.len()]);
    for _ in 0..ROUNDS {
        let (rate, scores) = plain_loop::<G>(bots, blocks);
        plain = plain.max(rate);
        let mut hashes = [None, None];
        for (way, best) in ways.iter().zip(&mut rates) {
            let rules = without_luck.clone().filter(|_| !way.luck).unwrap_or_default();
            let (rate, report) = tournament_of::<G>(&rules, bots, blocks, way.stored, way.threads);
            *best = best.max(rate);
            let adjusted = report.standings.iter().all(|entry| entry.luck_adjusted.is_some());
            assert_eq!(adjusted, way.luck, "{}: luck is not as it should be", G::ID);
            for entry in &report.standings {
                let bot = bots.iter().position(|bot| *bot == entry.name).unwrap();
                let mean = scores[bot] as f64 / entry.record.games as f64;
                let reported = entry.record.mean_score.as_ref().unwrap().mean;
                assert!((reported - mean).abs() < 1e-9, "{}: {reported}, the plain loop {mean}", G::ID);
            }
            let hash = hashes[usize::from(way.luck)].get_or_insert(report.hash.clone());
            assert_eq!(*hash, report.hash, "the store or the number of threads changed the results");
        }
    }
    row(&format!("{}, {}: plain loop", G::ID, bots.join(" and ")), plain, "games", "");
    let on = |is_on: bool| if is_on { "on" } else { "off" };
    for (index, (way, rate)) in ways.iter().zip(&rates).enumerate() {
        let name = format!("  luck {}, store {}, threads {}", on(way.luck), on(way.stored), way.threads);
        let mut note = format!("{:.2}x of plain", rate / plain);
        if way.threads > 1 {
            note += &format!(", {:.2}x of one thread", rate / rates[index - 1]);
        }
        row(&name, *rate, "games", &note);
    }
    // The first three ways measure luck, the others are the same without it.
    if let [_, on, _, _, off, _] = rates[..] {
        println!("  luck takes {:.0}% of the time", 100.0 * (1.0 - on / off));
    }
}

/// The matches of all blocks without plan, threads, store and luck. Gives their rate, and the sum of each bot's scores.
fn plain_loop<G: Listed>(bots: [&str; 2], blocks: u32) -> (f64, [i64; 2]) {
    let rules = G::Rules::default();
    let plan = plan::<G>(&rules, bots, blocks);
    let schedule = tournament::Schedule::new(&plan, G::SEATS).unwrap();
    let seatings = schedule.seatings(0);
    let build =
        |bot: usize| built_in::<G>(&bots[bot].parse().unwrap(), &rules, Seeded::new(0, "bot", 0)).unwrap();
    let mut tables: Vec<_> = seatings
        .iter()
        .map(|seating| {
            let names = Names::new(seating.iter().map(|&bot| bots[bot])).unwrap();
            (seating, names, seating.iter().map(|&bot| build(bot)).collect::<Vec<_>>())
        })
        .collect();
    let numbers = (0..blocks).flat_map(|block| (0..tables.len()).map(move |number| (block, number)));
    let dice = tournament::TournamentDice::new(&plan, &[]).unwrap();
    let seeds: Vec<Seed> = numbers.map(|(block, number)| dice.of_match(block, number).dice).collect();
    let mut memory = Memory::default();
    let mut scores = [0; 2];
    let start = Instant::now();
    for seeds in seeds.chunks_exact(tables.len()) {
        for (&seed, (seating, names, bots)) in seeds.iter().zip(&mut tables) {
            let mut chance = Seeded::new(seed, "match", 0);
            let mut game = G::new(names, &rules, &mut chance, &mut Silent).unwrap();
            let outcome = play_with(&mut memory, &mut game, bots, &mut chance, &mut Silent).unwrap();
            for (&bot, score) in seating.iter().zip(outcome.scores) {
                scores[bot] += score;
            }
        }
    }
    (seeds.len() as f64 / start.elapsed().as_secs_f64(), scores)
}

fn plan<G: Listed>(rules: &G::Rules, bots: [&str; 2], blocks: u32) -> Plan {
    let seats = 2.clamp(*G::SEATS.start(), *G::SEATS.end());
    let entries = bots.map(|bot| PlannedEntry::new(bot, bot)).into();
    Plan {
        options: serde_json::to_value(rules).unwrap(),
        ..Plan::new(G::ID, entries, Format::RoundRobin, seats, blocks, 1)
    }
}

fn tournament_of<G: Listed>(
    rules: &G::Rules,
    bots: [&str; 2],
    blocks: u32,
    stored: bool,
    threads: usize,
) -> (f64, Report) {
    let plan = plan::<G>(rules, bots, blocks);
    let schedule = tournament::Schedule::new(&plan, G::SEATS).unwrap();
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
    let report = tournament::report(&plan, &schedule, &store).unwrap();
    let time = start.elapsed();
    assert_eq!(stopped.unwrap(), tournament::Stop::Done);
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
