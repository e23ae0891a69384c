//! The store: one SQLite file that holds the plan, every result, and what went wrong, so that they cannot disagree.

use super::{
    Plan,
    results::{BlockResult, Closing},
};
use crate::{fault::SeatFault, player::Effort};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};
use std::{path::Path, time::Duration};

/// "NECR": says that an SQLite file is one of ours.
const APPLICATION: i32 = 0x4e45_4352;
/// The version of the tables.
const VERSION: i32 = 2;

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has it.
    #[error("the store is in use by another process: wait for it, or choose another --store")]
    Busy,
    /// It is not ours.
    #[error("this file is not a necrodome store, and is left as it is: choose another --store")]
    Foreign,
    /// It is ours, but damaged.
    #[error("the store is damaged ({0}), and is left as it is: choose another --store")]
    Damaged(String),
    /// It was written by another version.
    #[error("the store has version {came}, and this necrodome uses version {VERSION}")]
    Version {
        /// The version of the file.
        came: i32,
    },
    /// It holds another tournament.
    #[error(
        "the store holds another tournament ({what} differs): choose another --store, or repeat the command as it was"
    )]
    OtherPlan {
        /// What is not the same.
        what: String,
    },
    /// The disk is full.
    #[error(
        "the disk is full: what was reported as played is kept; make room and run the same command again"
    )]
    Full,
    /// Anything else.
    #[error("the store cannot be used: {0}")]
    Other(rusqlite::Error),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
            Some(ErrorCode::NotADatabase) => StoreError::Foreign,
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged(error.to_string()),
            Some(ErrorCode::DiskFull) => StoreError::Full,
            _ => StoreError::Other(error),
        }
    }
}

/// An open store. No other process can open it meanwhile.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
}

/// New in version 2: the luck of seat 0 in each match of blocks that were stored together, as 32-bit floats.
const LUCK_TABLE: &str = "CREATE TABLE luck (first INTEGER PRIMARY KEY, packed BLOB NOT NULL);";

const TABLES: &str = "
CREATE TABLE plan (plan TEXT NOT NULL);
-- The results of blocks that were stored together, packed; see results.rs.
CREATE TABLE results (first INTEGER PRIMARY KEY, blocks INTEGER NOT NULL, packed BLOB NOT NULL);
-- Matches with faults or a replay.
CREATE TABLE detail (
    block INTEGER NOT NULL, number INTEGER NOT NULL, faults TEXT NOT NULL, replay BLOB, PRIMARY KEY (block, number)
);
-- How hard each entry has thought, over all blocks; measured, so not part of the result.
CREATE TABLE effort (entry INTEGER PRIMARY KEY, decisions INTEGER NOT NULL, nanoseconds INTEGER NOT NULL);
-- What was left to say when a process ended.
CREATE TABLE closing (entry INTEGER NOT NULL, faults TEXT NOT NULL, log TEXT NOT NULL);
";

impl Store {
    /// A store that lives as long as the process.
    pub fn in_memory(plan: &Plan) -> Result<Self, StoreError> {
        Self::prepare(Connection::open_in_memory()?, plan, true)
    }

    /// Opens the store of a plan, or makes a new one.
    pub fn open(path: &Path, plan: &Plan) -> Result<Self, StoreError> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::ZERO)?;
        // A database without any table is as good as none: a start that was killed leaves one.
        let blank = "SELECT (SELECT count(*) FROM sqlite_schema) = 0
            AND (SELECT application_id FROM pragma_application_id) = 0";
        let fresh = connection.query_row(blank, [], |row| row.get(0))?;
        Self::prepare(connection, plan, fresh)
    }

    /// Opens a store to read it, whatever its plan.
    pub fn read(path: &Path) -> Result<(Self, Plan), StoreError> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let store = Self::lock(connection, false)?;
        let plan = store.plan()?.ok_or_else(|| StoreError::Damaged("it has no plan".into()))?;
        Ok((store, plan))
    }

    /// Takes the lock and checks that the file is ours.
    fn lock(connection: Connection, fresh: bool) -> Result<Self, StoreError> {
        connection.busy_timeout(Duration::ZERO)?;
        if !fresh {
            let application: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
            let version: i32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            if application != APPLICATION {
                return Err(StoreError::Foreign);
            }
            if !(1..=VERSION).contains(&version) {
                return Err(StoreError::Version { came: version });
            }
        }
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.execute_batch("BEGIN IMMEDIATE; COMMIT")?;
        if !fresh {
            Self::upgrade(&connection)?;
            let check: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
            if check != "ok" {
                return Err(StoreError::Damaged(check));
            }
        }
        Ok(Store { connection })
    }

    /// Brings a store of an older version up to date. What it holds stays as it is.
    fn upgrade(connection: &Connection) -> Result<(), StoreError> {
        let version: i32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if version < 2 {
            connection
                .execute_batch(&format!("BEGIN; {LUCK_TABLE} PRAGMA user_version = {VERSION}; COMMIT"))?;
        }
        Ok(())
    }

    fn prepare(connection: Connection, plan: &Plan, fresh: bool) -> Result<Self, StoreError> {
        let mut store = Self::lock(connection, fresh)?;
        if fresh {
            let transaction = store.connection.transaction()?;
            transaction.execute_batch(TABLES)?;
            transaction.execute_batch(LUCK_TABLE)?;
            transaction.execute("INSERT INTO plan VALUES (?1)", [to_json(plan)])?;
            for entry in 0..plan.entries.len() {
                transaction.execute("INSERT INTO effort VALUES (?1, 0, 0)", [entry as i64])?;
            }
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
            transaction.commit()?;
        } else {
            let stored = store.plan()?.ok_or_else(|| StoreError::Damaged("it has no plan".into()))?;
            if let Some(what) = difference(&stored, plan) {
                return Err(StoreError::OtherPlan { what });
            }
        }
        Ok(store)
    }

    fn plan(&self) -> Result<Option<Plan>, StoreError> {
        let text: Option<String> =
            self.connection.query_row("SELECT plan FROM plan", [], |row| row.get(0)).optional()?;
        let parse = |text: String| {
            serde_json::from_str(&text).map_err(|error| StoreError::Damaged(error.to_string()))
        };
        text.map(parse).transpose()
    }

    /// How many blocks are stored; they are the first ones.
    pub fn blocks(&self) -> Result<u32, StoreError> {
        Ok(self.connection.query_row("SELECT coalesce(sum(blocks), 0) FROM results", [], |row| row.get(0))?)
    }

    /// Stores finished blocks, all or none of them. They follow those that are stored already.
    pub fn append(&mut self, blocks: &[BlockResult]) -> Result<(), StoreError> {
        let Some(first) = blocks.first() else { return Ok(()) };
        let transaction = self.connection.transaction()?;
        {
            let mut packed = Vec::new();
            blocks.iter().for_each(|block| block.pack(&mut packed));
            let results_row = "INSERT INTO results VALUES (?1, ?2, ?3)";
            transaction.execute(results_row, params![first.block, blocks.len() as i64, packed])?;
            let luck: Vec<u8> =
                blocks.iter().flat_map(|block| &block.luck).flat_map(|luck| luck.to_le_bytes()).collect();
            if !luck.is_empty() {
                transaction.execute("INSERT INTO luck VALUES (?1, ?2)", params![first.block, luck])?;
            }
            let mut detail_row = transaction.prepare_cached("INSERT INTO detail VALUES (?1, ?2, ?3, ?4)")?;
            let mut effort_row = transaction.prepare_cached(
                "UPDATE effort SET decisions = decisions + ?2, nanoseconds = nanoseconds + ?3 WHERE entry = ?1",
            )?;
            for block in blocks {
                for detail in &block.details {
                    let faults = to_json(&detail.faults);
                    detail_row.execute(params![block.block, detail.number, faults, detail.replay])?;
                }
                for (entry, effort) in block.efforts.iter().enumerate().filter(|(_, e)| e.decisions > 0) {
                    let nanoseconds = effort.cpu.as_nanos() as i64;
                    effort_row.execute(params![entry as i64, effort.decisions as i64, nanoseconds])?;
                }
            }
        }
        Ok(transaction.commit()?)
    }

    /// The packed results of all blocks, in order.
    pub(super) fn results(&self) -> Result<Vec<u8>, StoreError> {
        let mut query = self.connection.prepare("SELECT packed FROM results ORDER BY first")?;
        let rows = query.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<Result<Vec<Vec<u8>>, _>>()?.concat())
    }

    /// The luck of seat 0 in all matches, in order; fewer than there are matches if it was not measured from the start.
    /// `matches` are those of a block.
    pub(super) fn luck(&self, matches: usize) -> Result<Vec<f32>, StoreError> {
        let mut query = self.connection.prepare(
            "SELECT luck.packed, results.blocks FROM luck LEFT JOIN results USING (first) ORDER BY first",
        )?;
        let rows =
            query.query_map([], |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Option<i64>>(1)?)))?;
        let mut luck = Vec::new();
        for row in rows {
            let (packed, blocks) = row?;
            let (floats, rest) = packed.as_chunks::<4>();
            let expected = blocks.map(|blocks| blocks as usize * matches);
            if expected != Some(floats.len()) || !rest.is_empty() {
                return Err(StoreError::Damaged("the luck of some blocks does not fit them".into()));
            }
            luck.extend(floats.iter().map(|&bytes| f32::from_le_bytes(bytes)));
        }
        Ok(luck)
    }

    /// What went wrong, match by match: block, number of the match, faults.
    pub(super) fn faults(&self) -> Result<Vec<(u32, u32, Vec<SeatFault>)>, StoreError> {
        let mut query = self.connection.prepare("SELECT block, number, faults FROM detail ORDER BY 1, 2")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?)))?;
        let mut all = Vec::new();
        for row in rows {
            let (block, number, text) = row?;
            let faults: Vec<SeatFault> =
                serde_json::from_str(&text).map_err(|error| StoreError::Damaged(error.to_string()))?;
            if !faults.is_empty() {
                all.push((block, number, faults));
            }
        }
        Ok(all)
    }

    /// Stores what was left to say when players were closed.
    pub fn close(&mut self, closings: &[Closing]) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        for Closing { entry, faults, log } in closings {
            let row = params![*entry as i64, to_json(faults), log];
            transaction.execute("INSERT INTO closing VALUES (?1, ?2, ?3)", row)?;
        }
        Ok(transaction.commit()?)
    }

    /// What was left to say when players were closed.
    pub(super) fn closings(&self) -> Result<Vec<Closing>, StoreError> {
        let mut query = self.connection.prepare("SELECT entry, faults, log FROM closing ORDER BY rowid")?;
        let rows = query.query_map([], |row| {
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
        let query = "SELECT replay FROM detail WHERE block = ?1 AND number = ?2";
        let row: Option<Option<Vec<u8>>> =
            self.connection.query_row(query, [block, number], |row| row.get(0)).optional()?;
        Ok(row.flatten())
    }

    /// How hard each entry has thought.
    pub(super) fn efforts(&self) -> Result<Vec<Effort>, StoreError> {
        let mut query =
            self.connection.prepare("SELECT decisions, nanoseconds FROM effort ORDER BY entry")?;
        let rows = query.query_map([], |row| {
            let (decisions, nanoseconds): (i64, i64) = (row.get(0)?, row.get(1)?);
            Ok(Effort { decisions: decisions as u64, cpu: Duration::from_nanos(nanoseconds as u64) })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Types of the arena have no maps with odd keys, so this cannot fail.
fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// What is not the same in two plans. More blocks than before are welcome: the tournament goes on.
fn difference(stored: &Plan, asked: &Plan) -> Option<String> {
    let (Ok(stored), Ok(asked)) = (serde_json::to_value(stored), serde_json::to_value(asked)) else {
        return Some("plan".into());
    };
    let fields = stored.as_object()?.iter().filter(|(name, _)| *name != "blocks");
    fields.into_iter().find(|(name, value)| asked.get(name) != Some(value)).map(|(name, _)| name.clone())
}
