//! `necrodome solve`: what a game is worth, exactly.

use super::{advise::unsolved, print_json};
use crate::{
    error::Error,
    lineup, npz,
    output_file::OutputFile,
    paint::{bold, count, dim},
};
use necrodome_rules::{
    catalog::GameId,
    tokyo::Tokyo,
    with_game,
    zombie_dice::{GOAL, Race, Solo, Table},
};
use necrodome_solve::{
    RaceSolution, SoloSolution, Solution, Solvable, Standing, TableSolution, TokyoSolution,
};
use serde::Serialize;
use std::{io::Write, path::PathBuf, time::Instant};

/// Solve a dice game exactly: its value, and the perfect policy
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome solve zombie-dice-solo
  necrodome solve zombie-dice-solo --set out_of_dice=recycle_brains
  necrodome solve zombie-dice-race --scores 7,9            the mover's chance with 7 brains against 9
  necrodome solve zombie-dice --scores 10,12 --seat second
  necrodome solve tokyo --json
  necrodome solve tokyo --policy tokyo.npz                 the whole policy, for numpy (see `necrodome docs solve`)

Solved are zombie-dice-solo, zombie-dice-race, and zombie-dice and tokyo for two. A shared win counts one half.")]
pub struct Args {
    /// What to solve
    game: String,
    /// Set an option of the rules; can be repeated
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Vec<String>,
    /// Ask for the mover's chance at these scores, its own first
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
    match lineup::game(&args.game)? {
        GameId::ZombieDice => solve::<Table>(args),
        GameId::ZombieDiceSolo => solve::<Solo>(args),
        GameId::ZombieDiceRace => solve::<Race>(args),
        GameId::Tokyo => solve::<Tokyo>(args),
        other => with_game!(other, G => unsolved::<G>(&args.set)),
    }
}

fn solve<G: Solvable>(args: &Args) -> Result<(), Error>
where
    G::Solution: Ask,
{
    let rules = lineup::rules::<G>(&args.set)?;
    let policy = args.policy.as_ref().map(|path| OutputFile::claim(path, args.force)).transpose()?;
    let seats = 2.clamp(*G::SEATS.start(), *G::SEATS.end());
    let start = Instant::now();
    let solution = G::solve(&rules, seats)?;
    let seconds = start.elapsed().as_secs_f64();
    let (value, meaning) = solution.ask(args.scores, args.seat.as_deref())?;
    let solved = Solved {
        game: G::ID,
        options: &rules,
        value,
        meaning,
        states: Solution::<G>::positions(&*solution),
        seconds,
        scores: args.scores,
        seat: args.seat.as_deref(),
        distribution: solution.distribution(),
    };
    let printed = if args.json { print_json(&solved) } else { print(&solved) };
    if let Some(file) = policy {
        file.write(npz::pack(&Solution::<G>::arrays(&*solution))?)?;
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

/// A solution that can be asked for the value at some scores.
trait Ask {
    /// The value and what it means.
    fn ask(&self, scores: Option<[u32; 2]>, seat: Option<&str>) -> Result<(f64, String), Error>;

    /// The probability of each final score of a game for one.
    fn distribution(&self) -> Option<Vec<f64>> {
        None
    }
}

fn usage<T>(text: impl Into<String>) -> Result<T, Error> {
    Err(Error::Usage(text.into()))
}

fn no_seat(seat: Option<&str>) -> Result<(), Error> {
    match seat {
        Some(_) => usage("--seat is for zombie-dice only: elsewhere the value is the mover's"),
        None => Ok(()),
    }
}

impl Ask for SoloSolution {
    fn ask(&self, scores: Option<[u32; 2]>, seat: Option<&str>) -> Result<(f64, String), Error> {
        no_seat(seat)?;
        if scores.is_some() {
            return usage("zombie-dice-solo is one turn and has no scores: leave out --scores");
        }
        Ok((self.value(), "expected score of a perfect player".to_owned()))
    }

    fn distribution(&self) -> Option<Vec<f64>> {
        Some(SoloSolution::distribution(self))
    }
}

impl Ask for RaceSolution {
    fn ask(&self, scores: Option<[u32; 2]>, seat: Option<&str>) -> Result<(f64, String), Error> {
        no_seat(seat)?;
        let [own, other] = scores.unwrap_or([0; 2]);
        if own >= GOAL || other >= GOAL {
            return usage(format!("--scores {own},{other}: the race is over at {GOAL}; expected 0 to 12"));
        }
        let meaning = format!("chance to win for who moves, with {own} brains banked against {other}");
        Ok((self.value(own, other), meaning))
    }
}

impl Ask for TableSolution {
    fn ask(&self, scores: Option<[u32; 2]>, seat: Option<&str>) -> Result<(f64, String), Error> {
        let [own, other] = scores.unwrap_or([0; 2]);
        let second = seat == Some("second");
        let refuse = |why: &str| usage(format!("--scores {own},{other}: {why}"));
        let standing = match (second, own >= GOAL, other >= GOAL) {
            (false, false, false) => Standing::First { own, other },
            (false, true, true) if own == other => Standing::TiebreakFirst,
            (false, ..) => {
                return refuse(
                    "when the first in the round moves, both have less than 13, or the same (a tiebreak)",
                );
            }
            (true, false, false) => Standing::Second { own, other },
            (true, false, true) => Standing::Chase { behind: other - own },
            (true, true, true) if other >= own => Standing::TiebreakSecond { behind: other - own },
            (true, ..) => {
                return refuse(
                    "the second in the round cannot have 13 before its turn, unless in a tiebreak, where it is not ahead",
                );
            }
        };
        let who = if second { "second" } else { "first" };
        let meaning = match standing {
            Standing::First { .. } | Standing::Second { .. } => {
                format!("chance to win for the {who} in the round, who moves, with {own} against {other}")
            }
            Standing::Chase { behind } => {
                let behind = count(behind, "brain");
                format!("chance to win for the {who} in the round, with one turn left and {behind} behind")
            }
            Standing::TiebreakFirst => "chance to win for the first in a tiebreak round".to_owned(),
            Standing::TiebreakSecond { behind } => {
                format!("chance to win for the second in a tiebreak round, {} behind", count(behind, "brain"))
            }
        };
        Ok((self.prices(standing).start(), meaning))
    }
}

impl Ask for TokyoSolution {
    fn ask(&self, scores: Option<[u32; 2]>, seat: Option<&str>) -> Result<(f64, String), Error> {
        no_seat(seat)?;
        if scores.is_some() {
            return usage(
                "in tokyo the points alone say little: ask with health and place, `necrodome advise tokyo --help`",
            );
        }
        let meaning = "chance to win for the first of two monsters".to_owned();
        Ok((Solution::<Tokyo>::start(self), meaning))
    }
}
