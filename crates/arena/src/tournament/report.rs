//! What a tournament has shown: every number with its error, and a hash that proves the results.

use super::{
    Plan, Schedule, Store, StoreError, TournamentError,
    formats::{self, RankedBy},
    results,
};
use crate::{
    fault::{Notes, Trouble},
    stats::{self, Measure, Sample},
};
use serde::Serialize;
use std::{num::NonZero, time::Duration};

/// The result of a tournament, ready to be printed.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The plan.
    pub plan: Plan,
    /// Blocks played.
    pub blocks: u32,
    /// Matches played.
    pub matches: usize,
    /// The entries, best first.
    pub standings: Vec<EntryReport>,
    /// For each pair of entries (numbers as in the plan): how often the first placed better.
    pub head_to_head: Vec<Vec<stats::HeadToHead>>,
    /// What the seat is worth; missing in a battle, where every entry keeps its seat.
    pub seats: Option<stats::SeatEffect>,
    /// Pairs of neighbours in the standings that cannot be told apart.
    pub undecided: Vec<Separated>,
    /// What went wrong, and what processes have written to standard error.
    #[serde(flatten)]
    pub trouble: Trouble,
    /// A hash of the plan and all results: the same on any machine, with any number of threads.
    pub hash: String,
}

/// What is known of an entry.
#[derive(Debug, Clone, Serialize)]
pub struct EntryReport {
    /// Its name.
    pub name: String,
    /// What it is.
    pub bot: String,
    /// Best and worst rank that the results allow.
    pub rank: stats::RankInterval,
    /// Games, wins, win rate, mean place and score.
    #[serde(flatten)]
    pub record: stats::Record,
    /// The win rate (solo: the mean score) with the luck of the dice taken out; only where the game is solved.
    pub luck_adjusted: Option<stats::Adjusted>,
    /// The joint rating.
    pub rating: stats::Rating,
    /// The median of its scores.
    pub median_score: Option<f64>,
    /// Mean CPU time of a decision in microseconds; only of processes.
    pub cpu_us: Option<f64>,
}

/// Two entries by name.
#[derive(Debug, Clone, Serialize)]
pub struct Separated {
    /// One.
    pub one: String,
    /// The other.
    pub other: String,
}

/// Makes the report of all that is stored.
pub fn report(plan: &Plan, schedule: &Schedule, store: &Store) -> Result<Report, TournamentError> {
    glance(plan, schedule, store, NonZero::<u32>::MIN)
}

/// Makes a report from every `every`th block, when all of them would take too long or not fit in memory. The hash is still that
/// of all results.
pub fn glance(
    plan: &Plan,
    schedule: &Schedule,
    store: &Store,
    every: NonZero<u32>,
) -> Result<Report, TournamentError> {
    let Material { blocks, luck, hash } = Material::read(plan, schedule, store, every)?;
    let sample = Sample::new(&blocks, plan.entries.len());
    let records = stats::records(&sample);
    let ratings = stats::rate(&sample, plan.seed);
    let format = formats::rules(plan.format);
    let ranking = match format.ranked_by {
        RankedBy::Measure(measure) => stats::rank_by_measure(&sample, measure),
        RankedBy::Rating => stats::rank_by_rating(&ratings),
    };
    let medians = stats::medians(&sample);
    let luck_adjusted = match luck {
        Some(luck) if schedule.seats() == 1 => stats::adjusted(&sample, &luck, Measure::MeanScore),
        Some(luck) => stats::adjusted(&sample, &luck, Measure::WinRate),
        None => vec![None; plan.entries.len()],
    };
    let efforts = store.efforts()?;
    let entry_report = |&entry: &usize| EntryReport {
        name: plan.entries[entry].name.clone(),
        bot: plan.entries[entry].bot.clone(),
        rank: ranking.ranks[entry],
        record: records[entry].clone(),
        luck_adjusted: luck_adjusted[entry],
        rating: ratings.ratings[entry],
        median_score: medians[entry],
        cpu_us: efforts
            .get(entry)
            .filter(|effort| effort.decisions > 0)
            .map(|effort| effort.cpu.div_duration_f64(Duration::from_micros(1)) / effort.decisions as f64),
    };
    let name = |entry: usize| plan.entries[entry].name.clone();
    Ok(Report {
        plan: plan.clone(),
        blocks: blocks.len() as u32,
        matches: blocks.iter().map(|block| block.games.len()).sum(),
        standings: ranking.order.iter().map(entry_report).collect(),
        head_to_head: stats::head_to_head(&sample),
        seats: format.rotates.then(|| stats::seat_effect(&sample)),
        undecided: ranking
            .undecided
            .iter()
            .map(|&(one, other)| Separated { one: name(one), other: name(other) })
            .collect(),
        trouble: trouble(plan, schedule, store)?,
        hash,
    })
}

/// What a report is made from.
struct Material {
    blocks: Vec<stats::Block>,
    /// The luck of each seat of each game, block by block; none if it was not measured in all of them.
    luck: Option<Vec<Vec<f64>>>,
    /// Covers what determines the results and the results, not how many blocks were wanted.
    hash: String,
}

impl Material {
    fn read(
        plan: &Plan,
        schedule: &Schedule,
        store: &Store,
        every: NonZero<u32>,
    ) -> Result<Material, StoreError> {
        let damaged = || StoreError::Damaged("a block does not fit the plan".into());
        let stored = store.blocks()?;
        let mut hasher = blake3::Hasher::new();
        // A plan has no maps with odd keys, and a hasher takes everything.
        let _ = serde_json::to_writer(&mut hasher, &Plan { blocks: stored, ..plan.clone() });
        let matches = schedule.matches();
        let (mut blocks, mut luck) = (Vec::new(), (stored > 0).then(Vec::new));
        let mut next = 0;
        while next < stored {
            let chunk = store.chunk(next)?.filter(|chunk| chunk.first == next).ok_or_else(damaged)?;
            hasher.update(&chunk.results);
            let lucky = chunk.luck(matches)?;
            for (index, results) in results::blocks(&chunk.results, schedule).enumerate() {
                let results = results.ok_or_else(damaged)?;
                let block = next + index as u32;
                if block.is_multiple_of(every.get()) {
                    blocks.push(results::to_stats(&results, &schedule.seatings(block)));
                    let lucky = lucky.as_ref().map(|lucky| &lucky[index * matches..][..matches]);
                    luck = luck.zip(lucky).map(|(mut luck, of_block)| {
                        luck.push(by_seat(of_block, schedule.seats()));
                        luck
                    });
                }
            }
            next += chunk.blocks;
        }
        Ok(Material { blocks, luck, hash: hasher.finalize().to_string() })
    }
}

/// The luck of each seat of each match of a block, from that of seat 0.
fn by_seat(luck: &[f32], seats: usize) -> Vec<f64> {
    luck.iter().flat_map(|&luck| [f64::from(luck), -f64::from(luck)].into_iter().take(seats)).collect()
}

/// What went wrong in all matches and when players were closed.
fn trouble(plan: &Plan, schedule: &Schedule, store: &Store) -> Result<Trouble, StoreError> {
    let mut notes = Notes::default();
    for (block, number, faults) in store.faults()? {
        let damaged = || StoreError::Damaged("a fault does not fit the plan".into());
        let seatings = schedule.seatings(block);
        let seating = seatings.get(number as usize).ok_or_else(damaged)?;
        for fault in faults {
            let entry = *seating.get(fault.seat.index()).ok_or_else(damaged)?;
            notes.fault(entry, &fault.fault, || format!("block {block}, match {number}"));
        }
    }
    for closing in store.closings()? {
        if closing.entry >= plan.entries.len() {
            return Err(StoreError::Damaged("a closing does not fit the plan".into()));
        }
        for fault in &closing.faults {
            notes.fault(closing.entry, fault, || "the end".to_owned());
        }
        notes.log(closing.entry, &closing.log);
    }
    Ok(notes.named(|entry| plan.entries[entry].name.clone()))
}
