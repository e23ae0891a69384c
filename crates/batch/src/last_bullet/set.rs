//! Sets: of pieces, and of squares with windows that are read in a few steps.

use super::shape::Shape;
use crate::observe::last_bullet::REACH;
use necrodome_rules::last_bullet::Square;

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

    /// Removes those for which `keep` is false.
    #[inline(always)]
    pub(super) fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        for (base, word) in self.words.iter_mut().enumerate() {
            for place in ones(*word, 0) {
                if !keep(64 * base + place) {
                    *word &= !(1 << place);
                }
            }
        }
    }

    #[inline(always)]
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(word, &bits)| ones(bits, 64 * word))
    }
}

/// The places of the ones of a word, counted from `base`.
#[inline(always)]
fn ones(mut bits: u64, base: usize) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let place = bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            base + place
        })
    })
}

/// A set of squares, a bit for each, padded like a board. The margin follows when [`wrap`](Squares::wrap) is called.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Squares {
    bytes: Vec<u8>,
    stride: usize,
    side: usize,
}

impl Squares {
    pub(super) fn new(shape: &Shape) -> Self {
        // Four bytes more than needed, so that a row of a window can always be read as one word.
        let stride = shape.stride().div_ceil(8) + 4;
        Squares { bytes: vec![0; stride * shape.stride()], stride, side: shape.side }
    }

    pub(super) fn clear(&mut self) {
        self.bytes.fill(0);
    }

    #[inline(always)]
    fn byte(&mut self, at: Square) -> &mut u8 {
        &mut self.bytes[(usize::from(at.y) + REACH) * self.stride + usize::from(at.x) / 8 + 1]
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, at: Square) {
        *self.byte(at) |= 1 << (at.x % 8);
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, at: Square) {
        *self.byte(at) &= !(1 << (at.x % 8));
    }

    /// Makes the margin show what lies beyond the edges.
    #[inline(always)]
    pub(super) fn wrap(&mut self) {
        // The margin in the west is the first byte of a row, and the first eight squares are its second.
        let (stride, (byte, shift)) = (self.stride, (self.side / 8, self.side % 8));
        for row in self.bytes.chunks_exact_mut(stride).skip(REACH).take(self.side) {
            let last = u16::from_le_bytes([row[byte], row[byte + 1]]) >> shift;
            row[0] = last as u8;
            let east = u16::from_le_bytes([row[byte + 1], row[byte + 2]]);
            let first = u16::from(row[1]) << shift;
            let east = (east & !(0xff << shift)) | first;
            [row[byte + 1], row[byte + 2]] = east.to_le_bytes();
        }
        wrap_rows(&mut self.bytes, stride, self.side);
    }

    /// The row of a window around `at` that is `row` rows from its north. Its westmost square is the bit `at.x % 8`;
    /// bits beyond the window are not cleared.
    #[inline(always)]
    pub(super) fn row(&self, at: Square, row: usize) -> u32 {
        let from = (usize::from(at.y) + row) * self.stride + usize::from(at.x) / 8;
        let four = &self.bytes[from..from + 4];
        u32::from_le_bytes([four[0], four[1], four[2], four[3]])
    }

    /// Which of the eight squares around `at` are in the set, and `at` itself: the bits of three rows of three.
    #[inline(always)]
    pub(super) fn around(&self, at: Square) -> u32 {
        let shift = u32::from(at.x % 8) + REACH as u32 - 1;
        let row = |row| self.row(at, row) >> shift & 0b111;
        row(REACH - 1) | row(REACH) << 3 | row(REACH + 1) << 6
    }
}

/// Copies rows at the northern and southern edge into the margins beyond the other.
#[inline(always)]
pub(super) fn wrap_rows<T: Copy>(board: &mut [T], stride: usize, side: usize) {
    board.copy_within(side * stride..(side + REACH) * stride, 0);
    board.copy_within(REACH * stride..2 * REACH * stride, (side + REACH) * stride);
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_rules::last_bullet::LastBulletRules;

    #[test]
    fn pieces_come_in_order() {
        let mut pieces = Pieces::default();
        for piece in [150, 0, 63, 64, 7] {
            pieces.insert(piece);
        }
        pieces.remove(7);
        pieces.remove(1000);
        assert_eq!(pieces.iter().collect::<Vec<_>>(), [0, 63, 64, 150]);
        pieces.retain(|piece| piece % 2 == 0);
        assert_eq!(pieces.iter().collect::<Vec<_>>(), [0, 64, 150]);
    }

    /// Against the plain definition, on boards whose edges fall at all bits of a byte.
    #[test]
    fn a_window_shows_what_is_around() {
        for side in 17..=41 {
            let mut shape = Shape::new(1, &LastBulletRules::default()).unwrap();
            shape.side = side;
            let held = |at: Square| (u32::from(at.x) * 7 + u32::from(at.y) * 13).is_multiple_of(5);
            let mut squares = Squares::new(&shape);
            let all = || (0..shape.squares()).map(|index| shape.square(index));
            all().for_each(|at| squares.insert(at));
            squares.wrap();
            all().filter(|&at| !held(at)).for_each(|at| squares.remove(at));
            squares.wrap();
            for at in all() {
                for (row, column) in (0..17).flat_map(|row| (0..17).map(move |column| (row, column))) {
                    let there = shape.step(at, column - 8, row - 8);
                    let bit = squares.row(at, row as usize) >> (at.x % 8) >> column & 1;
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
