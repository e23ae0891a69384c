//! Six dice from half a word.
//!
//! All six are one number below 5^6, so a word holds all that a step can need: the dice that are rolled again, and the
//! first roll of the turn that may follow.

use crate::stream::Stream;
use necrodome_rules::tokyo::Face;

/// Six dice, each the index of its face in [`Face::ALL`].
pub(super) type Dice = [u8; 6];

const FACES: u16 = Face::ALL.len() as u16;
/// How many ways six dice can fall.
const ROLLS: u32 = (FACES as u32).pow(6);
/// Halves of a word that are thrown away, since they would make some rolls likelier than others (Lemire's method).
const REJECTED: u32 = ROLLS.wrapping_neg() % ROLLS;

/// Two rolls, as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rolls {
    /// For the dice that are rolled again.
    pub(super) again: u16,
    /// For a turn that begins.
    pub(super) fresh: u16,
}

/// The two rolls of a word, and whether the word counts.
#[inline(always)]
pub(super) fn split(word: u64) -> (Rolls, bool) {
    let high = (word >> 32) * u64::from(ROLLS);
    let low = (word & 0xffff_ffff) * u64::from(ROLLS);
    let counts = (high as u32 >= REJECTED) & (low as u32 >= REJECTED);
    (Rolls { again: (high >> 32) as u16, fresh: (low >> 32) as u16 }, counts)
}

/// The rolls of the first word that counts.
#[inline]
pub(super) fn draw(stream: &mut Stream) -> Rolls {
    loop {
        if let (rolls, true) = split(stream.word()) {
            return rolls;
        }
    }
}

/// The dice of a roll: its digits, the lowest first.
#[inline(always)]
pub(super) fn dice(roll: u16) -> Dice {
    let mut rest = roll;
    core::array::from_fn(|_| {
        let die = rest % FACES;
        rest /= FACES;
        die as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_roll_has_its_own_dice() {
        let mut seen: Vec<Dice> = (0..ROLLS as u16).map(dice).collect();
        assert!(seen.iter().flatten().all(|&die| u16::from(die) < FACES));
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), ROLLS as usize);
    }

    /// Every roll has the same number of halves that give it and count.
    #[test]
    fn words_that_would_favour_a_roll_do_not_count() {
        let share = (1u64 << 32) / u64::from(ROLLS);
        for roll in [0, 1, 7812, ROLLS as u64 - 1] {
            let first = (roll << 32).div_ceil(ROLLS as u64);
            let gives = |half: &u64| *half < 1 << 32 && (half * u64::from(ROLLS)) >> 32 == roll;
            let halves: Vec<u64> = (first..first + share + 2).filter(gives).collect();
            let good = 1 << 31;
            for place in [0, 32] {
                let word = |half: u64| half << place | good << (32 - place);
                let counting = halves.iter().filter(|&&half| split(word(half)).1).count() as u64;
                assert_eq!(counting, share, "{roll}");
            }
        }
    }
}
