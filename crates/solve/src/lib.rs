//! The dice games solved exactly: values, perfect players, the price of a decision and the luck of a roll.

#![deny(missing_docs)]

mod equation;
pub mod exact;
mod export;
mod ledger;
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
pub use ledger::{Audit, Entry, Ledger};
pub use race::RaceSolution;
pub use report::{Decision, Report};
pub use solo::SoloSolution;
pub use solution::{Meter, OPTIMAL, Price, Roll, Solution, Solvable, Unsolved, result};
pub use solver::{Optimal, Solver, solve, solver};
pub use table::{Standing, TableSolution};
pub use tokyo::{PerfectMonster, Place, Rolls, Start, TokyoMeter, TokyoSolution};
pub use turn::{Graph, Position, Spot, TurnPrices};
pub use zombie_dice::{Format, Perfect, ROUNDS, TurnMeter};
