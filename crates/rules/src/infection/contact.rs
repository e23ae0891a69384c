//! The table of contacts: what two players do to each other when they meet.

use super::party::{Player, Role, Ruleset, SurplusVirus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A side's commitment to a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Commitment {
    /// Nothing.
    #[default]
    None,
    /// Spends an antibody: it protects a human, and does nothing for an infected player.
    Precaution,
    /// A zombie applies viruses to the other player.
    Virus {
        /// The number of viruses, at least 1.
        count: u32,
    },
}

impl Commitment {
    fn viruses(self) -> u32 {
        match self {
            Commitment::Virus { count } => count,
            Commitment::None | Commitment::Precaution => 0,
        }
    }
}

/// The effect of a contact on one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// The role before the contact.
    pub was: Role,
    /// The role after the contact.
    pub is: Role,
    /// Antibodies now; a human's points in the classic rules.
    pub antibodies: u32,
    /// Viruses now: a zombie's stock, or those that a human carries without knowing; a zombie's points in the classic rules.
    pub viruses: u32,
    /// The rules of the contact.
    #[serde(default, skip_serializing_if = "Ruleset::is_standard")]
    pub rules: Ruleset,
}

impl Player {
    /// Adds an antibody, unless a virus that the player carries cancels it.
    fn gain_antibody(&mut self) {
        if self.viruses > 0 {
            self.viruses -= 1;
        } else {
            self.antibodies += 1;
        }
    }

    /// Adds viruses. Each cancels an antibody; the player keeps the surplus if the rules say so.
    fn take_viruses(&mut self, count: u32, surplus: SurplusVirus) {
        let cancelled = count.min(self.antibodies);
        self.antibodies -= cancelled;
        if surplus == SurplusVirus::Carry {
            self.viruses += count - cancelled;
        }
    }

    /// Pays for a commitment. The caller has checked that the player can.
    fn pay(&mut self, commitment: Commitment) {
        match commitment {
            Commitment::None => {}
            Commitment::Precaution => self.antibodies -= 1,
            Commitment::Virus { count } => self.viruses -= count,
        }
    }
}

/// Plays a contact: costs are paid first, then the table applies to the roles before the contact.
#[inline]
pub(super) fn meet(a: (&mut Player, Commitment), b: (&mut Player, Commitment), surplus: SurplusVirus) {
    let ((a, a_commits), (b, b_commits)) = (a, b);
    a.pay(a_commits);
    b.pay(b_commits);
    match (a.role, b.role) {
        (Role::Human, Role::Human) => {
            if a_commits == Commitment::None && b_commits == Commitment::None {
                a.gain_antibody();
                b.gain_antibody();
            }
        }
        (Role::Human, Role::Infected) => human_meets_infected(a, a_commits, b),
        (Role::Infected, Role::Human) => human_meets_infected(b, b_commits, a),
        (Role::Human, Role::Zombie) => human_meets_zombie(a, a_commits, b_commits.viruses(), surplus),
        (Role::Zombie, Role::Human) => human_meets_zombie(b, b_commits, a_commits.viruses(), surplus),
        (Role::Infected, Role::Infected) => {}
        (Role::Infected, Role::Zombie) => infected_meets_zombie(a, b_commits.viruses(), surplus),
        (Role::Zombie, Role::Infected) => infected_meets_zombie(b, a_commits.viruses(), surplus),
        (Role::Zombie, Role::Zombie) => {
            let (from_a, from_b) = (a_commits.viruses(), b_commits.viruses());
            if from_a + from_b > 0 {
                a.viruses += from_b;
                b.viruses += from_a;
            } else {
                a.viruses += 1;
                b.viruses += 1;
            }
        }
    }
}

/// Returns what two players would be after a contact. Both must be able to pay for their commitments.
pub fn after_contact(a: (Player, Commitment), b: (Player, Commitment), surplus: SurplusVirus) -> [Player; 2] {
    let (mut one, mut other) = (a.0, b.0);
    meet((&mut one, a.1), (&mut other, b.1), surplus);
    [one, other]
}

/// The human's precaution keeps everything as it is; the infected's does nothing.
fn human_meets_infected(human: &mut Player, commits: Commitment, infected: &mut Player) {
    if commits != Commitment::Precaution {
        infected.gain_antibody();
        human.role = Role::Infected;
    }
}

/// Without precaution the human is infected; with it only if viruses left no antibody.
fn human_meets_zombie(human: &mut Player, commits: Commitment, viruses: u32, surplus: SurplusVirus) {
    human.take_viruses(viruses, surplus);
    let shielded = commits == Commitment::Precaution && (viruses == 0 || human.antibodies > 0);
    if !shielded {
        human.role = Role::Infected;
    }
}

/// The touch takes an antibody, then the viruses cancel more.
fn infected_meets_zombie(infected: &mut Player, viruses: u32, surplus: SurplusVirus) {
    infected.antibodies = infected.antibodies.saturating_sub(1);
    infected.take_viruses(viruses, surplus);
}
