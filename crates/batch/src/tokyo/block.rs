//! Matches side by side: a column of bytes for each number of their state.

// An index goes through several columns at once: the form that becomes vectors, and the shortest.
#![allow(clippy::needless_range_loop)]

use super::{
    dice::{Dice, REJECTED, Rolls, both, dice, draw},
    lane::{Lane, MAX_FIELDS, MAX_SEATS, OVER, each, fields, is},
};
use crate::{
    actions::HOLD,
    parts::Aligned,
    stream::{Stream, Streams},
};

/// The number of matches in a block: one vector of bytes on the widest machines.
pub(super) const LANES: usize = 64;

/// A byte of each match.
pub(super) type Column = [u8; LANES];

/// The observations of a block, field by field.
pub(super) type BlockObs = Aligned<[Column; MAX_FIELDS]>;

/// The place of a match's stream and rolls: those of even lanes come first. So the dice of two lanes make a pair of bytes that
/// lie where their lanes do.
#[inline(always)]
const fn place(lane: usize) -> usize {
    lane % 2 * (LANES / 2) + lane / 2
}

/// Rolls for the next action of each match, by [`place`].
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct BlockRolls {
    /// The dice that are rolled again.
    again: [u16; LANES],
    /// The first dice of a new turn.
    fresh: [u16; LANES],
}

impl BlockRolls {
    pub(super) const NONE: BlockRolls = BlockRolls { again: [0; LANES], fresh: [0; LANES] };

    #[inline(always)]
    fn set(&mut self, place: usize, rolls: Rolls) {
        (self.again[place], self.fresh[place]) = (rolls.again, rolls.fresh);
    }
}

/// The state of some matches. The last block of a batch may have some that nobody plays.
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
    pub(super) turns: [u32; LANES],
    streams: Streams<LANES>,
}

impl Block {
    /// Makes matches that are over.
    pub(super) fn new() -> Self {
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
            turns: [0; LANES],
            streams: Streams::new(0),
        }
    }

    /// One match.
    #[inline(always)]
    pub(super) fn lane<const N: usize>(&self, i: usize) -> Lane<N> {
        let (mut health, mut points, mut dice) = ([0; N], [0; N], [0; 6]);
        each::<N>(|seat| (health[seat], points[seat]) = (self.health[seat][i], self.points[seat][i]));
        each::<6>(|die| dice[die] = self.dice[die][i]);
        Lane {
            health,
            points,
            dice,
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

    /// Puts a match into its lane.
    #[inline(always)]
    pub(super) fn set_lane<const N: usize>(&mut self, i: usize, lane: Lane<N>) {
        each::<N>(|seat| {
            (self.health[seat][i], self.points[seat][i]) = (lane.health[seat], lane.points[seat])
        });
        each::<6>(|die| self.dice[die][i] = lane.dice[die]);
        self.in_tokyo[i] = lane.in_tokyo;
        self.current[i] = lane.current;
        self.phase[i] = lane.phase;
        self.rerolls_left[i] = lane.rerolls_left;
        self.damage[i] = lane.damage;
        self.seat[i] = lane.seat;
        self.last_turn[i] = lane.last_turn;
        self.began[i] = lane.began;
    }

    /// The stream of one match.
    pub(super) fn stream(&self, i: usize) -> Stream {
        self.streams.get(place(i))
    }

    /// Changes the stream of one match.
    pub(super) fn set_stream(&mut self, i: usize, stream: &Stream) {
        self.streams.set(place(i), stream);
    }

    /// Begins a new match.
    #[inline(always)]
    pub(super) fn begin<const N: usize>(&mut self, i: usize, max_turns: u32) -> Lane<N> {
        let roll = self.draw(i).fresh;
        let lane =
            Lane { last_turn: last_turn(1, max_turns), ..Lane::begin(dice(roll).map(|die| die as u8)) };
        self.set_lane(i, lane);
        self.turns[i] = 1;
        lane
    }

    /// Plays an action in every match that is not over, after a [`roll`](Block::roll). `max_turns` is 0 if there is no limit.
    /// Matches may hold only if `HOLDS` is set.
    #[inline(always)]
    pub(super) fn play<const N: usize, const HOLDS: bool>(
        &mut self,
        actions: &Column,
        rolls: &BlockRolls,
        max_turns: u32,
    ) {
        let (again, fresh) = (columns(&rolls.again), columns(&rolls.fresh));
        for i in 0..LANES {
            let column = |columns: &Aligned<[Column; 6]>| -> Dice {
                let mut dice = [0; 6];
                each::<6>(|die| dice[die] = columns.0[die][i]);
                dice
            };
            let before = self.lane::<N>(i);
            let after = before.play(actions[i], column(&again), column(&fresh));
            self.set_lane(i, if HOLDS { after.unless(is(actions[i], HOLD), before) } else { after });
        }
        // Columns of other widths are kept apart: the compiler does not see that they never overlap.
        let began = self.began;
        let mut lasts = [0; LANES];
        for i in 0..LANES {
            self.turns[i] += u32::from(began[i] & 1);
            lasts[i] = last_turn(self.turns[i], max_turns);
        }
        self.last_turn = lasts;
    }

    /// Draws the rolls that the next action of each match may need, from its stream. `actions` only says which matches hold.
    #[inline(always)]
    pub(super) fn roll<const HOLDS: bool>(&mut self, actions: &Column, rolls: &mut BlockRolls) {
        // A match that is over or holds waits, and so does its stream.
        let mut waits = [0; LANES];
        for i in 0..LANES {
            waits[i] = is(self.phase[i], OVER) | if HOLDS { is(actions[i], HOLD) } else { 0 };
        }
        let before = any(&waits).then(|| self.streams.clone());
        let words = self.streams.words();
        if let Some(before) = before {
            let mut placed = [0; LANES];
            (0..LANES).for_each(|i| placed[place(i)] = waits[i]);
            self.streams.go_back(&placed, &before);
        }
        let (mut pairs, mut least) = (Aligned([0; LANES]), Aligned([0; LANES]));
        for place in 0..LANES {
            (pairs.0[place], least.0[place]) = both(words.0[place]);
        }
        for place in 0..LANES {
            rolls.set(place, Rolls::new(pairs.0[place]));
        }
        if least.0.iter().fold(u32::MAX, |least, &one| least.min(one)) < REJECTED {
            self.roll_again(&least.0, &waits, rolls);
        }
    }

    /// Draws again where a word was rejected: one word in a hundred thousand.
    #[cold]
    #[inline(never)]
    fn roll_again(&mut self, least: &[u32; LANES], waits: &Column, rolls: &mut BlockRolls) {
        for i in (0..LANES).filter(|&i| waits[i] == 0 && least[place(i)] < REJECTED) {
            rolls.set(place(i), self.draw(i));
        }
    }

    /// Draws rolls for one match from the next word that is not rejected.
    fn draw(&mut self, i: usize) -> Rolls {
        let mut stream = self.stream(i);
        let rolls = draw(&mut stream);
        self.set_stream(i, &stream);
        rolls
    }

    /// Writes what the seats see.
    #[inline(always)]
    pub(super) fn observe<const N: usize>(&self, obs: &mut BlockObs) {
        for i in 0..LANES {
            let seen = self.lane::<N>(i).observe();
            for field in 0..fields(N) {
                obs.0[field][i] = seen[field];
            }
        }
    }
}

/// Whether a turn is the last, as a mask.
#[inline(always)]
pub(super) fn last_turn(turn: u32, max_turns: u32) -> u8 {
    u8::from(turn == max_turns).wrapping_neg()
}

/// Whether any mask is set.
#[inline(always)]
fn any(masks: &Column) -> bool {
    masks.iter().fold(0, |any, mask| any | mask) != 0
}

/// The dice of many rolls, which lie by [`place`].
#[inline(always)]
fn columns(rolls: &[u16; LANES]) -> Aligned<[Column; 6]> {
    let mut pairs = Aligned([[0u16; LANES / 2]; 6]);
    for i in 0..LANES / 2 {
        let (even, odd) = (dice(rolls[place(2 * i)]), dice(rolls[place(2 * i + 1)]));
        each::<6>(|die| pairs.0[die][i] = (even[die] | odd[die] << 8).to_le());
    }
    Aligned(bytemuck::cast(pairs.0))
}
