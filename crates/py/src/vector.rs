//! Batches for Python: matches stepped at once, everything seen written into numpy arrays that stay where they are.

mod buffer;

use crate::setup::{self, refuse};
use buffer::Buffer;
use necrodome_batch::{
    actions::{self, Number},
    batched::{Autoreset, BatchSetup, Batched, Out},
    kernel::{Kernel, MemoryOrder},
    with_batch,
};
use necrodome_rules::catalog::GameId;
use numpy::{Element, PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::{
    exceptions::PyTypeError,
    intern,
    prelude::*,
    types::{PyDict, PyTuple},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Many matches of one game, stepped at once. All arrays are made once and written in place.
#[pyclass(module = "necrodome._native")]
pub struct Vector(Box<dyn AnyBatch>);

#[pymethods]
impl Vector {
    /// New matches. `seats` (in Last Bullet entries) are as many as usual unless they are given. `options` is a JSON object
    /// of the rules that differ from the rulebook; `autoreset` one of `next_step`, `same_step`, `disabled`.
    #[new]
    #[pyo3(signature = (game, matches, seats, autoreset, threads = 1, options = "{}"))]
    fn new(
        py: Python<'_>,
        game: &str,
        matches: usize,
        seats: Option<usize>,
        autoreset: &str,
        threads: usize,
        options: &str,
    ) -> PyResult<Self> {
        let autoreset = match autoreset {
            "next_step" => Autoreset::NextStep,
            "same_step" => Autoreset::SameStep,
            "disabled" => Autoreset::Disabled,
            other => {
                return Err(refuse(format!(
                    "autoreset {other:?}: expected next_step, same_step or disabled"
                )));
            }
        };
        if matches == 0 || threads == 0 {
            return Err(refuse(format!(
                "expected at least one environment and one thread, got {matches} and {threads}"
            )));
        }
        if matches > 1 << 24 || threads > 1 << 10 {
            return Err(refuse(format!(
                "expected at most 16777216 environments and 1024 threads, got {matches} and {threads}"
            )));
        }
        let id = setup::game(game)?;
        let made: Option<Box<dyn AnyBatch>> = with_batch!(id, Batch => {
            let seats = seats.unwrap_or_else(Batch::usual_seats);
            let setup = BatchSetup { rules: setup::rules(options)?, seats, matches, threads, autoreset };
            Box::new(Held::new(py, Batch::new(&setup).map_err(refuse)?)?)
        });
        made.map(Vector).ok_or_else(|| {
            let has_batch = |&id: &GameId| with_batch!(id, Batch => Batch::usual_seats()).is_some();
            let known: Vec<_> = GameId::ALL.into_iter().filter(has_batch).map(GameId::as_str).collect();
            let seats = seats.unwrap_or(2);
            refuse(format!(
                "{id} has no vector environment: expected one of {}, or use necrodome.envs.aec.TurnEnv({:?}, {seats})",
                known.join(", "),
                id.as_str()
            ))
        })
    }

    /// How many rows there are: one for each match, in Last Bullet one for each survivor.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// How many matches there are, each with a seed of its own.
    #[getter]
    fn matches(&self) -> usize {
        self.0.matches()
    }

    /// How many seats a match has.
    #[getter]
    fn seats(&self) -> usize {
        self.0.seats()
    }

    /// How many actions there are.
    #[getter]
    fn actions(&self) -> usize {
        self.0.actions()
    }

    /// What the numbers of an observation mean: a JSON list of name, about, low and high.
    fn fields(&self) -> String {
        self.0.fields()
    }

    /// The arrays that are written: observations, final observations.
    fn arrays<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, Bound<'py, PyAny>) {
        self.0.arrays(py)
    }

    /// What `reset` and `step` give as observations, and as final ones: views of the arrays.
    fn present(&mut self, obs: Py<PyAny>, final_obs: Py<PyAny>) {
        self.0.present(obs, final_obs);
    }

    /// Starts the streams of chance of all matches anew, or of those that are marked; `None` leaves a match's as it is.
    fn seed(&mut self, seeds: Vec<Option<u64>>) -> PyResult<()> {
        self.0.seed(&seeds)
    }

    /// Begins all matches anew, or those that are marked. Gives observations and infos.
    #[pyo3(signature = (which = None))]
    fn reset<'py>(&mut self, py: Python<'py>, which: Option<Vec<bool>>) -> PyResult<Bound<'py, PyTuple>> {
        self.0.reset(py, which.as_deref())
    }

    /// Plays an action in each row. Gives observations, rewards, terminations, truncations and infos.
    fn step<'py>(&mut self, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        self.0.step(actions)
    }

    /// Which actions are legal now, for each row.
    fn masks<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.masks(py)
    }

    /// The seat that decides in each row.
    fn to_act<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        self.0.to_act(py)
    }

    /// What the last match that ended in each row gave to all its seats, row by row.
    fn final_rewards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        self.0.final_rewards(py)
    }

    /// The whole state, streams of chance and everything that can be seen included.
    fn save(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        self.0.save(py)
    }

    /// Brings back what `save` gave for a batch of the same shape.
    fn restore(&mut self, py: Python<'_>, saved: &[u8]) -> PyResult<()> {
        self.0.restore(py, saved)
    }
}

/// A batch of any game.
trait AnyBatch: Send + Sync {
    fn rows(&self) -> usize;
    fn matches(&self) -> usize;
    fn seats(&self) -> usize;
    fn actions(&self) -> usize;
    fn fields(&self) -> String;
    fn arrays<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, Bound<'py, PyAny>);
    fn present(&mut self, obs: Py<PyAny>, final_obs: Py<PyAny>);
    fn seed(&mut self, seeds: &[Option<u64>]) -> PyResult<()>;
    fn reset<'py>(&mut self, py: Python<'py>, which: Option<&[bool]>) -> PyResult<Bound<'py, PyTuple>>;
    fn step<'py>(&mut self, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>>;
    fn masks<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
    fn to_act<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u8>>>;
    fn final_rewards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>>;
    fn save(&self, py: Python<'_>) -> PyResult<Vec<u8>>;
    fn restore(&mut self, py: Python<'_>, saved: &[u8]) -> PyResult<()>;
}

/// A batch and the arrays that it writes.
struct Held<K: Kernel<Cell: Element>> {
    batch: Batched<K>,
    obs: Buffer<K::Cell>,
    final_obs: Buffer<K::Cell>,
    rewards: Buffer<f32>,
    terminated: Buffer<bool>,
    truncated: Buffer<bool>,
    /// Rows whose episode has ended in this step.
    ended: Buffer<bool>,
    masks: Option<Buffer<bool>>,
    shown: Py<PyAny>,
    final_shown: Py<PyAny>,
    /// Actions of another type than the kernel's.
    narrowed: Vec<u8>,
}

impl<K: Kernel<Cell: Element>> Held<K> {
    fn new(py: Python<'_>, batch: Batched<K>) -> PyResult<Self> {
        let (rows, width) = (batch.rows(), batch.width());
        let cells = || match K::ORDER {
            MemoryOrder::Columns => Buffer::columns(py, rows, width),
            MemoryOrder::Rows => Buffer::rows(py, rows, width),
        };
        let (obs, final_obs) = (cells()?, cells()?);
        Ok(Held {
            batch,
            shown: obs.shown(py).clone().unbind(),
            final_shown: final_obs.shown(py).clone().unbind(),
            obs,
            final_obs,
            rewards: Buffer::row(py, rows)?,
            terminated: Buffer::row(py, rows)?,
            truncated: Buffer::row(py, rows)?,
            ended: Buffer::row(py, rows)?,
            masks: None,
            narrowed: Vec::new(),
        })
    }

    /// Refuses games in which nobody waits for others.
    fn expect_turns(&self) -> PyResult<()> {
        if self.batch.takes_turns() { Ok(()) } else { Err(refuse("there are no turns in this game")) }
    }

    /// Lets the batch write into the arrays, without the interpreter's lock.
    fn write<T: Send>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut Batched<K>, &mut Out<'_, K::Cell>) -> T + Send,
    ) -> PyResult<T> {
        let mut obs = self.obs.write(py)?;
        let mut final_obs = self.final_obs.write(py)?;
        let mut rewards = self.rewards.write(py)?;
        let mut terminated = self.terminated.write(py)?;
        let mut truncated = self.truncated.write(py)?;
        let mut out = Out {
            obs: obs.cells(),
            final_obs: final_obs.cells(),
            rewards: rewards.cells(),
            terminated: terminated.cells(),
            truncated: truncated.cells(),
        };
        let batch = &mut self.batch;
        Ok(py.detach(|| work(batch, &mut out)))
    }

    /// Plays actions that have been checked. Whether the same step has begun new episodes.
    fn play(&mut self, py: Python<'_>, actions: &[u8]) -> PyResult<bool> {
        if self.batch.autoreset != Autoreset::SameStep {
            self.write(py, |batch, out| batch.step(actions, out))?;
            return Ok(false);
        }
        let mut ended = self.ended.write(py)?;
        let ended = ended.cells();
        self.write(py, |batch, out| {
            batch.step(actions, out);
            actions::either(out.terminated, out.truncated, ended)
        })
    }

    /// What Gymnasium tells of episodes that have ended in a step which began new ones.
    fn tell_ended(&self, infos: &Bound<'_, PyDict>) -> PyResult<()> {
        let py = infos.py();
        infos.set_item(intern!(py, "final_obs"), &self.final_shown)?;
        infos.set_item(intern!(py, "_final_obs"), self.ended.shown(py))?;
        infos.set_item(intern!(py, "final_info"), PyDict::new(py))?;
        infos.set_item(intern!(py, "_final_info"), self.ended.shown(py))
    }

    fn wrong_action(&self, row: usize, came: &Bound<'_, PyAny>) -> PyErr {
        let most = self.batch.actions() - 1;
        let came = came.get_item(row).and_then(|one| one.str()).map_or("?".to_owned(), |one| one.to_string());
        refuse(format!("row {row}: expected an action from 0 to {most}, got {came}"))
    }

    /// Plays actions that need no copy. `None` if they are of another type, or do not lie side by side.
    fn step_small(&mut self, actions: &Bound<'_, PyAny>) -> Option<PyResult<bool>> {
        let array = actions.cast::<PyArray1<u8>>().ok()?;
        let read = array.try_readonly().ok()?;
        let numbers = read.as_slice().ok()?;
        if numbers.len() != self.batch.rows() {
            return None;
        }
        Some(match actions::check(numbers, self.batch.actions()) {
            Err(row) => Err(self.wrong_action(row, actions)),
            Ok(()) => self.play(actions.py(), numbers),
        })
    }

    /// Plays actions of one type. `None` if they are of another, or do not lie side by side.
    fn step_as<T: Number + Element>(&mut self, actions: &Bound<'_, PyAny>) -> Option<PyResult<bool>> {
        let array = actions.cast::<PyArray1<T>>().ok()?;
        if array.len() != self.batch.rows() {
            return None;
        }
        let read = array.try_readonly().ok()?;
        let numbers = read.as_slice().ok()?;
        let mut narrowed = std::mem::take(&mut self.narrowed);
        let result = match actions::narrow(numbers, self.batch.actions(), &mut narrowed) {
            Err(row) => Err(self.wrong_action(row, actions)),
            Ok(()) => self.play(actions.py(), &narrowed),
        };
        self.narrowed = narrowed;
        Some(result)
    }

    /// Plays actions of whatever kind: what numpy makes whole numbers of.
    fn step_any(&mut self, actions: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = actions.py();
        let array = py.import("numpy")?.call_method1("asarray", (actions,))?;
        let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
        if !matches!(kind.as_str(), "b" | "i" | "u") {
            let dtype = array.getattr("dtype")?;
            return Err(PyTypeError::new_err(format!("expected actions as whole numbers, got {dtype}")));
        }
        let shape: Vec<usize> = array.getattr("shape")?.extract()?;
        if shape != [self.batch.rows()] {
            let rows = self.batch.rows();
            let came = array.getattr("shape")?;
            return Err(refuse(format!("expected {rows} actions, one for each row, got the shape {came}")));
        }
        let same = array.call_method1("astype", ("int64",))?;
        let same = py.import("numpy")?.call_method1("ascontiguousarray", (same,))?;
        self.step_as::<i64>(&same).unwrap_or_else(|| Err(refuse("the actions are being written to")))
    }
}

impl<K: Kernel<Cell: Element + Serialize + DeserializeOwned>> AnyBatch for Held<K> {
    fn rows(&self) -> usize {
        self.batch.rows()
    }

    fn matches(&self) -> usize {
        self.batch.matches()
    }

    fn seats(&self) -> usize {
        self.batch.seats()
    }

    fn actions(&self) -> usize {
        self.batch.actions()
    }

    fn fields(&self) -> String {
        serde_json::to_string(&self.batch.fields()).unwrap_or_default()
    }

    fn arrays<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, Bound<'py, PyAny>) {
        (self.obs.shown(py).clone(), self.final_obs.shown(py).clone())
    }

    fn present(&mut self, obs: Py<PyAny>, final_obs: Py<PyAny>) {
        self.shown = obs;
        self.final_shown = final_obs;
    }

    fn seed(&mut self, seeds: &[Option<u64>]) -> PyResult<()> {
        if seeds.len() != self.batch.matches() {
            let matches = self.batch.matches();
            return Err(refuse(format!("expected {matches} seeds, one for each match, got {}", seeds.len())));
        }
        for (one, seed) in seeds.iter().enumerate() {
            if let Some(seed) = seed {
                self.batch.seed(one, *seed);
            }
        }
        Ok(())
    }

    fn reset<'py>(&mut self, py: Python<'py>, which: Option<&[bool]>) -> PyResult<Bound<'py, PyTuple>> {
        if let Some(which) = which
            && which.len() != self.batch.matches()
        {
            let matches = self.batch.matches();
            return Err(refuse(format!("expected {matches} marks, one for each match, got {}", which.len())));
        }
        self.write(py, |batch, out| batch.reset(which, out))?;
        PyTuple::new(py, [self.shown.bind(py), PyDict::new(py).as_any()])
    }

    fn step<'py>(&mut self, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        let py = actions.py();
        let fast = self
            .step_as::<i64>(actions)
            .or_else(|| self.step_small(actions))
            .or_else(|| self.step_as::<i32>(actions))
            .or_else(|| self.step_as::<bool>(actions));
        let begun_anew = fast.unwrap_or_else(|| self.step_any(actions))?;
        let infos = PyDict::new(py);
        if begun_anew {
            self.tell_ended(&infos)?;
        }
        let told = [
            self.shown.bind(py),
            self.rewards.shown(py),
            self.terminated.shown(py),
            self.truncated.shown(py),
            infos.as_any(),
        ];
        PyTuple::new(py, told)
    }

    fn masks<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (rows, actions) = (self.batch.rows(), self.batch.actions());
        if self.masks.is_none() {
            self.masks = Some(Buffer::rows(py, rows, actions)?);
        }
        let Some(masks) = &self.masks else { return Err(refuse("no masks")) };
        let mut write = masks.write(py)?;
        let cells = write.cells();
        py.detach(|| self.batch.masks(cells));
        drop(write);
        Ok(masks.shown(py).clone())
    }

    fn to_act<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        self.expect_turns()?;
        let mut seats = vec![0; self.batch.rows()];
        self.batch.to_act(&mut seats);
        Ok(PyArray1::from_vec(py, seats))
    }

    fn final_rewards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        self.expect_turns()?;
        Ok(PyArray1::from_slice(py, self.batch.final_rewards()))
    }

    fn save(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let saved = Saved {
            batch: self.batch.save(),
            obs: self.obs.write(py)?.cells().to_vec(),
            rewards: self.rewards.write(py)?.cells().to_vec(),
            terminated: self.terminated.write(py)?.cells().to_vec(),
            truncated: self.truncated.write(py)?.cells().to_vec(),
        };
        postcard::to_allocvec(&saved).map_err(refuse)
    }

    fn restore(&mut self, py: Python<'_>, saved: &[u8]) -> PyResult<()> {
        let Saved { batch, obs, rewards, terminated, truncated } =
            postcard::from_bytes::<Saved<K::Cell>>(saved).map_err(|_| {
                let length = saved.len();
                refuse(format!("expected what `save` gave, whole and unchanged, got {length} other bytes"))
            })?;
        let rows = self.batch.rows();
        let fits = obs.len() == rows * self.batch.width()
            && [rewards.len(), terminated.len(), truncated.len()].iter().all(|&length| length == rows);
        if !fits {
            // The batch says better what it is that does not fit.
            self.batch.clone().restore(&batch).map_err(refuse)?;
            return Err(refuse(format!(
                "expected what `save` gave for {rows} rows, got arrays of another size"
            )));
        }
        self.batch.restore(&batch).map_err(refuse)?;
        self.obs.write(py)?.cells().copy_from_slice(&obs);
        self.rewards.write(py)?.cells().copy_from_slice(&rewards);
        self.terminated.write(py)?.cells().copy_from_slice(&terminated);
        self.truncated.write(py)?.cells().copy_from_slice(&truncated);
        Ok(())
    }
}

/// A batch, and what can be seen of it.
#[derive(Serialize, Deserialize)]
struct Saved<T> {
    batch: Vec<u8>,
    obs: Vec<T>,
    rewards: Vec<f32>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
}
