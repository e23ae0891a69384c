//! The arrays that a batch writes into, and what must hold for every batch.

// Each test has its own copy of this, and not all use all of it.
use necrodome_batch::{
    batch::{Autoreset, Batch, Out},
    stream::Stream,
};
use necrodome_rules::chance::Chance;

/// All that can happen after the end.
pub const MODES: [Autoreset; 3] = [Autoreset::NextStep, Autoreset::SameStep, Autoreset::Disabled];

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

/// A batch with the seeds from `seed` on, after its reset.
pub fn begun<B: Batch<Cell = i16>>(mut batch: B, seed: u64) -> (B, Table) {
    let mut table = Table::new(&batch);
    (0..batch.rows()).for_each(|row| batch.seed(row, seed.wrapping_add(row as u64)));
    batch.reset(None, &mut table.out());
    (batch, table)
}

/// Plays some steps with actions that depend on step and row only; gives all that each of them writes.
pub fn future(
    batch: &mut impl Batch<Cell = i16>,
    table: &mut Table,
    mode: Autoreset,
    steps: usize,
) -> Vec<Table> {
    let play = |step| {
        let action = |row| Stream::new((step * 1000 + row) as u64).uniform(batch.actions() as u32) as u8;
        let actions: Vec<u8> = (0..table.rows).map(action).collect();
        batch.step(&actions, mode, &mut table.out());
        table.clone()
    };
    (0..steps).map(play).collect()
}

/// An episode is the same with any number of threads and of other rows.
pub fn same_for_all<B: Batch<Cell = i16>>(rows: usize, make: impl Fn(usize, usize) -> (B, Table)) {
    for mode in MODES {
        let play = |rows: usize, threads: usize| {
            let (mut batch, mut table) = make(rows, threads);
            future(&mut batch, &mut table, mode, 120)
        };
        let expected = play(rows, 1);
        assert!(expected.iter().flat_map(|table| &table.terminated).filter(|&&over| over).count() > rows / 2);
        for threads in [2, 3, 7] {
            assert_eq!(play(rows, threads), expected, "{threads} threads, {mode:?}");
        }
        for few in [1, 64, 65] {
            for (table, all) in play(few, 2).iter().zip(&expected) {
                (0..few)
                    .for_each(|row| assert_eq!(table.row(row), all.row(row), "row {row} of {few}, {mode:?}"));
                assert_eq!(table.rewards, all.rewards[..few]);
                assert_eq!(table.terminated, all.terminated[..few]);
            }
        }
    }
}
