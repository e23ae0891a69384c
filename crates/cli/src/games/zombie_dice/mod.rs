//! Zombie Dice at the terminal.

pub mod advise;
pub mod controls;
