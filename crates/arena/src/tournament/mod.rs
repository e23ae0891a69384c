//! Tournaments: a plan, a schedule that follows from it, workers that play it, a store that keeps it, a report.

mod archive;
mod play;
mod report;
mod results;
mod schedule;
mod store;

pub use archive::{Archive, StoreError};
pub use play::{Stop, TournamentError, Update, run};
pub use report::{EntryReport, FaultCount, Log, Report, Separated, report};
pub use results::{BlockResult, Closing, Detail, MatchResult};
pub use schedule::{Schedule, ScheduleError};
pub use store::Store;

use crate::process::Limits;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who meets whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// All entries in each match.
    Table,
    /// All groups of so many seats.
    RoundRobin,
    /// The first entry against each other.
    Gauntlet,
    /// All entries in one field, ranked by the median of the rounds (Last Bullet).
    Battle,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 4] = [Format::Table, Format::RoundRobin, Format::Gauntlet, Format::Battle];

    /// The name as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::RoundRobin => "round-robin",
            Format::Gauntlet => "gauntlet",
            Format::Battle => "battle",
        }
    }
}

/// All that determines a tournament. Two tournaments with the same plan have the same results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The id of the game.
    pub game: String,
    /// The options of the rules.
    pub options: Value,
    /// Who takes part: name, and what it is as it was written.
    pub entries: Vec<PlannedEntry>,
    /// Who meets whom.
    pub format: Format,
    /// How many seats each match has.
    pub seats: usize,
    /// How many blocks are played.
    pub blocks: u32,
    /// The seed of everything.
    pub seed: u64,
    /// Whether to stop as soon as the neighbours in the standings are told apart.
    pub until_decided: bool,
    /// What processes may use.
    pub limits: Limits,
}

/// An entry in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedEntry {
    /// Its name.
    pub name: String,
    /// What it is, as it was written.
    pub bot: String,
}
