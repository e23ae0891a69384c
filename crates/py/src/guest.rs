//! Python objects as players. The arena calls them on the thread that asked for the match, so that tracebacks, debuggers and
//! Ctrl-C work in them as in any other function.

use crate::values::{from_python, to_python};
use necrodome_arena::{
    fault::{Fault, FaultKind},
    guest::Invitation,
    lineup::Terms,
    player::{Answer, MatchStart, Player},
    protocol::{MAX_LISTED, Message, PROTOCOL, ToBot, parse_act, read_choice},
};
use necrodome_rules::{catalog::Listed, game::Outcome};
use pyo3::{
    exceptions::{PyException, PySystemExit},
    intern,
    prelude::*,
    types::{PyDict, PyList, PyString, PyTuple, PyType},
};
use serde::Serialize;
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    mem,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// The state that the objects of one line-up share.
pub struct Table {
    /// A `necrodome.bot.Talk` for each entry that is an object.
    talks: Vec<Option<Py<PyAny>>>,
    /// Whether an error of a bot ends everything; otherwise it is a fault.
    raises: bool,
    /// Whether playing is to stop.
    pub stop: Arc<AtomicBool>,
    failed: OnceLock<PyErr>,
    /// Errors outside of a question, by entry. The arena learns of them with the next answer.
    late: Mutex<BTreeMap<usize, String>>,
}

impl Table {
    /// Makes a table for these objects, by entry.
    pub fn new(talks: Vec<Option<Py<PyAny>>>, raises: bool) -> Self {
        Table { talks, raises, stop: Arc::default(), failed: OnceLock::new(), late: Mutex::default() }
    }

    /// Whether any bot is an object.
    pub fn has_objects(&self) -> bool {
        self.talks.iter().any(Option::is_some)
    }

    /// Invites an object, or returns `None` if the entry with this number is no object.
    pub fn invitation<G: Listed>(self: &Arc<Self>, entry: usize) -> Option<Invitation> {
        self.talks.get(entry)?.as_ref()?;
        let table = self.clone();
        Some(Invitation::new::<G>(move |name, terms| {
            Box::new(Object {
                table: table.clone(),
                entry,
                name: name.to_owned(),
                terms: terms.clone(),
                ready: None,
                away: None,
                asked: 0,
            })
        }))
    }

    /// Stops everything. Only the first error is raised.
    pub fn fail(&self, error: PyErr) {
        let _ = self.failed.set(error);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns the error to raise, if any.
    pub fn failure(&self, py: Python<'_>) -> Option<PyErr> {
        self.failed.get().map(|error| error.clone_ref(py))
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn late(&self) -> MutexGuard<'_, BTreeMap<usize, String>> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The errors that no answer has reported, by entry.
    pub fn untold(&self) -> BTreeMap<usize, String> {
        mem::take(&mut self.late())
    }

    /// Handles an error of a bot: returns its words if it is a fault, and stops everything otherwise.
    fn fault(&self, py: Python<'_>, error: PyErr) -> Option<String> {
        let counts = error.is_instance_of::<PyException>(py) || error.is_instance_of::<PySystemExit>(py);
        if self.raises || !counts {
            self.fail(error);
            return None;
        }
        let words = || {
            let name = error.get_type(py).name()?;
            Ok::<_, PyErr>(format!("{name}: {}", error.value(py).str()?))
        };
        Some(words().unwrap_or_else(|_| "an error that cannot be put into words".to_owned()))
    }
}

/// An object that sits at the table.
struct Object<G: Listed> {
    table: Arc<Table>,
    entry: usize,
    name: String,
    terms: Terms<G::Rules>,
    /// Its answer to the greeting.
    ready: Option<Ready>,
    /// Why it cannot be asked in this match, and whether it was charged with that fault.
    away: Option<(Fault, bool)>,
    /// The number of questions so far.
    asked: u64,
}

/// The answer to `hello`.
#[derive(Clone, Copy)]
struct Ready {
    events: bool,
    deterministic: bool,
}

impl<G: Listed> Object<G> {
    fn talk<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        let talk = self.table.talks[self.entry].as_ref();
        talk.map(|talk| talk.bind(py)).ok_or_else(|| crate::setup::refuse("this entry is no object"))
    }

    /// Whether the bot may be asked.
    fn is_here(&self) -> bool {
        self.ready.is_some() && self.away.is_none() && !self.table.is_stopped()
    }

    /// Passes on a message. Returns the answer, if there is one.
    fn pass<'py>(&self, py: Python<'py>, message: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
        self.talk(py)?.call_method1(intern!(py, "hear"), (to_python(py, message)?,))
    }

    /// Passes on a message that needs no answer: an error is reported with the next answer.
    fn tell(&self, message: &Message<G>) {
        Python::attach(|py| {
            if let Err(error) = self.pass(py, message) {
                self.note(py, error);
            }
        });
    }

    fn note(&self, py: Python<'_>, error: PyErr) {
        if let Some(words) = self.table.fault(py, error) {
            self.table.late().entry(self.entry).or_insert(words);
        }
    }

    fn greet(&self, py: Python<'_>) -> PyResult<Ready> {
        let Terms { rules, seats, .. } = &self.terms;
        let hello: Message<G> =
            ToBot::Hello { protocol: PROTOCOL, game: G::ID, options: rules, seats: *seats, name: &self.name };
        let answer = self.pass(py, &hello)?;
        let says = |name: &str| answer.get_item(name)?.is_truthy();
        Ok(Ready { events: says("events")?, deterministic: says("deterministic")? })
    }

    fn decide(&mut self, py: Python<'_>, view: &G::View) -> PyResult<Result<Answer<G::Action>, Fault>> {
        self.asked += 1;
        let talk = self.talk(py)?;
        let bot = talk.getattr(intern!(py, "bot"))?;
        // The name of a private attribute of the class Bot.
        bot.setattr(intern!(py, "_Bot__legal"), Legal::of::<G>(view))?;
        let came = bot.call_method1(intern!(py, "act"), (to_python(py, view)?,))?;
        if let Some((action, reason)) = choice(&came) {
            return Ok(read_choice::<G>(&action, reason));
        }
        // Whatever else it is, Python has the words for it.
        let line: String = talk.call_method1(intern!(py, "line"), (self.asked, came))?.extract()?;
        Ok(parse_act::<G>(line.as_bytes(), self.asked, |_| Ok(())))
    }

    fn refuse(&self, py: Python<'_>, why: &str) -> PyResult<()> {
        let bot = self.talk(py)?.getattr(intern!(py, "bot"))?;
        bot.call_method1(intern!(py, "refused"), (why,))?;
        if !self.table.raises {
            return Ok(());
        }
        let illegal = py.import("necrodome.play")?.getattr("IllegalAction")?.cast_into::<PyType>()?;
        let name = bot.getattr(intern!(py, "name"))?;
        Err(PyErr::from_type(illegal, format!("{name}: {why}")))
    }
}

/// Reads an action, perhaps with a reason, from a plain value.
fn choice(came: &Bound<'_, PyAny>) -> Option<(Value, Option<String>)> {
    let Ok(pair) = came.cast::<PyTuple>() else { return Some((action(came)?, None)) };
    let (came, reason) = pair.extract::<(Bound<'_, PyAny>, Option<String>)>().ok()?;
    Some((action(&came)?, reason))
}

fn action(came: &Bound<'_, PyAny>) -> Option<Value> {
    if came.is_instance_of::<PyDict>() {
        return from_python(came);
    }
    let kind = came.cast::<PyString>().ok()?.to_str().ok()?;
    Some(Value::Object(Map::from_iter([("type".to_owned(), kind.into())])))
}

impl<G: Listed> Player<G> for Object<G> {
    fn start(&mut self, start: &MatchStart) {
        self.away = None;
        if self.ready.is_none() && !self.table.is_stopped() {
            Python::attach(|py| match self.greet(py) {
                Ok(ready) => self.ready = Some(ready),
                Err(error) => {
                    let fault = |words| (Fault::new(FaultKind::Crash, words), false);
                    self.away = self.table.fault(py, error).map(fault);
                }
            });
        }
        if self.is_here() {
            let names: Vec<String> = start.names.iter().map(str::to_owned).collect();
            self.tell(&ToBot::Start { seat: start.seat, names: &names, seed: start.seed });
        }
    }

    fn hear(&mut self, heard: &[&G::Event]) {
        if self.is_here() {
            self.tell(&ToBot::Events { events: heard });
        }
    }

    fn listens(&self) -> bool {
        self.ready.is_some_and(|ready| ready.events)
    }

    fn ask(&mut self, _: &G::View) {}

    fn answer(&mut self, view: &G::View) -> Answer<G::Action> {
        if self.table.is_stopped() {
            return Answer::Quit;
        }
        if let Some((fault, charged)) = &mut self.away {
            *charged = true;
            return Answer::Fault(fault.clone());
        }
        if let Some(words) = self.table.late().remove(&self.entry) {
            return Answer::Fault(Fault::new(FaultKind::Crash, words));
        }
        let answer =
            match Python::attach(|py| self.decide(py, view).map_err(|error| self.table.fault(py, error))) {
                Ok(answer) => answer.unwrap_or_else(Answer::Fault),
                Err(Some(words)) => return Answer::Fault(Fault::new(FaultKind::Crash, words)),
                Err(None) => return Answer::Quit,
            };
        if let Answer::Fault(fault) | Answer::Partly { fault, .. } = &answer {
            self.refused(&fault.detail);
        }
        answer
    }

    fn refused(&mut self, why: &str) {
        if self.is_here() {
            Python::attach(|py| {
                if let Err(error) = self.refuse(py, why) {
                    self.note(py, error);
                }
            });
        }
    }

    fn end(&mut self, outcome: &Outcome) -> Vec<Fault> {
        if self.is_here() {
            self.tell(&ToBot::End { outcome });
        }
        self.away.take().filter(|(_, charged)| !charged).map(|(fault, _)| fault).into_iter().collect()
    }

    fn is_deterministic(&self) -> bool {
        self.ready.is_some_and(|ready| ready.deterministic)
    }
}

/// Writes the list of legal actions.
type List = Box<dyn for<'py> Fn(Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> + Send + Sync>;

/// The legal actions of a decision. They are listed on first use, since in some games that takes longer than the decision.
#[pyclass(frozen, module = "necrodome._native")]
pub struct Legal(List);

impl Legal {
    /// Lists the legal actions of a view, or returns `None` where the game has too many to list.
    fn of<G: Listed>(view: &G::View) -> Option<Self> {
        let _ = G::legal_actions(view)?;
        let view = view.clone();
        Some(Legal(Box::new(move |py| {
            G::few_legal_actions(&view, MAX_LISTED).map(|actions| to_python(py, &actions)).transpose()
        })))
    }
}

#[pymethods]
impl Legal {
    /// The actions, or None if there are too many.
    fn list<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        (self.0)(py)
    }

    /// Pickles the actions themselves, for a copy of the bot.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        Ok(match self.list(py)? {
            Some(actions) => (py.get_type::<PyList>(), PyTuple::new(py, [actions])?),
            None => (py.None().into_bound(py).get_type(), PyTuple::empty(py)),
        })
    }
}
