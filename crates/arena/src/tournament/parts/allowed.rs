//! What a host lets the programs of a plan do on its machine. A plan may be a stranger's, so it decides nothing alone.

use super::{
    super::{Plan, TournamentError},
    PartError,
};
use crate::process::{Gifts, Level, Limits, Wish};

/// What a host allows the programs of plans: by default no gifts, the usual limits, and confinement that keeps a bot from the user's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    /// The least confinement.
    pub(super) least: Level,
    /// The gifts that a plan may ask for.
    gifts: Gifts,
    /// The highest limits.
    most: Limits,
}

impl Default for Allowed {
    fn default() -> Self {
        Allowed::new(Wish::Auto, Gifts::default(), Limits::default())
    }
}

impl Allowed {
    /// Returns what somebody allows who asked for this confinement and named these gifts and limits.
    pub fn new(wish: Wish, gifts: Gifts, most: Limits) -> Self {
        let least = match wish {
            Wish::Auto => Level::Strict,
            Wish::Named(level) => level,
        };
        Allowed { least, gifts, most }
    }

    /// Returns what a plan asks for: what its own author allows.
    pub fn all_of(plan: &Plan) -> Self {
        Allowed::new(plan.sandbox.map_or(Wish::Auto, Wish::Named), plan.gifts.clone(), plan.limits)
    }

    /// Refuses a plan whose programs would run at this level, if it asks for more than is allowed. Says which flags would allow it.
    pub(super) fn check(&self, plan: &Plan, level: Option<Level>) -> Result<(), PartError> {
        let (mut what, mut flags) = (Vec::new(), Vec::new());
        if let Some(level) = level.filter(|&level| level < self.least) {
            what.push(format!("to confine them at the level {level} only, which is below {}", self.least));
            flags.push(format!("--sandbox {level}"));
        }
        let lacks = |name: &&String| !self.gifts.environment.contains(name);
        let lacking = Gifts {
            network: plan.gifts.network && !self.gifts.network,
            environment: plan.gifts.environment.iter().filter(lacks).cloned().collect(),
        };
        if !lacking.is_empty() {
            what.push(format!("to give them {lacking}"));
            flags.extend(lacking.network.then(|| "--allow-network".to_owned()));
            flags.extend(lacking.environment.iter().map(|name| format!("--pass-env {name}")));
        }
        let game = plan.game().map_err(TournamentError::Plan)?.card();
        let above = plan.limits.above(&self.most, &game);
        if !above.is_empty() {
            let limits: Vec<String> = above.iter().map(|(name, limit)| format!("{name} = {limit}")).collect();
            what.push(format!("to raise their limits ({})", limits.join(", ")));
            flags.extend(above.iter().map(|(name, limit)| format!("--{} {limit}", name.replace('_', "-"))));
        }
        match what.is_empty() {
            true => Ok(()),
            false => Err(PartError::NotAllowed { what: what.join(", and "), flags: flags.join(" ") }),
        }
    }
}
