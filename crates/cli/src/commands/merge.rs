//! `necrodome merge`: puts shards from many machines into one store.

use super::print_json;
use crate::{
    error::Error,
    paint::{count, say},
    progress::Progress,
};
use necrodome_arena::tournament::{self, Merged, PartError, PlanFile, StoreError};
use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// How long to wait for another process that uses the store: even many merges take only seconds, but a tournament takes hours.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause between two tries.
const AGAIN: Duration = Duration::from_millis(100);

/// Merge parts that `necrodome shard` has played into one store
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome merge night.store *.shard
  necrodome merge night.store 7.shard --json
  necrodome merge night.store                  what is missing?

Parts may come in any order, overlap, and come twice. The command merges all of them or none. If two parts have the same block, its \
results, luck and replays must be equal byte for byte; if not, the error names both origins. Parts that come early wait in the store. \
When the store is complete, its hash is that of the tournament on one machine, and `necrodome report` prints the standings. If another \
process has the store, the command waits for up to a minute.

Exit codes: 0 merged (even if blocks are still missing); 1 two parts disagree, a file is damaged, or the store could not be \
written; 2 a mistake in the command, such as a file that is not a part, or is of another tournament. With 1 and 2 nothing is merged.")]
pub struct Args {
    /// The store; created if it is missing
    store: PathBuf,
    /// The parts
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Accept only parts of this plan, or of this pack with its bots; by default, of the plan and the pack of the first part
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
            waiting(&args.store, || tournament::merge(&args.store, &args.files, plan.as_ref(), &mut watch))
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

/// Runs a merge, and tries again while another process uses the store: many workers may merge at once.
fn waiting(store: &Path, mut merge: impl FnMut() -> Result<Merged, PartError>) -> Result<Merged, PartError> {
    let began = Instant::now();
    let mut told = false;
    loop {
        match merge() {
            Err(PartError::Store(StoreError::Busy)) if began.elapsed() < PATIENCE => {
                if !told {
                    let seconds = PATIENCE.as_secs();
                    say(format_args!(
                        "{} is in use by another process: waiting for up to {seconds} s",
                        store.display()
                    ));
                }
                told = true;
                thread::sleep(AGAIN);
            }
            done => return done,
        }
    }
}

fn tell(args: &Args, merged: &Merged) -> Result<(), Error> {
    let Merged { added, blocks, of, waiting, gaps, complete, programs, hash } = merged;
    let store = args.store.display();
    if !args.files.is_empty() {
        say(format_args!("{} added", count(*added, "block")));
    }
    say(format_args!("{blocks} of {of} blocks are stored"));
    let words = |stretches: &[(u32, u32)]| {
        const MOST: usize = 8;
        let mut all: Vec<String> =
            stretches.iter().take(MOST).map(|(first, end)| format!("{first}..{end}")).collect();
        all.extend((stretches.len() > MOST).then(|| format!("and {} more", stretches.len() - MOST)));
        all.join(", ")
    };
    if !waiting.is_empty() {
        say(format_args!("waiting for earlier blocks: {}", words(waiting)));
    }
    if !gaps.is_empty() {
        say(format_args!("missing: {}", words(gaps)));
    }
    if programs.len() > 1 {
        const MOST: usize = 4;
        let mut all: Vec<&str> = programs.iter().map(String::as_str).take(MOST).collect();
        all.extend((programs.len() > MOST).then_some("..."));
        say(format_args!("note: played by different versions or builds: {}", all.join("; ")));
    }
    if let Some(hash) = hash.as_ref().filter(|_| *complete) {
        say(format_args!("complete: `necrodome report {store}` prints the standings\nhash {hash}"));
    }
    Ok(())
}
