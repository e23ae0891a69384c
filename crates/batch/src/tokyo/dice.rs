//! Six dice from half a word.
//!
//! All six are one number below 5^6, so a word holds everything that a step can need: the dice that are rolled again, and the
//! first roll of the turn that may follow.

use super::lane::each;
use crate::stream::Stream;
use necrodome_rules::tokyo::Face;

/// Six dice, each the index of its face in [`Face::ALL`].
pub(super) type Dice = [u8; 6];

const FACES: u16 = Face::ALL.len() as u16;
/// The number of ways in which six dice can fall.
const ROLLS: u32 = (FACES as u32).pow(6);
/// The number of rejected halves of a word, which would make some rolls likelier than others (Lemire's method).
pub(super) const REJECTED: u32 = ROLLS.wrapping_neg() % ROLLS;

/// Two rolls, as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rolls {
    /// The dice that are rolled again.
    pub(super) again: u16,
    /// The first dice of a new turn.
    pub(super) fresh: u16,
}

impl Rolls {
    /// Splits two rolls in one number, the rerolled dice in the upper half.
    #[inline(always)]
    pub(super) fn new(both: u32) -> Self {
        Rolls { again: (both >> 16) as u16, fresh: both as u16 }
    }
}

/// The two rolls of a word in one number, the rerolled dice in the upper half, and the lesser of the remainders of its halves:
/// less than [`REJECTED`] if the word must be drawn again.
#[inline(always)]
pub(super) fn both(word: u64) -> (u32, u32) {
    let high = (word >> 32) * u64::from(ROLLS);
    let low = (word & 0xffff_ffff) * u64::from(ROLLS);
    ((high >> 16) as u32 & 0xffff_0000 | (low >> 32) as u32, (high as u32).min(low as u32))
}

/// Draws the rolls of the first word that is not rejected.
#[inline]
pub(super) fn draw(stream: &mut Stream) -> Rolls {
    loop {
        let (rolls, least) = both(stream.word());
        if least >= REJECTED {
            return Rolls::new(rolls);
        }
    }
}

/// The dice of a roll: its digits, the lowest first.
#[inline(always)]
pub(super) fn dice(roll: u16) -> [u16; 6] {
    // The roll as a fraction of all of them, in 2^16ths, a bit more than it is: then the digits come from above, by two products each.
    const REST: u32 = ((1 << 32) / ROLLS as u64) as u32 - (4 << 16) + 1;
    let high = |number: u16, times: u32| ((u32::from(number) * times) >> 16) as u16;
    let mut fraction = roll.wrapping_mul(4).wrapping_add(high(roll, REST)).wrapping_add(1);
    let mut dice = [0; 6];
    each::<6>(|die| {
        dice[5 - die] = high(fraction, FACES.into());
        fraction = fraction.wrapping_mul(FACES);
    });
    dice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dice_of_a_roll_are_its_digits() {
        for roll in 0..ROLLS as u16 {
            assert_eq!(dice(roll), std::array::from_fn(|die| roll / FACES.pow(die as u32) % FACES));
        }
    }

    /// Every roll comes from the same number of accepted halves.
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
                let counting = halves.iter().filter(|&&half| both(word(half)).1 >= REJECTED).count() as u64;
                assert_eq!(counting, share, "{roll}");
            }
        }
    }
}
