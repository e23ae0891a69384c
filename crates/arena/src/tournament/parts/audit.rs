//! Proof by sample: some blocks of a store, drawn at random, are played again. Whoever forged results does not know which.

use super::{
    super::{Schedule, Store},
    Origin, PartError, PlanFile, Shard,
    origins::Origins,
    shard::Rows,
};
use crate::process::Launcher;
use necrodome_rules::chance::{Chance, Seed, Seeded};
use serde::Serialize;
use std::{collections::BTreeSet, sync::atomic::AtomicBool};

/// What came of playing some blocks again.
#[derive(Debug, Clone, Serialize)]
pub struct Audit {
    /// The blocks that were played again.
    pub blocks: Vec<u32>,
    /// How many blocks could have been drawn: those that are stored.
    pub of: u32,
    /// How many of the blocks that were played again are stored without their moves, so that only results and luck were compared.
    pub without_moves: u32,
    /// Those that went otherwise than they are stored.
    pub differ: Vec<Difference>,
    /// How likely it was to catch somebody who has forged a share of all blocks.
    pub catches: Vec<Catch>,
    /// Whether it was ended before all of them were played.
    pub interrupted: bool,
}

/// A block that went otherwise than it is stored.
#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    /// The block.
    pub block: u32,
    /// What differs, in words.
    pub what: &'static str,
    /// Where the stored one was played, if it was merged.
    pub origin: Option<Origin>,
    /// How many stored blocks come from the same machine.
    pub blocks_of_origin: u32,
}

/// How likely it is to catch somebody.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Catch {
    /// The share of all blocks that was forged.
    pub forged: f64,
    /// The chance that one of them is among those that are played again.
    pub chance: f64,
}

/// The shares that are told.
const SHARES: [f64; 5] = [0.001, 0.01, 0.05, 0.1, 0.5];

/// Plays `count` blocks of a stored tournament again, drawn by `seed`, and compares. `watch` hears how many are done.
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
    let chosen = draw(playable.clone(), count, seed);
    let origins = Origins::of(store)?;
    let mut audit = Audit {
        blocks: Vec::new(),
        of: playable.end - playable.start,
        without_moves: 0,
        differ: Vec::new(),
        catches: Vec::new(),
        interrupted: false,
    };
    for &block in &chosen {
        let blocks = block..block + 1;
        let played = Shard::play(file, blocks.clone(), launcher, 1, interrupt, &mut |_| {})?;
        let Some(again) = played else {
            audit.interrupted = true;
            break;
        };
        let stored = Rows::stored(store, &blocks)?;
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
    let catches = |&forged: &f64| Catch { forged, chance: chance_to_catch(audit.of, played, forged) };
    audit.catches = SHARES.iter().map(catches).collect();
    Ok(audit)
}

/// Different blocks, each as likely as the others, in order.
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

/// The chance that at least one of the forged blocks is among those that are played again, of `all` blocks of which a share is forged.
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

/// How many blocks have to be played again to catch a share with this chance.
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

    /// What is printed is what happens: somebody forges a share of the blocks, and blocks are drawn many times.
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
