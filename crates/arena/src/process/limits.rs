//! Limits on what a process may use.

use super::{Allowance, launch::Resources, sandbox::Level};
use necrodome_rules::card::Card;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fs, os::unix::fs::MetadataExt, thread, time::Duration};

/// What a process may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Milliseconds of CPU time for a decision.
    pub decision_ms: u64,
    /// Milliseconds of CPU time for all decisions of a match.
    pub match_ms: u64,
    /// Milliseconds of wall-clock time in a match that the arena may wait while the bot does nothing.
    #[serde(skip_serializing_if = "usual::idle_ms")]
    pub idle_ms: u64,
    /// Milliseconds of CPU time to start up.
    pub start_ms: u64,
    /// Wall-clock time may be this many times the CPU time.
    pub wall_factor: u32,
    /// Megabytes of memory, of each process and of all together.
    pub memory_mb: u64,
    /// Processes and threads.
    pub processes: u64,
    /// Open files.
    pub files: u64,
    /// Megabytes of each file that a bot writes, and of all temporary files together.
    pub file_mb: u64,
    /// Bytes of a line. If not set, 64 KiB, or 4 MiB in Last Bullet.
    pub line_bytes: Option<usize>,
    /// How often a bot is restarted after a fault before it is out.
    pub restarts: u32,
    /// Millions of instructions of a WebAssembly module for a decision.
    #[serde(skip_serializing_if = "usual::decision_fuel_m")]
    pub decision_fuel_m: u64,
    /// Millions of instructions of a WebAssembly module for all decisions of a match.
    #[serde(skip_serializing_if = "usual::match_fuel_m")]
    pub match_fuel_m: u64,
    /// Millions of instructions of a WebAssembly module to start up.
    #[serde(skip_serializing_if = "usual::start_fuel_m")]
    pub start_fuel_m: u64,
    /// Megabytes of memory of a WebAssembly module.
    #[serde(skip_serializing_if = "usual::wasm_memory_mb")]
    pub wasm_memory_mb: u64,
}

/// Whether a limit has its default: limits that were added later are then not written, so that older plans stay the same.
mod usual {
    use super::Limits;

    macro_rules! usual {
        ($($limit:ident),*) => {
            $(pub fn $limit(limit: &u64) -> bool {
                *limit == Limits::default().$limit
            })*
        };
    }
    usual!(idle_ms, decision_fuel_m, match_fuel_m, start_fuel_m, wasm_memory_mb);
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            decision_ms: 500,
            match_ms: 20_000,
            idle_ms: 10_000,
            // A JVM that compiles its source needs two seconds on a busy machine, some libraries as much to be loaded.
            start_ms: 10_000,
            wall_factor: 4,
            memory_mb: 1024,
            processes: 256,
            files: 256,
            file_mb: 64,
            line_bytes: None,
            restarts: 3,
            decision_fuel_m: 500,
            match_fuel_m: 10_000,
            start_fuel_m: 20_000,
            // It is the arena's own memory, in each thread.
            wasm_memory_mb: 256,
        }
    }
}

impl Limits {
    /// Returns the limits by their names, with that of lines if it is set.
    fn named(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        let numbers = [
            ("decision_ms", self.decision_ms),
            ("match_ms", self.match_ms),
            ("idle_ms", self.idle_ms),
            ("start_ms", self.start_ms),
            ("wall_factor", self.wall_factor.into()),
            ("memory_mb", self.memory_mb),
            ("processes", self.processes),
            ("files", self.files),
            ("file_mb", self.file_mb),
            ("restarts", self.restarts.into()),
            ("decision_fuel_m", self.decision_fuel_m),
            ("match_fuel_m", self.match_fuel_m),
            ("start_fuel_m", self.start_fuel_m),
            ("wasm_memory_mb", self.wasm_memory_mb),
        ];
        numbers.into_iter().chain(self.line_bytes.map(|bytes| ("line_bytes", bytes as u64)))
    }

    /// Returns the first limit that is 0, if no program could run with that.
    pub fn zero(&self) -> Option<&'static str> {
        let is_zero = |&(name, number): &(&str, u64)| number == 0 && !["file_mb", "restarts"].contains(&name);
        self.named().find(is_zero).map(|(name, _)| name)
    }

    /// Returns the limits that are higher than those of `most` in this game, by their names.
    pub(crate) fn above(&self, most: &Limits, game: &Card) -> Vec<(&'static str, u64)> {
        let whole = |limits: &Limits| Limits { line_bytes: Some(limits.line_limit(game)), ..*limits }.named();
        let both = whole(self).zip(whole(most));
        both.filter(|((_, own), (_, most))| own > most).map(|(own, _)| own).collect()
    }

    pub(super) fn resources(&self, level: Level) -> Resources {
        Resources {
            memory: self.memory_mb.saturating_mul(1 << 20),
            processes: match level {
                // The supervisors of a bot are in its namespace, too.
                Level::Full => self.processes.saturating_add(3),
                // The system counts all that the user runs, bots that start later too. As many as play at once are not short of
                // anything; the supervisor sees to it that none has too many processes.
                _ => self.processes.saturating_mul(16 * processors()).saturating_add(tasks_of_user()),
            },
            files: self.files,
            file_size: self.file_mb.saturating_mul(1 << 20),
        }
    }

    pub(crate) fn allowance(&self, cpu: Duration) -> Allowance {
        // Never less than a second of patience: a loaded machine is not the bot's fault.
        let wall = cpu.saturating_mul(self.wall_factor).max(Duration::from_secs(1));
        Allowance { cpu, wall, idle: wall, wall_factor: self.wall_factor }
    }

    /// Returns the time to start. It is long, for runtimes that have much to do. A bot that does nothing has forgotten to answer or to flush
    /// its output, and its author should not have to wait as long.
    pub(crate) fn start_allowance(&self) -> Allowance {
        const IDLE: Duration = Duration::from_secs(12);
        let allowance = self.allowance(Duration::from_millis(self.start_ms));
        Allowance { idle: allowance.wall.min(IDLE), ..allowance }
    }

    /// Returns the longest line of a bot, in bytes.
    pub(crate) fn line_limit(&self, game: &Card) -> usize {
        self.line_bytes.unwrap_or(game.line_limit)
    }
}

fn processors() -> u64 {
    thread::available_parallelism().map_or(1, |count| count.get() as u64)
}

/// Returns the number of processes and threads of the user right now: the system counts them together with the bot's.
fn tasks_of_user() -> u64 {
    let user = nix::unistd::getuid().as_raw();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let own = processes.filter(|entry| entry.metadata().is_ok_and(|data| data.uid() == user));
    own.map(|entry| fs::read_dir(entry.path().join("task")).map_or(0, |tasks| tasks.count() as u64)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn bots_that_run_already_leave_the_next_one_its_processes() {
        let limits = Limits::default();
        let before = limits.resources(Level::Strict).processes;
        // More than all others, which might end meanwhile.
        let count = tasks_of_user() as usize + 50;
        let gate = Barrier::new(count + 1);
        thread::scope(|scope| {
            (0..count).for_each(|_| drop(scope.spawn(|| gate.wait())));
            let after = limits.resources(Level::Strict).processes;
            gate.wait();
            assert!(after > before, "{before} {after}");
        });
    }

    #[test]
    fn a_start_may_take_long_for_who_computes_and_not_for_who_sleeps() {
        let seconds = Duration::from_secs;
        let limits = Limits::default();
        let start = limits.start_allowance();
        assert_eq!([0, 2, 5, 10].map(|used| start.patience(seconds(used)).as_secs()), [12, 20, 32, 40]);
        let limits = Limits { start_ms: 1_000, ..limits };
        assert_eq!(limits.start_allowance().patience(Duration::ZERO), seconds(4));
        // A decision has one limit, whatever the bot does.
        let decision = limits.allowance(seconds(30));
        assert_eq!([0, 30].map(|used| decision.patience(seconds(used)).as_secs()), [120, 120]);
    }
}
