//! The six dice, and what numbers are worth.

use crate::chance::Chance;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The face of a die; all five are equally likely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "TokyoFace")]
pub enum Face {
    /// The number 1.
    One,
    /// The number 2.
    Two,
    /// The number 3.
    Three,
    /// A point of health, outside Tokyo.
    Heal,
    /// A point of damage.
    Attack,
}

impl Face {
    /// All faces.
    pub const ALL: [Face; 5] = [Face::One, Face::Two, Face::Three, Face::Heal, Face::Attack];
}

/// Six dice. They keep their places when some are rolled again.
pub type Dice = [Face; 6];

/// Rolls the dice that are not kept, in the order of their places.
pub(super) fn roll(dice: &mut Dice, keep: [bool; 6], chance: &mut impl Chance) {
    for (die, kept) in dice.iter_mut().zip(keep) {
        if !kept {
            *die = Face::ALL[chance.uniform(5) as usize];
        }
    }
}

/// How many dice show `face`.
pub(super) fn count(dice: &Dice, face: Face) -> u8 {
    dice.iter().filter(|&&die| die == face).count() as u8
}

/// The points for numbers: three alike are worth the number, each further one a point more.
pub fn victory_points(dice: &Dice) -> u32 {
    let points = |(face, number): (Face, u32)| match u32::from(count(dice, face)) {
        alike @ 3.. => number + alike - 3,
        _ => 0,
    };
    [(Face::One, 1), (Face::Two, 2), (Face::Three, 3)].into_iter().map(points).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Face::{Attack as A, Heal as H, One, Three, Two};

    /// The six examples of the source.
    #[test]
    fn numbers_are_worth_what_the_examples_say() {
        for (dice, points) in [
            ([One, Two, Three, H, A, One], 0),
            ([One, Two, Two, Two, A, H], 2),
            ([Three, Three, Three, Three, H, One], 4),
            ([H, One, One, One, A, One], 2),
            ([One, One, One, H, H, A], 1),
            ([One, One, One, One, H, A], 2),
        ] {
            assert_eq!(victory_points(&dice), points, "{dice:?}");
        }
    }

    #[test]
    fn two_sets_count_both() {
        assert_eq!(victory_points(&[One, Three, One, Three, One, Three]), 4);
        assert_eq!(victory_points(&[Three; 6]), 6);
    }
}
