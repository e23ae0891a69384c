//! `necrodome solve`: computes what a game is worth, exactly.

use super::print_json;
use crate::{
    error::Error,
    lineup, npz,
    output_file::OutputFile,
    paint::{bold, dim},
};
use necrodome_rules::{catalog::Listed, game::Seat, with_game};
use necrodome_solve::{Unsolved, solved, solver};
use serde::Serialize;
use std::{io::Write, path::PathBuf, time::Instant};

/// Solve a dice game exactly: its value, and the perfect policy
#[derive(clap::Args)]
#[command(after_help = format!("\
Examples:
  necrodome solve zombie-dice-solo
  necrodome solve zombie-dice-solo --set out_of_dice=recycle_brains
  necrodome solve zombie-dice-race --scores 7,9            the mover's chance with 7 brains against 9
  necrodome solve zombie-dice --scores 10,12 --seat second
  necrodome solve zombie-dice --json
  necrodome solve zombie-dice --policy table.npz           the whole policy, for numpy (see `necrodome docs solve`)

Solved games: {} (for two at most). A shared win counts one half. `necrodome advise` values single positions.",
solved().join(", ")))]
pub struct Args {
    /// What to solve
    game: String,
    /// Set an option of the rules; can be repeated
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Vec<String>,
    /// Ask for the mover's chance at these scores, their own first
    #[arg(long, value_name = "OWN,OTHER", value_parser = parse_scores)]
    scores: Option<[u32; 2]>,
    /// zombie-dice: who moves, the first in the round or the second
    #[arg(long, value_name = "WHO", value_parser = ["first", "second"])]
    seat: Option<String>,
    /// Write the whole policy to a file that numpy loads
    #[arg(long, value_name = "FILE.npz")]
    policy: Option<PathBuf>,
    /// Overwrite the file of --policy
    #[arg(long, requires = "policy")]
    force: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Returns the flags that choose a value, as they were given.
    fn asked(&self) -> Vec<String> {
        let scores = self.scores.map(|[own, other]| format!("--scores {own},{other}"));
        scores.into_iter().chain(self.seat.as_ref().map(|seat| format!("--seat {seat}"))).collect()
    }
}

fn parse_scores(text: &str) -> Result<[u32; 2], String> {
    let numbers: Option<Vec<u32>> =
        text.split([',', '-', ':']).map(|number| number.trim().parse().ok()).collect();
    let numbers = numbers.and_then(|numbers| <[u32; 2]>::try_from(numbers).ok());
    numbers.ok_or_else(|| "expected two scores such as 7,9".to_owned())
}

#[derive(Serialize)]
struct Solved<'a, R> {
    game: &'static str,
    options: &'a R,
    value: f64,
    meaning: String,
    states: usize,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    scores: Option<[u32; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seat: Option<&'a str>,
    /// Solo: the probability of each final score.
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<Vec<f64>>,
}

pub fn run(args: &Args) -> Result<(), Error> {
    with_game!(lineup::game(&args.game)?, G => solve::<G>(args))
}

fn solve<G: Listed>(args: &Args) -> Result<(), Error> {
    let rules = lineup::rules::<G>(&args.set)?;
    let solver = solver::<G>().ok_or(Unsolved::Game { game: G::ID })?;
    let policy = args.policy.as_ref().map(|path| OutputFile::claim(path, args.force)).transpose()?;
    let seats = 2.clamp(*G::SEATS.start(), *G::SEATS.end());
    let start = Instant::now();
    let solution = (solver.solve)(&rules, seats)?;
    let seconds = start.elapsed().as_secs_f64();
    let seat = args.seat.as_ref().map(|seat| Seat((seat == "second").into()));
    let worth = solution.worth(args.scores, seat).map_err(|why| Error::at(args.asked().join(" "), why))?;
    let solved = Solved {
        game: G::ID,
        options: &rules,
        value: worth.value,
        meaning: worth.meaning,
        states: solution.positions(),
        seconds,
        scores: args.scores,
        seat: args.seat.as_deref(),
        distribution: worth.distribution,
    };
    let printed = if args.json { print_json(&solved) } else { print(&solved) };
    if let Some(file) = policy {
        file.write(npz::pack(&solution.arrays())?)?;
    }
    printed
}

fn print<R>(solved: &Solved<R>) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}  {}", bold(format!("{:.12}", solved.value)), solved.meaning)?;
    if let Some(distribution) = &solved.distribution {
        writeln!(out, "\n{}", dim("score  probability"))?;
        let shown = distribution.iter().rposition(|&chance| chance >= 5e-7).map_or(0, |last| last + 1);
        for (score, &chance) in distribution[..shown].iter().enumerate() {
            let bar = "#".repeat((chance * 100.0).round() as usize);
            writeln!(out, "{score:>5}  {chance:.6}  {}", dim(bar))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", dim(format!("{} positions, solved in {:.3} s", solved.states, solved.seconds)))?;
    Ok(())
}
