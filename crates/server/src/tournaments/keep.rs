//! The file's record of tournaments beyond their results: their states, and what was last shown of them.

use super::shown::{TournamentLine, TournamentState, TournamentView};
use crate::Db;
use rusqlite::{OptionalExtension, params};

/// The state of a tournament, and what was last shown of it.
pub(super) struct Page {
    pub state: TournamentState,
    pub began: i64,
    pub view: Option<TournamentView>,
}

/// The table of the database, beside those of the arena.
const TABLE: &str = "
CREATE TABLE IF NOT EXISTS tournament_page (
    tournament INTEGER PRIMARY KEY, state TEXT NOT NULL, began INTEGER NOT NULL, line TEXT, view TEXT
);
";

pub(super) fn prepare(db: &Db) -> rusqlite::Result<()> {
    db.lock().execute_batch(TABLE)
}

/// Adds a tournament that is not in the table yet.
pub(super) fn add(db: &Db, id: i64, state: TournamentState, began: i64) -> rusqlite::Result<()> {
    let row = "INSERT OR IGNORE INTO tournament_page VALUES (?1, ?2, ?3, NULL, NULL)";
    db.lock().execute(row, params![id, state.as_str(), began])?;
    Ok(())
}

pub(super) fn page(db: &Db, id: i64) -> rusqlite::Result<Option<Page>> {
    let query = "SELECT state, began, view FROM tournament_page WHERE tournament = ?1";
    let row: Option<(String, i64, Option<String>)> =
        db.lock().query_row(query, [id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
    Ok(row.map(|(state, began, view)| Page {
        state: TournamentState::named(&state).unwrap_or(TournamentState::Paused),
        began,
        // What another version has kept is made again.
        view: view.and_then(|view| serde_json::from_str(&view).ok()),
    }))
}

/// Sets the state of a tournament. From then on it survives a crash.
pub(super) fn set_state(db: &Db, id: i64, state: TournamentState) -> rusqlite::Result<()> {
    let change = "UPDATE tournament_page SET state = ?2, line = json_set(line, '$.state', ?2)
        WHERE tournament = ?1";
    db.lock().execute(change, params![id, state.as_str()])?;
    Ok(())
}

/// Writes what is now shown of a tournament. The state stays as it is: it is written separately.
pub(super) fn view(db: &Db, view: &TournamentView) -> rusqlite::Result<()> {
    let change = "UPDATE tournament_page SET line = ?2, view = ?3 WHERE tournament = ?1";
    let text = |value: serde_json::Result<String>| value.unwrap_or_default();
    let (line, whole) = (text(serde_json::to_string(&view.line)), text(serde_json::to_string(view)));
    db.lock().execute(change, params![view.line.id, line, whole])?;
    Ok(())
}

/// Returns the latest tournaments with a line each, or `None` for one that was never shown.
pub(super) fn lines(db: &Db, count: usize) -> rusqlite::Result<Vec<(i64, Option<TournamentLine>)>> {
    let connection = db.lock();
    let mut query = connection
        .prepare_cached("SELECT tournament, line FROM tournament_page ORDER BY tournament DESC LIMIT ?1")?;
    let rows = query.query_map([count as i64], |row| Ok((row.get(0)?, row.get::<_, Option<String>>(1)?)))?;
    let mut lines = Vec::new();
    for row in rows {
        let (id, line) = row?;
        lines.push((id, line.and_then(|line| serde_json::from_str(&line).ok())));
    }
    Ok(lines)
}

/// Whether there is no tournament at all.
pub(super) fn is_empty(db: &Db) -> rusqlite::Result<bool> {
    db.lock().query_row("SELECT NOT EXISTS (SELECT * FROM tournament_page)", [], |row| row.get(0))
}

/// Returns the tournaments in this state.
pub(super) fn in_state(db: &Db, state: TournamentState) -> rusqlite::Result<Vec<i64>> {
    let connection = db.lock();
    let mut query =
        connection.prepare("SELECT tournament FROM tournament_page WHERE state = ?1 ORDER BY tournament")?;
    let rows = query.query_map([state.as_str()], |row| row.get(0))?;
    rows.collect()
}
