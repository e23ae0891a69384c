//! When to stop: for every number of brains and every kind of footsteps, how much better it is to roll than to stop.

use crate::film::Unit;
use necrodome_rules::{
    game::Seat,
    zombie_dice::{Colour, Counts, DICE},
};
use necrodome_solve::{Position, TurnSolution};
use schemars::JsonSchema;
use serde::Serialize;

/// A picture of when to stop. Colours of dice that are set aside are not asked for: all that they can be count, each by its
/// probability.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Stopping {
    /// Shotguns of the turn.
    pub shotguns: u8,
    /// What values count.
    pub unit: Unit,
    /// The footsteps, from no die to three.
    pub rows: Vec<Row>,
}

/// One kind of footsteps.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Row {
    /// The dice that are rolled again.
    pub feet: Counts,
    /// What to do by brains, from 0; none where no turn comes to it.
    pub cells: Vec<Option<Cell>>,
}

/// Roll or stop.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Cell {
    /// What it is worth to roll.
    pub roll: f64,
    /// What it is worth to stop.
    pub stop: f64,
    /// How often rolling is right, over all colours that the dice set aside can have.
    pub rolls: f64,
}

const ALL: u8 = 13;

/// The picture for these scores.
pub(super) fn picture(format: &impl TurnSolution, scores: [u32; 2], shotguns: u8, unit: Unit) -> Stopping {
    let row = |feet: Counts| Row {
        feet,
        cells: (0..=ALL - 3).map(|brains| cell(format, scores, brains, shotguns, feet)).collect(),
    };
    let rows = (0..=3).flat_map(colourings).map(row).collect();
    Stopping { shotguns, unit, rows }
}

fn cell(
    format: &impl TurnSolution,
    scores: [u32; 2],
    brains: u8,
    shotguns: u8,
    feet: Counts,
) -> Option<Cell> {
    let prices = format.turn(Seat(0), scores, false);
    let (mut all, mut roll, mut rolls) = (0.0, 0.0, 0.0);
    for aside in colourings(brains) {
        for shots in colourings(shotguns) {
            let Some(cup) = left(&[aside, shots, feet]) else { continue };
            let position = Position { cup, feet, shots, brains: brains.into() };
            let Some(spot) = format.graph().spot(&position) else { continue };
            let weight = weight(aside, shots, feet, cup);
            all += weight;
            roll += weight * prices.go(spot);
            rolls += if prices.rolls(spot) { weight } else { 0.0 };
        }
    }
    let stop = prices.banked(brains.into());
    (all > 0.0).then(|| Cell { roll: roll / all, stop, rolls: rolls / all })
}

/// All colours that so many dice can have.
fn colourings(number: u8) -> Vec<Counts> {
    let mut all = Vec::new();
    for green in (0..=number.min(DICE.green)).rev() {
        for yellow in (0..=(number - green).min(DICE.yellow)).rev() {
            let red = number - green - yellow;
            if red <= DICE.red {
                all.push(Counts { green, yellow, red });
            }
        }
    }
    all
}

/// The dice that are in none of the piles.
pub(super) fn left(piles: &[Counts]) -> Option<Counts> {
    let mut cup = DICE;
    for colour in Colour::ALL {
        let out: u32 = piles.iter().map(|pile| u32::from(pile[colour])).sum();
        cup[colour] = cup[colour].checked_sub(u8::try_from(out).ok()?)?;
    }
    Some(cup)
}

/// In proportion to the probability: a draw without replacement, and the face that each die set aside shows. Footsteps are as
/// likely with every colour, so they tell nothing.
fn weight(aside: Counts, shots: Counts, feet: Counts, cup: Counts) -> f64 {
    let factorial = |number: u8| (1..=number).map(f64::from).product::<f64>();
    let of = |colour: Colour| {
        let [brain, _, shotgun] = colour.sides().map(|sides| f64::from(sides) / 6.0);
        let piles: f64 = [aside, shots, feet, cup].iter().map(|pile| factorial(pile[colour])).product();
        let ways = factorial(DICE[colour]) / piles;
        ways * brain.powi(aside[colour].into()) * shotgun.powi(shots[colour].into())
    };
    Colour::ALL.into_iter().map(of).product()
}
