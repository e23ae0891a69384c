//! Tokyo in batches: 64 matches at a time, a vector of bytes for each number of their state.
//!
//! A row is a match. Its observation is that of the seat that decides; once the match is over, of the one that decided last.
//! Every action draws one word from the row's stream, for the dice that are rolled again and for a turn that may begin
//! (a word that would make some rolls likelier is rejected); so does the beginning of a match.
//!
//! An action is a number: below 64 it says which dice are kept (bit i is die i), 64 leaves Tokyo, 65 stays. An action that
//! does not fit keeps all dice, or stays. The reward is that of the seat that has acted: 0 until the match ends, then that of
//! [`by_place`](crate::observe::by_place); [`Batched::final_rewards`] has those of all seats. A match that ends by
//! `max_turns` has ended by its rules, so it is terminated, never truncated.

mod block;
mod dice;
mod lane;
mod observe;
mod saved;
mod step;

use crate::{
    batched::{Autoreset, Batched},
    field::Field,
    kernel::{Kernel, MemoryOrder, Views},
    observe::Observe,
    parts::Chunk,
    stream::Stream,
};
use block::{Block, LANES};
use lane::{Lane, MAX_SEATS, NOBODY, ROLLING, YIELD, YIELDING};
use necrodome_rules::{
    game::Seat,
    names::SetupError,
    tokyo::{Face, Monster, Phase, Tokyo, TokyoRules, TokyoView},
};
use observe::ACTIONS;
use saved::Saved;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Many matches of Tokyo.
pub type TokyoBatch = Batched<TokyoKernel>;

/// The settings that all matches of a batch share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokyoKernel {
    rules: TokyoRules,
    seats: usize,
}

impl TokyoKernel {
    /// The most turns; 0 if there is no limit.
    fn max_turns(&self) -> u32 {
        self.rules.max_turns.map_or(0, |max| max.get())
    }
}

impl Kernel for TokyoKernel {
    type Game = Tokyo;
    type Cell = i16;
    type Block = Block;
    type Scratch = ();
    type Basis = Self;
    type Saved = Saved;
    const LANES: usize = LANES;
    const FINAL_ORDER: MemoryOrder = MemoryOrder::Rows;

    fn new(rules: &TokyoRules, seats: usize) -> Result<Self, SetupError> {
        Ok(TokyoKernel { rules: *rules, seats })
    }

    fn fields(&self) -> Vec<Field> {
        Tokyo::fields(&self.rules, self.seats)
    }

    fn actions(&self) -> usize {
        ACTIONS
    }

    fn scratch(&self) {}

    fn begun(&self, seeds: Range<u64>, (): &mut ()) -> Block {
        let mut block = Block::new();
        for (lane, seed) in seeds.enumerate() {
            Self::seed(&mut block, lane, seed);
            self.begin(&mut block, lane, &mut ());
        }
        block
    }

    fn seed(block: &mut Block, lane: usize, seed: u64) {
        block.set_stream(lane, &Stream::new(seed));
    }

    fn begin(&self, block: &mut Block, lane: usize, (): &mut ()) {
        step::begin(self, block, lane);
    }

    fn step(&self, chunk: Chunk<'_, Self>, actions: &[u8], autoreset: Autoreset) {
        step::play(self, chunk, actions, autoreset);
    }

    fn tell(&self, chunk: &mut Chunk<'_, Self>) {
        step::tell(self, chunk);
    }

    fn mask(&self, block: &Block, lane: usize, out: &mut [bool]) {
        let (keeps, decides) = out.split_at_mut(usize::from(YIELD));
        keeps.fill(block.phase[lane] == ROLLING);
        decides.fill(block.phase[lane] == YIELDING);
    }

    fn is_legal(&self, block: &Block, lane: usize, _: usize, action: u8) -> bool {
        match block.phase[lane] {
            ROLLING => action < YIELD,
            YIELDING => action >= YIELD,
            _ => true,
        }
    }

    fn surely_legal(&self, block: &Block, actions: &[u8]) -> bool {
        // Nothing branches here, so that it becomes vectors.
        let wrong = |phase, action: u8| {
            (phase == ROLLING) & (action >= YIELD) | (phase == YIELDING) & (action < YIELD)
        };
        !block.phase.iter().zip(actions).fold(false, |any, (&phase, &action)| any | wrong(phase, action))
    }

    fn to_act(block: &Block, lane: usize) -> u8 {
        block.seat[lane]
    }

    fn basis(&self) -> Self {
        *self
    }

    fn save(block: &Block, lane: usize) -> Saved {
        Saved::new(block, lane)
    }

    fn restore(&self, block: &mut Block, lane: usize, saved: Saved) -> Result<(), String> {
        saved.check(self.seats, &self.rules)?;
        saved.put(block, lane, self.max_turns());
        Ok(())
    }
}

impl Views for TokyoKernel {
    fn rules(&self) -> &TokyoRules {
        &self.rules
    }

    fn view(&self, block: &Block, lane: usize, seat: Seat) -> TokyoView {
        let mut view = TokyoView {
            seat,
            current: Seat(0),
            monsters: Vec::new(),
            in_tokyo: None,
            dice: [Face::One; 6],
            phase: Phase::Over,
            turn: 0,
        };
        self.refresh_view(block, lane, seat, &mut view);
        view
    }

    fn refresh_view(&self, block: &Block, i: usize, seat: Seat, view: &mut TokyoView) {
        let lane: Lane<MAX_SEATS> = block.lane(i);
        let monster = |(&health, &points): (&u8, &u8)| Monster { health, points: points.into() };
        view.seat = seat;
        view.current = Seat(lane.current.into());
        view.monsters.clear();
        view.monsters.extend(lane.health.iter().zip(&lane.points).map(monster).take(self.seats));
        view.in_tokyo = (lane.in_tokyo != NOBODY).then_some(Seat(lane.in_tokyo.into()));
        view.dice = lane.dice.map(|die| Face::ALL[usize::from(die)]);
        view.phase = match lane.phase {
            ROLLING => Phase::Rolling { rerolls_left: lane.rerolls_left },
            YIELDING => Phase::Yielding { damage: lane.damage },
            _ => Phase::Over,
        };
        view.turn = block.turns[i];
    }
}
