//! Divides a batch among threads.

use crate::{
    batched::Out,
    kernel::{Kernel, MemoryOrder},
};

/// The observations of some rows.
#[derive(Debug)]
pub enum Columns<'a, T> {
    /// The observations of all rows, undivided.
    Whole {
        /// One column after the other.
        cells: &'a mut [T],
        /// The length of a column.
        length: usize,
    },
    /// A piece of each column.
    Cut(Vec<&'a mut [T]>),
    /// One row after the other.
    Rows {
        /// All rows.
        cells: &'a mut [T],
        /// The length of a row.
        width: usize,
    },
}

impl<'a, T> Columns<'a, T> {
    /// A column; all cells if they lie row by row.
    #[inline]
    pub fn column(&mut self, index: usize) -> &mut [T] {
        match self {
            Columns::Whole { cells, length } => &mut cells[index * *length..][..*length],
            Columns::Cut(columns) => columns[index],
            Columns::Rows { cells, .. } => cells,
        }
    }

    /// Writes a row, one number into each column.
    #[inline(always)]
    pub fn set_row(&mut self, row: usize, numbers: impl IntoIterator<Item = T>) {
        match self {
            Columns::Whole { cells, length } => {
                for (cell, number) in cells[row..].iter_mut().step_by(*length).zip(numbers) {
                    *cell = number;
                }
            }
            Columns::Cut(columns) => {
                for (column, number) in columns.iter_mut().zip(numbers) {
                    column[row] = number;
                }
            }
            Columns::Rows { cells, width } => {
                for (cell, number) in cells[row * *width..][..*width].iter_mut().zip(numbers) {
                    *cell = number;
                }
            }
        }
    }

    /// Writes numbers of each lane of a block, the first into the first column and so on. It is a loop, not `for_each`: a closure
    /// that is not inlined is compiled for the least instruction set.
    #[inline(always)]
    pub(crate) fn write_block<U: Copy, const LANES: usize>(
        &mut self,
        block: usize,
        numbers: &[[U; LANES]],
        convert: impl Fn(U) -> T,
    ) {
        match self {
            Columns::Whole { cells, length } => {
                for (column, from) in cells.chunks_exact_mut(*length).zip(numbers) {
                    write_lanes(from, column, block, &convert);
                }
            }
            Columns::Cut(columns) => {
                for (column, from) in columns.iter_mut().zip(numbers) {
                    write_lanes(from, column, block, &convert);
                }
            }
            Columns::Rows { cells, width } => {
                let rows = cells.chunks_exact_mut(*width).skip(block * LANES).take(LANES);
                for (lane, row) in rows.enumerate() {
                    row.iter_mut().zip(numbers).for_each(|(cell, from)| *cell = convert(from[lane]));
                }
            }
        }
    }

    fn whole(cells: &'a mut [T], order: MemoryOrder, width: usize) -> Self {
        match order {
            MemoryOrder::Columns => Columns::Whole { length: cells.len() / width, cells },
            MemoryOrder::Rows => Columns::Rows { cells, width },
        }
    }

    /// Cuts into pieces of `size` rows (the last may be shorter).
    fn cut(cells: &'a mut [T], order: MemoryOrder, width: usize, size: usize) -> Vec<Self> {
        if order == MemoryOrder::Rows {
            return cells.chunks_mut(size * width).map(|cells| Columns::Rows { cells, width }).collect();
        }
        let rows = cells.len() / width;
        let mut parts: Vec<Vec<&'a mut [T]>> = (0..rows.div_ceil(size)).map(|_| Vec::new()).collect();
        for column in cells.chunks_exact_mut(rows.max(1)) {
            for (part, piece) in parts.iter_mut().zip(column.chunks_mut(size)) {
                part.push(piece);
            }
        }
        parts.into_iter().map(Columns::Cut).collect()
    }
}

/// The order of observations and last observations in memory, and their length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) order: MemoryOrder,
    pub(crate) final_order: MemoryOrder,
    pub(crate) width: usize,
}

/// The slices that the matches of one thread write into: a part of [`Out`], and the results that they keep when they end.
#[derive(Debug)]
pub struct OutPart<'a, T> {
    /// As in [`Out`].
    pub obs: Columns<'a, T>,
    /// As in [`Out`].
    pub final_obs: Columns<'a, T>,
    /// As in [`Out`].
    pub rewards: &'a mut [f32],
    /// As in [`Out`].
    pub terminated: &'a mut [bool],
    /// As in [`Out`].
    pub truncated: &'a mut [bool],
    /// The rewards of the last match that ended in each row, for its seats; empty where fewer than two take turns.
    pub final_rewards: &'a mut [f32],
}

impl<'a, T> OutPart<'a, T> {
    /// Makes a part of all rows.
    #[inline]
    pub(crate) fn whole(out: &'a mut Out<'_, T>, layout: Layout, final_rewards: &'a mut [f32]) -> Self {
        OutPart {
            obs: Columns::whole(out.obs, layout.order, layout.width),
            final_obs: Columns::whole(out.final_obs, layout.final_order, layout.width),
            rewards: out.rewards,
            terminated: out.terminated,
            truncated: out.truncated,
            final_rewards,
        }
    }

    /// Cuts into parts of `size` rows (the last may have fewer), without final rewards.
    pub(crate) fn cut(out: &'a mut Out<'_, T>, layout: Layout, size: usize) -> impl Iterator<Item = Self> {
        let obs = Columns::cut(out.obs, layout.order, layout.width, size);
        let final_obs = Columns::cut(out.final_obs, layout.final_order, layout.width, size);
        let flags = out.terminated.chunks_mut(size).zip(out.truncated.chunks_mut(size));
        // None where nobody sees them.
        let final_obs = final_obs.into_iter().chain(std::iter::repeat_with(|| Columns::Cut(Vec::new())));
        obs.into_iter().zip(final_obs).zip(out.rewards.chunks_mut(size)).zip(flags).map(
            |(((obs, final_obs), rewards), (terminated, truncated))| OutPart {
                obs,
                final_obs,
                rewards,
                terminated,
                truncated,
                final_rewards: &mut [],
            },
        )
    }
}

/// One thread's share of a batch.
#[derive(Debug)]
pub struct Chunk<'a, K: Kernel> {
    /// Adjacent blocks.
    pub blocks: &'a mut [K::Block],
    /// The thread's memory.
    pub scratch: &'a mut K::Scratch,
    /// The slices that the blocks write into.
    pub out: OutPart<'a, K::Cell>,
}

/// Memory with the alignment of vectors: without it, some vectors would touch two lines of the cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Aligned<T>(pub(crate) T);

/// Calls `work` for each lane whose mask is set, in order, where that is rare: the masks of several lanes make a word.
#[inline(always)]
pub(crate) fn for_marked<const WORDS: usize>(masks: [u64; WORDS], lanes: usize, mut work: impl FnMut(usize)) {
    let bits = u64::BITS as usize * WORDS / lanes;
    let firsts = u64::MAX / (u64::MAX >> (64 - bits));
    for (word, masks) in masks.into_iter().enumerate() {
        let mut marked = u64::from_le(masks) & firsts;
        while marked != 0 {
            work((64 * word + marked.trailing_zeros() as usize) / bits);
            marked &= marked - 1;
        }
    }
}

/// A block's share of a slice: the lanes from its first on. Lanes without a row get a default.
#[inline(always)]
pub(crate) fn lanes_of<T: Copy + Default, const LANES: usize>(all: &[T], block: usize) -> [T; LANES] {
    let from = &all[block * LANES..];
    match from.first_chunk() {
        Some(whole) => *whole,
        None => padded(from),
    }
}

/// Not inlined: otherwise whole blocks would be copied by a call as well.
#[cold]
#[inline(never)]
fn padded<T: Copy + Default, const LANES: usize>(from: &[T]) -> [T; LANES] {
    std::array::from_fn(|i| from.get(i).copied().unwrap_or_default())
}

/// Writes a number for each lane of a block; for the last block, as many as there are rows.
#[inline(always)]
pub(crate) fn write_lanes<T: Copy, U, const LANES: usize>(
    from: &[T; LANES],
    to: &mut [U],
    block: usize,
    convert: impl Fn(T) -> U,
) {
    let to = to.get_mut(block * LANES..).unwrap_or_default();
    let Some(to) = to.first_chunk_mut::<LANES>() else { return write_rest(from, to, convert) };
    for i in 0..LANES {
        to[i] = convert(from[i]);
    }
}

/// Not inlined, either.
#[cold]
#[inline(never)]
fn write_rest<T: Copy, U, const LANES: usize>(from: &[T; LANES], to: &mut [U], convert: impl Fn(T) -> U) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to = convert(from));
}
