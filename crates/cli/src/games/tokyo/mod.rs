//! Tokyo at the terminal.

pub mod advise;
pub mod controls;
pub mod tell;
