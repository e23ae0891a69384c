//! The whole terminal for the judge, and the curtain before it.

use super::words::{Said, Tone, last_announcement, progress};
use crate::human::restore::{FullScreen, RawMode, clean_screen};
use necrodome_judge::{book::Book, report};
use ratatui::{
    Frame, Terminal,
    backend::CrosstermBackend,
    layout::{Alignment, Constraint, Flex, Layout, Rect},
    style::{Color, Modifier, Style, Stylize},
    text::{Line, Span},
    widgets::{Block, Paragraph},
};
use std::io::{self, Stdout};

/// The terminal while it belongs to the judge. It is given back when this is dropped.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    // In the order in which they are given back.
    _full: FullScreen,
    _raw: RawMode,
}

impl Screen {
    pub fn enter() -> io::Result<Self> {
        let raw = RawMode::enter()?;
        let full = FullScreen::enter()?;
        Ok(Screen { terminal: clean_screen()?, _full: full, _raw: raw })
    }

    /// The window has another size.
    pub fn resize(&mut self) -> io::Result<()> {
        self.terminal = clean_screen()?;
        Ok(())
    }

    pub fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(picture).map(drop)
    }
}

/// How a line is painted on the screen.
pub fn style(tone: Tone) -> Style {
    let painted = tone.style();
    let colour = match painted.get_fg_color() {
        Some(anstyle::Color::Ansi(anstyle::AnsiColor::Green)) => Color::Green,
        Some(anstyle::Color::Ansi(anstyle::AnsiColor::Yellow)) => Color::Yellow,
        Some(anstyle::Color::Ansi(anstyle::AnsiColor::Red)) => Color::Red,
        Some(anstyle::Color::Ansi(anstyle::AnsiColor::Cyan)) => Color::Cyan,
        _ => Color::Reset,
    };
    let effects = painted.get_effects();
    let mut style = Style::new().fg(colour);
    if effects.contains(anstyle::Effects::BOLD) {
        style = style.add_modifier(Modifier::BOLD);
    }
    if effects.contains(anstyle::Effects::DIMMED) {
        style = style.add_modifier(Modifier::DIM);
    }
    style
}

/// Lines that fit a width, broken between words where that is possible; what continues a line is indented.
pub fn wrapped(lines: &[Said], width: u16) -> Vec<Line<'static>> {
    let styled = |said: &Said| {
        let style = style(said.tone);
        wrap(&said.text, width.into())
            .into_iter()
            .map(move |row| Line::styled(row, style))
            .collect::<Vec<_>>()
    };
    lines.iter().flat_map(styled).collect()
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    const INDENT: &str = "  ";
    let wide = |text: &str| Span::raw(text).width();
    let mut rows = vec![String::new()];
    let mut used = 0;
    for word in text.split_inclusive(' ') {
        if used > 0 && used + wide(word.trim_end()) > width {
            rows.push(INDENT.to_owned());
            used = INDENT.len();
        }
        for letter in word.chars() {
            let letter_width = wide(letter.encode_utf8(&mut [0; 4]));
            // A word that is wider than the row.
            if used + letter_width > width && letter != ' ' && used > INDENT.len() {
                rows.push(INDENT.to_owned());
                used = INDENT.len();
            }
            if let Some(row) = rows.last_mut() {
                row.push(letter);
                used += letter_width;
            }
        }
    }
    rows
}

/// A pane with a frame, from the row `top` on; returns how many rows do not fit.
pub fn pane(
    frame: &mut Frame<'_>,
    area: Rect,
    title: &str,
    focused: bool,
    rows: Vec<Line<'_>>,
    top: usize,
) -> usize {
    let mut block = Block::bordered().title(format!(" {title} "));
    if focused {
        block = block.border_style(Style::new().bold());
    }
    let inner = block.inner(area);
    let hidden = rows.len().saturating_sub(inner.height.into());
    let shown: Vec<Line<'_>> = rows.into_iter().skip(top.min(hidden)).take(inner.height.into()).collect();
    frame.render_widget(Paragraph::new(shown).block(block), area);
    hidden
}

/// Digits that can be read from across a room.
const DIGITS: [[&str; 5]; 10] = [
    ["███", "█ █", "█ █", "█ █", "███"],
    [" █ ", "██ ", " █ ", " █ ", "███"],
    ["███", "  █", "███", "█  ", "███"],
    ["███", "  █", " ██", "  █", "███"],
    ["█ █", "█ █", "███", "  █", "  █"],
    ["███", "█  ", "███", "  █", "███"],
    ["███", "█  ", "███", "█ █", "███"],
    ["███", "  █", "  █", "  █", "  █"],
    ["███", "█ █", "███", "█ █", "███"],
    ["███", "█ █", "███", "  █", "███"],
];

fn big(number: u32) -> Vec<String> {
    let digits: Vec<usize> =
        number.to_string().chars().filter_map(|c| c.to_digit(10)).map(|d| d as usize).collect();
    (0..5).map(|row| digits.iter().map(|&digit| DIGITS[digit][row]).collect::<Vec<_>>().join(" ")).collect()
}

/// What the players may look at. Built from what may be read aloud and from nothing else.
pub fn curtain(frame: &mut Frame<'_>, book: &Book, keys: &str) {
    let area = frame.area();
    let public = report::public(book);
    let announced: Vec<&str> = public.lines().filter(|line| !line.is_empty()).collect();
    let [top, numbers, told, bottom] = Layout::vertical([
        Constraint::Length(3),
        Constraint::Length(8),
        Constraint::Min(1),
        Constraint::Length(1),
    ])
    .areas(area);
    let heading = Line::from(progress(book)).bold();
    frame.render_widget(Paragraph::new(vec![Line::default(), heading]).alignment(Alignment::Center), top);
    if let Some(public) = last_announcement(book) {
        let columns = Layout::horizontal([Constraint::Length(22); 4]).flex(Flex::Center).split(numbers);
        let values: [(&str, u32, Color); 4] = [
            ("humans", public.humans.into(), Color::Green),
            ("zombies", public.zombies.into(), Color::Red),
            ("most antibodies", public.most_antibodies, Color::Cyan),
            ("most viruses", public.most_viruses, Color::Magenta),
        ];
        for (&column, (title, number, colour)) in columns.iter().zip(values) {
            let mut rows: Vec<Line<'_>> =
                big(number).into_iter().map(|row| Line::styled(row, colour)).collect();
            rows.push(Line::default());
            rows.push(Line::from(title).bold());
            frame.render_widget(Paragraph::new(rows).alignment(Alignment::Center), column);
        }
    }
    // The newest where it can be seen, the others above it while there is room.
    let said: Vec<Said> =
        announced.iter().map(|&line| Said { tone: Tone::Plain, text: line.to_owned() }).collect();
    let rows = wrapped(&said, told.width.saturating_sub(2));
    let hidden = rows.len().saturating_sub(told.height.into());
    let rows: Vec<Line<'_>> = rows.into_iter().skip(hidden).collect();
    frame.render_widget(Paragraph::new(rows).alignment(Alignment::Center), told);
    frame.render_widget(Paragraph::new(keys).dim().alignment(Alignment::Center), bottom);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrap("one two three", 8), ["one two ", "  three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "  ef", "  gh", "  ij"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("a b", 0), ["a ", "  b"]);
        for width in 0..12 {
            let text = "日本語 words and \u{301}marks 🧟🧟🧟 ";
            let joined: String = wrap(text, width).concat();
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(letters(&joined), letters(text));
        }
    }

    #[test]
    fn numbers_are_big() {
        assert_eq!(big(17), [" █  ███", "██    █", " █    █", " █    █", "███   █"]);
    }
}
