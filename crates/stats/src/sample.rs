//! Means over a stratified sample: each stratum is drawn from separately, some more than their share.
//!
//! The weights of the strata are their shares in a large pool of draws (Neyman, "Contribution to the theory of sampling
//! human populations", 1938; Cochran, Sampling Techniques, ch. 12: double sampling), so the pool's own error counts, too. A
//! case that was drawn several times is one observation with that weight. Degrees of freedom are Satterthwaite's.

use super::ALPHA;
use super::distribution::{two_sided_quantile, two_sided_tail};
use super::interval::Estimate;
use libm::sqrt;

/// The size, relative to the values, below which a difference is rounding.
const NOISE: f64 = 1e-12;

/// The cases of one stratum.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// The stratum's share of the population.
    pub weight: f64,
    /// Each case: how often it was drawn, and its value.
    pub cases: Vec<(f64, f64)>,
}

/// The mean of a population, estimated from a stratified sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampled {
    /// The mean.
    pub mean: f64,
    /// The variance of the mean, or `None` if no stratum has two cases.
    variance: Option<f64>,
    freedom: f64,
    /// The number of cases in a plain sample of the same precision, were all strata alike (Kish).
    effective: f64,
}

/// The mean of one stratum, and the variance of that mean if there are at least two cases.
struct Within {
    weight: f64,
    cases: f64,
    /// The number of equally weighted cases that would give a mean of the same precision.
    effective: f64,
    mean: f64,
    variance: Option<f64>,
}

impl Within {
    fn of(stratum: &Layer) -> Self {
        let cases = &stratum.cases;
        let (count, size) = (cases.len() as f64, cases.iter().map(|case| case.0).sum::<f64>());
        let mean = cases.iter().map(|(times, value)| times * value).sum::<f64>() / size;
        let residual = |(times, value): &(f64, f64)| times * (value - mean);
        let squares: f64 = cases.iter().map(residual).map(|off| off * off).sum();
        let variance = (cases.len() >= 2).then(|| squares * count / (count - 1.0) / (size * size));
        let effective = size * size / cases.iter().map(|case| case.0 * case.0).sum::<f64>();
        Within { weight: stratum.weight, cases: count, effective, mean, variance }
    }
}

impl Sampled {
    /// The mean over strata, without those that have no case, or `None` if there is no case at all. `pool` is the number of draws
    /// from which the weights are known.
    pub fn of(strata: &[Layer], pool: f64) -> Option<Self> {
        let within: Vec<Within> =
            strata.iter().filter(|stratum| !stratum.cases.is_empty()).map(Within::of).collect();
        let all: f64 = within.iter().map(|stratum| stratum.weight).sum();
        if within.is_empty() || all <= 0.0 {
            return None;
        }
        let weight = |stratum: &Within| stratum.weight / all;
        let mean: f64 = within.iter().map(|stratum| weight(stratum) * stratum.mean).sum();
        // A stratum with a single case is thought to vary as the others do.
        let known: Vec<f64> = within
            .iter()
            .filter_map(|stratum| stratum.variance.map(|variance| variance * stratum.effective))
            .collect();
        let usual = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let parts: Vec<(f64, f64)> = within
            .iter()
            .map(|stratum| {
                let own = stratum.variance.unwrap_or(usual / stratum.effective);
                (weight(stratum) * weight(stratum) * own, (stratum.cases - 1.0).max(1.0))
            })
            .collect();
        let sum: f64 = parts.iter().map(|part| part.0).sum();
        let between: f64 = within
            .iter()
            .map(|stratum| weight(stratum) * (stratum.mean - mean) * (stratum.mean - mean))
            .sum();
        let shaky: f64 = parts.iter().map(|(part, freedom)| part * part / freedom).sum();
        let cases: f64 = within.iter().map(|stratum| stratum.cases).sum();
        let freedom = if shaky > 0.0 { sum * sum / shaky } else { (cases - 1.0).max(1.0) };
        let share = |stratum: &Within| weight(stratum) * weight(stratum) / stratum.effective;
        Some(Sampled {
            mean,
            variance: (!known.is_empty()).then_some(sum + between / pool.max(1.0)),
            freedom,
            effective: 1.0 / within.iter().map(share).sum::<f64>(),
        })
    }

    /// The distance from the mean to either end of the 95% interval, or `None` if there are too few cases to tell.
    pub fn reach(&self) -> Option<f64> {
        Some(two_sided_quantile(ALPHA, self.freedom) * sqrt(self.variance?))
    }

    /// The estimate of a mean whose values are not bounded.
    pub fn estimate(&self) -> Estimate {
        let reach = self.reach();
        Estimate {
            mean: self.mean,
            low: reach.map(|reach| self.mean - reach),
            high: reach.map(|reach| self.mean + reach),
        }
    }

    /// The estimate of a share, whose values are 0 or 1. The interval is Wilson's on the effective number of cases, so that a perfect
    /// record has one, too.
    pub fn share(&self) -> Estimate {
        let mean = self.mean.clamp(0.0, 1.0);
        let Some(variance) = self.variance else { return Estimate { mean, low: None, high: None } };
        let plain = mean * (1.0 - mean);
        let told = if variance > 0.0 && plain > 0.0 { plain / variance } else { f64::INFINITY };
        let cases = self.effective.min(told);
        let reach = two_sided_quantile(ALPHA, (cases - 1.0).max(1.0));
        let weight = reach * reach / cases;
        let centre = (mean + weight / 2.0) / (1.0 + weight);
        let half = sqrt(weight * (plain + weight / 4.0)) / (1.0 + weight);
        Estimate {
            mean,
            low: Some((centre - half).clamp(0.0, mean)),
            high: Some((centre + half).clamp(mean, 1.0)),
        }
    }

    /// The probability of this mean, or one farther from 0, if 0 is the truth.
    pub fn p_value(&self) -> f64 {
        let Some(variance) = self.variance else { return 1.0 };
        if self.mean.abs() <= NOISE {
            return 1.0;
        }
        // Cases that all came out the same are no proof that the next one will.
        let least = self.mean * self.mean / (4.0 * self.effective);
        two_sided_tail(self.mean / sqrt(variance.max(least)), self.freedom)
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::unit;
    use super::*;
    use necrodome_rules::chance::Seeded;

    fn near(one: f64, other: f64, tolerance: f64) {
        assert!((one - other).abs() <= tolerance, "{one} is not {other}");
    }

    #[test]
    fn one_stratum_is_a_plain_sample() {
        let cases: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 7.0].map(|value| (1.0, value)).into();
        let sampled = Sampled::of(&[Layer { weight: 1.0, cases: cases.clone() }], 1e9).unwrap();
        let plain = Estimate::of_blocks(cases).unwrap();
        near(sampled.mean, 3.5, 1e-12);
        near(sampled.estimate().high.unwrap(), plain.high.unwrap(), 1e-9);
    }

    #[test]
    fn weights_are_those_of_the_strata_not_of_the_cases() {
        let stratum = |weight, values: &[f64]| Layer {
            weight,
            cases: values.iter().map(|&value| (1.0, value)).collect(),
        };
        let sampled = Sampled::of(&[stratum(0.9, &[1.0, 1.0]), stratum(0.1, &[2.0; 50])], 1e9).unwrap();
        near(sampled.mean, 1.1, 1e-12);
        // The other stratum was not asked yet.
        let half = Sampled::of(&[stratum(0.5, &[]), stratum(0.5, &[2.0, 4.0])], 1e9).unwrap();
        near(half.mean, 3.0, 1e-12);
        assert_eq!(Sampled::of(&[stratum(1.0, &[])], 1e9), None);
    }

    #[test]
    fn a_case_that_counts_often_is_one_observation() {
        let often = Sampled::of(&[Layer { weight: 1.0, cases: vec![(9.0, 1.0), (1.0, 0.0)] }], 1e9);
        let often = often.unwrap();
        near(often.mean, 0.9, 1e-12);
        // Two clusters: residuals 0.9 and -0.9, times 2, over 100.
        near(often.variance.unwrap(), 2.0 * 2.0 * 0.81 / 100.0, 1e-12);
    }

    #[test]
    fn one_case_has_no_interval_and_no_difference_is_no_proof() {
        let one = Sampled::of(&[Layer { weight: 1.0, cases: vec![(1.0, 3.0)] }], 1e9).unwrap();
        assert_eq!((one.reach(), one.p_value(), one.share().low), (None, 1.0, None));
        let same = Sampled::of(&[Layer { weight: 1.0, cases: vec![(1.0, 0.0); 9] }], 1e9).unwrap();
        assert_eq!(same.p_value(), 1.0);
        let perfect = Sampled::of(&[Layer { weight: 1.0, cases: vec![(1.0, 1.0); 20] }], 1e9).unwrap();
        let share = perfect.share();
        assert!(share.mean == 1.0 && share.high == Some(1.0) && share.low < Some(0.9), "{share:?}");
    }

    /// A population with rare mistakes of all sizes: the weights are counted in a pool, and the intervals must hold as
    /// often as they say.
    #[test]
    fn intervals_hold_as_often_as_they_say() {
        let (shares, sizes) = ([0.4, 0.3, 0.2, 0.1], [0.02, 0.05, 0.1, 0.4]);
        let chances = [0.4, 0.3, 0.3, 0.2];
        let truth: f64 = (0..4).map(|h| shares[h] * chances[h] * sizes[h] / 2.0).sum();
        let wrong: f64 = (0..4).map(|h| shares[h] * chances[h]).sum();
        let (mut held, mut shared) = (0, 0);
        for run in 0..1000 {
            let mut chance = Seeded::new(run, "strata", 0);
            let mut counts = [0.0; 4];
            for _ in 0..1000 {
                let at = unit(&mut chance);
                counts[(0..3).find(|&h| at < shares[..=h].iter().sum()).unwrap_or(3)] += 1.0;
            }
            let mut strata = |value: &mut dyn FnMut(&mut Seeded, usize) -> f64| -> Vec<Layer> {
                let stratum = |h: usize| Layer {
                    weight: counts[h] / 1000.0,
                    cases: (0..20 * (h + 1)).map(|_| (1.0, value(&mut chance, h))).collect(),
                };
                (0..4).map(stratum).collect()
            };
            let cost = strata(&mut |chance, h| {
                let wrong = unit(chance) < chances[h];
                if wrong { sizes[h] * unit(chance) } else { 0.0 }
            });
            let Estimate { low, high, .. } = Sampled::of(&cost, 1000.0).unwrap().estimate();
            held += usize::from(low.unwrap() <= truth && truth <= high.unwrap());
            let mistakes = strata(&mut |chance, h| f64::from(u8::from(unit(chance) < chances[h])));
            let Estimate { low, high, .. } = Sampled::of(&mistakes, 1000.0).unwrap().share();
            shared += usize::from(low.unwrap() <= wrong && wrong <= high.unwrap());
        }
        // Expected 950 with a standard deviation of 7, a little less for values as skewed as these.
        assert!((925..=975).contains(&held), "{held}");
        assert!((930..=985).contains(&shared), "{shared}");
    }
}
