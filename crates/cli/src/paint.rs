//! Colours for the terminal. They vanish by themselves where the output is not one, or `NO_COLOR` is set, or `TERM` is dumb.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
pub use necrodome_rules::words::count;
use necrodome_rules::{
    game::Seat,
    names::Names,
    words::{Ink, Shade, Span, Text},
};
use std::{
    env, fmt,
    io::{self, IsTerminal, Write},
};

/// As many columns as a terminal shows at least.
pub const WIDTH: usize = 80;

/// Words in lines that fit a terminal. So many columns of the first line are taken already; the others begin with two spaces if
/// there are any. A word that is too long is broken.
pub fn wrapped(text: &str, taken: usize) -> Vec<String> {
    let indent = if taken > 0 { "  " } else { "" };
    fill(text, taken, indent, WIDTH)
}

/// Words in a column that begins here and ends with the terminal; the first line stands behind something else.
pub fn column(text: &str, from: usize) -> String {
    fill(text, 0, "", WIDTH - from).join(&format!("\n{:from$}", ""))
}

fn fill(text: &str, taken: usize, indent: &str, width: usize) -> Vec<String> {
    let (mut lines, mut line, mut used) = (Vec::new(), String::new(), taken);
    for word in text.split(' ') {
        let space = usize::from(!line.trim_start().is_empty());
        if used + space + word.chars().count() <= width {
            line.extend([&" "[..space], word]);
            used += space + word.chars().count();
            continue;
        }
        if used > indent.len() {
            lines.push(std::mem::replace(&mut line, indent.to_owned()));
            used = indent.len();
        }
        for letter in word.chars() {
            if used == width {
                lines.push(std::mem::replace(&mut line, indent.to_owned()));
                used = indent.len();
            }
            line.push(letter);
            used += 1;
        }
    }
    lines.push(line);
    lines
}

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

/// Text from elsewhere, such as a path, without what a terminal would obey: control characters, and those that turn the direction.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { necrodome_arena::fault::harmless(c) }).collect()
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

/// Words of a game, in their colours.
pub fn text(text: &Text) -> String {
    text.0.iter().map(span).collect()
}

fn span(span: &Span) -> String {
    match span.ink {
        Ink::Plain => span.to_string(),
        Ink::Name(seat) => of_entry(seat.index(), span).to_string(),
        Ink::Strong => bold(span).to_string(),
        Ink::Dim => dim(span).to_string(),
        Ink::Good => green(span).to_string(),
        Ink::Fair => yellow(span).to_string(),
        Ink::Bad => red(span).to_string(),
        Ink::Die(shade) | Ink::KeptDie(shade) => Painted(shaded(shade), span).to_string(),
    }
}

/// The style of a die.
pub const fn shaded(shade: Shade) -> Style {
    match shade {
        Shade::Plain => Style::new(),
        Shade::Green => colour(AnsiColor::Green),
        Shade::Yellow => colour(AnsiColor::Yellow),
        Shade::Red => colour(AnsiColor::Red),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        let text = format!("some words {} and {} more", "x".repeat(200), "wörd ".repeat(40));
        for taken in [0, 9, 79, 80, 200] {
            let lines = wrapped(&text, taken);
            assert!(lines[1..].iter().all(|line| line.chars().count() <= WIDTH), "{lines:#?}");
            assert!(taken + lines[0].chars().count() <= WIDTH.max(taken), "{lines:#?}");
            let letters = |text: &str| text.replace(' ', "");
            assert_eq!(letters(&lines.concat()), letters(&text), "nothing is lost");
        }
        assert_eq!(wrapped("a few words", 0), ["a few words"]);
        assert_eq!(wrapped("a few words", 70), ["a few", "  words"]);
    }
}
