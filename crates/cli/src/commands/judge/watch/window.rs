//! The script and the state of its game, side by side on the whole terminal.

use super::picture::Picture;
use crate::commands::judge::{
    screen::{curtain, pane, wrapped},
    words::state,
};
use necrodome_judge::script::Mistake;
use ratatui::{
    Frame,
    crossterm::event::{KeyCode, KeyEvent, KeyModifiers},
    layout::{Constraint, Layout},
    style::{Style, Stylize},
    text::{Line, Span},
    widgets::Paragraph,
};

const KEYS: &str = "c curtain   arrows PgUp PgDn scroll   Left Right choose the pane   q quit";
const CURTAIN_KEYS: &str = "c opens the curtain";

/// The part of the script that the window shows.
#[derive(Default)]
pub struct WatchWindow {
    curtain: bool,
    /// Whether the keys scroll the state rather than the script.
    at_state: bool,
    /// The first row of the script that is shown, or `None` to follow its end.
    script_top: Option<usize>,
    /// The first row that is shown when the end is shown.
    script_end: usize,
    state_top: usize,
}

impl WatchWindow {
    /// Handles a key. Returns whether to go on.
    pub fn press(&mut self, key: KeyEvent) -> bool {
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return false,
            KeyCode::Char('q' | 'Q') => return false,
            KeyCode::Char('c' | 'C') | KeyCode::Tab => self.curtain = !self.curtain,
            _ if self.curtain => {}
            KeyCode::Left => self.at_state = false,
            KeyCode::Right => self.at_state = true,
            KeyCode::Up => self.scroll(-1),
            KeyCode::Down => self.scroll(1),
            KeyCode::PageUp => self.scroll(-10),
            KeyCode::PageDown => self.scroll(10),
            _ => {}
        }
        true
    }

    fn scroll(&mut self, rows: isize) {
        if self.at_state {
            self.state_top = self.state_top.saturating_add_signed(rows);
        } else {
            self.script_top = Some(self.script_top.unwrap_or(self.script_end).saturating_add_signed(rows));
        }
    }

    pub fn draw(&mut self, frame: &mut Frame<'_>, picture: &Picture, name: &str) {
        if self.curtain {
            curtain(frame, &picture.book, CURTAIN_KEYS);
            return;
        }
        let area = frame.area();
        let complaints = wrapped(&picture.complaints(), area.width.saturating_sub(2));
        let low = match complaints.len() {
            0 => 0,
            rows => u16::try_from(rows + 2).unwrap_or(u16::MAX).min(area.height / 3),
        };
        let [middle, bottom, keys] =
            Layout::vertical([Constraint::Min(3), Constraint::Length(low), Constraint::Length(1)])
                .areas(area);
        let [left, right] =
            Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(middle);

        let rows = script(picture);
        self.script_end = rows.len().saturating_sub(left.height.saturating_sub(2).into());
        // At the end it is the end that is followed.
        self.script_top = self.script_top.filter(|&top| top < self.script_end);
        let top = self.script_top.unwrap_or(self.script_end);
        pane(frame, left, name, !self.at_state, rows, top);

        let rows = wrapped(&state(&picture.book), right.width.saturating_sub(2));
        let hidden = pane(frame, right, "judge only", self.at_state, rows, self.state_top);
        self.state_top = self.state_top.min(hidden);

        let title = match picture.book.mistakes().len() {
            0 => "no mistakes".to_owned(),
            1 => "1 mistake".to_owned(),
            count => format!("{count} mistakes"),
        };
        if low > 0 {
            pane(frame, bottom, &title, false, complaints, 0);
        }
        frame.render_widget(Paragraph::new(KEYS).dim(), keys);
    }
}

/// Returns the lines of the script with their numbers, and marks mistakes.
fn script(picture: &Picture) -> Vec<Line<'static>> {
    let mut mistakes = picture.book.mistakes().iter().peekable();
    let mut rows = Vec::new();
    let mut start = 0;
    let digits = (picture.text.matches('\n').count() + 1).to_string().len();
    for (number, line) in (1..).zip(picture.text.split_inclusive('\n')) {
        // The first mistake of a line is the only one.
        while mistakes.next_if(|mistake| mistake.line < number).is_some() {}
        let wrong = mistakes.next_if(|mistake| mistake.line == number);
        rows.push(row(number, digits, line.trim_end_matches(['\n', '\r']), start, wrong));
        start += line.len();
    }
    if !picture.unfinished.is_empty() {
        let number = rows.len() + 1;
        let text = format!("{number:>digits$} … {}", shown(&picture.unfinished));
        rows.push(Line::from(text).dim().italic());
    }
    rows
}

/// Replaces tabs, which would otherwise vanish.
fn shown(text: &str) -> String {
    text.replace('\t', " ")
}

fn row(number: usize, digits: usize, line: &str, start: usize, wrong: Option<&Mistake>) -> Line<'static> {
    let Some(mistake) = wrong else {
        let (command, comment) = line.split_at(line.find('#').unwrap_or(line.len()));
        return Line::from(vec![
            Span::raw(format!("{number:>digits$}   ")).dim(),
            Span::raw(shown(command)),
            Span::raw(shown(comment)).dim(),
        ]);
    };
    let red = Style::new().red().bold();
    let place = |byte: usize| {
        let mut place = byte.saturating_sub(start).min(line.len());
        while !line.is_char_boundary(place) {
            place -= 1;
        }
        place
    };
    let (from, to) = (place(mistake.span.start), place(mistake.span.end));
    let (before, rest) = line.split_at(from);
    let (marked, after) = rest.split_at(to.saturating_sub(from));
    // Something is missing at the end: there is nothing to underline but the place.
    let marked = if marked.is_empty() { "_".to_owned() } else { shown(marked) };
    Line::from(vec![
        Span::styled(format!("{number:>digits$} ! "), red),
        Span::raw(shown(before)),
        Span::styled(marked, red.underlined()),
        Span::raw(shown(after)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::{Terminal, backend::TestBackend};

    #[test]
    fn any_window_and_any_script_can_be_drawn() {
        for script in [
            &b""[..],
            b"human tim\nzombie \xff\xfe\nfoo \xc3\n\ti\ttim\ni tim # \xe2\x82\nstart\nnt\n\xf0\x9f",
            "human 日本\r\nzombie ö\r\nstart\r\ni ö 日 x\r\ni 日本 ö!\r\nnt\r\n".as_bytes(),
        ] {
            let picture = Picture::of(script.to_vec());
            for width in [0, 1, 2, 3, 5, 20, 100] {
                for height in [0, 1, 2, 3, 5, 20, 60] {
                    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
                    for top in [None, Some(0), Some(usize::MAX)] {
                        for curtain in [false, true] {
                            let mut window = WatchWindow {
                                curtain,
                                at_state: true,
                                script_top: top,
                                script_end: 0,
                                state_top: usize::MAX,
                            };
                            terminal.draw(|frame| window.draw(frame, &picture, "game.txt")).unwrap();
                        }
                    }
                }
            }
        }
    }
}
