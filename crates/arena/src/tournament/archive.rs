//! One SQLite file with any number of tournaments. Other tables may be in the same file.

use super::{
    Plan, Store,
    chain::{self, Damage, PLANS},
    log, sealed, tables,
};
use crate::{
    dice::Secret,
    own::{self, Distrust},
};
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, config::DbConfig, types::ValueRef};
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The reason why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process uses it.
    #[error("the store is in use by another process")]
    Busy,
    /// It is not a necrodome store.
    #[error("this file is not a necrodome store, and is left as it is")]
    Foreign,
    /// It is a necrodome store, but damaged.
    #[error("the store is damaged ({0}), and is left as it is")]
    Damaged(String),
    /// It was written by another version.
    #[error("the store has version {came}, and this necrodome reads versions up to {}", tables::VERSION)]
    Version {
        /// The version of the file.
        came: i32,
    },
    /// It holds only other tournaments.
    #[error("the store holds another tournament: {}", .differences.join("; "))]
    OtherPlan {
        /// The differences, each with both values.
        differences: Vec<String>,
    },
    /// A program has changed since the tournament began.
    #[error(
        "{} changed since this tournament began, and old and new results must not be mixed",
        if .names.len() == 1 { format!("the program of {} has", .names[0]) } else { format!("the programs of {} have", .names.join(", ")) }
    )]
    OtherProgram {
        /// The entries.
        names: Vec<String>,
    },
    /// The process that wrote it was killed, and the store cannot be put in order because its folder is read-only.
    #[error(
        "the tournament that wrote the store was killed, and the store can only be put in order where it can be written"
    )]
    Unfinished,
    /// The disk is full.
    #[error("the disk is full; what was reported as played is kept")]
    Full,
    /// The folder does not exist, or no file can be opened in it.
    #[error(
        "the store cannot be opened: expected a file in a folder that is there, which you may read and write"
    )]
    Closed,
    /// It is read-only.
    #[error("the store may not be written")]
    ReadOnly,
    /// Somebody else may have put it there to make the arena write elsewhere.
    #[error(transparent)]
    Distrusted(#[from] Distrust),
    /// The system failed.
    #[error("the disk has failed while the store was read or written")]
    Broken,
    /// A secret was given for public dice.
    #[error("public dice have no secret: expected one of the two")]
    PublicSecret,
    /// The system cannot give a random secret.
    #[error("the system gives no random bytes: {0}")]
    Random(#[from] getrandom::Error),
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
            // What is there is not what was written.
            None if !matches!(error, rusqlite::Error::QueryReturnedNoRows) => {
                StoreError::Damaged(error.to_string())
            }
            _ => StoreError::Other(error),
        }
    }
}

/// An open file; a clone is the same file. No other process can open it in the meantime, unless it was opened for reading.
#[derive(Debug, Clone)]
pub struct Archive {
    connection: Arc<Mutex<Connection>>,
    /// The version that the file had when it was opened.
    version: i32,
    /// Whether its rows are sealed.
    sealed: bool,
}

impl Archive {
    /// Makes a store that lives as long as the process.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::prepare(Connection::open_in_memory()?, None)
    }

    /// Opens a file, or creates it, for its owner alone.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // As a file, whatever its name: `:memory:` and `file:...` mean something else to SQLite.
        let path = own::in_real_folder(path);
        for end in ["", "-wal", "-journal", "-shm"] {
            own::check(&log::beside(&path, end))?;
        }
        // What goes wrong here goes wrong for SQLite too, which says why.
        let _ = own::make_private(&path);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&path, flags)?;
        // SQLite falls back to reading, and would make files beside the store before it fails to write.
        match connection.is_readonly("main")? {
            true => Err(StoreError::ReadOnly),
            false => Self::prepare(connection, Some(&path)).map_err(|error| named(&path, error)),
        }
    }

    /// Opens an existing file for reading, without changing it. The file may be read-only.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        // SQLite keeps its log beside the file that a link leads to.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.metadata().is_ok_and(|there| !there.is_file()) {
            return Err(StoreError::Foreign);
        }
        let connection = connect(path).map_err(|error| named(path, error))?;
        let checked = tables::check_version(&connection).and_then(|version| {
            check(&connection, version)?;
            tables::show(&connection)?;
            keep_log(&connection, false)?;
            Ok(version)
        });
        let version = checked.map_err(|error| named(path, error))?;
        let sealed = version == tables::VERSION;
        Ok(Archive { connection: Arc::new(Mutex::new(connection)), version, sealed })
    }

    /// Checks that the file is a necrodome store, takes the lock, and brings it up to date.
    fn prepare(mut connection: Connection, path: Option<&Path>) -> Result<Self, StoreError> {
        connection.busy_timeout(Duration::ZERO)?;
        keep_log(&connection, true)?;
        let fresh = is_blank(&connection)?;
        let version = if fresh { tables::VERSION } else { tables::check_version(&connection)? };
        for end in ["", "-wal", "-journal", "-shm"] {
            // Only its owner can, and whoever may write may go on.
            path.map(|path| own::make_own(&log::beside(path, end)));
        }
        take_lock(&connection)?;
        // First of all: without its log a file may look as if nothing had ever been in it.
        path.map(log::check).transpose()?;
        if fresh {
            tables::make(&mut connection)?;
        } else {
            check(&connection, version)?;
            tables::upgrade(&mut connection)?;
        }
        keep_log(&connection, false)?;
        Ok(Archive { connection: Arc::new(Mutex::new(connection)), version, sealed: true })
    }

    /// Returns the version of the file when it was opened, if it was an older one: rows from then were not sealed when they were written.
    pub fn older_version(&self) -> Option<i32> {
        (self.version < tables::VERSION).then_some(self.version)
    }

    /// Whether rows are checked against their seals when they are read.
    pub(super) fn is_sealed(&self) -> bool {
        self.sealed
    }

    /// Returns the connection, for other tables in the same file. Hold it as briefly as possible: every other user waits for it.
    pub fn connection(&self) -> MutexGuard<'_, Connection> {
        // SQLite rolls back what a panic has left open.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the files of the store; none if it is in memory.
    pub fn files(&self) -> Vec<PathBuf> {
        let path = self.connection().path().filter(|path| !path.is_empty()).map(str::to_owned);
        let all =
            |path: String| ["", "-wal", "-shm", "-journal"].map(|end| PathBuf::from(format!("{path}{end}")));
        path.map(all).into_iter().flatten().collect()
    }

    /// Begins a new tournament with public dice; see [`Archive::begun`].
    pub fn begin(&self, plan: &Plan) -> Result<Store, StoreError> {
        self.insert(plan, &[])
    }

    /// Begins a new tournament whose dice follow from these secrets, as its plan says.
    pub(super) fn insert(&self, plan: &Plan, secrets: &[Secret]) -> Result<Store, StoreError> {
        let mut connection = self.connection();
        // Shards are merged within a transaction, which this is a part of.
        let transaction = connection.savepoint()?;
        let last: i64 =
            transaction.query_row("SELECT coalesce(max(tournament), 0) FROM heads", [], |row| row.get(0))?;
        let id = last + 1;
        add_plan(&transaction, id, plan)?;
        for (sealed, secret) in plan.sealed_dice.iter().zip(secrets) {
            sealed::keep(&transaction, id, sealed.first, Some(secret))?;
        }
        transaction.commit()?;
        drop(connection);
        Ok(Store::new(self.clone(), id))
    }

    /// Returns the tournament with this id.
    pub fn store(&self, id: i64) -> Result<Option<(Store, Plan)>, StoreError> {
        let connection = self.connection();
        let mut query = connection
            .prepare_cached("SELECT * FROM plans WHERE tournament = ?1 ORDER BY revision DESC LIMIT 1")?;
        let mut rows = query.query([id])?;
        rows.next()?.map(|row| self.planned(row)).transpose()
    }

    /// Returns all tournaments, oldest first.
    pub fn stores(&self) -> Result<Vec<(Store, Plan)>, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare("SELECT * FROM plans ORDER BY tournament, revision")?;
        let mut rows = query.query([])?;
        let mut stores: Vec<(Store, Plan)> = Vec::new();
        while let Some(row) = rows.next()? {
            let (store, plan) = self.planned(row)?;
            // The last revision is the one that holds.
            stores.pop_if(|(last, _)| last.id() == store.id());
            stores.push((store, plan));
        }
        Ok(stores)
    }

    fn planned(&self, row: &Row) -> Result<(Store, Plan), StoreError> {
        self.check(&PLANS, row)?;
        let plan: String = row.get(4)?;
        let plan = serde_json::from_str(&plan).map_err(|error| StoreError::Damaged(error.to_string()))?;
        Ok((Store::new(self.clone(), row.get(1)?), plan))
    }
}

/// Adds a plan that applies from now on.
pub(super) fn add_plan(connection: &Connection, tournament: i64, plan: &Plan) -> rusqlite::Result<()> {
    let revision = PLANS.head(connection, tournament)?.rows;
    let text = to_json(plan);
    let row = [ValueRef::Integer(revision), ValueRef::Integer(0), ValueRef::Text(text.as_bytes())];
    PLANS.append(connection, tournament, [&row])
}

/// Opens a file for reading, and puts it in order if the process that wrote it was killed.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let log = log::path_of(path);
    let length = log.metadata().ok().map(|log| log.len());
    let mended = length.map(|_| {
        own::check(&log)?;
        // Somebody is writing, and holds the lock; or was killed, and SQLite puts the file in order.
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        keep_log(&connection, true)?;
        take_lock(&connection)?;
        log::check(path)?;
        Ok(connection)
    });
    match mended {
        Some(Ok(connection)) => Ok(connection),
        Some(Err(
            error @ (StoreError::Busy
            | StoreError::Foreign
            | StoreError::Damaged(_)
            | StoreError::Distrusted(_)),
        )) => Err(error),
        // It cannot be put in order here; an empty log has nothing to put in order.
        Some(Err(_)) if length != Some(0) => Err(StoreError::Unfinished),
        // All is in the file itself. SQLite takes no lock and writes no file beside it then. Whoever begins to write
        // meanwhile leaves the file as it is for its first thousand pages.
        Some(Err(_)) | None => {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            Ok(Connection::open_with_flags(own::unchanging(path), flags)?)
        }
    }
}

/// Whether a database has no table and is as good as none: a start that was killed leaves one.
pub(super) fn is_blank(connection: &Connection) -> rusqlite::Result<bool> {
    let blank = "SELECT (SELECT count(*) FROM sqlite_schema) = 0
        AND (SELECT application_id FROM pragma_application_id) = 0";
    connection.query_row(blank, [], |row| row.get(0))
}

/// Sets whether the log stays as it is when the connection closes: a refused file must not change.
fn keep_log(connection: &Connection, keep: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep).map(drop)
}

/// Refuses a file that is not as it was written.
fn check(connection: &Connection, version: i32) -> Result<(), StoreError> {
    if version == tables::VERSION {
        return chain::refuse(&chain::examine(connection));
    }
    let pages = chain::pages(connection)?;
    chain::refuse(&pages.into_iter().map(Damage::of_file).collect::<Vec<_>>())
}

/// Whether the header of a file is that of a necrodome store, give or take a bit or two.
pub(super) fn seems_ours(path: &Path) -> bool {
    let mut header = [0; 72];
    let Ok(()) = File::open(path).and_then(|mut file| file.read_exact(&mut header)) else { return false };
    let application = tables::APPLICATION.to_be_bytes();
    let pairs = header[..16].iter().zip(b"SQLite format 3\0").chain(header[68..].iter().zip(&application));
    pairs.map(|(one, other)| (one ^ other).count_ones()).sum::<u32>() <= 2
}

/// Turns an error about a file that seems to be a store into damage, whatever SQLite takes the file for.
fn named(path: &Path, error: StoreError) -> StoreError {
    match error {
        StoreError::Foreign if seems_ours(path) => StoreError::Damaged("the header of the file".into()),
        StoreError::Other(error) if seems_ours(path) => StoreError::Damaged(error.to_string()),
        other => other,
    }
}

/// Takes the lock for as long as the connection lives.
fn take_lock(connection: &Connection) -> Result<(), StoreError> {
    connection.busy_timeout(Duration::ZERO)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // What is not committed stays in memory. SQLite would write a large transaction in pieces, and some of them twice: after a kill
    // that cannot be told from damage.
    connection.pragma_update(None, "cache_spill", false)?;
    Ok(connection.execute_batch("BEGIN IMMEDIATE; COMMIT")?)
}

/// Returns JSON. Types of the arena have no maps with odd keys, so this cannot fail.
pub(super) fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
