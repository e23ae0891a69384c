//! Worlds as a batch plays them: one in each block.

use super::{
    moves::Scratch,
    observe::{ACTIONS, CELLS, code::EMPTY, fields},
    save::SavedWorld,
    set::{Pieces, pop},
    shape::Shape,
    world::{SURVIVOR, World},
};
use crate::{
    actions::HOLD,
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
            if actions.iter().all(|&action| action == HOLD) {
                world.report_nothing(self, first, &mut out);
                world.observe(self, world_cells(out.obs.column(0), first, rows));
                continue;
            }
            if had_ended {
                world.report_nothing(self, first, &mut out);
            } else {
                scratch.lived.clone_from(&world.living);
                world.turn(self, actions, scratch);
                world.report(self, first, &scratch.lived, &mut out);
            }
            if autoreset == Autoreset::SameStep {
                let last = world_cells(out.final_obs.column(0), first, rows);
                if world.over {
                    world.observe(self, last);
                } else {
                    world.clear_fallen(&scratch.lived, last);
                }
            }
            if autoreset.begins(had_ended, world.over) {
                world.begin(self, scratch);
            }
            world.observe(self, world_cells(out.obs.column(0), first, rows));
        }
    }

    fn tell(&self, chunk: &mut Chunk<'_, Self>) {
        let rows = self.survivors();
        for (world, first) in chunk.blocks.iter_mut().zip((0..).step_by(rows)) {
            world.report_nothing(self, first, &mut chunk.out);
            world.observe(self, world_cells(chunk.out.obs.column(0), first, rows));
        }
    }

    /// What can do something: any move; with a bullet, a shot at somebody who is not a corpse. The dead can only stay.
    fn mask(&self, world: &World, _: usize, out: &mut [bool]) {
        world.masks(self, out);
    }

    fn is_legal(&self, world: &World, _: usize, row: usize, action: u8) -> bool {
        world.over || world.is_legal(self, row, action)
    }

    fn alive(&self, world: &World, _: usize, out: &mut [bool]) {
        for (alive, &kind) in out.iter_mut().zip(&world.kinds) {
            *alive = !world.over && kind >= SURVIVOR;
        }
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
    /// Writes rewards and flags of a turn into the rows from `first` on. An episode ends once: with the turn in which the
    /// survivor dies, or which is the last.
    fn report(&self, shape: &Shape, first: usize, lived: &Pieces, out: &mut OutPart<'_, u8>) {
        self.report_nothing(shape, first, out);
        let cut = self.over && self.alive > 0;
        for mut word in lived.words() {
            while let Some(piece) = pop(&mut word) {
                let lives = self.kinds[piece] >= SURVIVOR;
                out.rewards[first + piece] = f32::from(u8::from(lives));
                out.terminated[first + piece] = !lives;
                out.truncated[first + piece] = lives && cut;
            }
        }
    }

    /// Those who died in a turn see nothing any more.
    fn clear_fallen(&self, lived: &Pieces, obs: &mut [u8]) {
        for mut word in lived.words() {
            while let Some(piece) = pop(&mut word) {
                if self.kinds[piece] < SURVIVOR {
                    obs[piece * CELLS..][..CELLS].fill(EMPTY);
                }
            }
        }
    }

    /// Where nothing was played, nothing is gained and nothing ends.
    fn report_nothing(&self, shape: &Shape, first: usize, out: &mut OutPart<'_, u8>) {
        let rows = first..first + shape.survivors();
        out.rewards[rows.clone()].fill(0.0);
        out.terminated[rows.clone()].fill(false);
        out.truncated[rows].fill(false);
    }
}
