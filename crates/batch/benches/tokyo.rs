//! Steps of Tokyo per second on one core, by the kernel and by the referee.

use necrodome_batch::{
    batch::{Autoreset, Batch, Out},
    stream::Stream,
    tokyo::TokyoBatch,
};
use necrodome_rules::tokyo::TokyoRules;
use std::time::{Duration, Instant};

const ROWS: usize = 4096;

/// What a run came to.
#[derive(Debug)]
struct Run {
    steps: u64,
    episodes: u64,
    time: Duration,
}

fn run(batch: &mut impl Batch<Cell = i16>, steps: usize) -> Run {
    let (rows, fields) = (batch.rows(), batch.fields().len());
    let (mut obs, mut final_obs) = (vec![0; rows * fields], vec![0; rows * fields]);
    let mut rewards = vec![0.0; rows];
    let (mut terminated, mut truncated) = (vec![false; rows], vec![false; rows]);
    let mut out = Out {
        obs: &mut obs,
        final_obs: &mut final_obs,
        rewards: &mut rewards,
        terminated: &mut terminated,
        truncated: &mut truncated,
    };
    batch.reset(None, &mut out);
    let mut stream = Stream::new(1);
    let mut run = Run { steps: 0, episodes: 0, time: Duration::ZERO };
    let mut actions = vec![0; rows];
    for _ in 0..steps {
        for (actions, phases) in actions.chunks_mut(8).zip(out.obs[..rows].chunks(8)) {
            let bytes = stream.word().to_le_bytes();
            for ((action, phase), byte) in actions.iter_mut().zip(phases).zip(bytes) {
                *action = if *phase == 1 { 64 + (byte & 1) } else { byte & 63 };
            }
        }
        let start = Instant::now();
        batch.step(&actions, Autoreset::NextStep, &mut out);
        run.time += start.elapsed();
        run.steps += rows as u64;
        run.episodes += out.terminated.iter().filter(|&&over| over).count() as u64;
    }
    run
}

fn main() {
    for seats in [2, 4, 6] {
        let mut batch = TokyoBatch::new(&TokyoRules::default(), seats, ROWS, 1).expect("a good set-up");
        run(&mut batch, 200);
        let run = run(&mut batch, 2000);
        let rate = run.steps as f64 / run.time.as_secs_f64() / 1e6;
        println!(
            "{seats} monsters: {rate:.1} million steps/s; {:.2} steps an episode",
            run.steps as f64 / run.episodes as f64
        );
    }
}
