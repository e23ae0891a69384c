//! Matches side by side: a column of bytes for each number of their states.

// An index goes through several columns at once: the form that becomes vectors, and the shortest.
#![allow(clippy::needless_range_loop)]

use super::{
    dice::{Dice, dice, draw, split},
    lane::{Lane, MAX_FIELDS, MAX_SEATS, OVER, fields},
};
use crate::{actions::HOLD, stream::Stream};

/// Matches in a block: one vector of bytes on the widest machines.
pub(super) const LANES: usize = 64;

/// A byte of each match.
pub(super) type Column = [u8; LANES];

/// The observations of a block, field by field.
pub(super) type BlockObs = [Column; MAX_FIELDS];

/// The states of some matches. The last block of a batch may have some that nobody plays.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub struct Block {
    health: [Column; MAX_SEATS],
    points: [Column; MAX_SEATS],
    dice: [Column; 6],
    in_tokyo: Column,
    current: Column,
    pub(super) phase: Column,
    rerolls_left: Column,
    damage: Column,
    pub(super) seat: Column,
    last_turn: Column,
    began: Column,
    /// Rolls for the next action: dice to roll again, and the first roll of a turn.
    again: [u16; LANES],
    fresh: [u16; LANES],
    pub(super) turns: [u32; LANES],
    pub(super) streams: [Stream; LANES],
}

impl Block {
    /// Matches that are over, with the streams of the seeds from `first_seed` on.
    pub(super) fn new(first_seed: u64) -> Self {
        let nothing = [0; LANES];
        Block {
            health: [nothing; MAX_SEATS],
            points: [nothing; MAX_SEATS],
            dice: [nothing; 6],
            in_tokyo: nothing,
            current: nothing,
            phase: [OVER; LANES],
            rerolls_left: nothing,
            damage: nothing,
            seat: nothing,
            last_turn: nothing,
            began: nothing,
            again: [0; LANES],
            fresh: [0; LANES],
            turns: [0; LANES],
            streams: core::array::from_fn(|i| Stream::new(first_seed.wrapping_add(i as u64))),
        }
    }

    /// One match.
    #[inline(always)]
    pub(super) fn lane<const N: usize>(&self, i: usize) -> Lane<N> {
        Lane {
            health: core::array::from_fn(|seat| self.health[seat][i]),
            points: core::array::from_fn(|seat| self.points[seat][i]),
            dice: core::array::from_fn(|die| self.dice[die][i]),
            in_tokyo: self.in_tokyo[i],
            current: self.current[i],
            phase: self.phase[i],
            rerolls_left: self.rerolls_left[i],
            damage: self.damage[i],
            seat: self.seat[i],
            last_turn: self.last_turn[i],
            began: self.began[i],
        }
    }

    /// Puts a match into its place.
    #[inline(always)]
    pub(super) fn set_lane<const N: usize>(&mut self, i: usize, lane: Lane<N>) {
        for seat in 0..N {
            self.health[seat][i] = lane.health[seat];
            self.points[seat][i] = lane.points[seat];
        }
        for die in 0..6 {
            self.dice[die][i] = lane.dice[die];
        }
        self.in_tokyo[i] = lane.in_tokyo;
        self.current[i] = lane.current;
        self.phase[i] = lane.phase;
        self.rerolls_left[i] = lane.rerolls_left;
        self.damage[i] = lane.damage;
        self.seat[i] = lane.seat;
        self.last_turn[i] = lane.last_turn;
        self.began[i] = lane.began;
    }

    /// Begins a new match.
    pub(super) fn begin<const N: usize>(&mut self, i: usize, max_turns: u32) {
        let roll = draw(&mut self.streams[i]).fresh;
        self.set_lane(i, Lane::<N>::begin(dice(roll)));
        self.turns[i] = 1;
        self.last_turn[i] = u8::from(max_turns == 1);
    }

    /// Plays an action in every match that is not over, after a [`roll`](Block::roll). `max_turns` is 0 if there is no such rule.
    /// Only if `HOLDS` may there be matches that stay as they are.
    #[inline(always)]
    pub(super) fn play<const N: usize, const HOLDS: bool>(&mut self, actions: &Column, max_turns: u32) {
        let (again, fresh) = (columns(&self.again), columns(&self.fresh));
        for i in 0..LANES {
            let column = |dice: &[Column; 6]| -> Dice { core::array::from_fn(|die| dice[die][i]) };
            let before = self.lane::<N>(i);
            let after = before.play(actions[i], column(&again), column(&fresh));
            self.set_lane(i, if HOLDS { after.unless(actions[i] == HOLD, before) } else { after });
        }
        // Columns of other widths are kept apart: the compiler does not see that they never overlap.
        let began = self.began;
        let mut last_turn = [0; LANES];
        for i in 0..LANES {
            self.turns[i] += u32::from(began[i]);
            last_turn[i] = u8::from(self.turns[i] == max_turns);
        }
        self.last_turn = last_turn;
    }

    /// What the next action of each match may need, each from its own stream. `actions` only tell who holds.
    #[inline(always)]
    pub(super) fn roll<const HOLDS: bool>(&mut self, actions: &Column) {
        // A match that is over or holds waits, and so does its stream.
        let mut waits = [false; LANES];
        for i in 0..LANES {
            waits[i] = (self.phase[i] == OVER) | (HOLDS & (actions[i] == HOLD));
        }
        let mut words = [0; LANES];
        for i in 0..LANES {
            let mut stream = self.streams[i].clone();
            words[i] = stream.word();
            self.streams[i] = if waits[i] { self.streams[i].clone() } else { stream };
        }
        let mut all_count = true;
        for i in 0..LANES {
            let (rolls, counts) = split(words[i]);
            (self.again[i], self.fresh[i]) = (rolls.again, rolls.fresh);
            all_count &= counts;
        }
        if !all_count {
            self.roll_again(&words, &waits);
        }
    }

    /// Draws anew where a word does not count: one word in a hundred thousand.
    #[cold]
    #[inline(never)]
    fn roll_again(&mut self, words: &[u64; LANES], waits: &[bool; LANES]) {
        for i in 0..LANES {
            if !waits[i] && !split(words[i]).1 {
                let rolls = draw(&mut self.streams[i]);
                (self.again[i], self.fresh[i]) = (rolls.again, rolls.fresh);
            }
        }
    }

    /// What the seats see.
    #[inline(always)]
    pub(super) fn observe<const N: usize>(&self, obs: &mut BlockObs) {
        for i in 0..LANES {
            self.observe_one::<N>(i, obs);
        }
    }

    /// What the seat of one match sees.
    #[inline(always)]
    pub(super) fn observe_one<const N: usize>(&self, i: usize, obs: &mut BlockObs) {
        let seen = self.lane::<N>(i).observe();
        for field in 0..fields(N) {
            obs[field][i] = seen[field];
        }
    }
}

/// The dice of many rolls.
#[inline(always)]
fn columns(rolls: &[u16; LANES]) -> [Column; 6] {
    let mut columns = [[0; LANES]; 6];
    for i in 0..LANES {
        let dice = dice(rolls[i]);
        for die in 0..6 {
            columns[die][i] = dice[die];
        }
    }
    columns
}
