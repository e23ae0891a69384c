//! Tests of the web arena, in one binary: linking many binaries would take longer than running them.

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
