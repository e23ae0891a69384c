//! Colours for the terminal. They vanish by themselves where the output is not one, or `NO_COLOR` is set.

use anstyle::{AnsiColor, Style};
use necrodome_rules::{game::Seat, names::Names};
use std::fmt;

/// Text in a style.
pub struct Painted<T>(pub Style, pub T);

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{:#}", self.0, self.1, self.0)
    }
}

pub const fn colour(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(colour)))
}

pub fn green<T>(text: T) -> Painted<T> {
    Painted(colour(AnsiColor::Green), text)
}

pub fn yellow<T>(text: T) -> Painted<T> {
    Painted(colour(AnsiColor::Yellow), text)
}

pub fn red<T>(text: T) -> Painted<T> {
    Painted(colour(AnsiColor::Red), text)
}

pub fn bold<T>(text: T) -> Painted<T> {
    Painted(Style::new().bold(), text)
}

pub fn dim<T>(text: T) -> Painted<T> {
    Painted(Style::new().dimmed(), text)
}

/// A colour of its own for each of the first entries.
pub fn of_entry<T>(index: usize, text: T) -> Painted<T> {
    use AnsiColor::{BrightBlue, BrightCyan, BrightMagenta, BrightRed, BrightWhite, BrightYellow};
    const COLOURS: [AnsiColor; 6] =
        [BrightYellow, BrightCyan, BrightMagenta, BrightBlue, BrightRed, BrightWhite];
    Painted(colour(COLOURS[index % COLOURS.len()]).bold(), text)
}

/// A seat's name, in the colour of the seat.
pub fn name(names: &Names, seat: Seat) -> Painted<&str> {
    of_entry(seat.index(), &names[seat])
}

/// `1 brain`, `2 brains`.
pub fn count(number: impl Into<u64>, thing: &str) -> String {
    match number.into() {
        1 => format!("1 {thing}"),
        number => format!("{number} {thing}s"),
    }
}
