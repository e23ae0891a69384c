//! Tokyo, with random legal actions. Kernel and referee play the same number of steps, and must finish as many episodes.

use crate::{ROWS, arrays::Arrays, compare};
use necrodome_batch::{
    batched::{Autoreset, BatchSetup, Batched},
    kernel::Kernel,
    refereed::RefereedBatch,
    stream::Stream,
    tokyo::TokyoBatch,
};
use necrodome_rules::tokyo::{Tokyo, TokyoRules};
use std::time::{Duration, Instant};

/// The number of runs. The fastest one counts, since others may be using the machine.
const RUNS: usize = 3;

/// The results of some steps.
struct Run {
    episodes: u64,
    fastest: Duration,
    total: Duration,
}

fn run(batch: &mut Batched<impl Kernel<Cell = i16>>, steps: usize) -> Run {
    let rows = batch.rows();
    let mut arrays = Arrays::new(rows, batch.width());
    let mut out = arrays.out();
    batch.reset(None, &mut out);
    let mut stream = Stream::new(1);
    let mut run = Run { episodes: 0, fastest: Duration::MAX, total: Duration::ZERO };
    let mut actions = vec![0; rows];
    for _ in 0..steps {
        for (actions, phases) in actions.chunks_mut(8).zip(out.obs[..rows].chunks(8)) {
            let bytes = stream.word().to_le_bytes();
            for ((action, phase), byte) in actions.iter_mut().zip(phases).zip(bytes) {
                *action = if *phase == 1 { 64 + (byte & 1) } else { byte & 63 };
            }
        }
        let start = Instant::now();
        batch.step(&actions, &mut out);
        let time = start.elapsed();
        run.total += time;
        run.fastest = run.fastest.min(time);
        run.episodes += out.terminated.iter().filter(|&&over| over).count() as u64;
    }
    for rewards in batch.final_rewards().chunks(batch.seats()) {
        assert!(rewards.iter().sum::<f32>().abs() < 1e-5, "what one wins others lose: {rewards:?}");
    }
    run
}

fn setup(seats: usize, matches: usize) -> BatchSetup<TokyoRules> {
    BatchSetup { rules: TokyoRules::default(), seats, matches, threads: 1, autoreset: Autoreset::NextStep }
}

/// The speed in millions of steps per second.
fn rate(run: &Run, steps: usize) -> f64 {
    (ROWS * steps) as f64 / run.total.as_secs_f64() / 1e6
}

pub fn bench(measured: bool) {
    let steps = if measured { 500 } else { 200 };
    for seats in 2..=6 {
        let mut kernel = TokyoBatch::new(&setup(seats, ROWS)).expect("a good set-up");
        let mut referee = RefereedBatch::<Tokyo>::new(&setup(seats, ROWS)).expect("a good set-up");

        let (mut best, mut plain) = (0f64, 0f64);
        for _ in 0..RUNS {
            let (by_kernel, by_referee) = (run(&mut kernel, steps), run(&mut referee, steps));
            best = best.max(rate(&by_kernel, steps));
            plain = plain.max(rate(&by_referee, steps));
            let off = by_kernel.episodes as f64 / by_referee.episodes as f64 - 1.0;
            let (ours, theirs) = (by_kernel.episodes, by_referee.episodes);
            assert!(off.abs() < 0.03, "{ours} episodes, by the referee {theirs}");
        }
        compare(&format!("Tokyo, {seats} monsters"), best, plain, 6.0);
    }
    let mut few = TokyoBatch::new(&setup(4, 16)).expect("a good set-up");
    println!("Tokyo, a step of 16 rows: {:?}", run(&mut few, 10_000).fastest);
}
