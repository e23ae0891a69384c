//! The stored part of a block: the results of its matches, packed small, and details of matches that have any.

use super::Schedule;
use crate::{
    fault::{Fault, SeatFault},
    player::Effort,
    varint::{pull, push, unzigzag, zigzag},
};
use necrodome_rules::game::Outcome;
use std::{iter, ops::Range};

/// The stored part of a match besides its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// The number of the match in its block.
    pub number: u32,
    /// What went wrong.
    pub faults: Vec<SeatFault>,
    /// The replay, packed.
    pub replay: Option<Vec<u8>>,
}

/// A finished block.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BlockResult {
    /// The number of the block.
    pub block: u32,
    /// The number of matches that were played.
    pub matches: u32,
    /// The results of all its matches, in the order of the schedule, packed.
    pub(super) packed: Vec<u8>,
    /// The luck of seat 0 in each match (seat 1 had the opposite); empty if the game is not solved.
    pub luck: Vec<f32>,
    /// The details of matches that have any.
    pub details: Vec<Detail>,
    /// The effort of each entry.
    pub efforts: Vec<Effort>,
}

/// The last faults and log of a player that was closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closing {
    /// The entry.
    pub entry: usize,
    /// What went wrong at the end.
    pub faults: Vec<Fault>,
    /// The player's log.
    pub log: String,
}

impl BlockResult {
    /// Returns this result with the matches of the next one added.
    pub(super) fn and(mut self, next: BlockResult) -> Self {
        self.matches += next.matches;
        self.packed.extend(next.packed);
        self.luck.extend(next.luck);
        self.details.extend(next.details);
        self.efforts.resize(self.efforts.len().max(next.efforts.len()), Effort::default());
        self.efforts.iter_mut().zip(next.efforts).for_each(|(own, more)| *own += more);
        self
    }

    /// Adds the result of the next match: its turns, then place and score of each seat, as variable-length numbers.
    pub(super) fn push(&mut self, Outcome { places, scores, turns }: &Outcome) {
        let packed = &mut self.packed;
        push(packed, (*turns).into());
        for (&place, &score) in places.iter().zip(scores) {
            push(packed, place.into());
            push(packed, zigzag(score));
        }
        self.matches += 1;
    }
}

/// Returns the results of one block after another, starting with block `first`. Bytes that do not fit the schedule give `None`, then nothing.
pub(super) fn blocks(
    mut bytes: &[u8],
    schedule: &Schedule,
    first: u32,
) -> impl Iterator<Item = Option<Vec<Outcome>>> {
    let mut block = first;
    iter::from_fn(move || {
        let matches = schedule.matches(block);
        block = block.saturating_add(1);
        let next = (!bytes.is_empty()).then(|| unpack_block(&mut bytes, matches, schedule.seats()));
        if let Some(None) = next {
            bytes = &[];
        }
        next
    })
}

fn unpack_block(bytes: &mut &[u8], matches: usize, seats: usize) -> Option<Vec<Outcome>> {
    let mut unpacked = Vec::with_capacity(matches);
    for _ in 0..matches {
        let turns = u32::try_from(pull(bytes)?).ok()?;
        let mut result =
            Outcome { places: Vec::with_capacity(seats), scores: Vec::with_capacity(seats), turns };
        for _ in 0..seats {
            result.places.push(u16::try_from(pull(bytes)?).ok()?);
            result.scores.push(unzigzag(pull(bytes)?));
        }
        unpacked.push(result);
    }
    Some(unpacked)
}

/// Returns where the bytes of each of some blocks end, or `None` if they are not exactly the results of these blocks. It checks the bytes
/// without unpacking them: every place must be possible at the table.
pub(super) fn ends(bytes: &[u8], schedule: &Schedule, blocks: Range<u32>) -> Option<Vec<usize>> {
    let (mut rest, seats) = (bytes, schedule.seats());
    // Somebody may claim more blocks than there are bytes.
    let mut ends = Vec::with_capacity(blocks.len().min(bytes.len()));
    for block in blocks {
        for _ in 0..schedule.matches(block) {
            u32::try_from(pull(&mut rest)?).ok()?;
            for _ in 0..seats {
                let place = pull(&mut rest)?;
                (1..=seats as u64).contains(&place).then_some(())?;
                pull(&mut rest)?;
            }
        }
        ends.push(bytes.len() - rest.len());
    }
    rest.is_empty().then_some(ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tournament::{Format, schedule::tests::schedule};

    #[test]
    fn results_survive_packing() {
        let schedule = schedule(Format::Table, 3, 3).unwrap();
        let result =
            |scores: [i64; 3], turns| Outcome { places: vec![1, 300, 2], scores: scores.into(), turns };
        let two = || [result([0, -1, i64::MIN], u32::MAX), result([i64::MAX, 13, 127], 0)];
        let matches = [two(), two(), two()].concat();
        let mut block = BlockResult::default();
        matches.iter().for_each(|result| block.push(result));
        let packed = block.packed.repeat(2);
        let unpack = |bytes: &[u8]| blocks(bytes, &schedule, 0).collect::<Option<Vec<_>>>();
        assert_eq!(unpack(&packed), Some(vec![matches.clone(), matches]));
        assert_eq!(unpack(&[&packed[..], &[0]].concat()), None);
        assert_eq!(unpack(&packed[..packed.len() - 1]), None);
    }
}
