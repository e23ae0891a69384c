//! Two monsters as they are clicked together.

use necrodome_rules::{
    game::Seat,
    tokyo::{Dice, Face, Monster, Phase, TokyoView},
};
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
    let (current, dice, phase) = match asked {
        MonsterAsked::Rolling { dice, rerolls } => (Seat(0), dice, Phase::Rolling { rerolls_left: rerolls }),
        MonsterAsked::Hit { heals } => {
            // Of the attacker's dice only those that heal still matter.
            let die = |at: usize| if at < heals.into() { Face::Heal } else { Face::Attack };
            (Seat(1), std::array::from_fn(die), Phase::Yielding { damage: 6_u8.saturating_sub(heals) })
        }
    };
    let monster = |seat: usize| Monster { health: health[seat], points: points[seat] };
    let in_tokyo = match place {
        MonsterPlace::In => Some(Seat(0)),
        MonsterPlace::Out => Some(Seat(1)),
        MonsterPlace::Empty => None,
    };
    TokyoView {
        seat: Seat(0),
        current,
        monsters: vec![monster(0), monster(1)],
        in_tokyo,
        dice,
        phase,
        turn: 1,
    }
}
