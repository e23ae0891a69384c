//! Observations as positions of the solutions.

mod tokyo;
mod zombie_dice;

use super::Solver;
use necrodome_batch::{
    observe::Observe,
    signals::{Ends, TurnTable},
};
use necrodome_rules::{
    catalog::Listed,
    own_part,
    tokyo::Tokyo,
    zombie_dice::{Race, Solo, Table},
};
use necrodome_solve::{Impossible, Solvable};
pub use zombie_dice::turn_width;

/// The solver of a game whose observations have exact values. This is the list of these games.
pub fn solver<G: Listed>() -> Option<Solver<G>> {
    own_part![Solver::<Solo>::new(), Solver::<Race>::new(), Solver::<Table>::new(), Solver::<Tokyo>::new()]
}

/// A game whose observations have exact values. `Err` says why a row is no position of the game.
pub trait Seen: Solvable + Observe {
    /// Whether a view has as many seats as the solution.
    fn fits(_: &Self::View) -> Result<(), Impossible> {
        Ok(())
    }

    /// Writes the value of every action; leaves what is there where nothing can be decided.
    fn values(
        rules: &Self::Rules,
        solution: &Self::Solution,
        row: &[i16],
        out: &mut [f64],
    ) -> Result<(), String>;

    /// What the end of a match is worth.
    const ENDS: Ends;

    /// All values side by side, where there is room for them.
    fn turn_table(_: &Self::Rules, _: &Self::Solution) -> Option<TurnTable> {
        None
    }

    /// Prices the illegal actions of a row by what is played in their place.
    fn price_illegal(rules: &Self::Rules, row: &[i16], values: &mut [f64]);

    /// The number of the best action; 0 where nothing can be decided.
    fn best(rules: &Self::Rules, solution: &Self::Solution, row: &[i16]) -> Result<u8, String>;
}

/// A score.
fn score(number: i16) -> Result<u32, String> {
    u32::try_from(number).map_err(|_| format!("a score of {number}"))
}
