//! The running sums of a tournament.

use super::adjusted::{self, Adjusted, Factors};
use super::checks::{self, Cycle, Drift, Misfit};
use super::interval::{Bounds, Confidence, Estimate, Mean};
use super::moments::Running;
use super::ranks::{self, RankBy, Ranking};
use super::rating::{self, Rating};
use super::seats::{self, SeatEffect};
use super::strata::{self, Results, Stratum};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The measure that decides the standings of a tournament.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Wins per match, a win shared by k counted as 1/k.
    WinRate,
    /// Wins per match against the first entry, who is level with an entry that wins half of them.
    AgainstFirst,
    /// The mean score.
    MeanScore,
    /// The median score; two entries are told apart by how often each outscores the other.
    MedianScore,
}

/// The layout of a tournament, which the sums must know before the first block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Design {
    /// The number of entries.
    pub entries: usize,
    /// The number of seats in a match.
    pub seats: usize,
    /// The measure that decides the standings.
    pub measure: Measure,
    /// Whether every entry takes every seat equally often in a block, so that seats can be compared.
    pub rotates: bool,
}

/// One match: the entry in each seat and the result. All lists have one element per seat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match<'a> {
    /// The entry in each seat.
    pub entries: &'a [usize],
    /// The place of each seat: 1 is best. Seats that tie share a place, and the next places are skipped (1, 1, 3).
    pub places: &'a [u16],
    /// The score of each seat.
    pub scores: &'a [i64],
    /// The luck of each seat, where it is known.
    pub luck: Option<&'a [f64]>,
}

/// The running sums of a tournament. Its size depends on the number of entries, not on the number of blocks.
#[derive(Debug, Clone)]
pub struct Tally {
    design: Design,
    strata: Vec<Stratum>,
    /// Whether the luck of every match was known.
    luck: bool,
    entries: Vec<EntrySums>,
    /// The sums of each pair `a < b`, in lexicographic order.
    pairs: Vec<PairSums>,
    seats: Vec<Running>,
    block: BlockSums,
}

/// The results of an entry.
#[derive(Debug, Clone, Default)]
struct EntrySums {
    games: u64,
    outright_wins: u64,
    shared_wins: u64,
    /// The number of times each score came up, where the median counts.
    scores: BTreeMap<i64, u64>,
}

/// The results of two entries against each other.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PairSums {
    pub met: u64,
    /// Meetings in which the first placed better, a tie counted half.
    pub better: f64,
    /// The share of those meetings, block by block.
    pub share: Running,
    /// 1 for each block in which the first had the higher score, -1 where the second had. Medians are compared by this.
    pub ahead: Running,
}

impl PairSums {
    /// The share of meetings in which the first placed better.
    pub fn mean(&self) -> Mean {
        Mean::new(self.share, Bounds::share(self.met as f64 / self.share.blocks.max(1) as f64))
    }
}

/// The sums of one block.
#[derive(Debug, Clone, Default)]
struct BlockSums {
    /// The number of meetings of each pair, and the number in which the first placed better.
    meetings: Vec<(f64, f64)>,
    /// The matches and wins of each seat.
    seats: Vec<(f64, f64)>,
}

/// The results of one entry.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Record {
    /// Games played.
    pub games: u64,
    /// Games won alone.
    pub outright_wins: u64,
    /// Games won together with others.
    pub shared_wins: u64,
    /// Wins per match, a win shared by k counted as 1/k. Like the other estimates, it is missing if the entry played no match.
    pub win_rate: Option<Estimate>,
    /// The mean place.
    pub mean_place: Option<Estimate>,
    /// The mean score.
    pub mean_score: Option<Estimate>,
    /// The median score, where it decides the standings.
    pub median_score: Option<Estimate>,
}

/// One entry against another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct HeadToHead {
    /// Games in which they met.
    pub games: u64,
    /// The share of them in which the first placed better, a tie counted half; missing if they never met.
    pub better: Option<Estimate>,
}

/// Everything that is printed about a tournament.
#[derive(Debug, Clone)]
pub struct Standings {
    /// The order of the entries.
    pub ranking: Ranking,
    /// The results of each entry.
    pub records: Vec<Record>,
    /// The measure that decides the standings, with the luck of the dice taken out, by entry; `None` where luck is not known.
    pub adjusted: Vec<Option<Adjusted>>,
    /// The rating of each entry.
    pub ratings: Vec<Rating>,
    /// The matrix of all pairs: `[a][b]` is `a` against `b`. The diagonal is empty.
    pub head_to_head: Vec<Vec<HeadToHead>>,
    /// The effect of the seat; missing where entries keep their seats.
    pub seats: Option<SeatEffect>,
    /// Entries that did better, or worse, in the second half than in the first.
    pub drifts: Vec<Drift>,
    /// Entries that beat each other in a circle.
    pub cycles: Vec<Cycle>,
    /// Pairs whose results the ratings do not explain.
    pub misfits: Vec<Misfit>,
}

impl Tally {
    /// Makes the sums of a tournament without blocks.
    pub fn new(design: Design) -> Self {
        Self::stratified(design, vec![vec![1.0; design.entries]])
    }

    /// Makes the sums of a tournament without blocks, in which some groups of entries are played more often than others. Groups that
    /// are played equally often make a stratum; the weights, by stratum and entry, are the share of the entry's groups in it.
    pub fn stratified(design: Design, weights: Vec<Vec<f64>>) -> Self {
        let Design { entries, seats, .. } = design;
        let pairs = entries * entries.saturating_sub(1) / 2;
        Tally {
            design,
            strata: weights.into_iter().map(Stratum::new).collect(),
            luck: true,
            entries: vec![EntrySums::default(); entries],
            pairs: vec![PairSums::default(); pairs],
            seats: vec![Running::default(); seats],
            block: BlockSums { meetings: vec![(0.0, 0.0); pairs], seats: vec![(0.0, 0.0); seats] },
        }
    }

    /// The layout of the tournament.
    pub fn design(&self) -> Design {
        self.design
    }

    /// The number of blocks added; where some groups have more than others, the number of the group with fewest.
    pub fn blocks(&self) -> u64 {
        self.strata.iter().map(Stratum::blocks).min().unwrap_or(0)
    }

    /// Adds the next block.
    ///
    /// # Panics
    /// If a match names an entry or a seat that does not exist, or its lists differ in length.
    pub fn add<'a>(&mut self, block: impl IntoIterator<Item = Match<'a>>) {
        self.add_parts(block.into_iter().map(|game| (0, game)));
    }

    /// Adds the next block, each match with its stratum.
    ///
    /// # Panics
    /// If a match names a stratum, an entry or a seat that does not exist, or its lists differ in length.
    pub fn add_parts<'a>(&mut self, block: impl IntoIterator<Item = (usize, Match<'a>)>) {
        for (stratum, game) in block {
            self.add_match(stratum, game);
        }
        self.end_block();
    }

    fn add_match(&mut self, stratum: usize, game: Match) {
        let Match { entries, places, scores, luck } = game;
        assert!(
            places.len() == entries.len() && scores.len() == entries.len(),
            "one place and score per seat"
        );
        self.luck &= luck.is_some();
        let best = places.iter().copied().min().unwrap_or(1);
        let winners = places.iter().filter(|&&place| place == best).count();
        for (seat, &entry) in entries.iter().enumerate() {
            let sums = &mut self.entries[entry];
            let won = match (places[seat] == best, winners) {
                (true, 1) => {
                    sums.outright_wins += 1;
                    1.0
                }
                (true, _) => {
                    sums.shared_wins += 1;
                    1.0 / winners as f64
                }
                (false, _) => 0.0,
            };
            sums.games += 1;
            if self.design.measure == Measure::MedianScore {
                *sums.scores.entry(scores[seat]).or_default() += 1;
            }
            let now = self.strata[stratum].now(entry);
            now.games += 1.0;
            now.wins += won;
            now.places += f64::from(places[seat]);
            now.scores += scores[seat] as f64;
            now.luck += luck.map_or(0.0, |luck| luck[seat]);
            if self.design.rotates {
                let (games, wins) = &mut self.block.seats[seat];
                (*games, *wins) = (*games + 1.0, *wins + won);
            }
            for other in seat + 1..entries.len() {
                self.meet(stratum, (entry, places[seat]), (entries[other], places[other]));
            }
        }
    }

    fn meet(&mut self, stratum: usize, (a, place): (usize, u16), (b, other): (usize, u16)) {
        if a == b {
            return;
        }
        let points = |order: Ordering| match order {
            Ordering::Less => 1.0,
            Ordering::Equal => 0.5,
            Ordering::Greater => 0.0,
        };
        for (entry, order) in [(a, place.cmp(&other)), (b, other.cmp(&place))] {
            let now = self.strata[stratum].now(entry);
            now.met += 1.0;
            now.points += points(order);
            if entry == a.min(b) {
                let (met, better) = &mut self.block.meetings[index(self.design.entries, a.min(b), a.max(b))];
                (*met, *better) = (*met + 1.0, *better + points(order));
            }
        }
    }

    fn end_block(&mut self) {
        let count = self.design.entries;
        let by_median = self.design.measure == Measure::MedianScore;
        let BlockSums { meetings, seats } = &mut self.block;
        let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
        let met = pairs.zip(&mut self.pairs).zip(meetings.iter()).filter(|(_, (times, _))| *times > 0.0);
        for (((a, b), sums), (times, better)) in met {
            sums.met += *times as u64;
            sums.better += better;
            sums.share.add(better / times);
            if by_median {
                // All entries sit in each match of a battle, so there is but one stratum.
                let mut score = |entry: usize| {
                    let now = self.strata[0].now(entry);
                    now.scores / now.games
                };
                let (one, other) = (score(a), score(b));
                sums.ahead.add(f64::from(one.total_cmp(&other) as i8));
            }
        }
        for (sums, (games, wins)) in
            self.seats.iter_mut().zip(seats.iter()).filter(|(_, (games, _))| *games > 0.0)
        {
            sums.add(wins / games);
        }
        self.strata.iter_mut().for_each(|stratum| stratum.end_block(self.design.measure));
        meetings.fill((0.0, 0.0));
        seats.fill((0.0, 0.0));
    }

    /// Works out the standings after these blocks.
    pub fn standings(&self, confidence: Confidence, rank_by: RankBy) -> Standings {
        let (ranking, ratings) = (self.ranking(confidence, rank_by), rating::rate(self, confidence));
        Standings {
            misfits: checks::misfits(self, &ratings, confidence),
            cycles: checks::cycles(self, confidence),
            drifts: checks::drifts(self),
            records: (0..self.design.entries).map(|entry| self.record(entry, confidence)).collect(),
            adjusted: adjusted::all(self, confidence),
            head_to_head: self.head_to_head(confidence),
            seats: self
                .design
                .rotates
                .then(|| seats::effect(&self.seats, self.matches_of_block(), confidence)),
            ranking,
            ratings,
        }
    }

    /// Works out the order of the entries.
    pub fn ranking(&self, confidence: Confidence, rank_by: RankBy) -> Ranking {
        let values: Vec<f64> =
            (0..self.design.entries).map(|entry| self.rank_value(entry, rank_by)).collect();
        let contrasts = self.contrasts(rank_by);
        ranks::rank(&values, |a, b| contrasts.between(a, b).map_or(1.0, |mean| mean.p_value(0.0, confidence)))
    }

    /// The value by which an entry is ranked.
    fn rank_value(&self, entry: usize, rank_by: RankBy) -> f64 {
        match self.design.measure {
            _ if self.entries[entry].games == 0 => f64::NEG_INFINITY,
            Measure::MedianScore => {
                self.median(entry, Confidence::Fixed).map_or(f64::NEG_INFINITY, |score| score.mean)
            }
            _ => self.value(entry, rank_by).mean,
        }
    }

    /// The number of blocks that would probably (in four of five tournaments) tell two entries apart, if they are as far apart as
    /// they seem, or `None` if they seem equal.
    pub fn blocks_needed(&self, a: usize, b: usize, rank_by: RankBy) -> Option<u64> {
        let mean = self.contrasts(rank_by).between(a, b)?;
        mean.blocks_for(mean.mean, self.pairs.len() as f64)
    }

    /// The differences between entries in the measure that decides the standings.
    pub(super) fn contrasts(&self, rank_by: RankBy) -> Contrasts<'_> {
        Contrasts { tally: self, factors: self.factors(rank_by) }
    }

    /// The share of the luck to take out, by stratum.
    fn factors(&self, rank_by: RankBy) -> Vec<Factors> {
        let of = |stratum: &Stratum| match rank_by {
            RankBy::LuckAdjusted if self.luck => Factors::estimated(stratum.halves(), self.design.entries),
            RankBy::LuckAdjusted | RankBy::Plain => Factors::none(self.design.entries),
        };
        self.strata.iter().map(of).collect()
    }

    /// The measure that decides the standings, for an entry.
    pub(super) fn value(&self, entry: usize, rank_by: RankBy) -> Running {
        let factors = self.factors(rank_by);
        let value = |number: usize, stratum: &Stratum| stratum.value(&factors[number], &[(entry, 1.0)]);
        let share = matches!(self.design.measure, Measure::WinRate | Measure::AgainstFirst);
        self.over_strata(entry, share.then_some((0.0, 1.0)), value)
    }

    /// The sum over strata of a value that an entry has in each of them, between these bounds.
    fn over_strata(
        &self,
        entry: usize,
        bounds: Option<(f64, f64)>,
        of: impl Fn(usize, &Stratum) -> Running,
    ) -> Running {
        let shares = strata::shares(&self.strata, entry).into_iter().enumerate();
        let part = |(number, share): (usize, f64)| {
            let stratum = &self.strata[number];
            let matches = stratum.games_of_block(entry);
            let bounds = bounds.map(|(lowest, highest)| Bounds { lowest, highest, matches });
            (share, of(number, stratum), bounds)
        };
        strata::combined(&shares.filter(|(_, share)| *share > 0.0).map(part).collect::<Vec<_>>())
    }

    pub(super) fn luck_of(&self, entry: usize) -> f64 {
        self.over_strata(entry, None, |_, stratum| stratum.luck_of(entry)).mean
    }

    /// The share of its meetings in which an entry placed better, block by block.
    pub(super) fn points(&self, entry: usize) -> Running {
        self.over_strata(entry, Some((0.0, 1.0)), |_, stratum| stratum.points(entry, entry))
    }

    pub(super) fn has_luck(&self) -> bool {
        self.luck && self.strata.iter().any(|stratum| stratum.blocks() > 0)
    }

    pub(super) fn strata(&self) -> &[Stratum] {
        &self.strata
    }

    pub(super) fn plays(&self, entry: usize) -> bool {
        self.entries[entry].games > 0
    }

    /// The limits of what a single block can show of an entry, if its games were played in `blocks` blocks.
    pub(super) fn bounds(&self, entry: usize, blocks: u64) -> Option<Bounds> {
        match self.design.measure {
            Measure::WinRate | Measure::AgainstFirst => Bounds::share(self.games_of_block(entry, blocks)),
            Measure::MeanScore | Measure::MedianScore => None,
        }
    }

    /// The number of matches in a block that an entry plays, if there were `blocks` blocks.
    fn games_of_block(&self, entry: usize, blocks: u64) -> f64 {
        self.entries[entry].games as f64 / blocks.max(1) as f64
    }

    /// The mean number of matches in a block.
    fn matches_of_block(&self) -> f64 {
        let seated: u64 = self.entries.iter().map(|entry| entry.games).sum();
        let blocks = self.seats.first().map_or(0, |seat| seat.blocks).max(1);
        seated as f64 / self.design.seats.max(1) as f64 / blocks as f64
    }

    pub(super) fn pair(&self, a: usize, b: usize) -> &PairSums {
        &self.pairs[index(self.design.entries, a, b)]
    }

    fn record(&self, entry: usize, confidence: Confidence) -> Record {
        let EntrySums { games, outright_wins, shared_wins, .. } = self.entries[entry];
        let estimate = |of: fn(&Results) -> Running, lowest: f64, highest: f64| {
            let limits = highest.is_finite().then_some((lowest, highest));
            let sums = self.over_strata(entry, limits, |_, stratum| of(&stratum.results[entry]));
            let matches = self.games_of_block(entry, sums.blocks);
            let bounds = limits.map(|(lowest, highest)| Bounds { lowest, highest, matches });
            (games > 0).then(|| Mean::new(sums, bounds).estimate(confidence))
        };
        Record {
            games,
            outright_wins,
            shared_wins,
            win_rate: estimate(|results| results.win_rate, 0.0, 1.0),
            mean_place: estimate(|results| results.place, 1.0, self.design.seats.max(2) as f64),
            mean_score: estimate(|results| results.score, 0.0, f64::INFINITY),
            median_score: self.median(entry, confidence),
        }
    }

    /// The median score, if it was counted. Its interval lies between order statistics, since scores come from independent blocks.
    fn median(&self, entry: usize, confidence: Confidence) -> Option<Estimate> {
        let EntrySums { games, scores, .. } = &self.entries[entry];
        let count = *games;
        // The score in this place, from 0, in the order of all scores.
        let at = |place: u64| {
            let mut below = 0;
            let mut ends = scores.iter().map(|(&score, &times)| {
                below += times;
                (score, below)
            });
            ends.find(|&(_, below)| below > place).map(|(score, _)| score as f64)
        };
        let mean = (at(count.checked_sub(1)? / 2)? + at(count / 2)?) / 2.0;
        let Some(reach) = confidence.reach(super::ALPHA, count) else {
            return Some(Estimate { mean, low: None, high: None });
        };
        let off = reach * libm::sqrt(count as f64) / 2.0;
        // Few scores bound a median on no side.
        let place = libm::floor(count as f64 / 2.0 - off);
        let (low, high) = match place >= 0.0 {
            true => (at(place as u64), at(count - 1 - place as u64)),
            false => (None, None),
        };
        Some(Estimate { mean, low, high })
    }

    fn head_to_head(&self, confidence: Confidence) -> Vec<Vec<HeadToHead>> {
        let count = self.design.entries;
        let against = |a: usize, b: usize| {
            if a == b {
                return HeadToHead { games: 0, better: None };
            }
            let sums = self.pair(a.min(b), a.max(b));
            let better = (sums.met > 0).then(|| sums.mean().estimate(confidence));
            HeadToHead { games: sums.met, better: if a < b { better } else { better.map(Estimate::rest) } }
        };
        (0..count).map(|a| (0..count).map(|b| against(a, b)).collect()).collect()
    }
}

/// The differences between entries in the measure that decides the standings.
pub(super) struct Contrasts<'a> {
    tally: &'a Tally,
    factors: Vec<Factors>,
}

impl Contrasts<'_> {
    /// How far the first is ahead of the second, or `None` if one of them has not played.
    pub fn between(&self, a: usize, b: usize) -> Option<Mean> {
        let Tally { design, strata, .. } = self.tally;
        if !(self.tally.plays(a) && self.tally.plays(b)) {
            return None;
        }
        if design.measure == Measure::MedianScore {
            let PairSums { ahead, .. } = *self.tally.pair(a.min(b), a.max(b));
            let mean = if a < b { ahead.mean } else { -ahead.mean };
            return (ahead.blocks > 0).then(|| {
                Mean::new(
                    Running { mean, ..ahead },
                    Some(Bounds { lowest: -1.0, highest: 1.0, matches: 1.0 }),
                )
            });
        }
        // The first entry of a gauntlet stands still at one half, wherever the other one meets it.
        let against_first = design.measure == Measure::AgainstFirst && a.min(b) == 0;
        let shares =
            |entry: usize| strata::shares(strata, if against_first { a.max(b) } else { entry }).into_iter();
        let is_share = self.tally.bounds(a, 1).is_some();
        let part = |(number, (one, other)): (usize, (f64, f64))| {
            let stratum = &strata[number];
            let matches = stratum.games_of_block(a).max(stratum.games_of_block(b));
            let bounds = is_share.then_some(Bounds { lowest: -other, highest: one, matches });
            (1.0, stratum.value(&self.factors[number], &[(a, one), (b, -other)]), bounds)
        };
        let parts = shares(a).zip(shares(b)).enumerate().filter(|(_, (one, other))| one + other > 0.0);
        let parts: Vec<_> = parts.map(part).collect();
        let sums = strata::combined(&parts);
        let reach = if against_first { 0.5 } else { 1.0 };
        let bounds = self.tally.bounds(a.max(b), sums.blocks);
        let bounds = bounds.map(|bounds| Bounds { lowest: -reach, highest: reach, ..bounds });
        Some(Mean::new(sums, bounds))
    }
}

/// The index of the pair `a < b` in the lexicographic order.
pub(super) fn index(entries: usize, a: usize, b: usize) -> usize {
    a * (2 * entries - a - 1) / 2 + (b - a - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        let of = |scores: &[i64]| {
            let design = Design { entries: 1, seats: 1, measure: Measure::MedianScore, rotates: false };
            let mut tally = Tally::new(design);
            scores.iter().for_each(|&score| {
                tally.add([Match { entries: &[0], places: &[1], scores: &[score], luck: None }])
            });
            tally.median(0, Confidence::Fixed)
        };
        assert_eq!(of(&[]), None);
        for (scores, median) in [
            (&[7][..], 7.0),
            (&[109, 87, 86], 87.0),
            (&[1, 2], 1.5),
            (&[4, 4, 4, 9], 4.0),
            (&[5, 1, 9, 3], 4.0),
        ] {
            let came = of(scores).unwrap();
            assert_eq!((came.mean, came.low, came.high), (median, None, None), "{scores:?}");
        }
        let many: Vec<i64> = (0..101).collect();
        let came = of(&many).unwrap();
        assert_eq!(came.mean, 50.0);
        // Ten standard deviations of a fair coin are 5 each way; 1.98 of them.
        assert_eq!((came.low, came.high), (Some(40.0), Some(60.0)));
    }
}
