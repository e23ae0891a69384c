//! `necrodome pack`: puts a plan and its bots into one file, for machines that have neither.

use super::print_json;
use crate::{
    error::Error,
    numbers::within,
    output_file::{Access, OutputFile},
    paint::{count, say},
    progress::Progress,
};
use necrodome_arena::tournament::{self, Packed, PlanFile};
use serde_json::json;
use std::path::PathBuf;

/// How many names of what is left out are printed; --json has all of them.
const MOST_TOLD: usize = 8;

/// Put a plan and its bots into one file, for `necrodome shard` on other machines
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome pack plan.toml                          writes plan.pack
  necrodome pack plan.toml --out night.pack --max-mb 200
  necrodome shard night.pack --blocks 0..1000 --out 0.shard

The pack has the folder of each bot, without hidden files, links, and files that tools make again (__pycache__, node_modules, target, \
venv). All bots must be in the folder of the plan or below; a bot in that folder itself is packed with its files, but without its \
subfolders. The command lists what it leaves out. Every worker checks the bots against the fingerprints in the plan, and `necrodome merge` \
accepts results from packs with the same files only. The pack contains the secret of the dice: keep it from \
the people who enter bots.

Exit codes: 0 the file is written; 1 it could not be written; 2 a mistake in the command, or a bot that cannot be packed.")]
pub struct Args {
    /// A plan (`necrodome tournament --plan-out`), written in a folder that has all bots in it or below
    plan: PathBuf,
    /// The file to write; by default the plan's name with the ending .pack
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The most megabytes that all bots together may take
    #[arg(long, value_name = "N", default_value = "64", value_parser = within(1..=1024_u64))]
    max_mb: u64,
    /// Overwrite the file
    #[arg(long)]
    force: bool,
    /// Print one JSON document instead of sentences
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let path = args.out.clone().unwrap_or_else(|| args.plan.with_extension("pack"));
    let out = OutputFile::claim(&path, args.force)?.with_access(Access::Secret);
    let file = PlanFile::read(&args.plan)?;
    let info = file.info()?;
    let mut progress = Progress::new("packing");
    let most = args.max_mb.saturating_mul(1 << 20);
    let packed = tournament::pack(&file, most, &mut |share| progress.show(share))?;
    drop(progress);
    out.write(&packed.bytes)?;
    let Packed { files, hash, bots, left_out, .. } = packed;
    if args.json {
        let named = |(name, bytes): &(String, u64)| json!({"name": name, "bytes": bytes});
        let files: Vec<_> = files.iter().map(named).collect();
        return print_json(
            &json!({"file": path, "hash": hash, "bots": bots, "files": files, "left_out": left_out, "plan": info}),
        );
    }
    let size: u64 = files.iter().map(|(_, size)| size).sum();
    say(format_args!("{} of bots, {} KB", count(files.len() as u64, "file"), size.div_ceil(1024)));
    if !left_out.is_empty() {
        let more = if left_out.len() > MOST_TOLD { ", ..." } else { "" };
        let told = left_out[..left_out.len().min(MOST_TOLD)].join(", ");
        say(format_args!("left out: {told}{more}"));
    }
    say(format_args!("its BLAKE3 hash is {hash}"));
    if !info.interpreters.is_empty() {
        say(format_args!("a machine that plays it needs {}", info.interpreters.join(", ")));
    }
    Ok(())
}
