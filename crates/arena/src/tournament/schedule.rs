//! Which entries sit where in which match. A block is one round of the schedule: every group in all seatings, so that order
//! and luck cancel.

use super::{
    Format, Plan,
    formats::{self, Seats},
};
use necrodome_rules::{
    chance::{Chance, Seeded},
    words::range,
};
use std::ops::RangeInclusive;

/// The most seatings in one block: more are a mistake in the plan.
pub(super) const MAX_SEATINGS: usize = 100_000;

/// Why a plan makes no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// Not enough entries, or too many, for the game and the format.
    #[error("a {format} needs {}, got {came}", range(.expected, "entry"))]
    Entries {
        /// The format.
        format: &'static str,
        /// How many would do.
        expected: RangeInclusive<usize>,
        /// How many came.
        came: usize,
    },
    /// A match of the game, or of the format, has another number of seats.
    #[error("a match of this {what} has {}, got {came}", range(.expected, "seat"))]
    Seats {
        /// What says how many: the game or the format.
        what: &'static str,
        /// How many would do.
        expected: RangeInclusive<usize>,
        /// How many came.
        came: usize,
    },
    /// There is no such format.
    #[error("there is no format {name:?}: expected one of {}", Format::ALL.map(Format::as_str).join(", "))]
    Format {
        /// What came.
        name: String,
    },
    /// A block would have too many matches.
    #[error("one block would have more than {MAX_SEATINGS} matches")]
    TooMany,
}

/// All seatings of a block, the same in each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    seatings: Vec<Vec<usize>>,
    seed: u64,
}

impl Schedule {
    /// The schedule of a plan, for a game with `takes` seats.
    pub fn new(plan: &Plan, takes: RangeInclusive<usize>) -> Result<Self, ScheduleError> {
        let (entries, seats) = (plan.entries.len(), plan.seats);
        let format = plan.format.as_str();
        let rules = formats::rules(plan.format);
        if rules.seats == Seats::All && !takes.contains(&entries) {
            // As many as there may be names, so there is no upper limit to speak of.
            let expected = if entries < *takes.start() { *takes.start()..=usize::MAX } else { takes };
            return Err(ScheduleError::Entries { format, expected, came: entries });
        }
        let of_format = match rules.seats {
            Seats::All => Some(entries),
            Seats::Two => Some(2),
            Seats::Any => None,
        };
        if let Some(expected) = of_format.filter(|&expected| expected != seats) {
            return Err(ScheduleError::Seats { what: format, expected: expected..=expected, came: seats });
        }
        if !takes.contains(&seats) {
            return Err(ScheduleError::Seats { what: "game", expected: takes, came: seats });
        }
        if entries < seats {
            return Err(ScheduleError::Entries { format, expected: seats..=usize::MAX, came: entries });
        }
        let groups = (rules.groups)(entries, seats)?;
        let seatings: Vec<Vec<usize>> = match rules.rotates {
            true => groups.iter().flat_map(|group| seatings_of(group)).collect(),
            false => groups,
        };
        if seatings.len() > MAX_SEATINGS {
            return Err(ScheduleError::TooMany);
        }
        Ok(Schedule { seatings, seed: plan.seed })
    }

    /// Who sits where, match by match of a block.
    pub fn seatings(&self) -> &[Vec<usize>] {
        &self.seatings
    }

    /// The seed of one match of a block, where bots could remember the dice of another.
    ///
    /// A process plays all matches of a block, one after the other: with the same dice in each it would know those of
    /// the second. Who plays alone meets each seed once, so that scores can be compared on the same dice.
    pub fn match_seed(&self, block: u32, number: usize) -> u64 {
        match self.seatings[number].len() {
            1 => self.block_seed(block),
            _ => self.seed_of("match of a block", u64::from(block) << 32 | number as u64),
        }
    }

    /// The seed of all matches of a block between built-in bots, which remember nothing.
    pub fn block_seed(&self, block: u32) -> u64 {
        self.seed_of("block", block.into())
    }

    fn seed_of(&self, purpose: &'static str, index: u64) -> u64 {
        let mut chance = Seeded::new(self.seed, purpose, index);
        // 2^53: exact in any JSON reader.
        u64::from(chance.uniform(1 << 21)) << 32 | u64::from(chance.uniform(u32::MAX))
    }
}

/// All orders of up to three, all rotations of more.
fn seatings_of(group: &[usize]) -> Vec<Vec<usize>> {
    match *group {
        [a, b, c] => {
            vec![vec![a, b, c], vec![b, c, a], vec![c, a, b], vec![a, c, b], vec![c, b, a], vec![b, a, c]]
        }
        _ => (0..group.len()).map(|by| [&group[by..], &group[..by]].concat()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{process::Limits, tournament::PlannedEntry};
    use std::collections::BTreeSet;

    fn schedule(format: Format, entries: usize, seats: usize) -> Result<Schedule, ScheduleError> {
        let entry = |i: usize| PlannedEntry { name: format!("e{i}"), bot: "random".into() };
        let plan = Plan {
            game: "zombie-dice".into(),
            options: serde_json::json!({}),
            entries: (0..entries).map(entry).collect(),
            format,
            seats,
            blocks: 1,
            seed: 1,
            until_decided: false,
            limits: Limits::default(),
        };
        Schedule::new(&plan, 2..=99)
    }

    #[test]
    fn every_entry_sits_on_every_seat_equally_often() {
        for (format, entries, seats) in [
            (Format::Table, 2, 2),
            (Format::Table, 3, 3),
            (Format::Table, 5, 5),
            (Format::RoundRobin, 5, 2),
            (Format::RoundRobin, 5, 3),
            (Format::RoundRobin, 6, 4),
        ] {
            let schedule = schedule(format, entries, seats).unwrap();
            let count = |entry: usize, seat: usize| {
                schedule.seatings().iter().filter(|seating| seating[seat] == entry).count()
            };
            for entry in 0..entries {
                for seat in 0..seats {
                    assert_eq!(count(entry, seat), count(0, 0), "{format:?} {entries} {seats}");
                }
            }
            let different: BTreeSet<_> = schedule.seatings().iter().collect();
            assert_eq!(different.len(), schedule.seatings().len());
        }
    }

    #[test]
    fn sizes_are_as_expected() {
        let size = |format, entries, seats| schedule(format, entries, seats).unwrap().seatings().len();
        assert_eq!(size(Format::Table, 3, 3), 6, "all permutations of three");
        assert_eq!(size(Format::Table, 4, 4), 4, "all rotations of four");
        assert_eq!(size(Format::RoundRobin, 5, 2), 20, "ten pairs, two seatings each");
        assert_eq!(size(Format::Gauntlet, 5, 2), 8, "four opponents, two seatings each");
        assert_eq!(size(Format::Battle, 7, 7), 1);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (format, entries, seats, why) in [
            (Format::Table, 3, 2, "a match of this table has exactly 3 seats, got 2"),
            (Format::RoundRobin, 2, 3, "a round-robin needs at least 3 entries, got 2"),
            (Format::RoundRobin, 2, 1, "a match of this game has 2 to 99 seats, got 1"),
            (Format::Gauntlet, 4, 3, "a match of this gauntlet has exactly 2 seats, got 3"),
            (Format::Gauntlet, 1, 2, "a gauntlet needs at least 2 entries, got 1"),
            (Format::Table, 1, 1, "a table needs at least 2 entries, got 1"),
            (Format::Table, 100, 100, "a table needs 2 to 99 entries, got 100"),
        ] {
            let refused = schedule(format, entries, seats).map_err(|error| error.to_string());
            assert_eq!(refused.unwrap_err(), why, "{format:?} {entries} {seats}");
        }
        assert_eq!(schedule(Format::RoundRobin, 60, 6), Err(ScheduleError::TooMany));
    }

    #[test]
    fn blocks_have_seeds_of_their_own() {
        let schedule = schedule(Format::Table, 2, 2).unwrap();
        let seeds: BTreeSet<u64> = (0..1000).map(|block| schedule.block_seed(block)).collect();
        assert_eq!(seeds.len(), 1000);
        assert!(seeds.iter().all(|&seed| seed < 1 << 53));
    }
}
