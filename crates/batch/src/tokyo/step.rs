//! A step of some blocks: play, begin new matches where they are due, write the results.

use super::{
    TokyoKernel,
    block::{Block, BlockObs, BlockRolls, Column, LANES},
    lane::{MAX_FIELDS, OVER, fields},
};
use crate::{
    actions::{HOLD, any_holds},
    batched::Autoreset,
    instructions::arch,
    parts::{Aligned, Chunk, OutPart, for_marked, lanes_of, write_lanes},
};
use pulp::NullaryFnOnce;

/// The number of blocks that draw their words together. A vector that was just written in pieces cannot be read at once, so the
/// other blocks fill the time.
const AHEAD: usize = 4;

/// Calls a function with the number of monsters as a constant.
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
        let mut obs = Aligned([[0; LANES]; MAX_FIELDS]);
        for (index, block) in blocks.iter().enumerate() {
            block.observe::<N>(&mut obs);
            out.write_flags(index, block);
            out.write_obs::<N>(index, &obs);
        }
    }
    for_seats!(kernel, tell::<N>(chunk))
}

/// A step, with everything inlined so that it is compiled for each instruction set. Matches may hold only if `HOLDS` is
/// set.
struct Play<'a, const N: usize, const HOLDS: bool> {
    blocks: &'a mut [Block],
    actions: &'a [u8],
    out: OutPart<'a, i16>,
    /// The most turns; 0 if there is no limit.
    max_turns: u32,
    autoreset: Autoreset,
}

impl<const N: usize, const HOLDS: bool> NullaryFnOnce for Play<'_, N, HOLDS> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        let mut obs = Aligned([[0; LANES]; MAX_FIELDS]);
        let mut rolls = [BlockRolls::NONE; AHEAD];
        for index in 0..self.blocks.len() {
            if index % AHEAD == 0 {
                for (ahead, rolls) in (index..self.blocks.len()).zip(&mut rolls) {
                    let actions = lanes_of(self.actions, ahead);
                    self.blocks[ahead].roll::<HOLDS>(&actions, rolls);
                }
            }
            self.step(index, &rolls[index % AHEAD], &mut obs);
        }
    }
}

impl<const N: usize, const HOLDS: bool> Play<'_, N, HOLDS> {
    /// Plays a step of one block.
    #[inline(always)]
    fn step(&mut self, index: usize, rolls: &BlockRolls, obs: &mut BlockObs) {
        let actions: Column = lanes_of(self.actions, index);
        let block = &mut self.blocks[index];
        let before = block.phase;
        block.play::<N, HOLDS>(&actions, rolls, self.max_turns);
        block.observe::<N>(obs);
        let phases = block.phase;
        self.out.write_flags(index, block);
        let rows = self.actions.len() - index * LANES;
        // Only what is over has this bit.
        let over: [u64; LANES / 8] = bytemuck::cast(phases.map(|phase| phase / OVER));
        for_marked(over, LANES, |i| {
            // The places of the last block that are no rows stay over.
            if i < rows && !(HOLDS && actions[i] == HOLD) {
                self.end(index, i, before[i] == OVER, obs);
            }
        });
        self.out.write_obs::<N>(index, obs);
    }

    /// Writes the results of a match that is over, or was before this step, and begins a new one if that is due.
    #[inline(never)]
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
            let seen = obs.0.iter().take(fields(N));
            self.out.final_obs.set_row(row, seen.map(|numbers| numbers[i].into()));
        }
        let seen = block.begin::<N>(i, self.max_turns).observe();
        for (column, number) in obs.0.iter_mut().zip(&seen[..fields(N)]) {
            column[i] = *number;
        }
    }
}

impl OutPart<'_, i16> {
    /// Writes rewards of 0, and flags: what has ended has ended by the rules.
    #[inline(always)]
    fn write_flags(&mut self, index: usize, block: &Block) {
        write_lanes(&block.phase, self.rewards, index, |_| 0.0);
        write_lanes(&block.phase, self.truncated, index, |_| false);
        write_lanes(&block.phase, self.terminated, index, |phase| phase == OVER);
    }

    #[inline(always)]
    fn write_obs<const N: usize>(&mut self, index: usize, obs: &BlockObs) {
        self.obs.write_block(index, &obs.0[..fields(N)], i16::from);
    }
}
