//! Positions as they are clicked together, checked, as what a player would see.

use super::stopping::left;
use crate::Refusal;
use necrodome_rules::{
    game::Seat,
    tokyo::{self, Dice, GOAL as POINTS, MAX_HEALTH, Monster, Phase, TokyoView},
    zombie_dice::{Colour, Counts, Die, Face, GOAL, RaceView, SoloView, TableView, TurnView},
};
use necrodome_solve::{Format, Position};
use schemars::JsonSchema;
use serde::Deserialize;

/// A position to advise on, under the usual rules.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "game", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AdviseOn {
    /// One turn.
    ZombieDiceSolo {
        /// What was rolled.
        dice: DiceOut,
    },
    /// A race of two.
    ZombieDiceRace {
        /// What was rolled.
        dice: DiceOut,
        /// Own brains, banked.
        score: u32,
        /// The other's.
        other: u32,
    },
    /// A table for two.
    ZombieDice {
        /// What was rolled.
        dice: DiceOut,
        /// Own brains, banked.
        score: u32,
        /// The other's.
        other: u32,
        /// Whether the other begins the rounds.
        second: bool,
    },
    /// Two monsters.
    Tokyo {
        /// Own health and the other's.
        health: [u8; 2],
        /// Own points and the other's, with those for this turn in Tokyo.
        points: [u32; 2],
        /// Where the player stands.
        place: MonsterPlace,
        /// What is asked.
        asked: MonsterAsked,
    },
}

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

/// Where the player's monster stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MonsterPlace {
    /// In Tokyo.
    In,
    /// The other is in Tokyo.
    Out,
    /// Nobody is: the first turn.
    Empty,
}

/// What the player's monster is asked.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum MonsterAsked {
    /// Which dice to keep.
    Rolling {
        /// The dice.
        dice: Dice,
        /// How often it may still reroll.
        rerolls: u8,
    },
    /// It was hit in Tokyo: leave or stay?
    Hit {
        /// Heal dice that the attacker has still to use.
        heals: u8,
    },
}

fn refuse<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::bad(why))
}

/// The turn that these dice make.
fn turn(dice: &DiceOut) -> Result<TurnView, Refusal> {
    let DiceOut { brains, shotguns, feet } = *dice;
    let piles = [brains, shotguns, feet];
    let Some(cup) = left(&piles) else {
        return refuse("expected at most 6 green, 4 yellow and 3 red dice in all");
    };
    let [brain_dice, shots, steps] = piles.map(Counts::total);
    if shots >= 3 {
        return refuse(format!("with {shots} shotguns the turn is over, and its brains are lost"));
    }
    if steps > 3 {
        return refuse(format!("expected at most 3 footsteps in a hand, got {steps}"));
    }
    if cup.total() + steps < 3 {
        return refuse(format!("fewer than three dice are left, so the turn is over and banks {brain_dice}"));
    }
    let out = brain_dice + shots + steps;
    if (1..3).contains(&out) {
        return refuse(format!("after a roll at least three dice are out of the cup, got {out}"));
    }
    let shown = [(Face::Footsteps, feet), (Face::Brain, brains), (Face::Shotgun, shotguns)];
    let shown = shown.into_iter().flat_map(|(face, pile)| {
        Colour::ALL
            .into_iter()
            .flat_map(move |colour| std::iter::repeat_n(Die { colour, face }, pile[colour].into()))
    });
    let mut hand: Vec<Die> = shown.take(3).collect();
    hand.sort_unstable();
    Ok(TurnView {
        brains: brain_dice.into(),
        shotguns: shots,
        hand: <[Die; 3]>::try_from(hand).ok(),
        cup,
        brain_dice: brains,
    })
}

/// Whether a turn comes to these dice.
pub(super) fn reached(format: &impl Format, turn: &TurnView) -> Result<(), Refusal> {
    match format.graph().spot(&Position::from(turn)) {
        Some(_) => Ok(()),
        None => refuse("no turn comes to these dice"),
    }
}

fn scores(own: u32, other: u32, most: u32) -> Result<(), Refusal> {
    match own >= GOAL || other > most {
        true => refuse(format!(
            "expected a score below {GOAL}, and at most {most} of the other, got {own} to {other}"
        )),
        false => Ok(()),
    }
}

pub(super) fn solo(dice: &DiceOut) -> Result<SoloView, Refusal> {
    Ok(SoloView { turn: turn(dice)? })
}

pub(super) fn race(dice: &DiceOut, score: u32, other: u32) -> Result<RaceView, Refusal> {
    scores(score, other, GOAL - 1)?;
    Ok(RaceView { turn: turn(dice)?, score, opponent_score: other })
}

pub(super) fn table(dice: &DiceOut, score: u32, other: u32, second: bool) -> Result<TableView, Refusal> {
    // Who begins the rounds and has 13 has made this the last one; nobody banks more than ten and three at once.
    scores(score, other, if second { GOAL + 12 } else { GOAL - 1 })?;
    let turn = turn(dice)?;
    if turn.hand.is_none() {
        return refuse("at a table the first roll is no choice: put dice on the table");
    }
    let seat = Seat(second.into());
    let scores = if second { vec![other, score] } else { vec![score, other] };
    let playing = Seat::all(2).to_vec();
    Ok(TableView { turn, seat, scores, playing, played: seat.0, rounds: 0, tiebreak: false })
}

pub(super) fn tokyo(
    health: [u8; 2],
    points: [u32; 2],
    place: MonsterPlace,
    asked: MonsterAsked,
) -> Result<TokyoView, Refusal> {
    if health.iter().any(|health| !(1..=MAX_HEALTH).contains(health)) {
        return refuse(format!(
            "expected health from 1 to {MAX_HEALTH}, got {} and {}",
            health[0], health[1]
        ));
    }
    if points.iter().any(|&points| points >= POINTS) {
        return refuse(format!("expected fewer than {POINTS} points, got {} and {}", points[0], points[1]));
    }
    let is_start = health == [MAX_HEALTH; 2] && points == [0; 2];
    if place == MonsterPlace::Empty && !is_start {
        return refuse("Tokyo is empty only on the first turn, with health 10 and 0 points each");
    }
    if place == MonsterPlace::Out && points[1] == 0 {
        return refuse("the other is in Tokyo, so it has at least 1 point, for entering");
    }
    let (current, dice, phase) = match asked {
        MonsterAsked::Rolling { dice, rerolls } => {
            if !(1..=2).contains(&rerolls) {
                return refuse(format!("expected 1 or 2 rerolls left, got {rerolls}"));
            }
            if place == MonsterPlace::In && points[0] < 3 {
                return refuse(
                    "you are in Tokyo, so you have at least 3 points: 1 for entering, 2 for this turn",
                );
            }
            (Seat(0), dice, Phase::Rolling { rerolls_left: rerolls })
        }
        MonsterAsked::Hit { heals } => {
            if place != MonsterPlace::In {
                return refuse("only a monster in Tokyo is asked whether to leave");
            }
            if health[0] >= MAX_HEALTH || points[0] == 0 || heals > 5 {
                return refuse(
                    "expected health below 10 after a hit, at least 1 point for entering, and at most 5 heals",
                );
            }
            // Of the attacker's dice only those that heal still matter.
            let die = |at: usize| if at < heals.into() { tokyo::Face::Heal } else { tokyo::Face::Attack };
            (Seat(1), std::array::from_fn(die), Phase::Yielding { damage: 6 - heals })
        }
    };
    let monster = |seat: usize| Monster { health: health[seat], points: points[seat] };
    let in_tokyo = match place {
        MonsterPlace::In => Some(Seat(0)),
        MonsterPlace::Out => Some(Seat(1)),
        MonsterPlace::Empty => None,
    };
    Ok(TokyoView {
        seat: Seat(0),
        current,
        monsters: vec![monster(0), monster(1)],
        in_tokyo,
        dice,
        phase,
        turn: 1,
    })
}
