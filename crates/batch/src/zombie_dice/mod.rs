//! Zombie Dice in batches: solo and the race, and tables played by their referees.
//!
//! `lanes` has the dice, `kernel` steps and writes, `solo` and `race` say what a turn is worth.
//!
//! Where the first roll is mandatory, a turn begins before it, with one legal action, instead of after it: a turn that is
//! lost with its first roll is an episode too.

// Lanes are counted, not iterated: what happens in one of them reads and writes a dozen arrays.
#![allow(clippy::needless_range_loop)]

mod kernel;
mod lanes;
mod observe;
mod race;
mod solo;

use crate::{batched::Batched, refereed::RefereedBatch};
pub use kernel::DiceKernel;
pub use race::RaceFormat;
pub use solo::SoloFormat;

/// Many turns of Zombie Dice.
pub type SoloBatch = Batched<DiceKernel<SoloFormat>>;

/// Many races.
pub type RaceBatch = Batched<DiceKernel<RaceFormat>>;

/// Many tables, each with a referee.
pub type TableBatch = RefereedBatch<necrodome_rules::zombie_dice::Table>;
