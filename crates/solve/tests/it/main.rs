//! Tests of the solved games: one binary, since linking many takes longer than running them.

#![allow(clippy::unwrap_used)]

mod common;
mod exact;
mod fixed_point;
mod ledger;
mod many_seats;
mod monte_carlo;
mod oracle;
mod positions;
mod reference;
mod shelf;
