//! Divides a batch among threads.

use crate::{batched::Out, kernel::Kernel};

/// Observations of some rows: a column for each field, or a single one where they lie row by row.
#[derive(Debug)]
pub enum Columns<'a, T> {
    /// Of all rows, as they came.
    Whole {
        /// One column after the other.
        cells: &'a mut [T],
        /// The length of a column.
        length: usize,
    },
    /// A piece of each column.
    Cut(Vec<&'a mut [T]>),
}

impl<'a, T> Columns<'a, T> {
    /// A column.
    #[inline]
    pub fn column(&mut self, index: usize) -> &mut [T] {
        match self {
            Columns::Whole { cells, length } => &mut cells[index * *length..][..*length],
            Columns::Cut(columns) => columns[index],
        }
    }

    /// Writes a row, one number into each column.
    pub fn set_row(&mut self, row: usize, numbers: &[T])
    where
        T: Copy,
    {
        for (field, number) in numbers.iter().enumerate() {
            self.column(field)[row] = *number;
        }
    }

    fn whole(cells: &'a mut [T], columns: usize) -> Self {
        Columns::Whole { length: cells.len() / columns, cells }
    }

    /// Cuts every column into pieces of `size` rows (the last may be shorter).
    fn cut(cells: &'a mut [T], columns: usize, rows: usize, size: usize) -> impl Iterator<Item = Self> {
        let length = cells.len() / columns;
        let mut parts: Vec<Vec<&'a mut [T]>> = (0..rows.div_ceil(size)).map(|_| Vec::new()).collect();
        for column in cells.chunks_exact_mut(length) {
            for (part, piece) in parts.iter_mut().zip(column.chunks_mut(length / rows * size)) {
                part.push(piece);
            }
        }
        parts.into_iter().map(Columns::Cut)
    }
}

/// Where the matches of one thread write: a part of [`Out`], and what they keep when they end.
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
    /// What the last match that ended in each row gave to its seats; empty where fewer than two take turns.
    pub final_rewards: &'a mut [f32],
}

impl<'a, T> OutPart<'a, T> {
    /// All rows.
    #[inline]
    pub(crate) fn whole(out: &'a mut Out<'_, T>, columns: usize, final_rewards: &'a mut [f32]) -> Self {
        OutPart {
            obs: Columns::whole(out.obs, columns),
            final_obs: Columns::whole(out.final_obs, columns),
            rewards: out.rewards,
            terminated: out.terminated,
            truncated: out.truncated,
            final_rewards,
        }
    }

    /// Parts of `size` rows (the last may have fewer), without final rewards.
    pub(crate) fn cut(out: &'a mut Out<'_, T>, columns: usize, size: usize) -> impl Iterator<Item = Self> {
        let rows = out.rewards.len();
        let obs = Columns::cut(out.obs, columns, rows, size);
        let final_obs = Columns::cut(out.final_obs, columns, rows, size);
        let flags = out.terminated.chunks_mut(size).zip(out.truncated.chunks_mut(size));
        obs.zip(final_obs).zip(out.rewards.chunks_mut(size)).zip(flags).map(
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
    /// Blocks next to each other.
    pub blocks: &'a mut [K::Block],
    /// The thread's own memory.
    pub scratch: &'a mut K::Scratch,
    /// Where the blocks write.
    pub out: OutPart<'a, K::Cell>,
}
