//! The effect of the seat: does it matter who moves first?
//!
//! Within a block every entry takes every seat equally often, so a difference between seats is not one between entries. The
//! test asks of each seat whether it wins its fair share (1 / seats), and takes the smallest p-value times the number of
//! seats (Bonferroni). That is valid however the seats depend on each other, and it names the seats. With two seats both tests
//! are the same, and nothing is multiplied.

use super::ALPHA;
use super::interval::{Bounds, Confidence, Estimate, Mean};
use super::moments::Running;
use schemars::JsonSchema;
use serde::Serialize;

/// The effect of the seat on the chance to win.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SeatEffect {
    /// Wins per match, by seat, a win shared by k counted as 1/k.
    pub win_rates: Vec<Option<Estimate>>,
    /// How likely differences like these are if the seat does not matter; missing below two seats or two blocks.
    pub p_value: Option<f64>,
    /// Whether the seats differ at the 5% level.
    pub differ: bool,
}

/// Compares the seats by their win rates in blocks of `matches` matches.
pub(super) fn effect(seats: &[Running], matches: f64, confidence: Confidence) -> SeatEffect {
    let means: Vec<Mean> = seats.iter().map(|&sums| Mean::new(sums, Bounds::share(matches))).collect();
    let win_rates = means.iter().map(|mean| (mean.blocks > 0).then(|| mean.estimate(confidence))).collect();
    let tests = if seats.len() == 2 { 1 } else { seats.len() };
    let fair = 1.0 / seats.len().max(1) as f64;
    let smallest =
        means[..tests.min(means.len())].iter().map(|mean| mean.p_value(fair, confidence)).fold(1.0, f64::min);
    let enough = seats.len() >= 2 && means.iter().all(|mean| mean.blocks >= 2);
    let p_value = enough.then(|| (smallest * tests as f64).min(1.0));
    SeatEffect { win_rates, p_value, differ: p_value.is_some_and(|p| p <= ALPHA) }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{by_wins, drawn_places, table, tally};
    use super::super::{RankBy, Tally};
    use super::*;
    use necrodome_rules::chance::Seeded;

    fn seats(tally: &Tally) -> SeatEffect {
        tally.standings(Confidence::Fixed, RankBy::Plain).seats.unwrap()
    }

    #[test]
    fn a_seat_that_helps_is_found() {
        let mut chance = Seeded::new(1, "seats", 0);
        let mut block = |_| {
            let rotated = |by: usize| (0..3).map(|seat| (seat + by) % 3).collect::<Vec<usize>>();
            (0..3).map(|by| (rotated(by), drawn_places(&[0.6, 0.2, 0.2], &mut chance))).collect()
        };
        let effect = seats(&tally(by_wins(3, 3), (0..60).map(&mut block)));
        assert!(effect.differ, "{effect:?}");
        let first = effect.win_rates[0].unwrap();
        assert!(first.low.unwrap() < 0.6 && 0.6 < first.high.unwrap(), "{first:?}");
    }

    #[test]
    fn strong_entries_are_not_mistaken_for_strong_seats() {
        for (strengths, blocks) in [(vec![0.6, 0.4], 30), (vec![0.5, 0.3, 0.2], 30), (vec![0.2; 5], 6)] {
            let differs = |&seed: &u64| {
                seats(&tally(by_wins(strengths.len(), strengths.len()), table(&strengths, blocks, seed)))
                    .differ
            };
            // At most 20 expected, standard deviation 4.4.
            let false_alarms = (0..400).filter(differs).count();
            assert!(false_alarms <= 32, "{false_alarms} of 400 for {strengths:?}");
        }
    }
}
