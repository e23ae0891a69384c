//! A replay as the pages show it: every step with what was decided, what happened and how it looked then. The referee plays it
//! again, so a film cannot show what did not happen.

pub mod last_bullet;

use necrodome_rules::game::Outcome;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A match to look at.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Film {
    /// The id of the game.
    pub game: &'static str,
    /// The name of the game.
    pub title: &'static str,
    /// The names of the entries, by seat.
    pub names: Vec<String>,
    /// The options of the rules.
    pub options: Value,
    /// How it ended.
    pub outcome: Outcome,
}
