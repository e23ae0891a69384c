//! Forecasts how long a tournament must be: plays a pilot, and extrapolates from its results.

use super::{Archive, Opened, Plan, Schedule, Sums, TournamentError, natural_blocks, report::trouble, run};
use crate::{
    entry::EntrySpec,
    fault::Trouble,
    process::Launcher,
    stats::{Estimate, Measure},
};
use necrodome_rules::chance::{Chance, Seeded};
use schemars::JsonSchema;
use serde::Serialize;
use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

/// Blocks that are played before the clock starts, while games are solved and programs are loaded.
const WARM_UP: u32 = 5;

/// What a pilot says about how long a tournament must be.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Forecast {
    /// What decides the standings. Differences are measured in it: shares of wins, or scores.
    pub measure: Measure,
    /// The pilot that was played for the forecast. It is not part of any tournament.
    pub pilot: Length,
    /// The tournament as it is planned.
    pub planned: Length,
    /// The smallest difference between any two entries that the planned tournament would probably show.
    pub visible: f64,
    /// The difference that the user asked for, if any.
    pub difference: Option<f64>,
    /// A tournament that would probably show that difference between any two entries.
    pub needed: Option<Length>,
    /// All pairs of entries, those that are hardest to tell apart first.
    pub pairs: Vec<PairForecast>,
    /// What went wrong in the pilot, and what processes have written to standard error.
    #[serde(flatten)]
    pub trouble: Trouble,
}

/// The length of a tournament.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Length {
    /// Blocks.
    pub blocks: u64,
    /// Matches.
    pub matches: u64,
    /// Seconds, about.
    pub seconds: f64,
}

/// What it takes to tell two entries apart.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PairForecast {
    /// The one that was better in the pilot.
    pub one: String,
    /// The other.
    pub other: String,
    /// How far the first was ahead.
    pub ahead: Estimate,
    /// A tournament that would probably tell them apart if they are as far apart as they seem; missing if they seem equal.
    pub needed: Option<Length>,
    /// A tournament that would probably tell them apart if they differed by as much as the user asked for.
    pub needed_for_difference: Option<Length>,
}

/// Plays a pilot with its own dice, and returns how long the tournament must be to show a `difference`, or `None` if it was
/// interrupted.
pub fn forecast(
    plan: &Plan,
    entries: &[EntrySpec],
    launcher: &Launcher,
    threads: usize,
    interrupt: &AtomicBool,
    difference: Option<f64>,
) -> Result<Option<Forecast>, TournamentError> {
    let id = plan.game().map_err(TournamentError::Plan)?;
    let blocks = (natural_blocks(id, entries) / 4).clamp(20, 100);
    // With the dice of the tournament itself, its size would depend on its results.
    let seed = u64::from(Seeded::new(plan.seed, "pilot", 0).uniform(u32::MAX)).into();
    let pilot = Plan { blocks, seed, until_decided: false, margin: None, test: None, ..plan.clone() };
    let schedule = Schedule::of(&pilot)?;
    let Opened { mut store, plan: pilot, .. } = Archive::in_memory()?.begun(&pilot, None)?;
    let mut play = |blocks| {
        let part = Plan { blocks, ..pilot.clone() };
        run(&part, entries, launcher, &mut store, threads, interrupt, &mut |_| {}).map(drop)
    };
    play(WARM_UP)?;
    let begun = Instant::now();
    play(blocks)?;
    let seconds_of_block = begun.elapsed().as_secs_f64() / f64::from(blocks - WARM_UP);
    if interrupt.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mut sums = Sums::new(&pilot, &schedule);
    sums.catch_up(&schedule, &store)?;
    let length = |blocks: u64| Length {
        blocks,
        matches: blocks.saturating_mul(sums.matches()) / u64::from(sums.blocks()),
        seconds: blocks as f64 * seconds_of_block,
    };
    let name = |entry: usize| plan.entries[entry].name.clone();
    let mut visible: f64 = 0.0;
    let mut pairs = Vec::new();
    for one in 0..plan.entries.len() {
        for other in one + 1..plan.entries.len() {
            let Some(gap) = sums.gap(plan, one, other, difference) else { continue };
            visible = visible.max(gap.visible);
            let behind = gap.ahead.mean < 0.0;
            let (one, other) = if behind { (other, one) } else { (one, other) };
            pairs.push(PairForecast {
                one: name(one),
                other: name(other),
                ahead: if behind { gap.ahead.opposite() } else { gap.ahead },
                needed: gap.blocks.map(length),
                needed_for_difference: gap.blocks_for_difference.map(length),
            });
        }
    }
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.needed.map_or(u64::MAX, |needed| needed.blocks)));
    let longest = |pair: &PairForecast| pair.needed_for_difference.map(|needed| needed.blocks);
    Ok(Some(Forecast {
        measure: sums.measure(),
        pilot: length(blocks.into()),
        planned: length(plan.blocks.into()),
        visible,
        difference,
        // The pair that varies most decides; if one is out of reach, so is the whole.
        needed: pairs
            .iter()
            .map(longest)
            .collect::<Option<Vec<_>>>()
            .and_then(|all| all.into_iter().max())
            .map(length),
        pairs,
        trouble: trouble(&pilot, &store, sums.notes())?,
    }))
}
