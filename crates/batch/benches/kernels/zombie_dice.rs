//! Solo, race and table of Zombie Dice, with random actions. Kernel and referee must reach the same mean score or number of
//! episodes.

use crate::{ROWS, arrays::Arrays, compare};
use necrodome_batch::{
    batched::{Autoreset, BatchSetup, Batched},
    kernel::Kernel,
    observe::Observe,
    refereed::RefereedBatch,
    stream::Stream,
    zombie_dice::{DiceKernel, RaceFormat, SoloFormat, TableFormat},
};
use necrodome_rules::{
    game::Game,
    zombie_dice::{FirstRoll, TableRules},
};
use std::time::{Duration, Instant};

/// The results of some steps.
struct Run {
    /// The speed in millions of steps per second, of the fastest of several pieces: others may be using the machine.
    rate: f64,
    episodes: f64,
    rewards: f64,
}

fn run(batch: &mut Batched<impl Kernel<Cell = i16>>, autoreset: Autoreset, steps: usize) -> Run {
    batch.autoreset = autoreset;
    let rows = batch.rows();
    let mut arrays = Arrays::new(rows, batch.width());
    let mut out = arrays.out();
    (0..rows).for_each(|row| batch.seed(row, row as u64));
    batch.reset(None, &mut out);
    let mut stream = Stream::new(1);
    let mut bits = || (0..rows).map(|_| (stream.word() & 1) as u8).collect::<Vec<_>>();
    let actions: Vec<Vec<u8>> = (0..32).map(|_| bits()).collect();
    let mut fastest = Duration::MAX;
    let (mut episodes, mut total) = (0, 0.0);
    for piece in 0..steps / actions.len() {
        // The first pieces are counted, the others only timed.
        if piece < 4 {
            for actions in &actions {
                batch.step(actions, &mut out);
                episodes += out.terminated.iter().filter(|&&over| over).count();
                total += f64::from(out.rewards.iter().sum::<f32>());
            }
        }
        let start = Instant::now();
        for actions in &actions {
            batch.step(actions, &mut out);
        }
        fastest = fastest.min(start.elapsed());
    }
    let rate = (rows * actions.len()) as f64 / fastest.as_secs_f64() / 1e6;
    Run { rate, episodes: episodes as f64, rewards: total }
}

fn play<K: Kernel<Game: Observe, Cell = i16>>(
    name: &str,
    rules: <K::Game as Game>::Rules,
    seats: usize,
    steps: usize,
) {
    let autoreset = Autoreset::SameStep;
    let setup = BatchSetup { rules, seats, matches: ROWS, threads: 1, autoreset };
    let mut kernel = Batched::<K>::new(&setup).expect("a good set-up");
    let mut referee = RefereedBatch::<K::Game>::new(&setup).expect("a good set-up");
    for autoreset in [Autoreset::SameStep, Autoreset::NextStep] {
        let fast = run(&mut kernel, autoreset, steps);
        let plain = run(&mut referee, autoreset, steps / 10);
        let off = |ours: f64, theirs: f64| (ours - theirs).abs() / theirs.abs();
        assert!(off(fast.episodes, plain.episodes) < 0.02, "{} episodes, {}", fast.episodes, plain.episodes);
        if seats == 1 {
            assert!(off(fast.rewards, plain.rewards) < 0.02, "{} points, {}", fast.rewards, plain.rewards);
        }
        compare(&format!("Zombie Dice, {name}, {autoreset:?}"), fast.rate, plain.rate, 6.0);
    }
}

pub fn bench(measured: bool) {
    let steps = if measured { 64_000 } else { 1_300 };
    play::<DiceKernel<SoloFormat>>("solo", Default::default(), 1, steps);
    play::<DiceKernel<RaceFormat>>("race", Default::default(), 2, steps);
    // Where the first roll is no choice, the kernel asks for it all the same, and the referee does not.
    let rules = TableRules { first_roll: FirstRoll::Free, ..Default::default() };
    for (seats, steps) in [(2, steps), (4, steps), (12, steps / 3)] {
        play::<DiceKernel<TableFormat>>(&format!("a table of {seats}"), rules, seats, steps);
    }
}
