//! Steps blocks of turns and writes what is to be seen.

use super::lanes::{LANES, Lane, Rolled, Streams, Turn, Turns, mask};
use crate::{
    batch::{Autoreset, Batch, Out},
    bytes,
    field::Field,
    observe::Observe,
    parts::{Columns, Part},
    seated::Seated,
};
use necrodome_rules::{
    game::Game,
    zombie_dice::{FirstRoll, OutOfDice},
};
use pulp::{Arch, NullaryFnOnce};
use serde::{Deserialize, Serialize};

/// The rules of a turn that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnRules {
    pub out_of_dice: OutOfDice,
    pub first_roll: FirstRoll,
    /// A match is cut off after so many turns.
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

/// What a turn is worth: all that solo and the race do not share.
pub trait Format: Clone + Copy + Send + Sync + 'static {
    /// The referee.
    type Game: Observe<Rules: Send>;
    /// How many play.
    const SEATS: usize;
    /// New matches.
    const START: Self;
    /// How many numbers an observation has beside those of the turn.
    const NUMBERS: usize;

    fn turn_rules(rules: &<Self::Game as Game>::Rules) -> TurnRules;

    /// Where the turn is the last that the match may have, as a mask.
    fn last_turns(&self, max_turns: u32) -> Lane;

    /// Ends the turn, and the match, if they are to end.
    fn settle(&mut self, i: usize, turn: &Turn, played: &Played) -> Settled;

    /// Turns have ended, and matches, as masks.
    fn count_turns(&mut self, ended: &Lane, over: &Lane);

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

/// Many matches of Zombie Dice side by side.
#[derive(Debug, Clone)]
pub struct DiceBatch<F: Format> {
    rows: usize,
    threads: usize,
    all_rules: <F::Game as Game>::Rules,
    rules: TurnRules,
    blocks: Vec<Block<F>>,
    /// What the last match that ended in each row gave to its seats, where there are several.
    results: Vec<f32>,
    arch: Arch,
}

/// Sixty-four matches.
#[derive(Debug, Clone)]
#[repr(align(64))]
struct Block<F> {
    turns: Turns,
    format: F,
    /// Whether the match is over, as a mask.
    over: Lane,
    streams: Streams,
}

/// The most numbers an observation has.
const MOST: usize = 13;

impl<F: Format> DiceBatch<F> {
    /// New matches, one for each row, all from seed 0. Refuses no rows and no threads.
    pub fn new(rules: &<F::Game as Game>::Rules, rows: usize, threads: usize) -> Result<Self, String> {
        if rows == 0 || threads == 0 {
            return Err(format!("expected at least one row and one thread, got {rows} and {threads}"));
        }
        let block =
            Block { turns: Turns::START, format: F::START, over: [0; LANES], streams: Streams::default() };
        Ok(DiceBatch {
            rows,
            threads,
            all_rules: rules.clone(),
            rules: F::turn_rules(rules),
            blocks: vec![block; rows.div_ceil(LANES)],
            results: vec![0.0; if F::SEATS > 1 { rows * F::SEATS } else { 0 }],
            arch: Arch::new(),
        })
    }

    fn recycles(&self) -> bool {
        self.rules.out_of_dice == OutOfDice::RecycleBrains
    }
}

/// One thread's share of a step, compiled for each instruction set.
struct Step<'a, F, const RECYCLE: bool> {
    blocks: &'a mut [Block<F>],
    actions: &'a [u8],
    part: Part<'a, i16>,
    rules: TurnRules,
    autoreset: Autoreset,
}

impl<F: Format, const RECYCLE: bool> NullaryFnOnce for Step<'_, F, RECYCLE> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Step { blocks, actions, mut part, rules, autoreset } = self;
        let mut seen = Seen::NOTHING;
        let mut final_seen = Seen::NOTHING;
        for (number, block) in blocks.iter_mut().enumerate() {
            let start = number * LANES;
            let rows = start..part.rewards.len().min(start + LANES);
            let asked = match <&[u8; LANES]>::try_from(&actions[rows.clone()]) {
                Ok(actions) => *actions,
                Err(_) => padded(&actions[rows.clone()]),
            };
            let told = match autoreset {
                Autoreset::SameStep => {
                    block.step::<RECYCLE, true, true>(rules, &asked, &mut seen, &mut final_seen)
                }
                Autoreset::NextStep => {
                    block.step::<RECYCLE, false, true>(rules, &asked, &mut seen, &mut final_seen)
                }
                Autoreset::Disabled => {
                    block.step::<RECYCLE, false, false>(rules, &asked, &mut seen, &mut final_seen)
                }
            };
            seen.write::<F, RECYCLE>(&mut part.obs, start);
            if autoreset == Autoreset::SameStep {
                final_seen.write::<F, RECYCLE>(&mut part.final_obs, start);
            }
            copy(&told.rewards, &mut part.rewards[rows.clone()], f32::from);
            copy(&told.over, &mut part.terminated[rows.clone()], |over| over != 0);
            copy(&told.over, &mut part.truncated[rows], |_| false);
        }
    }
}

/// The observations of a block.
#[repr(align(64))]
struct Seen([Lane; MOST]);

impl Seen {
    const NOTHING: Seen = Seen([[0; LANES]; MOST]);

    #[inline(always)]
    fn set<F: Format, const RECYCLE: bool>(&mut self, i: usize, turn: &Turn, numbers: [u16; 2]) {
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
    fn write<F: Format, const RECYCLE: bool>(&self, columns: &mut Columns<'_, i16>, start: usize) {
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
    over: Lane,
    ended: Lane,
    rewards: [i16; LANES],
}

impl<F: Format> Block<F> {
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
        seen: &mut Seen,
        final_seen: &mut Seen,
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
                final_seen.set::<F, RECYCLE>(i, &turn, self.format.numbers(i));
            }
            self.format.proceed(i, passed, SAME & settled.over);
            turn.restart(if SAME { settled.ended } else { passed });
            seen.set::<F, RECYCLE>(i, &turn, self.format.numbers(i));
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

impl<F: Format> Batch for DiceBatch<F> {
    type Cell = i16;

    fn rows(&self) -> usize {
        self.rows
    }

    fn fields(&self) -> Vec<Field> {
        F::Game::fields(&self.all_rules, F::SEATS)
    }

    fn actions(&self) -> usize {
        2
    }

    fn matches(&self) -> usize {
        self.rows
    }

    fn seed(&mut self, one: usize, seed: u64) {
        self.blocks[one / LANES].streams.seed(one % LANES, seed);
    }

    fn reset(&mut self, which: Option<&[bool]>, out: &mut Out<'_, i16>) {
        let recycles = self.recycles();
        let rows = self.rows;
        let mut part = Part::whole(out);
        for (number, block) in self.blocks.iter_mut().enumerate() {
            let start = number * LANES;
            let mut seen = Seen::NOTHING;
            for i in 0..LANES.min(rows - start) {
                let row = start + i;
                if which.is_none_or(|which| which[row]) {
                    block.begin(i);
                }
                part.rewards[row] = 0.0;
                part.terminated[row] = block.over[i] != 0;
                part.truncated[row] = false;
                seen.set::<F, true>(i, &block.turns.get::<true>(i), block.format.numbers(i));
            }
            if recycles {
                seen.write::<F, true>(&mut part.obs, start);
            } else {
                seen.0.copy_within(11.., 8);
                seen.write::<F, false>(&mut part.obs, start);
            }
        }
    }

    fn step(&mut self, actions: &[u8], autoreset: Autoreset, out: &mut Out<'_, i16>) {
        let (arch, rules, recycles) = (self.arch, self.rules, self.recycles());
        let step = |blocks, actions, part| {
            if recycles {
                arch.dispatch(Step::<F, true> { blocks, actions, part, rules, autoreset });
            } else {
                arch.dispatch(Step::<F, false> { blocks, actions, part, rules, autoreset });
            }
        };
        if self.threads == 1 || self.blocks.len() <= 1 {
            step(&mut self.blocks, actions, Part::whole(out));
        } else {
            let each = self.blocks.len().div_ceil(self.threads);
            let parts = Part::cut(out, each * LANES);
            rayon::scope(|scope| {
                let all = self.blocks.chunks_mut(each).zip(actions.chunks(each * LANES)).zip(parts);
                for ((blocks, actions), part) in all {
                    scope.spawn(move |_| step(blocks, actions, part));
                }
            });
        }
        if F::SEATS > 1 {
            self.keep_results(out.terminated);
        }
    }

    fn masks(&self, out: &mut [bool]) {
        let forced = self.rules.first_roll == FirstRoll::Mandatory;
        for (row, masks) in out.chunks_exact_mut(2).enumerate() {
            let turn = self.blocks[row / LANES].turns.get::<false>(row % LANES);
            masks.copy_from_slice(&[!(forced && turn.is_fresh()), true]);
        }
    }

    fn save(&self) -> Vec<u8> {
        let saved = |row: usize| {
            let (block, i) = (&self.blocks[row / LANES], row % LANES);
            SavedRow {
                turn: block.turns.get::<true>(i),
                format: block.format.save(i),
                over: block.over[i] != 0,
                stream: block.streams.get(i),
            }
        };
        let rows = (0..self.rows).map(saved).collect();
        bytes::write(&Saved { rules: self.rules, rows, results: self.results.clone() })
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        let saved: Saved = bytes::read(state)?;
        if saved.rules != self.rules || saved.results.len() != self.results.len() {
            return Err("expected a state of the same game with the same rules".to_owned());
        }
        if saved.rows.len() != self.rows {
            return Err(format!("expected a state of {} rows, got one of {}", self.rows, saved.rows.len()));
        }
        let mut blocks = self.blocks.clone();
        for (row, saved) in saved.rows.into_iter().enumerate() {
            let (block, i) = (&mut blocks[row / LANES], row % LANES);
            if !saved.turn.is_possible() || !block.format.restore(i, saved.format) {
                return Err(format!("row {row}: not a state that a match can reach"));
            }
            block.turns.set::<true>(i, saved.turn);
            block.over[i] = mask(saved.over);
            block.streams.set(i, saved.stream);
        }
        self.blocks = blocks;
        self.results = saved.results;
        Ok(())
    }
}

impl<F: Format> Seated for DiceBatch<F> {
    fn seats(&self) -> usize {
        F::SEATS
    }

    fn to_act(&self, out: &mut [u8]) {
        for (row, seat) in out.iter_mut().enumerate() {
            *seat = self.blocks[row / LANES].format.to_act(row % LANES);
        }
    }

    fn final_rewards(&self) -> &[f32] {
        &self.results
    }
}

impl<F: Format> DiceBatch<F> {
    /// Writes down what the matches that have just ended gave to all their seats.
    fn keep_results(&mut self, terminated: &[bool]) {
        for (block, (ended, results)) in
            self.blocks.iter().zip(terminated.chunks(LANES).zip(self.results.chunks_mut(LANES * F::SEATS)))
        {
            if ended.iter().fold(false, |any, ended| any | ended) {
                for i in (0..ended.len()).filter(|&i| ended[i]) {
                    let reward = f32::from(block.format.result(i));
                    results[F::SEATS * i..][..2].copy_from_slice(&[reward, -reward]);
                }
            }
        }
    }
}

/// What [`Batch::save`] writes.
#[derive(Serialize, Deserialize)]
struct Saved {
    rules: TurnRules,
    rows: Vec<SavedRow>,
    results: Vec<f32>,
}

#[derive(Serialize, Deserialize)]
struct SavedRow {
    turn: Turn,
    format: [u32; 5],
    over: bool,
    stream: u64,
}
