//! `necrodome pack`: a plan and its bots in one file, for machines that have neither.

use crate::{
    error::Error,
    numbers::above_zero,
    output_file::{Access, OutputFile},
    paint::{count, say},
};
use necrodome_arena::tournament::{self, PlanFile};
use std::path::PathBuf;

/// Put a plan and its bots into one file, for `necrodome shard` on other machines
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome pack plan.toml                          writes plan.pack
  necrodome pack plan.toml --out night.pack --max-mb 200
  necrodome shard night.pack --blocks 0..1000 --out 0.shard

The folder of each bot is packed, without hidden files, links and what is made anew (__pycache__, node_modules, target, venv); of the
folder of the plan itself only its files. The plan has a fingerprint of each bot, which is checked wherever the pack is played. The
pack has the secret of the dice: keep it from those who enter bots.")]
pub struct Args {
    /// A plan (`necrodome tournament --plan-out`), in a folder above all bots
    plan: PathBuf,
    /// The file to write; by default the plan's name with .pack at its end
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The most megabytes that all bots may have together
    #[arg(long, value_name = "N", default_value = "64", value_parser = above_zero::<u64>)]
    max_mb: u64,
    /// Overwrite the file
    #[arg(long)]
    force: bool,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let out = args.out.clone().unwrap_or_else(|| args.plan.with_extension("pack"));
    let out = OutputFile::claim(&out, args.force)?.with_access(Access::Secret);
    let file = PlanFile::read(&args.plan)?;
    let packed = tournament::pack(&file, args.max_mb.saturating_mul(1 << 20))?;
    let size: u64 = packed.files.iter().map(|(_, size)| size).sum();
    say(format_args!("{} of bots, {} KB", count(packed.files.len() as u64, "file"), size.div_ceil(1024)));
    out.write(&packed.bytes)?;
    say(format_args!("its BLAKE3 hash is {}", packed.hash));
    let interpreters = file.interpreters()?;
    if !interpreters.is_empty() {
        say(format_args!("a machine that plays it needs {}", interpreters.join(", ")));
    }
    Ok(())
}
