//! `necrodome shard`: plays some blocks of a plan here, for somebody who merges them.

use super::print_json;
use crate::{
    error::Error,
    interrupt,
    lineup::{self, AllowFlags},
    numbers::within,
    output_file::{Access, OutputFile},
    paint::{count, harmless, say},
    progress::Progress,
};
use necrodome_arena::{
    process::Launcher,
    tournament::{PlanFile, PlanInfo, Shard},
};
use serde_json::json;
use std::{ops::Range, path::PathBuf};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Play some blocks of a plan, for `necrodome merge`
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome tournament zombie-dice greedy ./mybot.py --plan-out plan.toml
  necrodome shard plan.toml                        what is there to play?
  necrodome shard plan.toml --blocks 0..1000 --out 0.shard
  necrodome shard night.pack --blocks 1000..2000 --out 1000.shard
  necrodome merge night.store *.shard

A block has the same result wherever it is played, so any machine can play any blocks. A pack (`necrodome pack`) has the plan and its \
bots. Necrodome restarts programs every few blocks: cut parts at multiples of that number. Without --blocks the command prints the \
number, and checks that this machine can play the plan. If the machine lacks something (an interpreter, a module without which a bot \
does not start, a level of confinement), the command fails, and no bot is charged for it.

A plan may be a stranger's. It decides how programs are confined, what they are given and how much they may use, but only within what you \
allow: never less than strict without --sandbox limits, no network or variables without --allow-network and --pass-env, and no more than \
the usual limits without a flag such as --memory-mb. See `necrodome docs cluster`.

Exit codes: 0 the file is written; 1 the blocks could not be played here; 2 a mistake in the command; 130 interrupted: nothing is \
written.")]
pub struct Args {
    /// A plan (`necrodome tournament --plan-out`), or a pack (`necrodome pack`)
    plan: PathBuf,
    /// The first block, and the one after the last, counted from 0; without this flag, only say what there is to play
    #[arg(long, value_name = "A..B", value_parser = range, requires = "out")]
    blocks: Option<Range<u32>>,
    /// The file to write
    #[arg(long, value_name = "FILE", requires = "blocks")]
    out: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long)]
    force: bool,
    /// Threads to play on; by default all cores
    #[arg(long, value_parser = within(1..=1024_u16))]
    threads: Option<u16>,
    #[command(flatten)]
    allow: AllowFlags,
    /// Print one JSON document instead of sentences
    #[arg(long)]
    json: bool,
}

fn range(text: &str) -> Result<Range<u32>, String> {
    let ends = text.split_once("..").map(|(from, to)| (from.parse(), to.parse()));
    match ends {
        Some((Ok(from), Ok(to))) if from < to => Ok(from..to),
        _ => Err("expected two whole numbers, the second one larger, such as 0..1000".to_owned()),
    }
}

pub fn run(args: &Args) -> Result<(), Error> {
    let file = PlanFile::read(&args.plan)?.allowing(args.allow.allowed());
    let own = lineup::own_program()?;
    // What this machine cannot do is no condition.
    file.launcher(own.clone())?;
    tell_conditions(&file)?;
    let (Some(blocks), Some(out)) = (&args.blocks, &args.out) else { return describe(args, &file, &own) };
    let out = OutputFile::claim(out, args.force)?.with_access(Access::Secret);
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.map_or_else(cores, usize::from);
    let mut progress = Progress::new("playing");
    let all = f64::from(blocks.end - blocks.start);
    file.check_starts(&own)?;
    let played = Shard::play(&file, blocks.clone(), &own, threads, interrupt::flag(), &mut |update| {
        progress.show(f64::from(update.blocks.saturating_sub(blocks.start)) / all);
    })?;
    drop(progress);
    let shard = played.ok_or_else(Error::interrupted)?;
    let (matches, seconds) = (shard.matches()?, shard.origin.seconds);
    out.write(shard.bytes()?)?;
    if args.json {
        let (Range { start, end }, id, origin) = (shard.blocks, shard.id, shard.origin);
        return print_json(&json!({"id": id, "blocks": [start, end], "matches": matches, "origin": origin}));
    }
    say(format_args!("{} in {seconds:.1} s", count(matches, "match")));
    Ok(())
}

/// Says how programs are confined, what they are given and what they can read, and whether another version made the plan.
fn tell_conditions(file: &PlanFile) -> Result<(), Error> {
    if file.made_by() != VERSION {
        let other = harmless(file.made_by());
        say(format_args!(
            "note: the plan was made by necrodome {other}, and this is {VERSION}: others may play it otherwise"
        ));
    }
    let (Some(level), gifts) = (file.sandbox(), &file.plan().gifts) else { return Ok(()) };
    say(format_args!("programs are confined by {} ({level})", level.about()));
    if !gifts.is_empty() {
        say(format_args!("all programs are given {gifts}"));
    }
    for (name, paths) in file.readable()? {
        let paths: Vec<String> = paths.iter().map(|path| harmless(&path.to_string_lossy())).collect();
        say(format_args!("{} can read {}", harmless(&name), paths.join(", ")));
    }
    Ok(())
}

/// Describes what there is to play, and whether it could be played here.
fn describe(args: &Args, file: &PlanFile, own: &Launcher) -> Result<(), Error> {
    let info = file.info()?;
    file.check_starts(own)?;
    if args.json {
        return print_json(&info);
    }
    let PlanInfo { game, first, blocks, unit, matches_per_block, .. } = &info;
    let each = count(*matches_per_block as u64, "match");
    say(format_args!("{game}: blocks {first}..{blocks}, {each} each"));
    match unit {
        1 => say("parts can begin and end anywhere"),
        unit => say(format_args!("programs are restarted every {unit} blocks: play multiples of that")),
    }
    // As many as are some seconds' worth, and no more than there are.
    let some = 100_u32.div_ceil(*unit) * unit;
    let end = first.saturating_add(some).min(*blocks);
    let plan = args.plan.display();
    say("this machine can play them; for example:");
    say(format_args!("  necrodome shard {plan} --blocks {first}..{end} --out {first}.shard"));
    Ok(())
}
