//! Tests of the judge's desk: one binary, since linking many takes longer than running them.

#![allow(clippy::unwrap_used)]

mod rulings;
mod script;
mod secrecy;
mod simulate;
