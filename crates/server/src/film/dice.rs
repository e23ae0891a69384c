//! Zombie Dice: what everybody at the table sees, and the turns that ended in a step. A state shows only the current turn, so the
//! dice of a finished turn are reconstructed from its rolls.

use super::{Camera, Shot};
use necrodome_rules::{
    game::{Game, Logged, Seat},
    zombie_dice::{
        Event, OutOfDice, RaceRules, RaceView, SoloRules, SoloView, TableRules, TableView, Turn, TurnEnd,
        TurnView,
    },
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

/// Reconstructs turns from their rolls.
struct Turns {
    turn: Turn,
    out_of_dice: OutOfDice,
    /// How many turns have ended.
    over: u32,
    /// The points that each seat has banked.
    scores: Vec<u32>,
}

impl Turns {
    fn follow(&mut self, log: &[Logged<Event>]) -> Vec<EndedTurn> {
        let mut ended = Vec::new();
        for Logged { event, .. } in log {
            match *event {
                Event::Rolled { hand, .. } => {
                    self.turn.land(hand, self.out_of_dice);
                }
                Event::TurnEnded { seat, why, banked, score } => {
                    ended.push(EndedTurn { seat, turn: self.turn.view(), why, banked });
                    self.turn = Turn::START;
                    self.over += 1;
                    self.scores.resize(self.scores.len().max(seat.index() + 1), 0);
                    self.scores[seat.index()] = score;
                }
                Event::TiebreakStarted { .. } => {}
            }
        }
        ended
    }
}

/// Rules with a ruling for the moment when the dice are used up.
pub(crate) trait HasDice {
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

/// The view of seat 0, set back to a moment between two turns.
pub(super) trait Between {
    fn put_back(&mut self, turn: TurnView, scores: &[u32]);
}

fn banked(scores: &[u32], seat: usize) -> u32 {
    scores.get(seat).copied().unwrap_or(0)
}

impl Between for TableView {
    fn put_back(&mut self, turn: TurnView, scores: &[u32]) {
        self.turn = turn;
        self.scores.iter_mut().enumerate().for_each(|(seat, score)| *score = banked(scores, seat));
    }
}

impl Between for RaceView {
    fn put_back(&mut self, turn: TurnView, scores: &[u32]) {
        *self = RaceView { turn, score: banked(scores, 0), opponent_score: banked(scores, 1) };
    }
}

impl Between for SoloView {
    fn put_back(&mut self, turn: TurnView, _: &[u32]) {
        self.turn = turn;
    }
}

pub(super) fn camera<G>(rules: &G::Rules) -> Camera<G>
where
    G: Game<Event = Event, Rules: HasDice, View: Between>,
{
    let out_of_dice = rules.out_of_dice();
    let mut turns = Turns { turn: Turn::START, out_of_dice, over: 0, scores: Vec::new() };
    Box::new(move |game, parts| {
        let shoot = |(number, log): (usize, &&[Logged<Event>])| {
            let turn = turns.over + 1;
            let ended = turns.follow(log);
            let mut view = game.view(Seat(0));
            if number + 1 < parts.len() {
                view.put_back(turns.turn.view(), &turns.scores);
            }
            let scene = DiceScene { view, ended };
            Shot { turn, scene: serde_json::to_value(scene).unwrap_or_default() }
        };
        parts.iter().enumerate().map(shoot).collect()
    })
}
