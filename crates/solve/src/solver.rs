//! The way from any game to its solution, if it has one. The list of solved games is here.

use crate::{
    exact::{Asked, Exact, Inexact},
    solution::{Solution, Solvable, Unsolved},
};
use necrodome_rules::{
    bot::Bot,
    catalog::Listed,
    game::Move,
    tokyo::Tokyo,
    zombie_dice::{Race, Solo, Table},
};
use std::{any::Any, marker::PhantomData, sync::Arc};

/// Makes one perfect player after the other.
pub type Optimal<G> = Box<dyn Fn() -> Box<dyn Bot<G>> + Send + Sync>;

/// [`Solvable`] without its types: what is known of a solved game by those who treat all games alike.
pub trait Solver<G: Listed>: Sync {
    /// What is said of the perfect player.
    fn about_optimal(&self) -> &'static str;
    /// See [`Solvable::solve`].
    fn solve(&self, rules: &G::Rules, seats: usize) -> Result<Arc<dyn Solution<G>>, Unsolved>;
    /// See [`Solvable::optimal`].
    fn optimal(&self, rules: &G::Rules) -> Optimal<G>;
    /// See [`Solvable::kind`].
    fn kind(&self, view: &G::View) -> String;
    /// See [`Solvable::habit`].
    fn habit(&self, view: &G::View, choice: &Move<G::Action>, best: &G::Action) -> String;
    /// See [`Solvable::exact`].
    fn exact(
        &self,
        rules: &G::Rules,
        bot: &mut dyn Asked<G>,
        against: Option<&mut dyn Asked<G>>,
        progress: &mut dyn FnMut(f64),
    ) -> Option<Result<Exact, Inexact>>;
}

struct Of<G>(PhantomData<fn() -> G>);

impl<G: Solvable> Solver<G> for Of<G> {
    fn about_optimal(&self) -> &'static str {
        G::OPTIMAL
    }

    fn solve(&self, rules: &G::Rules, seats: usize) -> Result<Arc<dyn Solution<G>>, Unsolved> {
        Ok(G::solve(rules, seats)?)
    }

    fn optimal(&self, rules: &G::Rules) -> Optimal<G> {
        let optimal = G::optimal(rules);
        Box::new(move || Box::new(optimal.clone()))
    }

    fn kind(&self, view: &G::View) -> String {
        G::kind(view)
    }

    fn habit(&self, view: &G::View, choice: &Move<G::Action>, best: &G::Action) -> String {
        G::habit(view, choice, best)
    }

    fn exact(
        &self,
        rules: &G::Rules,
        bot: &mut dyn Asked<G>,
        against: Option<&mut dyn Asked<G>>,
        progress: &mut dyn FnMut(f64),
    ) -> Option<Result<Exact, Inexact>> {
        G::exact(rules, bot, against, progress)
    }
}

macro_rules! solved_games {
    ($($game:ty),*) => {
        /// The ids of the solved games.
        pub const SOLVED: &[&str] = &[$(<$game>::ID),*];

        /// The solver of a game, if the game is solved.
        pub fn solver<G: Listed>() -> Option<&'static dyn Solver<G>> {
            $({
                static SOLVER: &dyn Solver<$game> = &Of::<$game>(PhantomData);
                if let Some(&solver) = (&SOLVER as &dyn Any).downcast_ref::<&'static dyn Solver<G>>() {
                    return Some(solver);
                }
            })*
            None
        }
    };
}

solved_games!(Solo, Race, Table, Tokyo);

/// The solution of a game under these rules for this many seats.
pub fn solve<G: Listed>(rules: &G::Rules, seats: usize) -> Result<Arc<dyn Solution<G>>, Unsolved> {
    solver::<G>().ok_or(Unsolved::Game { game: G::ID })?.solve(rules, seats)
}
