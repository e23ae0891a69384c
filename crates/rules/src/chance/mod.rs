//! Chance: the only way randomness enters a game.
//!
//! A referee asks [`Chance`] to choose among weighted outcomes and never knows who answers: a seeded generator
//! ([`Seeded`]), a test or a replay ([`Scripted`]), or an enumerator that walks through every answer
//! ([`enumerate`]).

mod enumerated;
mod scripted;
mod seed;
mod seeded;

pub use enumerated::{Distribution, EnumerateError, Enumerator, Probability, enumerate};
pub use scripted::{ScriptError, Scripted};
pub use seed::{Seed, SeedError};
pub use seeded::Seeded;

use alloc::vec::Vec;

/// Chooses among outcomes with integer weights, so that probabilities can be enumerated exactly.
pub trait Chance {
    /// Returns one of `0..n`, all equally likely. `n` is at least 1.
    fn uniform(&mut self, n: u32) -> u32;

    /// Returns the index of one of `weights`, each with probability `weight / sum`. An outcome of weight 0 never comes.
    ///
    /// The sum is at least 1 and fits into a `u32`.
    #[inline]
    fn pick(&mut self, weights: &[u32]) -> usize {
        let place = self.uniform(weights.iter().sum());
        // How many outcomes end at or before the place: counted without a branch, since nobody can predict it.
        let (mut index, mut end) = (0, 0);
        for &weight in &weights[..weights.len() - 1] {
            end += weight;
            index += usize::from(place >= end);
        }
        index
    }

    /// Puts `items` into a uniformly random order (Fisher-Yates).
    fn shuffle<T>(&mut self, items: &mut [T])
    where
        Self: Sized,
    {
        for last in (1..items.len()).rev() {
            let other = self.uniform(last as u32 + 1) as usize;
            items.swap(last, other);
        }
    }
}

impl<C: Chance> Chance for &mut C {
    fn uniform(&mut self, n: u32) -> u32 {
        (**self).uniform(n)
    }

    fn pick(&mut self, weights: &[u32]) -> usize {
        (**self).pick(weights)
    }
}

/// Passes questions on to another chance and writes the answers down, so that [`Scripted`] can give them again.
#[derive(Debug, Clone)]
pub struct Recorder<C> {
    inner: C,
    picks: Vec<u32>,
}

impl<C: Chance> Recorder<C> {
    /// Records the answers of `inner`.
    pub fn new(inner: C) -> Self {
        Recorder { inner, picks: Vec::new() }
    }

    /// All answers so far, in order.
    pub fn picks(&self) -> &[u32] {
        &self.picks
    }
}

impl<C: Chance> Chance for Recorder<C> {
    fn uniform(&mut self, n: u32) -> u32 {
        let answer = self.inner.uniform(n);
        self.picks.push(answer);
        answer
    }

    fn pick(&mut self, weights: &[u32]) -> usize {
        let answer = self.inner.pick(weights);
        self.picks.push(answer as u32);
        answer
    }
}
