//! When may a tournament stop? A test of who is better that stays valid although it is looked at after every
//! block.
//!
//! Betting (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", 2024; Shafer
//! and Vovk): whoever claims that `a` is no better than `b` must offer fair bets on it. A player who stakes a
//! share of its capital on `a` in every block can then not grow rich: by Ville's inequality its capital ever
//! reaches `1 / alpha` with probability `alpha` at most, however often one looks. The player spreads its
//! capital evenly over a fixed ladder of stakes, from 0.9 for bots worlds apart to 1/512 for near equals:
//! nothing is tuned to the data, and the verdict does not depend on the order of the blocks before it.
//!
//! Each side of each pair gets its part of `alpha`, and all pairs are counted, not just the `n - 1`
//! neighbours: who is whose neighbour is read off the data, so that any pair may turn out to be the one that
//! is tested.

use super::Block;
use super::interval::{Measure, median};
use std::cmp::Ordering;

/// The shares of the capital that are staked. The best one for a mean difference `m` with variance `v` is
/// near `m / v`.
const STAKES: [f64; 10] = {
    let mut stakes = [0.9; 10];
    let mut step = 1;
    while step < stakes.len() {
        stakes[step] = 1.0 / (1_u32 << step) as f64;
        step += 1;
    }
    stakes
};

/// Far above any `1 / alpha`, far below infinity: richer players stop betting.
const RICH: f64 = 1e200;

/// What is known of two entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The first is better.
    First,
    /// The second is better.
    Second,
    /// Nothing yet.
    Open,
}

/// The test of two entries, fed with one difference per block.
///
/// A verdict once reached stays. The probability that a wrong one is ever reached is at most `alpha`; if they
/// are equal, both are wrong.
#[derive(Debug, Clone)]
pub struct Separation {
    alpha: f64,
    /// The capital that each stake on the first, and on the second, has made of 1.
    capital: [[f64; STAKES.len()]; 2],
    verdict: Better,
    blocks: usize,
}

impl Separation {
    /// A test that errs with probability `alpha` at most.
    pub fn new(alpha: f64) -> Self {
        Separation { alpha, capital: [[1.0; STAKES.len()]; 2], verdict: Better::Open, blocks: 0 }
    }

    /// Takes the difference (first minus second) of the next block.
    ///
    /// # Panics
    /// If it is not within -1 and 1.
    pub fn push(&mut self, difference: f64) {
        assert!((-1.0..=1.0).contains(&difference), "a difference of {difference} is not within -1 and 1");
        self.blocks += 1;
        for (side, outcome) in [difference, -difference].into_iter().enumerate() {
            for (capital, stake) in self.capital[side].iter_mut().zip(STAKES) {
                if *capital < RICH {
                    *capital *= 1.0 + stake * outcome;
                }
            }
        }
        if self.verdict == Better::Open {
            self.verdict = self.judge();
        }
    }

    fn judge(&self) -> Better {
        // Half of alpha for each side.
        let enough = 2.0 / self.alpha * STAKES.len() as f64;
        let [first, second] = self.capital.map(|stakes| stakes.iter().sum::<f64>() >= enough);
        match (first, second) {
            (true, _) => Better::First,
            (_, true) => Better::Second,
            _ => Better::Open,
        }
    }

    /// What is known after the blocks so far.
    pub fn verdict(&self) -> Better {
        self.verdict
    }

    /// Whether equality is excluded.
    pub fn decided(&self) -> bool {
        self.verdict != Better::Open
    }

    /// The blocks that were taken.
    pub fn blocks(&self) -> usize {
        self.blocks
    }
}

/// Tests of all pairs of a tournament, to stop as soon as the neighbours of the standings are separated.
#[derive(Debug, Clone)]
pub struct Neighbours {
    entries: usize,
    /// By pair `a < b`, in lexicographic order.
    pairs: Vec<Separation>,
    /// What the entries are ranked by: the median score, or else the win rate.
    measure: Measure,
    /// By entry: the sum of its win rates in the rounds, and their number.
    rates: Vec<(f64, usize)>,
    /// By entry: its scores, where the median counts.
    scores: Vec<Vec<f64>>,
}

impl Neighbours {
    /// Tests that reach any wrong verdict at all with probability `alpha` at most.
    pub fn new(entries: usize, alpha: f64, measure: Measure) -> Self {
        let count = entries * entries.saturating_sub(1) / 2;
        let pairs = vec![Separation::new(alpha / count.max(1) as f64); count];
        Neighbours {
            entries,
            pairs,
            measure,
            rates: vec![(0.0, 0); entries],
            scores: vec![Vec::new(); entries],
        }
    }

    /// Takes the next round: the smallest stretch of the schedule that repeats, so that rounds are alike.
    /// This is one block if all entries sit in it, and one block of each line-up in a round-robin or a
    /// gauntlet.
    ///
    /// Entries are compared by their win rates within the round, or by who has the higher score.
    pub fn push(&mut self, round: &[Block]) {
        let by_score = self.measure == Measure::MedianScore;
        let of = if by_score { Measure::MedianScore } else { Measure::WinRate };
        let now: Vec<Option<f64>> = (0..self.entries).map(|entry| mean(round, entry, of)).collect();
        for (entry, now) in now.iter().enumerate() {
            match *now {
                Some(score) if by_score => self.scores[entry].push(score),
                Some(rate) => self.rates[entry] = (self.rates[entry].0 + rate, self.rates[entry].1 + 1),
                None => {}
            }
        }
        for a in 0..self.entries {
            for b in a + 1..self.entries {
                if let (Some(first), Some(second)) = (now[a], now[b]) {
                    let index = self.index(a, b);
                    let difference = match first.total_cmp(&second) {
                        Ordering::Equal => 0.0,
                        order if by_score => f64::from(order as i8),
                        _ => (first - second).clamp(-1.0, 1.0),
                    };
                    self.pairs[index].push(difference);
                }
            }
        }
    }

    /// The entries by what they are ranked by, best first; equal ones by number.
    pub fn standings(&self) -> Vec<usize> {
        let value = |entry: usize| match self.measure {
            Measure::MedianScore => median(&mut self.scores[entry].clone()).unwrap_or(f64::NEG_INFINITY),
            _ => self.rates[entry].0 / self.rates[entry].1.max(1) as f64,
        };
        let values: Vec<f64> = (0..self.entries).map(value).collect();
        let mut order: Vec<usize> = (0..self.entries).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        order
    }

    /// The neighbours in the standings that are not separated yet, the better one first.
    pub fn open(&self) -> Vec<(usize, usize)> {
        let order = self.standings();
        let neighbours = order.windows(2).map(|pair| (pair[0], pair[1]));
        neighbours.filter(|&(better, worse)| !self.is_better(better, worse)).collect()
    }

    /// Whether all neighbours are separated: the tournament may stop.
    pub fn decided(&self) -> bool {
        self.open().is_empty()
    }

    /// Whether one entry is known to be better than another.
    pub fn is_better(&self, better: usize, worse: usize) -> bool {
        match better < worse {
            true => self.pairs[self.index(better, worse)].verdict() == Better::First,
            false => self.pairs[self.index(worse, better)].verdict() == Better::Second,
        }
    }

    /// The place of the pair `a < b` in the lexicographic order.
    fn index(&self, a: usize, b: usize) -> usize {
        a * (2 * self.entries - a - 1) / 2 + (b - a - 1)
    }
}

/// The mean of an entry in one round, if it plays in it.
fn mean(round: &[Block], entry: usize, measure: Measure) -> Option<f64> {
    let (mut games, mut sum) = (0.0, 0.0);
    for game in round.iter().flat_map(|block| &block.games) {
        for seat in game.seats_of(entry) {
            games += 1.0;
            sum += measure.of(game, seat);
        }
    }
    (games > 0.0).then(|| sum / games)
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{round_robin, table, unit};
    use super::super::{MatchResult, Sample, rank_by_measure};
    use super::*;
    use necrodome_rules::chance::{Chance, Seeded};

    /// How many of `runs` tests are decided for a given side within `blocks` blocks of differences from
    /// `draw`.
    fn decisions(runs: u64, blocks: usize, draw: impl Fn(&mut Seeded) -> f64) -> [usize; 2] {
        let mut decided = [0, 0];
        for run in 0..runs {
            let mut chance = Seeded::new(run, "sequential", 0);
            let mut test = Separation::new(0.05);
            while test.blocks() < blocks && !test.decided() {
                test.push(draw(&mut chance));
            }
            decided[0] += usize::from(test.verdict() == Better::First);
            decided[1] += usize::from(test.verdict() == Better::Second);
        }
        decided
    }

    #[test]
    fn equals_are_hardly_ever_told_apart_however_often_one_looks() {
        let coin = |chance: &mut Seeded| f64::from(chance.uniform(2)) * 2.0 - 1.0;
        let pair_of_games = |chance: &mut Seeded| f64::from(chance.uniform(2) + chance.uniform(2)) - 1.0;
        let smooth = |chance: &mut Seeded| unit(chance) * 2.0 - 1.0;
        // Mean 0, but skewed: nine small losses for each big win.
        let skewed = |chance: &mut Seeded| if chance.uniform(10) == 0 { 0.9 } else { -0.1 };
        let draws: [&dyn Fn(&mut Seeded) -> f64; 4] = [&coin, &pair_of_games, &smooth, &skewed];
        for (number, draw) in draws.into_iter().enumerate() {
            let [first, second] = decisions(1000, 2000, draw);
            // At most 50 expected; not none either, or the test could never decide anything.
            assert!((3..=50).contains(&(first + second)), "draw {number}: {first} and {second} of 1000");
        }
    }

    #[test]
    fn looking_after_every_block_would_ruin_an_ordinary_test() {
        // The same game with |z| > 1.96: shows that the simulation above can fail.
        let mut wrong = 0;
        for run in 0..200 {
            let mut chance = Seeded::new(run, "sequential", 0);
            let mut sum = 0.0;
            wrong += usize::from((1..=2000).any(|n| {
                sum += f64::from(chance.uniform(2)) * 2.0 - 1.0;
                n >= 10 && sum * sum > 1.96 * 1.96 * f64::from(n)
            }));
        }
        assert!(wrong > 40, "{wrong} of 200");
    }

    #[test]
    fn a_real_difference_is_found_and_on_the_right_side() {
        // Wins 60% of the blocks: mean 0.2, variance 0.96.
        let better = |chance: &mut Seeded| if chance.uniform(10) < 6 { 1.0 } else { -1.0 };
        let [first, second] = decisions(200, 1000, better);
        assert!(first >= 195 && second == 0, "{first} and {second} of 200");
        let [first, second] = decisions(200, 1000, |chance| -better(chance));
        assert!(second >= 195 && first == 0, "{first} and {second} of 200");
    }

    #[test]
    fn a_perfect_record_is_believed_soon_but_not_at_once() {
        let mut test = Separation::new(0.05);
        while !test.decided() {
            test.push(1.0);
        }
        assert!((7..=12).contains(&test.blocks()), "{} blocks", test.blocks());
        for _ in 0..5000 {
            test.push(1.0);
        }
        assert_eq!(test.verdict(), Better::First);
        assert!(test.capital.iter().flatten().all(|capital| capital.is_finite()));
    }

    #[test]
    fn neighbours_are_separated_at_a_table_and_in_a_round_robin() {
        let strengths = [0.3, 0.6, 0.1];
        let mut at_table = Neighbours::new(3, 0.05, Measure::WinRate);
        for block in table(&strengths, 400, 5) {
            at_table.push(&[block]);
        }
        let mut in_round_robin = Neighbours::new(3, 0.05, Measure::WinRate);
        for round in round_robin(&strengths, 400, 5).chunks(3) {
            in_round_robin.push(round);
        }
        for neighbours in [at_table, in_round_robin] {
            assert_eq!(neighbours.standings(), [1, 0, 2]);
            assert!(neighbours.decided(), "{:?}", neighbours.open());
            assert!(neighbours.is_better(1, 0) && neighbours.is_better(0, 2) && !neighbours.is_better(0, 1));
        }
    }

    #[test]
    fn equal_neighbours_stay_open() {
        let mut neighbours = Neighbours::new(3, 0.05, Measure::WinRate);
        for block in table(&[0.45, 0.45, 0.1], 300, 6) {
            neighbours.push(&[block]);
        }
        let open = neighbours.open();
        assert_eq!(open.len(), 1, "{open:?}");
        assert!([(0, 1), (1, 0)].contains(&open[0]));
    }

    #[test]
    fn every_pair_has_its_own_place() {
        let neighbours = Neighbours::new(5, 0.05, Measure::WinRate);
        let pairs = (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b)));
        let places: Vec<usize> = pairs.map(|(a, b)| neighbours.index(a, b)).collect();
        assert_eq!(places, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn a_battle_is_stopped_by_what_it_is_ranked_by() {
        // The first has the higher score in most rounds, the second now and then a very much higher one: a mean would mislead.
        let game = |scores: [i64; 2]| {
            let places = if scores[0] > scores[1] { vec![1, 2] } else { vec![2, 1] };
            Block { games: vec![MatchResult { entries: vec![0, 1], places, scores: scores.into() }] }
        };
        let mut neighbours = Neighbours::new(2, 0.05, Measure::MedianScore);
        let rounds = [[10, 9], [11, 9], [12, 500], [10, 8], [13, 9]].map(game);
        let mut pushed = 0;
        while !neighbours.decided() {
            neighbours.push(&rounds[pushed % rounds.len()..][..1]);
            pushed += 1;
            assert!(pushed < 1000);
        }
        assert_eq!((neighbours.standings(), neighbours.is_better(0, 1)), (vec![0, 1], true));
        assert!(pushed > 10, "{pushed}");
        let blocks: Vec<Block> = rounds.iter().cycle().take(100).cloned().collect();
        let ranking = rank_by_measure(&Sample::new(&blocks, 2), Measure::MedianScore);
        assert_eq!((ranking.order, ranking.undecided), (vec![0, 1], vec![]));
    }
}
