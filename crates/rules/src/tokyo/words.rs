//! Tokyo in words.

use super::{Action, Event, Face, Monster, Phase, TokyoView};
use crate::{
    game::Move,
    names::Names,
    text,
    words::{Ink, Shade, Text, Told, bad, count, name},
};
use alloc::{format, string::String, vec, vec::Vec};

/// The name of a face.
pub fn face(face: Face) -> &'static str {
    match face {
        Face::One => "1",
        Face::Two => "2",
        Face::Three => "3",
        Face::Heal => "heal",
        Face::Attack => "attack",
    }
}

/// Dice sorted by their faces, where their positions do not matter: `1 1 attack`.
pub fn faces(dice: impl IntoIterator<Item = Face>) -> String {
    let mut dice: Vec<Face> = dice.into_iter().collect();
    dice.sort_unstable();
    in_place(dice)
}

/// Dice as they lie, which is how an action counts them: `1 attack 1`.
fn in_place(dice: impl IntoIterator<Item = Face>) -> String {
    dice.into_iter().map(face).collect::<Vec<_>>().join(" ")
}

fn die((die, kept): (&Face, &bool)) -> Text {
    let shade = match die {
        Face::One | Face::Two | Face::Three => Shade::Yellow,
        Face::Heal => Shade::Green,
        Face::Attack => Shade::Red,
    };
    Text::new(if *kept { Ink::KeptDie(shade) } else { Ink::Die(shade) }, face(*die))
}

pub(super) fn tell(event: &Event, names: &Names) -> Vec<Told> {
    vec![match event {
        Event::TurnStarted { seat, points: 0 } => Told::by(*seat, "begins a turn").mark(),
        Event::TurnStarted { seat, points } => {
            Told::by(*seat, format!("begins a turn in Tokyo: +{}", count(*points, "point"))).mark()
        }
        Event::Rolled { seat, dice, kept } => {
            Told::by(*seat, text!["rolls ", Text::join(dice.iter().zip(kept).map(die), " ")])
        }
        Event::Scored { seat, points } => Told::by(*seat, format!("scores {}", count(*points, "point"))),
        Event::Hit { seat, by, damage, health } => {
            let hits = text!["hits ", name(names, *seat), format!(" for {damage}, ")];
            Told::by(
                *by,
                match health {
                    0 => hits.and(bad("who is out")),
                    health => hits.and(format!("health {health}")),
                },
            )
        }
        Event::Decided { seat, yields: true } => Told::by(*seat, "leaves Tokyo"),
        Event::Decided { seat, yields: false } => Told::by(*seat, "stays in Tokyo"),
        Event::Healed { seat, health } => Told::by(*seat, format!("heals to {health}")),
        Event::Entered { seat, points } => {
            Told::by(*seat, format!("enters Tokyo: +{}", count(*points, "point")))
        }
    }]
}

/// Where the monster with this view is.
pub fn place(view: &TokyoView) -> &'static str {
    match view.in_tokyo {
        None => "Tokyo empty",
        Some(seat) if seat == view.seat => "in Tokyo",
        Some(_) => "outside",
    }
}

pub(super) fn situation(view: &TokyoView) -> Text {
    let own = view.monsters[view.seat.index()];
    let others = view.monsters.iter().enumerate().filter(|(seat, _)| *seat != view.seat.index());
    let told =
        |monster: &Monster| format!("health {} and {}", monster.health, count(monster.points, "point"));
    let others = others.map(|(_, monster)| told(monster)).collect::<Vec<_>>().join("; ");
    let who = if view.monsters.len() == 2 { "the other" } else { "the others" };
    let ask = match view.phase {
        Phase::Rolling { rerolls_left } => {
            format!("{} left, dice in order: {}", count(rerolls_left, "reroll"), in_place(view.dice))
        }
        Phase::Yielding { damage } => format!("hit for {damage}"),
        Phase::Over => "over".into(),
    };
    format!("{}, {} ({who}: {others}), {ask}", place(view), told(&own)).into()
}

/// The dice that are kept.
pub fn kept(view: &TokyoView, keep: [bool; 6]) -> impl Iterator<Item = Face> {
    view.dice.into_iter().zip(keep).filter(|(_, kept)| *kept).map(|(die, _)| die)
}

/// Describes what a monster does.
pub fn choice(view: &TokyoView, choice: &Move<Action>) -> Text {
    match choice {
        Move::Act(Action::Keep { dice }) if *dice == [true; 6] => "keeps all".into(),
        Move::Act(Action::Keep { dice }) if *dice == [false; 6] => "rerolls all".into(),
        Move::Act(Action::Keep { dice }) => format!("keeps {}", faces(kept(view, *dice))).into(),
        Move::Act(Action::Yield) => "leaves Tokyo".into(),
        Move::Act(Action::Stay) => "stays in Tokyo".into(),
        Move::Forfeit => "gives no valid answer".into(),
    }
}

pub(super) fn label(view: &TokyoView, action: &Action) -> String {
    match action {
        Action::Keep { dice } if *dice == [true; 6] => "keep all".into(),
        Action::Keep { dice } if *dice == [false; 6] => "reroll all".into(),
        Action::Keep { dice } => format!("keep {}", faces(kept(view, *dice))),
        Action::Yield => "leave Tokyo".into(),
        Action::Stay => "stay in Tokyo".into(),
    }
}

pub(super) fn key(action: &Action) -> Option<char> {
    match action {
        Action::Keep { dice } if *dice == [true; 6] => Some('k'),
        Action::Keep { .. } => None,
        Action::Yield => Some('l'),
        Action::Stay => Some('s'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Seat;
    use alloc::string::ToString;

    #[test]
    fn the_situation_tells_dice_in_the_order_in_which_an_action_counts_them() {
        let dice = [Face::Three, Face::Attack, Face::Three, Face::Heal, Face::Two, Face::One];
        let monster = |health, points| Monster { health, points };
        let mut view = TokyoView {
            seat: Seat(1),
            current: Seat(1),
            monsters: vec![monster(10, 0), monster(7, 1)],
            in_tokyo: Some(Seat(0)),
            dice,
            phase: Phase::Rolling { rerolls_left: 2 },
            turn: 2,
        };
        assert_eq!(
            situation(&view).to_string(),
            "outside, health 7 and 1 point (the other: health 10 and 0 points), 2 rerolls left, dice in order: 3 attack 3 heal 2 1"
        );
        view.monsters.push(monster(3, 12));
        view.phase = Phase::Yielding { damage: 2 };
        assert_eq!(
            situation(&view).to_string(),
            "outside, health 7 and 1 point (the others: health 10 and 0 points; health 3 and 12 points), hit for 2"
        );
    }
}
