//! Matches and tournaments between bots of all kinds, Python objects among them.
//!
//! The arena plays on threads of its own, which never touch Python. What it has to say waits in a channel for the Python
//! thread that started it, so that bots run where their owner expects them: tracebacks, debuggers and Ctrl-C work.

use crate::setup::{self, refuse};
use necrodome_arena::{
    dice::{Dice, DiceWish, Secret},
    entry::{EntryError, EntryKind, EntrySpec, files_of, has_processes, name_all},
    fault::{Fault, FaultKind},
    guest::{Guest, Invitation},
    lineup::{Terms, player},
    player::{Answer, Effort, MatchStart, Player},
    process::{self, Launcher, Limits, Wish},
    protocol::Silence,
    run::run_match,
    stats::RankBy,
    tournament::{self, Archive, Claims, Opened, PlanError, Schedule, TournamentError, Wishes, report},
};
use necrodome_rules::{
    catalog::{GameId, Listed},
    chance::{Seed, Seeded},
    game::Outcome,
    names::Names,
    with_game,
};
use pyo3::{
    exceptions::{PyFileNotFoundError, PyRuntimeError},
    prelude::*,
    types::PyBytes,
};
use serde::Deserialize;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// How often a waiting Python thread looks whether somebody has pressed Ctrl-C.
const GLANCE: Duration = Duration::from_millis(50);

/// What the arena says to Python.
enum Said {
    /// A guest is asked; Python answers.
    Ask { entry: usize, text: String, reply: Sender<Result<String, Silence>> },
    /// A guest is told something.
    Tell { entry: usize, text: String },
    /// What a guest has answered was refused.
    Refused { entry: usize, why: String },
    /// So many blocks are stored.
    Update { blocks: u32 },
    /// All is over.
    Done(Result<Ended, String>),
}

/// What is left when all is over: a JSON document, and the replay of a match.
struct Ended {
    document: String,
    replay: Option<Vec<u8>>,
}

/// A match or a tournament that is being played.
#[pyclass(frozen, module = "necrodome._native")]
pub struct Playing {
    inbox: Mutex<Option<Receiver<Said>>>,
    reply: Mutex<Option<Sender<Result<String, Silence>>>>,
    replay: Mutex<Option<Vec<u8>>>,
    interrupt: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Blocks that were stored before, and those that are planned.
    #[pyo3(get)]
    blocks: (u32, u32),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Playing {
    /// Lets `play` run on a thread of its own.
    fn start(
        blocks: (u32, u32),
        (sender, receiver): (SyncSender<Said>, Receiver<Said>),
        interrupt: Arc<AtomicBool>,
        play: impl FnOnce() -> Result<Ended, String> + Send + 'static,
    ) -> Self {
        let thread = thread::spawn(move || drop(sender.send(Said::Done(play()))));
        Playing {
            inbox: Mutex::new(Some(receiver)),
            reply: Mutex::default(),
            replay: Mutex::default(),
            interrupt,
            thread: Mutex::new(Some(thread)),
            blocks,
        }
    }

    fn stop(&self) {
        self.interrupt.store(true, Ordering::Relaxed);
        // Whoever waits for an answer, or for room in the channel, is sent home.
        drop(lock(&self.reply).take());
        drop(lock(&self.inbox).take());
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join();
        }
    }
}

#[pymethods]
impl Playing {
    /// Waits for what comes next: what it is, of which entry (or how many blocks), and its text.
    fn next(&self, py: Python<'_>) -> PyResult<(&'static str, usize, String)> {
        let over = || PyRuntimeError::new_err("this match or tournament is over");
        loop {
            let said = py.detach(|| lock(&self.inbox).as_ref().map(|inbox| inbox.recv_timeout(GLANCE)));
            match said.ok_or_else(over)? {
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the arena has broken down: this is a bug of it"));
                }
                Ok(Said::Ask { entry, text, reply }) => {
                    *lock(&self.reply) = Some(reply);
                    return Ok(("ask", entry, text));
                }
                Ok(Said::Tell { entry, text }) => return Ok(("tell", entry, text)),
                Ok(Said::Refused { entry, why }) => return Ok(("refused", entry, why)),
                Ok(Said::Update { blocks }) => return Ok(("update", blocks as usize, String::new())),
                Ok(Said::Done(ended)) => {
                    let ended = ended.map_err(PyRuntimeError::new_err)?;
                    *lock(&self.replay) = ended.replay;
                    return Ok(("done", 0, ended.document));
                }
            }
        }
    }

    /// Answers the last question with a line of the bot protocol.
    fn answer(&self, text: String) {
        if let Some(reply) = lock(&self.reply).take() {
            let _ = reply.send(Ok(text));
        }
    }

    /// Says that the one who was asked has failed.
    fn fault(&self, detail: String) {
        if let Some(reply) = lock(&self.reply).take() {
            let _ = reply.send(Err(Silence::Fault(Fault::new(FaultKind::Crash, detail))));
        }
    }

    /// The replay of a match that is over, packed as in a file.
    fn replay<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        lock(&self.replay).as_ref().map(|packed| PyBytes::new(py, packed))
    }

    /// Stops playing, and waits until nothing is left of it.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.stop());
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A Python object: what it hears goes through the channel.
struct PythonGuest {
    entry: usize,
    sender: SyncSender<Said>,
}

impl Guest for PythonGuest {
    fn tell(&mut self, message: &str) {
        let _ = self.sender.send(Said::Tell { entry: self.entry, text: message.to_owned() });
    }

    fn ask(&mut self, message: &str) -> Result<String, Silence> {
        let (reply, answer) = channel();
        let ask = Said::Ask { entry: self.entry, text: message.to_owned(), reply };
        self.sender.send(ask).map_err(|_| Silence::Quit)?;
        answer.recv().unwrap_or(Err(Silence::Quit))
    }

    fn refused(&mut self, why: &str) {
        let _ = self.sender.send(Said::Refused { entry: self.entry, why: why.to_owned() });
    }
}

/// A player of a match that somebody may want to stop.
struct Interruptible<G: Listed> {
    player: Box<dyn Player<G>>,
    interrupt: Arc<AtomicBool>,
}

impl<G: Listed> Player<G> for Interruptible<G> {
    fn start(&mut self, start: &MatchStart) {
        self.player.start(start);
    }

    fn hear(&mut self, heard: &[&G::Event]) {
        self.player.hear(heard);
    }

    fn listens(&self) -> bool {
        self.player.listens()
    }

    fn ask(&mut self, view: &G::View) {
        self.player.ask(view);
    }

    fn answer(&mut self, view: &G::View) -> Answer<G::Action> {
        if self.interrupt.load(Ordering::Relaxed) { Answer::Quit } else { self.player.answer(view) }
    }

    fn refused(&mut self, why: &str) {
        self.player.refused(why);
    }

    fn end(&mut self, outcome: &Outcome) -> Vec<Fault> {
        self.player.end(outcome)
    }

    fn is_deterministic(&self) -> bool {
        self.player.is_deterministic()
    }

    fn take_effort(&mut self) -> Effort {
        self.player.take_effort()
    }

    fn close(&mut self) -> (Vec<Fault>, String) {
        self.player.close()
    }
}

/// What is to be played, as Python says it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    game: String,
    entries: Vec<WantedEntry>,
    /// The options of the rules that are set.
    options: serde_json::Value,
    seed: Option<Seed>,
    /// The seed if nobody else has one.
    spare_seed: Seed,
    #[serde(default)]
    public_dice: bool,
    secret: Option<Secret>,
    #[serde(default)]
    limits: Limits,
    /// How far programs are confined.
    sandbox: String,
    /// The words that start this interpreter as a supervisor of bots; the first is the interpreter.
    launcher: Vec<String>,
    /// Only of a tournament.
    tournament: Option<WantedTournament>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedEntry {
    name: Option<String>,
    /// As on the command line, or what a Python object calls itself.
    text: String,
    is_object: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedTournament {
    blocks: Option<u32>,
    format: Option<String>,
    seats: Option<usize>,
    until_decided: bool,
    #[serde(default)]
    margin: Option<f64>,
    #[serde(default)]
    rank_by: RankBy,
    test: Option<(f64, f64)>,
    threads: Option<usize>,
    store: Option<PathBuf>,
    #[serde(default)]
    only: Vec<String>,
    #[serde(default)]
    new_version: bool,
}

fn refuse_entry(error: EntryError) -> PyErr {
    match error {
        EntryError::NoFile { .. } => PyFileNotFoundError::new_err(error.to_string()),
        _ => refuse(error),
    }
}

/// All that is needed to sit down.
struct Ready<G: Listed> {
    entries: Vec<EntrySpec>,
    names: Names,
    terms: Terms<G::Rules>,
}

impl Wanted {
    /// What is wanted of the dice.
    fn dice(&self) -> PyResult<DiceWish> {
        if self.secret.is_some() && self.seed.is_none() {
            return Err(refuse("secret means nothing without seed"));
        }
        let wish = DiceWish { public: self.public_dice, secret: self.secret.clone() };
        wish.check().map_err(refuse)?;
        Ok(wish)
    }

    fn prepare<G: Listed>(&self, sender: &SyncSender<Said>) -> PyResult<Ready<G>> {
        let rules: G::Rules = setup::rules(&self.options.to_string())?;
        self.limits.zero().map_or(Ok(()), |name| Err(refuse(PlanError::Limit(name))))?;
        let spec = |(number, entry): (usize, &WantedEntry)| self.entry(number, entry, sender);
        let entries = self.entries.iter().enumerate().map(spec).collect::<PyResult<Vec<_>>>()?;
        let names = name_all(&entries).map_err(refuse_entry)?;
        let words: Vec<OsString> = self.launcher.iter().map(OsString::from).collect();
        let (program, words) = words.split_first().ok_or_else(|| refuse("launcher: expected a program"))?;
        let mut launcher = Launcher::new(program, words.iter().cloned());
        let wish: Wish = self.sandbox.parse().map_err(|why| refuse(format!("sandbox: {why}")))?;
        if has_processes(&entries) {
            launcher = launcher.confined(wish).map_err(refuse)?.hiding(files_of(&entries));
        }
        Ok(Ready {
            terms: Terms { launcher, limits: self.limits, rules, seats: names.len() },
            entries,
            names,
        })
    }

    fn entry(&self, number: usize, entry: &WantedEntry, sender: &SyncSender<Said>) -> PyResult<EntrySpec> {
        if entry.is_object {
            let sender = sender.clone();
            let come =
                move || Box::new(PythonGuest { entry: number, sender: sender.clone() }) as Box<dyn Guest>;
            let kind = EntryKind::Guest(Invitation::new(come));
            return Ok(EntrySpec { name: entry.name.clone(), text: entry.text.clone(), kind });
        }
        let mut spec = EntrySpec::parse(&entry.text, Path::new(".")).map_err(refuse_entry)?;
        spec.name = entry.name.clone().or(spec.name);
        let is_command = spec.text.starts_with("cmd:");
        if let (EntryKind::Program(program), false, Some(python)) =
            (&mut spec.kind, is_command, self.launcher.first())
        {
            // Files of Python are run by this very interpreter, which has what its user has installed.
            program
                .words
                .iter_mut()
                .take(1)
                .filter(|word| *word == "python3")
                .for_each(|word| word.clone_from(python));
        }
        Ok(spec)
    }
}

/// Begins what is wanted (a JSON document, see `Wanted`).
#[pyfunction]
pub fn play(py: Python<'_>, wanted: &str) -> PyResult<Playing> {
    let wanted: Wanted = serde_json::from_str(wanted).map_err(refuse)?;
    let id = setup::game(&wanted.game)?;
    py.detach(|| {
        with_game!(id, G => match &wanted.tournament {
            None => begin_match::<G>(&wanted),
            Some(tournament) => begin_tournament::<G>(id, &wanted, tournament),
        })
    })
}

fn begin_match<G: Listed>(wanted: &Wanted) -> PyResult<Playing>
where
    G::Rules: Send,
{
    let (sender, receiver) = sync_channel(1024);
    let Ready { entries, names, terms } = wanted.prepare::<G>(&sender)?;
    names.expect_seats(G::SEATS).map_err(|error| refuse(format!("{}: {error}", G::ID)))?;
    let seed = wanted.seed.unwrap_or(wanted.spare_seed);
    let secret = wanted.dice()?.of_match(&entries).map_err(refuse)?;
    for (entry, name) in entries.iter().zip(names.iter()) {
        player::<G>(entry, name, &terms, Seeded::new(0, "trial", 0)).map_err(refuse)?;
    }
    let interrupt = Arc::new(AtomicBool::new(false));
    let stopped = interrupt.clone();
    Ok(Playing::start((0, 1), (sender, receiver), interrupt, move || {
        play_match::<G>(&entries, &names, &terms, (seed, secret.as_ref()), &stopped)
            .map_err(|error| error.to_string())
    }))
}

fn play_match<G: Listed>(
    entries: &[EntrySpec],
    names: &Names,
    terms: &Terms<G::Rules>,
    (seed, secret): (Seed, Option<&Secret>),
    interrupt: &Arc<AtomicBool>,
) -> Result<Ended, Box<dyn std::error::Error>> {
    let dice = secret.map_or(Dice::from(seed), |secret| secret.dice(seed));
    let mut players: Vec<Box<dyn Player<G>>> = Vec::new();
    for (seat, (entry, name)) in entries.iter().zip(names.iter()).enumerate() {
        let player = player::<G>(entry, name, terms, Seeded::new(dice.dice, "bot", seat as u64))?;
        players.push(Box::new(Interruptible { player, interrupt: interrupt.clone() }));
    }
    let mut finished = run_match(names, &terms.rules, dice, &mut players, |_: &G, _| {})?;
    let logs = finished.close(&mut players);
    let document = finished.document(entries, names, &terms.rules, (seed, secret), &logs);
    let document = serde_json::to_string_pretty(&document)?;
    Ok(Ended { document, replay: Some(finished.recording.pack()?) })
}

fn begin_tournament<G: Listed>(id: GameId, wanted: &Wanted, more: &WantedTournament) -> PyResult<Playing>
where
    G::Rules: Send + Sync,
{
    let (sender, receiver) = sync_channel(1024);
    let Ready { entries, names, mut terms } = wanted.prepare::<G>(&sender)?;
    let wishes = Wishes {
        format: more.format.as_deref(),
        seats: more.seats,
        blocks: more.blocks,
        seed: wanted.seed,
        public_dice: wanted.public_dice,
        until_decided: more.until_decided,
        margin: more.margin,
        test: more.test.map(|(elo0, elo1)| Claims { elo0, elo1 }),
        rank_by: more.rank_by,
        only: &more.only,
        limits: wanted.limits,
        sandbox: has_processes(&entries).then(|| terms.launcher.level()),
        store: more.store.as_deref(),
    };
    let spare_seed = || Ok::<_, TournamentError>(wanted.spare_seed);
    let plan = wishes.plan::<G, _>(id, &entries, &names, &terms.rules, spare_seed).map_err(refuse)?;
    Schedule::new(&plan, G::SEATS).map_err(refuse)?;
    terms.seats = plan.seats;
    for (entry, name) in entries.iter().zip(names.iter()) {
        player::<G>(entry, name, &terms, Seeded::new(0, "trial", 0)).map_err(refuse)?;
    }
    let secret = wanted.dice()?.secret;
    let archive = more.store.as_ref().map_or_else(Archive::in_memory, |path| Archive::open(path));
    let opened = archive.and_then(|archive| archive.resume(&plan, more.new_version, secret.as_ref()));
    let Opened { mut store, plan: stored, .. } = opened.map_err(refuse)?;
    let entries = stored.in_order(&plan, entries);
    let plan = stored;
    let schedule = Schedule::new(&plan, G::SEATS).map_err(refuse)?;
    let stored = store.blocks().map_err(refuse)?;
    // One object cannot be in two places, and Python runs one thread at a time.
    let objects = wanted.entries.iter().any(|entry| entry.is_object);
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = if objects { 1 } else { more.threads.unwrap_or_else(cores) };
    let interrupt = Arc::new(AtomicBool::new(false));
    let stopped = interrupt.clone();
    let teller = sender.clone();
    Ok(Playing::start((stored, schedule.end()), (sender, receiver), interrupt, move || {
        let tell = |blocks| drop(teller.send(Said::Update { blocks }));
        let mut play = || -> Result<Ended, Box<dyn std::error::Error>> {
            let mut watch = |update: tournament::Update| tell(update.blocks);
            let launcher = &terms.launcher;
            tournament::run(&plan, &entries, launcher, &mut store, threads, &stopped, &mut watch)?;
            let report = report(&plan, &schedule, &store)?;
            Ok(Ended { document: serde_json::to_string_pretty(&report)?, replay: None })
        };
        play().map_err(|error| error.to_string())
    }))
}

/// Supervises a bot, or becomes one, as the arena has ordered; then it does not return.
#[pyfunction]
pub fn run_stage(stage: OsString) {
    process::run_stage_named(&stage);
}
