//! Zombie Dice for a person: the own dice drawn, go or stop.

use super::{Gone, Keys, Place, Playable, Said, dice, lines::expected};
use crate::{
    paint::{colour, count, dim},
    tell::zombie_dice as story,
};
use anstyle::AnsiColor;
use necrodome_rules::{
    game::{Logged, Seat},
    zombie_dice::{
        Action, Colour, Die, Event, Face, Race, RaceView, Solo, SoloView, Table, TableView, TurnView,
    },
};
use ratatui::crossterm::event::KeyCode;
use std::io::{self, Write};

const RULES: &str = "\
You are a zombie, the dice are people: 6 green (easy), 4 yellow, 3 red (hard).
Go: three dice are rolled, footsteps first, the rest drawn from the cup.
Brains and shotguns are set aside. Three shotguns, and the turn brings nothing.
Stop: every brain of the turn is banked as a point.
  green   3 brains  2 footsteps  1 shotgun
  yellow  2 brains  2 footsteps  2 shotguns
  red     1 brain   2 footsteps  3 shotguns";

fn drawn(die: Die) -> dice::Drawn {
    let (shade, label) = match die.colour {
        Colour::Green => (AnsiColor::Green, "green"),
        Colour::Yellow => (AnsiColor::Yellow, "yellow"),
        Colour::Red => (AnsiColor::Red, "red"),
    };
    let face = match die.face {
        Face::Brain => "brain",
        Face::Footsteps => "footsteps",
        Face::Shotgun => "SHOTGUN",
    };
    dice::Drawn { style: colour(shade), label: label.to_owned(), face, mark: None }
}

fn hear(
    memory: &mut story::Story,
    out: &mut impl Write,
    place: &Place,
    log: &[Logged<Event>],
) -> io::Result<()> {
    for logged in log {
        match &logged.event {
            Event::Rolled { seat, hand, .. } if place.drawn && *seat == place.seat => {
                dice::draw(out, "footsteps", &hand.map(drawn))?;
            }
            _ => story::tell(memory, out, &place.names, std::slice::from_ref(logged))?,
        }
    }
    Ok(())
}

fn show(out: &mut impl Write, place: &Place, turn: &TurnView, scores: &str) -> io::Result<()> {
    let TurnView { brains, shotguns, cup, .. } = turn;
    match turn.hand {
        None => write!(out, "  Your turn; ")?,
        // Told with the roll where dice are words.
        Some(_) if !place.drawn => write!(out, "  ")?,
        Some(_) => write!(out, "  {}, {}; ", count(*brains, "brain"), count(*shotguns, "shotgun"))?,
    }
    let rest = format!("in the cup: {} green, {} yellow, {} red{scores}", cup.green, cup.yellow, cup.red);
    writeln!(out, "{}", dim(rest))
}

fn read(line: &str) -> Result<Said<Action>, String> {
    match line.to_lowercase().as_str() {
        "go" | "g" => Ok(Said::Act(Action::Go)),
        "stop" | "s" => Ok(Said::Act(Action::Stop)),
        _ => Err(expected("go or stop", line)),
    }
}

fn by_keys(keys: &mut Keys, turn: &TurnView) -> Result<Action, Gone> {
    let bank = match turn.hand {
        None => "[s]top".to_owned(),
        Some(_) => format!("[s]top and bank {}", turn.brains),
    };
    keys.ask(RULES, &format!("  [g]o or {bank}?"), |key| match key {
        KeyCode::Char('g') => Some(Action::Go),
        KeyCode::Char('s') => Some(Action::Stop),
        _ => None,
    })
}

/// The scores of a table too large for a line are those of the person and the best.
const SCORES_SHOWN: usize = 6;

trait Scores {
    fn scores(&self, place: &Place) -> String;
}

impl Scores for SoloView {
    fn scores(&self, _: &Place) -> String {
        String::new()
    }
}

impl Scores for RaceView {
    fn scores(&self, _: &Place) -> String {
        format!("; you have {}, the other {}", self.score, self.opponent_score)
    }
}

impl Scores for TableView {
    fn scores(&self, place: &Place) -> String {
        let own = self.scores[place.seat.index()];
        if self.scores.len() > SCORES_SHOWN {
            return format!("; you have {own}, the best {}", self.scores.iter().max().unwrap_or(&own));
        }
        let others = Seat::all(self.scores.len()).iter().filter(|&&seat| seat != place.seat);
        let others: Vec<String> =
            others.map(|&seat| format!("{} {}", &place.names[seat], self.scores[seat.index()])).collect();
        format!("; you have {own}, {}", others.join(", "))
    }
}

macro_rules! playable_format {
    ($game:ty, $view:ty, $opponents:expr) => {
        impl Playable for $game {
            const RULES: &'static str = RULES;
            const OPPONENTS: &'static [&'static str] = $opponents;
            type Memory = story::Story;

            fn hear(
                memory: &mut Self::Memory,
                out: &mut impl Write,
                place: &Place,
                log: &[Logged<Event>],
            ) -> io::Result<()> {
                hear(memory, out, place, log)
            }

            fn show(
                _: &mut Self::Memory,
                out: &mut impl Write,
                place: &Place,
                view: &$view,
            ) -> io::Result<()> {
                show(out, place, &view.turn, &view.scores(place))
            }

            fn words(_: &$view) -> &'static str {
                "go or stop"
            }

            fn read(_: &mut Self::Memory, _: &Place, _: &$view, line: &str) -> Result<Said<Action>, String> {
                read(line)
            }

            fn by_keys(
                memory: &mut Self::Memory,
                keys: &mut Keys,
                place: &Place,
                view: &$view,
            ) -> Result<Action, Gone> {
                Self::show(memory, &mut anstream::stdout(), place, view)?;
                by_keys(keys, &view.turn)
            }
        }
    };
}

playable_format!(Solo, SoloView, &[]);
playable_format!(Race, RaceView, &["cautious"]);
playable_format!(Table, TableView, &["cautious", "greedy"]);
