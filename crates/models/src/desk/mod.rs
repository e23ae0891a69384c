//! The desk, through which all calls to models go. Before a call is made, the desk looks into the book, joins callers who ask the
//! same, waits for the model's pace and checks the budget. The answer is in the book before any caller gets it.

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
    path::Path,
    str::FromStr,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

/// The source of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answers {
    /// The book, where it has them; otherwise calls.
    #[default]
    Reuse,
    /// Calls, one per question and run; the answers replace those in the book.
    Fresh,
    /// Only the book.
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

/// The limits of the desk's patience with endpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// The most tries per question.
    pub tries: u32,
    /// The most time for all tries together, not counting the model's own limit for each of them.
    pub in_all: Duration,
    /// The longest first pause between two tries; it doubles with every try.
    pub pause: Duration,
    /// How long an open call may go on after an interrupt, so that a paid answer is kept.
    pub grace: Duration,
}

impl Patience {
    /// The most time for all tries of a question to this model.
    fn for_model(&self, model: &Model) -> Duration {
        self.in_all + model.timeout
    }
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

/// A run that can be interrupted and resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run<'a> {
    /// What makes it the same run.
    pub name: &'a str,
    /// Whether it goes on with its fresh answers, even if it was complete.
    pub goes_on: bool,
    /// Whether it only estimates what the run would ask, and so begins nothing in the book.
    pub is_dry: bool,
}

/// The access to all models, shared by all threads. A clone is the same desk.
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
    /// The generations of answers that count, by the fingerprints of models, once they are known.
    generations: Mutex<HashMap<String, Generation>>,
    /// The questions that are being asked.
    under_way: Mutex<HashMap<Asked, Flight>>,
    /// The forms that were found, or why none was, so that later callers do not wait for the same failures again.
    forms: Mutex<HashMap<[u8; 32], Result<Form, AskError>>>,
    notes: Mutex<Notes>,
    /// Takes notes that cannot wait for the end of the run.
    tell: OnceLock<fn(&str)>,
    /// Errors that asking again cannot solve.
    obstacles: Mutex<Vec<AskError>>,
    /// The names of the models that were given up.
    failing: Mutex<BTreeSet<String>>,
}

/// The hash of a question, and the generation if only its own answers count.
type Asked = ([u8; 32], Option<i64>);

/// A question on its way to an outcome.
type Flight = Arc<Waiting<Option<Outcome>>>;

#[derive(Default)]
struct Notes {
    new: Vec<String>,
    /// Tables, and the notes already given about each.
    told: BTreeSet<(String, About)>,
}

/// The subject of a note. Each is given once per table, however its text changes, since endpoints influence the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum About {
    OpenKey,
    AnotherModel,
    Counts,
    Form,
    AnotherTry,
}

type Outcome = Result<Reply, Failure>;

/// Why there is no reply, and the status with which the endpoint refused, if it did.
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
    /// Makes a desk for some models. Without a book, it keeps answers as long as it lives. `interrupt` stops waiting and asking.
    pub fn new(
        models: Models,
        book: Option<Book>,
        answers: Answers,
        budget: Budget,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Self, BookError> {
        Self::with_patience(models, book, answers, budget, interrupt, Patience::default())
    }

    /// Makes a desk with other limits of patience.
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
            generations: Mutex::default(),
            under_way: Mutex::default(),
            forms: Mutex::default(),
            notes: Mutex::default(),
            tell: OnceLock::new(),
            obstacles: Mutex::default(),
            failing: Mutex::default(),
        })))
    }

    /// Finds a model by its name, and checks that it can be used: under a budget, the worst case of a call must be known.
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

    /// Asks a model. The answer is in the book before the caller gets it.
    pub fn ask(&self, model: &Model, question: &Question) -> Result<Reply, AskError> {
        self.outcome(model, question).map_err(|failure| self.in_the_way(failure.error))
    }

    /// The errors that asking again cannot solve until something is changed.
    pub fn obstacles(&self) -> Vec<AskError> {
        lock(&self.0.obstacles).clone()
    }

    /// The names of the models whose endpoints have failed for good.
    pub fn failing(&self) -> BTreeSet<String> {
        lock(&self.0.failing).clone()
    }

    /// Remembers an error that would come again. Of a budget it remembers the dearest call that was not covered.
    pub fn in_the_way(&self, error: AskError) -> AskError {
        let mut obstacles = lock(&self.0.obstacles);
        if let AskError::Budget { raise: Some(raise), .. } = &error {
            let known = obstacles.iter_mut().find_map(|known| match known {
                AskError::Budget { raise: Some(known), .. } if known.whose == raise.whose => Some(known),
                _ => None,
            });
            if let Some(known) = known {
                known.cover(raise);
                return error;
            }
        }
        if error.is_lasting() && !obstacles.contains(&error) {
            obstacles.push(error.clone());
        }
        error
    }

    /// Begins a run for a model, before its first question. The model's answers are a generation in the book, and runs of the same
    /// name find what it has found. A run with fresh answers begins another generation, unless it goes on or the last one has not
    /// ended.
    pub fn begin(&self, model: &Model, run: &Run) -> Result<(), BookError> {
        let (book, answers) = (&self.0.book, self.0.answers);
        let generation = match answers {
            Answers::Fresh => Generation::Only(book.begin(Some((run, model)))?),
            Answers::Reuse | Answers::Only => book.generation(run, model, answers == Answers::Reuse)?,
        };
        lock(&self.0.generations).insert(model.fingerprint(), generation);
        Ok(())
    }

    /// Marks the run as complete for a model: the next one with fresh answers asks anew.
    pub fn finish(&self, model: &Model) -> Result<(), BookError> {
        match self.generation(model)? {
            _ if self.0.answers == Answers::Only => Ok(()),
            generation => self.0.book.finish(generation.number()),
        }
    }

    /// The generation of a model's answers that counts. The fresh answers of a run without a name are a generation, too.
    fn generation(&self, model: &Model) -> Result<Generation, BookError> {
        let mut known = lock(&self.0.generations);
        let fingerprint = model.fingerprint();
        if let Some(generation) = known.get(&fingerprint) {
            return Ok(*generation);
        }
        let generation = match self.0.answers {
            Answers::Fresh => Generation::Only(self.0.book.begin(None)?),
            Answers::Reuse | Answers::Only => Generation::Any,
        };
        known.insert(fingerprint, generation);
        Ok(generation)
    }

    /// What each model has taken in this run, by name.
    pub fn spent(&self) -> BTreeMap<String, Spent> {
        self.0.purse.spent()
    }

    /// Takes the new notes for users, such as that an endpoint has begun to answer as another model.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.0.notes).new)
    }

    /// Tells a user who would otherwise wait in silence: `tell` is called when a call has failed for the first time and is tried
    /// again, once per table.
    pub fn tell_at_once(&self, tell: fn(&str)) {
        let _ = self.0.tell.set(tell);
    }

    fn tell_another_try(&self, model: &Model, attempt: u32, trouble: &Trouble) {
        let Some(tell) = self.0.tell.get() else { return };
        if lock(&self.0.notes).told.insert((model.name.clone(), About::AnotherTry)) {
            let (Model { name, base_url, .. }, why, most) = (model, &trouble.why, self.0.patience.tries);
            tell(&format!("{name} at {base_url} failed: {why}; trying again (try {attempt} of {most})"));
        }
    }

    /// The file of the book.
    pub fn book(&self) -> &Path {
        self.0.book.path()
    }

    fn is_interrupted(&self) -> bool {
        self.0.interrupt.load(Ordering::Relaxed)
    }

    fn outcome(&self, model: &Model, question: &Question) -> Outcome {
        let request = request(model, question)?;
        let generation = self.generation(model).map_err(unkept)?;
        let alone = matches!(generation, Generation::Only(_)).then_some(generation.number());
        let asked = (request.hash, alone);
        let mut under_way = lock(&self.0.under_way);
        if let Some(flight) = under_way.get(&asked).cloned() {
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
        under_way.insert(asked, flight.clone());
        drop(under_way);
        let landing = Landing { desk: self, asked, flight };
        let outcome = self.call(model, request);
        landing.land(outcome)
    }

    fn reuse(&self, model: &Model, reply: Reply) -> Reply {
        self.0.purse.reused(model, &reply);
        Reply { reused: true, ..reply }
    }

    /// Makes a call, with several tries if need be.
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
            let pause = trouble
                .retry_after
                .unwrap_or_default()
                .saturating_add(backoff(self.0.patience.pause, attempt));
            used = used.saturating_add(started.elapsed()).saturating_add(pause);
            let is_last = attempt >= self.0.patience.tries || used > self.0.patience.for_model(&model);
            if is_last || !trouble.is_worth_another_try {
                lock(&self.0.failing).insert(model.name.clone());
                return Err(given_up(&model, attempt, trouble));
            }
            self.tell_another_try(&model, attempt + 1, &trouble);
            self.rest(pause)?;
            attempt += 1;
        }
    }

    fn rest(&self, pause: Duration) -> Result<(), AskError> {
        let end = Instant::now() + pause;
        let over = |_: &mut ()| (Instant::now() >= end).then_some(());
        Waiting::new(()).until(&|| self.is_interrupted(), over)
    }

    /// Makes a try on a separate thread, so that the caller can stop waiting. The answer is kept all the same.
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

/// A random part of a pause that doubles from try to try, so that those who failed together do not come back together.
fn backoff(first: Duration, attempt: u32) -> Duration {
    // Without random bytes it is a whole pause.
    let part = getrandom::u32().map_or(1.0, |part| f64::from(part) / f64::from(u32::MAX));
    longest_pause(first, attempt).mul_f64(part)
}

fn longest_pause(first: Duration, attempt: u32) -> Duration {
    const LONGEST: Duration = Duration::from_secs(30);
    first.saturating_mul(1 << (attempt - 1).min(16)).min(LONGEST)
}

/// Gives the outcome of a question to all who wait for it, even if the asking thread fails.
struct Landing<'a> {
    desk: &'a Desk,
    asked: Asked,
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
        lock(&self.desk.0.under_way).remove(&self.asked);
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
    let error = match trouble.hint {
        None if trouble.is_worth_another_try => AskError::Endpoint(why),
        hint => AskError::Stuck { why, hint },
    };
    Failure { error, status: trouble.status }
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
    AskError::Stuck { why: error.to_string(), hint: error.hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_are_never_all_the_same() {
        let first = Duration::from_secs(1);
        let longest: Vec<u64> =
            [1, 2, 3, 4, 5, 6, 40, u32::MAX].map(|attempt| longest_pause(first, attempt).as_secs()).to_vec();
        assert_eq!(longest, [1, 2, 4, 8, 16, 30, 30, 30]);
        for attempt in 1..8 {
            let pauses: BTreeSet<Duration> = (0..100).map(|_| backoff(first, attempt)).collect();
            assert!(pauses.len() > 50, "{pauses:?}");
            assert!(pauses.last() <= Some(&longest_pause(first, attempt)), "{pauses:?}");
            // Some are short and some are long: 1 in 2^100 that they are not.
            let half = longest_pause(first, attempt) / 2;
            assert!(pauses.first() < Some(&half) && pauses.last() > Some(&half), "{pauses:?}");
        }
    }
}
