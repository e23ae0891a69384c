//! Proof by sample: some blocks of a store, drawn at random, are played again. Whoever forged results does not know which.

use super::{
    super::{Schedule, Store},
    Origin, PartError, PlanFile, Shard,
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
    /// How many blocks there are.
    pub of: u32,
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
    let chosen = draw(playable.clone(), count, seed);
    let mut audit = Audit {
        blocks: Vec::new(),
        of: playable.end.saturating_sub(playable.start),
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
            if let Some(what) = stored?.differs(&again?) {
                let (origin, blocks_of_origin) = origin_of(store, block)?;
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

/// Where a stored block was played, and how many come from there.
fn origin_of(store: &Store, block: u32) -> Result<(Option<Origin>, u32), PartError> {
    let connection = store.archive().connection();
    if !connection.table_exists(Some("main"), "shards_merged")? {
        return Ok((None, 0));
    }
    let mut query =
        connection.prepare_cached("SELECT first, end, origin FROM shards_merged WHERE tournament = ?1")?;
    let rows = query.query_map([store.id()], |row| {
        Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?, row.get::<_, String>(2)?))
    })?;
    let mut all: Vec<(u32, u32, Origin)> = Vec::new();
    for row in rows {
        let (first, end, origin) = row?;
        all.extend(serde_json::from_str(&origin).ok().map(|origin| (first, end, origin)));
    }
    let found =
        all.iter().find(|(first, end, _)| (*first..*end).contains(&block)).map(|found| found.2.clone());
    let same = |origin: &Origin| {
        found.as_ref().is_some_and(|found| (&origin.host, &origin.build) == (&found.host, &found.build))
    };
    let blocks = all.iter().filter(|(_, _, origin)| same(origin)).map(|(first, end, _)| end - first).sum();
    Ok((found, blocks))
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
