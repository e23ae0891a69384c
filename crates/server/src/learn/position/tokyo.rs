//! Positions of two monsters, as people enter them in the calculator.

use crate::learn::{Odds, RollOutcome};
use necrodome_rules::tokyo::{Action, Dice, Face, TokyoView};
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

/// The decision of the player's monster.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum MonsterAsked {
    /// Which dice to keep.
    Rolling {
        /// The dice.
        dice: Dice,
        /// How many rerolls are left.
        rerolls: u8,
    },
    /// It was hit in Tokyo: leave or stay?
    Hit {
        /// Heal dice that the attacker has not used yet.
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

/// Returns how many of the dice that the best choice rerolls will show a wanted face: all faces are equally likely.
pub(super) fn odds(_: &TokyoView, best: &Action) -> Option<Odds> {
    let Action::Keep { dice } = best else { return None };
    let rolled = dice.iter().filter(|kept| !**kept).count() as u32;
    if rolled == 0 {
        return None;
    }
    let face = 1.0 / Face::ALL.len() as f64;
    let ways = |shown: u32| (0..shown).fold(1.0, |ways, i| ways * f64::from(rolled - i) / f64::from(i + 1));
    let chance =
        |shown: u32| ways(shown) * face.powi(shown as i32) * (1.0 - face).powi((rolled - shown) as i32);
    let words = |shown: u32| match shown {
        0 => "none".to_owned(),
        1 => "1 die".to_owned(),
        shown => format!("{shown} dice"),
    };
    Some(Odds {
        roll: match rolled {
            1 => "If you reroll 1 die, does it show a face that you want, such as attack?".to_owned(),
            _ => format!("If you reroll {rolled} dice, how many show a face that you want, such as attack?"),
        },
        outcomes: (0..=rolled)
            .map(|shown| RollOutcome { words: words(shown), chance: chance(shown) })
            .collect(),
    })
}
