//! The requests for tournaments.

use super::{
    NewTournament, TournamentLine, TournamentState, found,
    played::{Progress, Tournament},
};
use crate::{
    Refusal, Site,
    json::Body,
    keys::{Host, IsHost},
    live::Live,
    places::Origin,
};
use axum::{
    Json, Router,
    extract::{Path, State},
    http::header,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use necrodome_arena::tournament::{self, Plan, PlayedMatch};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;
use tokio::sync::OwnedMutexGuard;

/// The most tournaments in the list.
const LISTED: usize = 100;

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
    /// How many matches match the search.
    pub total: u64,
    /// The number of the first match on this page, from 0.
    pub from: u64,
    /// The matches on this page.
    pub matches: Vec<MatchLine>,
    /// How many matches were searched. In a very long tournament, only the first million are.
    pub searched: u64,
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
    /// How many faults there were.
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
        .route("/tournaments/{id}/hurry", post(hurry))
        .route("/tournaments/{id}/matches", get(found::matches))
        .route("/tournaments/{id}/moments", get(found::moments))
        .route("/tournaments/{id}/matches/{block}/{number}/logs", get(found::logs))
        .route("/tournaments/{id}/matches/{block}/{number}/replay", get(replay))
        .route("/tournaments/{id}/matches/{block}/{number}/film", get(film))
}

pub(super) fn number<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, Refusal> {
    text.parse().map_err(|_| Refusal::missing(format!("there is no {what} {text:?}")))
}

/// Returns the tournament with this number, with its report.
pub(super) async fn find(site: &Site, id: &str) -> Result<Arc<Tournament>, Refusal> {
    let id = number(id, "tournament")?;
    if let Some(tournament) = site.tournaments().get(id) {
        return Ok(tournament);
    }
    // Whoever waits for its turn takes no thread from others.
    let turn = site.tournaments().reading.clone().lock_owned().await;
    read(site, id, turn).await
}

async fn read(site: &Site, id: i64, turn: OwnedMutexGuard<()>) -> Result<Arc<Tournament>, Refusal> {
    site.aside(move |site| {
        let _turn = turn;
        site.tournaments().read(id)
    })
    .await
}

async fn list(State(site): State<Site>) -> Result<Json<TournamentList>, Refusal> {
    Ok(Json(TournamentList { tournaments: latest(&site, LISTED).await? }))
}

/// Returns the latest tournaments.
pub(crate) async fn latest(site: &Site, count: usize) -> Result<Vec<TournamentLine>, Refusal> {
    let (lines, unseen) = site.aside(move |site| site.tournaments().lines(count)).await?;
    // Whoever asks next is told who leads, too.
    if let Some(id) = unseen
        && let Ok(turn) = site.tournaments().reading.clone().try_lock_owned()
    {
        let site = site.clone();
        tokio::spawn(async move {
            if let Err(why) = read(&site, id, turn).await {
                complain!("error: tournament {id}: {why}");
            }
        });
    }
    Ok(lines)
}

async fn begin(
    _: Host,
    State(site): State<Site>,
    Body(wanted): Body<NewTournament>,
) -> Result<Json<TournamentStarted>, Refusal> {
    let begin = move |site: &Site| {
        let plan = wanted.plan(site.tournaments().allowed(), &site.config().launcher)?;
        site.tournaments().begin(&plan, wanted.pace)
    };
    Ok(Json(TournamentStarted { id: site.aside(begin).await? }))
}

async fn look(
    IsHost(host): IsHost,
    State(site): State<Site>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let tournament = find(&site, &id).await?;
    let body = shown(&tournament.live, host);
    Ok(([(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response())
}

async fn follow(
    IsHost(host): IsHost,
    State(site): State<Site>,
    origin: Origin,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let tournament = find(&site, &id).await?;
    tournament.live.follow(&site, origin, move |live| Some(shown(live, host)))
}

/// Returns the message for this viewer.
fn shown(live: &Live<Progress>, host: bool) -> Arc<str> {
    let progress = live.lock();
    if host { progress.for_host.clone() } else { progress.for_guests.clone() }
}

async fn pause(_: Host, State(site): State<Site>, Path(id): Path<String>) -> Result<(), Refusal> {
    let tournament = find(&site, &id).await?;
    site.aside(move |site| site.tournaments().stop(&tournament, TournamentState::Paused)).await
}

async fn cancel(_: Host, State(site): State<Site>, Path(id): Path<String>) -> Result<(), Refusal> {
    let tournament = find(&site, &id).await?;
    site.aside(move |site| site.tournaments().stop(&tournament, TournamentState::Cancelled)).await
}

async fn hurry(_: Host, State(site): State<Site>, Path(id): Path<String>) -> Result<(), Refusal> {
    let tournament = find(&site, &id).await?;
    site.aside(move |site| site.tournaments().hurry(&tournament)).await
}

async fn resume(_: Host, State(site): State<Site>, Path(id): Path<String>) -> Result<(), Refusal> {
    let tournament = find(&site, &id).await?;
    site.aside(move |site| site.tournaments().resume(&tournament)).await
}

/// Returns a match as a line of the list.
pub(super) fn line(plan: &Plan, played: PlayedMatch) -> MatchLine {
    MatchLine {
        block: played.block,
        number: played.number,
        names: played.entries.iter().map(|&entry| plan.entries[entry].name.clone()).collect(),
        places: played.result.places,
        scores: played.result.scores,
        turns: played.result.turns,
        luck: played.luck.map(|luck| (luck * 1e4).round() / 1e4),
        faults: played.faults.iter().sum(),
    }
}

/// Returns the packed replay of a match.
async fn packed(site: &Site, id: &str, block: &str, match_number: &str) -> Result<Vec<u8>, Refusal> {
    let tournament = find(site, id).await?;
    let (block, match_number) = (number(block, "block")?, number(match_number, "match")?);
    let Ok(permit) = site.tournaments().replays.clone().try_acquire_owned() else {
        return Err(Refusal::full("too many replays are being made").hint("try again in a moment"));
    };
    site.aside(move |_| {
        let _permit = permit;
        Ok(tournament::packed_replay(&tournament.plan, &tournament.store, block, match_number)?)
    })
    .await
}

async fn replay(
    State(site): State<Site>,
    origin: Origin,
    Path((id, block, number)): Path<(String, String, String)>,
) -> Result<Response, Refusal> {
    let customer = site.studio().enter(origin)?;
    let packed = packed(&site, &id, &block, &number).await?;
    // They are numbers, or there would be no such match.
    let name = format!("attachment; filename=\"tournament-{id}-{block}.{number}.replay\"");
    let headers =
        [(header::CONTENT_TYPE, "application/octet-stream".to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok(customer.send(headers, packed))
}

async fn film(
    State(site): State<Site>,
    origin: Origin,
    Path((id, block, number)): Path<(String, String, String)>,
) -> Result<Response, Refusal> {
    let customer = site.studio().enter(origin)?;
    let packed = packed(&site, &id, &block, &number).await?;
    site.studio().show(customer, packed, true).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use necrodome_arena::{
        entry::EntrySpec,
        tournament::{Archive, Format, Plan, PlannedEntry},
    };

    use std::{pin::pin, sync::atomic::AtomicBool, time::Duration};

    async fn is_waiting(request: impl Future) -> bool {
        tokio::time::timeout(Duration::ZERO, request).await.is_err()
    }

    /// Makes a file in which the command line has played a tournament, so that it has no report for the pages.
    fn played(path: &std::path::Path, blocks: u32) {
        let entry = |bot: &str| PlannedEntry::new(bot, bot);
        let plan = Plan::new(
            "zombie-dice-race",
            vec![entry("greedy"), entry("random")],
            Format::RoundRobin,
            2,
            blocks,
            7,
        );
        let parse = |entry: &PlannedEntry| EntrySpec::parse(&entry.bot, path).unwrap();
        let entries: Vec<EntrySpec> = plan.entries.iter().map(parse).collect();
        let (mut store, never) = (Archive::open(path).unwrap().begin(&plan).unwrap(), AtomicBool::new(false));
        tournament::run(&plan, &entries, &"unused".into(), &mut store, 1, &never, &mut |_| {}).unwrap();
    }

    #[tokio::test]
    async fn the_list_does_not_wait_for_a_report() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("night.store");
        played(&path, 20);
        let site = Site::open(Config { store: Some(path), ..Config::default() }).unwrap();
        // As long as a report is made, nobody else gets its turn.
        let turn = site.tournaments().reading.clone().try_lock_owned().unwrap();
        let mut looking = pin!(find(&site, "1"));
        assert!(is_waiting(looking.as_mut()).await);
        for _ in 0..3 {
            let lines = latest(&site, 10).await.unwrap();
            assert_eq!((lines.len(), lines[0].blocks, lines[0].matches), (1, 20, 40));
            assert_eq!((lines[0].state, lines[0].leaders.len()), (TournamentState::Finished, 0));
            assert!(site.tournaments().get(1).is_none(), "no report was made");
        }
        assert!(is_waiting(looking.as_mut()).await, "the report had no turn yet");
        drop(turn);
        let leaders = looking.await.unwrap().line().leaders;
        assert_eq!((&latest(&site, 10).await.unwrap()[0].leaders, leaders.is_empty()), (&leaders, false));
    }

    #[tokio::test]
    async fn a_list_without_a_leader_has_one_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("night.store");
        played(&path, 20);
        let site = Site::open(Config { store: Some(path), ..Config::default() }).unwrap();
        assert!(latest(&site, 10).await.unwrap()[0].leaders.is_empty());
        // The report has its turn now: whoever waits for the next one comes after it.
        drop(site.tournaments().reading.lock().await);
        assert!(!latest(&site, 10).await.unwrap()[0].leaders.is_empty());
    }
}
