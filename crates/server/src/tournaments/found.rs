//! Searches and sorts the matches of a tournament, finds those worth watching, and shows the logs and faults of a match.

use super::{
    EntryLog, MatchLine, MatchPage,
    played::Tournament,
    requests::{find, line, number},
};
use crate::{Refusal, Site, keys::Host};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use necrodome_arena::{
    fault::shown,
    tournament::{self, By, MatchMoment, MomentKind, Search},
};
use necrodome_rules::game::Seat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most matches on a page.
const MATCHES: usize = 200;
/// The largest number of a match at which a page of a search may begin: nobody turns more pages than that.
const DEEPEST: u64 = 10_000;
/// The most moments of each kind.
const MOMENTS: usize = 5;
/// The most lines of a program's log beside a film.
const LINES: usize = 1000;

/// The matches of a tournament that are worth watching.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MomentList {
    /// The best of each kind.
    pub moments: Vec<MomentLine>,
    /// How many matches were looked at.
    pub searched: u64,
    /// How many of those were played again: rolls, decisions and comebacks are found only there.
    pub replayed: u64,
}

/// A match that is worth watching.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MomentLine {
    /// Why.
    pub kind: MomentName,
    /// Whose moment it is.
    pub seat: Seat,
    /// How much: luck, cost or chance in the unit of the values, a difference of scores, or turns.
    pub amount: f64,
    /// The step of the film, if it is about a single one.
    pub step: Option<u32>,
    /// The match.
    pub played: MatchLine,
}

/// Why a match is worth watching.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MomentName {
    /// A roll gave somebody the most.
    Luck,
    /// A decision cost somebody the most.
    Mistakes,
    /// Somebody won after their chance was lowest.
    Comeback,
    /// Somebody won by the smallest margin.
    Close,
    /// It took the most turns.
    Long,
}

impl From<MomentKind> for MomentName {
    fn from(kind: MomentKind) -> Self {
        match kind {
            MomentKind::Luck => MomentName::Luck,
            MomentKind::Mistakes => MomentName::Mistakes,
            MomentKind::Comeback => MomentName::Comeback,
            MomentKind::Close => MomentName::Close,
            MomentKind::Long => MomentName::Long,
        }
    }
}

/// The details of a match that only the host may know.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MatchLogs {
    /// What went wrong in this match.
    pub faults: Vec<MatchFault>,
    /// What each program has written to standard error in it. Programs hand in their logs when they are closed.
    pub logs: Vec<EntryLog>,
}

/// A misbehaviour in a match.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MatchFault {
    /// Whose fault it is.
    pub seat: Seat,
    /// The decision of the match, from 1.
    pub decision: u32,
    /// The kind of fault.
    pub kind: String,
    /// The details.
    pub detail: String,
    /// What the bot's author should do about it, where the arena can tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The query of a request for matches.
#[derive(Debug, Deserialize)]
pub(super) struct Window {
    from: Option<String>,
    count: Option<String>,
    /// The name of an entry: only matches in which it plays.
    entry: Option<String>,
    /// `won` or `lost`: only matches that the entry won alone, or did not; without an entry, that anybody won alone, or nobody.
    result: Option<String>,
    /// `some`: only matches with faults.
    faults: Option<String>,
    /// `luck`, `turns`, `margin`, `score` or `faults`.
    sort: Option<String>,
    /// `up` for ascending order, `down` for descending.
    order: Option<String>,
    /// `BLOCK.NUMBER`: the page begins one match before this one. For a list without a search.
    around: Option<String>,
}

fn whole(text: Option<String>, usual: u64) -> Result<u64, Refusal> {
    match text {
        None => Ok(usual),
        Some(text) => {
            text.parse().map_err(|_| Refusal::bad(format!("expected a whole number, got {text:?}")))
        }
    }
}

fn one_of<T: Copy>(text: Option<String>, known: &[(&str, T)]) -> Result<Option<T>, Refusal> {
    let Some(text) = text else { return Ok(None) };
    let found = known.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    let names = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    found.map(Some).ok_or_else(|| Refusal::bad(format!("expected one of {}, got {text:?}", names())))
}

/// Returns the place of the entry with this name.
fn entry(tournament: &Tournament, name: Option<String>) -> Result<Option<usize>, Refusal> {
    let Some(name) = name else { return Ok(None) };
    let place = tournament.plan.entries.iter().position(|entry| entry.name == name);
    place.map(Some).ok_or_else(|| Refusal::bad(format!("there is no entry {name:?}")))
}

pub(super) async fn matches(
    State(site): State<Site>,
    Path(id): Path<String>,
    Query(window): Query<Window>,
) -> Result<Json<MatchPage>, Refusal> {
    let tournament = find(&site, &id).await?;
    let (mut from, count) = (whole(window.from, 0)?, whole(window.count, 50)?.min(MATCHES as u64) as usize);
    const SORTS: [(&str, By); 5] = [
        ("luck", By::Luck),
        ("turns", By::Turns),
        ("margin", By::Margin),
        ("score", By::Score),
        ("faults", By::Faults),
    ];
    let search = Search {
        entry: entry(&tournament, window.entry)?,
        won: one_of(window.result, &[("won", true), ("lost", false)])?,
        faults: one_of(window.faults, &[("some", true)])?.unwrap_or(false),
        by: one_of(window.sort, &SORTS)?,
        ascending: one_of(window.order, &[("up", true), ("down", false)])?.unwrap_or(false),
    };
    if search.is_all() {
        if let Some(around) = window.around {
            let (block, match_number) = around.split_once('.').unwrap_or((&around, ""));
            let before = tournament.schedule.matches_before(number(block, "block")?);
            from = (before + number::<u64>(match_number, "match")?).saturating_sub(1);
        }
        return Ok(Json(site.aside(move |_| page(&tournament, from, count)).await?));
    }
    if from > DEEPEST {
        return Err(Refusal::bad(format!("expected to begin at {DEEPEST} at most, got {from}"))
            .hint("search for less: an entry, a result"));
    }
    let permit = site.tournaments().search().await?;
    let found = site.aside(move |_| {
        let _permit = permit;
        let Tournament { plan, store, schedule, .. } = &*tournament;
        let found = search.run(schedule, store, from as usize, count)?;
        let matches = found.matches.into_iter().map(|played| line(plan, played)).collect();
        Ok(MatchPage { total: found.total, from, matches, searched: found.searched })
    });
    Ok(Json(found.await?))
}

fn page(tournament: &Tournament, from: u64, count: usize) -> Result<MatchPage, Refusal> {
    let Tournament { plan, store, schedule, .. } = tournament;
    let total = schedule.matches_before(store.blocks()?);
    let matches = tournament::matches(schedule, store, from, count)?;
    let matches = matches.into_iter().map(|played| line(plan, played)).collect();
    Ok(MatchPage { total, from, matches, searched: total })
}

/// The query of a request for moments: the name of an entry, if only its moments are wanted.
#[derive(Debug, Deserialize)]
pub(super) struct Whose {
    entry: Option<String>,
}

pub(super) async fn moments(
    State(site): State<Site>,
    Path(id): Path<String>,
    Query(whose): Query<Whose>,
) -> Result<Json<MomentList>, Refusal> {
    let tournament = find(&site, &id).await?;
    let entry = entry(&tournament, whose.entry)?;
    let permit = site.tournaments().search().await?;
    let found = site.aside(move |_| {
        let _permit = permit;
        tournament.with_moments(|moments| {
            let best = MomentKind::ALL.into_iter().flat_map(|kind| moments.best(kind, entry, MOMENTS));
            let moments_of = best.map(|MatchMoment { highlight, played }| MomentLine {
                kind: highlight.kind.into(),
                seat: Seat(highlight.seat as u16),
                amount: (highlight.amount * 1e4).round() / 1e4,
                step: highlight.step,
                played: line(&tournament.plan, played.clone()),
            });
            MomentList { moments: moments_of.collect(), searched: moments.seen, replayed: moments.replayed }
        })
    });
    Ok(Json(found.await?))
}

/// Returns the faults in a match and the logs of its programs, for the host.
pub(super) async fn logs(
    _: Host,
    State(site): State<Site>,
    Path((id, block, match_number)): Path<(String, String, String)>,
) -> Result<Json<MatchLogs>, Refusal> {
    let tournament = find(&site, &id).await?;
    let (block, match_number): (u32, u32) = (number(&block, "block")?, number(&match_number, "match")?);
    let found = site.aside(move |_| {
        let Tournament { plan, store, .. } = &*tournament;
        let all = store.faults(block..block.saturating_add(1))?;
        let of_match = all.into_iter().filter(|(_, number, _)| *number == match_number);
        let faults = of_match.flat_map(|(_, _, faults)| faults).map(|fault| MatchFault {
            seat: fault.seat,
            decision: fault.step + 1,
            kind: fault.fault.kind.as_str().into(),
            detail: fault.fault.detail,
            hint: fault.fault.hint,
        });
        let logs = tournament::match_logs(plan, store, block, match_number)?;
        let log = |(entry, written): (usize, String)| EntryLog {
            name: plan.entries[entry].name.clone(),
            lines: shown(&written, LINES),
        };
        Ok(MatchLogs { faults: faults.collect(), logs: logs.into_iter().map(log).collect() })
    });
    Ok(Json(found.await?))
}
