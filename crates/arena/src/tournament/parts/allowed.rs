//! What a host lets the programs of a plan do on its machine. A plan may be a stranger's, so it decides nothing alone.

use super::{super::Plan, PartError};
use crate::process::{Gifts, Level, Wish};

/// What a host allows the programs of plans: by default no gifts, and confinement that keeps a bot from the user's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    /// The least confinement.
    least: Level,
    /// The gifts that a plan may ask for.
    gifts: Gifts,
}

impl Default for Allowed {
    fn default() -> Self {
        Allowed::new(Wish::Auto, Gifts::default())
    }
}

impl Allowed {
    /// Returns what somebody allows who asked for this confinement and named these gifts.
    pub fn new(wish: Wish, gifts: Gifts) -> Self {
        let least = match wish {
            Wish::Auto => Level::Strict,
            Wish::Named(level) => level,
        };
        Allowed { least, gifts }
    }

    /// Returns what a plan asks for: what its own author allows.
    pub fn all_of(plan: &Plan) -> Self {
        Allowed { least: plan.sandbox.unwrap_or(Level::Strict), gifts: plan.gifts.clone() }
    }

    /// Refuses programs at this level with these gifts, if that is more than is allowed. Says which flags would allow it.
    pub(super) fn check(&self, level: Level, gifts: &Gifts) -> Result<(), PartError> {
        let (mut what, mut flags) = (Vec::new(), Vec::new());
        if level < self.least {
            what.push(format!("to confine them at the level {level} only, which is below {}", self.least));
            flags.push(format!("--sandbox {level}"));
        }
        let has = |name: &&String| !self.gifts.environment.contains(name);
        let lacking = Gifts {
            network: gifts.network && !self.gifts.network,
            environment: gifts.environment.iter().filter(has).cloned().collect(),
        };
        if !lacking.is_empty() {
            what.push(format!("to give them {lacking}"));
            flags.extend(lacking.network.then(|| "--allow-network".to_owned()));
            flags.extend(lacking.environment.iter().map(|name| format!("--pass-env {name}")));
        }
        match what.is_empty() {
            true => Ok(()),
            false => Err(PartError::NotAllowed { what: what.join(", and "), flags: flags.join(" ") }),
        }
    }
}
