//! What the file keeps of tournaments beyond their results: how far they are, and what was last shown of them.

use super::shown::{TournamentLine, TournamentState, TournamentView};
use necrodome_arena::tournament::{Archive, StoreError};
use rusqlite::{OptionalExtension, params};

/// The table, beside those of the arena.
#[derive(Debug, Clone)]
pub(super) struct Kept(Archive);

/// How far a tournament is, and what was shown of it.
pub(super) struct Page {
    pub state: TournamentState,
    pub began: i64,
    pub view: Option<TournamentView>,
}

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS tournament_page (
    tournament INTEGER PRIMARY KEY, state TEXT NOT NULL, began INTEGER NOT NULL, line TEXT, view TEXT
);
";

impl Kept {
    pub fn open(archive: &Archive) -> Result<Self, StoreError> {
        archive.connection().execute_batch(TABLE)?;
        Ok(Kept(archive.clone()))
    }

    /// A tournament that is new here.
    pub fn add(&self, id: i64, state: TournamentState, began: i64) -> Result<(), StoreError> {
        let row = "INSERT OR IGNORE INTO tournament_page VALUES (?1, ?2, ?3, NULL, NULL)";
        self.0.connection().execute(row, params![id, state.as_str(), began])?;
        Ok(())
    }

    pub fn page(&self, id: i64) -> Result<Option<Page>, StoreError> {
        let query = "SELECT state, began, view FROM tournament_page WHERE tournament = ?1";
        let row: Option<(String, i64, Option<String>)> = self
            .0
            .connection()
            .query_row(query, [id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        Ok(row.map(|(state, began, view)| Page {
            state: TournamentState::named(&state).unwrap_or(TournamentState::Paused),
            began,
            // What another version has kept is made again.
            view: view.and_then(|view| serde_json::from_str(&view).ok()),
        }))
    }

    /// How far it is now. Survives everything from here on.
    pub fn set_state(&self, id: i64, state: TournamentState) -> Result<(), StoreError> {
        let change = "UPDATE tournament_page SET state = ?2, line = json_set(line, '$.state', ?2)
            WHERE tournament = ?1";
        self.0.connection().execute(change, params![id, state.as_str()])?;
        Ok(())
    }

    /// What is shown of it now. The state is not touched: it has its own moments.
    pub fn keep(&self, view: &TournamentView) -> Result<(), StoreError> {
        let change = "UPDATE tournament_page SET line = ?2, view = ?3 WHERE tournament = ?1";
        let text = |value: serde_json::Result<String>| value.unwrap_or_default();
        let (line, whole) = (text(serde_json::to_string(&view.line)), text(serde_json::to_string(view)));
        self.0.connection().execute(change, params![view.line.id, line, whole])?;
        Ok(())
    }

    /// The latest tournaments in a line each; those that were never shown have none.
    pub fn lines(&self, count: usize) -> Result<Vec<(i64, Option<TournamentLine>)>, StoreError> {
        let connection = self.0.connection();
        let mut query = connection.prepare_cached(
            "SELECT tournament, line FROM tournament_page ORDER BY tournament DESC LIMIT ?1",
        )?;
        let rows =
            query.query_map([count as i64], |row| Ok((row.get(0)?, row.get::<_, Option<String>>(1)?)))?;
        let mut lines = Vec::new();
        for row in rows {
            let (id, line) = row?;
            lines.push((id, line.and_then(|line| serde_json::from_str(&line).ok())));
        }
        Ok(lines)
    }

    /// The tournaments in this state.
    pub fn in_state(&self, state: TournamentState) -> Result<Vec<i64>, StoreError> {
        let connection = self.0.connection();
        let mut query = connection
            .prepare("SELECT tournament FROM tournament_page WHERE state = ?1 ORDER BY tournament")?;
        let rows = query.query_map([state.as_str()], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
