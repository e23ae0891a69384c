//! The one file: tournaments are the arena's tables, what belongs to the server alone is here.

use necrodome_arena::tournament::{Archive, StoreError};
use rusqlite::{Connection, OptionalExtension, params};
use std::{path::Path, sync::MutexGuard};

/// The file, shared by all that keep something in it.
#[derive(Debug, Clone)]
pub struct Db(Archive);

const TABLES: &str = "
-- What the server must know again after a restart, by name.
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
";

impl Db {
    /// Opens the file, or makes it. No other process can open it meanwhile.
    pub fn open(path: Option<&Path>) -> Result<Self, StoreError> {
        let archive = match path {
            Some(path) => Archive::open(path)?,
            None => Archive::in_memory()?,
        };
        archive.connection().execute_batch(TABLES)?;
        Ok(Db(archive))
    }

    /// The tournaments in it.
    pub fn archive(&self) -> &Archive {
        &self.0
    }

    /// The connection. Held for as short as possible: everybody waits for it.
    pub fn lock(&self) -> MutexGuard<'_, Connection> {
        self.0.connection()
    }

    /// A value that is kept.
    pub fn setting(&self, name: &str) -> rusqlite::Result<Option<String>> {
        let query = "SELECT value FROM setting WHERE name = ?1";
        self.lock().query_row(query, [name], |row| row.get(0)).optional()
    }

    /// Keeps a value in place of the one before.
    pub fn set(&self, name: &str, value: &str) -> rusqlite::Result<()> {
        self.lock().execute("INSERT OR REPLACE INTO setting VALUES (?1, ?2)", params![name, value]).map(drop)
    }

    /// Forgets a secret: its bytes are written over, in the file and in the log beside it.
    pub fn forget(&self, name: &str) -> rusqlite::Result<()> {
        let connection = self.lock();
        connection.pragma_update(None, "secure_delete", true)?;
        connection.execute("DELETE FROM setting WHERE name = ?1", [name])?;
        // The file now, not when the log is full.
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }
}
