//! Steps blocks of turns and writes their observations.

use super::lanes::{Column, LANES, Rolled, Streams, Turn, Turns, below, marked, mask, three};
use crate::{
    actions::{HOLD, any_holds},
    batched::Autoreset,
    field::Field,
    kernel::{Kernel, MemoryOrder, Views},
    observe::Observe,
    parts::{Chunk, Columns, OutPart, lanes_of, write_lanes},
};
use necrodome_rules::{
    game::{Game, Seat},
    names::SetupError,
    zombie_dice::{FirstRoll, OutOfDice, TurnView},
};
use pulp::{Arch, NullaryFnOnce};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{fmt::Debug, ops::Range};

/// The rules of a turn that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnRules {
    pub out_of_dice: OutOfDice,
    pub first_roll: FirstRoll,
    /// The number of turns after which the match ends.
    pub max_turns: u32,
}

/// The events of a turn. Conditions are masks.
pub struct Played {
    pub stopped: u16,
    pub rolled: Rolled,
    pub brains_before: u16,
    /// Whether it is the last turn that the match may have.
    pub last: u16,
}

/// The result of a turn. Conditions are masks.
pub struct Settled {
    /// Whether the match is over.
    pub over: u16,
    /// Whether the turn is over; the match may go on with the next.
    pub ended: u16,
    /// The reward of the seat that has acted.
    pub reward: i16,
}

/// A format of Zombie Dice: the parts that solo, the race and the table do not share. Functions of a lane `i` are inlined into
/// the loop over the lanes.
pub trait DiceFormat: Debug + Clone + Send + Sync + 'static {
    /// The referee.
    type Game: Observe;
    /// The rules and seats, which a saved state must share with the batch that restores it.
    type Basis: Clone + PartialEq + Debug + Serialize + DeserializeOwned + Send + Sync;
    /// A saved match, without its dice.
    type Saved: Serialize + DeserializeOwned;
    /// Whether there is more than one seat.
    const TAKES_TURNS: bool = true;
    /// The number of numbers in an observation besides those of the turn and of the seats.
    const NUMBERS: usize;

    fn turn_rules(rules: &<Self::Game as Game>::Rules) -> TurnRules;

    fn basis(rules: &<Self::Game as Game>::Rules, seats: usize) -> Self::Basis;

    /// Makes new matches.
    fn new(rules: &<Self::Game as Game>::Rules, seats: usize) -> Self;

    /// Whether the turn, or the round, is the last that the match may have, as a mask.
    fn is_last(&self, i: usize, max_turns: u32) -> u16;

    /// Ends the turn and the match, if they are to end.
    fn settle(&mut self, i: usize, turn: &Turn, played: &Played) -> Settled;

    /// Passes the turn on in matches that go on, and begins a new match in those that do not, as the masks say.
    fn proceed(&mut self, i: usize, passed: u16, again: u16);

    /// Does the work of `proceed` that is not done lane by lane. [`results`](DiceFormat::results) is called before it.
    fn pass_on(&mut self, told: &Told);

    /// The numbers of an observation after those of the turn.
    fn numbers(&self, i: usize) -> [u16; 2];

    /// The columns of an observation that come last.
    fn seats(&self) -> impl Iterator<Item = &Column> {
        [].into_iter()
    }

    /// The seat whose turn it is.
    fn to_act(&self, i: usize) -> u8;

    /// The view of a seat, with the dice of the turn.
    fn view(&self, i: usize, seat: Seat, turn: TurnView) -> <Self::Game as Game>::View;

    /// Writes the rewards of all seats in the match that has just ended, and returns the reward of the seat that has acted: the one
    /// that it was settled with, or another.
    fn results(&mut self, i: usize, reward: i16, out: &mut [f32]) -> f32;

    fn save(&self, i: usize) -> Self::Saved;

    /// Restores a saved match. Returns `false` if no match can be like that.
    fn restore(&mut self, i: usize, saved: Self::Saved) -> bool;
}

/// Matches of Zombie Dice: solo, races or tables.
#[derive(Debug, Clone)]
pub struct DiceKernel<F: DiceFormat> {
    all_rules: <F::Game as Game>::Rules,
    seats: usize,
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

/// The most numbers in an observation.
const MOST: usize = 13;

/// One thread's chunk of a step, compiled for each instruction set.
struct Step<'a, F, const RECYCLE: bool, const HOLDS: bool> {
    blocks: &'a mut [Block<F>],
    actions: &'a [u8],
    part: OutPart<'a, i16>,
    rules: TurnRules,
    seats: usize,
    autoreset: Autoreset,
}

/// The number of numbers in an observation before those of the seats.
#[inline(always)]
const fn turn_fields<F: DiceFormat, const RECYCLE: bool>() -> usize {
    F::NUMBERS + if RECYCLE { 11 } else { 8 }
}

impl<F: DiceFormat, const RECYCLE: bool, const HOLDS: bool> NullaryFnOnce for Step<'_, F, RECYCLE, HOLDS> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Step { blocks, actions, mut part, rules, seats, autoreset } = self;
        let turn_fields = turn_fields::<F, RECYCLE>();
        let mut obs = BlockObs::NOTHING;
        let mut final_obs = BlockObs::NOTHING;
        let mut told = Told::NOTHING;
        for (number, block) in blocks.iter_mut().enumerate() {
            let asked = lanes_of(actions, number);
            match autoreset {
                Autoreset::SameStep => block.step::<RECYCLE, HOLDS, true, true>(
                    rules,
                    &asked,
                    &mut obs,
                    &mut final_obs,
                    &mut told,
                ),
                Autoreset::NextStep => block.step::<RECYCLE, HOLDS, false, true>(
                    rules,
                    &asked,
                    &mut obs,
                    &mut final_obs,
                    &mut told,
                ),
                Autoreset::Disabled => block.step::<RECYCLE, HOLDS, false, false>(
                    rules,
                    &asked,
                    &mut obs,
                    &mut final_obs,
                    &mut told,
                ),
            }
            obs.write::<F, RECYCLE>(&mut part.obs, number);
            // Where several seats play, matches are long, and the few that end are looked at one by one.
            if autoreset == Autoreset::SameStep && !F::TAKES_TURNS {
                final_obs.write::<F, RECYCLE>(&mut part.final_obs, number);
            }
            write_lanes(&told.rewards, part.rewards, number, f32::from);
            write_lanes(&told.over, part.terminated, number, |over| over != 0);
            write_lanes(&told.over, part.truncated, number, |_| false);
            if F::TAKES_TURNS && any(&told.closed) {
                let last_seen = (autoreset == Autoreset::SameStep).then_some(&final_obs.0[..turn_fields]);
                keep_results(&mut block.format, &told, last_seen, number, seats, &mut part);
            }
            block.format.pass_on(&told);
            for (field, column) in (turn_fields..).zip(block.format.seats()) {
                write(column, &mut part.obs, field, number);
            }
        }
    }
}

/// Keeps the rewards of the matches that have just ended, and, if they are to be written, their last observations: these
/// columns, and those of the seats.
#[inline(never)]
fn keep_results<F: DiceFormat>(
    format: &mut F,
    told: &Told,
    last_seen: Option<&[Column]>,
    block: usize,
    seats: usize,
    part: &mut OutPart<'_, i16>,
) {
    let start = block * LANES;
    let rows = part.rewards.len() - start;
    marked(&told.closed, |i| {
        // The last block has lanes that are no rows.
        if i >= rows {
            return;
        }
        let row = start + i;
        let results = &mut part.final_rewards[row * seats..][..seats];
        part.rewards[row] = format.results(i, told.rewards[i], results);
        if let Some(columns) = last_seen {
            let columns = columns.iter().chain(format.seats());
            part.final_obs.set_row(row, columns.map(|column| column[i] as i16));
        }
    });
}

/// The observations of a block.
#[repr(align(64))]
struct BlockObs([Column; MOST]);

impl BlockObs {
    const NOTHING: BlockObs = BlockObs([[0; LANES]; MOST]);

    #[inline(always)]
    fn set<F: DiceFormat, const RECYCLE: bool>(&mut self, i: usize, turn: &Turn, numbers: [u16; 2]) {
        let apart = |of: [u16; 3]| [of[0], of[1].wrapping_sub(of[0]), of[2].wrapping_sub(of[1])];
        let (cup, feet, brain_dice) = (apart(turn.cup), apart(turn.feet), apart(turn.brain_dice));
        self.0[0][i] = turn.brains;
        self.0[1][i] = turn.shotguns;
        three(|c| {
            self.0[2 + c][i] = cup[c];
            self.0[5 + c][i] = feet[c];
            if RECYCLE {
                self.0[8 + c][i] = brain_dice[c];
            }
        });
        if F::NUMBERS > 0 {
            let first = if RECYCLE { 11 } else { 8 };
            self.0[first][i] = numbers[0];
            self.0[first + 1][i] = numbers[1];
        }
    }

    #[inline(always)]
    fn write<F: DiceFormat, const RECYCLE: bool>(&self, columns: &mut Columns<'_, i16>, block: usize) {
        let numbers = &self.0[..turn_fields::<F, RECYCLE>()];
        columns.write_block(block, numbers, |number| number as i16);
    }
}

/// Writes one number of a block's observations.
#[inline(always)]
fn write(numbers: &Column, columns: &mut Columns<'_, i16>, field: usize, block: usize) {
    write_lanes(numbers, columns.column(field), block, |number| number as i16);
}

/// The results of a step in each match of a block: masks, and rewards.
#[repr(align(64))]
pub struct Told {
    /// Whether the match is over, perhaps since an earlier step.
    pub over: Column,
    /// Whether the match has ended in this step.
    pub closed: Column,
    /// Whether the turn is over.
    pub ended: Column,
    /// Whether the turn passes on within the match.
    pub passed: Column,
    /// Whether a new match begins.
    pub again: Column,
    pub rewards: [i16; LANES],
}

impl Told {
    const NOTHING: Told = Told {
        over: [0; LANES],
        closed: [0; LANES],
        ended: [0; LANES],
        passed: [0; LANES],
        again: [0; LANES],
        rewards: [0; LANES],
    };
}

/// Whether any mask is set.
#[inline(always)]
pub fn any(masks: &Column) -> bool {
    masks.iter().fold(0, |any, mask| any | mask) != 0
}

impl<F: DiceFormat> Block<F> {
    /// Begins a new match.
    fn begin(&mut self, i: usize) {
        self.turns.set::<true>(i, Turn::START);
        let mut told = Told::NOTHING;
        (told.over[i], told.again[i]) = (!0, !0);
        self.format.proceed(i, 0, !0);
        self.format.pass_on(&told);
        self.over[i] = 0;
    }

    /// Plays one action in each match. Matches may hold only if `HOLDS` is set.
    #[inline(always)]
    fn step<const RECYCLE: bool, const HOLDS: bool, const SAME: bool, const AGAIN: bool>(
        &mut self,
        rules: TurnRules,
        asked: &[u8; LANES],
        obs: &mut BlockObs,
        final_obs: &mut BlockObs,
        told: &mut Told,
    ) {
        let forced = mask(rules.first_roll == FirstRoll::Mandatory);
        let words = if HOLDS || !SAME {
            // A match that is over or holds waits, and so does its stream.
            let mut waits = self.over;
            if HOLDS {
                (0..LANES).for_each(|i| waits[i] |= mask(asked[i] == HOLD));
            }
            let before = self.streams.clone();
            let words = self.streams.words(&self.turns);
            self.streams.go_back(&waits, &before);
            words
        } else {
            self.streams.words(&self.turns)
        };
        for i in 0..LANES {
            let mut turn = self.turns.get::<RECYCLE>(i);
            let over = self.over[i];
            let held = if HOLDS { mask(asked[i] == HOLD) } else { 0 };
            let idle = over | held;
            let wants = below(0, asked[i].into()) | (forced & turn.is_fresh());
            let brains_before = turn.brains;
            let draws = [words.draws[0][i], words.draws[1][i], words.draws[2][i]];
            let rolled = turn.roll::<RECYCLE>(wants & !idle, draws, words.faces[i]);
            let played = Played {
                stopped: !wants & !idle,
                rolled,
                brains_before,
                last: self.format.is_last(i, rules.max_turns),
            };
            let settled = self.format.settle(i, &turn, &played);
            told.ended[i] = settled.ended;
            told.closed[i] = settled.over;
            told.rewards[i] = settled.reward;

            if SAME {
                final_obs.set::<F, RECYCLE>(i, &turn, self.format.numbers(i));
            }
            let passed = settled.ended & !settled.over;
            let waited = if AGAIN { over & !held } else { 0 };
            let again = if SAME { settled.over | waited } else { waited };
            self.format.proceed(i, passed, again);
            turn.restart(passed | again);
            (told.passed[i], told.again[i]) = (passed, again);
            obs.set::<F, RECYCLE>(i, &turn, self.format.numbers(i));
            self.turns.set::<RECYCLE>(i, turn);
            // Those that had ended wait.
            told.over[i] = settled.over | if AGAIN { over & held } else { over };
            self.over[i] = if SAME { over & held } else { told.over[i] };
        }
    }
}

impl<F: DiceFormat> Kernel for DiceKernel<F> {
    type Game = F::Game;
    type Cell = i16;
    type Block = Block<F>;
    type Scratch = ();
    type Basis = F::Basis;
    type Saved = Saved<F::Saved>;
    const LANES: usize = LANES;
    const FINAL_ORDER: MemoryOrder = if F::TAKES_TURNS { MemoryOrder::Rows } else { MemoryOrder::Columns };

    fn new(rules: &<F::Game as Game>::Rules, seats: usize) -> Result<Self, SetupError> {
        Ok(DiceKernel {
            all_rules: rules.clone(),
            seats,
            rules: F::turn_rules(rules),
            arch: crate::instructions::arch(),
        })
    }

    fn fields(&self) -> Vec<Field> {
        F::Game::fields(&self.all_rules, self.seats)
    }

    fn actions(&self) -> usize {
        2
    }

    fn scratch(&self) {}

    fn begun(&self, seeds: Range<u64>, (): &mut ()) -> Block<F> {
        let mut streams = Streams::default();
        seeds.enumerate().for_each(|(lane, seed)| streams.seed(lane, seed));
        let format = F::new(&self.all_rules, self.seats);
        Block { turns: Turns::START, format, over: [0; LANES], streams }
    }

    fn seed(block: &mut Block<F>, lane: usize, seed: u64) {
        block.streams.seed(lane, seed);
    }

    fn begin(&self, block: &mut Block<F>, lane: usize, (): &mut ()) {
        block.begin(lane);
    }

    fn step(&self, chunk: Chunk<'_, Self>, actions: &[u8], autoreset: Autoreset) {
        let Chunk { blocks, out: part, .. } = chunk;
        let (arch, rules, seats) = (self.arch, self.rules, self.seats);
        // Whatever is known here need not be asked in each block.
        macro_rules! step {
            ($recycle:literal, $holds:literal) => {
                arch.dispatch(Step::<F, $recycle, $holds> { blocks, actions, part, rules, seats, autoreset })
            };
        }
        match (rules.out_of_dice, any_holds(actions)) {
            (OutOfDice::RecycleBrains, true) => step!(true, true),
            (OutOfDice::RecycleBrains, false) => step!(true, false),
            (OutOfDice::EndTurn, true) => step!(false, true),
            (OutOfDice::EndTurn, false) => step!(false, false),
        }
    }

    fn tell(&self, chunk: &mut Chunk<'_, Self>) {
        let Chunk { blocks, out, .. } = chunk;
        let rows = out.rewards.len();
        for (number, block) in blocks.iter().enumerate() {
            let start = number * LANES;
            let mut obs = BlockObs::NOTHING;
            for i in 0..LANES.min(rows - start) {
                out.terminated[start + i] = block.over[i] != 0;
                out.truncated[start + i] = false;
                obs.set::<F, true>(i, &block.turns.get::<true>(i), block.format.numbers(i));
            }
            let turn_fields = if self.rules.out_of_dice == OutOfDice::RecycleBrains {
                obs.write::<F, true>(&mut out.obs, number);
                turn_fields::<F, true>()
            } else {
                obs.0.copy_within(11.., 8);
                obs.write::<F, false>(&mut out.obs, number);
                turn_fields::<F, false>()
            };
            for (field, column) in (turn_fields..).zip(block.format.seats()) {
                write(column, &mut out.obs, field, number);
            }
        }
    }

    fn mask(&self, block: &Block<F>, lane: usize, out: &mut [bool]) {
        let forced = self.rules.first_roll == FirstRoll::Mandatory;
        out.copy_from_slice(&[!(forced && block.turns.get::<false>(lane).is_fresh() != 0), true]);
    }

    fn always_legal(&self) -> bool {
        self.rules.first_roll != FirstRoll::Mandatory
    }

    fn is_legal(&self, block: &Block<F>, lane: usize, _: usize, action: u8) -> bool {
        let must_roll =
            !self.always_legal() && block.over[lane] == 0 && block.turns.get::<false>(lane).is_fresh() != 0;
        action > 0 || !must_roll
    }

    fn surely_legal(&self, block: &Block<F>, actions: &[u8]) -> bool {
        let Ok(actions) = <&[u8; LANES]>::try_from(actions) else { return false };
        // Nothing branches here, so that it becomes vectors.
        let wrong =
            |i: usize| below(actions[i].into(), 1) & !block.over[i] & block.turns.get::<false>(i).is_fresh();
        (0..LANES).fold(0, |any, i| any | wrong(i)) == 0
    }

    fn to_act(block: &Block<F>, lane: usize) -> u8 {
        block.format.to_act(lane)
    }

    fn basis(&self) -> F::Basis {
        F::basis(&self.all_rules, self.seats)
    }

    fn save(block: &Block<F>, lane: usize) -> Self::Saved {
        Saved {
            turn: block.turns.get::<true>(lane),
            format: block.format.save(lane),
            over: block.over[lane] != 0,
            stream: block.streams.get(lane),
        }
    }

    fn restore(&self, block: &mut Block<F>, lane: usize, saved: Self::Saved) -> Result<(), String> {
        if !saved.turn.is_possible() || !block.format.restore(lane, saved.format) {
            return Err("not a state that a match can reach".to_owned());
        }
        block.turns.set::<true>(lane, saved.turn);
        block.over[lane] = mask(saved.over);
        block.streams.set(lane, saved.stream);
        Ok(())
    }
}

impl<F: DiceFormat> Views for DiceKernel<F> {
    fn rules(&self) -> &<F::Game as Game>::Rules {
        &self.all_rules
    }

    fn view(&self, block: &Block<F>, lane: usize, seat: Seat) -> <F::Game as Game>::View {
        let turn = block.turns.get::<true>(lane);
        let turn = match self.rules.out_of_dice {
            OutOfDice::RecycleBrains => turn.view::<true>(),
            OutOfDice::EndTurn => turn.view::<false>(),
        };
        block.format.view(lane, seat, turn)
    }
}

/// A match as it is saved.
#[derive(Serialize, Deserialize)]
pub struct Saved<F> {
    turn: Turn,
    format: F,
    over: bool,
    stream: u64,
}
