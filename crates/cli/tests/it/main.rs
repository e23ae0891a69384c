//! End-to-end tests of the binary, in one test binary: linking many would take longer than running them.

#![allow(clippy::unwrap_used)]

mod advise;
mod calls;
mod check_bot;
mod cli;
mod docs;
mod documented;
mod documents;
mod exam;
mod example_game;
mod files;
mod first_bugs;
mod gifts;
mod hostile;
mod judge;
mod judge_live;
mod judge_simulate;
mod judge_watch;
mod models;
mod new_bot;
mod play;
mod process_bots;
mod program;
mod report;
mod serve;
mod solve;
mod terminal;
mod tournament;
mod wasm;
mod widths;
mod zombies;
