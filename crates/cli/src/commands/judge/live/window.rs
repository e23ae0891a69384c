//! The judge's desk on the whole terminal: the talk so far, a prompt, the state of the game, and the curtain.

use super::{
    complete::complete,
    desk::{Desk, Reply, Then},
};
use crate::{
    commands::judge::{
        screen::{Screen, curtain, pane, roster, whisper, wrapped},
        words::{Said, Tone, last_announcement, progress, said, standing, state, whispers},
    },
    error::Error,
};
use ratatui::{
    Frame,
    crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
    layout::{Constraint, Layout, Rect},
    widgets::{Block, Paragraph},
};
use std::time::Duration;
use tui_input::{Input, InputRequest, backend::crossterm::to_input_request};

/// How often the script is checked while nothing is typed.
const LOOK: Duration = Duration::from_secs(1);

/// The most lines of talk that are kept; older ones are in the script.
const TALK: usize = 2000;

/// A line never ends between a key and what it does.
const KEYS: &str = "Tab\u{a0}completes, Up\u{a0}Down\u{a0}earlier\u{a0}commands, PgUp\u{a0}PgDn\u{a0}scroll, F3\u{a0}whispers, \
    Esc\u{a0}curtain, Ctrl-C\u{a0}leaves";
const CURTAIN_KEYS: &str = "Esc opens the curtain";

/// The fewest rows of the talk, with its frame.
const TALK_ROWS: u16 = 5;

/// Who may look at the screen now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Audience {
    Judge,
    /// Everybody: the curtain hides the desk.
    All,
    /// One player after another. The curtain hides the desk, and each player's words until they ask for them.
    Player {
        number: usize,
        shown: bool,
    },
}

struct LiveWindow {
    desk: Desk,
    input: Input,
    /// The commands and answers so far.
    talk: Vec<Said>,
    /// The commands typed so far.
    earlier: Vec<String>,
    /// Which of these commands is in the prompt.
    recalled: Option<usize>,
    /// How many rows at the end of the talk are scrolled out of sight.
    back: usize,
    /// The possible completions of the last word.
    hint: String,
    audience: Audience,
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
        audience: Audience::Judge,
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
    anstream::println!("Everything is in {path}; necrodome judge live continues it.");
    Ok(())
}

impl LiveWindow {
    fn press(&mut self, key: KeyEvent) -> Result<Then, Error> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => return Ok(Then::Leave),
            KeyCode::Esc | KeyCode::F(2) => {
                self.audience = match self.audience {
                    Audience::All => Audience::Judge,
                    // A player may be looking: the desk opens with the next key only.
                    Audience::Judge | Audience::Player { .. } => Audience::All,
                }
            }
            code => match self.audience {
                Audience::Judge => return self.type_in(key),
                // Nothing is done that the judge can't see.
                Audience::All => {}
                Audience::Player { number, shown } => self.audience = self.turn_page(code, number, shown),
            },
        }
        Ok(Then::Next)
    }

    /// Returns who may look after this key: a player's words are shown, then hidden, then it is the next player's turn.
    fn turn_page(&self, key: KeyCode, number: usize, shown: bool) -> Audience {
        let is_last = number + 1 >= whispers(self.desk.book()).len();
        match key {
            KeyCode::Enter | KeyCode::Char(' ') if !shown => Audience::Player { number, shown: true },
            KeyCode::Enter | KeyCode::Char(' ') if is_last => Audience::All,
            KeyCode::Enter | KeyCode::Char(' ') => Audience::Player { number: number + 1, shown: false },
            KeyCode::Backspace => Audience::Player { number: number.saturating_sub(1), shown: false },
            _ => Audience::Player { number, shown },
        }
    }

    fn type_in(&mut self, key: KeyEvent) -> Result<Then, Error> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('d') if control && self.input.value().is_empty() => return Ok(Then::Leave),
            KeyCode::Enter => return self.enter(),
            // Enter, if it was pressed a moment before raw mode.
            KeyCode::Char('j' | 'm') if control => return self.enter(),
            KeyCode::F(3) => {
                let answer = self.desk.command("whisper")?;
                self.take(answer);
            }
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
        let announced = last_announcement(self.desk.book()).cloned();
        let answer = self.desk.command(&typed)?;
        if !typed.trim().is_empty() {
            self.talk.push(said(Tone::Typed, format!("> {}", typed.trim())));
            if self.earlier.last() != Some(&typed) {
                self.earlier.push(typed.clone());
            }
        }
        let then = self.take(answer);
        if last_announcement(self.desk.book()).is_some_and(|now| Some(now) != announced.as_ref()) {
            self.talk.push(said(Tone::Faint, "F3 whispers to each player behind the curtain, one by one"));
        }
        if then == Then::Again {
            self.input = Input::new(typed);
        }
        Ok(then)
    }

    fn take(&mut self, answer: Reply) -> Then {
        self.talk.extend(answer.lines);
        self.talk.drain(..self.talk.len().saturating_sub(TALK));
        if answer.then == Then::Whisper {
            self.audience = Audience::Player { number: 0, shown: false };
        }
        answer.then
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
        let book = self.desk.book();
        match self.audience {
            Audience::Judge => {}
            Audience::All => return curtain(frame, book, CURTAIN_KEYS),
            Audience::Player { number, shown } => {
                let whispers = whispers(book);
                return match whispers.get(number) {
                    Some((name, text)) if shown => whisper(frame, name, text),
                    Some((name, _)) => {
                        let place = format!("{} of {}", number + 1, whispers.len());
                        curtain(
                            frame,
                            book,
                            &format!("{name} ({place}), come alone: Enter shows what you are told"),
                        );
                    }
                    None => curtain(frame, book, CURTAIN_KEYS),
                };
            }
        }
        let area = frame.area();
        let below = if self.hint.is_empty() { KEYS } else { &self.hint };
        let below = wrapped(&[said(Tone::Faint, below)], area.width);
        let low = u16::try_from(below.len()).unwrap_or(u16::MAX).min(area.height / 4).max(1);
        let [middle, prompt, hint] =
            Layout::vertical([Constraint::Min(3), Constraint::Length(3), Constraint::Length(low)])
                .areas(area);
        let talk = self.draw_state(frame, middle);
        let rows = wrapped(&self.talk, talk.width.saturating_sub(2));
        let hidden = rows.len().saturating_sub(talk.height.saturating_sub(2).into());
        self.back = self.back.min(hidden);
        pane(frame, talk, "live", false, rows, hidden - self.back);

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
        frame.render_widget(Paragraph::new(below), hint);
    }

    /// Draws the state of the game, in as many words as fit: beside the talk, or above it if there are many players. Returns the
    /// area that is left.
    fn draw_state(&self, frame: &mut Frame<'_>, area: Rect) -> Rect {
        let book = self.desk.book();
        let [left, right] =
            Layout::horizontal([Constraint::Percentage(55), Constraint::Percentage(45)]).areas(area);
        let inner = right.width.saturating_sub(2);
        let room = usize::from(right.height.saturating_sub(2));
        let texts = [state, standing].map(|text| wrapped(&text(book), inner));
        if let Some(rows) = texts.into_iter().find(|rows| rows.len() <= room) {
            pane(frame, right, "judge only", false, rows, 0);
            return left;
        }
        let room = area.height.saturating_sub(TALK_ROWS + 2);
        let rows = roster(book, area.width.saturating_sub(2), room);
        let height = u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(2);
        let [top, bottom] =
            Layout::vertical([Constraint::Length(height.min(room + 2)), Constraint::Min(0)]).areas(area);
        pane(frame, top, &format!("judge only: {}", progress(book)), false, rows, 0);
        bottom
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::{Terminal, backend::TestBackend};

    fn window(path: &std::path::Path) -> LiveWindow {
        let (desk, talk) = Desk::open(path).unwrap();
        LiveWindow {
            desk,
            input: Input::default(),
            talk,
            earlier: Vec::new(),
            recalled: None,
            back: 0,
            hint: String::new(),
            audience: Audience::Judge,
        }
    }

    /// Returns what is drawn in a window of this size.
    fn drawn(window: &mut LiveWindow, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| window.draw(frame)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn thirty_players_fit_one_screen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("game.txt");
        let join = |number: usize| {
            let role = if number.is_multiple_of(7) { "zombie" } else { "human" };
            format!("{role} Guest{number:02}\n")
        };
        let joined: String = (1..=30).map(join).collect();
        for (script, sample) in [
            (joined.clone(), "Guest30 H"),
            (format!("{joined}start\ni Guest01 Guest07\ne Guest01\ni Guest02 Guest03\n"), "Guest01 I  0 1."),
        ] {
            std::fs::write(&path, script).unwrap();
            for (width, height) in [(60, 24), (80, 24), (120, 30)] {
                let screen = drawn(&mut window(&path), width, height).replace('\u{a0}', " ");
                for number in 1..=30 {
                    assert!(screen.contains(&format!("Guest{number:02}")), "{number} at {width}:\n{screen}");
                }
                assert!(screen.contains(sample), "{width}:\n{screen}");
                for words in ["goes on", "Up Down earlier commands", "Esc curtain", "Ctrl-C leaves"] {
                    assert!(screen.contains(words), "{words} at {width}:\n{screen}");
                }
            }
        }
    }

    #[test]
    fn lines_end_between_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("game.txt");
        std::fs::write(&path, "human Anna\nzombie Bartholomew\nhuman Cleo\nstart\nanna meets cleo\n")
            .unwrap();
        for width in [60, 80, 120] {
            let mut window = window(&path);
            window.input = Input::new("what happened to Bartholomew?".to_owned());
            window.enter().unwrap();
            let screen = drawn(&mut window, width, 60);
            let talk = window.talk.iter().flat_map(|said| said.text.split_whitespace());
            let shown: Vec<&str> = talk.chain(KEYS.split_whitespace()).collect();
            assert!(shown.len() > 30, "{shown:?}");
            for word in shown {
                assert!(screen.lines().any(|row| row.contains(word)), "{word} at {width}:\n{screen}");
            }
        }
    }

    #[test]
    fn any_window_can_be_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("game.txt");
        std::fs::write(&path, "human tim\nzombie 日本\nnonsense \u{1b}[2J\nstart\ni tim 日本\nnt\n").unwrap();
        let mut window = window(&path);
        window.input = Input::new("i 日本 \u{301}🧟 long long long".to_owned());
        window.back = 1000;
        for width in [0, 1, 2, 3, 5, 8, 20, 100] {
            for height in [0, 1, 2, 3, 5, 8, 20, 60] {
                let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
                let player = |shown| Audience::Player { number: 1, shown };
                for audience in [Audience::Judge, Audience::All, player(false), player(true)] {
                    window.audience = audience;
                    terminal.draw(|frame| window.draw(frame)).unwrap();
                }
            }
        }
    }
}
