//! Infection as the judge knows it. A party can be large, so a scene holds only those who are not as they were.

use super::Camera;
use necrodome_rules::{
    game::Seat,
    infection::{Infection, InfectionRules, Player, Role},
};
use schemars::JsonSchema;
use serde::Serialize;

/// The party after a step.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InfectionScene {
    /// Turns finished.
    pub turns: u32,
    /// Those who changed in this step; everybody in the set-up.
    pub changed: Vec<PlayerNow>,
}

/// A player as it is now.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlayerNow {
    /// Which.
    pub seat: Seat,
    /// What it really is.
    pub role: Role,
    /// Antibodies; none for a zombie.
    pub antibodies: u32,
    /// A zombie's stock, or what a human carries without knowing.
    pub viruses: u32,
    /// Whether it has ended its turn.
    pub ended: bool,
}

impl PlayerNow {
    fn new(seat: Seat, player: &Player) -> Self {
        let Player { role, antibodies, viruses, ended, .. } = *player;
        PlayerNow { seat, role, antibodies, viruses, ended }
    }
}

pub(super) fn camera(_: &InfectionRules) -> Camera<Infection> {
    let mut before: Vec<Player> = Vec::new();
    Box::new(move |game, _| {
        let now = game.party().players();
        let seats = Seat::all(now.len()).iter().zip(now);
        let changed = seats.filter(|(seat, player)| before.get(seat.index()) != Some(player));
        let changed = changed.map(|(&seat, player)| PlayerNow::new(seat, player)).collect();
        before = now.to_vec();
        serde_json::to_value(InfectionScene { turns: game.party().turns(), changed }).unwrap_or_default()
    })
}
