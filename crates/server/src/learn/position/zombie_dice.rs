//! Turns of Zombie Dice, as people enter them in the calculator.

use crate::{
    Refusal,
    learn::{Odds, RollOutcome, stopping::left},
};
use necrodome_rules::{
    game::Seat,
    words::count,
    zombie_dice::{Colour, Counts, DICE, Die, Face, RaceView, SoloView, TableView, TurnView},
};
use necrodome_solve::Position;
use schemars::JsonSchema;
use serde::Deserialize;

/// The dice of a turn that are not in the cup.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiceOut {
    /// Brains.
    pub brains: Counts,
    /// Shotguns.
    pub shotguns: Counts,
    /// Footsteps.
    pub feet: Counts,
}

/// Returns the turn that these dice make.
fn turn(dice: &DiceOut) -> Result<TurnView, Refusal> {
    let DiceOut { brains, shotguns, feet } = *dice;
    let Some(cup) = left(&[brains, shotguns, feet]) else {
        return Err(Refusal::bad("expected at most 6 green, 4 yellow and 3 red dice in all"));
    };
    if feet.total() > 3 {
        return Err(Refusal::bad(format!("expected at most 3 footsteps in a hand, got {}", feet.total())));
    }
    let shown = [(Face::Footsteps, feet), (Face::Brain, brains), (Face::Shotgun, shotguns)];
    let shown = shown.into_iter().flat_map(|(face, pile)| {
        Colour::ALL
            .into_iter()
            .flat_map(move |colour| std::iter::repeat_n(Die { colour, face }, pile[colour].into()))
    });
    let mut hand: Vec<Die> = shown.take(3).collect();
    hand.sort_unstable();
    if (1..3).contains(&hand.len()) {
        return Err(Refusal::bad(format!(
            "after a roll at least three dice are out of the cup, got {}",
            hand.len()
        )));
    }
    Ok(TurnView {
        brains: brains.total().into(),
        shotguns: shotguns.total(),
        hand: <[Die; 3]>::try_from(hand).ok(),
        cup,
        brain_dice: brains,
    })
}

/// Returns the odds of the next roll.
pub(super) fn odds(turn: &TurnView) -> Option<Odds> {
    let odds = Position::from(turn).next_roll()?;
    let lost = ("a third shotgun: the turn is lost".to_owned(), odds.bust);
    let brains = (0..4u32).zip(odds.brains).rev().map(|(brains, chance)| match brains {
        0 => ("no brain".to_owned(), chance),
        _ => (count(brains, "brain"), chance),
    });
    let outcomes = brains.chain([lost]).filter(|(_, chance)| *chance > 0.0);
    Some(Odds {
        roll: "If you roll".to_owned(),
        outcomes: outcomes.map(|(words, chance)| RollOutcome { words, chance }).collect(),
    })
}

pub(super) fn solo(dice: &DiceOut) -> Result<SoloView, Refusal> {
    Ok(SoloView { turn: turn(dice)? })
}

pub(super) fn race(dice: &DiceOut, score: u32, other: u32) -> Result<RaceView, Refusal> {
    Ok(RaceView { turn: turn(dice)?, score, opponent_score: other })
}

pub(super) fn table(dice: &DiceOut, score: u32, other: u32, second: bool) -> Result<TableView, Refusal> {
    let turn = turn(dice)?;
    if turn.cup == DICE {
        return Err(Refusal::bad("at a table the first roll is no choice: put dice on the table"));
    }
    let seat = Seat(second.into());
    let scores = if second { vec![other, score] } else { vec![score, other] };
    let playing = Seat::all(2).to_vec();
    Ok(TableView { turn, seat, scores, playing, played: seat.0, rounds: 0, tiebreak: false })
}
