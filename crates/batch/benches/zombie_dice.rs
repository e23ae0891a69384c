//! Steps of solo and of the race: `cargo bench -p necrodome-batch --bench zombie_dice`.

use necrodome_batch::{
    batch::{Autoreset, Batch, Out},
    zombie_dice::{RaceBatch, SoloBatch},
};
use std::{hint::black_box, time::Instant};

const ROWS: usize = 4096;

fn run<B: Batch<Cell = i16>>(name: &str, mut batch: B, width: usize, autoreset: Autoreset) {
    let (mut obs, mut final_obs) = (vec![0i16; ROWS * width + 64], vec![0i16; ROWS * width + 64]);
    let (mut rewards, mut terminated, mut truncated) =
        (vec![0f32; ROWS + 64], vec![false; ROWS + 64], vec![false; ROWS + 64]);
    fn aligned<T>(all: &mut [T], count: usize) -> &mut [T] {
        let start = all.as_ptr().align_offset(64);
        &mut all[start..start + count]
    }
    let (obs, final_obs) = (aligned(&mut obs, ROWS * width), aligned(&mut final_obs, ROWS * width));
    let rewards = aligned(&mut rewards, ROWS);
    let (terminated, truncated) = (aligned(&mut terminated, ROWS), aligned(&mut truncated, ROWS));
    for row in 0..ROWS {
        batch.seed(row, row as u64);
    }
    let mut state = 1u64;
    let actions: Vec<Vec<u8>> = (0..64)
        .map(|_| {
            let bit = |_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 63) as u8
            };
            (0..ROWS).map(bit).collect()
        })
        .collect();
    let steps = 64;
    let mut best = f64::MAX;
    for _ in 0..2000 {
        let start = Instant::now();
        for step in 0..steps {
            let mut out = Out {
                obs: &mut *obs,
                final_obs: &mut *final_obs,
                rewards: &mut *rewards,
                terminated: &mut *terminated,
                truncated: &mut *truncated,
            };
            batch.step(&actions[step % 64], autoreset, &mut out);
        }
        best = best.min(start.elapsed().as_secs_f64());
        black_box((&obs, &rewards));
    }
    println!("{name} {autoreset:?}: {:.1} million steps/s", (steps * ROWS) as f64 / best / 1e6);
}

fn main() {
    if std::env::args().any(|a| a == "same") {
        return run(
            "solo",
            SoloBatch::new(&Default::default(), ROWS, 1).expect("rows"),
            8,
            Autoreset::SameStep,
        );
    }
    for mode in [Autoreset::NextStep, Autoreset::SameStep, Autoreset::Disabled] {
        run("solo", SoloBatch::new(&Default::default(), ROWS, 1).expect("rows"), 8, mode);
    }
    run("race", RaceBatch::new(&Default::default(), ROWS, 1).expect("rows"), 10, Autoreset::NextStep);
    run("race", RaceBatch::new(&Default::default(), ROWS, 1).expect("rows"), 10, Autoreset::SameStep);
}
