//! The games in batches: thousands of matches stepped at once, for training.
//!
//! The referees of `necrodome-rules` say what the rules are. What is here plays the same games faster, with the state of
//! many matches side by side in plain arrays, and tests prove that the two agree exactly.

#![deny(missing_docs)]

pub mod actions;
pub mod batch;
mod bytes;
pub mod field;
pub mod last_bullet;
pub mod observe;
mod parts;
pub mod refereed;
pub mod rows;
pub mod seated;
pub mod stream;
pub mod tokyo;
pub mod zombie_dice;
