//! Colours for the terminal. They vanish where the output is not a terminal, `NO_COLOR` is set, or `TERM` is dumb.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
pub use necrodome_rules::words::count;
use necrodome_rules::{
    game::Seat,
    names::Names,
    words::{Ink, Shade, Span, Text},
};
use ratatui::crossterm::terminal;
use std::{
    borrow::Cow,
    env, fmt,
    io::{self, IsTerminal, Write},
};

/// The width of a terminal that does not report its own, and of prose in a file or a pipe.
pub const WIDTH: usize = 80;

/// The narrowest width that is believed: no terminal in use is narrower.
const NARROWEST: usize = 20;

/// Returns the width in the variable COLUMNS, else that of the terminal that this output is, or `None` for a file or a pipe.
fn columns(output: &impl IsTerminal) -> Option<usize> {
    let asked = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let here = || terminal::size().ok().filter(|_| output.is_terminal()).map(|(width, _)| width.into());
    asked.or_else(here).filter(|&columns| columns >= NARROWEST)
}

/// Returns the width of prose: lines of more than 120 columns are hard to read.
pub fn width() -> usize {
    columns(&io::stdout()).unwrap_or(WIDTH).min(120)
}

/// Wraps a text to fit the terminal. The first line has `taken` columns less; if there are any, the other lines begin with two
/// spaces. Only a word that is too long for a line is broken.
pub fn wrapped(text: &str, taken: usize) -> Vec<String> {
    let indent = if taken > 0 { "  " } else { "" };
    fill(text, taken, indent, width())
}

/// Wraps a text into the columns between `from` and the end of the terminal; its first line follows other text.
pub fn column(text: &str, from: usize) -> String {
    hanging(text, from, from, width())[from..].to_owned()
}

/// Writes a line of a story, which begins in the column `from`. A terminal gets it wrapped between words; a file or a pipe gets one
/// line, for programs that search it.
pub fn line(out: &mut dyn Write, from: usize, text: &str) -> io::Result<()> {
    writeln!(out, "{}", hanging(text, from, from + 2, columns(&io::stdout()).unwrap_or(usize::MAX)))
}

/// Wraps a question that begins in the third column; the answer follows it.
pub fn question(text: &str) -> String {
    hanging(text, 2, 2, width())
}

/// Wraps a text that has its own line breaks and small tables.
pub fn page(text: &str) -> String {
    text.lines().flat_map(|line| fitted(line, 0, width())).collect::<Vec<_>>().join("\n")
}

/// Wraps a line, which may belong to a small table, to this width. What does not fit continues below the second column of the
/// table, or `more` columns to the right of where the line begins.
pub fn fitted(line: &str, more: usize, width: usize) -> Vec<String> {
    let spaces = |text: &str| text.len() - text.trim_start().len();
    let from = spaces(line);
    let second = line[from..].find("  ").map(|gap| from + gap + spaces(&line[from + gap..]));
    let below = second.filter(|&second| second <= width / 2).unwrap_or(from + more);
    fill(line, 0, &" ".repeat(below), width)
}

/// Wraps a text whose first line begins in one column and the others in another.
fn hanging(text: &str, first: usize, others: usize, width: usize) -> String {
    " ".repeat(first) + &fill(text, first, &" ".repeat(others), width).join("\n")
}

/// Wraps a text to this width: the first line has `taken` columns less, the others begin with `indent`.
pub fn fill(text: &str, taken: usize, indent: &str, width: usize) -> Vec<String> {
    let before = " ".repeat(taken);
    let options = textwrap::Options::new(width)
        .initial_indent(&before)
        .subsequent_indent(indent)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let mut lines: Vec<String> = textwrap::wrap(text, options).into_iter().map(Cow::into_owned).collect();
    if let Some(first) = lines.first_mut() {
        *first = first.get(taken..).unwrap_or_default().to_owned();
    }
    lines
}

/// Whether the terminal shows only lines of plain text.
pub fn is_dumb() -> bool {
    env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// Turns colours off on a dumb terminal, unless they are forced.
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

/// Whether standard error is a terminal on which lines can be redrawn.
pub fn error_redraws() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

/// Prints a line on standard error. If nobody reads it any more, that must not lose a result.
pub fn say(line: impl fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// Prints a text after a word such as `error:` on standard error. Like a line of a story, it is wrapped only on a terminal.
pub fn say_after(word: &Painted<&str>, text: &str) {
    let width = columns(&io::stderr()).unwrap_or(usize::MAX);
    let mut taken = word.1.len() + 1;
    let lines = text.lines().flat_map(|line| fill(line, std::mem::take(&mut taken), "  ", width));
    say(format_args!("{word} {}", lines.collect::<Vec<_>>().join("\n")));
}

/// Removes what a terminal would obey from an untrusted text, such as a path: control characters, and those that change the
/// direction of text.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { necrodome_arena::fault::harmless(c) }).collect()
}

/// A text in a style.
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

/// Gives each of the first entries a different colour.
pub fn of_entry<T>(index: usize, text: T) -> Painted<T> {
    use AnsiColor::{BrightBlue, BrightCyan, BrightMagenta, BrightRed, BrightWhite, BrightYellow};
    const COLOURS: [AnsiColor; 6] =
        [BrightYellow, BrightCyan, BrightMagenta, BrightBlue, BrightRed, BrightWhite];
    Painted(colour(COLOURS[index % COLOURS.len()]).bold(), text)
}

/// Returns the name of a seat, in its colour.
pub fn name(names: &Names, seat: Seat) -> Painted<&str> {
    of_entry(seat.index(), &names[seat])
}

/// Returns the words of a game, in their colours.
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

/// Returns the style of a die.
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
    fn no_line_is_wider_than_a_terminal_and_no_word_is_broken() {
        let text = format!("some words {} and {} more", "x".repeat(200), "wörd ".repeat(40));
        for width in [60, 80, 120] {
            for taken in [0, 9, width - 1, width, 200] {
                let lines = fill(&text, taken, "  ", width);
                assert!(lines[1..].iter().all(|line| line.chars().count() <= width), "{lines:#?}");
                assert!(taken + lines[0].chars().count() <= width.max(taken), "{lines:#?}");
                let letters = |text: &str| text.replace(' ', "");
                assert_eq!(letters(&lines.concat()), letters(&text), "nothing is lost");
                let whole = |word: &str| word == "wörd" || !word.contains('w') || word == "words";
                assert!(lines.iter().flat_map(|line| line.split(' ')).all(whole), "{lines:#?}");
            }
        }
        assert_eq!(fill("a few words", 0, "", 80), ["a few words"]);
        assert_eq!(fill("a few words", 70, "  ", 80), ["a few", "  words"]);
        assert_eq!(fill("", 4, "  ", 80), [""]);
        assert_eq!(fill("stop-at never breaks", 0, "", 6), ["stop-a", "t", "never", "breaks"]);
        let red = red("one two").to_string();
        assert_eq!(fill(&red, 0, "", 7), [red], "colours take no room");
    }

    #[test]
    fn a_line_goes_on_below_its_beginning() {
        assert_eq!(hanging("one two three", 2, 4, 9), "  one two\n    three");
        assert_eq!(hanging("one two three", 0, 2, usize::MAX), "one two three");
    }
}
