//! The two stages between the arena and a bot's program, run by the arena's own binary.
//!
//! *Supervise* stays with the bot: it adopts every process that the bot leaves behind, and kills them all when the bot
//! ends, when it is told to, and when the arena dies, however it dies. *Enter* sets the limits and becomes the bot.

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        prctl,
        resource::{Resource, setrlimit},
        signal::{SigSet, Signal, kill},
        signalfd::{SfdFlags, SignalFd},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::{Pid, dup2_stderr, dup2_stdin, dup2_stdout, getpid, getppid, setsid},
};
use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io,
    os::{fd::AsFd, unix::process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

/// The supervisor's exit code when the bot did not end on SIGTERM.
pub(super) const IGNORED_SIGTERM: i32 = 240;
/// The supervisor's exit code when the bot left processes behind.
pub(super) const LEFT_CHILDREN: i32 = 241;
/// The supervisor's exit code when the program could not be started.
pub(super) const NO_START: i32 = 242;
/// A bot that was killed by signal N gives this + N.
pub(super) const SIGNALLED: i32 = 128;

/// How long a bot may take to end after SIGTERM.
const TERM_GRACE: Duration = Duration::from_millis(500);

/// How the arena's own program is started again, to supervise a bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    program: PathBuf,
    words: Vec<OsString>,
}

impl Launcher {
    /// A program that needs some words before those of a stage, as an interpreter does.
    pub fn new(program: impl Into<PathBuf>, words: impl IntoIterator<Item = OsString>) -> Self {
        Launcher { program: program.into(), words: words.into_iter().collect() }
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.words);
        command
    }
}

impl From<PathBuf> for Launcher {
    fn from(program: PathBuf) -> Self {
        Launcher::new(program, [])
    }
}

impl From<&str> for Launcher {
    fn from(program: &str) -> Self {
        Launcher::new(program, [])
    }
}

/// Resources of a bot's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resources {
    /// Bytes of private memory of a process.
    pub memory: u64,
    /// Processes and threads of the user, those that run already included. Does not bind root.
    pub processes: u64,
    /// Open files of a process.
    pub files: u64,
    /// Bytes in a file that a process writes.
    pub file_size: u64,
}

impl Resources {
    /// As words on the command line of `enter`.
    fn to_words(self) -> [String; 4] {
        [self.memory, self.processes, self.files, self.file_size].map(|limit| limit.to_string())
    }

    fn from_words(words: &[OsString]) -> Option<Self> {
        let number = |word: &OsString| word.to_str()?.parse().ok();
        let [memory, processes, files, file_size] = words else { return None };
        Some(Resources {
            memory: number(memory)?,
            processes: number(processes)?,
            files: number(files)?,
            file_size: number(file_size)?,
        })
    }
}

/// The words that start a bot under supervision: `PROGRAM supervise PARENT LIMITS... -- COMMAND...`.
pub(super) fn words(resources: Resources, command: &[String]) -> Vec<String> {
    let mut words = vec![SUPERVISE.to_owned(), getpid().to_string()];
    words.extend(resources.to_words());
    words.extend(command.iter().cloned());
    words
}

/// The hidden command of the supervisor.
pub const SUPERVISE: &str = "__supervise";
/// The hidden command of the last stage before the bot.
pub const ENTER: &str = "__enter";

/// Runs a stage, if the command line asks for one. For the very start of `main`: a stage does not return.
pub fn run_stage() {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    run_stage_of(&std::env::current_exe().unwrap_or_default().into(), &words);
}

/// Runs a stage, if these words ask for one, in a program that is started by `launcher`.
pub fn run_stage_of(launcher: &Launcher, words: &[OsString]) {
    let Some((stage, words)) = words.split_first() else { return };
    if stage == SUPERVISE {
        std::process::exit(supervise(launcher, words).unwrap_or(NO_START));
    }
    if stage == ENTER {
        let error = enter(words);
        eprintln!("cannot start the bot: {error}");
        std::process::exit(NO_START);
    }
}

/// Sets the limits and becomes the bot. Gives the error if it cannot.
fn enter(words: &[OsString]) -> io::Error {
    let limits = words.get(..4).and_then(Resources::from_words);
    let (Some(limits), Some((program, arguments))) = (limits, words.get(4..).and_then(|w| w.split_first()))
    else {
        return io::Error::other("wrong words");
    };
    let set = |resource, limit| setrlimit(resource, limit, limit);
    // The supervisor blocks signals, which programs inherit: the bot is to hear SIGTERM.
    let prepared = SigSet::empty()
        .thread_set_mask()
        .and_then(|()| prctl::set_pdeathsig(Signal::SIGKILL))
        .and_then(|()| prctl::set_no_new_privs())
        // Private writable memory; the address space would also count what runtimes only reserve.
        .and_then(|()| set(Resource::RLIMIT_DATA, limits.memory))
        .and_then(|()| set(Resource::RLIMIT_NPROC, limits.processes))
        .and_then(|()| set(Resource::RLIMIT_NOFILE, limits.files))
        .and_then(|()| set(Resource::RLIMIT_FSIZE, limits.file_size))
        .and_then(|()| set(Resource::RLIMIT_CORE, 0));
    match prepared {
        Ok(()) => Command::new(program).args(arguments).exec(),
        Err(error) => error.into(),
    }
}

/// Starts the bot and stays until no process of it is left. Gives the exit code.
fn supervise(launcher: &Launcher, words: &[OsString]) -> io::Result<i32> {
    let arena = words.first().and_then(|word| word.to_str()?.parse().ok()).map(Pid::from_raw);
    prctl::set_child_subreaper(true)?;
    prctl::set_pdeathsig(Signal::SIGUSR1)?;
    if arena != Some(getppid()) {
        // The arena has died before it could be watched.
        return Ok(NO_START);
    }
    setsid()?;
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGUSR1] {
        signals.add(signal);
    }
    signals.thread_block()?;
    let inbox = SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;

    let bot = launcher.command().arg(ENTER).args(&words[1..]).spawn()?;
    let bot = Pid::from_raw(bot.id() as i32);
    let_go_of_pipes()?;
    watch(bot, &inbox)
}

/// The pipes are the bot's: the arena must notice when the bot closes them.
fn let_go_of_pipes() -> io::Result<()> {
    let nothing: File = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    dup2_stderr(&nothing)?;
    Ok(())
}

/// Waits for the end of the bot, or for the order to end it. SIGTERM: end it politely; SIGUSR1: at once.
fn watch(bot: Pid, inbox: &SignalFd) -> io::Result<i32> {
    let mut asked_at: Option<Instant> = None;
    loop {
        let timeout = match asked_at.map(|at| TERM_GRACE.saturating_sub(at.elapsed())) {
            None => PollTimeout::NONE,
            Some(left) => PollTimeout::try_from(left.as_millis() as i32 + 1).unwrap_or(PollTimeout::ZERO),
        };
        match poll(&mut [PollFd::new(inbox.as_fd(), PollFlags::POLLIN)], timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        while let Ok(Some(signal)) = inbox.read_signal() {
            match Signal::try_from(signal.ssi_signo as i32) {
                Ok(Signal::SIGTERM) if asked_at.is_none() => {
                    asked_at = Some(Instant::now());
                    let _ = kill(bot, Signal::SIGTERM);
                }
                Ok(Signal::SIGUSR1) => {
                    kill_descendants();
                    return Ok(SIGNALLED + Signal::SIGKILL as i32);
                }
                _ => {}
            }
        }
        if let Some(code) = reap(bot) {
            let left = kill_descendants();
            return Ok(if left > 0 { LEFT_CHILDREN } else { code });
        }
        if asked_at.is_some_and(|at| at.elapsed() >= TERM_GRACE) {
            kill_descendants();
            return Ok(IGNORED_SIGTERM);
        }
    }
}

/// Collects the exit codes of ended children; returns the bot's if it is among them.
fn reap(bot: Pid) -> Option<i32> {
    let mut code = None;
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, exit)) if pid == bot => code = Some(exit),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == bot => code = Some(SIGNALLED + signal as i32),
            Ok(WaitStatus::StillAlive) | Err(_) => return code,
            Ok(_) => {}
        }
    }
}

/// Kills all processes below this one, those that they start meanwhile too. Gives how many there were at first.
fn kill_descendants() -> usize {
    let first = descendants(getpid());
    let mut living = first.clone();
    while !living.is_empty() {
        for &pid in &living {
            let _ = kill(pid, Signal::SIGKILL);
        }
        // Orphans come to this process, so that none can get away; those killed have to be buried.
        while let Ok(status) = waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            if status == WaitStatus::StillAlive {
                break;
            }
        }
        std::thread::sleep(Duration::from_millis(1));
        living = descendants(getpid());
    }
    first.len()
}

/// All living processes directly below `parent`.
pub(super) fn children(parent: Pid) -> Vec<Pid> {
    let pairs = parents().into_iter();
    pairs.filter(|&(of, _)| of == parent.as_raw()).map(|(_, pid)| Pid::from_raw(pid)).collect()
}

/// Every living process: its parent, then itself; in the order of parents.
fn parents() -> Vec<(i32, i32)> {
    let mut parents: Vec<(i32, i32)> = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some((pid, parent)) = pid.and_then(|pid: i32| Some((pid, parent_of(&entry.path())?))) {
            parents.push((parent, pid));
        }
    }
    parents.sort_unstable();
    parents
}

/// All living processes below `root`.
pub(super) fn descendants(root: Pid) -> Vec<Pid> {
    let parents = parents();
    let mut found = vec![root.as_raw()];
    let mut next = 0;
    while next < found.len() {
        let parent = found[next];
        let from = parents.partition_point(|&(other, _)| other < parent);
        let children = parents[from..].iter().take_while(|(other, _)| *other == parent);
        found.extend(children.map(|&(_, pid)| pid));
        next += 1;
    }
    found.into_iter().skip(1).map(Pid::from_raw).collect()
}

/// The parent of a living process; none for one that is dead or cannot be read.
fn parent_of(folder: &Path) -> Option<i32> {
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    // The name may hold spaces and brackets, so what follows is counted from its end.
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (state != "Z" && state != "X").then_some(parent)
}
