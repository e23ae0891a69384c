//! What a game needs to be played in batches: the contract between its kernel and [`Batched`](crate::batched::Batched).

use crate::{batched::Autoreset, field::Field, parts::Chunk};
use necrodome_rules::{game::Game, names::SetupError};
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt::Debug, ops::Range};

/// How observations lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryOrder {
    /// All rows of the first field, then all of the second, and so on.
    Columns,
    /// One row after the other.
    Rows,
}

/// Plays the matches of one game. It holds what all of them have in common: rules, number of seats.
///
/// The matches themselves are in blocks. A block has one or more lanes, with a match in each.
pub trait Kernel: Debug + Clone + Send + Sync + 'static {
    /// The game, as its referee plays it.
    type Game: Game;
    /// A number of an observation.
    type Cell: Copy + Default + Send + Sync + 'static;
    /// Some matches with their streams of chance.
    type Block: Debug + Clone + Send + Sync;
    /// A thread's own memory, kept from step to step.
    type Scratch: Debug + Clone + Send + Sync;
    /// What a saved state must share with the batch that restores it: rules and number of seats.
    type Basis: PartialEq + Serialize + DeserializeOwned;
    /// A match as it is saved, with its stream.
    type Saved: Serialize + DeserializeOwned;

    /// Matches in a block. The last block of a batch may have unused lanes.
    const LANES: usize = 1;
    /// How observations lie in memory.
    const ORDER: MemoryOrder = MemoryOrder::Columns;
    /// Whether one seat decides at a time. Then a row is a match.
    const TURNS: bool = true;

    /// The number of seats when none is given.
    fn usual_seats() -> usize {
        2.clamp(*Self::Game::SEATS.start(), *Self::Game::SEATS.end())
    }

    /// Refuses rules that do not fit this number of seats, which the game allows.
    fn new(rules: &<Self::Game as Game>::Rules, seats: usize) -> Result<Self, SetupError>;

    /// What the numbers of a row's observation mean.
    fn fields(&self) -> Vec<Field>;

    /// How many actions there are: at most 256.
    fn actions(&self) -> usize;

    /// How many decisions a match asks for at once.
    fn rows_of_a_match(&self) -> usize {
        1
    }

    /// Memory for one thread.
    fn scratch(&self) -> Self::Scratch;

    /// A block of matches that begin with these seeds.
    fn begun(&self, seeds: Range<u64>, scratch: &mut Self::Scratch) -> Self::Block;

    /// Starts the stream of a match from a seed. Nothing else changes.
    fn seed(block: &mut Self::Block, lane: usize, seed: u64);

    /// Begins a new match, whose stream goes on.
    fn begin(&self, block: &mut Self::Block, lane: usize, scratch: &mut Self::Scratch);

    /// Plays one action in each row, begins matches as [`Autoreset`] says, and writes what happened.
    fn step(&self, chunk: Chunk<'_, Self>, actions: &[u8], autoreset: Autoreset);

    /// Writes observations and flags without playing.
    fn tell(&self, chunk: &mut Chunk<'_, Self>);

    /// Marks the legal actions in each row of a match.
    fn mask(&self, block: &Self::Block, lane: usize, out: &mut [bool]);

    /// The seat that decides, or decided last; 0 where there are no turns.
    fn to_act(block: &Self::Block, lane: usize) -> u8;

    /// What a saved state must share with this kernel.
    fn basis(&self) -> Self::Basis;

    /// The match in a lane, to be saved.
    fn save(block: &Self::Block, lane: usize) -> Self::Saved;

    /// Puts a saved match into a lane; refuses a position that no match reaches.
    fn restore(&self, block: &mut Self::Block, lane: usize, saved: Self::Saved) -> Result<(), String>;
}
