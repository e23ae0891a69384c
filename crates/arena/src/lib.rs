//! The arena: bots in any language, matches, tournaments that can be defended, replays that prove themselves.

#![deny(missing_docs)]

pub mod check;
mod diagnosis;
pub mod dice;
pub mod entry;
pub mod exam;
pub mod fault;
pub mod front;
pub mod guest;
pub mod lineup;
pub mod model;
mod ours;
pub mod player;
pub mod process;
pub mod profile;
pub mod protocol;
pub mod replay;
pub mod run;
pub mod stderr;
pub mod tournament;
pub mod varint;
pub mod wasm;

pub use necrodome_own as own;
pub use necrodome_stats as stats;
