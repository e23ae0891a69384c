//! Tokyo for a person: keys 1 to 6 mark dice to keep, Enter rolls the others.

use crate::{
    human::{Controls, Gone, Meant, OwnSeat, dice, expected, keys::Keys},
    paint::{self, colour, count, dim, red},
    tell::Story,
};
use anstyle::AnsiColor;
use necrodome_rules::{
    catalog::Listed,
    game::Seat,
    tokyo::{Action, Dice, Event, Face, GOAL, Phase, Tokyo, TokyoView},
};
use ratatui::crossterm::{
    cursor::MoveToPreviousLine,
    event::KeyCode,
    execute,
    terminal::{Clear, ClearType},
};
use std::io::{self, Write};

/// What the person has marked and seen.
#[derive(Default)]
struct Marks {
    /// The dice that were kept, which stay marked.
    kept: [bool; 6],
    /// The turn for which the monsters were last shown.
    shown: u32,
    story: Story,
}

pub fn controls() -> Box<dyn Controls<Tokyo>> {
    Box::new(Marks::default())
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

fn draw(out: &mut dyn Write, dice: &Dice, kept: [bool; 6]) -> io::Result<u16> {
    let drawn: Vec<_> = (0..6).map(|die| drawn(die, dice[die], kept[die])).collect();
    dice::draw(out, "attack", &drawn)
}

impl Controls<Tokyo> for Marks {
    fn hear(&mut self, out: &mut dyn Write, place: &OwnSeat, heard: &[&Event]) -> io::Result<()> {
        for (number, event) in heard.iter().enumerate() {
            match event {
                Event::Rolled { seat, dice, kept } if place.drawn && *seat == place.seat => {
                    self.kept = *kept;
                    // The last one is drawn with the question that follows.
                    if number + 1 < heard.len() {
                        draw(out, dice, *kept)?;
                    }
                }
                _ => self.story.tell::<Tokyo>(out, &place.names, [*event])?,
            }
        }
        Ok(())
    }

    fn show(&mut self, out: &mut dyn Write, place: &OwnSeat, view: &TokyoView) -> io::Result<()> {
        let shown = std::mem::replace(&mut self.shown, view.turn) == view.turn;
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
            let name = paint::name(&place.names, seat);
            paint::line(out, 2, &format!("{name} health {}, {}", monster.health, dim(stand)))?;
        }
        match view.phase {
            Phase::Rolling { rerolls_left } => writeln!(out, "  {} left", count(rerolls_left, "reroll")),
            Phase::Yielding { damage } => writeln!(out, "  {}", red(format!("You are hit for {damage}."))),
            Phase::Over => Ok(()),
        }
    }

    fn words(&self, _: &OwnSeat, view: &TokyoView) -> String {
        match view.phase {
            Phase::Yielding { .. } => "leave or stay".to_owned(),
            _ => "keep, with the places of dice (keep 1 3 5, keep all)".to_owned(),
        }
    }

    fn read(&mut self, _: &OwnSeat, view: &TokyoView, line: &str) -> Result<Meant<Action>, String> {
        let line = line.to_lowercase();
        let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let action = match (view.phase, words.as_slice()) {
            (Phase::Yielding { .. }, ["leave" | "yield"]) => Action::Yield,
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
            (Phase::Yielding { .. }, _) => return Err(expected("leave or stay", &line)),
            _ => return Err(expected("keep, with the places of the dice that are not rolled again", &line)),
        };
        Ok(Meant::Act(action))
    }

    fn by_keys(&mut self, keys: &mut Keys, place: &OwnSeat, view: &TokyoView) -> Result<Action, Gone> {
        self.show(&mut anstream::stdout(), place, view)?;
        match view.phase {
            Phase::Rolling { .. } => self.mark(keys, &view.dice),
            _ => keys.ask(Tokyo::CARD.rules, "[l]eave Tokyo or [s]tay?", |key| match key {
                KeyCode::Char('l') => Some(Action::Yield),
                KeyCode::Char('s') => Some(Action::Stay),
                _ => None,
            }),
        }
    }
}

impl Marks {
    /// Draws the dice again in the same place while the person marks them.
    fn mark(&mut self, keys: &mut Keys, dice: &Dice) -> Result<Action, Gone> {
        let mut out = anstream::stdout();
        loop {
            let drawn = draw(&mut out, dice, self.kept)?;
            let roll = match self.kept {
                [true, true, true, true, true, true] => "[Enter] done",
                _ => "[Enter] roll the others",
            };
            let choices = format!("[1-6] keep or not, {roll}, [k]eep all");
            let key = keys.ask(Tokyo::CARD.rules, &choices, |key| match key {
                KeyCode::Char('1'..='6' | 'k') | KeyCode::Enter => Some(key),
                _ => None,
            })?;
            match key {
                KeyCode::Char(digit @ '1'..='6') => {
                    let kept = &mut self.kept[usize::from(digit as u8 - b'1')];
                    *kept = !*kept;
                    if !std::mem::take(&mut keys.interrupted) {
                        // The question stands below the dice. Not through `out`, which strips this with NO_COLOR.
                        let rows = drawn + keys.prompt(&choices).lines().count() as u16;
                        execute!(io::stdout(), MoveToPreviousLine(rows), Clear(ClearType::FromCursorDown))?;
                    }
                }
                KeyCode::Char(_) => return Ok(Action::Keep { dice: [true; 6] }),
                _ => return Ok(Action::Keep { dice: self.kept }),
            }
        }
    }
}
