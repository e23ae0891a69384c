//! The requests about tournaments.

use super::{NewTournament, TournamentLine, TournamentState, Tournaments, played::Tournament};
use crate::{
    Refusal, Site,
    json::Body,
    keys::{Host, IsHost},
    stream,
};
use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::header,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use necrodome_arena::tournament::{self, MatchError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// Tournaments of a list, and matches of a page.
const LISTED: usize = 100;
const MATCHES: usize = 200;

/// The tournaments, newest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TournamentList {
    /// A line for each.
    pub tournaments: Vec<TournamentLine>,
}

/// A tournament that has begun.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TournamentStarted {
    /// Its number.
    pub id: i64,
}

/// Some matches of a tournament.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MatchPage {
    /// How many there are in all.
    pub total: u64,
    /// The first of these, from 0.
    pub from: u64,
    /// The matches.
    pub matches: Vec<MatchLine>,
}

/// A match that was played.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MatchLine {
    /// Its block.
    pub block: u32,
    /// Its number in the block.
    pub number: u32,
    /// The names by seat.
    pub names: Vec<String>,
    /// The places by seat.
    pub places: Vec<u16>,
    /// The scores by seat.
    pub scores: Vec<i64>,
    /// Turns played.
    pub turns: u32,
    /// The luck of the first seat, where the game is solved.
    pub luck: Option<f32>,
    /// How often somebody misbehaved.
    pub faults: u32,
}

pub(crate) fn routes() -> Router<Site> {
    Router::new()
        .route("/tournaments", get(list).post(begin))
        .route("/tournaments/{id}", get(look))
        .route("/tournaments/{id}/stream", get(follow))
        .route("/tournaments/{id}/pause", post(pause))
        .route("/tournaments/{id}/resume", post(resume))
        .route("/tournaments/{id}/cancel", post(cancel))
        .route("/tournaments/{id}/matches", get(matches))
        .route("/tournaments/{id}/matches/{block}/{number}/replay", get(replay))
        .route("/tournaments/{id}/matches/{block}/{number}/film", get(film))
}

/// Does something that takes its time, such as reading the file, beside the threads that answer requests.
async fn aside<T: Send + 'static>(
    site: &Site,
    work: impl FnOnce(&Tournaments) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let site = site.clone();
    spawn_blocking(move || work(site.tournaments())).await.map_err(Refusal::internal)?
}

fn number<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, Refusal> {
    text.parse().map_err(|_| Refusal::missing(format!("there is no {what} {text:?}")))
}

async fn find(site: &Site, id: &str) -> Result<Arc<Tournament>, Refusal> {
    let id = number(id, "tournament")?;
    aside(site, move |tournaments| tournaments.tournament(id)).await
}

async fn list(State(site): State<Site>) -> Result<Json<TournamentList>, Refusal> {
    let tournaments = aside(&site, |tournaments| tournaments.lines(LISTED)).await?;
    Ok(Json(TournamentList { tournaments }))
}

/// The latest tournaments, for other pages.
pub(crate) async fn latest(site: &Site, count: usize) -> Result<Vec<TournamentLine>, Refusal> {
    aside(site, move |tournaments| tournaments.lines(count)).await
}

async fn begin(
    _: Host,
    State(site): State<Site>,
    Body(wanted): Body<NewTournament>,
) -> Result<Json<TournamentStarted>, Refusal> {
    let begin = move |tournaments: &Tournaments| {
        let plan = wanted.plan(&tournaments.equipment.allowed)?;
        tournaments.begin(&plan)
    };
    Ok(Json(TournamentStarted { id: aside(&site, begin).await? }))
}

async fn look(
    IsHost(host): IsHost,
    State(site): State<Site>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let shown = find(&site, &id).await?.shown().borrow().clone();
    let body = if host { shown.host } else { shown.guests };
    Ok(([(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response())
}

async fn follow(
    IsHost(host): IsHost,
    State(site): State<Site>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let shown = find(&site, &id).await?.shown();
    let look = shown.clone();
    stream::live(&site, shown, move || {
        let shown = look.borrow();
        Some(if host { shown.host.clone() } else { shown.guests.clone() })
    })
}

async fn pause(_: Host, State(site): State<Site>, Path(id): Path<String>) -> Result<(), Refusal> {
    let id = number(&id, "tournament")?;
    aside(&site, move |tournaments| tournaments.stop(id, TournamentState::Paused)).await
}

async fn cancel(_: Host, State(site): State<Site>, Path(id): Path<String>) -> Result<(), Refusal> {
    let id = number(&id, "tournament")?;
    aside(&site, move |tournaments| tournaments.stop(id, TournamentState::Cancelled)).await
}

async fn resume(_: Host, State(site): State<Site>, Path(id): Path<String>) -> Result<(), Refusal> {
    let id = number(&id, "tournament")?;
    aside(&site, move |tournaments| tournaments.resume(id)).await
}

#[derive(Deserialize)]
struct Window {
    from: Option<String>,
    count: Option<String>,
}

async fn matches(
    State(site): State<Site>,
    Path(id): Path<String>,
    Query(window): Query<Window>,
) -> Result<Json<MatchPage>, Refusal> {
    let whole = |text: Option<String>, usual: u64| match text {
        None => Ok(usual),
        Some(text) => {
            text.parse().map_err(|_| Refusal::bad(format!("expected a whole number, got {text:?}")))
        }
    };
    let from = whole(window.from, 0)?;
    let count = whole(window.count, 50)?.min(MATCHES as u64) as usize;
    let id = number(&id, "tournament")?;
    let read = move |tournaments: &Tournaments| page(&*tournaments.tournament(id)?, from, count);
    Ok(Json(aside(&site, read).await?))
}

fn page(tournament: &Tournament, from: u64, count: usize) -> Result<MatchPage, Refusal> {
    let Tournament { plan, store, schedule, .. } = tournament;
    let total = u64::from(store.blocks()?) * schedule.seatings().len() as u64;
    let line = |played: tournament::PlayedMatch| MatchLine {
        block: played.block,
        number: played.number,
        names: played.entries.iter().map(|&entry| plan.entries[entry].name.clone()).collect(),
        places: played.result.places,
        scores: played.result.scores,
        turns: played.result.turns,
        luck: played.luck.map(|luck| (luck * 1e4).round() / 1e4),
        faults: played.faults,
    };
    let matches = tournament::matches(schedule, store, from, count)?;
    Ok(MatchPage { total, from, matches: matches.into_iter().map(line).collect() })
}

/// The packed replay of a match.
async fn packed(site: &Site, id: &str, block: &str, match_number: &str) -> Result<Vec<u8>, Refusal> {
    let id = number(id, "tournament")?;
    let (block, match_number) = (number(block, "block")?, number(match_number, "match")?);
    let Ok(permit) = site.tournaments().replays.clone().try_acquire_owned() else {
        return Err(Refusal::full("too many replays are being made").hint("try again in a moment"));
    };
    aside(site, move |tournaments| {
        let _permit = permit;
        let tournament = tournaments.tournament(id)?;
        tournament::packed_replay(&tournament.plan, &tournament.store, block, match_number).map_err(|error| {
            match error {
                MatchError::NoBlock { .. } | MatchError::NoMatch { .. } | MatchError::NotKept => {
                    Refusal::missing(error.to_string())
                }
                other => Refusal::internal(other),
            }
        })
    })
    .await
}

async fn replay(
    State(site): State<Site>,
    Path((id, block, number)): Path<(String, String, String)>,
) -> Result<Response, Refusal> {
    let packed = packed(&site, &id, &block, &number).await?;
    // They are numbers, or there would be no such match.
    let name = format!("attachment; filename=\"tournament-{id}-{block}.{number}.replay\"");
    let headers =
        [(header::CONTENT_TYPE, "application/octet-stream".to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok((headers, packed).into_response())
}

async fn film(
    State(site): State<Site>,
    Path((id, block, number)): Path<(String, String, String)>,
) -> Result<Response, Refusal> {
    let packed = packed(&site, &id, &block, &number).await?;
    crate::film::show(&site, packed).await
}
