//! The dice games solved exactly: values, perfect players, the price of a decision and the luck of a roll.

#![deny(missing_docs)]

pub mod bots;
mod equation;
pub mod exact;
mod export;
mod ledger;
mod position;
mod race;
mod report;
mod solo;
mod solution;
mod solver;
mod table;
mod tokyo;
mod turn;
mod zombie_dice;

pub use exact::Exact;
pub use export::{Array, Data};
pub use ledger::{Audit, Ledger, LedgerEntry};
pub use position::{Impossible, for_two, race_goes_on};
pub use race::RaceSolution;
pub use report::{Decision, LedgerReport};
pub use solo::SoloSolution;
pub use solution::{Meter, OPTIMAL, Price, Roll, Solution, Solvable, Unsolved, Worth, result};
pub use solver::{Optimal, Solver, solve, solved};
pub use table::{Standing, TableSolution};
pub use tokyo::{MonsterQuestion, PerfectMonster, Place, Rolls, Start, TokyoMeter, TokyoSolution};
pub use turn::{Graph, NextRoll, Position, Spot, TurnPrices};
pub use zombie_dice::{Perfect, ROUNDS, TurnMeter, TurnSolution};

use necrodome_rules::{
    catalog::Listed,
    own_part,
    tokyo::Tokyo,
    zombie_dice::{Race, Solo, Table},
};

/// Returns the solver of a game, or `None` if the game is not solved. This is the list of solved games.
pub fn solver<G: Listed>() -> Option<Solver<G>> {
    own_part![solver::of::<Solo>(), solver::of::<Race>(), solver::of::<Table>(), solver::of::<Tokyo>()]
}
