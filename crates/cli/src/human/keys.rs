//! One key for one choice. The terminal is in raw mode only while a key is awaited.

use super::{Gone, restore::RawMode};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use std::io::Write;

/// The keyboard.
pub struct Keys;

/// What came from the terminal.
pub enum Pressed {
    Key(KeyCode),
    /// The window has another size: what is drawn must be drawn again.
    Resized,
}

impl Keys {
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

    /// Asks until `accept` knows the key. `?` shows the rules and asks again, `q` leaves if the person is sure.
    pub fn ask<T>(
        &mut self,
        rules: &str,
        prompt: &str,
        mut accept: impl FnMut(KeyCode) -> Option<T>,
    ) -> Result<T, Gone> {
        loop {
            let mut out = anstream::stdout();
            write!(out, "{prompt} ")?;
            out.flush()?;
            loop {
                let Pressed::Key(key) = self.press()? else { continue };
                if let Some(choice) = accept(key) {
                    writeln!(out, "{}", name(key))?;
                    return Ok(choice);
                }
                match key {
                    KeyCode::Char('?') => {
                        writeln!(out, "?\n\n{}\n", rules.trim())?;
                        break;
                    }
                    KeyCode::Char('q') => {
                        write!(out, "q\nLeave the table? The match will have no result. [y]es or [n]o ")?;
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

    /// Waits for y, or for n or Escape.
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

/// The key as it is shown behind the question.
fn name(key: KeyCode) -> String {
    match key {
        KeyCode::Char(letter) => letter.to_string(),
        _ => String::new(),
    }
}
