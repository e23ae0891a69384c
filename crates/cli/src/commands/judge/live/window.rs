//! The judge's desk on the whole terminal: what was typed, a prompt, how it stands, and the curtain.

use super::{
    complete::complete,
    desk::{Desk, Then},
};
use crate::{
    commands::judge::{
        screen::{Screen, curtain, pane, wrapped},
        words::{Said, Tone, said, state},
    },
    error::Error,
};
use ratatui::{
    Frame,
    crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
    layout::{Constraint, Layout},
    style::Stylize,
    text::Line,
    widgets::{Block, Paragraph},
};
use std::time::Duration;
use tui_input::{Input, InputRequest, backend::crossterm::to_input_request};

/// How often the script is looked at while nothing is typed.
const LOOK: Duration = Duration::from_secs(1);

/// Older talk is in the script.
const TALK: usize = 2000;

const KEYS: &str =
    "Tab completes   Up Down earlier commands   PgUp PgDn scroll   Esc curtain   Ctrl-C leaves";
const CURTAIN_KEYS: &str = "Esc opens the curtain";

struct LiveWindow {
    desk: Desk,
    input: Input,
    /// What was typed and answered.
    talk: Vec<Said>,
    /// What was typed before.
    earlier: Vec<String>,
    /// Which of these is in the prompt.
    recalled: Option<usize>,
    /// Rows at the end of the talk that are scrolled out of sight.
    back: usize,
    /// What the last word could become.
    hint: String,
    curtain: bool,
}

pub fn run(desk: Desk, hello: Vec<Said>) -> Result<(), Error> {
    let mut window = LiveWindow {
        desk,
        input: Input::default(),
        talk: hello,
        earlier: Vec::new(),
        recalled: None,
        back: 0,
        hint: String::new(),
        curtain: false,
    };
    window.talk.push(said(Tone::Faint, "help shows what can be typed"));
    let path = window.desk.path().display().to_string();
    {
        let mut screen = Screen::enter()?;
        loop {
            screen.draw(|frame| window.draw(frame))?;
            if !event::poll(LOOK)? {
                let news = window.desk.refresh()?;
                window.talk.extend(news);
                continue;
            }
            match event::read()? {
                Event::Resize(..) => screen.resize()?,
                Event::Key(key) if key.kind != KeyEventKind::Release => {
                    let then = window.press(key)?;
                    if then == Then::Leave {
                        break;
                    }
                }
                _ => {}
            }
        }
    }
    anstream::println!("Everything is in {path}: necrodome judge live goes on with it.");
    Ok(())
}

impl LiveWindow {
    fn press(&mut self, key: KeyEvent) -> Result<Then, Error> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => return Ok(Then::Leave),
            KeyCode::Esc | KeyCode::F(2) => self.curtain = !self.curtain,
            // Nothing is done that the judge cannot see.
            _ if self.curtain => {}
            KeyCode::Char('d') if control && self.input.value().is_empty() => return Ok(Then::Leave),
            KeyCode::Enter => return self.enter(),
            // Enter, if it was pressed a moment before raw mode.
            KeyCode::Char('j' | 'm') if control => return self.enter(),
            KeyCode::Tab => self.complete(),
            KeyCode::Up => self.recall(true),
            KeyCode::Down => self.recall(false),
            KeyCode::PageUp => self.back += 10,
            KeyCode::PageDown => self.back = self.back.saturating_sub(10),
            _ => {
                if let Some(request) = to_input_request(&Event::Key(key)) {
                    self.input.handle(request);
                    self.hint.clear();
                }
            }
        }
        Ok(Then::Next)
    }

    fn enter(&mut self) -> Result<Then, Error> {
        let typed = self.input.value_and_reset();
        self.hint.clear();
        self.recalled = None;
        self.back = 0;
        let answer = self.desk.command(&typed)?;
        if !typed.trim().is_empty() {
            self.talk.push(said(Tone::Typed, format!("> {}", typed.trim())));
            if self.earlier.last() != Some(&typed) {
                self.earlier.push(typed.clone());
            }
        }
        self.talk.extend(answer.lines);
        self.talk.drain(..self.talk.len().saturating_sub(TALK));
        if answer.then == Then::Again {
            self.input = Input::new(typed);
        }
        Ok(answer.then)
    }

    fn complete(&mut self) {
        let value = self.input.value().to_owned();
        let cursor = value.char_indices().nth(self.input.cursor()).map_or(value.len(), |(place, _)| place);
        let (typed, rest) = value.split_at(cursor);
        let completion = complete(self.desk.book(), typed);
        let typed = completion.apply(typed);
        let place = typed.chars().count();
        self.input = Input::new(format!("{typed}{rest}")).with_cursor(place);
        self.hint = match completion.candidates.as_slice() {
            [] => "nothing begins like this".to_owned(),
            [_] => String::new(),
            several => several.join("  "),
        };
    }

    /// Puts an earlier command into the prompt.
    fn recall(&mut self, up: bool) {
        let newest = self.earlier.len();
        let place = self.recalled.unwrap_or(newest);
        let place = if up { place.saturating_sub(1) } else { (place + 1).min(newest) };
        self.recalled = Some(place);
        let text = self.earlier.get(place).cloned().unwrap_or_default();
        self.input = Input::new(text);
        self.input.handle(InputRequest::GoToEnd);
    }

    fn draw(&mut self, frame: &mut Frame<'_>) {
        if self.curtain {
            curtain(frame, self.desk.book(), CURTAIN_KEYS);
            return;
        }
        let [middle, prompt, hint] =
            Layout::vertical([Constraint::Min(3), Constraint::Length(3), Constraint::Length(1)])
                .areas(frame.area());
        let [left, right] =
            Layout::horizontal([Constraint::Percentage(55), Constraint::Percentage(45)]).areas(middle);

        let rows = wrapped(&self.talk, left.width.saturating_sub(2));
        let hidden = rows.len().saturating_sub(left.height.saturating_sub(2).into());
        self.back = self.back.min(hidden);
        pane(frame, left, "live", false, rows, hidden - self.back);

        let mut rows = wrapped(&state(self.desk.book()), right.width.saturating_sub(2));
        let room = usize::from(right.height.saturating_sub(2));
        if rows.len() > room && room > 0 {
            rows.truncate(room - 1);
            rows.push(Line::from("more: type state").dim());
        }
        pane(frame, right, "judge only", false, rows, 0);

        let block = Block::bordered();
        let inner = block.inner(prompt);
        let width = inner.width.saturating_sub(3);
        let scroll = self.input.visual_scroll(width.into());
        let text = format!("> {}", self.input.value());
        // The mark stays, the text moves under it.
        let scroll = u16::try_from(scroll).unwrap_or(u16::MAX);
        frame.render_widget(Paragraph::new(text).scroll((0, scroll)).block(block), prompt);
        let column = u16::try_from(self.input.visual_cursor()).unwrap_or(u16::MAX).saturating_sub(scroll);
        if inner.height > 0 && inner.width > 2 {
            frame.set_cursor_position((inner.x + 2 + column.min(width), inner.y));
        }
        let below = if self.hint.is_empty() { KEYS } else { &self.hint };
        frame.render_widget(Paragraph::new(below).dim(), hint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::{Terminal, backend::TestBackend};

    #[test]
    fn any_window_can_be_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("game.txt");
        std::fs::write(&path, "human tim\nzombie 日本\nnonsense \u{1b}[2J\nstart\ni tim 日本\nnt\n").unwrap();
        let (desk, talk) = Desk::open(&path).unwrap();
        let mut window = LiveWindow {
            desk,
            input: Input::new("i 日本 \u{301}🧟 long long long".to_owned()),
            talk,
            earlier: Vec::new(),
            recalled: None,
            back: 1000,
            hint: String::new(),
            curtain: false,
        };
        for width in [0, 1, 2, 3, 5, 8, 20, 100] {
            for height in [0, 1, 2, 3, 5, 8, 20, 60] {
                let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
                for curtain in [false, true] {
                    window.curtain = curtain;
                    terminal.draw(|frame| window.draw(frame)).unwrap();
                }
            }
        }
    }
}
