//! Shards into one store: in any order, as often as somebody likes. A shard that comes before its time waits in the store. Where two have
//! the same block, both must have the same result.

use super::{
    super::{
        Archive, Plan, Schedule, Store, StoreError, Sums,
        chain::{CHUNKS, CLOSINGS, DETAILS},
        hash_of, results,
        store::{ChunkRow, PackedEffort, packed, unpacked},
    },
    Origin, PartError, PlanFile, Shard,
    plan_file::id_of,
    shard::{CameTo, Rows, contents, head},
};
use crate::player::Effort;
use rusqlite::{OptionalExtension, params, types::ValueRef};
use serde::Serialize;
use std::{
    ops::Range,
    path::{Path, PathBuf},
};

/// Tables beside those of tournaments. Waiting shards carry their own hashes; origins are notes.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS shards_waiting (tournament INT NOT NULL, first INT NOT NULL, end INT NOT NULL, shard BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS shards_merged (tournament INT NOT NULL, first INT NOT NULL, end INT NOT NULL, origin TEXT NOT NULL);
";

/// Results that are stored together, in bytes: about.
const CHUNK: usize = 1 << 20;

/// How far a store is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Merged {
    /// Blocks that were added by this call.
    pub added: u32,
    /// Blocks that are stored, from the first one on without a gap.
    pub blocks: u32,
    /// Blocks of the plan.
    pub of: u32,
    /// Blocks that have come, but wait for others before them.
    pub waiting: Vec<(u32, u32)>,
    /// Blocks that are missing, each stretch with the block behind its last.
    pub gaps: Vec<(u32, u32)>,
    /// Whether all is there.
    pub complete: bool,
    /// The hash of the tournament, when it is complete.
    pub hash: Option<String>,
}

/// A store into which shards are merged.
#[derive(Debug)]
pub struct Merger {
    archive: Archive,
    open: Option<Open>,
}

/// The tournament.
#[derive(Debug)]
struct Open {
    id: String,
    store: Store,
    plan: Plan,
    schedule: Schedule,
    /// What decides whether it stops early, where it may.
    sums: Option<Sums>,
    /// Whether it is over, so that more blocks count for nothing.
    over: bool,
}

/// Merges shards into a store, all or none of them.
pub fn merge(path: &Path, files: &[PathBuf], plan: Option<&PlanFile>) -> Result<Merged, PartError> {
    // Whatever is no shard, or of another tournament, shows before a store is made.
    let mut sorted = Vec::with_capacity(files.len());
    for file in files {
        let header = head(&contents(file)?, file)?.0;
        sorted.push((header.blocks, header.id, file));
    }
    sorted.sort();
    let all_of = plan.map(PlanFile::id).or_else(|| sorted.first().map(|(_, id, _)| id.clone()));
    for (_, id, file) in &sorted {
        if all_of.as_ref() != Some(id) {
            let what = "its plan is not that of the other files";
            return Err(PartError::OtherPlan { path: file.to_path_buf(), what: what.into() });
        }
    }
    let mut merger = Merger::open(path)?;
    plan.map_or(Ok(()), |plan| merger.begin(plan))?;
    let mut shards = sorted.into_iter().map(|(_, _, file)| Ok((Shard::read(file)?, file.as_path())));
    merger.take(&mut shards)
}

/// How far a store is. Nothing is changed but for secrets that are told when all is there.
pub fn merged(path: &Path) -> Result<Merged, PartError> {
    if !path.exists() {
        return Err(PartError::File { path: path.to_owned(), why: std::io::ErrorKind::NotFound.into() });
    }
    let mut merger = Merger::open(path)?;
    let last = merger.archive.stores()?.pop();
    let Some((store, plan)) = last else {
        return Err(PartError::Unsuitable(format!("{} has no tournament yet", path.display())));
    };
    let blocks = store.blocks()?;
    merger.find(&plan, |_| Ok(store), path)?;
    merger.state(blocks)
}

impl Merger {
    /// Opens a store, or makes it.
    pub fn open(path: &Path) -> Result<Self, PartError> {
        Ok(Merger { archive: Archive::open(path)?, open: None })
    }

    /// Begins the tournament of a plan, if the store does not have it yet.
    pub fn begin(&mut self, file: &PlanFile) -> Result<(), PartError> {
        self.find(
            file.plan(),
            |archive| Ok(archive.insert(file.plan(), file.secrets())?),
            Path::new("the plan"),
        )
    }

    /// Adds shards, all or none of them, each with the path that errors call it by.
    pub fn add(&mut self, shards: Vec<(Shard, PathBuf)>) -> Result<Merged, PartError> {
        self.take(&mut shards.iter().map(|(shard, path)| Ok((shard, path.as_path()))))
    }

    fn take<S: std::borrow::Borrow<Shard>>(
        &mut self,
        shards: &mut dyn Iterator<Item = Result<(S, &Path), PartError>>,
    ) -> Result<Merged, PartError> {
        let before = self.open.as_ref().map(|open| open.store.blocks()).transpose()?;
        self.archive.connection().execute_batch("BEGIN")?;
        let merged = self.take_all(shards);
        let end = if merged.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = self.archive.connection().execute_batch(end);
        if merged.is_err() {
            // What was found out on the way holds no longer.
            self.open = None;
        }
        let began = merged?;
        ended?;
        self.state(before.unwrap_or(began))
    }

    /// Gives how many blocks were stored before the first shard.
    fn take_all<S: std::borrow::Borrow<Shard>>(
        &mut self,
        shards: &mut dyn Iterator<Item = Result<(S, &Path), PartError>>,
    ) -> Result<u32, PartError> {
        self.archive.connection().execute_batch(TABLES)?;
        let mut before = None;
        for shard in shards {
            let (shard, path) = shard?;
            let shard = shard.borrow();
            let plan = PlanFile::with_secrets(shard.plan.clone(), shard.secrets.clone(), Path::new("."))?;
            self.find(&shard.plan, |archive| Ok(archive.insert(plan.plan(), plan.secrets())?), path)?;
            let Some(open) = &mut self.open else { continue };
            before = before.map_or_else(|| open.store.blocks().map(Some), |before| Ok(Some(before)))?;
            open.take(&self.archive, shard, path)?;
        }
        Ok(before.unwrap_or_default())
    }

    /// Finds the tournament of a plan in the store, or begins it in an empty one.
    fn find(
        &mut self,
        plan: &Plan,
        begin: impl FnOnce(&Archive) -> Result<Store, PartError>,
        path: &Path,
    ) -> Result<(), PartError> {
        let id = id_of(plan);
        let other = |what: &str| PartError::OtherPlan { path: path.to_owned(), what: what.into() };
        match &self.open {
            Some(open) if open.id == id => return Ok(()),
            Some(_) => return Err(other("its plan is not that of the store")),
            None => {}
        }
        let stores = self.archive.stores()?;
        let is_empty = stores.is_empty();
        let found = stores.into_iter().find(|(_, stored)| id_of(stored) == id);
        let (store, plan) = match found {
            Some(found) => found,
            None if is_empty => (begin(&self.archive)?, plan.clone()),
            None => return Err(other("the store holds other tournaments only")),
        };
        let schedule = Schedule::of(&plan)?;
        let mut open = Open { id, store, plan, schedule, sums: None, over: false };
        open.catch_up()?;
        self.open = Some(open);
        Ok(())
    }

    /// How far the store is.
    pub fn state(&self, before: u32) -> Result<Merged, PartError> {
        let Some(open) = &self.open else {
            return Err(PartError::Unsuitable("there is nothing to merge: expected a shard".to_owned()));
        };
        let blocks = open.store.blocks()?;
        let of = open.schedule.end();
        let complete = open.over || blocks >= of;
        let waiting = if complete { Vec::new() } else { open.waiting(&self.archive)? };
        let mut gaps = Vec::new();
        let mut next = blocks;
        for &(first, end) in &waiting {
            gaps.extend((first > next).then_some((next, first)));
            next = next.max(end);
        }
        gaps.extend((!complete && next < of).then_some((next, of)));
        if complete {
            open.store.reveal(&open.plan)?;
        }
        let hash = complete.then(|| hash_of(&open.plan, &open.store)).transpose()?;
        Ok(Merged { added: blocks.saturating_sub(before), blocks, of, waiting, gaps, complete, hash })
    }

    /// The tournament, once there is one: its plan and its store.
    pub fn tournament(&self) -> Option<(&Plan, &Store)> {
        self.open.as_ref().map(|open| (&open.plan, &open.store))
    }
}

impl Open {
    /// Finds out whether it is over already.
    fn catch_up(&mut self) -> Result<(), PartError> {
        if self.plan.stops_early() {
            let mut sums = Sums::new(&self.plan, &self.schedule);
            sums.catch_up(&self.schedule, &self.store)?;
            self.over = sums.stop(&self.plan).is_some();
            self.sums = Some(sums);
        }
        Ok(())
    }

    /// Takes a shard: compares what is there already, adds what comes next, and keeps what comes later.
    fn take(&mut self, archive: &Archive, shard: &Shard, path: &Path) -> Result<(), PartError> {
        let next = self.store.blocks()?;
        let blocks = shard.blocks.clone();
        let stored = blocks.start..blocks.end.min(next);
        if !stored.is_empty() {
            self.compare_stored(archive, shard, stored)?;
        }
        let mut covered = false;
        for other in self.waiting_shards(archive, &blocks)? {
            let both = blocks.start.max(other.blocks.start)..blocks.end.min(other.blocks.end);
            let words = |shard: &Shard| shard.origin.to_string();
            compare(&other.rows, &shard.rows, &self.schedule, both, || (words(&other), words(shard)))?;
            covered |= other.blocks.start <= blocks.start && other.blocks.end >= blocks.end;
        }
        if self.over || blocks.end <= next {
            return Ok(());
        }
        if blocks.start > next {
            if !covered {
                archive.connection().execute(
                    "INSERT INTO shards_waiting VALUES (?1, ?2, ?3, ?4)",
                    params![self.store.id(), blocks.start, blocks.end, shard.bytes()?],
                )?;
            }
            return Ok(());
        }
        self.append(archive, shard)?;
        self.take_waiting(archive, path)
    }

    /// Adds the shards that have waited for this one.
    fn take_waiting(&mut self, archive: &Archive, path: &Path) -> Result<(), PartError> {
        loop {
            let next = self.store.blocks()?;
            let connection = archive.connection();
            let query = "SELECT rowid, shard FROM shards_waiting WHERE tournament = ?1 AND first <= ?2 ORDER BY first LIMIT 1";
            let found: Option<(i64, Vec<u8>)> = connection
                .query_row(query, params![self.store.id(), next], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((row, bytes)) = found else { return Ok(()) };
            connection.execute("DELETE FROM shards_waiting WHERE rowid = ?1", [row])?;
            drop(connection);
            let shard = Shard::parse(&bytes, path)?;
            if shard.blocks.end > next && !self.over {
                self.append(archive, &shard)?;
            }
        }
    }

    /// Adds the blocks of a shard that the store lacks. They follow those that it has.
    fn append(&mut self, archive: &Archive, shard: &Shard) -> Result<(), PartError> {
        let next = self.store.blocks()?;
        let mut chunks = trimmed(&shard.rows.chunks, &self.schedule, next)?;
        let mut end = shard.blocks.end;
        if let Some(sums) = &mut self.sums {
            for chunk in &chunks {
                let luck: Vec<f32> =
                    chunk.luck.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
                let mut luck = luck.as_slice();
                for (block, outcomes) in
                    (chunk.first..).zip(results::blocks(&chunk.results, &self.schedule, chunk.first))
                {
                    let outcomes = outcomes.unwrap_or_default();
                    let (of_block, rest) = luck.split_at(outcomes.len().min(luck.len()));
                    luck = rest;
                    sums.add(&self.schedule, &outcomes, of_block);
                    if sums.stop(&self.plan).is_some() {
                        (self.over, end) = (true, block + 1);
                        break;
                    }
                }
                if self.over {
                    break;
                }
            }
        }
        if end < shard.blocks.end {
            cut(&mut chunks, &self.schedule, end)?;
        }
        let connection = archive.connection();
        for ChunkRow { first, blocks, results, luck, efforts } in &chunks {
            let row = [
                ValueRef::Integer((*first).into()),
                ValueRef::Integer((*blocks).into()),
                ValueRef::Blob(results),
                ValueRef::Blob(luck),
                ValueRef::Text(efforts.as_bytes()),
            ];
            CHUNKS.append(&connection, self.store.id(), &[&row])?;
        }
        let mine = shard.rows.details.iter().filter(|detail| (next..end).contains(&detail.block));
        let rows: Vec<[ValueRef; 4]> = mine
            .map(|detail| {
                [
                    ValueRef::Integer(detail.block.into()),
                    ValueRef::Integer(detail.number.into()),
                    ValueRef::Text(detail.faults.as_bytes()),
                    detail.replay.as_deref().map_or(ValueRef::Null, ValueRef::Blob),
                ]
            })
            .collect();
        DETAILS.append(&connection, self.store.id(), &rows.iter().map(|row| &row[..]).collect::<Vec<_>>())?;
        let before = CLOSINGS.head(&connection, self.store.id())?.rows;
        for (number, closing) in (before..).zip(&shard.rows.closings) {
            let row = [
                ValueRef::Integer(number),
                ValueRef::Integer(closing.entry.into()),
                ValueRef::Text(closing.faults.as_bytes()),
                ValueRef::Text(closing.log.as_bytes()),
            ];
            CLOSINGS.append(&connection, self.store.id(), &[&row])?;
        }
        let origin = serde_json::to_string(&shard.origin).unwrap_or_default();
        connection.execute(
            "INSERT INTO shards_merged VALUES (?1, ?2, ?3, ?4)",
            params![self.store.id(), next, end, origin],
        )?;
        Ok(())
    }

    /// Compares blocks of a shard with those that the store has.
    fn compare_stored(&self, archive: &Archive, shard: &Shard, blocks: Range<u32>) -> Result<(), PartError> {
        let stored = Rows::stored(&self.store, &blocks)?;
        compare(&stored, &shard.rows, &self.schedule, blocks.clone(), || {
            let query = "SELECT origin FROM shards_merged WHERE tournament = ?1 AND first < ?2 AND end > ?3";
            let found = archive
                .connection()
                .query_row(query, params![self.store.id(), blocks.end, blocks.start], |row| row.get(0))
                .optional();
            let origin: Option<String> = found.ok().flatten();
            let origin: Option<Origin> = origin.and_then(|text| serde_json::from_str(&text).ok());
            let stored = origin.map_or("whoever began the store".to_owned(), |origin| origin.to_string());
            (stored, shard.origin.to_string())
        })
    }

    /// The shards that wait and have some of these blocks.
    fn waiting_shards(&self, archive: &Archive, blocks: &Range<u32>) -> Result<Vec<Shard>, PartError> {
        let connection = archive.connection();
        let mut query = connection.prepare_cached(
            "SELECT shard FROM shards_waiting WHERE tournament = ?1 AND first < ?2 AND end > ?3 ORDER BY first",
        )?;
        let rows = query.query_map(params![self.store.id(), blocks.end, blocks.start], |row| row.get(0))?;
        let bytes = rows.collect::<Result<Vec<Vec<u8>>, _>>()?;
        bytes.iter().map(|bytes| Shard::parse(bytes, Path::new("a shard that waits in the store"))).collect()
    }

    /// The stretches of blocks that wait, in order.
    fn waiting(&self, archive: &Archive) -> Result<Vec<(u32, u32)>, PartError> {
        let connection = archive.connection();
        if !connection.table_exists(Some("main"), "shards_waiting")? {
            return Ok(Vec::new());
        }
        let mut query = connection
            .prepare_cached("SELECT first, end FROM shards_waiting WHERE tournament = ?1 ORDER BY first")?;
        let rows = query.query_map([self.store.id()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut stretches: Vec<(u32, u32)> = Vec::new();
        for row in rows {
            let (first, end): (u32, u32) = row?;
            match stretches.last_mut() {
                Some(last) if first <= last.1 => last.1 = last.1.max(end),
                _ => stretches.push((first, end)),
            }
        }
        Ok(stretches)
    }
}

impl Rows {
    /// What a store has of some blocks.
    pub(super) fn stored(store: &Store, blocks: &Range<u32>) -> Result<Self, StoreError> {
        let (mut chunks, mut next) = (Vec::new(), blocks.start);
        while next < blocks.end
            && let Some(chunk) = store.chunk(next)?
        {
            next = chunk.end()?;
            chunks.push(ChunkRow {
                first: chunk.first,
                blocks: chunk.blocks,
                luck: chunk.packed_luck().to_vec(),
                results: chunk.results,
                efforts: String::new(),
            });
        }
        Ok(Rows { chunks, details: store.detail_rows_of(blocks)?, closings: Vec::new() })
    }
}

/// Compares what two have of some blocks. `who` says who they are.
fn compare(
    one: &Rows,
    other: &Rows,
    schedule: &Schedule,
    blocks: Range<u32>,
    who: impl Fn() -> (String, String),
) -> Result<(), PartError> {
    let both = one.came_to(schedule, blocks.clone()).zip(other.came_to(schedule, blocks));
    for (one, other) in both {
        let (one, other): (CameTo, CameTo) = (one?, other?);
        if let Some(what) = one.differs(&other) {
            let (by_one, by_other) = who();
            return Err(PartError::Conflict { block: one.block, what, one: by_one, other: by_other });
        }
    }
    Ok(())
}

fn unreadable() -> StoreError {
    StoreError::Damaged("the results of some blocks cannot be read".into())
}

/// The chunks from a block on, put together where they are small.
fn trimmed(chunks: &[ChunkRow], schedule: &Schedule, from: u32) -> Result<Vec<ChunkRow>, StoreError> {
    let mut all: Vec<ChunkRow> = Vec::new();
    for chunk in chunks.iter().filter(|chunk| chunk.first + chunk.blocks > from) {
        let mut chunk = chunk.clone();
        if chunk.first < from {
            let ends = results::ends(&chunk.results, schedule, chunk.first..chunk.first + chunk.blocks);
            let skip = ends.ok_or_else(unreadable)?[(from - chunk.first) as usize - 1];
            chunk.results.drain(..skip);
            let matches = schedule.matches_before(from) - schedule.matches_before(chunk.first);
            let luck = (4 * matches as usize).min(chunk.luck.len());
            chunk.luck.drain(..luck);
            chunk.blocks -= from - chunk.first;
            chunk.first = from;
        }
        match all.last_mut() {
            Some(last) if last.results.len() < CHUNK => last.and(chunk)?,
            _ => all.push(chunk),
        }
    }
    Ok(all)
}

/// Leaves out the blocks from `end` on.
fn cut(chunks: &mut Vec<ChunkRow>, schedule: &Schedule, end: u32) -> Result<(), StoreError> {
    chunks.retain(|chunk| chunk.first < end);
    let Some(last) = chunks.last_mut().filter(|last| last.first + last.blocks > end) else { return Ok(()) };
    let ends = results::ends(&last.results, schedule, last.first..last.first + last.blocks);
    last.results.truncate(ends.ok_or_else(unreadable)?[(end - last.first) as usize - 1]);
    let matches = schedule.matches_before(end) - schedule.matches_before(last.first);
    last.luck.truncate(4 * matches as usize);
    last.blocks = end - last.first;
    Ok(())
}

impl ChunkRow {
    /// The same with the chunk that follows it.
    fn and(&mut self, next: ChunkRow) -> Result<(), StoreError> {
        self.blocks += next.blocks;
        self.results.extend(next.results);
        self.luck.extend(next.luck);
        if next.efforts == "[]" {
            return Ok(());
        }
        let read = |text: &str| -> Result<Vec<Effort>, StoreError> {
            let packed: Vec<PackedEffort> =
                serde_json::from_str(text).map_err(|error| StoreError::Damaged(error.to_string()))?;
            Ok(packed.into_iter().map(unpacked).collect())
        };
        let (mut sum, more) = (read(&self.efforts)?, read(&next.efforts)?);
        sum.resize(sum.len().max(more.len()), Effort::default());
        sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        self.efforts = serde_json::to_string(&sum.iter().map(packed).collect::<Vec<_>>()).unwrap_or_default();
        Ok(())
    }
}
