//! The first page: what is going on in the arena.

use crate::{
    Refusal, Site,
    tournaments::{TournamentLine, TournamentState, latest},
};
use axum::{Json, Router, extract::State, routing::get};
use schemars::JsonSchema;
use serde::Serialize;

/// The most tournaments that are looked through; the next constant is the most finished ones that are shown.
const LATEST: usize = 30;
const RECENT: usize = 6;

/// The contents of the first page.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Home {
    /// Tournaments that are being played.
    pub running: Vec<TournamentLine>,
    /// Tournaments that are not, the latest first.
    pub recent: Vec<TournamentLine>,
    /// A match of each of the latest tournaments, to look at.
    pub films: Vec<FilmLine>,
}

/// A match that can be watched.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FilmLine {
    /// The id of the game.
    pub game: String,
    /// The tournament.
    pub tournament: i64,
    /// Its block.
    pub block: u32,
    /// Its number in the block.
    pub number: u32,
}

impl FilmLine {
    /// The latest match of a tournament, if it has one.
    fn of(line: &TournamentLine) -> Option<Self> {
        let block = line.blocks.checked_sub(1)?;
        Some(FilmLine { game: line.game.clone(), tournament: line.id, block, number: 0 })
    }
}

pub(crate) fn routes() -> Router<Site> {
    Router::new().route("/home", get(home))
}

async fn home(State(site): State<Site>) -> Result<Json<Home>, Refusal> {
    let lines = latest(&site, LATEST).await?;
    let films = lines.iter().filter_map(FilmLine::of).take(RECENT).collect();
    let (running, mut recent): (Vec<_>, Vec<_>) =
        lines.into_iter().partition(|line: &TournamentLine| line.state == TournamentState::Running);
    recent.truncate(RECENT);
    Ok(Json(Home { running, recent, films }))
}
