//! The ranks that an entry may have in truth, and the neighbours that cannot be told apart.
//!
//! All pairs are compared, each by the difference of the two entries with its error between blocks; Holm's
//! step-down method keeps the probability of any wrong statement among all pairs at 5%. An entry ranks behind
//! those that are significantly better and before those that are significantly worse.

use super::distribution::sign_test;
use super::interval::{Measure, clusters, median, medians};
use super::rating::Ratings;
use super::ratio::{self, Influence};
use super::{ALPHA, Sample};
use serde::Serialize;

/// The best and the worst rank that an entry may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RankInterval {
    /// The best rank: 1 and one more for each entry that is significantly better.
    pub best: usize,
    /// The worst rank: the number of entries without those that are significantly worse.
    pub worst: usize,
}

/// The order of the entries and how far it can be relied upon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ranking {
    /// The entries, best first; equal ones by number.
    pub order: Vec<usize>,
    /// By entry: the ranks that it may have.
    pub ranks: Vec<RankInterval>,
    /// Neighbours in the order that cannot be told apart, the better one first.
    pub undecided: Vec<(usize, usize)>,
}

/// Two entries and how likely their difference is if they are equal.
struct Comparison {
    better: usize,
    worse: usize,
    p_value: f64,
}

/// Ranks the entries by a measure. An entry without matches comes last, and nothing is known about it.
pub fn rank_by_measure(sample: &Sample, measure: Measure) -> Ranking {
    if measure == Measure::MedianScore {
        return rank_by_median(sample);
    }
    let totals: Vec<_> = (0..sample.entries).map(|entry| clusters(sample, entry, measure)).collect();
    let means: Vec<Option<f64>> = totals.iter().map(|clusters| ratio::ratio(clusters)).collect();
    let influences: Vec<_> = (0..sample.entries).map(|entry| by_block(sample, entry, measure)).collect();
    let value = |entry: usize| means[entry].map_or(f64::NEG_INFINITY, |mean| mean * measure.direction());
    let p_value = |a: usize, b: usize| {
        let (Some(first), Some(second)) = (means[a], means[b]) else { return 1.0 };
        let difference = first - second;
        let range = measure.range(sample).unwrap_or(difference.abs());
        ratio::p_value(difference, &difference_of(sample, &influences[a], &influences[b]), range)
    };
    rank(&(0..sample.entries).map(value).collect::<Vec<_>>(), p_value)
}

/// Medians say nothing of their error, so that pairs are compared block by block: by how often each outscores the other.
fn rank_by_median(sample: &Sample) -> Ranking {
    let medians = medians(sample);
    let score = |block: &super::Block, entry: usize| -> Option<f64> {
        let mut scores: Vec<f64> = block
            .games
            .iter()
            .flat_map(|game| game.seats_of(entry).map(|seat| game.scores[seat] as f64).collect::<Vec<_>>())
            .collect();
        median(&mut scores)
    };
    let p_value = |a: usize, b: usize| {
        let pairs = sample.blocks.iter().filter_map(|block| Some((score(block, a)?, score(block, b)?)));
        let (mut wins, mut losses) = (0, 0);
        for (first, second) in pairs {
            wins += u64::from(first > second);
            losses += u64::from(first < second);
        }
        sign_test(wins, losses)
    };
    let value = |median: &Option<f64>| median.unwrap_or(f64::NEG_INFINITY);
    rank(&medians.iter().map(value).collect::<Vec<_>>(), p_value)
}

/// By block, also those without the entry: its influence on the entry's mean, if the entry plays.
fn by_block(sample: &Sample, entry: usize, measure: Measure) -> Vec<Option<f64>> {
    let clusters = clusters(sample, entry, measure);
    let Some(mean) = ratio::ratio(&clusters) else { return vec![None; sample.blocks.len()] };
    let mut amounts = ratio::influences(&clusters, mean).into_iter().map(|influence| influence.amount);
    let plays = |block: &super::Block| block.games.iter().any(|game| game.entries.contains(&entry));
    sample.blocks.iter().map(|block| plays(block).then(|| amounts.next().unwrap_or(0.0))).collect()
}

/// The influences on the difference of two means, in the blocks in which at least one of the two entries
/// plays.
fn difference_of(sample: &Sample, first: &[Option<f64>], second: &[Option<f64>]) -> Vec<Influence> {
    let influences = sample.line_ups.iter().zip(first.iter().zip(second));
    influences
        .filter(|(_, (first, second))| first.is_some() || second.is_some())
        .map(|(&stratum, (first, second))| Influence {
            stratum,
            amount: first.unwrap_or(0.0) - second.unwrap_or(0.0),
        })
        .collect()
}

/// Ranks the entries by their joint ratings, which are comparable even if not all entries met the same
/// opponents.
pub fn rank_by_rating(ratings: &Ratings) -> Ranking {
    let values: Vec<f64> = ratings.ratings.iter().map(|rating| rating.elo).collect();
    rank(&values, |a, b| ratings.p_value(a, b))
}

fn rank(values: &[f64], p_value: impl Fn(usize, usize) -> f64) -> Ranking {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let mut comparisons = Vec::new();
    for (position, &better) in order.iter().enumerate() {
        for &worse in &order[position + 1..] {
            comparisons.push(Comparison { better, worse, p_value: p_value(better, worse) });
        }
    }
    let mut ranks = vec![RankInterval { best: 1, worst: values.len() }; values.len()];
    let mut separated = vec![vec![false; values.len()]; values.len()];
    for Comparison { better, worse, .. } in significant(comparisons) {
        ranks[worse].best += 1;
        ranks[better].worst -= 1;
        separated[better][worse] = true;
    }
    let neighbours = order.windows(2).map(|pair| (pair[0], pair[1]));
    let undecided = neighbours.filter(|&(better, worse)| !separated[better][worse]).collect();
    Ranking { order, ranks, undecided }
}

/// Holm's method: from the smallest p-value on, as long as each passes the level divided by those that are
/// left.
fn significant(mut comparisons: Vec<Comparison>) -> impl Iterator<Item = Comparison> {
    comparisons.sort_by(|a, b| a.p_value.total_cmp(&b.p_value));
    let count = comparisons.len();
    let passes = move |&(place, ref c): &(usize, Comparison)| c.p_value <= ALPHA / (count - place) as f64;
    comparisons.into_iter().enumerate().take_while(passes).map(|(_, comparison)| comparison)
}

#[cfg(test)]
mod tests {
    use super::super::rating::rate;
    use super::super::simulated::{game, round_robin, table};
    use super::super::{Block, Sample};
    use super::*;

    #[test]
    fn holm_stops_at_the_first_that_fails() {
        let with = |p_value| Comparison { better: 0, worse: 1, p_value };
        // Levels 0.05/4, 0.05/3, 0.05/2, 0.05: the third fails, and the fourth, though below 0.05, falls with
        // it.
        let passed: Vec<f64> =
            significant(vec![with(0.04), with(0.012), with(0.03), with(0.016)]).map(|c| c.p_value).collect();
        assert_eq!(passed, [0.012, 0.016]);
    }

    #[test]
    fn clear_differences_give_single_ranks_and_equals_share_theirs() {
        let strengths = [0.1, 0.42, 0.06, 0.42];
        for blocks in [table(&strengths, 300, 3), round_robin(&strengths, 120, 3)] {
            let sample = Sample::new(&blocks, 4);
            let by_rating = rank_by_rating(&rate(&sample, 1));
            for ranking in [
                rank_by_measure(&sample, Measure::WinRate),
                rank_by_measure(&sample, Measure::MeanPlace),
                rank_by_measure(&sample, Measure::MeanScore),
                by_rating,
            ] {
                let rank = |entry: usize| (ranking.ranks[entry].best, ranking.ranks[entry].worst);
                assert_eq!(
                    [rank(1), rank(3), rank(0), rank(2)],
                    [(1, 2), (1, 2), (3, 3), (4, 4)],
                    "{ranking:?}"
                );
                assert_eq!(ranking.undecided, [(ranking.order[0], ranking.order[1])]);
            }
        }
    }

    #[test]
    fn among_equals_a_difference_is_claimed_in_at_most_about_5_percent() {
        let claims = |seed| {
            let blocks = table(&[0.25; 4], 25, seed);
            let ranking = rank_by_measure(&Sample::new(&blocks, 4), Measure::WinRate);
            ranking.ranks.iter().any(|rank| (rank.best, rank.worst) != (1, 4))
        };
        let wrong = (0..400).filter(|&seed| claims(seed)).count();
        // At most 20 expected, standard deviation 4.4; some, since the test must be able to claim something.
        assert!((2..=30).contains(&wrong), "{wrong} of 400");
    }

    #[test]
    fn two_blocks_prove_nothing_even_if_one_always_wins() {
        let always =
            |count: usize| vec![Block { games: vec![game(&[0, 1], &[1, 2]), game(&[1, 0], &[2, 1])] }; count];
        for (count, decided) in [(1, false), (2, false), (5, false), (6, true), (30, true)] {
            let blocks = always(count);
            let ranking = rank_by_measure(&Sample::new(&blocks, 2), Measure::WinRate);
            assert_eq!(ranking.undecided.is_empty(), decided, "{count} blocks");
        }
        let few = always(2);
        assert_eq!(rank_by_rating(&rate(&Sample::new(&few, 2), 1)).undecided, [(0, 1)]);
        let many = always(30);
        assert_eq!(rank_by_rating(&rate(&Sample::new(&many, 2), 1)).undecided, []);
    }

    #[test]
    fn an_entry_without_games_may_have_any_rank() {
        let blocks = table(&[0.9, 0.1], 30, 1);
        let ranking = rank_by_measure(&Sample::new(&blocks, 3), Measure::WinRate);
        assert_eq!(ranking.order, [0, 1, 2]);
        assert_eq!(ranking.ranks[2], RankInterval { best: 1, worst: 3 });
        assert_eq!(ranking.undecided, [(1, 2)]);
    }
}
