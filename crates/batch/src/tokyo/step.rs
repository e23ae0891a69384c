//! A step of some blocks: play, begin new matches where they are due, tell what happened.

use super::{
    TokyoKernel,
    block::{Block, BlockObs, Column, LANES},
    lane::{MAX_FIELDS, OVER, fields},
};
use crate::{
    actions::{HOLD, any_holds},
    batched::Autoreset,
    instructions::arch,
    parts::{Chunk, OutPart},
};
use pulp::NullaryFnOnce;

/// How many blocks draw their words together. A vector that was just written in pieces cannot be read at once, so there is
/// something to do in between.
const AHEAD: usize = 4;

/// Calls a function for the number of monsters, which is known to the compiler from there on.
macro_rules! for_seats {
    ($kernel:ident, $function:ident :: <N> ( $($argument:expr),* )) => {
        match $kernel.seats {
            2 => $function::<2>($($argument),*),
            3 => $function::<3>($($argument),*),
            4 => $function::<4>($($argument),*),
            5 => $function::<5>($($argument),*),
            _ => $function::<6>($($argument),*),
        }
    };
}

/// Begins a new match.
pub(super) fn begin(kernel: &TokyoKernel, block: &mut Block, lane: usize) {
    fn begin<const N: usize>(block: &mut Block, lane: usize, max_turns: u32) {
        block.begin::<N>(lane, max_turns);
    }
    for_seats!(kernel, begin::<N>(block, lane, kernel.max_turns()))
}

/// Plays one action in each row.
pub(super) fn play(
    kernel: &TokyoKernel,
    chunk: Chunk<'_, TokyoKernel>,
    actions: &[u8],
    autoreset: Autoreset,
) {
    fn play<const N: usize>(
        chunk: Chunk<'_, TokyoKernel>,
        actions: &[u8],
        max_turns: u32,
        autoreset: Autoreset,
    ) {
        let Chunk { blocks, out, .. } = chunk;
        if any_holds(actions) {
            arch().dispatch(Play::<N, true> { blocks, actions, out, max_turns, autoreset });
        } else {
            arch().dispatch(Play::<N, false> { blocks, actions, out, max_turns, autoreset });
        }
    }
    for_seats!(kernel, play::<N>(chunk, actions, kernel.max_turns(), autoreset))
}

/// Writes what the seats see, without playing.
pub(super) fn tell(kernel: &TokyoKernel, chunk: &mut Chunk<'_, TokyoKernel>) {
    fn tell<const N: usize>(Chunk { blocks, out, .. }: &mut Chunk<'_, TokyoKernel>) {
        let mut obs = [[0; LANES]; MAX_FIELDS];
        for (block, first) in blocks.iter().zip((0..).step_by(LANES)) {
            let rows = (out.rewards.len() - first).min(LANES);
            block.observe::<N>(&mut obs);
            out.write_flags(first, block, rows);
            out.write_obs::<N>(first, rows, &obs);
        }
    }
    for_seats!(kernel, tell::<N>(chunk))
}

/// A step, with everything inlined so that it is compiled for each instruction set. Only if `HOLDS` may there be matches
/// that stay as they are.
struct Play<'a, const N: usize, const HOLDS: bool> {
    blocks: &'a mut [Block],
    actions: &'a [u8],
    out: OutPart<'a, i16>,
    /// 0 if there is no such rule.
    max_turns: u32,
    autoreset: Autoreset,
}

impl<const N: usize, const HOLDS: bool> NullaryFnOnce for Play<'_, N, HOLDS> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        let mut obs = [[0; LANES]; MAX_FIELDS];
        for index in 0..self.blocks.len() {
            if index % AHEAD == 0 {
                for ahead in index..self.blocks.len().min(index + AHEAD) {
                    let actions = self.column(ahead);
                    self.blocks[ahead].roll::<HOLDS>(&actions);
                }
            }
            self.step(index, &mut obs);
        }
    }
}

impl<const N: usize, const HOLDS: bool> Play<'_, N, HOLDS> {
    /// The actions of one block; the last may have places that nobody plays.
    #[inline(always)]
    fn column(&self, index: usize) -> Column {
        let actions = &self.actions[index * LANES..];
        let rows = actions.len().min(LANES);
        let mut column = [0; LANES];
        column[..rows].copy_from_slice(&actions[..rows]);
        column
    }

    /// A step of one block.
    #[inline(always)]
    fn step(&mut self, index: usize, obs: &mut BlockObs) {
        let first = index * LANES;
        let actions = self.column(index);
        let rows = (self.actions.len() - first).min(LANES);
        let block = &mut self.blocks[index];
        let before = block.phase;
        block.play::<N, HOLDS>(&actions, self.max_turns);
        block.observe::<N>(obs);
        self.out.write_flags(first, block, rows);
        // The places of the last block that are no rows stay over.
        for i in over(&block.phase).take_while(|&i| i < rows) {
            if !(HOLDS && actions[i] == HOLD) {
                self.end(index, i, before[i] == OVER, obs);
            }
        }
        self.out.write_obs::<N>(first, rows, obs);
    }

    /// What follows for a match that is over, and may have been before this step.
    fn end(&mut self, index: usize, i: usize, had_ended: bool, obs: &mut BlockObs) {
        let block = &mut self.blocks[index];
        let row = index * LANES + i;
        if !had_ended {
            let rewards = block.lane::<N>(i).rewards();
            self.out.final_rewards[row * N..][..N].copy_from_slice(&rewards);
            self.out.rewards[row] = rewards[usize::from(block.seat[i])];
        }
        if !self.autoreset.begins(had_ended, true) {
            return;
        }
        if had_ended {
            self.out.terminated[row] = false;
        } else {
            for (field, numbers) in obs.iter().enumerate().take(fields(N)) {
                self.out.final_obs.column(field)[row] = numbers[i].into();
            }
        }
        block.begin::<N>(i, self.max_turns);
        block.observe_one::<N>(i, obs);
    }
}

impl OutPart<'_, i16> {
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
    fn write_obs<const N: usize>(&mut self, first: usize, rows: usize, obs: &BlockObs) {
        for (field, numbers) in obs.iter().enumerate().take(fields(N)) {
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
