//! Colours for the terminal. They vanish by themselves where the output is not one, or `NO_COLOR` is set, or `TERM` is dumb.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use necrodome_rules::{game::Seat, names::Names};
use std::{
    env, fmt,
    io::{self, IsTerminal, Write},
};

/// Whether the terminal shows lines of plain text and nothing else.
pub fn is_dumb() -> bool {
    env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// No colours on a dumb terminal, unless they are forced.
pub fn choose_colours() {
    let forced = env::var_os("CLICOLOR_FORCE").is_some_and(|force| !force.is_empty());
    if is_dumb() && !forced {
        ColorChoice::Never.write_global();
    }
}

/// Whether standard error shows colours.
pub fn error_is_coloured() -> bool {
    AutoStream::choice(&io::stderr()) != ColorChoice::Never
}

/// Whether standard error is a terminal on which something can be drawn again and again.
pub fn error_redraws() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

/// A line on standard error. That nobody reads it any more must not cost a result.
pub fn say(line: impl fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// Text from elsewhere, such as a path, without the control characters that a terminal would obey.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '?' } else { c }).collect()
}

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
