//! `necrodome judge run`: plays a script from its start, for the judge, for everybody, or for one player.

use crate::{
    commands::print_json,
    error::Error,
    output_file::{Access, OutputFile, say_written},
    paint::{bold, count, dim, error_is_coloured, say, yellow},
};
use ariadne::{Config, IndexType, Label, Report, ReportKind, Source};
use necrodome_judge::{
    book::{Book, Record, SHOWN},
    report::{self, Winner},
    script::{Dialect, Mistake, parse_bytes, read},
};
use necrodome_rules::{
    game::Seat,
    infection::{Classic, Ending, InfectionRules, Player},
};
use serde::Serialize;
use std::{
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

/// Play a script from its start and report
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome judge run game.txt                   everything the judge knows
  necrodome judge run game.txt --public          what may be read aloud
  necrodome judge run game.txt --player anna     what may be whispered to Anna
  necrodome judge run game.txt --letters notes/  a file for each player
  necrodome judge run game.txt --json

Lines that make no sense or break a rule are shown and left out; the others count, and the exit code is 1.")]
pub struct Args {
    /// The script
    #[arg(default_value = "game.txt")]
    script: PathBuf,
    /// Only what may be read aloud
    #[arg(long, conflicts_with_all = ["player", "letters", "json"])]
    public: bool,
    /// Only what may be whispered to this player
    #[arg(long, value_name = "NAME", conflicts_with_all = ["letters", "json"])]
    player: Option<String>,
    /// Write a file for each player, with what may be whispered to them
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    letters: Option<PathBuf>,
    /// Overwrite letters that exist
    #[arg(long, requires = "letters")]
    force: bool,
    /// Print one JSON document with everything
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ScriptDocument<'a> {
    /// The version of the judge for which the script was written.
    dialect: Dialect,
    rules: &'a InfectionRules,
    players: Vec<PlayerInfo<'a>>,
    turns: u32,
    ending: Option<Ending>,
    winners: Vec<Winner>,
    records: &'a [Record],
    /// Lines that do not count.
    mistakes: &'a [Mistake],
}

#[derive(Serialize)]
struct PlayerInfo<'a> {
    name: &'a str,
    /// The player's current state; missing before the game has started.
    #[serde(flatten)]
    player: Option<&'a Player>,
    /// The additional state under the classic rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    classic: Option<&'a Classic>,
    /// Everything that may be whispered to the player.
    letter: String,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let bytes = read(&args.script).map_err(|error| Error::at(args.script.display(), error))?;
    let (text, parsed) = parse_bytes(&bytes);
    let book = Book::of(&parsed);
    if let Some(note) = parsed.dialect.note().filter(|_| !args.json) {
        let text = format!("{} is {note} (see judge convert)", args.script.display());
        say(dim(text));
    }
    let mut out = BufWriter::new(anstream::stdout().lock());
    if args.json {
        print_json(&document(&book, parsed.dialect))?;
    } else if args.public {
        out.write_all(report::public(&book).as_bytes())?;
    } else if let Some(name) = &args.player {
        let Some(seat) = book.player(name) else {
            let names = book.names().join(", ");
            return Err(Error::usage(format!(
                "nobody, or more than one player, is called {name:?}: expected one of {names}"
            )));
        };
        out.write_all(report::player(&book, seat).as_bytes())?;
    } else if let Some(folder) = &args.letters {
        write_letters(&book, folder, args.force)?;
    } else {
        for line in report::judge(&book).lines() {
            let heading = !line.is_empty() && !line.starts_with(' ');
            if heading { writeln!(out, "{}", bold(line))? } else { writeln!(out, "{line}")? }
        }
        left_out(&mut out, book.mistakes())?;
    }
    out.flush()?;
    if book.mistakes().is_empty() {
        return Ok(());
    }
    // A mistake can tell a secret ("is a zombie"): players who look at the screen must not read it.
    if !args.public && args.player.is_none() && !args.json {
        show_mistakes(&args.script, &text, book.mistakes())?;
    }
    all_lines_count(&args.script, book.mistakes())
}

/// Returns the error that ends a command if lines of the script do not count.
pub fn all_lines_count(path: &Path, mistakes: &[Mistake]) -> Result<(), Error> {
    let (lines, do_not) = match mistakes.iter().flat_map(Mistake::lines).count() {
        0 => return Ok(()),
        1 => ("1 line".to_owned(), "does not"),
        many => (format!("{many} lines"), "do not"),
    };
    Err(Error::failure(format!("{lines} of {} {do_not} count", path.display())))
}

/// Prints which lines do not count.
fn left_out(out: &mut impl Write, mistakes: &[Mistake]) -> std::io::Result<()> {
    if mistakes.is_empty() {
        return Ok(());
    }
    let mut lines: Vec<usize> = mistakes.iter().flat_map(Mistake::lines).collect();
    lines.sort_unstable();
    let word = if lines.len() == 1 { "line" } else { "lines" };
    let more = match lines.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let lines = lines.iter().take(SHOWN).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    writeln!(out, "\n{}", yellow(format!("left out: {word} {lines}{more}")))
}

/// Prints the mistakes with their places in the script.
pub fn show_mistakes(path: &Path, text: &str, mistakes: &[Mistake]) -> Result<(), Error> {
    let name = path.display().to_string();
    let config = Config::default().with_color(error_is_coloured()).with_index_type(IndexType::Byte);
    let mut source = (name.clone(), Source::from(text));
    let mut err = std::io::stderr().lock();
    for mistake in mistakes.iter().take(SHOWN) {
        let place = (name.clone(), mistake.span.clone());
        let mut report = Report::build(ReportKind::Error, place.clone())
            .with_config(config)
            .with_message(&mistake.message)
            .with_label(Label::new(place).with_message(&mistake.expected));
        if let Some(help) = &mistake.help {
            report = report.with_help(help);
        }
        if !mistake.also().is_empty() {
            let lines = count(mistake.also().len() as u64, "more line");
            report = report.with_note(format!("{lines} left out for the same cause"));
        }
        report.finish().write(&mut source, &mut err)?;
    }
    Ok(())
}

fn document(book: &Book, dialect: Dialect) -> ScriptDocument<'_> {
    let info = |(index, name)| PlayerInfo {
        name,
        player: book.party().and_then(|party| party.players().get(index)),
        classic: book.party().and_then(|party| party.classic(Seat(index as u16))),
        letter: report::player(book, Seat(index as u16)),
    };
    ScriptDocument {
        dialect,
        rules: book.rules(),
        players: book.names().iter().map(String::as_str).enumerate().map(info).collect(),
        turns: book.party().map_or(0, necrodome_rules::infection::Party::turns),
        ending: book.party().and_then(necrodome_rules::infection::Party::ending),
        winners: report::winners(book),
        records: book.records(),
        mistakes: book.mistakes(),
    }
}

/// Writes a file for each player, and turns the names into safe file names.
fn write_letters(book: &Book, folder: &Path, force: bool) -> Result<(), Error> {
    let path = |(index, name): (usize, &String)| {
        let harmless: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        folder.join(format!("{:03}-{harmless}.txt", index + 1))
    };
    let files = OutputFile::claim_all(book.names().iter().enumerate().map(path), force)?;
    let letters = count(files.len() as u64, "letter");
    for (index, file) in files.into_iter().enumerate() {
        file.with_access(Access::Secret).write_silently(report::player(book, Seat(index as u16)))?;
    }
    say_written(&format!("{letters} in {}", folder.display()));
    Ok(())
}
