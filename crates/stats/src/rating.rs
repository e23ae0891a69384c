//! Joint ratings on the scale of Elo, with intervals by bootstrap over blocks.
//!
//! The strengths are those of `plackett_luce`; a difference of 400 points is a ratio of 10, and the mean is
//! 0. The intervals come from [`RESAMPLES`] resamples, each of which draws as many blocks of each line-up as
//! were played (line-ups with one block are pooled) and is rated anew: matches of one block stay together. The
//! ends are the 2.5% and 97.5% percentiles, moved outwards by the factor by which the interval of Student
//! with its unbiased variance is wider than that of the normal distribution: percentiles alone are too narrow
//! with few blocks.
//!
//! Results are counted as whole numbers before anything is computed, so the order of matches and blocks cannot
//! change a single bit.

use super::distribution::{two_sided_quantile, two_sided_tail};
use super::plackett_luce::{FinishOrder, Model, PRIOR_DRAWS};
use super::ratio::unseen_share;
use super::{ALPHA, Block, MatchResult, Sample};
use libm::sqrt;
use necrodome_rules::chance::{Chance, Seeded};
use serde::Serialize;
use std::collections::BTreeMap;
use std::f64::consts::LN_10;

/// Resamples of the bootstrap.
pub const RESAMPLES: u64 = 200;
/// Points of Elo per unit of the natural logarithm of a strength.
const POINTS: f64 = 400.0 / LN_10;
/// The last step of a fit, in logarithms of strengths. Steps shrink quadratically, so the error is far
/// smaller.
const FINE: f64 = 1e-9;
/// The same for a resample: a hundredth of a point is far below what resampling can tell.
const COARSE: f64 = 1e-2;
/// The 97.5% quantile of the normal distribution.
const NORMAL: f64 = 1.959963984540054;

/// The rating of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rating {
    /// Points above the mean of all entries.
    pub elo: f64,
    /// The lower end of the 95% interval. Missing if there are too few blocks, and for an entry that never
    /// placed better than or level with anybody: there is no limit to how weak it may be.
    pub low: Option<f64>,
    /// The upper end of the 95% interval. Missing if there are too few blocks, and for an entry that never
    /// placed worse than or level with anybody: there is no limit to how strong it may be.
    pub high: Option<f64>,
}

/// The joint ratings of all entries.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ratings {
    /// By entry.
    pub ratings: Vec<Rating>,
    /// Whether the fit reached its tolerance.
    pub converged: bool,
    /// By resample and entry: the rating in points.
    #[serde(skip)]
    resampled: Vec<Vec<f64>>,
    /// By entry with a perfect record: all ratings in points if what may have gone unseen had gone against
    /// it.
    #[serde(skip)]
    limits: Vec<Option<Vec<f64>>>,
    #[serde(skip)]
    precision: Precision,
}

/// How much is known about the variance between blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Precision {
    /// Degrees of freedom; 0 if there are too few blocks.
    freedom: f64,
    /// The factor from the bootstrap's standard error to the unbiased one.
    correction: f64,
}

/// Rates all entries. The seed is that of the bootstrap.
pub fn rate(sample: &Sample, seed: u64) -> Ratings {
    let results = Results::collect(sample);
    let model = Model::new(sample.entries, PRIOR_DRAWS, &results.rankings);
    let fit = model.fit(&results.counts, &vec![0.0; sample.entries], FINE);
    let precision = results.precision();
    let mut resampled = Vec::new();
    if precision.freedom > 0.0 {
        for index in 0..RESAMPLES {
            let counts = results.resample(&mut Seeded::new(seed, "bootstrap", index));
            resampled.push(points(&model.fit(&counts, &fit.logs, COARSE).logs));
        }
    }
    let mut ratings =
        Ratings { ratings: Vec::new(), converged: fit.converged, resampled, limits: Vec::new(), precision };
    for (entry, elo) in points(&fit.logs).into_iter().enumerate() {
        let one_sided = OneSided::of(&results, entry).filter(|_| precision.freedom > 0.0);
        let limit = one_sided.map(|side| points(&side.limit(&results, entry, &fit.logs)));
        let mut rating = ratings.with_interval(entry, elo);
        if let (Some(side), Some(limit)) = (one_sided, &limit) {
            side.keep_one_side(&mut rating, limit[entry]);
        }
        ratings.ratings.push(rating);
        ratings.limits.push(limit);
    }
    ratings
}

fn points(logs: &[f64]) -> Vec<f64> {
    logs.iter().map(|log| log * POINTS).collect()
}

impl Ratings {
    fn with_interval(&self, entry: usize, elo: f64) -> Rating {
        if self.resampled.is_empty() {
            return Rating { elo, low: None, high: None };
        }
        let mut drawn: Vec<f64> = self.resampled.iter().map(|ratings| ratings[entry]).collect();
        drawn.sort_by(f64::total_cmp);
        let widening = self.precision.correction * two_sided_quantile(ALPHA, self.precision.freedom) / NORMAL;
        let below = (elo - percentile(&drawn, ALPHA / 2.0)).max(0.0);
        let above = (percentile(&drawn, 1.0 - ALPHA / 2.0) - elo).max(0.0);
        Rating { elo, low: Some(elo - widening * below), high: Some(elo + widening * above) }
    }

    /// How likely the difference of two ratings is if the entries are equal: t with the bootstrap's standard
    /// error.
    ///
    /// Resamples of a perfect record are all perfect, so for an entry that has one the error is at least what
    /// its limit says.
    pub(super) fn p_value(&self, a: usize, b: usize) -> f64 {
        if self.resampled.is_empty() {
            return 1.0;
        }
        let one_sided = self.one_sided_error(a, b, a).max(self.one_sided_error(a, b, b));
        let error = self.error_of_difference(a, b).max(one_sided);
        let difference = self.ratings[a].elo - self.ratings[b].elo;
        if error > 0.0 { two_sided_tail(difference / error, self.precision.freedom) } else { 1.0 }
    }

    fn error_of_difference(&self, a: usize, b: usize) -> f64 {
        let differences = self.resampled.iter().map(|ratings| ratings[a] - ratings[b]);
        let count = self.resampled.len() as f64;
        let mean = differences.clone().sum::<f64>() / count;
        let squares: f64 = differences.map(|difference| (difference - mean) * (difference - mean)).sum();
        sqrt(squares / (count - 1.0)) * self.precision.correction
    }

    /// The error of the difference of `a` and `b` that the limit of an entry implies.
    fn one_sided_error(&self, a: usize, b: usize, entry: usize) -> f64 {
        let Some(limit) = &self.limits[entry] else { return 0.0 };
        let reach = (self.ratings[a].elo - self.ratings[b].elo) - (limit[a] - limit[b]);
        reach.abs() / two_sided_quantile(ALPHA, self.precision.freedom)
    }
}

/// The percentile of sorted values, between two of them in proportion.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len() - 1) as f64;
    let below = position as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (position - below as f64) * (sorted[above] - sorted[below])
}

/// A tournament as counts of rankings, free of any order.
#[derive(Debug)]
struct Results {
    entries: usize,
    /// The rankings that occurred, sorted.
    rankings: Vec<FinishOrder>,
    /// By ranking: how often it occurred.
    counts: Vec<f64>,
    /// The kinds of blocks: rankings and how often each occurs in the block.
    kinds: Vec<Vec<(usize, u32)>>,
    /// By stratum: the kinds of its blocks, sorted.
    strata: Vec<Vec<usize>>,
}

impl Results {
    fn collect(sample: &Sample) -> Self {
        let all: Vec<Vec<FinishOrder>> = sample.blocks.iter().map(rankings_of).collect();
        let numbers = numbered(all.iter().flatten().cloned());
        let block_kinds: Vec<Vec<(usize, u32)>> = all.iter().map(|block| counted(block, &numbers)).collect();
        let kind_numbers = numbered(block_kinds.iter().cloned());
        let mut by_line_up = vec![Vec::new(); sample.line_ups.iter().max().map_or(0, |last| last + 1)];
        for (kind, &line_up) in block_kinds.iter().zip(&sample.line_ups) {
            by_line_up[line_up].push(kind_numbers[kind]);
        }
        let mut results = Results {
            entries: sample.entries,
            rankings: numbers.into_keys().collect(),
            counts: Vec::new(),
            kinds: kind_numbers.into_keys().collect(),
            strata: in_fixed_order(by_line_up),
        };
        results.counts = results.count(results.strata.iter().flatten().copied());
        results
    }

    /// How often each ranking occurs in blocks of these kinds.
    fn count(&self, kinds: impl Iterator<Item = usize>) -> Vec<f64> {
        let mut blocks = vec![0_u64; self.kinds.len()];
        kinds.for_each(|kind| blocks[kind] += 1);
        let mut counts = vec![0_u64; self.rankings.len()];
        for (kind, &number) in self.kinds.iter().zip(&blocks) {
            for &(ranking, times) in kind {
                counts[ranking] += number * u64::from(times);
            }
        }
        counts.into_iter().map(|count| count as f64).collect()
    }

    /// Draws as many blocks of each stratum as it has.
    fn resample(&self, chance: &mut Seeded) -> Vec<f64> {
        let mut draw = |stratum: &Vec<usize>| stratum[chance.uniform(stratum.len() as u32) as usize];
        self.count(self.strata.iter().flat_map(|stratum| stratum.iter().map(move |_| stratum)).map(&mut draw))
    }

    fn precision(&self) -> Precision {
        let blocks: usize = self.strata.iter().map(Vec::len).sum();
        let freedom = (blocks - self.strata.len()) as f64;
        let correction = if freedom > 0.0 { sqrt(blocks as f64 / freedom) } else { 0.0 };
        Precision { freedom, correction }
    }

    /// In how many blocks an entry plays.
    fn blocks_with(&self, entry: usize) -> usize {
        let plays = |ranking: usize| self.rankings[ranking].iter().flatten().any(|&member| member == entry);
        let with: Vec<bool> = self.kinds.iter().map(|kind| kind.iter().any(|&(r, _)| plays(r))).collect();
        self.strata.iter().flatten().filter(|&&kind| with[kind]).count()
    }
}

/// Pools line-ups with a single block and sorts everything, so that the order of the blocks does not show.
fn in_fixed_order(by_line_up: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let (singles, mut strata): (Vec<_>, Vec<_>) =
        by_line_up.into_iter().partition(|blocks| blocks.len() == 1);
    if !singles.is_empty() {
        strata.push(singles.concat());
    }
    strata.iter_mut().for_each(|stratum| stratum.sort_unstable());
    strata.sort_unstable();
    strata
}

/// Numbers distinct values in their own order.
fn numbered<T: Ord>(values: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut numbers: BTreeMap<T, usize> = values.map(|value| (value, 0)).collect();
    numbers.values_mut().enumerate().for_each(|(next, number)| *number = next);
    numbers
}

/// How often each ranking occurs in a block.
fn counted(block: &[FinishOrder], numbers: &BTreeMap<FinishOrder, usize>) -> Vec<(usize, u32)> {
    let mut times = BTreeMap::new();
    for ranking in block {
        *times.entry(numbers[ranking]).or_insert(0) += 1;
    }
    times.into_iter().collect()
}

fn rankings_of(block: &Block) -> Vec<FinishOrder> {
    block.games.iter().map(ranking_of).collect()
}

/// The entries of a match in groups of equal places, best first.
fn ranking_of(game: &MatchResult) -> FinishOrder {
    let mut groups: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for (&entry, &place) in game.entries.iter().zip(&game.places) {
        groups.entry(place).or_default().push(entry);
    }
    groups.values_mut().for_each(|group| group.sort_unstable());
    groups.into_values().collect()
}

/// An entry with a perfect record, of wins or of losses: the data limit its strength on one side only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OneSided {
    Unbeaten,
    Winless,
}

impl OneSided {
    fn of(results: &Results, entry: usize) -> Option<OneSided> {
        let alone = [entry];
        let mut games =
            results.rankings.iter().filter(|r| r.len() > 1 && r.iter().flatten().any(|&e| e == entry));
        let everywhere = |end: fn(&FinishOrder) -> Option<&Vec<usize>>| {
            let holds = |ranking: &FinishOrder| end(ranking).is_some_and(|group| *group == alone);
            games.clone().all(holds)
        };
        let (unbeaten, winless) = (everywhere(|r| r.first()), everywhere(|r| r.last()));
        let tied_with_all =
            results.rankings.iter().any(|r| r.len() == 1 && r[0].len() > 1 && r[0].contains(&entry));
        match games.next() {
            Some(_) if unbeaten && !tied_with_all => Some(OneSided::Unbeaten),
            Some(_) if winless && !tied_with_all => Some(OneSided::Winless),
            _ => None,
        }
    }

    /// The strengths of all if the largest share of blocks that may have gone unseen had gone the other way.
    fn limit(self, results: &Results, entry: usize, start: &[f64]) -> Vec<f64> {
        let unseen = unseen_share(results.blocks_with(entry));
        let mut rankings = results.rankings.clone();
        let mut counts = results.counts.clone();
        for (number, ranking) in results.rankings.iter().enumerate() {
            if ranking.iter().flatten().any(|&member| member == entry) {
                rankings.push(self.reversed(ranking, entry));
                counts.push(unseen * counts[number]);
                counts[number] *= 1.0 - unseen;
            }
        }
        Model::new(results.entries, PRIOR_DRAWS, &rankings).fit(&counts, start, FINE).logs
    }

    /// Leaves an interval only the end that the data limit.
    fn keep_one_side(self, rating: &mut Rating, limit: f64) {
        match self {
            OneSided::Unbeaten => (rating.low, rating.high) = (rating.low.map(|low| low.min(limit)), None),
            OneSided::Winless => (rating.low, rating.high) = (None, rating.high.map(|high| high.max(limit))),
        }
    }

    /// The ranking with the entry at the other end.
    fn reversed(self, ranking: &FinishOrder, entry: usize) -> FinishOrder {
        let mut groups: FinishOrder = ranking.iter().filter(|group| **group != [entry]).cloned().collect();
        match self {
            OneSided::Unbeaten => groups.push(vec![entry]),
            OneSided::Winless => groups.insert(0, vec![entry]),
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{game, round_robin, table};
    use super::*;

    /// The ratings that strengths are worth.
    fn truth(strengths: &[f64]) -> Vec<f64> {
        let mean = strengths.iter().map(|strength| strength.ln()).sum::<f64>() / strengths.len() as f64;
        strengths.iter().map(|strength| (strength.ln() - mean) * POINTS).collect()
    }

    fn elos(ratings: &Ratings) -> Vec<f64> {
        ratings.ratings.iter().map(|rating| rating.elo).collect()
    }

    #[test]
    fn ten_to_one_is_400_points() {
        let won = |places: [u16; 2]| Block { games: vec![game(&[0, 1], &places)] };
        let mut blocks = vec![won([1, 2]); 10_000];
        blocks.extend(vec![won([2, 1]); 1_000]);
        let ratings = rate(&Sample::new(&blocks, 2), 1);
        assert!(
            (ratings.ratings[0].elo - ratings.ratings[1].elo - 400.0).abs() < 0.1,
            "{:?}",
            elos(&ratings)
        );
        assert!(elos(&ratings).iter().sum::<f64>().abs() < 1e-9);
        assert!(ratings.converged);
    }

    #[test]
    fn intervals_hold_the_strengths_that_made_the_games() {
        let strengths = [0.4, 0.3, 0.2, 0.1];
        let truth = truth(&strengths);
        let (mut held, mut all) = (0, 0);
        for seed in 0..60 {
            let blocks =
                if seed % 2 == 0 { table(&strengths, 25, seed) } else { round_robin(&strengths, 10, seed) };
            let ratings = rate(&Sample::new(&blocks, 4), seed);
            for (rating, truth) in ratings.ratings.iter().zip(&truth) {
                all += 1;
                held += usize::from(rating.low.unwrap() <= *truth && *truth <= rating.high.unwrap());
            }
        }
        // 228 of 240 expected; the four of one tournament hang together, so the deviation is up to 6.
        assert!((210..=238).contains(&held), "{held} of {all}");
    }

    #[test]
    fn the_order_of_games_and_blocks_changes_not_a_bit() {
        let blocks = [table(&[0.5, 0.3, 0.2], 15, 1), round_robin(&[0.5, 0.3, 0.2], 5, 1)].concat();
        let mut shuffled = blocks.clone();
        let mut chance = Seeded::new(3, "shuffle", 0);
        chance.shuffle(&mut shuffled);
        shuffled.iter_mut().for_each(|block| chance.shuffle(&mut block.games));
        assert_ne!(blocks, shuffled);
        let (one, other) = (rate(&Sample::new(&blocks, 3), 9), rate(&Sample::new(&shuffled, 3), 9));
        assert_eq!(one, other);
        assert_ne!(one, rate(&Sample::new(&blocks, 3), 10), "the seed of the bootstrap has no effect");
    }

    #[test]
    fn ratings_follow_the_names_of_the_entries() {
        let blocks = table(&[0.5, 0.3, 0.2], 20, 4);
        let mut renamed = blocks.clone();
        for game in renamed.iter_mut().flat_map(|block| &mut block.games) {
            game.entries.iter_mut().for_each(|entry| *entry = (*entry + 1) % 3);
        }
        let one = elos(&rate(&Sample::new(&blocks, 3), 1));
        let other = elos(&rate(&Sample::new(&renamed, 3), 1));
        (0..3).for_each(|entry| assert!((one[entry] - other[(entry + 1) % 3]).abs() < 1e-6));
    }

    #[test]
    fn a_perfect_record_has_a_limit_on_one_side_only() {
        let wins = |count| vec![Block { games: vec![game(&[0, 1], &[1, 2]), game(&[1, 0], &[2, 1])] }; count];
        let (few, many) = (wins(3), wins(100));
        let (few, many) = (rate(&Sample::new(&few, 2), 1), rate(&Sample::new(&many, 2), 1));
        for ratings in [&few, &many] {
            let [winner, loser] = ratings.ratings[..] else { panic!("two entries") };
            assert_eq!((winner.high, loser.low), (None, None));
            assert!(winner.low.unwrap() < winner.elo && loser.elo < loser.high.unwrap());
        }
        // Three blocks do not exclude that the winner is the weaker one; a hundred do.
        assert!(few.ratings[0].low.unwrap() < 0.0 && many.ratings[0].low.unwrap() > 0.0);
        // Losing 3.6% of the matches is worth 285 points in each direction.
        assert!((many.ratings[0].low.unwrap() - 285.0).abs() < 15.0, "{:?}", many.ratings[0]);
    }

    #[test]
    fn too_few_blocks_give_ratings_without_intervals() {
        let one = [Block { games: vec![game(&[0, 1], &[1, 2]), game(&[1, 0], &[1, 2])] }];
        let ratings = rate(&Sample::new(&one, 3), 1);
        for rating in &ratings.ratings {
            assert!(rating.elo.abs() < 1e-9);
            assert_eq!((rating.low, rating.high), (None, None));
        }
        assert_eq!(ratings.p_value(0, 1), 1.0);
        assert_eq!(rate(&Sample::new(&[], 2), 1).ratings[0].elo, 0.0);
    }
}
