//! Zombie Dice for a person: their dice are drawn, and they roll or stop.

use crate::{
    human::{Controls, Gone, Meant, OwnSeat, dice, expected, keys::Keys},
    paint::{colour, count, dim, line},
    tell::Story,
};
use anstyle::AnsiColor;
use necrodome_rules::{
    catalog::Listed,
    game::{Game, Seat},
    zombie_dice::{
        Action, Colour, Die, Event, Face, Race, RaceView, Solo, SoloView, Table, TableView, TurnView,
    },
};
use ratatui::crossterm::event::KeyCode;
use std::io::{self, Write};

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

fn hear<G: Listed<Event = Event>>(
    story: &mut Story,
    out: &mut dyn Write,
    place: &OwnSeat,
    heard: &[&Event],
) -> io::Result<()> {
    for event in heard {
        match event {
            Event::Rolled { seat, hand, .. } if place.drawn && *seat == place.seat => {
                dice::draw(out, "footsteps", &hand.map(drawn))?;
            }
            _ => story.tell::<G>(out, &place.names, [*event])?,
        }
    }
    Ok(())
}

fn show(out: &mut dyn Write, place: &OwnSeat, turn: &TurnView, scores: &str) -> io::Result<()> {
    let TurnView { brains, shotguns, cup, .. } = turn;
    let now = match turn.hand {
        None => "Your turn; ".to_owned(),
        // Told with the roll where dice are words.
        Some(_) if !place.drawn => String::new(),
        Some(_) => format!("{}, {}; ", count(*brains, "brain"), count(*shotguns, "shotgun")),
    };
    let rest = format!("in the cup: {} green, {} yellow, {} red{scores}", cup.green, cup.yellow, cup.red);
    line(out, 2, &format!("{now}{}", dim(rest)))
}

fn read(line: &str) -> Result<Meant<Action>, String> {
    match line.to_lowercase().as_str() {
        "roll" | "r" | "go" | "g" => Ok(Meant::Act(Action::Go)),
        "stop" | "s" => Ok(Meant::Act(Action::Stop)),
        _ => Err(expected(ANSWERS, line)),
    }
}

/// What can be typed.
const ANSWERS: &str = "roll or stop";

fn by_keys(keys: &mut Keys, rules: &str, turn: &TurnView) -> Result<Action, Gone> {
    let bank = match turn.hand {
        None => "[s]top".to_owned(),
        Some(_) => format!("[s]top and bank {}", turn.brains),
    };
    keys.ask(rules, &format!("[r]oll or {bank}?"), |key| match key {
        KeyCode::Char('r' | 'g') => Some(Action::Go),
        KeyCode::Char('s') => Some(Action::Stop),
        _ => None,
    })
}

/// How many scores are shown: at a larger table, the person's own and the best.
const SCORES_SHOWN: usize = 6;

trait Scores {
    fn scores(&self, place: &OwnSeat) -> String;
}

impl Scores for SoloView {
    fn scores(&self, _: &OwnSeat) -> String {
        String::new()
    }
}

impl Scores for RaceView {
    fn scores(&self, _: &OwnSeat) -> String {
        format!("; you have {}, your opponent {}", self.score, self.opponent_score)
    }
}

impl Scores for TableView {
    fn scores(&self, place: &OwnSeat) -> String {
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

/// The controls of all formats.
#[derive(Default)]
pub struct DiceControls(Story);

pub fn controls<G: Game>() -> Box<dyn Controls<G>>
where
    DiceControls: Controls<G>,
{
    Box::new(DiceControls::default())
}

macro_rules! controls {
    ($game:ty, $view:ty) => {
        impl Controls<$game> for DiceControls {
            fn hear(&mut self, out: &mut dyn Write, place: &OwnSeat, heard: &[&Event]) -> io::Result<()> {
                hear::<$game>(&mut self.0, out, place, heard)
            }

            fn show(&mut self, out: &mut dyn Write, place: &OwnSeat, view: &$view) -> io::Result<()> {
                show(out, place, &view.turn, &view.scores(place))
            }

            fn words(&self, _: &OwnSeat, _: &$view) -> String {
                ANSWERS.to_owned()
            }

            fn read(&mut self, _: &OwnSeat, _: &$view, line: &str) -> Result<Meant<Action>, String> {
                read(line)
            }

            fn by_keys(&mut self, keys: &mut Keys, place: &OwnSeat, view: &$view) -> Result<Action, Gone> {
                show(&mut anstream::stdout(), place, &view.turn, &view.scores(place))?;
                by_keys(keys, <$game>::CARD.rules, &view.turn)
            }
        }
    };
}

controls!(Solo, SoloView);
controls!(Race, RaceView);
controls!(Table, TableView);
