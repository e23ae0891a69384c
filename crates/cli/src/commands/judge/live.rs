//! `necrodome judge live`: judges a game while it is played, command by command.

mod complete;
mod desk;
mod paper;
mod window;

use super::words::{Said, Tone, said, whispers};
use crate::{error::Error, human::at_terminal, paint::Painted};
use desk::{Desk, Then};
use std::{
    io::{self, BufRead, IsTerminal, Write},
    path::PathBuf,
};

/// Judge a game while it is played
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome judge live                    continues game.txt, or begins it
  necrodome judge live friday.txt
  printf 'i tim kiril\\nwho\\n' | necrodome judge live friday.txt

Besides the commands of the script there are:
  who has not met anyone yet (or: who)    what if i tim kiril*2
  undo    redo    whisper    state    public    help    quit

On a terminal Tab completes commands and names. Esc or F2 draws the curtain: the players may look
at the screen, which then shows only what was announced. F3 or `whisper` calls the players to the
screen one by one, each to read what they alone may know. Without a terminal one line of text is
one command, and all answers are for the judge.
Every command is in the script, and on the disk, before its answer is shown. Only one judge can
write a script at a time. Before undo takes back GAME_START it asks: answer yes.")]
pub struct Args {
    /// The script; a new one is begun if the file does not exist
    #[arg(default_value = "game.txt")]
    script: PathBuf,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let (desk, hello) = Desk::open(&args.script)?;
    if at_terminal() { window::run(desk, hello) } else { lines(desk, &hello) }
}

/// Runs the desk on plain lines, one command each.
fn lines(mut desk: Desk, hello: &[Said]) -> Result<(), Error> {
    say(hello)?;
    let mut input = io::stdin().lock();
    let prompt = input.is_terminal();
    loop {
        if prompt {
            let mut out = io::stdout().lock();
            write!(out, "> ")?;
            out.flush()?;
        }
        let mut line = Vec::new();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let answer = desk.command(&String::from_utf8_lossy(&line))?;
        say(&answer.lines)?;
        match answer.then {
            Then::Leave => return Ok(()),
            Then::Whisper => say(&whispers(desk.book())
                .iter()
                .map(|(name, text)| said(Tone::Plain, format!("whisper to {name}: {text}")))
                .collect::<Vec<_>>())?,
            Then::Next | Then::Again => {}
        }
    }
}

fn say(lines: &[Said]) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for line in lines {
        writeln!(out, "{}", Painted(line.tone.style(), &line.text))?;
    }
    out.flush()
}
