//! Questions that one key answers. The terminal is in raw mode only while it waits for a key.

use super::{Gone, restore::RawMode};
use crate::paint::{page, question};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use std::io::Write;

/// The keyboard, while one question is asked.
pub struct Keys<'a> {
    /// Returns what a perfect player would do; `None` in a game that is not solved.
    pub hint: Option<&'a dyn Fn() -> String>,
    /// Whether rules, a hint or another question came between the drawing and the question.
    pub interrupted: bool,
}

/// Input from the terminal.
pub enum Pressed {
    Key(KeyCode),
    /// The window has a new size, and must be drawn again.
    Resized,
}

impl Keys<'_> {
    /// Waits for a key. Ctrl-C and Ctrl-D leave at once.
    pub fn press(&mut self) -> Result<Pressed, Gone> {
        let _raw = RawMode::enter()?;
        loop {
            match event::read()? {
                Event::Resize(..) => return Ok(Pressed::Resized),
                Event::Key(key) if key.kind == KeyEventKind::Release => {}
                Event::Key(key) if key.modifiers.contains(KeyModifiers::CONTROL) => match key.code {
                    KeyCode::Char('c' | 'd') => return Err(Gone::Left),
                    // Enter, if it was pressed a moment before raw mode.
                    KeyCode::Char('j') => return Ok(Pressed::Key(KeyCode::Enter)),
                    _ => {}
                },
                Event::Key(key) => return Ok(Pressed::Key(key.code)),
                _ => {}
            }
        }
    }

    /// Returns the question as it is shown.
    pub fn prompt(&self, choices: &str) -> String {
        question(&format!("{choices}{}", if self.hint.is_some() { "  [h]int" } else { "" }))
    }

    /// Returns the rules, and the keys that all games have.
    fn help(&self, rules: &str) -> String {
        let hint = match self.hint {
            Some(_) => "h  says what perfect play would do, and what each other choice costs\n",
            None => "",
        };
        page(&format!("{}\n\nKeys:\n{hint}?  shows this page\nq  leaves the table", rules.trim()))
    }

    /// Asks until `accept` knows the key. `?` shows the rules and `h` a hint, and then it asks again; `q` leaves if the person
    /// confirms it.
    pub fn ask<T>(
        &mut self,
        rules: &str,
        choices: &str,
        mut accept: impl FnMut(KeyCode) -> Option<T>,
    ) -> Result<T, Gone> {
        loop {
            let mut out = anstream::stdout();
            write!(out, "{} ", self.prompt(choices))?;
            out.flush()?;
            loop {
                let Pressed::Key(key) = self.press()? else { continue };
                if let Some(choice) = accept(key) {
                    writeln!(out, "{}", name(key))?;
                    return Ok(choice);
                }
                self.interrupted |= matches!(key, KeyCode::Char('?' | 'h' | 'q'));
                match key {
                    KeyCode::Char('?') => {
                        writeln!(out, "?\n\n{}\n", self.help(rules))?;
                        break;
                    }
                    KeyCode::Char('h') => {
                        let Some(hint) = self.hint else { continue };
                        writeln!(out, "h\n{}", hint())?;
                        break;
                    }
                    KeyCode::Char('q') => {
                        write!(out, "q\n{} ", question(LEAVE))?;
                        out.flush()?;
                        if self.is_yes()? {
                            writeln!(out, "y")?;
                            return Err(Gone::Left);
                        }
                        writeln!(out, "n")?;
                        break;
                    }
                    _ => {}
                }
            }
        }
    }

    /// Waits for y, or for n or Escape. Returns whether it was y.
    pub fn is_yes(&mut self) -> Result<bool, Gone> {
        loop {
            match self.press()? {
                Pressed::Key(KeyCode::Char('y' | 'Y')) => return Ok(true),
                Pressed::Key(KeyCode::Char('n' | 'N') | KeyCode::Esc) => return Ok(false),
                _ => {}
            }
        }
    }
}

/// The question before a person leaves.
pub const LEAVE: &str = "Leave the table? The match will have no result. [y]es or [n]o";

/// Returns the name of a key, to show after the question.
fn name(key: KeyCode) -> String {
    match key {
        KeyCode::Char(letter) => letter.to_string(),
        _ => String::new(),
    }
}
