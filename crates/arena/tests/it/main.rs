//! Tests of the arena: one binary, since linking many takes longer than running them.

#![allow(clippy::unwrap_used)]

mod archive;
mod coverage;
mod damage;
mod documents;
mod exam;
mod guests;
mod line_ups;
mod luck;
mod protocol;
mod recorded;
mod replay;
mod seatings;
mod speed;
mod wasm;
mod zombies;
