//! One entry of every world is the learner's, the others are opponents': only the learner's survivors are rows.
//!
//! Everybody decides at once. Opponents inside are asked while a step is played; the caller asks those outside before it:
//! [`LastBulletVersusBatch::questions`] returns what their survivors see, [`LastBulletVersusBatch::answer`] takes their actions for
//! the next turn. Without an answer they stay.
//!
//! For the learner a match is over when none of its survivors lives, or when it is cut off. A world in which none of them lives
//! to decide is no episode: the batch begins another.

use super::kernel::Report;
use super::moves::Scratch;
use super::observe::{ACTIONS, CELLS};
use super::save::SavedWorld;
use super::shape::{STAY, Shape};
use super::views;
use super::world::{SURVIVOR, World};
use crate::{
    actions::HOLD,
    batched::{Autoreset, BatchError, BatchSetup, Batched},
    field::Field,
    kernel::{Kernel, MemoryOrder},
    parts::Chunk,
    stream::Stream,
    versus::{LearnerSeat, LineUp, Opponent},
};
use necrodome_rules::{
    chance::Seeded,
    last_bullet::{LastBullet, LastBulletRules, LastBulletView},
    names::SetupError,
};
use serde::{Deserialize, Serialize};
use std::{ops::Range, sync::Arc};

/// Many worlds of a learner's entry against opponents.
pub type LastBulletVersusBatch = Batched<LastBulletVersus>;

/// The most entries: a learner's seat is one byte.
const MOST_ENTRIES: usize = 256;

/// Worlds of a learner's entry against opponents.
#[derive(Debug, Clone)]
pub struct LastBulletVersus {
    shape: Shape,
    line_up: Arc<LineUp<LastBullet>>,
}

/// A world, and the state of its learner.
#[derive(Debug, Clone)]
pub struct Battle {
    world: World,
    learner: Learner,
    /// The next orders for the survivors of opponents outside, by piece; empty if there are none.
    orders: Vec<u8>,
}

/// The state of a world's learner.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Learner {
    seed: u64,
    /// The number of matches that have begun, and of decisions that opponents inside have made, since the seed was set.
    matches: u64,
    decisions: u64,
    seat: u8,
}

/// The memory of a thread.
#[derive(Debug, Clone)]
pub struct BattleScratch {
    inner: Scratch,
    /// The actions of all survivors of a world.
    actions: Vec<u8>,
    view: LastBulletView,
}

/// The survivors of opponents outside that must decide: world by world, a row for each.
#[derive(Debug, Clone, Default)]
pub struct Questions {
    /// The match and the piece of each row.
    pieces: Vec<(usize, usize)>,
    /// The observations of the survivors.
    pub obs: Vec<u8>,
    /// The actions that can have an effect.
    pub masks: Vec<bool>,
}

impl Questions {
    /// The match of each row.
    pub fn matches(&self) -> impl ExactSizeIterator<Item = usize> {
        self.pieces.iter().map(|&(one, _)| one)
    }
}

impl LastBulletVersusBatch {
    /// Makes a batch of new matches against these opponents, each with its number as its seed.
    pub fn against(
        setup: &BatchSetup<LastBulletRules>,
        line_up: LineUp<LastBullet>,
    ) -> Result<Self, BatchError> {
        Self::check(setup)?;
        if setup.seats > MOST_ENTRIES {
            return Err(SetupError::Seats { expected: 1..=MOST_ENTRIES, came: setup.seats }.into());
        }
        line_up.check(setup.seats);
        let shape = Shape::new(&setup.rules, setup.seats)?;
        Ok(Batched::of(LastBulletVersus { shape, line_up: Arc::new(line_up) }, setup))
    }

    /// Returns the views of survivors whose opponent is marked in `which`, by opponent. In a match that is over nobody decides.
    pub fn questions(&mut self, which: &[bool]) -> Questions {
        let mut questions = Questions::default();
        let shape = self.kernel.shape;
        let mut obs = vec![0; shape.copies * CELLS];
        for (one, battle) in self.blocks.iter_mut().enumerate() {
            let learner = usize::from(battle.learner.seat);
            if battle.is_over(&shape) {
                continue;
            }
            for entry in (0..shape.entries).filter(|&entry| entry != learner) {
                if !which[entry - usize::from(entry > learner)] {
                    continue;
                }
                let pieces = shape.entry(entry);
                battle.world.observe(&shape, pieces.clone(), &mut obs);
                for piece in pieces.clone().filter(|&piece| battle.world.kinds[piece] >= SURVIVOR) {
                    questions.pieces.push((one, piece));
                    questions.obs.extend_from_slice(&obs[(piece - pieces.start) * CELLS..][..CELLS]);
                    let masks = questions.masks.len();
                    questions.masks.resize(masks + ACTIONS, false);
                    battle.world.masks(&shape, piece..piece + 1, &mut questions.masks[masks..]);
                }
            }
        }
        questions
    }

    /// Sets what they do in the next turn: an action for each row of the questions. The caller has checked that each is below
    /// [`actions`](Batched::actions).
    pub fn answer(&mut self, questions: &Questions, actions: &[u8]) {
        for (&(one, piece), &action) in questions.pieces.iter().zip(actions) {
            self.blocks[one].orders[piece] = action;
        }
    }
}

impl Battle {
    /// The learner's survivors.
    fn own(&self, shape: &Shape) -> Range<usize> {
        shape.entry(self.learner.seat.into())
    }

    fn is_over(&self, shape: &Shape) -> bool {
        self.world.over || self.world.living.within(self.own(shape)).all(|(_, bits)| bits == 0)
    }
}

impl LastBulletVersus {
    /// Begins a match in which a survivor of the learner lives to decide.
    fn begin_match(&self, battle: &mut Battle, scratch: &mut BattleScratch) {
        let Learner { seed, matches, .. } = battle.learner;
        battle.learner.seat = self.line_up.seat.of_match(self.shape.entries, seed, matches);
        battle.learner.matches += 1;
        loop {
            battle.world.begin(&self.shape, &mut scratch.inner);
            if !battle.is_over(&self.shape) {
                break;
            }
        }
        battle.orders.fill(STAY);
    }

    /// Plays a turn: the learner's actions and those of all opponents.
    fn turn(&self, battle: &mut Battle, own: &[u8], scratch: &mut BattleScratch) {
        let BattleScratch { inner, actions, view } = scratch;
        actions.fill(STAY);
        actions[..battle.orders.len()].copy_from_slice(&battle.orders);
        battle.orders.fill(STAY);
        self.ask(battle, view, actions);
        actions[battle.own(&self.shape)].copy_from_slice(own);
        battle.world.turn(&self.shape, actions, inner);
    }

    /// Asks the opponents inside whose entry has survivors.
    fn ask(&self, battle: &mut Battle, view: &mut LastBulletView, actions: &mut [u8]) {
        let Battle { world, learner, .. } = battle;
        for entry in (0..self.shape.entries).filter(|&entry| entry != usize::from(learner.seat)) {
            let Opponent::Inside(decide) = self.line_up.opponent(learner.seat, entry as u8) else { continue };
            world.show(&self.shape, self.shape.entry(entry), view);
            if view.copies.is_empty() {
                continue;
            }
            let (seed, number) = (learner.seed, learner.decisions);
            learner.decisions += 1;
            for order in decide(view, &|| Seeded::new(seed, "opponent", number)).orders {
                let (piece, action) = world.number(&self.shape, order);
                actions[piece] = action;
            }
        }
    }
}

impl Kernel for LastBulletVersus {
    type Game = LastBullet;
    type Cell = u8;
    type Block = Battle;
    type Scratch = BattleScratch;
    /// The shape of the worlds, and the learner's seat.
    type Basis = (Shape, LearnerSeat);
    type Saved = (SavedWorld, Learner);
    const ORDER: MemoryOrder = Shape::ORDER;
    const TURNS: bool = Shape::TURNS;

    fn usual_seats() -> usize {
        Shape::usual_seats()
    }

    fn new(_: &LastBulletRules, _: usize) -> Result<Self, SetupError> {
        unreachable!("`LastBulletVersusBatch::against` makes it, since it needs opponents")
    }

    fn fields(&self) -> Vec<Field> {
        self.shape.fields()
    }

    fn actions(&self) -> usize {
        ACTIONS
    }

    fn rows_of_a_match(&self) -> usize {
        self.shape.copies
    }

    fn scratch(&self) -> BattleScratch {
        BattleScratch {
            inner: Scratch::new(&self.shape),
            actions: vec![STAY; self.shape.survivors()],
            view: views::blank(&self.shape),
        }
    }

    fn begun(&self, seeds: Range<u64>, scratch: &mut BattleScratch) -> Battle {
        let outside = self.line_up.opponents.iter().any(|one| matches!(one, Opponent::Outside));
        let mut battle = Battle {
            world: World::new(&self.shape, Stream::new(seeds.start)),
            learner: Learner { seed: seeds.start, matches: 0, decisions: 0, seat: 0 },
            orders: vec![STAY; if outside { self.shape.survivors() } else { 0 }],
        };
        self.begin_match(&mut battle, scratch);
        battle
    }

    fn seed(battle: &mut Battle, _: usize, seed: u64) {
        battle.world.stream = Stream::new(seed);
        battle.learner = Learner { seed, matches: 0, decisions: 0, ..battle.learner };
    }

    fn begin(&self, battle: &mut Battle, _: usize, scratch: &mut BattleScratch) {
        self.begin_match(battle, scratch);
    }

    fn step(&self, chunk: Chunk<'_, Self>, actions: &[u8], autoreset: Autoreset) {
        let Chunk { blocks, scratch, mut out } = chunk;
        let (shape, rows) = (&self.shape, self.shape.copies);
        let actions = actions.chunks_exact(rows);
        for ((battle, actions), first) in blocks.iter_mut().zip(actions).zip((0..).step_by(rows)) {
            let mut report = Report { shape, pieces: battle.own(shape), first, out: &mut out };
            let had_ended = battle.is_over(shape);
            let holds = actions.iter().all(|&action| action == HOLD);
            report.nothing();
            if !holds && !had_ended {
                scratch.inner.lived.clone_from(&battle.world.living);
                self.turn(battle, actions, scratch);
                report.turn(&battle.world, &scratch.inner.lived);
            }
            let is_over = battle.is_over(shape);
            if !holds && autoreset == Autoreset::SameStep {
                report.last(&mut battle.world, &scratch.inner.lived, is_over);
            }
            if !holds && autoreset.begins(had_ended, is_over) {
                self.begin_match(battle, scratch);
                report.pieces = battle.own(shape);
            }
            report.observations(&mut battle.world);
        }
    }

    fn tell(&self, chunk: &mut Chunk<'_, Self>) {
        let (shape, rows) = (&self.shape, self.shape.copies);
        for (battle, first) in chunk.blocks.iter_mut().zip((0..).step_by(rows)) {
            let mut report = Report { shape, pieces: battle.own(shape), first, out: &mut chunk.out };
            report.nothing();
            report.observations(&mut battle.world);
        }
    }

    fn mask(&self, battle: &Battle, _: usize, out: &mut [bool]) {
        battle.world.masks(&self.shape, battle.own(&self.shape), out);
    }

    fn is_legal(&self, battle: &Battle, _: usize, row: usize, action: u8) -> bool {
        battle.world.over || battle.world.is_legal(&self.shape, battle.own(&self.shape).start + row, action)
    }

    fn alive(&self, battle: &Battle, _: usize, out: &mut [bool]) {
        for (alive, piece) in out.iter_mut().zip(battle.own(&self.shape)) {
            *alive = !battle.world.over && battle.world.kinds[piece] >= SURVIVOR;
        }
    }

    fn to_act(_: &Battle, _: usize) -> u8 {
        0
    }

    fn episode(battle: &Battle, _: usize) -> u64 {
        battle.learner.matches
    }

    fn learner(battle: &Battle, _: usize) -> Option<u8> {
        Some(battle.learner.seat)
    }

    fn basis(&self) -> Self::Basis {
        (self.shape, self.line_up.seat)
    }

    fn save(battle: &Battle, _: usize) -> Self::Saved {
        (SavedWorld::new(&battle.world), battle.learner)
    }

    fn restore(&self, battle: &mut Battle, _: usize, (world, learner): Self::Saved) -> Result<(), String> {
        let entries = self.shape.entries;
        if usize::from(learner.seat) >= entries {
            return Err(format!("expected a learner in one of {entries} seats, got seat {}", learner.seat));
        }
        (battle.world, battle.learner) = (world.restore(&self.shape)?, learner);
        battle.orders.fill(STAY);
        Ok(())
    }
}
