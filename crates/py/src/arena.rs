//! Matches, tournaments and exams between bots of all kinds, including Python objects.
//!
//! If objects take part, the arena plays on the calling thread. Otherwise it plays on other threads, which never touch
//! Python, and the calling thread watches for Ctrl-C.

use crate::{
    cluster,
    guest::Table,
    setup::{self, refuse},
};
use necrodome_arena::{
    dice::{Dice, DiceWish, Secret},
    entry::{EntryError, EntryKind, EntrySpec, files_of, has_processes, name_all},
    exam::{Candidate, ExamReport, LEAST_POSITIONS, MOST_POSITIONS, Paper, sit},
    fault::Fault,
    lineup::{Terms, player},
    model::is_model,
    player::{Answer, Effort, MatchStart, Player},
    process::{self, Gifts, Launcher, Limits, Wish},
    replay::Recording,
    run::run_match,
    stats::RankBy,
    tournament::{
        self, Archive, Claims, Opened, Plan, PlanError, Schedule, Store, TournamentError, Wishes,
        natural_threads, report,
    },
};
use necrodome_models::{Budget, Desk, DeskWishes, Models};
use necrodome_rules::{
    catalog::{GameId, Listed},
    chance::{Seed, Seeded},
    game::Outcome,
    names::{Names, SetupError},
    with_game,
};
use necrodome_solve::solve;
use pyo3::{
    exceptions::{PyFileNotFoundError, PyRuntimeError},
    prelude::*,
    types::{PyBytes, PyType},
};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

/// The interval at which a waiting Python thread checks for Ctrl-C.
pub const GLANCE: Duration = Duration::from_millis(50);

/// The results of a run: a JSON document, and the replay of a match.
struct Ended {
    document: String,
    replay: Option<Replay>,
}

/// Packs a replay.
type Pack = Box<dyn Fn() -> io::Result<Vec<u8>> + Send + Sync>;

/// The replay of a match. It is packed on first use, since packing takes longer than a short match.
#[pyclass(frozen, module = "necrodome._native")]
pub struct Replay(Pack);

impl Replay {
    /// The longest recording, in steps, that is packed on first use. Longer ones are packed at once, since they take far more memory
    /// than the packed replay.
    const LONG: u32 = 200;

    fn new<G: Listed>(recording: Recording<G>) -> io::Result<Self> {
        if recording.steps() <= Self::LONG {
            return Ok(Replay(Box::new(move || recording.pack())));
        }
        let packed = recording.pack()?;
        Ok(Replay(Box::new(move || Ok(packed.clone()))))
    }
}

#[pymethods]
impl Replay {
    /// The contents of a replay file.
    fn pack<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &(self.0)()?))
    }

    /// Pickles a replay as its contents.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<PyBytes>(), (self.pack(py)?,)))
    }
}

/// The results, or why there are none, in words.
type Played = Result<Ended, Box<dyn std::error::Error>>;

/// The table, and what Python wants to be told while the arena plays.
struct Host {
    table: Arc<Table>,
    /// Called with the number of stored blocks and of planned blocks.
    show: Py<PyAny>,
    /// Whether programs take part.
    programs: bool,
    /// The number of planned blocks.
    planned: u32,
}

impl Host {
    /// Lets the arena play. `play` is given a function to call with the number of stored blocks.
    fn play(&self, py: Python<'_>, play: impl FnOnce(&dyn Fn(u32)) -> Played + Send) -> PyResult<Ended> {
        let play = |tell: &dyn Fn(u32)| play(tell).map_err(|error| error.to_string());
        let played = match (self.table.has_objects(), self.programs) {
            (false, _) => py.detach(|| self.play_elsewhere(play)),
            // Nobody else could run while a program thinks.
            (true, true) => py.detach(|| play(&|blocks| self.glance(Some(blocks)))),
            (true, false) => play(&|blocks| self.glance(Some(blocks))),
        };
        match self.table.failure(py) {
            Some(error) => Err(error),
            None => played.map_err(PyRuntimeError::new_err),
        }
    }

    /// Lets the arena play on another thread, and serves Python on this one.
    fn play_elsewhere(
        &self,
        play: impl FnOnce(&dyn Fn(u32)) -> Result<Ended, String> + Send,
    ) -> Result<Ended, String> {
        thread::scope(|scope| {
            let (sender, receiver) = channel();
            let playing = scope.spawn(move || play(&|blocks| _ = sender.send(blocks)));
            loop {
                match receiver.recv_timeout(GLANCE) {
                    Ok(blocks) => self.glance(Some(blocks)),
                    Err(RecvTimeoutError::Timeout) => self.glance(None),
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            playing.join().unwrap_or_else(|_| Err("the arena has broken down: this is a bug of it".into()))
        })
    }

    /// Checks for Ctrl-C, shows the progress, and lets other Python threads run.
    fn glance(&self, blocks: Option<u32>) {
        if self.table.stop.load(Ordering::Relaxed) {
            return;
        }
        Python::attach(|py| {
            let show = |blocks| self.show.call1(py, (blocks, self.planned)).map(drop);
            if let Err(error) = py.check_signals().and_then(|()| blocks.map_or(Ok(()), show)) {
                self.table.fail(error);
            }
            py.detach(|| ());
        });
    }
}

/// A player in a match that the user may interrupt.
struct Interruptible<G: Listed> {
    player: Box<dyn Player<G>>,
    table: Arc<Table>,
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
        if self.table.stop.load(Ordering::Relaxed) { Answer::Quit } else { self.player.answer(view) }
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

/// The request from Python: what to play.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    game: String,
    entries: Vec<WantedEntry>,
    /// The options of the rules.
    options: serde_json::Value,
    seed: Option<Seed>,
    /// The seed to use if no other is given.
    spare_seed: Seed,
    #[serde(default)]
    public_dice: bool,
    secret: Option<Secret>,
    #[serde(default)]
    limits: Limits,
    /// How strictly programs are confined.
    sandbox: String,
    /// The network and the environment variables that programs get, if any.
    gifts: Gifts,
    /// The command that starts this interpreter as a supervisor of bots; the first word is the interpreter.
    launcher: Vec<String>,
    /// The language models that may take part.
    models: Option<WantedModels>,
    /// Set only for a tournament.
    tournament: Option<WantedTournament>,
    /// Set only for an exam.
    exam: Option<WantedExam>,
}

/// Language models, with the same settings as the flags of the command line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedModels {
    file: PathBuf,
    answers: String,
    calls: Option<PathBuf>,
    /// The budget in money, as text.
    budget: Option<String>,
    budget_tokens: Option<u64>,
}

impl WantedModels {
    /// Opens the desk for asking the models. Calls are kept beside the store, if there is one.
    fn desk(&self, store: Option<&Path>, table: &Table) -> PyResult<Option<Desk>> {
        let money = self.budget.as_deref().map(str::parse).transpose();
        let money = money.map_err(|error| refuse(format!("budget: {error}")))?;
        let wishes = DeskWishes {
            own: Models::default(),
            file: Some(&self.file),
            answers: self.answers.parse().map_err(|why| refuse(format!("answers: {why}")))?,
            calls: self.calls.as_deref(),
            store,
            budget: Budget { money, tokens: self.budget_tokens },
        };
        Desk::open(wishes, table.stop.clone()).map_err(|error| refuse(format!("models: {error}")))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedExam {
    positions: usize,
    /// Whether the first entry takes the exam twice.
    null: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedEntry {
    name: Option<String>,
    /// The bot as on the command line, or the name that a Python object gives itself.
    text: String,
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
    /// The file for a plan for other machines. If it is set, nothing is played.
    plan_out: Option<PathBuf>,
}

fn refuse_entry(error: EntryError) -> PyErr {
    match error {
        EntryError::NoFile { .. } => PyFileNotFoundError::new_err(error.to_string()),
        _ => refuse(error),
    }
}

/// Everything needed to begin.
struct Ready<G: Listed> {
    entries: Vec<EntrySpec>,
    names: Names,
    terms: Terms<G::Rules>,
}

impl Wanted {
    /// The wishes for the dice.
    fn dice(&self) -> PyResult<DiceWish> {
        if self.secret.is_some() && self.seed.is_none() {
            return Err(refuse("secret means nothing without seed"));
        }
        let wish = DiceWish { public: self.public_dice, secret: self.secret.clone() };
        wish.check().map_err(refuse)?;
        Ok(wish)
    }

    fn prepare<G: Listed>(&self, table: &Arc<Table>) -> PyResult<Ready<G>> {
        let rules: G::Rules = setup::rules(&self.options.to_string())?;
        self.limits.zero().map_or(Ok(()), |name| Err(refuse(PlanError::Limit(name))))?;
        let desk = self.desk(table)?;
        let spec =
            |(number, entry): (usize, &WantedEntry)| self.entry::<G>(number, entry, table, desk.as_ref());
        let entries = self.entries.iter().enumerate().map(spec).collect::<PyResult<Vec<_>>>()?;
        let names = name_all(&entries).map_err(refuse_entry)?;
        let words: Vec<OsString> = self.launcher.iter().map(OsString::from).collect();
        let (program, words) = words.split_first().ok_or_else(|| refuse("launcher: expected a program"))?;
        let mut launcher = Launcher::new(program, words.iter().cloned());
        let wish: Wish = self.sandbox.parse().map_err(|why| refuse(format!("sandbox: {why}")))?;
        if has_processes(&entries) {
            let missing = |name| refuse(format!("pass_env: there is no environment variable {name}"));
            let gifts = Gifts::default().with(&self.gifts);
            launcher = launcher.confined(wish).map_err(refuse)?.hiding(files_of(&entries));
            launcher = launcher.giving(gifts).map_err(missing)?;
        }
        Ok(Ready {
            terms: Terms { launcher, limits: self.limits, rules, seats: names.len() },
            entries,
            names,
        })
    }

    /// The desk of the language models, or `None` if no model takes part.
    fn desk(&self, table: &Table) -> PyResult<Option<Desk>> {
        let store = self.tournament.as_ref().and_then(|tournament| tournament.store.as_deref());
        let models = self.models.as_ref().filter(|_| self.entries.iter().any(|entry| is_model(&entry.text)));
        models.map_or(Ok(None), |models| models.desk(store, table))
    }

    fn entry<G: Listed>(
        &self,
        number: usize,
        entry: &WantedEntry,
        table: &Arc<Table>,
        desk: Option<&Desk>,
    ) -> PyResult<EntrySpec> {
        if let Some(invitation) = table.invitation::<G>(number) {
            let kind = EntryKind::Guest(invitation);
            return Ok(EntrySpec { name: entry.name.clone(), text: entry.text.clone(), kind });
        }
        let mut spec = EntrySpec::parse_with(&entry.text, Path::new("."), desk).map_err(refuse_entry)?;
        spec.name = entry.name.clone().or(spec.name);
        self.launcher.first().into_iter().for_each(|python| spec.run_by(python));
        Ok(spec)
    }
}

/// The results for Python: the document, the replay of a match, and the errors that no answer could report, by entry.
type Told = (String, Option<Replay>, BTreeMap<usize, String>);

/// Plays what `wanted` says (a JSON document, see `Wanted`). `talks` has a `necrodome.bot.Talk` for each entry that is an object.
/// With `raises`, an error of an object is raised here; otherwise it is a fault. `show` is called now and then with the numbers of
/// stored and of planned blocks.
#[pyfunction]
pub fn play(
    py: Python<'_>,
    wanted: &str,
    talks: Vec<Option<Py<PyAny>>>,
    raises: bool,
    show: Py<PyAny>,
) -> PyResult<Told> {
    let wanted: Wanted = serde_json::from_str(wanted).map_err(refuse)?;
    let id = setup::game(&wanted.game)?;
    let table = Arc::new(Table::new(talks, raises));
    let ended = with_game!(id, G => match (&wanted.tournament, &wanted.exam) {
        (Some(tournament), _) => play_tournament::<G>(py, id, &wanted, tournament, &table, show),
        (None, Some(exam)) => sit_exam::<G>(py, &wanted, exam, &table, show),
        (None, None) => play_match::<G>(py, &wanted, &table, show),
    })?;
    Ok((ended.document, ended.replay, table.untold()))
}

fn play_match<G: Listed>(
    py: Python<'_>,
    wanted: &Wanted,
    table: &Arc<Table>,
    show: Py<PyAny>,
) -> PyResult<Ended> {
    let seed = wanted.seed.unwrap_or(wanted.spare_seed);
    let prepare = || {
        // Before anybody is looked up: a thousand entries take their time.
        let came = wanted.entries.len();
        if !G::SEATS.contains(&came) {
            let error = SetupError::Seats { expected: G::SEATS, came };
            return Err(refuse(format!("{}: {error}", G::ID)));
        }
        let ready = wanted.prepare::<G>(table)?;
        let Ready { entries, names, terms } = &ready;
        let secret = wanted.dice()?.of_match(entries).map_err(refuse)?;
        for (entry, name) in entries.iter().zip(names.iter()) {
            player::<G>(entry, name, terms, Seeded::new(0, "trial", 0)).map_err(refuse)?;
        }
        Ok::<_, PyErr>((ready, secret))
    };
    let (Ready { entries, names, terms }, secret) = py.detach(prepare)?;
    let host = Host { table: table.clone(), show, programs: has_processes(&entries), planned: 1 };
    host.play(py, |_| {
        let secret = secret.as_ref();
        let dice = secret.map_or(Dice::from(seed), |secret| secret.dice(seed));
        let mut players: Vec<Box<dyn Player<G>>> = Vec::new();
        for (seat, (entry, name)) in entries.iter().zip(names.iter()).enumerate() {
            let player = player::<G>(entry, name, &terms, Seeded::new(dice.dice, "bot", seat as u64))?;
            players.push(Box::new(Interruptible { player, table: table.clone() }));
        }
        let mut finished = run_match(&names, &terms.rules, dice, &mut players, |_: &G, _| {})?;
        let logs = finished.close(&mut players);
        let document = finished.document(&entries, &names, &terms.rules, (seed, secret), &logs);
        let document = serde_json::to_string_pretty(&document)?;
        Ok(Ended { document, replay: Some(Replay::new(finished.recording)?) })
    })
}

/// A tournament that is about to begin or resume.
struct Begun {
    plan: Plan,
    entries: Vec<EntrySpec>,
    launcher: Launcher,
    schedule: Schedule,
    store: Store,
}

impl Begun {
    fn new<G: Listed>(
        id: GameId,
        wanted: &Wanted,
        more: &WantedTournament,
        table: &Arc<Table>,
    ) -> PyResult<Self> {
        let Ready { entries, names, mut terms } = wanted.prepare::<G>(table)?;
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
            gifts: terms.launcher.gifts().clone(),
            store: more.store.as_deref(),
        };
        let spare_seed = || Ok::<_, TournamentError>(wanted.spare_seed);
        let plan = wishes.plan::<G, _>(id, &entries, &names, &terms.rules, spare_seed).map_err(refuse)?;
        Schedule::new(&plan, G::SEATS).map_err(refuse)?;
        terms.seats = plan.seats;
        for (entry, name) in entries.iter().zip(names.iter()) {
            player::<G>(entry, name, &terms, Seeded::new(0, "trial", 0)).map_err(refuse)?;
        }
        // The solution, which tells luck from skill, is kept: it is made here, where Python can run on meanwhile.
        drop(solve::<G>(&terms.rules, terms.seats));
        let secret = wanted.dice()?.secret;
        let archive = more.store.as_ref().map_or_else(Archive::in_memory, |path| Archive::open(path));
        let opened = archive.and_then(|archive| archive.resume(&plan, more.new_version, secret.as_ref()));
        let Opened { store, plan: stored, .. } = opened.map_err(refuse)?;
        // What is in memory only is gone before anybody could ask for a replay.
        let store = if more.store.is_some() { store } else { store.without_replays() };
        let schedule = Schedule::new(&stored, G::SEATS).map_err(refuse)?;
        let entries = stored.in_order(&plan, entries);
        Ok(Begun { plan: stored, entries, launcher: terms.launcher, schedule, store })
    }
}

fn play_tournament<G: Listed>(
    py: Python<'_>,
    id: GameId,
    wanted: &Wanted,
    more: &WantedTournament,
    table: &Arc<Table>,
    show: Py<PyAny>,
) -> PyResult<Ended> {
    let begun = py.detach(|| Begun::new::<G>(id, wanted, more, table))?;
    let Begun { plan, entries, launcher, schedule, mut store } = begun;
    if let Some(path) = &more.plan_out {
        cluster::write_plan(path, &plan, &store, &wanted.launcher)?;
        return Ok(Ended { document: String::new(), replay: None });
    }
    let (stored, planned) = (store.blocks().map_err(refuse)?, schedule.end());
    let host = Host { table: table.clone(), show, programs: has_processes(&entries), planned };
    host.glance(Some(stored));
    host.play(py, |tell| {
        let mut watch = |update: tournament::Update| tell(update.blocks);
        let threads = more.threads.unwrap_or_else(|| natural_threads(&entries));
        tournament::run(&plan, &entries, &launcher, &mut store, threads, &table.stop, &mut watch)?;
        let report = report(&plan, &schedule, &store)?;
        Ok(Ended { document: serde_json::to_string_pretty(&report)?, replay: None })
    })
}

fn sit_exam<G: Listed>(
    py: Python<'_>,
    wanted: &Wanted,
    more: &WantedExam,
    table: &Arc<Table>,
    show: Py<PyAny>,
) -> PyResult<Ended> {
    let range = LEAST_POSITIONS..=MOST_POSITIONS;
    if !range.contains(&more.positions) {
        let (least, most, came) = (range.start(), range.end(), more.positions);
        return Err(refuse(format!("positions: expected a number from {least} to {most}, got {came}")));
    }
    let prepare = || {
        let Ready { mut entries, mut names, mut terms } = wanted.prepare::<G>(table)?;
        if more.null {
            entries.push(entries[0].twin().map_err(refuse_entry)?);
            names = name_all(&entries).map_err(refuse_entry)?;
        }
        terms.seats = 2.clamp(*G::SEATS.start(), *G::SEATS.end());
        let candidates = Candidate::all(&entries, names.iter());
        for candidate in &candidates {
            candidate.player::<G>(&terms).map_err(refuse)?;
        }
        let seed = wanted.seed.unwrap_or(wanted.spare_seed);
        let paper = Paper::<G>::set(&terms.rules, more.positions, seed).map_err(refuse)?;
        Ok::<_, PyErr>((candidates, terms, paper))
    };
    let (candidates, terms, paper) = py.detach(prepare)?;
    let planned = (paper.questions.len() * candidates.len()) as u32;
    // Other entries are asked on threads of their own while an object thinks.
    let host = Host { table: table.clone(), show, programs: true, planned };
    host.play(py, |tell| {
        let sat = sit(&paper, &candidates, &terms, &table.stop, &mut |done, _| tell(done as u32))?;
        if let (false, Some(&absent)) = (sat.interrupted, sat.absent.first()) {
            return Err(format!("{} did not start", candidates[absent].name).into());
        }
        let report = ExamReport::new(&paper, &terms.rules, &candidates, &sat);
        Ok(Ended { document: serde_json::to_string_pretty(&report)?, replay: None })
    })
}

/// Supervises a bot, or becomes one, as the arena has ordered. It does not return if `stage` names such an order.
#[pyfunction]
pub fn run_stage(stage: OsString) {
    process::run_stage_named(&stage);
}
