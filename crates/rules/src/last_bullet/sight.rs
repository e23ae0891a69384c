//! The pieces in each window: a bit for each square, so that a 17 x 17 window is read in 17 steps.

use super::board::{Square, Torus};
use super::rules::VISION;
use alloc::{vec, vec::Vec};

/// Squares on each side of the centre.
const REACH: usize = VISION as usize;
/// Squares in a row of a window.
pub(super) const WINDOW: usize = 2 * REACH + 1;

/// A set of squares. Each row is padded with what lies beyond its edges on the torus, so that a window never wraps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sight {
    torus: Torus,
    words_per_row: usize,
    words: Vec<u64>,
}

impl Sight {
    pub(super) fn new(torus: Torus, squares: impl Iterator<Item = Square>) -> Self {
        // One word more than needed, so that a row of a window can always be read from two words.
        let words_per_row = (usize::from(torus.side()) + 2 * REACH) / 64 + 2;
        let words = vec![0; words_per_row * usize::from(torus.side())];
        let mut sight = Sight { torus, words_per_row, words };
        sight.fill(squares);
        sight
    }

    /// Replaces the set with `squares`.
    pub(super) fn reset(&mut self, squares: impl Iterator<Item = Square>) {
        self.words.fill(0);
        self.fill(squares);
    }

    fn fill(&mut self, squares: impl Iterator<Item = Square>) {
        let side = usize::from(self.torus.side());
        for Square { x, y } in squares {
            let (row, column) = (usize::from(y) * self.words_per_row, usize::from(x));
            let mut set = |bit: usize| self.words[row + bit / 64] |= 1 << (bit % 64);
            set(column + REACH);
            if column < REACH {
                set(column + REACH + side);
            }
            if column + REACH >= side {
                set(column + REACH - side);
            }
        }
    }

    /// The window around a square, row by row from north to south; bit 0 of a row is its westmost square.
    pub(super) fn window(&self, centre: Square) -> [u32; WINDOW] {
        let mut y = self.torus.step(centre, 0, -(REACH as i32)).y;
        let (word, shift) = (usize::from(centre.x) / 64, usize::from(centre.x) % 64);
        core::array::from_fn(|_| {
            let at = usize::from(y) * self.words_per_row + word;
            // Two shifts, since one by 64 is not defined.
            let bits = self.words[at] >> shift | self.words[at + 1] << 1 << (63 - shift);
            y = if y + 1 == self.torus.side() { 0 } else { y + 1 };
            bits as u32 & ((1 << WINDOW) - 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the plain definition, on boards whose edges fall at awkward bits.
    #[test]
    fn a_window_shows_what_is_around() {
        for side in [17u16, 40, 48, 63, 64, 65, 130] {
            let torus = Torus::new(side);
            let held = |s: Square| (u32::from(s.x) * 7 + u32::from(s.y) * 13).is_multiple_of(5);
            let squares = (0..torus.squares()).map(|i| torus.square(i)).filter(|&s| held(s));
            let sight = Sight::new(torus, squares);
            for index in 0..torus.squares() {
                let centre = torus.square(index);
                for (row, bits) in sight.window(centre).into_iter().enumerate() {
                    for column in 0..WINDOW {
                        let (dx, dy) = (column as i32 - REACH as i32, row as i32 - REACH as i32);
                        let expected = held(torus.step(centre, dx, dy));
                        assert_eq!(bits >> column & 1 == 1, expected, "{side}: {centre:?} {dx},{dy}");
                    }
                }
            }
        }
    }
}
