//! Tokyo for a person: dice are marked with 1 to 6, Enter rolls the others.

use super::{Gone, Keys, Place, Playable, Said, dice, lines::expected};
use crate::{
    paint::{self, colour, count, dim, red},
    tell::tokyo as story,
};
use anstyle::AnsiColor;
use necrodome_rules::{
    game::{Logged, Seat},
    tokyo::{Action, Dice, Event, Face, GOAL, Phase, Tokyo, TokyoView},
};
use ratatui::crossterm::{
    cursor::MoveToPreviousLine,
    event::KeyCode,
    execute,
    terminal::{Clear, ClearType},
};
use std::io::{self, Write};

/// What the place remembers: the story, and the dice that were kept, which stay marked.
#[derive(Default)]
pub struct Memory {
    story: story::Story,
    kept: [bool; 6],
    /// The turn for which the monsters were last shown.
    shown: u32,
}

fn drawn(place: usize, face: Face, kept: bool) -> dice::Drawn {
    let (shade, text) = match face {
        Face::One => (AnsiColor::Yellow, "1"),
        Face::Two => (AnsiColor::Yellow, "2"),
        Face::Three => (AnsiColor::Yellow, "3"),
        Face::Heal => (AnsiColor::Green, "heal"),
        Face::Attack => (AnsiColor::Red, "attack"),
    };
    let style = if kept { colour(shade).bold() } else { colour(shade) };
    dice::Drawn { style, label: format!("{}", place + 1), face: text, mark: kept.then_some("keep") }
}

fn draw(out: &mut impl Write, dice: &Dice, kept: [bool; 6]) -> io::Result<()> {
    let drawn: Vec<_> = (0..6).map(|die| drawn(die, dice[die], kept[die])).collect();
    dice::draw(out, "attack", &drawn)
}

impl Playable for Tokyo {
    const RULES: &'static str = "\
Monsters fight over Tokyo. 20 points, or the last one standing, wins at once.
Six dice: roll all, then twice more keep some and roll the others.
  1 2 3    three alike are worth their number, each further one a point more
  attack   from Tokyo everyone outside is hit, from outside the one in Tokyo
  heal     1 health each, up to 10, outside Tokyo only
The monster in Tokyo that is hit may leave it; who finds Tokyo empty enters it: 1 point.
Starting a turn in Tokyo: 2 points.";
    const OPPONENTS: &'static [&'static str] = &["angry", "point-hunter"];
    type Memory = Memory;

    fn hear(
        memory: &mut Memory,
        out: &mut impl Write,
        place: &Place,
        log: &[Logged<Event>],
    ) -> io::Result<()> {
        for (number, logged) in log.iter().enumerate() {
            match &logged.event {
                Event::Rolled { seat, dice, kept } if place.drawn && *seat == place.seat => {
                    memory.kept = *kept;
                    // The last one is drawn with the question that follows.
                    if number + 1 < log.len() {
                        draw(out, dice, *kept)?;
                    }
                }
                _ => story::tell(&mut memory.story, out, &place.names, std::slice::from_ref(logged))?,
            }
        }
        Ok(())
    }

    fn show(memory: &mut Memory, out: &mut impl Write, place: &Place, view: &TokyoView) -> io::Result<()> {
        let shown = std::mem::replace(&mut memory.shown, view.turn) == view.turn;
        for (&seat, monster) in Seat::all(view.monsters.len()).iter().zip(&view.monsters) {
            if shown {
                break;
            }
            let place_now = match view.in_tokyo {
                _ if !monster.is_alive() => ", out",
                Some(inside) if inside == seat => ", in Tokyo",
                _ => "",
            };
            let stand = format!("{} of {GOAL} points{place_now}", monster.points);
            writeln!(out, "  {} health {}, {}", paint::name(&place.names, seat), monster.health, dim(stand))?;
        }
        match view.phase {
            Phase::Rolling { rerolls_left } => writeln!(out, "  {} left", count(rerolls_left, "reroll")),
            Phase::Yielding { damage } => writeln!(out, "  {}", red(format!("You are hit for {damage}."))),
            Phase::Over => Ok(()),
        }
    }

    fn words(view: &TokyoView) -> &'static str {
        match view.phase {
            Phase::Yielding { .. } => "yield or stay",
            _ => "keep, with the places of dice (keep 1 3 5, keep all)",
        }
    }

    fn read(_: &mut Memory, _: &Place, view: &TokyoView, line: &str) -> Result<Said<Action>, String> {
        let line = line.to_lowercase();
        let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let action = match (view.phase, words.as_slice()) {
            (Phase::Yielding { .. }, ["yield"]) => Action::Yield,
            (Phase::Yielding { .. }, ["stay"]) => Action::Stay,
            (Phase::Rolling { .. }, ["keep", "all"]) => Action::Keep { dice: [true; 6] },
            (Phase::Rolling { .. }, ["keep", places @ ..]) => {
                let mut dice = [false; 6];
                for place in places {
                    let die = place.parse::<usize>().ok().and_then(|place| place.checked_sub(1));
                    match die.and_then(|die| dice.get_mut(die)) {
                        Some(kept) => *kept = true,
                        None => return Err(expected("places of dice from 1 to 6", place)),
                    }
                }
                Action::Keep { dice }
            }
            (Phase::Yielding { .. }, _) => return Err(expected("yield or stay", &line)),
            _ => return Err(expected("keep, with the places of the dice that are not rolled again", &line)),
        };
        Ok(Said::Act(action))
    }

    fn by_keys(
        memory: &mut Memory,
        keys: &mut Keys,
        place: &Place,
        view: &TokyoView,
    ) -> Result<Action, Gone> {
        Self::show(memory, &mut anstream::stdout(), place, view)?;
        match view.phase {
            Phase::Rolling { .. } => mark(memory, keys, &view.dice),
            _ => keys.ask(Self::RULES, "  Leave Tokyo? [y]es or [n]o", |key| match key {
                KeyCode::Char('y') => Some(Action::Yield),
                KeyCode::Char('n') => Some(Action::Stay),
                _ => None,
            }),
        }
    }
}

/// Draws the dice again and again in the same place while they are marked.
fn mark(memory: &mut Memory, keys: &mut Keys, dice: &Dice) -> Result<Action, Gone> {
    let mut out = anstream::stdout();
    loop {
        draw(&mut out, dice, memory.kept)?;
        let roll = match memory.kept {
            [true, true, true, true, true, true] => "[Enter] done",
            _ => "[Enter] roll the others",
        };
        let prompt = format!("  [1-6] keep or not, {roll}, [s]top rolling");
        let key = keys.ask(Tokyo::RULES, &prompt, |key| match key {
            KeyCode::Char('1'..='6' | 's') | KeyCode::Enter => Some(key),
            _ => None,
        })?;
        match key {
            KeyCode::Char(digit @ '1'..='6') => {
                let kept = &mut memory.kept[usize::from(digit as u8 - b'1')];
                *kept = !*kept;
                // The prompt is a line of its own below the dice. Not through `out`, which strips this with NO_COLOR.
                execute!(
                    io::stdout(),
                    MoveToPreviousLine(dice::HEIGHT + 1),
                    Clear(ClearType::FromCursorDown)
                )?;
            }
            KeyCode::Char(_) => return Ok(Action::Keep { dice: [true; 6] }),
            _ => return Ok(Action::Keep { dice: memory.kept }),
        }
    }
}
