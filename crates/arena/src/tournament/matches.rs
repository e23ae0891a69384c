//! The matches of a stored tournament: their list, and the replay of each.

use super::{Plan, Schedule, Store, StoreError, TournamentError, crew::own_chance, results};
use crate::{
    dice::Dice,
    lineup::{BotError, LineupError, built_in},
    player::{BuiltInPlayer, Player},
    run::{run_match, start_seeds},
    stderr,
};
use necrodome_rules::{bot::BotSpec, catalog::Listed, game::Outcome, names::Names, with_game};
use std::iter;

/// A match that was played.
#[derive(Debug, Clone, PartialEq)]
pub struct PlayedMatch {
    /// The number of its block.
    pub block: u32,
    /// Its number in the block.
    pub number: u32,
    /// The entry in each seat.
    pub entries: Vec<usize>,
    /// The result.
    pub result: Outcome,
    /// The luck of seat 0, if the game is solved.
    pub luck: Option<f32>,
    /// The number of faults of each seat.
    pub faults: Vec<u32>,
}

impl PlayedMatch {
    /// Returns the luck of a seat, if the game is solved.
    pub fn luck_of(&self, seat: usize) -> Option<f32> {
        self.luck.map(|luck| if seat == 0 { luck } else { -luck })
    }
}

/// Returns a page of matches, starting with number `from`, in the order of the schedule.
pub fn matches(
    schedule: &Schedule,
    store: &Store,
    from: u64,
    count: usize,
) -> Result<Vec<PlayedMatch>, StoreError> {
    let damaged = || StoreError::Damaged("a block does not fit the plan".into());
    let Some((mut next, mut skip)) = schedule.block_of(from) else { return Ok(Vec::new()) };
    let mut played = Vec::new();
    while played.len() < count
        && let Some(chunk) = store.chunk(next)?
    {
        let luck = chunk.luck(schedule)?;
        let before = (next - chunk.first) as usize;
        let blocks = results::blocks(&chunk.results, schedule, chunk.first).enumerate().skip(before);
        for (index, outcomes) in blocks {
            let (block, outcomes) = (chunk.first + index as u32, outcomes.ok_or_else(damaged)?);
            let of_chunk = (schedule.matches_before(block) - schedule.matches_before(chunk.first)) as usize;
            let seatings = schedule.seatings(block);
            for (number, result) in outcomes.into_iter().enumerate().skip(skip).take(count - played.len()) {
                played.push(PlayedMatch {
                    block,
                    number: number as u32,
                    faults: vec![0; seatings[number].len()],
                    entries: seatings[number].clone(),
                    result,
                    luck: luck.as_ref().and_then(|luck| luck.get(of_chunk + number).copied()),
                });
            }
            skip = 0;
            if played.len() == count {
                break;
            }
        }
        next = chunk.end()?;
    }
    if let (Some(first), Some(last)) = (played.first(), played.last()) {
        for (block, number, faults) in store.faults(first.block..last.block + 1)? {
            let found = played.binary_search_by_key(&(block, number), |played| (played.block, played.number));
            let Ok(index) = found else { continue };
            for fault in faults.iter().filter(|fault| !fault.fault.kind.is_warning()) {
                let of_seat = played[index].faults.get_mut(fault.seat.index());
                of_seat.into_iter().for_each(|of_seat| *of_seat += 1);
            }
        }
    }
    Ok(played)
}

/// Returns all matches in the order of the schedule, read page by page: there may be a hundred million of them.
pub fn all_matches(
    schedule: &Schedule,
    store: &Store,
) -> impl Iterator<Item = Result<PlayedMatch, StoreError>> {
    const PAGE: usize = 100_000;
    let mut read = 0;
    let mut page = Vec::new().into_iter();
    iter::from_fn(move || {
        if page.as_slice().is_empty() {
            match matches(schedule, store, read, PAGE) {
                Ok(next) => page = next.into_iter(),
                Err(error) => return Some(Err(error)),
            }
            read += page.as_slice().len() as u64;
        }
        page.next().map(Ok)
    })
}

/// The reason why there is no replay of a match.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// It was never played, or not yet.
    #[error("there is no block {block}: {}", stored(*.blocks))]
    NoBlock {
        /// The requested block.
        block: u32,
        /// The number of blocks.
        blocks: u32,
    },
    /// The block has fewer matches.
    #[error("there is no match {number} in a block: expected 0 to {}", matches.saturating_sub(1))]
    NoMatch {
        /// The requested match.
        number: u32,
        /// The number of matches.
        matches: usize,
    },
    /// A program took part, and the replay was not kept.
    #[error("a program took part in this match, and its replay was not kept")]
    NotKept,
    /// The store cannot be read, or the match cannot be played again.
    #[error(transparent)]
    Tournament(#[from] TournamentError),
}

fn stored(blocks: u32) -> String {
    match blocks {
        0 => "none is stored yet".to_owned(),
        blocks => format!("expected 0 to {}", blocks - 1),
    }
}

/// Returns the replay of a match: the stored one, or else that of the match played again, since matches between built-in bots need
/// only the seed.
pub fn packed_replay(plan: &Plan, store: &Store, block: u32, number: u32) -> Result<Vec<u8>, MatchError> {
    if let Some(packed) = store.replay(block, number).map_err(TournamentError::from)? {
        return Ok(packed);
    }
    let blocks = store.blocks().map_err(TournamentError::from)?;
    if block >= blocks {
        return Err(MatchError::NoBlock { block, blocks });
    }
    with_game!(plan.game().map_err(TournamentError::Plan)?, G => play_again::<G>(plan, store, block, number))
}

/// Whether the game is solved under the rules of the plan, so that every match has luck.
pub(super) fn is_solved(plan: &Plan) -> bool {
    let Ok(game) = plan.game() else { return false };
    with_game!(game, G => {
        let rules = plan.rules::<G>();
        rules.is_ok_and(|rules| necrodome_solve::solve::<G>(&rules, plan.seats).is_ok())
    })
}

/// Returns the stored result of a match.
pub fn stored_result(plan: &Plan, store: &Store, block: u32, number: u32) -> Result<Outcome, MatchError> {
    let schedule = Schedule::of(plan)?;
    let damaged = || TournamentError::from(StoreError::Damaged("a block does not fit the plan".into()));
    let chunk = store.chunk(block).map_err(TournamentError::from)?.ok_or_else(damaged)?;
    let place = block.checked_sub(chunk.first).ok_or_else(damaged)? as usize;
    let stored =
        results::blocks(&chunk.results, &schedule, chunk.first).nth(place).flatten().ok_or_else(damaged)?;
    Ok(stored.into_iter().nth(number as usize).ok_or_else(damaged)?)
}

/// Returns the sources of the dice of a match.
pub fn match_dice(plan: &Plan, store: &Store, block: u32, number: u32) -> Result<Dice, MatchError> {
    Ok(store.dice(plan).map_err(TournamentError::from)?.of_match(block, number as usize))
}

/// Returns what the programs of a match have written to standard error in it, by entry. A program hands in its log when it is
/// closed, with those of other matches.
pub fn match_logs(
    plan: &Plan,
    store: &Store,
    block: u32,
    number: u32,
) -> Result<Vec<(usize, String)>, MatchError> {
    let schedule = Schedule::of(plan)?;
    let (seatings, matches) = (schedule.seatings(block), schedule.matches(block));
    let seating = seatings.get(number as usize).ok_or(MatchError::NoMatch { number, matches })?;
    let mut logs = Vec::new();
    for (&entry, seed) in seating.iter().zip(start_seeds(match_dice(plan, store, block, number)?.bots)) {
        let log = store.log_with(entry, &stderr::heading(seed)).map_err(TournamentError::from)?;
        let written = log.map(|log| stderr::of_match(&log, seed)).filter(|written| !written.is_empty());
        logs.extend(written.map(|written| (entry, written)));
    }
    Ok(logs)
}

fn play_again<G: Listed>(plan: &Plan, store: &Store, block: u32, number: u32) -> Result<Vec<u8>, MatchError> {
    let schedule = Schedule::new(plan, G::SEATS).map_err(TournamentError::from)?;
    let (seatings, matches) = (schedule.seatings(block), schedule.matches(block));
    let seating = seatings.get(number as usize).ok_or(MatchError::NoMatch { number, matches })?;
    let rules = plan.rules::<G>().map_err(TournamentError::Plan)?;
    let dice = match_dice(plan, store, block, number)?;
    let names = Names::new(seating.iter().map(|&entry| &plan.entries[entry].name));
    let names = names.map_err(TournamentError::from)?;
    let mut players: Vec<Box<dyn Player<G>>> = Vec::new();
    for &entry in seating {
        let spec: BotSpec = plan.entries[entry].bot.parse().map_err(|_| MatchError::NotKept)?;
        let bot =
            built_in::<G>(&spec, &rules, own_chance(dice.dice, entry)).map_err(|error| match error {
                BotError::Unknown { .. } => MatchError::NotKept,
                other => TournamentError::from(LineupError::from(other)).into(),
            })?;
        players.push(Box::new(BuiltInPlayer(bot)));
    }
    let finished = run_match(&names, &rules, dice, &mut players, |_: &G, _| {});
    Ok(finished.map_err(TournamentError::from)?.recording.pack().map_err(TournamentError::from)?)
}
