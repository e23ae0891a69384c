//! Solves one equation with one unknown: a chance that depends on itself.

use crate::turn::Dual;

/// Finds the x between 0 and 1 with f(x) = x. `f` returns its value and its slope, and the slope is below 1.
///
/// f is piecewise linear (each piece belongs to the policy that is best there), so Newton's method ends on the exact
/// solution after a few steps. f(x) - x falls, so the signs found so far bracket the solution: a step that leaves
/// the bracket is replaced by its middle, and the method cannot diverge.
pub(crate) fn fixed_point(mut x: f64, mut f: impl FnMut(f64) -> Dual) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let [value, slope] = f(x);
        let gap = value - x;
        if gap == 0.0 {
            break;
        }
        *(if gap > 0.0 { &mut low } else { &mut high }) = x;
        let mut next = x + gap / (1.0 - slope);
        if !(low..=high).contains(&next) {
            next = (low + high) / 2.0;
        }
        let step = (next - x).abs();
        x = next;
        if step < 1e-16 {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_one_step_and_a_kink_few() {
        assert_eq!(fixed_point(0.9, |x| [0.25 + 0.5 * x, 0.5]), 0.5);
        let mut calls = 0;
        let kinked = |x: f64| {
            calls += 1;
            if x < 0.3 { [0.2 + 0.9 * x, 0.9] } else { [0.47 + 0.01 * (x - 0.3), 0.01] }
        };
        let x = fixed_point(0.0, kinked);
        assert!((x - 0.467 / 0.99).abs() < 1e-15, "{x}");
        assert!(calls < 6, "{calls} calls");
    }
}
