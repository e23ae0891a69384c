//! The CPU time of a bot's process and all its descendants, and how long they waited for a processor.

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
    /// The process that adopts the bot's orphans.
    root: Pid,
    bot: Pid,
    clock: Option<ClockId>,
    /// CPU time of other processes, living or not, as last seen.
    others: Duration,
    /// What each process, and those that it waited for, had used, as last seen.
    seen: BTreeMap<Pid, Used>,
    /// CPU time of processes that ended and that no process waited for.
    lost: Duration,
    /// When they were all last looked at, and the number of the machine's newest process then.
    looked: Option<(Instant, Option<u64>)>,
    /// Whether the bot ever had other processes.
    forks: bool,
}

/// How long a bot that had no other processes and answers at once is assumed to have none. The next look finds and charges what others use
/// in between.
const FRESH: Duration = Duration::from_millis(100);
/// A bot that answers within this time cannot have started other processes.
const AT_ONCE: Duration = Duration::from_millis(2);

#[derive(Debug, Clone, Copy, Default)]
struct Used {
    own: Duration,
    waited: Duration,
}

impl TreeClock {
    /// Returns the clock of `bot`, whose orphans go to `root`.
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

    /// Returns the bot's first process.
    pub(super) fn bot(&self) -> Pid {
        self.bot
    }

    /// Returns the CPU time so far: exact for the first process, as of the last [`look`](Self::look) for others.
    fn glance(&self) -> Duration {
        self.clock.map_or(Duration::ZERO, read) + self.others
    }

    /// Returns the CPU time so far, including that of other processes. `elapsed` is how long the bot has had: a bot that was quick needs no
    /// look, which reads a few dozen files of `/proc`, one for each thread.
    pub(super) fn now(&mut self, elapsed: Duration) -> Duration {
        if self.may_have_others(elapsed) { self.look() } else { self.glance() }
    }

    /// Whether the bot ever had other processes: those that no process waits for must be looked at while they live.
    pub(super) fn forks(&self) -> bool {
        self.forks
    }

    /// Whether a look is needed to know the CPU time: a wrapper has other processes, most bots do not. If no process on the machine is newer
    /// than the last look, there are no new ones to find.
    fn may_have_others(&self, elapsed: Duration) -> bool {
        let Some((at, newest)) = self.looked else { return true };
        let is_due = elapsed > AT_ONCE || at.elapsed() > FRESH;
        self.seen.len() > 2 || is_due && (newest.is_none() || newest != newest_process())
    }

    /// Looks at all processes and returns their CPU time so far.
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

/// Returns the number of the process or thread that was started last on this machine.
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

    /// Returns how much of this time is not the bot's fault: the time it spent in the queue, but at most four fifths, so that every night of
    /// matches ends, on any machine. If the queue cannot be measured, the load of the machine counts instead.
    pub(super) fn excused(&self, elapsed: Duration) -> Duration {
        let measured = match self.before {
            Some(_) => self.delay,
            None => elapsed.mul_f64(1.0 - 1.0 / load().max(1.0)),
        };
        measured.min(elapsed.mul_f64(0.8))
    }
}

/// Returns how long all threads of a process have waited for a processor so far.
fn delay_of(pid: Pid) -> Option<Duration> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let delays = threads.flatten().map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
    });
    delays.sum()
}

/// Returns how many threads want a processor, per processor.
fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let wanting: f64 = text.split([' ', '/']).nth(3).and_then(|count| count.parse().ok()).unwrap_or(0.0);
    wanting / thread::available_parallelism().map_or(1.0, |count| count.get() as f64)
}
