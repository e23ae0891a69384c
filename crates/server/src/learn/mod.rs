//! Learn: the exact strategy as pictures, and a calculator for any position.
//!
//! Only the usual rules can be asked for, so that only a few solutions have to be kept in memory.

mod drill;
mod position;
mod stopping;
mod thumb;

pub use drill::Exercise;
pub use position::{AdviseOn, DiceOut, MonsterAsked, MonsterPlace};
pub use stopping::{Cell, Row, Stopping};
pub(crate) use thumb::Desk;
pub use thumb::{Played, Thumb, Thumbs};

use crate::{
    Refusal, Site,
    film::Unit,
    json::{Asked, Body},
    tables::priced,
};
use axum::{
    Json, Router,
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
        .route("/learn/thumbs", get(thumb::list))
        .route("/learn/thumb", get(thumb::one))
        .route("/learn/drill", get(drill::exercise))
        .route("/advise", post(advise))
}

/// The best action in a position, and the cost of all others.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Advice {
    /// The position as it was understood.
    pub situation: String,
    /// The unit of the values.
    pub unit: Unit,
    /// All options, the best first.
    pub options: Vec<AdviceOption>,
    /// The odds of the next roll, if dice can be rolled.
    pub odds: Option<Odds>,
}

/// The odds of the next roll.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Odds {
    /// What is rolled, in words: `If you roll`.
    pub roll: String,
    /// Every possible result; the chances add up to 1.
    pub outcomes: Vec<RollOutcome>,
}

/// A possible result of a roll.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RollOutcome {
    /// In words.
    pub words: String,
    /// How likely it is.
    pub chance: f64,
}

/// An action that is possible.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AdviceOption {
    /// In words: `roll`, `keep attack attack`.
    pub label: String,
    /// Its value if everybody plays perfectly from there.
    pub value: f64,
    /// Its cost, compared with the best.
    pub cost: f64,
}

async fn advise(Body(on): Body<AdviseOn>) -> Result<Json<Advice>, Refusal> {
    // The first of each game solves it.
    spawn_blocking(move || on.advice()).await.map_err(Refusal::internal)?.map(Json)
}

/// Returns the advice for a view that can occur in a match. `odds` finds the odds of the next roll from the view and the best action.
fn of<G: Solvable>(
    seats: usize,
    view: &G::View,
    odds: impl FnOnce(&G::View, &G::Action) -> Option<Odds>,
) -> Result<Advice, Refusal> {
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
        odds: odds(view, &solution.best(view)),
    })
}

/// The picture that a request asks for.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    shotguns: u8,
    /// Both scores, for the race; without them the picture is for solo.
    own: Option<u32>,
    other: Option<u32>,
}

async fn when_to_stop(Asked(wanted): Asked<Wanted>) -> Result<Json<Stopping>, Refusal> {
    let Wanted { shotguns, own, other } = wanted;
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
