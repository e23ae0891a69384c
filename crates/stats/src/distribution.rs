//! Student's t distribution: tails and quantiles.
//!
//! Written here, on `libm`, rather than taken from `statrs`: depending on the features that other crates enable,
//! `statrs` uses the logarithms of the machine's own library, and the report must be the same bit
//! for bit on all machines. The tail is the regularised incomplete beta function by its continued fraction
//! (Lentz's method).

use libm::{exp, lgamma, log, log1p, sqrt};
use std::f64::consts::PI;

/// The most terms. They suffice for ten million degrees of freedom: the fraction needs about the square root of them.
const MOST_TERMS: u32 = 20_000;
const SMALLEST: f64 = 1e-300;

/// The probability of a t statistic at least this far from 0, on either side.
pub(super) fn two_sided_tail(t: f64, freedom: f64) -> f64 {
    if t == 0.0 {
        return 1.0;
    }
    let (a, b) = (freedom / 2.0, 0.5);
    let square = t * t;
    if square.is_infinite() {
        return 0.0;
    }
    let (x, rest) = (freedom / (freedom + square), square / (freedom + square));
    incomplete_beta(x, rest, -log1p(square / freedom), a, b)
}

/// The regularised incomplete beta function at `x = 1 - rest`.
fn incomplete_beta(x: f64, rest: f64, log_x: f64, a: f64, b: f64) -> f64 {
    let front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log_x + b * log(rest));
    // The fraction converges fast only below the mean; above it the mirror image does.
    let tail = if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(rest, b, a) / b
    };
    tail.clamp(0.0, 1.0)
}

/// The distance from 0 that a t statistic exceeds, on either side, with probability `alpha`.
///
/// Newton's method from 0: the tail is convex and falls, so every step ends short of the solution and
/// the method cannot diverge.
pub(super) fn two_sided_quantile(alpha: f64, freedom: f64) -> f64 {
    let mut t = 0.0;
    for _ in 0..200 {
        let step = (two_sided_tail(t, freedom) - alpha) / (2.0 * density(t, freedom));
        t += step;
        if step.abs() <= 1e-12 * t {
            break;
        }
    }
    t
}

fn density(t: f64, freedom: f64) -> f64 {
    let shape = (freedom + 1.0) / 2.0;
    exp(lgamma(shape) - lgamma(freedom / 2.0) - shape * log1p(t * t / freedom)) / sqrt(freedom * PI)
}

/// The continued fraction of the incomplete beta function (Numerical Recipes, 6.4).
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < SMALLEST { SMALLEST } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for term in 1..=MOST_TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + coefficient * d);
            c = away_from_zero(1.0 + coefficient / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_printed_table() {
        let table = [(1.0, 12.7062), (2.0, 4.30265), (5.0, 2.57058), (10.0, 2.22814), (30.0, 2.04227)];
        for (freedom, expected) in table {
            let quantile = two_sided_quantile(0.05, freedom);
            assert!((quantile - expected).abs() < 1e-4, "{freedom}: {quantile}, expected {expected}");
        }
        assert!((two_sided_quantile(0.01, 10.0) - 3.16927).abs() < 1e-5);
        // The normal distribution, with the first term of its expansion in 1 / freedom.
        let normal = 1.959963984540054_f64;
        for freedom in [1e4, 1e6, 1e7] {
            let expected = normal + (normal.powi(3) + normal) / (4.0 * freedom);
            assert!((two_sided_quantile(0.05, freedom) - expected).abs() < 1e-7);
        }
    }

    #[test]
    fn tails_have_their_closed_forms() {
        for t in [0.01_f64, 0.5, 1.0, 3.0, 50.0, 1e6] {
            let one = 1.0 - 2.0 / PI * t.atan();
            assert!((two_sided_tail(t, 1.0) - one).abs() < 1e-12, "one degree of freedom, {t}");
            let root = (2.0 + t * t).sqrt();
            let two = 2.0 / (root * (root + t));
            assert!((two_sided_tail(-t, 2.0) / two - 1.0).abs() < 1e-12, "two degrees of freedom, {t}");
        }
        assert_eq!(two_sided_tail(0.0, 7.0), 1.0);
        assert_eq!(two_sided_tail(f64::INFINITY, 7.0), 0.0);
    }
}
