//! Carries messages to a process: starts it, times it, restarts it after a fault, and ends it.

use super::{Launcher, Limits, Process, Program};
use crate::{
    diagnosis::Language,
    fault::{Fault, FaultKind},
    player::Effort,
    protocol::{Silence, Transport},
};
use necrodome_rules::card::Card;
use std::{thread, time::Duration};

/// The last pause before the arena reports what it lacks.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// A bot in its own process.
pub struct ProcessTransport {
    launcher: Launcher,
    program: Program,
    limits: Limits,
    game: Card,
    process: Option<Process>,
    /// How often it may still be started.
    starts_left: u32,
    /// The CPU time that is left for decisions in this match.
    bank: Duration,
    /// The time that the arena will still wait in this match while the bot does nothing.
    idle: Duration,
    effort: Effort,
    /// The CPU time of the current decision that has been charged already.
    paid: Duration,
    /// What the earlier processes have written to standard error.
    old_log: Vec<u8>,
    /// The seed of the match.
    seed: Option<u32>,
}

impl ProcessTransport {
    /// Returns a transport that starts the process when it is needed.
    pub fn new(launcher: Launcher, program: Program, limits: Limits, game: Card) -> Self {
        ProcessTransport {
            launcher,
            program,
            limits,
            game,
            process: None,
            starts_left: limits.restarts.saturating_add(1),
            bank: Duration::ZERO,
            idle: Duration::ZERO,
            effort: Effort::default(),
            paid: Duration::ZERO,
            old_log: Vec::new(),
            seed: None,
        }
    }

    /// Starts the process and greets it. If the arena lacks something, it tries again: the shortage may be over in a moment.
    fn launch(&mut self, hello: &[u8]) -> Result<(Process, Vec<u8>), Silence> {
        let mut pause = Duration::from_millis(50);
        loop {
            match self.launch_once(hello) {
                Err(Silence::Arena(_)) if pause < LONGEST_PAUSE => thread::sleep(pause),
                ended => return ended,
            }
            pause *= 2;
        }
    }

    /// Starts the process up to its answer to the greeting, and ends it again. Says how it failed, and the last line that it wrote.
    pub(crate) fn try_start(mut self, hello: &[u8]) -> Result<(), Silence> {
        self.launch(hello).map(drop).map_err(|silence| match silence {
            Silence::Fault(fault) => {
                let log = String::from_utf8_lossy(&self.old_log).into_owned();
                let last = log.lines().map(str::trim).rfind(|line| !line.is_empty());
                let last = last.filter(|last| !fault.detail.contains(last));
                let detail = last.map_or(fault.detail.clone(), |last| format!("{}: {last}", fault.detail));
                Silence::Fault(Fault::new(fault.kind, detail))
            }
            lacking => lacking,
        })
    }

    fn launch_once(&mut self, hello: &[u8]) -> Result<(Process, Vec<u8>), Silence> {
        let max_line = self.limits.line_limit(&self.game);
        let mut process = Process::spawn(&self.launcher, &self.program, &self.limits, max_line)
            .map_err(|error| Silence::Arena(format!("the arena cannot start a program: {error}")))?;
        if let Some(seed) = self.seed {
            process.begin_match(seed);
        }
        // What a bot prints before it is greeted is looked at with its answer.
        process.send(hello, true)?;
        match process.receive(self.limits.start_allowance()) {
            Ok((line, _)) => Ok((process, line)),
            Err(fault) => match process.shortage() {
                Some(why) => Err(Silence::Arena(why)),
                None => {
                    self.old_log.extend_from_slice(process.log());
                    Err(Fault { kind: FaultKind::NoStart, ..fault }.into())
                }
            },
        }
    }

    fn receive(&mut self) -> Result<Vec<u8>, Fault> {
        let decision = Duration::from_millis(self.limits.decision_ms);
        let allowed = self.limits.allowance(decision.min(self.bank + self.paid)).within(self.idle);
        let Some(process) = &mut self.process else {
            return Err(Fault::new(FaultKind::Out, "not running"));
        };
        let (line, spent) = process.receive(allowed).inspect_err(|fault| {
            if fault.kind == FaultKind::Timeout {
                // What is left is spent, too: a bot that has no time left is not started again in this match.
                self.bank = if self.bank <= decision { Duration::ZERO } else { self.bank - decision };
                self.idle = self.idle.saturating_sub(self.limits.allowance(decision).wall());
            }
        })?;
        let unpaid = spent.cpu.saturating_sub(self.paid);
        self.bank = self.bank.saturating_sub(unpaid);
        self.idle = self.idle.saturating_sub(spent.idle);
        self.effort.cpu += unpaid;
        self.paid = spent.cpu;
        Ok(line)
    }

    fn is_out_of_time(&self) -> bool {
        self.bank.is_zero() || self.idle.is_zero()
    }

    /// Ends the process, and keeps its log.
    fn drop_process(&mut self) {
        if let Some(process) = self.process.take() {
            self.old_log.extend_from_slice(process.log());
        }
    }
}

fn no_time() -> Fault {
    Fault::new(FaultKind::Timeout, "no time is left in this match")
}

impl Transport for ProcessTransport {
    fn is_open(&self) -> bool {
        self.process.is_some()
    }

    fn language(&self) -> Language {
        Language::of(&self.program.words)
    }

    fn open(&mut self, hello: &[u8]) -> Result<Vec<u8>, Silence> {
        if self.starts_left == 0 {
            return Err(Fault::new(FaultKind::Out, "failed too often and is not started again").into());
        }
        if self.is_out_of_time() {
            return Err(no_time().into());
        }
        self.starts_left -= 1;
        // One that does not even start gets one more chance: each costs the whole time to start.
        let (process, line) =
            self.launch(hello).inspect_err(|_| self.starts_left = self.starts_left.min(1))?;
        self.process = Some(process);
        Ok(line)
    }

    fn turn_away(&mut self) {
        self.starts_left = self.starts_left.min(1);
        self.drop_process();
    }

    fn begin_match(&mut self, seed: u32) {
        self.seed = Some(seed);
        if let Some(process) = &mut self.process {
            process.begin_match(seed);
        }
        self.bank = Duration::from_millis(self.limits.match_ms);
        self.idle = Duration::from_millis(self.limits.idle_ms);
    }

    fn tell(&mut self, line: &[u8]) {
        if let Some(process) = &mut self.process {
            process.tell(line);
        }
    }

    fn mention(&mut self, line: &[u8]) {
        if let Some(process) = &mut self.process {
            process.mention(line);
        }
    }

    fn ask(&mut self, line: &[u8], forgiving: bool) -> Result<(), Silence> {
        self.paid = Duration::ZERO;
        let out_of_time = self.is_out_of_time();
        let sent = match &mut self.process {
            _ if out_of_time => Err(no_time()),
            Some(process) => process.send(line, forgiving),
            None => Err(Fault::new(FaultKind::Out, "not running")),
        };
        // Who thinks while others are asked pays for it.
        let pondered = sent.inspect_err(|fault| self.at_fault(fault))?;
        self.bank = self.bank.saturating_sub(pondered);
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<u8>, Silence> {
        let line = self.receive().inspect_err(|fault| self.at_fault(fault))?;
        self.effort.decisions += 1;
        Ok(line)
    }

    fn another(&mut self, first: Fault) -> Result<Vec<u8>, Silence> {
        let line = match (&mut self.process, first.kind) {
            (Some(process), FaultKind::NoStart) => {
                process.receive(self.limits.start_allowance()).map(|(line, _)| line)
            }
            _ => self.receive(),
        };
        Ok(line.map_err(|fault| first.then(fault))?)
    }

    /// Drops the process after a fault from which it cannot play on.
    fn at_fault(&mut self, fault: &Fault) {
        if !fault.kind.is_survivable() {
            self.drop_process();
        }
    }

    fn take_effort(&mut self) -> Effort {
        std::mem::take(&mut self.effort)
    }

    /// Ends the process. Its log holds up to 64 KiB for each time the bot was started.
    fn close(&mut self) -> (Vec<Fault>, String) {
        let mut faults = Vec::new();
        if let Some(process) = self.process.take() {
            let (fault, log) = process.finish();
            faults.extend(fault);
            self.old_log.extend(log);
        }
        (faults, String::from_utf8_lossy(&self.old_log).into_owned())
    }
}
