//! The classic rules (docs/rules/infection-classic.md): points instead of antibodies and viruses, one antidote each,
//! and limits counted in turns.
//!
//! A human's points (handshakes) are their `antibodies`, a zombie's (infections) their `viruses`: each side has its own
//! number, as in the standard rules. This module holds the rest.

use super::party::{Identity, InfectionRules, Player, Role};
use serde::{Deserialize, Serialize};

/// The state of a player that only the classic rules have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classic {
    /// The player's identity at the start, as they were told; they are told no more later.
    pub told: Identity,
    /// Antidotes left.
    pub antidotes: u32,
    /// The turns that have ended since the infection, while it can still be cured.
    pub infected_turns: u32,
    /// Turns that have ended since the player last began a contact.
    pub idle_turns: u32,
}

impl Classic {
    /// A player at the start of a game.
    pub(super) fn new(zombie: bool) -> Self {
        let told = if zombie { Identity::Zombie } else { Identity::Human };
        Classic { told, antidotes: 1, infected_turns: 0, idle_turns: 0 }
    }

    /// Takes the only antidote. It cures an infection that is not yet permanent, and is spent in any case.
    pub(super) fn antidote(&mut self, player: &mut Player) {
        self.antidotes -= 1;
        self.infected_turns = 0;
        if player.role == Role::Infected {
            player.role = Role::Human;
        }
    }

    /// Ends a turn: an infection may become permanent, and idling may make a zombie. Returns whether the player became a zombie.
    pub(super) fn end_turn(&mut self, player: &mut Player, rules: &InfectionRules) -> bool {
        self.idle_turns += 1;
        self.infected_turns += u32::from(player.role == Role::Infected);
        let idle = rules.interaction_limit.is_some_and(|limit| limit.get() == self.idle_turns);
        if !idle && self.infected_turns <= rules.antidote_limit.get() {
            return false;
        }
        let turned = player.role != Role::Zombie;
        // Idling costs a zombie its points, too.
        (player.role, player.antibodies, player.viruses) = (Role::Zombie, 0, 0);
        self.infected_turns = 0;
        turned
    }
}

/// Plays a contact: two humans gain a point each; anybody else infects a human, and a zombie gains a point for it.
pub(super) fn meet(a: &mut Player, b: &mut Player) {
    match (a.role, b.role) {
        (Role::Human, Role::Human) => {
            a.antibodies += 1;
            b.antibodies += 1;
        }
        (Role::Human, _) => infect(a, b),
        (_, Role::Human) => infect(b, a),
        _ => {}
    }
}

fn infect(human: &mut Player, by: &mut Player) {
    human.role = Role::Infected;
    by.viruses += u32::from(by.role == Role::Zombie);
}
