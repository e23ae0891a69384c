//! `necrodome audit`: some blocks of a store, drawn at random, played again.

use super::{print_json, stored};
use crate::{
    error::Error,
    interrupt, lineup,
    numbers::above_zero,
    paint::{bold, count, green, harmless, red},
    progress::Progress,
};
use necrodome_arena::tournament::{self, Audit, PlanFile, blocks_to_catch};
use necrodome_rules::chance::Seed;
use std::{io::Write, path::PathBuf};

/// Play some blocks of a store again, drawn at random, and compare
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome audit night.store --blocks 100
  necrodome audit night.store --blocks 100 --plan night.pack
  necrodome audit night.store --blocks 20 --seed 7 --json

Whoever forges results does not know which blocks will be drawn. The report says how likely it was to catch a worker that has forged \
a share of all blocks. Results, luck and moves are compared to the byte. A tournament need not be over: blocks are drawn from those \
that are stored. Run it where the tournament was begun, or name the plan or pack, so that programs are found. A bot that decides by \
the clock, or by random numbers of its own, differs without any forger.

Exit codes: 0 all blocks went as they are stored, 1 some did not, or could not be played here, 2 a mistake in the command, 130 \
interrupted: what was played until then is printed.")]
pub struct Args {
    /// The store
    store: PathBuf,
    /// How many blocks to play again; all, if there are not more
    #[arg(long, value_name = "K", default_value = "50", value_parser = above_zero::<u32>)]
    blocks: u32,
    /// The tournament, where the store has several
    #[arg(long, value_name = "N", value_parser = above_zero::<u32>)]
    tournament: Option<u32>,
    /// The plan or pack with the bots; by default they are looked up from this folder
    #[arg(long, value_name = "PLAN")]
    plan: Option<PathBuf>,
    /// Draw blocks by this seed; by default nobody can know them before
    #[arg(long)]
    seed: Option<Seed>,
    /// Print one JSON document instead of sentences
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let (store, plan) = stored(&args.store, args.tournament, "--tournament {}")?;
    let file = PlanFile::of_store(&plan, &store, args.plan.as_deref())?;
    let seed = lineup::seed(args.seed)?;
    let mut progress = Progress::new("playing again");
    let own = lineup::own_program()?;
    let audit =
        tournament::audit(&store, &file, &own, (args.blocks, seed), interrupt::flag(), &mut |done, all| {
            progress.show(done as f64 / all.max(1) as f64);
        })?;
    drop(progress);
    if args.json {
        print_json(&audit)?;
    } else {
        tell(&audit)?;
    }
    if audit.interrupted {
        return Err(Error::interrupted());
    }
    match audit.differ.len() {
        0 => Ok(()),
        differ => {
            Err(Error::failure(format!("{} went otherwise than stored", count(differ as u64, "block"))))
        }
    }
}

fn tell(audit: &Audit) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    let (played, of) = (audit.blocks.len() as u32, audit.of);
    for difference in &audit.differ {
        let by = difference.origin.as_ref().map_or("where the store was begun".to_owned(), |origin| {
            format!("by {origin}, from where {} come", count(difference.blocks_of_origin, "block"))
        });
        let (block, what) = (difference.block, difference.what);
        writeln!(out, "{}: block {block} {what}: stored, and played again here", red("differs"))?;
        writeln!(out, "  it was played {}", harmless(&by))?;
    }
    let blocks = match played == of {
        true => format!("all {of} stored blocks"),
        false => format!("{played} of {of} stored blocks"),
    };
    match audit.differ.len() {
        0 => writeln!(out, "{}: {blocks}, played again, went as they are stored", green("same"))?,
        differ => writeln!(out, "{blocks} were played again, and {differ} differ")?,
    }
    if audit.without_moves > 0 {
        let without = count(audit.without_moves, "block");
        writeln!(out, "the store has no replays of {without}: there only results and luck were compared")?;
    }
    writeln!(out, "compared: results, luck, misbehaviour and moves; not CPU times and logs")?;
    writeln!(out, "\n{}", bold("if somebody had forged...  this would have caught them with"))?;
    for catch in &audit.catches {
        let share = format!("{}% of the blocks", 100.0 * catch.forged);
        // Certain is what is certain, and not what rounds to it.
        let chance = if catch.chance < 1.0 { (1000.0 * catch.chance).floor() / 10.0 } else { 100.0 };
        writeln!(out, "{share:<26} {chance:.1}%")?;
    }
    let needed = blocks_to_catch(of, 0.01, 0.95);
    if needed > played {
        writeln!(
            out,
            "\nto catch 1% with a chance of 95%, play {needed} of {of} blocks again (--blocks {needed})"
        )?;
    }
    Ok(())
}
