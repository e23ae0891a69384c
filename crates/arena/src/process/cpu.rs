//! The CPU time of a bot's process and all processes below it.

use super::launch::descendants;
use nix::{
    time::{ClockId, clock_getcpuclockid, clock_gettime},
    unistd::Pid,
};
use std::{fs, time::Duration};

/// Measures the CPU time of one bot.
#[derive(Debug)]
pub(super) struct TreeClock {
    pid: Pid,
    clock: Option<ClockId>,
    /// CPU time of other processes, as last seen.
    others: Duration,
    /// Whether the bot had other processes at the last look: a wrapper has, most bots have not.
    has_others: bool,
}

impl TreeClock {
    pub(super) fn new(pid: Pid) -> Self {
        TreeClock { pid, clock: clock_getcpuclockid(pid).ok(), others: Duration::ZERO, has_others: false }
    }

    /// CPU time so far: that of the process itself exactly, that of others as of the last [`look`](Self::look).
    pub(super) fn glance(&self) -> Duration {
        self.own() + self.others
    }

    /// CPU time so far, of others too if there are any.
    pub(super) fn now(&mut self) -> Duration {
        if self.has_others { self.look().0 } else { self.glance() }
    }

    /// Whether it takes a look to know the CPU time.
    pub(super) fn has_others(&self) -> bool {
        self.has_others
    }

    /// CPU time so far of the whole tree, and how many other processes live in it.
    pub(super) fn look(&mut self) -> (Duration, usize) {
        let below = descendants(self.pid);
        self.has_others = !below.is_empty();
        let living: Duration = below.iter().map(|&pid| TreeClock::new(pid).own()).sum();
        // Never goes back when a child ends that was not waited for.
        self.others = self.others.max(living + buried_children(self.pid));
        (self.glance(), below.len())
    }

    fn own(&self) -> Duration {
        self.clock
            .and_then(|clock| clock_gettime(clock).ok())
            .map_or(Duration::ZERO, |time| Duration::new(time.tv_sec() as u64, time.tv_nsec() as u32))
    }
}

/// CPU time of children that have ended and were waited for.
fn buried_children(pid: Pid) -> Duration {
    const TICKS_PER_SECOND: u64 = 100;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = stat.rfind(')').map_or("", |end| &stat[end + 1..]);
    // Fields 16 and 17 of the whole line (proc(5)); the state, field 3, is the first here.
    let ticks = |field: usize| after_name.split_whitespace().nth(field - 3).and_then(|t| t.parse().ok());
    let sum: u64 = ticks(16).unwrap_or(0) + ticks(17).unwrap_or(0);
    Duration::from_millis(sum * 1000 / TICKS_PER_SECOND)
}
