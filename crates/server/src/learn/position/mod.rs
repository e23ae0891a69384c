//! The positions that the calculator takes, as a player would see them: one variant for each solved game.

mod tokyo;
mod zombie_dice;

use super::{Advice, of};
use crate::Refusal;
use necrodome_rules::{
    tokyo::Tokyo,
    zombie_dice::{Race, Solo, Table},
};
use schemars::JsonSchema;
use serde::Deserialize;
pub use tokyo::{MonsterAsked, MonsterPlace};
pub use zombie_dice::DiceOut;

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
        /// The player's banked brains.
        score: u32,
        /// The opponent's banked brains.
        other: u32,
    },
    /// A table for two.
    ZombieDice {
        /// What was rolled.
        dice: DiceOut,
        /// The player's banked brains.
        score: u32,
        /// The opponent's banked brains.
        other: u32,
        /// Whether the opponent goes first in each round.
        second: bool,
    },
    /// Two monsters.
    Tokyo {
        /// The player's health and the opponent's.
        health: [u8; 2],
        /// The player's points and the opponent's, including those for starting this turn in Tokyo.
        points: [u32; 2],
        /// Where the player stands.
        place: MonsterPlace,
        /// The decision to make.
        asked: MonsterAsked,
    },
}

impl AdviseOn {
    pub(super) fn advice(&self) -> Result<Advice, Refusal> {
        match self {
            AdviseOn::ZombieDiceSolo { dice } => {
                of::<Solo>(1, &zombie_dice::solo(dice)?, |view, _| zombie_dice::odds(&view.turn))
            }
            AdviseOn::ZombieDiceRace { dice, score, other } => {
                of::<Race>(2, &zombie_dice::race(dice, *score, *other)?, |view, _| {
                    zombie_dice::odds(&view.turn)
                })
            }
            AdviseOn::ZombieDice { dice, score, other, second } => {
                let view = zombie_dice::table(dice, *score, *other, *second)?;
                of::<Table>(2, &view, |view, _| zombie_dice::odds(&view.turn))
            }
            AdviseOn::Tokyo { health, points, place, asked } => {
                of::<Tokyo>(2, &tokyo::view(*health, *points, *place, *asked), tokyo::odds)
            }
        }
    }
}
