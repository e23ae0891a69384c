//! Zombie Dice in words.

use super::{Action, Colour, Counts, Die, Event, Face, TurnEnd, TurnView};
use crate::{
    game::Move,
    names::Names,
    text,
    words::{Ink, Shade, Text, Told, bad, count, dim, name_all, strong},
};
use alloc::{format, string::String, vec, vec::Vec};
use core::iter::repeat_n;

/// The name of a colour.
pub fn colour(colour: Colour) -> &'static str {
    match colour {
        Colour::Green => "green",
        Colour::Yellow => "yellow",
        Colour::Red => "red",
    }
}

fn die(die: Die) -> Text {
    let shade = match die.colour {
        Colour::Green => Shade::Green,
        Colour::Yellow => Shade::Yellow,
        Colour::Red => Shade::Red,
    };
    let face = match die.face {
        Face::Brain => "brain",
        Face::Footsteps => "footsteps",
        Face::Shotgun => "shotgun",
    };
    Text::new(Ink::Die(shade), format!("{} {face}", colour(die.colour)))
}

pub(super) fn tell(event: &Event, names: &Names) -> Vec<Told> {
    vec![match event {
        Event::Rolled { seat, hand, brains, shotguns } => {
            let dice = Text::join(hand.map(die), " ");
            let sum = format!("  {}, {}", count(*brains, "brain"), count(*shotguns, "shotgun"));
            Told::by(*seat, text!["rolls ", dice, dim(sum)])
        }
        Event::TurnEnded { seat, why, banked, score } => {
            let what = match why {
                TurnEnd::Stopped => format!("stops and banks {banked}").into(),
                TurnEnd::OutOfDice => format!("is out of dice and banks {banked}").into(),
                TurnEnd::Busted => bad("is shot three times and gets nothing"),
                TurnEnd::Forfeited => bad("gave no valid answer and gets nothing"),
            };
            Told::by(*seat, text![what, ", score ", strong(score)]).mark()
        }
        Event::TiebreakStarted { seats } => Told::all(text![
            strong("Tiebreak:"),
            " ",
            name_all(names, seats),
            " are tied and play another round"
        ])
        .mark(),
    }]
}

/// Describes what a zombie does.
pub fn choice(choice: &Move<Action>) -> Text {
    match choice {
        Move::Act(Action::Go) => "rolls",
        Move::Act(Action::Stop) => "stops",
        Move::Forfeit => "gives no valid answer and loses the turn",
    }
    .into()
}

pub(super) fn label(turn: &TurnView, action: Action) -> String {
    match action {
        Action::Go => "roll".into(),
        Action::Stop if turn.hand.is_none() => "stop".into(),
        Action::Stop => format!("stop and bank {}", turn.brains),
    }
}

pub(super) fn key(action: Action) -> char {
    match action {
        Action::Go => 'r',
        Action::Stop => 's',
    }
}

/// Lists colours: `green green red`.
fn colours(counts: Counts) -> String {
    let dice = Colour::ALL.into_iter().flat_map(|c| repeat_n(colour(c), counts[c].into()));
    dice.collect::<Vec<_>>().join(" ")
}

/// Describes the dice of a turn: `3 brains, 2 shotguns, feet green green`.
pub fn turn(turn: &TurnView) -> String {
    if turn.hand.is_none() {
        return "nothing rolled yet".into();
    }
    let text = format!("{}, {}", count(turn.brains, "brain"), count(turn.shotguns, "shotgun"));
    match turn.footsteps() {
        feet if feet.total() == 0 => text,
        feet => format!("{text}, feet {}", colours(feet)),
    }
}

pub(super) fn score(score: i64) -> String {
    count(score.unsigned_abs(), "brain")
}
