//! `necrodome judge new`: draws the roles and writes the script that begins a game.

use crate::{
    error::Error,
    lineup,
    output_file::{Access, OutputFile},
    paint::{count, dim, say},
};
use necrodome_judge::{
    config::{Config, ConfigError, EXAMPLE},
    script::read,
};
use necrodome_rules::chance::Seed;
use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// Draw the roles of a party and write the script that begins it
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome judge new                              writes config.yml for you to edit, and game.txt from it
  necrodome judge new --force                      draws again after you have edited config.yml
  necrodome judge new --config friday.yml --script friday.txt --seed 7")]
pub struct Args {
    /// The players and the rules, in YAML; if the file does not exist, an example is written
    #[arg(long, value_name = "FILE", default_value = "config.yml")]
    config: PathBuf,
    /// The script to write
    #[arg(long, value_name = "FILE", default_value = "game.txt")]
    script: PathBuf,
    /// The seed of the draw; without one it is random
    #[arg(long)]
    seed: Option<Seed>,
    /// Overwrite the script if it exists
    #[arg(long)]
    force: bool,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let file = OutputFile::claim(&args.script, args.force)?.with_access(Access::Secret);
    let mut out = anstream::stdout().lock();
    if !args.config.exists() {
        OutputFile::claim(&args.config, false)?.write(EXAMPLE)?;
        let text = format!(
            "there was no {0}: an example has been written to it, for you to edit",
            args.config.display()
        );
        writeln!(out, "{}", dim(text))?;
    }
    let (_, config) = read_config(&args.config)?;
    if let Some(note) = config.dialect.note() {
        say(dim(format!("{} is {note}", args.config.display())));
    }
    let seed = lineup::seed(args.seed)?;
    file.write(config.script(seed))?;
    let (players, zombies) = (config.players.len(), count(config.rules.zombies.get(), "zombie"));
    let script = args.script.display();
    writeln!(out, "{players} players, {zombies} among them, drawn with seed {seed}: the script is {script}")?;
    writeln!(
        out,
        "{}",
        dim(format!(
            "the script tells who is what, so it is for the judge only. Next: necrodome judge live {script}"
        ))
    )?;
    Ok(())
}

/// Reads a set-up. An error names the place of the mistake.
pub fn read_config(path: &Path) -> Result<(String, Config), Error> {
    let bytes = read(path).map_err(|error| Error::at(path.display(), error))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let config = Config::parse(&text).map_err(|error| misplaced(path, error))?;
    Ok((text, config))
}

/// Returns the error for a mistake in a set-up, with its place.
pub fn misplaced(path: &Path, error: ConfigError) -> Error {
    Error::at(format!("{}:{}:{}", path.display(), error.line, error.column), error.message)
}
