//! The judge's desk for a party game of Infection: scripts, reports, set-up, simulations.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod book;
pub mod config;
pub mod convert;
pub mod report;
pub mod script;
pub mod simulate;
