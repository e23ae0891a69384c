//! One turn of Zombie Dice, which all formats share.

mod banks;
mod full;
mod graph;
mod odds;
mod values;

pub(crate) use full::FullGraph;
pub use graph::{Graph, Position, Spot};
pub use odds::NextRoll;
pub use values::TurnPrices;
pub(crate) use values::{Banked, Dual, Ends, Layers, TurnValues, Work, evaluate, lay_side_by_side};

/// The least chance to bust with a roll, by shotguns: that of three green dice, 1/216, 16/216 and 91/216.
pub(crate) const LEAST_BUST: [f64; 3] = [1.0 / 216.0, 16.0 / 216.0, 91.0 / 216.0];
