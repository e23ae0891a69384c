//! The positions that the calculator takes, as what a player would see: one variant for each solved game.

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

impl AdviseOn {
    pub(super) fn advice(&self) -> Result<Advice, Refusal> {
        match self {
            AdviseOn::ZombieDiceSolo { dice } => of::<Solo>(1, &zombie_dice::solo(dice)?),
            AdviseOn::ZombieDiceRace { dice, score, other } => {
                of::<Race>(2, &zombie_dice::race(dice, *score, *other)?)
            }
            AdviseOn::ZombieDice { dice, score, other, second } => {
                of::<Table>(2, &zombie_dice::table(dice, *score, *other, *second)?)
            }
            AdviseOn::Tokyo { health, points, place, asked } => {
                of::<Tokyo>(2, &tokyo::view(*health, *points, *place, *asked))
            }
        }
    }
}
