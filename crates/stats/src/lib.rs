//! Statistics of tournaments. The unit of sampling is the block (one round of the schedule in all seatings), not the match.
//!
//! Matches of one block may share their dice, so they are not independent; blocks are. Every error here is therefore an error
//! between blocks. A [`Tally`] takes block after block and keeps only sums, so that a tournament of a hundred million
//! matches needs no more memory than one of a hundred; [`Tally::standings`] makes everything that is printed from these sums.
//!
//! [`Sampled`] is for exams, where cases are drawn from strata and nothing is played.
//!
//! Blocks are added in the order of the schedule, and everything is computed in a fixed order. Logarithms and exponentials come
//! from the crate `libm` and not from the standard library, whose answers differ in the last bits from one machine to another.
//! So the numbers are the same, bit for bit, on every machine.
//!
//! ```
//! use necrodome_stats::{Confidence, Design, Match, Measure, RankBy, Tally};
//! let mut tally = Tally::new(Design { entries: 2, seats: 2, measure: Measure::WinRate, rotates: true });
//! for _ in 0..100 {
//!     let first = Match { entries: &[0, 1], places: &[1, 2], scores: &[13, 9], luck: None };
//!     let second = Match { entries: &[1, 0], places: &[2, 1], scores: &[5, 14], luck: None };
//!     tally.add([first, second]);
//! }
//! let standings = tally.standings(Confidence::Fixed, RankBy::Plain);
//! assert_eq!(standings.ranking.order, [0, 1]);
//! assert!(standings.records[0].win_rate.unwrap().low > Some(0.95));
//! ```

#![deny(missing_docs)]

mod adjusted;
mod checks;
mod distribution;
mod forecast;
mod interval;
mod moments;
mod ranks;
mod rating;
mod sample;
mod seats;
mod sequential;
#[cfg(test)]
mod simulated;
mod strata;
mod tally;

pub use adjusted::{Adjusted, without_luck};
pub use checks::{Cycle, Drift, Misfit};
pub use forecast::Gap;
pub use interval::{Confidence, Estimate};
pub use ranks::{RankBy, RankInterval, Ranking};
pub use rating::Rating;
pub use sample::{Layer, Sampled};
pub use seats::SeatEffect;
pub use sequential::{EloTest, Side, Verdict, is_look};
pub use tally::{Design, HeadToHead, Match, Measure, Record, Standings, Tally};

/// The share of mistakes that every interval and every test of the report allows: 5%.
pub const ALPHA: f64 = 0.05;
