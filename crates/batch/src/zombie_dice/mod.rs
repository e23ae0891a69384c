//! Zombie Dice in batches: solo and the race.
//!
//! `lanes` has the dice, `kernel` steps and writes, `solo` and `race` say what a turn is worth.
//!
//! Where the first roll is mandatory, a turn begins before it, with one legal action, instead of after it: a turn that is
//! lost with its first roll is an episode too.

// Lanes are counted, not iterated: what happens in one of them reads and writes a dozen arrays.
#![allow(clippy::needless_range_loop)]

mod kernel;
mod lanes;
mod race;
mod solo;

pub use kernel::DiceBatch;
pub use race::RaceLanes;
pub use solo::SoloLanes;

/// Many turns of Zombie Dice.
pub type SoloBatch = DiceBatch<SoloLanes>;

/// Many races.
pub type RaceBatch = DiceBatch<RaceLanes>;
