//! Decides when a tournament may stop, by rules that stay valid although somebody looks again and again.

use super::interval::Confidence;
use super::ranks::RankBy;
use super::tally::Tally;
use libm::pow;
use schemars::JsonSchema;
use serde::Serialize;

/// Whether the rules look after this many blocks: after each of the first, then less and less often, since the sums take time.
pub fn is_look(blocks: u64) -> bool {
    let step = (blocks / 64).next_power_of_two();
    blocks.is_multiple_of(step)
}

/// The state of a tournament at a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Some neighbours in the standings cannot be told apart yet.
    Open,
    /// All neighbours are told apart.
    Decided,
    /// The neighbours that cannot be told apart differ by no more than the margin.
    Close,
}

impl Tally {
    /// Says whether the neighbours in the standings are told apart, by intervals that hold at all looks together. With a margin it
    /// also says whether the others surely differ by no more than that.
    pub fn verdict(&self, rank_by: RankBy, margin: Option<f64>) -> Verdict {
        if self.blocks() == 0 || self.design().entries < 2 {
            return Verdict::Open;
        }
        let undecided = self.ranking(Confidence::Anytime, rank_by).undecided;
        if undecided.is_empty() {
            return Verdict::Decided;
        }
        let entries = self.design().entries;
        // Any pair may turn out to be the one that is looked at.
        let alpha = super::ALPHA / (entries * (entries - 1) / 2) as f64;
        let contrasts = self.contrasts(rank_by);
        let is_close = |&(a, b): &(usize, usize)| {
            let interval = contrasts.between(a, b).and_then(|mean| mean.interval(alpha, Confidence::Anytime));
            interval.zip(margin).is_some_and(|((low, high), margin)| low >= -margin && high <= margin)
        };
        if undecided.iter().all(is_close) { Verdict::Close } else { Verdict::Open }
    }
}

/// The result of a test of two claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The difference is at most the smaller one.
    AtMost,
    /// The difference is at least the larger one.
    AtLeast,
}

/// A test between two claims about an entry: that it is at most `elo0` points better than another, or at least `elo1`.
///
/// Betting (Shafer and Vovk; Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", 2024):
/// anybody who makes a claim must offer fair bets on it. A gambler who stakes a share of their capital against the claim in every
/// block cannot grow rich if the claim is true: by Ville's inequality their capital ever reaches `1 / alpha` with probability
/// `alpha` at most, however often one looks. The capital is spread evenly over a fixed ladder of stakes. The test assumes only
/// that the results are between 0 and 1.
#[derive(Debug, Clone)]
pub struct EloTest {
    /// The claims, as shares of points.
    claims: [f64; 2],
    /// The probability of refusing each claim though it is true.
    errors: [f64; 2],
    /// The capital of the gambler against each claim, by stake.
    capital: [[f64; STAKES]; 2],
    verdict: Option<Side>,
}

/// The number of stakes, from nearly everything to nearly nothing, for bots that are worlds apart and for near equals.
const STAKES: usize = 12;
/// The capital at which betting stops: far above any `1 / alpha`, far below infinity.
const RICH: f64 = 1e200;

impl EloTest {
    /// Makes a test that errs with probability `alpha` at most if the difference is at most `elo0`, and with `beta` if it is at
    /// least `elo1`.
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64) -> Self {
        let share = |elo: f64| 1.0 / (1.0 + pow(10.0, -elo / 400.0));
        EloTest {
            claims: [share(elo0), share(elo1)],
            errors: [alpha, beta],
            capital: [[1.0; STAKES]; 2],
            verdict: None,
        }
    }

    /// Takes the share of points of the next block, from 0 to 1.
    pub fn push(&mut self, points: f64) {
        let [low, high] = self.claims;
        // What a bet on one point more than the claim wins, as a share of the most that it can lose.
        let gains = [(points - low) / low, (high - points) / (1.0 - high)];
        for (capital, gain) in self.capital.iter_mut().zip(gains) {
            for (step, capital) in capital.iter_mut().enumerate() {
                if *capital < RICH {
                    *capital *= 1.0 + pow(0.5, step as f64) * 0.9 * gain;
                }
            }
        }
        let beaten =
            |claim: usize| self.capital[claim].iter().sum::<f64>() >= STAKES as f64 / self.errors[claim];
        if self.verdict.is_none() {
            self.verdict = if beaten(0) { Some(Side::AtLeast) } else { beaten(1).then_some(Side::AtMost) };
        }
    }

    /// The result, or `None` while it is open. A result once reached stays.
    pub fn verdict(&self) -> Option<Side> {
        self.verdict
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{by_wins, table, tally, unit};
    use super::*;
    use necrodome_rules::chance::{Chance, Seeded};

    /// Returns the number of blocks after which a tournament stops, and why.
    fn stop(strengths: &[f64], most: usize, margin: Option<f64>, seed: u64) -> (usize, Verdict) {
        let blocks = table(strengths, most, seed);
        let mut sums = Tally::new(by_wins(strengths.len(), strengths.len()));
        for (number, block) in blocks.iter().enumerate() {
            let one = tally(by_wins(strengths.len(), strengths.len()), [block.clone()]);
            assert_eq!(one.blocks(), 1);
            let scores = vec![0; strengths.len()];
            sums.add(block.iter().map(|(entries, places)| super::super::Match {
                entries,
                places,
                scores: &scores,
                luck: None,
            }));
            if is_look(sums.blocks()) && sums.verdict(RankBy::Plain, margin) != Verdict::Open {
                return (number + 1, sums.verdict(RankBy::Plain, margin));
            }
        }
        (most, Verdict::Open)
    }

    #[test]
    fn looks_are_ever_rarer_but_never_rare() {
        let looks: Vec<u64> = (1..=100_000).filter(|&blocks| is_look(blocks)).collect();
        assert!(looks[..100].iter().copied().eq(1..=100) && looks.len() < 2000, "{}", looks.len());
        assert!(looks.windows(2).all(|pair| pair[1] - pair[0] <= pair[0] / 32 + 1));
    }

    #[test]
    fn equals_are_hardly_ever_decided_however_often_one_looks() {
        let wrong = (0..100).filter(|&seed| stop(&[0.5, 0.5], 500, None, seed).1 == Verdict::Decided).count();
        // At most 5 expected, standard deviation 2.2.
        assert!(wrong <= 10, "{wrong} of 100");
    }

    #[test]
    fn a_real_difference_is_found() {
        let (blocks, verdict) = stop(&[0.6, 0.4], 2000, None, 1);
        assert!(verdict == Verdict::Decided && (20..1000).contains(&blocks), "{blocks}");
        assert_eq!(stop(&[0.6, 0.3, 0.1], 2000, None, 1).1, Verdict::Decided);
    }

    #[test]
    fn equals_end_as_close_where_a_margin_is_given() {
        let (blocks, verdict) = stop(&[0.5, 0.5], 5000, Some(0.1), 2);
        assert!(verdict == Verdict::Close && blocks > 200, "{blocks} {verdict:?}");
    }

    /// The result for an entry that wins with this probability, and the number of blocks it took.
    fn test_of(chance_to_win: f64, seed: u64) -> (Option<Side>, usize) {
        let mut test = EloTest::new(0.0, 20.0, 0.05, 0.05);
        let mut chance = Seeded::new(seed, "elo", 0);
        let mut blocks = 0;
        while test.verdict().is_none() && blocks < 20_000 {
            let mut won = || f64::from(u8::from(unit(&mut chance) < chance_to_win));
            test.push((won() + won()) / 2.0);
            blocks += 1;
        }
        (test.verdict(), blocks)
    }

    #[test]
    fn a_test_of_two_claims_errs_as_rarely_as_it_says() {
        // 0 and 20 points are 50% and 52.88%.
        for (chance_to_win, right) in [(0.5, Side::AtMost), (0.5288, Side::AtLeast)] {
            let verdicts: Vec<_> = (0..60).map(|seed| test_of(chance_to_win, seed)).collect();
            let wrong =
                verdicts.iter().filter(|(verdict, _)| verdict.is_some_and(|side| side != right)).count();
            let found = verdicts.iter().filter(|(verdict, _)| *verdict == Some(right)).count();
            assert!(wrong <= 7 && found >= 50, "{wrong} wrong and {found} right of 60");
        }
    }

    #[test]
    fn capital_stays_finite() {
        let mut test = EloTest::new(0.0, 10.0, 0.05, 0.05);
        (0..20_000).for_each(|_| test.push(1.0));
        assert!(
            test.verdict() == Some(Side::AtLeast)
                && test.capital.iter().flatten().all(|capital| capital.is_finite())
        );
        let mut chance = Seeded::new(1, "any", 0);
        (0..100).for_each(|_| test.push(f64::from(chance.uniform(2))));
        assert_eq!(test.verdict(), Some(Side::AtLeast), "a verdict stays");
    }
}
