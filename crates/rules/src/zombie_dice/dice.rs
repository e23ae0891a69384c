//! The thirteen dice.

use core::{
    fmt,
    ops::{Index, IndexMut},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The colour of a die tells how dangerous it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ZombieDiceColour")]
pub enum Colour {
    /// Easy.
    Green,
    /// Medium.
    Yellow,
    /// Hard.
    Red,
}

impl Colour {
    /// All colours, from easy to hard.
    pub const ALL: [Colour; 3] = [Colour::Green, Colour::Yellow, Colour::Red];

    /// The number of sides of a die that show each face, in the order of [`Face::ALL`].
    #[inline]
    pub const fn sides(self) -> [u32; 3] {
        Colour::sides_of(self as u32)
    }

    /// The same as `sides`, by the number of the colour: a green die has three brains and one shotgun, a red one the opposite.
    /// Written as sums, so that the compiler knows that there are six sides.
    #[inline]
    pub(super) const fn sides_of(colour: u32) -> [u32; 3] {
        [3 - colour, 2, 1 + colour]
    }
}

/// The face of a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ZombieDiceFace")]
pub enum Face {
    /// A point, unless the turn is lost.
    Brain,
    /// Rolled again.
    Footsteps,
    /// Three of these lose the turn.
    Shotgun,
}

impl Face {
    /// All faces.
    pub const ALL: [Face; 3] = [Face::Brain, Face::Footsteps, Face::Shotgun];
}

/// A die that has been rolled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Die {
    /// Its colour.
    pub colour: Colour,
    /// The face that it shows.
    pub face: Face,
}

/// A number of dice of each colour.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
pub struct Counts {
    /// Green dice.
    pub green: u8,
    /// Yellow dice.
    pub yellow: u8,
    /// Red dice.
    pub red: u8,
}

/// All dice of the game.
pub const DICE: Counts = Counts { green: 6, yellow: 4, red: 3 };

impl Counts {
    /// The number of dice.
    #[inline]
    pub fn total(self) -> u8 {
        self.green + self.yellow + self.red
    }

    /// The counts as weights for a draw.
    #[inline]
    pub fn weights(self) -> [u32; 3] {
        [self.green.into(), self.yellow.into(), self.red.into()]
    }

    /// Adds the counts, or returns `None` if the sum is impossibly large.
    pub fn checked_add(self, other: Counts) -> Option<Counts> {
        Some(Counts {
            green: self.green.checked_add(other.green)?,
            yellow: self.yellow.checked_add(other.yellow)?,
            red: self.red.checked_add(other.red)?,
        })
    }
}

impl Index<Colour> for Counts {
    type Output = u8;

    #[inline]
    fn index(&self, colour: Colour) -> &u8 {
        match colour {
            Colour::Green => &self.green,
            Colour::Yellow => &self.yellow,
            Colour::Red => &self.red,
        }
    }
}

impl IndexMut<Colour> for Counts {
    #[inline]
    fn index_mut(&mut self, colour: Colour) -> &mut u8 {
        match colour {
            Colour::Green => &mut self.green,
            Colour::Yellow => &mut self.yellow,
            Colour::Red => &mut self.red,
        }
    }
}

/// [`Counts`] in one number, a byte for each colour: one step adds or subtracts all colours. No count is above 127.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(from = "Counts", into = "Counts")]
pub(super) struct Pile(u32);

impl Pile {
    pub const NONE: Pile = Pile(0);

    #[inline]
    pub const fn new(counts: Counts) -> Self {
        Pile((counts.green as u32) << 16 | (counts.yellow as u32) << 8 | counts.red as u32)
    }

    #[inline]
    pub fn counts(self) -> Counts {
        let [red, yellow, green, _] = self.0.to_le_bytes();
        Counts { green, yellow, red }
    }

    /// One die, by the number of its colour.
    #[inline]
    pub const fn one(colour: usize) -> Self {
        Pile(1 << 16 >> (8 * colour))
    }

    /// Takes away dice that are known to be there.
    #[inline]
    pub fn less(self, other: Pile) -> Self {
        Pile(self.0 - other.0)
    }

    #[inline]
    pub fn plus(self, other: Pile) -> Self {
        Pile(self.0 + other.0)
    }

    /// Takes away `other`, or returns `None` if there are not that many dice.
    #[inline]
    pub fn minus(self, other: Pile) -> Option<Self> {
        /// A bit above each count, which is cleared when the count falls below zero.
        const ABOVE: u32 = 0x80_80_80;
        let left = (self.0 | ABOVE).wrapping_sub(other.0);
        (left & ABOVE == ABOVE).then_some(Pile(left & !ABOVE))
    }

    #[inline]
    pub fn total(self) -> u8 {
        // The three counts meet in one byte.
        (self.0.wrapping_mul(0x01_01_01) >> 16) as u8
    }

    /// The counts as weights for a draw.
    #[inline]
    pub fn weights(self) -> [u32; 3] {
        [self.0 >> 16, self.0 >> 8 & 255, self.0 & 255]
    }
}

impl From<Counts> for Pile {
    fn from(counts: Counts) -> Self {
        Pile::new(counts)
    }
}

impl From<Pile> for Counts {
    fn from(pile: Pile) -> Self {
        pile.counts()
    }
}

impl fmt::Debug for Pile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts().fmt(f)
    }
}

/// Three dice, or none, in one number, a byte for each die: colour times four, plus face. So a few steps sort, count and
/// copy them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Option<[Die; 3]>", into = "Option<[Die; 3]>")]
pub(super) struct Hand(u32);

impl Hand {
    pub const NONE: Hand = Hand(0);
    /// The bit above the dice, set if there are any.
    const DICE: u32 = 1 << 24;

    #[inline]
    pub fn new([a, b, c]: [Die; 3]) -> Self {
        let number = |die: Die| Hand::number(die.colour as u32, die.face as u32);
        Hand::of_numbers([number(a), number(b), number(c)])
    }

    /// The number of a die.
    #[inline]
    pub fn number(colour: u32, face: u32) -> u32 {
        colour << 2 | face
    }

    #[inline]
    pub fn of_numbers([a, b, c]: [u32; 3]) -> Self {
        Hand(Hand::DICE | a << 16 | b << 8 | c)
    }

    #[inline]
    fn numbers(self) -> [u32; 3] {
        [self.0 >> 16 & 15, self.0 >> 8 & 15, self.0 & 15]
    }

    /// Sorts the dice by colour, then by face. Only for a hand that has dice.
    #[inline]
    pub fn sorted(self) -> Self {
        Hand::of_numbers(sorted(self.numbers()))
    }

    #[inline]
    pub fn dice(self) -> Option<[Die; 3]> {
        let [a, b, c] = self.numbers();
        let die = |number: u32| KINDS[number as usize].0;
        (self != Hand::NONE).then(|| [die(a), die(b), die(c)])
    }

    #[inline]
    pub fn tally(self) -> Tally {
        if self == Hand::NONE {
            return Tally::NONE;
        }
        let [a, b, c] = self.numbers();
        let tally = |number: u32| KINDS[number as usize].1;
        tally(a).plus(tally(b)).plus(tally(c))
    }
}

impl From<Option<[Die; 3]>> for Hand {
    #[inline]
    fn from(dice: Option<[Die; 3]>) -> Self {
        dice.map_or(Hand::NONE, Hand::new)
    }
}

impl From<Hand> for Option<[Die; 3]> {
    fn from(hand: Hand) -> Self {
        hand.dice()
    }
}

impl fmt::Debug for Hand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.dice().fmt(f)
    }
}

/// The dice of a hand, counted by face.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tally {
    pub all: Pile,
    pub brains: Pile,
    pub footsteps: Pile,
    pub shotguns: Pile,
}

impl Tally {
    pub const NONE: Tally = Tally { all: Pile(0), brains: Pile(0), footsteps: Pile(0), shotguns: Pile(0) };

    const fn one(Die { colour, face }: Die) -> Self {
        let one = Pile::one(colour as usize);
        match face {
            Face::Brain => Tally { all: one, brains: one, ..Tally::NONE },
            Face::Footsteps => Tally { all: one, footsteps: one, ..Tally::NONE },
            Face::Shotgun => Tally { all: one, shotguns: one, ..Tally::NONE },
        }
    }

    #[inline]
    fn plus(self, other: Tally) -> Self {
        Tally {
            all: self.all.plus(other.all),
            brains: self.brains.plus(other.brains),
            footsteps: self.footsteps.plus(other.footsteps),
            shotguns: self.shotguns.plus(other.shotguns),
        }
    }
}

/// Every kind of die by its number. There is no fourth colour and no fourth face.
const KINDS: [(Die, Tally); 16] = {
    let none = Die { colour: Colour::Green, face: Face::Brain };
    let mut kinds = [(none, Tally::NONE); 16];
    let mut number = 0;
    while number < 12 {
        if number % 4 < 3 {
            let die = Die { colour: Colour::ALL[number / 4], face: Face::ALL[number % 4] };
            kinds[number] = (die, Tally::one(die));
        }
        number += 1;
    }
    kinds
};

#[inline]
fn sorted<T: Ord + Copy>([a, b, c]: [T; 3]) -> [T; 3] {
    let (a, b) = (a.min(b), a.max(b));
    let (b, c) = (b.min(c), b.max(c));
    [a.min(b), a.max(b), c]
}
