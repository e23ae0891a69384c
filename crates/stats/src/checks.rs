//! Checks for what the standings do not show: bots that learn or tire, bots that beat each other in a circle, ratings that do not
//! fit.

use super::interval::{Bounds, Confidence, Mean};
use super::moments::Running;
use super::ranks::significant;
use super::rating::Rating;
use super::tally::Tally;
use libm::{pow, sqrt};
use serde::Serialize;

/// The most epochs that are kept apart. An epoch is a stretch of blocks.
const EPOCHS: usize = 32;
/// The largest error of a rating that counts as a good fit, as a share of points.
const GOOD_FIT: f64 = 0.02;

/// The sums of each epoch. All epochs have the same length.
#[derive(Debug, Clone)]
pub(super) struct Epochs {
    length: u64,
    /// The sums by epoch and entry; the last epoch is not full yet.
    sums: Vec<Vec<Running>>,
    entries: usize,
}

/// An entry that played differently in the second half of the tournament.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Drift {
    /// The entry.
    pub entry: usize,
    /// Its measure in the first half.
    pub first: f64,
    /// Its measure in the second half.
    pub second: f64,
}

impl Epochs {
    pub fn new(entries: usize) -> Self {
        Epochs { length: 1, sums: Vec::new(), entries }
    }

    pub fn add(&mut self, values: &[f64]) {
        if self.sums.last().is_none_or(|last| last.first().is_some_and(|sums| sums.blocks == self.length)) {
            if self.sums.len() == EPOCHS {
                let join =
                    |pair: &[Vec<Running>]| pair[0].iter().zip(&pair[1]).map(|(a, b)| a.join(*b)).collect();
                self.sums = self.sums.chunks_exact(2).map(join).collect();
                self.length *= 2;
            }
            self.sums.push(vec![Running::default(); self.entries]);
        }
        if let Some(last) = self.sums.last_mut() {
            last.iter_mut().zip(values).for_each(|(sums, &value)| sums.add(value));
        }
    }

    /// How likely it is that an entry played equally well in both halves.
    fn tests(&self, entries: impl Iterator<Item = usize>, bounds: Option<Bounds>) -> Vec<(Drift, f64)> {
        let (first, second) = self.sums.split_at(self.sums.len() / 2);
        let sum = |half: &[Vec<Running>], entry: usize| {
            half.iter().fold(Running::default(), |sum, epoch| sum.join(epoch[entry]))
        };
        let test = |entry: usize| {
            let [first, second] = [first, second].map(|half| Mean::new(sum(half, entry), bounds));
            let largest = |mean: f64| bounds.map_or(1.0, |bounds| bounds.largest_variance(mean));
            let middle = (first.mean + second.mean) / 2.0;
            let variance = |half: &Mean| half.spread() * largest(middle) / half.blocks as f64;
            let error = sqrt(variance(&first) + variance(&second));
            let off = second.mean - first.mean;
            let statistic = if off == 0.0 { 0.0 } else { off / error };
            let p_value = Confidence::Fixed.p_value(statistic, first.blocks.min(second.blocks));
            (Drift { entry, first: first.mean, second: second.mean }, p_value)
        };
        if first.is_empty() { Vec::new() } else { entries.map(test).collect() }
    }
}

/// The entries that were better, or worse, in the second half, with an error of 5% for all entries together.
pub(super) fn drifts(tally: &Tally) -> Vec<Drift> {
    let entries = tally.design().entries;
    let tests = tally.strata().iter().flat_map(|stratum| {
        let bounds = tally.bounds(0, tally.blocks());
        stratum.epochs.tests((0..entries).filter(|&entry| stratum.has(entry)), bounds)
    });
    let mut found: Vec<Drift> = significant(tests.collect()).collect();
    found.sort_by_key(|drift| drift.entry);
    found.dedup_by_key(|drift| drift.entry);
    found
}

/// Three entries, each of which beats the next, and the last beats the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cycle(pub [usize; 3]);

/// Finds circles of three that beat each other, with an error of 5% for all pairs together.
pub(super) fn cycles(tally: &Tally, confidence: Confidence) -> Vec<Cycle> {
    let count = tally.design().entries;
    let mut tests = Vec::new();
    for a in 0..count {
        for b in a + 1..count {
            let mean = tally.pair(a, b).mean();
            let winner = if mean.mean > 0.5 { (a, b) } else { (b, a) };
            tests.push((winner, if mean.blocks > 0 { mean.p_value(0.5, confidence) } else { 1.0 }));
        }
    }
    let mut beats = vec![vec![false; count]; count];
    significant(tests).for_each(|(winner, loser)| beats[winner][loser] = true);
    let mut found = Vec::new();
    for a in 0..count {
        for b in (a + 1..count).filter(|&b| beats[a][b]) {
            found.extend((a + 1..count).filter(|&c| beats[b][c] && beats[c][a]).map(|c| Cycle([a, b, c])));
        }
    }
    found
}

/// Two entries whose results against each other contradict their ratings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Misfit {
    /// The first entry.
    pub one: usize,
    /// The second entry.
    pub other: usize,
    /// The share of their meetings in which the first placed better.
    pub better: f64,
    /// The share that the ratings predict.
    pub expected: f64,
}

/// Finds the pairs that the ratings do not explain, with an error of 5% for all pairs together. The worst comes first.
pub(super) fn misfits(tally: &Tally, ratings: &[Rating], confidence: Confidence) -> Vec<Misfit> {
    let count = tally.design().entries;
    let mut tests = Vec::new();
    for one in 0..count {
        for other in (one + 1..count).filter(|&other| tally.pair(one, other).met > 0) {
            let mean = tally.pair(one, other).mean();
            let expected = 1.0 / (1.0 + pow(10.0, (ratings[other].elo - ratings[one].elo) / 400.0));
            let misfit = Misfit { one, other, better: mean.mean, expected };
            tests.push((misfit, mean.p_value(expected, confidence)));
        }
    }
    let off = |misfit: &Misfit| (misfit.better - misfit.expected).abs();
    let mut found: Vec<Misfit> = significant(tests).filter(|misfit| off(misfit) > GOOD_FIT).collect();
    found.sort_by(|a, b| off(b).total_cmp(&off(a)));
    found
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{by_wins, tally, unit};
    use super::super::{RankBy, Standings};
    use super::*;
    use necrodome_rules::chance::Seeded;

    /// Two entries, and the first one's chance to win in each block.
    type Pair<'a> = (usize, usize, &'a dyn Fn(usize) -> f64);

    fn played(pairs: &[Pair], blocks: usize, seed: u64) -> Standings {
        let entries = pairs.iter().map(|&(a, b, _)| a.max(b) + 1).max().unwrap();
        let mut chance = Seeded::new(seed, "checks", 0);
        let block = |number: usize| {
            let game = |&(a, b, wins): &Pair| {
                (vec![a, b], if unit(&mut chance) < wins(number) { vec![1, 2] } else { vec![2, 1] })
            };
            pairs.iter().map(game).collect::<Vec<_>>()
        };
        tally(by_wins(entries, 2), (0..blocks).map(block).collect::<Vec<_>>())
            .standings(Confidence::Fixed, RankBy::Plain)
    }

    #[test]
    fn who_learns_is_noticed_and_who_does_not_is_not() {
        let learns = |block: usize| if block < 300 { 0.4 } else { 0.6 };
        let standings = played(&[(0, 1, &learns)], 600, 1);
        assert_eq!(standings.drifts.iter().map(|drift| drift.entry).collect::<Vec<_>>(), [0, 1]);
        assert!(
            standings.drifts[0].first < 0.5 && standings.drifts[0].second > 0.5,
            "{:?}",
            standings.drifts
        );
        let steady = |_| 0.6;
        let alarms =
            (0..200).filter(|&seed| !played(&[(0, 1, &steady)], 150, seed).drifts.is_empty()).count();
        // At most 10 expected, standard deviation 3.1.
        assert!(alarms <= 19, "{alarms} of 200");
    }

    #[test]
    fn circles_and_ratings_that_do_not_fit_are_named() {
        let mostly = |_: usize| 0.8;
        let standings = played(&[(0, 1, &mostly), (1, 2, &mostly), (2, 0, &mostly)], 200, 1);
        assert_eq!(standings.cycles, [Cycle([0, 1, 2])]);
        assert_eq!(standings.misfits.len(), 3, "{:?}", standings.misfits);
        // In line: 3 to 2 and 3 to 2, so 9 to 4.
        let (step, both) = (|_: usize| 0.6, |_: usize| 9.0 / 13.0);
        let standings = played(&[(0, 1, &step), (1, 2, &step), (0, 2, &both)], 400, 1);
        assert!(standings.cycles.is_empty() && standings.misfits.is_empty(), "{:?}", standings.misfits);
    }
}
