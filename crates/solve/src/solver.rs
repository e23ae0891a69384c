//! The link from any game to its solution, if it has one.

use crate::{
    exact::{Asked, Exact, Inexact},
    solution::{Solution, Solvable, Unsolved},
    solver,
};
use necrodome_rules::{
    bot::{Bot, Decide, Regular},
    catalog::{GameId, Listed},
    chance::Seeded,
    game::{Game, Move},
    with_game,
};
use std::sync::Arc;

/// Makes perfect players.
pub type Optimal<G> = Box<dyn Fn() -> Box<dyn Regular<G>> + Send + Sync>;

/// A bot whose action depends only on its view, the same in every match.
struct Unchanging<B>(B);

impl<G: Game, B: Bot<G>> Bot<G> for Unchanging<B> {
    fn act(&mut self, view: &G::View) -> G::Action {
        self.0.act(view)
    }
}

impl<G: Game, B: Bot<G>> Regular<G> for Unchanging<B> {
    fn restart(&mut self, _: &dyn Fn() -> Seeded) {}
}

/// [`Solvable`] without its types, for callers that treat all games alike.
#[derive(Clone)]
#[allow(clippy::type_complexity)] // They are the types of functions that are written out in the trait.
pub struct Solver<G: Listed> {
    /// The description of the perfect player.
    pub about_optimal: &'static str,
    /// See [`Solvable::solve`].
    pub solve: fn(&G::Rules, usize) -> Result<Arc<dyn Solution<G>>, Unsolved>,
    /// See [`Solvable::optimal`].
    pub optimal: fn(&G::Rules) -> Optimal<G>,
    /// The perfect player for single decisions.
    pub decide: fn(&G::Rules) -> Decide<G>,
    /// See [`Solvable::kind`].
    pub kind: fn(&G::View) -> String,
    /// See [`Solvable::habit`].
    pub habit: fn(&G::View, &Move<G::Action>, &G::Action) -> String,
    /// See [`Solvable::exact`].
    pub exact: fn(
        &G::Rules,
        &mut dyn Asked<G>,
        Option<&mut dyn Asked<G>>,
        &mut dyn FnMut(f64),
    ) -> Option<Result<Exact, Inexact>>,
}

/// Makes the solver of a solved game.
pub(crate) fn of<G: Solvable>() -> Solver<G> {
    Solver {
        about_optimal: G::OPTIMAL,
        solve: |rules, seats| Ok(G::solve(rules, seats)?),
        optimal: |rules| {
            let optimal = G::optimal(rules);
            Box::new(move || Box::new(Unchanging(optimal.clone())))
        },
        decide: |rules| {
            let optimal = G::optimal(rules);
            Box::new(move |view, _| optimal.clone().act(view))
        },
        kind: G::kind,
        habit: G::habit,
        exact: G::exact,
    }
}

/// The ids of the solved games.
pub fn solved() -> Vec<&'static str> {
    let solved = |&id: &GameId| with_game!(id, G => solver::<G>().is_some());
    GameId::ALL.into_iter().filter(solved).map(GameId::as_str).collect()
}

/// Returns the solution of a game under these rules for `seats` seats.
pub fn solve<G: Listed>(rules: &G::Rules, seats: usize) -> Result<Arc<dyn Solution<G>>, Unsolved> {
    (solver::<G>().ok_or(Unsolved::Game { game: G::ID })?.solve)(rules, seats)
}
