//! A step of some blocks: play, begin new matches where they are due, tell what happened.

use super::{
    block::{Block, Column, LANES, Sight},
    lane::{MAX_FIELDS, OVER, fields},
};
use crate::{batch::Autoreset, parts::Part};
use pulp::{Arch, NullaryFnOnce};

/// How many blocks draw their words together. A vector that was just written in pieces cannot be read at once, so there is
/// something to do in between.
const AHEAD: usize = 4;

/// What is the same for all rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    pub(super) seats: usize,
    /// 0 if there is no such rule.
    pub(super) max_turns: u32,
    pub(super) autoreset: Autoreset,
}

/// Calls a method for the number of monsters, which is known to the compiler from there on.
macro_rules! for_seats {
    ($work:ident . $method:ident :: <N> ( $($argument:expr),* )) => {
        match $work.seats {
            2 => $work.$method::<2>($($argument),*),
            3 => $work.$method::<3>($($argument),*),
            4 => $work.$method::<4>($($argument),*),
            5 => $work.$method::<5>($($argument),*),
            _ => $work.$method::<6>($($argument),*),
        }
    };
}

impl Work {
    /// Begins a new match.
    pub(super) fn begin(self, block: &mut Block, i: usize) {
        for_seats!(self.begin_for::<N>(block, i))
    }

    fn begin_for<const N: usize>(self, block: &mut Block, i: usize) {
        block.begin::<N>(i, self.max_turns);
    }

    /// Plays one action in each row.
    pub(super) fn play(
        self,
        blocks: &mut [Block],
        actions: &[u8],
        final_rewards: &mut [f32],
        part: Part<'_, i16>,
    ) {
        for_seats!(self.play_for::<N>(blocks, actions, final_rewards, part))
    }

    fn play_for<const N: usize>(
        self,
        blocks: &mut [Block],
        actions: &[u8],
        final_rewards: &mut [f32],
        part: Part<'_, i16>,
    ) {
        Arch::new().dispatch(Play::<N> { work: self, blocks, actions, final_rewards, part });
    }

    /// Writes what the seats see, without playing.
    pub(super) fn tell(self, blocks: &[Block], part: Part<'_, i16>) {
        for_seats!(self.tell_for::<N>(blocks, part))
    }

    fn tell_for<const N: usize>(self, blocks: &[Block], mut part: Part<'_, i16>) {
        let mut sight = [[0; LANES]; MAX_FIELDS];
        for (index, block) in blocks.iter().enumerate() {
            let first = index * LANES;
            let rows = (part.rewards.len() - first).min(LANES);
            block.observe::<N>(&mut sight);
            part.write_flags(first, block, rows);
            part.write_sight::<N>(first, rows, &sight);
        }
    }
}

/// A step, with everything inlined so that it is compiled for each instruction set.
struct Play<'a, const N: usize> {
    work: Work,
    blocks: &'a mut [Block],
    actions: &'a [u8],
    final_rewards: &'a mut [f32],
    part: Part<'a, i16>,
}

impl<const N: usize> NullaryFnOnce for Play<'_, N> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        let mut sight = [[0; LANES]; MAX_FIELDS];
        for index in 0..self.blocks.len() {
            if index % AHEAD == 0 {
                self.blocks[index..].iter_mut().take(AHEAD).for_each(Block::roll);
            }
            self.step(index, &mut sight);
        }
    }
}

impl<const N: usize> Play<'_, N> {
    /// A step of one block.
    #[inline(always)]
    fn step(&mut self, index: usize, sight: &mut Sight) {
        let first = index * LANES;
        let actions = &self.actions[first..];
        let rows = actions.len().min(LANES);
        let mut column = [0; LANES];
        column[..rows].copy_from_slice(&actions[..rows]);

        let block = &mut self.blocks[index];
        let before = block.phase;
        block.play::<N>(&column, self.work.max_turns);
        block.observe::<N>(sight);
        self.part.write_flags(first, block, rows);
        // The places of the last block that are no rows stay over.
        for i in over(&block.phase).take_while(|&i| i < rows) {
            self.end(index, i, before[i] == OVER, sight);
        }
        self.part.write_sight::<N>(first, rows, sight);
    }

    /// What follows for a match that is over, and may have been before this step.
    fn end(&mut self, index: usize, i: usize, had_ended: bool, sight: &mut Sight) {
        let block = &mut self.blocks[index];
        let row = index * LANES + i;
        if !had_ended {
            let rewards = block.lane::<N>(i).rewards();
            self.final_rewards[row * N..][..N].copy_from_slice(&rewards);
            self.part.rewards[row] = rewards[usize::from(block.seat[i])];
        }
        let begins = match self.work.autoreset {
            Autoreset::Disabled => false,
            Autoreset::NextStep => had_ended,
            Autoreset::SameStep => true,
        };
        if !begins {
            return;
        }
        if had_ended {
            self.part.terminated[row] = false;
        } else {
            for (field, numbers) in sight.iter().enumerate().take(fields(N)) {
                self.part.final_obs.column(field)[row] = numbers[i].into();
            }
        }
        block.begin::<N>(i, self.work.max_turns);
        block.observe_one::<N>(i, sight);
    }
}

impl Part<'_, i16> {
    /// Nothing was won, and what has ended has ended by the rules.
    #[inline(always)]
    fn write_flags(&mut self, first: usize, block: &Block, rows: usize) {
        self.rewards[first..][..rows].fill(0.0);
        self.truncated[first..][..rows].fill(false);
        for (flag, phase) in self.terminated[first..][..rows].iter_mut().zip(&block.phase) {
            *flag = *phase == OVER;
        }
    }

    #[inline(always)]
    fn write_sight<const N: usize>(&mut self, first: usize, rows: usize, sight: &Sight) {
        for (field, numbers) in sight.iter().enumerate().take(fields(N)) {
            let cells = &mut self.obs.column(field)[first..][..rows];
            for (cell, &number) in cells.iter_mut().zip(numbers) {
                *cell = number.into();
            }
        }
    }
}

/// The matches that are over, in order.
#[inline(always)]
fn over(phase: &Column) -> impl Iterator<Item = usize> + use<> {
    let mut bits = (0..LANES).fold(0u64, |bits, i| bits | u64::from(phase[i] == OVER) << i);
    core::iter::from_fn(move || {
        let i = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (i < LANES).then_some(i)
    })
}
