//! Exact enumeration: runs a transition over every path of picks and adds up the results.

use super::Chance;
use alloc::{collections::BTreeMap, vec::Vec};
use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedMul, One};

/// An exact probability: a reduced ratio of integers.
pub type Probability = Ratio<u128>;

/// Each distinct result with its exact probability, in the order of the results. The probabilities sum to 1.
pub type Distribution<T> = BTreeMap<T, Probability>;

/// Why a transition could not be enumerated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnumerateError {
    /// There are more paths than the caller allows.
    #[error("more than {max_paths} paths: enumerate a smaller step or allow more paths")]
    TooManyPaths {
        /// The caller's limit.
        max_paths: u64,
    },
    /// A probability does not fit into a ratio of 128-bit integers.
    #[error("a probability needs more than 128 bits: enumerate a smaller step")]
    TooPrecise,
}

/// Runs `transition` once for every path of picks and collects each distinct result with its exact probability.
///
/// `transition` must depend on nothing but its argument. One that loops until a certain outcome comes has an endless
/// path: it counts as too many paths.
///
/// ```
/// use necrodome_rules::chance::{Chance, Probability, enumerate};
/// let sum = enumerate(36, |chance| chance.uniform(6) + chance.uniform(6) + 2).unwrap();
/// assert_eq!(sum[&7], Probability::new(1, 6));
/// ```
pub fn enumerate<T: Ord>(
    max_paths: u64,
    mut transition: impl FnMut(&mut Enumerator) -> T,
) -> Result<Distribution<T>, EnumerateError> {
    let mut results = Distribution::new();
    let mut chance = Enumerator { path: Vec::new(), depth: 0, too_long: false };
    let mut paths = 0;
    loop {
        chance.depth = 0;
        let result = transition(&mut chance);
        paths += 1;
        if paths > max_paths || chance.too_long {
            return Err(EnumerateError::TooManyPaths { max_paths });
        }
        let probability = chance.probability().ok_or(EnumerateError::TooPrecise)?;
        let total = results.entry(result).or_insert(Probability::ZERO);
        *total = total.checked_add(&probability).ok_or(EnumerateError::TooPrecise)?;
        if !chance.advance() {
            return Ok(results);
        }
    }
}

/// The [`Chance`] inside [`enumerate`].
#[derive(Debug)]
pub struct Enumerator {
    path: Vec<Branch>,
    depth: usize,
    too_long: bool,
}

/// The most questions on one path. No transition of a real game asks this often.
const MAX_DEPTH: usize = 4096;

/// One question on the current path and the answer that is being tried.
#[derive(Debug)]
struct Branch {
    choice: u32,
    weights: Weights,
}

#[derive(Debug)]
enum Weights {
    Equal(u32),
    Each(Vec<u32>),
}

impl Weights {
    fn of(&self, choice: u32) -> u32 {
        match self {
            Weights::Equal(n) => u32::from(choice < *n),
            Weights::Each(weights) => weights[choice as usize],
        }
    }

    fn len(&self) -> u32 {
        match self {
            Weights::Equal(n) => *n,
            Weights::Each(weights) => weights.len() as u32,
        }
    }

    fn total(&self) -> u32 {
        match self {
            Weights::Equal(n) => *n,
            Weights::Each(weights) => weights.iter().sum(),
        }
    }

    /// The first possible outcome at or after `from`.
    fn possible_from(&self, from: u32) -> Option<u32> {
        match self {
            Weights::Equal(n) => (from < *n).then_some(from),
            Weights::Each(weights) => (from..weights.len() as u32).find(|&i| weights[i as usize] > 0),
        }
    }
}

impl Enumerator {
    fn ask(&mut self, weights: impl FnOnce() -> Weights) -> u32 {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.too_long = true;
            // The result will be thrown away; answers that differ let a transition that waits for one come to its end.
            let weights = weights();
            let from = self.depth as u32 % weights.len();
            return weights.possible_from(from).or_else(|| weights.possible_from(0)).unwrap_or(0);
        }
        if self.depth > self.path.len() {
            let weights = weights();
            let choice = weights.possible_from(0).unwrap_or(0);
            self.path.push(Branch { choice, weights });
        }
        self.path[self.depth - 1].choice
    }

    fn probability(&self) -> Option<Probability> {
        self.path.iter().try_fold(Probability::one(), |product, branch| {
            let weight = u128::from(branch.weights.of(branch.choice));
            product.checked_mul(&Probability::new(weight, u128::from(branch.weights.total())))
        })
    }

    /// Moves to the next path; false after the last one.
    fn advance(&mut self) -> bool {
        while let Some(branch) = self.path.last_mut() {
            if let Some(next) = branch.weights.possible_from(branch.choice + 1) {
                branch.choice = next;
                return true;
            }
            self.path.pop();
        }
        false
    }
}

impl Chance for Enumerator {
    fn uniform(&mut self, n: u32) -> u32 {
        self.ask(|| Weights::Equal(n))
    }

    fn pick(&mut self, weights: &[u32]) -> usize {
        self.ask(|| Weights::Each(weights.to_vec())) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_become_exact_probabilities_and_sum_to_one() {
        let draws = enumerate(100, |c| {
            let first = c.pick(&[1, 0, 2]);
            let second = if first == 0 { c.uniform(4) } else { 9 };
            (first, second)
        })
        .unwrap();
        assert_eq!(draws.len(), 5, "four after the first outcome, one after the third: {draws:?}");
        assert_eq!(draws[&(0, 3)], Probability::new(1, 12));
        assert_eq!(draws[&(2, 9)], Probability::new(2, 3));
        assert_eq!(draws.values().sum::<Probability>(), Probability::one());
    }

    #[test]
    fn too_many_paths_is_an_error() {
        assert_eq!(
            enumerate(35, |c| (c.uniform(6), c.uniform(6))),
            Err(EnumerateError::TooManyPaths { max_paths: 35 })
        );
        assert!(enumerate(36, |c| (c.uniform(6), c.uniform(6))).is_ok());
    }

    #[test]
    fn a_path_without_end_is_an_error_too() {
        let endless = enumerate(50, |c| while c.pick(&[0, 3, 0, 1, 0]) != 3 {});
        assert_eq!(endless, Err(EnumerateError::TooManyPaths { max_paths: 50 }));
    }

    #[test]
    fn probabilities_beyond_128_bits_are_an_error() {
        let tiny = enumerate(1000, |c| (0..30).filter(|_| c.pick(&[1, 4_000_000_006]) == 0).count());
        assert_eq!(tiny, Err(EnumerateError::TooPrecise));
    }
}
