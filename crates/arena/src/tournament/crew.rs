//! The players of one thread, who play one block after another.

use super::{
    BlockResult, Closing, Detail, PlannedEntry, Schedule, StoreError, TournamentDice, TournamentError,
};
use crate::{
    entry::{EntryKind, EntrySpec},
    lineup::{LineupError, Maker, Terms, player},
    player::{Effort, Player, Priced},
    run::{RunError, run_match, run_unrecorded},
};
use necrodome_rules::{
    bot::Regular,
    catalog::Listed,
    chance::{Seed, Seeded},
    game::{Audience, Log, Logged, Outcome, Rejected, Silent},
    names::Names,
    play,
};
use necrodome_solve::{Meter, Solution, solve};
use std::{
    mem,
    ops::Range,
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// The state that all threads of a tournament share.
pub(super) struct Arena<'a, G: Listed> {
    pub planned: &'a [PlannedEntry],
    /// The entries by their number in the plan; `None` for those that have left.
    pub entries: &'a [Option<&'a EntrySpec>],
    pub names: &'a Names,
    pub terms: &'a Terms<G::Rules>,
    pub schedule: &'a Schedule,
    pub dice: &'a TournamentDice,
    /// Whether to keep the replays of matches with processes or guests.
    pub keeps_replays: bool,
}

/// The players of one thread.
pub(super) struct Crew<'a, G: Listed> {
    arena: &'a Arena<'a, G>,
    /// The names at the table, by the number of the match in the block.
    names: Vec<Names>,
    /// The first block in which they sit like this.
    named_at: Option<u32>,
    players: Players<G>,
    /// Whether programs are started anew for each match.
    forgets: bool,
    /// What programs that have ended had left to say.
    closings: Vec<Closing>,
    /// Measures the luck of each match, if the game is solved.
    meter: Option<Box<dyn Meter<G::Event>>>,
    /// Prices every decision, if the game is solved and language models take part.
    solution: Option<Arc<dyn Solution<G>>>,
    /// The events of a match, for the meter.
    events: Events<G::Event>,
}

/// All events of a match, whatever their audience.
struct Events<E>(Vec<E>);

impl<E> Log<E> for Events<E> {
    #[inline]
    fn record(&mut self, _: Audience, event: E) {
        self.0.push(event);
    }

    #[inline]
    fn asks_for_audience(&self) -> bool {
        false
    }
}

enum Players<G: Listed> {
    /// All are built-in bots: nothing is recorded, since the seed is enough to play the match again.
    BuiltIn {
        waiting: Vec<Option<Box<dyn Regular<G>>>>,
        sitting: Vec<Box<dyn Regular<G>>>,
        memory: play::Memory<G>,
    },
    /// Some are processes, guests or language models: faults and replays are recorded.
    Mixed(Vec<Option<Box<dyn Player<G>>>>),
}

/// The most blocks that a thread takes at once if programs take part.
const MOST_AT_ONCE: u32 = 64;
/// The rough number of matches of built-in bots that are handed in together: waking another thread takes as long as some matches.
const MATCHES_AT_ONCE: u32 = 1024;
/// The fewest times that each thread takes blocks, so that all threads are busy until the end.
const TIMES: u32 = 8;
/// The rough number of matches that one process of a program plays.
const MATCHES_OF_SHARD: u32 = 128;

/// The way blocks are divided among threads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// The number of blocks in a shard: a program is started anew for each shard.
    pub shard: u32,
    /// The number of blocks that are handed in together.
    pub at_once: u32,
    /// Whether a half-played shard begins anew, since programs remember what they have played.
    pub remembers: bool,
    /// Matches of a block that are played at once: more than one if threads only wait for language models and there are few blocks.
    pub matches: usize,
    /// Whether all entries are built-in bots.
    pub is_fast: bool,
}

/// Closes a player. Returns its last faults and its log, if there are any.
fn closed<G: Listed>(entry: usize, mut player: Box<dyn Player<G>>) -> Option<Closing> {
    let (faults, log) = player.close();
    (!faults.is_empty() || !log.is_empty()).then_some(Closing { entry, faults, log })
}

impl<'a, G: Listed> Crew<'a, G> {
    pub fn new(arena: &'a Arena<'a, G>) -> Result<Self, TournamentError> {
        let Arena { entries, names, terms, .. } = arena;
        for (entry, name) in entries.iter().zip(names.iter()) {
            // Processes are started with their first match only.
            entry.map(|entry| player::<G>(entry, name, terms, Seeded::new(0, "trial", 0))).transpose()?;
        }
        let bot = |entry: &Option<&EntrySpec>| match entry.map(|entry| &entry.kind) {
            Some(EntryKind::BuiltIn(spec)) => Maker::find(spec, &terms.rules)
                .and_then(|maker| maker.build(&|| own_chance(Seed::default(), 0)))
                .ok()
                .map(Some),
            Some(_) => None,
            None => Some(None),
        };
        let players = match entries.iter().map(bot).collect() {
            Some(waiting) => {
                Players::BuiltIn { waiting, sitting: Vec::new(), memory: play::Memory::default() }
            }
            None => Players::Mixed(entries.iter().map(|_| None).collect()),
        };
        let solution = solve::<G>(&terms.rules, terms.seats).ok();
        let meter = solution.clone().map(|solution| solution.meter());
        let solution = solution.filter(|_| entries.iter().flatten().any(|entry| is_model(entry)));
        let (names, closings, events) = (Vec::new(), Vec::new(), Events(Vec::new()));
        Ok(Crew { arena, names, named_at: None, players, forgets: false, closings, meter, solution, events })
    }

    /// Decides how to divide `blocks` blocks among threads.
    pub fn pace(entries: &[EntrySpec], schedule: &Schedule, blocks: u32, threads: usize) -> Pace {
        let fast = entries.iter().all(|entry| matches!(entry.kind, EntryKind::BuiltIn(_)));
        if fast {
            let of_block = schedule.matches(schedule.stage()) as u32;
            // Slow games have few blocks.
            let most = (MATCHES_AT_ONCE / of_block).min(G::CARD.blocks / 10);
            let at_once = (blocks / (TIMES * threads as u32)).min(most).max(1);
            return Pace { shard: at_once, at_once, remembers: false, matches: 1, is_fast: true };
        }
        let is_guest = |entry: &EntrySpec| matches!(entry.kind, EntryKind::Guest(_));
        // Beside a model a program remembers no match, but guests are not started anew.
        let forgets = entries.iter().any(is_model) && !entries.iter().any(is_guest);
        if forgets || !entries.iter().any(|entry| entry.kind.remembers()) {
            let matches = threads.div_ceil(blocks.max(1) as usize);
            return Pace { shard: 1, at_once: 1, remembers: false, matches, is_fast: false };
        }
        let shard = Self::shard(schedule, schedule.stage());
        Pace { shard, at_once: 1, remembers: true, matches: 1, is_fast: false }
    }

    /// Returns how many blocks a program plays before it is restarted, in a stage that begins here: where shards are cut must not
    /// depend on how far the stage goes.
    pub fn shard(schedule: &Schedule, stage: u32) -> u32 {
        (MATCHES_OF_SHARD / schedule.matches(stage) as u32).clamp(1, MOST_AT_ONCE)
    }

    /// Whether programs are started anew for each match of a block: where language models take part, nearly all the time goes into
    /// waiting for them, so matches must not wait for each other.
    pub fn forgets(&self, block: u32) -> bool {
        let Arena { entries, schedule, .. } = self.arena;
        schedule.seatings(block).iter().flatten().any(|&entry| entries[entry].is_some_and(is_model))
    }

    /// Ends the programs, so that the next match starts new ones: what they remember, and how often they failed, must not depend on which
    /// thread played what before. Returns their last faults and logs; fails if a program has changed in the meantime.
    pub fn begin_shard(&mut self) -> Result<Vec<Closing>, TournamentError> {
        let Players::Mixed(players) = &mut self.players else { return Ok(Vec::new()) };
        let both = self.arena.planned.iter().zip(self.arena.entries);
        let changed = both.filter(|(planned, entry)| {
            entry.is_some_and(|entry| planned.is_other(entry.fingerprint().as_deref()))
        });
        let names: Vec<String> = changed.map(|(planned, _)| planned.name.clone()).collect();
        if !names.is_empty() {
            return Err(StoreError::OtherProgram { names }.into());
        }
        let entries = self.arena.entries.iter().zip(players).enumerate();
        let is_program = |entry: &EntrySpec| entry.kind.is_program();
        let programs = entries.filter(|(_, (entry, _))| entry.is_some_and(is_program));
        self.closings.extend(programs.filter_map(|(entry, (_, player))| closed(entry, player.take()?)));
        Ok(mem::take(&mut self.closings))
    }

    /// Ends the processes politely. Returns their last faults and logs.
    pub fn close(mut self) -> Vec<Closing> {
        let Players::Mixed(players) = self.players else { return Vec::new() };
        let last = players.into_iter().enumerate().filter_map(|(entry, player)| closed(entry, player?));
        self.closings.extend(last);
        self.closings
    }

    /// Plays a block. Returns `None` if it was interrupted.
    pub fn play_block(
        &mut self,
        block: u32,
        quits: &dyn Fn() -> bool,
    ) -> Result<Option<BlockResult>, TournamentError> {
        self.play_matches(block, 0..self.arena.schedule.matches(block), quits)
    }

    /// Plays a block, `at_once` matches at a time. Returns `None` if it was interrupted. Only for players that remember nothing.
    pub fn play_at_once(
        &mut self,
        block: u32,
        at_once: usize,
        quits: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<BlockResult>, TournamentError> {
        let (arena, all) = (self.arena, self.arena.schedule.matches(block));
        let next = AtomicUsize::new(0);
        let play = || {
            let (mut crew, mut played) = (Crew::new(arena)?, Vec::new());
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= all || quits() {
                    return Ok((played, crew.close()));
                }
                match crew.play_matches(block, number..number + 1, quits) {
                    Ok(result) => played.extend(result.map(|result| (number, result))),
                    Err(error) => {
                        // Without this match, the others are of no use.
                        next.store(all, Ordering::Relaxed);
                        return Err(error);
                    }
                }
            }
        };
        let played: Result<Vec<(Vec<_>, Vec<_>)>, TournamentError> = thread::scope(|scope| {
            let threads: Vec<_> = (0..at_once.min(all)).map(|_| scope.spawn(play)).collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined.map(|played| played.unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        let (played, closings): (Vec<Vec<(usize, BlockResult)>>, Vec<_>) = played?.into_iter().unzip();
        self.closings.extend(closings.into_iter().flatten());
        let mut played: Vec<(usize, BlockResult)> = played.into_iter().flatten().collect();
        if played.len() < all {
            return Ok(None);
        }
        played.sort_by_key(|(number, _)| *number);
        Ok(played.into_iter().map(|(_, result)| result).reduce(BlockResult::and))
    }

    /// Plays some matches of a block, one after another. Returns `None` if it was interrupted.
    fn play_matches(
        &mut self,
        block: u32,
        numbers: Range<usize>,
        quits: &dyn Fn() -> bool,
    ) -> Result<Option<BlockResult>, TournamentError> {
        let mut result = BlockResult { block, ..BlockResult::default() };
        let seatings = self.arena.schedule.seatings(block);
        let since = self.arena.schedule.seated_since(block);
        if self.named_at != Some(since) {
            self.names = seatings.iter().map(|seating| self.arena.names.seated(seating)).collect();
            self.named_at = Some(since);
            self.forgets = self.forgets(block);
        }
        if self.meter.is_some() {
            result.luck.reserve_exact(numbers.len());
        }
        for (number, seating) in seatings.iter().enumerate().take(numbers.end).skip(numbers.start) {
            if quits() {
                return Ok(None);
            }
            self.events.0.clear();
            let outcome = match &self.players {
                Players::BuiltIn { .. } => self.play_built_ins(block, number, seating)?,
                Players::Mixed(_) => {
                    let (outcome, detail) = self.play_mixed(block, number, seating, &mut result.efforts)?;
                    let says = detail.replay.is_some() || !detail.faults.is_empty();
                    result.details.extend(says.then_some(detail));
                    outcome
                }
            };
            result.luck.extend(self.meter.as_mut().map(|meter| meter.luck_of(&self.events.0) as f32));
            result.push(&outcome);
        }
        Ok(Some(result))
    }

    fn play_built_ins(
        &mut self,
        block: u32,
        number: usize,
        seating: &[usize],
    ) -> Result<Outcome, TournamentError> {
        let Players::BuiltIn { waiting, sitting, memory } = &mut self.players else {
            return Err(RunError::Quit.into());
        };
        let Arena { terms, dice, .. } = self.arena;
        let seed = dice.of_match(block, number).dice;
        let mut chance = Seeded::new(seed, "match", 0);
        sitting.clear();
        for &entry in seating {
            // Nobody sits twice at a table, and all got up after the last match.
            let mut bot = waiting[entry].take().ok_or(RunError::Quit)?;
            bot.restart(&|| own_chance(seed, entry));
            sitting.push(bot);
        }
        let names = &self.names[number];
        let outcome = match &self.meter {
            Some(_) => {
                let mut game = G::new(names, &terms.rules, &mut chance, &mut self.events)?;
                play::play_with(memory, &mut game, sitting, &mut chance, &mut self.events)
            }
            None => {
                let mut game = G::new(names, &terms.rules, &mut chance, &mut Silent)?;
                play::play_with(memory, &mut game, sitting, &mut chance, &mut Silent)
            }
        };
        for (&entry, bot) in seating.iter().zip(sitting.drain(..)) {
            waiting[entry] = Some(bot);
        }
        Ok(outcome.map_err(|why: Rejected<G::Illegal>| RunError::Referee(why.to_string()))?)
    }

    fn play_mixed(
        &mut self,
        block: u32,
        number: usize,
        seating: &[usize],
        efforts: &mut Vec<Effort>,
    ) -> Result<(Outcome, Detail), TournamentError> {
        let Players::Mixed(players) = &mut self.players else { return Err(RunError::Quit.into()) };
        let Arena { entries, terms, dice, .. } = self.arena;
        let (dice, names) = (dice.of_match(block, number), &self.names[number]);
        let mut sitting = Vec::with_capacity(seating.len());
        for (&entry, name) in seating.iter().zip(names.iter()) {
            let spec = entries[entry].ok_or(RunError::Quit)?;
            let fresh = || -> Result<_, LineupError> {
                let fresh = player::<G>(spec, name, terms, own_chance(dice.dice, entry))?;
                Ok(match &self.solution {
                    Some(solution) => Box::new(Priced::new(fresh, solution.clone())),
                    None => fresh,
                })
            };
            // Processes and guests go on from match to match, built-in bots begin anew with each seed.
            let kept = players[entry].take().filter(|_| spec.kind.remembers());
            sitting.push(kept.map_or_else(fresh, Ok)?);
        }
        let (events, measured) = (&mut self.events.0, self.meter.is_some());
        let watch = |_: &G, log: &[Logged<G::Event>]| {
            if measured {
                events.extend(log.iter().map(|logged| logged.event.clone()));
            }
        };
        let played = if self.arena.keeps_replays {
            let finished = run_match(names, &terms.rules, dice, &mut sitting, watch);
            finished.map(|finished| (finished.outcome, finished.faults, Some(finished.recording)))
        } else {
            let ended = run_unrecorded(names, &terms.rules, dice, &mut sitting, watch);
            ended.map(|(outcome, faults)| (outcome, faults, None))
        };
        efforts.resize(players.len(), Effort::default());
        for (&entry, mut player) in seating.iter().zip(sitting) {
            efforts[entry] += player.take_effort();
            match self.forgets && entries[entry].is_some_and(|spec| spec.kind.is_program()) {
                true => self.closings.extend(closed(entry, player)),
                false => players[entry] = Some(player),
            }
        }
        let (outcome, faults, recording) = played?;
        let replay = recording.map(|recording| recording.pack()).transpose()?;
        Ok((outcome, Detail { number: number as u32, faults, replay }))
    }
}

fn is_model(entry: &EntrySpec) -> bool {
    matches!(entry.kind, EntryKind::Model(_))
}

/// Returns the randomness of a built-in bot: different in each match, but the same for its entry on every seat.
pub(super) fn own_chance(seed: Seed, entry: usize) -> Seeded {
    Seeded::new(seed, "bot", entry as u64)
}
