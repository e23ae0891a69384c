//! Exact rewards: the link between a batch and its signals.

use necrodome_batch::{
    batched::{Autoreset, Batched, Out},
    kernel::Kernel,
    signals::{Signals, Stepped},
};
use numpy::PyArray1;
use pyo3::{intern, prelude::*, types::PyDict};

/// The exact values of a batch.
pub struct Exact<T> {
    signals: Signals,
    /// Takes the observations of this kernel as numbers of 16 bits.
    numbers: fn(&[T]) -> &[i16],
    /// The seat that decides in each row, if both sides are rows.
    movers: Option<Vec<u8>>,
    /// The seats after the step.
    now: Vec<u8>,
    passed: Vec<bool>,
    game_rewards: Vec<f32>,
}

impl Exact<i16> {
    /// Makes the exact values of a batch; `both_sides` if all seats are rows.
    pub fn new(signals: Signals, both_sides: bool) -> Self {
        let movers = both_sides.then(Vec::new);
        Exact {
            signals,
            numbers: |numbers| numbers,
            movers,
            now: Vec::new(),
            passed: Vec::new(),
            game_rewards: Vec::new(),
        }
    }
}

impl<T> Exact<T> {
    /// Replaces the game's rewards by exact ones after a step; without actions, after a reset.
    pub fn price<K: Kernel<Cell = T>>(
        &mut self,
        batch: &Batched<K>,
        actions: Option<&[u8]>,
        out: &mut Out<'_, T>,
    ) {
        let obs = (self.numbers)(out.obs);
        if let Some(movers) = &mut self.movers {
            let rows = out.rewards.len();
            movers.resize(rows, 0);
            self.now.resize(rows, 0);
            self.passed.resize(rows, false);
            batch.to_act(&mut self.now);
            let both = movers.iter().zip(&self.now);
            self.passed.iter_mut().zip(both).for_each(|(passed, (before, now))| *passed = before != now);
            std::mem::swap(movers, &mut self.now);
        }
        let Some(actions) = actions else { return self.signals.look(obs, out.terminated) };
        self.game_rewards.clear();
        self.game_rewards.extend_from_slice(out.rewards);
        let stepped = Stepped {
            actions,
            rewards: &self.game_rewards,
            terminated: out.terminated,
            obs,
            passed: &self.passed,
        };
        self.signals.step(&stepped, batch.autoreset == Autoreset::SameStep);
        out.rewards.iter_mut().zip(&self.signals.regret).for_each(|(reward, regret)| *reward = -regret);
    }

    /// Writes the signals into infos.
    pub fn tell(&self, infos: &Bound<'_, PyDict>) -> PyResult<()> {
        let py = infos.py();
        let array = |numbers: &[f32]| PyArray1::from_slice(py, numbers);
        infos.set_item(intern!(py, "regret"), array(&self.signals.regret))?;
        infos.set_item(intern!(py, "luck"), array(&self.signals.luck))?;
        infos.set_item(intern!(py, "game_reward"), array(&self.game_rewards))
    }
}
