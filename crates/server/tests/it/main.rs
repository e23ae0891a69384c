//! Tests of the web arena: one binary, since linking many takes longer than running them.

#![allow(clippy::unwrap_used)]

mod file;
mod film;
mod guard;
mod learn;
mod party;
mod party_room;
mod secrets;
mod tables;
mod tournaments;
mod visitor;
