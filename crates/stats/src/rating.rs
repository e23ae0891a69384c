//! Joint ratings on the scale of Elo: a difference of 400 points is a ratio of 10 in strength.
//!
//! The model is that of Bradley and Terry on pairs: each meeting of two entries counts, whatever the number of seats, and a
//! tie is half a win for each. Where a match of many seats follows the law of Plackett and Luce, all its pairs together give
//! the same strengths (Azari Soufiani, Chen, Parkes and Xia, "Generalized method-of-moments for rank aggregation", 2013), and
//! pairs can be counted in constant memory. The fit is the maximum likelihood fit, so the order of matches does not
//! matter. Every entry has also drawn [`PRIOR_DRAWS`] matches against an entry of average strength. This keeps the rating
//! of an entry that always won finite, and makes groups comparable that never met.
//!
//! The likelihood says nothing about the error, since the pairs of a block depend on each other. The error comes from how the
//! points of the entries vary from block to block (a sandwich estimate, or the delta method), and intervals are as wide as
//! those of every other mean.
//!
//! The scale: 0 is the mean of all entries that have won and lost. An entry with a perfect record has no upper limit and must
//! not push the others down by an unknown number, so it counts only if there are no others.

use super::interval::{Bounds, Confidence, Mean};
use super::strata::Stratum;
use super::tally::Tally;
use libm::{exp, log, sqrt};
use schemars::JsonSchema;
use serde::Serialize;
use std::{cmp::Ordering, f64::consts::LN_10};

/// The weight of the prior, in drawn matches per entry.
const PRIOR_DRAWS: f64 = 0.5;
/// Points of Elo per unit of the natural logarithm of a strength.
const POINTS: f64 = 400.0 / LN_10;
/// The most steps, far more than Newton's method ever needs.
const MOST_STEPS: usize = 100;
/// The longest step of a logarithm: where the likelihood is nearly flat, Newton's step would be far too long.
const LONGEST_STEP: f64 = 2.0;
/// The step at which the search ends. Steps shrink quadratically, so the error is far smaller.
const FINE: f64 = 1e-9;

/// The rating of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Rating {
    /// Points above the mean of the entries that have won and lost.
    pub elo: f64,
    /// The lower end of the 95% interval. Missing if there are too few blocks, and for an entry that never placed better than
    /// or level with anybody: there is no limit to how weak it may be.
    pub low: Option<f64>,
    /// The upper end of the 95% interval. Missing if there are too few blocks, and for an entry that never placed worse than or
    /// level with anybody: there is no limit to how strong it may be.
    pub high: Option<f64>,
}

/// Rates all entries.
pub(super) fn rate(tally: &Tally, confidence: Confidence) -> Vec<Rating> {
    let meetings = Meetings::of(tally);
    let fit = meetings.fit(&vec![0.0; meetings.entries]);
    let scale = meetings.scale();
    let zero = |logs: &[f64]| scale.iter().map(|&entry| logs[entry]).sum::<f64>() / scale.len().max(1) as f64;
    let errors = meetings.errors(tally, &fit);
    let rating = |entry: usize| {
        let elo = POINTS * (fit[entry] - zero(&fit));
        let reach = confidence.reach(super::ALPHA, tally.blocks()).filter(|_| meetings.met(entry) > 0.0);
        let Some(reach) = reach else { return Rating { elo, low: None, high: None } };
        match meetings.perfect(entry) {
            Some(won) => {
                let limit = meetings.limit(tally, entry, &fit, confidence);
                let limit = limit.map(|logs| POINTS * (logs[entry] - zero(&logs)));
                let (low, high) = if won { (limit, None) } else { (None, limit) };
                Rating { elo, low, high }
            }
            None => {
                let half = POINTS * reach * errors.of(entry, &scale);
                Rating { elo, low: Some(elo - half), high: Some(elo + half) }
            }
        }
    };
    (0..meetings.entries).map(rating).collect()
}

/// The number of meetings of each two entries, and their results.
struct Meetings {
    entries: usize,
    /// The number of times the row placed better than the column, a tie counted half.
    wins: Vec<Vec<f64>>,
}

impl Meetings {
    fn of(tally: &Tally) -> Self {
        let entries = tally.design().entries;
        let better = |a: usize, b: usize| match a.cmp(&b) {
            Ordering::Less => tally.pair(a, b).better,
            Ordering::Equal => 0.0,
            Ordering::Greater => tally.pair(b, a).met as f64 - tally.pair(b, a).better,
        };
        let wins = (0..entries).map(|a| (0..entries).map(|b| better(a, b)).collect()).collect();
        Meetings { entries, wins }
    }

    fn between(&self, a: usize, b: usize) -> f64 {
        self.wins[a][b] + self.wins[b][a]
    }

    fn met(&self, entry: usize) -> f64 {
        (0..self.entries).map(|other| self.between(entry, other)).sum()
    }

    fn points(&self, entry: usize) -> f64 {
        self.wins[entry].iter().sum()
    }

    /// Whether an entry has won everything (`Some(true)`) or lost everything (`Some(false)`); `None` for the others.
    fn perfect(&self, entry: usize) -> Option<bool> {
        let (met, points) = (self.met(entry), self.points(entry));
        (met > 0.0 && (points == 0.0 || points == met)).then_some(points > 0.0)
    }

    /// The entries whose mean is the zero of the scale.
    fn scale(&self) -> Vec<usize> {
        let bounded: Vec<usize> = (0..self.entries)
            .filter(|&entry| self.met(entry) > 0.0 && self.perfect(entry).is_none())
            .collect();
        if bounded.is_empty() { (0..self.entries).collect() } else { bounded }
    }

    /// Fits the logarithms of the strengths by maximum likelihood.
    fn fit(&self, start: &[f64]) -> Vec<f64> {
        let mut logs = start.to_vec();
        let mut here = self.likelihood(&logs);
        for _ in 0..MOST_STEPS {
            let (gradient, curvature) = self.slope(&logs);
            let mut step = solve(curvature, gradient);
            let longest = step.iter().fold(0.0, |longest: f64, part| longest.max(part.abs()));
            step.iter_mut().for_each(|part| *part *= (LONGEST_STEP / longest).min(1.0));
            // Halved as long as it leads downhill; the likelihood is concave, so that a short one leads up.
            let mut scale = 1.0;
            let next = loop {
                let next: Vec<f64> = logs.iter().zip(&step).map(|(log, part)| log + scale * part).collect();
                if self.likelihood(&next) >= here || scale < 1e-6 {
                    break next;
                }
                scale /= 2.0;
            };
            logs = next;
            here = self.likelihood(&logs);
            if longest <= FINE {
                break;
            }
        }
        logs
    }

    fn likelihood(&self, logs: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (a, row) in self.wins.iter().enumerate() {
            for (b, &wins) in row.iter().enumerate().filter(|(_, wins)| **wins > 0.0) {
                sum -= wins * softplus(logs[b] - logs[a]);
            }
            sum -= PRIOR_DRAWS / 2.0 * (softplus(logs[a]) + softplus(-logs[a]));
        }
        sum
    }

    /// The derivatives of the likelihood; the second ones with the opposite sign.
    fn slope(&self, logs: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let mut gradient = vec![0.0; self.entries];
        let mut curvature = vec![vec![0.0; self.entries]; self.entries];
        for a in 0..self.entries {
            let even = share(logs[a]);
            gradient[a] += PRIOR_DRAWS * (0.5 - even);
            curvature[a][a] += PRIOR_DRAWS * even * (1.0 - even);
            for b in (0..self.entries).filter(|&b| b != a) {
                let (met, expected) = (self.between(a, b), share(logs[a] - logs[b]));
                gradient[a] += self.wins[a][b] - met * expected;
                curvature[a][a] += met * expected * (1.0 - expected);
                curvature[a][b] -= met * expected * (1.0 - expected);
            }
        }
        (gradient, curvature)
    }

    /// The covariances of the strengths, from the points of the blocks.
    fn errors(&self, tally: &Tally, fit: &[f64]) -> Errors {
        let (_, curvature) = self.slope(fit);
        let mut points = vec![vec![0.0; self.entries]; self.entries];
        let is_alone = tally.strata().len() == 1;
        for stratum in tally.strata().iter().filter(|stratum| stratum.blocks() >= 2) {
            self.add_errors(stratum, is_alone, &mut points);
        }
        let inverse = inverse(curvature);
        Errors { covariance: product(&product(&inverse, &points), &inverse) }
    }

    /// Adds the covariances of the entries' points in a stratum.
    fn add_errors(&self, stratum: &Stratum, is_alone: bool, points: &mut [Vec<f64>]) {
        let blocks = stratum.blocks() as f64;
        let met = |entry: usize| stratum.results[entry].met;
        // By entry: how much its points vary, compared with what the sums say. More near the bounds, where sums say little.
        let mut wider = vec![0.0; self.entries];
        for a in (0..self.entries).filter(|&a| met(a) > 0.0) {
            let sums = stratum.points(a, a);
            let mean = Mean::new(sums, Bounds::share(met(a) / blocks));
            // A perfect record has limits of its own; in one of several strata it is not certain either.
            let variance = match is_alone {
                true => mean.spread() * mean.mean * (1.0 - mean.mean),
                false => mean.cautious_variance(),
            } * (blocks - 1.0);
            wider[a] = if sums.squares > 0.0 { sqrt(variance / sums.squares) } else { 0.0 };
            let per_block = met(a) / blocks;
            for b in 0..=a {
                let scale = per_block * met(b) / blocks * blocks / (blocks - 1.0);
                let joint = stratum.points(a, b).squares * wider[a] * wider[b];
                let joint = if a == b && sums.squares == 0.0 { variance } else { joint };
                points[a][b] += joint * scale;
                points[b][a] = points[a][b];
            }
        }
    }

    /// The limit for an entry with a perfect record: its strength if the results that were not seen had gone against it.
    fn limit(&self, tally: &Tally, entry: usize, fit: &[f64], confidence: Confidence) -> Option<Vec<f64>> {
        let points = tally.points(entry);
        let mean = Mean::new(points, Bounds::share(self.met(entry) / points.blocks.max(1) as f64));
        let (low, high) = mean.interval(super::ALPHA, confidence)?;
        let share = if self.perfect(entry)? { low } else { high };
        let mut worse = Meetings { entries: self.entries, wins: self.wins.clone() };
        for other in (0..self.entries).filter(|&other| other != entry) {
            let met = self.between(entry, other);
            (worse.wins[entry][other], worse.wins[other][entry]) = (met * share, met * (1.0 - share));
        }
        Some(worse.fit(fit))
    }
}

/// The covariances of the logarithms of the strengths.
struct Errors {
    covariance: Vec<Vec<f64>>,
}

impl Errors {
    /// The standard error of an entry, relative to the mean of those that make the scale.
    fn of(&self, entry: usize, scale: &[usize]) -> f64 {
        let weight = |other: usize| {
            let of_mean = if scale.contains(&other) { 1.0 / scale.len() as f64 } else { 0.0 };
            f64::from(u8::from(other == entry)) - of_mean
        };
        let weights: Vec<f64> = (0..self.covariance.len()).map(weight).collect();
        let row = |(row, own): (&Vec<f64>, &f64)| {
            own * row.iter().zip(&weights).map(|(joint, other)| joint * other).sum::<f64>()
        };
        sqrt(self.covariance.iter().zip(&weights).map(row).sum::<f64>().max(0.0))
    }
}

/// The logarithm of 1 + e^x.
fn softplus(x: f64) -> f64 {
    if x > 30.0 { x } else { log(1.0 + exp(x)) }
}

/// The expected share of points at this difference of logarithms.
fn share(difference: f64) -> f64 {
    1.0 / (1.0 + exp(-difference))
}

fn product(left: &[Vec<f64>], right: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let cell = |row: &Vec<f64>, column: usize| row.iter().zip(right).map(|(x, r)| x * r[column]).sum();
    left.iter().map(|row| (0..right.len()).map(|column| cell(row, column)).collect()).collect()
}

/// The inverse of a positive definite matrix, by elimination.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    let unit = |row: usize| (0..size).map(|column| f64::from(u8::from(row == column))).collect();
    let mut inverse: Vec<Vec<f64>> = (0..size).map(unit).collect();
    for pivot in 0..size {
        let scale = 1.0 / matrix[pivot][pivot];
        matrix[pivot].iter_mut().chain(&mut inverse[pivot]).for_each(|value| *value *= scale);
        let (top, side) = (matrix[pivot].clone(), inverse[pivot].clone());
        for row in (0..size).filter(|&row| row != pivot) {
            let factor = matrix[row][pivot];
            matrix[row].iter_mut().zip(&top).for_each(|(value, top)| *value -= factor * top);
            inverse[row].iter_mut().zip(&side).for_each(|(value, side)| *value -= factor * side);
        }
    }
    inverse
}

/// Solves a system with a positive definite matrix, by elimination.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for pivot in 0..size {
        let (above, below) = matrix.split_at_mut(pivot + 1);
        for (row, values) in below.iter_mut().enumerate() {
            let factor = values[pivot] / above[pivot][pivot];
            values.iter_mut().zip(&above[pivot]).for_each(|(value, top)| *value -= factor * top);
            right[pivot + 1 + row] -= factor * right[pivot];
        }
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|column| matrix[row][column] * right[column]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{by_wins, round_robin, table, tally};
    use super::*;

    fn elo(strength: f64, of: f64) -> f64 {
        400.0 * (strength / of).log10()
    }

    #[test]
    fn two_entries_have_the_rating_of_their_share() {
        let won = |wins: usize| {
            (0..100).map(move |block| vec![(vec![0, 1], if block < wins { vec![1, 2] } else { vec![2, 1] })])
        };
        let ratings = rate(&tally(by_wins(2, 2), won(75)), Confidence::Fixed);
        // 3 to 1, but for half a drawn match each: 190.8 points.
        assert!((ratings[0].elo - ratings[1].elo - 190.8).abs() < 2.0, "{ratings:?}");
        // The interval of a share of 75 out of 100, on the scale of points: 65.7 to 82.5%.
        let apart = |end: f64| 2.0 * end;
        let (low, high) = (apart(ratings[0].low.unwrap()), apart(ratings[0].high.unwrap()));
        assert!((low - 110.0).abs() < 12.0 && (high - 270.0).abs() < 15.0, "{low} to {high}");
    }

    #[test]
    fn strengths_are_found_at_tables_and_in_round_robins_and_intervals_hold_them() {
        let strengths = [0.5, 0.3, 0.2];
        let mean = strengths.iter().map(|&strength| elo(strength, 1.0)).sum::<f64>() / 3.0;
        for at_table in [true, false] {
            let mut held = 0;
            for seed in 0..200 {
                let blocks =
                    if at_table { table(&strengths, 60, seed) } else { round_robin(&strengths, 40, seed) };
                let tally = tally(by_wins(3, if at_table { 3 } else { 2 }), blocks);
                for (rating, strength) in rate(&tally, Confidence::Fixed).iter().zip(strengths) {
                    let truth = elo(strength, 1.0) - mean;
                    assert!((rating.elo - truth).abs() < 150.0, "{rating:?}, in truth {truth}");
                    held += usize::from(rating.low.unwrap() <= truth && truth <= rating.high.unwrap());
                }
            }
            // 570 expected, standard deviation about 6.
            assert!((550..=594).contains(&held), "{held} of 600, at a table: {at_table}");
        }
    }

    #[test]
    fn a_perfect_record_has_a_limit_on_one_side_only_and_does_not_move_the_others() {
        // The third loses everything; the others are equal.
        let block = |number: usize| {
            let first = if number.is_multiple_of(2) { vec![1, 2, 3] } else { vec![2, 1, 3] };
            vec![(vec![0, 1, 2], first.clone()), (vec![0, 1, 2], first)]
        };
        let ratings = rate(&tally(by_wins(3, 3), (0..100).map(block)), Confidence::Fixed);
        assert!(ratings[0].elo.abs() < 1.0 && ratings[1].elo.abs() < 1.0, "{ratings:?}");
        assert!(ratings[2].low.is_none() && ratings[2].high.unwrap() < -250.0, "{ratings:?}");
        // Two entries, of which one has won everything: both are open on one side.
        let wins = |blocks: usize| {
            rate(&tally(by_wins(2, 2), vec![vec![(vec![0, 1], vec![1, 2])]; blocks]), Confidence::Fixed)
        };
        let many = wins(100);
        assert_eq!((many[0].high, many[1].low), (None, None));
        assert!(many[0].low.unwrap() > 0.0 && wins(2)[0].low.unwrap() < 0.0);
    }

    #[test]
    fn twins_are_not_certain_to_be_equal() {
        let mirrored = vec![vec![(vec![0, 1], vec![1, 2]), (vec![1, 0], vec![1, 2])]; 50];
        for rating in rate(&tally(by_wins(2, 2), mirrored), Confidence::Fixed) {
            assert!(
                rating.elo.abs() < 1e-9 && rating.low.unwrap() < -2.0 && rating.high.unwrap() > 2.0,
                "{rating:?}"
            );
        }
    }

    #[test]
    fn the_numbering_of_entries_does_not_matter() {
        let strengths = [0.5, 0.3, 0.2];
        let blocks = round_robin(&strengths, 30, 3);
        let renamed = blocks.iter().map(|block| {
            let game = |(entries, places): &(Vec<usize>, Vec<u16>)| {
                (entries.iter().map(|e| (e + 1) % 3).collect(), places.clone())
            };
            block.iter().map(game).collect()
        });
        let one = rate(&tally(by_wins(3, 2), blocks.clone()), Confidence::Fixed);
        let other = rate(&tally(by_wins(3, 2), renamed), Confidence::Fixed);
        (0..3).for_each(|entry| assert!((one[entry].elo - other[(entry + 1) % 3].elo).abs() < 1e-6));
    }

    #[test]
    fn one_block_gives_ratings_without_intervals() {
        for blocks in [0, 1] {
            let ratings = rate(
                &tally(by_wins(3, 2), vec![vec![(vec![0, 1], vec![1, 2]), (vec![1, 0], vec![1, 2])]; blocks]),
                Confidence::Fixed,
            );
            assert!(
                ratings
                    .iter()
                    .all(|rating| rating.elo.abs() < 1e-9 && (rating.low, rating.high) == (None, None))
            );
        }
    }
}
