//! A drill: positions of a solved game, from those in which the best choice is plain to those in which it is hard to see.

use super::AdviceOption;
use crate::{Refusal, film::Unit, tables::priced};
use axum::{
    Json,
    extract::{Query, rejection::QueryRejection},
};
use necrodome_arena::exam::{Paper, Question};
use necrodome_rules::{
    catalog::{GameId, Listed},
    chance::Seed,
    game::Seat,
    with_game,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::task::spawn_blocking;

/// Positions of a game; they are drawn once.
const POSITIONS: usize = 400;
/// Levels, from the plainest to the hardest.
const LEVELS: usize = 10;
/// Options that are worth as much as the best one are right, too.
const SAME: f64 = 1e-6;

/// A position to decide on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Exercise {
    /// The id of the game.
    pub game: &'static str,
    /// How hard it is, from 1 to 10.
    pub level: usize,
    /// The names by seat.
    pub names: Vec<String>,
    /// Whose decision it is.
    pub seat: Seat,
    /// What the seat sees, as the protocol of the game writes it.
    pub view: Value,
    /// The same in words.
    pub situation: String,
    /// What values count.
    pub unit: Unit,
    /// All options, the best first.
    pub options: Vec<AdviceOption>,
}

/// Which one is wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    game: String,
    level: usize,
    /// Any number: another one is another position.
    number: u32,
}

pub(super) async fn exercise(
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<Exercise>, Refusal> {
    let Query(Wanted { game, level, number }) = wanted.map_err(|why| Refusal::bad(why.body_text()))?;
    if !(1..=LEVELS).contains(&level) {
        return Err(Refusal::bad(format!("expected a level from 1 to {LEVELS}, got {level}")));
    }
    let game: GameId = game.parse()?;
    let made = spawn_blocking(move || with_game!(game, G => draw::<G>(level, number)));
    made.await.map_err(Refusal::internal)?.map(Json)
}

fn draw<G: Listed>(level: usize, number: u32) -> Result<Exercise, Refusal> {
    let paper = paper::<G>()?;
    let questions = &paper.questions;
    // As many on each level; there is at least one question.
    let (from, to) = (questions.len() * (level - 1) / LEVELS, questions.len() * level / LEVELS);
    let place = from + number as usize % (to - from).max(1);
    let question = &questions[place.min(questions.len() - 1)];
    let names = paper.names(question);
    let options = priced::<G>(&*paper.solution, &question.view, &names);
    let option = |(label, value): (String, f64)| AdviceOption {
        label,
        value,
        cost: Some(question.best - value).filter(|cost| *cost > SAME).unwrap_or(0.0),
    };
    Ok(Exercise {
        game: G::ID,
        level,
        seat: question.seat,
        view: serde_json::to_value(&question.view).unwrap_or_default(),
        situation: G::situation(&question.view, &names).to_string(),
        unit: if *G::SEATS.end() == 1 { Unit::Points } else { Unit::Chance },
        options: options.into_iter().map(option).collect(),
        names: names.iter().map(str::to_owned).collect(),
    })
}

/// The positions of a game, the plainest first.
fn paper<G: Listed>() -> Result<Arc<Paper<G>>, Refusal> {
    static PAPERS: Mutex<Option<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>> = Mutex::new(None);
    // Whoever asks meanwhile waits for the same paper.
    let mut papers = PAPERS.lock().unwrap_or_else(PoisonError::into_inner);
    let papers = papers.get_or_insert_default();
    let known = papers.get(&TypeId::of::<G>()).cloned().and_then(|paper| paper.downcast::<Paper<G>>().ok());
    if let Some(paper) = known {
        return Ok(paper);
    }
    let mut paper = Paper::<G>::set(&G::Rules::default(), POSITIONS, Seed::from(1)).map_err(Refusal::bad)?;
    paper.questions.sort_by(|one, other| lead(other).total_cmp(&lead(one)));
    let paper = Arc::new(paper);
    papers.insert(TypeId::of::<G>(), paper.clone());
    Ok(paper)
}

/// By how much the best choice is better than the next best.
fn lead<G: Listed>(question: &Question<G>) -> f64 {
    let others = question.prices.iter().map(|price| question.best - price.value).filter(|cost| *cost > SAME);
    others.fold(question.stake, f64::min)
}
