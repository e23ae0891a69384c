//! Zombie Dice: what everybody at the table sees, and the turns that ended since the last look. A state shows the turn that goes
//! on; the dice of a turn that is over are put together again from its rolls.

use super::Camera;
use necrodome_rules::{
    game::{Game, Logged, Seat},
    zombie_dice::{Event, OutOfDice, RaceRules, SoloRules, TableRules, Turn, TurnEnd, TurnView},
};
use schemars::JsonSchema;
use serde::Serialize;

/// The table after a step.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "{V}Scene")]
pub struct DiceScene<V> {
    /// As seat 0 sees it: nothing is hidden in this game.
    pub view: V,
    /// Turns that ended in this step.
    pub ended: Vec<EndedTurn>,
}

/// A turn that is over.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EndedTurn {
    /// Whose turn.
    pub seat: Seat,
    /// Its dice as they lay at the end.
    pub turn: TurnView,
    /// Why it ended.
    pub why: TurnEnd,
    /// Points banked for it.
    pub banked: u32,
}

/// Puts turns together from their rolls.
struct Turns {
    turn: Turn,
    out_of_dice: OutOfDice,
}

impl Turns {
    fn follow(&mut self, log: &[Logged<Event>]) -> Vec<EndedTurn> {
        let mut ended = Vec::new();
        for Logged { event, .. } in log {
            match *event {
                Event::Rolled { hand, .. } => {
                    self.turn.land(hand, self.out_of_dice);
                }
                Event::TurnEnded { seat, why, banked, .. } => {
                    ended.push(EndedTurn { seat, turn: self.turn.view(), why, banked });
                    self.turn = Turn::START;
                }
                Event::TiebreakStarted { .. } => {}
            }
        }
        ended
    }
}

/// Rules that say what happens when the dice are used up.
pub(super) trait HasDice {
    fn out_of_dice(&self) -> OutOfDice;
}

macro_rules! has_dice {
    ($($rules:ty),*) => {$(
        impl HasDice for $rules {
            fn out_of_dice(&self) -> OutOfDice {
                self.out_of_dice
            }
        }
    )*};
}

has_dice!(TableRules, RaceRules, SoloRules);

pub(super) fn camera<G: Game<Event = Event, Rules: HasDice>>(rules: &G::Rules) -> Camera<G> {
    let mut turns = Turns { turn: Turn::START, out_of_dice: rules.out_of_dice() };
    Box::new(move |game, log| {
        let scene = DiceScene { view: game.view(Seat(0)), ended: turns.follow(log) };
        serde_json::to_value(scene).unwrap_or_default()
    })
}
