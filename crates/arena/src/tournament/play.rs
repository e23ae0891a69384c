//! Plays a tournament on several threads. Results count in the order of the schedule, whoever finishes first, so they are
//! the same on one thread and on many, and after a kill.

use super::{
    BlockResult, Closing, Detail, MatchResult, Plan, Schedule, ScheduleError, Store, StoreError, results,
};
use crate::{
    entry::{EntryKind, EntrySpec},
    fault::SeatFault,
    lineup::{LineupError, Maker, Table, player},
    player::{Effort, Player},
    process::Launcher,
    run::{RunError, run_match},
    stats::{ALPHA, Neighbours},
};
use necrodome_rules::{
    bot::Bot,
    catalog::GameId,
    chance::Seeded,
    game::{Game, Log, Logged, Rejected, Seat, Silent},
    names::Names,
    play, with_game,
};
use necrodome_solve::{Meter, Solution, Solvable};
use std::{
    collections::BTreeMap,
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

/// What is known while it goes on: only what is stored.
#[derive(Debug, Clone, Copy)]
pub struct Update<'a> {
    /// Blocks stored.
    pub blocks: u32,
    /// Matches stored in this run.
    pub matches: u64,
    /// The store.
    pub store: &'a Store,
}

/// What a worker says when it has something to say.
enum Message {
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
    let unknown = || TournamentError::Plan(format!("there is no game {:?}", plan.game));
    let id = GameId::ALL.into_iter().find(|id| id.as_str() == plan.game).ok_or_else(unknown)?;
    with_game!(id, G => {
        let rules: <G as Game>::Rules = serde_json::from_value(plan.options.clone())
            .map_err(|error| TournamentError::Plan(format!("its options are not those of {id}: {error}")))?;
        let table = Table { launcher: launcher.clone(), limits: plan.limits, rules, seats: plan.seats };
        run_game::<G>(plan, entries, &table, store, threads, interrupt, watch)
    })
}

fn run_game<G: Solvable>(
    plan: &Plan,
    entries: &[EntrySpec],
    table: &Table<G::Rules>,
    store: &mut Store,
    threads: usize,
    interrupt: &AtomicBool,
    watch: &mut dyn FnMut(Update),
) -> Result<Stop, TournamentError>
where
    G::Rules: Sync,
{
    let schedule = Schedule::new(plan, G::SEATS)?;
    let names = Names::new(plan.entries.iter().map(|entry| &entry.name))?;
    // A mistake in the line-up shows before the first thread starts.
    Crew::<G>::new(entries, &names, table, &schedule)?;
    let mut judge = Judge::new(plan, &schedule, store)?;
    if judge.is_decided() {
        return Ok(Stop::Decided);
    }
    let first = store.blocks()?;
    let next = AtomicU32::new(first);
    let stop = AtomicBool::new(false);
    let chunk = Crew::<G>::chunk(entries);
    let (sender, receiver) = sync_channel::<Message>(threads * 2);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, schedule, names, next, stop) = (sender.clone(), &schedule, &names, &next, &stop);
            let limit = plan.blocks;
            scope.spawn(move || {
                let quits = || stop.load(Ordering::Relaxed) || interrupt.load(Ordering::Relaxed);
                work::<G>(entries, names, table, schedule, next, limit, chunk, &quits, &sender);
            });
        }
        drop(sender);
        // Dropped here, whatever happens: workers that wait to hand in their results must not wait for ever.
        let receiver = receiver;
        let collected = collect(&receiver, store, &mut judge, first, watch);
        stop.store(true, Ordering::Relaxed);
        // What they say at the end still counts.
        let late: Vec<Closing> = receiver.iter().flat_map(Message::into_closings).collect();
        collected?;
        Ok::<_, TournamentError>(store.close(&late)?)
    })?;
    Ok(if judge.is_decided() {
        Stop::Decided
    } else if store.blocks()? >= plan.blocks {
        Stop::Done
    } else {
        Stop::Interrupted
    })
}

impl Message {
    fn into_closings(self) -> Vec<Closing> {
        match self {
            Message::Closed(closings) => closings,
            Message::Blocks(_) | Message::Failed(_) => Vec::new(),
        }
    }
}

/// One worker: takes chunks of blocks until there are no more.
#[allow(clippy::too_many_arguments)] // They are what a thread shares with the others.
fn work<G: Solvable>(
    entries: &[EntrySpec],
    names: &Names,
    table: &Table<G::Rules>,
    schedule: &Schedule,
    next: &AtomicU32,
    limit: u32,
    chunk: u32,
    quits: &dyn Fn() -> bool,
    sender: &SyncSender<Message>,
) {
    let mut crew = match Crew::<G>::new(entries, names, table, schedule) {
        Ok(crew) => crew,
        Err(error) => return drop(sender.send(Message::Failed(error))),
    };
    while !quits() {
        let from = next.fetch_add(chunk, Ordering::Relaxed);
        let mut blocks = Vec::new();
        for block in (from..from.saturating_add(chunk)).take_while(|&block| block < limit) {
            match crew.play_block(block, quits) {
                Ok(Some(result)) => blocks.push(result),
                Ok(None) => break,
                Err(error) => return drop(sender.send(Message::Failed(error))),
            }
        }
        if blocks.is_empty() || sender.send(Message::Blocks(blocks)).is_err() {
            break;
        }
    }
    let _ = sender.send(Message::Closed(crew.close()));
}

/// Puts finished blocks in order and stores them as they become contiguous.
fn collect(
    receiver: &Receiver<Message>,
    store: &mut Store,
    judge: &mut Judge,
    first: u32,
    watch: &mut dyn FnMut(Update),
) -> Result<(), TournamentError> {
    let mut waiting: BTreeMap<u32, BlockResult> = BTreeMap::new();
    let mut ready: Vec<BlockResult> = Vec::new();
    let mut next = first;
    let mut matches = 0;
    let mut stored_at = Instant::now();
    loop {
        let ended = match receiver.recv_timeout(STORE_EVERY) {
            Ok(Message::Blocks(blocks)) => {
                waiting.extend(blocks.into_iter().map(|block| (block.block, block)));
                false
            }
            Ok(Message::Closed(closings)) => {
                store.close(&closings)?;
                false
            }
            Ok(Message::Failed(error)) => return Err(error),
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => true,
        };
        while let (Some(block), false) = (waiting.remove(&next), judge.is_decided()) {
            judge.hear(&block);
            ready.push(block);
            next += 1;
        }
        let done = ended || judge.is_decided();
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

/// Says when the neighbours are told apart, if the plan wants to know.
struct Judge<'a> {
    neighbours: Option<Neighbours>,
    schedule: &'a Schedule,
}

impl<'a> Judge<'a> {
    fn new(plan: &Plan, schedule: &'a Schedule, store: &Store) -> Result<Self, StoreError> {
        let neighbours = plan.until_decided.then(|| Neighbours::new(plan.entries.len(), ALPHA));
        let mut judge = Judge { neighbours, schedule };
        if judge.neighbours.is_some() {
            let damaged = || StoreError::Damaged("a block does not fit the plan".into());
            let blocks = results::unpack(&store.results()?, schedule.seatings()).ok_or_else(damaged)?;
            blocks.iter().for_each(|matches| judge.push(matches));
        }
        Ok(judge)
    }

    fn hear(&mut self, block: &BlockResult) {
        self.push(&block.matches);
    }

    fn push(&mut self, matches: &[MatchResult]) {
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.push(&[results::to_stats(matches, self.schedule.seatings())]);
        }
    }

    fn is_decided(&self) -> bool {
        self.neighbours.as_ref().is_some_and(Neighbours::decided)
    }
}

/// Measures the luck of each match, where the game is solved.
type LuckMeter<G> = Option<<<G as Solvable>::Solution as Solution<G>>::Meter>;

/// The players of one thread.
enum Crew<'a, G: Solvable> {
    /// All are built-in bots: nothing is recorded, since the seed gives the match again.
    BuiltIn {
        makers: Vec<Maker<'a, G>>,
        memory: play::Memory<G>,
        meter: LuckMeter<G>,
        table: &'a Table<G::Rules>,
        schedule: &'a Schedule,
        names: Vec<Names>,
    },
    /// Some are processes or guests: faults and replays are kept.
    Mixed {
        entries: &'a [EntrySpec],
        players: Vec<Option<Box<dyn Player<G>>>>,
        meter: LuckMeter<G>,
        table: &'a Table<G::Rules>,
        schedule: &'a Schedule,
        names: Vec<Names>,
    },
}

impl<'a, G: Solvable> Crew<'a, G> {
    fn new(
        entries: &'a [EntrySpec],
        names: &'a Names,
        table: &'a Table<G::Rules>,
        schedule: &'a Schedule,
    ) -> Result<Self, TournamentError> {
        for (entry, name) in entries.iter().zip(names.iter()) {
            // Processes are started with their first match only.
            player::<G>(entry, name, table, Seeded::new(0, "trial", 0))?;
        }
        let maker = |entry: &'a EntrySpec| match &entry.kind {
            EntryKind::BuiltIn(spec) => Maker::find(spec, &table.rules).ok(),
            EntryKind::Program(_) | EntryKind::Guest(_) | EntryKind::Human => None,
        };
        let names = schedule.seatings().iter().map(|seating| seated(names, seating));
        let names = names.collect::<Result<Vec<Names>, _>>()?;
        let meter = G::solve(&table.rules, table.seats).ok().map(|solution| solution.meter());
        Ok(match entries.iter().map(maker).collect() {
            Some(makers) => {
                let memory = play::Memory::default();
                Crew::BuiltIn { makers, memory, meter, table, schedule, names }
            }
            None => {
                let players = entries.iter().map(|_| None).collect();
                Crew::Mixed { entries, players, meter, table, schedule, names }
            }
        })
    }

    /// Blocks that a worker takes at once: many of those that are played in no time.
    fn chunk(entries: &[EntrySpec]) -> u32 {
        let fast = entries.iter().all(|entry| matches!(entry.kind, EntryKind::BuiltIn(_)));
        if fast && G::ID != "last-bullet" { 64 } else { 1 }
    }

    /// Ends the processes politely. Gives what was left to say.
    fn close(self) -> Vec<Closing> {
        let Crew::Mixed { players, .. } = self else { return Vec::new() };
        let close = |(entry, player): (usize, Option<Box<dyn Player<G>>>)| {
            let (faults, log) = player?.close();
            (!faults.is_empty() || !log.is_empty()).then_some(Closing { entry, faults, log })
        };
        players.into_iter().enumerate().filter_map(close).collect()
    }

    /// Plays a block; none if it was interrupted.
    fn play_block(
        &mut self,
        block: u32,
        quits: &dyn Fn() -> bool,
    ) -> Result<Option<BlockResult>, TournamentError> {
        let schedule = match self {
            Crew::BuiltIn { schedule, .. } | Crew::Mixed { schedule, .. } => *schedule,
        };
        let seed = schedule.block_seed(block);
        let (matches, luck, details, efforts) = Default::default();
        let mut result = BlockResult { block, matches, luck, details, efforts };
        for (number, seating) in schedule.seatings().iter().enumerate() {
            if quits() {
                return Ok(None);
            }
            let finished = match self {
                Crew::BuiltIn { makers, memory, meter, table, names, .. } => {
                    play_built_ins(makers, memory, meter, table, &names[number], seating, seed)?
                }
                Crew::Mixed { entries, players, meter, table, names, .. } => {
                    let seed = schedule.match_seed(block, number);
                    let names = &names[number];
                    let (finished, faults, replay) =
                        play_mixed(entries, players, meter, table, names, seating, seed)?;
                    result.details.push(Detail { number: number as u32, faults, replay: Some(replay) });
                    finished
                }
            };
            let (Crew::BuiltIn { meter, .. } | Crew::Mixed { meter, .. }) = self;
            result.luck.extend(meter.as_ref().map(|meter| meter.luck() as f32));
            result.matches.push(finished);
        }
        if let Crew::Mixed { players, .. } = self {
            let effort = |player: &mut Option<Box<dyn Player<G>>>| {
                player.as_mut().map_or(Effort::default(), |player| player.take_effort())
            };
            result.efforts = players.iter_mut().map(effort).collect();
        }
        Ok(Some(result))
    }
}

/// The names of those who sit at a table.
fn seated(names: &Names, seating: &[usize]) -> Result<Names, TournamentError> {
    Ok(Names::new(seating.iter().map(|&entry| &names[Seat(entry as u16)]))?)
}

/// The randomness of a built-in bot: its own in each match, the same for its entry on every seat.
pub(super) fn own_chance(seed: u64, entry: usize) -> Seeded {
    Seeded::new(seed, "bot", entry as u64)
}

fn play_built_ins<G: Solvable>(
    makers: &[Maker<G>],
    memory: &mut play::Memory<G>,
    meter: &mut LuckMeter<G>,
    table: &Table<G::Rules>,
    names: &Names,
    seating: &[usize],
    seed: u64,
) -> Result<MatchResult, TournamentError> {
    let build = |&entry: &usize| makers[entry].build(own_chance(seed, entry));
    let mut bots = seating.iter().map(build).collect::<Result<Vec<Box<dyn Bot<G>>>, _>>()?;
    let mut chance = Seeded::new(seed, "match", 0);
    let outcome = match meter {
        Some(meter) => {
            meter.restart();
            let mut game = G::new(names, &table.rules, &mut chance, meter)?;
            play::play_with(memory, &mut game, &mut bots, &mut chance, meter)
        }
        None => {
            let mut game = G::new(names, &table.rules, &mut chance, &mut Silent)?;
            play::play_with(memory, &mut game, &mut bots, &mut chance, &mut Silent)
        }
    };
    let outcome = outcome.map_err(|why: Rejected<G::Illegal>| RunError::Referee(why.to_string()))?;
    Ok(MatchResult { places: outcome.places, scores: outcome.scores, turns: outcome.turns })
}

fn play_mixed<G: Solvable>(
    entries: &[EntrySpec],
    players: &mut [Option<Box<dyn Player<G>>>],
    meter: &mut LuckMeter<G>,
    table: &Table<G::Rules>,
    names: &Names,
    seating: &[usize],
    seed: u64,
) -> Result<(MatchResult, Vec<SeatFault>, Vec<u8>), TournamentError> {
    let mut sitting = Vec::with_capacity(seating.len());
    for (&entry, name) in seating.iter().zip(names.iter()) {
        let fresh = || player::<G>(&entries[entry], name, table, own_chance(seed, entry));
        // Processes and guests go on from match to match, built-in bots begin anew with each seed.
        let kept = players[entry].take().filter(|_| entries[entry].kind.remembers());
        sitting.push(kept.map_or_else(fresh, Ok)?);
    }
    if let Some(meter) = meter {
        meter.restart();
    }
    let finished = run_match(names, &table.rules, seed, &mut sitting, |_: &G, log| {
        if let Some(meter) = meter {
            log.iter().for_each(|Logged { audience, event }| meter.record(*audience, event.clone()));
        }
    });
    for (&entry, player) in seating.iter().zip(sitting) {
        players[entry] = Some(player);
    }
    let finished = finished?;
    let replay = finished.recording.pack()?;
    let outcome = finished.outcome;
    let result = MatchResult { places: outcome.places, scores: outcome.scores, turns: outcome.turns };
    Ok((result, finished.faults, replay))
}
