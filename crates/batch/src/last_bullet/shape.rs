//! The size of a world, and the places of its squares in memory.
//!
//! Boards are padded on all sides with what lies beyond their edges on the torus, as far as a survivor sees. So a window
//! never wraps: it is 17 pieces of 17 neighbours in memory.

use super::observe::{MOVES, REACH};
use necrodome_rules::last_bullet::{Direction, Square};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The move that stays.
pub(super) const STAY: u8 = Direction::Stay as u8;

/// The size that all worlds of a batch share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    pub(super) side: usize,
    pub(super) entries: usize,
    pub(super) copies: usize,
    pub(super) max_turns: Option<u32>,
}

impl Shape {
    /// The number of survivors in a world, each with a row.
    pub(super) fn survivors(&self) -> usize {
        self.entries * self.copies
    }

    /// The survivors of an entry.
    pub(super) fn entry(&self, entry: usize) -> Range<usize> {
        entry * self.copies..(entry + 1) * self.copies
    }

    pub(super) fn squares(&self) -> usize {
        self.side * self.side
    }

    /// The distance in memory from a square to the one south of it.
    #[inline(always)]
    pub(super) fn stride(&self) -> usize {
        self.side + 2 * REACH
    }

    /// The number of squares in memory, the margin included.
    pub(super) fn padded(&self) -> usize {
        self.stride() * self.stride()
    }

    /// The place of a square in memory.
    #[inline(always)]
    pub(super) fn place(&self, at: Square) -> usize {
        (usize::from(at.y) + REACH) * self.stride() + usize::from(at.x) + REACH
    }

    /// The square with this index, counted as the referee counts.
    pub(super) fn square(&self, index: usize) -> Square {
        Square { x: (index % self.side) as u16, y: (index / self.side) as u16 }
    }

    /// The square `dx` to the east and `dy` to the south, at most as far as a survivor sees.
    #[inline(always)]
    pub(super) fn step(&self, from: Square, dx: i32, dy: i32) -> Square {
        let wrap = |from: u16, by: i32| {
            let (to, side) = (i32::from(from) + by, self.side as i32);
            // Chosen without a branch: few pieces stand at an edge, but nobody can tell which.
            let up = if to < 0 { side } else { 0 };
            let down = if to >= side { side } else { 0 };
            (to + up - down) as u16
        };
        Square { x: wrap(from.x, dx), y: wrap(from.y, dy) }
    }

    /// The shortest way from one column or row to another: around the edge, if that is shorter.
    pub(super) fn offset(&self, from: u16, to: u16) -> i32 {
        let side = self.side as i32;
        let way = (i32::from(to) - i32::from(from)).rem_euclid(side);
        if way > side / 2 { way - side } else { way }
    }

    /// The square to which one of the nine moves leads.
    #[inline(always)]
    pub(super) fn go(&self, from: Square, direction: u8) -> Square {
        let [dx, dy] = OFFSETS[usize::from(direction)];
        let inside = |at: u16| usize::from(at.wrapping_sub(1)) < self.side - 2;
        if inside(from.x) & inside(from.y) {
            // Nearly always.
            Square { x: from.x.wrapping_add_signed(dx), y: from.y.wrapping_add_signed(dy) }
        } else {
            self.step(from, dx.into(), dy.into())
        }
    }
}

/// The offsets of the nine moves: to the east and to the south.
const OFFSETS: [[i16; 2]; MOVES] =
    [[-1, -1], [0, -1], [1, -1], [-1, 0], [0, 0], [1, 0], [-1, 1], [0, 1], [1, 1]];
