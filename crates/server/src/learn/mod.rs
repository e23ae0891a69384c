//! Learn: the exact strategy as pictures, and a calculator for any position.
//!
//! Only the usual rules can be asked for, so that the solutions that are kept for ever are few.

mod drill;
mod position;
mod stopping;

pub use drill::Exercise;
pub use position::{AdviseOn, DiceOut, MonsterAsked, MonsterPlace};
pub use stopping::{Cell, Row, Stopping};

use crate::{Refusal, Site, film::Unit, json::Body, tables::priced};
use axum::{
    Json, Router,
    extract::{Query, rejection::QueryRejection},
    routing::{get, post},
};
use necrodome_rules::{
    names::Names,
    zombie_dice::{GOAL, Race, Solo},
};
use necrodome_solve::{Solution as _, Solvable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

pub(crate) fn routes() -> Router<Site> {
    Router::new()
        .route("/learn/stopping", get(when_to_stop))
        .route("/learn/drill", get(drill::exercise))
        .route("/advise", post(advise))
}

/// What is best in a position, and what everything else costs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Advice {
    /// What was understood.
    pub situation: String,
    /// What values count.
    pub unit: Unit,
    /// All options, the best first.
    pub options: Vec<AdviceOption>,
}

/// Something that can be done.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AdviceOption {
    /// In words: `roll`, `keep attack attack`.
    pub label: String,
    /// What it is worth if everybody plays perfectly from there.
    pub value: f64,
    /// What it costs, compared with the best.
    pub cost: f64,
}

async fn advise(Body(on): Body<AdviseOn>) -> Result<Json<Advice>, Refusal> {
    // The first of each game solves it.
    spawn_blocking(move || on.advice()).await.map_err(Refusal::internal)?.map(Json)
}

/// The advice for a view, if a match can come to it.
fn of<G: Solvable>(seats: usize, view: &G::View) -> Result<Advice, Refusal> {
    let solution = G::solve(&G::Rules::default(), seats).map_err(Refusal::bad)?;
    solution.check(view).map_err(Refusal::bad)?;
    let names = Names::new(["you", "the other"]).map_err(Refusal::internal)?;
    let options = priced::<G>(&*solution, view, &names);
    let best = options.first().map_or(0.0, |(_, value)| *value);
    let option = |(label, value): (String, f64)| AdviceOption { label, value, cost: (best - value).max(0.0) };
    Ok(Advice {
        situation: G::situation(view, &names).to_string(),
        unit: if *G::SEATS.end() == 1 { Unit::Points } else { Unit::Chance },
        options: options.into_iter().map(option).collect(),
    })
}

/// Which picture is wanted.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    shotguns: u8,
    /// Both scores for the race; without them it is solo.
    own: Option<u32>,
    other: Option<u32>,
}

async fn when_to_stop(wanted: Result<Query<Wanted>, QueryRejection>) -> Result<Json<Stopping>, Refusal> {
    let Query(Wanted { shotguns, own, other }) = wanted.map_err(|why| Refusal::bad(why.body_text()))?;
    if shotguns > 2 {
        return Err(Refusal::bad(format!("expected 0 to 2 shotguns, got {shotguns}")));
    }
    let scores = own.map(|own| [own, other.unwrap_or(0)]);
    if scores.iter().flatten().any(|score| *score >= GOAL) {
        return Err(Refusal::bad(format!("expected scores below {GOAL}")));
    }
    let picture = spawn_blocking(move || match scores {
        None => Solo::solve(&Default::default(), 1)
            .map(|solution| stopping::picture(&*solution, [0; 2], shotguns, Unit::Points)),
        Some(scores) => Race::solve(&Default::default(), 2)
            .map(|solution| stopping::picture(&*solution, scores, shotguns, Unit::Chance)),
    });
    let picture = picture.await.map_err(Refusal::internal)?;
    picture.map(Json).map_err(Refusal::internal)
}
