//! A step of some blocks: play, begin new matches where they are due, tell what happened.

use super::{
    block::{Block, Column, LANES, Sight},
    lane::{MAX_FIELDS, OVER, fields},
};
use crate::{batch::Autoreset, parts::Part};
use pulp::{Arch, NullaryFnOnce};

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
        let rows = self.actions.chunks(LANES).zip(self.final_rewards.chunks_mut(LANES * N));
        for (index, (block, (actions, final_rewards))) in self.blocks.iter_mut().zip(rows).enumerate() {
            let mut column = [0; LANES];
            column[..actions.len()].copy_from_slice(actions);
            let before = block.phase;
            block.play::<N>(&column, self.work.max_turns);
            block.observe::<N>(&mut sight);
            let first = index * LANES;
            self.part.write_flags(first, block, actions.len());
            // Those that nobody plays are over, and stay so.
            for i in over(&block.phase).take_while(|&i| i < actions.len()) {
                let had_ended = before[i] == OVER;
                if !had_ended {
                    let rewards = block.lane::<N>(i).rewards();
                    final_rewards[i * N..][..N].copy_from_slice(&rewards);
                    self.part.rewards[first + i] = rewards[usize::from(block.seat[i])];
                }
                let begins = match self.work.autoreset {
                    Autoreset::Disabled => false,
                    Autoreset::NextStep => had_ended,
                    Autoreset::SameStep => true,
                };
                if begins {
                    if had_ended {
                        self.part.terminated[first + i] = false;
                    } else {
                        for (field, numbers) in sight.iter().enumerate().take(fields(N)) {
                            self.part.final_obs.column(field)[first + i] = numbers[i].into();
                        }
                    }
                    block.begin::<N>(i, self.work.max_turns);
                    block.observe_one::<N>(i, &mut sight);
                }
            }
            self.part.write_sight::<N>(first, actions.len(), &sight);
        }
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
            // The length of all but the last block is known to the compiler.
            if rows == LANES {
                cells[..LANES].iter_mut().zip(numbers).for_each(|(cell, &number)| *cell = number.into());
            } else {
                cells.iter_mut().zip(numbers).for_each(|(cell, &number)| *cell = number.into());
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
