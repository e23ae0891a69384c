//! Many matches of one game, stepped at once. Threads, seeds, resets and saved states work the same for all games.
//!
//! The [`Kernel`] plays the matches.

use crate::{
    bytes,
    field::Field,
    instructions::{self, UnknownInstructions},
    kernel::{Kernel, Views},
    observe::Observe,
    parts::{Chunk, Layout, OutPart},
    threads,
};
use necrodome_rules::{
    game::{Game, Seat},
    names::SetupError,
    options,
};

/// The settings of a batch.
#[derive(Debug, Clone, Copy)]
pub struct BatchSetup<R> {
    /// The rules of all matches.
    pub rules: R,
    /// The number of seats in each match.
    pub seats: usize,
    /// The number of matches.
    pub matches: usize,
    /// The number of threads that share them.
    pub threads: usize,
    /// The start of the next episode after one has ended.
    pub autoreset: Autoreset,
}

/// The start of the next episode in a row whose episode has ended (as in Gymnasium).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Autoreset {
    /// The next step begins a new one, whatever its action.
    NextStep,
    /// The same step begins a new one; the last observation of the old one is written to `final_obs`.
    SameStep,
    /// Nothing until `reset`: the row stays unchanged, and its reward is 0.
    Disabled,
}

impl Autoreset {
    /// Whether a step begins a new match. `had_ended`: the old one had ended before the step; `is_over`: it is over after it.
    #[inline(always)]
    pub(crate) fn begins(self, had_ended: bool, is_over: bool) -> bool {
        match self {
            Autoreset::NextStep => had_ended,
            Autoreset::SameStep => is_over,
            Autoreset::Disabled => false,
        }
    }
}

/// Why a batch cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// The game does not allow these rules or seats.
    #[error(transparent)]
    Game(#[from] SetupError),
    /// The requested instruction set does not exist.
    #[error(transparent)]
    Instructions(#[from] UnknownInstructions),
    /// No matches, or no threads.
    #[error("expected at least one match and one thread, got {matches} and {threads}")]
    Empty {
        /// The number of matches requested.
        matches: usize,
        /// The number of threads requested.
        threads: usize,
    },
}

/// The size of one match in a batch: rows, and bytes of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Rows of a match.
    pub rows: usize,
    /// The approximate bytes of its state.
    pub bytes: usize,
    /// Bytes of an observation.
    pub observation: usize,
    /// Bytes of the mask of a row; 0 if all actions are always legal.
    pub mask: usize,
}

/// The slices that a batch writes into. Each has one element per row, observations one per row and field.
#[derive(Debug)]
pub struct Out<'a, T> {
    /// Observations, in the [`ORDER`](Kernel::ORDER) of the kernel.
    pub obs: &'a mut [T],
    /// With [`Autoreset::SameStep`]: the last observation of rows that ended, in the [`FINAL_ORDER`](Kernel::FINAL_ORDER) of the
    /// kernel. In other rows its content is undefined. May be empty without [`Autoreset::SameStep`].
    pub final_obs: &'a mut [T],
    /// Rewards.
    pub rewards: &'a mut [f32],
    /// Whether the episode has ended by the rules.
    pub terminated: &'a mut [bool],
    /// Whether the episode was cut off.
    pub truncated: &'a mut [bool],
}

/// Many matches side by side, stepped at once.
///
/// A row asks for one decision: it is a match in a sequential game, one survivor of one match in Last Bullet.
/// What happens in a match depends only on its seed and on the actions, not on the number of matches or threads.
///
/// ```
/// use necrodome_batch::{batched::{Autoreset, BatchSetup}, last_bullet::LastBulletBatch};
/// let setup =
///     BatchSetup { rules: Default::default(), seats: 20, matches: 3, threads: 1, autoreset: Autoreset::NextStep };
/// let batch = LastBulletBatch::new(&setup).unwrap();
/// assert_eq!((batch.matches(), batch.rows()), (3, 3 * 20 * 50));
/// ```
#[derive(Debug, Clone)]
pub struct Batched<K: Kernel> {
    /// The start of the next episode after one has ended. It may be changed at any time.
    pub autoreset: Autoreset,
    pub(crate) kernel: K,
    pub(crate) blocks: Vec<K::Block>,
    matches: usize,
    seats: usize,
    /// The number of numbers in an observation.
    width: usize,
    /// The rewards of the last match that ended in each row, for all its seats, where several take turns.
    final_rewards: Vec<f32>,
    /// One for each thread.
    scratch: Vec<K::Scratch>,
}

/// A batch type that names its kernel.
pub trait HasKernel {
    /// The kernel.
    type Kernel: Kernel;
}

impl<K: Kernel> HasKernel for Batched<K> {
    type Kernel = K;
}

impl<K: Kernel> Batched<K> {
    /// Makes a batch of new matches, each with its number as its seed.
    pub fn new(setup: &BatchSetup<<K::Game as Game>::Rules>) -> Result<Self, BatchError> {
        Self::check(setup)?;
        Ok(Self::of(K::new(&setup.rules, setup.seats)?, setup))
    }

    /// Refuses numbers of seats, matches and threads that no kernel supports.
    pub(crate) fn check(setup: &BatchSetup<<K::Game as Game>::Rules>) -> Result<(), BatchError> {
        let &BatchSetup { seats, matches, threads, .. } = setup;
        instructions::chosen()?;
        if matches == 0 || threads == 0 {
            return Err(BatchError::Empty { matches, threads });
        }
        Ok(Self::check_seats(seats)?)
    }

    /// Makes a batch of new matches that this kernel plays.
    pub(crate) fn of(kernel: K, setup: &BatchSetup<<K::Game as Game>::Rules>) -> Self {
        let &BatchSetup { seats, matches, threads, autoreset, .. } = setup;
        let mut scratch = vec![kernel.scratch(); threads.min(matches.div_ceil(K::LANES))];
        let block = |first| {
            let seeds = first as u64..matches.min(first + K::LANES) as u64;
            kernel.begun(seeds, &mut scratch[0])
        };
        Batched {
            autoreset,
            blocks: (0..matches).step_by(K::LANES).map(block).collect(),
            matches,
            seats,
            width: kernel.fields().len(),
            final_rewards: vec![0.0; if K::TURNS && seats > 1 { matches * seats } else { 0 }],
            scratch,
            kernel,
        }
    }

    /// The default number of seats.
    pub fn usual_seats() -> usize {
        K::usual_seats()
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.matches * self.kernel.rows_of_a_match()
    }

    /// The number of matches. Each has its own seed.
    pub fn matches(&self) -> usize {
        self.matches
    }

    /// The number of seats in a match.
    pub fn seats(&self) -> usize {
        self.seats
    }

    /// Whether several seats take turns, so that [`to_act`](Batched::to_act) is useful.
    pub fn takes_turns(&self) -> bool {
        !self.final_rewards.is_empty()
    }

    /// The meaning of each number in a row's observation.
    pub fn fields(&self) -> Vec<Field> {
        self.kernel.fields()
    }

    /// The number of numbers in an observation.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of actions; an action is a number below it.
    pub fn actions(&self) -> usize {
        self.kernel.actions()
    }

    /// The size of a match in such a batch.
    pub fn share(rules: &<K::Game as Game>::Rules, seats: usize) -> Result<Share, BatchError> {
        Self::check_seats(seats)?;
        let kernel = K::new(rules, seats)?;
        let fields = kernel.fields().len() * size_of::<K::Cell>();
        Ok(Share {
            rows: kernel.rows_of_a_match(),
            bytes: kernel.bytes_of_a_match(),
            observation: fields,
            mask: if kernel.always_legal() { 0 } else { kernel.actions() },
        })
    }

    fn check_seats(seats: usize) -> Result<(), SetupError> {
        match K::Game::SEATS.contains(&seats) {
            true => Ok(()),
            false => Err(SetupError::Seats { expected: K::Game::SEATS, came: seats }),
        }
    }

    /// Starts a match's stream of chance from a seed. Nothing else changes until the match is reset.
    pub fn seed(&mut self, one: usize, seed: u64) {
        K::seed(&mut self.blocks[one / K::LANES], one % K::LANES, seed);
    }

    /// Begins new matches, all or those that are marked. Writes observations, rewards of 0, and flags for all matches,
    /// marked or not.
    pub fn reset(&mut self, which: Option<&[bool]>, out: &mut Out<'_, K::Cell>) {
        let matches = self.matches;
        let begins = |one| one < matches && which.is_none_or(|which| which[one]);
        self.divide(out, |kernel, first, mut chunk| {
            for (block, start) in chunk.blocks.iter_mut().zip((first..).step_by(K::LANES)) {
                for lane in (0..K::LANES).filter(|lane| begins(start + lane)) {
                    kernel.begin(block, lane, chunk.scratch);
                }
            }
            chunk.out.rewards.fill(0.0);
            kernel.tell(&mut chunk);
        });
    }

    /// Writes what [`reset`](Batched::reset) writes, without beginning anything.
    pub fn tell(&mut self, out: &mut Out<'_, K::Cell>) {
        self.divide(out, |kernel, _, mut chunk| {
            chunk.out.rewards.fill(0.0);
            kernel.tell(&mut chunk);
        });
    }

    /// Plays one action in each row. The caller has checked that actions are below [`actions`](Batched::actions), except
    /// [`HOLD`](crate::actions::HOLD): such a row stays unchanged, with a reward of 0, and does not begin anew.
    pub fn step(&mut self, actions: &[u8], out: &mut Out<'_, K::Cell>) {
        let autoreset = self.autoreset;
        self.divide(out, |kernel, first, chunk| {
            let row = first * kernel.rows_of_a_match();
            let actions = &actions[row..][..chunk.out.rewards.len()];
            kernel.step(chunk, actions, autoreset);
        });
    }

    /// Gives each thread its chunk of the batch, and the number of the first match in it.
    fn divide(&mut self, out: &mut Out<'_, K::Cell>, work: impl Fn(&K, usize, Chunk<'_, K>) + Sync) {
        let Batched { kernel, blocks, scratch, final_rewards, .. } = self;
        let kernel: &K = kernel;
        let layout = Layout { order: K::ORDER, final_order: K::FINAL_ORDER, width: self.width };
        if let [scratch] = &mut scratch[..] {
            let out = OutPart::whole(out, layout, final_rewards);
            return work(kernel, 0, Chunk { blocks, scratch, out });
        }
        let each = blocks.len().div_ceil(scratch.len());
        let matches = each * K::LANES;
        let outs = OutPart::cut(out, layout, matches * kernel.rows_of_a_match());
        // Empty where seats do not take turns.
        let rewards =
            final_rewards.chunks_mut(matches * self.seats).chain(std::iter::repeat_with(Default::default));
        let work = &work;
        threads::pool().scope(|scope| {
            let all = blocks.chunks_mut(each).zip(scratch).zip(outs.zip(rewards)).enumerate();
            for (index, ((blocks, scratch), (mut out, final_rewards))) in all {
                out.final_rewards = final_rewards;
                scope.spawn(move |_| work(kernel, index * matches, Chunk { blocks, scratch, out }));
            }
        });
    }

    /// The block and the lane of each match.
    fn lanes(&self) -> impl Iterator<Item = (&K::Block, usize)> {
        (0..self.matches).map(|one| (&self.blocks[one / K::LANES], one % K::LANES))
    }

    /// Marks the legal actions: for each row, [`actions`](Batched::actions) flags.
    pub fn masks(&self, out: &mut [bool]) {
        let flags = self.kernel.rows_of_a_match() * self.actions();
        for ((block, lane), out) in self.lanes().zip(out.chunks_exact_mut(flags)) {
            self.kernel.mask(block, lane, out);
        }
    }

    /// Marks the legal actions in the rows of one match.
    pub fn mask(&self, one: usize, out: &mut [bool]) {
        self.kernel.mask(&self.blocks[one / K::LANES], one % K::LANES, out);
    }

    /// Whether all actions are always legal, so that [`masks`](Batched::masks) never change.
    pub fn always_legal(&self) -> bool {
        self.kernel.always_legal()
    }

    /// Marks the rows whose actions are illegal now; `None` if all are legal.
    pub fn illegal(&self, actions: &[u8]) -> Option<Vec<bool>> {
        if self.kernel.always_legal() {
            return None;
        }
        let rows = self.kernel.rows_of_a_match();
        let most = self.actions();
        let mut illegal = None;
        for (number, (block, played)) in self.blocks.iter().zip(actions.chunks(K::LANES * rows)).enumerate() {
            if self.kernel.surely_legal(block, played) {
                continue;
            }
            let first = number * K::LANES * rows;
            for (lane, played) in played.chunks(rows).enumerate() {
                for (row, &action) in played.iter().enumerate() {
                    if usize::from(action) < most && !self.kernel.is_legal(block, lane, row, action) {
                        let at = first + lane * rows + row;
                        illegal.get_or_insert_with(|| vec![false; actions.len()])[at] = true;
                    }
                }
            }
        }
        illegal
    }

    /// Whether a match has several rows that decide at once, and some may end before the others.
    pub fn has_many_rows(&self) -> bool {
        !K::TURNS
    }

    /// Marks the rows whose episode goes on.
    pub fn alive(&self, out: &mut [bool]) {
        let rows = self.kernel.rows_of_a_match();
        for ((block, lane), out) in self.lanes().zip(out.chunks_exact_mut(rows)) {
            self.kernel.alive(block, lane, out);
        }
    }

    /// Writes for each match the seat that decides now, or that decided last if the match is over.
    ///
    /// A row's observation is that of the seat that decides, its reward that of the seat that has just acted.
    pub fn to_act(&self, out: &mut [u8]) {
        for (block, out) in self.blocks.iter().zip(out.chunks_mut(K::LANES)) {
            for (lane, out) in out.iter_mut().enumerate() {
                *out = K::to_act(block, lane);
            }
        }
    }

    /// For each row, the seat of an opponent that only the caller can ask and that must act now; `None` if no row has one. The
    /// next step takes that opponent's action there, and [`HOLD`](crate::actions::HOLD) in all other rows.
    pub fn waits(&self) -> Option<Vec<Option<u8>>> {
        let waits = || self.lanes().map(|(block, lane)| K::waits(block, lane));
        waits().any(|seat| seat.is_some()).then(|| waits().collect())
    }

    /// The number of matches that have begun in a row since its stream was seeded, where opponents play.
    pub fn episode(&self, one: usize) -> u64 {
        K::episode(&self.blocks[one / K::LANES], one % K::LANES)
    }

    /// Writes the learner's seat in each row; `None` where there is no learner.
    pub fn learner(&self, out: &mut [Option<u8>]) {
        for ((block, lane), out) in self.lanes().zip(out) {
            *out = K::learner(block, lane);
        }
    }

    /// The rewards of the last match that ended in each row, for all its seats: row by row, zeros where none has ended yet. Empty
    /// in games without turns.
    pub fn final_rewards(&self) -> &[f32] {
        &self.final_rewards
    }

    /// Saves the whole state, streams included.
    pub fn save(&self) -> Vec<u8> {
        let basis = self.kernel.basis();
        let saved: Vec<K::Saved> = self.lanes().map(|(block, lane)| K::save(block, lane)).collect();
        // The states of games without turns have no final rewards.
        if K::TURNS {
            bytes::write(&(basis, saved, &self.final_rewards))
        } else {
            bytes::write(&(basis, saved))
        }
    }

    /// Restores a state that [`save`](Batched::save) returned for a batch with the same rules, seats and number of matches.
    /// On `Err` nothing has changed.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        let (basis, saved, final_rewards): (K::Basis, Vec<K::Saved>, Vec<f32>) = if K::TURNS {
            bytes::read(state)?
        } else {
            let (basis, saved) = bytes::read(state)?;
            (basis, saved, Vec::new())
        };
        let own = self.kernel.basis();
        let fits =
            basis == own && saved.len() == self.matches && final_rewards.len() == self.final_rewards.len();
        if !fits || !final_rewards.iter().all(|reward| reward.is_finite()) {
            let text = |basis| options::plain(&serde_json::to_value(basis).unwrap_or_default());
            return Err(format!(
                "expected the state of {} matches with {} and {} final rewards, got {} with {} and {}: restore it into a \
                 batch like the one that was saved",
                self.matches,
                text(&own),
                self.final_rewards.len(),
                saved.len(),
                text(&basis),
                final_rewards.len()
            ));
        }
        let mut blocks = self.blocks.clone();
        for (one, saved) in saved.into_iter().enumerate() {
            let restored = self.kernel.restore(&mut blocks[one / K::LANES], one % K::LANES, saved);
            restored.map_err(|why| format!("match {one}: {why}"))?;
        }
        self.blocks = blocks;
        self.final_rewards = final_rewards;
        Ok(())
    }
}

impl<K: Views> Batched<K> {
    /// The view of a seat in a match, as the referee would show it. In Zombie Dice the dice set aside, and those of the hand
    /// that do not show footsteps, are some that fit the rest: a kernel does not keep what no longer matters.
    pub fn view(&self, one: usize, seat: Seat) -> <K::Game as Game>::View {
        self.kernel.view(&self.blocks[one / K::LANES], one % K::LANES, seat)
    }

    /// Does the same, in an existing view.
    pub fn refresh_view(&self, one: usize, seat: Seat, view: &mut <K::Game as Game>::View) {
        self.kernel.refresh_view(&self.blocks[one / K::LANES], one % K::LANES, seat, view);
    }

    /// Writes a seat's view of a match as numbers, no matter who decides: one for each of the [`fields`](Batched::fields).
    pub fn observe(&self, one: usize, seat: Seat, out: &mut [i16]) {
        K::Game::observe(self.kernel.rules(), &self.view(one, seat), out);
    }
}
