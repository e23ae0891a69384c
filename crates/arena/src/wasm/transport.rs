//! Carries messages to a module: starts it, charges it by the instruction, and restarts it after a fault.

use super::{Machine, Module, machine::MILLION};
use crate::{
    diagnosis::Language,
    fault::{Fault, FaultKind},
    player::Effort,
    process::Limits,
    protocol::{Silence, Transport},
};
use necrodome_rules::card::Card;
use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// A bot that is a module.
pub struct WasmTransport {
    module: Module,
    limits: Limits,
    game: Card,
    machine: Option<Machine>,
    /// How often it may still be started.
    starts_left: u32,
    /// The fuel that is left for decisions in this match; below, for the current decision.
    bank: u64,
    decision: u64,
    effort: Effort,
    /// What earlier machines have written to standard error.
    old_log: Vec<u8>,
    /// The seed of the match.
    seed: Option<u32>,
}

impl WasmTransport {
    /// Returns a transport that starts the module when it is needed.
    pub fn new(module: Module, limits: Limits, game: Card) -> Self {
        WasmTransport {
            module,
            limits,
            game,
            machine: None,
            starts_left: limits.restarts.saturating_add(1),
            bank: 0,
            decision: 0,
            effort: Effort::default(),
            old_log: Vec::new(),
            seed: None,
        }
    }

    /// Returns the answer to the greeting, with the fuel that is left to start.
    fn greeting(&mut self) -> Result<Vec<u8>, Fault> {
        let Some(machine) = &mut self.machine else { return Err(not_running()) };
        let left = self.limits.start_fuel_m.saturating_mul(MILLION).saturating_sub(machine.spent());
        machine.receive(left)
    }

    /// Returns the answer to a question, with the fuel that is left for it.
    fn receive(&mut self) -> Result<Vec<u8>, Fault> {
        let Some(machine) = &mut self.machine else { return Err(not_running()) };
        let allowed = self.decision.min(self.bank);
        let (began, spent) = (thread_time(), machine.spent());
        let received = machine.receive(allowed);
        let used = machine.spent() - spent;
        self.bank -= used;
        self.decision -= used;
        self.effort.fuel += used;
        self.effort.cpu += thread_time().saturating_sub(began);
        received
    }

    /// Ends the machine, and keeps its log.
    fn drop_machine(&mut self) {
        if let Some(machine) = self.machine.take() {
            self.old_log.extend_from_slice(machine.log());
        }
    }
}

fn not_running() -> Fault {
    Fault::new(FaultKind::Out, "not running")
}

fn no_fuel() -> Fault {
    Fault::new(FaultKind::Timeout, "no instructions are left in this match")
}

/// Returns the CPU time of this thread.
fn thread_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

impl Transport for WasmTransport {
    fn is_open(&self) -> bool {
        self.machine.is_some()
    }

    fn language(&self) -> Language {
        self.module.language()
    }

    fn open(&mut self, hello: &[u8]) -> Result<Vec<u8>, Silence> {
        if self.starts_left == 0 {
            return Err(Fault::new(FaultKind::Out, "failed too often and is not started again").into());
        }
        if self.bank == 0 {
            return Err(no_fuel().into());
        }
        self.starts_left -= 1;
        let mut machine = Machine::new(&self.module, &self.limits, self.limits.line_limit(&self.game));
        if let Some(seed) = self.seed {
            machine.begin_match(seed);
        }
        machine.tell(hello);
        self.machine = Some(machine);
        Ok(self.greeting().map_err(|fault| {
            self.turn_away();
            Fault { kind: FaultKind::NoStart, ..fault }
        })?)
    }

    /// Drops a machine that did not start. It gets one more chance.
    fn turn_away(&mut self) {
        self.starts_left = self.starts_left.min(1);
        self.drop_machine();
    }

    fn begin_match(&mut self, seed: u32) {
        self.seed = Some(seed);
        self.bank = self.limits.match_fuel_m.saturating_mul(MILLION);
        if let Some(machine) = &mut self.machine {
            machine.begin_match(seed);
        }
    }

    fn tell(&mut self, line: &[u8]) {
        if let Some(machine) = &mut self.machine {
            machine.tell(line);
        }
    }

    fn ask(&mut self, line: &[u8], forgiving: bool) -> Result<(), Silence> {
        self.decision = self.limits.decision_fuel_m.saturating_mul(MILLION);
        let sent = match &mut self.machine {
            _ if self.bank == 0 => Err(no_fuel()),
            Some(machine) => machine.send(line, forgiving),
            None => Err(not_running()),
        };
        Ok(sent.inspect_err(|fault| self.at_fault(fault))?)
    }

    fn answer(&mut self) -> Result<Vec<u8>, Silence> {
        let line = self.receive().inspect_err(|fault| self.at_fault(fault))?;
        self.effort.decisions += 1;
        Ok(line)
    }

    fn another(&mut self, first: Fault) -> Result<Vec<u8>, Silence> {
        let line = if first.kind == FaultKind::NoStart { self.greeting() } else { self.receive() };
        Ok(line.map_err(|fault| first.then(fault))?)
    }

    /// Drops the machine after a fault from which it cannot play on.
    fn at_fault(&mut self, fault: &Fault) {
        if !fault.kind.is_survivable() {
            self.drop_machine();
        }
    }

    fn take_effort(&mut self) -> Effort {
        std::mem::take(&mut self.effort)
    }

    /// Tells the module that its input ends; it may write a last line to its log. How it then leaves does not matter.
    fn close(&mut self) -> (Vec<Fault>, String) {
        if let Some(machine) = &mut self.machine {
            machine.end_input(self.limits.decision_fuel_m.saturating_mul(MILLION));
        }
        self.drop_machine();
        (Vec::new(), String::from_utf8_lossy(&std::mem::take(&mut self.old_log)).into_owned())
    }
}
