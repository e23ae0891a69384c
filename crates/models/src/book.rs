//! The book of calls: one SQLite file that keeps every call, with its question and its answer.
//!
//! Texts are kept once, by their hashes, and compressed: the questions of a match differ only in their last messages.

use crate::{
    Answers, Finish, Form, Message, Model, Money, Reply, Role, Run, Tokens,
    wire::{self, Request, Sent, Took},
};
use necrodome_own as own;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params,
    params_from_iter,
    types::{ToSqlOutput, ValueRef},
};
use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// The mark of our files: "Ncal".
const APPLICATION: i32 = 0x4e63_616c;
const VERSION: i32 = 4;

/// The longest wait for another writer.
const PATIENCE: Duration = Duration::from_secs(10);

const NO_CACHE: &str = "set XDG_CACHE_HOME to a folder that you can write to";

const TABLES: &str = "
CREATE TABLE texts (hash BLOB PRIMARY KEY, packed BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE calls (
    id INTEGER PRIMARY KEY, question BLOB NOT NULL, at_ms INTEGER NOT NULL,
    name TEXT NOT NULL, base_url TEXT NOT NULL, model TEXT NOT NULL,
    frame BLOB NOT NULL, messages BLOB NOT NULL, salt INTEGER NOT NULL, answer BLOB NOT NULL,
    answered_by TEXT NOT NULL, finish TEXT NOT NULL,
    input_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL, estimated INTEGER NOT NULL,
    cost_nanos INTEGER NOT NULL, latency_us INTEGER NOT NULL, attempt INTEGER NOT NULL,
    generation INTEGER NOT NULL DEFAULT 0, priced INTEGER, seal BLOB
) STRICT;
CREATE INDEX calls_by_question ON calls (question);
CREATE INDEX calls_by_model ON calls (base_url, model);
CREATE TABLE forms (
    question BLOB NOT NULL, generation INTEGER NOT NULL, form TEXT NOT NULL, PRIMARY KEY (question, generation)
) STRICT, WITHOUT ROWID;
CREATE TABLE generations (
    number INTEGER PRIMARY KEY, run TEXT, done INTEGER NOT NULL DEFAULT 0, since INTEGER NOT NULL DEFAULT 0
) STRICT;
";

/// The additions since version 1.
const SINCE_1: &str = "
ALTER TABLE calls ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
CREATE TABLE generations (number INTEGER PRIMARY KEY, run TEXT, done INTEGER NOT NULL DEFAULT 0) STRICT;
";

/// The additions since version 2. Older calls stay as they are: without a checksum, and without a note whether their prices
/// were known.
const SINCE_2: &str = "
ALTER TABLE calls ADD COLUMN priced INTEGER;
ALTER TABLE calls ADD COLUMN seal BLOB;
";

/// The additions since version 3. Older runs used the latest answers, and forms that surely work.
const SINCE_3: &str = "
ALTER TABLE generations ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
UPDATE generations SET since = (SELECT coalesce(max(id), 0) FROM calls);
ALTER TABLE forms RENAME TO older_forms;
CREATE TABLE forms (
    question BLOB NOT NULL, generation INTEGER NOT NULL, form TEXT NOT NULL, PRIMARY KEY (question, generation)
) STRICT, WITHOUT ROWID;
INSERT INTO forms SELECT question, 0, form FROM older_forms;
DROP TABLE older_forms;
";

/// The number of a call's generation if that is `?2` or an older one of its run, and else NULL.
const OWN: &str = "(SELECT own.number FROM generations own JOIN generations last ON own.run = last.run
    WHERE last.number = ?2 AND own.number <= ?2 AND own.number = generation)";

/// The generation of forms that surely work, for all runs.
const SURE: i64 = 0;
/// The generation of forms that were found by runs without a name.
const NAMELESS: i64 = -1;

/// A book of calls. A clone is the same book.
#[derive(Debug, Clone)]
pub struct Book {
    path: PathBuf,
    connection: Arc<Mutex<Connection>>,
}

/// Why a book cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct BookError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub why: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// A call, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its number in the book.
    pub id: i64,
    /// The time of the answer, in UTC, such as `2026-01-31T13:59:59Z`.
    pub at: String,
    /// The hash of the question, which finds the answer again.
    pub question: [u8; 32],
    /// The name of the model's table.
    pub name: String,
    /// The endpoint.
    pub base_url: String,
    /// The model that was requested.
    pub model: String,
    /// The salt of the question.
    pub salt: u64,
    /// The model that answered, as the endpoint calls it; empty if it does not say.
    pub answered_by: String,
    /// Why the model stopped.
    pub finish: Finish,
    /// The tokens it took.
    pub tokens: Tokens,
    /// Its cost, if prices were known.
    pub cost: Option<Money>,
    /// The time it took.
    pub latency: Duration,
    /// The number of the try that was answered, from 1.
    pub attempt: u32,
    /// Whether a checksum proves this call. Calls of older versions have none.
    pub sealed: bool,
    /// The texts, if they were requested.
    pub texts: Option<Texts>,
}

/// The texts of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts {
    /// The body of the request, as JSON.
    pub request: String,
    /// The messages in the request.
    pub messages: Vec<Message>,
    /// The body of the answer as it came, but without the key.
    pub answer: String,
    /// The model's reply in the answer.
    pub reply: Reply,
}

/// Selects the calls to show, and how much of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// Only the call with this number.
    pub id: Option<i64>,
    /// Only calls of this table, or of this model, whether it was requested or answered.
    pub model: Option<&'a str>,
    /// Only calls that ended like this.
    pub finish: Option<Finish>,
    /// Only the last calls of the selection.
    pub last: Option<u64>,
    /// Whether to include the texts.
    pub texts: bool,
}

/// Which answers of a model in the book count. What a model is asked in a run with a name or with fresh answers is a generation, and
/// so is what it is asked in runs that continue it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generation {
    /// Only those of this generation.
    Only(i64),
    /// First those of this generation and of older ones of the run, the newest first; then the latest of the calls up to `since`, then
    /// the earliest of the others. So what was found once is found again, whatever is added to the book.
    First { number: i64, since: i64 },
    /// The latest.
    Any,
}

impl Generation {
    /// The generation that new calls get.
    pub fn number(self) -> i64 {
        match self {
            Generation::Only(number) | Generation::First { number, .. } => number,
            Generation::Any => 0,
        }
    }
}

/// The state of the book after a call.
#[derive(Debug)]
pub(crate) struct Kept {
    pub reply: Reply,
    /// The model that answered the previous call, if it was another one.
    pub before: Option<String>,
}

/// An error inside a book.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Sqlite(rusqlite::Error),
    #[error("this file is no book of calls, and is left as it is")]
    Foreign,
    #[error("the book has version {0}, and this necrodome reads version {VERSION}")]
    Version(i32),
    #[error("the book is damaged: {0}")]
    Damaged(&'static str),
    #[error("the book is damaged: call {0}: {1}")]
    Call(i64, &'static str),
    #[error("{0}")]
    System(#[from] std::io::Error),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Trouble::Foreign,
            _ => Trouble::Sqlite(error),
        }
    }
}

impl Trouble {
    /// Adds the number of the call to an error about damage.
    fn in_call(self, row: &Row) -> Self {
        match (self, row.get("id")) {
            (Trouble::Damaged(what), Ok(id)) => Trouble::Call(id, what),
            (other, _) => other,
        }
    }

    fn hint(&self) -> Option<&'static str> {
        let code = match self {
            Trouble::Sqlite(error) => error.sqlite_error_code(),
            _ => None,
        };
        match (self, code) {
            (Trouble::Foreign | Trouble::Version(_), _) => Some("choose another file for the calls"),
            (Trouble::Damaged(_) | Trouble::Call(..), _) | (_, Some(ErrorCode::DatabaseCorrupt)) => Some(
                "move the file away, or put a copy in its place: without it, calls are made and paid for again",
            ),
            (_, Some(ErrorCode::DatabaseBusy)) => Some("wait for the other program that writes it"),
            (_, Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)) => {
                Some("choose a file in a folder that is there, and in which you may write")
            }
            _ => None,
        }
    }
}

impl Book {
    /// Opens a book, or makes one that only its owner may read.
    pub fn open(path: &Path) -> Result<Self, BookError> {
        let refuse = |why: String, hint: Option<&str>| BookError {
            path: path.to_owned(),
            why,
            hint: hint.map(str::to_owned),
        };
        // As a file, whatever its name: `:memory:` and `file:...` mean something else to SQLite.
        let real = own::in_real_folder(path);
        let beside = |end: &str| {
            let mut name = real.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        for end in ["", "-wal", "-journal", "-shm"] {
            own::check(&beside(end)).map_err(|error| refuse(error.to_string(), Some(error.hint())))?;
        }
        // What goes wrong here goes wrong for SQLite too, which says why.
        let _ = own::make_private(&real);
        let _ = own::make_own(&real);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&real, flags).map_err(Trouble::from).and_then(prepare);
        let connection = connection.map_err(|trouble| refuse(trouble.to_string(), trouble.hint()))?;
        Ok(Book { path: path.to_owned(), connection: Arc::new(Mutex::new(connection)) })
    }

    /// Opens an existing book, and makes none.
    pub fn open_existing(path: &Path) -> Result<Self, BookError> {
        Self::must_be_there(path)?;
        Self::open(path)
    }

    fn must_be_there(path: &Path) -> Result<(), BookError> {
        // Links and pipes are refused when it is opened.
        match path.symlink_metadata() {
            Ok(_) => Ok(()),
            Err(error) => Err(BookError {
                path: path.to_owned(),
                why: match error.kind() {
                    std::io::ErrorKind::NotFound => "there is no such book of calls".to_owned(),
                    _ => format!("the book of calls cannot be read: {error}"),
                },
                hint: Some("name the file that kept the calls, such as STORE.calls beside a store".into()),
            }),
        }
    }

    /// Opens a book only to read it: nothing is changed, and no file is made beside it.
    pub fn read(path: &Path) -> Result<Self, BookError> {
        Self::must_be_there(path)?;
        let refuse = |trouble: Trouble| told(path, &trouble);
        // SQLite keeps its log beside the file that a link leads to.
        let real = path.canonicalize().map_err(|error| refuse(error.into()))?;
        if !real.is_file() {
            return Err(refuse(Trouble::Foreign));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let mut log = real.as_os_str().to_owned();
        log.push("-wal");
        // With a log, somebody is writing, or was killed: what is new is in there.
        let connection = match Path::new(&log).exists() {
            true => Connection::open_with_flags(&real, flags ^ OpenFlags::SQLITE_OPEN_URI),
            false => Connection::open_with_flags(own::unchanging(&real), flags),
        };
        let connection = connection.map_err(Trouble::from).and_then(|connection| {
            connection.busy_timeout(PATIENCE)?;
            check(&connection)?;
            Ok(connection)
        });
        let connection = connection.map_err(refuse)?;
        Ok(Book { path: path.to_owned(), connection: Arc::new(Mutex::new(connection)) })
    }

    /// Opens the book for a run. Without new calls (`Only`) it must exist; otherwise it is made if need be.
    pub fn open_for(path: &Path, answers: Answers) -> Result<Self, BookError> {
        match answers {
            Answers::Only => Self::open_existing(path),
            Answers::Reuse | Answers::Fresh => Self::open(path),
        }
    }

    /// Makes a book that lives as long as the process.
    pub fn in_memory() -> Result<Self, BookError> {
        let path = PathBuf::from("the book in memory");
        let connection = Connection::open_in_memory().map_err(Trouble::from).and_then(prepare);
        let connection = connection.map_err(|trouble| told(&path, &trouble))?;
        Ok(Book { path, connection: Arc::new(Mutex::new(connection)) })
    }

    /// The path of a store's book: beside it, as `STORE.calls`.
    pub fn beside(store: &Path) -> PathBuf {
        let mut path = store.as_os_str().to_owned();
        path.push(".calls");
        path.into()
    }

    /// The default path of the book: in the user's cache folder (`necrodome/calls.db`).
    pub fn usual_place() -> Result<PathBuf, BookError> {
        match own::cache() {
            Some(folder) => Ok(folder.join("calls.db")),
            None => {
                let hint = Some(NO_CACHE.to_owned());
                Err(BookError { path: ".cache".into(), why: "HOME is not set".into(), hint })
            }
        }
    }

    /// The default path of the book. Makes its folder.
    pub(crate) fn made_usual_place() -> Result<PathBuf, BookError> {
        let place = Self::usual_place()?;
        let folder = place.parent().unwrap_or(Path::new("."));
        let lost = |error: std::io::Error| BookError {
            path: folder.to_owned(),
            why: error.to_string(),
            hint: Some(NO_CACHE.to_owned()),
        };
        fs::create_dir_all(folder).map_err(lost)?;
        Ok(place)
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Shows calls in order, one by one, until `show` fails.
    pub fn each<E: From<BookError>>(
        &self,
        wanted: &Wanted,
        mut show: impl FnMut(Call) -> Result<(), E>,
    ) -> Result<(), E> {
        const CHOSEN: &str = "(?1 IS NULL OR id = ?1) AND (?2 IS NULL OR ?2 IN (name, model, answered_by))
            AND (?3 IS NULL OR finish = ?3)";
        let Wanted { id, model, finish, last, texts } = *wanted;
        let finish = finish.map(Finish::as_str);
        let shown = self.with(|connection| {
            // One state of the book, whoever writes meanwhile.
            let connection = &*connection.transaction()?;
            let before: i64 = match last {
                None => 0,
                Some(last) => {
                    let sql =
                        format!("SELECT id FROM calls WHERE {CHOSEN} ORDER BY id DESC LIMIT 1 OFFSET ?4");
                    let values = params![id, model, finish, whole(last)];
                    connection.query_row(&sql, values, |row| row.get(0)).optional()?.unwrap_or(0)
                }
            };
            let mut query = connection.prepare(&format!(
                "SELECT *, strftime('%Y-%m-%dT%H:%M:%SZ', at_ms / 1000, 'unixepoch') AS at
                FROM calls WHERE {CHOSEN} AND id > ?4 ORDER BY id"
            ))?;
            let mut rows = query.query(params![id, model, finish, before])?;
            while let Some(row) = rows.next()? {
                let call = call(connection, row, texts).map_err(|trouble| trouble.in_call(row))?;
                if let Err(stop) = show(call) {
                    return Ok(Err(stop));
                }
            }
            Ok(Ok(()))
        });
        shown.map_err(E::from)?
    }

    /// Begins a generation of fresh answers, or continues the last one of a model in a run if that may go on. A dry run begins one of
    /// no run.
    pub(crate) fn begin(&self, run: Option<(&Run, &Model)>) -> Result<i64, BookError> {
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Some((run, model)) = run
                && let Some(last) = last_of(&transaction, run, model)?
                && (run.goes_on || !last.is_done)
            {
                return Ok(last.number);
            }
            let number = insert_generation(&transaction, run.filter(|(run, _)| !run.is_dry), false)?;
            transaction.commit()?;
            Ok(number)
        })
    }

    /// The answers of a model in a run that uses the book: first those of its generations. Without one, the run begins one if it may
    /// make calls, and is no dry run.
    pub(crate) fn generation(
        &self,
        run: &Run,
        model: &Model,
        may_call: bool,
    ) -> Result<Generation, BookError> {
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if last_of(&transaction, run, model)?.is_none() && may_call && !run.is_dry {
                // Complete: whoever wants fresh answers begins another.
                insert_generation(&transaction, Some((run, model)), true)?;
            }
            let last = last_of(&transaction, run, model)?;
            transaction.commit()?;
            Ok(last.map_or(Generation::Any, |Last { number, since, .. }| Generation::First { number, since }))
        })
    }

    /// Marks a generation as complete: the next run of the same name with fresh answers begins another.
    pub(crate) fn finish(&self, generation: i64) -> Result<(), BookError> {
        self.with(|connection| {
            connection.execute("UPDATE generations SET done = 1 WHERE number = ?1", [generation])?;
            Ok(())
        })
    }

    /// Finds the answer to a question, among those that count.
    pub(crate) fn find(&self, request: &Request, generation: Generation) -> Result<Option<Reply>, BookError> {
        self.with(|connection| kept(connection, request, generation))
    }

    /// Keeps a call; when this returns, it is on the disk. Returns the answer that the book has from then on: another process may
    /// have kept an answer to the same question meanwhile, which stays if it counts.
    pub(crate) fn keep(
        &self,
        model: &Model,
        request: &Request,
        answer: &str,
        reply: Reply,
        generation: Generation,
    ) -> Result<Kept, BookError> {
        self.with(|connection| {
            // Whoever reads first and writes later is refused at once if somebody else has written in between.
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Some(reply) = kept(&transaction, request, generation)? {
                return Ok(Kept { reply, before: None });
            }
            let last_model =
                "SELECT answered_by FROM calls WHERE base_url = ?1 AND model = ?2 ORDER BY id DESC LIMIT 1";
            let before: Option<String> = transaction
                .query_row(last_model, [&model.base_url, &model.model], |row| row.get(0))
                .optional()?;
            insert(&transaction, model, request, answer, &reply, generation.number())?;
            transaction.commit()?;
            let before = before.filter(|before| *before != reply.model);
            Ok(Kept { reply, before })
        })
    }

    /// The form of answers of a run: the one that it has used, or else one that surely works, unless only its own answers count.
    /// `any`: or else one that another run has used.
    pub(crate) fn form(
        &self,
        question: &[u8; 32],
        generation: Generation,
        any: bool,
    ) -> Result<Option<Form>, BookError> {
        self.with(|connection| {
            let query = format!(
                "SELECT form FROM forms WHERE question = ?1
                AND (generation = ?2 OR (generation = ?3 OR {OWN} IS NOT NULL) AND NOT ?4 OR ?5)
                ORDER BY generation = ?2 DESC, {OWN} DESC, generation = ?3 DESC, generation DESC LIMIT 1"
            );
            let alone = matches!(generation, Generation::Only(_));
            let values = params![question, generation.number(), SURE, alone, any];
            let name: Option<String> = connection.query_row(&query, values, |row| row.get(0)).optional()?;
            Ok(name.and_then(|name| Form::ALL.into_iter().find(|form| form.as_str() == name)))
        })
    }

    /// Keeps the form of answers that a run uses; if it surely works, for all runs.
    pub(crate) fn keep_form(
        &self,
        question: &[u8; 32],
        generation: Generation,
        form: Form,
        is_sure: bool,
    ) -> Result<(), BookError> {
        let own = if generation == Generation::Any { NAMELESS } else { generation.number() };
        self.with(|connection| {
            for generation in [own].into_iter().chain(is_sure.then_some(SURE)) {
                let sql = "INSERT OR REPLACE INTO forms VALUES (?1, ?2, ?3)";
                connection.execute(sql, params![question, generation, form.as_str()])?;
            }
            Ok(())
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T, Trouble>) -> Result<T, BookError> {
        // A transaction that was not committed is rolled back, so that nothing is left half done.
        let mut connection: MutexGuard<Connection> =
            self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut connection).map_err(|trouble| told(&self.path, &trouble))
    }
}

/// The last generation of a model in a run.
struct Last {
    number: i64,
    /// The last call that was in the book when the first generation began.
    since: i64,
    is_done: bool,
}

/// A run of a model as the book names it.
fn name_of(run: &Run, model: &Model) -> String {
    format!("{} {}", run.name, model.fingerprint())
}

fn last_of(connection: &Connection, run: &Run, model: &Model) -> Result<Option<Last>, Trouble> {
    // Older versions named a generation by its run alone, and all models shared it.
    let sql = "SELECT number, min(since) OVER (), done FROM generations WHERE run IN (?1, ?2)
        ORDER BY number DESC LIMIT 1";
    let read = |row: &Row| Ok(Last { number: row.get(0)?, since: row.get(1)?, is_done: row.get(2)? });
    Ok(connection.query_row(sql, [name_of(run, model).as_str(), run.name], read).optional()?)
}

fn insert_generation(
    connection: &Connection,
    run: Option<(&Run, &Model)>,
    is_done: bool,
) -> Result<i64, Trouble> {
    let sql = "INSERT INTO generations (run, done, since)
        VALUES (?1, ?2, (SELECT coalesce(max(id), 0) FROM calls))";
    connection.execute(sql, params![run.map(|(run, model)| name_of(run, model)), is_done])?;
    Ok(connection.last_insert_rowid())
}

/// Finds the answer to a question that counts.
fn kept(
    connection: &Connection,
    request: &Request,
    generation: Generation,
) -> Result<Option<Reply>, Trouble> {
    let sql = format!(
        "SELECT * FROM calls WHERE question = ?1 AND (generation = ?2 OR NOT ?3)
        ORDER BY {OWN} DESC, id > ?4, abs(id - ?4) LIMIT 1"
    );
    let (number, alone, since) = match generation {
        Generation::Only(number) => (number, true, i64::MAX),
        Generation::First { number, since } => (number, false, since),
        // There is no such generation.
        Generation::Any => (-1, false, i64::MAX),
    };
    let mut query = connection.prepare_cached(&sql)?;
    let mut rows = query.query(params![request.hash, number, alone, since])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let found = || {
        is_sealed(row)?;
        asked(connection, row)?;
        Ok(Some(answered(connection, row)?.1))
    };
    found().map_err(|trouble: Trouble| trouble.in_call(row))
}

/// Reads the body of an answer, and the reply in it.
fn answered(connection: &Connection, row: &Row) -> Result<(String, Reply), Trouble> {
    let answer = text(connection, &row.get::<_, Vec<u8>>("answer")?)?;
    // What it took was counted when it came.
    let said = wire::read(&answer, Sent { bytes: 0, most_output: 0 });
    let said = said.map_err(|_| Trouble::Damaged("an answer cannot be read any more"))?;
    Ok((answer, Reply { reused: true, ..said.reply(took(row)?) }))
}

/// Whether a checksum proves a call. It covers all columns but the number, in order, so that an answer stays with its question
/// and its counts. Calls of older versions have none; a wrong checksum is an error.
fn is_sealed(row: &Row) -> Result<bool, Trouble> {
    // A book of an older version that is only read has no such column.
    let Ok(column) = row.as_ref().column_index("seal") else { return Ok(false) };
    if row.get_ref(column)? == ValueRef::Null {
        return Ok(false);
    }
    let values = (1..column).map(|column| row.get_ref(column)).collect::<Result<Vec<_>, _>>()?;
    match row.get::<_, Vec<u8>>(column)? == own::seal("", values) {
        true => Ok(true),
        false => Err(Trouble::Damaged("its question, its answer and its counts do not fit its checksum")),
    }
}

fn told(path: &Path, trouble: &Trouble) -> BookError {
    BookError { path: path.to_owned(), why: trouble.to_string(), hint: trouble.hint().map(str::to_owned) }
}

/// Checks that a file is ours, and makes the tables of a new one.
fn prepare(mut connection: Connection) -> Result<Connection, Trouble> {
    // Others may be writing the same book.
    connection.busy_timeout(PATIENCE)?;
    let number =
        |connection: &Connection, sql: &str| connection.query_row(sql, [], |row| row.get::<_, i32>(0));
    let is_blank = number(&connection, "SELECT count(*) = 0 FROM sqlite_schema")? == 1;
    if !(is_blank && number(&connection, "PRAGMA application_id")? == 0) {
        check(&connection)?;
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Somebody else may have made the tables meanwhile.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if number(&transaction, "SELECT count(*) FROM sqlite_schema")? == 0 {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    } else {
        let version = number(&transaction, "PRAGMA user_version")?;
        if version == 1 {
            transaction.execute_batch(SINCE_1)?;
        }
        if version < 3 {
            transaction.execute_batch(SINCE_2)?;
        }
        if version < VERSION {
            transaction.execute_batch(SINCE_3)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
        }
    }
    transaction.commit()?;
    check(&connection)?;
    Ok(connection)
}

fn check(connection: &Connection) -> Result<(), Trouble> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i32>(0));
    if number("PRAGMA application_id")? != APPLICATION {
        return Err(Trouble::Foreign);
    }
    match number("PRAGMA user_version")? {
        1..=VERSION => Ok(()),
        other => Err(Trouble::Version(other)),
    }
}

fn insert(
    transaction: &Transaction,
    model: &Model,
    request: &Request,
    answer: &str,
    reply: &Reply,
    generation: i64,
) -> Result<(), Trouble> {
    let frame = keep_text(transaction, &request.frame)?;
    let mut messages = Vec::new();
    for message in &request.messages {
        messages.push(initial(message.role));
        messages.extend(keep_text(transaction, &message.text)?);
    }
    let answer = keep_text(transaction, answer)?;
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let Tokens { input, cached, output, reasoning, estimated } = reply.tokens;
    let number = |number: u64| ValueRef::Integer(whole(number));
    let mut values = vec![
        ValueRef::Blob(&request.hash),
        number(at.as_millis() as u64),
        model.name.as_str().into(),
        model.base_url.as_str().into(),
        model.model.as_str().into(),
        ValueRef::Blob(&frame),
        ValueRef::Blob(&messages),
        // The same bits, with a sign.
        ValueRef::Integer(request.salt as i64),
        ValueRef::Blob(&answer),
        reply.model.as_str().into(),
        reply.finish.as_str().into(),
        number(input),
        number(cached),
        number(output),
        number(reasoning),
        number(estimated.into()),
        number(reply.cost.unwrap_or_default().nanos),
        number(reply.latency.as_micros() as u64),
        number(reply.attempt.into()),
        ValueRef::Integer(generation),
        number(reply.cost.is_some().into()),
    ];
    let seal = own::seal("", values.iter().copied());
    values.push(ValueRef::Blob(&seal));
    let places = vec!["?"; values.len()].join(", ");
    let mut insert = transaction.prepare_cached(&format!("INSERT INTO calls VALUES (NULL, {places})"))?;
    insert.execute(params_from_iter(values.into_iter().map(ToSqlOutput::Borrowed)))?;
    Ok(())
}

/// Fits a number into SQLite, which has no larger ones.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn initial(role: Role) -> u8 {
    role.as_str().as_bytes()[0]
}

/// Keeps a text, unless it is there already, and returns its hash.
fn keep_text(connection: &Connection, text: &str) -> Result<[u8; 32], Trouble> {
    let hash = *blake3::hash(text.as_bytes()).as_bytes();
    let mut known = connection.prepare_cached("SELECT 1 FROM texts WHERE hash = ?1")?;
    if !known.exists([&hash])? {
        let packed = zstd::bulk::compress(text.as_bytes(), 3)?;
        connection.prepare_cached("INSERT INTO texts VALUES (?1, ?2)")?.execute(params![hash, packed])?;
    }
    Ok(hash)
}

/// Reads a text by its hash, which proves it.
fn text(connection: &Connection, hash: &[u8]) -> Result<String, Trouble> {
    // More than any text that is kept.
    const LONGEST: u64 = 64 << 20;
    let mut query = connection.prepare_cached("SELECT packed FROM texts WHERE hash = ?1")?;
    let packed: Option<Vec<u8>> = query.query_row([hash], |row| row.get(0)).optional()?;
    let packed = packed.ok_or(Trouble::Damaged("a text is missing"))?;
    let broken = |_| Trouble::Damaged("a text cannot be unpacked");
    let mut text = String::new();
    let unpacked = zstd::Decoder::new(&packed[..]).map_err(broken)?;
    unpacked.take(LONGEST).read_to_string(&mut text).map_err(broken)?;
    match blake3::hash(text.as_bytes()).as_bytes() == hash {
        true => Ok(text),
        false => Err(Trouble::Damaged("a text is not what was written")),
    }
}

/// Reads the frame and the messages of a call, which must belong to its question.
fn asked(connection: &Connection, row: &Row) -> Result<(String, Vec<Message>), Trouble> {
    let packed: Vec<u8> = row.get("messages")?;
    let (messages, rest) = packed.as_chunks::<33>();
    if !rest.is_empty() {
        return Err(Trouble::Damaged("the messages of a call are no messages"));
    }
    let message = |[who, hash @ ..]: &[u8; 33]| {
        let role =
            [Role::System, Role::User, Role::Assistant].into_iter().find(|&role| initial(role) == *who);
        let role = role.ok_or(Trouble::Damaged("a message is nobody's"))?;
        Ok(Message { role, text: text(connection, hash)? })
    };
    let messages = messages.iter().map(message).collect::<Result<Vec<_>, Trouble>>()?;
    let frame = text(connection, &row.get::<_, Vec<u8>>("frame")?)?;
    let (base_url, salt) = (row.get::<_, String>("base_url")?, row.get::<_, i64>("salt")? as u64);
    match wire::hash(&base_url, salt, &frame, &messages)[..] == row.get::<_, Vec<u8>>("question")?[..] {
        true => Ok((frame, messages)),
        false => Err(Trouble::Damaged("a request does not fit the hash of its question")),
    }
}

fn texts(connection: &Connection, row: &Row) -> Result<Texts, Trouble> {
    let (frame, messages) = asked(connection, row)?;
    let unwritten = |_| Trouble::Damaged("the messages of a call are no messages");
    let request = wire::body(&frame, &messages).map_err(unwritten)?;
    let (answer, reply) = answered(connection, row)?;
    Ok(Texts { request, messages, answer, reply })
}

fn call(connection: &Connection, row: &Row, with_texts: bool) -> Result<Call, Trouble> {
    let sealed = is_sealed(row)?;
    let Took { tokens, cost, latency, attempt } = took(row)?;
    Ok(Call {
        id: row.get("id")?,
        // A time that no calendar has is none.
        at: row.get::<_, Option<String>>("at")?.unwrap_or_default(),
        question: row.get("question")?,
        name: row.get("name")?,
        base_url: row.get("base_url")?,
        model: row.get("model")?,
        salt: row.get::<_, i64>("salt")? as u64,
        answered_by: row.get("answered_by")?,
        finish: Finish::named(&row.get::<_, String>("finish")?),
        tokens,
        cost,
        latency,
        attempt,
        sealed,
        texts: with_texts.then(|| texts(connection, row)).transpose()?,
    })
}

fn took(row: &Row) -> Result<Took, Trouble> {
    let tokens = Tokens {
        input: number(row, "input_tokens")?,
        cached: number(row, "cached_tokens")?,
        output: number(row, "output_tokens")?,
        reasoning: number(row, "reasoning_tokens")?,
        estimated: row.get("estimated")?,
    };
    let cost = Money { nanos: number(row, "cost_nanos")? };
    // Older books do not say whether a cost of 0 was one.
    let is_priced = match row.get("priced") {
        Ok(Some(priced)) => priced,
        _ => cost.nanos > 0,
    };
    let cost = is_priced.then_some(cost);
    let latency = Duration::from_micros(number(row, "latency_us")?);
    Ok(Took { tokens, cost, latency, attempt: row.get("attempt")? })
}

fn number(row: &Row, name: &str) -> Result<u64, Trouble> {
    Ok(row.get::<_, i64>(name)?.max(0) as u64)
}
