//! Zombie Dice (rulebook section 1): push your luck with thirteen dice.
//!
//! [`Turn`] is the turn that all formats share; [`Solo`] is one turn, [`Race`] two players to 13, [`Table`] 2 to 99
//! players with a last round and tiebreaks.

mod bots;
mod card;
mod dice;
mod race;
mod solo;
mod table;
mod turn;
pub mod words;

pub use bots::built_ins;
pub use dice::{Colour, Counts, DICE, Die, Face};
pub use race::{Race, RaceRules, RaceView, WIN_REWARD};
pub use solo::{Solo, SoloRules, SoloView};
pub use table::{Table, TableRules, TableView, Tiebreak};
pub use turn::{Rolled, Turn, TurnView};

use crate::game::Seat;
use alloc::vec::Vec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The score that ends a race on the spot, and a table game after the round.
pub const GOAL: u32 = 13;

/// A choice in any format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "ZombieDiceAction")]
pub enum Action {
    /// Roll three dice.
    Go,
    /// End the turn and bank its brains.
    Stop,
}

/// What happens when cup and footsteps hold fewer than three dice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutOfDice {
    /// The turn ends and its brains are banked.
    #[default]
    EndTurn,
    /// The brain dice go back into the cup, their points stay counted, and rolling can go on.
    RecycleBrains,
}

/// Whether the first roll of a turn is a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FirstRoll {
    /// Stopping before the first roll is legal and banks 0.
    Free,
    /// The first roll is made at once, and the first decision comes after it.
    Mandatory,
}

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The player stopped.
    Stopped,
    /// Fewer than three dice were left.
    OutOfDice,
    /// The third shotgun: nothing is banked.
    Busted,
    /// No valid action came from the player: nothing is banked.
    Forfeited,
}

/// An event of any format. Everybody may hear of it: nothing in this game is hidden.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "ZombieDiceEvent")]
pub enum Event {
    /// Three dice were rolled.
    Rolled {
        /// The seat that rolled.
        seat: Seat,
        /// The dice, sorted by colour and face.
        hand: [Die; 3],
        /// Brains of this turn so far.
        brains: u32,
        /// Shotguns of this turn so far.
        shotguns: u8,
    },
    /// A turn is over.
    TurnEnded {
        /// Whose turn.
        seat: Seat,
        /// Why it ended.
        why: TurnEnd,
        /// Points banked for it.
        banked: u32,
        /// The player's score now.
        score: u32,
    },
    /// The players who are tied for the lead play another round.
    TiebreakStarted {
        /// The tied players.
        seats: Vec<Seat>,
    },
}
