//! The possible ranks of an entry, and the neighbours that cannot be told apart.
//!
//! All pairs are compared, each by the difference of the two entries with its error between blocks; Holm's step-down method
//! keeps the probability of any wrong statement among all pairs at 5%. An entry ranks behind those that are significantly
//! better and before those that are significantly worse.

use super::ALPHA;
use schemars::JsonSchema;
use serde::Serialize;

/// Whether the luck of the dice counts in the ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RankBy {
    /// The luck is taken out, where it is known.
    #[default]
    LuckAdjusted,
    /// Results as they are.
    Plain,
}

/// The best and the worst rank that an entry may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RankInterval {
    /// The best rank: 1 and one more for each entry that is significantly better.
    pub best: usize,
    /// The worst rank: the number of entries without those that are significantly worse.
    pub worst: usize,
}

/// The order of the entries, and how reliable it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ranking {
    /// The entries, best first; equal ones by number.
    pub order: Vec<usize>,
    /// The possible ranks of each entry.
    pub ranks: Vec<RankInterval>,
    /// Neighbours in the order that cannot be told apart, the better one first.
    pub undecided: Vec<(usize, usize)>,
    /// Whether the first of two entries is significantly better than the second.
    #[serde(skip)]
    separated: Vec<Vec<bool>>,
}

impl Ranking {
    /// Ranks entries by a value, the largest first. `p_value` returns the p-value of the difference between two entries.
    pub fn of(values: &[f64], p_value: impl Fn(usize, usize) -> f64) -> Self {
        rank(values, p_value)
    }

    /// Whether two entries are told apart, with an error of 5% for all pairs together.
    pub fn are_apart(&self, one: usize, other: usize) -> bool {
        self.separated[one][other] || self.separated[other][one]
    }
}

/// Ranks entries by a value, the largest first. `p_value` returns the p-value of the difference between two entries.
pub(super) fn rank(values: &[f64], p_value: impl Fn(usize, usize) -> f64) -> Ranking {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let mut comparisons = Vec::new();
    for (position, &better) in order.iter().enumerate() {
        for &worse in &order[position + 1..] {
            comparisons.push(((better, worse), p_value(better, worse)));
        }
    }
    let mut ranks = vec![RankInterval { best: 1, worst: values.len() }; values.len()];
    let mut separated = vec![vec![false; values.len()]; values.len()];
    for (better, worse) in significant(comparisons) {
        ranks[worse].best += 1;
        ranks[better].worst -= 1;
        separated[better][worse] = true;
    }
    let neighbours = order.windows(2).map(|pair| (pair[0], pair[1]));
    let undecided = neighbours.filter(|&(better, worse)| !separated[better][worse]).collect();
    Ranking { order, ranks, undecided, separated }
}

/// Finds the significant tests by Holm's method: from the smallest p-value on, while each passes the level divided by the number
/// of tests left.
pub(super) fn significant<T>(mut tests: Vec<(T, f64)>) -> impl Iterator<Item = T> {
    tests.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let count = tests.len();
    let passes = move |(place, (_, p_value)): &(usize, (T, f64))| *p_value <= ALPHA / (count - place) as f64;
    tests.into_iter().enumerate().take_while(passes).map(|(_, (test, _))| test)
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{by_wins, round_robin, table, tally};
    use super::super::{Confidence, Design, Match, Measure, Tally};
    use super::*;

    fn ranking(strengths: &[f64], blocks: usize, seed: u64) -> Ranking {
        let blocks = table(strengths, blocks, seed);
        tally(by_wins(strengths.len(), strengths.len()), blocks).ranking(Confidence::Fixed, RankBy::Plain)
    }

    #[test]
    fn entries_worlds_apart_have_one_rank_each() {
        let ranking = ranking(&[0.2, 0.7, 0.1], 400, 1);
        assert_eq!((ranking.order, ranking.undecided), (vec![1, 0, 2], vec![]));
        assert_eq!(ranking.ranks[1], RankInterval { best: 1, worst: 1 });
        assert_eq!(ranking.ranks[2], RankInterval { best: 3, worst: 3 });
    }

    #[test]
    fn twins_are_hardly_ever_told_apart() {
        for (strengths, blocks) in [(vec![0.5, 0.5], 20), (vec![0.25; 4], 50), (vec![0.4, 0.4, 0.2], 50)] {
            let twins = |ranking: &Ranking| ranking.undecided.iter().any(|&(a, b)| a + b == 1);
            let wrong = (0..400).filter(|&seed| {
                let ranking = ranking(&strengths, blocks, seed);
                // Any statement about equals is wrong; the third of three is not their equal.
                if strengths.len() == 3 {
                    !twins(&ranking)
                } else {
                    ranking.ranks.iter().any(|r| (r.best, r.worst) != (1, strengths.len()))
                }
            });
            // At most 20 expected, standard deviation 4.4.
            let wrong = wrong.count();
            assert!(wrong <= 32, "{wrong} of 400 for {strengths:?}");
        }
    }

    #[test]
    fn a_round_robin_ranks_by_win_rate() {
        let blocks = round_robin(&[0.3, 0.6, 0.1], 200, 5);
        let ranking = tally(by_wins(3, 2), blocks).ranking(Confidence::Fixed, RankBy::Plain);
        assert_eq!((ranking.order, ranking.undecided), (vec![1, 0, 2], vec![]));
    }

    #[test]
    fn a_gauntlet_ranks_by_what_happens_against_the_first() {
        let design = Design { measure: Measure::AgainstFirst, ..by_wins(3, 2) };
        // The second wins three of four against the first, the third one of four.
        let block = |number: usize| {
            let places = |won: bool| if won { vec![2, 1] } else { vec![1, 2] };
            vec![
                (vec![0, 1], places(!number.is_multiple_of(4))),
                (vec![0, 2], places(number.is_multiple_of(4))),
            ]
        };
        let ranking = tally(design, (0..200).map(block)).ranking(Confidence::Fixed, RankBy::Plain);
        assert_eq!((ranking.order, ranking.undecided), (vec![1, 0, 2], vec![]));
        let few = tally(design, (0..8).map(block)).ranking(Confidence::Fixed, RankBy::Plain);
        assert!(!few.undecided.is_empty());
    }

    #[test]
    fn a_game_for_one_ranks_by_mean_score_and_a_battle_by_median() {
        // The first scores 10 always, the second 0 or 40: less often more, but more on average.
        let of = |measure: Measure| {
            let mut tally = Tally::new(Design { entries: 2, seats: 2, measure, rotates: false });
            for block in 0..300 {
                let scores = [10, if block % 5 < 3 { 0 } else { 40 }];
                let places = if scores[0] > scores[1] { [1, 2] } else { [2, 1] };
                tally.add([Match { entries: &[0, 1], places: &places, scores: &scores, luck: None }]);
            }
            let standings = tally.standings(Confidence::Fixed, RankBy::Plain);
            assert!(
                standings.seats.is_none() && standings.ranking.undecided.is_empty(),
                "{measure:?} {:?}",
                standings.records
            );
            (standings.ranking.order, standings.records[1].median_score.map(|score| score.mean))
        };
        assert_eq!(of(Measure::MeanScore), (vec![1, 0], None));
        assert_eq!(of(Measure::MedianScore), (vec![0, 1], Some(0.0)));
    }
}
