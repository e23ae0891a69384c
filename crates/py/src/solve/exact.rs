//! Exact values of policies from Python.

use super::seen::turn_width;
use crate::setup::{self, refuse};
use necrodome_batch::observe::Observe;
use necrodome_rules::{
    bot::Bot,
    catalog::{GameId, Listed},
    chance::Seeded,
    game::{Game, Seat},
    tokyo::{Phase, Tokyo, TokyoRules, TokyoView},
    zombie_dice::{
        Action, Colour, Counts, DICE, OutOfDice, Race, RaceRules, RaceView, Solo, SoloRules, SoloView, Table,
        TableRules, TableView,
    },
};
use necrodome_solve::{
    Position, Solution as _, Solvable,
    exact::{
        self, Answers, Asked, AskedMonster, ExactSolo, Inexact, PerfectAtTable, Policy, RaceProfile, Scores,
        TableBot, TablePlayer, TablePolicy, TokyoBot, WinChance,
    },
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use serde::Serialize;
use std::{cell::RefCell, ops::Range, rc::Rc};

/// A player whose value is wanted: what it sees, and how to ask it.
#[derive(FromPyObject)]
pub enum Player {
    /// A built-in bot by its name.
    BuiltIn(String),
    /// `("observation", ask)`: many observations as one flat array, the first legal action and the last one plus one;
    /// returns an action for each (8 bits), or, flat, the probability of each legal action for each.
    /// `("view", ask)`: one view as JSON; returns the probability to go.
    Function(String, Py<PyAny>),
}

/// The exact value of a player in a match of two.
#[derive(Serialize)]
struct ExactDuel {
    /// Its chance against the opponent, or against the perfect player.
    chance: WinChance,
    /// The chance of the best response to the opponent, if it is worked out.
    best: Option<WinChance>,
    /// The chance of an opponent who knows exactly how this player plays, if it is worked out.
    best_response: Option<WinChance>,
    views: usize,
}

/// The exact value of a player, as JSON. No match is played. `progress` is called with the share of the work that is done.
#[pyfunction]
#[pyo3(signature = (game, options, progress, player, opponent=None))]
pub fn evaluate(
    py: Python<'_>,
    game: &str,
    options: &str,
    progress: &Bound<'_, PyAny>,
    player: Player,
    opponent: Option<Player>,
) -> PyResult<String> {
    let court = Court { py, progress: progress.clone(), raised: Raised::default() };
    let opponent = opponent.as_ref();
    let json = match setup::game(game)? {
        GameId::ZombieDiceSolo => {
            if opponent.is_some() {
                return Err(refuse("zombie-dice-solo is for one: leave out the opponent"));
            }
            serde_json::to_string(&court.solo(&setup::rules(options)?, &player)?)
        }
        GameId::ZombieDiceRace => {
            serde_json::to_string(&court.race(&setup::rules(options)?, &player, opponent)?)
        }
        GameId::ZombieDice => {
            serde_json::to_string(&court.table(&setup::rules(options)?, &player, opponent)?)
        }
        GameId::Tokyo => serde_json::to_string(&court.tokyo(&setup::rules(options)?, &player, opponent)?),
        id => return Err(refuse(format!("{id} cannot be evaluated"))),
    };
    json.map_err(refuse)
}

/// An error raised in Python, which ends the evaluation and is passed on unchanged.
type Raised = Rc<RefCell<Option<PyErr>>>;

/// The setting in which players are asked.
struct Court<'py> {
    py: Python<'py>,
    progress: Bound<'py, PyAny>,
    raised: Raised,
}

impl<'py> Court<'py> {
    fn error(&self, why: Inexact) -> PyErr {
        self.raised.take().unwrap_or_else(|| refuse(why))
    }

    /// Reports progress. Also checks for Ctrl-C, since built-in bots never call Python.
    fn progress(&self, share: f64) {
        let told = self.progress.call1((share,)).and_then(|_| self.py.check_signals());
        if let Err(error) = told {
            self.raised.borrow_mut().get_or_insert(error);
        }
    }

    fn function(&self, ask: &Py<PyAny>, out_of_dice: OutOfDice) -> Function<'py> {
        Function { ask: ask.bind(self.py).clone(), out_of_dice, raised: self.raised.clone() }
    }

    /// Makes a built-in bot. Its randomness does not matter, since a bot that tosses coins has no exact value anyway.
    fn built_in<G: Listed>(&self, name: &str, rules: &G::Rules) -> PyResult<BuiltInBot<G>> {
        let bot = setup::built_in::<G>(name, rules, Seeded::new(0, "evaluate", 0))?;
        Ok(BuiltInBot { bot, raised: self.raised.clone() })
    }

    fn solo(&self, rules: &SoloRules, player: &Player) -> PyResult<ExactSolo> {
        let exact = match player {
            Player::BuiltIn(name) => exact::solo(rules, &mut self.built_in::<Solo>(name, rules)?, |_| {}),
            Player::Function(sees, ask) => {
                let mut asked = self.function(ask, rules.out_of_dice);
                match sees.as_str() {
                    "view" => exact::solo(rules, &mut asked, |_| {}),
                    _ => exact::solo_policy(rules, &mut asked),
                }
            }
        };
        exact.map_err(|why| self.error(why))
    }

    fn race(&self, rules: &RaceRules, player: &Player, opponent: Option<&Player>) -> PyResult<ExactDuel> {
        let solution = self.py.detach(|| Race::solve(rules, 2)).map_err(refuse)?;
        let own = self.profile(rules, player)?;
        let (chance, best) = match opponent {
            None => {
                let even = RaceProfile::optimal(rules, &solution).best_response(rules, &solution);
                (own.against_optimal(rules, &solution), even)
            }
            Some(other) => {
                let other = self.profile(rules, other)?;
                (own.against(&other, rules).map_err(refuse)?, other.best_response(rules, &solution))
            }
        };
        let best_response = Some(own.best_response(rules, &solution));
        Ok(ExactDuel { chance, best: Some(best), best_response, views: own.views })
    }

    fn profile(&self, rules: &RaceRules, player: &Player) -> PyResult<RaceProfile> {
        let profile = match player {
            Player::BuiltIn(name) => {
                RaceProfile::ask(rules, &mut self.built_in::<Race>(name, rules)?, |_| {})
            }
            Player::Function(sees, ask) => {
                let mut asked = self.function(ask, rules.out_of_dice);
                match sees.as_str() {
                    "view" => RaceProfile::ask(rules, &mut asked, |_| {}),
                    _ => RaceProfile::of_policy(rules, &mut asked),
                }
            }
        };
        profile.map_err(|why| self.error(why))
    }

    fn table(&self, rules: &TableRules, player: &Player, opponent: Option<&Player>) -> PyResult<ExactDuel> {
        let mut one = self.at_table(rules, player)?;
        let (mut other, best) = match opponent {
            Some(opponent) => (self.at_table(rules, opponent)?, None),
            None => {
                let solution = self.py.detach(|| Table::solve(rules, 2)).map_err(refuse)?;
                let first = solution.start();
                let best = WinChance { first, second: 1.0 - first, mean: 0.5 };
                (Box::new(PerfectAtTable::new(rules, solution)) as Box<dyn TablePlayer>, Some(best))
            }
        };
        let mut progress = |share: f64| self.progress(share);
        let chance = exact::table(rules, one.as_mut(), other.as_mut(), &mut progress);
        let chance = chance.map_err(|why| self.error(why))?;
        Ok(ExactDuel { chance, best, best_response: None, views: one.views() })
    }

    fn at_table(&self, rules: &TableRules, player: &Player) -> PyResult<Box<dyn TablePlayer + 'py>> {
        Ok(match player {
            Player::BuiltIn(name) => Box::new(TableBot::new(rules, self.built_in::<Table>(name, rules)?)),
            Player::Function(sees, ask) => {
                let asked = self.function(ask, rules.out_of_dice);
                match sees.as_str() {
                    "view" => Box::new(TableBot::new(rules, asked)),
                    _ => Box::new(TablePolicy::new(rules, asked)),
                }
            }
        })
    }

    fn tokyo(&self, rules: &TokyoRules, player: &Player, opponent: Option<&Player>) -> PyResult<ExactDuel> {
        let solution = self.py.detach(|| Tokyo::solve(rules, 2)).map_err(refuse)?;
        let mut one = self.monster(rules, player)?;
        let mut other = opponent.map(|opponent| self.monster(rules, opponent)).transpose()?;
        let against = other.as_mut().map(|other| other.as_mut() as &mut dyn AskedMonster);
        let mut progress = |share: f64| self.progress(share);
        let duel = exact::tokyo(&solution, one.as_mut(), against, &mut progress);
        let duel = duel.map_err(|why| self.error(why))?;
        let (best, best_response) = (Some(duel.best), Some(duel.best_response));
        Ok(ExactDuel { chance: duel.chance, best, best_response, views: duel.views })
    }

    fn monster(&self, rules: &TokyoRules, player: &Player) -> PyResult<Box<dyn AskedMonster + 'py>> {
        Ok(match player {
            Player::BuiltIn(name) => Box::new(TokyoBot(self.built_in::<Tokyo>(name, rules)?)),
            Player::Function(_, ask) => Box::new(self.function(ask, OutOfDice::EndTurn)),
        })
    }
}

struct BuiltInBot<G: Game> {
    bot: Box<dyn Bot<G>>,
    raised: Raised,
}

impl<G: Game> Asked<G> for BuiltInBot<G> {
    fn act(&mut self, view: &G::View) -> Result<G::Action, Inexact> {
        match *self.raised.borrow() {
            Some(_) => Err(Inexact::Interrupted),
            None => Ok(self.bot.act(view)),
        }
    }
}

/// A Python function that decides.
struct Function<'py> {
    ask: Bound<'py, PyAny>,
    out_of_dice: OutOfDice,
    raised: Raised,
}

impl Function<'_> {
    fn keep<T>(&self, answer: PyResult<T>) -> Result<T, Inexact> {
        if self.raised.borrow().is_some() {
            return Err(Inexact::Interrupted);
        }
        answer.map_err(|error| {
            self.raised.replace(Some(error));
            Inexact::Interrupted
        })
    }

    fn view(&self, view: &impl Serialize) -> Result<f64, Inexact> {
        let answer = serde_json::to_string(view).map_err(refuse);
        let answer = answer.and_then(|view| self.ask.call1((view,))?.extract::<f64>());
        self.keep(answer)
    }

    /// Asks for the answers to `count` observations, where these actions are legal. Choices are counted from the first of them.
    fn answers(&self, rows: Vec<i16>, count: usize, legal: Range<u8>) -> Result<Answers, Inexact> {
        let ask = || {
            let rows = PyArray1::from_vec(self.ask.py(), rows);
            let answer = self.ask.call1((rows, legal.start, legal.end))?;
            let (answers, came) = match answer.extract::<PyReadonlyArray1<'_, u8>>() {
                Ok(actions) => {
                    let choices: Vec<u8> =
                        actions.as_array().iter().map(|action| action.wrapping_sub(legal.start)).collect();
                    let came = choices.iter().filter(|choice| usize::from(**choice) < legal.len()).count();
                    (Answers::Choices(choices), came)
                }
                Err(_) => {
                    let chances = answer.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec();
                    let came = chances.len() / legal.len();
                    (Answers::Chances(chances), came)
                }
            };
            if came == count { Ok(answers) } else { Err(refuse(format!("{came} answers to {count} states"))) }
        };
        let answers = ask();
        self.keep(answers)
    }

    /// Writes the observations of positions, one after the other.
    fn observe(&self, scores: Scores, positions: &[Position]) -> Vec<i16> {
        let number = |count: u32| i16::try_from(count).unwrap_or(i16::MAX);
        let scores = match scores {
            Scores::Solo => Vec::new(),
            Scores::Race { own, other } => vec![number(own), number(other)],
            Scores::Table(turn) => {
                // It is this player's turn; the other's will come, or it has had it.
                let others_turn = if turn.seat == Seat(0) { 1 } else { 3 };
                let rounds = [number(turn.rounds), turn.tiebreak.into()];
                [rounds, [number(turn.own), 2], [number(turn.other), others_turn]].concat()
            }
        };
        let mut rows = Vec::with_capacity(positions.len() * (turn_width(self.out_of_dice) + scores.len()));
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
            rows.extend(&scores);
        }
        rows
    }
}

/// Lets functions of views be asked. Every `$again`-th view is shown again: not all where there are many.
macro_rules! asked {
    ($game:ty, $view:ty, $again:literal) => {
        impl Asked<$game> for Function<'_> {
            fn act(&mut self, view: &$view) -> Result<Action, Inexact> {
                Ok(if self.view(view)? > 0.5 { Action::Go } else { Action::Stop })
            }

            fn rolls(&mut self, view: &$view) -> Result<f64, Inexact> {
                self.view(view)
            }

            fn again(&self) -> usize {
                $again
            }
        }
    };
}

asked!(Solo, SoloView, 1);
asked!(Race, RaceView, 8);
asked!(Table, TableView, 8);

impl Policy for Function<'_> {
    fn rolls(&mut self, scores: Scores, positions: &[Position]) -> Result<Vec<f64>, Inexact> {
        let rows = self.observe(scores, positions);
        Ok(match self.answers(rows, positions.len(), 0..2)? {
            Answers::Choices(choices) => choices.into_iter().map(f64::from).collect(),
            Answers::Chances(chances) => chances.chunks_exact(2).map(|chances| chances[1]).collect(),
        })
    }
}

impl AskedMonster for Function<'_> {
    fn answer(&mut self, views: &[TokyoView]) -> Result<Answers, Inexact> {
        let width = Tokyo::fields(&TokyoRules::default(), 2).len();
        let mut rows = vec![0; views.len() * width];
        for (view, row) in views.iter().zip(rows.chunks_exact_mut(width)) {
            Tokyo::observe(&TokyoRules::default(), view, row);
        }
        let keeping = matches!(views.first(), Some(TokyoView { phase: Phase::Rolling { .. }, .. }));
        self.answers(rows, views.len(), if keeping { 0..64 } else { 64..66 })
    }
}
