//! Steps blocks of turns and writes what is to be seen.

use super::lanes::{Column, LANES, Rolled, Streams, Turn, Turns, mask};
use crate::{
    batched::Autoreset,
    field::Field,
    kernel::Kernel,
    observe::Observe,
    parts::{Chunk, Columns, OutPart},
};
use necrodome_rules::{
    game::Game,
    names::SetupError,
    zombie_dice::{FirstRoll, OutOfDice},
};
use pulp::{Arch, NullaryFnOnce};
use serde::{Deserialize, Serialize};
use std::{fmt::Debug, ops::Range};

/// The rules of a turn that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnRules {
    pub out_of_dice: OutOfDice,
    pub first_roll: FirstRoll,
    /// The match ends after this many turns.
    pub max_turns: u32,
}

/// What has happened in a turn.
pub struct Played {
    pub stopped: bool,
    pub rolled: Rolled,
    pub brains_before: u16,
    /// Whether it is the last turn that the match may have.
    pub last: bool,
}

/// What came of it.
pub struct Settled {
    /// The match is over.
    pub over: bool,
    /// The turn is over; the match may go on with the next.
    pub ended: bool,
    /// The reward of the one who has acted.
    pub reward: i16,
}

/// What a turn is worth: all that solo and the race do not chunk.
pub trait DiceFormat: Debug + Clone + Copy + Send + Sync + 'static {
    /// The referee.
    type Game: Observe;
    /// How many play.
    const SEATS: usize;
    /// New matches.
    const START: Self;
    /// How many numbers an observation has beside those of the turn.
    const NUMBERS: usize;

    fn turn_rules(rules: &<Self::Game as Game>::Rules) -> TurnRules;

    /// Where the turn is the last that the match may have, as a mask.
    fn last_turns(&self, max_turns: u32) -> Column;

    /// Ends the turn, and the match, if they are to end.
    fn settle(&mut self, i: usize, turn: &Turn, played: &Played) -> Settled;

    /// Turns have ended, and matches, as masks.
    fn count_turns(&mut self, ended: &Column, over: &Column);

    /// Forgets the turns of a match.
    fn begin(&mut self, i: usize);

    /// Passes the turn on where the match goes on, begins a new match where it does not.
    fn proceed(&mut self, i: usize, passed: bool, again: bool);

    /// What an observation has beside the turn.
    fn numbers(&self, i: usize) -> [u16; 2];

    /// Whose turn it is.
    fn to_act(&self, i: usize) -> u8;

    /// What the last match that ended gave to seat 0; the other seat got the negative.
    fn result(&self, i: usize) -> i16;

    fn save(&self, i: usize) -> [u32; 5];

    /// Brings back what was saved, unless no match can be like that.
    fn restore(&mut self, i: usize, saved: [u32; 5]) -> bool;
}

/// Matches of Zombie Dice, solo or a race.
#[derive(Debug, Clone)]
pub struct DiceKernel<F: DiceFormat> {
    all_rules: <F::Game as Game>::Rules,
    rules: TurnRules,
    arch: Arch,
}

/// Sixty-four matches.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub struct Block<F> {
    turns: Turns,
    format: F,
    /// Whether the match is over, as a mask.
    over: Column,
    streams: Streams,
}

/// The most numbers an observation has.
const MOST: usize = 13;

/// One thread's chunk of a step, compiled for each instruction set.
struct Step<'a, F, const RECYCLE: bool> {
    blocks: &'a mut [Block<F>],
    actions: &'a [u8],
    part: OutPart<'a, i16>,
    rules: TurnRules,
    autoreset: Autoreset,
}

impl<F: DiceFormat, const RECYCLE: bool> NullaryFnOnce for Step<'_, F, RECYCLE> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Step { blocks, actions, mut part, rules, autoreset } = self;
        let mut obs = BlockObs::NOTHING;
        let mut final_obs = BlockObs::NOTHING;
        for (number, block) in blocks.iter_mut().enumerate() {
            let start = number * LANES;
            let rows = start..part.rewards.len().min(start + LANES);
            let asked = match <&[u8; LANES]>::try_from(&actions[rows.clone()]) {
                Ok(actions) => *actions,
                Err(_) => padded(&actions[rows.clone()]),
            };
            let told = match autoreset {
                Autoreset::SameStep => {
                    block.step::<RECYCLE, true, true>(rules, &asked, &mut obs, &mut final_obs)
                }
                Autoreset::NextStep => {
                    block.step::<RECYCLE, false, true>(rules, &asked, &mut obs, &mut final_obs)
                }
                Autoreset::Disabled => {
                    block.step::<RECYCLE, false, false>(rules, &asked, &mut obs, &mut final_obs)
                }
            };
            obs.write::<F, RECYCLE>(&mut part.obs, start);
            if autoreset == Autoreset::SameStep {
                final_obs.write::<F, RECYCLE>(&mut part.final_obs, start);
            }
            copy(&told.rewards, &mut part.rewards[rows.clone()], f32::from);
            copy(&told.over, &mut part.terminated[rows.clone()], |over| over != 0);
            copy(&told.over, &mut part.truncated[rows], |_| false);
        }
        if F::SEATS > 1 {
            keep_results(blocks, part.terminated, part.final_rewards);
        }
    }
}

/// Writes down what the matches that have just ended gave to both seats.
#[inline(never)]
fn keep_results<F: DiceFormat>(blocks: &[Block<F>], terminated: &[bool], final_rewards: &mut [f32]) {
    for (block, (ended, rewards)) in
        blocks.iter().zip(terminated.chunks(LANES).zip(final_rewards.chunks_mut(2 * LANES)))
    {
        if ended.iter().fold(false, |any, ended| any | ended) {
            for i in (0..ended.len()).filter(|&i| ended[i]) {
                let reward = f32::from(block.format.result(i));
                rewards[2 * i..][..2].copy_from_slice(&[reward, -reward]);
            }
        }
    }
}

/// The observations of a block.
#[repr(align(64))]
struct BlockObs([Column; MOST]);

impl BlockObs {
    const NOTHING: BlockObs = BlockObs([[0; LANES]; MOST]);

    #[inline(always)]
    fn set<F: DiceFormat, const RECYCLE: bool>(&mut self, i: usize, turn: &Turn, numbers: [u16; 2]) {
        let apart = |of: &[u16; 3], c: usize| if c == 0 { of[0] } else { of[c].wrapping_sub(of[c - 1]) };
        self.0[0][i] = turn.brains;
        self.0[1][i] = turn.shotguns;
        for c in 0..3 {
            self.0[2 + c][i] = apart(&turn.cup, c);
            self.0[5 + c][i] = apart(&turn.feet, c);
            if RECYCLE {
                self.0[8 + c][i] = apart(&turn.brain_dice, c);
            }
        }
        for (n, number) in numbers.into_iter().enumerate().take(F::NUMBERS) {
            self.0[if RECYCLE { 11 } else { 8 } + n][i] = number;
        }
    }

    #[inline(always)]
    fn write<F: DiceFormat, const RECYCLE: bool>(&self, columns: &mut Columns<'_, i16>, start: usize) {
        for field in 0..if RECYCLE { 11 } else { 8 } + F::NUMBERS {
            let column = columns.column(field);
            let end = column.len().min(start + LANES);
            copy(&self.0[field], &mut column[start..end], |number| number as i16);
        }
    }
}

/// What came of a step in each match of a block: masks, and rewards.
#[repr(align(64))]
struct Told {
    over: Column,
    ended: Column,
    rewards: [i16; LANES],
}

impl<F: DiceFormat> Block<F> {
    /// A new match.
    fn begin(&mut self, i: usize) {
        self.turns.set::<true>(i, Turn::START);
        self.format.proceed(i, false, true);
        self.format.begin(i);
        self.over[i] = 0;
    }

    /// Plays one action in each match.
    #[inline(always)]
    fn step<const RECYCLE: bool, const SAME: bool, const AGAIN: bool>(
        &mut self,
        rules: TurnRules,
        asked: &[u8; LANES],
        obs: &mut BlockObs,
        final_obs: &mut BlockObs,
    ) -> Told {
        let forced = rules.first_roll == FirstRoll::Mandatory;
        let words = self.streams.words(&self.turns);
        let last = self.format.last_turns(rules.max_turns);
        let mut told = Told { over: [0; LANES], ended: [0; LANES], rewards: [0; LANES] };
        for i in 0..LANES {
            let mut turn = self.turns.get::<RECYCLE>(i);
            let idle = self.over[i] != 0;
            if AGAIN & !SAME {
                turn.restart(idle);
                self.format.proceed(i, false, idle);
            }
            let wants = (asked[i] != 0) | (forced & turn.is_fresh());
            let brains_before = turn.brains;
            let draws = [words.draws[0][i], words.draws[1][i], words.draws[2][i]];
            let rolled = turn.roll::<RECYCLE>(wants & !idle, draws, words.faces[i]);
            let played = Played { stopped: !wants & !idle, rolled, brains_before, last: last[i] != 0 };
            let settled = self.format.settle(i, &turn, &played);
            told.ended[i] = mask(settled.ended);
            told.rewards[i] = settled.reward;

            let passed = settled.ended & !settled.over;
            if SAME {
                final_obs.set::<F, RECYCLE>(i, &turn, self.format.numbers(i));
            }
            self.format.proceed(i, passed, SAME & settled.over);
            turn.restart(if SAME { settled.ended } else { passed });
            obs.set::<F, RECYCLE>(i, &turn, self.format.numbers(i));
            self.turns.set::<RECYCLE>(i, turn);
            told.over[i] = mask(settled.over | (!AGAIN & idle));
            self.over[i] = if SAME { 0 } else { told.over[i] };
        }
        self.format.count_turns(&told.ended, &told.over);
        told
    }
}

/// Copies a whole block at once, or as much of the last one as there is.
#[inline(always)]
fn copy<T: Copy, U>(from: &[T; LANES], to: &mut [U], convert: impl Fn(T) -> U) {
    let Some(to) = to.first_chunk_mut::<LANES>() else { return copy_rest(from, to, convert) };
    for i in 0..LANES {
        to[i] = convert(from[i]);
    }
}

/// Not inlined: whole blocks would be copied by a call as well.
#[cold]
#[inline(never)]
fn copy_rest<T: Copy, U>(from: &[T; LANES], to: &mut [U], convert: impl Fn(T) -> U) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to = convert(from));
}

/// The actions of the last block. Not inlined: the others would be copied by a call as well.
#[cold]
#[inline(never)]
fn padded(actions: &[u8]) -> [u8; LANES] {
    std::array::from_fn(|i| actions.get(i).copied().unwrap_or_default())
}

impl<F: DiceFormat> Kernel for DiceKernel<F> {
    type Game = F::Game;
    type Cell = i16;
    type Block = Block<F>;
    type Scratch = ();
    type Basis = TurnRules;
    type Saved = Saved;
    const LANES: usize = LANES;

    fn new(rules: &<F::Game as Game>::Rules, _: usize) -> Result<Self, SetupError> {
        Ok(DiceKernel { all_rules: rules.clone(), rules: F::turn_rules(rules), arch: Arch::new() })
    }

    fn fields(&self) -> Vec<Field> {
        F::Game::fields(&self.all_rules, F::SEATS)
    }

    fn actions(&self) -> usize {
        2
    }

    fn scratch(&self) {}

    fn begun(&self, seeds: Range<u64>, (): &mut ()) -> Block<F> {
        let mut streams = Streams::default();
        seeds.enumerate().for_each(|(lane, seed)| streams.seed(lane, seed));
        Block { turns: Turns::START, format: F::START, over: [0; LANES], streams }
    }

    fn seed(block: &mut Block<F>, lane: usize, seed: u64) {
        block.streams.seed(lane, seed);
    }

    fn begin(&self, block: &mut Block<F>, lane: usize, (): &mut ()) {
        block.begin(lane);
    }

    fn step(&self, chunk: Chunk<'_, Self>, actions: &[u8], autoreset: Autoreset) {
        let Chunk { blocks, out: part, .. } = chunk;
        let rules = self.rules;
        match rules.out_of_dice {
            OutOfDice::RecycleBrains => {
                self.arch.dispatch(Step::<F, true> { blocks, actions, part, rules, autoreset });
            }
            OutOfDice::EndTurn => {
                self.arch.dispatch(Step::<F, false> { blocks, actions, part, rules, autoreset });
            }
        }
    }

    fn tell(&self, chunk: &mut Chunk<'_, Self>) {
        let Chunk { blocks, out, .. } = chunk;
        let rows = out.rewards.len();
        for (block, start) in blocks.iter().zip((0..).step_by(LANES)) {
            let mut obs = BlockObs::NOTHING;
            for i in 0..LANES.min(rows - start) {
                out.terminated[start + i] = block.over[i] != 0;
                out.truncated[start + i] = false;
                obs.set::<F, true>(i, &block.turns.get::<true>(i), block.format.numbers(i));
            }
            if self.rules.out_of_dice == OutOfDice::RecycleBrains {
                obs.write::<F, true>(&mut out.obs, start);
            } else {
                obs.0.copy_within(11.., 8);
                obs.write::<F, false>(&mut out.obs, start);
            }
        }
    }

    fn mask(&self, block: &Block<F>, lane: usize, out: &mut [bool]) {
        let forced = self.rules.first_roll == FirstRoll::Mandatory;
        out.copy_from_slice(&[!(forced && block.turns.get::<false>(lane).is_fresh()), true]);
    }

    fn to_act(block: &Block<F>, lane: usize) -> u8 {
        block.format.to_act(lane)
    }

    fn basis(&self) -> TurnRules {
        self.rules
    }

    fn save(block: &Block<F>, lane: usize) -> Saved {
        Saved {
            turn: block.turns.get::<true>(lane),
            format: block.format.save(lane),
            over: block.over[lane] != 0,
            stream: block.streams.get(lane),
        }
    }

    fn restore(&self, block: &mut Block<F>, lane: usize, saved: Saved) -> Result<(), String> {
        if !saved.turn.is_possible() || !block.format.restore(lane, saved.format) {
            return Err("not a state that a match can reach".to_owned());
        }
        block.turns.set::<true>(lane, saved.turn);
        block.over[lane] = mask(saved.over);
        block.streams.set(lane, saved.stream);
        Ok(())
    }
}

/// A match as it is saved.
#[derive(Serialize, Deserialize)]
pub struct Saved {
    turn: Turn,
    format: [u32; 5],
    over: bool,
    stream: u64,
}
