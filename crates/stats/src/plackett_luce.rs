//! The model of Plackett and Luce: the winner of a match is drawn in proportion to the strengths, then the
//! second in proportion to those that are left, and so on. For two seats this is the model of Bradley and
//! Terry.
//!
//! Joint strengths of maximal likelihood, so the order of the matches does not matter. The likelihood is that
//! of Hunter (MM algorithms for generalized Bradley-Terry models, 2004). It is concave in the logarithms of
//! the strengths, and Newton's method with step halving climbs it; Hunter's own MM steps reach the same
//! point, which the tests check, but crawl when a bot wins nearly always or when groups of entries hardly
//! ever met.
//!
//! A tie stands for all orders of the tied entries at once, each with the same weight in the logarithm of the
//! likelihood: for a tied pair half a win each. This is exact up to [`EXACT_TIES`] tied entries; for more,
//! the orders are the rotations of the tied group and of its reverse, in which every entry takes every
//! position equally often, and every pair is in either order equally often.
//!
//! Every entry has also drawn [`PRIOR_DRAWS`] matches against a virtual entry of average strength. This weak
//! prior keeps an entry that always won finite and makes groups comparable that never met.

use libm::{exp, log, sqrt};
use std::collections::BTreeMap;

/// The weight of the prior, in drawn matches per entry.
pub(super) const PRIOR_DRAWS: f64 = 0.5;
/// The largest tied group of which all orders are taken.
const EXACT_TIES: usize = 6;
/// Far more than Newton's method ever needs.
const MOST_STEPS: usize = 200;
/// The longest step of a logarithm of a strength: where the likelihood is nearly flat, Newton's would be far
/// too long.
const LONGEST_STEP: f64 = 2.0;

/// Steps that are smaller than this and do not shrink are rounding.
const ROUNDING: f64 = 1e-5;

/// The result of a match: groups of tied entries, best first, each in increasing order.
pub(super) type FinishOrder = Vec<Vec<usize>>;

/// Choices (one entry out of a set) that are worth the same as a set of rankings.
#[derive(Debug)]
pub(super) struct Model {
    entries: usize,
    prior: f64,
    /// All sets of two or more entries out of which a choice was made.
    sets: Vec<Vec<usize>>,
    rankings: Vec<Choices>,
}

/// One ranking as choices, by their part in the logarithm of the likelihood.
#[derive(Debug, Default)]
struct Choices {
    /// How often an entry was chosen. A choice out of one entry is none.
    chosen: BTreeMap<usize, f64>,
    /// How often there was a choice out of a set.
    offered: BTreeMap<usize, f64>,
}

/// The strengths of maximal likelihood.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fit {
    /// Natural logarithms of the strengths, mean 0.
    pub logs: Vec<f64>,
    pub converged: bool,
}

/// The value of the penalised log-likelihood and its derivatives.
struct Slope {
    value: f64,
    gradient: Vec<f64>,
    /// The second derivatives, with the opposite sign: positive definite. Only the lower triangle is filled.
    curvature: Vec<Vec<f64>>,
}

impl Model {
    pub fn new(entries: usize, prior: f64, rankings: &[FinishOrder]) -> Self {
        let mut numbers = BTreeMap::new();
        let rankings = rankings.iter().map(|ranking| choices(ranking, &mut numbers)).collect();
        let mut sets = vec![Vec::new(); numbers.len()];
        for (set, number) in numbers {
            sets[number] = set;
        }
        Model { entries, prior, sets, rankings }
    }

    /// Fits the strengths to the counts of each ranking, from a starting point.
    pub fn fit(&self, counts: &[f64], start: &[f64], tolerance: f64) -> Fit {
        let (chosen, offered) = self.totals(counts);
        let mut logs = start.to_vec();
        let mut here = self.slope(&chosen, &offered, &logs);
        let (mut converged, mut before) = (false, f64::INFINITY);
        for _ in 0..MOST_STEPS {
            let mut step = solve(&here.curvature, &here.gradient);
            let longest = step.iter().fold(0.0, |longest: f64, part| longest.max(part.abs()));
            let shorten = (LONGEST_STEP / longest).min(1.0);
            step.iter_mut().for_each(|part| *part *= shorten);
            // Newton's steps shrink ever faster, until along a nearly flat direction they are all rounding.
            let only_rounding = longest <= ROUNDING && longest > before / 2.0;
            converged = longest <= tolerance || only_rounding;
            if converged {
                logs.iter_mut().zip(step).for_each(|(log, part)| *log += part);
                break;
            }
            (logs, here) = self.climb(&chosen, &offered, &logs, &step, &here);
            before = longest;
        }
        let mean = logs.iter().sum::<f64>() / self.entries.max(1) as f64;
        Fit { logs: logs.iter().map(|log| log - mean).collect(), converged }
    }

    /// Goes along a step, halved as long as it leads downhill.
    fn climb(
        &self,
        chosen: &[f64],
        offered: &[f64],
        logs: &[f64],
        step: &[f64],
        here: &Slope,
    ) -> (Vec<f64>, Slope) {
        let mut scale = 1.0;
        loop {
            let next: Vec<f64> = logs.iter().zip(step).map(|(log, part)| log + scale * part).collect();
            let there = self.slope(chosen, offered, &next);
            // At the top the values differ by rounding only, so equal within that is uphill enough.
            if there.value >= here.value - 1e-9 * (1.0 + here.value.abs()) || scale < 1e-6 {
                return (next, there);
            }
            scale /= 2.0;
        }
    }

    /// How often each entry was chosen and each set offered, by the counts of each ranking.
    fn totals(&self, counts: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut chosen = vec![0.0; self.entries];
        let mut offered = vec![0.0; self.sets.len()];
        for (choices, &count) in self.rankings.iter().zip(counts).filter(|(_, count)| **count > 0.0) {
            for (&entry, times) in &choices.chosen {
                chosen[entry] += count * times;
            }
            for (&set, times) in &choices.offered {
                offered[set] += count * times;
            }
        }
        (chosen, offered)
    }

    fn slope(&self, chosen: &[f64], offered: &[f64], logs: &[f64]) -> Slope {
        let strengths: Vec<f64> = logs.iter().map(|&log| exp(log)).collect();
        let mut slope = self.slope_of_the_prior(logs, &strengths);
        for entry in 0..self.entries {
            slope.value += chosen[entry] * logs[entry];
            slope.gradient[entry] += chosen[entry];
        }
        for (set, &times) in self.sets.iter().zip(offered).filter(|(_, times)| **times > 0.0) {
            let all: f64 = set.iter().map(|&entry| strengths[entry]).sum();
            slope.value -= times * log(all);
            for (position, &entry) in set.iter().enumerate() {
                let share = strengths[entry] / all;
                slope.gradient[entry] -= times * share;
                slope.curvature[entry][entry] += times * share * (1.0 - share);
                for &other in &set[..position] {
                    // An entry that sits twice meets itself from both sides.
                    let sides = if other == entry { 2.0 } else { 1.0 };
                    slope.curvature[entry][other] -= sides * times * share * strengths[other] / all;
                }
            }
        }
        slope
    }

    /// A draw against strength 1 is half a win and half a loss.
    fn slope_of_the_prior(&self, logs: &[f64], strengths: &[f64]) -> Slope {
        let mut curvature = vec![vec![0.0; self.entries]; self.entries];
        let mut gradient = vec![0.0; self.entries];
        let mut value = 0.0;
        for entry in 0..self.entries {
            let share = strengths[entry] / (strengths[entry] + 1.0);
            value += self.prior * (logs[entry] / 2.0 - log(strengths[entry] + 1.0));
            gradient[entry] = self.prior * (0.5 - share);
            curvature[entry][entry] = self.prior * share * (1.0 - share);
        }
        Slope { value, gradient, curvature }
    }
}

/// The choices that make up a ranking. New sets are numbered as they come.
fn choices(ranking: &FinishOrder, numbers: &mut BTreeMap<Vec<usize>, usize>) -> Choices {
    let mut choices = Choices::default();
    for (position, tied) in ranking.iter().enumerate() {
        let behind: Vec<usize> = ranking[position + 1..].iter().flatten().copied().collect();
        for &entry in tied {
            *choices.chosen.entry(entry).or_insert(0.0) += 1.0;
        }
        for (still_there, weight) in stages(tied) {
            let mut set: Vec<usize> = still_there.into_iter().chain(behind.iter().copied()).collect();
            set.sort_unstable();
            match set[..] {
                [only] => *choices.chosen.entry(only).or_insert(0.0) -= weight,
                _ => {
                    let next = numbers.len();
                    *choices.offered.entry(*numbers.entry(set).or_insert(next)).or_insert(0.0) += weight;
                }
            }
        }
    }
    choices
}

/// The members of a tied group that are still there when the next one is chosen, and the share of the orders
/// in which this happens.
type Stage = (Vec<usize>, f64);

/// The stages of a tied group over its orders.
fn stages(tied: &[usize]) -> Vec<Stage> {
    if tied.len() <= EXACT_TIES { all_stages(tied) } else { rotated_stages(tied) }
}

/// All orders: each subset of a size is equally often the one that is left.
fn all_stages(tied: &[usize]) -> Vec<Stage> {
    let members = |subset: u32| -> Vec<usize> {
        tied.iter().enumerate().filter(|(bit, _)| subset >> bit & 1 == 1).map(|(_, &entry)| entry).collect()
    };
    let stage = |subset: u32| {
        let left = members(subset);
        let weight = 1.0 / choose(tied.len(), left.len());
        (left, weight)
    };
    (1..1_u32 << tied.len()).map(stage).collect()
}

/// The rotations of the group and of its reverse.
fn rotated_stages(tied: &[usize]) -> Vec<Stage> {
    let weight = 1.0 / (2 * tied.len()) as f64;
    let mut order = tied.to_vec();
    let mut stages = Vec::new();
    for _direction in 0..2 {
        for _rotation in 0..tied.len() {
            stages.extend((0..order.len()).map(|gone| (order[gone..].to_vec(), weight)));
            order.rotate_left(1);
        }
        order.reverse();
    }
    stages
}

/// The number of subsets of a size.
fn choose(all: usize, some: usize) -> f64 {
    (0..some).fold(1.0, |product, taken| product * (all - taken) as f64 / (taken + 1) as f64)
}

/// Solves a positive definite system, given by its lower triangle, by Cholesky's method.
fn solve(matrix: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let size = right.len();
    let mut root = vec![vec![0.0; size]; size];
    for row in 0..size {
        for column in 0..=row {
            let product: f64 = (0..column).map(|k| root[row][k] * root[column][k]).sum();
            let rest = matrix[row][column] - product;
            root[row][column] = if column < row {
                rest / root[column][column]
            } else {
                // Rounding may eat a nearly flat direction; the step along it is then merely shorter.
                sqrt(rest.max(1e-13 * matrix[row][row]).max(1e-300))
            };
        }
    }
    let mut solution = vec![0.0; size];
    for row in 0..size {
        let known: f64 = (0..row).map(|k| root[row][k] * solution[k]).sum();
        solution[row] = (right[row] - known) / root[row][row];
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|k| root[k][row] * solution[k]).sum();
        solution[row] = (solution[row] - known) / root[row][row];
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(entries: usize, prior: f64, results: &[(&[&[usize]], f64)]) -> Vec<f64> {
        let rankings: Vec<FinishOrder> =
            results.iter().map(|(groups, _)| groups.iter().map(|group| group.to_vec()).collect()).collect();
        let counts: Vec<f64> = results.iter().map(|&(_, count)| count).collect();
        let fit = Model::new(entries, prior, &rankings).fit(&counts, &vec![0.0; entries], 1e-12);
        assert!(fit.converged);
        fit.logs
    }

    fn assert_near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() < tolerance, "{value}, expected {expected}");
    }

    const FIRST: &[&[usize]] = &[&[0], &[1]];
    const SECOND: &[&[usize]] = &[&[1], &[0]];
    const TIE: &[&[usize]] = &[&[0, 1]];
    /// Weak enough to leave the maximum of the likelihood alone.
    const NO_PRIOR: f64 = 1e-7;

    #[test]
    fn two_entries_are_apart_by_the_logarithm_of_their_wins() {
        let logs = fit(2, NO_PRIOR, &[(FIRST, 30.0), (SECOND, 10.0)]);
        assert_near(logs[0] - logs[1], 3.0_f64.ln(), 1e-6);
        assert_near(logs[0] + logs[1], 0.0, 1e-12);
    }

    #[test]
    fn a_tie_is_half_a_win_each() {
        let logs = fit(2, NO_PRIOR, &[(FIRST, 20.0), (SECOND, 5.0), (TIE, 15.0)]);
        assert_near(logs[0] - logs[1], (27.5_f64 / 12.5).ln(), 1e-6);
    }

    #[test]
    fn a_chain_of_pairs_has_its_closed_form() {
        // Without a cycle every edge is fitted exactly, also between those that never met.
        let logs =
            fit(3, NO_PRIOR, &[(FIRST, 30.0), (SECOND, 10.0), (&[&[1], &[2]], 8.0), (&[&[2], &[1]], 4.0)]);
        assert_near(logs[0] - logs[2], 3.0_f64.ln() + 2.0_f64.ln(), 1e-5);
    }

    #[test]
    fn an_entry_that_always_wins_is_finite_by_the_prior() {
        let logs = fit(2, 0.5, &[(FIRST, 40.0)]);
        // The derivative by symmetry: 40 (1 - s(2x)) + 0.5 (1/2 - s(x)) = 0 with s the logistic function.
        let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
        let x = logs[0];
        assert_near(40.0 * (1.0 - logistic(2.0 * x)) + 0.5 * (0.5 - logistic(x)), 0.0, 1e-9);
        assert!((1.5..6.0).contains(&x), "{x}");
    }

    #[test]
    fn groups_that_never_met_are_comparable_by_the_prior() {
        let logs = fit(4, 0.5, &[(FIRST, 9.0), (SECOND, 1.0), (&[&[2], &[3]], 9.0), (&[&[3], &[2]], 1.0)]);
        assert_near(logs[0], logs[2], 1e-9);
        assert_near(logs[1], logs[3], 1e-9);
        assert!(logs[0] > 0.5);
    }

    #[test]
    fn extreme_results_converge() {
        let logs = fit(3, 0.5, &[(&[&[0], &[1], &[2]], 1e6), (&[&[2], &[1], &[0]], 1.0)]);
        assert!(logs[0] > logs[1] && logs[1] > logs[2] && logs[0] - logs[2] > 10.0, "{logs:?}");
    }

    #[test]
    fn an_entry_that_sits_twice_is_counted_twice() {
        // Entry 0 has two seats of strength x, entry 1 one of strength 1. Nine times 0 wins and its other
        // seat ties with 1.
        let results: [(&[&[usize]], f64); 2] = [(&[&[0], &[0, 1]], 9.0), (&[&[1], &[0, 0]], 3.0)];
        // The derivative: choices of 0, minus its share of the offers {0, 0, 1} and {0, 1}.
        let x = (fit(2, NO_PRIOR, &results)[0] * 2.0).exp();
        let slope = 9.0 + 4.5 - 12.0 * 2.0 * x / (2.0 * x + 1.0) - 9.0 * x / (x + 1.0);
        assert_near(slope, 0.0, 1e-5);
    }

    #[test]
    fn hunters_mm_reaches_the_same_point() {
        // Full rankings of three, where MM needs no prior: strength = choices won / sum over the offers of 1
        // / strengths.
        let results: [(&[&[usize]], f64); 4] = [
            (&[&[0], &[1], &[2]], 10.0),
            (&[&[1], &[0], &[2]], 5.0),
            (&[&[2], &[0], &[1]], 3.0),
            (&[&[0], &[2], &[1]], 4.0),
        ];
        let mut strengths = [1.0_f64; 3];
        for _ in 0..5000 {
            let mut won = [0.0; 3];
            let mut offers = [0.0; 3];
            for (order, count) in results {
                for stage in 0..2 {
                    won[order[stage][0]] += count;
                    let left: Vec<usize> = order[stage..].iter().map(|group| group[0]).collect();
                    let all: f64 = left.iter().map(|&entry| strengths[entry]).sum();
                    left.iter().for_each(|&entry| offers[entry] += count / all);
                }
            }
            (0..3).for_each(|entry| strengths[entry] = won[entry] / offers[entry]);
        }
        let logs = fit(3, NO_PRIOR, &results);
        assert_near(logs[0] - logs[1], (strengths[0] / strengths[1]).ln(), 1e-6);
        assert_near(logs[1] - logs[2], (strengths[1] / strengths[2]).ln(), 1e-6);
    }

    #[test]
    fn a_tie_of_three_is_the_mean_of_its_six_orders() {
        let orders: [&[&[usize]]; 6] = [
            &[&[0], &[1], &[2], &[3]],
            &[&[0], &[2], &[1], &[3]],
            &[&[1], &[0], &[2], &[3]],
            &[&[1], &[2], &[0], &[3]],
            &[&[2], &[0], &[1], &[3]],
            &[&[2], &[1], &[0], &[3]],
        ];
        let others: [(&[&[usize]], f64); 2] =
            [(&[&[3], &[0], &[1], &[2]], 4.0), (&[&[1], &[0], &[3], &[2]], 2.0)];
        let mut spelt_out: Vec<_> = orders.iter().map(|&order| (order, 1.0)).collect();
        spelt_out.extend(others);
        let mut tied: Vec<(&[&[usize]], f64)> = vec![(&[&[0, 1, 2], &[3]], 6.0)];
        tied.extend(others);
        for (a, b) in fit(4, 0.5, &spelt_out).into_iter().zip(fit(4, 0.5, &tied)) {
            assert_near(a, b, 1e-9);
        }
    }

    #[test]
    fn large_ties_are_fair_and_close_to_exact() {
        let everybody: Vec<usize> = (0..8).collect();
        let equal = fit(8, 0.5, &[(&[&everybody], 10.0)]);
        equal.iter().for_each(|&log| assert_near(log, 0.0, 1e-9));
        // The logarithm of the likelihood of one such tie among unequal entries.
        let expand = |stages: Vec<Stage>| -> f64 {
            let strengths = [5.0, 3.0, 2.0, 1.0, 1.0, 0.5, 0.3, 0.2];
            let log_of = |set: &[usize]| set.iter().map(|&entry| strengths[entry]).sum::<f64>().ln();
            stages.iter().map(|(set, weight)| weight * log_of(set)).sum()
        };
        let (rotated, exact) = (expand(rotated_stages(&everybody)), expand(all_stages(&everybody)));
        assert_near(rotated, exact, 0.05 * exact.abs());
    }
}
