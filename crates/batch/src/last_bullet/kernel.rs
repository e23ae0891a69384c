//! Worlds as a batch plays them: one in each block.

use super::{
    moves::Scratch,
    observe::{ACTIONS, CELLS, fields},
    save::SavedWorld,
    shape::Shape,
    world::{SURVIVOR, World},
};
use crate::{
    batched::Autoreset,
    field::Field,
    kernel::{Kernel, MemoryOrder},
    parts::{Chunk, OutPart},
    stream::Stream,
};
use necrodome_rules::{
    last_bullet::{LastBullet, LastBulletRules},
    names::SetupError,
};
use std::ops::Range;

impl Kernel for Shape {
    type Game = LastBullet;
    type Cell = u8;
    type Block = World;
    type Scratch = Scratch;
    type Basis = Self;
    type Saved = SavedWorld;
    const ORDER: MemoryOrder = MemoryOrder::Rows;
    const TURNS: bool = false;

    fn usual_seats() -> usize {
        20
    }

    fn new(rules: &LastBulletRules, entries: usize) -> Result<Self, SetupError> {
        Ok(Shape {
            side: rules.side(entries)?.into(),
            entries,
            copies: rules.copies.get() as usize,
            max_turns: rules.max_turns.map(|turns| turns.get()),
        })
    }

    fn fields(&self) -> Vec<Field> {
        fields()
    }

    fn actions(&self) -> usize {
        ACTIONS
    }

    fn rows_of_a_match(&self) -> usize {
        self.survivors()
    }

    fn scratch(&self) -> Scratch {
        Scratch::new(self)
    }

    fn begun(&self, seeds: Range<u64>, scratch: &mut Scratch) -> World {
        let mut world = World::new(self, Stream::new(seeds.start));
        world.begin(self, scratch);
        world
    }

    fn seed(world: &mut World, _: usize, seed: u64) {
        world.stream = Stream::new(seed);
    }

    fn begin(&self, world: &mut World, _: usize, scratch: &mut Scratch) {
        world.begin(self, scratch);
    }

    fn step(&self, chunk: Chunk<'_, Self>, actions: &[u8], autoreset: Autoreset) {
        let Chunk { blocks, scratch, mut out } = chunk;
        let rows = self.survivors();
        let actions = actions.chunks_exact(rows);
        for ((world, actions), first) in blocks.iter_mut().zip(actions).zip((0..).step_by(rows)) {
            let had_ended = world.over;
            if !had_ended {
                world.turn(self, actions, scratch);
                world.report(self, first, 1.0, &mut out);
            }
            let begins = autoreset.begins(had_ended, world.over);
            if begins {
                if !had_ended {
                    let last = world_cells(out.final_obs.column(0), first, rows);
                    last.fill(0);
                    world.observe(self, last);
                }
                world.begin(self, scratch);
            }
            if had_ended {
                world.report(self, first, 0.0, &mut out);
            }
            world.observe(self, world_cells(out.obs.column(0), first, rows));
        }
    }

    fn tell(&self, chunk: &mut Chunk<'_, Self>) {
        let rows = self.survivors();
        chunk.out.obs.column(0).fill(0);
        for (world, first) in chunk.blocks.iter_mut().zip((0..).step_by(rows)) {
            world.report(self, first, 0.0, &mut chunk.out);
            world.observe(self, world_cells(chunk.out.obs.column(0), first, rows));
        }
    }

    /// What can do something: any move; with a bullet, a shot at somebody who is not a corpse. The dead can only stay.
    fn mask(&self, world: &World, _: usize, out: &mut [bool]) {
        world.masks(self, out);
    }

    fn to_act(_: &World, _: usize) -> u8 {
        0
    }

    fn basis(&self) -> Self {
        *self
    }

    fn save(world: &World, _: usize) -> SavedWorld {
        SavedWorld::new(world)
    }

    fn restore(&self, world: &mut World, _: usize, saved: SavedWorld) -> Result<(), String> {
        *world = saved.restore(self)?;
        Ok(())
    }
}

/// The observations of the rows from `first` on.
fn world_cells(obs: &mut [u8], first: usize, rows: usize) -> &mut [u8] {
    &mut obs[first * CELLS..][..rows * CELLS]
}

impl World {
    /// Writes rewards and flags into the rows from `first` on: `reward` for the living.
    fn report(&self, shape: &Shape, first: usize, reward: f32, out: &mut OutPart<'_, u8>) {
        let cut = self.over && self.alive > 0;
        for (row, &kind) in (first..).zip(&self.kinds[..shape.survivors()]) {
            let lives = kind >= SURVIVOR;
            out.rewards[row] = if lives { reward } else { 0.0 };
            out.terminated[row] = !lives;
            out.truncated[row] = lives && cut;
        }
    }
}
