//! The kernel of Last Bullet: one world in each block.

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
    last_bullet::{LastBullet, LastBulletRules, Square},
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

    /// Counts the boards, with the piece on each square, and the pieces.
    fn bytes_of_a_match(&self) -> usize {
        let piece = size_of::<(u8, Square, u32)>();
        size_of::<World>() + self.padded() * (size_of::<u8>() + size_of::<u32>()) + self.survivors() * piece
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
            let mut report = Report { shape: self, pieces: 0..rows, first, out: &mut out };
            let had_ended = world.over;
            let holds = actions.iter().all(|&action| action == HOLD);
            report.nothing();
            if !holds && !had_ended {
                scratch.lived.clone_from(&world.living);
                world.turn(self, actions, scratch);
                report.turn(world, &scratch.lived);
            }
            if !holds && autoreset == Autoreset::SameStep {
                report.last(world, &scratch.lived, world.over);
            }
            if !holds && autoreset.begins(had_ended, world.over) {
                world.begin(self, scratch);
            }
            report.observations(world);
        }
    }

    fn tell(&self, chunk: &mut Chunk<'_, Self>) {
        let rows = self.survivors();
        for (world, first) in chunk.blocks.iter_mut().zip((0..).step_by(rows)) {
            let mut report = Report { shape: self, pieces: 0..rows, first, out: &mut chunk.out };
            report.nothing();
            report.observations(world);
        }
    }

    /// Marks the actions that can have an effect: any move; with a bullet, a shot at a piece that is not a corpse. The dead only stay.
    fn mask(&self, world: &World, _: usize, out: &mut [bool]) {
        world.masks(self, 0..self.survivors(), out);
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

/// Writes about a world into the rows from `first` on, as these survivors see it.
pub(super) struct Report<'a, 'b> {
    pub(super) shape: &'a Shape,
    pub(super) pieces: Range<usize>,
    pub(super) first: usize,
    pub(super) out: &'a mut OutPart<'b, u8>,
}

impl Report<'_, '_> {
    /// Writes rewards and flags where nothing was played: nothing is gained and nothing ends.
    pub(super) fn nothing(&mut self) {
        let rows = self.first..self.first + self.pieces.len();
        self.out.rewards[rows.clone()].fill(0.0);
        self.out.terminated[rows.clone()].fill(false);
        self.out.truncated[rows].fill(false);
    }

    /// Writes rewards and flags of a turn, for those who lived before it. An episode ends once: with the turn in which the
    /// survivor dies, or with the last turn.
    pub(super) fn turn(&mut self, world: &World, lived: &Pieces) {
        let cut = world.over && world.alive > 0;
        for mut word in lived.within(self.pieces.clone()) {
            while let Some(piece) = pop(&mut word) {
                let row = self.first + piece - self.pieces.start;
                let lives = world.kinds[piece] >= SURVIVOR;
                self.out.rewards[row] = f32::from(u8::from(lives));
                self.out.terminated[row] = !lives;
                self.out.truncated[row] = lives && cut;
            }
        }
    }

    /// Writes the last observations: of all survivors at the end of a match, else of those who died in the turn, who see nothing more.
    pub(super) fn last(&mut self, world: &mut World, lived: &Pieces, over: bool) {
        let obs = cells(self.out.final_obs.column(0), self.first, self.pieces.len());
        if over {
            return world.observe(self.shape, self.pieces.clone(), obs);
        }
        for mut word in lived.within(self.pieces.clone()) {
            while let Some(piece) = pop(&mut word) {
                if world.kinds[piece] < SURVIVOR {
                    obs[(piece - self.pieces.start) * CELLS..][..CELLS].fill(EMPTY);
                }
            }
        }
    }

    /// Writes what the survivors see now.
    pub(super) fn observations(&mut self, world: &mut World) {
        let obs = cells(self.out.obs.column(0), self.first, self.pieces.len());
        world.observe(self.shape, self.pieces.clone(), obs);
    }
}

/// The observations of the rows from `first` on.
fn cells(obs: &mut [u8], first: usize, rows: usize) -> &mut [u8] {
    &mut obs[first * CELLS..][..rows * CELLS]
}
