//! `necrodome judge live`: the game is judged while it is played, command by command.

mod complete;
mod desk;
mod paper;
mod window;

use super::words::Said;
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
  necrodome judge live                    goes on with game.txt, or begins it
  necrodome judge live friday.txt
  printf 'i tim kiril\\nwho\\n' | necrodome judge live friday.txt

Beside the commands of the script there are:
  who has not met anyone yet (or: who)    what if i tim kiril*2
  undo    redo    state    public    help    quit

On a terminal Tab completes commands and names, Esc or F2 draws the curtain: the players may look
at the screen, which shows nothing but what was announced. Otherwise one line of text is one
command, and all answers are for the judge. Every command is in the script, and on the disk,
before its answer is shown. Only one can write a script at a time.")]
pub struct Args {
    /// The script; a new one is begun if the file does not exist
    #[arg(default_value = "game.txt")]
    script: PathBuf,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let (desk, hello) = Desk::open(&args.script)?;
    if at_terminal() { window::run(desk, hello) } else { lines(desk, &hello) }
}

/// One line is one command.
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
        if answer.then == Then::Leave {
            return Ok(());
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
