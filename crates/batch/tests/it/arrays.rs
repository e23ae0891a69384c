//! The arrays that a batch writes into, and checks that hold for every batch.

use necrodome_batch::{
    batched::{Autoreset, BatchError, BatchSetup, Batched, Out},
    kernel::{Kernel, MemoryOrder},
    stream::Stream,
};
use necrodome_rules::{chance::Chance, game::Game};

/// All modes of autoreset.
pub const MODES: [Autoreset; 3] = [Autoreset::NextStep, Autoreset::SameStep, Autoreset::Disabled];

/// One set of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrays<T = i16> {
    pub rows: usize,
    pub obs: Vec<T>,
    pub final_obs: Vec<T>,
    pub rewards: Vec<f32>,
    pub terminated: Vec<bool>,
    pub truncated: Vec<bool>,
}

impl<T: Copy> Arrays<T> {
    /// Fills the arrays with values that no step writes; observations with `nothing`.
    pub fn new(batch: &Batched<impl Kernel<Cell = T>>, nothing: T) -> Self {
        let (rows, cells) = (batch.rows(), batch.rows() * batch.width());
        Arrays {
            rows,
            obs: vec![nothing; cells],
            final_obs: vec![nothing; cells],
            rewards: vec![f32::NAN; rows],
            terminated: vec![true; rows],
            truncated: vec![true; rows],
        }
    }

    pub fn out(&mut self) -> Out<'_, T> {
        Out {
            obs: &mut self.obs,
            final_obs: &mut self.final_obs,
            rewards: &mut self.rewards,
            terminated: &mut self.terminated,
            truncated: &mut self.truncated,
        }
    }

    /// A row's observation.
    pub fn row(&self, row: usize) -> Vec<T> {
        self.obs.iter().skip(row).step_by(self.rows).copied().collect()
    }

    /// The last observation of a row.
    pub fn last_row(&self, order: MemoryOrder, row: usize) -> Vec<T> {
        let width = self.final_obs.len() / self.rows;
        match order {
            MemoryOrder::Columns => self.final_obs.iter().skip(row).step_by(self.rows).copied().collect(),
            MemoryOrder::Rows => self.final_obs[row * width..][..width].to_vec(),
        }
    }
}

/// Makes a batch with some threads.
pub fn batch<K: Kernel>(
    rules: &<K::Game as Game>::Rules,
    seats: usize,
    matches: usize,
    threads: usize,
) -> Result<Batched<K>, BatchError> {
    let rules = rules.clone();
    Batched::new(&BatchSetup { rules, seats, matches, threads, autoreset: Autoreset::NextStep })
}

/// The batch with the seeds from `seed` on, after its reset.
pub fn begun<K: Kernel<Cell = i16>>(mut batch: Batched<K>, seed: u64) -> (Batched<K>, Arrays) {
    let mut arrays = Arrays::new(&batch, -9);
    (0..batch.rows()).for_each(|row| batch.seed(row, seed.wrapping_add(row as u64)));
    batch.reset(None, &mut arrays.out());
    (batch, arrays)
}

/// Plays some steps with actions that depend only on step and row; returns everything that each of them writes.
pub fn future(
    batch: &mut Batched<impl Kernel<Cell = i16>>,
    arrays: &mut Arrays,
    mode: Autoreset,
    steps: usize,
) -> Vec<Arrays> {
    batch.autoreset = mode;
    let play = |step| {
        let action = |row| Stream::new((step * 1000 + row) as u64).uniform(batch.actions() as u32) as u8;
        let actions: Vec<u8> = (0..arrays.rows).map(action).collect();
        batch.step(&actions, &mut arrays.out());
        arrays.clone()
    };
    (0..steps).map(play).collect()
}

/// Checks that an episode is the same with any number of threads and of other rows.
pub fn same_for_all<K: Kernel<Cell = i16>>(rows: usize, make: impl Fn(usize, usize) -> (Batched<K>, Arrays)) {
    for mode in MODES {
        let play = |rows: usize, threads: usize| {
            let (mut batch, mut arrays) = make(rows, threads);
            future(&mut batch, &mut arrays, mode, 120)
        };
        let expected = play(rows, 1);
        assert!(
            expected.iter().flat_map(|arrays| &arrays.terminated).filter(|&&over| over).count() > rows / 2
        );
        for threads in [2, 3, 7] {
            assert_eq!(play(rows, threads), expected, "{threads} threads, {mode:?}");
        }
        for few in [1, 64, 65] {
            for (arrays, all) in play(few, 2).iter().zip(&expected) {
                (0..few).for_each(|row| {
                    assert_eq!(arrays.row(row), all.row(row), "row {row} of {few}, {mode:?}")
                });
                assert_eq!(arrays.rewards, all.rewards[..few]);
                assert_eq!(arrays.terminated, all.terminated[..few]);
            }
        }
    }
}
