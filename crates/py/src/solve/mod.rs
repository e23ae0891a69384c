//! Solved games: values of whole batches of observations, tables, exact values of policies, ledgers of matches.

mod exact;
#[cfg(target_os = "linux")]
mod ledger;
mod seen;

pub use exact::evaluate;
#[cfg(target_os = "linux")]
pub use ledger::analyze;

use crate::setup::{self, refuse};
use necrodome_batch::{
    field::Field,
    signals::{Ends, Prices},
};
use necrodome_rules::{
    catalog::Listed,
    game::{Game, Move},
    misread::in_json,
    with_game,
};
use necrodome_solve::{Data, Solution as _, Solvable, Unsolved};
use numpy::{PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use seen::Seen;
use std::sync::Arc;

/// A solved game of any type.
trait Solved: Send + Sync {
    fn game(&self) -> &'static str;
    fn rules(&self) -> String;
    fn start(&self) -> f64;
    fn positions(&self) -> usize;
    fn tables(&self) -> Vec<necrodome_solve::Array>;
    fn fields(&self) -> Vec<Field>;
    fn actions(&self) -> usize;
    fn observe(&self, view: &str) -> Result<Vec<i16>, String>;
    fn act(&self, view: &str) -> Result<String, String>;
    fn price(&self, view: &str, choice: &str) -> Result<(f64, f64), String>;
    fn values(&self, row: &[i16], out: &mut [f64]) -> Result<(), String>;
    fn best(&self, row: &[i16]) -> Result<u8, String>;
    fn prices(self: Box<Self>) -> (Box<dyn Prices>, Ends);
}

struct Of<G: Solvable> {
    rules: G::Rules,
    seats: usize,
    solution: Arc<G::Solution>,
}

/// Makes a [`Solved`] game of type `G`.
struct Solver<G: Game>(fn(G::Rules, usize) -> MaybeSolved);

type MaybeSolved = Result<Box<dyn Solved>, Unsolved>;

impl<G: Seen> Solver<G>
where
    G::Rules: Send + Sync,
{
    fn new() -> Self {
        Solver(|rules, seats| {
            let solution = G::solve(&rules, seats)?;
            Ok(Box::new(Of::<G> { rules, seats, solution }))
        })
    }
}

fn solve<G: Listed>(options: &str, seats: Option<usize>) -> PyResult<Box<dyn Solved>> {
    let Solver(solve) = seen::solver::<G>().ok_or_else(|| refuse(Unsolved::Game { game: G::ID }))?;
    let rules = setup::rules(options)?;
    let seats = seats.unwrap_or(2.clamp(*G::SEATS.start(), *G::SEATS.end()));
    if !G::SEATS.contains(&seats) {
        let (least, most) = (G::SEATS.start(), G::SEATS.end());
        let takes = if least == most { least.to_string() } else { format!("{least} to {most}") };
        return Err(refuse(format!("{} is for {takes} seats, not for {seats}", G::ID)));
    }
    solve(rules, seats).map_err(refuse)
}

impl<G: Seen> Of<G> {
    fn view(text: &str) -> Result<G::View, String> {
        serde_json::from_str(text).map_err(|e| format!("this is no view of {}: {e}", G::ID))
    }
}

impl<G: Seen> Solved for Of<G>
where
    G::Rules: Send + Sync,
{
    fn game(&self) -> &'static str {
        G::ID
    }

    fn rules(&self) -> String {
        serde_json::to_string(&self.rules).unwrap_or_default()
    }

    fn start(&self) -> f64 {
        self.solution.start()
    }

    fn positions(&self) -> usize {
        self.solution.positions()
    }

    fn tables(&self) -> Vec<necrodome_solve::Array> {
        self.solution.arrays()
    }

    fn fields(&self) -> Vec<Field> {
        G::fields(&self.rules, self.seats)
    }

    fn actions(&self) -> usize {
        G::actions(self.seats)
    }

    fn observe(&self, view: &str) -> Result<Vec<i16>, String> {
        let view = Self::view(view)?;
        G::fits(&view).map_err(|why| why.to_string())?;
        let mut row = vec![0; self.fields().len()];
        G::observe(&self.rules, &view, &mut row);
        Ok(row)
    }

    fn act(&self, view: &str) -> Result<String, String> {
        let view = Self::view(view)?;
        self.solution.check(&view).map_err(|why| why.to_string())?;
        serde_json::to_string(&self.solution.best(&view)).map_err(|e| e.to_string())
    }

    fn price(&self, view: &str, choice: &str) -> Result<(f64, f64), String> {
        let view = Self::view(view)?;
        self.solution.check(&view).map_err(|why| why.to_string())?;
        let choice: Option<G::Action> = serde_json::from_str(choice)
            .map_err(|error| format!("this is no action of {}: {}", G::ID, in_json(&error)))?;
        let value = self.solution.price(&view, &choice.map_or(Move::Forfeit, Move::Act));
        let options = self.solution.prices(&view);
        Ok((value, options.iter().map(|option| option.value).fold(value, f64::max)))
    }

    fn values(&self, row: &[i16], out: &mut [f64]) -> Result<(), String> {
        G::values(&self.rules, &self.solution, row, out)
    }

    fn best(&self, row: &[i16]) -> Result<u8, String> {
        G::best(&self.rules, &self.solution, row)
    }

    fn prices(self: Box<Self>) -> (Box<dyn Prices>, Ends) {
        match G::turn_table(&self.rules, &self.solution) {
            Some(table) => (Box::new(table), G::ENDS),
            None => (self, G::ENDS),
        }
    }
}

/// Prices row by row, if there is no table: slow.
impl<G: Seen> Prices for Of<G>
where
    G::Rules: Send + Sync,
{
    fn actions(&self) -> usize {
        G::actions(self.seats)
    }

    fn look_up(&self, obs: &[i16], values: &mut [f32], best: &mut [f32]) {
        let rows = best.len();
        let mut row = vec![0; obs.len() / rows];
        let mut of_row = vec![0.0; G::actions(self.seats)];
        for (number, best) in best.iter_mut().enumerate() {
            row.iter_mut().zip(obs.chunks_exact(rows)).for_each(|(cell, column)| *cell = column[number]);
            of_row.fill(f64::NAN);
            // What is no position is the last of its episode: nothing is asked there.
            if G::values(&self.rules, &self.solution, &row, &mut of_row).is_err() {
                of_row.fill(0.0);
            }
            G::price_illegal(&self.rules, &row, &mut of_row);
            *best = of_row.iter().fold(0.0f64, |best, &value| best.max(value)) as f32;
            values
                .chunks_exact_mut(rows)
                .zip(&of_row)
                .for_each(|(column, &value)| column[number] = value as f32);
        }
    }
}

/// The exact values of a game, for whole batches.
pub fn prices<G: Listed>(rules: &G::Rules, seats: usize) -> Result<(Box<dyn Prices>, Ends), Unsolved> {
    let Solver(solve) = seen::solver::<G>().ok_or(Unsolved::Game { game: G::ID })?;
    Ok(solve(rules.clone(), seats)?.prices())
}

/// A solved game.
#[pyclass(frozen, module = "necrodome._native")]
pub struct Solution {
    solved: Box<dyn Solved>,
    fields: Vec<Field>,
}

#[pymethods]
impl Solution {
    /// Solves a game; a second call returns at once.
    #[new]
    #[pyo3(signature = (game, options="{}", seats=None))]
    fn new(py: Python<'_>, game: &str, options: &str, seats: Option<usize>) -> PyResult<Self> {
        let id = setup::game(game)?;
        let solved = py.detach(|| with_game!(id, G => solve::<G>(options, seats)))?;
        let fields = solved.fields();
        Ok(Solution { solved, fields })
    }

    /// The id of the game.
    #[getter]
    fn game(&self) -> &'static str {
        self.solved.game()
    }

    /// All options of the rules, as JSON.
    #[getter]
    fn rules(&self) -> String {
        self.solved.rules()
    }

    /// The value of a new match to the first seat.
    #[getter]
    fn value(&self) -> f64 {
        self.solved.start()
    }

    /// The number of positions with a value of their own.
    #[getter]
    fn positions(&self) -> usize {
        self.solved.positions()
    }

    /// The number of actions.
    #[getter]
    fn actions(&self) -> usize {
        self.solved.actions()
    }

    /// The meaning of each number in an observation: a JSON list of name, about, low and high.
    fn fields(&self) -> PyResult<String> {
        serde_json::to_string(&self.fields).map_err(refuse)
    }

    /// All tables: names, shapes and elements. Nothing is copied.
    fn tables<'py>(&self, py: Python<'py>) -> Vec<(&'static str, Vec<u64>, Bound<'py, PyAny>)> {
        let arrays = py.detach(|| self.solved.tables());
        let table = |necrodome_solve::Array { name, shape, data }| {
            let data = match data {
                Data::U8(data) => PyArray1::from_vec(py, data).into_any(),
                Data::U16(data) => PyArray1::from_vec(py, data).into_any(),
                Data::F64(data) => PyArray1::from_vec(py, data).into_any(),
            };
            (name, shape, data)
        };
        arrays.into_iter().map(table).collect()
    }

    /// The observation of a view (JSON).
    fn observe<'py>(&self, py: Python<'py>, view: &str) -> PyResult<Bound<'py, PyArray1<i16>>> {
        Ok(PyArray1::from_vec(py, self.solved.observe(view).map_err(refuse)?))
    }

    /// The best action with a view, both as JSON.
    fn act(&self, view: &str) -> PyResult<String> {
        self.solved.act(view).map_err(refuse)
    }

    /// The value of an action with a view, both as JSON, and the value of the best action. `null` stands for no usable action:
    /// it is worth what the game's rule for a bad action makes of it.
    fn price(&self, view: &str, choice: &str) -> PyResult<(f64, f64)> {
        self.solved.price(view, choice).map_err(refuse)
    }

    /// The value of each action for each row of observations, flat; NaN in rows without a decision.
    fn action_values<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, i16>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let numbers = self.numbers(&rows)?;
        let actions = self.solved.actions();
        let values = py.detach(|| {
            let mut values = vec![f64::NAN; numbers.len() / self.fields.len() * actions];
            let rows = numbers.chunks_exact(self.fields.len()).zip(values.chunks_exact_mut(actions));
            for (number, (row, out)) in rows.enumerate() {
                self.solved.values(row, out).map_err(|why| self.bad_row(number, row, &why))?;
            }
            Ok(values)
        });
        Ok(PyArray1::from_vec(py, values.map_err(|why: String| refuse(why))?))
    }

    /// The best action for each row of observations; 0 in rows without a decision.
    fn best_actions<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, i16>,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let numbers = self.numbers(&rows)?;
        let best = |(number, row): (usize, &[i16])| {
            self.solved.best(row).map_err(|why| self.bad_row(number, row, &why))
        };
        let rows = numbers.chunks_exact(self.fields.len()).enumerate();
        let actions: Result<Vec<u8>, String> = py.detach(|| rows.map(best).collect());
        Ok(PyArray1::from_vec(py, actions.map_err(refuse)?))
    }
}

impl Solution {
    /// The numbers of a batch, row by row.
    fn numbers<'a>(&self, rows: &'a PyReadonlyArray2<'_, i16>) -> PyResult<&'a [i16]> {
        let (width, came) = (self.fields.len(), rows.shape()[1]);
        if came != width {
            let names: Vec<_> = self.fields.iter().map(|field| field.name.as_str()).collect();
            return Err(refuse(format!(
                "an observation of {} has {width} numbers ({}), not {came}",
                self.solved.game(),
                names.join(", ")
            )));
        }
        rows.as_slice().map_err(refuse)
    }

    fn bad_row(&self, number: usize, row: &[i16], why: &str) -> String {
        let named = self.fields.iter().zip(row).map(|(field, number)| format!("{}={number}", field.name));
        let named: Vec<_> = named.collect();
        format!("row {number} is no position of {}: {why} ({})", self.solved.game(), named.join(", "))
    }
}
