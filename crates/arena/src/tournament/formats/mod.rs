//! Formats: who meets whom, and how entries are ranked. Each format has its own file.

mod battle;
mod gauntlet;
mod round_robin;
mod table;

use super::ScheduleError;
use crate::stats::Measure;
pub use necrodome_rules::card::Format;

/// The rules of a format.
pub(super) struct Rules {
    /// The number of seats in a match.
    pub seats: Seats,
    /// Returns the groups that meet in each block, from the number of entries and the number of seats.
    pub groups: fn(usize, usize) -> Groups,
    /// Whether each group sits in several orders, so that no seat is an advantage.
    pub rotates: bool,
    /// What decides the ranks, and when the tournament stops.
    pub measure: Measure,
}

/// The groups of entries that meet.
pub(super) type Groups = Result<Vec<Vec<usize>>, ScheduleError>;

/// The number of seats in a match of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seats {
    /// One for each entry.
    All,
    /// Two.
    Two,
    /// The number in the plan.
    Any,
}

/// Returns the rules of a format.
pub(super) fn rules(format: Format) -> Rules {
    match format {
        Format::Table => table::RULES,
        Format::RoundRobin => round_robin::RULES,
        Format::Gauntlet => gauntlet::RULES,
        Format::Battle => battle::RULES,
    }
}

/// Puts all entries into one group.
fn whole_field(entries: usize, _: usize) -> Groups {
    Ok(vec![(0..entries).collect()])
}
