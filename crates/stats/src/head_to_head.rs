//! Who beats whom: for each pair, the share of their common matches in which one placed better than the other.
//!
//! A tie counts half. The interval is by t on blocks (see `ratio`).

use super::interval::Estimate;
use super::ratio::{self, Cluster};
use super::{Block, Sample};
use serde::Serialize;
use std::cmp::Ordering;

/// One entry against another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeadToHead {
    /// Games in which they met.
    pub games: usize,
    /// The share of them in which the first placed better, a tie counted half; missing if they never met.
    pub better: Option<Estimate>,
}

/// The matrix of all pairs: `[a][b]` is `a` against `b`. The diagonal is empty.
pub fn head_to_head(sample: &Sample) -> Vec<Vec<HeadToHead>> {
    let upper: Vec<Vec<HeadToHead>> = (0..sample.entries)
        .map(|a| (a + 1..sample.entries).map(|b| meeting(sample, a, b)).collect())
        .collect();
    let against = |a: usize, b: usize| match a.cmp(&b) {
        Ordering::Less => upper[a][b - a - 1].clone(),
        Ordering::Equal => HeadToHead { games: 0, better: None },
        Ordering::Greater => mirrored(&upper[b][a - b - 1]),
    };
    (0..sample.entries).map(|a| (0..sample.entries).map(|b| against(a, b)).collect()).collect()
}

fn meeting(sample: &Sample, a: usize, b: usize) -> HeadToHead {
    let clusters: Vec<Cluster> = sample
        .strata()
        .map(|(stratum, block)| {
            let (size, total) = meetings(block, a, b);
            Cluster { stratum, size, total }
        })
        .filter(|cluster| cluster.size > 0.0)
        .collect();
    let games: f64 = clusters.iter().map(|cluster| cluster.size).sum();
    HeadToHead { games: games as usize, better: ratio::estimate(&clusters, Some((0.0, 1.0))) }
}

/// How often two entries met in a block, and how often the first placed better.
fn meetings(block: &Block, a: usize, b: usize) -> (f64, f64) {
    let (mut met, mut better) = (0.0, 0.0);
    for game in &block.games {
        for seat in game.seats_of(a) {
            for other in game.seats_of(b) {
                met += 1.0;
                better += match game.places[seat].cmp(&game.places[other]) {
                    Ordering::Less => 1.0,
                    Ordering::Equal => 0.5,
                    Ordering::Greater => 0.0,
                };
            }
        }
    }
    (met, better)
}

fn mirrored(met: &HeadToHead) -> HeadToHead {
    let mirror = |value: f64| 1.0 - value;
    let better = met.better.map(|estimate| Estimate {
        mean: mirror(estimate.mean),
        low: estimate.high.map(mirror),
        high: estimate.low.map(mirror),
    });
    HeadToHead { games: met.games, better }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{game, round_robin, table};
    use super::*;

    #[test]
    fn counts_better_places_and_half_of_the_ties() {
        let blocks = [
            Block { games: vec![game(&[0, 1, 2], &[1, 2, 3]), game(&[1, 2, 0], &[1, 3, 1])] },
            Block { games: vec![game(&[1, 0], &[1, 2])] },
        ];
        let matrix = head_to_head(&Sample::new(&blocks, 3));
        assert_eq!(matrix[0][1].games, 3);
        assert_eq!(matrix[0][1].better.unwrap().mean, 0.5);
        assert_eq!(matrix[2][1].games, 2);
        assert_eq!(matrix[2][1].better.unwrap(), Estimate { mean: 0.0, low: None, high: None });
        assert_eq!(matrix[1][1], HeadToHead { games: 0, better: None });
    }

    #[test]
    fn the_two_sides_of_a_pair_mirror_each_other() {
        let blocks = table(&[0.5, 0.3, 0.2], 30, 2);
        let matrix = head_to_head(&Sample::new(&blocks, 3));
        let (one, other) = (matrix[0][2].better.unwrap(), matrix[2][0].better.unwrap());
        assert!((one.mean + other.mean - 1.0).abs() < 1e-12);
        assert!((one.low.unwrap() + other.high.unwrap() - 1.0).abs() < 1e-12);
        assert!(one.low.unwrap() < one.mean && one.mean < one.high.unwrap());
    }

    #[test]
    fn finds_the_probabilities_of_the_law_that_made_the_games() {
        let mut held = 0;
        for seed in 0..200 {
            let blocks = round_robin(&[0.6, 0.3, 0.1], 30, seed);
            let better = head_to_head(&Sample::new(&blocks, 3))[0][1].better.unwrap();
            let truth = 0.6 / 0.9;
            held += usize::from(better.low.unwrap() <= truth && truth <= better.high.unwrap());
        }
        // 190 expected, standard deviation 3.1.
        assert!((180..=199).contains(&held), "{held} of 200");
    }
}
