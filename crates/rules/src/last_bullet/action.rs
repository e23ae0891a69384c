//! What an entry can order its copies to do.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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

impl Action {
    /// Reads orders one by one: a malformed one costs the copy that it names, and no other. Says what was malformed.
    pub(super) fn read(json: &Value) -> Result<(Action, Option<String>), serde_json::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Unread {
            orders: Vec<Value>,
        }
        if let Ok(action) = Action::deserialize(json) {
            return Ok((action, None));
        }
        let Unread { orders: unread } = Unread::deserialize(json)?;
        let mut orders = Vec::with_capacity(unread.len());
        let (mut first, mut others) = (None, 0);
        for (number, json) in (1..).zip(&unread) {
            match Order::deserialize(json) {
                Ok(order) => orders.push(order),
                Err(error) => {
                    let rest = Order::rest_of(json);
                    orders.extend(rest);
                    match first {
                        None => first = Some(complaint(number, json, rest, &error)),
                        Some(_) => others += 1,
                    }
                }
            }
        }
        let why = first
            .map(|first| if others == 0 { first } else { format!("{first}; and {others} more like it") });
        Ok((Action { orders }, why))
    }
}

/// What is wrong with the order that has this number in the list, and what comes of it.
fn complaint(number: usize, json: &Value, rest: Option<Order>, error: &serde_json::Error) -> String {
    const SHOWN: usize = 120;
    let text = json.to_string();
    let dots = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
    let shown = text.chars().take(SHOWN).collect::<String>() + dots;
    // Bots are not written in Rust.
    let error = error.to_string().replace("expected u32", "expected a whole number");
    match rest {
        None => format!("order {number} names no copy: {shown}"),
        Some(Order::Move { copy, .. }) => {
            format!("order {number} is malformed, so copy {copy} stays: {shown} ({error})")
        }
        Some(Order::Shoot { copy, .. }) => {
            format!("order {number} is malformed, so copy {copy} wastes its shot: {shown} ({error})")
        }
    }
}

/// The number of nobody: a shot at it spends its bullet and hits nothing.
pub const NOBODY: u32 = u32::MAX;

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
    /// What a malformed order does: the copy that it names stays, and a shot is spent all the same.
    fn rest_of(json: &Value) -> Option<Self> {
        let copy = json.get("copy")?.as_u64()?.try_into().ok()?;
        Some(match json.get("type").and_then(Value::as_str) {
            Some("shoot") => Order::Shoot { copy, target: NOBODY },
            _ => Order::Move { copy, direction: Direction::Stay },
        })
    }

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
