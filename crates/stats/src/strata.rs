//! Groups of entries that were played equally often. In most tournaments that is all groups; if entries came later, or some
//! pairs were played more often than others, there are several strata.
//!
//! Percentages over all matches would then say more about who met whom how often than about who is better. So the value of an
//! entry is the mean over all its groups, each counted once, as if all had been played equally often: the sum over strata of
//! its result there, weighted by the share of its groups that are there. Matches have independent dice, so strata are
//! independent and their variances add up. The formula of Welch and Satterthwaite gives the effective number of blocks.

use super::adjusted::Factors;
use super::checks::Epochs;
use super::interval::{Bounds, Mean};
use super::moments::{Moments, Running};
use super::tally::Measure;

/// Groups that were played equally often, and their results.
#[derive(Debug, Clone)]
pub(super) struct Stratum {
    /// The share of each entry's groups that belong to this stratum.
    weights: Vec<f64>,
    /// The moments of every other block: for each entry its value (the measure that decides the standings), its luck, and its
    /// points (the share of its meetings in which it placed better). There are two halves so that the luck of one can be taken out
    /// with the factors of the other.
    halves: [Moments; 2],
    pub results: Vec<Results>,
    pub epochs: Epochs,
    block: BlockSums,
}

/// The results of an entry, block by block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Results {
    pub win_rate: Running,
    pub place: Running,
    pub score: Running,
    pub games: f64,
    /// The number of its meetings.
    pub met: f64,
}

/// The sums of one block, by entry.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OfBlock {
    pub games: f64,
    pub wins: f64,
    pub places: f64,
    pub scores: f64,
    pub luck: f64,
    /// The number of its meetings in this block.
    pub met: f64,
    /// The number of those in which it placed better, a tie counted half.
    pub points: f64,
}

#[derive(Debug, Clone)]
struct BlockSums {
    entries: Vec<OfBlock>,
    is_empty: bool,
    /// The values that are added to the moments.
    values: Vec<f64>,
}

impl Stratum {
    pub fn new(weights: Vec<f64>) -> Self {
        let entries = weights.len();
        Stratum {
            weights,
            halves: [(); 2].map(|()| Moments::new(3 * entries)),
            results: vec![Results::default(); entries],
            epochs: Epochs::new(entries),
            block: BlockSums {
                entries: vec![OfBlock::default(); entries],
                is_empty: true,
                values: vec![0.0; 3 * entries],
            },
        }
    }

    pub fn blocks(&self) -> u64 {
        self.halves[0].blocks() + self.halves[1].blocks()
    }

    /// The number of matches in a block that an entry plays here.
    pub fn games_of_block(&self, entry: usize) -> f64 {
        self.results[entry].games / self.blocks().max(1) as f64
    }

    pub fn halves(&self) -> &[Moments; 2] {
        &self.halves
    }

    /// Whether an entry plays here.
    pub fn has(&self, entry: usize) -> bool {
        self.weights[entry] > 0.0
    }

    /// The sums of one entry in the current block.
    pub fn now(&mut self, entry: usize) -> &mut OfBlock {
        self.block.is_empty = false;
        &mut self.block.entries[entry]
    }

    /// Ends the block, if any match of it was played here.
    pub fn end_block(&mut self, measure: Measure) {
        let half = self.blocks() as usize % 2;
        let BlockSums { entries, is_empty, values } = &mut self.block;
        if *is_empty {
            return;
        }
        let count = entries.len();
        values.fill(0.0);
        for (entry, block) in entries.iter_mut().enumerate().filter(|(_, block)| block.games > 0.0) {
            let mean = |sum: f64| sum / block.games;
            let results = &mut self.results[entry];
            results.win_rate.add(mean(block.wins));
            results.place.add(mean(block.places));
            results.score.add(mean(block.scores));
            results.games += block.games;
            results.met += block.met;
            // The first entry of a gauntlet stands still at one half.
            let stands = measure == Measure::AgainstFirst && entry == 0;
            values[entry] = match measure {
                _ if stands => 0.5,
                Measure::WinRate | Measure::AgainstFirst => mean(block.wins),
                Measure::MeanScore | Measure::MedianScore => mean(block.scores),
            };
            values[count + entry] = if stands { 0.0 } else { mean(block.luck) };
            values[2 * count + entry] = if block.met > 0.0 { block.points / block.met } else { 0.0 };
            *block = OfBlock::default();
        }
        self.epochs.add(&values[..count]);
        self.halves[half].add(values);
        *is_empty = true;
    }

    /// The measure that decides the standings, with the luck taken out by `factors`: a weighted sum over entries.
    pub fn value(&self, factors: &Factors, entries: &[(usize, f64)]) -> Running {
        let of_half = |half: usize| {
            let weights = entries.iter().flat_map(|&(entry, weight)| factors.weights(half, entry, weight));
            self.halves[half].sum(&weights.collect::<Vec<_>>())
        };
        of_half(0).join(of_half(1))
    }

    pub fn luck_of(&self, entry: usize) -> Running {
        let weights = [(self.weights.len() + entry, 1.0)];
        self.halves[0].sum(&weights).join(self.halves[1].sum(&weights))
    }

    /// The points of two entries, block by block: the mean of the first, and the sum of the products of their deviations.
    pub fn points(&self, a: usize, b: usize) -> Running {
        let (a, b) = (2 * self.weights.len() + a, 2 * self.weights.len() + b);
        let [first, second] = &self.halves;
        let (own, other) = (first.blocks() as f64, second.blocks() as f64);
        let apart = |index: usize| second.mean(index) - first.mean(index);
        let joint = if own + other > 0.0 { own * other / (own + other) } else { 0.0 };
        Running {
            blocks: self.blocks(),
            mean: first.mean(a) + if other > 0.0 { apart(a) * other / (own + other) } else { 0.0 },
            squares: first.product(a, b) + second.product(a, b) + apart(a) * apart(b) * joint,
        }
    }
}

/// The share of an entry's value that each stratum decides, among strata that were played at all.
pub(super) fn shares(strata: &[Stratum], entry: usize) -> Vec<f64> {
    let weight = |stratum: &Stratum| if stratum.blocks() > 0 { stratum.weights[entry] } else { 0.0 };
    let all: f64 = strata.iter().map(weight).sum();
    strata.iter().map(|stratum| if all > 0.0 { weight(stratum) / all } else { 0.0 }).collect()
}

/// A weighted sum of independent means, and the limits of what one of its blocks can show.
pub(super) fn combined(parts: &[(f64, Running, Option<Bounds>)]) -> Running {
    match parts {
        // Nothing to combine, and nothing to round.
        [(1.0, only, _)] => return *only,
        _ if parts.iter().any(|(_, sums, _)| sums.blocks < 2) => {
            let mean = parts.iter().map(|(share, sums, _)| share * sums.mean).sum();
            let blocks = parts.iter().map(|(_, sums, _)| sums.blocks).min().unwrap_or(0);
            return Running { blocks, mean, squares: 0.0 };
        }
        _ => {}
    }
    // The variance of each mean. A part whose few blocks all ended alike is not certain.
    let errors: Vec<(f64, f64)> = parts
        .iter()
        .map(|(share, sums, bounds)| {
            let blocks = sums.blocks as f64;
            let variance = match bounds {
                Some(_) => Mean::new(*sums, *bounds).cautious_variance(),
                None => sums.squares / (blocks - 1.0),
            };
            (share * share * variance / blocks, blocks)
        })
        .collect();
    let variance: f64 = errors.iter().map(|(error, _)| error).sum();
    let freedom: f64 = errors.iter().map(|(error, blocks)| error * error / (blocks - 1.0)).sum();
    let fewest = errors.iter().map(|(_, blocks)| *blocks).fold(f64::INFINITY, f64::min);
    let blocks = if freedom > 0.0 { 1.0 + variance * variance / freedom } else { fewest };
    // Rounding must not cost a block.
    let blocks = libm::floor(blocks + 1e-9).max(2.0);
    Running {
        blocks: blocks as u64,
        mean: parts.iter().map(|(share, sums, _)| share * sums.mean).sum(),
        squares: variance * blocks * (blocks - 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{by_wins, drawn_places};
    use super::super::{Confidence, Match, RankBy, Tally};
    use super::*;
    use necrodome_rules::chance::Seeded;

    /// Pairs of four entries, the first pair played most often and those with the last entry least.
    const STRATA: [(&[(usize, usize)], usize); 3] =
        [(&[(0, 1)], 200), (&[(0, 2), (1, 2)], 60), (&[(0, 3), (1, 3), (2, 3)], 30)];

    fn played(strengths: [f64; 4], seed: u64) -> Tally {
        let weights = STRATA.map(|(pairs, _)| {
            let of = |entry| pairs.iter().filter(|&&(a, b)| a == entry || b == entry).count() as f64 / 3.0;
            (0..4).map(of).collect()
        });
        let mut tally = Tally::stratified(by_wins(4, 2), weights.into());
        let mut chance = Seeded::new(seed, "strata", 0);
        for block in 0..200 {
            let mut games = Vec::new();
            for (number, (pairs, _)) in STRATA.iter().enumerate().filter(|(_, (_, most))| block < *most) {
                for &(a, b) in *pairs {
                    for seating in [[a, b], [b, a]] {
                        let places = drawn_places(&seating.map(|entry| strengths[entry]), &mut chance);
                        games.push((number, seating, places));
                    }
                }
            }
            tally.add_parts(games.iter().map(|(stratum, entries, places)| {
                (*stratum, Match { entries, places, scores: &[0, 0], luck: None })
            }));
        }
        tally
    }

    #[test]
    fn entries_are_worth_the_mean_over_opponents_however_often_they_met() {
        let strengths = [0.4, 0.4, 0.1, 0.1];
        let truth = |entry: usize| {
            let others = (0..4).filter(|&other| other != entry);
            others.map(|other| strengths[entry] / (strengths[entry] + strengths[other])).sum::<f64>() / 3.0
        };
        let (mut held, mut rated, mut separated) = (0, 0, 0);
        for seed in 0..300 {
            let tally = played(strengths, seed);
            let standings = tally.standings(Confidence::Fixed, RankBy::Plain);
            for entry in 0..4 {
                let rate = standings.records[entry].win_rate.unwrap();
                held += usize::from(rate.low.unwrap() <= truth(entry) && truth(entry) <= rate.high.unwrap());
                let rating = standings.ratings[entry];
                let elo = if entry < 2 { 120.41 } else { -120.41 };
                rated += usize::from(rating.low.unwrap() <= elo && elo <= rating.high.unwrap());
            }
            let twins = |a: usize, b: usize| {
                let places: Vec<usize> = [a, b].map(|entry| standings.ranking.ranks[entry].best).to_vec();
                places[0] != places[1]
            };
            separated += usize::from(twins(0, 1) || twins(2, 3));
            assert!(standings.drifts.len() <= 4 && tally.blocks() == 30);
        }
        // 1140 expected, standard deviation about 9; mistakes about twins: at most 15, standard deviation 3.8.
        assert!((1110..=1180).contains(&held), "{held} of 1200 win rates");
        assert!((1110..=1185).contains(&rated), "{rated} of 1200 ratings");
        assert!(separated <= 26, "{separated} of 300");
    }

    #[test]
    fn sums_of_means_are_as_uncertain_as_their_parts() {
        let part = |blocks, squares| Running { blocks, mean: 1.0, squares };
        let combined = |parts: [(f64, Running); 2]| combined(&parts.map(|(share, sums)| (share, sums, None)));
        // 100 blocks of variance 2 each, half and half: as good as 199 blocks.
        let both = combined([(0.5, part(100, 198.0)), (0.5, part(100, 198.0))]);
        assert_eq!((both.blocks, both.mean), (199, 1.0));
        assert!((both.error() - 0.01).abs() < 1e-12, "{both:?}");
        // A part with few blocks decides.
        let uneven = combined([(0.5, part(1000, 999.0)), (0.5, part(5, 4.0))]);
        assert_eq!(uneven.blocks, 5);
        assert_eq!(combined([(0.5, part(9, 1.0)), (0.5, part(1, 0.0))]).blocks, 1);
        // Parts that have shown no variance at all.
        assert_eq!(combined([(0.5, part(50, 0.0)), (0.5, part(60, 0.0))]), part(50, 0.0));
    }

    /// Two entries have met 2000 times, and then a third came who has met each of them a few times.
    #[test]
    fn few_blocks_that_all_ended_alike_are_no_certainty() {
        for (weak, few) in [(0.02, 3), (0.02, 10), (0.02, 25), (0.3, 12), (0.0, 40)] {
            let strengths = [0.5, 0.4, weak];
            let share = |a: usize, b: usize| strengths[a] / (strengths[a] + strengths[b]);
            let opponents = [(1, 2), (0, 2), (0, 1)];
            let (mut missed, mut wrong) = (0, 0);
            for seed in 0..200 {
                let weights = vec![vec![0.5, 0.5, 0.0], vec![0.5, 0.5, 1.0]];
                let mut tally = Tally::stratified(by_wins(3, 2), weights);
                let mut chance = Seeded::new(seed, "newcomer", 0);
                let mut block = |stratum: usize, pairs: &[(usize, usize)]| {
                    let seatings = pairs.iter().flat_map(|&(a, b)| [[a, b], [b, a]]);
                    let games: Vec<_> = seatings
                        .map(|seating| {
                            (seating, drawn_places(&seating.map(|entry| strengths[entry]), &mut chance))
                        })
                        .collect();
                    tally.add_parts(games.iter().map(|(entries, places)| {
                        (stratum, Match { entries, places, scores: &[0, 0], luck: None })
                    }));
                };
                (0..2000).for_each(|_| block(0, &[(0, 1)]));
                (0..few).for_each(|_| block(1, &[(0, 2), (1, 2)]));
                let standings = tally.standings(Confidence::Anytime, RankBy::Plain);
                let is_missed = |entry: usize| {
                    let (b, c) = opponents[entry];
                    let truth = (share(entry, b) + share(entry, c)) / 2.0;
                    let rate = standings.records[entry].win_rate.unwrap();
                    rate.low.is_some_and(|low| low > truth) || rate.high.is_some_and(|high| high < truth)
                };
                missed += usize::from((0..3).any(is_missed));
                wrong += usize::from(
                    standings.ranking.ranks[2].best == 1 && standings.ranking.ranks[2].worst == 1,
                );
            }
            assert!(
                missed <= 16 && wrong == 0,
                "{missed} and {wrong} of 200 with {few} blocks against {weak}"
            );
        }
    }
}
