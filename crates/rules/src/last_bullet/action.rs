//! The orders that an entry can give its copies.

use crate::misread::{self, Object};
use alloc::{
    borrow::ToOwned,
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

    /// The offset of this move: squares to the east and to the south.
    pub fn offset(self) -> (i32, i32) {
        let place = self as i32;
        (place % 3 - 1, place / 3 - 1)
    }

    /// The move that leads toward an offset.
    pub fn toward(dx: i32, dy: i32) -> Direction {
        Direction::ALL[((dy.signum() + 1) * 3 + dx.signum() + 1) as usize]
    }
}

/// The orders of an entry for its copies. A copy without an order stays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// At most one order for each living copy.
    #[serde(deserialize_with = "misread::objects")]
    pub orders: Vec<Order>,
}

impl Action {
    /// Reads the orders one by one: a malformed one costs only the copy that it names. Also says what was malformed.
    pub(super) fn read(json: &Value) -> Result<(Action, Option<String>), serde_json::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Unread {
            orders: Vec<Value>,
        }
        // Serde would take a list for the fields in their order.
        if let Value::Array(_) = json {
            let why = "expected an object with `orders`, as in {\"orders\": [...]}, got a list";
            return Err(serde::de::Error::custom(why));
        }
        if let Some(kind @ ("move" | "shoot")) = json.get("type").and_then(Value::as_str) {
            let why = format!(
                "expected the orders of all copies, as in {{\"orders\": [...]}}, got one order: {kind}"
            );
            return Err(serde::de::Error::custom(why));
        }
        if let Ok(action) = Action::deserialize(json) {
            return Ok((action, None));
        }
        let Unread { orders: unread } = Unread::deserialize(json)?;
        let mut orders = Vec::with_capacity(unread.len());
        let (mut first, mut others) = (None, 0);
        for (number, json) in (1..).zip(&unread) {
            match Object::deserialize(json) {
                Ok(Object(order)) => orders.push(order),
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

/// Says what is wrong with the order at this place in the list, and what the copy does instead.
fn complaint(number: usize, json: &Value, rest: Option<Order>, error: &serde_json::Error) -> String {
    const SHOWN: usize = 120;
    let text = json.to_string();
    let dots = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
    let shown = text.chars().take(SHOWN).collect::<String>() + dots;
    let kind = json.get("type").and_then(Value::as_str);
    let error = match json.get("target") {
        None if kind == Some("shoot") => NO_TARGET.to_owned(),
        Some(target) if kind == Some("shoot") && !target.is_number() => {
            format!("{NO_TARGET}, and not {}", named(target))
        }
        _ => misread::in_json(error),
    };
    match (rest, json.get("copy")) {
        (Some(Order::Move { copy, .. }), _) => {
            format!("order {number} is malformed, so copy {copy} stays: {shown} ({error})")
        }
        (Some(Order::Shoot { copy, .. }), _) => {
            format!("order {number} is malformed, so copy {copy} wastes its shot: {shown} ({error})")
        }
        (None, None) => format!("order {number} names no copy: {shown} (`copy` is the `number` of a copy)"),
        (None, Some(copy)) => {
            let copy = named(copy);
            format!(
                "order {number} names no copy: {shown} (`copy` must be the `number` of a copy, not {copy})"
            )
        }
    }
}

const NO_TARGET: &str =
    "an order to shoot has a `target`: a whole number, the fourth one of an entry of `seen`";

/// Names a value by its type; a short text or number by itself.
fn named(value: &Value) -> String {
    const SHORT: usize = 20;
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) if text.chars().count() <= SHORT => format!("the text {value}"),
        Value::String(_) => "a text".to_owned(),
        other => other.to_string(),
    }
}

/// The number of nobody: a shot at it spends its bullet and hits nothing.
pub const NOBODY: u32 = u32::MAX;

/// The order for one copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// Walk.
    Move {
        /// The number of the copy.
        copy: u32,
        /// The direction.
        direction: Direction,
    },
    /// Shoot.
    Shoot {
        /// The number of the copy.
        copy: u32,
        /// The number of the target. A wrong one costs the bullet all the same.
        target: u32,
    },
}

impl Order {
    /// Returns the effect of a malformed order: the copy that it names stays, and a shot is spent all the same.
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
    /// An order for a copy of another entry, or for no copy at all.
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
