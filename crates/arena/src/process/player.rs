//! A process as a player: the protocol, the clock, and what happens after a fault.

use super::{Allowance, Launcher, Process, Program, Resources, excerpt};
use crate::{
    fault::{Fault, FaultKind},
    player::{Answer, Effort, MatchStart, Player},
    protocol::{Act, MAX_LISTED, MAX_REASON, PROTOCOL, Ready, ToBot},
};
use necrodome_rules::{
    catalog::Listed,
    game::{Logged, Outcome, Seat},
};
use serde::{Deserialize, Serialize};
use std::{fs, os::unix::fs::MetadataExt, sync::OnceLock, time::Duration};

/// What a process may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Milliseconds of CPU time for a decision.
    pub decision_ms: u64,
    /// Milliseconds of CPU time for all decisions of a match.
    pub match_ms: u64,
    /// Milliseconds of CPU time to start up.
    pub start_ms: u64,
    /// Wall-clock time may be so many times larger than CPU time.
    pub wall_factor: u32,
    /// Megabytes of memory of a process.
    pub memory_mb: u64,
    /// Processes and threads.
    pub processes: u64,
    /// Open files.
    pub files: u64,
    /// Megabytes of a file that is written.
    pub file_mb: u64,
    /// Bytes of a line; none: 64 KiB, or 4 MiB in Last Bullet.
    pub line_bytes: Option<usize>,
    /// How often a bot is started again after a fault before it is out.
    pub restarts: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            decision_ms: 500,
            match_ms: 20_000,
            start_ms: 3_000,
            wall_factor: 4,
            memory_mb: 1024,
            processes: 256,
            files: 256,
            file_mb: 64,
            line_bytes: None,
            restarts: 3,
        }
    }
}

impl Limits {
    pub(crate) fn resources(&self) -> Resources {
        Resources {
            memory: self.memory_mb << 20,
            processes: self.processes + tasks_of_user(),
            files: self.files,
            file_size: self.file_mb << 20,
        }
    }

    pub(crate) fn allowance(&self, cpu: Duration) -> Allowance {
        // Never less than a second of patience: a loaded machine is not the bot's fault.
        let wall = cpu.checked_mul(self.wall_factor).unwrap_or(Duration::MAX);
        Allowance { cpu, wall: wall.max(Duration::from_secs(1)) }
    }

    /// The longest line of a bot, in bytes.
    pub(crate) fn line_limit(&self, game: &str) -> usize {
        let usual = if game == "last-bullet" { 4 << 20 } else { 64 << 10 };
        self.line_bytes.unwrap_or(usual)
    }
}

/// Processes and threads that the user runs already: the system counts them together with the bot's.
fn tasks_of_user() -> u64 {
    static TASKS: OnceLock<u64> = OnceLock::new();
    let count = || {
        let user = nix::unistd::getuid().as_raw();
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let own = processes.filter(|entry| entry.metadata().is_ok_and(|data| data.uid() == user));
        own.map(|entry| fs::read_dir(entry.path().join("task")).map_or(0, |tasks| tasks.count() as u64)).sum()
    };
    *TASKS.get_or_init(count)
}

/// A bot in a process of its own.
pub struct ProcessPlayer<G: Listed> {
    launcher: Launcher,
    program: Program,
    limits: Limits,
    name: String,
    rules: G::Rules,
    seats: usize,
    process: Option<Process>,
    wants_events: bool,
    deterministic: bool,
    /// Whether it was ready at least once.
    started: bool,
    /// How often it may still be started.
    starts_left: u32,
    /// What went wrong when the question was put.
    pending: Option<Fault>,
    next_id: u64,
    bank: Duration,
    effort: Effort,
    start_line: Vec<u8>,
    /// What the bots before the present one have written to standard error.
    old_log: Vec<u8>,
}

/// A message of a game.
pub(crate) type Message<'a, G> = ToBot<
    'a,
    <G as necrodome_rules::game::Game>::View,
    <G as necrodome_rules::game::Game>::Action,
    <G as necrodome_rules::game::Game>::Event,
    <G as necrodome_rules::game::Game>::Rules,
>;

impl<G: Listed> ProcessPlayer<G> {
    /// A bot that is started when its first match begins.
    pub fn new(
        launcher: Launcher,
        program: Program,
        limits: Limits,
        name: &str,
        rules: &G::Rules,
        seats: usize,
    ) -> Self {
        ProcessPlayer {
            launcher,
            program,
            limits,
            name: name.to_owned(),
            rules: rules.clone(),
            seats,
            process: None,
            wants_events: false,
            deterministic: false,
            started: false,
            starts_left: limits.restarts.saturating_add(1),
            pending: None,
            next_id: 0,
            bank: Duration::ZERO,
            effort: Effort::default(),
            start_line: Vec::new(),
            old_log: Vec::new(),
        }
    }

    /// Starts the process and shakes hands.
    fn launch(&mut self) -> Result<Process, Fault> {
        let mut process = Process::spawn(
            &self.launcher,
            &self.program,
            self.limits.resources(),
            self.limits.line_limit(G::ID),
        )?;
        process.max_processes = self.limits.processes as usize;
        let hello: Message<G> = ToBot::Hello {
            protocol: PROTOCOL,
            game: G::ID,
            options: &self.rules,
            seats: self.seats,
            name: &self.name,
        };
        process.send(&to_line(&hello))?;
        let start = Duration::from_millis(self.limits.start_ms);
        let answer = process.receive(self.limits.allowance(start)).map_err(|fault| fault.detail);
        let ready = answer.and_then(|(line, _)| parse_ready(&line)).map_err(|why| {
            self.old_log.extend_from_slice(process.log());
            Fault::new(FaultKind::NoStart, why)
        })?;
        self.wants_events = ready.events;
        self.deterministic = ready.deterministic;
        self.started = true;
        process.tell(&self.start_line);
        Ok(process)
    }

    /// A process that is ready to be asked; started again if need be and allowed.
    fn ensure_running(&mut self) -> Result<&mut Process, Fault> {
        if self.process.is_none() {
            if self.starts_left == 0 {
                return Err(Fault::new(FaultKind::Out, "failed too often and is not started again"));
            }
            self.starts_left -= 1;
            let launched = self.launch();
            if launched.is_err() {
                // One that does not even start gets one more chance: each costs the whole time to start.
                self.starts_left = self.starts_left.min(1);
            }
            self.process = Some(launched?);
        }
        self.process.as_mut().ok_or_else(|| Fault::new(FaultKind::Out, "not running"))
    }

    fn put_question(&mut self, view: &G::View) -> Result<(), Fault> {
        self.next_id += 1;
        let legal = G::legal_actions(view).filter(|actions| actions.len() <= MAX_LISTED);
        let question: Message<G> = ToBot::Decide { id: self.next_id, view, legal };
        let line = to_line(&question);
        self.ensure_running()?.send(&line)
    }

    fn take_answer(&mut self) -> Result<(G::Action, Option<String>), Fault> {
        let decision = Duration::from_millis(self.limits.decision_ms);
        let allowed = self.limits.allowance(decision.min(self.bank));
        let Some(process) = &mut self.process else {
            return Err(Fault::new(FaultKind::Out, "not running"));
        };
        let (line, used) = process.receive(allowed).inspect_err(|fault| {
            if fault.kind == FaultKind::Timeout {
                // What is left is spent, too: a bot that has no time left is not started again in this match.
                self.bank = if self.bank <= decision { Duration::ZERO } else { self.bank - decision };
            }
        })?;
        self.bank = self.bank.saturating_sub(used);
        self.effort.decisions += 1;
        self.effort.cpu += used;
        parse_act::<G::Action>(&line, self.next_id)
    }

    /// After a fault that it cannot play on from, the process is gone.
    fn punish(&mut self, fault: &Fault) {
        if !fault.kind.is_survivable()
            && let Some(process) = self.process.take()
        {
            self.old_log.extend_from_slice(process.log());
        }
    }
}

/// Serialises a message. Types of messages have no maps with odd keys, so it cannot fail.
pub(crate) fn to_line(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).unwrap_or_default()
}

/// Parses the answer to `hello`; says what is wrong with it.
pub(crate) fn parse_ready(line: &[u8]) -> Result<Ready, String> {
    let ready: Ready = serde_json::from_slice(line)
        .map_err(|error| format!("expected ready, got {} ({error})", excerpt(line)))?;
    if ready.protocol != PROTOCOL {
        return Err(format!("speaks protocol {}, and this arena {PROTOCOL}", ready.protocol));
    }
    Ok(ready)
}

/// Parses an answer; first the id, so that an old answer is told from garbage.
pub(crate) fn parse_act<A: for<'de> Deserialize<'de>>(
    line: &[u8],
    id: u64,
) -> Result<(A, Option<String>), Fault> {
    #[derive(Deserialize)]
    struct Id {
        id: u64,
    }
    let garbage = |error: serde_json::Error| {
        let detail = format!("expected {{\"id\":{id},\"action\":...}}, got {} ({error})", excerpt(line));
        Fault::new(FaultKind::Garbage, detail)
    };
    let came: Id = serde_json::from_slice(line).map_err(garbage)?;
    if came.id < id {
        let detail = format!("id {} was answered before, and {id} is asked", came.id);
        return Err(Fault::new(FaultKind::Flood, detail));
    }
    if came.id != id {
        return Err(Fault::new(FaultKind::WrongId, format!("expected id {id}, got {}", came.id)));
    }
    // Well-formed, but not an action of this game.
    let act: Act<serde_json::Value> = serde_json::from_slice(line).map_err(garbage)?;
    let action = A::deserialize(&act.action).map_err(|error| {
        let came = excerpt(act.action.to_string().as_bytes());
        Fault::new(FaultKind::Illegal, format!("{came} is no action of this game ({error})"))
    })?;
    Ok((action, act.reason.map(|reason| reason.chars().take(MAX_REASON).collect())))
}

impl<G: Listed> Player<G> for ProcessPlayer<G> {
    fn start(&mut self, start: &MatchStart) {
        let names: Vec<String> = start.names.iter().map(str::to_owned).collect();
        let message: Message<G> = ToBot::Start { seat: start.seat, names: &names, seed: start.seed };
        let line = to_line(&message);
        self.start_line.clone_from(&line);
        self.bank = Duration::from_millis(self.limits.match_ms);
        self.pending = None;
        let running = self.process.is_some();
        match self.ensure_running() {
            Ok(process) if running => process.tell(&line),
            Ok(_) => {}
            Err(fault) => self.pending = Some(fault),
        }
    }

    fn hear(&mut self, seat: Seat, log: &[Logged<G::Event>]) {
        if !self.wants_events {
            return;
        }
        let heard = log.iter().filter(|logged| logged.audience.includes(seat));
        let events: Vec<&G::Event> = heard.map(|logged| &logged.event).collect();
        if let (Some(process), false) = (&mut self.process, events.is_empty()) {
            let message: Message<G> = ToBot::Events { events };
            process.tell(&to_line(&message));
        }
    }

    fn ask(&mut self, view: &G::View) {
        if self.pending.is_some() {
            return;
        }
        self.pending = if self.bank.is_zero() {
            Some(Fault::new(FaultKind::Timeout, "no time is left in this match"))
        } else {
            self.put_question(view).err()
        };
    }

    fn answer(&mut self, _: &G::View) -> Answer<G::Action> {
        let result = match self.pending.take() {
            Some(fault) => Err(fault),
            None => self.take_answer(),
        };
        match result {
            Ok((action, reason)) => Answer::Act(action, reason),
            Err(fault) => {
                self.punish(&fault);
                Answer::Fault(fault)
            }
        }
    }

    fn refused(&mut self, _: &str) {}

    fn end(&mut self, outcome: &Outcome) -> Vec<Fault> {
        if let Some(process) = &mut self.process {
            let message: Message<G> = ToBot::End { outcome };
            process.tell(&to_line(&message));
        }
        self.pending.take().into_iter().collect()
    }

    fn has_started(&self) -> bool {
        self.started
    }

    /// Known once the first match has begun.
    fn is_deterministic(&self) -> bool {
        self.deterministic
    }

    fn take_effort(&mut self) -> Effort {
        std::mem::take(&mut self.effort)
    }

    /// The log holds up to 64 KiB for each time the bot was started.
    fn close(&mut self) -> (Vec<Fault>, String) {
        let mut faults: Vec<Fault> = self.pending.take().into_iter().collect();
        if let Some(process) = self.process.take() {
            let (fault, log) = process.finish();
            faults.extend(fault);
            self.old_log.extend(log);
        }
        (faults, String::from_utf8_lossy(&self.old_log).into_owned())
    }
}
