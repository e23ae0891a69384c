//! Measures the cost of confinement: `cargo bench -p necrodome --bench sandbox`. The same run starts a bot and asks it at each
//! level in turn; `limits` is the baseline.

#![allow(clippy::unwrap_used)]

use necrodome_arena::{
    entry::EntrySpec,
    lineup::{Terms, player},
    player::Player,
    process::{Launcher, Level, Limits, Wish},
    run::run_match,
};
use necrodome_rules::{
    chance::Seeded,
    names::Names,
    zombie_dice::{Solo, SoloRules},
};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Matches that a bot plays before it is the turn of the next level.
const TURN: u64 = 50;
const LEVELS: [Level; 3] = [Level::Limits, Level::Strict, Level::Full];

fn main() {
    let measured = std::env::args().any(|arg| arg == "--bench");
    let (starts, matches) = if measured { (40, 60 * TURN) } else { (2, TURN) };
    let bots = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bots");
    println!("median of {starts} starts; decisions over {matches} matches of each level, in turn");
    for bot in ["python/zombie_dice.py", "javascript/zombie_dice.js"] {
        measure(&bots.join(bot), starts, matches);
    }
}

fn measure(bot: &Path, starts: usize, matches: u64) {
    let mut taken: [Vec<Duration>; 3] = Default::default();
    for _ in 0..starts {
        for (level, taken) in LEVELS.into_iter().zip(&mut taken) {
            let mut players = vec![sit_down(bot, level)];
            let begun = Instant::now();
            play(&mut players, 0);
            taken.push(begun.elapsed());
            players[0].close();
        }
    }
    let starts = taken.map(|mut taken| {
        taken.sort_unstable();
        taken[taken.len() / 2]
    });
    // Levels take turns, and each is the first as often as the others, so that all of them meet the same noise.
    let mut players = LEVELS.map(|level| vec![sit_down(bot, level)]);
    players.iter_mut().for_each(|players| {
        play(players, 0);
    });
    let mut spent = [(Duration::ZERO, 0_u64); 3];
    for round in 0..matches / TURN {
        for turn in 0..LEVELS.len() {
            let level = (turn + round as usize) % LEVELS.len();
            let begun = Instant::now();
            let decisions: u64 =
                (0..TURN).map(|number| play(&mut players[level], round * TURN + number)).sum();
            spent[level] = (spent[level].0 + begun.elapsed(), spent[level].1 + decisions);
        }
        let decisions = spent.map(|(_, decisions)| decisions);
        assert!(
            decisions.iter().all(|&one| one == decisions[0]),
            "the same seeds gave other matches: {decisions:?}"
        );
    }
    let name = bot.file_name().unwrap().to_string_lossy().into_owned();
    for ((level, start), (time, decisions)) in LEVELS.into_iter().zip(starts).zip(spent) {
        let more = start.as_secs_f64() - starts[0].as_secs_f64();
        let each = time.as_secs_f64() / decisions as f64 * 1e6;
        let base = spent[0].0.as_secs_f64() / spent[0].1 as f64 * 1e6;
        println!(
            "{name:<16} {level:<7} start {:>6.1} ms ({:+.1} ms)   decision {each:>6.1} us (x{:.2})",
            start.as_secs_f64() * 1e3,
            more * 1e3,
            each / base,
        );
    }
}

fn sit_down(bot: &Path, level: Level) -> Box<dyn Player<Solo>> {
    let launcher: Launcher = env!("CARGO_BIN_EXE_necrodome").into();
    let launcher = launcher.confined(Wish::Named(level)).unwrap();
    let entry = EntrySpec::parse(bot.to_str().unwrap(), Path::new(".")).unwrap();
    let terms = Terms { launcher, limits: Limits::default(), rules: SoloRules::default(), seats: 1 };
    player::<Solo>(&entry, "bot", &terms, Seeded::new(1, "bot", 0)).unwrap()
}

/// Plays a match. Gives the number of decisions.
fn play(players: &mut [Box<dyn Player<Solo>>], seed: u64) -> u64 {
    let names = Names::new(["bot"]).unwrap();
    let finished = run_match::<Solo>(&names, &SoloRules::default(), seed, players, |_, _| {}).unwrap();
    assert!(finished.faults.is_empty(), "{:?}", finished.faults);
    u64::from(finished.recording.steps())
}
