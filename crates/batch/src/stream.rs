//! The stream of chance of one match, and the streams of many matches side by side.
//!
//! No hostile bot sees these numbers, so this is a small and fast generator (xoroshiro128++), not the arena's.

// An index goes through several columns at once: the form that becomes vectors, and the shortest.
#![allow(clippy::needless_range_loop)]

use crate::parts::Aligned;
use necrodome_rules::chance::Chance;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoroshiro128PlusPlus};
use serde::{Deserialize, Serialize};

/// A stream of random words. It depends only on its seed and is the same on every machine.
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
    /// Makes the stream of a seed.
    pub fn new(seed: u64) -> Self {
        Stream(Xoroshiro128PlusPlus::seed_from_u64(seed))
    }

    /// Draws the next 64 random bits.
    #[inline(always)]
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// The two words of its state.
    pub(crate) fn state(&self) -> [u64; 2] {
        bytemuck::cast::<_, [u64; 2]>(self.0.state()).map(u64::from_le)
    }

    /// Makes the stream with this state.
    pub(crate) fn of(state: [u64; 2]) -> Self {
        Stream(Xoroshiro128PlusPlus::from_seed(bytemuck::cast(state.map(u64::to_le))))
    }
}

/// Streams side by side: the first words of all of them, then the second.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Streams<const LANES: usize> {
    first: [u64; LANES],
    second: [u64; LANES],
}

impl<const LANES: usize> Streams<LANES> {
    /// Makes the streams of the seeds from `first_seed` on.
    pub(crate) fn new(first_seed: u64) -> Self {
        let mut streams = Streams { first: [0; LANES], second: [0; LANES] };
        (0..LANES).for_each(|i| streams.set(i, &Stream::new(first_seed.wrapping_add(i as u64))));
        streams
    }

    /// One of them.
    pub(crate) fn get(&self, i: usize) -> Stream {
        Stream::of([self.first[i], self.second[i]])
    }

    /// Changes one of them.
    pub(crate) fn set(&mut self, i: usize, stream: &Stream) {
        [self.first[i], self.second[i]] = stream.state();
    }

    /// Draws the next word of each stream, as [`Stream::word`] does, in a loop that becomes vectors.
    #[inline(always)]
    pub(crate) fn words(&mut self) -> Aligned<[u64; LANES]> {
        let mut words = Aligned([0; LANES]);
        for i in 0..LANES {
            let (first, second) = (self.first[i], self.second[i]);
            words.0[i] = first.wrapping_add(second).rotate_left(17).wrapping_add(first);
            let mixed = first ^ second;
            self.first[i] = first.rotate_left(49) ^ mixed ^ (mixed << 21);
            self.second[i] = mixed.rotate_left(28);
        }
        words
    }

    /// Resets streams to their state before, where all bits of the mask are set.
    #[inline(always)]
    pub(crate) fn go_back(&mut self, waits: &[u8; LANES], before: &Self) {
        for i in 0..LANES {
            // Sign-extended, so that all bits are set or none.
            let mask = waits[i] as i8 as u64;
            self.first[i] ^= (self.first[i] ^ before.first[i]) & mask;
            self.second[i] ^= (self.second[i] ^ before.second[i]) & mask;
        }
    }
}

/// The seed of one match, by its number, among the matches that begin with `seed`. Matches share no stream if their seeds or
/// numbers differ, or both: seeds are often 1, 2, 3, and so are the numbers.
pub fn match_seed(seed: u64, number: u64) -> u64 {
    let mix = |word: u64| SplitMix64::seed_from_u64(word).next_u64();
    // No two numbers give the same, since the mixing can be undone.
    mix(mix(seed).wrapping_add(number))
}

impl Chance for Stream {
    /// Uses Lemire's method on a whole word: the branch is hardly ever taken.
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
    fn streams_side_by_side_are_streams() {
        let mut all = Streams::<64>::new(9);
        let mut alone: Vec<Stream> = (0..64).map(|i| Stream::new(9 + i)).collect();
        for _ in 0..10 {
            assert_eq!(all.words().0.to_vec(), alone.iter_mut().map(Stream::word).collect::<Vec<_>>());
        }
        let before = all.clone();
        all.words();
        let waits = std::array::from_fn(|i| if i == 7 { u8::MAX } else { 0 });
        all.go_back(&waits, &before);
        alone.iter_mut().enumerate().filter(|&(i, _)| i != 7).for_each(|(_, stream)| _ = stream.word());
        assert!((0..64).all(|i| all.get(i) == alone[i]));
    }

    #[test]
    fn a_stream_goes_on_after_it_was_saved() {
        let mut stream = Stream::new(3);
        stream.word();
        let mut again: Stream = serde_json::from_str(&serde_json::to_string(&stream).unwrap()).unwrap();
        assert_eq!(again.word(), stream.word());
    }
}
