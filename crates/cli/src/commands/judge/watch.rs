//! `necrodome judge watch`: shows a script and the state of its game, while it is edited elsewhere.

mod follow;
mod picture;
mod window;

use super::screen::Screen;
use crate::{error::Error, human::at_terminal, paint::Painted};
use follow::{FileEvent, Follower};
use necrodome_judge::script::read;
use picture::Picture;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use std::{
    io::{self, Write},
    path::PathBuf,
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
};
use window::WatchWindow;

/// Show a script and its game while you edit it elsewhere
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome judge watch game.txt             beside an editor; q quits
  necrodome judge watch game.txt --once      the game as it is now, as plain text

The picture follows every save. Lines with mistakes don't count, and neither does a last line
without a line break, since somebody may still be typing it. c or Tab draws the curtain: the players
may look at the screen, which then shows only what was announced. Without a terminal the judge's
view is printed again after every change.")]
pub struct Args {
    /// The script
    #[arg(default_value = "game.txt")]
    script: PathBuf,
    /// Print the game as it is now, and exit
    #[arg(long)]
    once: bool,
}

/// An event that the view waits for.
enum Happened {
    /// Something happened to the file.
    Changed(FileEvent),
    Terminal(io::Result<Event>),
}

pub fn run(args: &Args) -> Result<(), Error> {
    if args.once {
        let bytes = read(&args.script).map_err(|error| Error::at(args.script.display(), error))?;
        return Ok(print(&Picture::of(bytes))?);
    }
    let (sender, happened) = channel();
    let changed = sender.clone();
    let mut follower = Follower::new(&args.script, move |change| {
        // Nobody listens any more at the very end.
        let _ = changed.send(Happened::Changed(change));
    })?;
    if !at_terminal() {
        print(follower.picture())?;
        loop {
            if let Ok(Happened::Changed(change)) = happened.recv_timeout(follower.wait()) {
                follower.told(change);
            }
            if follower.look() {
                writeln!(io::stdout(), "---")?;
                print(follower.picture())?;
            }
        }
    }
    let mut screen = Screen::enter()?;
    thread::spawn(move || {
        loop {
            let event = event::read();
            let broken = event.is_err();
            if sender.send(Happened::Terminal(event)).is_err() || broken {
                break;
            }
        }
    });
    let name = args.script.display().to_string();
    let mut window = WatchWindow::default();
    let mut stale = true;
    loop {
        if std::mem::take(&mut stale) {
            screen.draw(|frame| window.draw(frame, follower.picture(), &name))?;
        }
        match happened.recv_timeout(follower.wait()) {
            Ok(Happened::Changed(change)) => follower.told(change),
            Ok(Happened::Terminal(event)) => match event? {
                Event::Resize(..) => {
                    screen.resize()?;
                    stale = true;
                }
                Event::Key(key) if key.kind != KeyEventKind::Release => {
                    if !window.press(key) {
                        return Ok(());
                    }
                    stale = true;
                }
                _ => {}
            },
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        stale |= follower.look();
    }
}

fn print(picture: &Picture) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for line in picture.lines() {
        writeln!(out, "{}", Painted(line.tone.style(), &line.text))?;
    }
    out.flush()
}
