//! Plays a tournament on several threads. Results count in the order of the schedule, not of finishing, so they are
//! the same on one thread and on many, and after a kill.

use super::{
    BlockResult, Closing, Plan, Schedule, ScheduleError, Store, StoreError, Sums,
    crew::{Arena, Crew, Pace},
};
use crate::{
    entry::EntrySpec,
    lineup::{LineupError, Terms},
    process::Launcher,
    run::RunError,
};
use necrodome_rules::{catalog::Listed, names::Names, with_game};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    mem,
    ops::Range,
    sync::{
        atomic::{AtomicBool, AtomicU32, Ordering},
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
    /// The plan is not one of this arena.
    #[error("the plan cannot be played: {0}")]
    Plan(String),
    /// The names cannot sit at one table.
    #[error(transparent)]
    Setup(#[from] necrodome_rules::names::SetupError),
}

/// Why playing has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
/// The entries are those of the plan, and `launcher` starts their processes.
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
        let terms = Terms { launcher: launcher.clone(), limits: plan.limits, rules, seats: plan.seats };
        run_game::<G>(plan, entries, &terms, store, threads, interrupt, watch)
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
    let arena = Arena::<G> { entries, names: &names, terms, schedule: &schedule };
    // A mistake in the line-up shows before the first thread starts.
    Crew::new(&arena)?;
    let mut sums = Sums::new(plan);
    if plan.stops_early() {
        sums.catch_up(&schedule, store)?;
        if let Some(stop) = sums.stop(plan) {
            return Ok(stop);
        }
    }
    let first = store.blocks()?;
    let queue = Queue::new(first, plan.blocks, Crew::<G>::pace(entries, &schedule));
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
            sums.add(&schedule, &block.matches, &block.luck);
            sums.stop(plan)
        };
        let collected = collect(&receiver, store, &mut judge, first, watch);
        stop.store(true, Ordering::Relaxed);
        // What they say at the end still counts.
        let late: Vec<Closing> = receiver.iter().flat_map(FromWorker::into_closings).collect();
        let early = collected?;
        store.close(&late)?;
        Ok(match early {
            Some(stop) => stop,
            None if store.blocks()? >= plan.blocks => Stop::Done,
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

/// The blocks that nobody has taken yet, shard by shard.
struct Queue {
    next: AtomicU32,
    /// Blocks before this one are stored, and not handed in again.
    first: u32,
    end: u32,
    pace: Pace,
}

impl Queue {
    fn new(first: u32, end: u32, pace: Pace) -> Self {
        let done = if pace.remembers { first % pace.shard } else { 0 };
        Queue { next: AtomicU32::new(first - done), first, end, pace }
    }

    /// Takes a shard; none are left when it is empty.
    fn take(&self) -> Range<u32> {
        let from = self.next.fetch_add(self.pace.shard, Ordering::Relaxed).min(self.end);
        from..from.saturating_add(self.pace.shard).min(self.end)
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
    loop {
        let shard = queue.take();
        if quits() || shard.is_empty() {
            break;
        }
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
    let closings = crew.begin_shard();
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
    first: u32,
    watch: &mut dyn FnMut(Update),
) -> Result<Option<Stop>, TournamentError> {
    // Blocks that were played together, by the first of them.
    let mut waiting: BTreeMap<u32, Vec<BlockResult>> = BTreeMap::new();
    let mut ready: Vec<BlockResult> = Vec::new();
    let mut next = first;
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
            Ok(FromWorker::Failed(error)) => return Err(error),
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
        let done = ended || early.is_some();
        if !ready.is_empty() && (done || stored_at.elapsed() >= STORE_EVERY) {
            store.append(&ready)?;
            matches += ready.iter().map(|block| block.matches.len() as u64).sum::<u64>();
            ready.clear();
            stored_at = Instant::now();
            watch(Update { blocks: next, matches, store });
        }
        if done {
            return Ok(early);
        }
    }
}
