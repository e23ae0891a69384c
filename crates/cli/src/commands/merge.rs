//! `necrodome merge`: shards from many machines, in one store.

use super::print_json;
use crate::{
    error::Error,
    paint::{count, say},
    progress::Progress,
};
use necrodome_arena::tournament::{self, Merged, PartError, PlanFile, StoreError};
use std::path::PathBuf;

/// Merge parts that `necrodome shard` has played into one store
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome merge night.store *.shard
  necrodome merge night.store 7.shard --json
  necrodome merge night.store                  what is missing?

Parts may come in any order, overlap, and come again. All of them are merged or none. Where two have the same block, results, luck \
and replays must be the same to the byte; if not, both origins are named. Parts that come early wait in the store. When all is there, \
the hash is that of the tournament on one machine, and `necrodome report` prints the standings.

Exit codes: 0 merged (even if blocks are missing yet), 1 two parts do not agree, a file is damaged, or the store could not be \
written, 2 a mistake in the command, such as a file that is no part, or one of another tournament. With 1 and 2 nothing is merged.")]
pub struct Args {
    /// The store; made if it is not there
    store: PathBuf,
    /// The parts
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Take parts of this plan (or pack) only; without it, of the plan of the first part
    #[arg(long, value_name = "PLAN")]
    plan: Option<PathBuf>,
    /// Print one JSON document instead of sentences
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let plan = args.plan.as_deref().map(PlanFile::read).transpose()?;
    let merged = match args.files.is_empty() && plan.is_none() {
        true => tournament::merged(&args.store),
        false => {
            let (mut progress, all) = (Progress::new("merging"), args.files.len().max(1) as f64);
            let mut watch = |done: usize| progress.show(done as f64 / all);
            tournament::merge(&args.store, &args.files, plan.as_ref(), &mut watch)
        }
    };
    let merged = merged.map_err(|error| match error {
        PartError::Store(StoreError::Foreign) => {
            let what = format!("{}: {}", args.store.display(), StoreError::Foreign);
            Error::usage(what).hint("the store comes first, then the parts: necrodome merge STORE FILE...")
        }
        PartError::Store(error) => Error::written_store(&args.store, error),
        PartError::Conflict { .. } => Error::from(error).hint(
            "nothing was merged; `necrodome audit` plays stored blocks again, and a bot that decides by the clock or by its own \
             random numbers never plays twice alike",
        ),
        other => other.into(),
    })?;
    if args.json { print_json(&merged) } else { tell(args, &merged) }
}

fn tell(args: &Args, merged: &Merged) -> Result<(), Error> {
    let Merged { added, blocks, of, waiting, gaps, complete, hash } = merged;
    let store = args.store.display();
    if !args.files.is_empty() {
        say(format_args!("{} added", count(*added, "block")));
    }
    say(format_args!("{blocks} of {of} blocks are there without a gap"));
    let words = |stretches: &[(u32, u32)]| {
        const MOST: usize = 8;
        let mut all: Vec<String> =
            stretches.iter().take(MOST).map(|(first, end)| format!("{first}..{end}")).collect();
        all.extend((stretches.len() > MOST).then(|| format!("and {} more", stretches.len() - MOST)));
        all.join(", ")
    };
    if !waiting.is_empty() {
        say(format_args!("waiting for those before them: {}", words(waiting)));
    }
    if !gaps.is_empty() {
        say(format_args!("missing: {}", words(gaps)));
    }
    if let Some(hash) = hash.as_ref().filter(|_| *complete) {
        say(format_args!("complete: `necrodome report {store}` prints the standings\nhash {hash}"));
    }
    Ok(())
}
