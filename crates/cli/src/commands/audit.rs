//! `necrodome audit`: some blocks of a store, drawn at random, played again.

use super::{print_json, stored};
use crate::{
    error::Error,
    interrupt,
    lineup::{self, AllowFlags},
    numbers::above_zero,
    paint::{bold, count, green, harmless, red},
    progress::Progress,
};
use necrodome_arena::tournament::{self, Audit, Disputed, PlanFile, blocks_to_catch};
use necrodome_rules::chance::Seed;
use std::{io::Write, path::PathBuf};

/// Play some blocks of a store again, drawn at random, and compare
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome audit night.store --blocks 100
  necrodome audit night.store --blocks 100 --plan night.pack
  necrodome audit night.store --blocks 20 --seed 7 --json

A forger can't know which blocks will be drawn. The report says how likely the audit was to catch a worker that forged a share of all \
blocks. Results, luck and moves are compared byte for byte. The tournament need not be over: blocks are drawn from those that are \
stored. Run the command in the folder where the tournament began, or name the plan or pack, so that it finds the programs. Programs get no less \
confinement than strict, no network or variables, and no more than the usual limits, unless you name them (--sandbox limits, \
--allow-network, --pass-env, --memory-mb...). A bot that decides by the clock, or by its own random numbers, differs although nobody forged anything.

Exit codes: 0 all blocks are as stored; 1 some differ, or could not be played here; 2 a mistake in the command; 130 interrupted: the \
report covers the blocks played so far.")]
pub struct Args {
    /// The store
    store: PathBuf,
    /// How many blocks to play again; all of them if the store has fewer
    #[arg(long, value_name = "K", default_value = "50", value_parser = above_zero::<u32>)]
    blocks: u32,
    /// Which tournament, if the store has several
    #[arg(long, value_name = "N", value_parser = above_zero::<u32>)]
    tournament: Option<u32>,
    /// The plan or pack with the bots; by default the bots are looked up in this folder
    #[arg(long, value_name = "PLAN")]
    plan: Option<PathBuf>,
    /// Draw blocks by this seed; by default nobody can predict them
    #[arg(long)]
    seed: Option<Seed>,
    #[command(flatten)]
    allow: AllowFlags,
    /// Print one JSON document instead of sentences
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let (store, plan) = stored(&args.store, args.tournament, "--tournament {}")?;
    let file = PlanFile::of_store(&plan, &store, args.plan.as_deref())?.allowing(args.allow.allowed());
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
    let disputed = audit.disputed.iter().filter(|disputed| !disputed.open).count();
    match audit.differ.len() {
        0 if disputed == 0 => Ok(()),
        0 => Err(Error::failure("misbehaviour differs from what is stored")),
        differ => {
            let verb = if differ == 1 { "differs" } else { "differ" };
            Err(Error::failure(format!("{} {verb} from what is stored", count(differ as u64, "block"))))
        }
    }
}

fn tell(audit: &Audit) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    let (played, of) = (audit.blocks.len() as u32, audit.of);
    for difference in &audit.differ {
        let by = difference.origin.as_ref().map_or("where the tournament began".to_owned(), |origin| {
            format!(
                "by a machine that says it is {origin}, and which played {} of the store",
                count(difference.blocks_of_origin, "block")
            )
        });
        let (block, what) = (difference.block, difference.what);
        writeln!(out, "{}: block {block} {what} (once in the store, once here)", red("differs"))?;
        writeln!(out, "  it was played {}", harmless(&by))?;
    }
    for Disputed { name, kind, stored, open } in &audit.disputed {
        let name = harmless(name);
        match (stored, open) {
            (true, true) => writeln!(out, "not seen again: {kind} by {name}; other blocks may have had it")?,
            (true, false) => {
                writeln!(out, "{}: the store has {kind} by {name}, but here there was none", red("differs"))?
            }
            (false, true) => writeln!(out, "not in the store: {kind} by {name}; other blocks may have it")?,
            (false, false) => {
                writeln!(out, "{}: {kind} by {name} happened here, but the store has none", red("differs"))?
            }
        }
    }
    let blocks = match played == of {
        true => format!("all {of} stored blocks"),
        false => format!("{played} of {of} stored blocks"),
    };
    match audit.differ.len() {
        0 if audit.disputed.iter().any(|disputed| !disputed.open) => writeln!(
            out,
            "{blocks} were played again: results, luck and moves are as stored, misbehaviour is not"
        )?,
        0 => writeln!(out, "{}: {blocks} were played again, and all are as stored", green("same"))?,
        differ => writeln!(out, "{blocks} were played again, and {differ} differ")?,
    }
    if !audit.differ.is_empty() || audit.disputed.iter().any(|disputed| !disputed.open) {
        audit.doubts.iter().try_for_each(|doubt| writeln!(out, "note: {doubt}"))?;
    }
    if audit.without_moves > 0 {
        let without = count(audit.without_moves, "block");
        writeln!(out, "the store has no replays of {without}: only their results and luck were compared")?;
    }
    writeln!(
        out,
        "compared: results, luck, misbehaviour and moves; not CPU times, logs and details in words"
    )?;
    if !audit.catches.is_empty() {
        writeln!(out, "\n{}", bold("if somebody had forged...  chance to catch them"))?;
    }
    for catch in &audit.catches {
        let share = format!("{}% of the blocks", 100.0 * catch.forged);
        // Certain is what is certain, and not what rounds to it.
        let chance = if catch.chance < 1.0 { (1000.0 * catch.chance).floor() / 10.0 } else { 100.0 };
        writeln!(out, "{share:<26} {chance:.1}%")?;
    }
    // Of fewer than 100 blocks, 1% is less than one.
    let target = if of < 100 { "a single forged block" } else { "a forger of 1%" };
    let needed = blocks_to_catch(of, 0.01, 0.95);
    if needed > played {
        writeln!(out, "\nto catch {target} with a chance of 95%, use --blocks {needed}")?;
    }
    Ok(())
}
