//! Whether the programs of a plan start. A module that a worker lacks, or a file that no pack took along, is no fault of the bot's: it shows
//! before the first block is played.

use super::{PartError, PlanFile};
use crate::{
    entry::{EntryKind, files_of},
    process::{Launcher, ProcessTransport},
    protocol::{Message, PROTOCOL, Silence, ToBot, to_line},
    tournament::TournamentError,
};
use necrodome_rules::{catalog::Listed, with_game};

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
        // A store does not know what started.
        if self.is_hearsay {
            return Ok(());
        }
        let failing = self.failing(launcher)?.into_iter().find(|(name, _)| !self.not_started.contains(name));
        failing.map_or(Ok(()), |(name, why)| Err(PartError::NoStart { name, why }))
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
