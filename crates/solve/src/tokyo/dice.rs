//! Handfuls of Tokyo's dice: the count of each face, in any order.

use necrodome_rules::tokyo::{Dice, Face, victory_points};
use std::sync::LazyLock;

pub(crate) const FACES: usize = 5;
pub(crate) const DICE: usize = 6;
/// The number of handfuls of up to six dice.
pub(crate) const HANDFULS: usize = 462;
/// The number of handfuls of exactly six.
pub(crate) const FULL: usize = 210;
/// The number of handfuls of five and six.
pub(crate) const FIVE: usize = 336;
/// The number of different results of a roll.
pub(crate) const RESULTS: usize = 68;

/// The number of dice that show each face.
pub(crate) type Handful = [u8; FACES];

/// All handfuls, the fullest first, and the steps between them.
#[derive(Debug)]
pub(crate) struct Handfuls {
    pub all: Vec<Handful>,
    /// By [`code`]: the number of a handful.
    numbers: Vec<u16>,
    /// The handful with one die more of each face; for handfuls of fewer than six dice, from number [`FULL`] on.
    pub with: Vec<[u16; FACES]>,
    /// The handful with one die less of each face. Where there is no such die, it points at the handful itself.
    pub without: Vec<[u16; FACES]>,
    /// The probability to roll each full handful with six dice.
    pub probability: [f64; FULL],
    /// The result of each full handful, as an index into `results`.
    pub result: [u16; FULL],
    /// All results of a roll.
    pub results: Vec<Result>,
}

/// The result of resolved dice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Result {
    pub points: u8,
    pub attacks: u8,
    pub heals: u8,
}

fn code(handful: &Handful) -> usize {
    handful.iter().fold(0, |code, &count| code * (DICE + 1) + usize::from(count))
}

/// What a die of each face adds to the [`code`] of its handful.
const CODE: [u16; FACES] = [2401, 343, 49, 7, 1];

impl Handfuls {
    /// Returns the tables; they are always the same.
    pub fn get() -> &'static Handfuls {
        static HANDFULS: LazyLock<Handfuls> = LazyLock::new(Handfuls::new);
        &HANDFULS
    }

    fn new() -> Self {
        let mut all: Vec<Handful> = Vec::with_capacity(HANDFULS);
        for code in 0..(DICE + 1).pow(FACES as u32) {
            let digit = |face: usize| (code / (DICE + 1).pow((FACES - 1 - face) as u32) % (DICE + 1)) as u8;
            let handful: Handful = std::array::from_fn(digit);
            if handful.iter().sum::<u8>() <= DICE as u8 {
                all.push(handful);
            }
        }
        all.sort_by_key(|handful| (DICE as u8 - handful.iter().sum::<u8>(), *handful));
        let mut numbers = vec![u16::MAX; (DICE + 1).pow(FACES as u32)];
        for (number, handful) in all.iter().enumerate() {
            numbers[code(handful)] = number as u16;
        }
        let neighbour = |handful: &Handful, face: usize, change: i8| {
            let mut other = *handful;
            other[face] = other[face].wrapping_add_signed(change);
            let full = usize::from(other[face]) > DICE
                || other.iter().map(|&n| usize::from(n)).sum::<usize>() > DICE;
            numbers[code(if full { handful } else { &other })]
        };
        let with = |handful: &Handful| std::array::from_fn(|face| neighbour(handful, face, 1));
        let without = |handful: &Handful| std::array::from_fn(|face| neighbour(handful, face, -1));
        let mut results: Vec<Result> = Vec::new();
        let mut result = [0; FULL];
        let mut probability = [0.0; FULL];
        for (number, handful) in all[..FULL].iter().enumerate() {
            let dice = spread(handful);
            let [.., heals, attacks] = *handful;
            let came = Result { points: victory_points(&dice) as u8, attacks, heals };
            let known = results.iter().position(|&other| other == came).unwrap_or_else(|| {
                results.push(came);
                results.len() - 1
            });
            result[number] = known as u16;
            let factorial = |n: u8| (1..=u32::from(n)).product::<u32>();
            let ways = factorial(DICE as u8) / handful.map(factorial).iter().product::<u32>();
            probability[number] = f64::from(ways) / 15_625.0;
        }
        Handfuls {
            with: all.iter().map(with).collect(),
            without: all.iter().map(without).collect(),
            all,
            numbers,
            probability,
            result,
            results,
        }
    }

    /// The number of a handful of at most six dice.
    pub fn number(&self, handful: &Handful) -> usize {
        self.numbers[code(handful)].into()
    }

    /// The number of the handful of the dice that `kept` marks.
    pub fn kept(&self, dice: &Dice, kept: [bool; DICE]) -> usize {
        // By place: the compiler keeps pairs of both in memory.
        let code = |place: usize| CODE[dice[place] as usize] * u16::from(kept[place]);
        self.numbers[usize::from(code(0) + code(1) + code(2) + code(3) + code(4) + code(5))].into()
    }

    /// The number of the handful of all dice.
    pub fn full(&self, dice: &Dice) -> usize {
        // No dice have a number beyond; the compiler sees it here.
        self.kept(dice, [true; DICE]).min(FULL - 1)
    }
}

/// Marks dice so that the kept ones are this handful.
pub(crate) fn marks(dice: &Dice, mut handful: Handful) -> [bool; DICE] {
    dice.map(|die| {
        let left = &mut handful[die as usize];
        let keeps = *left > 0;
        *left -= u8::from(keeps);
        keeps
    })
}

/// Writes a full handful as dice.
pub(crate) fn spread(handful: &Handful) -> Dice {
    let mut faces =
        Face::ALL.into_iter().zip(handful).flat_map(|(face, &n)| std::iter::repeat_n(face, n.into()));
    std::array::from_fn(|_| faces.next().unwrap_or(Face::One))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_fit_each_other() {
        let tables = Handfuls::get();
        assert_eq!((tables.all.len(), FULL, tables.results.len()), (HANDFULS, 210, RESULTS));
        assert!((tables.probability.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for (number, handful) in tables.all.iter().enumerate() {
            assert_eq!(tables.number(handful), number);
            assert_eq!(number < FIVE, handful.iter().sum::<u8>() >= 5);
            for (face, &count) in handful.iter().enumerate() {
                let with = usize::from(tables.with[number][face]);
                if number >= FULL {
                    assert_eq!(usize::from(tables.without[with][face]), number);
                }
                assert_eq!(usize::from(tables.without[number][face]) == number, count == 0);
            }
        }
    }

    #[test]
    fn marks_keep_what_they_should() {
        use Face::{Attack, Heal, One, Three, Two};
        let dice = [One, Attack, Two, Attack, Heal, Three];
        let tables = Handfuls::get();
        let marks = marks(&dice, [1, 0, 0, 0, 1]);
        assert_eq!(marks, [true, true, false, false, false, false]);
        assert_eq!(tables.kept(&dice, marks), tables.number(&[1, 0, 0, 0, 1]));
    }
}
