//! How fast the kernels are on one core, against the referees in the same run: `cargo bench -p necrodome-batch`. A word picks
//! the games that have it in their name: `cargo bench -p necrodome-batch -- tokyo`. Every benchmark checks its answers.

#![allow(clippy::unwrap_used)]

mod arrays;
mod last_bullet;
mod tokyo;
mod zombie_dice;

/// How many matches of a small game are stepped at once.
const ROWS: usize = 4096;

/// Runs the benchmark of a game: in full, or just long enough to try it out.
type Bench = fn(measured: bool);

const BENCHES: &[(&str, Bench)] =
    &[("last_bullet", last_bullet::bench), ("tokyo", tokyo::bench), ("zombie_dice", zombie_dice::bench)];

fn main() {
    // `cargo test --benches` only tries it out.
    let measured = std::env::args().any(|arg| arg == "--bench");
    let word = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    for (_, bench) in BENCHES.iter().filter(|(game, _)| game.contains(&word)) {
        bench(measured);
    }
}

/// Prints million steps per second of a kernel and of the referee.
fn compare(what: &str, kernel: f64, referee: f64) {
    let ratio = kernel / referee;
    println!("{what}: {kernel:6.1} million steps/s, the referee {referee:5.2}: {ratio:5.1} times as many");
}
