//! Whether the programs of a plan start. A module that a worker lacks, or a file that no pack took along, is no fault of the bot's: it shows
//! before the first block is played.

use super::{
    super::{Schedule, Store, TournamentError, schedule::Seatings},
    PartError, PlanFile,
};
use crate::{
    entry::{EntryKind, files_of},
    fault::{FaultKind, SeatFault},
    process::{Launcher, ProcessTransport},
    protocol::{Message, PROTOCOL, Silence, ToBot, to_line},
};
use necrodome_rules::{catalog::Listed, with_game};
use std::collections::BTreeSet;

/// How often a program may try to start: a machine may be busy.
const TRIES: usize = 2;

impl PlanFile {
    /// Notes which programs do not start here, where the plan is written: they need not start elsewhere. Gives their names, and why.
    pub fn note_starts(&mut self, launcher: &Launcher) -> Result<Vec<(String, String)>, PartError> {
        let failing = self.failing(launcher)?;
        self.not_started = failing.iter().map(|(name, _)| name.clone()).collect();
        Ok(failing)
    }

    /// Starts every program once. One that starts where the plan was written has to start here, too.
    pub fn check_starts(&self, launcher: &Launcher) -> Result<(), PartError> {
        refuse(self.failing(launcher)?, &self.not_started)
    }

    /// Starts every program once, before blocks of a store are played again. A store does not know what started where its plan was
    /// written, but what did not start in its matches.
    pub(super) fn check_starts_again(&self, store: &Store, launcher: &Launcher) -> Result<(), PartError> {
        let failing = self.failing(launcher)?;
        match self.is_hearsay && !failing.is_empty() {
            true => refuse(failing, &self.not_started_in(store)?),
            false => refuse(failing, &self.not_started),
        }
    }

    /// Returns the entries that did not start in some stored match.
    fn not_started_in(&self, store: &Store) -> Result<Vec<String>, PartError> {
        let schedule = Schedule::of(self.plan())?;
        let (mut seatings, mut failed) = (Seatings::of(&schedule), BTreeSet::new());
        for (block, number, faults) in store.faults(0..store.blocks()?)? {
            for SeatFault { seat, .. } in faults.iter().filter(|one| one.fault.kind == FaultKind::NoStart) {
                failed.extend(seatings.of_match(block, number).get(seat.index()));
            }
        }
        Ok(failed.into_iter().map(|entry: usize| self.plan().entries[entry].name.clone()).collect())
    }

    /// The programs that do not answer the greeting, and why.
    fn failing(&self, launcher: &Launcher) -> Result<Vec<(String, String)>, PartError> {
        let (plan, entries) = (self.plan(), self.entries()?);
        let launcher = self.launcher(launcher.clone())?.hiding(files_of(&entries));
        let id = plan.game().map_err(TournamentError::Plan)?;
        let mut failing = Vec::new();
        with_game!(id, G => {
            let rules = plan.rules::<G>().map_err(TournamentError::Plan)?;
            for entry in &entries {
                let (EntryKind::Program(program), Some(name)) = (&entry.kind, &entry.name) else { continue };
                let hello: Message<G> = ToBot::Hello {
                    protocol: PROTOCOL,
                    game: G::ID,
                    options: &rules,
                    seats: plan.seats,
                    name,
                };
                let start = || {
                    let (launcher, program) = (launcher.clone(), program.clone());
                    ProcessTransport::new(launcher, program, plan.limits, G::CARD).try_start(&to_line(&hello))
                };
                let mut tries = (0..TRIES).map(|_| start());
                let mut last = None;
                if !tries.any(|tried| tried.map_err(|why| last = Some(why)).is_ok()) {
                    match last {
                        Some(Silence::Fault(fault)) => failing.push((name.clone(), fault.detail)),
                        Some(Silence::Arena(why)) => {
                            return Err(PartError::NoStart { name: name.clone(), why });
                        }
                        None => {}
                    }
                }
            }
        });
        Ok(failing)
    }
}

/// Refuses a machine on which a program fails to start that is not known to fail elsewhere.
fn refuse(failing: Vec<(String, String)>, known: &[String]) -> Result<(), PartError> {
    let failing = failing.into_iter().find(|(name, _)| !known.contains(name));
    failing.map_or(Ok(()), |(name, why)| Err(PartError::NoStart { name, why }))
}
