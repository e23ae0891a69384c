//! Results with the luck of the dice taken out.
//!
//! In a solved game the luck of a match is known exactly, and its expectation is zero whatever the players do:
//! it is a control variate. Results minus any multiple of the luck have the same expectation as the results, as long as the
//! factor does not depend on the luck that it multiplies. The factor that leaves the least variance is near 1 for players
//! who play well, and smaller for players whose own mistakes matter more than the dice. It is estimated from every
//! other block and used on the rest, and the other way round, so the adjusted means are exactly unbiased, not only in the
//! limit. With few blocks the factor is pulled towards 0, where nothing is taken out: a wrong factor adds noise.

use super::interval::{Confidence, Estimate, Mean};
use super::moments::Moments;
use super::ranks::RankBy;
use super::tally::{Measure, Tally};
use schemars::JsonSchema;
use serde::Serialize;

/// The weight of the prior, in blocks whose results do not follow the luck.
const PRIOR_BLOCKS: f64 = 5.0;
/// The largest factor: nobody's results follow the luck much more than in full.
const MOST: f64 = 1.5;

/// The measure that decides the standings, for one entry, with the luck taken out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Adjusted {
    /// The measure.
    pub measure: Measure,
    /// The estimate.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// The mean luck. It was taken out to the extent that the results follow it.
    pub luck: f64,
    /// The variance of the estimate divided by that of the plain one; missing if there are too few blocks to tell.
    pub variance_ratio: Option<f64>,
}

/// The share of the luck to take out, by half and entry.
#[derive(Debug, Clone)]
pub(super) struct Factors([Vec<f64>; 2]);

impl Factors {
    /// Factors that take nothing out.
    pub fn none(entries: usize) -> Self {
        Factors([vec![0.0; entries], vec![0.0; entries]])
    }

    /// Estimates the factors: as much as the results of the other half follow the luck.
    pub fn estimated(halves: &[Moments; 2], entries: usize) -> Self {
        Factors([1, 0].map(|other: usize| {
            let moments = &halves[other];
            let of = |entry: usize| {
                let luck = entries + entry;
                factor(moments.product(entry, luck), moments.product(luck, luck), moments.blocks() as f64)
            };
            (0..entries).map(of).collect()
        }))
    }

    /// The value of an entry in a half, as the terms of a weighted sum.
    pub fn weights(&self, half: usize, entry: usize, weight: f64) -> [(usize, f64); 2] {
        let entries = self.0[half].len();
        [(entry, weight), (entries + entry, -weight * self.0[half][entry])]
    }
}

fn factor(with_luck: f64, of_luck: f64, blocks: f64) -> f64 {
    let factor = if of_luck > 0.0 { with_luck / of_luck } else { 0.0 };
    (factor * blocks / (blocks + PRIOR_BLOCKS)).clamp(0.0, MOST)
}

/// The adjusted measure of each entry, or `None` where luck is not known, or the measure does not allow it.
pub(super) fn all(tally: &Tally, confidence: Confidence) -> Vec<Option<Adjusted>> {
    let design = tally.design();
    let of = |entry: usize| {
        // The first entry of a gauntlet stands still.
        let moves = tally.plays(entry) && !(design.measure == Measure::AgainstFirst && entry == 0);
        let known = tally.has_luck() && moves && design.measure != Measure::MedianScore;
        let [without, with] = [RankBy::LuckAdjusted, RankBy::Plain].map(|by| tally.value(entry, by));
        known.then(|| Adjusted {
            measure: design.measure,
            estimate: Mean::new(without, tally.bounds(entry, without.blocks)).estimate(confidence),
            luck: tally.luck_of(entry),
            variance_ratio: (with.squares > 0.0).then(|| without.error() / with.error()),
        })
    };
    (0..design.entries).map(of).collect()
}

/// Takes the luck out of results. Each block gives its number of matches, and the sums of results and of luck; it returns the number
/// of matches and the sum of results without luck. If the results of one half do not vary, they do not show how far they follow the
/// luck. Then the other half loses its luck in full, which is right for two who play well.
pub fn without_luck(blocks: &[(f64, f64, f64)]) -> Vec<(f64, f64)> {
    let factors = [1, 0].map(|half| {
        let mut moments = Moments::new(2);
        let others = blocks.iter().skip(half).step_by(2).filter(|(size, ..)| *size > 0.0);
        others.for_each(|(size, result, luck)| moments.add(&[result / size, luck / size]));
        match moments.product(0, 0) > 0.0 {
            true => factor(moments.product(0, 1), moments.product(1, 1), moments.blocks() as f64),
            false => 1.0,
        }
    });
    let adjusted = blocks.iter().enumerate();
    adjusted.map(|(block, &(size, result, luck))| (size, result - factors[block % 2] * luck)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::simulated::unit;
    use super::super::{Design, Match, RankBy};
    use super::*;
    use necrodome_rules::chance::{Chance, Seeded};

    /// Plays a tournament of two in which the first is better by `skill`, and luck moves the chance to win by 0.3.
    fn played(skill: f64, blocks: usize, seed: u64) -> Tally {
        let mut tally = Tally::new(Design { entries: 2, seats: 2, measure: Measure::WinRate, rotates: true });
        let mut chance = Seeded::new(seed, "luck", 0);
        for _ in 0..blocks {
            // A coin of the dice moves the chance to win up or down.
            let luck = if chance.uniform(2) == 0 { 0.3 } else { -0.3 };
            let won = unit(&mut chance) < 0.5 + skill + luck;
            let (places, luck) = (if won { [1, 2] } else { [2, 1] }, [luck, -luck]);
            tally.add([Match { entries: &[0, 1], places: &places, scores: &[0, 0], luck: Some(&luck) }]);
        }
        tally
    }

    #[test]
    fn intervals_without_luck_are_narrower_and_hold_the_truth() {
        for blocks in [10, 40, 400] {
            let (mut held, mut narrower) = (0, 0.0);
            for seed in 0..300 {
                let tally = played(0.1, blocks, seed);
                let adjusted = all(&tally, Confidence::Fixed)[0].unwrap();
                let Estimate { low, high, .. } = adjusted.estimate;
                held += usize::from(low.unwrap() <= 0.6 && 0.6 <= high.unwrap());
                assert!(low >= Some(0.0) && high <= Some(1.0), "{adjusted:?}");
                narrower += adjusted.variance_ratio.unwrap_or(1.0) / 300.0;
            }
            // 285 expected, standard deviation 3.8.
            assert!((270..=299).contains(&held), "{held} of 300 with {blocks} blocks");
            // The dice explain 0.09 of a variance of 0.24.
            assert!(narrower < if blocks < 40 { 1.0 } else { 0.75 }, "{narrower} with {blocks} blocks");
        }
    }

    #[test]
    fn who_always_wins_is_not_thought_worse_for_good_luck() {
        for blocks in [6, 30] {
            let adjusted = all(&played(0.9, blocks, 1), Confidence::Fixed);
            let first = adjusted[0].unwrap().estimate;
            assert!(first.mean > 0.95 && first.high == Some(1.0) && first.low < Some(1.0), "{first:?}");
        }
    }

    #[test]
    fn ranks_may_go_by_either() {
        let decided = |by| {
            let is_decided =
                |&seed: &u64| played(0.1, 100, seed).ranking(Confidence::Fixed, by).undecided.is_empty();
            (0..100).filter(is_decided).count()
        };
        let (adjusted, plain) = (decided(RankBy::LuckAdjusted), decided(RankBy::Plain));
        assert!(adjusted > plain + 5 && plain > 20, "{adjusted} and {plain} of 100");
    }

    #[test]
    fn a_single_unmeasured_match_leaves_no_adjusted_numbers() {
        let mut tally = played(0.1, 50, 1);
        tally.add([Match { entries: &[0, 1], places: &[1, 2], scores: &[0, 0], luck: None }]);
        assert_eq!(all(&tally, Confidence::Fixed), [None, None]);
        let blocks: Vec<(f64, f64, f64)> = vec![(2.0, 1.0, 0.2), (2.0, 2.0, 0.4), (2.0, 0.0, -0.6)];
        assert!((Estimate::of_shares(without_luck(&blocks)).unwrap().mean - 0.5).abs() < 0.2);
    }

    #[test]
    fn results_that_do_not_vary_lose_their_luck_in_full() {
        // Always beaten, and unlucky half of the time.
        let lost: Vec<(f64, f64, f64)> = [-0.4, -0.6, -0.7, -0.3].map(|luck| (2.0, 0.0, luck)).to_vec();
        let adjusted = Estimate::of_shares(without_luck(&lost)).unwrap();
        assert!((adjusted.mean - 0.25).abs() < 1e-12, "{adjusted:?}");
        assert!(adjusted.low < Some(0.2) && adjusted.high > Some(0.3), "{adjusted:?}");
    }
}
