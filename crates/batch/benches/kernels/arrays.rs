//! The arrays that the batches of the benchmarks write into.

use necrodome_batch::batched::Out;

/// The arrays of a batch.
pub struct Arrays<T> {
    rows: usize,
    cells: usize,
    obs: Vec<T>,
    final_obs: Vec<T>,
    rewards: Vec<f32>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
}

/// The space needed to begin at an address with the alignment of vectors.
const ROOM: usize = 64;

impl<T: Copy + Default> Arrays<T> {
    pub fn new(rows: usize, width: usize) -> Self {
        let cells = rows * width;
        Arrays {
            rows,
            cells,
            obs: vec![T::default(); cells + ROOM],
            final_obs: vec![T::default(); cells + ROOM],
            rewards: vec![0.0; rows + ROOM],
            terminated: vec![false; rows + ROOM],
            truncated: vec![false; rows + ROOM],
        }
    }

    pub fn out(&mut self) -> Out<'_, T> {
        Out {
            obs: aligned(&mut self.obs, self.cells),
            final_obs: aligned(&mut self.final_obs, self.cells),
            rewards: aligned(&mut self.rewards, self.rows),
            terminated: aligned(&mut self.terminated, self.rows),
            truncated: aligned(&mut self.truncated, self.rows),
        }
    }
}

/// Finds memory with the alignment of the Python package's arrays.
fn aligned<T>(all: &mut [T], count: usize) -> &mut [T] {
    let start = all.as_ptr().align_offset(ROOM);
    &mut all[start..start + count]
}
