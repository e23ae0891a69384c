//! Restores the terminal: after a question, on a panic, and when a signal ends the program (`interrupt`).

use ratatui::{
    Terminal, TerminalOptions, Viewport,
    backend::CrosstermBackend,
    crossterm::{
        cursor::Show,
        execute,
        terminal::{
            self, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
            is_raw_mode_enabled,
        },
    },
    layout::Rect,
};
use std::{
    fs::File,
    io::{self, Stdout},
    os::fd::AsFd,
    panic,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

/// Whether the alternate screen is shown.
static FULL_SCREEN: AtomicBool = AtomicBool::new(false);

/// Keeps the terminal in raw mode while the first of these lives.
pub struct RawMode {
    is_first: bool,
}

impl RawMode {
    pub fn enter() -> io::Result<Self> {
        watch();
        let is_first = !is_raw_mode_enabled()?;
        if is_first {
            enable_raw_mode()?;
        }
        Ok(RawMode { is_first })
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        if self.is_first {
            // There is no better terminal to report it to.
            let _ = disable_raw_mode();
        }
    }
}

/// Shows the alternate screen while it lives.
pub struct FullScreen;

impl FullScreen {
    pub fn enter() -> io::Result<Self> {
        watch();
        FULL_SCREEN.store(true, Ordering::SeqCst);
        execute!(io::stdout(), EnterAlternateScreen)?;
        Ok(FullScreen)
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        leave_full_screen();
    }
}

fn leave_full_screen() {
    if FULL_SCREEN.swap(false, Ordering::SeqCst) {
        // Past the lock of standard output, which the main thread may hold while a signal is handled.
        if let Ok(out) = io::stdout().as_fd().try_clone_to_owned() {
            let mut out = File::from(out);
            let _ = execute!(out, LeaveAlternateScreen, Show);
        }
    }
}

/// Returns an empty screen. Its size is fixed: to adapt itself, ratatui would ask the terminal where the cursor is, and not all
/// terminals answer.
pub fn clean_screen() -> io::Result<Terminal<CrosstermBackend<Stdout>>> {
    execute!(io::stdout(), terminal::Clear(terminal::ClearType::All))?;
    let (width, height) = terminal::size()?;
    let viewport = Viewport::Fixed(Rect::new(0, 0, width, height));
    Terminal::with_options(CrosstermBackend::new(io::stdout()), TerminalOptions { viewport })
}

/// Leaves the alternate screen and raw mode, if the terminal is in them.
pub fn restore() {
    leave_full_screen();
    let _ = disable_raw_mode();
}

/// Makes every later panic restore the terminal first.
fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore();
            report(info);
        }));
    });
}
