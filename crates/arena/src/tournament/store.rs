//! One stored tournament. Blocks are stored in order, each together with its results and faults, so that they always
//! agree.

use super::{
    Archive, Plan, Schedule, StoreError,
    archive::to_json,
    chain::{CHUNKS, CLOSINGS, DETAILS},
    results::{BlockResult, Closing, Detail},
};
use crate::{
    fault::{FaultKind, SeatFault},
    player::{AnsweredBy, Effort, Usage},
};
use rusqlite::{OptionalExtension, Row, params, types::ValueRef};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{collections::BTreeMap, ops::Range, time::Duration};

/// Blocks that were stored together.
#[derive(Debug)]
pub(super) struct Chunk {
    pub first: u32,
    pub blocks: u32,
    pub results: Vec<u8>,
    luck: Vec<u8>,
    /// The effort of each entry.
    pub efforts: Vec<Effort>,
}

impl Chunk {
    /// Returns the luck of seat 0 in each match, if it was measured.
    pub fn luck(&self, schedule: &Schedule) -> Result<Option<Vec<f32>>, StoreError> {
        if self.luck.is_empty() {
            return Ok(None);
        }
        let (floats, rest) = self.luck.as_chunks::<4>();
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

    /// Returns the luck as it is stored.
    pub fn packed_luck(&self) -> &[u8] {
        &self.luck
    }

    /// Returns the block after the last one.
    pub fn end(&self) -> Result<u32, StoreError> {
        let damaged = || StoreError::Damaged("there are more blocks than a tournament can have".into());
        self.first.checked_add(self.blocks).ok_or_else(damaged)
    }
}

/// A row of the table of chunks, as it travels; below, those of the other tables.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChunkRow {
    pub first: u32,
    pub blocks: u32,
    #[serde(with = "serde_bytes")]
    pub results: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub luck: Vec<u8>,
    pub efforts: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct DetailRow {
    pub block: u32,
    pub number: u32,
    pub faults: String,
    #[serde(with = "serde_bytes")]
    pub replay: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ClosingRow {
    pub entry: u32,
    pub faults: String,
    pub log: String,
}

impl ChunkRow {
    /// Makes a chunk of blocks that are stored together.
    fn of(blocks: &[BlockResult]) -> Self {
        let mut efforts: Vec<Effort> = Vec::new();
        for (entry, effort) in blocks.iter().flat_map(|block| block.efforts.iter().enumerate()) {
            efforts.resize(efforts.len().max(entry + 1), Effort::default());
            efforts[entry] += effort.clone();
        }
        let luck = blocks.iter().flat_map(|block| &block.luck).flat_map(|luck| luck.to_le_bytes());
        ChunkRow {
            first: blocks.first().map_or(0, |first| first.block),
            blocks: blocks.len() as u32,
            results: blocks.iter().flat_map(|block| &block.packed).copied().collect(),
            luck: luck.collect(),
            efforts: to_json(&efforts.iter().map(packed).collect::<Vec<_>>()),
        }
    }

    fn values(&self) -> [ValueRef<'_>; 5] {
        [
            ValueRef::Integer(self.first.into()),
            ValueRef::Integer(self.blocks.into()),
            ValueRef::Blob(&self.results),
            ValueRef::Blob(&self.luck),
            ValueRef::Text(self.efforts.as_bytes()),
        ]
    }
}

impl DetailRow {
    fn values(&self) -> [ValueRef<'_>; 4] {
        [
            ValueRef::Integer(self.block.into()),
            ValueRef::Integer(self.number.into()),
            ValueRef::Text(self.faults.as_bytes()),
            self.replay.as_deref().map_or(ValueRef::Null, ValueRef::Blob),
        ]
    }
}

impl ClosingRow {
    fn values((number, row): (i64, &Self)) -> [ValueRef<'_>; 4] {
        [
            ValueRef::Integer(number),
            ValueRef::Integer(row.entry.into()),
            ValueRef::Text(row.faults.as_bytes()),
            ValueRef::Text(row.log.as_bytes()),
        ]
    }
}

/// A tournament in a file.
#[derive(Debug, Clone)]
pub struct Store {
    archive: Archive,
    id: i64,
    keeps_replays: bool,
}

impl Store {
    pub(super) fn new(archive: Archive, id: i64) -> Self {
        Store { archive, id, keeps_replays: true }
    }

    /// Returns the same store, which keeps no replays from now on: nobody will read them.
    pub fn without_replays(self) -> Self {
        Store { keeps_replays: false, ..self }
    }

    /// Whether it keeps the replays of matches that cannot be played again from the seed alone.
    pub fn keeps_replays(&self) -> bool {
        self.keeps_replays
    }

    /// Makes a store that lives as long as the process.
    pub fn in_memory(plan: &Plan) -> Result<Self, StoreError> {
        Archive::in_memory()?.begin(plan)
    }

    /// Returns the number of the tournament in its file.
    pub fn id(&self) -> i64 {
        self.id
    }

    /// Returns the file.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// Returns how many blocks are stored; they are the first ones.
    pub fn blocks(&self) -> Result<u32, StoreError> {
        let query = "SELECT first + blocks FROM chunks WHERE tournament = ?1 ORDER BY first DESC LIMIT 1";
        let end = self.archive.connection().query_row(query, [self.id], |row| row.get(0)).optional()?;
        Ok(end.unwrap_or(0))
    }

    /// Stores finished blocks, all or none of them. They must follow the stored ones.
    pub fn append(&mut self, blocks: &[BlockResult]) -> Result<(), StoreError> {
        if blocks.is_empty() {
            return Ok(());
        }
        let details =
            blocks.iter().flat_map(|block| block.details.iter().map(|detail| (block.block, detail)));
        let details: Vec<DetailRow> = details
            .map(|(block, Detail { number, faults, replay })| DetailRow {
                block,
                number: *number,
                faults: to_json(faults),
                replay: replay.clone(),
            })
            .collect();
        self.write(&[ChunkRow::of(blocks)], &details, &[])
    }

    /// Stores the last faults and logs of players that were closed.
    pub fn close(&mut self, closings: &[Closing]) -> Result<(), StoreError> {
        let row = |Closing { entry, faults, log }: &Closing| ClosingRow {
            entry: *entry as u32,
            faults: to_json(faults),
            log: log.clone(),
        };
        self.write(&[], &[], &closings.iter().map(row).collect::<Vec<_>>())
    }

    /// Adds rows to the tables of the tournament, all or none of them, within the caller's transaction if there is one.
    pub(super) fn write(
        &mut self,
        chunks: &[ChunkRow],
        details: &[DetailRow],
        closings: &[ClosingRow],
    ) -> Result<(), StoreError> {
        let mut connection = self.archive.connection();
        let transaction = connection.savepoint()?;
        CHUNKS.append(&transaction, self.id, chunks.iter().map(ChunkRow::values))?;
        DETAILS.append(&transaction, self.id, details.iter().map(DetailRow::values))?;
        let numbers = CLOSINGS.head(&transaction, self.id)?.rows..;
        CLOSINGS.append(&transaction, self.id, numbers.zip(closings).map(ClosingRow::values))?;
        Ok(transaction.commit()?)
    }

    /// Returns the chunk with this block: its first block, the number of blocks, their packed results, and their luck if it was
    /// measured.
    pub(super) fn chunk(&self, block: u32) -> Result<Option<Chunk>, StoreError> {
        let connection = self.archive.connection();
        let mut query = connection.prepare_cached(
            "SELECT * FROM chunks WHERE tournament = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1",
        )?;
        let mut rows = query.query(params![self.id, block])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        self.archive.check(&CHUNKS, row)?;
        let efforts: Vec<PackedEffort> = parse(&row.get::<_, String>(6)?)?;
        let chunk = Chunk {
            first: row.get(2)?,
            blocks: row.get(3)?,
            results: row.get(4)?,
            luck: row.get(5)?,
            efforts: efforts.into_iter().map(unpacked).collect(),
        };
        Ok(Some(chunk).filter(|chunk| block - chunk.first < chunk.blocks))
    }

    /// Returns all chunks as they are stored.
    pub(super) fn chunk_rows(&self) -> Result<Vec<ChunkRow>, StoreError> {
        let connection = self.archive.connection();
        let mut query = connection.prepare_cached(
            "SELECT first, blocks, results, luck, efforts FROM chunks WHERE tournament = ?1 ORDER BY first",
        )?;
        let row = |row: &Row| {
            let (results, luck) = (row.get(2)?, row.get(3)?);
            Ok(ChunkRow { first: row.get(0)?, blocks: row.get(1)?, results, luck, efforts: row.get(4)? })
        };
        Ok(query.query_map([self.id], row)?.collect::<Result<_, _>>()?)
    }

    /// Returns the details of all blocks.
    pub(super) fn detail_rows(&self) -> Result<Vec<DetailRow>, StoreError> {
        self.detail_rows_of(&(0..u32::MAX))
    }

    /// Returns the details of some blocks.
    pub(super) fn detail_rows_of(&self, blocks: &Range<u32>) -> Result<Vec<DetailRow>, StoreError> {
        let connection = self.archive.connection();
        let mut query = connection.prepare_cached(
            "SELECT * FROM details WHERE tournament = ?1 AND block >= ?2 AND block < ?3 ORDER BY block, number",
        )?;
        let mut rows = query.query(params![self.id, blocks.start, blocks.end])?;
        let mut details = Vec::new();
        while let Some(row) = rows.next()? {
            self.archive.check(&DETAILS, row)?;
            let (faults, replay) = (row.get(4)?, row.get(5)?);
            details.push(DetailRow { block: row.get(2)?, number: row.get(3)?, faults, replay });
        }
        Ok(details)
    }

    /// Returns the last faults and logs of closed players, as they are stored.
    pub(super) fn closing_rows(&self) -> Result<Vec<ClosingRow>, StoreError> {
        let connection = self.archive.connection();
        let mut query = connection.prepare_cached(
            "SELECT entry, faults, log FROM closings WHERE tournament = ?1 ORDER BY number",
        )?;
        let row = |row: &Row| Ok(ClosingRow { entry: row.get(0)?, faults: row.get(1)?, log: row.get(2)? });
        Ok(query.query_map([self.id], row)?.collect::<Result<_, _>>()?)
    }

    /// Returns the faults in some blocks, match by match: block, number of the match, faults.
    pub fn faults(&self, blocks: Range<u32>) -> Result<Vec<(u32, u32, Vec<SeatFault>)>, StoreError> {
        let connection = self.archive.connection();
        let mut query = connection.prepare_cached(
            "SELECT * FROM details WHERE tournament = ?1 AND block >= ?2 AND block < ?3 AND faults <> '[]' ORDER BY block, number",
        )?;
        let mut found = Vec::new();
        let mut rows = query.query(params![self.id, blocks.start, blocks.end])?;
        while let Some(row) = rows.next()? {
            self.archive.check(&DETAILS, row)?;
            found.push((row.get(2)?, row.get(3)?, row.get::<_, String>(4)?));
        }
        // There may be many, and everybody waits for the connection.
        drop(rows);
        drop(query);
        drop(connection);
        found.into_iter().map(|(block, number, faults)| Ok((block, number, parse(&faults)?))).collect()
    }

    /// Refuses an incomplete tournament: a row may be missing.
    pub(super) fn check_chains(&self) -> Result<(), StoreError> {
        self.archive.check_chains(self.id)
    }

    /// Returns the last faults and logs of closed players.
    pub fn closings(&self) -> Result<Vec<Closing>, StoreError> {
        let connection = self.archive.connection();
        let mut query =
            connection.prepare_cached("SELECT * FROM closings WHERE tournament = ?1 ORDER BY number")?;
        let mut rows = query.query([self.id])?;
        let mut closings = Vec::new();
        while let Some(row) = rows.next()? {
            self.archive.check(&CLOSINGS, row)?;
            let (entry, faults) = (row.get::<_, i64>(3)? as usize, parse(&row.get::<_, String>(4)?)?);
            closings.push(Closing { entry, faults, log: row.get(5)? });
        }
        Ok(closings)
    }

    /// Returns the first log of an entry in which a line is.
    pub(super) fn log_with(&self, entry: usize, line: &str) -> Result<Option<String>, StoreError> {
        let connection = self.archive.connection();
        let mut query = connection.prepare_cached(
            "SELECT * FROM closings WHERE tournament = ?1 AND entry = ?2 AND instr(log, ?3) > 0 ORDER BY number LIMIT 1",
        )?;
        let mut rows = query.query(params![self.id, entry as i64, line])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        self.archive.check(&CLOSINGS, row)?;
        Ok(Some(row.get(5)?))
    }

    /// Returns the replay of a match, if it was kept.
    pub fn replay(&self, block: u32, number: u32) -> Result<Option<Vec<u8>>, StoreError> {
        let connection = self.archive.connection();
        let mut query = connection
            .prepare_cached("SELECT * FROM details WHERE tournament = ?1 AND block = ?2 AND number = ?3")?;
        let mut rows = query.query(params![self.id, block, number])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        self.archive.check(&DETAILS, row)?;
        Ok(row.get(5)?)
    }
}

/// An effort as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum PackedEffort {
    Numbers(Vec<u64>),
    /// The effort of a language model, with the models that answered.
    Answered(Vec<u64>, AnsweredBy),
    /// The same, with the answers that could not be used.
    Unusable(Vec<u64>, AnsweredBy, BTreeMap<FaultKind, u64>),
}

/// Packs an effort: decisions and nanoseconds, and further numbers only if they are not zero.
pub(super) fn packed(effort: &Effort) -> PackedEffort {
    let Effort { decisions, cpu, fuel: _, usage, priced, regret_nanos } = effort;
    let mut numbers = vec![*decisions, cpu.as_nanos() as u64];
    if (usage, *priced) != (&Usage::default(), 0) {
        numbers.extend([
            usage.calls,
            usage.input_tokens,
            usage.cached_tokens,
            usage.output_tokens,
            usage.reasoning_tokens,
            usage.cost_nanos,
            usage.waited.as_nanos() as u64,
            usage.unusable,
            *priced,
            *regret_nanos,
        ]);
        if (usage.lost, usage.unpriced) != (0, 0) {
            numbers.extend([usage.lost, usage.unpriced]);
        }
    }
    let (models, unusable) = (usage.answered_by.clone(), usage.unusable_by_kind.clone());
    match (models.0.is_empty(), unusable.is_empty()) {
        (true, true) => PackedEffort::Numbers(numbers),
        (false, true) => PackedEffort::Answered(numbers, models),
        (_, false) => PackedEffort::Unusable(numbers, models, unusable),
    }
}

/// Unpacks an effort from a store.
pub(super) fn unpacked(packed: PackedEffort) -> Effort {
    let (numbers, answered_by, unusable_by_kind) = match packed {
        PackedEffort::Numbers(numbers) => (numbers, AnsweredBy::default(), BTreeMap::default()),
        PackedEffort::Answered(numbers, models) => (numbers, models, BTreeMap::default()),
        PackedEffort::Unusable(numbers, models, unusable) => (numbers, models, unusable),
    };
    let number = |place: usize| numbers.get(place).copied().unwrap_or_default();
    Effort {
        decisions: number(0),
        cpu: Duration::from_nanos(number(1)),
        fuel: 0,
        usage: Usage {
            calls: number(2),
            input_tokens: number(3),
            cached_tokens: number(4),
            output_tokens: number(5),
            reasoning_tokens: number(6),
            cost_nanos: number(7),
            waited: Duration::from_nanos(number(8)),
            unusable: number(9),
            unusable_by_kind,
            lost: number(12),
            unpriced: number(13),
            answered_by,
        },
        priced: number(10),
        regret_nanos: number(11),
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Damaged(error.to_string()))
}
