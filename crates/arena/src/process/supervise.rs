//! The processes that stay with a bot until nothing of it is left.
//!
//! Without namespaces, one *supervisor* adopts what the bot leaves behind and kills it. With namespaces there are two: the *first
//! process* of the bot's namespace does this work, and everything that the bot started dies with it; outside, a *guard* passes on the
//! arena's requests. All of them end when the arena dies, however it dies.

use super::{
    ending::{Ending, How},
    group,
    launch::{ENTER, FIRST, Order},
    sandbox::{self, Level},
    tree::{all_below, descendants, memory, open_files, shared_memory, sockets, threads},
};
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        prctl,
        signal::{SigSet, Signal, kill},
        signalfd::{SfdFlags, SignalFd},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::{Pid, close, dup2_stderr, dup2_stdin, dup2_stdout, getpid, getppid, pipe, setsid},
};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::{
        fd::{AsFd, AsRawFd},
        unix::process::CommandExt,
    },
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

/// How long a bot may take to end after SIGTERM.
const TERM_GRACE: Duration = Duration::from_millis(500);
/// The most files and folders in a bot's temporary folder; below, how deep they may be.
const MOST_FILES: usize = 10_000;
const DEEPEST: usize = 32;

/// The bytes that can wait in a socket: memory of the kernel, which no limit of a process counts.
const SOCKET_BYTES: u64 = 256 << 10;

/// Returns how often to check what a bot holds. Without a namespace nothing else limits how many processes and files it has.
fn look_every(level: Level) -> Duration {
    Duration::from_millis(if level == Level::Full { 100 } else { 25 })
}

/// The reason why a bot did not start: what failed, and whether that was its own program.
struct Failure {
    error: io::Error,
    of_program: bool,
}

impl<E: Into<io::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure { error: error.into(), of_program: false }
    }
}

/// Stays with a bot; the arena starts it. Returns the exit code: 0 if it could tell the arena how the bot ended.
pub(super) fn supervise(order: &Order) -> i32 {
    // Before anything else: who is watched by nobody must not start anything.
    if prctl::set_pdeathsig(Signal::SIGUSR1).is_err() || order.arena != getppid().as_raw() {
        return 1;
    }
    if let Some(Err(error)) = order.group.as_deref().map(group::enter) {
        return conclude(|| Err(error.into()));
    }
    if order.level < Level::Full {
        return conclude(|| stay(order));
    }
    match open_namespaces(order) {
        Ok((first, inbox)) => guard(first, &inbox),
        Err(failure) => conclude(|| Err(failure)),
    }
}

/// Does the work, and tells the arena how the bot ended. By then no other process is left that could write to standard error.
fn conclude(work: impl FnOnce() -> Result<Ending, Failure>) -> i32 {
    let Ok(log) = io::stderr().as_fd().try_clone_to_owned() else { return 1 };
    let mut log = File::from(log);
    let ending = work().unwrap_or_else(|Failure { error, of_program }| {
        let _ = writeln!(log, "cannot start the bot: {error}");
        let how = if of_program { How::NotStarted } else { How::NotConfined };
        how(errno_of(&error)).into()
    });
    kill_all();
    // The bot may have made the pipe non-blocking, and the arena may be slow to read.
    let mut bytes = &ending.to_bytes()[..];
    while !bytes.is_empty() {
        match log.write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let _ = poll(&mut [PollFd::new(log.as_fd(), PollFlags::POLLOUT)], PollTimeout::NONE);
            }
            Err(_) => return 1,
        }
    }
    0
}

fn errno_of(error: &io::Error) -> u8 {
    error.raw_os_error().unwrap_or(Errno::EIO as i32) as u8
}

/// Supervises a bot without namespaces.
fn stay(order: &Order) -> Result<Ending, Failure> {
    prctl::set_child_subreaper(true)?;
    setsid()?;
    let inbox = block_signals()?;
    // Ends when the bot begins; if it cannot, why is in it.
    let (news, bots_end) = pipe()?;
    let order = Order { news: Some(bots_end.as_raw_fd()), ..order.clone() };
    let bot = Pid::from_raw(order.stage(ENTER)?.spawn()?.id() as i32);
    prctl::set_dumpable(false)?;
    drop(bots_end);
    let mut failure = Vec::new();
    File::from(news).read_to_end(&mut failure)?;
    if let [of_program, words @ ..] = failure.as_slice() {
        let (errno, words) = words.split_first().unwrap_or((&0, &[]));
        let error = match words {
            [] => io::Error::from_raw_os_error((*errno).into()),
            words => io::Error::other(String::from_utf8_lossy(words).into_owned()),
        };
        return Err(Failure { error, of_program: *of_program != 0 });
    }
    let_go_of_pipes(&nothing()?)?;
    let ending = watch(bot, &inbox, &order)?;
    kill_all();
    // The arena does so, too, unless it was killed.
    if let Some(folder) = &order.temporary {
        remove_all(folder);
    }
    Ok(ending)
}

/// Removes a folder, however deep it is: folders can be nested deeper than files can be open, and `rm` can remove those.
pub(super) fn remove_all(folder: &Path) {
    if fs::remove_dir_all(folder).is_err() && folder.exists() {
        let _ = Command::new("rm").arg("-rf").arg(folder).status();
    }
}

/// The last stage before a bot without namespaces: gives up what bots do not get, and becomes the bot.
pub(super) fn enter(order: &Order) -> i32 {
    let Some(number) = order.news else { return 1 };
    // Opened anew, so that it closes itself when the bot begins.
    let Ok(mut news) = OpenOptions::new().write(true).open(format!("/proc/self/fd/{number}")) else {
        return 1;
    };
    let prepared = || -> io::Result<()> {
        close(number)?;
        // The supervisor blocks signals, which programs inherit: the bot is to hear SIGTERM.
        SigSet::empty().thread_set_mask()?;
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        order.give_up(&order.readable())
    };
    let (error, of_program) = match prepared() {
        Ok(()) => (order.program().exec(), true),
        Err(error) => (error, false),
    };
    let words = if error.raw_os_error().is_some() { String::new() } else { error.to_string() };
    let _ = news.write_all(&[&[u8::from(of_program), errno_of(&error)], words.as_bytes()].concat());
    1
}

/// Leaves the namespaces of the arena, and starts the first process of new ones.
fn open_namespaces(order: &Order) -> Result<(Pid, SignalFd), Failure> {
    setsid()?;
    let inbox = block_signals()?;
    sandbox::leave(order.network)?;
    // New credentials may have cleared it.
    prctl::set_pdeathsig(Signal::SIGUSR1)?;
    // Before there is somebody who takes the files of the machine away, from this process, too.
    let nothing = nothing()?;
    let first = Pid::from_raw(order.stage(FIRST)?.spawn()?.id() as i32);
    prctl::set_dumpable(false)?;
    let_go_of_pipes(&nothing)?;
    if order.arena != getppid().as_raw() {
        let _ = kill(first, Signal::SIGKILL);
    }
    Ok((first, inbox))
}

/// Passes the arena's requests on to the first process. Returns the exit code of that process.
fn guard(first: Pid, inbox: &SignalFd) -> i32 {
    loop {
        let _ = poll(&mut [PollFd::new(inbox.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE);
        while let Ok(Some(signal)) = inbox.read_signal() {
            let _ = match Signal::try_from(signal.ssi_signo as i32) {
                Ok(Signal::SIGTERM) => kill(first, Signal::SIGTERM),
                // With it die all processes of its namespace.
                Ok(Signal::SIGUSR1) => kill(first, Signal::SIGKILL),
                _ => Ok(()),
            };
        }
        match waitpid(first, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => {}
            Ok(WaitStatus::Exited(_, code)) => return code,
            _ => return 1,
        }
    }
}

/// The first process of a bot's namespaces: builds the walls around itself, starts the bot inside, and stays with it.
pub(super) fn first(order: &Order) -> i32 {
    conclude(|| {
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        let readable = order.readable();
        sandbox::enter_root(&readable, order.temporary_bytes, &order.folder)?;
        let order = Order { temporary: Some("/tmp".into()), ..order.clone() };
        // Before it is given up: a bot may not, so that its files can be counted.
        prctl::set_dumpable(false)?;
        order.give_up(&readable)?;
        // Programs inherit which signals are blocked, and the bot is to hear them. The guard, whose they were, blocks them here, too.
        SigSet::empty().thread_set_mask()?;
        let bot = order.program().spawn().map_err(|error| Failure { error, of_program: true })?;
        let inbox = block_signals()?;
        let_go_of_pipes(&nothing()?)?;
        Ok(watch(Pid::from_raw(bot.id() as i32), &inbox, &order)?)
    })
}

/// Blocks the signals that a supervisor reads, so that they do not end it.
fn block_signals() -> io::Result<SignalFd> {
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGUSR1] {
        signals.add(signal);
    }
    signals.thread_block()?;
    Ok(SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?)
}

/// Closes this process's ends of the pipes: only the bot holds them, so that the arena notices when the bot closes them.
fn let_go_of_pipes(nothing: &File) -> io::Result<()> {
    dup2_stdin(nothing)?;
    dup2_stdout(nothing)?;
    dup2_stderr(nothing)?;
    Ok(())
}

fn nothing() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/null")
}

/// Waits for the end of the bot, or for a reason to end it. SIGTERM ends it politely, SIGUSR1 at once.
fn watch(bot: Pid, inbox: &SignalFd, order: &Order) -> io::Result<Ending> {
    let mut asked_at: Option<Instant> = None;
    let (mut looked_at, pause) = (Instant::now(), look_every(order.level));
    loop {
        let wait = asked_at.map_or(pause, |at| TERM_GRACE.saturating_sub(at.elapsed()).min(pause));
        let timeout = PollTimeout::try_from(wait.as_millis() as i32 + 1).unwrap_or(PollTimeout::ZERO);
        match poll(&mut [PollFd::new(inbox.as_fd(), PollFlags::POLLIN)], timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        while let Ok(Some(signal)) = inbox.read_signal() {
            // Who is outside of the namespace has number 0 here. A bot has nothing to order.
            let ordered = [0, order.arena as u32].contains(&signal.ssi_pid);
            match Signal::try_from(signal.ssi_signo as i32) {
                Ok(Signal::SIGTERM) if ordered && asked_at.is_none() => {
                    asked_at = Some(Instant::now());
                    let _ = kill(bot, Signal::SIGTERM);
                }
                Ok(Signal::SIGUSR1) if ordered => return Ok(How::Killed.into()),
                _ => {}
            }
        }
        if let Some(how) = reap(bot) {
            return Ok(Ending { how, left: kill_all() > 0 });
        }
        if asked_at.is_some_and(|at| at.elapsed() >= TERM_GRACE) {
            return Ok(How::IgnoredSigterm.into());
        }
        if looked_at.elapsed() >= pause {
            looked_at = Instant::now();
            if let Some(excess) = excess(order) {
                return Ok(excess.into());
            }
        }
    }
}

/// Returns the limit that all processes of the bot exceed together, if any: the system limits each of them.
fn excess(order: &Order) -> Option<How> {
    let all = all_below(getpid());
    // In a namespace the system bounds the number, but not for root. The bot itself is one of them.
    let count: usize = all.iter().map(|&pid| threads(pid)).sum();
    if all.len() as u64 > order.processes + 1 || count as u64 > 2 * order.processes {
        return Some(How::Processes);
    }
    let most = order.resources.memory;
    let held = |memory: fn(Pid) -> u64| all.iter().map(|&pid| memory(pid)).sum::<u64>();
    // To tell sockets from other files, and what processes share from what each of them has, takes longer.
    let files: u64 = all.iter().map(|&pid| open_files(pid, order.resources.files)).sum();
    let in_sockets = match held(memory).saturating_add(files.saturating_mul(SOCKET_BYTES)) > most {
        true => sockets(&all, order.resources.files).saturating_mul(SOCKET_BYTES),
        false => 0,
    };
    let is_alone = all.len() <= 1 && in_sockets == 0;
    if !is_alone && in_sockets + held(memory) > most && in_sockets + held(shared_memory) > most {
        return Some(How::Memory);
    }
    // A folder in memory has its own bound.
    let folder = order.temporary.as_deref().filter(|_| order.level == Level::Strict)?;
    let mut budget = (order.temporary_bytes, MOST_FILES);
    (!fits(folder, &mut budget, DEEPEST)).then_some(How::Disk)
}

/// Whether a folder holds at most `budget` bytes and files, none deeper than `depth`.
fn fits(folder: &Path, budget: &mut (u64, usize), depth: usize) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().all(|entry| {
        let Ok(data) = entry.metadata() else { return true };
        let (bytes, files) = (budget.0.checked_sub(data.len()), budget.1.checked_sub(1));
        let (Some(bytes), Some(files)) = (bytes, files) else { return false };
        *budget = (bytes, files);
        !data.is_dir() || (depth > 0 && fits(&entry.path(), budget, depth - 1))
    })
}

/// Collects the exit codes of ended children; returns the bot's if it is among them.
fn reap(bot: Pid) -> Option<How> {
    let mut how = None;
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if pid == bot => how = Some(How::Exited(code as u8)),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == bot => {
                how = Some(How::Signalled(signal as u8))
            }
            Ok(WaitStatus::StillAlive) | Err(_) => return how,
            Ok(_) => {}
        }
    }
}

/// Kills and reaps all processes below this one, including those that they start in the meantime. Returns how many there were.
fn kill_all() -> usize {
    let mut buried = 0;
    loop {
        let living = descendants(getpid());
        if getpid().as_raw() == 1 {
            // Everybody in the namespace but the first process.
            let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
        }
        for &pid in &living {
            let _ = kill(pid, Signal::SIGKILL);
        }
        // Orphans come to this process, so that none can get away, and when there is no child there is nobody.
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Err(Errno::ECHILD) => return buried,
                Ok(WaitStatus::StillAlive) | Err(_) => break,
                Ok(_) => buried += 1,
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
