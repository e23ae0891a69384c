//! Merges shards into one store, in any order and any number of times. A shard that comes early waits in the store. If two shards have
//! the same block, both must have the same result.

use super::{
    super::{
        Archive, Plan, Schedule, Store, StoreError, Sums,
        archive::{connect, is_blank},
        hash_of, log, matches, results,
        store::{ChunkRow, PackedEffort, packed, unpacked},
    },
    NAMED_PACK, Origin, PartError, PlanFile, Shard,
    origins::{self, Origins},
    plan_file::id_of,
    shard::{CameTo, Header, MOST_HEADER, Rows},
};
use crate::player::Effort;
use rusqlite::{OptionalExtension, params};
use serde::Serialize;
use std::{
    borrow::Borrow,
    collections::BTreeSet,
    ops::Range,
    path::{Path, PathBuf},
};

/// Shards that wait for earlier ones, next to the tables of tournaments. They carry their own hashes.
const WAITING: &str = "CREATE TABLE IF NOT EXISTS shards_waiting
    (tournament INT NOT NULL, first INT NOT NULL, end INT NOT NULL, shard BLOB NOT NULL)";

/// The rough size of results that are stored together, in bytes.
const CHUNK: usize = 1 << 20;

/// How many blocks of a plan a store has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Merged {
    /// Blocks that were added by this call.
    pub added: u32,
    /// Blocks that are stored, from the first one on without a gap.
    pub blocks: u32,
    /// Blocks of the plan.
    pub of: u32,
    /// Blocks that have arrived, but wait for earlier ones: the first of each stretch, and the one after its last.
    pub waiting: Vec<(u32, u32)>,
    /// Blocks that are missing: the first of each stretch, and the one after its last.
    pub gaps: Vec<(u32, u32)>,
    /// Whether the tournament is complete.
    pub complete: bool,
    /// The versions and builds of necrodome that played the merged blocks.
    pub programs: BTreeSet<String>,
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
    /// The sums that decide whether the tournament stops early, if it may.
    sums: Option<Sums>,
    /// Whether the tournament is over, so that more blocks do not count.
    over: bool,
    /// A part that was played with a pack, if one has come.
    packed: Option<Origin>,
    /// The versions and builds of necrodome of the merged blocks.
    programs: BTreeSet<String>,
    /// Whether the game is solved under these rules, so that every match has luck.
    is_solved: bool,
}

/// Merges shards into a store, all or none of them. Calls `watch` with the number of shards done.
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
    let files: Vec<&Path> = sorted.iter().map(|(.., file)| file.as_path()).collect();
    merge_into(path, !path.exists(), &files, plan, watch)
}

/// Merges shards into a store. If that fails, it removes a store that it has made itself.
pub(super) fn merge_into(
    path: &Path,
    is_new: bool,
    files: &[&Path],
    plan: Option<&PlanFile>,
    watch: &mut dyn FnMut(usize),
) -> Result<Merged, PartError> {
    let mut merger = Merger::open(path).inspect_err(|error| {
        // A store that could not be begun has no content; that of another process is busy.
        let is_busy = matches!(error, PartError::Store(StoreError::Busy));
        if is_new && !is_busy && path.metadata().is_ok_and(|data| data.is_file() && data.len() == 0) {
            let _ = std::fs::remove_file(path);
        }
    })?;
    // Another merge may have made the store since it was missing, or may have removed it again while this one waited for the lock.
    let is_own = is_new && merger.archive.stores()?.is_empty();
    if !path.exists() {
        return Err(PartError::Store(StoreError::Busy));
    }
    let merged = plan.map_or(Ok(()), |plan| merger.begin(plan)).and_then(|()| {
        let mut shards = files.iter().enumerate().map(|(number, file)| {
            watch(number);
            Ok((Shard::read(file)?, *file))
        });
        merger.take(&mut shards, plan.and_then(PlanFile::bots).as_deref())
    });
    if is_own && merged.is_err() {
        // Nothing was merged, so there is nothing to keep. The lock is still held: nobody else has written to these files.
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(log::beside(path, end));
        }
    }
    merged
}

/// Says how many blocks a store has, without changing it.
pub fn merged(path: &Path) -> Result<Merged, PartError> {
    if !path.exists() {
        return Err(PartError::File { path: path.to_owned(), why: std::io::ErrorKind::NotFound.into() });
    }
    let empty = || PartError::Unsuitable(format!("{} has no tournament yet", path.display()));
    let is_file = path.metadata().is_ok_and(|data| data.is_file());
    let is_blank = || is_file && connect(path).is_ok_and(|connection| is_blank(&connection).unwrap_or(false));
    let archive = Archive::read(path).map_err(|error| match error {
        // A merge that is killed before its first commit leaves such a file.
        StoreError::Foreign if is_blank() => empty(),
        error => error.into(),
    })?;
    let (store, plan) = archive.stores()?.pop().ok_or_else(empty)?;
    let blocks = store.blocks()?;
    let open = Some(Open::new(store, plan)?);
    Merger { archive, open }.state(blocks)
}

impl Merger {
    /// Opens a store, or creates it.
    pub fn open(path: &Path) -> Result<Self, PartError> {
        Ok(Merger { archive: Archive::open(path)?, open: None })
    }

    /// Begins the tournament of a plan, if the store does not have it yet.
    pub fn begin(&mut self, file: &PlanFile) -> Result<(), PartError> {
        let begin = |archive: &Archive| Ok(archive.insert(file.plan(), file.secrets())?);
        self.find(&file.id(), file.plan(), begin, Path::new("the plan")).map(drop)
    }

    /// Adds shards, all or none of them, each with its path for error messages. Refuses those that were played with other files beside
    /// the bots than those with the hash `bots`, if it is known.
    pub fn add(&mut self, shards: Vec<(Shard, PathBuf)>, bots: Option<&str>) -> Result<Merged, PartError> {
        self.take(&mut shards.iter().map(|(shard, path)| Ok((shard, path.as_path()))), bots)
    }

    pub(super) fn take<S: Borrow<Shard>>(
        &mut self,
        shards: &mut dyn Iterator<Item = Result<(S, &Path), PartError>>,
        bots: Option<&str>,
    ) -> Result<Merged, PartError> {
        let before = self.open.as_ref().map(|open| open.store.blocks()).transpose()?;
        self.archive.connection().execute_batch("BEGIN")?;
        let taken = self.take_all(shards, bots).and_then(|began| {
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

    /// Adds all shards. Returns how many blocks were stored before the first one.
    fn take_all<S: Borrow<Shard>>(
        &mut self,
        shards: &mut dyn Iterator<Item = Result<(S, &Path), PartError>>,
        bots: Option<&str>,
    ) -> Result<u32, PartError> {
        self.archive.connection().execute_batch(&format!("{WAITING}; {}", origins::TABLE))?;
        let mut before = None;
        for shard in shards {
            let (shard, path) = shard?;
            let shard = shard.borrow();
            // Whoever merges knows better than the first shard, which may be forged. Without programs it makes no difference.
            match (bots, shard.origin.bots.as_deref()) {
                (Some(bots), Some(own)) if bots != own => {
                    return Err(PartError::OtherBots {
                        path: path.to_owned(),
                        before: NAMED_PACK.to_owned(),
                    });
                }
                (Some(_), None) if shard.plan.has_programs() => {
                    return Err(PartError::NoBots { path: path.to_owned() });
                }
                _ => {}
            }
            let begin = |archive: &Archive| {
                let secrets = shard.secrets.clone();
                let plan = PlanFile::with_secrets(shard.plan.clone(), secrets, Path::new("."))?;
                Ok(archive.insert(plan.plan(), plan.secrets())?)
            };
            let open = self.find(&shard.id, &shard.plan, begin, path)?;
            before = before.map_or_else(|| open.store.blocks().map(Some), |before| Ok(Some(before)))?;
            open.take(shard, path)?;
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
                    None if is_empty => {
                        let first = Schedule::of(plan)?.stage();
                        if first > 0 {
                            return Err(PartError::Unsuitable(format!(
                                "{}: blocks 0..{first} were played before its plan was made: merge it into the store \
                                 that the plan was made with",
                                path.display()
                            )));
                        }
                        Open::new(begin(&self.archive)?, plan.clone())?
                    }
                    None => return Err(other("the store holds other tournaments only")),
                }
            }
        };
        let open = self.open.insert(open);
        if open.id != id {
            return Err(other("its plan is not that of the store"));
        }
        // The id does not tell, but the report does.
        if (open.plan.sandbox, &open.plan.gifts) != (plan.sandbox, &plan.gifts) {
            return Err(other(
                "its plan confines programs otherwise, or gives them something else, than that of the store",
            ));
        }
        Ok(open)
    }

    /// Returns how many blocks the store has; `before` is how many it had.
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
        let (added, programs) = (blocks.saturating_sub(before), open.programs.clone());
        Ok(Merged { added, blocks, of, waiting, gaps, complete, programs, hash })
    }

    /// The hash of the files beside the bots of the parts that were merged, if they came from a pack.
    pub fn bots(&self) -> Option<&str> {
        self.open.as_ref()?.packed.as_ref()?.bots.as_deref()
    }

    /// Returns the plan and the store of the tournament, once there is one.
    pub fn tournament(&self) -> Option<(&Plan, &Store)> {
        self.open.as_ref().map(|open| (&open.plan, &open.store))
    }
}

impl Open {
    /// Opens a tournament, and finds out whether it is over already.
    fn new(store: Store, plan: Plan) -> Result<Self, PartError> {
        let (schedule, origins) = (Schedule::of(&plan)?, Origins::of(&store)?);
        let (packed, programs) = (origins.with_bots().cloned(), origins.programs());
        let (id, is_solved) = (id_of(&plan), matches::is_solved(&plan));
        let mut open =
            Open { id, store, plan, schedule, sums: None, over: false, packed, programs, is_solved };
        if open.packed.is_none() {
            open.packed = open.waiting_with_bots()?;
        }
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
    fn take(&mut self, shard: &Shard, path: &Path) -> Result<(), PartError> {
        self.check_bots(shard, path)?;
        if self.is_solved != shard.rows.chunks.iter().any(|chunk| !chunk.luck.is_empty()) {
            let what = match self.is_solved {
                true => "it has no luck, though the game is solved under the rules of its plan",
                false => "it has luck, though the game is not solved under the rules of its plan",
            };
            return Err(PartError::damaged(path, what));
        }
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

    /// All packs must have the same files: what a bot reads decides what it does, and its fingerprint does not know.
    fn check_bots(&mut self, shard: &Shard, path: &Path) -> Result<(), PartError> {
        match &self.packed {
            Some(packed)
                if shard.origin.bots.as_ref().is_some_and(|bots| packed.bots.as_ref() != Some(bots)) =>
            {
                Err(PartError::OtherBots { path: path.to_owned(), before: packed.to_string() })
            }
            Some(_) => Ok(()),
            None => {
                self.packed = Some(&shard.origin).filter(|origin| origin.bots.is_some()).cloned();
                Ok(())
            }
        }
    }

    /// Where a shard was played that waits, and that knows which files lay beside the bots.
    fn waiting_with_bots(&self) -> Result<Option<Origin>, PartError> {
        let connection = self.store.archive().connection();
        if !connection.table_exists(Some("main"), "shards_waiting")? {
            return Ok(None);
        }
        let mut query = connection.prepare_cached(
            "SELECT CAST(substr(shard, 1, ?2) AS BLOB) FROM shards_waiting WHERE tournament = ?1",
        )?;
        let mut rows = query.query(params![self.store.id(), (MOST_HEADER + 64) as i64])?;
        while let Some(row) = rows.next()? {
            // One that is damaged shows when its time has come.
            let start: Vec<u8> = row.get(0)?;
            if let Ok((Header { origin, .. }, _)) = Header::parse(&start, Path::new(""))
                && origin.bots.is_some()
            {
                return Ok(Some(origin));
            }
        }
        Ok(None)
    }

    /// Keeps a shard until the earlier blocks have come.
    fn keep(&self, shard: &Shard) -> Result<(), PartError> {
        let (Range { start, end }, bytes) = (shard.blocks.clone(), shard.bytes()?);
        let connection = self.store.archive().connection();
        let mut insert = connection.prepare_cached("INSERT INTO shards_waiting VALUES (?1, ?2, ?3, ?4)")?;
        insert.execute(params![self.store.id(), start, end, bytes])?;
        Ok(())
    }

    /// Adds the waiting shards that now come next.
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

    /// Reads a waiting shard, and checks that it is as it was kept.
    fn waited(&self, bytes: &[u8], blocks: &Range<u32>) -> Result<Shard, PartError> {
        let damaged = || {
            let what = format!("the shard of blocks {}..{}, which waits in it", blocks.start, blocks.end);
            PartError::Store(StoreError::Damaged(what))
        };
        let shard = Shard::parse(bytes, Path::new("")).map_err(|_| damaged())?;
        if (&shard.id, &shard.blocks) == (&self.id, blocks) { Ok(shard) } else { Err(damaged()) }
    }

    /// Adds the blocks of a shard that the store lacks, directly after those that it has.
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
        self.programs.insert(shard.origin.program());
        Origins::note(&self.store, next..end, &shard.origin)
    }

    /// Returns the end of the tournament, the block after the one that decides it, if one of these does.
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

    /// Compares blocks of a shard with the stored ones.
    fn compare_stored(&self, shard: &Shard, blocks: Range<u32>) -> Result<(), PartError> {
        let stored = Rows::stored(&self.store, &blocks)?;
        compare(&stored, &shard.rows, &self.schedule, blocks, |block| {
            let origins = Origins::of(&self.store)?;
            let stored = origins.of_block(block);
            let stored = stored.map_or("the machine that began the store".to_owned(), ToString::to_string);
            Ok((stored, shard.origin.to_string()))
        })
    }

    /// Returns the waiting shards that have some of these blocks.
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

    /// Returns the stretches of waiting blocks, in order.
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
    /// Returns what a store has of some blocks.
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

/// Compares some blocks of two sources. `who` says who played a block.
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

/// Returns the chunks from a block on, with small ones combined.
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

/// Drops the blocks from `end` on.
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
    /// Adds the chunk that follows.
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
