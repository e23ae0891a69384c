//! One SQLite file that keeps tournaments, as many as are wanted. Other tables may live beside theirs.

use super::{Plan, Store, tables};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};
use std::{
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has it.
    #[error("the store is in use by another process")]
    Busy,
    /// It is not ours.
    #[error("this file is not a necrodome store, and is left as it is")]
    Foreign,
    /// It is ours, but damaged.
    #[error("the store is damaged ({0}), and is left as it is")]
    Damaged(String),
    /// It was written by another version.
    #[error("the store has version {came}, and this necrodome reads versions up to {}", tables::VERSION)]
    Version {
        /// The version of the file.
        came: i32,
    },
    /// It holds other tournaments only.
    #[error("the store holds another tournament: {}", .differences.join("; "))]
    OtherPlan {
        /// What is not the same, with both values.
        differences: Vec<String>,
    },
    /// A program was changed since the tournament began.
    #[error(
        "{} changed since this tournament began, and old and new results must not be mixed",
        if .names.len() == 1 { format!("the program of {} has", .names[0]) } else { format!("the programs of {} have", .names.join(", ")) }
    )]
    OtherProgram {
        /// The entries.
        names: Vec<String>,
    },
    /// The process that wrote it was killed, and the store cannot be repaired because its folder is read-only.
    #[error(
        "the tournament that wrote the store was killed, and the store can only be put in order where it can be written"
    )]
    Unfinished,
    /// The disk is full.
    #[error("the disk is full; what was reported as played is kept")]
    Full,
    /// There is no such folder, or no file can be opened in it.
    #[error(
        "the store cannot be opened: expected a file in a folder that is there, which you may read and write"
    )]
    Closed,
    /// It can be read only.
    #[error("the store may not be written")]
    ReadOnly,
    /// The system failed.
    #[error("the disk has failed while the store was read or written")]
    Broken,
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
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => StoreError::Closed,
            Some(ErrorCode::ReadOnly) => StoreError::ReadOnly,
            Some(ErrorCode::SystemIoFailure) => StoreError::Broken,
            _ => StoreError::Other(error),
        }
    }
}

/// An open file; a clone is the same file. No other process can open it meanwhile, unless it was opened to be read.
#[derive(Debug, Clone)]
pub struct Archive(Arc<Mutex<Connection>>);

impl Archive {
    /// A file that lives as long as the process.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::prepare(Connection::open_in_memory()?)
    }

    /// Opens a file, or makes it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // As a file, whatever its name: `:memory:` and `file:...` mean something else to SQLite.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = Connection::open_with_flags(path, flags)?;
        // SQLite falls back to reading, and would make files beside the store before it fails to write.
        match connection.is_readonly("main")? {
            true => Err(StoreError::ReadOnly),
            false => Self::prepare(connection),
        }
    }

    /// Opens a file that is there, to read it: also a file that may not be written, and without changing it.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        // SQLite keeps its log beside the file that a link leads to.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.metadata().is_ok_and(|there| !there.is_file()) {
            return Err(StoreError::Foreign);
        }
        let log = log_of(path).metadata().ok().map(|log| log.len());
        let mended = log.map(|_| {
            // Somebody is writing, and holds the lock; or was killed, and SQLite puts the file in order.
            let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            take_lock(&connection).map(|()| connection)
        });
        let connection = match mended {
            Some(Ok(connection)) => connection,
            Some(Err(error @ (StoreError::Busy | StoreError::Foreign | StoreError::Damaged(_)))) => {
                return Err(error);
            }
            // It cannot be put in order here; an empty log has nothing to put in order.
            Some(Err(_)) if log != Some(0) => return Err(StoreError::Unfinished),
            // All is in the file itself. SQLite takes no lock and writes no file beside it then. Whoever begins to write
            // meanwhile leaves the file as it is for its first thousand pages.
            Some(Err(_)) | None => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
                Connection::open_with_flags(unchanging(path), flags)?
            }
        };
        tables::check_version(&connection)?;
        check_pages(&connection)?;
        tables::show(&connection)?;
        Ok(Archive(Arc::new(Mutex::new(connection))))
    }

    /// Checks that the file is ours, takes the lock, and brings it up to date.
    fn prepare(mut connection: Connection) -> Result<Self, StoreError> {
        connection.busy_timeout(Duration::ZERO)?;
        // A database without any table is as good as none: a start that was killed leaves one.
        let blank = "SELECT (SELECT count(*) FROM sqlite_schema) = 0
            AND (SELECT application_id FROM pragma_application_id) = 0";
        let fresh: bool = connection.query_row(blank, [], |row| row.get(0))?;
        if !fresh {
            tables::check_version(&connection)?;
        }
        take_lock(&connection)?;
        if fresh {
            tables::make(&mut connection)?;
        } else {
            check_pages(&connection)?;
            tables::upgrade(&mut connection)?;
        }
        Ok(Archive(Arc::new(Mutex::new(connection))))
    }

    /// The connection, for other tables in the same file. Held for as short as possible: everybody waits for it.
    pub fn connection(&self) -> MutexGuard<'_, Connection> {
        // SQLite rolls back what a panic has left open.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files that it consists of; none in memory.
    pub fn files(&self) -> Vec<PathBuf> {
        let path = self.connection().path().filter(|path| !path.is_empty()).map(str::to_owned);
        let all =
            |path: String| ["", "-wal", "-shm", "-journal"].map(|end| PathBuf::from(format!("{path}{end}")));
        path.map(all).into_iter().flatten().collect()
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
}

/// SQLite's write-ahead log, which exists as long as somebody writes.
fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// The URI that opens a file as one that nobody changes.
fn unchanging(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let written =
        |&byte: &u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    let path: String = path.as_os_str().as_bytes().iter().map(written).collect();
    format!("file:{path}?immutable=1")
}

/// Takes the lock for as long as the connection lives.
fn take_lock(connection: &Connection) -> Result<(), StoreError> {
    connection.busy_timeout(Duration::ZERO)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection.execute_batch("BEGIN IMMEDIATE; COMMIT")?)
}

fn check_pages(connection: &Connection) -> Result<(), StoreError> {
    let check: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if check == "ok" { Ok(()) } else { Err(StoreError::Damaged(check)) }
}

fn parse(plan: &str) -> Result<Plan, StoreError> {
    serde_json::from_str(plan).map_err(|error| StoreError::Damaged(error.to_string()))
}

/// Types of the arena have no maps with odd keys, so this cannot fail.
pub(super) fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
