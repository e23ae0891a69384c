//! `necrodome games`: the games and their options.

use super::print_json;
use crate::{
    error::Error,
    paint::{bold, column, dim, width},
};
use necrodome_rules::{
    catalog::{GameId, Listed},
    options::{self, OptionInfo, plain},
    with_game,
};
use serde::Serialize;
use std::io::{self, Write};

/// List the games with their seats and options
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  necrodome games\n  necrodome games --json")]
pub struct Args {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct GameDocument {
    id: &'static str,
    title: &'static str,
    about: &'static str,
    seats: SeatRange,
    options: Vec<OptionInfo>,
}

#[derive(Serialize)]
struct SeatRange {
    min: usize,
    max: usize,
}

impl GameDocument {
    fn of<G: Listed>() -> Self {
        GameDocument {
            id: G::ID,
            title: G::TITLE,
            about: G::CARD.about,
            seats: SeatRange { min: *G::SEATS.start(), max: *G::SEATS.end() },
            options: options::describe::<G::Rules>(),
        }
    }
}

pub fn run(args: &Args) -> Result<(), Error> {
    let games: Vec<GameDocument> =
        GameId::ALL.into_iter().map(|id| with_game!(id, G => GameDocument::of::<G>())).collect();
    if args.json {
        return print_json(&games);
    }
    let mut out = anstream::stdout().lock();
    for game in &games {
        let SeatRange { min, max } = game.seats;
        let seats = match (min, max) {
            (1, 1) => "1 seat".to_owned(),
            _ if min == max => format!("{min} seats"),
            _ => format!("{min} to {max} seats"),
        };
        writeln!(out, "{}  {}", bold(game.id), dim(seats))?;
        writeln!(out, "  {}", column(game.about, 2))?;
        print_options(&mut out, &game.options)?;
        writeln!(out)?;
    }
    Ok(())
}

/// The columns that an option and its setting take before its meaning, including four empty ones.
const SETTING: usize = 29;

/// Prints each option with its default, its meaning and its values: side by side or, on a narrow terminal, one below the other.
pub fn print_options(out: &mut impl Write, options: &[OptionInfo]) -> io::Result<()> {
    let is_narrow = width() < 2 * SETTING + 10;
    for option in options {
        let setting = format!("{}={}", option.name, plain(&option.default));
        let from = if is_narrow { 6 } else { SETTING };
        let (meaning, values) = (column(&option.meaning, from), dim(column(&option.values, from)));
        match is_narrow {
            true => writeln!(out, "    {setting}\n{:from$}{meaning}", "")?,
            false => writeln!(out, "    {setting:<24} {meaning}")?,
        }
        writeln!(out, "{:from$}{values}", "")?;
    }
    Ok(())
}
