//! Results with the luck of the dice taken out.
//!
//! The luck of a match is known exactly where the game is solved, and its expectation is zero whatever the players do:
//! it is a control variate. Results minus any multiple of the luck have the same expectation as the results, as long as the
//! factor does not depend on the luck that it is multiplied with. The factor that leaves least variance is near 1
//! for those who play well, and smaller for those whose fate the dice decide less than they do themselves. It is
//! estimated from every other block and used on the rest, and the other way round, so the adjusted means are unbiased
//! exactly, not only in the limit.

use super::interval::{Estimate, Measure};
use super::ratio::{self, Cluster};
use super::{Block, Sample};
use serde::Serialize;

/// A measure of one entry with the luck taken out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Adjusted {
    /// What is measured: wins per game, or the mean score of a game for one.
    pub measure: Measure,
    /// The estimate.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// The mean luck; as much of it was taken out as the results follow.
    pub luck: f64,
    /// The variance of the estimate over that of the plain one; missing if there are too few blocks to tell.
    pub variance_ratio: Option<f64>,
}

/// The adjusted measure of each entry. `luck` has the luck of each seat of each match of each block.
pub fn adjusted(sample: &Sample, luck: &[Vec<f64>], measure: Measure) -> Vec<Option<Adjusted>> {
    (0..sample.entries).map(|entry| adjust(sample, luck, measure, entry)).collect()
}

/// The mean of results without luck: for each block how many matches there were, and the sums of results and of luck.
pub fn without_luck(blocks: &[(f64, f64, f64)]) -> Option<Estimate> {
    let cluster = |size: f64, total: f64| Cluster { stratum: 0, size, total };
    let plain: Vec<Cluster> = blocks.iter().map(|&(size, result, _)| cluster(size, result)).collect();
    let lucky: Vec<Cluster> = blocks.iter().map(|&(size, _, luck)| cluster(size, luck)).collect();
    ratio::estimate(&take_out(&plain, &lucky), None)
}

/// Takes out as much of the luck as the results follow.
fn take_out(plain: &[Cluster], lucky: &[Cluster]) -> Vec<Cluster> {
    let factors = [1, 0].map(|half| factor(plain, lucky, half));
    let adjust = |(block, (plain, lucky)): (usize, (&Cluster, &Cluster))| Cluster {
        total: plain.total - factors[block % 2] * lucky.total,
        ..*plain
    };
    plain.iter().zip(lucky).enumerate().map(adjust).collect()
}

fn adjust(sample: &Sample, luck: &[Vec<f64>], measure: Measure, entry: usize) -> Option<Adjusted> {
    let plain = clusters(sample, luck, entry, |result, _| result, measure);
    let lucky = clusters(sample, luck, entry, |_, luck| luck, measure);
    let without = take_out(&plain, &lucky);
    let variance = |clusters: &[Cluster]| {
        let spread = ratio::spread(&ratio::influences(clusters, ratio::ratio(clusters)?))?;
        Some(spread.error * spread.error)
    };
    let variances = variance(&without).zip(variance(&plain)).filter(|(_, plain)| *plain > 0.0);
    Some(Adjusted {
        measure,
        estimate: ratio::estimate(&without, None)?,
        luck: ratio::ratio(&lucky)?,
        variance_ratio: variances.map(|(without, plain)| without / plain),
    })
}

/// Fewer blocks than this in a half say too little of the factor.
const ENOUGH: usize = 20;

/// How much of the luck the results follow, by the blocks of one half; 1 if there are too few to tell.
fn factor(plain: &[Cluster], lucky: &[Cluster], half: usize) -> f64 {
    // Means of this half only: the other half must not have a say in its own factor.
    let [plain, lucky] = [plain, lucky].map(|all| {
        let half: Vec<Cluster> = all.iter().skip(half).step_by(2).copied().collect();
        let mean = ratio::ratio(&half).unwrap_or(0.0);
        half.iter().map(|cluster| cluster.total - mean * cluster.size).collect::<Vec<f64>>()
    });
    let with_luck: f64 = plain.iter().zip(&lucky).map(|(plain, lucky)| plain * lucky).sum();
    let of_luck: f64 = lucky.iter().map(|lucky| lucky * lucky).sum();
    if plain.len() < ENOUGH || of_luck == 0.0 { 1.0 } else { with_luck / of_luck }
}

/// By block in which the entry plays: its matches and its total of what `value` makes of result and luck.
fn clusters(
    sample: &Sample,
    luck: &[Vec<f64>],
    entry: usize,
    value: impl Fn(f64, f64) -> f64,
    measure: Measure,
) -> Vec<Cluster> {
    let cluster = |((stratum, block), luck): ((usize, &Block), &Vec<f64>)| {
        let (mut size, mut total, mut first) = (0.0, 0.0, 0);
        for game in &block.games {
            for seat in game.seats_of(entry) {
                size += 1.0;
                total += value(measure.of(game, seat), luck[first + seat]);
            }
            first += game.entries.len();
        }
        Cluster { stratum, size, total }
    };
    sample.strata().zip(luck).map(cluster).filter(|cluster| cluster.size > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::super::simulated::game;
    use super::*;

    #[test]
    fn luck_is_taken_out_of_each_game() {
        // Entry 0 wins whenever it is lucky: without luck all matches are the same.
        let blocks: Vec<Block> = [[1, 2], [2, 1], [1, 2], [2, 1]]
            .map(|places| Block { games: vec![game(&[0, 1], &places)] })
            .into();
        let luck: Vec<Vec<f64>> = [0.4, -0.6, 0.4, -0.6].map(|luck: f64| vec![luck, -luck]).into();
        let adjusted = adjusted(&Sample::new(&blocks, 3), &luck, Measure::WinRate);
        let first = adjusted[0].unwrap();
        assert!((first.estimate.mean - 0.6).abs() < 1e-12 && (first.luck + 0.1).abs() < 1e-12);
        assert!(first.variance_ratio.unwrap() < 1e-12);
        assert!((adjusted[1].unwrap().estimate.mean - 0.4).abs() < 1e-12);
        assert_eq!(adjusted[2], None);
    }
}
