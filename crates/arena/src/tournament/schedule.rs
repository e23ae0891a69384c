//! The schedule: which entry sits where in which match. A block is one round of the schedule: every group in all orders or,
//! if these would be too many, in all rotations of a new random order.

use super::{
    Format, Plan, TournamentError,
    formats::{self, Seats},
    stages,
};
use necrodome_rules::{
    chance::{Chance, Seed, Seeded},
    game::Game,
    with_game,
    words::range,
};
use std::{borrow::Cow, collections::BTreeMap, ops::RangeInclusive};

/// The most seatings in one block: a plan with more is a mistake.
pub(super) const MAX_SEATINGS: usize = 100_000;

/// The most entries: the time that a report takes grows with the cube of their number. More could not meet in pairs anyway, since
/// 316 of them already need about [`MAX_SEATINGS`].
const MOST_ENTRIES: usize = 320;

/// The most groups in all stages: a plan with more is a mistake, too.
const MOST_GROUPS: usize = 1_000_000;

/// The most seats that are played in all orders: there are 24.
const MOST_ORDERED: usize = 4;

/// The reason why a plan has no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// There are not enough entries, or too many, for the game and the format.
    #[error("a {format} needs {}, got {came}", range(.expected, "entry"))]
    Entries {
        /// The format.
        format: &'static str,
        /// The accepted numbers.
        expected: RangeInclusive<usize>,
        /// The number in the plan.
        came: usize,
    },
    /// The game or the format needs another number of seats.
    #[error("a match of this {what} has {}, got {came}", range(.expected, "seat"))]
    Seats {
        /// The one that limits the number: the game or the format.
        what: &'static str,
        /// The accepted numbers.
        expected: RangeInclusive<usize>,
        /// The number in the plan.
        came: usize,
    },
    /// There are more entries than a report can compare.
    #[error("a tournament has at most {MOST_ENTRIES} entries, got {came}")]
    Crowd {
        /// The number in the plan.
        came: usize,
    },
    /// There is no such format.
    #[error("there is no format {name:?}: expected one of {}", Format::ALL.map(Format::as_str).join(", "))]
    Format {
        /// The requested name.
        name: String,
    },
    /// An entry that is not in the line-up was asked to meet the others.
    #[error("there is no entry {name:?} in the line-up: expected some of {}", .names.join(", "))]
    Nobody {
        /// The requested name.
        name: String,
        /// The names in the line-up.
        names: Vec<String>,
    },
    /// Only some entries were asked to meet, in a format in which all do.
    #[error("chosen entries cannot meet alone in this {format}: in each block all of them play")]
    Everybody {
        /// The format.
        format: &'static str,
    },
    /// Only some entries of a gauntlet were asked to meet, without the first one.
    #[error("in a gauntlet everybody meets {name} only, so {name} must be among the chosen ones")]
    First {
        /// The first entry.
        name: String,
    },
    /// The stages are not in order, or name entries that do not exist.
    #[error("the stages of the plan do not fit it, or are too many")]
    Stages,
    /// A block would have too many matches.
    #[error("one block would have more than {MAX_SEATINGS} matches")]
    TooMany,
}

/// The matches of each block.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// Stretches of blocks in which the same groups meet, in order: just one if the line-up never changes.
    spans: Vec<Span>,
    seats: usize,
    shuffles: bool,
    rotates: bool,
    seed: Seed,
    /// The first block of the last stage.
    stage: u32,
    /// The block after the last one.
    end: u32,
    /// By stratum and member: the share of the member's groups that are in the stratum.
    weights: Vec<Vec<f64>>,
}

/// Blocks in which the same groups meet.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    first: u32,
    /// The number of matches in all earlier blocks.
    before: u64,
    groups: Vec<Vec<usize>>,
    /// The seatings of a block, before groups are shuffled.
    seatings: Vec<Vec<usize>>,
    /// By group: its stratum, or `None` if an entry in it has left.
    strata: Vec<Option<usize>>,
}

impl Schedule {
    /// Returns the schedule of a plan for any game.
    pub fn of(plan: &Plan) -> Result<Self, TournamentError> {
        let id = plan.game().map_err(TournamentError::Plan)?;
        Ok(with_game!(id, G => Self::new(plan, G::SEATS))?)
    }

    /// Returns the schedule of a plan, for a game that takes this many seats.
    pub fn new(plan: &Plan, takes: RangeInclusive<usize>) -> Result<Self, ScheduleError> {
        let (entries, seats) = (plan.members().count(), plan.seats);
        let format = plan.format.as_str();
        if entries > MOST_ENTRIES {
            return Err(ScheduleError::Crowd { came: entries });
        }
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
        let shuffles = (!rules.rotates || seats > MOST_ORDERED) && !plan.older;
        let seatings_of: fn(&[usize]) -> Vec<Vec<usize>> = match rules.rotates {
            false => |group| vec![group.to_vec()],
            true if plan.older => older_seatings,
            true if shuffles => rotations,
            true => orders,
        };
        let (stretches, end) = stages::stretches(plan, |entries| {
            if entries.len() < seats {
                return Err(ScheduleError::Entries {
                    format,
                    expected: seats..=usize::MAX,
                    came: entries.len(),
                });
            }
            let groups = (rules.groups)(entries.len(), seats)?;
            if groups.len() * seatings_of(&groups[0]).len() > MAX_SEATINGS {
                return Err(ScheduleError::TooMany);
            }
            let seat = |group: &Vec<usize>| group.iter().map(|&entry| entries[entry]).collect();
            Ok(groups.iter().map(seat).collect())
        })?;
        if stretches.iter().map(|(_, groups)| groups.len()).sum::<usize>() > MOST_GROUPS {
            return Err(ScheduleError::Stages);
        }
        let (weights, strata) = stages::strata(plan, &stretches);
        let mut spans: Vec<Span> = Vec::with_capacity(stretches.len());
        for ((first, groups), strata) in stretches.into_iter().zip(strata) {
            let before = spans.last().map_or(0, |last| last.matches_before(first));
            let seatings = groups.iter().flat_map(|group| seatings_of(group)).collect();
            spans.push(Span { first, before, groups, seatings, strata });
        }
        Ok(Schedule {
            spans,
            seats,
            shuffles,
            rotates: rules.rotates,
            seed: plan.seed,
            stage: plan.stages.last().map_or(0, |stage| stage.first),
            end,
            weights,
        })
    }

    fn span(&self, block: u32) -> &Span {
        match &self.spans[..] {
            [only] => only,
            // The first one begins with the first block.
            spans => &spans[spans.partition_point(|span| span.first <= block).max(1) - 1],
        }
    }

    /// Returns how many matches a block has.
    pub fn matches(&self, block: u32) -> usize {
        self.span(block).seatings.len()
    }

    /// Returns how many matches there are before a block.
    pub fn matches_before(&self, block: u32) -> u64 {
        self.span(block).matches_before(block)
    }

    /// Returns the block of a match with this number in the tournament, and its number in the block; `None` if the number of the block is too large.
    pub(super) fn block_of(&self, number: u64) -> Option<(u32, usize)> {
        let last = self.spans.partition_point(|span| span.before <= number).max(1) - 1;
        let span = &self.spans[last];
        let (number, matches) = (number - span.before, span.seatings.len() as u64);
        let block = u32::try_from(number / matches).ok()?.checked_add(span.first)?;
        Some((block, (number % matches) as usize))
    }

    /// Returns the block after the last one: there, all members of the last stage have met as often as the plan says.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Returns the first block of the last stage: earlier ones are never played again.
    pub(super) fn stage(&self) -> u32 {
        self.stage
    }

    /// Returns, by stratum and member, the share of the member's groups that are in the stratum.
    pub(super) fn weights(&self) -> &[Vec<f64>] {
        &self.weights
    }

    /// Returns the stratum of a match, or `None` if an entry in it has left.
    pub(super) fn stratum(&self, block: u32, number: usize) -> Option<usize> {
        let Span { seatings, strata, .. } = self.span(block);
        strata[number / (seatings.len() / strata.len())]
    }

    /// Returns the fewest and the most blocks in which groups of members have met after `blocks` blocks.
    pub(super) fn rounds(&self, blocks: u32) -> RangeInclusive<u32> {
        let mut played: BTreeMap<&[usize], u32> = BTreeMap::new();
        for (place, span) in self.spans.iter().enumerate() {
            let end = self.spans.get(place + 1).map_or(blocks, |next| next.first.min(blocks));
            let members = span.groups.iter().zip(&span.strata).filter(|(_, stratum)| stratum.is_some());
            for (group, _) in members {
                *played.entry(group).or_default() += end.saturating_sub(span.first);
            }
        }
        let fewest = played.values().copied().min().unwrap_or(0);
        fewest..=played.values().copied().max().unwrap_or(0)
    }

    /// Returns how many seats a match has.
    pub fn seats(&self) -> usize {
        self.seats
    }

    /// Returns who sits where in each match of a block.
    ///
    /// In the rotations of one order, entries always sit behind the same neighbour, and at some tables that matters more than
    /// skill. So each block shuffles its groups anew. So does a battle, which has one match per block.
    pub fn seatings(&self, block: u32) -> Cow<'_, [Vec<usize>]> {
        let span = self.span(block);
        if !self.shuffles {
            return Cow::Borrowed(&span.seatings);
        }
        let mut chance = Seeded::new(self.seed, "seatings", block.into());
        let groups = span.groups.iter().map(|group| {
            let mut group = group.clone();
            chance.shuffle(&mut group);
            group
        });
        let seated = |group: Vec<usize>| if self.rotates { rotations(&group) } else { vec![group] };
        Cow::Owned(groups.flat_map(seated).collect())
    }

    /// Returns the first block from which the seatings have been the same as in this one.
    pub(super) fn seated_since(&self, block: u32) -> u32 {
        if self.shuffles { block } else { self.span(block).first }
    }
}

/// The seatings of one block at a time, drawn once for all its matches in a row.
pub(super) struct Seatings<'a> {
    schedule: &'a Schedule,
    last: Option<(u32, Cow<'a, [Vec<usize>]>)>,
}

impl<'a> Seatings<'a> {
    pub(super) fn of(schedule: &'a Schedule) -> Self {
        Seatings { schedule, last: None }
    }

    /// Returns who sits where in a match, or nobody if there is no such match.
    pub(super) fn of_match(&mut self, block: u32, number: u32) -> &[usize] {
        self.last.take_if(|(last, _)| *last != block);
        let (_, seatings) = self.last.get_or_insert_with(|| (block, self.schedule.seatings(block)));
        seatings.get(number as usize).map_or(&[], Vec::as_slice)
    }
}

impl Span {
    fn matches_before(&self, block: u32) -> u64 {
        self.before + u64::from(block.saturating_sub(self.first)) * self.seatings.len() as u64
    }
}

fn orders(group: &[usize]) -> Vec<Vec<usize>> {
    let begin_with = |(place, &first): (usize, &usize)| {
        let others = [&group[..place], &group[place + 1..]].concat();
        orders(&others).into_iter().map(move |rest| [&[first], &rest[..]].concat())
    };
    match group {
        [] => vec![Vec::new()],
        _ => group.iter().enumerate().flat_map(begin_with).collect(),
    }
}

/// Returns the seatings of older versions: all orders of up to three entries, but only rotations of more.
fn older_seatings(group: &[usize]) -> Vec<Vec<usize>> {
    match *group {
        [a, b, c] => {
            vec![vec![a, b, c], vec![b, c, a], vec![c, a, b], vec![a, c, b], vec![c, b, a], vec![b, a, c]]
        }
        _ => rotations(group),
    }
}

fn rotations(group: &[usize]) -> Vec<Vec<usize>> {
    (0..group.len()).map(|by| [&group[by..], &group[..by]].concat()).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::tournament::PlannedEntry;
    use std::collections::BTreeSet;

    pub fn plan(format: Format, entries: usize, seats: usize) -> Plan {
        let entry = |i: usize| PlannedEntry::new(format!("e{i}"), "random");
        Plan::new("zombie-dice", (0..entries).map(entry).collect(), format, seats, 1, 1)
    }

    pub fn schedule(format: Format, entries: usize, seats: usize) -> Result<Schedule, ScheduleError> {
        Schedule::new(&plan(format, entries, seats), 2..=99)
    }

    #[test]
    fn every_entry_sits_on_every_seat_equally_often() {
        for (format, entries, seats) in [
            (Format::Table, 2, 2),
            (Format::Table, 3, 3),
            (Format::Table, 4, 4),
            (Format::Table, 5, 5),
            (Format::RoundRobin, 5, 2),
            (Format::RoundRobin, 5, 3),
            (Format::RoundRobin, 6, 4),
            (Format::RoundRobin, 7, 5),
        ] {
            let schedule = schedule(format, entries, seats).unwrap();
            let seatings = schedule.seatings(3);
            let count =
                |entry: usize, seat: usize| seatings.iter().filter(|seating| seating[seat] == entry).count();
            for entry in 0..entries {
                for seat in 0..seats {
                    assert_eq!(count(entry, seat), count(0, 0), "{format:?} {entries} {seats}");
                }
            }
            let different: BTreeSet<_> = seatings.iter().collect();
            assert_eq!(different.len(), schedule.matches(3));
        }
    }

    /// Returns how often each entry sits right behind each other one, in some blocks.
    fn followed(entries: usize, blocks: u32) -> Vec<Vec<u32>> {
        let schedule = schedule(Format::Table, entries, entries).unwrap();
        let mut counts = vec![vec![0; entries]; entries];
        for block in 0..blocks {
            for seating in schedule.seatings(block).iter() {
                for (seat, &entry) in seating.iter().enumerate() {
                    counts[seating[(seat + 1) % entries]][entry] += 1;
                }
            }
        }
        counts
    }

    #[test]
    fn everybody_sits_behind_everybody() {
        for (entry, before) in followed(4, 1).iter().enumerate() {
            let others = before.iter().enumerate().filter(|(other, _)| *other != entry);
            assert!(others.clone().all(|(_, &count)| count == 8), "{before:?}");
        }
        // Six seats in 1000 blocks: each neighbour comes with 200 blocks, give or take 13, in six matches each.
        for (entry, before) in followed(6, 1000).iter().enumerate() {
            let others = before.iter().enumerate().filter(|(other, _)| *other != entry);
            assert!(others.clone().all(|(_, count)| (6 * 140..6 * 260).contains(count)), "{before:?}");
        }
    }

    #[test]
    fn a_battle_has_new_seats_in_each_block() {
        let schedule = schedule(Format::Battle, 7, 7).unwrap();
        let firsts: BTreeSet<usize> = (0..200).map(|block| schedule.seatings(block)[0][0]).collect();
        assert_eq!(firsts.len(), 7, "everybody sits first now and then");
        assert_eq!(schedule.seatings(3), schedule.seatings(3));
        assert_eq!(schedule.seatings(3).len(), 1);
    }

    #[test]
    fn sizes_are_as_expected() {
        let size = |format, entries, seats| schedule(format, entries, seats).unwrap().matches(0);
        assert_eq!(size(Format::Table, 3, 3), 6, "all permutations of three");
        assert_eq!(size(Format::Table, 4, 4), 24, "all permutations of four");
        assert_eq!(size(Format::Table, 5, 5), 5, "all rotations of five");
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
        assert!(schedule(Format::Gauntlet, 320, 2).is_ok());
        for format in [Format::Gauntlet, Format::RoundRobin] {
            let refused = schedule(format, 10_000, 2).unwrap_err().to_string();
            assert_eq!(refused, "a tournament has at most 320 entries, got 10000");
        }
    }
}
