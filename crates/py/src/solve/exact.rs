//! Exact values of ways to play that Python knows.

use super::seen::turn_width;
use crate::setup::{self, refuse};
use necrodome_rules::{
    bot::Bot,
    catalog::GameId,
    chance::Seeded,
    game::Game,
    zombie_dice::{
        Action, Colour, Counts, DICE, OutOfDice, Race, RaceRules, RaceView, Solo, SoloRules, SoloView,
    },
};
use necrodome_solve::{
    Position, Solvable,
    exact::{self, Asked, ExactSolo, Inexact, Policy, RaceProfile, WinChance},
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use serde::Serialize;

/// Somebody who is asked: what it sees, and how to ask it.
#[derive(FromPyObject)]
pub enum Player {
    /// A built-in bot by its name.
    BuiltIn(String),
    /// `("observation", ask)`: all observations of a turn as one flat array; answers with as many probabilities to go.
    /// `("view", ask)`: one view as JSON; answers with one.
    Function(String, Py<PyAny>),
}

/// What a race is worth.
#[derive(Serialize)]
struct ExactRace {
    /// Against the opponent, or against the perfect player.
    chance: WinChance,
    /// The chance of the best response to the opponent.
    best: WinChance,
    /// The chance of whoever knows exactly how this one plays.
    best_response: WinChance,
    views: usize,
}

/// The exact value of a way to play, as JSON. Nothing is played.
#[pyfunction]
#[pyo3(signature = (game, options, player, opponent=None))]
pub fn evaluate(
    py: Python<'_>,
    game: &str,
    options: &str,
    player: Player,
    opponent: Option<Player>,
) -> PyResult<String> {
    let json = match setup::game(game)? {
        GameId::ZombieDiceSolo => {
            if opponent.is_some() {
                return Err(refuse("zombie-dice-solo is for one: leave out the opponent"));
            }
            serde_json::to_string(&solo(py, &setup::rules(options)?, &player)?)
        }
        GameId::ZombieDiceRace => {
            serde_json::to_string(&race(py, &setup::rules(options)?, &player, opponent.as_ref())?)
        }
        id => {
            let text = format!("{id} cannot be evaluated: expected zombie-dice-solo or zombie-dice-race");
            return Err(refuse(text));
        }
    };
    json.map_err(refuse)
}

fn solo(py: Python<'_>, rules: &SoloRules, player: &Player) -> PyResult<ExactSolo> {
    match player {
        Player::BuiltIn(name) => {
            let mut bot = BuiltInBot(setup::built_in::<Solo>(name, rules, chance())?);
            exact::solo(rules, &mut bot, |_| {}).map_err(refuse)
        }
        Player::Function(sees, ask) => {
            let mut asked = Function::new(py, ask, rules.out_of_dice, false);
            let exact = match sees.as_str() {
                "view" => exact::solo(rules, &mut asked, |_| {}),
                _ => exact::solo_policy(rules, &mut asked),
            };
            exact.map_err(|why| asked.error(why))
        }
    }
}

fn race(
    py: Python<'_>,
    rules: &RaceRules,
    player: &Player,
    opponent: Option<&Player>,
) -> PyResult<ExactRace> {
    let solution = py.detach(|| Race::solve(rules, 2)).map_err(refuse)?;
    let own = profile(py, rules, player)?;
    let (chance, best) = match opponent {
        None => {
            let even = RaceProfile::optimal(rules, &solution).best_response(rules, &solution);
            (own.against_optimal(rules, &solution), even)
        }
        Some(other) => {
            let other = profile(py, rules, other)?;
            (own.against(&other, rules).map_err(refuse)?, other.best_response(rules, &solution))
        }
    };
    Ok(ExactRace { chance, best, best_response: own.best_response(rules, &solution), views: own.views })
}

fn profile(py: Python<'_>, rules: &RaceRules, player: &Player) -> PyResult<RaceProfile> {
    match player {
        Player::BuiltIn(name) => {
            let mut bot = BuiltInBot(setup::built_in::<Race>(name, rules, chance())?);
            RaceProfile::ask(rules, &mut bot, |_| {}).map_err(refuse)
        }
        Player::Function(sees, ask) => {
            let mut asked = Function::new(py, ask, rules.out_of_dice, true);
            let profile = match sees.as_str() {
                "view" => RaceProfile::ask(rules, &mut asked, |_| {}),
                _ => RaceProfile::of_policy(rules, &mut asked),
            };
            profile.map_err(|why| asked.error(why))
        }
    }
}

/// The chance of a built-in bot. One that tosses coins has no exact value, whatever they are.
fn chance() -> Seeded {
    Seeded::new(0, "evaluate", 0)
}

struct BuiltInBot<G: Game>(Box<dyn Bot<G>>);

impl<G: Game> Asked<G> for BuiltInBot<G> {
    fn act(&mut self, view: &G::View) -> Result<G::Action, Inexact> {
        Ok(self.0.act(view))
    }
}

/// A Python function that is asked.
struct Function<'py> {
    ask: Bound<'py, PyAny>,
    out_of_dice: OutOfDice,
    /// Whether its observations end with the scores.
    with_scores: bool,
    /// What it raised.
    raised: Option<PyErr>,
}

impl<'py> Function<'py> {
    fn new(py: Python<'py>, ask: &Py<PyAny>, out_of_dice: OutOfDice, with_scores: bool) -> Self {
        Function { ask: ask.bind(py).clone(), out_of_dice, with_scores, raised: None }
    }

    /// An exception of Python's goes on as it is.
    fn error(&mut self, why: Inexact) -> PyErr {
        self.raised.take().unwrap_or_else(|| refuse(why))
    }

    fn keep<T>(&mut self, answer: PyResult<T>) -> Result<T, Inexact> {
        answer.map_err(|error| {
            self.raised = Some(error);
            Inexact::Interrupted
        })
    }

    fn view(&mut self, view: &impl Serialize) -> Result<f64, Inexact> {
        let answer = serde_json::to_string(view).map_err(refuse);
        let answer = answer.and_then(|view| self.ask.call1((view,))?.extract::<f64>());
        self.keep(answer)
    }

    /// The observations of positions, one after the other.
    fn observe(&self, score: u32, other: u32, positions: &[Position]) -> Vec<i16> {
        let mut rows = Vec::with_capacity(positions.len() * (turn_width(self.out_of_dice) + 2));
        let number = |count: u32| i16::try_from(count).unwrap_or(i16::MAX);
        for at in positions {
            let by_colour = |dice: Counts| Colour::ALL.map(|colour| i16::from(dice[colour]));
            rows.extend([number(at.brains), at.shots.total().into()]);
            rows.extend(by_colour(at.cup));
            rows.extend(by_colour(at.feet));
            if self.out_of_dice == OutOfDice::RecycleBrains {
                let out = [at.cup, at.feet, at.shots];
                let aside = |colour| DICE[colour] - out.iter().map(|dice| dice[colour]).sum::<u8>();
                rows.extend(Colour::ALL.map(|colour| i16::from(aside(colour))));
            }
            if self.with_scores {
                rows.extend([score, other].map(number));
            }
        }
        rows
    }
}

impl Asked<Solo> for Function<'_> {
    fn act(&mut self, view: &SoloView) -> Result<Action, Inexact> {
        Ok(if self.view(view)? > 0.5 { Action::Go } else { Action::Stop })
    }

    fn rolls(&mut self, view: &SoloView) -> Result<f64, Inexact> {
        self.view(view)
    }
}

impl Asked<Race> for Function<'_> {
    fn act(&mut self, view: &RaceView) -> Result<Action, Inexact> {
        Ok(if self.view(view)? > 0.5 { Action::Go } else { Action::Stop })
    }

    fn rolls(&mut self, view: &RaceView) -> Result<f64, Inexact> {
        self.view(view)
    }

    fn again(&self) -> usize {
        8
    }
}

impl Policy for Function<'_> {
    fn rolls(&mut self, score: u32, other: u32, positions: &[Position]) -> Result<Vec<f64>, Inexact> {
        let rows = self.observe(score, other, positions);
        let ask = || {
            let answer = self.ask.call1((PyArray1::from_vec(self.ask.py(), rows),))?;
            let answer: PyReadonlyArray1<'_, f64> = answer.extract()?;
            let answer = answer.as_array().to_vec();
            if answer.len() == positions.len() {
                Ok(answer)
            } else {
                Err(refuse(format!("{} answers to {} positions", answer.len(), positions.len())))
            }
        };
        let answer = ask();
        self.keep(answer)
    }
}
