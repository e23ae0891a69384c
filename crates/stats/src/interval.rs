//! Means over blocks, with intervals and tests that always agree: an interval holds the values that the test at the same
//! level does not reject.
//!
//! Where a value is bounded, as a win rate is, the interval is Wilson's on the effective number of blocks (Korn and Graubard,
//! "Confidence intervals for proportions with small expected number of positive counts estimated from survey data", 1998): the
//! variance of a block is a share of the largest that its mean allows, and the data tell that share. The share would be 1 if
//! the matches of a block always ended alike, and 1 / matches if they were independent; it is pulled towards the middle of
//! the two by up to [`PRIOR_BLOCKS`] blocks, since few blocks say little about it near the bounds.
//! So a perfect record has an interval too, and no interval contains impossible values.
//!
//! Where the number of blocks was not fixed beforehand (somebody looked at the results, and then stopped or went on), an
//! ordinary interval misses more often than it says. [`Confidence::Anytime`] is a confidence sequence: it holds at all
//! looks together (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic
//! confidence sequences", 2024).

use super::ALPHA;
use super::distribution::{two_sided_quantile, two_sided_tail};
use super::moments::Running;
use libm::{exp, log, sqrt};
use schemars::JsonSchema;
use serde::Serialize;
use std::iter;

/// The weight of the prior near the bounds, in blocks of the largest variance.
const PRIOR_BLOCKS: f64 = 4.0;
/// The weight of the prior in the middle, where blocks tell enough. It is not zero, since twins that always mirror each other
/// might still differ.
const LEAST_PRIOR: f64 = 0.25;
/// The size, relative to the values, below which a difference is rounding.
const NOISE: f64 = 1e-9;
/// The number of blocks at which a confidence sequence is narrowest, compared with an ordinary interval.
const BEST_AT: f64 = 200.0;
/// The first block at which confidence sequences hold: their proof is for many blocks.
const FIRST_LOOK: u64 = 10;

/// An estimate with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// The estimate itself.
    pub mean: f64,
    /// The lower end of the interval; missing if there are too few blocks to tell.
    pub low: Option<f64>,
    /// The upper end of the interval; missing if there are too few blocks to tell.
    pub high: Option<f64>,
}

impl Estimate {
    /// The mean of something that was seen `total` times in `size` cases, block by block, or `None` if there are no cases.
    pub fn of_blocks(blocks: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        Self::bounded(blocks, |_| None)
    }

    /// The same for a share of the cases, such as wins. Its interval is never empty, even if all blocks came out alike.
    pub fn of_shares(blocks: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        Self::bounded(blocks, Bounds::share)
    }

    /// `bounds` are those of a block with this many cases.
    fn bounded(
        blocks: impl IntoIterator<Item = (f64, f64)>,
        bounds: impl Fn(f64) -> Option<Bounds>,
    ) -> Option<Self> {
        let blocks: Vec<(f64, f64)> = blocks.into_iter().filter(|(size, _)| *size > 0.0).collect();
        let (size, total) = blocks.iter().fold((0.0, 0.0), |sum, block| (sum.0 + block.0, sum.1 + block.1));
        let (count, mean) = (blocks.len() as f64, total / size);
        // The error of a ratio is, to first order, that of the sum of its residuals (Cochran, Sampling Techniques, ch. 6).
        let residual = |(own, total): &(f64, f64)| (total - mean * own) * count / size;
        let squares = blocks.iter().map(residual).map(|residual| residual * residual).sum();
        let sums = Running { blocks: blocks.len() as u64, mean, squares };
        (!blocks.is_empty()).then(|| Mean::new(sums, bounds(size / count)).estimate(Confidence::Fixed))
    }

    /// The estimate with its interval cut to possible values: a share has no interval below 0 or above 1.
    pub fn within(self, least: f64, most: f64) -> Self {
        let inside = |value: f64| value.clamp(least, most);
        Estimate { mean: inside(self.mean), low: self.low.map(inside), high: self.high.map(inside) }
    }

    /// The estimate without an interval that is a single value: blocks that all came out alike do not tell how others would.
    pub fn if_they_differ(self) -> Self {
        let is_empty = self.low == self.high;
        if is_empty { Estimate { low: None, high: None, ..self } } else { self }
    }

    /// The estimate of the opposite difference.
    pub fn opposite(self) -> Self {
        let opposite = |value: f64| -value;
        Estimate { mean: -self.mean, low: self.high.map(opposite), high: self.low.map(opposite) }
    }

    /// The estimate of the other share: 1 minus this one.
    pub fn rest(self) -> Self {
        let rest = |share: f64| 1.0 - share;
        Estimate { mean: rest(self.mean), low: self.high.map(rest), high: self.low.map(rest) }
    }
}

/// The promise of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// It holds in 95% of tournaments of a size that was fixed before the first match.
    Fixed,
    /// It holds at all times in 95% of tournaments, no matter who looks and stops when.
    Anytime,
}

impl Confidence {
    /// The reach, in standard errors, of an interval that misses with probability `alpha`, or `None` if there are too few blocks.
    pub(super) fn reach(self, alpha: f64, blocks: u64) -> Option<f64> {
        let scale = blocks as f64 * mixture();
        match self {
            Confidence::Fixed => (blocks >= 2).then(|| two_sided_quantile(alpha, blocks as f64 - 1.0)),
            Confidence::Anytime => (blocks >= FIRST_LOOK)
                .then(|| sqrt(2.0 * (scale + 1.0) / scale * log(sqrt(scale + 1.0) / alpha)))
                .map(|reach| reach * small(blocks)),
        }
    }

    /// The probability of being this many standard errors off, or more; 1 if there are too few blocks to tell.
    pub(super) fn p_value(self, statistic: f64, blocks: u64) -> f64 {
        let scale = blocks as f64 * mixture();
        match self {
            Confidence::Fixed if blocks >= 2 => two_sided_tail(statistic, blocks as f64 - 1.0),
            Confidence::Anytime if blocks >= FIRST_LOOK => {
                let statistic = statistic / small(blocks);
                let exponent = statistic * statistic * scale / (2.0 * (scale + 1.0));
                (sqrt(scale + 1.0) * exp(-exponent)).min(1.0)
            }
            _ => 1.0,
        }
    }
}

/// The largest number of blocks that is a sensible plan.
const MOST_BLOCKS: f64 = 1e15;
/// The number of spare standard errors with which a test succeeds in four of five cases.
const FOUR_OF_FIVE: f64 = 0.8416;

/// The number of standard errors by which a difference shows in four of five tournaments.
fn reach(tests: f64, blocks: f64) -> f64 {
    two_sided_quantile(ALPHA / tests, (blocks - 1.0).min(1e6)) + FOUR_OF_FIVE
}

/// The variance of the mixture behind a confidence sequence, times the number of blocks (Waudby-Smith and others, 2024, B.2).
fn mixture() -> f64 {
    let log = -2.0 * log(ALPHA);
    (log + libm::log(log) + 1.0) / BEST_AT
}

/// The factor by which intervals widen because the variance is not known: that of Student's t at the usual level.
fn small(blocks: u64) -> f64 {
    // To first order in 1 / blocks; Student's quantiles at 5% within 2% from ten blocks on.
    1.0 + 1.21 / (blocks as f64 - 1.0) + 1.5 / ((blocks as f64 - 1.0) * (blocks as f64 - 1.0))
}

/// The limits of what a single block can show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub lowest: f64,
    pub highest: f64,
    /// The number of matches in a block, whose mean is its value.
    pub matches: f64,
}

impl Bounds {
    /// The bounds of a share.
    pub fn share(matches: f64) -> Option<Bounds> {
        Some(Bounds { lowest: 0.0, highest: 1.0, matches })
    }

    fn width(&self) -> f64 {
        self.highest - self.lowest
    }

    /// The variance of a value that is always at one bound or the other.
    pub fn largest_variance(&self, mean: f64) -> f64 {
        ((mean - self.lowest) * (self.highest - mean)).max(0.0)
    }
}

/// A mean over blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mean {
    pub mean: f64,
    pub blocks: u64,
    /// The variance of a block; for a bounded value as a share of the largest variance that its mean allows.
    spread: f64,
    bounds: Option<Bounds>,
}

impl Mean {
    /// Makes the mean from running sums.
    pub fn new(sums: Running, bounds: Option<Bounds>) -> Self {
        let blocks = sums.blocks as f64;
        let variance = if sums.blocks >= 2 { sums.squares / (blocks - 1.0) } else { 0.0 };
        let Some(limits) = bounds else {
            return Mean { mean: sums.mean, blocks: sums.blocks, spread: variance, bounds };
        };
        let mean = sums.mean.clamp(limits.lowest, limits.highest);
        let largest = limits.largest_variance(mean);
        let share = if largest > 0.0 { (variance / largest).min(1.0) } else { 1.0 };
        // Blocks near a bound say little about it: what counts is how many could have come out otherwise.
        let open = 4.0 * largest / (limits.width() * limits.width());
        let (telling, prior) = (open * blocks, LEAST_PRIOR + (PRIOR_BLOCKS - LEAST_PRIOR) * (1.0 - open));
        let cautious = 1.0 / sqrt(limits.matches.max(1.0));
        let spread = (telling * share + prior * cautious) / (telling + prior);
        Mean { mean, blocks: sums.blocks, spread, bounds }
    }

    /// How many standard errors the mean is away from `null`, if `null` is the truth.
    pub fn statistic(&self, null: f64) -> f64 {
        let off = self.mean - null;
        if off.abs() <= NOISE * (1.0 + self.mean.abs() + null.abs()) {
            return 0.0;
        }
        off / sqrt(self.variance(null, off) / self.blocks as f64)
    }

    /// The variance of a block if `null` is the truth, but the mean is `off` by this much.
    fn variance(&self, null: f64, off: f64) -> f64 {
        match self.bounds {
            Some(bounds) => self.spread * bounds.largest_variance(null),
            // Blocks that all came out the same are no proof that the next one will.
            None => self.spread.max(off * off / 4.0),
        }
    }

    /// The number of blocks that tell a mean that is `off` by this much from 0, in four of five tournaments, with an error of 5%
    /// for `tests` tests together, or `None` if that is more than anybody can play.
    pub fn blocks_for(&self, off: f64, tests: f64) -> Option<u64> {
        let share = self.variance(0.0, off) / (off * off);
        if off.abs() <= NOISE * (1.0 + self.mean.abs()) || !share.is_finite() {
            return None;
        }
        let needed = |blocks: f64| reach(tests, blocks) * reach(tests, blocks) * share;
        let least = needed(f64::INFINITY).ceil().max(2.0);
        if least >= MOST_BLOCKS {
            return None;
        }
        // Few blocks know their own variance badly, so some more are needed.
        let mut enough = iter::successors(Some(least), |blocks| Some(blocks + 1.0));
        enough.find(|&blocks| blocks >= needed(blocks)).map(|blocks| blocks as u64)
    }

    /// The smallest difference from 0 that `blocks` blocks show, under the same conditions.
    pub fn visible(&self, blocks: u64, tests: f64) -> f64 {
        reach(tests, blocks.max(2) as f64) * sqrt(self.variance(0.0, 0.0) / blocks.max(1) as f64)
    }

    /// The probability of this mean, or one farther away, if `null` is the truth.
    pub fn p_value(&self, null: f64, confidence: Confidence) -> f64 {
        confidence.p_value(self.statistic(null), self.blocks)
    }

    /// The mean with its 95% interval.
    pub fn estimate(&self, confidence: Confidence) -> Estimate {
        let (low, high) = self.interval(ALPHA, confidence).unzip();
        Estimate { mean: self.mean, low, high }
    }

    /// The interval that misses with probability `alpha`, or `None` if there are too few blocks.
    pub fn interval(&self, alpha: f64, confidence: Confidence) -> Option<(f64, f64)> {
        let reach = confidence.reach(alpha, self.blocks)?;
        let blocks = self.blocks as f64;
        let Some(bounds) = self.bounds else {
            let half = reach * sqrt(self.spread / blocks);
            return Some((self.mean - half, self.mean + half));
        };
        // Those values whose test does not reject them: a quadratic inequality.
        let (mean, weight) =
            ((self.mean - bounds.lowest) / bounds.width(), reach * reach * self.spread / blocks);
        let centre = (mean + weight / 2.0) / (1.0 + weight);
        let half = sqrt(weight * (mean * (1.0 - mean) + weight / 4.0)) / (1.0 + weight);
        let end = |share: f64| bounds.lowest + share.clamp(0.0, 1.0) * bounds.width();
        // Rounding must not put the mean outside.
        Some((end(centre - half).min(self.mean), end(centre + half).max(self.mean)))
    }

    /// The variance of a block, as if two more effective blocks had ended at each bound: if all ended alike, the next one may not
    /// (Agresti and Coull, "Approximate is better than exact for interval estimation of binomial proportions", 1998).
    pub fn cautious_variance(&self) -> f64 {
        let Some(bounds) = self.bounds else { return self.spread };
        let effective = self.blocks as f64 / self.spread.max(NOISE);
        let middle = (bounds.lowest + bounds.highest) / 2.0;
        let mean = (effective * self.mean + 4.0 * middle) / (effective + 4.0);
        self.spread * bounds.largest_variance(mean)
    }

    /// The variance of a block as a share of the largest possible; the variance itself if the value has no bounds.
    pub fn spread(&self) -> f64 {
        self.spread
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::unit;
    use super::*;
    use necrodome_rules::chance::{Chance, Seeded};

    const SHARE: Option<Bounds> = Some(Bounds { lowest: 0.0, highest: 1.0, matches: 2.0 });

    fn sums(values: impl IntoIterator<Item = f64>) -> Running {
        let mut sums = Running::default();
        values.into_iter().for_each(|value| sums.add(value));
        sums
    }

    fn assert_near(value: f64, expected: f64, within: f64) {
        assert!((value - expected).abs() < within, "{value}, expected {expected}");
    }

    #[test]
    fn without_bounds_it_is_the_textbook_interval_of_a_mean() {
        let estimate = Mean::new(sums([2.0, 4.0, 9.0]), None).estimate(Confidence::Fixed);
        // Mean 5, variance 13, t(2) = 4.302652729911275.
        assert_near(estimate.mean, 5.0, 1e-9);
        assert_near(estimate.high.unwrap(), 5.0 + 4.302652729911275 * (13.0_f64 / 3.0).sqrt(), 1e-9);
        assert_eq!(Estimate::of_blocks([(1.0, 2.0), (1.0, 4.0), (1.0, 9.0)]).unwrap(), estimate);
        assert_eq!(Estimate::of_blocks([(0.0, 0.0)]), None);
    }

    #[test]
    fn blocks_that_all_came_out_alike_do_not_tell_how_others_would() {
        let lost = Estimate::of_shares([(2.0, 0.0); 5]).unwrap();
        // As the tournament of the same matches says it.
        assert_eq!(lost, Mean::new(sums([0.0; 5]), SHARE).estimate(Confidence::Fixed));
        assert!(lost.mean == 0.0 && lost.low == Some(0.0) && lost.high > Some(0.3), "{lost:?}");
        let alike = Estimate::of_blocks([(2.0, 5.0); 5]).unwrap().if_they_differ();
        assert_eq!(alike, Estimate { mean: 2.5, low: None, high: None });
        let differ = Estimate::of_blocks([(2.0, 5.0), (2.0, 6.0)]).unwrap();
        assert_eq!(differ.if_they_differ(), differ);
    }

    #[test]
    fn unequal_sizes_weigh_by_size() {
        let estimate = Estimate::of_blocks([(1.0, 1.0), (3.0, 1.0)]).unwrap();
        assert_near(estimate.mean, 0.5, 1e-12);
        // Residuals 1/2 and -1/2 over a mean size of 2: variance 2 * (1/4)^2, over 2 blocks; t(1) = 12.7062.
        assert_near(estimate.high.unwrap() - 0.5, 12.7062 * 0.0625_f64.sqrt(), 1e-3);
    }

    #[test]
    fn an_interval_stays_within_what_is_possible_and_a_loss_never_raises_it() {
        for blocks in [10, 50, 400] {
            let record = |losses: usize| {
                let won = |block| if block < losses { 0.5 } else { 1.0 };
                Mean::new(sums((0..blocks).map(won)), SHARE).estimate(Confidence::Fixed)
            };
            let mut before = record(0);
            assert_eq!(before.high, Some(1.0));
            for losses in 1..=blocks / 2 {
                let now = record(losses);
                assert!(now.low < before.low, "{blocks} blocks, {losses} losses: {now:?} after {before:?}");
                assert!(now.high <= Some(1.0) && now.low >= Some(0.0));
                before = now;
            }
        }
        // Ten wins out of ten, one match a block: close to the interval of Clopper and Pearson, from 0.692.
        let perfect = Mean::new(sums([1.0; 10]), Bounds::share(1.0)).estimate(Confidence::Fixed);
        assert_near(perfect.low.unwrap(), 0.66, 0.01);
    }

    #[test]
    fn the_interval_holds_what_the_test_does_not_reject() {
        let values = [0.5, 1.0, 1.0, 0.5, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.5, 1.0];
        for bounds in [SHARE, None] {
            let mean = Mean::new(sums(values), bounds);
            for confidence in [Confidence::Fixed, Confidence::Anytime] {
                let (low, high) = mean.interval(ALPHA, confidence).unwrap();
                for end in [low, high].into_iter().filter(|end| (0.001..0.999).contains(end)) {
                    assert_near(mean.p_value(end, confidence), ALPHA, 1e-6);
                }
            }
        }
    }

    /// The share of runs whose interval holds the truth. Each run has `blocks` blocks of two matches won with this probability.
    fn coverage(chance_to_win: f64, blocks: usize, runs: u64, confidence: Confidence) -> f64 {
        let held = (0..runs).filter(|&run| {
            let mut chance = Seeded::new(run, "coverage", blocks as u64);
            let mut won = || f64::from(u8::from(unit(&mut chance) < chance_to_win));
            let mean = Mean::new(sums((0..blocks).map(|_| (won() + won()) / 2.0)), SHARE);
            let (low, high) = mean.interval(ALPHA, confidence).unwrap();
            low <= chance_to_win && chance_to_win <= high
        });
        held.count() as f64 / runs as f64
    }

    #[test]
    fn coverage_is_as_promised_also_near_certainty() {
        for (truth, blocks) in [(0.5, 20), (0.5, 200), (0.9, 50), (0.97, 50), (0.97, 400), (0.9987, 200)] {
            let covered = coverage(truth, blocks, 1000, Confidence::Fixed);
            // Standard deviation 0.7%.
            assert!(covered >= 0.93, "{truth} with {blocks} blocks: {covered}");
            assert!(covered <= 0.985 || truth > 0.9, "{truth} with {blocks} blocks: {covered}");
        }
    }

    #[test]
    fn a_confidence_sequence_holds_at_all_looks_together() {
        let misses = |confidence: Confidence, draw: &dyn Fn(&mut Seeded) -> f64, truth: f64| {
            (0..400)
                .filter(|&run| {
                    let mut chance = Seeded::new(run, "looks", 0);
                    let mut sums = Running::default();
                    (0..1000).any(|_| {
                        sums.add(draw(&mut chance));
                        Mean::new(sums, SHARE).p_value(truth, confidence) <= ALPHA
                    })
                })
                .count()
        };
        let coin = |chance: &mut Seeded| f64::from(chance.uniform(2));
        let pair = |chance: &mut Seeded| f64::from(chance.uniform(2) + chance.uniform(2)) / 2.0;
        let rare = |chance: &mut Seeded| f64::from(u8::from(chance.uniform(20) > 0));
        for (draw, truth) in [(&coin as &dyn Fn(&mut Seeded) -> f64, 0.5), (&pair, 0.5), (&rare, 0.95)] {
            let wrong = misses(Confidence::Anytime, draw, truth);
            // At most 20 expected, standard deviation 4.4.
            assert!((1..=28).contains(&wrong), "{wrong} of 400 around {truth}");
        }
        // An ordinary interval that is looked at after every block: shows that this test can fail.
        let wrong = misses(Confidence::Fixed, &coin, 0.5);
        assert!(wrong > 120, "{wrong} of 400");
    }

    #[test]
    fn twins_that_score_the_same_are_no_proof_of_anything() {
        let rounding = Mean::new(sums([1e-17, -2e-17, 1e-17, 3e-17, 1e-17]), None);
        assert_eq!(rounding.p_value(0.0, Confidence::Fixed), 1.0);
        let steady = |blocks: usize| Mean::new(sums(vec![5.0; blocks]), None).p_value(0.0, Confidence::Fixed);
        assert!(steady(2) > 0.05 && steady(3) > 0.05 && steady(10) < 0.001, "{} {}", steady(3), steady(10));
    }

    #[test]
    fn one_block_has_no_interval() {
        let one = Mean::new(sums([0.5]), SHARE).estimate(Confidence::Fixed);
        assert_eq!(one, Estimate { mean: 0.5, low: None, high: None });
        assert_eq!(Mean::new(sums([0.5; 9]), SHARE).interval(ALPHA, Confidence::Anytime), None);
        assert_eq!(Mean::new(sums([0.5]), SHARE).p_value(0.1, Confidence::Fixed), 1.0);
    }
}
