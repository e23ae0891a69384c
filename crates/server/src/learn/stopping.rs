//! When to stop: for every number of brains and every combination of footsteps, how much better it is to roll than to stop.

use crate::film::Unit;
use necrodome_rules::{
    game::Seat,
    zombie_dice::{Colour, Counts, DICE},
};
use necrodome_solve::{Position, TurnSolution};
use schemars::JsonSchema;
use serde::Serialize;

/// A picture of when to stop. It does not depend on the colours of the dice set aside: it averages over all possible colours,
/// weighted by their probability.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Stopping {
    /// Shotguns of the turn.
    pub shotguns: u8,
    /// The unit of the values.
    pub unit: Unit,
    /// The footsteps, from no die to three.
    pub rows: Vec<Row>,
}

/// One combination of footsteps.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Row {
    /// The dice that are rolled again.
    pub feet: Counts,
    /// Rolling and stopping compared, by brains from 0; none where no turn gets there.
    pub cells: Vec<Option<Cell>>,
}

/// The values of rolling and stopping.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Cell {
    /// The value of rolling.
    pub roll: f64,
    /// The value of stopping.
    pub stop: f64,
    /// How often rolling is right, over all possible colours of the dice set aside.
    pub rolls: f64,
}

const ALL: u8 = 13;

/// Draws the picture for these scores.
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

/// Returns every combination of colours that this number of dice can have.
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

/// Returns the dice that are in none of the piles, or `None` if the piles have more dice than the game.
pub(super) fn left(piles: &[Counts]) -> Option<Counts> {
    let mut cup = DICE;
    for colour in Colour::ALL {
        let out: u32 = piles.iter().map(|pile| u32::from(pile[colour])).sum();
        cup[colour] = cup[colour].checked_sub(u8::try_from(out).ok()?)?;
    }
    Some(cup)
}

/// Returns a weight in proportion to the probability: dice are drawn without replacement, and each die set aside shows its face
/// with the probability of its colour. Footsteps are equally likely for every colour, so they do not matter.
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
