//! Measures how fast the solver is: `cargo bench -p necrodome-solve`. The baseline is the plain enumerator on the referee's
//! own rules, in the same run; every benchmark checks its answers.

#![allow(clippy::unwrap_used)]

use necrodome_rules::{
    bot::Bot,
    chance::{Probability, Seeded, enumerate},
    game::{Game, Logged, Move, Seat, Silent},
    names::Names,
    tokyo::{self, Tokyo},
    zombie_dice::{FirstRoll, OutOfDice, Race, Rolled, Solo, SoloRules, Table, Tiebreak, Turn},
};
use necrodome_solve::{
    Audit, Position, RaceSolution, SoloSolution, Solvable, Start, TableSolution, TokyoSolution,
};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

fn main() {
    // `cargo test --benches` only tries it out.
    let measured = std::env::args().any(|arg| arg == "--bench");
    let effort = if measured { 1 } else { 20 };
    println!(
        "{:<44} {:>12} {:>12} {:>14} {:>12}",
        "solve", "one core", "all cores", "positions/s", "vs plain"
    );
    let plain = plain_rolls(400 / effort);
    let end = OutOfDice::EndTurn;
    let back = OutOfDice::RecycleBrains;
    let solo = |out_of_dice| SoloSolution::new(&SoloRules { out_of_dice, ..SoloRules::default() });
    solve("zombie-dice-solo", plain, || solo(end).positions());
    solve("zombie-dice-solo, recycle_brains", plain, || solo(back).positions());
    solve("zombie-dice-race", plain, || RaceSolution::new(end, FirstRoll::Free).positions());
    solve("zombie-dice-race, recycle_brains", plain, || RaceSolution::new(back, FirstRoll::Free).positions());
    let table = |out, tiebreak| TableSolution::new(out, FirstRoll::Mandatory, tiebreak).positions();
    solve("zombie-dice for two", plain, || table(end, Tiebreak::OneRound));
    solve("zombie-dice for two, until_broken", plain, || table(end, Tiebreak::UntilBroken));
    solve("zombie-dice for two, recycle_brains", plain, || table(back, Tiebreak::OneRound));
    let plain = plain_keeps(if measured { 12 } else { 1 });
    // Each turn has 462 ways to keep dice, twice.
    solve("tokyo for two (ways to keep)", plain, || {
        2 * 462 * necrodome_solve::Solution::<Tokyo>::positions(&TokyoSolution::new())
    });

    let start = Instant::now();
    black_box(Tokyo::optimal(&Default::default()));
    println!("\n{:<44} {:>12}", "the perfect player of tokyo is ready after", seconds(start.elapsed()));
    if let Some(peak) = peak_memory() {
        println!("{:<44} {peak:>9} MB", "most memory so far");
    }

    println!("\n{:<44} {:>12} {:>12}", "", "decision", "audit/match");
    decide::<Solo>(20_000 / effort);
    decide::<Race>(4_000 / effort);
    decide::<Table>(4_000 / effort);
    decide::<Tokyo>(2_000 / effort);
}

fn seconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

/// Returns the time of the fastest of `runs` runs, and its result.
fn best<T>(runs: u32, mut run: impl FnMut() -> T) -> (Duration, T) {
    let mut once = || {
        let start = Instant::now();
        let value = run();
        (start.elapsed(), value)
    };
    let mut best = once();
    for _ in 1..runs {
        let next = once();
        if next.0 < best.0 {
            best = next;
        }
    }
    best
}

/// Solves on one core and on all.
fn solve(name: &str, plain: f64, run: impl Fn() -> usize + Sync + Send) {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (single, positions) = best(3, || one.install(&run));
    let (all, same) = best(3, &run);
    assert_eq!(positions, same);
    let rate = positions as f64 / single.as_secs_f64();
    let (single, all, ratio) = (seconds(single), seconds(all), format!("{:.0}x", rate / plain));
    println!("{name:<44} {single:>12} {all:>12} {rate:>14.0} {ratio:>12}");
}

/// The positions a second of the plain enumerator: it rolls from some positions, and takes the next values from the solver.
fn plain_rolls(positions: usize) -> f64 {
    let solution = SoloSolution::new(&SoloRules::default());
    let (prices, graph) = (solution.prices(), solution.graph());
    let turns = met(positions);
    let (time, ()) = best(1, || {
        for turn in &turns {
            let rolls = enumerate(1_000_000, |chance| {
                let mut turn = *turn;
                let rolled = turn.roll(OutOfDice::EndTurn, chance);
                (turn, rolled)
            });
            let expected: f64 = rolls
                .unwrap()
                .iter()
                .map(|((turn, rolled), chance)| {
                    let value = match rolled {
                        Rolled::GoOn => prices.value(graph.spot(&Position::from(turn)).unwrap()),
                        Rolled::OutOfDice => f64::from(turn.brains()),
                        Rolled::Busted => 0.0,
                    };
                    value * float(chance)
                })
                .sum();
            let solved = prices.go(graph.spot(&Position::from(turn)).unwrap());
            assert!((expected - solved).abs() < 1e-12, "{turn:?}: {expected} and {solved}");
        }
    });
    let rate = turns.len() as f64 / time.as_secs_f64();
    println!("{:<44} {:>12} {:>12} {rate:>14.0}", "plain enumerator, zombie-dice", "", "");
    rate
}

/// Returns positions that come up in turns.
fn met(count: usize) -> Vec<Turn> {
    let mut chance = Seeded::new(1, "bench", 0);
    let mut turns = Vec::new();
    while turns.len() < count {
        let mut turn = Turn::START;
        turns.push(turn);
        while turn.roll(OutOfDice::EndTurn, &mut chance) == Rolled::GoOn {
            turns.push(turn);
        }
    }
    turns
}

/// The ways to keep dice that the plain enumerator values in a second, through the referee.
fn plain_keeps(decisions: u64) -> f64 {
    let solution = Tokyo::solve(&Default::default(), 2).unwrap();
    let rolls = solution.rolls(&Start::MATCH);
    let names = Names::new(["a", "b"]).unwrap();
    let (time, keeps) = best(1, || {
        let mut keeps = 0;
        for seed in 0..decisions {
            let mut chance = Seeded::new(seed, "bench", 0);
            let game = Tokyo::new(&names, &Default::default(), &mut chance, &mut Silent).unwrap();
            let view = game.view(Seat(0));
            for action in Tokyo::legal_actions(&view).unwrap() {
                let tokyo::Action::Keep { dice: kept } = action else { continue };
                // Keeping all ends the turn, and the next one's first roll would be enumerated, too.
                if kept == [true; 6] {
                    continue;
                }
                let after = enumerate(1_000_000, |chance| {
                    let mut next = game.clone();
                    next.apply(&[Move::Act(action)], chance, &mut Silent).unwrap();
                    next.view(Seat(0)).dice
                });
                let after = after.unwrap();
                let expected: f64 =
                    after.iter().map(|(dice, chance)| rolls.rolled(dice, 1) * float(chance)).sum();
                let solved = rolls.keep(&view.dice, kept, 2);
                assert!((expected - solved).abs() < 1e-12, "{view:?}: {expected} and {solved}");
                keeps += 1;
            }
        }
        keeps
    });
    let rate = f64::from(keeps) / time.as_secs_f64();
    println!("{:<44} {:>12} {:>12} {rate:>14.0}", "plain enumerator, tokyo", "", "");
    rate
}

fn float(chance: &Probability) -> f64 {
    *chance.numer() as f64 / *chance.denom() as f64
}

/// Measures how long a perfect player thinks, and how long the audit of a match takes.
fn decide<G: Solvable>(matches: usize) {
    let rules = G::Rules::default();
    let seats = 2.clamp(*G::SEATS.start(), *G::SEATS.end());
    let solution = G::solve(&rules, seats).unwrap();
    let mut bot = G::optimal(&rules);
    let names = Names::new((0..seats).map(|seat| format!("player {seat}"))).unwrap();
    let mut chance = Seeded::new(7, "bench", 0);
    let (mut views, mut logs) = (Vec::new(), Vec::new());
    for _ in 0..matches {
        let mut log: Vec<Logged<G::Event>> = Vec::new();
        let mut game = G::new(&names, &rules, &mut chance, &mut log).unwrap();
        let mut played = vec![(game.clone(), Vec::new())];
        while let Some(&seat) = game.to_act().first() {
            let view = game.view(seat);
            let moves = [Move::Act(bot.act(&view))];
            views.push(view);
            played.last_mut().unwrap().1 = moves.to_vec();
            game.apply(&moves, &mut chance, &mut log).unwrap();
            played.push((game.clone(), Vec::new()));
        }
        logs.push((played, log, game.outcome().unwrap()));
    }
    let (time, _) = best(3, || views.iter().map(|view| black_box(bot.act(view))).count());
    let decision = time.as_secs_f64() * 1e9 / views.len() as f64;
    let (time, ()) = best(1, || {
        for (played, log, outcome) in &logs {
            let mut audit = Audit::<G>::new(solution.clone());
            played.iter().for_each(|(game, moves)| audit.decide(game, moves));
            audit.happen(log);
            let ledger = audit.finish(outcome);
            // The entries come in another order here, but the sum is the same.
            let costs: f64 = [Seat(0), Seat(1)].map(|seat| ledger.regret(seat)).iter().sum();
            assert!(costs.abs() < 1e-9, "the perfect player makes mistakes: {costs}");
            let sum = ledger.start + ledger.luck(Seat(0));
            assert!((sum - ledger.result).abs() < 1e-9, "{sum} and {}", ledger.result);
        }
    });
    let audit = time.as_secs_f64() * 1e6 / matches as f64;
    println!("{:<44} {decision:>9.0} ns {audit:>9.0} us", G::ID);
}

/// The peak memory of this process, or `None` if it is not known.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}
