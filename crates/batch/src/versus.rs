//! One seat of every match is the learner's, the others are opponents': only the learner's decisions are steps.
//!
//! This is a kernel around the kernel of any game in which seats take turns. A step plays the learner's action in each row, then
//! lets the opponents play until every row asks the learner again or its match is over. It does so block by block, so that the
//! blocks that are stepped repeatedly stay in the cache, and rows that are done [`HOLD`].
//!
//! Opponents *inside* are functions, called here. Opponents *outside*, which only the caller can ask, make a step stop halfway:
//! [`Kernel::waits`] names the rows in which one must act, and the next step takes its action there, and `HOLD` elsewhere.

use crate::{
    actions::HOLD,
    batched::{Autoreset, BatchError, BatchSetup, Batched},
    field::Field,
    kernel::{Kernel, MemoryOrder, Views},
    observe::Observe,
    parts::{Chunk, Columns, OutPart},
};
use necrodome_rules::{
    bot::Decide,
    chance::Seeded,
    game::{Game, Seat},
    names::SetupError,
};
use serde::{Deserialize, Serialize};
use std::{fmt, mem, ops::Range, slice, sync::Arc};

/// Many matches of a learner against opponents.
pub type VersusBatch<K> = Batched<Versus<K>>;

/// The player of a seat that is not the learner's.
pub enum Opponent<G: Game> {
    /// A function, called with each decision.
    Inside(Decide<G>),
    /// The caller.
    Outside,
}

impl<G: Game> fmt::Debug for Opponent<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Opponent::Inside(_) => "Inside",
            Opponent::Outside => "Outside",
        })
    }
}

/// The seat of the learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LearnerSeat {
    /// The same seat in every match.
    Fixed(u8),
    /// The next seat with every match; a row's seed says which comes first.
    Rotating,
}

impl LearnerSeat {
    /// The learner's seat in one match, by its number among those that begin with `seed`.
    pub(crate) fn of_match(self, seats: usize, seed: u64, number: u64) -> u8 {
        match self {
            LearnerSeat::Fixed(seat) => seat,
            LearnerSeat::Rotating => (mixed(seed).wrapping_add(number) % seats as u64) as u8,
        }
    }
}

/// The opponents of a learner, in the order of the seats that the learner leaves free.
#[derive(Debug)]
pub struct LineUp<G: Game> {
    /// The opponents, one for each other seat.
    pub opponents: Vec<Opponent<G>>,
    /// The learner's seat.
    pub seat: LearnerSeat,
}

impl<G: Game> LineUp<G> {
    /// The opponent in a seat, if the learner sits in another.
    pub(crate) fn opponent(&self, learner: u8, seat: u8) -> &Opponent<G> {
        &self.opponents[usize::from(seat) - usize::from(seat > learner)]
    }

    /// Asserts what the caller has promised.
    pub(crate) fn check(&self, seats: usize) {
        assert_eq!(self.opponents.len() + 1, seats, "an opponent for each seat but the learner's");
        if let LearnerSeat::Fixed(seat) = self.seat {
            assert!(usize::from(seat) < seats, "the learner has one of the seats");
        }
    }
}

/// Matches of a learner against opponents, played by the kernel `K`.
#[derive(Debug)]
pub struct Versus<K: Kernel> {
    inner: K,
    seats: usize,
    line_up: Arc<LineUp<K::Game>>,
}

impl<K: Kernel> Clone for Versus<K> {
    fn clone(&self) -> Self {
        let Versus { inner, seats, line_up } = self;
        Versus { inner: inner.clone(), seats: *seats, line_up: line_up.clone() }
    }
}

/// Matches, and the state of each one's learner.
#[derive(Debug, Clone)]
pub struct VersusBlock<K: Kernel> {
    inner: K::Block,
    rows: Vec<Row>,
    /// The last observations of matches that are over, row by row.
    last_obs: Vec<i16>,
    /// The rewards of their seats, match by match.
    last_rewards: Vec<f32>,
}

/// The state of a match's learner.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Row {
    seed: u64,
    /// The number of matches that have begun, and of decisions that opponents inside have made, since the seed was set.
    matches: u64,
    decisions: u64,
    seat: u8,
    /// Whether the learner has not yet decided in this match: if it ends then, it is no episode.
    fresh: bool,
    over: bool,
    /// The seat of the opponent outside that must act, if any.
    waits: Option<u8>,
    /// The results of the step that is being played.
    reward: f32,
    ended: bool,
}

impl Row {
    fn new(seed: u64) -> Self {
        Row { seed, ..Row::default() }
    }
}

/// The memory of a thread: what the kernel writes for one block.
#[derive(Debug, Clone)]
pub struct VersusScratch<S> {
    inner: S,
    obs: Vec<i16>,
    rewards: Vec<f32>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
    final_rewards: Vec<f32>,
    moves: Vec<u8>,
    /// The lanes in which the step goes on before it asks the learner again.
    open: Vec<usize>,
}

impl<S> VersusScratch<S> {
    /// Borrows the kernel's share of one block.
    fn chunk<'a, K: Kernel<Cell = i16, Scratch = S>>(
        &'a mut self,
        block: &'a mut K::Block,
        rows: usize,
    ) -> (Chunk<'a, K>, &'a [u8]) {
        let out = OutPart {
            obs: Columns::Whole { cells: &mut self.obs, length: rows },
            final_obs: Columns::Whole { cells: &mut [], length: 0 },
            rewards: &mut self.rewards[..rows],
            terminated: &mut self.terminated[..rows],
            truncated: &mut self.truncated[..rows],
            final_rewards: &mut self.final_rewards,
        };
        (Chunk { blocks: slice::from_mut(block), scratch: &mut self.inner, out }, &self.moves[..rows])
    }
}

impl<K: Views> VersusBatch<K> {
    /// Makes a batch of new matches against these opponents, each with its number as its seed.
    pub fn against(
        setup: &BatchSetup<<K::Game as Game>::Rules>,
        line_up: LineUp<K::Game>,
    ) -> Result<Self, BatchError> {
        Self::check(setup)?;
        let seats = setup.seats;
        let kernel = Versus { inner: K::new(&setup.rules, seats)?, seats, line_up: Arc::new(line_up) };
        assert!(K::TURNS && K::ORDER == MemoryOrder::Columns, "seats take turns");
        kernel.line_up.check(seats);
        Ok(Batched::of(kernel, setup))
    }
}

impl<K: Views> Versus<K> {
    fn opponent(&self, row: &Row, seat: u8) -> &Opponent<K::Game> {
        self.line_up.opponent(row.seat, seat)
    }

    /// Begins a match; what was written before stays.
    fn begin_match(&self, block: &mut VersusBlock<K>, lane: usize, scratch: &mut K::Scratch) {
        self.inner.begin(&mut block.inner, lane, scratch);
        self.sit_down(&mut block.rows[lane]);
    }

    /// Seats the learner in a match that has begun.
    fn sit_down(&self, row: &mut Row) {
        row.seat = self.line_up.seat.of_match(self.seats, row.seed, row.matches);
        row.matches += 1;
        (row.fresh, row.over, row.waits) = (true, false, None);
    }

    /// Plays an action in each row, then all actions of opponents inside.
    fn play(
        &self,
        block: &mut VersusBlock<K>,
        scratch: &mut VersusScratch<K::Scratch>,
        actions: &[u8],
        autoreset: Autoreset,
    ) {
        let rows = block.rows.len();
        scratch.open.clear();
        for (lane, &action) in actions.iter().enumerate() {
            let row = &mut block.rows[lane];
            scratch.moves[lane] = HOLD;
            if action == HOLD {
                continue;
            }
            if row.waits.take().is_none() {
                (row.reward, row.ended) = (0.0, row.over && autoreset == Autoreset::Disabled);
            }
            if !row.over {
                scratch.moves[lane] = action;
                scratch.open.push(lane);
            } else if autoreset == Autoreset::NextStep {
                self.begin_match(block, lane, &mut scratch.inner);
                scratch.open.push(lane);
            }
        }
        self.go_on(block, scratch, rows, autoreset);
    }

    /// Plays matches that have begun up to the learner's first decision.
    fn open_matches(&self, block: &mut VersusBlock<K>, scratch: &mut VersusScratch<K::Scratch>) {
        let rows = block.rows.len();
        scratch.moves.fill(HOLD);
        scratch.open.clear();
        scratch
            .open
            .extend((0..rows).filter(|&lane| block.rows[lane].fresh && block.rows[lane].waits.is_none()));
        self.go_on(block, scratch, rows, Autoreset::Disabled);
    }

    /// Plays the moves, and all actions of opponents inside, until no lane is open. Then the scratch holds the observations.
    fn go_on(
        &self,
        block: &mut VersusBlock<K>,
        scratch: &mut VersusScratch<K::Scratch>,
        rows: usize,
        autoreset: Autoreset,
    ) {
        let mut told = false;
        loop {
            if scratch.moves[..rows].iter().any(|&action| action != HOLD) {
                let (chunk, moves) = scratch.chunk::<K>(&mut block.inner, rows);
                self.inner.step(chunk, moves, Autoreset::Disabled);
                told = true;
            }
            let open = mem::take(&mut scratch.open);
            for &lane in &open {
                let moved = mem::replace(&mut scratch.moves[lane], HOLD) != HOLD;
                if moved && scratch.terminated[lane] {
                    self.end(block, lane, scratch, autoreset);
                    told &= block.rows[lane].over;
                }
                self.next_move(block, lane, scratch);
            }
            let moves = &scratch.moves;
            let mut still = open;
            still.retain(|&lane| moves[lane] != HOLD);
            scratch.open = still;
            if scratch.open.is_empty() {
                break;
            }
        }
        if !told {
            let (mut chunk, _) = scratch.chunk::<K>(&mut block.inner, rows);
            self.inner.tell(&mut chunk);
        }
    }

    /// Ends the match in a lane.
    fn end(
        &self,
        block: &mut VersusBlock<K>,
        lane: usize,
        scratch: &mut VersusScratch<K::Scratch>,
        autoreset: Autoreset,
    ) {
        let row = &mut block.rows[lane];
        // Nothing has been shown of a match in which the learner never decided.
        if !row.fresh {
            (row.over, row.ended) = (true, true);
            // These games pay at the end, whoever has moved last.
            let paid = lane * self.seats..(lane + 1) * self.seats;
            block.last_rewards[paid.clone()].copy_from_slice(&scratch.final_rewards[paid.clone()]);
            row.reward = block.last_rewards[paid][usize::from(row.seat)];
            self.keep_last_obs(block, lane);
            if autoreset != Autoreset::SameStep {
                return;
            }
        }
        self.begin_match(block, lane, &mut scratch.inner);
    }

    fn keep_last_obs(&self, block: &mut VersusBlock<K>, lane: usize) {
        let view = self.inner.view(&block.inner, lane, Seat(block.rows[lane].seat.into()));
        let width = block.last_obs.len() / block.rows.len();
        K::Game::observe(self.inner.rules(), &view, &mut block.last_obs[lane * width..][..width]);
    }

    /// Finds the next move in a lane, unless the match is over or the learner or the caller must be asked.
    fn next_move(&self, block: &mut VersusBlock<K>, lane: usize, scratch: &mut VersusScratch<K::Scratch>) {
        let row = &mut block.rows[lane];
        if row.over {
            return;
        }
        let seat = K::to_act(&block.inner, lane);
        if seat == row.seat {
            row.fresh = false;
            return;
        }
        match self.opponent(row, seat) {
            Opponent::Outside => row.waits = Some(seat),
            Opponent::Inside(decide) => {
                let view = self.inner.view(&block.inner, lane, Seat(seat.into()));
                let (seed, number) = (row.seed, row.decisions);
                row.decisions += 1;
                let action = decide(&view, &|| Seeded::new(seed, "opponent", number));
                scratch.moves[lane] = K::Game::number(&view, &action);
            }
        }
    }

    /// Writes the results of a step, from the row `start` on.
    fn write(
        &self,
        block: &VersusBlock<K>,
        scratch: &VersusScratch<K::Scratch>,
        out: &mut OutPart<'_, i16>,
        start: usize,
        final_obs: bool,
    ) {
        let rows = block.rows.len();
        let width = block.last_obs.len() / rows;
        for (field, column) in scratch.obs[..rows * width].chunks_exact(rows).enumerate() {
            out.obs.column(field)[start..][..rows].copy_from_slice(column);
        }
        for (lane, row) in block.rows.iter().enumerate() {
            let at = start + lane;
            out.rewards[at] = row.reward;
            out.terminated[at] = row.ended;
            out.truncated[at] = false;
            let last = &block.last_obs[lane * width..][..width];
            if row.over {
                out.obs.set_row(at, last.iter().copied());
            }
            if row.ended {
                if final_obs {
                    out.final_obs.set_row(at, last.iter().copied());
                }
                let paid = &block.last_rewards[lane * self.seats..][..self.seats];
                out.final_rewards[at * self.seats..][..self.seats].copy_from_slice(paid);
            }
        }
    }
}

/// A hash of a seed.
fn mixed(seed: u64) -> u64 {
    let seed = (seed ^ (seed >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    seed ^ (seed >> 29)
}

impl<K: Views> Kernel for Versus<K> {
    type Game = K::Game;
    type Cell = i16;
    type Block = VersusBlock<K>;
    type Scratch = VersusScratch<K::Scratch>;
    /// The basis of the kernel, and the learner's seat.
    type Basis = (K::Basis, LearnerSeat);
    type Saved = (K::Saved, Row);
    const LANES: usize = K::LANES;

    fn usual_seats() -> usize {
        K::usual_seats()
    }

    fn new(_: &<K::Game as Game>::Rules, _: usize) -> Result<Self, SetupError> {
        unreachable!("`VersusBatch::against` makes it, since it needs opponents")
    }

    fn fields(&self) -> Vec<Field> {
        self.inner.fields()
    }

    fn actions(&self) -> usize {
        self.inner.actions()
    }

    fn scratch(&self) -> Self::Scratch {
        VersusScratch {
            inner: self.inner.scratch(),
            obs: vec![0; K::LANES * self.fields().len()],
            rewards: vec![0.0; K::LANES],
            terminated: vec![false; K::LANES],
            truncated: vec![false; K::LANES],
            final_rewards: vec![0.0; K::LANES * self.seats],
            moves: vec![HOLD; K::LANES],
            open: Vec::with_capacity(K::LANES),
        }
    }

    fn begun(&self, seeds: Range<u64>, scratch: &mut Self::Scratch) -> VersusBlock<K> {
        let inner = self.inner.begun(seeds.clone(), &mut scratch.inner);
        let mut rows: Vec<Row> = seeds.map(Row::new).collect();
        rows.iter_mut().for_each(|row| self.sit_down(row));
        let last_obs = vec![0; rows.len() * self.fields().len()];
        let last_rewards = vec![0.0; rows.len() * self.seats];
        let mut block = VersusBlock { inner, rows, last_obs, last_rewards };
        self.open_matches(&mut block, scratch);
        block
    }

    fn seed(block: &mut VersusBlock<K>, lane: usize, seed: u64) {
        K::seed(&mut block.inner, lane, seed);
        let row = &mut block.rows[lane];
        (row.seed, row.matches, row.decisions) = (seed, 0, 0);
    }

    fn begin(&self, block: &mut VersusBlock<K>, lane: usize, scratch: &mut Self::Scratch) {
        self.begin_match(block, lane, &mut scratch.inner);
    }

    fn step(&self, chunk: Chunk<'_, Self>, actions: &[u8], autoreset: Autoreset) {
        let Chunk { blocks, scratch, mut out } = chunk;
        let starts = (0..).step_by(K::LANES);
        for ((block, actions), start) in blocks.iter_mut().zip(actions.chunks(K::LANES)).zip(starts) {
            self.play(block, scratch, actions, autoreset);
            self.write(block, scratch, &mut out, start, autoreset == Autoreset::SameStep);
        }
    }

    /// Also plays matches that have begun up to the learner's first decision.
    fn tell(&self, chunk: &mut Chunk<'_, Self>) {
        let Chunk { blocks, scratch, out } = chunk;
        for (block, start) in blocks.iter_mut().zip((0..).step_by(K::LANES)) {
            self.open_matches(block, scratch);
            block.rows.iter_mut().for_each(|row| (row.reward, row.ended) = (0.0, row.over));
            self.write(block, scratch, out, start, false);
        }
    }

    fn mask(&self, block: &VersusBlock<K>, lane: usize, out: &mut [bool]) {
        self.inner.mask(&block.inner, lane, out);
    }

    fn always_legal(&self) -> bool {
        self.inner.always_legal()
    }

    fn is_legal(&self, block: &VersusBlock<K>, lane: usize, row: usize, action: u8) -> bool {
        block.rows[lane].over || self.inner.is_legal(&block.inner, lane, row, action)
    }

    fn surely_legal(&self, block: &VersusBlock<K>, actions: &[u8]) -> bool {
        self.inner.surely_legal(&block.inner, actions)
    }

    fn to_act(block: &VersusBlock<K>, lane: usize) -> u8 {
        K::to_act(&block.inner, lane)
    }

    fn waits(block: &VersusBlock<K>, lane: usize) -> Option<u8> {
        block.rows[lane].waits
    }

    fn episode(block: &VersusBlock<K>, lane: usize) -> u64 {
        block.rows[lane].matches
    }

    fn learner(block: &VersusBlock<K>, lane: usize) -> Option<u8> {
        Some(block.rows[lane].seat)
    }

    fn basis(&self) -> Self::Basis {
        (self.inner.basis(), self.line_up.seat)
    }

    fn save(block: &VersusBlock<K>, lane: usize) -> Self::Saved {
        (K::save(&block.inner, lane), block.rows[lane])
    }

    fn restore(
        &self,
        block: &mut VersusBlock<K>,
        lane: usize,
        (inner, row): Self::Saved,
    ) -> Result<(), String> {
        let seats = self.seats;
        if usize::from(row.seat) >= seats || row.waits.is_some_and(|seat| usize::from(seat) >= seats) {
            return Err(format!("expected a learner in one of {seats} seats, got seat {}", row.seat));
        }
        // Or it would wait for ever.
        if let Some(seat) = row.waits
            && (seat == row.seat || matches!(self.opponent(&row, seat), Opponent::Inside(_)))
        {
            return Err(format!(
                "it waits for the answer of seat {seat}, who is not asked from outside here"
            ));
        }
        self.inner.restore(&mut block.inner, lane, inner)?;
        block.rows[lane] = row;
        if row.over {
            self.keep_last_obs(block, lane);
        }
        Ok(())
    }
}

impl<K: Views> Views for Versus<K> {
    fn rules(&self) -> &<K::Game as Game>::Rules {
        self.inner.rules()
    }

    fn view(&self, block: &VersusBlock<K>, lane: usize, seat: Seat) -> <K::Game as Game>::View {
        self.inner.view(&block.inner, lane, seat)
    }

    fn refresh_view(
        &self,
        block: &VersusBlock<K>,
        lane: usize,
        seat: Seat,
        view: &mut <K::Game as Game>::View,
    ) {
        self.inner.refresh_view(&block.inner, lane, seat, view);
    }
}
