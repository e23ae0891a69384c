//! Shards into one store: in any order, as often as somebody likes. A shard that comes before its time waits in the store. Where two have
//! the same block, both must have the same result.

use super::{
    super::{
        Archive, Plan, Schedule, Store, StoreError, Sums, hash_of, results,
        store::{ChunkRow, PackedEffort, packed, unpacked},
    },
    PartError, PlanFile, Shard,
    origins::{self, Origins},
    plan_file::id_of,
    shard::{CameTo, Header, Rows},
};
use crate::player::Effort;
use rusqlite::{OptionalExtension, params};
use serde::Serialize;
use std::{
    borrow::Borrow,
    ops::Range,
    path::{Path, PathBuf},
};

/// Shards that wait for those before them, beside the tables of tournaments. They carry their own hashes.
const WAITING: &str = "CREATE TABLE IF NOT EXISTS shards_waiting
    (tournament INT NOT NULL, first INT NOT NULL, end INT NOT NULL, shard BLOB NOT NULL)";

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
    pub(super) archive: Archive,
    pub(super) open: Option<Open>,
}

/// The tournament.
#[derive(Debug)]
pub(super) struct Open {
    id: String,
    store: Store,
    plan: Plan,
    schedule: Schedule,
    /// What decides whether it stops early, where it may.
    sums: Option<Sums>,
    /// Whether it is over, so that more blocks count for nothing.
    over: bool,
}

/// Merges shards into a store, all or none of them. `watch` hears how many of them are done.
pub fn merge(
    path: &Path,
    files: &[PathBuf],
    plan: Option<&PlanFile>,
    watch: &mut dyn FnMut(usize),
) -> Result<Merged, PartError> {
    // Whatever is no shard, or of another tournament, shows before a store is made.
    let mut sorted = Vec::with_capacity(files.len());
    for file in files {
        let header = Header::read(file)?;
        sorted.push((header.blocks, header.id, file));
    }
    sorted.sort();
    let all_of = plan.map(PlanFile::id).or_else(|| sorted.first().map(|(_, id, _)| id.clone()));
    if let Some((.., file)) = sorted.iter().find(|(_, id, _)| all_of.as_ref() != Some(id)) {
        let what = match plan {
            Some(_) => "its plan is not the one that was named",
            None => "its plan is not that of the other files",
        };
        return Err(PartError::OtherPlan { path: file.to_path_buf(), what: what.into() });
    }
    let is_new = !path.exists();
    let merged = merge_into(path, sorted, plan, watch);
    if is_new && merged.is_err() {
        // Nothing was merged, so there is nothing to keep.
        for end in ["", "-wal", "-shm"] {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            let _ = std::fs::remove_file(PathBuf::from(name));
        }
    }
    merged
}

fn merge_into(
    path: &Path,
    sorted: Vec<((u32, u32), String, &PathBuf)>,
    plan: Option<&PlanFile>,
    watch: &mut dyn FnMut(usize),
) -> Result<Merged, PartError> {
    let mut merger = Merger::open(path)?;
    plan.map_or(Ok(()), |plan| merger.begin(plan))?;
    let mut shards = sorted.into_iter().enumerate().map(|(number, (_, _, file))| {
        watch(number);
        Ok((Shard::read(file)?, file.as_path()))
    });
    merger.take(&mut shards)
}

/// How far a store is. Nothing is changed.
pub fn merged(path: &Path) -> Result<Merged, PartError> {
    if !path.exists() {
        return Err(PartError::File { path: path.to_owned(), why: std::io::ErrorKind::NotFound.into() });
    }
    let archive = Archive::read(path)?;
    let Some((store, plan)) = archive.stores()?.pop() else {
        return Err(PartError::Unsuitable(format!("{} has no tournament yet", path.display())));
    };
    let blocks = store.blocks()?;
    let open = Some(Open::new(store, plan)?);
    Merger { archive, open }.state(blocks)
}

impl Merger {
    /// Opens a store, or makes it.
    pub fn open(path: &Path) -> Result<Self, PartError> {
        Ok(Merger { archive: Archive::open(path)?, open: None })
    }

    /// Begins the tournament of a plan, if the store does not have it yet.
    pub fn begin(&mut self, file: &PlanFile) -> Result<(), PartError> {
        let begin = |archive: &Archive| Ok(archive.insert(file.plan(), file.secrets())?);
        self.find(&file.id(), file.plan(), begin, Path::new("the plan")).map(drop)
    }

    /// Adds shards, all or none of them, each with the path that errors call it by.
    pub fn add(&mut self, shards: Vec<(Shard, PathBuf)>) -> Result<Merged, PartError> {
        self.take(&mut shards.iter().map(|(shard, path)| Ok((shard, path.as_path()))))
    }

    pub(super) fn take<S: Borrow<Shard>>(
        &mut self,
        shards: &mut dyn Iterator<Item = Result<(S, &Path), PartError>>,
    ) -> Result<Merged, PartError> {
        let before = self.open.as_ref().map(|open| open.store.blocks()).transpose()?;
        self.archive.connection().execute_batch("BEGIN")?;
        let taken = self.take_all(shards).and_then(|began| {
            self.archive.connection().execute_batch("COMMIT")?;
            Ok(began)
        });
        if taken.is_err() {
            // What was found out on the way holds no longer. Where SQLite has rolled back by itself, there is nothing to do.
            let _ = self.archive.connection().execute_batch("ROLLBACK");
            self.open = None;
        }
        self.state(before.unwrap_or(taken?))
    }

    /// Gives how many blocks were stored before the first shard.
    fn take_all<S: Borrow<Shard>>(
        &mut self,
        shards: &mut dyn Iterator<Item = Result<(S, &Path), PartError>>,
    ) -> Result<u32, PartError> {
        self.archive.connection().execute_batch(&format!("{WAITING}; {}", origins::TABLE))?;
        let mut before = None;
        for shard in shards {
            let (shard, path) = shard?;
            let shard = shard.borrow();
            let begin = |archive: &Archive| {
                let secrets = shard.secrets.clone();
                let plan = PlanFile::with_secrets(shard.plan.clone(), secrets, Path::new("."))?;
                Ok(archive.insert(plan.plan(), plan.secrets())?)
            };
            let open = self.find(&shard.id, &shard.plan, begin, path)?;
            before = before.map_or_else(|| open.store.blocks().map(Some), |before| Ok(Some(before)))?;
            open.take(shard)?;
        }
        if let Some(open) = self.open.as_ref()
            && open.is_complete()?
        {
            open.store.reveal(&open.plan)?;
        }
        Ok(before.unwrap_or_default())
    }

    /// Finds the tournament of a plan in the store, or begins it in an empty one.
    fn find(
        &mut self,
        id: &str,
        plan: &Plan,
        begin: impl FnOnce(&Archive) -> Result<Store, PartError>,
        path: &Path,
    ) -> Result<&mut Open, PartError> {
        let other = |what: &str| PartError::OtherPlan { path: path.to_owned(), what: what.into() };
        let open = match self.open.take() {
            Some(open) => open,
            None => {
                let stores = self.archive.stores()?;
                let is_empty = stores.is_empty();
                match stores.into_iter().find(|(_, stored)| id_of(stored) == id) {
                    Some((store, plan)) => Open::new(store, plan)?,
                    None if is_empty => Open::new(begin(&self.archive)?, plan.clone())?,
                    None => return Err(other("the store holds other tournaments only")),
                }
            }
        };
        let is_other = open.id != id;
        let open = self.open.insert(open);
        if is_other { Err(other("its plan is not that of the store")) } else { Ok(open) }
    }

    /// How far the store is.
    pub fn state(&self, before: u32) -> Result<Merged, PartError> {
        let Some(open) = &self.open else {
            return Err(PartError::Unsuitable("there is nothing to merge: expected a shard".to_owned()));
        };
        let blocks = open.store.blocks()?;
        let (of, complete) = (open.schedule.end(), open.is_complete()?);
        let waiting = if complete { Vec::new() } else { open.waiting()? };
        let mut gaps = Vec::new();
        let mut next = blocks;
        for &(first, end) in &waiting {
            gaps.extend((first > next).then_some((next, first)));
            next = next.max(end);
        }
        gaps.extend((!complete && next < of).then_some((next, of)));
        let hash = complete.then(|| hash_of(&open.plan, &open.store)).transpose()?;
        Ok(Merged { added: blocks.saturating_sub(before), blocks, of, waiting, gaps, complete, hash })
    }

    /// The tournament, once there is one: its plan and its store.
    pub fn tournament(&self) -> Option<(&Plan, &Store)> {
        self.open.as_ref().map(|open| (&open.plan, &open.store))
    }
}

impl Open {
    /// A tournament, and whether it is over already.
    fn new(store: Store, plan: Plan) -> Result<Self, PartError> {
        let schedule = Schedule::of(&plan)?;
        let mut open = Open { id: id_of(&plan), store, plan, schedule, sums: None, over: false };
        if open.plan.stops_early() {
            let mut sums = Sums::new(&open.plan, &open.schedule);
            sums.catch_up(&open.schedule, &open.store)?;
            open.over = sums.stop(&open.plan).is_some();
            open.sums = Some(sums);
        }
        Ok(open)
    }

    fn is_complete(&self) -> Result<bool, StoreError> {
        Ok(self.over || self.store.blocks()? >= self.schedule.end())
    }

    /// Takes a shard: compares what is there already, adds what comes next, and keeps what comes later.
    fn take(&mut self, shard: &Shard) -> Result<(), PartError> {
        let next = self.store.blocks()?;
        let blocks = shard.blocks.clone();
        let stored = blocks.start..blocks.end.min(next);
        if !stored.is_empty() {
            self.compare_stored(shard, stored)?;
        }
        let mut covered = false;
        for other in self.waiting_shards(&blocks)? {
            let both = blocks.start.max(other.blocks.start)..blocks.end.min(other.blocks.end);
            let words = |_| Ok((other.origin.to_string(), shard.origin.to_string()));
            compare(&other.rows, &shard.rows, &self.schedule, both, words)?;
            covered |= other.blocks.start <= blocks.start && other.blocks.end >= blocks.end;
        }
        if self.over || blocks.end <= next {
            return Ok(());
        }
        if blocks.start > next {
            return if covered { Ok(()) } else { self.keep(shard) };
        }
        self.append(shard)?;
        self.take_waiting()
    }

    /// Keeps a shard until those before it have come.
    fn keep(&self, shard: &Shard) -> Result<(), PartError> {
        let (Range { start, end }, bytes) = (shard.blocks.clone(), shard.bytes()?);
        let connection = self.store.archive().connection();
        let mut insert = connection.prepare_cached("INSERT INTO shards_waiting VALUES (?1, ?2, ?3, ?4)")?;
        insert.execute(params![self.store.id(), start, end, bytes])?;
        Ok(())
    }

    /// Adds the shards that have waited for what is there now.
    fn take_waiting(&mut self) -> Result<(), PartError> {
        loop {
            let next = self.store.blocks()?;
            let connection = self.store.archive().connection();
            let query =
                "SELECT rowid, first, end, shard FROM shards_waiting WHERE tournament = ?1 AND first <= ?2
                ORDER BY first LIMIT 1";
            let found: Option<(i64, Range<u32>, Vec<u8>)> = connection
                .query_row(query, params![self.store.id(), next], |row| {
                    Ok((row.get(0)?, row.get(1)?..row.get(2)?, row.get(3)?))
                })
                .optional()?;
            let Some((row, blocks, bytes)) = found else { return Ok(()) };
            connection.execute("DELETE FROM shards_waiting WHERE rowid = ?1", [row])?;
            drop(connection);
            if blocks.end > next && !self.over {
                self.append(&self.waited(&bytes, &blocks)?)?;
            }
        }
    }

    /// A shard that has waited, if it is as it was kept.
    fn waited(&self, bytes: &[u8], blocks: &Range<u32>) -> Result<Shard, PartError> {
        let damaged = || {
            let what = format!("the shard of blocks {}..{}, which waits in it", blocks.start, blocks.end);
            PartError::Store(StoreError::Damaged(what))
        };
        let shard = Shard::parse(bytes, Path::new("")).map_err(|_| damaged())?;
        if (&shard.id, &shard.blocks) == (&self.id, blocks) { Ok(shard) } else { Err(damaged()) }
    }

    /// Adds the blocks of a shard that the store lacks. They follow those that it has.
    fn append(&mut self, shard: &Shard) -> Result<(), PartError> {
        let next = self.store.blocks()?;
        let mut chunks = trimmed(&shard.rows.chunks, &self.schedule, next)?;
        let end = self.last_that_counts(&chunks).unwrap_or(shard.blocks.end);
        if end < shard.blocks.end {
            cut(&mut chunks, &self.schedule, end)?;
        }
        let details = &shard.rows.details;
        let place = |block| details.partition_point(|detail| detail.block < block);
        self.store.write(&chunks, &details[place(next)..place(end)], &shard.rows.closings)?;
        Origins::note(&self.store, next..end, &shard.origin)
    }

    /// The block behind the one that decides the tournament, if one of these does.
    fn last_that_counts(&mut self, chunks: &[ChunkRow]) -> Option<u32> {
        let sums = self.sums.as_mut()?;
        for chunk in chunks {
            let luck = chunk.luck.as_chunks::<4>().0;
            let luck: Vec<f32> = luck.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
            let mut luck = luck.as_slice();
            let blocks = results::blocks(&chunk.results, &self.schedule, chunk.first);
            for (block, outcomes) in (chunk.first..).zip(blocks) {
                let outcomes = outcomes.unwrap_or_default();
                let (of_block, rest) = luck.split_at(outcomes.len().min(luck.len()));
                luck = rest;
                sums.add(&self.schedule, &outcomes, of_block);
                if sums.stop(&self.plan).is_some() {
                    self.over = true;
                    return Some(block + 1);
                }
            }
        }
        None
    }

    /// Compares blocks of a shard with those that the store has.
    fn compare_stored(&self, shard: &Shard, blocks: Range<u32>) -> Result<(), PartError> {
        let stored = Rows::stored(&self.store, &blocks)?;
        compare(&stored, &shard.rows, &self.schedule, blocks, |block| {
            let origins = Origins::of(&self.store)?;
            let stored = origins.of_block(block);
            let stored = stored.map_or("whoever began the store".to_owned(), ToString::to_string);
            Ok((stored, shard.origin.to_string()))
        })
    }

    /// The shards that wait and have some of these blocks.
    fn waiting_shards(&self, blocks: &Range<u32>) -> Result<Vec<Shard>, PartError> {
        let connection = self.store.archive().connection();
        let mut query = connection.prepare_cached(
            "SELECT first, end, shard FROM shards_waiting WHERE tournament = ?1 AND first < ?2 AND end > ?3 ORDER BY first",
        )?;
        let rows = query.query_map(params![self.store.id(), blocks.end, blocks.start], |row| {
            Ok((row.get(0)?..row.get(1)?, row.get(2)?))
        })?;
        let found = rows.collect::<Result<Vec<(Range<u32>, Vec<u8>)>, _>>()?;
        found.iter().map(|(blocks, bytes)| self.waited(bytes, blocks)).collect()
    }

    /// The stretches of blocks that wait, in order.
    fn waiting(&self) -> Result<Vec<(u32, u32)>, PartError> {
        let connection = self.store.archive().connection();
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

/// Compares what two have of some blocks. `who` says who has played a block.
fn compare(
    one: &Rows,
    other: &Rows,
    schedule: &Schedule,
    blocks: Range<u32>,
    who: impl Fn(u32) -> Result<(String, String), PartError>,
) -> Result<(), PartError> {
    let both = one.came_to(schedule, blocks.clone()).zip(other.came_to(schedule, blocks));
    for (one, other) in both {
        let (one, other): (CameTo, CameTo) = (one?, other?);
        if let Some(what) = one.differs(&other) {
            let (block, (one, other)) = (one.block, who(one.block)?);
            return Err(PartError::Conflict { block, what, one, other });
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
