//! Tokyo in batches: 64 matches at a time, a vector of bytes for each number of their states.
//!
//! A row is a match. It is observed by the seat that decides; once the match is over, by the one that decided last.
//! Every action draws one word from the row's stream, for the dice that are rolled again and for a turn that may begin
//! (a word that would make some rolls likelier is thrown away); so does the beginning of a match.

mod block;
mod dice;
mod lane;
mod saved;
mod work;

use crate::{
    batch::{Autoreset, Batch, Out},
    field::Field,
    observe::Observe,
    parts::Part,
    seated::Seated,
    stream::Stream,
};
use block::{Block, LANES};
use lane::{ACTIONS, ROLLING, YIELD, YIELDING};
use necrodome_rules::{
    game::Game,
    tokyo::{Tokyo, TokyoRules},
};
use work::Work;

/// Matches of Tokyo, played at once.
///
/// An action is a number: below 64 it says which dice are kept (bit i is die i), 64 leaves Tokyo, 65 stays. One that does not
/// fit keeps all dice, or stays. The reward is that of the seat that has acted: 0 until the match ends, then what
/// [`by_place`](crate::observe::by_place) says; [`Seated::final_rewards`] has those of all seats. A match that ends by
/// `max_turns` has ended by its rules, so it is terminated, never truncated.
#[derive(Debug, Clone)]
pub struct TokyoBatch {
    rules: TokyoRules,
    seats: usize,
    rows: usize,
    threads: usize,
    blocks: Vec<Block>,
    /// What the last match that ended in each row gave to its seats.
    final_rewards: Vec<f32>,
}

impl TokyoBatch {
    /// New matches, one for each row, with the row's number as its seed.
    pub fn new(rules: &TokyoRules, seats: usize, rows: usize, threads: usize) -> Result<Self, String> {
        let range = Tokyo::SEATS;
        if !range.contains(&seats) {
            return Err(format!("expected {} to {} monsters, got {seats}", range.start(), range.end()));
        }
        if rows == 0 || threads == 0 {
            return Err(format!("expected at least one row and one thread, got {rows} and {threads}"));
        }
        let blocks = (0..rows.div_ceil(LANES)).map(|block| Block::new((block * LANES) as u64)).collect();
        let final_rewards = vec![0.0; rows * seats];
        let mut batch = TokyoBatch { rules: *rules, seats, rows, threads, blocks, final_rewards };
        let work = batch.work(Autoreset::Disabled);
        for row in 0..rows {
            work.begin(&mut batch.blocks[row / LANES], row % LANES);
        }
        Ok(batch)
    }

    fn work(&self, autoreset: Autoreset) -> Work {
        let max_turns = self.rules.max_turns.map_or(0, |max| max.get());
        Work { seats: self.seats, max_turns, autoreset }
    }
}

impl Batch for TokyoBatch {
    type Cell = i16;

    fn rows(&self) -> usize {
        self.rows
    }

    fn fields(&self) -> Vec<Field> {
        Tokyo::fields(&self.rules, self.seats)
    }

    fn actions(&self) -> usize {
        ACTIONS
    }

    fn matches(&self) -> usize {
        self.rows
    }

    fn seed(&mut self, one: usize, seed: u64) {
        self.blocks[one / LANES].streams[one % LANES] = Stream::new(seed);
    }

    fn reset(&mut self, which: Option<&[bool]>, out: &mut Out<'_, i16>) {
        let work = self.work(Autoreset::Disabled);
        for row in 0..self.rows {
            if which.is_none_or(|which| which[row]) {
                work.begin(&mut self.blocks[row / LANES], row % LANES);
            }
        }
        work.tell(&self.blocks, Part::whole(out));
    }

    fn step(&mut self, actions: &[u8], autoreset: Autoreset, out: &mut Out<'_, i16>) {
        let work = self.work(autoreset);
        if self.threads == 1 {
            return work.play(&mut self.blocks, actions, &mut self.final_rewards, Part::whole(out));
        }
        let size = self.blocks.len().div_ceil(self.threads);
        let rows = size * LANES;
        let blocks = self.blocks.chunks_mut(size);
        let final_rewards = self.final_rewards.chunks_mut(rows * self.seats);
        let parts = Part::cut(out, rows);
        rayon::scope(|scope| {
            for (((blocks, actions), final_rewards), part) in
                blocks.zip(actions.chunks(rows)).zip(final_rewards).zip(parts)
            {
                scope.spawn(move |_| work.play(blocks, actions, final_rewards, part));
            }
        });
    }

    fn masks(&self, out: &mut [bool]) {
        let phases = self.blocks.iter().flat_map(|block| block.phase);
        for (mask, phase) in out.chunks_exact_mut(ACTIONS).zip(phases) {
            let (keeps, decides) = mask.split_at_mut(usize::from(YIELD));
            keeps.fill(phase == ROLLING);
            decides.fill(phase == YIELDING);
        }
    }

    fn save(&self) -> Vec<u8> {
        saved::save(self)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        saved::restore(self, state)
    }
}

impl Seated for TokyoBatch {
    fn seats(&self) -> usize {
        self.seats
    }

    fn to_act(&self, out: &mut [u8]) {
        let seats = self.blocks.iter().flat_map(|block| block.seat);
        out.iter_mut().zip(seats).for_each(|(out, seat)| *out = seat);
    }

    fn final_rewards(&self) -> &[f32] {
        &self.final_rewards
    }
}
