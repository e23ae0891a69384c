//! Numbers with their 95% intervals.

use serde::Serialize;

/// The point beyond which the normal distribution has 2.5%.
pub(super) const Z: f64 = 1.959963984540054;

/// The share of games in which something happened.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// The number of games in which it happened.
    pub games: u64,
    /// The share of all games.
    pub rate: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Share {
    /// `games` out of `all`, which is at least 1, with Wilson's interval (JASA 22, 1927).
    pub fn of(games: u64, all: u64) -> Self {
        Self::with_z(games, all, Z)
    }

    /// Like `of`, but with the interval for this z.
    pub(super) fn with_z(games: u64, all: u64, z: f64) -> Self {
        let (n, rate) = (all as f64, games as f64 / all as f64);
        let middle = (rate + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let reach = z / (1.0 + z * z / n) * (rate * (1.0 - rate) / n + z * z / (4.0 * n * n)).sqrt();
        // The formula is exact at the ends, but its sums are not.
        let low = if games == 0 { 0.0 } else { (middle - reach).max(0.0) };
        let high = if games == all { 1.0 } else { (middle + reach).min(1.0) };
        Share { games, rate, low, high }
    }
}

/// A mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean itself.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// A value that a given share of the games does not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Quantile {
    /// The value: the smallest that at least this share of the games does not exceed.
    pub value: usize,
    /// The lower end of the interval.
    pub low: usize,
    /// The upper end of the interval.
    pub high: usize,
}

/// The count of each value, from 0 on.
pub(super) struct Histogram(pub Vec<u64>);

impl Histogram {
    fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The value, if there is only one.
    pub fn only(&self) -> Option<usize> {
        let value = self.0.iter().position(|&count| count > 0)?;
        self.0[value + 1..].iter().all(|&count| count == 0).then_some(value)
    }

    /// The value at a place, counted from 1, in the ascending list of all values.
    fn at(&self, place: u64) -> usize {
        let mut below = 0;
        let found = self.0.iter().position(|count| {
            below += count;
            below >= place
        });
        found.unwrap_or(self.0.len().saturating_sub(1))
    }

    /// A quantile. Its interval goes from one of the sorted values to another: the number of values below the true
    /// quantile is binomial, whatever the values are (Conover, Practical Nonparametric Statistics, 3.2).
    pub fn quantile(&self, share: f64) -> Quantile {
        let total = self.total().max(1);
        let n = total as f64;
        let (middle, reach) = (n * share, Z * (n * share * (1.0 - share)).sqrt());
        let place = |place: f64| (place.max(1.0) as u64).min(total);
        Quantile {
            value: self.at(place(middle.ceil())),
            low: self.at(place((middle - reach).ceil())),
            high: self.at(place((middle + reach).ceil() + 1.0)),
        }
    }

    /// The mean with its interval by t, cut to possible values. If all values are the same, t would claim
    /// that there is no error. Instead: `n` equal values show with 97.5% confidence that at most a share
    /// `1 - 0.025^(1/n)` of games differs, by any amount.
    pub fn mean(&self, lowest: usize, highest: usize) -> Estimate {
        let n = self.total().max(1) as f64;
        let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
            self.0.iter().enumerate().map(|(value, &count)| of(value as f64) * count as f64).sum()
        };
        let mean = sum(&|value| value) / n;
        let squares = sum(&|value| (value - mean) * (value - mean));
        let (lowest, highest) = (lowest as f64, highest as f64);
        let (low, high) = if self.only().is_some() {
            let unseen = 1.0 - 0.025_f64.powf(1.0 / n);
            (mean - unseen * (mean - lowest), mean + unseen * (highest - mean))
        } else {
            let reach = t(n - 1.0) * (squares / (n - 1.0) / n).sqrt();
            (mean - reach, mean + reach)
        };
        Estimate { mean, low: low.max(lowest), high: high.min(highest) }
    }
}

/// The value that Student's t exceeds in 2.5% of all cases, from the normal distribution (Abramowitz and Stegun, 26.7.5). Good to
/// three digits from 5 degrees of freedom on; fewer give an interval that is a little too short.
fn t(freedom: f64) -> f64 {
    let z = Z;
    let one = (z.powi(3) + z) / 4.0;
    let two = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let three = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + one / freedom + two / freedom.powi(2) + three / freedom.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_rules::chance::{Chance, Seeded};

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-4, "{value}, expected {expected}");
    }

    #[test]
    fn shares_have_the_intervals_of_the_literature() {
        // Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        for (games, all, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let share = Share::of(games, all);
            near(share.low, low);
            near(share.high, high);
        }
        let all = Share::of(29, 29);
        near(all.low, 1.0 - Share::of(0, 29).high);
        assert_eq!(all.high, 1.0);
    }

    #[test]
    fn t_is_that_of_the_printed_table() {
        for (freedom, expected) in [(9.0, 2.2622), (30.0, 2.0423), (120.0, 1.9799)] {
            assert!((t(freedom) - expected).abs() < 1e-3, "{freedom}: {}", t(freedom));
        }
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_values() {
        let mut chance = Seeded::new(3, "quantiles", 0);
        for total in [1, 2, 3, 4, 5, 8, 99, 100, 101] {
            let mut values: Vec<usize> = (0..total).map(|_| chance.uniform(12) as usize).collect();
            let mut counts = vec![0; 12];
            values.iter().for_each(|&value| counts[value] += 1);
            values.sort_unstable();
            let histogram = Histogram(counts);
            for share in [0.25, 0.5, 0.75] {
                let quantile = histogram.quantile(share);
                // By its definition, the slow way.
                let reached = |value: usize| values.iter().filter(|&&other| other <= value).count();
                let expected = (0..12).find(|&value| reached(value) as f64 >= share * total as f64).unwrap();
                assert_eq!(quantile.value, expected, "{share} of {values:?}");
                assert!(quantile.low <= quantile.value && quantile.value <= quantile.high);
            }
        }
    }

    #[test]
    fn values_that_are_all_the_same_are_not_certain() {
        let same = Histogram(vec![0, 0, 10]);
        let mean = same.mean(0, 5);
        near(mean.mean, 2.0);
        // 10 equal values: Clopper and Pearson leave a share of 0.3085 open.
        near(mean.low, 2.0 - 0.308497 * 2.0);
        near(mean.high, 2.0 + 0.308497 * 3.0);
    }

    /// About 950 of 1000 intervals hold the truth, with a standard deviation of 7.
    #[test]
    fn about_95_percent_of_the_intervals_hold_the_truth() {
        let (mut shares, mut means, mut medians) = (0, 0, 0);
        for trial in 0..1000 {
            let mut chance = Seeded::new(8, "coverage", trial);
            let mut counts = vec![0; 11];
            let mut hits = 0;
            for _ in 0..60 {
                // The sum of two dice with faces 0 to 5: mean and median are 5.
                counts[(chance.uniform(6) + chance.uniform(6)) as usize] += 1;
                hits += u64::from(chance.uniform(10) < 3);
            }
            let share = Share::of(hits, 60);
            shares += usize::from(share.low <= 0.3 && 0.3 <= share.high);
            let histogram = Histogram(counts);
            let mean = histogram.mean(0, 10);
            means += usize::from(mean.low <= 5.0 && 5.0 <= mean.high);
            let median = histogram.quantile(0.5);
            medians += usize::from(median.low <= 5 && 5 <= median.high);
        }
        assert!((925..=980).contains(&shares), "{shares}");
        assert!((925..=980).contains(&means), "{means}");
        // Values that tie make the interval wider than it need be.
        assert!(medians >= 940, "{medians}");
    }
}
