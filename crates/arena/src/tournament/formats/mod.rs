//! Formats: who meets whom, and how entries are ranked. Each is a file.

mod battle;
mod gauntlet;
mod round_robin;
mod table;

use super::ScheduleError;
use crate::stats::Measure;
pub use necrodome_rules::card::Format;

/// How a format works.
pub(super) struct Rules {
    /// How many seats a match has.
    pub seats: Seats,
    /// The groups that meet in each block, out of this many entries, with this many seats.
    pub groups: fn(usize, usize) -> Groups,
    /// Whether each group sits in several orders, so that the seats cancel.
    pub rotates: bool,
    /// What decides the ranks; the tournament stops on the same.
    pub measure: Measure,
}

/// Entries that meet, group by group.
pub(super) type Groups = Result<Vec<Vec<usize>>, ScheduleError>;

/// How many seats a match of a format has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seats {
    /// One for each entry.
    All,
    /// Two.
    Two,
    /// As many as the plan says.
    Any,
}

/// The rules of a format.
pub(super) fn rules(format: Format) -> Rules {
    match format {
        Format::Table => table::RULES,
        Format::RoundRobin => round_robin::RULES,
        Format::Gauntlet => gauntlet::RULES,
        Format::Battle => battle::RULES,
    }
}

/// All entries in one group.
fn whole_field(entries: usize, _: usize) -> Groups {
    Ok(vec![(0..entries).collect()])
}
