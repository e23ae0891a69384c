//! The torus, and the pieces on it.

use crate::game::Seat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A square: x grows to the east, y to the south.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Square {
    /// Column, from 0 in the west.
    pub x: u16,
    /// Row, from 0 in the north.
    pub y: u16,
}

/// A square board that wraps around at its edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Torus {
    side: u16,
}

impl Torus {
    /// Makes a torus with this side.
    pub fn new(side: u16) -> Self {
        Torus { side }
    }

    /// The side of the torus.
    pub fn side(self) -> u16 {
        self.side
    }

    /// The number of squares.
    pub fn squares(self) -> usize {
        usize::from(self.side) * usize::from(self.side)
    }

    /// The index of a square: rows from north to south.
    pub fn index(self, square: Square) -> usize {
        usize::from(square.y) * usize::from(self.side) + usize::from(square.x)
    }

    /// The square with this index.
    pub fn square(self, index: usize) -> Square {
        let side = usize::from(self.side);
        Square { x: (index % side) as u16, y: (index / side) as u16 }
    }

    /// The square `dx` to the east and `dy` to the south. Steps must be shorter than the side.
    pub fn step(self, from: Square, dx: i32, dy: i32) -> Square {
        Square { x: self.wrap(from.x, dx), y: self.wrap(from.y, dy) }
    }

    fn wrap(self, from: u16, by: i32) -> u16 {
        let side = i32::from(self.side);
        let to = i32::from(from) + by;
        (if to < 0 {
            to + side
        } else if to >= side {
            to - side
        } else {
            to
        }) as u16
    }

    /// The Chebyshev distance on the torus.
    pub fn distance(self, a: Square, b: Square) -> u16 {
        let along = |a: u16, b: u16| {
            let direct = a.abs_diff(b);
            direct.min(self.side - direct)
        };
        along(a.x, b.x).max(along(a.y, b.y))
    }

    /// The eight squares around a square.
    pub fn neighbours(self, square: Square) -> impl Iterator<Item = Square> {
        const AROUND: [(i32, i32); 8] =
            [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];
        AROUND.into_iter().map(move |(dx, dy)| self.step(square, dx, dy))
    }
}

/// The kind of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A living copy of an entry.
    Player(Seat),
    /// A zombie.
    Zombie,
    /// A corpse: it blocks its square forever.
    Corpse,
}

/// One piece on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// Its kind.
    pub kind: Kind,
    /// Its identity number. No number is ever used twice in a match.
    pub number: u32,
    /// Its square.
    pub square: Square,
    /// Bullets it carries.
    pub bullets: u32,
}

impl Piece {
    /// The entry that the piece plays for, or `None` if it is no living copy.
    pub fn player(&self) -> Option<Seat> {
        match self.kind {
            Kind::Player(seat) => Some(seat),
            Kind::Zombie | Kind::Corpse => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: u16, y: u16) -> Square {
        Square { x, y }
    }

    #[test]
    fn steps_wrap_at_all_edges_and_corners() {
        let torus = Torus::new(17);
        assert_eq!(torus.step(at(0, 5), -1, 0), at(16, 5));
        assert_eq!(torus.step(at(16, 5), 1, 0), at(0, 5));
        assert_eq!(torus.step(at(5, 0), 0, -1), at(5, 16));
        assert_eq!(torus.step(at(5, 16), 0, 1), at(5, 0));
        assert_eq!(torus.step(at(0, 0), -1, -1), at(16, 16));
        assert_eq!(torus.step(at(16, 0), 1, -1), at(0, 16));
        assert_eq!(torus.step(at(0, 16), -1, 1), at(16, 0));
        assert_eq!(torus.step(at(16, 16), 1, 1), at(0, 0));
    }

    #[test]
    fn distance_is_chebyshev_and_goes_around_the_torus() {
        let torus = Torus::new(17);
        assert_eq!(torus.distance(at(3, 3), at(5, 8)), 5);
        assert_eq!(torus.distance(at(0, 0), at(16, 16)), 1);
        assert_eq!(torus.distance(at(1, 8), at(15, 8)), 3);
        assert_eq!(torus.distance(at(0, 0), at(8, 0)), 8);
        assert_eq!(torus.distance(at(0, 0), at(9, 0)), 8);
    }

    #[test]
    fn indices_and_squares_are_inverse() {
        let torus = Torus::new(19);
        for index in 0..torus.squares() {
            assert_eq!(torus.index(torus.square(index)), index);
        }
    }
}
