//! Last Bullet in batches: many worlds, and a row for each survivor.
//!
//! Rows go world by world, in a world entry by entry, of an entry copy by copy, as the referee counts. Observations are
//! row by row, 290 numbers each: the window of 17 x 17 squares around the survivor from north to south and from west to
//! east (0 empty, 1 corpse, 2 zombie, 3 own entry, 4 another entry's survivor), then its bullets (255 stands for more).
//!
//! An action below 9 is a move in the order of [`Direction`](necrodome_rules::last_bullet::Direction); 9 + 11 row +
//! column is a shot at that square of the 11 x 11 that a gun reaches. A shot at a square where nobody stands costs the
//! bullet all the same.
//!
//! A match is a world. It is over when nobody lives, or when it is cut off at `max_turns`; then it begins anew as
//! [`Autoreset`] says, all its rows together. Until then a row stays after its survivor has died: its actions mean
//! nothing, its observation is zeros, its reward 0, and it is `terminated`. Outside of the step in which
//! [`Autoreset::SameStep`] begins a world anew, `terminated` says just that: the survivor is dead. That can be so from the
//! beginning, since a zombie rises before the first decision; a world in which nobody at all lives to decide is begun
//! again. A survivor's reward is 1 for each turn after which it lives.
//!
//! A row is cleared once when its survivor has died. So `step` is to be given observations as `reset` or `step` left them, of
//! this batch or another: they need not be the same memory, but not memory that nobody has written.
//!
//! Chance is asked what the referee asks, in the same order: a referee with the same stream plays the same match.

mod moves;
mod part;
mod save;
mod set;
mod shape;
mod window;
mod world;
mod zombies;

use crate::{
    batch::{Autoreset, Batch, Out},
    field::Field,
    observe::last_bullet::{ACTIONS, code, fields},
    stream::Stream,
};
use moves::Scratch;
use necrodome_rules::{
    game::Seat,
    last_bullet::{Kind, LastBulletRules, Square},
    names::SetupError,
};
use part::Part;
use shape::Shape;
use world::World;

/// Many worlds of Last Bullet.
#[derive(Debug, Clone)]
pub struct LastBulletBatch {
    shape: Shape,
    worlds: Vec<World>,
    /// One for each thread.
    scratch: Vec<Scratch>,
}

impl LastBulletBatch {
    /// New worlds with so many entries each, begun with the seeds 0, 1, 2 and so on; stepped on so many threads.
    ///
    /// ```
    /// use necrodome_batch::{batch::Batch, last_bullet::LastBulletBatch};
    /// let batch = LastBulletBatch::new(3, 20, &Default::default(), 1).unwrap();
    /// assert_eq!((batch.matches(), batch.rows()), (3, 3 * 20 * 50));
    /// ```
    pub fn new(
        worlds: usize,
        entries: usize,
        rules: &LastBulletRules,
        threads: usize,
    ) -> Result<Self, SetupError> {
        let shape = Shape::new(entries, rules)?;
        let mut scratch = vec![Scratch::new(&shape); threads.clamp(1, worlds.max(1))];
        let worlds = (0..worlds)
            .map(|seed| {
                let mut world = World::new(&shape, Stream::new(seed as u64));
                world.begin(&shape, &mut scratch[0]);
                world
            })
            .collect();
        Ok(LastBulletBatch { shape, worlds, scratch })
    }

    /// The side of every world's torus.
    pub fn side(&self) -> u16 {
        self.shape.side as u16
    }

    /// Survivors of a world: rows next to each other.
    pub fn rows_of_a_world(&self) -> usize {
        self.shape.survivors()
    }

    /// Turns finished in a world.
    pub fn clock(&self, world: usize) -> u32 {
        self.worlds[world].clock
    }

    /// Whether a world has ended and has not yet begun anew.
    pub fn is_over(&self, world: usize) -> bool {
        self.worlds[world].over
    }

    /// Writes which rows are those of living survivors.
    pub fn alive(&self, out: &mut [bool]) {
        for (world, alive) in self.worlds.iter().zip(out.chunks_exact_mut(self.shape.survivors())) {
            for (alive, &kind) in alive.iter_mut().zip(&world.kinds) {
                *alive = kind >= world::SURVIVOR;
            }
        }
    }

    /// How many survivors live in all worlds.
    pub fn living(&self) -> usize {
        self.worlds.iter().map(|world| world.alive).sum()
    }

    /// What stands in a world, where, and with how many bullets, in the referee's order.
    pub fn pieces(&self, world: usize) -> impl Iterator<Item = (Kind, Square, u32)> {
        let World { kinds, squares, bullets, .. } = &self.worlds[world];
        kinds.iter().zip(squares).zip(bullets).enumerate().map(|(piece, ((&kind, &square), &bullets))| {
            let kind = match kind {
                world::SURVIVOR.. => Kind::Player(Seat((piece / self.shape.copies) as u16)),
                code::ZOMBIE => Kind::Zombie,
                _ => Kind::Corpse,
            };
            (kind, square, bullets)
        })
    }

    /// Divides worlds and rows among the threads and lets each do its part; `work` is told the first world of its part.
    fn divide(&mut self, out: &mut Out<'_, u8>, work: impl Fn(usize, Part<'_>) + Sync) {
        let LastBulletBatch { shape, worlds, scratch } = self;
        let shape: &Shape = shape;
        let each = worlds.len().div_ceil(scratch.len()).max(1);
        let alone = scratch.len() == 1;
        let outs = part::split(out, each * shape.survivors());
        let parts = worlds.chunks_mut(each).zip(scratch).zip(outs).enumerate();
        let parts =
            parts.map(|(part, ((worlds, scratch), out))| (part * each, Part { shape, worlds, scratch, out }));
        if alone {
            parts.for_each(|(first, part)| work(first, part));
        } else {
            let work = &work;
            rayon::scope(|scope| {
                parts.for_each(|(first, part)| scope.spawn(move |_| work(first, part)));
            });
        }
    }
}

impl Batch for LastBulletBatch {
    type Cell = u8;

    fn rows(&self) -> usize {
        self.worlds.len() * self.shape.survivors()
    }

    fn fields(&self) -> Vec<Field> {
        fields()
    }

    fn actions(&self) -> usize {
        ACTIONS
    }

    fn matches(&self) -> usize {
        self.worlds.len()
    }

    fn seed(&mut self, one: usize, seed: u64) {
        self.worlds[one].stream = Stream::new(seed);
    }

    /// Begins worlds anew. Rewards and flags are written for those only.
    fn reset(&mut self, which: Option<&[bool]>, out: &mut Out<'_, u8>) {
        self.divide(out, |first, part| part.reset(which.map(|which| &which[first..])));
    }

    fn step(&mut self, actions: &[u8], autoreset: Autoreset, out: &mut Out<'_, u8>) {
        let rows = self.shape.survivors();
        self.divide(out, |first, part| part.step(&actions[first * rows..], autoreset));
    }

    /// What can do something: any move; with a bullet, a shot at somebody who is not a corpse. The dead can only stay.
    fn masks(&self, out: &mut [bool]) {
        for (world, masks) in self.worlds.iter().zip(out.chunks_exact_mut(self.shape.survivors() * ACTIONS)) {
            world.masks(&self.shape, masks);
        }
    }

    fn save(&self) -> Vec<u8> {
        save::save(&self.shape, &self.worlds)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        self.worlds = save::restore(&self.shape, self.worlds.len(), state)?;
        Ok(())
    }
}
