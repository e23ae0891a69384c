//! What is going on: for the first page.

use crate::{
    Refusal, Site,
    tournaments::{TournamentLine, TournamentState, latest},
};
use axum::{Json, Router, extract::State, routing::get};
use schemars::JsonSchema;
use serde::Serialize;

/// Tournaments that are looked through, and shown of those that are over.
const LATEST: usize = 30;
const RECENT: usize = 6;

/// What is going on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Home {
    /// Tournaments that are being played.
    pub running: Vec<TournamentLine>,
    /// Tournaments that are not, the latest first.
    pub recent: Vec<TournamentLine>,
}

pub(crate) fn routes() -> Router<Site> {
    Router::new().route("/home", get(home))
}

async fn home(State(site): State<Site>) -> Result<Json<Home>, Refusal> {
    let (running, mut recent): (Vec<_>, Vec<_>) = latest(&site, LATEST)
        .await?
        .into_iter()
        .partition(|line: &TournamentLine| line.state == TournamentState::Running);
    recent.truncate(RECENT);
    Ok(Json(Home { running, recent }))
}
