//! Sets of pieces, and of squares with windows that are read in a few steps.

use super::observe::{REACH, WINDOW};
use super::shape::Shape;
use necrodome_rules::last_bullet::Square;
use std::ops::Range;

/// A set of pieces, listed in ascending order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Pieces {
    words: Vec<u64>,
}

impl Pieces {
    pub(super) fn clear(&mut self) {
        self.words.clear();
    }

    pub(super) fn insert(&mut self, piece: usize) {
        if piece / 64 >= self.words.len() {
            self.words.resize(piece / 64 + 1, 0);
        }
        self.words[piece / 64] |= 1 << (piece % 64);
    }

    pub(super) fn remove(&mut self, piece: usize) {
        if let Some(word) = self.words.get_mut(piece / 64) {
            *word &= !(1 << (piece % 64));
        }
    }

    /// The set in words, each with its first piece: [`pop`] takes the pieces out. Two nested loops are faster than
    /// one iterator for both.
    #[inline(always)]
    pub(super) fn words(&self) -> impl Iterator<Item = (usize, u64)> {
        (0..).step_by(64).zip(self.words.iter().copied())
    }

    /// The pieces of a range, in the same form.
    #[inline(always)]
    pub(super) fn within(&self, range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
        cut(range).map(|(first, known)| (first, self.words.get(first / 64).copied().unwrap_or(0) & known))
    }

    /// The pieces of a range that are not in the set, in the same form.
    #[inline(always)]
    pub(super) fn missing(&self, range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
        cut(range).map(|(first, known)| (first, !self.words.get(first / 64).copied().unwrap_or(0) & known))
    }
}

/// A range in words, each with its first piece.
#[inline(always)]
fn cut(Range { start, end }: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    (start / 64 * 64..end).step_by(64).map(move |first| {
        let low = if first < start { u64::MAX << (start - first) } else { u64::MAX };
        let high = if first + 64 > end { (1 << (end - first)) - 1 } else { u64::MAX };
        (first, low & high)
    })
}

/// Takes the next piece out of a word.
#[inline(always)]
pub(super) fn pop((first, bits): &mut (usize, u64)) -> Option<usize> {
    let place = bits.trailing_zeros() as usize;
    let some = *bits != 0;
    *bits &= bits.wrapping_sub(1);
    some.then_some(*first + place)
}

/// The number of columns of squares from one word to the next.
const STEP: usize = 32;

/// A set of squares, padded like a board. The margin is updated when [`wrap`](Squares::wrap) is called.
///
/// A word has the bits of 64 neighbours in a row, and the next word to the east begins 32 squares further on: so the row of a
/// window is in one word, wherever it begins. Words lie from north to south, so a window is 17 words next to each other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Squares {
    words: Vec<u64>,
    side: usize,
}

impl Squares {
    pub(super) fn new(shape: &Shape) -> Self {
        let mut squares = Squares { words: Vec::new(), side: shape.side };
        squares.words = vec![0; squares.column(shape.stride() + STEP)];
        squares
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// The start of the column of words that holds the windows from this bit on. The first column is not read: it is there so
    /// that every bit has a word in the west that also holds it.
    #[inline(always)]
    fn column(&self, bit: usize) -> usize {
        (bit / STEP + 1) * self.rows()
    }

    #[inline(always)]
    fn rows(&self) -> usize {
        self.side + 2 * REACH
    }

    /// The two words that hold a square, and the square's bit in the first.
    #[inline(always)]
    fn words(&self, at: Square) -> (usize, usize, u64) {
        let bit = usize::from(at.x) + REACH;
        let word = self.column(bit) + usize::from(at.y) + REACH;
        (word, word - self.rows(), 1 << (bit % STEP))
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, at: Square) {
        let (word, west, bit) = self.words(at);
        self.words[word] |= bit;
        self.words[west] |= bit << STEP;
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, at: Square) {
        let (word, west, bit) = self.words(at);
        self.words[word] &= !bit;
        self.words[west] &= !(bit << STEP);
    }

    /// Copies what lies beyond the edges into the margin.
    pub(super) fn wrap(&mut self) {
        const MARGIN: u64 = (1 << REACH) - 1;
        let (rows, side) = (self.rows(), self.side);
        let (first, last, beyond) = (self.column(0), self.column(side), self.column(side + REACH));
        let (last_shift, beyond_shift) = (side % STEP, (side + REACH) % STEP);
        for y in REACH..REACH + side {
            let western = self.words[first + y] >> REACH & MARGIN;
            let eastern = self.words[last + y] >> last_shift & MARGIN;
            self.words[first + y] = (self.words[first + y] & !MARGIN) | eastern;
            for (column, shift) in [(beyond, beyond_shift), (beyond - rows, beyond_shift + STEP)] {
                let word = &mut self.words[column + y];
                *word = (*word & !(MARGIN << shift)) | western << shift;
            }
        }
        for column in self.words.chunks_exact_mut(rows) {
            wrap_rows(column, 1, side);
        }
    }

    /// The rows of the window around a square, from north to south, with the bit of the westmost square.
    /// Bits beyond the window are not cleared.
    #[inline(always)]
    pub(super) fn window(&self, at: Square) -> (&[u64; WINDOW], usize) {
        let x = usize::from(at.x);
        let words = &self.words[self.column(x) + usize::from(at.y)..];
        // The margin in the south is as high as half a window.
        (words.first_chunk().unwrap_or(&[0; WINDOW]), x % STEP)
    }

    /// The members among the eight squares around `at`, and `at` itself: the bits of three rows of three.
    #[inline(always)]
    pub(super) fn around(&self, at: Square) -> u64 {
        let (rows, shift) = self.window(at);
        let row = |row: usize| rows[row] >> (shift + REACH - 1) & 0b111;
        row(REACH - 1) | row(REACH) << 3 | row(REACH + 1) << 6
    }
}

/// Copies rows at the northern and southern edge into the margins beyond the opposite edge.
pub(super) fn wrap_rows<T: Copy>(board: &mut [T], stride: usize, side: usize) {
    board.copy_within(side * stride..(side + REACH) * stride, 0);
    board.copy_within(REACH * stride..2 * REACH * stride, (side + REACH) * stride);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;

    fn all(words: impl Iterator<Item = (usize, u64)>) -> Vec<usize> {
        words.flat_map(|mut word| std::iter::from_fn(move || pop(&mut word))).collect()
    }

    #[test]
    fn pieces_come_in_order() {
        let mut pieces = Pieces::default();
        for piece in [150, 0, 63, 64, 7] {
            pieces.insert(piece);
        }
        pieces.remove(7);
        pieces.remove(1000);
        assert_eq!(all(pieces.words()), [0, 63, 64, 150]);
        pieces.remove(63);
        for end in [0, 1, 64, 66, 128, 150, 151, 300] {
            for start in [0, 1, 63, 64, 65, 150, 300].into_iter().filter(|&start| start <= end) {
                let (within, missing): (Vec<_>, Vec<_>) =
                    (start..end).partition(|piece| [0, 64, 150].contains(piece));
                assert_eq!(all(pieces.within(start..end)), within, "{start} to {end}");
                assert_eq!(all(pieces.missing(start..end)), missing, "{start} to {end}");
            }
        }
    }

    /// Compares with the plain definition, on boards whose edges fall at all bits of a word.
    #[test]
    fn a_window_shows_what_is_around() {
        for side in 17..=100 {
            let mut shape = Shape::new(&Default::default(), 1).unwrap();
            shape.side = side;
            let held = |at: Square| (u32::from(at.x) * 7 + u32::from(at.y) * 13).is_multiple_of(5);
            let mut squares = Squares::new(&shape);
            let all = || (0..shape.squares()).map(|index| shape.square(index));
            all().for_each(|at| squares.insert(at));
            squares.wrap();
            all().filter(|&at| !held(at)).for_each(|at| squares.remove(at));
            squares.wrap();
            for at in all() {
                let (rows, shift) = squares.window(at);
                for (row, column) in (0..17).flat_map(|row| (0..17).map(move |column| (row, column))) {
                    let there = shape.step(at, column - 8, row - 8);
                    let bit = rows[row as usize] >> shift >> column & 1;
                    assert_eq!(bit == 1, held(there), "{side}: {at:?} {row} {column}");
                }
                let around = squares.around(at);
                for direction in 0..9 {
                    assert_eq!(around >> direction & 1 == 1, held(shape.go(at, direction)));
                }
            }
        }
    }
}
