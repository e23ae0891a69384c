//! A process as a player: the protocol, the clock, and what happens after a fault.

use super::{Allowance, Launcher, Process, Program, Resources, excerpt};
use crate::{
    fault::{Fault, FaultKind},
    player::{Answer, Effort, MatchStart, Player},
    protocol::{Act, MAX_LISTED, MAX_REASON, PROTOCOL, Ready, ToBot},
};
use necrodome_rules::{
    catalog::Listed,
    game::{Game, Logged, Outcome, Seat},
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
            // A JVM that compiles its source needs two seconds on a busy machine, some libraries as much to be loaded.
            start_ms: 10_000,
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
    pub(super) fn resources(&self) -> Resources {
        Resources {
            memory: self.memory_mb.saturating_mul(1 << 20),
            processes: self.processes.saturating_add(tasks_of_user()),
            files: self.files,
            file_size: self.file_mb.saturating_mul(1 << 20),
        }
    }

    pub(crate) fn allowance(&self, cpu: Duration) -> Allowance {
        // Never less than a second of patience: a loaded machine is not the bot's fault.
        let wall = cpu.saturating_mul(self.wall_factor).max(Duration::from_secs(1));
        Allowance { cpu, wall, idle: wall, wall_factor: self.wall_factor }
    }

    /// Time to start. It is long, for runtimes that have much to do; a bot that has nothing to do has forgotten to answer,
    /// or to flush its output, and its author should not have to wait as long.
    pub(crate) fn start_allowance(&self) -> Allowance {
        const IDLE: Duration = Duration::from_secs(12);
        let allowance = self.allowance(Duration::from_millis(self.start_ms));
        Allowance { idle: allowance.wall.min(IDLE), ..allowance }
    }

    /// The longest line of a bot, in bytes.
    pub(super) fn line_limit(&self, game: &str) -> usize {
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
    ids: Ids,
    bank: Duration,
    effort: Effort,
    start_line: Vec<u8>,
    /// What the bots before the present one have written to standard error.
    old_log: Vec<u8>,
}

/// A message of a game.
pub(crate) type Message<'a, G> =
    ToBot<'a, <G as Game>::View, <G as Game>::Action, <G as Game>::Event, <G as Game>::Rules>;

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
            ids: Ids::default(),
            bank: Duration::ZERO,
            effort: Effort::default(),
            start_line: Vec::new(),
            old_log: Vec::new(),
        }
    }

    /// Starts the process and shakes hands.
    fn launch(&mut self) -> Result<Process, Fault> {
        let mut process = Process::spawn(&self.launcher, &self.program, &self.limits, G::ID)?;
        let hello: Message<G> = ToBot::Hello {
            protocol: PROTOCOL,
            game: G::ID,
            options: &self.rules,
            seats: self.seats,
            name: &self.name,
        };
        process.send(&to_line(&hello))?;
        let answer = process.receive(self.limits.start_allowance()).map_err(|fault| fault.detail);
        let ready = answer.and_then(|(line, _)| parse_ready(&line)).map_err(|why| {
            self.old_log.extend_from_slice(process.log());
            Fault::new(FaultKind::NoStart, why)
        })?;
        self.wants_events = ready.events;
        self.deterministic = ready.deterministic;
        self.ids = Ids::default();
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
        let legal = G::few_legal_actions(view, MAX_LISTED);
        let question: Message<G> = ToBot::Decide { id: self.next_id, view, legal };
        let line = to_line(&question);
        self.ensure_running()?.send(&line)
    }

    fn take_answer(&mut self) -> Result<Answer<G::Action>, Fault> {
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
        parse_act::<G>(&line, self.next_id, |came| self.ids.check(came, self.next_id))
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

/// Refuses an answer to another decision than the one that was asked.
pub(crate) fn expect_id(came: u64, asked: u64) -> Result<(), Fault> {
    let wrong = || Fault::new(FaultKind::WrongId, format!("expected id {asked}, got {came}"));
    (came == asked).then_some(()).ok_or_else(wrong)
}

/// Tells wrong ids from lines too many, over the answers of one process.
#[derive(Debug, Default)]
struct Ids {
    /// The last decision that was answered with its own id.
    answered: Option<u64>,
    /// Whether that answer has come again in place of the next one.
    repeated: bool,
}

impl Ids {
    /// An answer that comes again is a wrong id or a line too many. It was one too many if the right answer follows: it
    /// is found before the next question is sent, or comes as the answer to it.
    fn check(&mut self, came: u64, asked: u64) -> Result<(), Fault> {
        let is_late = self.repeated && Some(came) == asked.checked_sub(1);
        self.repeated = self.answered == Some(came);
        if came == asked {
            self.answered = Some(came);
        }
        if is_late {
            let detail = format!("a line too many: the answer to {came} came when {asked} was asked");
            return Err(Fault::new(FaultKind::Flood, detail));
        }
        expect_id(came, asked)
    }
}

/// Parses an answer to the decision `id`, or as much of it as the game's rules let stand. The id that came is checked
/// first, so that the answer to another decision is told from garbage.
pub(crate) fn parse_act<G: Game>(
    line: &[u8],
    id: u64,
    check_id: impl FnOnce(u64) -> Result<(), Fault>,
) -> Result<Answer<G::Action>, Fault> {
    #[derive(Deserialize)]
    struct Id {
        id: u64,
    }
    let garbage = |error: serde_json::Error| {
        let detail = format!("expected {{\"id\":{id},\"action\":...}}, got {} ({error})", excerpt(line));
        Fault::new(FaultKind::Garbage, detail)
    };
    let came: Id = serde_json::from_slice(line).map_err(garbage)?;
    check_id(came.id)?;
    // Well-formed, but not an action of this game.
    let act: Act<serde_json::Value> = serde_json::from_slice(line).map_err(garbage)?;
    let (action, malformed) = G::read_action(&act.action).map_err(|error| {
        let came = excerpt(act.action.to_string().as_bytes());
        Fault::new(FaultKind::Illegal, format!("{came} is no action of this game ({error})"))
    })?;
    let reason = act.reason.map(|reason| reason.chars().take(MAX_REASON).collect());
    Ok(match malformed {
        None => Answer::Act(action, reason),
        Some(why) => Answer::Partly { action, reason, fault: Fault::new(FaultKind::Illegal, why) },
    })
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
        result.unwrap_or_else(|fault| {
            self.punish(&fault);
            Answer::Fault(fault)
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of answers with these ids to the decisions 1, 2, 3 and so on.
    fn kinds(came: &[u64]) -> Vec<Option<FaultKind>> {
        let mut ids = Ids::default();
        (1..).zip(came).map(|(asked, &came)| ids.check(came, asked).err().map(|fault| fault.kind)).collect()
    }

    #[test]
    fn a_wrong_id_is_no_flood() {
        const WRONG: Option<FaultKind> = Some(FaultKind::WrongId);
        // Never asked.
        assert_eq!(kinds(&[0, 0, 0]), [WRONG; 3]);
        assert_eq!(kinds(&[1, 2, 9, u64::MAX]), [None, None, WRONG, WRONG]);
        // Counts from 0, so that each id but the first was asked, and never answered.
        assert_eq!(kinds(&[0, 1, 2, 3]), [WRONG; 4]);
        // Asked and answered, but the only answer to each question.
        assert_eq!(kinds(&[1, 1, 1, 1]), [None, WRONG, WRONG, WRONG]);
        assert_eq!(kinds(&[1, 1, 3, 3, 5]), [None, WRONG, None, WRONG, None]);
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

    #[test]
    fn a_line_too_many_is_a_flood_once_the_right_answer_follows_it() {
        let [.., repeated, late] = kinds(&[1, 2, 2, 3])[..] else { panic!() };
        assert_eq!((repeated, late), (Some(FaultKind::WrongId), Some(FaultKind::Flood)));
    }
}
