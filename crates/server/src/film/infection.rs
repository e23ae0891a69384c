//! Infection as the judge knows it. A party can be large, so a scene holds only the players who changed.

use super::{Camera, Shot};
use necrodome_rules::{
    game::{Logged, Seat},
    infection::{Event, Infection, InfectionRules, Party, Player, Role},
};
use schemars::JsonSchema;
use serde::Serialize;

/// The party after a step.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InfectionScene {
    /// Turns finished.
    pub turns: u32,
    /// The players who changed in this step; in the set-up, all of them.
    pub changed: Vec<PlayerNow>,
}

/// A player after the step.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlayerNow {
    /// Their seat.
    pub seat: Seat,
    /// Their real role.
    pub role: Role,
    /// Their antibodies; 0 for a zombie.
    pub antibodies: u32,
    /// A zombie's stock, or what a human carries without knowing.
    pub viruses: u32,
    /// Whether they have ended their turn.
    pub ended: bool,
}

impl PlayerNow {
    fn new(seat: Seat, player: &Player) -> Self {
        let Player { role, antibodies, viruses, ended, .. } = *player;
        PlayerNow { seat, role, antibodies, viruses, ended }
    }
}

/// Returns the party as one player left it, before the turn was closed.
fn before_the_close(mut party: Party, log: &[Logged<Event>]) -> Party {
    for Logged { event, .. } in log {
        // What was refused then is refused now.
        match event {
            Event::Antidote { seat, .. } => drop(party.antidote(*seat)),
            Event::Ended { seat } => drop(party.end(*seat)),
            _ => {}
        }
    }
    party
}

pub(super) fn camera(_: &InfectionRules) -> Camera<Infection> {
    let mut before: Option<Party> = None;
    Box::new(move |game, parts| {
        // With the last player's step the turn is closed.
        let closing = match parts {
            [first, _, ..] => before.clone().map(|party| (party, *first)),
            _ => None,
        };
        let shoot = |now: Party| {
            let old = before.as_ref().map_or(&[][..], Party::players);
            let seats = Seat::all(now.players().len()).iter().zip(now.players());
            let changed = seats.filter(|(seat, player)| old.get(seat.index()) != Some(player));
            let changed = changed.map(|(&seat, player)| PlayerNow::new(seat, player)).collect();
            let scene = InfectionScene { turns: now.turns(), changed };
            // What is announced belongs to the turn that has ended.
            let turn = before.as_ref().map_or(0, Party::turns) + 1;
            before = Some(now);
            Shot { turn, scene: serde_json::to_value(scene).unwrap_or_default() }
        };
        let closing = closing.map(|(party, log)| before_the_close(party, log));
        closing.into_iter().chain([game.party().clone()]).map(shoot).collect()
    })
}
