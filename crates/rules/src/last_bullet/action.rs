//! What an entry can order its copies to do.

use alloc::vec::Vec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of nine moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Direction {
    Northwest,
    North,
    Northeast,
    West,
    Stay,
    East,
    Southwest,
    South,
    Southeast,
}

impl Direction {
    /// All moves, from north to south and from west to east.
    pub const ALL: [Direction; 9] = [
        Direction::Northwest,
        Direction::North,
        Direction::Northeast,
        Direction::West,
        Direction::Stay,
        Direction::East,
        Direction::Southwest,
        Direction::South,
        Direction::Southeast,
    ];

    /// Where it leads: squares to the east and to the south.
    pub fn offset(self) -> (i32, i32) {
        let place = self as i32;
        (place % 3 - 1, place / 3 - 1)
    }

    /// The step that leads toward an offset.
    pub fn toward(dx: i32, dy: i32) -> Direction {
        Direction::ALL[((dy.signum() + 1) * 3 + dx.signum() + 1) as usize]
    }
}

/// The orders of an entry for its copies. A copy without an order stays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// At most one order for each living copy.
    pub orders: Vec<Order>,
}

/// What one copy does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// Walk.
    Move {
        /// The number of the copy.
        copy: u32,
        /// Where to.
        direction: Direction,
    },
    /// Shoot.
    Shoot {
        /// The number of the copy.
        copy: u32,
        /// The number of whoever is to be hit. A wrong one costs the bullet all the same.
        target: u32,
    },
}

impl Order {
    pub(super) fn copy(self) -> u32 {
        match self {
            Order::Move { copy, .. } | Order::Shoot { copy, .. } => copy,
        }
    }
}

/// Why orders are not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// An order for somebody else, or for nobody.
    #[error("an order for number {copy}, which is not a living copy of this entry")]
    NotYours {
        /// The number in the order.
        copy: u32,
    },
    /// Two orders for one copy.
    #[error("two orders for copy {copy}")]
    Twice {
        /// The copy.
        copy: u32,
    },
}
