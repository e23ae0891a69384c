//! `necrodome store`: checks the file of a tournament for damage, and repairs it.

use super::print_json;
use crate::{
    error::Error,
    lineup::{ModelFlags, SandboxFlags, tell_spent},
    output_file::say_written,
    paint::{bold, count, green, harmless, say},
};
use necrodome_arena::{
    own,
    tournament::{self, Condition, Repair, Sound},
};
use necrodome_models::Book;
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

/// Check the file of a tournament for damage, or repair it
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Check(CheckArgs),
    Repair(RepairArgs),
}

/// Say which blocks of a store are sound and which are damaged; exit code 1 if any is damaged
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome store check night.store
  necrodome store check night.store --json

The command changes nothing. The seal that it prints is a hash of everything in the store: write it down, and you can tell later \
whether anything was changed.")]
struct CheckArgs {
    /// The store of a tournament, or that of `necrodome serve`
    file: PathBuf,
    /// Print one JSON document instead of sentences
    #[arg(long)]
    json: bool,
}

/// Keep the sound parts of a store, and restore or replay the damaged ones
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome store repair night.store                      the damaged file is kept as night.store.damaged
  necrodome store repair night.store --out sound.store    the damaged file stays where it is
  necrodome store repair llm.store --models models.toml   with language models: what they said is in llm.store.calls

The command restores damaged blocks from the replays of their matches, or plays them again: built-in bots from the seed, programs if \
they are still there and unchanged. Run it in the folder where the tournament began, so that it finds the programs. Language models \
play again if --models names the file with their tables (it may be the file of the tournament). By default no endpoint is asked, and \
their answers come from the calls that were kept (--answers only). The exit code is 1 \
if blocks are lost.")]
struct RepairArgs {
    /// The store of a tournament, or that of `necrodome serve`
    file: PathBuf,
    /// Write the sound store here, and leave the damaged one where it is
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    sandbox: SandboxFlags,
    #[command(flatten)]
    models: ModelFlags,
}

pub fn run(args: &Args) -> Result<(), Error> {
    match &args.command {
        Command::Check(args) => check(args),
        Command::Repair(args) => repair(args),
    }
}

fn condition(path: &Path) -> Result<Condition, Error> {
    fs::metadata(path).map_err(|error| Error::unread(path, &error))?;
    tournament::check(path).map_err(|error| Error::store(path, &error))
}

fn check(args: &CheckArgs) -> Result<(), Error> {
    let path = args.file.display();
    let condition = condition(&args.file)?;
    if args.json {
        print_json(&condition)?;
    } else {
        let mut out = anstream::stdout().lock();
        for sound in &condition.tournaments {
            writeln!(out, "{}", harmless(&sentence(sound)))?;
        }
        for damage in &condition.damage {
            writeln!(out, "{}: {}", bold("damaged"), harmless(&damage.to_string()))?;
        }
        if let Some(seal) = &condition.seal {
            writeln!(out, "{}: every row is as it was written; seal {seal}", green("sound"))?;
        } else if condition.damage.is_empty() {
            writeln!(
                out,
                "no damage was found, but the store is of an older version, whose rows have no seals:"
            )?;
            writeln!(out, "a changed bit in it cannot be seen")?;
        }
    }
    match condition.damage.len() {
        0 => Ok(()),
        places => Err(Error::failure(format!("{path}: {}", count(places as u64, "damaged place")))
            .hint(format!("`necrodome store repair {path}` keeps what is sound and plays the rest again"))
            .hint("if language models took part, name their tables with --models FILE, or their blocks may be lost")),
    }
}

/// Says in words which parts of a tournament are sound.
fn sentence(sound: &Sound) -> String {
    let Sound { tournament, game, blocks, details, unsealed } = sound;
    let game = game.as_deref().unwrap_or("its plan is damaged");
    let stretch = |&(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    };
    let blocks = match blocks.as_slice() {
        [] => "no blocks".to_owned(),
        blocks => format!("blocks {}", blocks.iter().map(stretch).collect::<Vec<_>>().join(", ")),
    };
    let mut text = format!("tournament {tournament} ({game}): {blocks} are sound");
    if *details > 0 {
        text += &format!(", and the details of {}", count(*details as u64, "match"));
    }
    if *unsealed > 0 {
        text += &format!(
            "; the first {} were stored by an older version, and are as they were found then",
            count(*unsealed, "block")
        );
    }
    text
}

fn repair(args: &RepairArgs) -> Result<(), Error> {
    let (file, path) = (&args.file, args.file.display());
    let condition = condition(file)?;
    if condition.damage.is_empty() {
        say(format_args!("{path} has no damage that could be seen: nothing was done"));
        return Ok(());
    }
    let desk = args.models.desk_again(file)?;
    if !condition.sealed {
        return Err(Error::failure(format!(
            "{path}: no sealed row was found, so nothing can be told sound from damaged"
        ))
        .hint("stores of older versions have no seals: play the tournament again"));
    }
    let (new, kept) = match &args.out {
        Some(out) => (out.clone(), None),
        None => (beside(file, ".repaired"), Some(beside(file, ".damaged"))),
    };
    for taken in [Some(&new), kept.as_ref()].into_iter().flatten() {
        own::check(taken).map_err(|error| Error::failure(error.to_string()).hint(error.hint()))?;
        if taken.exists() {
            return Err(Error::failure(format!("{} is there already", taken.display()))
                .hint("move it away, or choose another path with --out"));
        }
    }
    let launcher = args.sandbox.launcher_for_any()?;
    let repaired = tournament::repair(file, &new, &launcher, desk.as_ref()).inspect_err(|_| {
        // What is half done is of no use to anybody.
        let _ = fs::remove_file(&new);
    })?;
    tell_spent(desk.as_ref());
    for sentence in &repaired.done {
        say(harmless(sentence));
    }
    for sentence in &repaired.lost {
        say(format_args!("{}: {}", bold("lost"), harmless(sentence)));
    }
    let Some(kept) = kept else {
        say_written(&new.display().to_string());
        return all_there(&repaired, file, file);
    };
    let moved = |from: &Path, to: &Path| fs::rename(from, to).map_err(|error| Error::unwritten(to, &error));
    moved(file, &kept)?;
    for end in ["-wal", "-shm"] {
        let left = beside(file, end);
        if left.exists() {
            moved(&left, &beside(&kept, end))?;
        }
    }
    moved(&new, file)?;
    say_written(&path.to_string());
    say(format_args!("the damaged one is kept as {}", kept.display()));
    all_there(&repaired, &kept, file)
}

/// Returns an error if blocks are lost. It says how to get blocks of language models back from the damaged file, whose calls were
/// kept beside `file`.
fn all_there(repaired: &Repair, damaged: &Path, file: &Path) -> Result<(), Error> {
    let Repair { blocks_lost, models_missing, .. } = repaired;
    if *blocks_lost == 0 {
        return Ok(());
    }
    let lost = Error::failure(format!("{} lost", count(u64::from(*blocks_lost), "block")));
    if models_missing.is_empty() {
        let hint = format!("put back what is missing, then repair {} again, with --out", damaged.display());
        return Err(lost.hint(hint));
    }
    let names: Vec<&str> = models_missing.iter().map(String::as_str).collect();
    let (damaged, calls) = (damaged.display(), Book::beside(file));
    let again = "--out NEW.store --models FILE --calls";
    Err(lost.hint(format!(
        "language models play their blocks again if --models names the file with their tables ({}): \
         `necrodome store repair {damaged} {again} {}`",
        names.join(", "),
        calls.display()
    )))
}

/// Returns a path with something appended to its name.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(end);
    path.into()
}
