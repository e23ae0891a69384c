//! Plays a tournament on several threads, or on the caller's own thread if guests take part. Results count in the order of the schedule,
//! not of finishing, so they are the same on one thread and on many, and after a kill.

use super::{
    BlockResult, Closing, Plan, PlanError, Schedule, ScheduleError, Store, StoreError, Sums,
    crew::{Arena, Crew, Pace},
    results,
};
use crate::{
    entry::{EntryKind, EntrySpec, files_of, models_of},
    lineup::{LineupError, Terms},
    process::Launcher,
    run::RunError,
};
use necrodome_models::Run;
use necrodome_rules::{catalog::Listed, names::Names, with_game};
use schemars::JsonSchema;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    mem,
    ops::Range,
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{RecvTimeoutError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

/// How long finished blocks may wait to be stored.
const STORE_EVERY: Duration = Duration::from_millis(250);

/// The reason why a tournament cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TournamentError {
    /// The plan makes no schedule.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An entry cannot play.
    #[error(transparent)]
    Lineup(#[from] LineupError),
    /// A match cannot be played.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A match cannot be recorded.
    #[error("a match cannot be recorded: {0}")]
    Replay(#[from] std::io::Error),
    /// The plan makes no sense.
    #[error(transparent)]
    Senseless(#[from] PlanError),
    /// The plan does not fit this arena.
    #[error("the plan cannot be played: {0}")]
    Plan(String),
    /// The book of calls of a language model cannot be used.
    #[error(transparent)]
    Book(#[from] necrodome_models::BookError),
    /// The names cannot be used at one table.
    #[error(transparent)]
    Setup(#[from] necrodome_rules::names::SetupError),
}

/// Why playing has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// All blocks are played.
    Done,
    /// The neighbours in the standings are told apart, or the test of the plan is decided.
    Decided,
    /// Entries that are not told apart differ by no more than the margin.
    Close,
    /// The user stopped it.
    Interrupted,
}

/// How fast to play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Speed {
    /// How many threads play.
    pub threads: usize,
    /// How long all blocks of the plan take together at least, one after the other, so that people can watch. Zero: no longer than
    /// it takes to play them.
    pub lasts: Duration,
}

/// As fast as these threads can.
impl From<usize> for Speed {
    fn from(threads: usize) -> Self {
        Speed { threads, lasts: Duration::ZERO }
    }
}

/// The state of a running tournament: only what is stored.
#[derive(Debug, Clone, Copy)]
pub struct Update<'a> {
    /// Blocks stored.
    pub blocks: u32,
    /// Matches stored in this run.
    pub matches: u64,
    /// The store.
    pub store: &'a Store,
}

/// A message from a worker.
enum FromWorker {
    /// Blocks are finished.
    Blocks(Vec<BlockResult>),
    /// Players were closed.
    Closed(Vec<Closing>),
    /// The worker cannot go on.
    Failed(TournamentError),
}

/// Returns the name of a run in the book of calls. Copies of a tournament have the same name, so that they find the answers of the first,
/// and so has the same tournament with another line-up: the entries that began it count.
pub(super) fn run_name(plan: &Plan) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &str| _ = hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    add(&plan.options.to_string());
    let began = plan.stages.first().map_or((0..plan.entries.len()).collect(), |stage| stage.entries.clone());
    for entry in began.iter().filter_map(|&entry| plan.entries.get(entry)) {
        add(entry.fingerprint.as_ref().unwrap_or(&entry.bot));
    }
    let (game, seed, format, seats) = (&plan.game, plan.seed, plan.format.as_str(), plan.seats);
    format!("{game} {seed} {format} {seats} {}", &hasher.finalize().to_hex()[..32])
}

/// Plays what is missing in `store`. `watch` is called after every commit; `interrupt` stops playing after the running matches.
/// The entries are the members of the plan, in its order, and `launcher` starts their processes. If a guest is among them, everything is
/// played on the calling thread, whatever `threads` says: guests live there.
///
/// The function is not generic, so that all games are compiled here, once and for speed, and not in every crate that plays them.
pub fn run(
    plan: &Plan,
    entries: &[EntrySpec],
    launcher: &Launcher,
    store: &mut Store,
    threads: usize,
    interrupt: &AtomicBool,
    watch: &mut dyn FnMut(Update),
) -> Result<Stop, TournamentError> {
    run_at(plan, entries, launcher, store, threads.into(), interrupt, watch)
}

/// The same at another speed. The results do not depend on it.
pub fn run_at(
    plan: &Plan,
    entries: &[EntrySpec],
    launcher: &Launcher,
    store: &mut Store,
    speed: Speed,
    interrupt: &AtomicBool,
    watch: &mut dyn FnMut(Update),
) -> Result<Stop, TournamentError> {
    if plan.older {
        return Err(TournamentError::Plan(
            "an older necrodome began it, and seated the entries otherwise".into(),
        ));
    }
    let id = plan.game().map_err(TournamentError::Plan)?;
    with_game!(id, G => {
        let rules = plan.rules::<G>().map_err(TournamentError::Plan)?;
        let launcher = launcher.clone().hiding(files_of(entries)).hiding(store.archive().files());
        let terms = Terms { launcher, limits: plan.limits, rules, seats: plan.seats };
        let what = Playing { plan, entries, part: None, speed };
        let models = models_of(entries);
        let run = Run { name: &run_name(plan), goes_on: store.blocks()? > 0, is_dry: false };
        models.iter().try_for_each(|model| model.begin(&run))?;
        let stop = run_game::<G>(&what, &terms, store, interrupt, watch)?;
        if stop != Stop::Interrupted {
            store.reveal(plan)?;
            models.iter().try_for_each(|model| model.finish())?;
        }
        Ok(stop)
    })
}

/// Plays these blocks of the last stage and no others, into an empty store. If programs take part, each block is a separate chunk,
/// so that it is known what each block took.
pub(super) fn run_part(
    what: &Playing,
    launcher: &Launcher,
    store: &mut Store,
    interrupt: &AtomicBool,
    watch: &mut dyn FnMut(Update),
) -> Result<Stop, TournamentError> {
    let Playing { plan, entries, .. } = what;
    let id = plan.game().map_err(TournamentError::Plan)?;
    with_game!(id, G => {
        let rules = plan.rules::<G>().map_err(TournamentError::Plan)?;
        let launcher = launcher.clone().hiding(files_of(*entries));
        let terms = Terms { launcher, limits: plan.limits, rules, seats: plan.seats };
        run_game::<G>(what, &terms, store, interrupt, watch)
    })
}

/// Returns the default number of threads: one for each core, or one for each call that language models may get at the same time. They
/// think elsewhere, and a thread that waits for them needs no core.
pub fn natural_threads(entries: &[EntrySpec]) -> usize {
    const MOST: usize = 1024;
    let calls: usize = models_of(entries).iter().map(|model| model.model().concurrency as usize).sum();
    match calls {
        0 => thread::available_parallelism().map_or(1, usize::from),
        calls => calls.min(MOST),
    }
}

/// The part of a tournament to play.
pub(super) struct Playing<'a> {
    pub plan: &'a Plan,
    /// The members of the plan, in its order.
    pub entries: &'a [EntrySpec],
    /// The blocks to play, or `None` for all that the store lacks.
    pub part: Option<Range<u32>>,
    pub speed: Speed,
}

fn run_game<G: Listed>(
    what: &Playing,
    terms: &Terms<G::Rules>,
    store: &mut Store,
    interrupt: &AtomicBool,
    watch: &mut dyn FnMut(Update),
) -> Result<Stop, TournamentError> {
    let Playing { plan, entries, part, speed } = what;
    let schedule = Schedule::new(plan, G::SEATS)?;
    let names = Names::new(plan.entries.iter().map(|entry| &entry.name))?;
    let mut members = vec![None; plan.entries.len()];
    plan.members().zip(*entries).for_each(|(member, entry)| members[member] = Some(entry));
    let dice = store.dice(plan)?;
    let arena = Arena::<G> {
        planned: &plan.entries,
        entries: &members,
        names: &names,
        terms,
        schedule: &schedule,
        dice: &dice,
        keeps_replays: store.keeps_replays(),
    };
    // A mistake in the line-up shows before the first thread starts.
    Crew::new(&arena)?;
    let mut sums = Sums::new(plan, &schedule);
    let blocks = match part {
        Some(blocks) => blocks.clone(),
        None => {
            // Also shows whether the store is sound, before anything is added to it.
            sums.catch_up(&schedule, store)?;
            if let Some(stop) = sums.stop(plan) {
                return Ok(stop);
            }
            store.blocks()?..schedule.end()
        }
    };
    let here = entries.iter().any(|entry| matches!(entry.kind, EntryKind::Guest(_)));
    let threads = if here { 1 } else { speed.threads };
    let pace = Crew::<G>::pace(entries, &schedule, blocks.end.saturating_sub(blocks.start), threads);
    let beat = speed.lasts / schedule.end().max(1);
    let (end, apart) = (blocks.end, part.is_some() && !pace.is_fast);
    let queue = Queue::new(blocks, schedule.stage(), pace, threads, beat);
    let mut judge = |block: &BlockResult| {
        // Whoever sees a part only cannot know whether that decides it.
        if part.is_some() || !plan.stops_early() {
            return None;
        }
        let results =
            results::blocks(&block.packed, &schedule, block.block).next().flatten().unwrap_or_default();
        sums.add(&schedule, &results, &block.luck);
        sums.stop(plan)
    };
    let mut collector = Collector::new(store, &mut judge, &queue, apart, watch);
    match here {
        true => play_here(&arena, interrupt, &mut collector)?,
        false => play_on_threads(&arena, threads, interrupt, &mut collector)?,
    }
    Ok(match collector.early {
        Some(stop) => stop,
        None if store.blocks()? >= end => Stop::Done,
        None => Stop::Interrupted,
    })
}

/// Plays on this thread, and stores blocks in between.
fn play_here<G: Listed>(
    arena: &Arena<G>,
    interrupt: &AtomicBool,
    collector: &mut Collector,
) -> Result<(), TournamentError> {
    let (mut failed, queue) = (None, collector.queue);
    let quits = || interrupt.load(Ordering::Relaxed);
    let mut hand_in = |message| match collector.take(message).and_then(|_| collector.store_if_time()) {
        Ok(()) => !collector.is_done(),
        Err(error) => {
            failed.get_or_insert(error);
            false
        }
    };
    work(arena, queue, &quits, &mut hand_in);
    failed.map_or(Ok(()), Err)?;
    collector.store()
}

/// Plays on several threads, and stores blocks on this one.
fn play_on_threads<G: Listed>(
    arena: &Arena<G>,
    threads: usize,
    interrupt: &AtomicBool,
    collector: &mut Collector,
) -> Result<(), TournamentError> {
    let stop = AtomicBool::new(false);
    let (sender, receiver) = sync_channel::<FromWorker>(threads * 2);
    let queue = collector.queue;
    thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, stop) = (sender.clone(), &stop);
            scope.spawn(move || {
                let quits = || stop.load(Ordering::Relaxed) || interrupt.load(Ordering::Relaxed);
                work(arena, queue, &quits, &mut |message| sender.send(message).is_ok());
            });
        }
        drop(sender);
        // Dropped here, whatever happens: workers that wait to hand in their results must not wait for ever.
        let receiver = receiver;
        // Nor for blocks that nobody hands in any more, if whoever watches panics.
        let stopping = Stopping { stop: &stop, queue };
        let mut collect = || {
            while !collector.is_done() {
                match receiver.recv_timeout(STORE_EVERY) {
                    Ok(message) => collector.take(message)?,
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                collector.store_if_time()?;
            }
            collector.store()
        };
        let collected = collect();
        drop(stopping);
        // What they say at the end still counts.
        let late: Vec<Closing> = receiver.iter().flat_map(FromWorker::into_closings).collect();
        collected?;
        Ok(collector.store.close(&late)?)
    })
}

/// Stops all workers when it is dropped.
struct Stopping<'a> {
    stop: &'a AtomicBool,
    queue: &'a Queue,
}

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.queue.moved.notify_all();
    }
}

impl FromWorker {
    fn into_closings(self) -> Vec<Closing> {
        match self {
            FromWorker::Closed(closings) => closings,
            FromWorker::Blocks(_) | FromWorker::Failed(_) => Vec::new(),
        }
    }
}

/// The number of shards that each thread may be ahead of the store: one slow match must not keep all others out of the store.
const AHEAD: u64 = 4;

/// The blocks that no worker has taken yet, shard by shard.
struct Queue {
    next: AtomicU64,
    /// The first block to hand in: earlier ones are stored already.
    first: u32,
    end: u32,
    pace: Pace,
    /// The number of blocks that may be played before more are ready to be stored.
    ahead: u64,
    begun: Instant,
    /// How long after the previous block each block begins.
    beat: Duration,
    /// The first block that is not ready to be stored.
    open: Mutex<u32>,
    moved: Condvar,
}

impl Queue {
    fn new(blocks: Range<u32>, stage: u32, pace: Pace, threads: usize, beat: Duration) -> Self {
        let Range { start: first, end } = blocks;
        // Nobody waits for blocks of built-in bots that are still to come.
        let alone = !beat.is_zero() && pace.is_fast;
        let pace = if alone { Pace { shard: 1, at_once: 1, ..pace } } else { pace };
        // Shards are counted from where the stage began: entries may have left since the one before.
        let done = if pace.remembers { (first - stage) % pace.shard } else { 0 };
        Queue {
            next: AtomicU64::new((first - done).into()),
            first,
            end,
            pace,
            begun: Instant::now(),
            beat,
            ahead: AHEAD * threads as u64 * u64::from(pace.shard),
            open: Mutex::new(first),
            moved: Condvar::new(),
        }
    }

    /// Takes a shard, once the others have come near it. Returns `None` if there are no more, or if playing must stop.
    fn take(&self, quits: &dyn Fn() -> bool) -> Option<Range<u32>> {
        let shard = u64::from(self.pace.shard);
        let from = self.next.fetch_add(shard, Ordering::Relaxed);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while from >= u64::from(*open) + self.ahead && from < self.end.into() && !quits() {
            // An interrupt wakes nobody, so look for it now and then.
            let waited = self.moved.wait_timeout(open, STORE_EVERY);
            open = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        // Both are at most `end`.
        let range = from.min(self.end.into()) as u32..(from + shard).min(self.end.into()) as u32;
        (!range.is_empty() && !quits()).then_some(range)
    }

    /// Waits until it is time for a block, or nobody is to go on.
    fn wait_for(&self, block: u32, quits: &dyn Fn() -> bool) {
        let due = self.begun + self.beat * block.saturating_sub(self.first);
        while !self.beat.is_zero() && !quits() {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            // An interrupt wakes nobody, so look for it now and then.
            drop(self.moved.wait_timeout(open, left.min(STORE_EVERY)));
        }
    }

    /// Says that blocks before this one are ready to be stored.
    fn move_on(&self, block: u32) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = block;
        self.moved.notify_all();
    }
}

/// Runs one worker: takes shards of blocks until there are no more. `hand_in` returns whether to go on.
fn work<G: Listed>(
    arena: &Arena<G>,
    queue: &Queue,
    quits: &(dyn Fn() -> bool + Sync),
    hand_in: &mut dyn FnMut(FromWorker) -> bool,
) {
    let mut crew = match Crew::new(arena) {
        Ok(crew) => crew,
        Err(error) => {
            hand_in(FromWorker::Failed(error));
            return;
        }
    };
    while let Some(shard) = queue.take(quits) {
        match play_shard(&mut crew, queue, shard, quits, hand_in) {
            Ok(true) => {}
            Ok(false) => break,
            // A model that was not asked any more, since somebody wants to stop.
            Err(TournamentError::Run(RunError::Arena(_))) if quits() => break,
            Err(error) => {
                hand_in(FromWorker::Failed(error));
                return;
            }
        }
    }
    hand_in(FromWorker::Closed(crew.close()));
}

/// Plays a shard and hands in its blocks. Returns whether to go on.
fn play_shard<G: Listed>(
    crew: &mut Crew<G>,
    queue: &Queue,
    shard: Range<u32>,
    quits: &(dyn Fn() -> bool + Sync),
    hand_in: &mut dyn FnMut(FromWorker) -> bool,
) -> Result<bool, TournamentError> {
    let closings = crew.begin_shard()?;
    if !closings.is_empty() && !hand_in(FromWorker::Closed(closings)) {
        return Ok(false);
    }
    let mut blocks = Vec::with_capacity(queue.pace.at_once as usize);
    let end = shard.end;
    for block in shard {
        queue.wait_for(block, quits);
        let result = match queue.pace.matches {
            1 => crew.play_block(block, quits)?,
            at_once => crew.play_at_once(block, at_once, quits)?,
        };
        let (interrupted, last) = (result.is_none(), block + 1 == end);
        blocks.extend(result.filter(|_| block >= queue.first));
        let full = blocks.len() >= queue.pace.at_once as usize || last || interrupted;
        if full && !blocks.is_empty() && !hand_in(FromWorker::Blocks(mem::take(&mut blocks))) {
            return Ok(false);
        }
        if interrupted {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Puts finished blocks in order, and stores them once no block before them is missing. `judge` gets each block in order. If the
/// tournament stops there, it returns why.
struct Collector<'a> {
    store: &'a mut Store,
    judge: &'a mut dyn FnMut(&BlockResult) -> Option<Stop>,
    queue: &'a Queue,
    /// Whether each block is stored separately.
    apart: bool,
    watch: &'a mut dyn FnMut(Update),
    /// Blocks that were played together, by the first of them.
    waiting: BTreeMap<u32, Vec<BlockResult>>,
    ready: Vec<BlockResult>,
    /// The first block that is not ready.
    next: u32,
    /// Matches stored in this run.
    matches: u64,
    stored_at: Instant,
    early: Option<Stop>,
}

impl<'a> Collector<'a> {
    fn new(
        store: &'a mut Store,
        judge: &'a mut dyn FnMut(&BlockResult) -> Option<Stop>,
        queue: &'a Queue,
        apart: bool,
        watch: &'a mut dyn FnMut(Update),
    ) -> Self {
        Collector {
            store,
            judge,
            queue,
            apart,
            watch,
            waiting: BTreeMap::new(),
            ready: Vec::new(),
            next: queue.first,
            matches: 0,
            stored_at: Instant::now(),
            early: None,
        }
    }

    /// Whether the last block that counts has come.
    fn is_done(&self) -> bool {
        self.early.is_some()
    }

    /// Takes a message from a worker.
    fn take(&mut self, message: FromWorker) -> Result<(), TournamentError> {
        match message {
            FromWorker::Blocks(blocks) => {
                let first = blocks.first().map(|block| block.block);
                self.waiting.extend(first.map(|first| (first, blocks)));
            }
            FromWorker::Closed(closings) => self.store.close(&closings)?,
            FromWorker::Failed(error) => {
                // What was played still counts.
                self.store.append(&self.ready)?;
                return Err(error);
            }
        }
        while let (Some(blocks), None) = (self.waiting.remove(&self.next), self.early) {
            for block in blocks {
                self.early = (self.judge)(&block);
                self.ready.push(block);
                self.next += 1;
                if self.early.is_some() {
                    break;
                }
            }
        }
        self.queue.move_on(self.next);
        Ok(())
    }

    fn store_if_time(&mut self) -> Result<(), TournamentError> {
        if self.stored_at.elapsed() >= STORE_EVERY { self.store() } else { Ok(()) }
    }

    /// Stores the blocks that are ready.
    fn store(&mut self) -> Result<(), TournamentError> {
        if self.ready.is_empty() {
            return Ok(());
        }
        let at_once = if self.apart { 1 } else { self.ready.len() };
        self.ready.chunks(at_once).try_for_each(|blocks| self.store.append(blocks))?;
        self.matches += self.ready.iter().map(|block| u64::from(block.matches)).sum::<u64>();
        self.ready.clear();
        self.stored_at = Instant::now();
        (self.watch)(Update { blocks: self.next, matches: self.matches, store: self.store });
        Ok(())
    }
}
