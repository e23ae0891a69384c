//! The stream of chance of one match.
//!
//! Nobody hostile sees it, so it is a small and fast generator (xoroshiro128++), not the one of the arena.

use necrodome_rules::chance::Chance;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoroshiro128PlusPlus};
use serde::{Deserialize, Serialize};

/// A stream of random words: a function of its seed alone, the same on every machine.
///
/// ```
/// use necrodome_batch::stream::Stream;
/// use necrodome_rules::chance::Chance;
/// let (mut dice, mut same) = (Stream::new(7), Stream::new(7));
/// assert_eq!(dice.uniform(6), same.uniform(6));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stream(Xoroshiro128PlusPlus);

impl Stream {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Stream(Xoroshiro128PlusPlus::seed_from_u64(seed))
    }

    /// The next 64 random bits.
    #[inline(always)]
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// The seed of one of the matches that begin with one seed, by its number. Matches share no stream, whether their seeds or their
/// numbers differ, or both: seeds are often 1, 2, 3, and so are the numbers.
pub fn match_seed(seed: u64, number: u64) -> u64 {
    let mix = |word: u64| SplitMix64::seed_from_u64(word).next_u64();
    // No two numbers give the same, since the mixing can be undone.
    mix(mix(seed).wrapping_add(number))
}

impl Chance for Stream {
    /// Lemire's method on a whole word: the branch is all but never taken.
    #[inline]
    fn uniform(&mut self, n: u32) -> u32 {
        debug_assert!(n > 0, "one of nothing");
        let n = u64::from(n);
        let mut wide = u128::from(self.word()) * u128::from(n);
        if (wide as u64) < n {
            // Reject the few words that would make some answers likelier than others.
            let threshold = n.wrapping_neg() % n;
            while (wide as u64) < threshold {
                wide = u128::from(self.word()) * u128::from(n);
            }
        }
        (wide >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(seed: u64) -> Vec<u32> {
        let mut stream = Stream::new(seed);
        (0..8).map(|_| stream.uniform(1000)).collect()
    }

    /// These numbers are a promise: a seed gives the same episodes in every version.
    #[test]
    fn the_numbers_of_a_seed_stay() {
        assert_eq!(draws(1), [31, 365, 156, 348, 222, 872, 838, 700]);
        assert_eq!(draws(u64::MAX), [721, 572, 472, 758, 83, 275, 964, 71]);
    }

    /// A promise as well.
    #[test]
    fn seeds_next_to_each_other_share_no_match() {
        let mut seeds: Vec<u64> =
            (0..100).flat_map(|seed| (0..1000).map(move |number| match_seed(seed, number))).collect();
        assert_eq!(seeds[0], 12_035_550_249_420_947_055);
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 100_000);
    }

    #[test]
    fn all_answers_come_equally_often() {
        let mut stream = Stream::new(5);
        let (mut counts, draws) = ([0u32; 5], 100_000);
        for _ in 0..draws {
            counts[stream.uniform(5) as usize] += 1;
        }
        let expected = f64::from(draws) / 5.0;
        let squares: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!(squares < 23.5, "chi-squared {squares} of 4 degrees of freedom (p < 0.0001): {counts:?}");
    }

    #[test]
    fn a_stream_goes_on_after_it_was_saved() {
        let mut stream = Stream::new(3);
        stream.word();
        let mut again: Stream = serde_json::from_str(&serde_json::to_string(&stream).unwrap()).unwrap();
        assert_eq!(again.word(), stream.word());
    }
}
