//! The one file: tournaments are the arena's tables, what belongs to the server alone is here.

use rusqlite::{Connection, OptionalExtension, params};
use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The file, shared by all that keep something in it.
#[derive(Debug, Clone)]
pub struct Db(Arc<Mutex<Connection>>);

const TABLES: &str = "
-- What the server must know again after a restart, by name.
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
";

impl Db {
    /// Opens the file, or makes it.
    pub fn open(path: Option<&Path>) -> rusqlite::Result<Self> {
        let connection = match path {
            Some(path) => Connection::open(path)?,
            None => Connection::open_in_memory()?,
        };
        connection.execute_batch(TABLES)?;
        Ok(Db(Arc::new(Mutex::new(connection))))
    }

    /// The connection. Held for as short as possible: everybody waits for it.
    pub fn lock(&self) -> MutexGuard<'_, Connection> {
        // SQLite rolls back what a panic has left open.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
