//! Zombie Dice in batches: solo, the race and the table.
//!
//! `lanes` has the dice, `kernel` steps and writes, `solo`, `race` and `table` define the formats; `alone` plays one turn
//! at a time.
//!
//! Where the first roll is mandatory, a turn begins before that roll, with one legal action, instead of after it: so a turn that
//! is lost with its first roll is an episode too.

// Lanes are counted, not iterated: what happens in one of them reads and writes a dozen arrays.
#![allow(clippy::needless_range_loop)]

mod alone;
mod kernel;
mod lanes;
mod observe;
mod race;
mod solo;
mod table;

use crate::batched::Batched;
pub use alone::SoloTurn;
pub use kernel::DiceKernel;
pub use race::RaceFormat;
pub use solo::SoloFormat;
pub use table::TableFormat;

/// Many turns of Zombie Dice.
pub type SoloBatch = Batched<DiceKernel<SoloFormat>>;

/// Many races.
pub type RaceBatch = Batched<DiceKernel<RaceFormat>>;

/// Many tables.
pub type TableBatch = Batched<DiceKernel<TableFormat>>;
