//! The thirteen dice.

use core::ops::{Index, IndexMut};
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
    /// From easy to hard.
    pub const ALL: [Colour; 3] = [Colour::Green, Colour::Yellow, Colour::Red];

    /// How many of the six sides of a die show each face, in the order of [`Face::ALL`].
    pub const fn sides(self) -> [u32; 3] {
        match self {
            Colour::Green => [3, 2, 1],
            Colour::Yellow => [2, 2, 2],
            Colour::Red => [1, 2, 3],
        }
    }
}

/// What a die shows.
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
    /// What it shows.
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
    /// How many dice in all.
    pub fn total(self) -> u8 {
        self.green + self.yellow + self.red
    }

    /// The counts as weights for a draw.
    pub fn weights(self) -> [u32; 3] {
        [self.green.into(), self.yellow.into(), self.red.into()]
    }

    /// Both together, or `None` if there are impossibly many.
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

    fn index(&self, colour: Colour) -> &u8 {
        match colour {
            Colour::Green => &self.green,
            Colour::Yellow => &self.yellow,
            Colour::Red => &self.red,
        }
    }
}

impl IndexMut<Colour> for Counts {
    fn index_mut(&mut self, colour: Colour) -> &mut u8 {
        match colour {
            Colour::Green => &mut self.green,
            Colour::Yellow => &mut self.yellow,
            Colour::Red => &mut self.red,
        }
    }
}
