//! Tables in the file: how each was set up, every answer so far, and the replay once the match is over.

use super::{
    seating::{Input, Seating},
    setup::Setup,
};
use crate::{Db, Refusal};
use necrodome_rules::game::{Outcome, Seat};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;

/// The tables of the database. An answer has the step of the match and the seat as its key; it is JSON, or null if no valid answer came.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS play_table (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    setup TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'playing', 'over', 'ended')),
    outcome TEXT,
    replay BLOB
);
CREATE TABLE IF NOT EXISTS play_answer (
    table_id TEXT NOT NULL, step INTEGER NOT NULL, seat INTEGER NOT NULL, answer TEXT NOT NULL,
    PRIMARY KEY (table_id, step, seat)
) WITHOUT ROWID;
";

/// How many finished tables are kept.
const FINISHED: u32 = 1000;

/// An answer as the file keeps it: the step of the match, the seat, and in JSON an action with its reason, or null.
pub(crate) type Answer = (u32, Seat, String);

/// The answers given at a table, by seat and step.
pub(crate) type Given = HashMap<(u16, u32), String>;

pub(crate) fn prepare(db: &Db) -> rusqlite::Result<()> {
    db.lock().execute_batch(TABLES)
}

fn json(setup: &Setup) -> String {
    // A set-up has no maps with odd keys, so this cannot fail.
    serde_json::to_string(setup).unwrap_or_default()
}

/// Writes the inputs of a table: the answers themselves, and the set-up that results from the other inputs.
pub(crate) fn inputs(db: &Db, id: &str, inputs: &[Input], seating: &Seating) -> rusqlite::Result<()> {
    let mut connection = db.lock();
    let transaction = connection.transaction()?;
    let mut is_changed = false;
    for input in inputs {
        match input {
            Input::Answers { bots, person } => answers(&transaction, id, bots.iter().chain(person))?,
            _ => is_changed = true,
        }
    }
    match (seating.is_gone(), seating.setup.is_full()) {
        (true, true) => break_off(&transaction, id)?,
        (true, false) => forget(&transaction, id)?,
        (false, is_full) if is_changed => table(&transaction, id, &seating.setup, is_full)?,
        (false, _) => {}
    }
    transaction.commit()
}

/// Writes a table, new or changed. A table that is over stays as it is.
fn table(connection: &Connection, id: &str, setup: &Setup, is_full: bool) -> rusqlite::Result<()> {
    let state = if is_full { "playing" } else { "waiting" };
    connection.execute(
        "INSERT INTO play_table (id, setup, state) VALUES (?1, ?2, ?3)
         ON CONFLICT (id) DO UPDATE SET setup = excluded.setup, state = excluded.state
         WHERE state IN ('waiting', 'playing')",
        params![id, json(setup), state],
    )?;
    Ok(())
}

/// Writes answers. Those of bots may be in the file already.
fn answers<'a>(
    connection: &Connection,
    id: &str,
    answers: impl Iterator<Item = &'a Answer>,
) -> rusqlite::Result<()> {
    let mut insert =
        connection.prepare_cached("INSERT OR IGNORE INTO play_answer VALUES (?1, ?2, ?3, ?4)")?;
    for (step, seat, answer) in answers {
        insert.execute(params![id, step, seat.0, answer])?;
    }
    Ok(())
}

/// Returns the answers given at a table.
pub(crate) fn given(db: &Db, id: &str) -> rusqlite::Result<Given> {
    let connection = db.lock();
    let mut query = connection.prepare("SELECT seat, step, answer FROM play_answer WHERE table_id = ?1")?;
    let rows = query.query_map([id], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    rows.collect()
}

/// Ends a table, with or without a result and a replay.
pub(crate) fn end(db: &Db, id: &str, result: Option<(&Outcome, Vec<u8>)>) -> rusqlite::Result<()> {
    let mut connection = db.lock();
    let transaction = connection.transaction()?;
    match result {
        Some((outcome, replay)) => {
            let over = "UPDATE play_table SET state = 'over', outcome = ?2, replay = ?3 WHERE id = ?1";
            transaction.execute(over, params![id, serde_json::to_string(outcome).ok(), replay])?;
            forget_answers(&transaction, id)?;
        }
        None => break_off(&transaction, id)?,
    }
    transaction.commit()
}

/// Ends a table without a result, unless it has one.
fn break_off(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    let ended = "UPDATE play_table SET state = 'ended' WHERE id = ?1 AND state IN ('waiting', 'playing')";
    connection.execute(ended, [id])?;
    forget_answers(connection, id)
}

/// Deletes the answers of a table that is over, and the oldest of the finished tables.
fn forget_answers(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM play_answer WHERE table_id = ?1", [id])?;
    forget_old(connection)
}

fn forget_old(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute(
        "DELETE FROM play_table WHERE state IN ('over', 'ended') AND number <= (
            SELECT number FROM play_table WHERE state IN ('over', 'ended') ORDER BY number DESC LIMIT 1 OFFSET ?1)",
        [FINISHED],
    )?;
    Ok(())
}

/// Deletes a table whose match never began.
fn forget(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM play_table WHERE id = ?1", [id])?;
    Ok(())
}

/// A table in the file.
pub(crate) struct Kept {
    pub id: String,
    pub setup: Setup,
    pub outcome: Option<Outcome>,
}

fn read(row: &rusqlite::Row) -> rusqlite::Result<Option<Kept>> {
    let (setup, outcome): (String, Option<String>) = (row.get("setup")?, row.get("outcome")?);
    let Ok(setup) = serde_json::from_str(&setup) else { return Ok(None) };
    let outcome = outcome.and_then(|text| serde_json::from_str(&text).ok());
    Ok(Some(Kept { id: row.get("id")?, setup, outcome }))
}

/// Returns all tables that were not over when the server ended.
pub(crate) fn unfinished(db: &Db) -> rusqlite::Result<Vec<Kept>> {
    let connection = db.lock();
    let mut query = connection.prepare("SELECT * FROM play_table WHERE state IN ('waiting', 'playing')")?;
    let rows = query.query_map([], read)?.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(rows.into_iter().flatten().collect())
}

/// Returns one table, whatever its state, or `None` if there is none with this id.
pub(crate) fn find(db: &Db, id: &str) -> rusqlite::Result<Option<Kept>> {
    let connection = db.lock();
    let found = connection.query_row("SELECT * FROM play_table WHERE id = ?1", [id], read).optional()?;
    Ok(found.flatten())
}

/// Returns the packed replay of a table that is over.
pub(crate) fn replay(db: &Db, id: &str) -> Result<Vec<u8>, Refusal> {
    let query = "SELECT replay FROM play_table WHERE id = ?1";
    let found: Option<Option<Vec<u8>>> = db.lock().query_row(query, [id], |row| row.get(0)).optional()?;
    match found {
        Some(Some(replay)) => Ok(replay),
        Some(None) => Err(Refusal::conflict("the match is not over: there is no replay yet")
            .hint("a match that was broken off has none")),
        None => Err(super::no_such_table()),
    }
}
