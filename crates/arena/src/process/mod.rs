//! Bots as processes: started under supervision, spoken to in lines, charged by CPU time, killed without trace.

mod cpu;
mod launch;
mod limits;
mod orphans;
mod transport;

pub use launch::{Launcher, Resources, run_stage, run_stage_of};
pub use limits::Limits;
pub use orphans::adopt_orphans;
pub use transport::ProcessTransport;

use crate::{
    fault::{Fault, FaultKind},
    protocol::{IN_ACT, excerpt, is_chatter},
};
use cpu::TreeClock;
use necrodome_rules::card::Card;
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

/// How much of a bot's standard error is kept, in bytes.
const MAX_STDERR: usize = 64 << 10;
/// How long a bot may take to end after its input was closed.
const END_GRACE: Duration = Duration::from_secs(1);
/// How long a process may take to end after it has closed its output.
const EXIT_GRACE: Duration = Duration::from_secs(2);
/// How long a supervisor may take to kill everything.
const KILL_GRACE: Duration = Duration::from_secs(5);
/// The environment variables that bots get.
const ENVIRONMENT: [&str; 7] = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "JAVA_HOME", "TMPDIR"];

/// A program with its arguments and the folder it runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The words of the command.
    pub words: Vec<String>,
    /// The working directory.
    pub folder: PathBuf,
}

/// How much time a step may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance {
    /// CPU time of the whole tree, counted from the last message that was sent.
    cpu: Duration,
    /// Wall-clock time, likewise.
    wall: Duration,
    /// Wall-clock time of a process that sleeps; one that computes gets `wall_factor` times its CPU time more.
    idle: Duration,
    wall_factor: u32,
}

impl Allowance {
    /// The wall-clock time of a process that has used so much CPU time.
    fn patience(&self, used: Duration) -> Duration {
        self.wall.min(self.idle.saturating_add(used.saturating_mul(self.wall_factor)))
    }
}

/// A running bot.
#[derive(Debug)]
pub(crate) struct Process {
    /// The supervisor; the bot is its child.
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    /// What has not been taken by the bot yet.
    unsent: Vec<u8>,
    /// What has come and was not asked for yet.
    received: Vec<u8>,
    max_line: usize,
    /// Most processes that the bot may have beside its own: the system's limit does not bind root.
    max_processes: usize,
    log: Vec<u8>,
    clock: Option<TreeClock>,
    /// CPU time and moment when the last message was sent.
    sent: (Duration, Instant),
    /// Since when its answer is waited for.
    listening: Option<Instant>,
}

impl Process {
    /// Starts a bot that plays `game` under the supervision of `launcher`, the arena's own program.
    pub(crate) fn spawn(
        launcher: &Launcher,
        program: &Program,
        limits: &Limits,
        game: &Card,
    ) -> Result<Self, Fault> {
        let refuse = |error: io::Error| Fault::new(FaultKind::NoStart, error.to_string());
        let mut command = launcher.command();
        command
            .args(launch::words(limits.resources(), &program.words))
            .current_dir(&program.folder)
            .env_clear()
            .envs(ENVIRONMENT.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
            .env("PYTHONUNBUFFERED", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = orphans::spawn(&mut command).map_err(refuse)?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Fault::new(FaultKind::NoStart, "no pipes"));
        };
        for end in [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()] {
            fcntl(end, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(|error| refuse(error.into()))?;
        }
        // A larger pipe takes a whole view of Last Bullet at once; a smaller one only costs time.
        let _ = fcntl(stdin.as_fd(), FcntlArg::F_SETPIPE_SZ(1 << 20));
        Ok(Process {
            child,
            stdin: Some(stdin),
            stdout,
            stderr: Some(stderr),
            unsent: Vec::new(),
            received: Vec::new(),
            max_line: limits.line_limit(game),
            max_processes: limits.processes as usize,
            log: Vec::new(),
            clock: None,
            sent: (Duration::ZERO, Instant::now()),
            listening: None,
        })
    }

    /// What the bot has written to standard error.
    pub(crate) fn log(&self) -> &[u8] {
        &self.log
    }

    /// The bot's process id, as soon as it can be known.
    fn find_clock(&mut self) {
        let supervisor = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{supervisor}/task/{supervisor}/children"));
        let first = children.ok().and_then(|text| text.split_whitespace().next()?.parse().ok());
        self.clock = first.map(|pid| TreeClock::new(Pid::from_raw(pid)));
    }

    /// Sends a line; the clock of the answer starts. Output that came before is a flood, but if `forgiving` one line that was not
    /// meant as an answer may wait to be read: it might as well have come a moment later.
    pub(crate) fn send(&mut self, line: &[u8], forgiving: bool) -> Result<(), Fault> {
        self.pump();
        let early = self.received.strip_suffix(b"\n").unwrap_or(&self.received);
        let forgiven = forgiving && !early.contains(&b'\n') && is_chatter(early, IN_ACT);
        if !self.received.is_empty() && !forgiven {
            let shown = excerpt(&self.received);
            return Err(Fault::new(FaultKind::Flood, format!("nothing was asked, but {shown} came")));
        }
        self.tell(line);
        let used = self.clock.as_mut().map_or(Duration::ZERO, TreeClock::now);
        self.sent = (used, Instant::now());
        self.listening = None;
        Ok(())
    }

    /// Sends a line that wants no answer.
    pub(crate) fn tell(&mut self, line: &[u8]) {
        self.unsent.extend_from_slice(line);
        self.unsent.push(b'\n');
        self.push_unsent();
    }

    /// Waits for a line, and gives it with the CPU time it took.
    pub(crate) fn receive(&mut self, allowed: Allowance) -> Result<(Vec<u8>, Duration), Fault> {
        let mut pause = Duration::from_millis(5);
        let mut patience = allowed.patience(Duration::ZERO);
        // Wall-clock time counts from here: before, the arena may have been waiting for somebody else.
        self.pump();
        let listening = *self.listening.get_or_insert_with(Instant::now);
        loop {
            if let Some(end) = self.received.iter().position(|&byte| byte == b'\n') {
                if end > self.max_line {
                    return Err(self.oversized());
                }
                let line = self.received.drain(..=end).take(end).collect();
                return Ok((line, self.charge(allowed)?));
            }
            if self.received.len() > self.max_line {
                return Err(self.oversized());
            }
            let elapsed = listening.elapsed();
            if elapsed >= patience {
                let waited = format!("no answer within {:.1} s of wall-clock time", patience.as_secs_f64());
                return Err(Fault::new(FaultKind::Timeout, waited));
            }
            match self.wait(pause.min(patience - elapsed)) {
                Waited::Something => {}
                Waited::Nothing => {
                    patience = allowed.patience(self.charge(allowed)?);
                    pause = (pause * 2).min(Duration::from_millis(100));
                }
                Waited::Ended => return Err(self.ending()),
            }
        }
    }

    fn oversized(&self) -> Fault {
        let detail = format!("a line of more than {} bytes: {}", self.max_line, excerpt(&self.received));
        Fault::new(FaultKind::Oversized, detail)
    }

    /// The CPU time since the last message was sent; too much of it is a timeout.
    fn charge(&mut self, allowed: Allowance) -> Result<Duration, Fault> {
        if self.clock.is_none() {
            self.find_clock();
        }
        let (from, at) = self.sent;
        let max_processes = self.max_processes;
        let Some(clock) = &mut self.clock else { return Ok(Duration::ZERO) };
        // To look at the whole tree is expensive; who answers at once has had no time to start other processes.
        let (now, others) = match at.elapsed() < Duration::from_millis(2) && !clock.has_others() {
            true => (clock.glance(), 0),
            false => clock.look(),
        };
        let used = now.saturating_sub(from);
        if others > max_processes {
            let detail = format!("{others} processes at once, where {max_processes} are allowed");
            return Err(Fault::new(FaultKind::LeftChildren, detail));
        }
        if used > allowed.cpu {
            let (used, allowed) = (used.as_secs_f64() * 1e3, allowed.cpu.as_secs_f64() * 1e3);
            let detail = format!("{used:.0} ms of CPU time, where {allowed:.0} ms are left");
            return Err(Fault::new(FaultKind::Timeout, detail));
        }
        Ok(used)
    }

    /// Waits until the bot can take or has written something.
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

    /// Takes what has come and sends what can be sent, without waiting.
    fn pump(&mut self) -> Waited {
        self.push_unsent();
        let before = self.received.len();
        let log_open = match &mut self.stderr {
            Some(stderr) => read_some(stderr, &mut self.log, usize::MAX) != Waited::Ended,
            None => true,
        };
        // What is over the limit is read, so that the bot can go on, and thrown away.
        self.log.truncate(MAX_STDERR);
        if !log_open {
            self.stderr = None;
        }
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

    /// Why the output has ended.
    fn ending(&mut self) -> Fault {
        let deadline = Instant::now() + EXIT_GRACE;
        let fault = match self.exit_code(deadline) {
            None => Fault::new(FaultKind::Closed, "standard output was closed, but the process lives on"),
            Some(0) => Fault::new(FaultKind::Exit, "the process ended with exit code 0"),
            Some(launch::NO_START) => Fault::new(FaultKind::NoStart, "the program could not be started"),
            Some(code) => fault_of(code),
        };
        self.pump();
        fault
    }

    /// The exit code of the supervisor, if it ends before the deadline.
    fn exit_code(&mut self, deadline: Instant) -> Option<i32> {
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status.code().unwrap_or(launch::SIGNALLED)),
                Ok(None) if Instant::now() < deadline => {
                    // Draining keeps a bot that logs to its end from blocking.
                    self.pump();
                    std::thread::sleep(Duration::from_millis(1));
                }
                _ => return None,
            }
        }
    }

    /// Waits that long, and gives what has come without having been asked for.
    pub(crate) fn unasked(&mut self, patience: Duration) -> Vec<u8> {
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline && self.wait(Duration::from_millis(10)) != Waited::Ended {}
        std::mem::take(&mut self.received)
    }

    /// Closes the bot's input, and gives its exit code if it ends by itself in time.
    pub(crate) fn end_input(&mut self) -> Option<i32> {
        self.stdin = None;
        self.exit_code(Instant::now() + END_GRACE)
    }

    /// Ends the bot politely: its input is closed, then SIGTERM, then all is killed. Gives what went wrong.
    pub(crate) fn finish(mut self) -> (Option<Fault>, Vec<u8>) {
        self.stdin = None;
        let mut code = self.exit_code(Instant::now() + END_GRACE);
        if code.is_none() {
            let _ = kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM);
            code = self.exit_code(Instant::now() + END_GRACE);
        }
        let fault = match code {
            Some(launch::IGNORED_SIGTERM) | None => Some(Fault::new(
                FaultKind::IgnoredSigterm,
                "did not end at the end of its input, nor on SIGTERM",
            )),
            Some(launch::LEFT_CHILDREN) => Some(fault_of(launch::LEFT_CHILDREN)),
            // How a bot leaves after its last match is its own affair.
            Some(_) => None,
        };
        self.pump();
        (fault, std::mem::take(&mut self.log))
    }
}

impl Drop for Process {
    /// Nothing is left behind, whatever happened.
    fn drop(&mut self) {
        self.stdin = None;
        let supervisor = Pid::from_raw(self.child.id() as i32);
        if let Ok(None) = self.child.try_wait() {
            let _ = kill(supervisor, Signal::SIGUSR1);
            // A hostile bot may have stopped its supervisor.
            let _ = kill(supervisor, Signal::SIGCONT);
            if self.exit_code(Instant::now() + KILL_GRACE).is_none() {
                let _ = kill(supervisor, Signal::SIGKILL);
            }
        }
        let ended = self.child.wait();
        orphans::left(supervisor);
        // A supervisor ends by itself; one that was killed, by its own bot, has left the others to the arena.
        if ended.is_ok_and(|status| status.code().is_none()) {
            orphans::kill_all();
        }
    }
}

fn fault_of(code: i32) -> Fault {
    match code {
        launch::LEFT_CHILDREN => {
            Fault::new(FaultKind::LeftChildren, "left processes behind, which were killed")
        }
        launch::IGNORED_SIGTERM => Fault::new(FaultKind::IgnoredSigterm, "did not end on SIGTERM"),
        code => match Signal::try_from(code - launch::SIGNALLED) {
            Ok(signal) => Fault::new(FaultKind::Crash, format!("the process was ended by signal {signal}")),
            Err(_) => Fault::new(FaultKind::Crash, format!("the process ended with exit code {code}")),
        },
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waited {
    Something,
    Nothing,
    Ended,
}

/// Reads what is there, up to `room` bytes, without waiting.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Python's `sys.exit(-1)` is exit code 255, and no signal has the number 127.
    #[test]
    fn exit_codes_and_signals_are_told_apart() {
        for (code, words) in [
            (1, "the process ended with exit code 1"),
            (255, "the process ended with exit code 255"),
            (launch::SIGNALLED + Signal::SIGSEGV as i32, "the process was ended by signal SIGSEGV"),
        ] {
            assert_eq!(fault_of(code), Fault::new(FaultKind::Crash, words));
        }
    }
}
