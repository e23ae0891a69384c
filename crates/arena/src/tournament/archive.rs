//! One SQLite file that keeps tournaments, as many as are wanted. Other tables may live beside theirs.

use super::{Plan, Store};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};
use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// "NECR": says that an SQLite file is one of ours.
const APPLICATION: i32 = 0x4e45_4352;
/// The version of the tables.
const VERSION: i32 = 3;

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
    /// It holds other tournaments only.
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

/// An open file; a clone is the same file. No other process can open it meanwhile.
#[derive(Debug, Clone)]
pub struct Archive(Arc<Mutex<Connection>>);

const TABLES: &str = "
CREATE TABLE tournament (id INTEGER PRIMARY KEY AUTOINCREMENT, plan TEXT NOT NULL);
-- The results of blocks that were stored together, packed; see results.rs.
CREATE TABLE results (
    tournament INTEGER NOT NULL, first INTEGER NOT NULL, blocks INTEGER NOT NULL, packed BLOB NOT NULL,
    PRIMARY KEY (tournament, first)
);
-- The luck of seat 0 in each match of those blocks, as 32-bit floats.
CREATE TABLE luck (
    tournament INTEGER NOT NULL, first INTEGER NOT NULL, packed BLOB NOT NULL, PRIMARY KEY (tournament, first)
);
-- Matches with faults or a replay.
CREATE TABLE detail (
    tournament INTEGER NOT NULL, block INTEGER NOT NULL, number INTEGER NOT NULL, faults TEXT NOT NULL, replay BLOB,
    PRIMARY KEY (tournament, block, number)
);
-- How hard each entry has thought, over all blocks; measured, so not part of the result.
CREATE TABLE effort (
    tournament INTEGER NOT NULL, entry INTEGER NOT NULL, decisions INTEGER NOT NULL, nanoseconds INTEGER NOT NULL,
    PRIMARY KEY (tournament, entry)
);
-- What was left to say when a process ended.
CREATE TABLE closing (tournament INTEGER NOT NULL, entry INTEGER NOT NULL, faults TEXT NOT NULL, log TEXT NOT NULL);
";

/// From version 1: luck was not measured.
const FROM_1: &str = "CREATE TABLE luck (first INTEGER PRIMARY KEY, packed BLOB NOT NULL);";

/// From version 2: a file was one tournament. Its tables make way for those of many.
const FROM_2_AWAY: &str = "
ALTER TABLE plan RENAME TO old_plan; ALTER TABLE results RENAME TO old_results; ALTER TABLE luck RENAME TO old_luck;
ALTER TABLE detail RENAME TO old_detail; ALTER TABLE effort RENAME TO old_effort;
ALTER TABLE closing RENAME TO old_closing;
";
const FROM_2_BACK: &str = "
INSERT INTO tournament SELECT 1, plan FROM old_plan LIMIT 1;
INSERT INTO results SELECT 1, first, blocks, packed FROM old_results;
INSERT INTO luck SELECT 1, first, packed FROM old_luck;
INSERT INTO detail SELECT 1, block, number, faults, replay FROM old_detail;
INSERT INTO effort SELECT 1, entry, decisions, nanoseconds FROM old_effort;
INSERT INTO closing SELECT 1, entry, faults, log FROM old_closing ORDER BY rowid;
DROP TABLE old_plan; DROP TABLE old_results; DROP TABLE old_luck; DROP TABLE old_detail; DROP TABLE old_effort;
DROP TABLE old_closing;
";

impl Archive {
    /// A file that lives as long as the process.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::prepare(Connection::open_in_memory()?)
    }

    /// Opens a file, or makes it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::prepare(Connection::open(path)?)
    }

    /// Opens a file that is there.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        Self::prepare(Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?)
    }

    /// Checks that the file is ours, takes the lock, and brings it up to date.
    fn prepare(mut connection: Connection) -> Result<Self, StoreError> {
        connection.busy_timeout(Duration::ZERO)?;
        // A database without any table is as good as none: a start that was killed leaves one.
        let blank = "SELECT (SELECT count(*) FROM sqlite_schema) = 0
            AND (SELECT application_id FROM pragma_application_id) = 0";
        let fresh: bool = connection.query_row(blank, [], |row| row.get(0))?;
        if !fresh {
            check_version(&connection)?;
        }
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.execute_batch("BEGIN IMMEDIATE; COMMIT")?;
        if fresh {
            let transaction = connection.transaction()?;
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
            transaction.commit()?;
        } else {
            let check: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
            if check != "ok" {
                return Err(StoreError::Damaged(check));
            }
            upgrade(&mut connection)?;
        }
        Ok(Archive(Arc::new(Mutex::new(connection))))
    }

    /// The connection, for other tables in the same file. Held for as short as possible: everybody waits for it.
    pub fn connection(&self) -> MutexGuard<'_, Connection> {
        // SQLite rolls back what a panic has left open.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a new tournament.
    pub fn begin(&self, plan: &Plan) -> Result<Store, StoreError> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        transaction.execute("INSERT INTO tournament (plan) VALUES (?1)", [to_json(plan)])?;
        let id = transaction.last_insert_rowid();
        for entry in 0..plan.entries.len() {
            transaction.execute("INSERT INTO effort VALUES (?1, ?2, 0, 0)", params![id, entry as i64])?;
        }
        transaction.commit()?;
        drop(connection);
        Ok(Store::new(self.clone(), id))
    }

    /// The tournament with this id.
    pub fn store(&self, id: i64) -> Result<Option<(Store, Plan)>, StoreError> {
        let query = "SELECT plan FROM tournament WHERE id = ?1";
        let text: Option<String> = self.connection().query_row(query, [id], |row| row.get(0)).optional()?;
        text.map(|text| Ok((Store::new(self.clone(), id), parse(&text)?))).transpose()
    }

    /// All tournaments, oldest first.
    pub fn stores(&self) -> Result<Vec<(Store, Plan)>, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare("SELECT id, plan FROM tournament ORDER BY id")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
        let mut stores = Vec::new();
        for row in rows {
            let (id, text) = row?;
            stores.push((Store::new(self.clone(), id), parse(&text)?));
        }
        Ok(stores)
    }

    /// The seed of a tournament that has this plan but for the seed; if none has, that of the last one.
    pub fn seed_of(&self, plan: &Plan) -> Result<Option<u64>, StoreError> {
        let stores = self.stores()?;
        let alike = stores.iter().find(|(_, stored)| {
            let same_seed = Plan { seed: stored.seed, ..plan.clone() };
            difference(stored, &same_seed).is_none()
        });
        Ok(alike.or(stores.last()).map(|(_, stored)| stored.seed))
    }

    /// The tournament with this plan. An empty file begins it; a file of others only is refused.
    pub fn resume(&self, plan: &Plan) -> Result<Store, StoreError> {
        let mut what = None;
        for (store, stored) in self.stores()? {
            what = difference(&stored, plan);
            if what.is_none() {
                return Ok(store);
            }
        }
        match what {
            None => self.begin(plan),
            Some(what) => Err(StoreError::OtherPlan { what }),
        }
    }
}

fn check_version(connection: &Connection) -> Result<(), StoreError> {
    let application: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if application != APPLICATION {
        return Err(StoreError::Foreign);
    }
    match version(connection)? {
        1..=VERSION => Ok(()),
        came => Err(StoreError::Version { came }),
    }
}

fn version(connection: &Connection) -> Result<i32, StoreError> {
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Brings a file of an older version up to date, or leaves it as it is. What it holds stays the same.
fn upgrade(connection: &mut Connection) -> Result<(), StoreError> {
    let version = version(connection)?;
    if version == VERSION {
        return Ok(());
    }
    let transaction = connection.transaction()?;
    if version < 2 {
        transaction.execute_batch(FROM_1)?;
    }
    transaction.execute_batch(FROM_2_AWAY)?;
    transaction.execute_batch(TABLES)?;
    transaction.execute_batch(FROM_2_BACK)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}

fn parse(plan: &str) -> Result<Plan, StoreError> {
    serde_json::from_str(plan).map_err(|error| StoreError::Damaged(error.to_string()))
}

/// Types of the arena have no maps with odd keys, so this cannot fail.
pub(super) fn to_json(value: &impl serde::Serialize) -> String {
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
