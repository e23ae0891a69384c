//! Opponents of a learner: built-in bots, which are asked in Rust, and Python functions.

use crate::setup::{self, refuse};
use necrodome_batch::{
    actions::HOLD,
    batched::Batched,
    kernel::{Kernel, Views},
    last_bullet::versus::{LastBulletVersus, LastBulletVersusBatch},
    observe::Observe,
    versus::{LearnerSeat, LineUp, Opponent, Versus},
    with_batch,
};
use necrodome_rules::{
    catalog::Listed,
    chance::Seeded,
    game::{Game, Seat},
    misread::in_json,
    with_game,
};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::{intern, prelude::*};

/// The most legal actions that are listed, as in the bot protocol.
const MOST_LEGAL: usize = 256;

/// An opponent, as Python names it.
#[derive(FromPyObject)]
pub enum Player {
    /// A built-in bot by its name.
    BuiltIn(String),
    /// `ask(rows, matches, observations, masks, questions)` returns an answer for each row: the number of an action, or its JSON.
    /// Questions are `decide` messages of the bot protocol; the function's attribute `questions` says whether it wants them now.
    Function(Py<PyAny>),
}

/// A function's answer for one row.
#[derive(FromPyObject)]
enum Answer {
    Number(i64),
    Action(String),
}

/// Asks opponents outside the batch.
pub trait Ask<K: Kernel>: Send + Sync {
    /// Asks those who decide at the same time as the learner, before a step is played. Returns the rows in whose match one of them
    /// has chosen an illegal action, if there are any.
    fn before(&self, _py: Python<'_>, _batch: &mut Batched<K>) -> PyResult<Option<Vec<bool>>> {
        Ok(None)
    }

    /// Returns an answer for each row that waits, and `HOLD` for the others.
    fn ask(
        &self,
        py: Python<'_>,
        batch: &Batched<K>,
        waits: &[Option<u8>],
        obs: &[K::Cell],
    ) -> PyResult<Vec<u8>>;
}

/// The functions among the opponents, by index.
pub struct Functions(Vec<Option<Py<PyAny>>>);

/// The opponents, in the order of the seats that the learner leaves free, and the functions among them.
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
            Player::Function(ask) => (Opponent::Outside, Some(ask)),
        };
        opponents.push(opponent);
        functions.push(function);
    }
    Ok((LineUp { opponents, seat }, Functions(functions)))
}

impl Functions {
    /// Whether there are any functions.
    pub fn any(&self) -> bool {
        self.0.iter().any(Option::is_some)
    }

    /// Refuses functions that want questions, or may want them later.
    pub fn refuse_questions(&self, py: Python<'_>, game: &str) -> PyResult<()> {
        for ask in self.0.iter().flatten() {
            if wants_questions(ask.bind(py))? || ask.bind(py).hasattr(intern!(py, "pool"))? {
                return Err(refuse(format!(
                    "{game}: expected opponents that are built-in bots or functions of observations, got a program, an \
                     object with act(view) or a pool, which are asked for one decision at a time"
                )));
            }
        }
        Ok(())
    }
}

fn wants_questions(ask: &Bound<'_, PyAny>) -> PyResult<bool> {
    ask.getattr(intern!(ask.py(), "questions"))?.extract()
}

impl Ask<LastBulletVersus> for Functions {
    fn before(&self, py: Python<'_>, batch: &mut LastBulletVersusBatch) -> PyResult<Option<Vec<bool>>> {
        let (width, actions) = (batch.width(), batch.actions());
        let each = batch.rows() / batch.matches();
        let mut bad = None;
        for (place, function) in self.0.iter().enumerate() {
            let Some(ask) = function else { continue };
            // One that plays for several entries is asked once.
            let same: Vec<bool> =
                self.0.iter().map(|other| other.as_ref().is_some_and(|other| other.is(ask))).collect();
            if same[..place].contains(&true) {
                continue;
            }
            let questions = py.detach(|| batch.questions(&same));
            let rows = questions.matches().len();
            if rows == 0 {
                continue;
            }
            let arguments = (
                PyArray1::from_iter(py, questions.matches().map(|one| one as i64)),
                PyArray1::from_iter(py, questions.matches().map(|one| batch.episode(one) as i64)),
                PyArray1::from_slice(py, &questions.obs).reshape([rows, width])?,
                PyArray1::from_slice(py, &questions.masks).reshape([rows, actions])?,
                None::<Vec<String>>,
            );
            let answers = ask.bind(py).call1(arguments)?.cast_into::<PyArray1<i64>>()?;
            let answers: Vec<u8> = answers
                .readonly()
                .as_array()
                .iter()
                .map(|&one| number(one, actions))
                .collect::<PyResult<_>>()?;
            expect_answers(rows, answers.len())?;
            for ((one, mask), &answer) in
                questions.matches().zip(questions.masks.chunks_exact(actions)).zip(&answers)
            {
                if !mask[usize::from(answer)] {
                    let bad = bad.get_or_insert_with(|| vec![false; batch.rows()]);
                    bad[one * each..][..each].fill(true);
                }
            }
            batch.answer(&questions, &answers);
        }
        Ok(bad)
    }

    fn ask(&self, _: Python<'_>, _: &LastBulletVersusBatch, _: &[Option<u8>], _: &[u8]) -> PyResult<Vec<u8>> {
        Err(refuse("nobody waits for others in Last Bullet"))
    }
}

/// Checks that an opponent has answered for each row.
fn expect_answers(expected: usize, came: usize) -> PyResult<()> {
    match came == expected {
        true => Ok(()),
        false => Err(refuse(format!("an opponent: expected {expected} actions, one a row, got {came}"))),
    }
}

/// Checks an answer that is the number of an action.
fn number(answer: i64, actions: usize) -> PyResult<u8> {
    match u8::try_from(answer) {
        Ok(number) if usize::from(number) < actions => Ok(number),
        _ => Err(refuse(format!("an opponent: expected actions from 0 to {}, got {answer}", actions - 1))),
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
            let Some(ask) = function else { continue };
            let rows: Vec<usize> = (0..waits.len()).filter(|&row| place(row) == Some(opponent)).collect();
            if rows.is_empty() {
                continue;
            }
            let asked = Asked { py, batch, rows: &rows, waits, obs };
            let numbers = asked.ask(ask.bind(py))?;
            expect_answers(rows.len(), numbers.len())?;
            rows.iter().zip(numbers).for_each(|(&row, number)| answers[row] = number);
        }
        Ok(answers)
    }
}

/// The rows in which an opponent is asked.
struct Asked<'a, 'py, K: Views<Game: Listed>> {
    py: Python<'py>,
    batch: &'a Batched<Versus<K>>,
    rows: &'a [usize],
    waits: &'a [Option<u8>],
    obs: &'a [i16],
}

impl<K: Views<Game: Listed>> Asked<'_, '_, K> {
    fn ask(&self, ask: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let Asked { py, batch, rows, obs, .. } = *self;
        let (all, width, actions) = (batch.rows(), batch.width(), batch.actions());
        let of_row = |row: usize| (0..width).map(move |field| obs[field * all + row]);
        let seen: Vec<i16> = rows.iter().flat_map(|&row| of_row(row)).collect();
        let mut masks = vec![false; rows.len() * actions];
        masks.chunks_exact_mut(actions).zip(rows).for_each(|(mask, &row)| batch.mask(row, mask));
        let questions: Option<Vec<String>> = wants_questions(ask)?
            .then(|| rows.iter().map(|&row| self.question(row)).collect())
            .transpose()?;
        let arguments = (
            PyArray1::from_iter(py, rows.iter().map(|&row| row as i64)),
            PyArray1::from_iter(py, rows.iter().map(|&row| batch.episode(row) as i64)),
            PyArray1::from_vec(py, seen).reshape([rows.len(), width])?,
            PyArray1::from_vec(py, masks).reshape([rows.len(), actions])?,
            questions,
        );
        let answers = ask.call1(arguments)?;
        if let Ok(numbers) = answers.cast::<PyArray1<i64>>() {
            return numbers.readonly().as_array().iter().map(|&one| number(one, actions)).collect();
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
            Answer::Number(answer) => return number(answer, self.batch.actions()),
            Answer::Action(text) => text,
        };
        let json = serde_json::from_str(&text).map_err(refuse)?;
        let (action, _) = K::Game::read_action(&json).map_err(|error| {
            refuse(format!("an opponent: {text} is no action of this game: {}", in_json(&error)))
        })?;
        Ok(K::Game::number(&self.view(row), &action))
    }
}

/// The action of a built-in bot in each of these views, as JSON. `seeds` are for bots that toss coins.
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

/// The default number of seats in a vector environment; `None` if the game has none.
#[pyfunction]
pub fn usual_seats(game: &str) -> PyResult<Option<usize>> {
    Ok(with_batch!(setup::game(game)?, Batch => Batch::usual_seats()))
}
