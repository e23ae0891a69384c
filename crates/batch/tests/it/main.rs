//! Tests of the batches: one binary, since linking many takes longer than running them.

#![allow(clippy::unwrap_used)]

mod arrays;
mod hold;
mod last_bullet;
mod promise;
mod refereed;
mod tokyo;
mod versus;
mod zombie_dice;
