//! `necrodome report`: prints the standings of a stored tournament, without playing anything.

pub(super) mod pages;
mod site;

use super::{
    print_json, stored,
    tournament::{RankByName, note_measure, print, tables::TableFlags},
};
use crate::{error::Error, numbers::whole};
use necrodome_arena::{
    stats::RankBy,
    tournament::{Plan, Schedule, report},
};
use necrodome_rules::with_game;
use site::Site;
use std::{fs, path::PathBuf};

/// Print the standings of a stored tournament
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome tournament zombie-dice --blocks 500 --store night.store
  necrodome report night.store
  necrodome report night.store 3                  the third tournament of a store with several
  necrodome report night.store --rank-by plain    with the luck of the dice
  necrodome report night.store --markdown > README.part.md
  necrodome report battle.store --rounds          the score in each round
  necrodome report night.store --html night        open night/index.html
  necrodome report night.store --csv night.csv --csv-pairs pairs.csv --csv-matches matches.csv")]
#[command(group = clap::ArgGroup::new("written").multiple(true))]
pub struct Args {
    /// The store of a tournament, or that of `necrodome serve`
    file: PathBuf,
    /// The number of the tournament, if the store has several
    #[arg(value_parser = whole::<u32>)]
    tournament: Option<u32>,
    /// What decides the standings of a solved game
    #[arg(long, value_name = "WHAT")]
    rank_by: Option<RankByName>,
    /// Show all columns, and intervals of all pairs, however wide that is
    #[arg(long)]
    wide: bool,
    /// Print the score of every entry in each round of a battle, the median last
    #[arg(long)]
    rounds: bool,
    /// Say what each number means
    #[arg(long)]
    explain: bool,
    /// Print one JSON document instead of tables
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print the standings as a table in Markdown
    #[arg(long)]
    markdown: bool,
    #[command(flatten)]
    tables: TableFlags,
    /// Write a folder of pages that open without a server: the report, and a page for each bot with its worst matches
    #[arg(long, value_name = "DIR", group = "written")]
    html: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long, requires = "written")]
    force: bool,
}

pub fn run(args: &Args) -> Result<(), Error> {
    fs::metadata(&args.file).map_err(|error| Error::unread(&args.file, &error))?;
    let tables = args.tables.claim(("STORE", Some(&args.file)), args.force)?;
    let (store, planned) = stored(&args.file, args.tournament, "necrodome report STORE {}")?;
    let asked = args.rank_by.map(RankBy::from);
    let plan = Plan { rank_by: asked.unwrap_or(planned.rank_by), ..planned };
    let site = args.html.as_ref().map(|folder| Site::claim(folder, &plan, args.force)).transpose()?;
    let (id, schedule) = (plan.game.parse()?, Schedule::of(&plan)?);
    let report = report(&plan, &schedule, &store)?;
    if args.rounds && report.standings.iter().all(|entry| entry.rounds.is_empty()) {
        return Err(Error::usage("--rounds is for a battle of 1 to 1000 rounds")
            .hint("--csv-matches FILE writes every match of any tournament"));
    }
    let shown = print::Shown { wide: args.wide, explained: args.explain, rounds: args.rounds };
    let printed = match (args.json, args.markdown) {
        (true, _) => print_json(&report),
        (_, true) => print::markdown(&report, shown),
        _ => print::report(&report, shown),
    };
    note_measure(asked, &report);
    tables.write(&report, &schedule, &store)?;
    if let Some(site) = site {
        with_game!(id, G => site.write::<G>(&report, &schedule, &store, &args.file))?;
    }
    printed
}
