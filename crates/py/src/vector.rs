//! Batches for Python: many matches stepped at once, with their observations written into numpy arrays.

mod buffer;
mod exact;
mod frame;
mod opponents;

pub use opponents::{bot_actions, usual_seats};

use crate::{
    exit::Inside,
    setup::{self, refuse},
    solve,
};
use buffer::Buffer;
use exact::Exact;
use frame::{Cells, Extras, Frames};
use necrodome_batch::{
    actions::{self, Number},
    batched::{Autoreset, BatchSetup, Batched, HasKernel, Out, Share},
    kernel::{Kernel, Views},
    last_bullet::{LastBulletBatch, versus::LastBulletVersusBatch},
    signals::Signals,
    stream::match_seed,
    versus::{LearnerSeat, VersusBatch},
    with_batch, with_views,
};
use necrodome_rules::{
    catalog::{GameId, Listed},
    game::Game,
    last_bullet::LastBullet,
};
use necrodome_solve::Unsolved;
use numpy::{Element, PyArray1, PyArrayDescr, PyArrayMethods, PyUntypedArrayMethods, dtype};
use opponents::{Ask, Player, line_up};
use pyo3::{
    exceptions::{PyRuntimeError, PyTypeError},
    intern,
    prelude::*,
    types::{PyDict, PySlice, PyTuple},
};
use serde::{Deserialize, Serialize};
use std::{
    ops::{Deref, DerefMut},
    sync::{Mutex, MutexGuard, TryLockError},
};

/// Many matches of one game, stepped at once.
#[pyclass(frozen, module = "necrodome._native")]
pub struct Vector(Mutex<Box<dyn AnyBatch>>);

impl Vector {
    fn holding(batch: Box<dyn AnyBatch>) -> Self {
        Vector(Mutex::new(batch))
    }

    /// Locks the batch for one caller at a time.
    fn batch(&self, py: Python<'_>) -> PyResult<Borrowed<'_>> {
        let inside = Inside::enter(py);
        let batch = match self.0.try_lock() {
            Ok(batch) => batch,
            Err(TryLockError::Poisoned(batch)) => batch.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(PyRuntimeError::new_err(
                    "this environment is in the middle of a step, of another thread or of one that asks an opponent: \
                     give each thread an environment of its own (clone() makes one), or hold a threading.Lock around \
                     every call",
                ));
            }
        };
        Ok(Borrowed { batch, _inside: inside })
    }
}

/// A batch that is in use.
struct Borrowed<'a> {
    batch: MutexGuard<'a, Box<dyn AnyBatch>>,
    _inside: Inside,
}

impl Deref for Borrowed<'_> {
    type Target = dyn AnyBatch;

    fn deref(&self) -> &Self::Target {
        &**self.batch
    }
}

impl DerefMut for Borrowed<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut **self.batch
    }
}

#[pymethods]
impl Vector {
    /// Makes a batch of new matches: `matches` of them, or enough for `rows` rows. `seats` (in Last Bullet entries) has a default.
    /// `options` is a JSON object of the rules that differ from the rulebook; `autoreset` is one of
    /// `next_step`, `same_step`, `disabled`; `bad_action` is `play` or `raise`.
    ///
    /// With `copy` the arrays of a step stay unchanged; without, the next step overwrites them. With `named`, observations are
    /// dicts of columns. Without `masks`, infos do not have masks.
    ///
    /// With `opponents`, one for each seat but the learner's, only the learner's decisions are steps. `seat` is the
    /// learner's; without it, the learner's seat changes with each match. With `exact`, rewards are the exact solution's values of the
    /// actions. A batch that needs more than `memory` bytes is refused.
    #[new]
    #[pyo3(signature = (
        game, *, rows = None, matches = None, seats = None, autoreset = "next_step", threads = 1, options = "{}",
        copy = true, named = false, masks = true, bad_action = "play", opponents = None, seat = None, exact = false,
        memory = None,
    ))]
    // A keyword in Python each.
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        game: &str,
        rows: Option<usize>,
        matches: Option<usize>,
        seats: Option<usize>,
        autoreset: &str,
        threads: usize,
        options: &str,
        copy: bool,
        named: bool,
        masks: bool,
        bad_action: &str,
        opponents: Option<Vec<Player>>,
        seat: Option<usize>,
        exact: bool,
        memory: Option<u64>,
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
        let raises = match bad_action {
            "play" => false,
            "raise" => true,
            other => return Err(refuse(format!("bad_action {other:?}: expected \"play\" or \"raise\""))),
        };
        let id = setup::game(game)?;
        let shows = Shows { copy, named, masks, raises };
        let wanted = Wanted { game, rows, matches, seats, threads, autoreset, options, shows, memory };
        if let Some(players) = opponents {
            if id == GameId::LastBullet && !exact {
                return wanted.battle(py, players, seat).map(Vector::holding);
            }
            let made = with_views!(id, K => wanted.versus::<K>(py, players, seat, exact)?);
            return made.map(Vector::holding).ok_or_else(|| refuse(Unsolved::Game { game: id.as_str() }));
        }
        if exact {
            let made = with_views!(id, K => wanted.exact::<K>(py)?);
            return made.map(Vector::holding).ok_or_else(|| refuse(Unsolved::Game { game: id.as_str() }));
        }
        let made: Option<Box<dyn AnyBatch>> = with_batch!(id, Batch => {
            let setup = wanted.setup::<<Batch as HasKernel>::Kernel>(false)?;
            Box::new(Held::new(Batch::new(&setup).map_err(refuse)?, shows))
        });
        made.map(Vector::holding).ok_or_else(|| {
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

    /// The number of rows: one for each match, in Last Bullet one for each survivor.
    #[getter]
    fn rows(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.batch(py)?.rows())
    }

    /// The number of matches. Each has its own seed.
    #[getter]
    fn matches(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.batch(py)?.matches())
    }

    /// The number of seats in a match.
    #[getter]
    fn seats(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.batch(py)?.seats())
    }

    /// The number of actions.
    #[getter]
    fn actions(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.batch(py)?.actions())
    }

    /// The meaning of each number in an observation: a JSON list of name, about, low and high.
    fn fields(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.batch(py)?.fields())
    }

    /// The type of the numbers in an observation.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDescr>> {
        Ok(self.batch(py)?.dtype(py))
    }

    /// Restarts the streams of chance of all matches, or of the marked ones, each from the seed and the match's number.
    #[pyo3(signature = (seed, which = None))]
    fn seed(&self, py: Python<'_>, seed: u64, which: Option<Vec<bool>>) -> PyResult<()> {
        self.batch(py)?.seed(seed, which.as_deref());
        Ok(())
    }

    /// Restarts the stream of each match from its own seed; `None` leaves it unchanged.
    fn seed_each(&self, py: Python<'_>, seeds: Vec<Option<u64>>) -> PyResult<()> {
        self.batch(py)?.seed_each(&seeds)
    }

    /// Begins all matches anew, or the marked ones. Returns observations and infos.
    #[pyo3(signature = (which = None))]
    fn reset<'py>(&self, py: Python<'py>, which: Option<Vec<bool>>) -> PyResult<Bound<'py, PyTuple>> {
        self.batch(py)?.reset(py, which.as_deref())
    }

    /// Plays an action in each row. Returns observations, rewards, terminations, truncations and infos.
    fn step<'py>(&self, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        self.batch(actions.py())?.step(actions)
    }

    /// The observation of each row now.
    fn observations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.batch(py)?.observations(py)
    }

    /// The masks of the legal actions now, for each row.
    fn masks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.batch(py)?.masks(py)
    }

    /// The seat that decides in each row.
    fn to_act<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        self.batch(py)?.to_act(py)
    }

    /// The rewards of the last match that ended in each row, for all its seats, row by row.
    fn final_rewards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        self.batch(py)?.final_rewards(py)
    }

    /// The learner's seat in each row, and the number of matches begun there, if opponents play.
    fn learners<'py>(&self, py: Python<'py>) -> PyResult<Learners<'py>> {
        self.batch(py)?.learners(py)
    }

    /// The whole state, streams of chance included.
    fn save(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        self.batch(py)?.save()
    }

    /// Restores what `save` returned for a batch of the same shape.
    fn restore(&self, py: Python<'_>, saved: &[u8]) -> PyResult<()> {
        self.batch(py)?.restore(py, saved)
    }
}

/// The request from Python.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    game: &'a str,
    rows: Option<usize>,
    matches: Option<usize>,
    seats: Option<usize>,
    threads: usize,
    autoreset: Autoreset,
    options: &'a str,
    shows: Shows,
    /// The most bytes that the batch may use.
    memory: Option<u64>,
}

impl Wanted<'_> {
    /// Makes the set-up. With `learner`, only the rows of one seat count.
    fn setup<K: Kernel>(&self, learner: bool) -> PyResult<BatchSetup<<K::Game as Game>::Rules>> {
        let seats = self.seats.unwrap_or_else(K::usual_seats);
        let rules = setup::rules(self.options)?;
        let mut share = Batched::<K>::share(&rules, seats).map_err(refuse)?;
        if learner && !K::TURNS {
            share.rows /= seats;
        }
        let matches = count_matches(self.game, self.rows, self.matches, share.rows)?;
        self.check_memory(&share, matches)?;
        Ok(BatchSetup { rules, seats, matches, threads: self.threads, autoreset: self.autoreset })
    }

    /// Refuses a batch that does not fit in memory, before it is made.
    fn check_memory(&self, share: &Share, matches: usize) -> PyResult<()> {
        let observations = if self.autoreset == Autoreset::SameStep { 2 } else { 1 };
        let mask = if self.shows.masks { share.mask } else { 0 };
        // What else is told of a row: a reward, and flags.
        let row = observations * share.observation + mask + size_of::<(f32, [bool; 4])>();
        // One frame is written while Python has another.
        let frames = if self.shows.copy { 2 } else { 1 };
        let each = (share.bytes + frames * share.rows * row) as u64;
        let needed = each.saturating_mul(matches as u64);
        match self.memory.filter(|&memory| needed > memory) {
            None => Ok(()),
            Some(memory) => Err(refuse(format!(
                "{matches} matches of {} need about {:.1} GB of memory, and there are {:.1}: expected at most {}",
                self.game,
                needed as f64 / 1e9,
                memory as f64 / 1e9,
                memory / each
            ))),
        }
    }

    /// Sets the number of seats from the number of opponents. Returns the learner's seat.
    fn sit_down(&mut self, opponents: usize, seat: Option<usize>) -> PyResult<LearnerSeat> {
        let seats = opponents + 1;
        if let Some(players) = self.seats.filter(|&players| players != seats) {
            return Err(refuse(format!(
                "players {players}: expected {seats}, the learner and {opponents} opponents"
            )));
        }
        self.seats = Some(seats);
        match seat {
            None => Ok(LearnerSeat::Rotating),
            Some(seat) if seat < seats => Ok(LearnerSeat::Fixed(seat.min(u8::MAX.into()) as u8)),
            Some(seat) => {
                Err(refuse(format!("seat {seat}: expected a number from 0 to {opponents}, or \"rotate\"")))
            }
        }
    }

    /// Makes a batch of the learner's survivors against opponents, in Last Bullet.
    fn battle(
        mut self,
        py: Python<'_>,
        players: Vec<Player>,
        seat: Option<usize>,
    ) -> PyResult<Box<dyn AnyBatch>> {
        let seat = self.sit_down(players.len(), seat)?;
        let setup = self.setup::<<LastBulletBatch as HasKernel>::Kernel>(true)?;
        let (line_up, functions) = line_up::<LastBullet>(&setup.rules, players, seat)?;
        functions.refuse_questions(py, self.game)?;
        let batch = LastBulletVersusBatch::against(&setup, line_up).map_err(refuse)?;
        let mut held = Held::new(batch, self.shows);
        held.functions = functions.any().then(|| Box::new(functions) as _);
        Ok(Box::new(held))
    }

    /// Makes a batch of the learner's rows against opponents.
    fn versus<K: Views<Game: Listed>>(
        mut self,
        py: Python<'_>,
        players: Vec<Player>,
        seat: Option<usize>,
        exact: bool,
    ) -> PyResult<Box<dyn AnyBatch>> {
        if *<K::Game as Game>::SEATS.end() < 2 {
            return Err(refuse(format!("{} is for one: leave out opponent", self.game)));
        }
        let seat = self.sit_down(players.len(), seat)?;
        let setup = self.setup::<K>(true)?;
        // The perfect player may have to be solved.
        let (line_up, functions) = line_up::<K::Game>(&setup.rules, players, seat)?;
        let signals = exact.then(|| signals::<K>(py, &setup)).transpose()?;
        let mut held = Held::new(VersusBatch::<K>::against(&setup, line_up).map_err(refuse)?, self.shows);
        held.exact = signals.map(|signals| Exact::new(signals, false));
        held.functions = functions.any().then(|| Box::new(functions) as _);
        Ok(Box::new(held))
    }

    /// Makes a batch whose rewards come from the exact solution.
    fn exact<K: Views<Game: Listed>>(self, py: Python<'_>) -> PyResult<Box<dyn AnyBatch>> {
        let setup = self.setup::<K>(false)?;
        let signals = signals::<K>(py, &setup)?;
        let mut held = Held::new(Batched::<K>::new(&setup).map_err(refuse)?, self.shows);
        held.exact = Some(Exact::new(signals, setup.seats > 1));
        Ok(Box::new(held))
    }
}

fn signals<K: Views<Game: Listed>>(
    py: Python<'_>,
    setup: &BatchSetup<<K::Game as Game>::Rules>,
) -> PyResult<Signals> {
    let (prices, ends) = py.detach(|| solve::prices::<K::Game>(&setup.rules, setup.seats)).map_err(refuse)?;
    Ok(Signals::new(prices, ends, setup.matches))
}

/// The number of matches that make `rows` rows, where a match has `each`.
fn count_matches(game: &str, rows: Option<usize>, matches: Option<usize>, each: usize) -> PyResult<usize> {
    const MOST: usize = 1 << 24;
    let matches = match (rows, matches) {
        (Some(_), Some(_)) => return Err(refuse("expected either num_envs or matches, got both")),
        (None, matches) => matches.unwrap_or(1),
        (Some(rows), None) if rows.is_multiple_of(each) => rows / each,
        (Some(rows), None) => {
            let less = (rows / each).max(1) * each;
            return Err(refuse(format!(
                "num_envs {rows}: a match of {game} has {each} rows, one for each survivor; expected a multiple of \
                 {each}, such as {less} or {}, or say matches={}",
                less + each,
                less / each
            )));
        }
    };
    match matches {
        0 => Err(refuse("num_envs 0: expected at least one environment")),
        1..=MOST => Ok(matches),
        _ => Err(refuse(format!("expected at most {MOST} matches, got {matches}"))),
    }
}

/// Makes the error for rows that are used before `reset`.
pub(crate) fn reset_needed(py: Python<'_>, why: &str) -> PyErr {
    match py.import("gymnasium.error").and_then(|errors| errors.getattr("ResetNeeded")?.call1((why,))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// The learner's seat in each row, and the number of matches begun there.
type Learners<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<i64>>);

/// A batch of any game.
trait AnyBatch: Send + Sync {
    fn rows(&self) -> usize;
    fn matches(&self) -> usize;
    fn seats(&self) -> usize;
    fn actions(&self) -> usize;
    fn fields(&self) -> String;
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDescr>;
    fn seed(&mut self, seed: u64, which: Option<&[bool]>);
    fn seed_each(&mut self, seeds: &[Option<u64>]) -> PyResult<()>;
    fn reset<'py>(&mut self, py: Python<'py>, which: Option<&[bool]>) -> PyResult<Bound<'py, PyTuple>>;
    fn step<'py>(&mut self, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>>;
    fn observations<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
    fn masks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
    fn to_act<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u8>>>;
    fn final_rewards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>>;
    fn learners<'py>(&self, py: Python<'py>) -> PyResult<Learners<'py>>;
    fn save(&self) -> PyResult<Vec<u8>>;
    fn restore(&mut self, py: Python<'_>, saved: &[u8]) -> PyResult<()>;
}

/// The settings of what Python gets, and what is refused.
#[derive(Clone, Copy)]
struct Shows {
    copy: bool,
    named: bool,
    masks: bool,
    /// Whether an illegal action is an error.
    raises: bool,
}

/// A batch and the arrays that it writes.
struct Held<K: Kernel<Cell: Element>> {
    batch: Batched<K>,
    frames: Frames<K::Cell>,
    shows: Shows,
    /// The names of the columns, if observations are dicts.
    names: Vec<String>,
    /// The mask of a game in which all actions are always legal, once it has been asked for.
    all_legal: Option<Py<PyAny>>,
    /// Actions of another type than the kernel's.
    narrowed: Vec<u8>,
    /// Whether the first match has begun: `reset` was called.
    begun: bool,
    /// The rows whose match is over and does not begin anew by itself.
    waiting: Vec<bool>,
    /// The opponents that are Python functions.
    functions: Option<Box<dyn Ask<K>>>,
    /// The rows in which an opponent has chosen an illegal action in this step, if there are any.
    opponents_bad: Option<Vec<bool>>,
    exact: Option<Exact<K::Cell>>,
}

/// The results of a step besides the arrays that are always returned.
struct Played {
    /// Whether actions were played.
    stepped: bool,
    /// Whether any episodes have ended.
    any_ended: bool,
    /// The rows whose action was illegal, if there are any.
    bad: Option<Vec<bool>>,
}

impl<K: Kernel<Cell: Element>> Held<K> {
    fn new(batch: Batched<K>, shows: Shows) -> Self {
        let extras = Extras {
            ended: batch.autoreset == Autoreset::SameStep || batch.takes_turns(),
            final_obs: batch.autoreset == Autoreset::SameStep,
            masks: shows.masks && !batch.always_legal(),
            alive: batch.has_many_rows(),
            final_rewards: batch.takes_turns(),
        };
        let names = batch.fields().into_iter().map(|field| field.name);
        Held {
            names: if shows.named { names.collect() } else { Vec::new() },
            batch,
            frames: Frames::new(shows.copy, extras),
            shows,
            all_legal: None,
            narrowed: Vec::new(),
            begun: false,
            waiting: Vec::new(),
            functions: None,
            opponents_bad: None,
            exact: None,
        }
    }

    /// Refuses games in which players do not take turns.
    fn expect_turns(&self) -> PyResult<()> {
        if self.batch.takes_turns() { Ok(()) } else { Err(refuse("there are no turns in this game")) }
    }

    /// Lets the batch write into the arrays of the next frame, without the interpreter's lock, and plays these actions, if any.
    /// Returns whether episodes have ended.
    fn write(
        &mut self,
        py: Python<'_>,
        actions: Option<&[u8]>,
        work: impl FnOnce(&mut Batched<K>, &mut Out<'_, K::Cell>) + Send,
    ) -> PyResult<bool> {
        self.opponents_bad = None;
        let mut written = self.frames.open(py, &self.batch)?;
        let Cells { mut out, ended, masks, alive, final_rewards } = written.cells();
        let Held { batch, waiting, functions, exact, begun, opponents_bad, shows, .. } = self;
        let mut work = Some(work);
        if let Some(functions) = functions {
            if actions.is_some() {
                let bad = functions.before(py, batch)?;
                note_bad(opponents_bad, bad, shows.raises)?;
            }
            if let Some(work) = work.take() {
                py.detach(|| work(batch, &mut out));
            }
            // What an opponent raises leaves rows half-way.
            let was = std::mem::replace(begun, false);
            while let Some(waits) = batch.waits() {
                let answers = functions.ask(py, batch, &waits, out.obs)?;
                note_bad(opponents_bad, batch.illegal(&answers), shows.raises)?;
                py.detach(|| batch.step(&answers, &mut out));
            }
            *begun = was;
        }
        Ok(py.detach(|| {
            if let Some(work) = work {
                work(batch, &mut out);
            }
            if let Some(exact) = exact {
                exact.price(batch, actions, &mut out);
            }
            if let Some(masks) = masks {
                batch.masks(masks);
            }
            if let Some(alive) = alive {
                batch.alive(alive);
            }
            let Some(ended) = ended else { return false };
            let mut any = actions::either(out.terminated, out.truncated, ended);
            if batch.autoreset == Autoreset::Disabled {
                any = note_waiting(waiting, ended);
            }
            if any && let Some(rewards) = final_rewards {
                rewards.copy_from_slice(batch.final_rewards());
            }
            any
        }))
    }

    /// Plays actions that have been checked.
    fn play(&mut self, py: Python<'_>, actions: &[u8]) -> PyResult<Played> {
        let bad = self.batch.illegal(actions);
        if self.shows.raises
            && let Some(row) = bad.as_ref().and_then(|bad| bad.iter().position(|&bad| bad))
        {
            return Err(self.illegal_action(row, actions[row]));
        }
        let any_ended = self.write(py, Some(actions), |batch, out| batch.step(actions, out))?;
        Ok(Played { stepped: true, any_ended, bad })
    }

    fn illegal_action(&self, row: usize, came: u8) -> PyErr {
        let mut masks = vec![false; self.batch.rows() * self.batch.actions()];
        self.batch.masks(&mut masks);
        let legal = masks.chunks_exact(self.batch.actions()).nth(row).into_iter().flatten();
        let legal: Vec<_> =
            legal.enumerate().filter(|(_, legal)| **legal).map(|(one, _)| one.to_string()).collect();
        refuse(format!("row {row}: action {came} is illegal now, expected one of {}", legal.join(", ")))
    }

    /// Makes the infos of `reset` and `step`.
    fn infos<'py>(&mut self, py: Python<'py>, played: Played) -> PyResult<Bound<'py, PyDict>> {
        let infos = PyDict::new(py);
        if self.shows.masks && self.batch.always_legal() {
            infos.set_item(intern!(py, "action_mask"), self.all_legal(py)?)?;
        }
        let frame = self.frames.current();
        if let Some(masks) = &frame.masks {
            infos.set_item(intern!(py, "action_mask"), masks.shown(py))?;
        }
        if let Some(alive) = &frame.alive {
            infos.set_item(intern!(py, "alive"), alive.shown(py))?;
        }
        if let Some(bad) = played.bad {
            let bad = PyArray1::from_vec(py, bad);
            infos.set_item(intern!(py, "bad_action"), &bad)?;
            infos.set_item(intern!(py, "_bad_action"), bad)?;
        }
        if let Some(bad) = self.opponents_bad.take() {
            let bad = PyArray1::from_vec(py, bad);
            infos.set_item(intern!(py, "opponent_bad_action"), &bad)?;
            infos.set_item(intern!(py, "_opponent_bad_action"), bad)?;
        }
        if played.any_ended {
            self.tell_ended(&infos)?;
        }
        if let Some(exact) = self.exact.as_ref().filter(|_| played.stepped) {
            exact.tell(&infos)?;
        }
        Ok(infos)
    }

    /// Adds what is known of the episodes that have ended in this step.
    fn tell_ended(&self, infos: &Bound<'_, PyDict>) -> PyResult<()> {
        let py = infos.py();
        let frame = self.frames.current();
        let Some(ended) = &frame.ended else { return Ok(()) };
        if let Some(rewards) = &frame.final_rewards {
            infos.set_item(intern!(py, "final_rewards"), rewards.shown(py))?;
            infos.set_item(intern!(py, "_final_rewards"), ended.shown(py))?;
        }
        if let Some(final_obs) = &frame.final_obs {
            infos.set_item(intern!(py, "final_obs"), self.named(final_obs.shown(py))?)?;
            infos.set_item(intern!(py, "_final_obs"), ended.shown(py))?;
            infos.set_item(intern!(py, "final_info"), PyDict::new(py))?;
            infos.set_item(intern!(py, "_final_info"), ended.shown(py))?;
        }
        Ok(())
    }

    /// Returns observations in the requested form: the table, or its columns by name.
    fn named<'py>(&self, table: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if !self.shows.named {
            return Ok(table.clone());
        }
        let py = table.py();
        let columns = PyDict::new(py);
        for (column, name) in self.names.iter().enumerate() {
            columns.set_item(name, table.get_item((PySlice::full(py), column))?)?;
        }
        Ok(columns.into_any())
    }

    /// The mask of a game in which all actions are always legal: one for all steps, which is read-only.
    fn all_legal<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(masks) = &self.all_legal {
            return Ok(masks.bind(py).clone());
        }
        let masks = self.masks_now(py)?;
        masks.call_method1("setflags", (false,))?;
        self.all_legal = Some(masks.clone().unbind());
        Ok(masks)
    }

    /// A new array of masks.
    fn masks_now<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let masks = Buffer::rows(py, self.batch.rows(), self.batch.actions())?;
        let mut written = masks.write(py)?;
        let cells = written.cells();
        py.detach(|| self.batch.masks(cells));
        drop(written);
        Ok(masks.shown(py).clone())
    }

    fn wrong_action(&self, row: usize, came: &Bound<'_, PyAny>) -> PyErr {
        let most = self.batch.actions() - 1;
        let came = came.get_item(row).and_then(|one| one.str()).map_or("?".to_owned(), |one| one.to_string());
        refuse(format!("row {row}: expected an action from 0 to {most}, got {came}"))
    }

    /// Plays actions that need no copy. `None` if they have another type, or are not contiguous.
    fn step_small(&mut self, actions: &Bound<'_, PyAny>) -> Option<PyResult<Played>> {
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

    /// Plays actions of one type. `None` if they have another, or are not contiguous.
    fn step_as<T: Number + Element>(&mut self, actions: &Bound<'_, PyAny>) -> Option<PyResult<Played>> {
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

    /// Plays actions of any type that numpy converts to whole numbers.
    fn step_any(&mut self, actions: &Bound<'_, PyAny>) -> PyResult<Played> {
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

/// Adds the rows in which an opponent's action was illegal to the known ones, or raises an error.
fn note_bad(known: &mut Option<Vec<bool>>, bad: Option<Vec<bool>>, raises: bool) -> PyResult<()> {
    let Some(bad) = bad else { return Ok(()) };
    if raises && let Some(row) = bad.iter().position(|&bad| bad) {
        return Err(refuse(format!("row {row}: an opponent has chosen an action that is illegal now")));
    }
    match known {
        None => *known = Some(bad),
        Some(known) => known.iter_mut().zip(bad).for_each(|(known, bad)| *known |= bad),
    }
    Ok(())
}

/// Clears the mark of rows that had ended before this step. Returns whether any have ended now.
fn note_waiting(waiting: &mut Vec<bool>, ended: &mut [bool]) -> bool {
    waiting.resize(ended.len(), false);
    let mut any = false;
    for (ended, waiting) in ended.iter_mut().zip(waiting) {
        (*ended, *waiting) = (*ended && !*waiting, *ended);
        any |= *ended;
    }
    any
}

impl<K: Kernel<Cell: Element>> AnyBatch for Held<K> {
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

    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDescr> {
        dtype::<K::Cell>(py)
    }

    fn seed(&mut self, seed: u64, which: Option<&[bool]>) {
        let marked = |one: &usize| which.is_none_or(|which| which.get(*one) == Some(&true));
        for one in (0..self.batch.matches()).filter(marked) {
            self.batch.seed(one, match_seed(seed, one as u64));
        }
    }

    fn seed_each(&mut self, seeds: &[Option<u64>]) -> PyResult<()> {
        if seeds.len() != self.batch.matches() {
            let matches = self.batch.matches();
            return Err(refuse(format!(
                "seed: expected one number, or {matches}, one for each match, got {}",
                seeds.len()
            )));
        }
        for (one, seed) in seeds.iter().enumerate() {
            if let Some(seed) = seed {
                self.batch.seed(one, match_seed(*seed, 0));
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
        self.write(py, None, |batch, out| batch.reset(which, out))?;
        self.begun = true;
        let infos = self.infos(py, Played { stepped: false, any_ended: false, bad: None })?;
        let obs = self.named(self.frames.current().obs.shown(py))?;
        PyTuple::new(py, [obs, infos.into_any()])
    }

    fn step<'py>(&mut self, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        let py = actions.py();
        if !self.begun {
            return Err(reset_needed(py, "call reset before the first step"));
        }
        let fast = self
            .step_as::<i64>(actions)
            .or_else(|| self.step_small(actions))
            .or_else(|| self.step_as::<i32>(actions))
            .or_else(|| self.step_as::<bool>(actions));
        let played = fast.unwrap_or_else(|| self.step_any(actions))?;
        let infos = self.infos(py, played)?;
        let frame = self.frames.current();
        let obs = self.named(frame.obs.shown(py))?;
        let told = [
            &obs,
            frame.rewards.shown(py),
            frame.terminated.shown(py),
            frame.truncated.shown(py),
            infos.as_any(),
        ];
        PyTuple::new(py, told)
    }

    fn observations<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.write(py, None, |batch, out| batch.tell(out))?;
        self.named(self.frames.current().obs.shown(py))
    }

    fn masks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.masks_now(py)
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

    fn learners<'py>(&self, py: Python<'py>) -> PyResult<Learners<'py>> {
        let mut seats = vec![None; self.batch.matches()];
        self.batch.learner(&mut seats);
        let Some(seats) = seats.into_iter().collect::<Option<Vec<u8>>>() else {
            return Err(refuse("there are no opponents: every seat is the learner's"));
        };
        let each = self.batch.rows() / self.batch.matches();
        let seats = seats.into_iter().flat_map(|seat| std::iter::repeat_n(seat, each));
        let matches = (0..self.batch.rows()).map(|row| self.batch.episode(row / each) as i64);
        Ok((PyArray1::from_iter(py, seats), PyArray1::from_iter(py, matches)))
    }

    fn save(&self) -> PyResult<Vec<u8>> {
        postcard::to_allocvec(&Saved { batch: self.batch.save(), begun: self.begun }).map_err(refuse)
    }

    fn restore(&mut self, py: Python<'_>, saved: &[u8]) -> PyResult<()> {
        let Ok((Saved { batch, begun }, [])) = postcard::take_from_bytes::<Saved>(saved) else {
            let length = saved.len();
            return Err(refuse(format!(
                "expected what `save` gave, whole and unchanged, got {length} other bytes"
            )));
        };
        self.batch.restore(&batch).map_err(refuse)?;
        self.begun = begun;
        // Finds out who waits.
        self.waiting.clear();
        self.write(py, None, |batch, out| batch.tell(out))?;
        Ok(())
    }
}

/// A batch, and whether it has begun.
#[derive(Serialize, Deserialize)]
struct Saved {
    batch: Vec<u8>,
    begun: bool,
}
