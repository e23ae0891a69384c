//! Randomness from a seed: ChaCha8, the same on every machine and in every version.
//!
//! ChaCha8 was chosen over faster generators because bots are hostile: no number of dice seen reveals the next one.
//! The bounded draw is our own (Lemire's method), because libraries may change theirs.

use super::{Chance, Seed};
use blake3::hazmat::HasherExt;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// Keeps these hashes apart from all others: changing it changes every stream.
#[cfg(test)]
const CONTEXT: &str = "necrodome random stream v1";

#[cfg(test)]
const WIDE_CONTEXT: &str = "necrodome random stream v1, seeds above 64 bits";

/// The keys that BLAKE3 derives from the contexts. They are stored because deriving them would double the work for every stream.
const CONTEXT_KEY: [u8; 32] = [
    163, 28, 171, 158, 246, 179, 56, 83, 137, 211, 87, 100, 9, 21, 9, 119, 30, 226, 82, 85, 203, 7, 31, 226,
    4, 13, 224, 128, 144, 216, 204, 216,
];
const WIDE_CONTEXT_KEY: [u8; 32] = [
    178, 114, 208, 107, 129, 49, 18, 103, 227, 243, 24, 33, 69, 75, 30, 120, 229, 208, 130, 176, 174, 164,
    162, 164, 182, 254, 102, 66, 110, 170, 223, 233,
];

/// A seeded stream of randomness.
///
/// ```
/// use necrodome_rules::chance::{Chance, Seeded};
/// let mut dice = Seeded::new(7, "docs", 0);
/// let mut same = Seeded::new(7, "docs", 0);
/// assert_eq!(dice.uniform(6), same.uniform(6));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SavedStream", into = "SavedStream")]
pub struct Seeded(ChaCha8Rng);

/// The position of a stream, as JSON, so that a match can be saved and resumed.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedStream {
    key: [u8; 32],
    /// Numbers drawn so far. No match draws 2^64 numbers.
    drawn: u64,
}

impl From<Seeded> for SavedStream {
    fn from(Seeded(stream): Seeded) -> Self {
        SavedStream { key: stream.get_seed(), drawn: stream.get_word_pos() as u64 }
    }
}

impl From<SavedStream> for Seeded {
    fn from(SavedStream { key, drawn }: SavedStream) -> Self {
        let mut stream = ChaCha8Rng::from_seed(key);
        stream.set_word_pos(drawn.into());
        Seeded(stream)
    }
}

impl Seeded {
    /// Makes the stream of a seed for one purpose ("match", "bot") and an index within it. Streams that differ in any of
    /// the three are independent.
    pub fn new(seed: impl Into<Seed>, purpose: &str, index: u64) -> Self {
        let seed = seed.into();
        let mut numbers = [0; 24];
        // Short seeds have the streams that they always had.
        let (key, end) = match seed.short() {
            Some(short) => {
                numbers[..8].copy_from_slice(&short.to_le_bytes());
                (&CONTEXT_KEY, 8)
            }
            None => {
                numbers[..16].copy_from_slice(&seed.number().to_le_bytes());
                (&WIDE_CONTEXT_KEY, 16)
            }
        };
        numbers[end..end + 8].copy_from_slice(&index.to_le_bytes());
        let mut hasher = blake3::Hasher::new_from_context_key(key);
        hasher.update(&numbers[..end + 8]);
        hasher.update(purpose.as_bytes());
        Seeded(ChaCha8Rng::from_seed(*hasher.finalize().as_bytes()))
    }

    /// Draws a seed from the next 128 bits of the stream.
    pub fn seed(&mut self) -> Seed {
        Seed::new(u128::from(self.0.next_u64()) << 64 | u128::from(self.0.next_u64()))
    }
}

impl Chance for Seeded {
    #[inline]
    fn uniform(&mut self, n: u32) -> u32 {
        debug_assert!(n > 0, "one of nothing");
        let mut wide = u64::from(self.0.next_u32()) * u64::from(n);
        if (wide as u32) < n {
            // Reject the few values that would make some answers likelier than others.
            let threshold = n.wrapping_neg() % n;
            while (wide as u32) < threshold {
                wide = u64::from(self.0.next_u32()) * u64::from(n);
            }
        }
        (wide >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{string::ToString, vec::Vec};

    fn draws(seed: impl Into<Seed>, purpose: &str, index: u64) -> Vec<u32> {
        let mut chance = Seeded::new(seed, purpose, index);
        (0..8).map(|_| chance.uniform(1000)).collect()
    }

    /// These numbers are a promise: stored results can be reproduced only as long as they stay.
    #[test]
    fn the_stream_is_stable_across_versions() {
        insta::assert_compact_debug_snapshot!(draws(1, "match", 0), @"[310, 586, 450, 441, 202, 554, 381, 3]");
        insta::assert_compact_debug_snapshot!(draws(u64::MAX, "bot", 3), @"[30, 788, 204, 554, 275, 707, 561, 885]");
    }

    /// So are these, of seeds that older versions did not have.
    #[test]
    fn the_stream_of_a_wide_seed_is_stable_too() {
        let wide = |number: u128| Seed::new(number);
        assert_eq!(draws(wide(1 << 64), "match", 0), [590, 250, 765, 475, 120, 573, 681, 931]);
        assert_eq!(draws(wide(u128::MAX), "bot", 3), [309, 882, 95, 747, 984, 858, 630, 902]);
        assert_eq!(Seeded::new(1, "match", 0).seed().to_string(), "0x961064964f923a1f710df808736454e4");
    }

    #[test]
    fn every_bit_of_a_wide_seed_matters() {
        let base = 1 << 127 | 5;
        let of = |number: u128| draws(Seed::new(number), "match", 0);
        assert!((0..127).all(|bit| of(base ^ 1 << bit) != of(base)));
        assert_ne!(of(1 << 64), draws(0, "match", 0));
    }

    #[test]
    fn the_keys_are_those_of_the_contexts() {
        assert_eq!(blake3::hazmat::hash_derive_key_context(CONTEXT), CONTEXT_KEY);
        assert_eq!(blake3::hazmat::hash_derive_key_context(WIDE_CONTEXT), WIDE_CONTEXT_KEY);
    }

    #[test]
    fn seed_purpose_and_index_each_change_the_stream() {
        let base = draws(1, "match", 0);
        assert_ne!(base, draws(2, "match", 0));
        assert_ne!(base, draws(1, "bot", 0));
        assert_ne!(base, draws(1, "match", 1));
    }

    #[test]
    fn a_stream_goes_on_where_it_was_saved() {
        for drawn in [0, 1, 15, 16, 17, 63, 64, 65, 1000] {
            let mut chance = Seeded::new(1, "match", 0);
            (0..drawn).for_each(|_| _ = chance.uniform(6));
            let json = serde_json::to_string(&chance).unwrap();
            let mut back: Seeded = serde_json::from_str(&json).unwrap();
            assert_eq!(back, chance);
            let next = |chance: &mut Seeded| -> Vec<u32> { (0..100).map(|_| chance.uniform(1000)).collect() };
            assert_eq!(next(&mut back), next(&mut chance), "after {drawn}");
        }
    }

    #[test]
    fn bounded_draws_are_unbiased_where_rejection_matters() {
        // With n = 3 * 2^30 a plain multiply-and-shift would give every third answer twice as often.
        let n = 3 << 30;
        let mut chance = Seeded::new(5, "bias", 0);
        let (mut counts, draws) = ([0u32; 3], 90_000);
        for _ in 0..draws {
            counts[(chance.uniform(n) % 3) as usize] += 1;
        }
        for count in counts {
            let expected = f64::from(draws) / 3.0;
            let deviation = (f64::from(count) - expected) / (expected * 2.0 / 3.0).sqrt();
            assert!(deviation.abs() < 4.5, "{counts:?}");
        }
    }
}
