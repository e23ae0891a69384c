//! Tournaments in parts, for `necrodome.cluster`: plans, shards, one store. It exchanges paths, bytes and JSON with Python.

use crate::{arena::GLANCE, setup::refuse};
use necrodome_arena::{
    fault::hinted,
    process::{Gifts, Launcher, Limits, Wish},
    tournament::{self, Allowed, Archive, Origin, PartError, Plan, PlanFile, Schedule, Shard, Store, report},
};
use necrodome_rules::chance::Seed;
use pyo3::{
    exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError},
    prelude::*,
    types::PyBytes,
};
use serde::Serialize;
use std::{
    collections::BTreeMap,
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

/// Chooses the exception: the system or the store failed (`OSError`), two machines disagree (`RuntimeError`), or the input is wrong.
fn refuse_part(error: PartError) -> PyErr {
    let why = hinted(&error.to_string(), error.allowing().as_deref());
    match &error {
        PartError::File { why: system, .. } if system.kind() == io::ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(why)
        }
        PartError::File { .. } | PartError::Store(_) => PyOSError::new_err(why),
        PartError::Conflict { .. } => PyRuntimeError::new_err(why),
        _ => refuse(why),
    }
}

/// What the host allows programs: a level, whether the network, variables, and limits by their names.
type Allows = (Option<String>, bool, Vec<String>, BTreeMap<String, u64>);

fn allowed(allows: Option<Allows>) -> PyResult<Allowed> {
    let (level, network, environment, limits) = allows.unwrap_or_default();
    let wish: Wish = level.map_or(Ok(Wish::Auto), |level| level.parse()).map_err(refuse)?;
    let most: Limits = serde_json::to_value(limits)
        .and_then(serde_json::from_value)
        .map_err(|error| refuse(format!("limits: {error}")))?;
    Ok(Allowed::new(wish, Gifts { network, environment }, most))
}

fn text(document: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(document).map_err(refuse)
}

/// The command that starts this interpreter as a supervisor of bots; the first word is the interpreter.
fn supervisor(launcher: &[String]) -> PyResult<Launcher> {
    let words: Vec<OsString> = launcher.iter().map(OsString::from).collect();
    let (program, words) = words.split_first().ok_or_else(|| refuse("launcher: expected a program"))?;
    Ok(Launcher::new(program, words.iter().cloned()))
}

fn plan_file(plan: &Path, launcher: &[String]) -> PyResult<PlanFile> {
    Ok(PlanFile::read(plan).map_err(refuse_part)?.run_by(launcher.first().cloned()))
}

/// Writes a file that only its owner may read.
fn write_private(path: &Path, contents: &[u8]) -> PyResult<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    Ok(file.write_all(contents)?)
}

/// Writes the plan of a tournament whose bots were named from the present folder.
pub(crate) fn write_plan(path: &Path, plan: &Plan, store: &Store, launcher: &[String]) -> PyResult<()> {
    let file = PlanFile::new(plan, store, Path::new(".")).map_err(refuse_part)?;
    let mut file = file.run_by(launcher.first().cloned()).allowing(Allowed::all_of(plan));
    file.note_starts(&supervisor(launcher)?).map_err(refuse_part)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    write_private(path, file.text(folder).map_err(refuse_part)?.as_bytes())
}

/// Describes a plan, as JSON. Refuses one that asks for more than is allowed, if that is said.
#[pyfunction]
#[pyo3(signature = (plan, launcher, allows=None))]
pub fn plan_info(
    py: Python<'_>,
    plan: PathBuf,
    launcher: Vec<String>,
    allows: Option<Allows>,
) -> PyResult<String> {
    py.detach(|| {
        let file = plan_file(&plan, &launcher)?;
        let file = match allows {
            Some(allows) => file.allowing(allowed(Some(allows))?),
            None => {
                let all = Allowed::all_of(file.plan());
                file.allowing(all)
            }
        };
        file.check_allowed().map_err(refuse_part)?;
        text(&file.info().map_err(refuse_part)?)
    })
}

/// Checks that this machine can play everything in a plan; returns a description of the machine, as JSON.
#[pyfunction]
#[pyo3(signature = (plan, launcher, allows=None))]
pub fn plan_check(
    py: Python<'_>,
    plan: PathBuf,
    launcher: Vec<String>,
    allows: Option<Allows>,
) -> PyResult<String> {
    py.detach(|| {
        let file = plan_file(&plan, &launcher)?.allowing(allowed(allows)?);
        file.check_starts(&supervisor(&launcher)?).map_err(refuse_part)?;
        text(&Origin::here(file.sandbox(), 1))
    })
}

/// Puts a plan and its bots into one archive; gives it, the hash of the bots' files, and what was left out.
#[pyfunction]
pub fn pack_plan<'py>(
    py: Python<'py>,
    plan: PathBuf,
    launcher: Vec<String>,
    most_bytes: u64,
) -> PyResult<(Bound<'py, PyBytes>, String, Vec<String>)> {
    let packed = py.detach(|| {
        let file = plan_file(&plan, &launcher)?;
        tournament::pack(&file, most_bytes, &mut |_| {}).map_err(refuse_part)
    })?;
    Ok((PyBytes::new(py, &packed.bytes), packed.bots, packed.left_out))
}

/// Runs work on another thread, and watches for Ctrl-C on this one.
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

/// Plays some blocks of a plan and returns the contents of a shard.
#[pyfunction]
#[pyo3(signature = (plan, first, end, launcher, threads, node=None, allows=None))]
#[allow(clippy::too_many_arguments)]
pub fn play_shard<'py>(
    py: Python<'py>,
    plan: PathBuf,
    first: u32,
    end: u32,
    launcher: Vec<String>,
    threads: usize,
    node: Option<String>,
    allows: Option<Allows>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (supervisor, allowed) = (supervisor(&launcher)?, allowed(allows)?);
    let played = interruptible(py, |stop| {
        let file = PlanFile::read(&plan)?.run_by(launcher.first().cloned()).allowing(allowed);
        let shard = Shard::play(&file, first..end, &supervisor, threads.max(1), stop, &mut |_| {})?;
        let noted = shard.map(|mut shard| {
            shard.origin.node = node;
            shard.bytes()
        });
        noted.transpose()
    })?;
    played.map(|bytes| PyBytes::new(py, &bytes)).ok_or_else(|| refuse("the shard was interrupted"))
}

/// A store into which shards are merged. It stays open and locked as long as this lives.
#[pyclass(frozen, module = "necrodome._native")]
pub struct Merger(Mutex<tournament::Merger>);

#[pymethods]
impl Merger {
    /// Opens the store for the tournament of a plan, or makes it.
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

    /// Merges the contents of shards, each with a name for errors: all of them or none. Refuses those of a pack whose files have another
    /// hash than `bots`. Returns the state of the store, as JSON.
    #[pyo3(signature = (shards, bots=None))]
    fn add(&self, py: Python<'_>, shards: Vec<(Vec<u8>, String)>, bots: Option<&str>) -> PyResult<String> {
        py.detach(|| {
            let parse = |(bytes, name): &(Vec<u8>, String)| {
                let path = PathBuf::from(name);
                Ok((Shard::parse(bytes, &path)?, path))
            };
            let mut shards = shards.iter().map(parse).collect::<Result<Vec<_>, _>>().map_err(refuse_part)?;
            shards.sort_by_key(|(shard, _)| shard.blocks.start);
            text(&self.merger().add(shards, bots).map_err(refuse_part)?)
        })
    }

    /// The hash of the files beside the bots of what was merged, if it is known.
    fn bots(&self) -> Option<String> {
        self.merger().bots().map(str::to_owned)
    }

    /// Returns the state of the store, as JSON.
    fn state(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| text(&self.merger().state(0).map_err(refuse_part)?))
    }

    /// Reports on the blocks up to the first gap, as JSON.
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

/// Plays some blocks of a store again, drawn by a seed, and compares; returns the result as JSON.
#[pyfunction]
#[pyo3(signature = (store, blocks, seed, launcher, plan=None, allows=None))]
pub fn audit_store(
    py: Python<'_>,
    store: PathBuf,
    blocks: u32,
    seed: &str,
    launcher: Vec<String>,
    plan: Option<PathBuf>,
    allows: Option<Allows>,
) -> PyResult<String> {
    let seed: Seed = seed.parse().map_err(refuse)?;
    let allowed = allowed(allows)?;
    let supervisor = supervisor(&launcher)?;
    let found = py.detach(|| Archive::read(&store).and_then(|archive| archive.stores()));
    let (store, planned) = found
        .map_err(refuse)?
        .pop()
        .ok_or_else(|| refuse(format!("{} has no tournament yet", store.display())))?;
    let audit = interruptible(py, |stop| {
        let file = PlanFile::of_store(&planned, &store, plan.as_deref())?;
        let file = file.run_by(launcher.first().cloned()).allowing(allowed);
        tournament::audit(&store, &file, &supervisor, (blocks, seed), stop, &mut |_, _| {})
    })?;
    text(&audit)
}
