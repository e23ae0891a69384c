//! The whole terminal for the judge, and the curtain in front of it.

use super::words::{Said, Tone, last_announcement, progress};
use crate::{
    human::restore::{FullScreen, RawMode, clean_screen},
    paint::fitted,
};
use necrodome_judge::{book::Book, report};
use necrodome_rules::infection::Role;
use ratatui::{
    Frame, Terminal,
    backend::CrosstermBackend,
    layout::{Alignment, Constraint, Flex, Layout, Rect},
    style::{Color, Modifier, Style, Stylize},
    text::{Line, Span},
    widgets::{Block, Paragraph},
};
use std::io::{self, Stdout};

/// The terminal while it belongs to the judge. Dropping it restores the terminal.
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

    /// Adapts to a new size of the window.
    pub fn resize(&mut self) -> io::Result<()> {
        self.terminal = clean_screen()?;
        Ok(())
    }

    pub fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(picture).map(drop)
    }
}

/// Returns how a line is painted on the screen.
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

/// Wraps lines between words to fit a width, with an indent for what continues a line.
pub fn wrapped(lines: &[Said], width: u16) -> Vec<Line<'static>> {
    let styled = |said: &Said| {
        let style = style(said.tone);
        fitted(&said.text, 2, width.into()).into_iter().map(move |row| Line::styled(row, style))
    };
    lines.iter().flat_map(styled).collect()
}

/// Draws a pane with a frame, from the row `top` on. Returns how many rows do not fit.
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

/// The fewest letters of a name that still identify a player.
const SHORTEST_NAME: usize = 4;

/// Lists everybody in columns, for a party that is too large for one line each: name, role, what they have, how many they met. Uses
/// as many columns as it takes to fit these rows.
pub fn roster(book: &Book, width: u16, rows: u16) -> Vec<Line<'static>> {
    const GAP: usize = 2;
    let (width, rows) = (usize::from(width), usize::from(rows));
    let players: Vec<(Tone, &str, String)> = book
        .names()
        .iter()
        .enumerate()
        .map(|(place, name)| {
            let (tone, facts) = facts(book, place);
            (tone, name.as_str(), facts)
        })
        .collect();
    let wide = |text: &str| Line::raw(text).width();
    let facts_width = players.iter().map(|(_, _, facts)| wide(facts)).max().unwrap_or(0);
    let legend = match book.party() {
        None => "H human, Z zombie",
        Some(_) => "H human, I infected, Z zombie; what they have, how many they met; . ended",
    };
    let mut lines = wrapped(&[Said { tone: Tone::Faint, text: legend.to_owned() }], width as u16);
    let room = rows.saturating_sub(lines.len()).max(1);
    let name_width = |columns: usize| ((width + GAP) / columns).saturating_sub(GAP + 1 + facts_width);
    let most = (1..).take_while(|&columns| name_width(columns) >= SHORTEST_NAME).last().unwrap_or(1);
    let columns = players.len().div_ceil(room).clamp(1, most);
    let longest = players.iter().map(|(_, name, _)| wide(name)).max().unwrap_or(0);
    let name_width = name_width(columns).min(longest);
    let height = players.len().div_ceil(columns).max(1);
    for row in 0..height {
        let cell = |(tone, name, facts): &(Tone, &str, String)| {
            let text = format!("{} {facts:<facts_width$}{:GAP$}", shortened(name, name_width), "");
            Span::styled(text, style(*tone))
        };
        lines.push(players.iter().skip(row).step_by(height).map(cell).collect());
    }
    lines
}

/// Returns a name in exactly this many columns.
fn shortened(name: &str, width: usize) -> String {
    let wide = |text: &str| Line::raw(text).width();
    let mut text = name.to_owned();
    if wide(name) > width {
        while wide(&text) + 1 > width && text.pop().is_some() {}
        text.push('…');
    }
    let fill = width.saturating_sub(wide(&text));
    text + &" ".repeat(fill)
}

/// Returns the roster's entry for a player: in `I  2 3.` they are infected, have two antibodies, met three others and ended their turn.
fn facts(book: &Book, place: usize) -> (Tone, String) {
    let letter = |role: Role| match role {
        Role::Human => 'H',
        Role::Infected => 'I',
        Role::Zombie => 'Z',
    };
    let Some(party) = book.party() else {
        let role = if book.zombies()[place] { Role::Zombie } else { Role::Human };
        return (Tone::of(role), letter(role).to_string());
    };
    let player = &party.players()[place];
    let met = if player.contacts == 0 { "-".to_owned() } else { player.contacts.to_string() };
    let ended = if player.ended { "." } else { "" };
    (Tone::of(player.role), format!("{} {:>2} {met}{ended}", letter(player.role), player.stock()))
}

/// Draws what one player is told, for their eyes only.
pub fn whisper(frame: &mut Frame<'_>, name: &str, text: &str) {
    let width = frame.area().width.saturating_sub(2);
    let mut said = vec![Said { tone: Tone::Heading, text: name.to_owned() }];
    said.push(Said { tone: Tone::Plain, text: text.to_owned() });
    said.push(Said { tone: Tone::Plain, text: String::new() });
    said.push(Said {
        tone: Tone::Faint,
        text: "Enter hides this. Backspace goes back to the player before.".to_owned(),
    });
    let rows = wrapped(&said, width);
    let [middle] = Layout::vertical([Constraint::Length(u16::try_from(rows.len()).unwrap_or(u16::MAX))])
        .flex(Flex::Center)
        .areas(frame.area());
    frame.render_widget(Paragraph::new(rows).alignment(Alignment::Center), middle);
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

/// Draws what the players may look at, made only from what may be read aloud.
pub fn curtain(frame: &mut Frame<'_>, book: &Book, keys: &str) {
    let area = frame.area();
    let public = report::public(book);
    let announced: Vec<&str> = public.lines().filter(|line| !line.is_empty()).collect();
    let keys = wrapped(&[Said { tone: Tone::Faint, text: keys.to_owned() }], area.width);
    let [top, numbers, told, bottom] = Layout::vertical([
        Constraint::Length(3),
        Constraint::Length(8),
        Constraint::Min(1),
        Constraint::Length(u16::try_from(keys.len()).unwrap_or(u16::MAX)),
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
    frame.render_widget(Paragraph::new(keys).alignment(Alignment::Center), bottom);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words_at_any_width() {
        let rows = |text: &str, width| {
            let said = Said { tone: Tone::Plain, text: text.to_owned() };
            wrapped(&[said], width).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(rows("one two three", 8), ["one two", "  three"]);
        assert_eq!(rows("", 4), [""]);
        for width in 0..12 {
            let text = "日本語 words and \u{301}marks 🧟🧟🧟 ";
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(letters(&rows(text, width).concat()), letters(text));
        }
    }

    #[test]
    fn numbers_are_big() {
        assert_eq!(big(17), [" █  ███", "██    █", " █    █", " █    █", "███   █"]);
    }
}
