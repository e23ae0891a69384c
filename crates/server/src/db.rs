//! The one file of the server: the arena's tables hold the tournaments, the tables here the rest.

use necrodome_arena::tournament::{Archive, StoreError};
use rusqlite::{Connection, OptionalExtension, params};
use std::{path::Path, sync::MutexGuard};

/// The file, shared by every part of the server that keeps something in it.
#[derive(Debug, Clone)]
pub struct Db(Archive);

const TABLES: &str = "
-- What the server must know again after a restart, by name.
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
";

impl Db {
    /// Opens the file, or creates it. No other process can open it meanwhile.
    pub fn open(path: Option<&Path>) -> Result<Self, StoreError> {
        let archive = match path {
            Some(path) => Archive::open(path)?,
            None => Archive::in_memory()?,
        };
        archive.connection().execute_batch(TABLES)?;
        Ok(Db(archive))
    }

    /// Returns the tournaments in the file.
    pub fn archive(&self) -> &Archive {
        &self.0
    }

    /// Locks the connection. Hold it as briefly as possible: everybody else waits for it.
    pub fn lock(&self) -> MutexGuard<'_, Connection> {
        self.0.connection()
    }

    /// Returns the value kept under this name, or `None` if there is none.
    pub fn setting(&self, name: &str) -> rusqlite::Result<Option<String>> {
        let query = "SELECT value FROM setting WHERE name = ?1";
        self.lock().query_row(query, [name], |row| row.get(0)).optional()
    }

    /// Keeps a value under this name and replaces the one before.
    pub fn set(&self, name: &str, value: &str) -> rusqlite::Result<()> {
        self.lock().execute("INSERT OR REPLACE INTO setting VALUES (?1, ?2)", params![name, value]).map(drop)
    }

    /// Deletes a secret: its bytes are overwritten, in the file and in the log beside it.
    pub fn forget(&self, name: &str) -> rusqlite::Result<()> {
        let connection = self.lock();
        connection.pragma_update(None, "secure_delete", true)?;
        connection.execute("DELETE FROM setting WHERE name = ?1", [name])?;
        // The file now, not when the log is full.
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }
}
