//! Turns of Zombie Dice, one after the other, for the environment of one player.

use crate::{
    setup::{self, refuse},
    vector::reset_needed,
};
use necrodome_batch::{observe::Observe, stream::match_seed, zombie_dice::SoloTurn};
use necrodome_rules::{
    catalog::Listed,
    game::Game,
    names::Names,
    zombie_dice::{Solo as SoloGame, SoloRules},
};
use numpy::PyArray1;
use pyo3::{
    exceptions::PyTypeError,
    intern,
    prelude::*,
    types::{PyDict, PyTuple},
};

/// Turns of Zombie Dice, one after the other. A step returns what Gymnasium expects.
#[pyclass(module = "necrodome._native")]
pub struct Solo {
    turn: SoloTurn,
    /// Whether an illegal action is an error.
    raises: bool,
    /// Whether `reset` was called.
    begun: bool,
    observation: Vec<i16>,
}

#[pymethods]
impl Solo {
    /// Makes a turn, to be reset. `options` is a JSON object of the rules that differ from the rulebook; with `raises` an illegal
    /// action is an error.
    #[new]
    #[pyo3(signature = (options = "{}", raises = false))]
    fn new(options: &str, raises: bool) -> PyResult<Self> {
        let rules: SoloRules = setup::rules(options)?;
        Ok(Solo {
            turn: SoloTurn::new(&rules),
            raises,
            begun: false,
            observation: vec![0; SoloGame::fields(&rules, 1).len()],
        })
    }

    /// All rules, as a JSON object.
    #[getter]
    fn rules(&self) -> PyResult<String> {
        serde_json::to_string(self.turn.rules()).map_err(refuse)
    }

    /// The meaning of each number in an observation: a JSON list of name, about, low and high.
    fn fields(&self) -> PyResult<String> {
        serde_json::to_string(&SoloGame::fields(self.turn.rules(), 1)).map_err(refuse)
    }

    /// Starts the stream of chance anew.
    fn seed(&mut self, seed: u64) {
        self.turn.seed(match_seed(seed, 0));
    }

    /// Begins a new turn. Returns the observation and the info.
    fn reset<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.turn.begin();
        self.begun = true;
        let info = self.info(py)?;
        PyTuple::new(py, [self.observation(py).into_any(), info.into_any()])
    }

    /// Rolls (1) or stops (0). Returns observation, reward, whether the turn is over, whether it was cut off (never) and the info.
    fn step<'py>(&mut self, action: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        let py = action.py();
        if !self.begun {
            return Err(reset_needed(py, "call reset before the first step"));
        }
        if self.turn.is_over() {
            return Err(reset_needed(py, "the turn is over: call reset"));
        }
        let goes = goes(action)?;
        let bad = !goes && !self.turn.may_stop();
        if bad && self.raises {
            return Err(refuse("action 0 is illegal now, expected 1: the first roll is mandatory"));
        }
        let reward = f64::from(self.turn.play(goes));
        let info = self.info(py)?;
        if bad {
            info.set_item(intern!(py, "bad_action"), true)?;
        }
        (self.observation(py), reward, self.turn.is_over(), false, info).into_pyobject(py)
    }

    /// What the player sees, as numbers.
    fn observation<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyArray1<i16>> {
        self.turn.observe(&mut self.observation);
        PyArray1::from_slice(py, &self.observation)
    }

    /// The mask of the legal actions.
    fn mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        PyArray1::from_slice(py, &[self.turn.may_stop(), true])
    }

    /// Whether `reset` was called.
    #[getter]
    fn begun(&self) -> bool {
        self.begun
    }

    /// Whether the turn is over.
    #[getter]
    fn over(&self) -> bool {
        self.turn.is_over()
    }

    /// What the player sees, as JSON.
    fn view(&self) -> PyResult<String> {
        serde_json::to_string(&self.turn.view()).map_err(refuse)
    }

    /// What the player sees, in words.
    fn situation(&self) -> PyResult<String> {
        let names = Names::new(["you"]).map_err(refuse)?;
        Ok(SoloGame::situation(&self.turn.view(), &names).to_string())
    }

    /// How the turn ended, as JSON, or None while it goes on.
    fn outcome(&self) -> PyResult<Option<String>> {
        self.turn.game().outcome().map(|outcome| serde_json::to_string(&outcome).map_err(refuse)).transpose()
    }

    /// The whole state, with its stream of chance.
    fn save(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        if self.begun {
            Ok(self.turn.save())
        } else {
            Err(reset_needed(py, "nothing to save yet: call reset first"))
        }
    }

    /// Restores what `save` returned for the same rules.
    fn restore(&mut self, saved: &[u8]) -> PyResult<()> {
        self.turn.restore(saved).map_err(refuse)?;
        self.begun = true;
        Ok(())
    }
}

impl Solo {
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = PyDict::new(py);
        // A new one each time, as Gymnasium wants it.
        let mask = PyArray1::from_slice(py, &[i8::from(self.turn.may_stop()), 1]);
        info.set_item(intern!(py, "action_mask"), mask)?;
        Ok(info)
    }
}

/// Whether an action is to roll.
fn goes(action: &Bound<'_, PyAny>) -> PyResult<bool> {
    let expected = "expected an action, 0 (stop) or 1 (roll), got";
    match action.extract::<i64>() {
        Ok(0) => Ok(false),
        Ok(1) => Ok(true),
        Ok(other) => Err(refuse(format!("{expected} {other}"))),
        Err(_) => {
            let (came, kind) = (action.repr()?, action.get_type().name()?);
            Err(PyTypeError::new_err(format!("{expected} {came} ({kind})")))
        }
    }
}
