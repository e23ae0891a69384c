//! Tests of the rules: one binary, since linking many takes longer than running them.

#![allow(clippy::unwrap_used)]

mod allocation;
mod conformance;
mod docs;
mod golden;
mod purity;
mod rulings_infection;
mod rulings_last_bullet;
mod rulings_tokyo;
mod rulings_zombie_dice;
