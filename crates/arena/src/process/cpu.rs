//! The CPU time of a bot's process and all processes that came from it, and how long they waited for a processor.

use super::tree::{descendants, stat};
use nix::{
    time::{ClockId, clock_getcpuclockid, clock_gettime},
    unistd::Pid,
};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::fs::FileExt,
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

/// Measures the CPU time of one bot.
#[derive(Debug)]
pub(super) struct TreeClock {
    /// The process to which everything falls that a bot leaves behind.
    root: Pid,
    bot: Pid,
    clock: Option<ClockId>,
    /// CPU time of other processes, living or not, as last seen.
    others: Duration,
    /// What each process and those that it waited for had used, as last seen.
    seen: BTreeMap<Pid, Used>,
    /// CPU time of processes that ended and were waited for by nobody.
    lost: Duration,
    /// When all of them were last looked at, and the number of the machine's newest process then.
    looked: Option<(Instant, Option<u64>)>,
    /// Whether it ever had other processes.
    forks: bool,
}

/// For how long a bot that had no other processes and answers at once is taken to have none. What they use in between is found by the
/// next look, and is charged then.
const FRESH: Duration = Duration::from_millis(100);
/// Who answers within this has had no time to start other processes.
const AT_ONCE: Duration = Duration::from_millis(2);

#[derive(Debug, Clone, Copy, Default)]
struct Used {
    own: Duration,
    waited: Duration,
}

impl TreeClock {
    /// The clock of `bot`, whose orphans fall to `root`.
    pub(super) fn new(root: Pid, bot: Pid) -> Self {
        TreeClock {
            root,
            bot,
            clock: clock_getcpuclockid(bot).ok(),
            others: Duration::ZERO,
            seen: BTreeMap::new(),
            lost: Duration::ZERO,
            looked: None,
            forks: false,
        }
    }

    /// The bot's first process.
    pub(super) fn bot(&self) -> Pid {
        self.bot
    }

    /// CPU time so far: that of the first process exactly, that of others as of the last [`look`](Self::look).
    fn glance(&self) -> Duration {
        self.clock.map_or(Duration::ZERO, read) + self.others
    }

    /// CPU time so far, of others too if there are any, for a bot that has had so much time. To look for them takes a few dozen
    /// files of `/proc`, for each thread one.
    pub(super) fn now(&mut self, elapsed: Duration) -> Duration {
        if self.may_have_others(elapsed) { self.look() } else { self.glance() }
    }

    /// Whether it ever had other processes: those that nobody waits for must be looked at while they live.
    pub(super) fn forks(&self) -> bool {
        self.forks
    }

    /// Whether it takes a look to know the CPU time: a wrapper has other processes, most bots have not. As long as no process is
    /// newer than the last look, there is none to be found.
    fn may_have_others(&self, elapsed: Duration) -> bool {
        let Some((at, newest)) = self.looked else { return true };
        let is_due = elapsed > AT_ONCE || at.elapsed() > FRESH;
        self.seen.len() > 2 || is_due && (newest.is_none() || newest != newest_process())
    }

    /// CPU time so far of all processes.
    fn look(&mut self) -> Duration {
        let newest = newest_process();
        let mut now: BTreeMap<Pid, Used> = BTreeMap::new();
        for pid in descendants(self.root).into_iter().chain([self.root]) {
            let own = match pid == self.root || pid == self.bot {
                // The root is not the bot's, and the bot's own time is read exactly.
                true => Duration::ZERO,
                false => clock_getcpuclockid(pid).map_or(Duration::ZERO, read),
            };
            let waited = stat(pid).map_or(Duration::ZERO, |stat| ticks(stat.waited));
            now.insert(pid, Used { own, waited });
        }
        // Who has gone is now part of what another has waited for, or is lost: nobody waits where SIGCHLD is ignored.
        let gone: Duration = self
            .seen
            .iter()
            .filter(|(pid, _)| !now.contains_key(pid))
            .map(|(_, used)| used.own + used.waited)
            .sum();
        let before = |pid: &Pid| self.seen.get(pid).copied().unwrap_or_default().waited;
        let waited: Duration = now.iter().map(|(pid, used)| used.waited.saturating_sub(before(pid))).sum();
        self.lost += gone.saturating_sub(waited);
        let seen: Duration = now.values().map(|used| used.own + used.waited).sum();
        // Clocks of ticks and of nanoseconds may disagree; time never goes back.
        self.others = self.others.max(seen + self.lost);
        self.forks |= now.len() > 2;
        self.seen = now;
        self.looked = Some((Instant::now(), newest));
        self.glance()
    }
}

/// The number of the process or thread that was started last on this machine.
fn newest_process() -> Option<u64> {
    static LOADS: LazyLock<Option<File>> = LazyLock::new(|| File::open("/proc/loadavg").ok());
    let mut text = [0; 128];
    let length = LOADS.as_ref()?.read_at(&mut text, 0).ok()?;
    str::from_utf8(&text[..length]).ok()?.split_whitespace().last()?.parse().ok()
}

fn read(clock: ClockId) -> Duration {
    clock_gettime(clock)
        .map_or(Duration::ZERO, |time| Duration::new(time.tv_sec() as u64, time.tv_nsec() as u32))
}

fn ticks(count: u64) -> Duration {
    const TICKS_PER_SECOND: u64 = 100;
    Duration::from_millis(count * 1000 / TICKS_PER_SECOND)
}

/// How long a bot has waited for a processor while the arena waited for the bot.
#[derive(Debug)]
pub(super) struct Queue {
    bot: Pid,
    before: Option<Duration>,
    delay: Duration,
}

impl Queue {
    pub(super) fn new(bot: Pid) -> Self {
        Queue { bot, before: delay_of(bot), delay: Duration::ZERO }
    }

    /// Measures again.
    pub(super) fn look(&mut self) {
        if let (Some(before), Some(now)) = (self.before, delay_of(self.bot)) {
            self.delay = now.saturating_sub(before);
        }
    }

    /// How much of so much time is not the bot's fault: what it spent in the queue, but never more than four fifths, so that a
    /// night comes to its end on any machine. Without a measure of its own, a bot is excused by the load of the machine.
    pub(super) fn excused(&self, elapsed: Duration) -> Duration {
        let measured = match self.before {
            Some(_) => self.delay,
            None => elapsed.mul_f64(1.0 - 1.0 / load().max(1.0)),
        };
        measured.min(elapsed.mul_f64(0.8))
    }
}

/// How long all threads of a process have waited for a processor so far.
fn delay_of(pid: Pid) -> Option<Duration> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let delays = threads.flatten().map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
    });
    delays.sum()
}

/// How many threads want a processor, for each processor.
fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let wanting: f64 = text.split([' ', '/']).nth(3).and_then(|count| count.parse().ok()).unwrap_or(0.0);
    wanting / thread::available_parallelism().map_or(1.0, |count| count.get() as f64)
}
