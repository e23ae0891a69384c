//! The desk: the one door to all models. A question goes past the book, those who are asking the same, the model's pace and the
//! budget before a call is made, and its answer is in the book before anybody sees it.

mod attempt;
mod forms;
mod look;
mod open;

pub use forms::Trial;
pub use look::Look;
pub use open::{DeskError, DeskWishes};

use crate::{
    AskError, Book, BookError, Budget, Form, Model, Models, Money, Question, Reply, Spent, Tally, Tokens,
    book::Generation,
    budget::{Held, Purse},
    http::Client,
    pace::{Pace, Permit},
    wait::{GLANCE, Waiting},
    wire::{self, Request},
};
use attempt::{OneTry, Trouble};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    str::FromStr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

/// Where answers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answers {
    /// From the book, where it has them; calls are made for the rest.
    #[default]
    Reuse,
    /// From calls, each question once a run; the answers replace those in the book.
    Fresh,
    /// From the book only.
    Only,
}

impl FromStr for Answers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "reuse" => Ok(Answers::Reuse),
            "fresh" => Ok(Answers::Fresh),
            "only" => Ok(Answers::Only),
            _ => Err(format!("expected reuse, fresh or only, got {text:?}")),
        }
    }
}

/// How long the desk puts up with endpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// The most tries for one question.
    pub tries: u32,
    /// The most time for all tries together, apart from the model's own limit for one of them.
    pub in_all: Duration,
    /// The longest first pause between two tries; it doubles from try to try.
    pub pause: Duration,
    /// How long a call that is under way may go on after an interrupt, so that what is paid for is kept.
    pub grace: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            tries: 6,
            in_all: Duration::from_secs(120),
            pause: Duration::from_secs(1),
            grace: Duration::from_secs(10),
        }
    }
}

/// Why a model cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct ModelError {
    /// What is wrong.
    pub why: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The one door to all models, for all threads; a clone is the same desk.
#[derive(Clone)]
pub struct Desk(Arc<Inside>);

struct Inside {
    models: Models,
    book: Book,
    answers: Answers,
    purse: Arc<Purse>,
    paces: Mutex<HashMap<String, Arc<Pace>>>,
    client: Client,
    patience: Patience,
    interrupt: Arc<AtomicBool>,
    /// Which answers of the book count, once that is known.
    generation: Mutex<Option<Generation>>,
    /// Questions that somebody is asking.
    under_way: Mutex<HashMap<[u8; 32], Flight>>,
    /// The forms that were found, or why none was: whoever comes later does not wait for the same failures again.
    forms: Mutex<HashMap<[u8; 32], Result<Form, AskError>>>,
    notes: Mutex<Notes>,
}

/// A question on its way to its outcome.
type Flight = Arc<Waiting<Option<Outcome>>>;

#[derive(Default)]
struct Notes {
    new: Vec<String>,
    /// Tables, and what was told about each.
    told: BTreeSet<(String, About)>,
}

/// What a note is about. Each is told once for a table, however its text changes: endpoints have a say in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum About {
    OpenKey,
    AnotherModel,
    Counts,
    Form,
}

type Outcome = Result<Reply, Failure>;

/// Why there is no reply, and with which status the endpoint refused, if it did.
#[derive(Debug, Clone)]
struct Failure {
    error: AskError,
    status: Option<u16>,
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        Failure { error, status: None }
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inside { models, book, answers, .. } = &*self.0;
        let mut desk = f.debug_struct("Desk");
        desk.field("models", models)
            .field("book", &book.path())
            .field("answers", answers)
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change is whole before anything can panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Desk {
    /// A desk for some models. Without a book, answers are kept as long as the desk. `interrupt` stops waiting and asking.
    pub fn new(
        models: Models,
        book: Option<Book>,
        answers: Answers,
        budget: Budget,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Self, BookError> {
        Self::with_patience(models, book, answers, budget, interrupt, Patience::default())
    }

    /// A desk with a patience of its own.
    pub fn with_patience(
        models: Models,
        book: Option<Book>,
        answers: Answers,
        budget: Budget,
        interrupt: Arc<AtomicBool>,
        patience: Patience,
    ) -> Result<Self, BookError> {
        Ok(Desk(Arc::new(Inside {
            models,
            book: book.map_or_else(Book::in_memory, Ok)?,
            answers,
            purse: Arc::new(Purse::new(budget)),
            paces: Mutex::default(),
            client: Client::new(),
            patience,
            interrupt,
            generation: Mutex::default(),
            under_way: Mutex::default(),
            forms: Mutex::default(),
            notes: Mutex::default(),
        })))
    }

    /// A model by its name, if it can be used: with a budget, the worst case of a call must be known.
    pub fn model(&self, name: &str) -> Result<Arc<Model>, ModelError> {
        let models = &self.0.models;
        let refuse = |why: String, hint: Option<String>| Err(ModelError { why, hint });
        let Some(model) = models.get(name) else {
            let hint = models.nearest(name).map(|near| format!("did you mean {near}?"));
            return refuse(format!("there is no table [models.{name}]"), hint);
        };
        let budgets = [model.budget, self.0.purse.budget()];
        let is_asked = self.0.answers != Answers::Only;
        if is_asked && model.prices().is_none() && budgets.iter().any(|budget| budget.money.is_some()) {
            let why = format!("a budget in money needs input_price and output_price in [models.{name}]");
            return refuse(why, Some("prices are per million tokens; a model of your own may cost 0".into()));
        }
        if is_asked && model.most_output().is_none() && budgets.iter().any(Budget::is_limited) {
            let why = format!("a budget needs the most tokens of an answer in [models.{name}.parameters]");
            return refuse(
                why,
                Some("such as max_completion_tokens = 2000, or max_tokens for older endpoints".into()),
            );
        }
        if model.key_env.is_some() && !model.is_private() {
            let note = format!("the key travels to {} for everybody on the way to read", model.base_url);
            self.note(model, About::OpenKey, &note);
        }
        Ok(model.clone())
    }

    /// Asks a model. The answer is in the book before anybody sees it.
    pub fn ask(&self, model: &Model, question: &Question) -> Result<Reply, AskError> {
        self.outcome(model, question).map_err(|failure| failure.error)
    }

    /// A run begins that can be interrupted and go on, before its first question. Fresh answers are a generation in the book: a run
    /// of the same name that `goes_on`, or has not ended, adds to it, and other runs of that name prefer its answers.
    pub fn begin(&self, run: &str, goes_on: bool) -> Result<(), BookError> {
        let book = &self.0.book;
        let generation = match self.0.answers {
            Answers::Fresh => Generation::Only(book.begin(Some(run), goes_on)?),
            Answers::Reuse | Answers::Only => {
                book.generation(run)?.map_or(Generation::Any, Generation::First)
            }
        };
        *lock(&self.0.generation) = Some(generation);
        Ok(())
    }

    /// The run that has begun is complete: the next one with fresh answers asks anew.
    pub fn finish(&self) -> Result<(), BookError> {
        match *lock(&self.0.generation) {
            Some(Generation::Only(number)) => self.0.book.finish(number),
            _ => Ok(()),
        }
    }

    /// Which answers of the book count. Fresh answers of a run without a name are a generation, too.
    fn generation(&self) -> Result<Generation, BookError> {
        let mut known = lock(&self.0.generation);
        if let Some(generation) = *known {
            return Ok(generation);
        }
        let generation = match self.0.answers {
            Answers::Fresh => Generation::Only(self.0.book.begin(None, false)?),
            Answers::Reuse | Answers::Only => Generation::Any,
        };
        *known = Some(generation);
        Ok(generation)
    }

    /// What the run has taken so far, by the names of models.
    pub fn spent(&self) -> BTreeMap<String, Spent> {
        self.0.purse.spent()
    }

    /// What users should be told and was not told yet, such as that an endpoint has begun to answer as another model.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.0.notes).new)
    }

    fn is_interrupted(&self) -> bool {
        self.0.interrupt.load(Ordering::Relaxed)
    }

    fn outcome(&self, model: &Model, question: &Question) -> Outcome {
        let request = request(model, question)?;
        let generation = self.generation().map_err(unkept)?;
        let mut under_way = lock(&self.0.under_way);
        if let Some(flight) = under_way.get(&request.hash).cloned() {
            drop(under_way);
            let outcome = flight.until(&|| self.is_interrupted(), |outcome| outcome.clone())?;
            return outcome.map(|reply| self.reuse(model, reply));
        }
        if let Some(reply) = self.0.book.find(&request, generation).map_err(unkept)? {
            drop(under_way);
            return Ok(self.reuse(model, reply));
        }
        if self.0.answers == Answers::Only {
            let why = format!("the book has no answer of {} to this question", model.name);
            return Err(AskError::NotKept(why).into());
        }
        let flight = Arc::new(Waiting::new(None));
        under_way.insert(request.hash, flight.clone());
        drop(under_way);
        let landing = Landing { desk: self, hash: request.hash, flight };
        let outcome = self.call(model, request);
        landing.land(outcome)
    }

    fn reuse(&self, model: &Model, reply: Reply) -> Reply {
        self.0.purse.reused(model, &reply);
        Reply { reused: true, ..reply }
    }

    /// Makes a call, with several tries.
    fn call(&self, model: &Model, request: Request) -> Outcome {
        let model = Arc::new(model.clone());
        let pace = lock(&self.0.paces)
            .entry(model.name.clone())
            .or_insert_with(|| Arc::new(Pace::new(&model)))
            .clone();
        let body = request.body().map_err(unwritten)?;
        let request = Arc::new(request);
        let most = most(&model, body.len());
        let likely = wire::estimate(body.len()).saturating_add(most.tokens.output);
        let stop = || self.is_interrupted();
        // Without the time in which others had their turn.
        let (mut attempt, mut used) = (1, Duration::ZERO);
        loop {
            let permit = pace.enter(likely, &stop)?;
            let held = self.0.purse.hold(&model, most, &stop)?;
            let call = OneTry { desk: self.clone(), model: model.clone(), request: request.clone(), attempt };
            let started = Instant::now();
            let trouble = match self.beside(call, body.clone(), permit, held)? {
                Ok(reply) => return Ok(reply),
                Err(trouble) => trouble,
            };
            let pause = trouble.retry_after.unwrap_or_default().saturating_add(self.jitter(attempt));
            used = used.saturating_add(started.elapsed()).saturating_add(pause);
            let is_last = attempt >= self.0.patience.tries || used > self.0.patience.in_all + model.timeout;
            if is_last || !trouble.is_worth_another_try {
                return Err(given_up(&model, attempt, trouble));
            }
            self.rest(pause)?;
            attempt += 1;
        }
    }

    /// A random part of a pause that doubles from try to try, so that those who failed together do not come back together.
    fn jitter(&self, attempt: u32) -> Duration {
        const LONGEST: Duration = Duration::from_secs(30);
        let pause = self.0.patience.pause.saturating_mul(1 << (attempt - 1).min(16)).min(LONGEST);
        // Without random bytes it is a whole pause.
        let part = getrandom::u32().map_or(1.0, |part| f64::from(part) / f64::from(u32::MAX));
        pause.mul_f64(part)
    }

    fn rest(&self, pause: Duration) -> Result<(), AskError> {
        let end = Instant::now() + pause;
        let over = |_: &mut ()| (Instant::now() >= end).then_some(());
        Waiting::new(()).until(&|| self.is_interrupted(), over)
    }

    /// Makes a try on a thread of its own, so that whoever waits can leave. The answer is kept all the same.
    fn beside(
        &self,
        call: OneTry,
        body: String,
        permit: Permit,
        held: Held,
    ) -> Result<Result<Reply, Trouble>, AskError> {
        let (sender, answers) = mpsc::channel();
        let work = move || {
            // Nobody may be waiting any more.
            let _ = sender.send(call.make(body, permit, held));
        };
        let thread = thread::Builder::new().name("call".into()).spawn(work);
        thread
            .map_err(|error| AskError::Endpoint(format!("no thread can be started for a call: {error}")))?;
        let mut leave = None;
        loop {
            match answers.recv_timeout(GLANCE) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(AskError::Endpoint("a call has failed inside the program".into()));
                }
                Err(RecvTimeoutError::Timeout) if self.is_interrupted() => {
                    let leave = leave.get_or_insert_with(|| Instant::now() + self.0.patience.grace);
                    if Instant::now() >= *leave {
                        return Err(AskError::Interrupted);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn note(&self, model: &Model, about: About, note: &str) {
        let mut notes = lock(&self.0.notes);
        if notes.told.insert((model.name.clone(), about)) {
            notes.new.push(format!("{}: {note}", model.name));
        }
    }
}

/// Gives all who wait for a question its outcome, whatever becomes of who asks it.
struct Landing<'a> {
    desk: &'a Desk,
    hash: [u8; 32],
    flight: Flight,
}

impl Landing<'_> {
    fn land(self, outcome: Outcome) -> Outcome {
        self.flight.change(|landed| *landed = Some(outcome.clone()));
        outcome
    }
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        lock(&self.desk.0.under_way).remove(&self.hash);
        self.flight.change(|landed| {
            landed.get_or_insert_with(|| Err(AskError::Interrupted.into()));
        });
    }
}

fn given_up(model: &Model, attempts: u32, trouble: Trouble) -> Failure {
    let tries = if attempts == 1 { String::new() } else { format!(", {attempts} times") };
    let wait = trouble.retry_after.filter(|_| trouble.is_worth_another_try);
    let wait =
        wait.map_or(String::new(), |wait| format!(" (it asks to wait {} s)", wait.as_secs_f64().ceil()));
    let why = format!("{} at {} failed{tries}: {}{wait}", model.name, model.base_url, trouble.why);
    Failure { error: AskError::Endpoint(why), status: trouble.status }
}

/// The most that a call may take.
fn most(model: &Model, bytes: usize) -> Tally {
    let output = model.most_output().unwrap_or(0);
    let tokens = Tokens { input: wire::most_input(bytes), output, estimated: true, ..Tokens::default() };
    // Cached input may be the dearer one.
    let cached = Tokens { cached: tokens.input, ..tokens };
    Tally::one(tokens, Money::of(model, &tokens).max(Money::of(model, &cached)))
}

fn request(model: &Model, question: &Question) -> Result<Request, AskError> {
    Request::new(model, question).map_err(unwritten)
}

fn unwritten(error: serde_json::Error) -> AskError {
    AskError::Endpoint(format!("the question cannot be written as JSON: {error}"))
}

fn unkept(error: BookError) -> AskError {
    AskError::Endpoint(error.to_string())
}
