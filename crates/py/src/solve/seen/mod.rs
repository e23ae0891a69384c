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

/// Returns the solver of a game whose observations have exact values, or `None`. This is the list of these games.
pub fn solver<G: Listed>() -> Option<Solver<G>> {
    own_part![Solver::<Solo>::new(), Solver::<Race>::new(), Solver::<Table>::new(), Solver::<Tokyo>::new()]
}

/// A game whose observations have exact values. `Err` says why a row is no position of the game.
pub trait Seen: Solvable + Observe {
    /// Checks that a view has as many seats as the solution.
    fn fits(_: &Self::View) -> Result<(), Impossible> {
        Ok(())
    }

    /// Writes the value of every action; changes nothing if there is no decision.
    fn values(
        rules: &Self::Rules,
        solution: &Self::Solution,
        row: &[i16],
        out: &mut [f64],
    ) -> Result<(), String>;

    /// The rule for the value of a match's end, from its reward.
    const ENDS: Ends;

    /// All values side by side, or `None` if they need too much room.
    fn turn_table(_: &Self::Rules, _: &Self::Solution) -> Option<TurnTable> {
        None
    }

    /// Gives the illegal actions of a row the value of the action that is played instead.
    fn price_illegal(rules: &Self::Rules, row: &[i16], values: &mut [f64]);

    /// The number of the best action; 0 if there is no decision.
    fn best(rules: &Self::Rules, solution: &Self::Solution, row: &[i16]) -> Result<u8, String>;
}

/// Reads a score.
fn score(number: i16) -> Result<u32, String> {
    u32::try_from(number).map_err(|_| format!("a score of {number}"))
}
