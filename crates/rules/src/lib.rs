//! The referees of Necrodome.
//!
//! A game is a referee: `state + moves + chance -> state + events`, nothing else. This crate is `no_std`, so the
//! compiler itself keeps clocks, files, the environment, threads and randomly ordered hash maps out of the rules;
//! randomness comes in only through [`chance::Chance`].
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
pub mod misread;
pub mod names;
pub mod options;
#[cfg(feature = "example")]
pub mod pig;
pub mod play;
pub mod tokyo;
pub mod words;
pub mod zombie_dice;
