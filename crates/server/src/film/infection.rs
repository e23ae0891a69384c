//! Infection as the judge knows it. A party can be large, so a scene holds only those who are not as they were.

use super::{Filmed, Footage, Frames};
use necrodome_rules::{
    game::{Logged, Move, Seat},
    infection::{Action, Commitment, Event, Infection, InfectionRules, InfectionView, Player, Role},
    names::Names,
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

impl Filmed for Infection {
    type Scene = InfectionScene;

    fn camera(_: &InfectionRules) -> impl FnMut(&Self, &[Logged<Event>]) -> InfectionScene {
        let mut before: Vec<Player> = Vec::new();
        move |game, _| {
            let now = game.party().players();
            let seats = Seat::all(now.len()).iter().zip(now);
            let changed = seats.filter(|(seat, player)| before.get(seat.index()) != Some(player));
            let changed = changed.map(|(&seat, player)| PlayerNow::new(seat, player)).collect();
            before = now.to_vec();
            InfectionScene { turns: game.party().turns(), changed }
        }
    }

    fn words(_: &InfectionView, choice: &Move<Action>, names: &Names) -> String {
        let first = |antidote: bool| if antidote { "takes the antidote and " } else { "" };
        match *choice {
            Move::Act(Action::Contact { with, commit, antidote }) => {
                format!("{}wants to meet {}{}", first(antidote), &names[with], with_what(commit))
            }
            Move::Act(Action::Answer { commit, antidote }) => {
                format!("{}agrees to meet{}", first(antidote), with_what(commit))
            }
            Move::Act(Action::End { antidote }) => format!("{}ends the turn", first(antidote)),
            Move::Forfeit => "gives no valid answer".to_owned(),
        }
    }

    fn footage(frames: Frames<Self>) -> Footage {
        Footage::Infection(frames)
    }
}

fn with_what(commit: Commitment) -> String {
    match commit {
        Commitment::None => String::new(),
        Commitment::Precaution => ", with a precaution".to_owned(),
        Commitment::Virus { count: 1 } => ", with a virus".to_owned(),
        Commitment::Virus { count } => format!(", with {count} viruses"),
    }
}
