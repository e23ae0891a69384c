//! The `Kernel` trait: the contract between a game's fast implementation and [`Batched`](crate::batched::Batched).

use crate::{batched::Autoreset, field::Field, observe::Observe, parts::Chunk};
use necrodome_rules::{
    game::{Game, Seat},
    names::SetupError,
};
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt::Debug, ops::Range};

/// The order of observations in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryOrder {
    /// Column by column: all rows of the first field, then all of the second, and so on.
    Columns,
    /// Row by row.
    Rows,
}

/// Plays the matches of one game. It holds what all of them share: rules, number of seats.
///
/// The matches themselves are in blocks. A block has one or more lanes, with a match in each.
pub trait Kernel: Debug + Clone + Send + Sync + 'static {
    /// The game, as its referee plays it.
    type Game: Game;
    /// A number of an observation.
    type Cell: Copy + Default + Send + Sync + 'static;
    /// A block of matches with their streams of chance.
    type Block: Debug + Clone + Send + Sync;
    /// The memory of a thread, kept from step to step.
    type Scratch: Debug + Clone + Send + Sync;
    /// The rules and the number of seats, which a saved state must share with the batch that restores it.
    type Basis: PartialEq + Serialize + DeserializeOwned;
    /// A match as it is saved, with its stream.
    type Saved: Serialize + DeserializeOwned;

    /// The number of matches in a block. The last block of a batch may have unused lanes.
    const LANES: usize = 1;
    /// The order of observations in memory.
    const ORDER: MemoryOrder = MemoryOrder::Columns;
    /// The order of last observations in memory. It is row by row if few matches end in a step, since a row in one place is written
    /// faster than one that is spread over all columns.
    const FINAL_ORDER: MemoryOrder = Self::ORDER;
    /// Whether one seat decides at a time. Then a row is a match.
    const TURNS: bool = true;

    /// The default number of seats.
    fn usual_seats() -> usize {
        2.clamp(*Self::Game::SEATS.start(), *Self::Game::SEATS.end())
    }

    /// Makes a kernel. Refuses rules that do not fit this number of seats, which the game allows.
    fn new(rules: &<Self::Game as Game>::Rules, seats: usize) -> Result<Self, SetupError>;

    /// The meaning of each number in a row's observation.
    fn fields(&self) -> Vec<Field>;

    /// The number of actions: at most 255, since [`HOLD`](crate::actions::HOLD) is none.
    fn actions(&self) -> usize;

    /// The number of decisions that a match asks for at once.
    fn rows_of_a_match(&self) -> usize {
        1
    }

    /// The approximate size of the state of a match, in bytes.
    fn bytes_of_a_match(&self) -> usize {
        size_of::<Self::Block>().div_ceil(Self::LANES)
    }

    /// Makes the memory of one thread.
    fn scratch(&self) -> Self::Scratch;

    /// Makes a block of matches that begin with these seeds.
    fn begun(&self, seeds: Range<u64>, scratch: &mut Self::Scratch) -> Self::Block;

    /// Starts the stream of a match from a seed. Nothing else changes.
    fn seed(block: &mut Self::Block, lane: usize, seed: u64);

    /// Begins a new match, whose stream goes on.
    fn begin(&self, block: &mut Self::Block, lane: usize, scratch: &mut Self::Scratch);

    /// Plays one action in each row, begins matches as [`Autoreset`] says, and writes what happened. Rows that
    /// [`HOLD`](crate::actions::HOLD) stay as they are.
    fn step(&self, chunk: Chunk<'_, Self>, actions: &[u8], autoreset: Autoreset);

    /// Writes observations and flags without playing.
    fn tell(&self, chunk: &mut Chunk<'_, Self>);

    /// Marks the legal actions in each row of a match.
    fn mask(&self, block: &Self::Block, lane: usize, out: &mut [bool]);

    /// Whether all actions are always legal. Then [`mask`](Kernel::mask) is not needed.
    fn always_legal(&self) -> bool {
        false
    }

    /// Whether an action is legal in a row of a match now, as [`mask`](Kernel::mask) says. If the row has no decision to make, every
    /// action is legal.
    fn is_legal(&self, block: &Self::Block, lane: usize, row: usize, action: u8) -> bool;

    /// Checks the actions of all matches of a block quickly: `true` only if all of them are legal.
    fn surely_legal(&self, _block: &Self::Block, _actions: &[u8]) -> bool {
        false
    }

    /// Marks the rows of a match whose episode goes on: all of them, unless some end before the others.
    fn alive(&self, _block: &Self::Block, _lane: usize, out: &mut [bool]) {
        out.fill(true);
    }

    /// The seat that decides, or decided last; 0 where there are no turns.
    fn to_act(block: &Self::Block, lane: usize) -> u8;

    /// The seat of an opponent that only the caller can ask and that must act now, or `None`.
    fn waits(_: &Self::Block, _: usize) -> Option<u8> {
        None
    }

    /// The number of matches that have begun since the stream was seeded, where opponents play.
    fn episode(_: &Self::Block, _: usize) -> u64 {
        0
    }

    /// The seat of the learner, where the other seats are played by opponents.
    fn learner(_: &Self::Block, _: usize) -> Option<u8> {
        None
    }

    /// The rules and the number of seats, which a saved state must share with this kernel.
    fn basis(&self) -> Self::Basis;

    /// Saves the match in a lane.
    fn save(block: &Self::Block, lane: usize) -> Self::Saved;

    /// Puts a saved match into a lane. Refuses a position that no match reaches.
    fn restore(&self, block: &mut Self::Block, lane: usize, saved: Self::Saved) -> Result<(), String>;
}

/// A kernel that can show its matches as the referee does, so that bots can decide in them and every seat has a
/// view.
pub trait Views: Kernel<Game: Observe, Cell = i16> {
    /// The rules of all matches.
    fn rules(&self) -> &<Self::Game as Game>::Rules;

    /// The view of a seat in the match of a lane.
    fn view(&self, block: &Self::Block, lane: usize, seat: Seat) -> <Self::Game as Game>::View;

    /// Does the same in an existing view, whose memory it can reuse.
    fn refresh_view(
        &self,
        block: &Self::Block,
        lane: usize,
        seat: Seat,
        view: &mut <Self::Game as Game>::View,
    ) {
        *view = self.view(block, lane, seat);
    }
}
