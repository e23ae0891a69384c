//! One SQLite file that keeps tournaments, as many as are wanted. Other tables may live beside theirs.

use super::{
    Claims, Plan, PlannedEntry, Schedule, Store, Sums, TournamentError,
    formats::{self, Seats},
    stages::{self, LineUp},
};
use crate::{process::Limits, stats::RankBy};
use necrodome_rules::options::plain;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};
use serde_json::{Map, Value};
use std::{
    collections::BTreeSet,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// "NECR": says that an SQLite file is one of ours.
const APPLICATION: i32 = 0x4e45_4352;
/// The version of the tables.
const VERSION: i32 = 5;

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
    #[error("the store has version {came}, and this necrodome reads versions up to {VERSION}")]
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

/// Views that show version 2 as the current one, without a change to the file.
const VIEWS_OF_2: &str = "
CREATE TEMP VIEW tournament AS SELECT 1 AS id, json_set(plan, '$.older', json('true')) AS plan FROM main.plan LIMIT 1;
CREATE TEMP VIEW results AS SELECT 1 AS tournament, first, blocks, packed FROM main.results;
CREATE TEMP VIEW detail AS SELECT 1 AS tournament, block, number, faults, replay FROM main.detail;
CREATE TEMP VIEW effort AS SELECT 1 AS tournament, entry, decisions, nanoseconds FROM main.effort;
CREATE TEMP VIEW closing AS SELECT rowid, 1 AS tournament, entry, faults, log FROM main.closing;
";
const LUCK_OF_2: &str = "CREATE TEMP VIEW luck AS SELECT 1 AS tournament, first, packed FROM main.luck;";
const LUCK_OF_1: &str = "CREATE TEMP VIEW luck AS SELECT 1 AS tournament, 0 AS first, x'' AS packed WHERE 0;";

/// Tournaments of version 3 were seated otherwise.
const FROM_3: &str = "UPDATE tournament SET plan = json_set(plan, '$.older', json('true'));";
const VIEW_OF_3: &str = "
CREATE TEMP VIEW tournament AS SELECT id, json_set(plan, '$.older', json('true')) AS plan FROM main.tournament;
";

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
        check_version(&connection)?;
        check_pages(&connection)?;
        let version = version(&connection)?;
        // Version 4 knew no stages; its tables are those of today.
        if version < 4 {
            connection.pragma_update(None, "temp_store", "MEMORY")?;
            if version == 3 {
                connection.execute_batch(VIEW_OF_3)?;
            } else {
                connection.execute_batch(VIEWS_OF_2)?;
                connection.execute_batch(if version < 2 { LUCK_OF_1 } else { LUCK_OF_2 })?;
            }
        }
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
            check_version(&connection)?;
        }
        take_lock(&connection)?;
        if fresh {
            let transaction = connection.transaction()?;
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
            transaction.commit()?;
        } else {
            check_pages(&connection)?;
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
            differences(stored, &same_seed).is_empty() && stages::compare(stored, plan) != LineUp::Other
        });
        Ok(alike.or(stores.last()).map(|(_, stored)| stored.seed))
    }

    /// The tournament that goes on with this plan. An empty file begins it; a file of others only is refused.
    ///
    /// Where entries have come or gone, only what is missing is played, or, where all sit in each match, a new edition begins beside
    /// the old one. A program that was changed is refused, unless it is `renewed`: then it is a new entry, or makes a new edition.
    pub fn resume(&self, asked: &Plan, renewed: bool) -> Result<Opened, StoreError> {
        let (mut refused, mut edited, mut changed) = (None, None, None);
        // The newest first: there may be several editions.
        for (store, stored) in self.stores()?.into_iter().rev() {
            let mut differences = differences(&stored, asked);
            let line_up = stages::compare(&stored, asked);
            if line_up == LineUp::Other {
                differences.push(other_entries(&stored, asked));
            }
            let names = other_programs(&stored, asked);
            if !differences.is_empty() {
                refused = refused.or(Some(StoreError::OtherPlan { differences }));
            } else if !(names.is_empty() || renewed) {
                edited = edited.or(changed.is_none().then_some(StoreError::OtherProgram { names }));
            } else if line_up == LineUp::Same && names.is_empty() {
                return self.go_on(store, &stored, asked);
            } else if edited.is_none() {
                changed = changed.or(Some((store, stored)));
            }
        }
        match (changed, edited.or(refused)) {
            (Some((store, stored)), _) if store.blocks()? == 0 || stages::can_go_on(&stored, asked) => {
                self.go_on(store, &stored, asked)
            }
            (Some(_), _) => Ok(Opened { edition: true, ..self.begun(asked)? }),
            (None, Some(why)) => Err(why),
            (None, None) => self.begun(asked),
        }
    }

    fn begun(&self, plan: &Plan) -> Result<Opened, StoreError> {
        let store = self.begin(plan)?;
        Ok(Opened { store, plan: plan.clone(), joined: Vec::new(), left: Vec::new(), edition: false })
    }

    /// Goes on with a tournament, whose line-up may be another one now.
    fn go_on(&self, store: Store, stored: &Plan, asked: &Plan) -> Result<Opened, StoreError> {
        let plan = stages::go_on(stored, store.blocks()?, asked);
        let names = |of: &Plan, without: &Plan| {
            let members = of.members().map(|member| &of.entries[member]);
            let is_new = |entry: &&PlannedEntry| {
                let same = |&other: &usize| {
                    without.entries[other].name == entry.name
                        && !entry.is_other(without.entries[other].fingerprint.as_deref())
                };
                !without.members().any(|other| same(&other))
            };
            members.filter(is_new).map(|entry| entry.name.clone()).collect::<Vec<_>>()
        };
        let (joined, left) = (names(&plan, stored), names(stored, &plan));
        let is_new = (&plan.entries, &plan.stages) != (&stored.entries, &stored.stages);
        if is_new {
            // What cannot be read is left as it is.
            let damaged = |error: TournamentError| match error {
                TournamentError::Store(error) => error,
                other => StoreError::Damaged(other.to_string()),
            };
            let schedule = Schedule::of(stored).map_err(damaged)?;
            Sums::new(stored, &schedule).catch_up(&schedule, &store)?;
        }
        if is_new || (plan.blocks, plan.grown) != (stored.blocks, stored.grown) {
            let mut connection = self.connection();
            let transaction = connection.transaction()?;
            let row = params![store.id(), to_json(&plan)];
            transaction.execute("UPDATE tournament SET plan = ?2 WHERE id = ?1", row)?;
            for entry in 0..plan.entries.len() {
                let row = params![store.id(), entry as i64];
                transaction.execute("INSERT OR IGNORE INTO effort VALUES (?1, ?2, 0, 0)", row)?;
            }
            transaction.commit()?;
        }
        Ok(Opened { store, plan, joined, left, edition: false })
    }
}

/// A tournament in a file that is ready to go on.
#[derive(Debug, Clone)]
pub struct Opened {
    /// Where it is kept.
    pub store: Store,
    /// The plan, with all who ever took part.
    pub plan: Plan,
    /// Who has joined since the last time.
    pub joined: Vec<String>,
    /// And who has left.
    pub left: Vec<String>,
    /// Whether it began anew beside another one, since the line-up is another.
    pub edition: bool,
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
    if version < 3 {
        transaction.execute_batch(FROM_2_AWAY)?;
        transaction.execute_batch(TABLES)?;
        transaction.execute_batch(FROM_2_BACK)?;
    }
    if version < 4 {
        transaction.execute_batch(FROM_3)?;
    }
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

/// The entries whose programs are not those of the stored plan. Plans of before know nothing of programs.
fn other_programs(stored: &Plan, asked: &Plan) -> Vec<String> {
    let changed = asked.entries.iter().filter(|entry| {
        stored.place_of(entry).is_some() && stages::version(&stored.entries, entry).is_none()
    });
    changed.map(|entry| entry.name.clone()).collect()
}

/// How the entries of two plans differ.
fn other_entries(stored: &Plan, asked: &Plan) -> String {
    let entries = |plan: &Plan| {
        let entry = |PlannedEntry { name, bot, .. }: &PlannedEntry| {
            if name == bot { name.clone() } else { format!("{name}={bot}") }
        };
        plan.entries.iter().map(entry).collect::<Vec<_>>().join(", ")
    };
    let clash = asked.entries.iter().find_map(|entry| Some((stages::namesake(stored, entry)?, entry)));
    match clash {
        Some((known, entry)) => {
            let (name, there, here) = (&entry.name, &known.bot, &entry.bot);
            format!("the name {name} belongs to {there} there, and to {here} here")
        }
        None => format!("the entries are {} there, {} here", entries(stored), entries(asked)),
    }
}

/// How two plans differ, but for the entries. More blocks than before are no difference: the tournament goes on.
fn differences(stored: &Plan, asked: &Plan) -> Vec<String> {
    // The compiler says when a field is missing here.
    let Plan {
        game,
        options,
        entries: _,
        format,
        seats,
        blocks: _,
        seed,
        until_decided,
        margin,
        test,
        rank_by,
        limits,
        older,
        grown: _,
        stages: _,
    } = stored;
    let until = |decided: bool| if decided { "it is decided" } else { "all blocks are played" }.to_owned();
    if *older && !asked.older {
        return vec!["an older necrodome began it, and seated the entries otherwise".to_owned()];
    }
    let mut all = Vec::new();
    let mut differ = |what: &str, stored: String, asked: String| {
        if stored != asked {
            all.push(format!("{what} {stored} there, {asked} here"));
        }
    };
    differ("the game is", game.clone(), asked.game.clone());
    differ("the format is", format.as_str().to_owned(), asked.format.as_str().to_owned());
    // Where everybody has a seat, the entries tell.
    if formats::rules(asked.format).seats != Seats::All {
        differ("the number of seats is", seats.to_string(), asked.seats.to_string());
    }
    differ("the seed is", seed.to_string(), asked.seed.to_string());
    differ("it is played until", until(*until_decided), until(asked.until_decided));
    let claims = |test: &Option<Claims>| {
        test.map_or("none".to_owned(), |Claims { elo0, elo1 }| format!("{elo0},{elo1}"))
    };
    differ("the test is", claims(test), claims(&asked.test));
    // What it is ranked by matters only to when it stops.
    if *until_decided {
        let by = |rank_by: &RankBy| plain(&serde_json::to_value(rank_by).unwrap_or_default());
        differ("it is ranked by", by(rank_by), by(&asked.rank_by));
        let of = |margin: &Option<f64>| margin.map_or("none".to_owned(), |margin| margin.to_string());
        differ("the margin is", of(margin), of(&asked.margin));
    }
    let table = |limits: &Limits| serde_json::to_value(limits).unwrap_or_default();
    let tables =
        [("option", options.clone(), asked.options.clone()), ("limit", table(limits), table(&asked.limits))];
    for (what, stored, asked) in &tables {
        let keys = [stored, asked].into_iter().filter_map(Value::as_object).flat_map(Map::keys);
        for key in keys.collect::<BTreeSet<_>>() {
            differ(&format!("the {what} {key} is"), plain(&stored[key]), plain(&asked[key]));
        }
    }
    all
}
