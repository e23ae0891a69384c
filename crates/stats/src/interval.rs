//! What an entry achieved, with 95% intervals by t on blocks (see `ratio`).

use super::ratio::{self, Bounds, Cluster};
use super::{MatchResult, Sample};
use serde::Serialize;

/// An estimate with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The estimate itself.
    pub mean: f64,
    /// The lower end of the interval; missing if there are too few blocks to tell.
    pub low: Option<f64>,
    /// The upper end of the interval; missing if there are too few blocks to tell.
    pub high: Option<f64>,
}

impl Estimate {
    /// The mean of something that was seen `total` times in `size` cases, block by block; none if there are no cases.
    pub fn of_blocks(blocks: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        let cluster = |(size, total)| Cluster { stratum: 0, size, total };
        let clusters = blocks.into_iter().map(cluster).filter(|cluster| cluster.size > 0.0);
        ratio::estimate(&clusters.collect::<Vec<_>>(), None)
    }
}

/// What is measured of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Wins per match, a win shared by k counted as 1/k. More is better.
    WinRate,
    /// The mean place. Less is better.
    MeanPlace,
    /// The mean score. More is better.
    MeanScore,
    /// The median score. More is better; two entries are told apart by how often each outscores the other.
    MedianScore,
}

impl Measure {
    pub(super) fn of(self, game: &MatchResult, seat: usize) -> f64 {
        match self {
            Measure::WinRate => game.win_share(seat),
            Measure::MeanPlace => f64::from(game.places[seat]),
            Measure::MeanScore | Measure::MedianScore => game.scores[seat] as f64,
        }
    }

    fn bounds(self, seats: usize) -> Bounds {
        match self {
            Measure::WinRate => Some((0.0, 1.0)),
            Measure::MeanPlace => Some((1.0, seats.max(1) as f64)),
            Measure::MeanScore | Measure::MedianScore => None,
        }
    }

    /// 1 if more is better, -1 if less is.
    pub(super) fn direction(self) -> f64 {
        if self == Measure::MeanPlace { -1.0 } else { 1.0 }
    }

    /// How far two entries can be apart in one block, if that is limited.
    pub(super) fn range(self, sample: &Sample) -> Option<f64> {
        self.bounds(sample.seats()).map(|(lowest, highest)| highest - lowest)
    }
}

/// What one entry achieved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// Games played.
    pub games: usize,
    /// Games won alone.
    pub outright_wins: usize,
    /// Games won together with others.
    pub shared_wins: usize,
    /// Wins per match, a win shared by k counted as 1/k; missing if it played no match, as are the others.
    pub win_rate: Option<Estimate>,
    /// The mean place.
    pub mean_place: Option<Estimate>,
    /// The mean score.
    pub mean_score: Option<Estimate>,
}

/// The record of each entry.
pub fn records(sample: &Sample) -> Vec<Record> {
    (0..sample.entries).map(|entry| record(sample, entry)).collect()
}

fn record(sample: &Sample, entry: usize) -> Record {
    let estimate =
        |measure: Measure| ratio::estimate(&clusters(sample, entry, measure), measure.bounds(sample.seats()));
    let (mut games, mut outright_wins, mut shared_wins) = (0, 0, 0);
    for game in sample.blocks.iter().flat_map(|block| &block.games) {
        let (best, winners) = game.best();
        for seat in game.seats_of(entry) {
            games += 1;
            match (game.places[seat] == best, winners) {
                (true, 1) => outright_wins += 1,
                (true, _) => shared_wins += 1,
                (false, _) => {}
            }
        }
    }
    Record {
        games,
        outright_wins,
        shared_wins,
        win_rate: estimate(Measure::WinRate),
        mean_place: estimate(Measure::MeanPlace),
        mean_score: estimate(Measure::MeanScore),
    }
}

/// The median score of each entry; none if it played no match.
pub fn medians(sample: &Sample) -> Vec<Option<f64>> {
    let mut scores: Vec<Vec<f64>> = vec![Vec::new(); sample.entries];
    for game in sample.blocks.iter().flat_map(|block| &block.games) {
        for (&entry, &score) in game.entries.iter().zip(&game.scores) {
            scores[entry].push(score as f64);
        }
    }
    scores.iter_mut().map(|scores| median(scores)).collect()
}

/// The number in the middle, or between the two in the middle.
pub(super) fn median(numbers: &mut [f64]) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len().checked_sub(1)?;
    Some((numbers[last / 2] + numbers[numbers.len() / 2]) / 2.0)
}

/// By block in which the entry plays: its matches and its total of the measure.
pub(super) fn clusters(sample: &Sample, entry: usize, measure: Measure) -> Vec<Cluster> {
    let cluster = |(stratum, block): (usize, &super::Block)| {
        let (mut size, mut total) = (0.0, 0.0);
        for game in &block.games {
            for seat in game.seats_of(entry) {
                size += 1.0;
                total += measure.of(game, seat);
            }
        }
        Cluster { stratum, size, total }
    };
    sample.strata().map(cluster).filter(|cluster| cluster.size > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{game, round_robin, table};
    use super::super::{Block, Sample};
    use super::*;

    #[test]
    fn counts_wins_shared_wins_places_and_scores() {
        let blocks = [
            Block { games: vec![game(&[0, 1, 2], &[1, 2, 3]), game(&[1, 2, 0], &[1, 3, 1])] },
            Block { games: vec![game(&[0, 1, 2], &[3, 1, 1])] },
        ];
        let records = records(&Sample::new(&blocks, 4));
        assert_eq!((records[0].games, records[0].outright_wins, records[0].shared_wins), (3, 1, 1));
        assert_eq!((records[1].games, records[1].outright_wins, records[1].shared_wins), (3, 0, 2));
        assert_eq!(records[0].win_rate.unwrap().mean, 0.5);
        assert!((records[2].mean_place.unwrap().mean - 7.0 / 3.0).abs() < 1e-12);
        // The scores of these matches are -10 times the places.
        assert!((records[2].mean_score.unwrap().mean + 70.0 / 3.0).abs() < 1e-12);
        assert_eq!((records[3].games, records[3].win_rate), (0, None));
    }

    #[test]
    fn win_rates_of_a_table_add_up_to_one() {
        let blocks = table(&[0.5, 0.3, 0.2], 50, 1);
        let rates: f64 = records(&Sample::new(&blocks, 3)).iter().map(|r| r.win_rate.unwrap().mean).sum();
        assert!((rates - 1.0).abs() < 1e-12);
    }

    #[test]
    fn about_95_percent_of_the_intervals_hold_the_truth() {
        let mut held = 0;
        for seed in 0..400 {
            let blocks = table(&[0.5, 0.3, 0.2], 20, seed);
            let rate = records(&Sample::new(&blocks, 3))[0].win_rate.unwrap();
            held += usize::from(rate.low.unwrap() <= 0.5 && 0.5 <= rate.high.unwrap());
        }
        // 380 expected, standard deviation 4.4.
        assert!((366..=394).contains(&held), "{held} of 400");
    }

    #[test]
    fn round_robins_are_covered_too() {
        let mut held = 0;
        let strengths = [0.6, 0.3, 0.1];
        let truth = (0.6 / 0.9 + 0.6 / 0.7) / 2.0;
        for seed in 0..400 {
            let blocks = round_robin(&strengths, 20, seed);
            let rate = records(&Sample::new(&blocks, 3))[0].win_rate.unwrap();
            held += usize::from(rate.low.unwrap() <= truth && truth <= rate.high.unwrap());
        }
        assert!((366..=394).contains(&held), "{held} of 400");
    }

    #[test]
    fn the_block_is_the_unit_and_not_the_game() {
        // A hundred copies of the same match in each block tell no more than one.
        let copies = |count: usize| -> Vec<Block> {
            let outcome = |places: &[u16]| Block { games: vec![game(&[0, 1], places); count] };
            vec![outcome(&[1, 2]), outcome(&[2, 1]), outcome(&[1, 2]), outcome(&[1, 2])]
        };
        let width = |blocks: &[Block]| {
            let rate = records(&Sample::new(blocks, 2))[0].mean_score.unwrap();
            rate.high.unwrap() - rate.low.unwrap()
        };
        assert!((width(&copies(1)) - width(&copies(100))).abs() < 1e-9);
    }
}
