//! Proof by sample: plays randomly drawn blocks of a store again. A forger can't know which blocks will be drawn.

use super::{
    super::{Schedule, Store},
    NAMED_PACK, Origin, PartError, PlanFile, Shard,
    origins::Origins,
    shard::{Kinds, Rows},
};
use crate::{fault::FaultKind, process::Launcher};
use necrodome_rules::chance::{Chance, Seed, Seeded};
use serde::Serialize;
use std::{collections::BTreeSet, path::Path, sync::atomic::AtomicBool};

/// The result of playing some blocks again.
#[derive(Debug, Clone, Serialize)]
pub struct Audit {
    /// The blocks that were played again.
    pub blocks: Vec<u32>,
    /// The number of stored blocks, from which they were drawn.
    pub of: u32,
    /// The number of these blocks that are stored without replays: only their results and luck were compared.
    pub without_moves: u32,
    /// The blocks that differ from what is stored.
    pub differ: Vec<Difference>,
    /// Misbehaviour without a place in the results that only the store has, or only those who played again.
    pub disputed: Vec<Disputed>,
    /// The chance that the audit catches somebody who forged a share of all blocks. Shares of less than one block are left out.
    pub catches: Vec<Catch>,
    /// Why blocks may differ although nobody forged them: what was not the same here, or is not known to be.
    pub doubts: Vec<String>,
    /// Whether the audit was interrupted before all of them were played.
    pub interrupted: bool,
}

/// A block that differs from what is stored.
#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    /// The block.
    pub block: u32,
    /// What differs, in words.
    pub what: &'static str,
    /// The origin of the stored block, if it was merged.
    pub origin: Option<Origin>,
    /// The number of stored blocks from the same machine.
    pub blocks_of_origin: u32,
}

/// Misbehaviour at the end of programs, or forgiven, on which the store and those who played again do not agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Disputed {
    /// The entry.
    pub name: String,
    /// The kind.
    pub kind: FaultKind,
    /// Whether it is the store that has it.
    pub stored: bool,
    /// Whether it may belong to blocks that were not played again.
    pub open: bool,
}

/// The chance to catch a forger.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Catch {
    /// The share of all blocks that was forged.
    pub forged: f64,
    /// The chance that at least one forged block is played again.
    pub chance: f64,
}

/// The shares of forged blocks that an audit reports on.
const SHARES: [f64; 5] = [0.001, 0.01, 0.05, 0.1, 0.5];

/// Plays `count` blocks of a stored tournament again, drawn by `seed`, and compares them. Calls `watch` with the number of blocks done, and of all.
pub fn audit(
    store: &Store,
    file: &PlanFile,
    launcher: &Launcher,
    (count, seed): (u32, Seed),
    interrupt: &AtomicBool,
    watch: &mut dyn FnMut(usize, usize),
) -> Result<Audit, PartError> {
    let schedule = Schedule::of(file.plan())?;
    let playable = schedule.stage()..store.blocks()?;
    if playable.is_empty() {
        let what = "there is nothing to audit: no block of the last stage is stored yet";
        return Err(PartError::Unsuitable(what.to_owned()));
    }
    let origins = Origins::of(store)?;
    let doubts = doubts(file, &origins, launcher)?;
    file.check_starts_again(store, launcher)?;
    let chosen = draw(playable.clone(), count, seed);
    let mut audit = Audit {
        blocks: Vec::new(),
        of: playable.end - playable.start,
        without_moves: 0,
        differ: Vec::new(),
        disputed: Vec::new(),
        catches: Vec::new(),
        doubts,
        interrupted: false,
    };
    let (mut kept, mut seen) = (Kinds::default(), Kinds::default());
    for &block in &chosen {
        let blocks = block..block + 1;
        let played = Shard::play(file, blocks.clone(), launcher, 1, interrupt, &mut |_| {})?;
        let Some(again) = played else {
            audit.interrupted = true;
            break;
        };
        let stored = Rows::stored(store, &blocks)?;
        stored.misbehaviour(&schedule, &mut kept)?;
        again.rows.misbehaviour(&schedule, &mut seen)?;
        let both = stored.came_to(&schedule, blocks.clone()).zip(again.rows.came_to(&schedule, blocks));
        for (stored, again) in both {
            let (stored, again) = (stored?, again?);
            audit.without_moves += u32::from(stored.moves.is_none() && again.moves.is_some());
            if let Some(what) = stored.differs(&again) {
                let origin = origins.of_block(block).cloned();
                let blocks_of_origin = origin.as_ref().map_or(0, |origin| origins.blocks_of(origin));
                audit.differ.push(Difference { block, what, origin, blocks_of_origin });
            }
        }
        audit.blocks.push(block);
        watch(audit.blocks.len(), chosen.len());
    }
    let played = audit.blocks.len() as u32;
    // The store does not know which blocks the ends of programs belong to.
    let ends = Rows { chunks: Vec::new(), details: Vec::new(), closings: store.closing_rows()? };
    ends.misbehaviour(&schedule, &mut kept)?;
    let disputed = disputed(&kept, &seen, played == audit.of);
    let named = |(entry, kind, stored, open): (usize, _, _, _)| {
        let name = file.plan().entries.get(entry).map_or_else(String::new, |entry| entry.name.clone());
        Disputed { name, kind, stored, open }
    };
    audit.disputed = disputed.into_iter().map(named).collect();
    let catches = |&forged: &f64| Catch { forged, chance: chance_to_catch(audit.of, played, forged) };
    // Nobody can forge less than a block.
    let is_possible = |forged: &&f64| *forged * f64::from(audit.of) >= 1.0;
    audit.catches = SHARES.iter().filter(is_possible).map(catches).collect();
    Ok(audit)
}

/// Returns what may make programs play otherwise here than where the blocks were played. Refuses a pack with other files.
fn doubts(file: &PlanFile, origins: &Origins, launcher: &Launcher) -> Result<Vec<String>, PartError> {
    let (bots, packed, mut doubts) = (file.bots(), origins.with_bots(), Vec::new());
    match (&bots, packed) {
        (Some(bots), Some(packed)) if packed.bots.as_ref() != Some(bots) => {
            let path = Path::new(NAMED_PACK).to_owned();
            return Err(PartError::OtherBots { path, before: packed.to_string() });
        }
        (Some(_), Some(_)) => {}
        _ if file.plan().has_programs() => doubts.push(
            "what programs import is not known to be the same here: play and audit all blocks with one pack"
                .to_owned(),
        ),
        _ => {}
    }
    if let Some(level) = file.sandbox() {
        let here = file.launcher(launcher.clone())?.level();
        doubts.extend((here != level).then(|| {
            format!(
                "programs were confined at the level {level} there, and {here} here: name the plan (--plan)"
            )
        }));
    }
    Ok(doubts)
}

/// Compares misbehaviour by entry and kind, in both directions: what the store has, and what was seen again. Returns what only one has,
/// whether that is the store, and whether blocks that were not played may explain it.
fn disputed(kept: &Kinds, seen: &Kinds, all: bool) -> Vec<(usize, FaultKind, bool, bool)> {
    use FaultKind::{Chatter, IgnoredSigterm, LeftChildren};
    // A warning is kept with its match, so that it must be seen there.
    let invented = kept.beside.difference(&seen.all);
    let invented = invented.map(|&(entry, kind)| (entry, kind, true, !all && kind != Chatter));
    // What went wrong at the end here may belong to the next match there.
    let is_sure = |kind| all || matches!(kind, Chatter | IgnoredSigterm | LeftChildren);
    let hidden = seen.beside.difference(&kept.all);
    let hidden = hidden.map(|&(entry, kind)| (entry, kind, false, !is_sure(kind)));
    invented.chain(hidden).collect()
}

/// Draws different blocks, all equally likely, in order.
fn draw(from: std::ops::Range<u32>, count: u32, seed: Seed) -> Vec<u32> {
    let mut chance = Seeded::new(seed, "audit", 0);
    let all = from.end.saturating_sub(from.start);
    let mut drawn = BTreeSet::new();
    // Floyd's way: as many draws as blocks.
    for last in all.saturating_sub(count)..all {
        let number = chance.uniform(last + 1);
        if !drawn.insert(from.start + number) {
            drawn.insert(from.start + last);
        }
    }
    drawn.into_iter().collect()
}

/// Returns the chance that at least one forged block is among the `played` ones, if a share of `all` blocks is forged.
pub fn chance_to_catch(all: u32, played: u32, forged: f64) -> f64 {
    let bad = (f64::from(all) * forged).ceil().min(all.into()) as u32;
    if bad == 0 || played == 0 {
        return 0.0;
    }
    if bad > all - played.min(all) {
        return 1.0;
    }
    // None of them: one factor for each block that is played again.
    let missed = (0..played).map(|number| f64::from(all - bad - number) / f64::from(all - number));
    1.0 - missed.product::<f64>()
}

/// Returns how many blocks must be played again to catch a forged share with this chance.
pub fn blocks_to_catch(all: u32, forged: f64, chance: f64) -> u32 {
    let (mut low, mut high) = (0, all);
    while low < high {
        let middle = low + (high - low) / 2;
        if chance_to_catch(all, middle, forged) >= chance { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misbehaviour_is_compared_in_both_directions() {
        use FaultKind::{Chatter, Crash, IgnoredSigterm, LeftChildren};
        let kinds = |some: &[(usize, FaultKind)]| Kinds {
            all: some.iter().copied().chain([(3, Crash)]).collect(),
            beside: some.iter().copied().collect(),
        };
        let kept = kinds(&[(0, IgnoredSigterm), (1, Chatter), (2, LeftChildren)]);
        // What was a crash at the end here was one in a match there.
        let seen = kinds(&[(2, LeftChildren), (2, Chatter), (3, Crash)]);
        let of = |all| disputed(&kept, &seen, all);
        let sure = [(0, IgnoredSigterm, true, false), (1, Chatter, true, false), (2, Chatter, false, false)];
        assert_eq!(of(true), sure);
        // Other blocks may have had it.
        assert_eq!(of(false)[0], (0, IgnoredSigterm, true, true));
        assert_eq!(of(false)[1..], sure[1..]);
        assert!(disputed(&kept, &kept, false).is_empty());
    }

    #[test]
    fn the_chance_to_catch_is_that_of_drawing_without_putting_back() {
        // 1 of 4 forged, 2 played: half.
        assert!((chance_to_catch(4, 2, 0.25) - 0.5).abs() < 1e-12);
        assert_eq!(chance_to_catch(4, 4, 0.25), 1.0);
        assert_eq!(chance_to_catch(4, 0, 0.25), 0.0);
        assert_eq!(chance_to_catch(4, 2, 0.0), 0.0);
        // By counting: of all draws of 3 out of 10, those that miss 2 forged ones.
        assert!((chance_to_catch(10, 3, 0.2) - (1.0 - 56.0 / 120.0)).abs() < 1e-12);
        assert_eq!(blocks_to_catch(4, 0.25, 0.5), 2);
        assert_eq!(blocks_to_catch(10, 0.5, 1.0), 6);
    }

    /// The printed chance is the true one: somebody forges a share of the blocks, and blocks are drawn many times.
    #[test]
    fn a_forger_is_caught_as_often_as_is_said() {
        const TIMES: u32 = 4000;
        for (all, played, forged) in [(200, 10, 0.05), (200, 60, 0.01), (37, 9, 0.1), (1000, 50, 0.001)] {
            let bad = (f64::from(all) * forged).ceil() as u32;
            // Which blocks are forged makes no difference: every third one, say.
            let is_forged = |block: &u32| block.is_multiple_of(3) && block / 3 < bad;
            let caught = |seed: &u32| draw(0..all, played, u64::from(*seed).into()).iter().any(is_forged);
            let share = f64::from((0..TIMES).filter(caught).count() as u32) / f64::from(TIMES);
            let said = chance_to_catch(all, played, forged);
            // Four deviations of a share: 0.032 where it is a half.
            let off = 4.0 * (said * (1.0 - said) / f64::from(TIMES)).sqrt();
            assert!((share - said).abs() <= off, "{all} {played} {forged}: {share} and not {said}");
        }
    }

    #[test]
    fn every_block_is_drawn_as_often_as_the_others() {
        let mut counts = [0; 7];
        for seed in 0..7000_u64 {
            let drawn = draw(3..10, 3, seed.into());
            assert_eq!(drawn.len(), 3);
            drawn.iter().for_each(|&block| counts[block as usize - 3] += 1);
        }
        // 3000 each, with a deviation of 41.
        assert!(counts.iter().all(|count| (2800..3200).contains(count)), "{counts:?}");
        assert_eq!(draw(0..4, 9, 1.into()), [0, 1, 2, 3]);
        assert!(draw(0..0, 9, 1.into()).is_empty());
    }
}
