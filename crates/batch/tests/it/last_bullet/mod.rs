//! Last Bullet in batches: the same matches as the referee's, and what a batch promises.

mod batch;
mod referee;

use necrodome_batch::{
    batch::{Autoreset, Batch, Out},
    last_bullet::LastBulletBatch,
    observe::last_bullet::{ACTIONS, CELLS},
    stream::Stream,
};
use necrodome_rules::{chance::Chance, last_bullet::LastBulletRules, options::parse};

fn rules(copies: u32, density: f64, max_turns: Option<u32>) -> LastBulletRules {
    let mut pairs = vec![("copies", copies.to_string()), ("density", density.to_string())];
    pairs.extend(max_turns.map(|turns| ("max_turns", turns.to_string())));
    let pairs: Vec<_> = pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    parse(&pairs).unwrap()
}

/// A batch and where it writes.
#[derive(Clone)]
struct Run {
    batch: LastBulletBatch,
    written: Written,
}

#[derive(Debug, Clone, PartialEq)]
struct Written {
    obs: Vec<u8>,
    final_obs: Vec<u8>,
    rewards: Vec<f32>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
}

/// What nothing writes: shows whether something was written.
const UNTOUCHED: u8 = 99;

impl Run {
    /// Worlds with these seeds, begun.
    fn new(seeds: &[u64], entries: usize, rules: &LastBulletRules, threads: usize) -> Self {
        let mut batch = LastBulletBatch::new(seeds.len(), entries, rules, threads).unwrap();
        for (world, &seed) in seeds.iter().enumerate() {
            batch.seed(world, seed);
        }
        let rows = batch.rows();
        let written = Written {
            obs: vec![UNTOUCHED; rows * CELLS],
            final_obs: vec![UNTOUCHED; rows * CELLS],
            rewards: vec![-1.0; rows],
            terminated: vec![false; rows],
            truncated: vec![true; rows],
        };
        let mut run = Run { batch, written };
        run.reset(None);
        run
    }

    fn reset(&mut self, which: Option<&[bool]>) {
        self.batch.reset(which, &mut self.written.out());
    }

    fn step(&mut self, actions: &[u8], autoreset: Autoreset) {
        self.batch.step(actions, autoreset, &mut self.written.out());
    }

    fn alive(&self) -> Vec<bool> {
        let mut alive = vec![false; self.batch.rows()];
        self.batch.alive(&mut alive);
        alive
    }

    fn masks(&self) -> Vec<bool> {
        let mut masks = vec![false; self.batch.rows() * ACTIONS];
        self.batch.masks(&mut masks);
        masks
    }
}

impl Written {
    fn out(&mut self) -> Out<'_, u8> {
        Out {
            obs: &mut self.obs,
            final_obs: &mut self.final_obs,
            rewards: &mut self.rewards,
            terminated: &mut self.terminated,
            truncated: &mut self.truncated,
        }
    }
}

/// How survivors behave in a test.
#[derive(Debug, Clone, Copy)]
enum Style {
    /// Anything.
    Random,
    /// Random moves.
    Walk,
    /// Shots that hit, when there are any, else moves.
    Shoot,
    /// A bit of everything.
    Mixed,
}

/// An action for each row.
fn choose(style: Style, masks: &[bool], chance: &mut Stream) -> Vec<u8> {
    let one = |mask: &[bool]| {
        let style = match style {
            Style::Mixed => {
                [Style::Random, Style::Walk, Style::Walk, Style::Shoot][chance.uniform(4) as usize]
            }
            style => style,
        };
        let shots: Vec<usize> = (9..ACTIONS).filter(|&action| mask[action]).collect();
        match style {
            Style::Shoot if !shots.is_empty() => shots[chance.uniform(shots.len() as u32) as usize] as u8,
            Style::Random => chance.uniform(ACTIONS as u32) as u8,
            _ => chance.uniform(9) as u8,
        }
    };
    masks.chunks_exact(ACTIONS).map(one).collect()
}
