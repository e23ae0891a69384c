//! What it means for a game to be solved.

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

/// A game that is solved exactly. A game that is not solved needs nothing here.
pub trait Solvable: Listed {
    /// Its solution.
    type Solution: Solution<Self>;
    /// Its perfect player.
    type Optimal: Bot<Self> + Clone + Send + Sync + 'static;

    /// What is said of the perfect player.
    const OPTIMAL: &'static str;

    /// The solution under these rules for this many seats. The whole process solves it once.
    fn solve(rules: &Self::Rules, seats: usize) -> Result<Arc<Self::Solution>, Unsolved>;

    /// The perfect player under these rules; with more than two seats, or limits on rounds or turns, the best that can be
    /// justified.
    fn optimal(rules: &Self::Rules) -> Self::Optimal;

    /// The kind of a decision: few kinds, so that each comes up often.
    fn kind(view: &Self::View) -> String;

    /// The mistake in words that fit all mistakes of the same habit.
    fn habit(view: &Self::View, choice: &Move<Self::Action>, best: &Self::Action) -> String;

    /// What a bot is worth exactly, alone or against another; none where that is not worked out. `progress` hears the share of
    /// the questions that have been asked.
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

/// Exact values of every position. A value is the chance to win (a shared win counts one half), or the expected score
/// of a game for one. Values "to seat 0" belong to that seat, no matter who moves.
pub trait Solution<G: Game>: Send + Sync + 'static {
    /// Before anything has happened, to seat 0.
    fn start(&self) -> f64;

    /// The value of a turn to the player whose turn it is: the first turn of a match, or one with these scores (the mover's
    /// first) in this seat.
    fn worth(&self, scores: Option<[u32; 2]>, seat: Option<Seat>) -> Result<Worth, Impossible>;

    /// How many positions have a value of their own.
    fn positions(&self) -> usize;

    /// Whether a match can come to this view with something to decide. Views that a referee shows with a question pass; those
    /// that somebody made by hand are worth nothing before this.
    fn check(&self, view: &G::View) -> Result<(), Impossible>;

    /// Every option of the seat that is to act, to that seat, in the order in which a person would list them. Actions
    /// that are the same but for the order of the dice are listed once.
    fn prices(&self, view: &G::View) -> Vec<Price<G::Action>>;

    /// What a move is worth to the seat that makes it.
    fn price(&self, view: &G::View, choice: &Move<G::Action>) -> f64;

    /// The best action of the seat that is to act.
    fn best(&self, view: &G::View) -> G::Action;

    /// The whole policy, for programs that load tables.
    fn arrays(&self) -> Vec<Array>;

    /// A meter for a match that is about to begin.
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

/// What an action is worth to the seat that takes it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Price<A> {
    /// The action.
    pub action: A,
    /// Its value.
    pub value: f64,
}

/// Measures the luck of a match from its events: with every roll, how much better it was than expected. Whatever the
/// players do, its expectation is zero.
pub trait Meter<E>: Log<E> + Send {
    /// The luck of seat 0 so far.
    fn luck(&self) -> f64;

    /// The luck of seat 0 in a whole match: the same as hearing of one event after the other, but one call for all of them.
    fn luck_of(&mut self, events: &[E]) -> f64;

    /// The last roll, once.
    fn take(&mut self) -> Option<Roll>;

    /// Begins a new match.
    fn restart(&mut self);
}

/// One roll of the dice, to seat 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Roll {
    /// Who rolled.
    pub seat: Seat,
    /// What was to be expected.
    pub before: f64,
    /// What came.
    pub after: f64,
}

/// What a finished match was worth to seat 0.
pub fn result(outcome: &Outcome) -> f64 {
    match outcome.places.as_slice() {
        [_] => outcome.scores[0] as f64,
        _ => {
            outcome.winners().find(|seat| seat.0 == 0).map_or(0.0, |_| 1.0 / outcome.winners().count() as f64)
        }
    }
}

/// A value to the mover as a value to seat 0, in a game of two.
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
    /// Solved for fewer seats only.
    #[error("{game} is solved for two seats, not for {seats}")]
    Seats {
        /// The game.
        game: &'static str,
        /// How many there are.
        seats: usize,
    },
    /// A limit on rounds or turns that can be felt.
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

/// Solutions by what they were solved for, so that a hundred bots share one.
pub(crate) struct Shelf<K, S>(Mutex<Vec<(K, Arc<S>)>>);

impl<K: PartialEq, S> Shelf<K, S> {
    pub const fn new() -> Self {
        Shelf(Mutex::new(Vec::new()))
    }

    /// The solution for `key`. Later callers wait for the first one to finish.
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

/// Runs `work` on threads of its own. The caller may be a thread of rayon's pool: if the work needed that pool, the two would
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
