//! The referees of Necrodome.
//!
//! A game is a referee: `state + moves + chance -> state + events`, nothing else. This crate is `no_std`, so the
//! compiler itself keeps clocks, files, the environment, threads and hash maps with random order out of the rules;
//! randomness comes in through [`chance::Chance`] only.
//!
//! Start at [`game::Game`], then read a game: [`zombie_dice::Solo`] is the shortest.

#![no_std]
#![deny(missing_docs)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod bot;
pub mod card;
pub mod catalog;
pub mod chance;
pub mod game;
pub mod infection;
pub mod last_bullet;
pub mod names;
pub mod options;
#[cfg(feature = "example")]
pub mod pig;
pub mod play;
pub mod tokyo;
pub mod words;
pub mod zombie_dice;
