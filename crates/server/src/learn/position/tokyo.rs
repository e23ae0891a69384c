//! Two monsters as they are clicked together.

use necrodome_rules::tokyo::{Dice, TokyoView};
use necrodome_solve::{MonsterQuestion, Place};
use schemars::JsonSchema;
use serde::Deserialize;

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

pub(super) fn view(health: [u8; 2], points: [u32; 2], place: MonsterPlace, asked: MonsterAsked) -> TokyoView {
    let place = match place {
        MonsterPlace::In => Place::Inside,
        MonsterPlace::Out => Place::Outside,
        MonsterPlace::Empty => Place::Empty,
    };
    let question = match asked {
        MonsterAsked::Rolling { dice, rerolls } => MonsterQuestion::Keep { dice, rerolls },
        MonsterAsked::Hit { heals } => MonsterQuestion::Leave { heals },
    };
    question.view(health, points, place)
}
