//! Statistics of tournaments. The unit of sampling is the block (one round of the schedule in all seatings), not the match.
//!
//! Matches of one block share their dice, so they are not independent; blocks are. Every error here is
//! therefore an error between blocks. Blocks of the same line-up form a stratum: the schedule fixes how often
//! each line-up meets, so the difference between line-ups is design, not luck, and does not widen the
//! intervals.
//!
//! Everything is pure computation in a fixed order. Logarithms and exponentials come from the crate `libm`
//! and not from the standard library, whose answers differ in the last bits from one machine to another.

#![deny(missing_docs)]

mod adjusted;
mod distribution;
mod head_to_head;
mod interval;
mod plackett_luce;
mod ranks;
mod rating;
mod ratio;
mod seats;
mod sequential;
#[cfg(test)]
mod simulated;

pub use adjusted::{Adjusted, adjusted, without_luck};
pub use head_to_head::{HeadToHead, head_to_head};
pub use interval::{Estimate, Measure, Record, medians, records};
pub use ranks::{RankInterval, Ranking, rank_by_measure, rank_by_rating};
pub use rating::{RESAMPLES, Rating, Ratings, rate};
pub use seats::{SeatEffect, seat_effect};
pub use sequential::{Better, Neighbours, Separation};

use std::collections::BTreeMap;

/// The share of mistakes that every interval and every test of the report allows: 5%.
pub const ALPHA: f64 = 0.05;

/// One match: who sat where and how it ended. The three lists have one element per seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchResult {
    /// The entry in each seat.
    pub entries: Vec<usize>,
    /// The place of each seat: 1 is best, seats that tie share a place, and the next one is left out (1, 1,
    /// 3).
    pub places: Vec<u16>,
    /// The score of each seat.
    pub scores: Vec<i64>,
}

impl MatchResult {
    /// The place of the winner or winners, and how many they are.
    fn best(&self) -> (u16, usize) {
        let best = self.places.iter().copied().min().unwrap_or(1);
        (best, self.places.iter().filter(|&&place| place == best).count())
    }

    /// What a seat has of the win: 1 for an outright win, 1/k for a win shared by k, 0 otherwise.
    fn win_share(&self, seat: usize) -> f64 {
        let (best, winners) = self.best();
        if self.places[seat] == best { 1.0 / winners as f64 } else { 0.0 }
    }

    /// The seats that an entry has: none, one, or several if it plays against itself.
    fn seats_of(&self, entry: usize) -> impl Iterator<Item = usize> {
        self.entries.iter().enumerate().filter(move |&(_, &sitting)| sitting == entry).map(|(seat, _)| seat)
    }
}

/// One seed in all its seatings: the independent unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// The matches, in schedule order.
    pub games: Vec<MatchResult>,
}

/// The blocks of a tournament, in schedule order, and the line-up that each of them belongs to.
#[derive(Debug, Clone)]
pub struct Sample<'a> {
    blocks: &'a [Block],
    entries: usize,
    /// By block: the number of its line-up.
    line_ups: Vec<usize>,
}

impl<'a> Sample<'a> {
    /// Takes the blocks of a tournament of `entries` entries.
    ///
    /// # Panics
    /// If a match names an entry that does not exist or its lists differ in length.
    pub fn new(blocks: &'a [Block], entries: usize) -> Self {
        for game in blocks.iter().flat_map(|block| &block.games) {
            assert!(
                game.entries.iter().all(|&entry| entry < entries),
                "a game names an entry that does not exist"
            );
            let seats = game.entries.len();
            assert!(game.places.len() == seats && game.scores.len() == seats, "one place and score per seat");
        }
        Sample { blocks, entries, line_ups: number_line_ups(blocks) }
    }

    /// The blocks, each with its stratum.
    fn strata(&self) -> impl Iterator<Item = (usize, &'a Block)> {
        self.line_ups.iter().copied().zip(self.blocks)
    }

    /// The most seats that a match has.
    fn seats(&self) -> usize {
        let games = self.blocks.iter().flat_map(|block| &block.games);
        games.map(|game| game.entries.len()).max().unwrap_or(0)
    }
}

/// Numbers the line-ups (sets of entries) by first appearance.
fn number_line_ups(blocks: &[Block]) -> Vec<usize> {
    let mut numbers = BTreeMap::new();
    let mut line_up_of = |block: &Block| {
        let mut line_up: Vec<usize> =
            block.games.iter().flat_map(|game| game.entries.iter().copied()).collect();
        line_up.sort_unstable();
        line_up.dedup();
        let next = numbers.len();
        *numbers.entry(line_up).or_insert(next)
    };
    blocks.iter().map(&mut line_up_of).collect()
}
