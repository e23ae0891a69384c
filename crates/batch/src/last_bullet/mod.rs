//! Last Bullet in batches: many worlds, and a row for each survivor.
//!
//! Rows go world by world, in a world entry by entry, of an entry copy by copy, as the referee counts. Observations are
//! row by row, 290 numbers each: the window of 17 x 17 squares around the survivor from north to south and from west to
//! east (0 empty, 1 corpse, 2 zombie, 3 own entry, 4 another entry's survivor), then its bullets (255 stands for more).
//!
//! An action below 9 is a move in the order of [`Direction`](necrodome_rules::last_bullet::Direction); 9 + 11 row +
//! column is a shot at that square of the 11 x 11 that a gun reaches. A shot at an empty square costs the
//! bullet all the same.
//!
//! A match is a world. It is over when nobody lives, or when it is cut off at `max_turns`; then it begins anew as
//! [`Autoreset`](crate::batched::Autoreset) says, all its rows together. A survivor's episode ends once: it is
//! `terminated` in the turn in which it dies, or `truncated` in the last turn of a world that is cut off. After that, and until its
//! world begins anew, the row ignores actions, its observation is zeros, its reward 0, and no flag is set;
//! [`Batched::alive`] marks the living. Some survivors are dead from the beginning and have no episode, since a zombie rises before
//! the first decision; a world in which nobody lives to decide is begun again. A survivor's reward is 1 for each turn after
//! which it lives.
//!
//! The batch asks chance the same questions as the referee, in the same order: a referee with the same stream plays the same match.

mod kernel;
mod moves;
mod numbers;
pub mod observe;
mod save;
mod set;
mod shape;
pub mod versus;
mod views;
mod window;
mod world;
mod zombies;

use crate::batched::Batched;
use necrodome_rules::{
    game::Seat,
    last_bullet::{Kind, Square},
};
pub(crate) use numbers::windows;
use observe::code;
use shape::Shape;
use world::World;

/// Many worlds of Last Bullet; a match has a seat for each entry.
pub type LastBulletBatch = Batched<Shape>;

impl LastBulletBatch {
    /// The side of the torus, the same in every world.
    pub fn side(&self) -> u16 {
        self.kernel.side as u16
    }

    /// The turns finished in a world.
    pub fn clock(&self, world: usize) -> u32 {
        self.blocks[world].clock
    }

    /// Whether a world has ended and has not yet begun anew.
    pub fn is_over(&self, world: usize) -> bool {
        self.blocks[world].over
    }

    /// The number of living survivors in all worlds.
    pub fn living(&self) -> usize {
        self.blocks.iter().map(|world| world.alive).sum()
    }

    /// The pieces of a world, with their squares and bullets, in the referee's order.
    pub fn pieces(&self, world: usize) -> impl Iterator<Item = (Kind, Square, u32)> {
        let World { kinds, squares, bullets, .. } = &self.blocks[world];
        kinds.iter().zip(squares).zip(bullets).enumerate().map(|(piece, ((&kind, &square), &bullets))| {
            let kind = match kind {
                world::SURVIVOR.. => Kind::Player(Seat((piece / self.kernel.copies) as u16)),
                code::ZOMBIE => Kind::Zombie,
                _ => Kind::Corpse,
            };
            (kind, square, bullets)
        })
    }
}
