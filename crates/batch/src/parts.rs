//! Divides the rows of a batch among threads.

use crate::batch::Out;

/// Observations of some rows: a column for each field.
#[derive(Debug)]
pub(crate) enum Columns<'a, T> {
    /// Of all rows, as they came.
    Whole {
        /// One column after the other.
        cells: &'a mut [T],
        /// The length of a column.
        rows: usize,
    },
    /// A piece of each column.
    Cut(Vec<&'a mut [T]>),
}

impl<'a, T> Columns<'a, T> {
    /// The column of a field.
    #[inline]
    pub(crate) fn column(&mut self, field: usize) -> &mut [T] {
        match self {
            Columns::Whole { cells, rows } => &mut cells[field * *rows..][..*rows],
            Columns::Cut(columns) => columns[field],
        }
    }

    /// Writes a row, one number into each column.
    pub(crate) fn set_row(&mut self, row: usize, numbers: &[T])
    where
        T: Copy,
    {
        for (field, number) in numbers.iter().enumerate() {
            self.column(field)[row] = *number;
        }
    }

    /// Cuts columns of `rows` cells into pieces of `size` (the last may be shorter).
    fn cut(cells: &'a mut [T], rows: usize, size: usize) -> impl Iterator<Item = Self> {
        let mut parts: Vec<Vec<&'a mut [T]>> = (0..rows.div_ceil(size)).map(|_| Vec::new()).collect();
        for column in cells.chunks_exact_mut(rows) {
            for (part, piece) in parts.iter_mut().zip(column.chunks_mut(size)) {
                part.push(piece);
            }
        }
        parts.into_iter().map(Columns::Cut)
    }
}

/// Where a step writes what happened in some rows: [`Out`] for a part of them.
#[derive(Debug)]
pub(crate) struct Part<'a, T> {
    pub(crate) obs: Columns<'a, T>,
    pub(crate) final_obs: Columns<'a, T>,
    pub(crate) rewards: &'a mut [f32],
    pub(crate) terminated: &'a mut [bool],
    pub(crate) truncated: &'a mut [bool],
}

impl<'a, T> Part<'a, T> {
    /// All rows.
    #[inline]
    pub(crate) fn whole(out: &'a mut Out<'_, T>) -> Self {
        let rows = out.rewards.len();
        Part {
            obs: Columns::Whole { cells: out.obs, rows },
            final_obs: Columns::Whole { cells: out.final_obs, rows },
            rewards: out.rewards,
            terminated: out.terminated,
            truncated: out.truncated,
        }
    }

    /// Parts of `size` rows (the last may have fewer).
    pub(crate) fn cut(out: &'a mut Out<'_, T>, size: usize) -> impl Iterator<Item = Self> {
        let rows = out.rewards.len();
        let obs = Columns::cut(out.obs, rows, size);
        let final_obs = Columns::cut(out.final_obs, rows, size);
        let flags = out.terminated.chunks_mut(size).zip(out.truncated.chunks_mut(size));
        obs.zip(final_obs).zip(out.rewards.chunks_mut(size)).zip(flags).map(
            |(((obs, final_obs), rewards), (terminated, truncated))| Part {
                obs,
                final_obs,
                rewards,
                terminated,
                truncated,
            },
        )
    }
}
