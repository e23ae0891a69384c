//! The bot at the other end of a raw conversation: a process, or a module that the arena runs.

use super::{Candidate, ms};
use crate::{
    diagnosis::Language,
    entry::EntryKind,
    fault::{Fault, FaultKind},
    process::{Limits, Process},
    wasm::{Machine, millions},
};
use necrodome_rules::card::Card;
use std::time::Duration;

/// How long a bot must stay silent when nothing was asked.
const SILENCE: Duration = Duration::from_millis(100);
const MILLION: u64 = 1_000_000;

/// The cost of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cost {
    Cpu(Duration),
    /// Instructions.
    Fuel(u64),
}

impl Cost {
    /// Returns the most that a decision may cost, in the same unit.
    pub(super) fn allowed(self, limits: &Limits) -> Cost {
        match self {
            Cost::Cpu(_) => Cost::Cpu(Duration::from_millis(limits.decision_ms)),
            Cost::Fuel(_) => Cost::Fuel(limits.decision_fuel_m.saturating_mul(MILLION)),
        }
    }

    /// Returns the number, in short form.
    pub(super) fn number(self) -> String {
        match self {
            Cost::Cpu(time) => ms(time),
            Cost::Fuel(fuel) => format!("{} M", millions(fuel)),
        }
    }

    /// Returns the unit of the number.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Cost::Cpu(_) => "of CPU time",
            Cost::Fuel(_) => "instructions",
        }
    }
}

/// What the arena is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Start,
    Decision,
}

/// A running bot.
pub(super) struct Wire {
    end: End,
    limits: Limits,
}

enum End {
    Process(Box<Process>),
    Machine(Box<Machine>),
}

impl Wire {
    /// Starts the candidate. Returns `None` if it is not a program of any kind.
    pub(super) fn open(candidate: &Candidate, game: &Card) -> Option<Result<Self, Fault>> {
        let limits = candidate.limits;
        let end = match &candidate.entry.kind {
            EntryKind::Program(program) => {
                Process::spawn(&candidate.launcher, program, &limits, limits.line_limit(game))
                    .map(|process| End::Process(Box::new(process)))
                    .map_err(|error| {
                        Fault::new(FaultKind::NoStart, format!("the arena cannot start a program: {error}"))
                    })
            }
            EntryKind::Wasm(module) => {
                Ok(End::Machine(Box::new(Machine::new(module, &limits, limits.line_limit(game)))))
            }
            EntryKind::BuiltIn(_) | EntryKind::Guest(_) | EntryKind::Model(_) | EntryKind::Human => {
                return None;
            }
        };
        Some(end.map(|end| Wire { end, limits }))
    }

    fn fuel(&self, stage: Stage) -> u64 {
        let millions = match stage {
            Stage::Start => self.limits.start_fuel_m,
            Stage::Decision => self.limits.decision_fuel_m,
        };
        millions.saturating_mul(MILLION)
    }

    /// Returns the most that a stage may cost.
    pub(super) fn allowed(&self, stage: Stage) -> Cost {
        match (&self.end, stage) {
            (End::Machine(_), _) => Cost::Fuel(self.fuel(stage)),
            (End::Process(_), Stage::Start) => Cost::Cpu(Duration::from_millis(self.limits.start_ms)),
            (End::Process(_), Stage::Decision) => Cost::Cpu(Duration::from_millis(self.limits.decision_ms)),
        }
    }

    pub(super) fn send(&mut self, line: &[u8], forgiving: bool) -> Result<(), Fault> {
        match &mut self.end {
            End::Process(process) => process.send(line, forgiving).map(|_| ()),
            End::Machine(machine) => machine.send(line, forgiving),
        }
    }

    pub(super) fn tell(&mut self, line: &[u8]) {
        match &mut self.end {
            End::Process(process) => process.tell(line),
            End::Machine(machine) => machine.tell(line),
        }
    }

    /// Returns the next line and its cost.
    pub(super) fn receive(&mut self, stage: Stage) -> Result<(Vec<u8>, Cost), Fault> {
        let fuel = self.fuel(stage);
        match &mut self.end {
            End::Process(process) => {
                let allowed = match stage {
                    Stage::Start => self.limits.start_allowance(),
                    Stage::Decision => self.limits.allowance(Duration::from_millis(self.limits.decision_ms)),
                };
                process.receive(allowed).map(|(line, spent)| (line, Cost::Cpu(spent.cpu)))
            }
            End::Machine(machine) => {
                let before = machine.spent();
                machine.receive(fuel).map(|line| (line, Cost::Fuel(machine.spent() - before)))
            }
        }
    }

    /// Returns the language that the bot is written in.
    pub(super) fn language(&self) -> Language {
        match &self.end {
            End::Process(process) => process.language(),
            End::Machine(machine) => machine.language(),
        }
    }

    pub(super) fn log(&self) -> &[u8] {
        match &self.end {
            End::Process(process) => process.log(),
            End::Machine(machine) => machine.log(),
        }
    }

    /// Returns what the bot writes without being asked.
    pub(super) fn unasked(&mut self) -> Vec<u8> {
        let fuel = self.fuel(Stage::Decision);
        match &mut self.end {
            End::Process(process) => process.unasked(SILENCE),
            End::Machine(machine) => machine.unasked(fuel),
        }
    }

    /// Closes the input. Returns whether the bot ends by itself, what went wrong then, and its log.
    pub(super) fn finish(self) -> (bool, Option<Fault>, Vec<u8>) {
        let fuel = self.fuel(Stage::Decision);
        match self.end {
            End::Process(mut process) => {
                let code = process.end_input();
                let (fault, log) = process.finish();
                (code.is_some(), fault, log)
            }
            End::Machine(mut machine) => (machine.end_input(fuel), None, machine.log().to_vec()),
        }
    }
}
