//! `necrodome report`: the leaderboard of a stored tournament, without playing anything.

use super::{
    keep_apart, print_json, stored,
    tournament::{RankByName, note_measure, print},
};
use crate::{error::Error, output_file::OutputFile};
use necrodome_arena::{
    stats::RankBy,
    tournament::{Plan, Schedule, TournamentError, report},
};
use necrodome_rules::{game::Game, with_game};
use std::{fs, path::PathBuf};

/// Print the leaderboard of a stored tournament
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome tournament zombie-dice --blocks 500 --store night.store
  necrodome report night.store
  necrodome report night.store 3                  the third tournament of a store with several
  necrodome report night.store --rank-by plain    with the luck of the dice
  necrodome report night.store --markdown > README.part.md
  necrodome report night.store --csv night.csv")]
pub struct Args {
    /// The store of a tournament, or that of `necrodome serve`
    file: PathBuf,
    /// The number of the tournament, where the store has several
    tournament: Option<u32>,
    /// What decides the standings of a solved game
    #[arg(long, value_name = "WHAT")]
    rank_by: Option<RankByName>,
    /// Show all columns, and intervals of all pairs, however wide that is
    #[arg(long)]
    wide: bool,
    /// Say what each number means
    #[arg(long)]
    explain: bool,
    /// Print one JSON document instead of tables
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print the standings as a table in Markdown
    #[arg(long)]
    markdown: bool,
    /// Write the standings as comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Overwrite the file of --csv
    #[arg(long, requires = "csv")]
    force: bool,
}

pub fn run(args: &Args) -> Result<(), Error> {
    fs::metadata(&args.file).map_err(|error| Error::at(args.file.display(), error))?;
    keep_apart(&args.file, args.csv.as_deref(), "--csv")?;
    let csv = args.csv.as_ref().map(|path| OutputFile::claim(path, args.force)).transpose()?;
    let (store, planned) = stored(&args.file, args.tournament, "necrodome report STORE {}")?;
    let asked = args.rank_by.map(RankBy::from);
    let plan = Plan { rank_by: asked.unwrap_or(planned.rank_by), ..planned };
    let id = plan.game.parse()?;
    let schedule = with_game!(id, G => Schedule::new(&plan, G::SEATS)).map_err(TournamentError::from)?;
    let report = report(&plan, &schedule, &store)?;
    let printed = match (args.json, args.markdown) {
        (true, _) => print_json(&report),
        (_, true) => print::markdown(&report),
        _ => print::report(&report, print::Shown { wide: args.wide, explained: args.explain }),
    };
    note_measure(asked, &report);
    if let Some(csv) = csv {
        csv.write(print::csv(&report)?)?;
    }
    printed
}
