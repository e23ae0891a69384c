//! Plays a tournament on several threads. Results count in the order of the schedule, not of finishing, so they are
//! the same on one thread and on many, and after a kill.

use super::{
    BlockResult, Closing, Plan, PlanError, Schedule, ScheduleError, Store, StoreError, Sums,
    crew::{Arena, Crew, Pace},
    results,
};
use crate::{
    entry::{EntrySpec, files_of},
    lineup::{LineupError, Terms},
    process::Launcher,
    run::RunError,
};
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
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

/// How long finished blocks may wait to be stored.
const STORE_EVERY: Duration = Duration::from_millis(250);

/// Why a tournament cannot be played on.
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
    /// The plan is not one of this arena.
    #[error("the plan cannot be played: {0}")]
    Plan(String),
    /// The names cannot sit at one table.
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
    /// Those who are not told apart differ by no more than the margin.
    Close,
    /// Somebody wanted it to.
    Interrupted,
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
    /// It cannot go on.
    Failed(TournamentError),
}

/// Plays what is missing in `store`. `watch` hears of every commit; `interrupt` stops it after the running matches.
/// The entries are the members of the plan, in its order, and `launcher` starts their processes.
///
/// It is not generic, so that all games are compiled here, once and for speed, and not in every crate that plays them.
pub fn run(
    plan: &Plan,
    entries: &[EntrySpec],
    launcher: &Launcher,
    store: &mut Store,
    threads: usize,
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
        let stop = run_game::<G>(plan, entries, &terms, store, threads, interrupt, watch)?;
        if stop != Stop::Interrupted {
            store.reveal(plan)?;
        }
        Ok(stop)
    })
}

fn run_game<G: Listed>(
    plan: &Plan,
    entries: &[EntrySpec],
    terms: &Terms<G::Rules>,
    store: &mut Store,
    threads: usize,
    interrupt: &AtomicBool,
    watch: &mut dyn FnMut(Update),
) -> Result<Stop, TournamentError> {
    let schedule = Schedule::new(plan, G::SEATS)?;
    let names = Names::new(plan.entries.iter().map(|entry| &entry.name))?;
    let mut members = vec![None; plan.entries.len()];
    plan.members().zip(entries).for_each(|(member, entry)| members[member] = Some(entry));
    let dice = store.dice(plan)?;
    let arena = Arena::<G> {
        planned: &plan.entries,
        entries: &members,
        names: &names,
        terms,
        schedule: &schedule,
        dice: &dice,
    };
    // A mistake in the line-up shows before the first thread starts.
    Crew::new(&arena)?;
    let mut sums = Sums::new(plan, &schedule);
    // Also shows whether the store is sound, before anything is added to it.
    sums.catch_up(&schedule, store)?;
    if let Some(stop) = sums.stop(plan) {
        return Ok(stop);
    }
    let first = store.blocks()?;
    let pace = Crew::<G>::pace(entries, &schedule, schedule.end().saturating_sub(first), threads);
    let queue = Queue::new(first, &schedule, pace, threads);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = sync_channel::<FromWorker>(threads * 2);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, arena, queue, stop) = (sender.clone(), &arena, &queue, &stop);
            scope.spawn(move || {
                let quits = || stop.load(Ordering::Relaxed) || interrupt.load(Ordering::Relaxed);
                work(arena, queue, &quits, &sender);
            });
        }
        drop(sender);
        // Dropped here, whatever happens: workers that wait to hand in their results must not wait for ever.
        let receiver = receiver;
        let mut judge = |block: &BlockResult| {
            if !plan.stops_early() {
                return None;
            }
            let results =
                results::blocks(&block.packed, &schedule, block.block).next().flatten().unwrap_or_default();
            sums.add(&schedule, &results, &block.luck);
            sums.stop(plan)
        };
        let collected = collect(&receiver, store, &mut judge, &queue, watch);
        stop.store(true, Ordering::Relaxed);
        queue.moved.notify_all();
        // What they say at the end still counts.
        let late: Vec<Closing> = receiver.iter().flat_map(FromWorker::into_closings).collect();
        let early = collected?;
        store.close(&late)?;
        Ok(match early {
            Some(stop) => stop,
            None if store.blocks()? >= schedule.end() => Stop::Done,
            None => Stop::Interrupted,
        })
    })
}

impl FromWorker {
    fn into_closings(self) -> Vec<Closing> {
        match self {
            FromWorker::Closed(closings) => closings,
            FromWorker::Blocks(_) | FromWorker::Failed(_) => Vec::new(),
        }
    }
}

/// Shards that each thread may be ahead of what is stored: one slow match must not keep all others from the store.
const AHEAD: u64 = 4;

/// The blocks that nobody has taken yet, shard by shard.
struct Queue {
    next: AtomicU64,
    /// Blocks before this one are stored, and not handed in again.
    first: u32,
    end: u32,
    pace: Pace,
    /// Blocks that may be played before more are ready to be stored.
    ahead: u64,
    /// The first block that is not ready to be stored.
    open: Mutex<u32>,
    moved: Condvar,
}

impl Queue {
    fn new(first: u32, schedule: &Schedule, pace: Pace, threads: usize) -> Self {
        // Shards are counted from where the stage began: entries may have left since the one before.
        let done = if pace.remembers { (first - schedule.stage()) % pace.shard } else { 0 };
        Queue {
            next: AtomicU64::new((first - done).into()),
            first,
            end: schedule.end(),
            pace,
            ahead: AHEAD * threads as u64 * u64::from(pace.shard),
            open: Mutex::new(first),
            moved: Condvar::new(),
        }
    }

    /// Takes a shard, as soon as the others have come near it; none if there are no more, or nobody is to go on.
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

    /// Blocks before this one are ready to be stored.
    fn move_on(&self, block: u32) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = block;
        self.moved.notify_all();
    }
}

/// One worker: takes shards of blocks until there are no more.
fn work<G: Listed>(
    arena: &Arena<G>,
    queue: &Queue,
    quits: &dyn Fn() -> bool,
    sender: &SyncSender<FromWorker>,
) {
    let mut crew = match Crew::new(arena) {
        Ok(crew) => crew,
        Err(error) => return drop(sender.send(FromWorker::Failed(error))),
    };
    while let Some(shard) = queue.take(quits) {
        match play_shard(&mut crew, queue, shard, quits, sender) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return drop(sender.send(FromWorker::Failed(error))),
        }
    }
    let _ = sender.send(FromWorker::Closed(crew.close()));
}

/// Plays a shard and hands in its blocks; false if it is not to go on.
fn play_shard<G: Listed>(
    crew: &mut Crew<G>,
    queue: &Queue,
    shard: Range<u32>,
    quits: &dyn Fn() -> bool,
    sender: &SyncSender<FromWorker>,
) -> Result<bool, TournamentError> {
    let closings = crew.begin_shard()?;
    if !closings.is_empty() && sender.send(FromWorker::Closed(closings)).is_err() {
        return Ok(false);
    }
    let mut blocks = Vec::with_capacity(queue.pace.at_once as usize);
    let end = shard.end;
    for block in shard {
        let result = crew.play_block(block, quits)?;
        let (interrupted, last) = (result.is_none(), block + 1 == end);
        blocks.extend(result.filter(|_| block >= queue.first));
        let full = blocks.len() >= queue.pace.at_once as usize || last || interrupted;
        if full && !blocks.is_empty() && sender.send(FromWorker::Blocks(mem::take(&mut blocks))).is_err() {
            return Ok(false);
        }
        if interrupted {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Puts finished blocks in order and stores them as they become contiguous. `judge` hears each in order, and says why it is the
/// last one, if it is.
fn collect(
    receiver: &Receiver<FromWorker>,
    store: &mut Store,
    judge: &mut dyn FnMut(&BlockResult) -> Option<Stop>,
    queue: &Queue,
    watch: &mut dyn FnMut(Update),
) -> Result<Option<Stop>, TournamentError> {
    // Blocks that were played together, by the first of them.
    let mut waiting: BTreeMap<u32, Vec<BlockResult>> = BTreeMap::new();
    let mut ready: Vec<BlockResult> = Vec::new();
    let mut next = queue.first;
    let mut matches = 0;
    let mut stored_at = Instant::now();
    let mut early = None;
    loop {
        let ended = match receiver.recv_timeout(STORE_EVERY) {
            Ok(FromWorker::Blocks(blocks)) => {
                waiting.extend(blocks.first().map(|block| block.block).map(|first| (first, blocks)));
                false
            }
            Ok(FromWorker::Closed(closings)) => {
                store.close(&closings)?;
                false
            }
            Ok(FromWorker::Failed(error)) => {
                // What was played still counts.
                store.append(&ready)?;
                return Err(error);
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => true,
        };
        while let (Some(blocks), None) = (waiting.remove(&next), early) {
            for block in blocks {
                early = judge(&block);
                ready.push(block);
                next += 1;
                if early.is_some() {
                    break;
                }
            }
        }
        queue.move_on(next);
        let done = ended || early.is_some();
        if !ready.is_empty() && (done || stored_at.elapsed() >= STORE_EVERY) {
            store.append(&ready)?;
            matches += ready.iter().map(|block| u64::from(block.matches)).sum::<u64>();
            ready.clear();
            stored_at = Instant::now();
            watch(Update { blocks: next, matches, store });
        }
        if done {
            return Ok(early);
        }
    }
}
