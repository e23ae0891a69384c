//! A drill: positions of a solved game, from those where the best choice is obvious to those where it is hard to see.

use super::AdviceOption;
use crate::{Refusal, film::Unit, json::Asked, live::lock, tables::priced};
use axum::Json;
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
    collections::BTreeMap,
    sync::{Arc, Mutex},
};
use tokio::{sync::OnceCell, task::spawn_blocking};

/// How many positions are drawn for each game. They are drawn only once.
const POSITIONS: usize = 400;
/// How many levels there are, from the easiest to the hardest.
const LEVELS: usize = 10;
/// The tolerance for equal values: an option that is worth as much as the best one is right too.
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
    /// The unit of the values.
    pub unit: Unit,
    /// All options, the best first.
    pub options: Vec<AdviceOption>,
}

/// The exercise that a request asks for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    game: String,
    level: usize,
    /// Any number. Different numbers give different positions.
    number: u32,
}

pub(super) async fn exercise(
    Asked(Wanted { game, level, number }): Asked<Wanted>,
) -> Result<Json<Exercise>, Refusal> {
    if !(1..=LEVELS).contains(&level) {
        return Err(Refusal::bad(format!("expected a level from 1 to {LEVELS}, got {level}")));
    }
    let game: GameId = game.parse()?;
    let drill = drill(game).await?;
    spawn_blocking(move || drill(level, number)).await.map(Json).map_err(Refusal::internal)
}

/// Draws an exercise of a level.
type Drill = Arc<dyn Fn(usize, u32) -> Exercise + Send + Sync>;

/// The drills of all games that anybody has asked for.
static DRILLS: Mutex<BTreeMap<GameId, Arc<OnceCell<Drill>>>> = Mutex::new(BTreeMap::new());

/// Returns the drill of a game. The first request makes it, and later ones wait for it without occupying a thread.
async fn drill(game: GameId) -> Result<Drill, Refusal> {
    let cell = lock(&DRILLS).entry(game).or_default().clone();
    let made = async move {
        let make = || async {
            let made = spawn_blocking(move || with_game!(game, G => paper::<G>()));
            made.await.map_err(Refusal::internal)?
        };
        cell.get_or_try_init(make).await.cloned()
    };
    // Visitors who give up do not stop it.
    tokio::spawn(made).await.map_err(Refusal::internal)?
}

fn draw<G: Listed>(paper: &Paper<G>, level: usize, number: u32) -> Exercise {
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
    Exercise {
        game: G::ID,
        level,
        seat: question.seat,
        view: serde_json::to_value(&question.view).unwrap_or_default(),
        situation: G::situation(&question.view, &names).to_string(),
        unit: if *G::SEATS.end() == 1 { Unit::Points } else { Unit::Chance },
        options: options.into_iter().map(option).collect(),
        names: names.iter().map(str::to_owned).collect(),
    }
}

/// Draws the positions of a game, and sorts them: the easiest first.
fn paper<G: Listed>() -> Result<Drill, Refusal> {
    let mut paper = Paper::<G>::set(&G::Rules::default(), POSITIONS, Seed::from(1)).map_err(Refusal::bad)?;
    paper.questions.sort_by(|one, other| lead(other).total_cmp(&lead(one)));
    Ok(Arc::new(move |level, number| draw(&paper, level, number)))
}

/// Returns by how much the best choice is better than the next best.
fn lead<G: Listed>(question: &Question<G>) -> f64 {
    let others = question.prices.iter().map(|price| question.best - price.value).filter(|cost| *cost > SAME);
    others.fold(question.stake, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{future::pending, time::Duration};
    use tokio::{runtime::Builder, time::timeout};

    /// However many visitors wait for one drill, the threads and the other drills are free.
    #[test]
    fn nobody_waits_for_the_drill_of_another_game() {
        let one_thread = Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
        one_thread.block_on(async {
            let cell = lock(&DRILLS).entry(GameId::ZombieDiceRace).or_default().clone();
            let mut making = Box::pin(cell.get_or_init(pending));
            assert!(timeout(Duration::ZERO, &mut making).await.is_err());
            let mut waiting = Box::pin(drill(GameId::ZombieDiceRace));
            assert!(timeout(Duration::ZERO, &mut waiting).await.is_err());
            let solo = drill(GameId::ZombieDiceSolo).await.unwrap();
            assert_eq!(solo(1, 0).game, "zombie-dice-solo");
            drop((making, waiting));
        });
    }
}
