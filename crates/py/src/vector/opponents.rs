//! Opponents of a learner: built-in bots, which are asked in Rust, and functions of Python.

use crate::setup::{self, refuse};
use necrodome_batch::{
    actions::HOLD,
    batched::Batched,
    kernel::{Kernel, Views},
    observe::Observe,
    versus::{LearnerSeat, LineUp, Opponent, Versus},
};
use necrodome_rules::{
    catalog::Listed,
    chance::Seeded,
    game::{Game, Seat},
    with_game,
};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

/// As in the bot protocol: more legal actions are not listed.
const MOST_LEGAL: usize = 256;

/// Somebody to play against, as Python names it.
#[derive(FromPyObject)]
pub enum Player {
    /// A built-in bot by its name.
    BuiltIn(String),
    /// `ask(rows, matches, observations, masks, questions)` gives an answer for each row: the number of an action, or its JSON.
    /// Questions are messages `decide` of the bot protocol, for those who want them.
    Function(bool, Py<PyAny>),
}

/// What a function answers for one row.
#[derive(FromPyObject)]
enum Answer {
    Number(i64),
    Action(String),
}

/// Asks opponents that are outside of the batch.
pub trait Ask<K: Kernel>: Send + Sync {
    /// An answer for each row that waits, and `HOLD` for the others.
    fn ask(
        &self,
        py: Python<'_>,
        batch: &Batched<K>,
        waits: &[Option<u8>],
        obs: &[K::Cell],
    ) -> PyResult<Vec<u8>>;
}

/// The functions among the opponents, by their place; with `true` those that want questions.
pub struct Functions(Vec<Option<(bool, Py<PyAny>)>>);

/// Opponents in the order of the seats that are left, and those of them that are functions.
pub fn line_up<G: Listed>(
    rules: &G::Rules,
    players: Vec<Player>,
    seat: LearnerSeat,
) -> PyResult<(LineUp<G>, Functions)> {
    let mut opponents = Vec::with_capacity(players.len());
    let mut functions = Vec::with_capacity(players.len());
    for player in players {
        let (opponent, function) = match player {
            Player::BuiltIn(name) => (Opponent::Inside(setup::decider::<G>(&name, rules)?), None),
            Player::Function(questions, ask) => (Opponent::Outside, Some((questions, ask))),
        };
        opponents.push(opponent);
        functions.push(function);
    }
    Ok((LineUp { opponents, seat }, Functions(functions)))
}

impl Functions {
    /// Whether there are any.
    pub fn any(&self) -> bool {
        self.0.iter().any(Option::is_some)
    }
}

impl<K: Views<Game: Listed>> Ask<Versus<K>> for Functions {
    fn ask(
        &self,
        py: Python<'_>,
        batch: &Batched<Versus<K>>,
        waits: &[Option<u8>],
        obs: &[i16],
    ) -> PyResult<Vec<u8>> {
        let mut learners = vec![None; waits.len()];
        batch.learner(&mut learners);
        // The opponent that a row waits for, by its place.
        let place = |row: usize| {
            let (seat, learner) = (waits[row]?, learners[row]?);
            Some(usize::from(seat) - usize::from(seat > learner))
        };
        let mut answers = vec![HOLD; waits.len()];
        for (opponent, function) in self.0.iter().enumerate() {
            let Some((questions, ask)) = function else { continue };
            let rows: Vec<usize> = (0..waits.len()).filter(|&row| place(row) == Some(opponent)).collect();
            if rows.is_empty() {
                continue;
            }
            let asked = Asked { py, batch, rows: &rows, waits, obs };
            let numbers = asked.ask(*questions, ask)?;
            if numbers.len() != rows.len() {
                let (expected, came) = (rows.len(), numbers.len());
                return Err(refuse(format!(
                    "an opponent: expected {expected} actions, one a row, got {came}"
                )));
            }
            rows.iter().zip(numbers).for_each(|(&row, number)| answers[row] = number);
        }
        Ok(answers)
    }
}

/// The rows in which one opponent is asked.
struct Asked<'a, 'py, K: Views<Game: Listed>> {
    py: Python<'py>,
    batch: &'a Batched<Versus<K>>,
    rows: &'a [usize],
    waits: &'a [Option<u8>],
    obs: &'a [i16],
}

impl<K: Views<Game: Listed>> Asked<'_, '_, K> {
    fn ask(&self, questions: bool, ask: &Py<PyAny>) -> PyResult<Vec<u8>> {
        let Asked { py, batch, rows, obs, .. } = *self;
        let (all, width, actions) = (batch.rows(), batch.width(), batch.actions());
        let of_row = |row: usize| (0..width).map(move |field| obs[field * all + row]);
        let seen: Vec<i16> = rows.iter().flat_map(|&row| of_row(row)).collect();
        let mut masks = vec![false; rows.len() * actions];
        masks.chunks_exact_mut(actions).zip(rows).for_each(|(mask, &row)| batch.mask(row, mask));
        let questions: Option<Vec<String>> =
            questions.then(|| rows.iter().map(|&row| self.question(row)).collect()).transpose()?;
        let arguments = (
            PyArray1::from_iter(py, rows.iter().map(|&row| row as i64)),
            PyArray1::from_iter(py, rows.iter().map(|&row| batch.episode(row) as i64)),
            PyArray1::from_vec(py, seen).reshape([rows.len(), width])?,
            PyArray1::from_vec(py, masks).reshape([rows.len(), actions])?,
            questions,
        );
        let answers = ask.bind(py).call1(arguments)?;
        if let Ok(numbers) = answers.cast::<PyArray1<i64>>() {
            return numbers.readonly().as_array().iter().map(|&number| self.number(number)).collect();
        }
        let answers: Vec<Answer> = answers.extract()?;
        rows.iter().zip(answers).map(|(&row, answer)| self.understand(row, answer)).collect()
    }

    fn view(&self, row: usize) -> <K::Game as Game>::View {
        self.batch.view(row, Seat(self.waits[row].unwrap_or_default().into()))
    }

    fn question(&self, row: usize) -> PyResult<String> {
        let view = self.view(row);
        let legal = K::Game::few_legal_actions(&view, MOST_LEGAL);
        let message = serde_json::json!({"type": "decide", "id": row, "view": view, "legal": legal});
        serde_json::to_string(&message).map_err(refuse)
    }

    fn understand(&self, row: usize, answer: Answer) -> PyResult<u8> {
        let text = match answer {
            Answer::Number(number) => return self.number(number),
            Answer::Action(text) => text,
        };
        let json = serde_json::from_str(&text).map_err(refuse)?;
        let (action, _) = K::Game::read_action(&json)
            .map_err(|error| refuse(format!("an opponent: {text} is no action of this game: {error}")))?;
        Ok(K::Game::number(&self.view(row), &action))
    }

    fn number(&self, answer: i64) -> PyResult<u8> {
        let actions = self.batch.actions();
        match u8::try_from(answer) {
            Ok(number) if usize::from(number) < actions => Ok(number),
            _ => {
                Err(refuse(format!("an opponent: expected actions from 0 to {}, got {answer}", actions - 1)))
            }
        }
    }
}

/// What a built-in bot would do in each of these views, as JSON. `seeds` are for bots that toss coins.
#[pyfunction]
pub fn bot_actions(
    game: &str,
    options: &str,
    bot: &str,
    views: Vec<String>,
    seeds: Vec<u64>,
) -> PyResult<Vec<String>> {
    with_game!(setup::game(game)?, G => {
        let decide = setup::decider::<G>(bot, &setup::rules(options)?)?;
        let act = |(view, seed): (String, u64)| {
            let view = serde_json::from_str(&view).map_err(refuse)?;
            let action = decide(&view, &|| Seeded::new(seed, "bot", 0));
            serde_json::to_string(&action).map_err(refuse)
        };
        views.into_iter().zip(seeds).map(act).collect()
    })
}
