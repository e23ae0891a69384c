//! Identity numbers that reveal nothing.
//!
//! Consecutive numbers would tell everybody who sees a new one how many pieces were bitten and killed out of
//! sight. So the numbers come in a secret order: a keyed permutation of the counter.

use crate::chance::Chance;
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};

/// Half of the bits of a number.
const HALF: u32 = 15;
const MASK: u32 = (1 << HALF) - 1;

/// Gives out each number below 2^30 at most once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Numbers {
    given: u32,
    key: [u32; 4],
}

impl Numbers {
    pub(super) fn new(chance: &mut impl Chance) -> Self {
        Numbers { given: 0, key: core::array::from_fn(|_| chance.uniform(u32::MAX)) }
    }

    pub(super) fn next(&mut self) -> u32 {
        self.given += 1;
        self.permute(self.given - 1)
    }

    /// A Feistel network: a bijection, whatever the mixing.
    fn permute(&self, counter: u32) -> u32 {
        let (mut left, mut right) = (counter >> HALF & MASK, counter & MASK);
        for key in self.key {
            (left, right) = (right, left ^ mix(right, key));
        }
        left << HALF | right
    }

    /// Whether a number has been given out, by running the permutation backwards.
    pub(super) fn has_given(&self, number: u32) -> bool {
        let (mut left, mut right) = (number >> HALF, number & MASK);
        for &key in self.key.iter().rev() {
            (left, right) = (right ^ mix(left, key), left);
        }
        left <= MASK && (left << HALF | right) < self.given
    }

    pub(super) fn invariants(&self) -> Result<(), String> {
        // Far more than any match needs, and far from the end.
        if self.given < 1 << 29 { Ok(()) } else { Err("all numbers have been given out".to_string()) }
    }
}

/// Mixes half a number with a key. Keys of 0 leave the counter unchanged: for positions that tests set up by
/// hand.
fn mix(half: u32, key: u32) -> u32 {
    if key == 0 {
        return 0;
    }
    let mixed = (half ^ key).wrapping_mul(0x9e37_79b1) ^ key.rotate_left(16);
    (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca77) >> 17
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Seeded;
    use alloc::vec::Vec;

    #[test]
    fn no_number_comes_twice() {
        let mut numbers = Numbers::new(&mut Seeded::new(1, "numbers", 0));
        let mut given: Vec<u32> = (0..100_000).map(|_| numbers.next()).collect();
        assert!(given.iter().all(|&number| number < 1 << 30));
        assert!(given.iter().all(|&number| numbers.has_given(number)));
        let next = numbers.next();
        numbers.given -= 1;
        assert!(!numbers.has_given(next) && !numbers.has_given(u32::MAX));
        given.sort_unstable();
        assert!(given.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn a_number_tells_nothing_about_how_many_came_before() {
        let first = |seed| Numbers::new(&mut Seeded::new(seed, "numbers", 0)).next();
        let later = |seed| {
            let mut numbers = Numbers::new(&mut Seeded::new(seed, "numbers", 0));
            (0..500).map(|_| numbers.next()).last().unwrap()
        };
        let mean = |of: &dyn Fn(u64) -> u32| (0..1000).map(|seed| f64::from(of(seed))).sum::<f64>() / 1000.0;
        // Uniform below 2^30: mean 2^29, standard error of the mean 2^30 / sqrt(12 * 1000).
        let (middle, error) = (f64::from(1 << 29), f64::from(1 << 30) / 12_000f64.sqrt());
        for mean in [mean(&first), mean(&later)] {
            assert!((mean - middle).abs() < 4.0 * error, "{mean}");
        }
    }
}
