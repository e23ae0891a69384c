//! Bots as processes: the arena starts them under supervision, exchanges lines with them, charges CPU time, and leaves none behind.

mod cpu;
mod ending;
mod group;
mod launch;
mod limits;
mod orphans;
mod sandbox;
mod supervise;
mod transport;
mod tree;

pub use group::delegated as delegated_group;
pub use launch::{Gifts, Launcher, run_stage, run_stage_named};
pub use limits::Limits;
pub use orphans::own_processes;
pub(crate) use sandbox::beyond_system;
pub use sandbox::{Level, LevelError, Reach, Wish};
pub use transport::ProcessTransport;

use crate::{
    diagnosis::{Asked, Language, Silent, of_line},
    fault::{Fault, FaultKind},
    protocol::{IN_ACT, excerpt, is_chatter},
    stderr::Stderr,
};
use cpu::{Queue, TreeClock};
use ending::{Ending, How};
use group::Group;
use nix::{
    errno::Errno,
    fcntl::{FcntlArg, OFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    io::{self, Read, Write},
    os::fd::AsFd,
    path::PathBuf,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// How long the arena waits for an answer before it looks at the bot's processes; below, the longest wait for a bot with one process.
const SHORTEST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
/// The most bytes that wait for the next question.
const MOST_MENTIONED: usize = 32 << 10;
/// How long a bot may take to end after the arena closed its input.
const END_GRACE: Duration = Duration::from_secs(1);
/// How long a process may take to end after it closed its output.
const EXIT_GRACE: Duration = Duration::from_secs(2);
/// How long a supervisor may take to kill everything.
const KILL_GRACE: Duration = Duration::from_secs(5);

/// A program with its arguments and the folder it runs in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// The words of the command.
    pub words: Vec<String>,
    /// The working directory.
    pub folder: PathBuf,
    /// The files that it was compiled from. The program does not need them, and other bots must not see them.
    pub sources: Vec<PathBuf>,
    /// The program that replaces the first word on this machine, such as the Python that the arena itself runs in.
    pub interpreter: Option<String>,
}

impl Program {
    /// Returns the words of the command to run on this machine.
    pub(crate) fn command(&self) -> Vec<String> {
        let mut words = self.words.clone();
        if let (Some(first), Some(interpreter)) = (words.first_mut(), &self.interpreter) {
            first.clone_from(interpreter);
        }
        words
    }

    /// Returns the files that the command names, wherever they are. A program found by its name alone is not among them.
    pub fn files(&self) -> Vec<PathBuf> {
        let named = self.words.iter().enumerate().filter(|(place, word)| *place > 0 || word.contains('/'));
        let paths = named.filter_map(|(_, word)| self.folder.join(word).canonicalize().ok());
        // Pipes and devices have no content.
        paths.filter(|path| path.is_file()).collect()
    }
}

/// The time that a step may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance {
    /// CPU time of the whole tree, counted from the last message sent.
    cpu: Duration,
    /// Wall-clock time, counted likewise, without the time in which the bot wanted a processor and had none.
    wall: Duration,
    /// Wall-clock time for a process that sleeps; one that computes gets `wall_factor` times its CPU time more.
    idle: Duration,
    wall_factor: u32,
}

impl Allowance {
    /// Returns the same allowance, but at most `idle` while the bot does nothing; never less than a moment.
    pub(crate) fn within(self, idle: Duration) -> Self {
        let idle = self.idle.min(idle.max(Duration::from_millis(10)));
        Allowance { idle, ..self }
    }

    pub(crate) fn wall(&self) -> Duration {
        self.wall
    }

    /// Returns the wall-clock time for a process that has used this much CPU time.
    fn patience(&self, used: Duration) -> Duration {
        self.wall.min(self.idle.saturating_add(used.saturating_mul(self.wall_factor)))
    }
}

/// The time that an answer took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    /// CPU time of the whole tree.
    pub cpu: Duration,
    /// Time in which the arena waited while the bot neither computed nor wanted to.
    pub idle: Duration,
}

/// A running bot.
#[derive(Debug)]
pub(crate) struct Process {
    /// The supervisor; the bot is its child.
    child: Child,
    program: Program,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    /// Bytes that the bot has not read yet.
    unsent: Vec<u8>,
    /// Bytes from the bot that the arena has not asked for yet.
    received: Vec<u8>,
    /// Whether the bot has ever written a whole line.
    has_spoken: bool,
    max_line: usize,
    limits: Limits,
    /// The folder for its temporary files, if that is a folder of the machine.
    temporary: Option<TempDir>,
    /// Its control group, if it has one.
    group: Option<Group>,
    /// The number of processes between the arena and the bot.
    depth: usize,
    log: Stderr,
    /// The last bytes of standard error: at the end they say how the bot ended.
    last: Vec<u8>,
    ended: Option<Ending>,
    clock: Option<TreeClock>,
    /// CPU time that has been charged already.
    charged: Duration,
    /// The CPU time and the moment when the last message was sent.
    sent: (Duration, Instant),
    /// The moment from which the arena has waited for the answer.
    listening: Option<Instant>,
}

impl Process {
    /// Starts a bot under the supervision of `launcher`, the arena's own program. Lines from the bot have at most `max_line` bytes. Errors
    /// here are the arena's.
    pub(crate) fn spawn(
        launcher: &Launcher,
        program: &Program,
        limits: &Limits,
        max_line: usize,
    ) -> io::Result<Self> {
        // With a file system of its own it has a folder of its own in it.
        let wants_folder = launcher.level() == Level::Strict;
        let temporary = wants_folder.then(|| tempfile::Builder::new().prefix("necrodome-bot-").tempdir());
        let temporary = temporary.transpose()?;
        let group = Group::new(limits)?;
        let places = (temporary.as_ref().map(TempDir::path), group.as_ref().map(Group::folder));
        let mut command = launcher.supervise(program, limits, places)?;
        command
            .current_dir(&program.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = orphans::spawn(&mut command)?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("no pipes"));
        };
        for end in [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()] {
            fcntl(end, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        }
        // A larger pipe takes a whole view of Last Bullet at once; a smaller one only costs time.
        let _ = fcntl(stdin.as_fd(), FcntlArg::F_SETPIPE_SZ(1 << 20));
        Ok(Process {
            child,
            program: program.clone(),
            stdin: Some(stdin),
            stdout,
            stderr: Some(stderr),
            unsent: Vec::new(),
            received: Vec::new(),
            has_spoken: false,
            max_line,
            limits: *limits,
            temporary,
            group,
            depth: if launcher.level() == Level::Full { 2 } else { 1 },
            log: Stderr::default(),
            last: Vec::new(),
            ended: None,
            clock: None,
            charged: Duration::ZERO,
            sent: (Duration::ZERO, Instant::now()),
            listening: None,
        })
    }

    /// Returns what the bot has written to standard error.
    pub(crate) fn log(&self) -> &[u8] {
        self.log.text()
    }

    /// Says that what the bot writes from now on belongs to the match with this seed.
    pub(crate) fn begin_match(&mut self, seed: u32) {
        self.pump();
        self.log.begin_match(seed, self.last.len());
    }

    /// Returns the language that the bot is written in.
    pub(crate) fn language(&self) -> Language {
        Language::of(&self.program.words)
    }

    /// Finds the bot's clock, once its process is known.
    fn find_clock(&mut self) {
        let supervisor = Pid::from_raw(self.child.id() as i32);
        let below = |above: Pid| tree::children(above).first().copied();
        let root = if self.depth == 2 { below(supervisor) } else { Some(supervisor) };
        self.clock = root.and_then(|root| Some(TreeClock::new(root, below(root)?)));
    }

    /// Sends a line and starts the clock of the answer. Earlier output is a flood; but if `forgiving`, one line that was not meant as an
    /// answer may stay to be read later: it might as well have come a moment later. Returns the CPU time that the bot used since its last
    /// answer, without a question.
    pub(crate) fn send(&mut self, line: &[u8], forgiving: bool) -> Result<Duration, Fault> {
        self.take_output();
        if let Some(fault) = early_output(&self.received, forgiving, self.language()) {
            return Err(fault);
        }
        let used = self.clock.as_mut().map_or(Duration::ZERO, |clock| clock.now(Duration::ZERO));
        let unasked = used.saturating_sub(self.charged);
        self.charged = used;
        self.tell(line);
        self.sent = (used, Instant::now());
        self.listening = None;
        Ok(unasked)
    }

    /// Sends a line that needs no answer.
    pub(crate) fn tell(&mut self, line: &[u8]) {
        self.unsent.extend_from_slice(line);
        self.unsent.push(b'\n');
        self.push_unsent();
    }

    /// Queues a line to go out with the next one: each line that is sent alone wakes the bot up.
    pub(crate) fn mention(&mut self, line: &[u8]) {
        self.unsent.extend_from_slice(line);
        self.unsent.push(b'\n');
        if self.unsent.len() > MOST_MENTIONED {
            self.push_unsent();
        }
    }

    /// Waits for a line, and returns it with the time that it took.
    pub(crate) fn receive(&mut self, allowed: Allowance) -> Result<(Vec<u8>, Spent), Fault> {
        let mut pause = SHORTEST_PAUSE;
        let mut patience = allowed.patience(Duration::ZERO);
        // Wall-clock time counts from here: before, the arena may have been waiting for somebody else.
        let listening = *self.listening.get_or_insert_with(Instant::now);
        let mut queue: Option<Queue> = None;
        loop {
            // Waiting for a processor is not the bot's fault.
            let waited = |queue: &Option<Queue>| {
                let elapsed = listening.elapsed();
                queue.as_ref().map_or(elapsed, |queue| elapsed.saturating_sub(queue.excused(elapsed)))
            };
            if let Some(end) = self.received.iter().position(|&byte| byte == b'\n') {
                if end > self.max_line {
                    return Err(self.oversized());
                }
                let line = self.received.drain(..=end).take(end).collect();
                self.has_spoken = true;
                let cpu = self.charge(allowed)?;
                return Ok((line, Spent { cpu, idle: waited(&queue).saturating_sub(cpu) }));
            }
            if self.received.len() > self.max_line {
                return Err(self.oversized());
            }
            let elapsed = waited(&queue);
            if elapsed >= patience {
                let waited = format!("no answer within {:.1} s of wall-clock time", patience.as_secs_f64());
                return Err(self.diagnosed(Fault::new(FaultKind::Timeout, waited)));
            }
            match self.wait(pause.min(patience - elapsed)) {
                Waited::Something => {}
                Waited::Nothing => {
                    patience = allowed.patience(self.charge(allowed)?);
                    let forks = self.clock.as_ref().is_some_and(TreeClock::forks);
                    pause = (pause * 2).min(if forks { SHORTEST_PAUSE } else { LONGEST_PAUSE });
                    if let Some(clock) = &self.clock {
                        queue.get_or_insert_with(|| Queue::new(clock.bot())).look();
                    }
                }
                Waited::Ended => {
                    let fault = self.ending();
                    return Err(self.diagnosed(fault));
                }
            }
        }
    }

    /// Returns the fault of a bot that gives no answer, with a hint for its author.
    fn diagnosed(&self, fault: Fault) -> Fault {
        let silent = Silent {
            language: self.language(),
            program: Some(&self.program),
            has_spoken: self.has_spoken,
            unfinished: &self.received,
            log: self.log(),
        };
        silent.of(fault)
    }

    fn oversized(&self) -> Fault {
        let detail = format!("a line of more than {} bytes: {}", self.max_line, excerpt(&self.received));
        Fault::new(FaultKind::Oversized, detail)
    }

    /// Returns the CPU time since the last message was sent; too much of it is a timeout.
    fn charge(&mut self, allowed: Allowance) -> Result<Duration, Fault> {
        if self.clock.is_none() {
            self.find_clock();
        }
        let Some(clock) = &mut self.clock else { return Ok(Duration::ZERO) };
        let (before, at) = self.sent;
        let now = clock.now(at.elapsed());
        self.charged = self.charged.max(now);
        let used = now.saturating_sub(before);
        if used > allowed.cpu {
            let (used, allowed) = (used.as_secs_f64() * 1e3, allowed.cpu.as_secs_f64() * 1e3);
            let detail = format!("used {used:.0} ms of CPU time; {allowed:.0} ms were left");
            return Err(Fault::new(FaultKind::Timeout, detail));
        }
        Ok(used)
    }

    /// Waits until the bot can read or has written something.
    fn wait(&mut self, patience: Duration) -> Waited {
        let timeout = PollTimeout::try_from(patience.as_millis() as i32 + 1).unwrap_or(PollTimeout::ZERO);
        let mut ends = vec![PollFd::new(self.stdout.as_fd(), PollFlags::POLLIN)];
        if let Some(stderr) = &self.stderr {
            ends.push(PollFd::new(stderr.as_fd(), PollFlags::POLLIN));
        }
        if let (Some(stdin), false) = (&self.stdin, self.unsent.is_empty()) {
            ends.push(PollFd::new(stdin.as_fd(), PollFlags::POLLOUT));
        }
        match poll(&mut ends, timeout) {
            Ok(0) => Waited::Nothing,
            Ok(_) => self.pump(),
            Err(Errno::EINTR) => Waited::Something,
            Err(_) => Waited::Ended,
        }
    }

    /// Reads what has come and sends what can be sent, without waiting.
    fn pump(&mut self) -> Waited {
        self.push_unsent();
        let log_open = match &mut self.stderr {
            Some(stderr) => {
                let mut said = std::mem::take(&mut self.last);
                let open = read_some(stderr, &mut said, usize::MAX) != Waited::Ended;
                let kept = said.len().saturating_sub(ending::BYTES);
                self.last = said.split_off(kept);
                // What is over the limit is read, so that the bot can go on, and thrown away.
                self.log.write(&said);
                open
            }
            None => true,
        };
        if !log_open {
            self.stderr = None;
        }
        self.take_output()
    }

    /// Reads what has come on standard output.
    fn take_output(&mut self) -> Waited {
        let before = self.received.len();
        // A little more than a line, so that an endless one is noticed.
        let room = (self.max_line + 4096).saturating_sub(before);
        match read_some(&mut self.stdout, &mut self.received, room) {
            Waited::Ended if self.received.len() == before => Waited::Ended,
            _ => Waited::Something,
        }
    }

    fn push_unsent(&mut self) {
        let Some(stdin) = &mut self.stdin else { return };
        let mut done = 0;
        while done < self.unsent.len() {
            match stdin.write(&self.unsent[done..]) {
                Ok(count) if count > 0 => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // The bot reads no more; that it does not answer either will show.
                _ => {
                    self.stdin = None;
                    self.unsent.clear();
                    return;
                }
            }
        }
        self.unsent.drain(..done);
    }

    /// Returns the fault when the output has ended.
    fn ending(&mut self) -> Fault {
        match self.ended_by(Instant::now() + EXIT_GRACE) {
            None => Fault::new(FaultKind::Closed, "standard output was closed, but the process lives on"),
            Some(ending) => ending.fault(&self.limits),
        }
    }

    /// Returns what the arena lacked, if the bot did not start for that reason.
    pub(crate) fn shortage(&self) -> Option<String> {
        let errno = self.ended?.shortage()?;
        let said = String::from_utf8_lossy(self.log());
        Some(said.lines().last().map_or_else(|| errno.desc().to_owned(), str::to_owned))
    }

    /// Returns how the bot ended, or `None` if it still runs at the deadline.
    fn ended_by(&mut self, deadline: Instant) -> Option<Ending> {
        while self.ended.is_none() {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    // All that could write are gone, so that there is an end to it; unless, without walls, somebody else was given the pipe.
                    let most = Instant::now() + EXIT_GRACE;
                    while self.stderr.is_some() && status.success() && Instant::now() < most {
                        self.pump();
                    }
                    let told = status.success().then(|| std::mem::take(&mut self.last));
                    let mut ended = Ending::from_bytes(told.as_deref().unwrap_or_default());
                    if self.group.as_ref().is_some_and(Group::starved) {
                        ended.how = How::Memory;
                    }
                    self.ended = Some(ended);
                }
                Ok(None) if Instant::now() < deadline => {
                    // Draining keeps a bot that logs to its end from blocking.
                    self.pump();
                    std::thread::sleep(Duration::from_millis(1));
                }
                _ => return None,
            }
        }
        self.ended
    }

    /// Waits for this long, and returns what came without being asked for.
    pub(crate) fn unasked(&mut self, patience: Duration) -> Vec<u8> {
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline && self.wait(Duration::from_millis(10)) != Waited::Ended {}
        std::mem::take(&mut self.received)
    }

    /// Closes the bot's input, and returns how the bot ended, or `None` if it did not end by itself in time.
    pub(crate) fn end_input(&mut self) -> Option<Ending> {
        self.stdin = None;
        self.ended_by(Instant::now() + END_GRACE)
    }

    /// Ends the bot politely: closes its input, then sends SIGTERM, then kills everything. Returns what went wrong, and the log.
    pub(crate) fn finish(mut self) -> (Option<Fault>, Vec<u8>) {
        let mut ending = self.end_input();
        if ending.is_none() {
            let _ = kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM);
            ending = self.ended_by(Instant::now() + END_GRACE);
        }
        let fault = match ending {
            Some(Ending { how: How::IgnoredSigterm, .. }) | None => Some(Fault::new(
                FaultKind::IgnoredSigterm,
                "did not end at the end of its input, nor on SIGTERM",
            )),
            Some(ending @ Ending { left: true, .. }) => Some(ending.fault(&self.limits)),
            // How a bot leaves after its last match is its own affair.
            Some(_) => None,
        };
        self.pump();
        (fault, self.log().to_vec())
    }
}

impl Drop for Process {
    /// Leaves nothing behind, whatever happened.
    fn drop(&mut self) {
        self.stdin = None;
        let supervisor = Pid::from_raw(self.child.id() as i32);
        if let Ok(None) = self.child.try_wait() {
            let _ = kill(supervisor, Signal::SIGUSR1);
            // A hostile bot may have stopped its supervisor.
            let _ = kill(supervisor, Signal::SIGCONT);
            if self.ended_by(Instant::now() + KILL_GRACE).is_none() {
                let _ = kill(supervisor, Signal::SIGKILL);
            }
        }
        let ended = self.child.wait();
        orphans::left(supervisor);
        // A supervisor ends by itself; one that was killed, by its own bot, has left the others to the arena.
        if ended.is_ok_and(|status| status.code().is_none()) {
            orphans::kill_all();
        }
        if let Some(folder) = self.temporary.take() {
            supervise::remove_all(&folder.keep());
        }
    }
}

/// Returns the fault in output that came before any question, if there is one.
pub(crate) fn early_output(received: &[u8], forgiving: bool, language: Language) -> Option<Fault> {
    let early = received.strip_suffix(b"\n").unwrap_or(received);
    let forgiven = forgiving && !early.contains(&b'\n') && is_chatter(early, IN_ACT);
    let shown = (!received.is_empty() && !forgiven).then(|| excerpt(received))?;
    let fault = Fault::new(FaultKind::Flood, format!("nothing was asked, but {shown} came"));
    Some(of_line(fault, early, &Asked::Nothing, language))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waited {
    Something,
    Nothing,
    Ended,
}

/// Reads what is available, up to `room` bytes, without waiting.
fn read_some(from: &mut impl Read, into: &mut Vec<u8>, room: usize) -> Waited {
    let mut buffer = [0; 16 << 10];
    let mut left = room.min(1 << 20);
    let mut waited = Waited::Nothing;
    while left > 0 {
        let take = left.min(buffer.len());
        match from.read(&mut buffer[..take]) {
            Ok(0) => return Waited::Ended,
            Ok(count) => {
                into.extend_from_slice(&buffer[..count]);
                left -= count;
                waited = Waited::Something;
                if count < take {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(_) => return Waited::Ended,
        }
    }
    waited
}
