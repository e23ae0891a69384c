//! A total over a size, such as wins over matches, with its error between blocks.
//!
//! Ratio estimator with blocks as clusters (Cochran, Sampling Techniques, ch. 6 and 11): an entry may play
//! different numbers of matches in different blocks, so its rate is the ratio of two sums, and the error of a
//! ratio is, to first order, that of the sum of its residuals. Residuals are compared within their stratum,
//! and the degrees of freedom are Satterthwaite's. A stratum of a single block has nothing to be compared
//! with: all of those are pooled.

use super::ALPHA;
use super::distribution::{two_sided_quantile, two_sided_tail};
use super::interval::Estimate;
use libm::{log, pow, sqrt};

/// Below this, relative to the value, a standard error is rounding noise: all blocks came out the same.
const NOISE: f64 = 1e-9;

/// What one block contributes to a ratio.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cluster {
    pub stratum: usize,
    /// For example matches.
    pub size: f64,
    /// For example wins.
    pub total: f64,
}

/// The values that a single block can have, where they are limited.
pub(super) type Bounds = Option<(f64, f64)>;

/// How much one block moves an estimate away from its true value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Influence {
    pub stratum: usize,
    pub amount: f64,
}

/// A standard error and how well it is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    pub error: f64,
    pub freedom: f64,
}

/// The ratio, if anything was counted at all.
pub(super) fn ratio(clusters: &[Cluster]) -> Option<f64> {
    let size: f64 = clusters.iter().map(|cluster| cluster.size).sum();
    let total: f64 = clusters.iter().map(|cluster| cluster.total).sum();
    (size > 0.0).then(|| total / size)
}

/// By cluster: its influence on the ratio.
pub(super) fn influences(clusters: &[Cluster], ratio: f64) -> Vec<Influence> {
    let size: f64 = clusters.iter().map(|cluster| cluster.size).sum();
    let influence = |cluster: &Cluster| Influence {
        stratum: cluster.stratum,
        amount: (cluster.total - ratio * cluster.size) / size,
    };
    clusters.iter().map(influence).collect()
}

/// The standard error of a sum of influences; nothing if there are too few blocks to tell.
pub(super) fn spread(influences: &[Influence]) -> Option<Spread> {
    let strata = influences.iter().map(|influence| influence.stratum + 1).max().unwrap_or(0);
    let mut counts = vec![0.0; strata];
    let mut sums = vec![0.0; strata];
    for influence in influences {
        counts[influence.stratum] += 1.0;
        sums[influence.stratum] += influence.amount;
    }
    let mut squares = vec![0.0; strata];
    let (mut singles, mut single_squares) = (0.0, 0.0);
    for &Influence { stratum, amount } in influences {
        if counts[stratum] > 1.0 {
            let deviation = amount - sums[stratum] / counts[stratum];
            squares[stratum] += deviation * deviation;
        } else {
            singles += 1.0;
            single_squares += amount * amount;
        }
    }
    counts.push(singles);
    squares.push(single_squares);
    total_spread(&counts, &squares)
}

/// Adds up the variances of the strata.
fn total_spread(counts: &[f64], squares: &[f64]) -> Option<Spread> {
    let (mut variance, mut uncertainty, mut most_freedom) = (0.0, 0.0, 0.0);
    for (&count, &square) in counts.iter().zip(squares) {
        if count > 1.0 {
            let part = square * count / (count - 1.0);
            variance += part;
            uncertainty += part * part / (count - 1.0);
            most_freedom += count - 1.0;
        } else {
            variance += square;
        }
    }
    let freedom = if uncertainty > 0.0 { variance * variance / uncertainty } else { most_freedom };
    (most_freedom > 0.0).then(|| Spread { error: sqrt(variance), freedom: freedom.clamp(1.0, most_freedom) })
}

/// The ratio with its 95% interval, within the bounds.
///
/// If all blocks came out the same, t would claim that there is no error. Instead: `n` equal blocks show with
/// 97.5% confidence that at most a share `q = 1 - 0.025^(1/n)` of all blocks comes out otherwise, however far
/// that may be within the bounds (for a bot that always won this is the interval of Clopper and Pearson).
/// Without bounds nothing can be said, and the interval is a point.
pub(super) fn estimate(clusters: &[Cluster], bounds: Bounds) -> Option<Estimate> {
    let mean = ratio(clusters)?;
    let Some(spread) = spread(&influences(clusters, mean)) else {
        return Some(Estimate { mean, low: None, high: None });
    };
    let (lowest, highest) = bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let (low, high) = match bounds {
        Some(_) if spread.error <= NOISE * (1.0 + mean.abs()) => {
            let unseen = unseen_share(clusters.len());
            (mean - unseen * (mean - lowest), mean + unseen * (highest - mean))
        }
        _ => {
            let reach = two_sided_quantile(ALPHA, spread.freedom) * spread.error;
            (mean - reach, mean + reach)
        }
    };
    Some(Estimate { mean, low: Some(low.max(lowest)), high: Some(high.min(highest)) })
}

/// The share of blocks that may come out otherwise although `blocks` of them came out the same.
pub(super) fn unseen_share(blocks: usize) -> f64 {
    1.0 - pow(ALPHA / 2.0, 1.0 / blocks as f64)
}

/// The two-sided p-value of a difference from 0 that a sum of influences disturbs; 1 if there are too few
/// blocks.
///
/// `range` is how far the other side of 0 a block can be. If all blocks came out the same, the t test would
/// be certain after two of them. Instead: a value with this range whose mean is 0 takes the value `d` with
/// probability `1 / (1 + d / range)` at most, `n` times in a row with its `n`-th power (the sign test, if `d`
/// is the range).
pub(super) fn p_value(difference: f64, influences: &[Influence], range: f64) -> f64 {
    let Some(spread) = spread(influences) else { return 1.0 };
    if spread.error > NOISE * (1.0 + difference.abs()) {
        return two_sided_tail(difference / spread.error, spread.freedom);
    }
    if difference.abs() <= NOISE {
        return 1.0;
    }
    let far = difference.abs() / range;
    (2.0 * libm::exp(-(influences.len() as f64) * log(1.0 + far))).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(values: &[(usize, f64, f64)]) -> Vec<Cluster> {
        values.iter().map(|&(stratum, size, total)| Cluster { stratum, size, total }).collect()
    }

    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value}, expected {expected}");
    }

    #[test]
    fn equal_sizes_give_the_textbook_interval_of_a_mean() {
        let data = clusters(&[(0, 1.0, 2.0), (0, 1.0, 4.0), (0, 1.0, 9.0)]);
        let estimate = estimate(&data, None).unwrap();
        // Mean 5, variance 13, t(2) = 4.302652729911275.
        assert_near(estimate.mean, 5.0);
        assert_near(estimate.high.unwrap(), 5.0 + 4.302652729911275 * (13.0_f64 / 3.0).sqrt());
        assert_near(estimate.low.unwrap(), 5.0 - 4.302652729911275 * (13.0_f64 / 3.0).sqrt());
    }

    #[test]
    fn unequal_sizes_weigh_by_size() {
        let data = clusters(&[(0, 1.0, 1.0), (0, 3.0, 1.0)]);
        let mean = ratio(&data).unwrap();
        assert_near(mean, 0.5);
        // Residuals 1/2 and -1/2 over a size of 4: variance 2/1 * 2 * (1/8)^2.
        assert_near(spread(&influences(&data, mean)).unwrap().error, (2.0 * 2.0 / 64.0_f64).sqrt());
    }

    #[test]
    fn differences_between_line_ups_are_no_error() {
        let split = clusters(&[(0, 1.0, 0.9), (0, 1.0, 0.8), (1, 1.0, 0.1), (1, 1.0, 0.2)]);
        let joined: Vec<Cluster> = split.iter().map(|&cluster| Cluster { stratum: 0, ..cluster }).collect();
        let error = |data: &[Cluster]| spread(&influences(data, 0.5)).unwrap().error;
        // In each line-up a variance of 0.005, so of the mean of the four 2 * 2 * 0.005 / 16.
        assert_near(error(&split), 0.00125_f64.sqrt());
        assert_near(error(&joined), (4.0 / 3.0 * (0.16 + 0.09 + 0.16 + 0.09) / 16.0_f64).sqrt());
    }

    #[test]
    fn line_ups_that_met_once_are_pooled() {
        let singles = clusters(&[(0, 1.0, 2.0), (1, 1.0, 4.0), (2, 1.0, 9.0)]);
        let spread = spread(&influences(&singles, 5.0)).unwrap();
        assert_near(spread.error, (13.0_f64 / 3.0).sqrt());
        assert_near(spread.freedom, 2.0);
    }

    #[test]
    fn a_perfect_record_has_the_interval_of_clopper_and_pearson() {
        let ten_wins = clusters(&[(0, 2.0, 2.0); 10]);
        let estimate = estimate(&ten_wins, Some((0.0, 1.0))).unwrap();
        assert_near(estimate.low.unwrap(), 0.691502892181239);
        assert_near(estimate.high.unwrap(), 1.0);
    }

    #[test]
    fn one_block_has_no_interval_and_none_has_no_mean() {
        let one = estimate(&clusters(&[(0, 2.0, 1.0)]), None).unwrap();
        assert_eq!(one, Estimate { mean: 0.5, low: None, high: None });
        assert_eq!(estimate(&[], None), None);
    }

    #[test]
    fn equal_blocks_are_judged_by_the_sign_test() {
        let steady = vec![Influence { stratum: 0, amount: 0.0 }; 5];
        assert_near(p_value(1.0, &steady, 1.0), 2.0 / 32.0);
        assert_near(p_value(0.0, &steady, 1.0), 1.0);
        assert_near(p_value(1.0, &steady[..1], 1.0), 1.0);
    }
}
