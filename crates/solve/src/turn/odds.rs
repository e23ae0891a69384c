//! The odds of the next roll.

use super::graph::{Position, hands, plus, throws};

/// The probabilities of the next roll.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NextRoll {
    /// The third shotgun: the turn is lost.
    pub bust: f64,
    /// The probability of each number of brains, from 0 to 3, in a turn that is not lost.
    pub brains: [f64; 4],
}

impl Position {
    /// The odds of the next roll, or `None` if there are not enough dice for one.
    pub fn next_roll(&self) -> Option<NextRoll> {
        let missing = 3u8.checked_sub(self.feet.total())?;
        if self.cup.total() < missing {
            return None;
        }
        let mut odds = NextRoll { bust: 0.0, brains: [0.0; 4] };
        for (drawn, ways) in hands(self.cup, missing) {
            let drawn_so = f64::from(ways.ways) / f64::from(ways.of);
            for throw in throws(plus(self.feet, drawn)) {
                let chance = drawn_so * f64::from(throw.weight) / 216.0;
                if self.shots.total() + throw.shots.total() >= 3 {
                    odds.bust += chance;
                } else {
                    odds.brains[usize::from(throw.brains)] += chance;
                }
            }
        }
        Some(odds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_rules::zombie_dice::{Counts, DICE};

    fn green(green: u8) -> Counts {
        Counts { green, ..Counts::default() }
    }

    #[test]
    fn the_odds_are_those_of_the_dice() {
        // Three green feet: three brains on six sides, and one shotgun.
        let three_feet = |shots| Position { cup: green(1), feet: green(3), shots, brains: 2 };
        let odds = three_feet(Counts::default()).next_roll().unwrap();
        assert!((odds.bust - 1.0 / 216.0).abs() < 1e-15);
        assert!((odds.brains[3] - 27.0 / 216.0).abs() < 1e-15);
        let odds = three_feet(green(2)).next_roll().unwrap();
        assert!((odds.bust - 91.0 / 216.0).abs() < 1e-15);
        // The first roll: 29 of the 78 sides of all dice are brains; with three shotguns there are none.
        let start = Position { cup: DICE, feet: Counts::default(), shots: Counts::default(), brains: 0 };
        let odds = start.next_roll().unwrap();
        let mean: f64 = (0..).zip(odds.brains).map(|(brains, chance)| f64::from(brains) * chance).sum();
        assert!((mean - 3.0 * 29.0 / 78.0).abs() < 1e-12);
        assert!((odds.bust + odds.brains.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // One die in the cup is too few.
        assert_eq!(Position { cup: green(1), feet: green(1), ..start }.next_roll(), None);
    }
}
