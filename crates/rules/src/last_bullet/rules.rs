//! The options of Last Bullet, and the size of the field that follows from them.

use crate::{names::SetupError, options::Bounded};
use alloc::{borrow::Cow, format};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The distance up to which a player or zombie sees.
pub const VISION: u16 = 8;
/// The range of a gun.
pub const RANGE: u16 = 5;
/// Bullets of each copy at the start.
pub const BULLETS: u32 = 3;
/// The smallest side, so that a window does not overlap itself around the torus.
const MIN_SIDE: u16 = 2 * VISION + 1;
/// The largest side: sixteen million squares. More is a mistake in the options.
const MAX_SIDE: u16 = 4096;

/// The options of Last Bullet.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LastBulletRules {
    /// How many survivors each entry has.
    pub copies: Bounded<1, 10_000>,
    /// The share of the squares that is occupied at the start.
    pub density: Density,
    /// The most turns, after which the match ends even if somebody lives.
    pub max_turns: Option<Bounded<1, 1_000_000>>,
}

impl Default for LastBulletRules {
    fn default() -> Self {
        LastBulletRules { copies: Bounded::new(50), density: Density(60_000), max_turns: None }
    }
}

/// A share of the squares, above 0 and up to 1. Kept in millionths, so that the size of the board is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Density(u32);

const MILLION: u32 = 1_000_000;

impl TryFrom<f64> for Density {
    type Error = &'static str;

    fn try_from(part: f64) -> Result<Self, Self::Error> {
        // Plus a half, cut off: rounds to the nearest millionth.
        let millionths = part * f64::from(MILLION) + 0.5;
        if millionths >= 1.0 && part <= 1.0 {
            Ok(Density(millionths as u32))
        } else {
            Err("expected a number from 0.000001 to 1")
        }
    }
}

impl From<Density> for f64 {
    fn from(density: Density) -> f64 {
        f64::from(density.0) / f64::from(MILLION)
    }
}

impl JsonSchema for Density {
    fn schema_name() -> Cow<'static, str> {
        "Density".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0.000001, "maximum": 1 })
    }
}

impl LastBulletRules {
    /// The smallest side, at least 17, at which `entries` stay within the density.
    pub fn side(&self, entries: usize) -> Result<u16, SetupError> {
        let pieces = entries as u64 * u64::from(self.copies.get());
        let squares = (pieces * u64::from(MILLION)).div_ceil(self.density.0.into());
        let root = squares.isqrt();
        let side = if root * root < squares { root + 1 } else { root };
        if side > MAX_SIDE.into() {
            let why = format!(
                "{pieces} pieces at density {} need a board of side {side}, but {MAX_SIDE} is the largest",
                f64::from(self.density)
            );
            return Err(SetupError::Option { option: "density", why });
        }
        Ok((side as u16).max(MIN_SIDE))
    }
}
