//! What is kept of one tournament. Blocks are stored in order, each with its result, and what went wrong, so that they cannot
//! disagree.

use super::{
    Archive, Plan, Schedule, StoreError,
    archive::to_json,
    results::{BlockResult, Closing},
};
use crate::{
    fault::{FaultKind, SeatFault},
    player::Effort,
};
use rusqlite::{OptionalExtension, params};
use std::{ops::Range, time::Duration};

/// Blocks that were stored together.
#[derive(Debug)]
pub(super) struct Chunk {
    pub first: u32,
    pub blocks: u32,
    pub results: Vec<u8>,
    luck: Option<Vec<u8>>,
}

impl Chunk {
    /// The luck of seat 0 in each match, if it was measured.
    pub fn luck(&self, schedule: &Schedule) -> Result<Option<Vec<f32>>, StoreError> {
        let Some(packed) = &self.luck else { return Ok(None) };
        let (floats, rest) = packed.as_chunks::<4>();
        let matches = schedule.matches_before(self.end()?) - schedule.matches_before(self.first);
        if floats.len() as u64 != matches || !rest.is_empty() {
            return Err(StoreError::Damaged("the luck of some blocks does not fit them".into()));
        }
        let luck: Vec<f32> = floats.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        match luck.iter().all(|luck| luck.is_finite()) {
            true => Ok(Some(luck)),
            false => Err(StoreError::Damaged("the luck of a match is no number".into())),
        }
    }

    /// The luck as it is stored.
    pub fn packed_luck(&self) -> &[u8] {
        self.luck.as_deref().unwrap_or_default()
    }

    /// The block behind the last one.
    pub fn end(&self) -> Result<u32, StoreError> {
        let damaged = || StoreError::Damaged("there are more blocks than a tournament can have".into());
        self.first.checked_add(self.blocks).ok_or_else(damaged)
    }
}

/// A tournament in a file.
#[derive(Debug, Clone)]
pub struct Store {
    archive: Archive,
    id: i64,
}

impl Store {
    pub(super) fn new(archive: Archive, id: i64) -> Self {
        Store { archive, id }
    }

    /// A store that lives as long as the process.
    pub fn in_memory(plan: &Plan) -> Result<Self, StoreError> {
        Archive::in_memory()?.begin(plan)
    }

    /// The number of the tournament in its file.
    pub fn id(&self) -> i64 {
        self.id
    }

    /// The file.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// How many blocks are stored; they are the first ones.
    pub fn blocks(&self) -> Result<u32, StoreError> {
        let query = "SELECT coalesce(sum(blocks), 0) FROM results WHERE tournament = ?1";
        Ok(self.archive.connection().query_row(query, [self.id], |row| row.get(0))?)
    }

    /// Stores finished blocks, all or none of them. They follow those that are stored already.
    pub fn append(&mut self, blocks: &[BlockResult]) -> Result<(), StoreError> {
        let Some(first) = blocks.first() else { return Ok(()) };
        let packed: Vec<u8> = blocks.iter().flat_map(|block| &block.packed).copied().collect();
        let luck: Vec<u8> =
            blocks.iter().flat_map(|block| &block.luck).flat_map(|luck| luck.to_le_bytes()).collect();
        let mut connection = self.archive.connection();
        let transaction = connection.transaction()?;
        {
            let results_row = "INSERT INTO results VALUES (?1, ?2, ?3, ?4)";
            transaction.execute(results_row, params![self.id, first.block, blocks.len() as i64, packed])?;
            if !luck.is_empty() {
                let luck_row = "INSERT INTO luck VALUES (?1, ?2, ?3)";
                transaction.execute(luck_row, params![self.id, first.block, luck])?;
            }
            let mut detail_row =
                transaction.prepare_cached("INSERT INTO detail VALUES (?1, ?2, ?3, ?4, ?5)")?;
            let mut effort_row = transaction.prepare_cached(
                "UPDATE effort SET decisions = decisions + ?3, nanoseconds = nanoseconds + ?4
                 WHERE tournament = ?1 AND entry = ?2",
            )?;
            for block in blocks {
                for detail in &block.details {
                    let faults = to_json(&detail.faults);
                    let row = params![self.id, block.block, detail.number, faults, detail.replay];
                    detail_row.execute(row)?;
                }
                for (entry, effort) in block.efforts.iter().enumerate().filter(|(_, e)| e.decisions > 0) {
                    let nanoseconds = effort.cpu.as_nanos() as i64;
                    effort_row.execute(params![
                        self.id,
                        entry as i64,
                        effort.decisions as i64,
                        nanoseconds
                    ])?;
                }
            }
        }
        Ok(transaction.commit()?)
    }

    /// What was stored together: its first block, how many there are, their packed results, and their luck if it was
    /// measured. `block` is one of them.
    pub(super) fn chunk(&self, block: u32) -> Result<Option<Chunk>, StoreError> {
        let connection = self.archive.connection();
        let mut query = connection.prepare_cached(
            "SELECT first, blocks, results.packed, luck.packed FROM results LEFT JOIN luck USING (tournament, first)
             WHERE tournament = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1",
        )?;
        let chunk = query.query_row(params![self.id, block], |row| {
            Ok(Chunk { first: row.get(0)?, blocks: row.get(1)?, results: row.get(2)?, luck: row.get(3)? })
        });
        Ok(chunk.optional()?.filter(|chunk| block - chunk.first < chunk.blocks))
    }

    /// What went wrong in some blocks, match by match: block, number of the match, faults.
    pub fn faults(&self, blocks: Range<u32>) -> Result<Vec<(u32, u32, Vec<SeatFault>)>, StoreError> {
        let connection = self.archive.connection();
        let mut query = connection.prepare_cached(
            "SELECT block, number, faults FROM detail
             WHERE tournament = ?1 AND block >= ?2 AND block < ?3 AND faults <> '[]' ORDER BY 1, 2",
        )?;
        let rows = query.query_map(params![self.id, blocks.start, blocks.end], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        let rows = rows.collect::<Result<Vec<(u32, u32, String)>, _>>()?;
        // There may be many, and everybody waits for the connection.
        drop(query);
        drop(connection);
        let parse = |(block, number, text): (u32, u32, String)| {
            let faults =
                serde_json::from_str(&text).map_err(|error| StoreError::Damaged(error.to_string()))?;
            Ok((block, number, faults))
        };
        rows.into_iter().map(parse).collect()
    }

    /// How many faults the matches of some blocks had, without warnings: block, number of the match, seat, faults of a kind.
    pub(super) fn fault_counts(&self, blocks: Range<u32>) -> Result<Vec<(u32, u32, u16, u32)>, StoreError> {
        let connection = self.archive.connection();
        let mut query = connection.prepare_cached(
            "SELECT block, number, json_extract(value, '$.seat') AS seat, count(*), json_extract(value, '$.kind') AS kind
             FROM detail, json_each(faults)
             WHERE tournament = ?1 AND block >= ?2 AND block < ?3 AND faults <> '[]' GROUP BY block, number, seat, kind",
        )?;
        let rows = query.query_map(params![self.id, blocks.start, blocks.end], |row| {
            Ok(((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?), row.get::<_, String>(4)?))
        })?;
        let is_warning =
            |kind: &str| serde_json::from_value(kind.into()).is_ok_and(|kind: FaultKind| kind.is_warning());
        let mut counts = Vec::new();
        for row in rows {
            let (count, kind) = row?;
            counts.extend((!is_warning(&kind)).then_some(count));
        }
        Ok(counts)
    }

    /// Stores what was left to say when players were closed.
    pub fn close(&mut self, closings: &[Closing]) -> Result<(), StoreError> {
        let mut connection = self.archive.connection();
        let transaction = connection.transaction()?;
        for Closing { entry, faults, log } in closings {
            let row = params![self.id, *entry as i64, to_json(faults), log];
            transaction.execute("INSERT INTO closing VALUES (?1, ?2, ?3, ?4)", row)?;
        }
        Ok(transaction.commit()?)
    }

    /// What was left to say when players were closed.
    pub fn closings(&self) -> Result<Vec<Closing>, StoreError> {
        let connection = self.archive.connection();
        let mut query = connection
            .prepare_cached("SELECT entry, faults, log FROM closing WHERE tournament = ?1 ORDER BY rowid")?;
        let rows = query.query_map([self.id], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
        })?;
        let mut closings = Vec::new();
        for row in rows {
            let (entry, faults, log) = row?;
            let faults = serde_json::from_str(&faults).map_err(|e| StoreError::Damaged(e.to_string()))?;
            closings.push(Closing { entry: entry as usize, faults, log });
        }
        Ok(closings)
    }

    /// The replay of a match, if it was kept.
    pub fn replay(&self, block: u32, number: u32) -> Result<Option<Vec<u8>>, StoreError> {
        let query = "SELECT replay FROM detail WHERE tournament = ?1 AND block = ?2 AND number = ?3";
        let row: Option<Option<Vec<u8>>> = self
            .archive
            .connection()
            .query_row(query, params![self.id, block, number], |row| row.get(0))
            .optional()?;
        Ok(row.flatten())
    }

    /// How hard each entry has thought.
    pub(super) fn efforts(&self) -> Result<Vec<Effort>, StoreError> {
        let connection = self.archive.connection();
        let mut query = connection.prepare_cached(
            "SELECT decisions, nanoseconds FROM effort WHERE tournament = ?1 ORDER BY entry",
        )?;
        let rows = query.query_map([self.id], |row| {
            let (decisions, nanoseconds): (i64, i64) = (row.get(0)?, row.get(1)?);
            Ok(Effort { decisions: decisions as u64, cpu: Duration::from_nanos(nanoseconds as u64) })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
