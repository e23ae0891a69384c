//! Measures how fast the kernels are on one core, against the referees in the same run: `cargo bench -p necrodome-batch`. A word
//! selects the games that have it in their name: `cargo bench -p necrodome-batch -- tokyo`. Every benchmark checks its answers.
//!
//! It runs once for each instruction set that the machine has, unless `NECRODOME_INSTRUCTIONS` names one. It fails if a
//! kernel is so slow that the compiler cannot have vectorised its lanes.

#![allow(clippy::unwrap_used)]

mod arrays;
mod last_bullet;
mod tokyo;
mod zombie_dice;

use necrodome_batch::instructions;
use std::process::Command;

/// The number of matches of a small game that are stepped at once.
const ROWS: usize = 4096;

/// Runs the benchmark of a game: in full, or just long enough to try it out.
type Bench = fn(measured: bool);

const BENCHES: &[(&str, Bench)] =
    &[("last_bullet", last_bullet::bench), ("tokyo", tokyo::bench), ("zombie_dice", zombie_dice::bench)];

fn main() {
    // `cargo test --benches` only tries it out.
    let measured = std::env::args().any(|arg| arg == "--bench");
    if measured && std::env::var_os(instructions::VARIABLE).is_none() {
        return run_for_all();
    }
    println!("instructions: {}", instructions::name());
    let word = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    for (_, bench) in BENCHES.iter().filter(|(game, _)| game.contains(&word)) {
        bench(measured);
    }
}

/// Runs this program again for each instruction set: a process has only one.
fn run_for_all() {
    let run = |name: &&str| {
        let program = std::env::current_exe().expect("this program is running");
        let mut command = Command::new(program);
        let status = command.args(std::env::args_os().skip(1)).env(instructions::VARIABLE, name).status();
        !status.expect("this program can be run").success()
    };
    let failed: Vec<_> = instructions::available().into_iter().filter(run).collect();
    assert!(failed.is_empty(), "too slow, or wrong: {failed:?}");
}

/// Prints the speed of a kernel and of the referee, in millions of steps per second. Fails if the kernel is less than `least` times
/// as fast: then the compiler has not vectorised the lanes.
fn compare(what: &str, kernel: f64, referee: f64, least: f64) {
    let ratio = kernel / referee;
    println!("{what}: {kernel:6.1} million steps/s, the referee {referee:5.2}: {ratio:5.1} times as many");
    let is_measured = std::env::args().any(|arg| arg == "--bench");
    assert!(!is_measured || ratio >= least, "{what}: expected {least} times as many");
}
