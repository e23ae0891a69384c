//! The arrays that a batch writes into.

use necrodome_batch::batch::{Batch, Out};

/// One set of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub rows: usize,
    pub obs: Vec<i16>,
    pub final_obs: Vec<i16>,
    pub rewards: Vec<f32>,
    pub terminated: Vec<bool>,
    pub truncated: Vec<bool>,
}

impl Table {
    /// Filled with what no step writes.
    pub fn new(batch: &impl Batch<Cell = i16>) -> Self {
        let (rows, fields) = (batch.rows(), batch.fields().len());
        Table {
            rows,
            obs: vec![-9; rows * fields],
            final_obs: vec![-9; rows * fields],
            rewards: vec![f32::NAN; rows],
            terminated: vec![true; rows],
            truncated: vec![true; rows],
        }
    }

    pub fn out(&mut self) -> Out<'_, i16> {
        Out {
            obs: &mut self.obs,
            final_obs: &mut self.final_obs,
            rewards: &mut self.rewards,
            terminated: &mut self.terminated,
            truncated: &mut self.truncated,
        }
    }

    /// A row's observation.
    pub fn row(&self, row: usize) -> Vec<i16> {
        self.obs.iter().skip(row).step_by(self.rows).copied().collect()
    }

    /// Writes a row of observations.
    pub fn set(&self, obs: &mut [i16], row: usize, numbers: &[i16]) {
        obs.iter_mut().skip(row).step_by(self.rows).zip(numbers).for_each(|(cell, number)| *cell = *number);
    }
}
