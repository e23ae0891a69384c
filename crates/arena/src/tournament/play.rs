//! Plays a tournament on several threads. Results count in the order of the schedule, not of finishing, so they are
//! the same on one thread and on many, and after a kill.

use super::{
    BlockResult, Closing, Plan, Schedule, ScheduleError, Store, StoreError,
    crew::{Arena, Crew},
    formats, results,
};
use crate::{
    entry::EntrySpec,
    lineup::{LineupError, Terms},
    process::Launcher,
    run::RunError,
    stats::{ALPHA, Neighbours},
};
use necrodome_rules::{catalog::Listed, game::Outcome, names::Names, with_game};
use std::{
    collections::BTreeMap,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// All blocks are played.
    Done,
    /// The neighbours in the standings are told apart.
    Decided,
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
    /// The worker is done and has closed its players.
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
    let mut rule = StopRule::new(plan, &schedule, store)?;
    if rule.is_decided() {
        return Ok(Stop::Decided);
    }
    let first = store.blocks()?;
    let queue = Queue { next: AtomicU32::new(first), end: plan.blocks, chunk: Crew::<G>::chunk(entries) };
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
        let collected = collect(&receiver, store, &mut rule, first, watch);
        stop.store(true, Ordering::Relaxed);
        // What they say at the end still counts.
        let late: Vec<Closing> = receiver.iter().flat_map(FromWorker::into_closings).collect();
        collected?;
        Ok::<_, TournamentError>(store.close(&late)?)
    })?;
    Ok(if rule.is_decided() {
        Stop::Decided
    } else if store.blocks()? >= plan.blocks {
        Stop::Done
    } else {
        Stop::Interrupted
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

/// The blocks that nobody has taken yet.
struct Queue {
    next: AtomicU32,
    end: u32,
    chunk: u32,
}

impl Queue {
    /// Takes some blocks; none are left when it is empty.
    fn take(&self) -> Range<u32> {
        let from = self.next.fetch_add(self.chunk, Ordering::Relaxed).min(self.end);
        from..from.saturating_add(self.chunk).min(self.end)
    }
}

/// One worker: takes chunks of blocks until there are no more.
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
    while !quits() {
        let mut blocks = Vec::with_capacity(queue.chunk as usize);
        for block in queue.take() {
            match crew.play_block(block, quits) {
                Ok(Some(result)) => blocks.push(result),
                Ok(None) => break,
                Err(error) => return drop(sender.send(FromWorker::Failed(error))),
            }
        }
        if blocks.is_empty() || sender.send(FromWorker::Blocks(blocks)).is_err() {
            break;
        }
    }
    let _ = sender.send(FromWorker::Closed(crew.close()));
}

/// Puts finished blocks in order and stores them as they become contiguous.
fn collect(
    receiver: &Receiver<FromWorker>,
    store: &mut Store,
    rule: &mut StopRule,
    first: u32,
    watch: &mut dyn FnMut(Update),
) -> Result<(), TournamentError> {
    // Blocks that were played together, by the first of them.
    let mut waiting: BTreeMap<u32, Vec<BlockResult>> = BTreeMap::new();
    let mut ready: Vec<BlockResult> = Vec::new();
    let mut next = first;
    let mut matches = 0;
    let mut stored_at = Instant::now();
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
        while let (Some(blocks), false) = (waiting.remove(&next), rule.is_decided()) {
            for block in blocks {
                if rule.is_decided() {
                    break;
                }
                rule.hear(&block);
                ready.push(block);
                next += 1;
            }
        }
        let done = ended || rule.is_decided();
        if !ready.is_empty() && (done || stored_at.elapsed() >= STORE_EVERY) {
            store.append(&ready)?;
            matches += ready.iter().map(|block| block.matches.len() as u64).sum::<u64>();
            ready.clear();
            stored_at = Instant::now();
            watch(Update { blocks: next, matches, store });
        }
        if done {
            return Ok(());
        }
    }
}

/// Says when the neighbours are told apart, if the plan stops there.
struct StopRule<'a> {
    neighbours: Option<Neighbours>,
    schedule: &'a Schedule,
}

impl<'a> StopRule<'a> {
    fn new(plan: &Plan, schedule: &'a Schedule, store: &Store) -> Result<Self, StoreError> {
        let neighbours = plan.until_decided.then(|| {
            let measure = formats::rules(plan.format).ranked_by.measure();
            Neighbours::new(plan.entries.len(), ALPHA, measure)
        });
        let mut rule = StopRule { neighbours, schedule };
        if rule.neighbours.is_some() {
            let damaged = || StoreError::Damaged("a block does not fit the plan".into());
            let blocks = results::unpack(&store.results()?, schedule.seatings()).ok_or_else(damaged)?;
            blocks.iter().for_each(|matches| rule.push(matches));
        }
        Ok(rule)
    }

    fn hear(&mut self, block: &BlockResult) {
        self.push(&block.matches);
    }

    fn push(&mut self, matches: &[Outcome]) {
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.push(&[results::to_stats(matches, self.schedule.seatings())]);
        }
    }

    fn is_decided(&self) -> bool {
        self.neighbours.as_ref().is_some_and(Neighbours::decided)
    }
}
