//! Tournaments in parts, for `necrodome.cluster`: plans, shards, one store. What crosses the border is paths, bytes and JSON.

use crate::{arena::GLANCE, setup::refuse};
use necrodome_arena::{
    process::Launcher,
    tournament::{self, Archive, Origin, PartError, Plan, PlanFile, Schedule, Shard, Store, report},
};
use necrodome_rules::chance::Seed;
use pyo3::{
    exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError},
    prelude::*,
    types::PyBytes,
};
use serde::Serialize;
use std::{
    ffi::OsString,
    fs::OpenOptions,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
};

/// What a caller can tell apart: the system or the store fails (`OSError`), two machines disagree (`RuntimeError`), or what they gave is wrong.
fn refuse_part(error: PartError) -> PyErr {
    let why = error.to_string();
    match &error {
        PartError::File { why: system, .. } if system.kind() == io::ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(why)
        }
        PartError::File { .. } | PartError::Store(_) => PyOSError::new_err(why),
        PartError::Conflict { .. } => PyRuntimeError::new_err(why),
        _ => refuse(error),
    }
}

fn text(document: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(document).map_err(refuse)
}

/// The words that start this interpreter as a supervisor of bots; the first is the interpreter.
fn supervisor(launcher: &[String]) -> PyResult<Launcher> {
    let words: Vec<OsString> = launcher.iter().map(OsString::from).collect();
    let (program, words) = words.split_first().ok_or_else(|| refuse("launcher: expected a program"))?;
    Ok(Launcher::new(program, words.iter().cloned()))
}

fn plan_file(plan: &Path, launcher: &[String]) -> PyResult<PlanFile> {
    Ok(PlanFile::read(plan).map_err(refuse_part)?.run_by(launcher.first().cloned()))
}

/// Writes a file that its owner alone may read.
fn write_private(path: &Path, contents: &[u8]) -> PyResult<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    Ok(file.write_all(contents)?)
}

/// Writes the plan of a tournament whose bots were named from the present folder.
pub(crate) fn write_plan(path: &Path, plan: &Plan, store: &Store) -> PyResult<()> {
    let file = PlanFile::new(plan, store, Path::new(".")).map_err(refuse_part)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    write_private(path, file.text(folder).map_err(refuse_part)?.as_bytes())
}

/// What a plan is about, as JSON.
#[pyfunction]
pub fn plan_info(py: Python<'_>, plan: PathBuf, launcher: Vec<String>) -> PyResult<String> {
    py.detach(|| {
        let file = plan_file(&plan, &launcher)?;
        text(&file.info().map_err(refuse_part)?)
    })
}

/// Checks that everything in a plan can be played on this machine; gives what the machine is, as JSON.
#[pyfunction]
pub fn plan_check(py: Python<'_>, plan: PathBuf, launcher: Vec<String>) -> PyResult<String> {
    py.detach(|| {
        let file = plan_file(&plan, &launcher)?;
        file.entries().map_err(refuse_part)?;
        file.launcher(supervisor(&launcher)?).map_err(refuse_part)?;
        text(&Origin::here(file.sandbox(), 1))
    })
}

/// Puts a plan and its bots into one archive.
#[pyfunction]
pub fn pack_plan<'py>(
    py: Python<'py>,
    plan: PathBuf,
    launcher: Vec<String>,
    most_bytes: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let packed = py.detach(|| {
        let file = plan_file(&plan, &launcher)?;
        tournament::pack(&file, most_bytes, &mut |_| {}).map_err(refuse_part)
    })?;
    Ok(PyBytes::new(py, &packed.bytes))
}

/// Lets somebody play on a thread of its own, and looks out for Ctrl-C on this one.
fn interruptible<T: Send>(
    py: Python<'_>,
    play: impl FnOnce(&AtomicBool) -> Result<T, PartError> + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    let mut pressed = None;
    let played = py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = channel::<()>();
            let stop = &stop;
            let playing = scope.spawn(move || {
                let played = play(stop);
                drop(sender);
                played
            });
            while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(GLANCE) {
                if let Err(error) = Python::attach(|py| py.check_signals()) {
                    pressed.get_or_insert(error);
                    stop.store(true, Ordering::Relaxed);
                }
            }
            playing.join().map_err(|_| refuse("the arena has broken down: this is a bug of it"))
        })
    });
    match pressed {
        Some(error) => Err(error),
        None => played?.map_err(refuse_part),
    }
}

/// Plays some blocks of a plan and gives the contents of a shard.
#[pyfunction]
pub fn play_shard<'py>(
    py: Python<'py>,
    plan: PathBuf,
    first: u32,
    end: u32,
    launcher: Vec<String>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let supervisor = supervisor(&launcher)?;
    let played = interruptible(py, |stop| {
        let file = PlanFile::read(&plan)?.run_by(launcher.first().cloned());
        let shard = Shard::play(&file, first..end, &supervisor, threads.max(1), stop, &mut |_| {})?;
        shard.map(|shard| shard.bytes()).transpose()
    })?;
    played.map(|bytes| PyBytes::new(py, &bytes)).ok_or_else(|| refuse("the shard was interrupted"))
}

/// A store into which shards are merged. It is open, and nobody else's, as long as this lives.
#[pyclass(frozen, module = "necrodome._native")]
pub struct Merger(Mutex<tournament::Merger>);

#[pymethods]
impl Merger {
    /// Opens the store, or makes it, for the tournament of a plan.
    #[new]
    fn new(py: Python<'_>, store: PathBuf, plan: PathBuf) -> PyResult<Self> {
        py.detach(|| {
            let file = PlanFile::read(&plan).map_err(refuse_part)?;
            // Errors of a store do not name it.
            let unusable = |error| match error {
                PartError::Store(why) => PyOSError::new_err(format!("{}: {why}", store.display())),
                PartError::OtherPlan { .. } => {
                    refuse(format!("{} is the store of another tournament", store.display()))
                }
                other => refuse_part(other),
            };
            let mut merger = tournament::Merger::open(&store).map_err(unusable)?;
            merger.begin(&file).map_err(unusable)?;
            Ok(Merger(Mutex::new(merger)))
        })
    }

    /// Merges the contents of shards, each with a name for errors, all or none of them; gives how far the store is, as JSON.
    fn add(&self, py: Python<'_>, shards: Vec<(Vec<u8>, String)>) -> PyResult<String> {
        py.detach(|| {
            let parse = |(bytes, name): &(Vec<u8>, String)| {
                let path = PathBuf::from(name);
                Ok((Shard::parse(bytes, &path)?, path))
            };
            let mut shards = shards.iter().map(parse).collect::<Result<Vec<_>, _>>().map_err(refuse_part)?;
            shards.sort_by_key(|(shard, _)| shard.blocks.start);
            text(&self.merger().add(shards).map_err(refuse_part)?)
        })
    }

    /// How far the store is, as JSON.
    fn state(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| text(&self.merger().state(0).map_err(refuse_part)?))
    }

    /// The report of what is there without a gap, as JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let merger = self.merger();
            let (plan, store) = merger.tournament().ok_or_else(|| refuse("there is no tournament yet"))?;
            let schedule = Schedule::of(plan).map_err(refuse)?;
            text(&report(plan, &schedule, store).map_err(refuse)?)
        })
    }
}

impl Merger {
    fn merger(&self) -> std::sync::MutexGuard<'_, tournament::Merger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Plays some blocks of a store again, drawn by a seed, and compares; gives what came of it, as JSON.
#[pyfunction]
#[pyo3(signature = (store, blocks, seed, launcher, plan=None))]
pub fn audit_store(
    py: Python<'_>,
    store: PathBuf,
    blocks: u32,
    seed: &str,
    launcher: Vec<String>,
    plan: Option<PathBuf>,
) -> PyResult<String> {
    let seed: Seed = seed.parse().map_err(refuse)?;
    let supervisor = supervisor(&launcher)?;
    let found = py.detach(|| Archive::read(&store).and_then(|archive| archive.stores()));
    let (store, planned) = found
        .map_err(refuse)?
        .pop()
        .ok_or_else(|| refuse(format!("{} has no tournament yet", store.display())))?;
    let audit = interruptible(py, |stop| {
        let file = PlanFile::of_store(&planned, &store, plan.as_deref())?;
        let file = file.run_by(launcher.first().cloned());
        tournament::audit(&store, &file, &supervisor, (blocks, seed), stop, &mut |_, _| {})
    })?;
    text(&audit)
}
