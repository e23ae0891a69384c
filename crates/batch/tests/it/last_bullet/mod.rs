//! Last Bullet in batches: the same matches as the referee's, and the promises of a batch.

mod batch;
mod referee;
pub mod versus;

use crate::arrays::{self, Arrays};
use necrodome_batch::{
    batched::Autoreset,
    last_bullet::{LastBulletBatch, observe::ACTIONS},
    stream::Stream,
};
use necrodome_rules::{chance::Chance, last_bullet::LastBulletRules, options::parse};

pub fn rules(copies: u32, density: f64, max_turns: Option<u32>) -> LastBulletRules {
    let mut pairs = vec![("copies", copies.to_string()), ("density", density.to_string())];
    pairs.extend(max_turns.map(|turns| ("max_turns", turns.to_string())));
    let pairs: Vec<_> = pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    parse(&pairs).unwrap()
}

/// A batch and its arrays.
#[derive(Clone)]
struct Run {
    batch: LastBulletBatch,
    written: Written,
}

type Written = Arrays<u8>;

/// A value that no step writes, which shows whether something was written.
const UNTOUCHED: u8 = 99;

impl Run {
    /// Makes worlds with these seeds and begins them.
    fn new(seeds: &[u64], entries: usize, rules: &LastBulletRules, threads: usize) -> Self {
        let mut batch: LastBulletBatch = arrays::batch(rules, entries, seeds.len(), threads).unwrap();
        for (world, &seed) in seeds.iter().enumerate() {
            batch.seed(world, seed);
        }
        let written = Arrays::new(&batch, UNTOUCHED);
        let mut run = Run { batch, written };
        run.reset(None);
        run
    }

    fn reset(&mut self, which: Option<&[bool]>) {
        self.batch.reset(which, &mut self.written.out());
    }

    fn step(&mut self, actions: &[u8], autoreset: Autoreset) {
        self.batch.autoreset = autoreset;
        self.batch.step(actions, &mut self.written.out());
    }

    fn rows_of_a_world(&self) -> usize {
        self.batch.rows() / self.batch.matches()
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

/// The behaviour of survivors in a test.
#[derive(Debug, Clone, Copy)]
enum Style {
    /// Any action.
    Random,
    /// Random moves.
    Walk,
    /// Shots that hit, if there are any, else moves.
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
