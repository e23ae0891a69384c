//! The events of a turn.

use super::{board::Square, view::WhoIs};
use crate::game::Seat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The piece that a rising zombie replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replaced {
    /// Its name, as a place in the list of names.
    pub who: WhoIs,
    /// Its identity number.
    pub number: u32,
}

/// The result of a shot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShotResult {
    /// The target is hit.
    Hit,
    /// The target is not within range, or there is no such number: the bullet is lost.
    Missed,
    /// The copy had no bullet: nothing happened.
    NoBullet,
}

/// An event. An entry hears what happens to its own copies, and what its living copies see happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "LastBulletEvent")]
pub enum Event {
    /// A zombie rose.
    Rose {
        /// The square.
        square: Square,
        /// Its number.
        number: u32,
        /// The piece that it replaced.
        replaced: Option<Replaced>,
    },
    /// A player next to a zombie became one.
    Bitten {
        /// The entry.
        seat: Seat,
        /// The number of the copy.
        number: u32,
        /// The number of the zombie it is now.
        zombie: u32,
    },
    /// A copy shot.
    Shot {
        /// The entry.
        seat: Seat,
        /// The number of the copy.
        number: u32,
        /// The number it shot at.
        target: u32,
        /// The result.
        result: ShotResult,
    },
    /// A piece that was hit became a corpse.
    Killed {
        /// The name of the piece, as a place in the list of names.
        who: WhoIs,
        /// The number that the piece had.
        number: u32,
        /// The number of the corpse.
        corpse: u32,
    },
    /// A copy took bullets from a corpse.
    Scavenged {
        /// The entry.
        seat: Seat,
        /// The number of the copy.
        number: u32,
        /// The number of the corpse.
        corpse: u32,
        /// The number of bullets.
        bullets: u32,
    },
    /// The last copy of an entry is gone.
    EntryOut {
        /// The entry.
        seat: Seat,
        /// Its score.
        score: u32,
    },
}
