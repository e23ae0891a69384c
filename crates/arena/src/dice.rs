//! Sources of chance: the seed alone (public dice), or the seed and a secret that the arena reveals only when all is over, so that no
//! program that takes part can compute what comes next. A hash of the secret is published first, so that nobody can choose it later.

use crate::entry::{EntrySpec, has_programs};
use necrodome_rules::chance::Seed;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{borrow::Cow, fmt, str::FromStr};

/// Keeps these hashes apart from all others.
const DICE: &str = "necrodome dice v1";
const BOTS: &str = "necrodome bots' seeds v1";

/// The length of half a secret, in bytes.
const HALF: usize = 32;

/// The sources of chance of a match, or of all matches of a tournament.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dice {
    /// The seed of the dice, and of built-in bots.
    pub dice: Seed,
    /// The seed of the seeds that other players are given.
    pub bots: Seed,
}

/// Public dice: everything follows from one seed.
impl From<Seed> for Dice {
    fn from(seed: Seed) -> Self {
        Dice { dice: seed, bots: seed }
    }
}

impl From<u64> for Dice {
    fn from(seed: u64) -> Self {
        Seed::from(seed).into()
    }
}

/// 512 random bits: one half makes the dice unpredictable, the other one makes the seeds that programs are given. The halves are
/// independent, so nothing that a program is given leads to the dice.
///
/// Written as 128 hexadecimal digits, but never by `{:?}`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 2 * HALF]);

impl Secret {
    /// Draws a new secret.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 2 * HALF];
        getrandom::fill(&mut bytes)?;
        Ok(Secret(bytes))
    }

    /// Returns the bytes, as a store keeps them.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Reads a secret from a store.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Secret)
    }

    /// Returns the BLAKE3 hash of the bytes. Published before the first match, it proves at the end that the secret was chosen before.
    pub fn commitment(&self) -> String {
        blake3::hash(&self.0).to_string()
    }

    /// Returns the sources of chance that follow from this secret and a seed.
    pub fn dice(&self, seed: Seed) -> Dice {
        let (dice, bots) = self.0.split_at(HALF);
        let derived = |context: &str, secret: &[u8]| {
            let mut hasher = blake3::Hasher::new_derive_key(context);
            hasher.update(secret).update(&seed.number().to_le_bytes());
            let (mut first, hash) = ([0; 16], hasher.finalize());
            first.copy_from_slice(&hash.as_bytes()[..16]);
            Seed::new(u128::from_le_bytes(first))
        };
        Dice { dice: derived(DICE, dice), bots: derived(BOTS, bots) }
    }
}

/// Draws a random seed of all 128 bits.
pub fn random_seed() -> Result<Seed, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(Seed::new(u128::from_le_bytes(bytes)))
}

/// Hides the secret: errors and logs must not reveal it.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The error for a text that is not a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected the 128 hexadecimal digits that a report tells at its end")]
pub struct SecretError;

impl FromStr for Secret {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<Self, SecretError> {
        let digits: Option<Vec<u8>> =
            text.chars().map(|digit| digit.to_digit(16).map(|value| value as u8)).collect();
        let digits = digits.filter(|digits| digits.len() == 4 * HALF).ok_or(SecretError)?;
        let bytes: Vec<u8> = digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        Secret::from_bytes(&bytes).ok_or(SecretError)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Secret {
    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "What dice follow from beside the seed: 128 hexadecimal digits.",
            "type": "string",
            "pattern": "^[0-9a-f]{128}$"
        })
    }
}

/// The user's choice of dice. By default the dice are secret if programs take part.
#[derive(Debug, Clone, Default)]
pub struct DiceWish {
    /// Whether the dice follow from the seed alone, even if programs take part.
    pub public: bool,
    /// The secret of a match or tournament that is played again.
    pub secret: Option<Secret>,
}

/// The reason why there are no dice.
#[derive(Debug, thiserror::Error)]
pub enum DiceError {
    /// Public dice have no secret.
    #[error("public dice have no secret: expected one of the two")]
    Both,
    /// The system cannot give random numbers.
    #[error("the system gives no random bytes: {0}")]
    Random(#[from] getrandom::Error),
}

impl DiceWish {
    /// Refuses choices that contradict each other.
    pub fn check(&self) -> Result<(), DiceError> {
        if self.public && self.secret.is_some() { Err(DiceError::Both) } else { Ok(()) }
    }

    /// Returns the secret of a match between these entries: the given one, or a new one if a program takes part.
    pub fn of_match(&self, entries: &[EntrySpec]) -> Result<Option<Secret>, DiceError> {
        self.check()?;
        let is_secret = !self.public && has_programs(entries);
        match &self.secret {
            Some(secret) => Ok(Some(secret.clone())),
            None if is_secret => Ok(Some(Secret::random()?)),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_rules::chance::{Chance, Seeded};
    use std::collections::HashSet;

    fn secret() -> Secret {
        let bytes: Vec<u8> = (0..64).collect();
        Secret::from_bytes(&bytes).unwrap()
    }

    /// These numbers are a promise: anybody with the seed and the secret of a tournament can play it again.
    #[test]
    fn what_follows_from_a_secret_is_stable_across_versions() {
        let Dice { dice, bots } = secret().dice(7.into());
        assert_eq!(dice.to_string(), "0xfd31629265dea2f0952d5c056a1e83f3");
        assert_eq!(bots.to_string(), "0xb5ebe9295a9699d913bc220401c1c243");
        assert_eq!(secret().commitment(), "4eed7141ea4a5cd4b788606bd23f46e212af9cacebacdc7d1f4c6dc7f2511b98");
    }

    #[test]
    fn secrets_are_written_in_digits_but_not_in_errors() {
        let text = secret().to_string();
        assert_eq!((text.len(), &text[..8], text.parse()), (128, "00010203", Ok(secret())));
        assert_eq!(format!("{:?}", secret()), "Secret(..)");
        for wrong in ["", "00", &text[1..], &format!("{text}0"), &text.replace('0', "x")] {
            assert_eq!(wrong.parse::<Secret>(), Err(SecretError), "{wrong}");
        }
        assert_ne!(Secret::random().unwrap(), Secret::random().unwrap());
    }

    #[test]
    fn seed_and_secret_both_matter_and_the_halves_do_not_meet() {
        let (base, seed) = (secret(), Seed::from(7));
        assert_ne!(base.dice(seed), base.dice(8.into()));
        assert_ne!(base.commitment(), Secret::random().unwrap().commitment());
        for flipped in [0, HALF] {
            let mut other = base.clone();
            other.0[flipped] ^= 1;
            let (one, other) = (base.dice(seed), other.dice(seed));
            assert_eq!((one.dice == other.dice, one.bots == other.bots), (flipped != 0, flipped == 0));
        }
    }

    /// Repeats an attack that worked when there were no secrets: a program tried all seeds until one gave the number that it was told.
    #[test]
    fn trying_all_short_seeds_does_not_find_secret_dice() {
        let seed = Seed::from(0xBEEF);
        let told = |dice: Dice| Seeded::new(dice.bots, "bot seeds", 0).uniform(u32::MAX);
        let rolls = |dice: Dice| -> Vec<u32> {
            let mut chance = Seeded::new(dice.dice, "match", 0);
            (0..8).map(|_| chance.uniform(1000)).collect()
        };
        let search = |dice: Dice| {
            let all = (0..1_u64 << 16).map(Dice::from);
            all.filter(|&guess| told(guess) == told(dice) || rolls(guess) == rolls(dice)).collect::<Vec<_>>()
        };
        assert_eq!(search(seed.into()), [seed.into()], "public dice of a short seed are found");
        let hidden = Secret::random().unwrap().dice(seed);
        // One of 65,536 numbers of 32 bits may be the one that was told, but none has the dice.
        let found: HashSet<Vec<u32>> = search(hidden).into_iter().map(rolls).collect();
        assert!(!found.contains(&rolls(hidden)));
    }
}
