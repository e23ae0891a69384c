//! The effect of the seat: does it matter who begins?
//!
//! Within a block every entry takes every seat, so that a difference between seats is not one between
//! entries. The win rate of a seat has its interval by t on blocks (see `ratio`). The test asks of each seat
//! whether it wins its fair share (1 / seats), with the same block-level t, and takes the smallest p-value
//! times the number of seats (Bonferroni): valid whatever the dependence between seats, and it names the
//! seats. With two seats both tests are one and the same, and nothing is multiplied.

use super::interval::Estimate;
use super::ratio::{self, Cluster};
use super::{ALPHA, Sample};
use serde::Serialize;

/// What the seat does to the chance of winning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeatEffect {
    /// By seat: wins per match, a win shared by k counted as 1/k.
    pub win_rates: Vec<Option<Estimate>>,
    /// How likely differences like these are if the seat does not matter; missing below two seats or two
    /// blocks.
    pub p_value: Option<f64>,
    /// Whether the seats differ at the 5% level.
    pub differ: bool,
}

/// Compares the seats.
pub fn seat_effect(sample: &Sample) -> SeatEffect {
    let seats = sample.seats();
    let win_rates = (0..seats).map(|seat| ratio::estimate(&wins(sample, seat), Some((0.0, 1.0)))).collect();
    let tests = if seats == 2 { 1 } else { seats };
    let enough = seats >= 2 && sample.blocks.iter().filter(|block| !block.games.is_empty()).count() >= 2;
    let smallest = (0..tests).map(|seat| unfairness(sample, seat)).fold(1.0, f64::min);
    let p_value = enough.then(|| (smallest * tests as f64).min(1.0));
    SeatEffect { win_rates, p_value, differ: p_value.is_some_and(|p| p <= ALPHA) }
}

/// By block: the matches with this seat and its wins.
fn wins(sample: &Sample, seat: usize) -> Vec<Cluster> {
    clusters(sample, seat, |_| 0.0)
}

/// By block: the matches with this seat and its wins beyond the fair share.
fn unfair_wins(sample: &Sample, seat: usize) -> Vec<Cluster> {
    clusters(sample, seat, |seats| 1.0 / seats as f64)
}

fn clusters(sample: &Sample, seat: usize, expected: impl Fn(usize) -> f64) -> Vec<Cluster> {
    let cluster = |(stratum, block): (usize, &super::Block)| {
        let (mut size, mut total) = (0.0, 0.0);
        for game in block.games.iter().filter(|game| seat < game.entries.len()) {
            size += 1.0;
            total += game.win_share(seat) - expected(game.entries.len());
        }
        Cluster { stratum, size, total }
    };
    sample.strata().map(cluster).filter(|cluster| cluster.size > 0.0).collect()
}

/// The p-value of this seat winning more or less than its fair share.
fn unfairness(sample: &Sample, seat: usize) -> f64 {
    let clusters = unfair_wins(sample, seat);
    let Some(excess) = ratio::ratio(&clusters) else { return 1.0 };
    // A seat that wins everything is 1 - 1/seats above its share, one that wins nothing 1/seats below it: the
    // range on the other side limits how surprising a constant result is.
    let share = 1.0 / sample.seats() as f64;
    let range = if excess > 0.0 { share } else { 1.0 - share };
    ratio::p_value(excess, &ratio::influences(&clusters, excess), range)
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{drawn_places, game, table};
    use super::super::{Block, Sample};
    use super::*;
    use necrodome_rules::chance::Seeded;

    /// Equal entries in seats of different worth.
    fn seats_of_worth(worth: &[f64], blocks: usize, seed: u64) -> Vec<Block> {
        let mut chance = Seeded::new(seed, "seats", 0);
        let mut seating: Vec<usize> = (0..worth.len()).collect();
        let mut block = || {
            let mut games = Vec::new();
            for _ in worth {
                games.push(game(&seating, &drawn_places(worth, &mut chance)));
                seating.rotate_left(1);
            }
            Block { games }
        };
        (0..blocks).map(|_| block()).collect()
    }

    #[test]
    fn a_seat_that_helps_is_found() {
        let blocks = seats_of_worth(&[0.6, 0.2, 0.2], 60, 1);
        let effect = seat_effect(&Sample::new(&blocks, 3));
        assert!(effect.differ, "{effect:?}");
        let first = effect.win_rates[0].unwrap();
        assert!(first.low.unwrap() < 0.6 && 0.6 < first.high.unwrap(), "{first:?}");
    }

    #[test]
    fn strong_entries_are_not_mistaken_for_strong_seats() {
        for (strengths, allowed) in [(vec![0.6, 0.4], 8..=32), (vec![0.5, 0.3, 0.2], 4..=32)] {
            let differs = |seed| {
                let blocks = table(&strengths, 30, seed);
                seat_effect(&Sample::new(&blocks, strengths.len())).differ
            };
            // 20 expected with two seats, fewer with three.
            let false_alarms = (0..400).filter(|&seed| differs(seed)).count();
            assert!(allowed.contains(&false_alarms), "{false_alarms} of 400");
        }
    }

    #[test]
    fn a_seat_that_always_wins_is_believed_after_six_blocks_and_not_after_five() {
        let always_first = |count: usize| {
            let games = vec![game(&[0, 1], &[1, 2]), game(&[1, 0], &[1, 2])];
            let blocks = vec![Block { games }; count];
            seat_effect(&Sample::new(&blocks, 2))
        };
        assert_eq!(always_first(1).p_value, None);
        assert!((always_first(5).p_value.unwrap() - 0.0625).abs() < 1e-12);
        assert!(!always_first(5).differ && always_first(6).differ);
    }
}
