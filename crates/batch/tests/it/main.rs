//! Tests of the batches: one binary, since linking many takes longer than running them.

#![allow(clippy::unwrap_used)]

mod last_bullet;
mod rows;
mod table;
mod tokyo;
mod zombie_dice;
