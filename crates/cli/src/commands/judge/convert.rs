//! `necrodome judge convert`: rewrites scripts and set-ups of older judges.

use super::{
    new::{misplaced, read_config},
    run::{all_lines_count, show_mistakes},
};
use crate::{
    error::Error,
    output_file::{Access, OutputFile},
    paint::{dim, say},
};
use necrodome_judge::{
    book::Book,
    convert,
    script::{Dialect, parse_bytes, read},
};
use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// Rewrite a script or a set-up of an older judge
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome judge convert old.txt                   prints the script as this judge writes it
  necrodome judge convert old.txt --to game.txt
  necrodome judge convert players.yml --to config.yml

Lines of a script that do not count (see necrodome judge run) are shown and left out; the exit code is then 1.
In a set-up the keys get their names of today, and rules and max_turns are added; the rest stays, comments too.
A file that was not written for an older judge stays as it is.

Older scripts and set-ups can be used as they are, too: they are judged by the classic rules
(necrodome docs rules/infection-classic).")]
pub struct Args {
    /// The script, or the set-up if the name ends with .yml or .yaml
    file: PathBuf,
    /// Write it to this file
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long, requires = "to")]
    force: bool,
}

pub fn run(args: &Args) -> Result<(), Error> {
    // Roles are for the judge only.
    let to = args.to.as_ref().map(|path| OutputFile::claim(path, args.force)).transpose()?;
    let to = to.map(|file| file.with_access(Access::Secret));
    let is_config = args.file.extension().is_some_and(|end| end == "yml" || end == "yaml");
    let (text, dialect, done) = if is_config { config(&args.file)? } else { script(&args.file)? };
    if dialect == Dialect::Current {
        say(dim(format!("{} was not written for an older judge: it stays as it is", args.file.display())));
    }
    match to {
        Some(file) => file.write(text)?,
        None => anstream::stdout().write_all(&text)?,
    }
    done
}

type Converted = (Vec<u8>, Dialect, Result<(), Error>);

fn config(path: &Path) -> Result<Converted, Error> {
    let (text, config) = read_config(path)?;
    let text = match config.dialect {
        Dialect::Current => text,
        Dialect::Older => convert::set_up(&text, &config).map_err(|error| misplaced(path, error))?,
    };
    Ok((text.into(), config.dialect, Ok(())))
}

fn script(path: &Path) -> Result<Converted, Error> {
    let bytes = read(path).map_err(|error| Error::at(path.display(), error))?;
    let (text, parsed) = parse_bytes(&bytes);
    let book = Book::of(&parsed);
    show_mistakes(path, &text, book.mistakes())?;
    let done = all_lines_count(path, book.mistakes());
    let converted = match parsed.dialect {
        Dialect::Current => bytes.clone(),
        Dialect::Older => convert::script(&parsed, &book).to_string().into(),
    };
    Ok((converted, parsed.dialect, done))
}
