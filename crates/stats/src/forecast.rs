//! Forecasts from a pilot how many blocks a tournament needs.

use super::{Confidence, Estimate, RankBy, Tally};

/// The difference between two entries in the measure that decides the standings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// How far the first is ahead.
    pub ahead: Estimate,
    /// The number of blocks that would probably (in four of five tournaments) tell them apart if `ahead` is the true difference, or
    /// `None` if they seem equal.
    pub blocks: Option<u64>,
    /// The number of blocks that it would take if the true difference were the requested one.
    pub blocks_for_difference: Option<u64>,
    /// The smallest difference that the requested number of blocks would show.
    pub visible: f64,
}

impl Tally {
    /// Returns how far one entry is ahead of another, and what it takes to see that, or a given `difference`, or what `blocks`
    /// blocks show; `None` if one of them has not played. The error allows for telling all pairs of entries apart at once.
    pub fn gap(
        &self,
        a: usize,
        b: usize,
        rank_by: RankBy,
        difference: Option<f64>,
        blocks: u64,
    ) -> Option<Gap> {
        let pairs = (self.design().entries * (self.design().entries - 1) / 2) as f64;
        let mean = self.contrasts(rank_by).between(a, b)?;
        Some(Gap {
            ahead: mean.estimate(Confidence::Fixed),
            blocks: mean.blocks_for(mean.mean, pairs),
            blocks_for_difference: difference.and_then(|difference| mean.blocks_for(difference, pairs)),
            visible: mean.visible(blocks, pairs),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{by_wins, round_robin, tally, unit};
    use crate::{Design, Match, Measure};
    use necrodome_rules::chance::Seeded;

    /// The share of `tournaments` tournaments in which all entries are told apart.
    fn power(tournaments: u64, told_apart: impl Fn(u64) -> bool) -> f64 {
        (0..tournaments).filter(|&seed| told_apart(seed)).count() as f64 / tournaments as f64
    }

    fn is_decided(tally: &Tally) -> bool {
        tally.ranking(Confidence::Fixed, RankBy::Plain).undecided.is_empty()
    }

    fn assert_near(value: f64, expected: f64, within: f64) {
        assert!((value - expected).abs() < within, "{value}, expected {expected}");
    }

    #[test]
    fn win_rates_need_what_the_formula_says_and_get_four_of_five() {
        let strengths = [0.55, 0.45];
        let pilot = tally(by_wins(2, 2), round_robin(&strengths, 400, 1));
        let gap = pilot.gap(0, 1, RankBy::Plain, Some(0.1), 392).unwrap();
        // A match is worth 1 or -1, the mean of two has half the variance: (1.96 + 0.84)^2 / 2 / 0.1^2 = 392.
        let blocks = gap.blocks_for_difference.unwrap();
        assert_near(blocks as f64, 392.0, 40.0);
        assert_near(gap.visible, 0.1, 0.006);
        let played =
            |seed| is_decided(&tally(by_wins(2, 2), round_robin(&strengths, blocks as usize, 1000 + seed)));
        assert_near(power(500, played), 0.8, 0.06);
        // Twins are not worth waiting for, and what it takes is what it takes for the difference that is seen.
        assert_eq!(gap.blocks, pilot.blocks_needed(0, 1, RankBy::Plain));
        assert_eq!(pilot.gap(0, 1, RankBy::Plain, Some(1e-9), 1).unwrap().blocks_for_difference, None);
    }

    #[test]
    fn those_who_always_do_the_same_are_not_waited_for() {
        let mut tally =
            Tally::new(Design { entries: 2, seats: 2, measure: Measure::MeanScore, rotates: false });
        for score in [3, 5, 9, 4] {
            tally.add([Match { entries: &[0, 1], places: &[1, 1], scores: &[score; 2], luck: None }]);
        }
        let gap = tally.gap(0, 1, RankBy::Plain, Some(0.5), 4).unwrap();
        assert_eq!((gap.ahead.mean, gap.blocks), (0.0, None));
        assert!(gap.blocks_for_difference.is_some());
    }

    /// Scores of entries that play alone: the second has 1 more on average, both vary by 3.
    fn scores(blocks: u64, seed: u64) -> Tally {
        let mut chance = Seeded::new(seed, "scores", 0);
        let mut tally =
            Tally::new(Design { entries: 2, seats: 2, measure: Measure::MeanScore, rotates: false });
        // A sum of twelve has variance 1; in hundredths.
        let mut normal = || (0..12).map(|_| unit(&mut chance)).sum::<f64>() - 6.0;
        for _ in 0..blocks {
            let scores = [normal() * 300.0, 100.0 + normal() * 300.0].map(|score| score as i64);
            let places = if scores[0] < scores[1] { [2, 1] } else { [1, 2] };
            tally.add([Match { entries: &[0, 1], places: &places, scores: &scores, luck: None }]);
        }
        tally
    }

    #[test]
    fn scores_do_too_and_few_blocks_are_not_promised_too_much() {
        let pilot = scores(400, 7);
        for difference in [100.0, 400.0] {
            let blocks =
                pilot.gap(0, 1, RankBy::Plain, Some(difference), 1).unwrap().blocks_for_difference.unwrap();
            // Where the formula with a normal distribution says 9 blocks, Student's says 11.
            assert_near(blocks as f64, if difference == 100.0 { 143.0 } else { 11.0 }, blocks as f64 / 8.0);
        }
        let blocks = pilot.gap(0, 1, RankBy::Plain, Some(100.0), 1).unwrap().blocks_for_difference.unwrap();
        assert_near(power(500, |seed| is_decided(&scores(blocks, 1000 + seed))), 0.8, 0.06);
    }
}
