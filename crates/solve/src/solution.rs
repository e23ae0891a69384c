//! The traits of a solved game.

use crate::{
    exact::{Asked, Exact, Inexact},
    export::Array,
    position::Impossible,
    solver::solved,
};
use necrodome_rules::{
    bot::Bot,
    catalog::Listed,
    game::{Game, Log, Move, Outcome, Seat},
};
use std::{
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
    thread,
};

/// A game that is solved exactly. A game that is not solved needs no implementation.
pub trait Solvable: Listed {
    /// Its solution.
    type Solution: Solution<Self>;
    /// Its perfect player.
    type Optimal: Bot<Self> + Clone + Send + Sync + 'static;

    /// The description of the perfect player.
    const OPTIMAL: &'static str;

    /// Returns the solution under these rules for `seats` seats. It is worked out once for the whole process.
    fn solve(rules: &Self::Rules, seats: usize) -> Result<Arc<Self::Solution>, Unsolved>;

    /// Returns the perfect player under these rules. With more than two seats, or with limits on rounds or turns, it plays the best
    /// approximation.
    fn optimal(rules: &Self::Rules) -> Self::Optimal;

    /// The kind of a decision. There are few kinds, so that each comes up often.
    fn kind(view: &Self::View) -> String;

    /// Describes the mistake in words that fit all mistakes of the same habit.
    fn habit(view: &Self::View, choice: &Move<Self::Action>, best: &Self::Action) -> String;

    /// Works out the exact value of a bot, alone or against another, or returns `None` where that is not possible. `progress` is
    /// called with the share of the questions that have been asked.
    fn exact(
        _rules: &Self::Rules,
        _bot: &mut dyn Asked<Self>,
        _against: Option<&mut dyn Asked<Self>>,
        _progress: &mut dyn FnMut(f64),
    ) -> Option<Result<Exact, Inexact>> {
        None
    }
}

/// The name of the perfect player of every game that has one.
pub const OPTIMAL: &str = "optimal";

/// The exact values of every position. A value is the chance to win (a shared win counts one half), or the expected score
/// of a game for one. Values "to seat 0" belong to that seat, no matter who moves.
pub trait Solution<G: Game>: Send + Sync + 'static {
    /// The value to seat 0 before anything has happened.
    fn start(&self) -> f64;

    /// The value of a turn to its player: the first turn of a match, or a turn with these scores (the mover's
    /// first) in this seat.
    fn worth(&self, scores: Option<[u32; 2]>, seat: Option<Seat>) -> Result<Worth, Impossible>;

    /// The number of positions with a value of their own.
    fn positions(&self) -> usize;

    /// Checks that a match can reach this view, with a decision to make. Views in which a referee asks a question pass; a view that
    /// somebody made by hand must pass before any other method may be used on it.
    fn check(&self, view: &G::View) -> Result<(), Impossible>;

    /// Every option of the seat that is to act, with its value to that seat, in the order in which a person would list them.
    /// Actions that differ only in the order of the dice are listed once.
    fn prices(&self, view: &G::View) -> Vec<Price<G::Action>>;

    /// The value of a move to the seat that makes it.
    fn price(&self, view: &G::View, choice: &Move<G::Action>) -> f64;

    /// The best action of the seat that is to act.
    fn best(&self, view: &G::View) -> G::Action;

    /// Exports the whole policy, for programs that load tables.
    fn arrays(&self) -> Vec<Array>;

    /// Makes a meter for a match that is about to begin.
    fn meter(self: Arc<Self>) -> Box<dyn Meter<G::Event>>;
}

/// A value, and what it means.
#[derive(Debug, Clone, PartialEq)]
pub struct Worth {
    /// The value.
    pub value: f64,
    /// What it means, in words.
    pub meaning: String,
    /// The probability of each final score, in a game for one.
    pub distribution: Option<Vec<f64>>,
}

impl Worth {
    pub(crate) fn new(value: f64, meaning: impl Into<String>) -> Self {
        Worth { value, meaning: meaning.into(), distribution: None }
    }
}

/// An action and its value to the seat that takes it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Price<A> {
    /// The action.
    pub action: A,
    /// Its value.
    pub value: f64,
}

/// Measures the luck of a match from its events: for every roll, how much better it was than expected. Its expectation is zero,
/// whatever the players do.
pub trait Meter<E>: Log<E> + Send {
    /// The luck of seat 0 so far.
    fn luck(&self) -> f64;

    /// The luck of seat 0 in a whole match: the same as recording the events one by one, but in a single call.
    fn luck_of(&mut self, events: &[E]) -> f64;

    /// Takes the last roll, or `None` if it was taken before.
    fn take(&mut self) -> Option<Roll>;

    /// Begins a new match.
    fn restart(&mut self);
}

/// One roll of the dice, with values to seat 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Roll {
    /// The seat that rolled.
    pub seat: Seat,
    /// The value expected before the roll.
    pub before: f64,
    /// The value after the roll.
    pub after: f64,
}

/// The value of a finished match to seat 0.
pub fn result(outcome: &Outcome) -> f64 {
    match outcome.places.as_slice() {
        [_] => outcome.scores[0] as f64,
        _ => {
            outcome.winners().find(|seat| seat.0 == 0).map_or(0.0, |_| 1.0 / outcome.winners().count() as f64)
        }
    }
}

/// Turns a value to the mover into a value to seat 0, in a game for two.
pub(crate) fn to_first(seat: Seat, value: f64) -> f64 {
    if seat.0 == 0 { value } else { 1.0 - value }
}

/// Why there is no exact solution.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsolved {
    /// The game is too large.
    #[error("{game} is not solved: expected one of {} (for two at most)", solved().join(", "))]
    Game {
        /// The game.
        game: &'static str,
    },
    /// The game is solved only for fewer seats.
    #[error("{game} is solved for two seats, not for {seats}")]
    Seats {
        /// The game.
        game: &'static str,
        /// The number of seats in the match.
        seats: usize,
    },
    /// A limit on rounds or turns that is low enough to change values.
    #[error("{game} with {option}={value} is not solved: expected {option}={expected}")]
    Limit {
        /// The game.
        game: &'static str,
        /// The option.
        option: &'static str,
        /// Its value.
        value: u32,
        /// The values that are solved.
        expected: &'static str,
    },
}

/// Finished solutions by their rules, so that a hundred bots share one.
pub(crate) struct Shelf<K, S>(Mutex<Vec<(K, Arc<S>)>>);

impl<K: PartialEq, S> Shelf<K, S> {
    pub const fn new() -> Self {
        Shelf(Mutex::new(Vec::new()))
    }

    /// Returns the solution for `key`. Later callers wait for the first one to finish.
    pub fn get(&self, key: K, solve: impl FnOnce() -> S + Send) -> Arc<S>
    where
        S: Send,
    {
        let mut shelf: MutexGuard<Vec<_>> = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = shelf.iter().find(|(other, _)| *other == key) {
            return found.clone();
        }
        let solved = Arc::new(apart(solve));
        shelf.push((key, solved.clone()));
        solved
    }
}

/// Runs `work` on separate threads. The caller may be a thread of rayon's pool: if the work needed that pool, the two would
/// wait for each other.
pub(crate) fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    static POOL: LazyLock<Option<rayon::ThreadPool>> =
        LazyLock::new(|| rayon::ThreadPoolBuilder::new().build().ok());
    thread::scope(|scope| {
        let worker = scope.spawn(|| match &*POOL {
            Some(pool) => pool.install(work),
            None => work(),
        });
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
