//! The one file: tournaments are the arena's tables, what belongs to the server alone is here.

use necrodome_arena::tournament::{Archive, StoreError};
use rusqlite::{Connection, OptionalExtension, params};
use std::{fs::OpenOptions, os::unix::fs::OpenOptionsExt, path::Path, sync::MutexGuard};

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
            Some(path) => {
                // The key of the host and the roles of players are in it: a new file is for its owner alone. What goes wrong
                // here goes wrong for SQLite too, which says why.
                let _ = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
                Archive::open(path)?
            }
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

    /// A value that is kept, or the one that is made now.
    pub fn setting(&self, name: &str, make: impl FnOnce() -> String) -> rusqlite::Result<String> {
        let connection = self.lock();
        let query = "SELECT value FROM setting WHERE name = ?1";
        if let Some(value) = connection.query_row(query, [name], |row| row.get(0)).optional()? {
            return Ok(value);
        }
        let value = make();
        connection.execute("INSERT INTO setting VALUES (?1, ?2)", params![name, value])?;
        Ok(value)
    }
}
