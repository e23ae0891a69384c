//! Pig: roll a die as often as you dare, or hold. A one loses the turn; the first with 100 points wins.
//!
//! The example of a whole game: this folder, a line in [`catalog`](crate::catalog) and a page in `docs` are all it takes to
//! play it everywhere. Users never see it: only tests enable the feature that compiles it.

mod bots;

use crate::{
    bot::BuiltIn,
    card::Card,
    catalog::Listed,
    chance::Chance,
    game::{Audience, Game, Log, Move, Outcome, Rejected, Seat, within_limit},
    names::{Names, SetupError},
    options::Bounded,
};
use alloc::{format, string::String, vec, vec::Vec};
use core::{convert::Infallible, ops::RangeInclusive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The options of Pig.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PigRules {
    /// Points that win.
    pub goal: Bounded<10, 1000>,
}

impl Default for PigRules {
    fn default() -> Self {
        PigRules { goal: Bounded::new(100) }
    }
}

/// A choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "PigAction")]
pub enum Action {
    /// Roll the die.
    Roll,
    /// Bank the points of the turn.
    Hold,
}

/// The view of a seat. Everybody sees everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PigView {
    /// The seat of the viewer.
    pub seat: Seat,
    /// Whose turn it is.
    pub current: Seat,
    /// Points banked, by seat.
    pub scores: Vec<u32>,
    /// Points of this turn so far.
    pub turn: u32,
    /// Points that win.
    pub goal: u32,
}

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "PigEvent")]
pub enum Event {
    /// The die was rolled.
    Rolled {
        /// The seat that rolled.
        seat: Seat,
        /// The number on the die.
        die: u8,
    },
    /// A turn is over.
    Banked {
        /// Whose turn.
        seat: Seat,
        /// Points of the turn; none after a one.
        points: u32,
        /// The score now.
        score: u32,
    },
}

/// A match of Pig.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pig {
    rules: PigRules,
    scores: Vec<u32>,
    current: Seat,
    turn: u32,
    /// Turns played.
    turns: u32,
}

impl Pig {
    fn is_won(&self) -> bool {
        self.scores.iter().any(|&score| score >= self.rules.goal.get())
    }

    /// Banks the points of the turn, and passes the die on.
    fn end_turn(&mut self, points: u32, log: &mut impl Log<Event>) {
        let seat = self.current;
        self.scores[seat.index()] += points;
        log.record(Audience::Everyone, Event::Banked { seat, points, score: self.scores[seat.index()] });
        (self.turn, self.turns) = (0, self.turns + 1);
        self.current = Seat((seat.0 + 1) % self.scores.len() as u16);
    }
}

impl Game for Pig {
    const SEATS: RangeInclusive<usize> = 2..=6;
    type Rules = PigRules;
    type Action = Action;
    type View = PigView;
    type Event = Event;
    /// Pig has no illegal actions.
    type Illegal = Infallible;

    fn new(
        names: &Names,
        rules: &PigRules,
        _: &mut impl Chance,
        _: &mut impl Log<Event>,
    ) -> Result<Self, SetupError> {
        names.expect_seats(Self::SEATS)?;
        Ok(Pig { rules: *rules, scores: vec![0; names.len()], current: Seat(0), turn: 0, turns: 0 })
    }

    fn seats(&self) -> usize {
        self.scores.len()
    }

    fn rules(&self) -> &PigRules {
        &self.rules
    }

    fn to_act(&self) -> &[Seat] {
        if self.is_won() { &[] } else { self.current.alone() }
    }

    fn view(&self, seat: Seat) -> PigView {
        let Pig { current, turn, .. } = *self;
        PigView { seat, current, scores: self.scores.clone(), turn, goal: self.rules.goal.get() }
    }

    fn legal_actions(view: &PigView) -> Option<impl Iterator<Item = Action>> {
        let over = view.scores.iter().any(|&score| score >= view.goal);
        Some([Action::Roll, Action::Hold].into_iter().filter(move |_| !over))
    }

    fn apply(
        &mut self,
        moves: &[Move<Action>],
        chance: &mut impl Chance,
        log: &mut impl Log<Event>,
    ) -> Result<(), Rejected<Infallible>> {
        self.check_count(moves)?;
        match moves[0] {
            Move::Act(Action::Roll) => {
                let die = chance.uniform(6) as u8 + 1;
                log.record(Audience::Everyone, Event::Rolled { seat: self.current, die });
                match die {
                    1 => self.end_turn(0, log),
                    die => self.turn += u32::from(die),
                }
            }
            Move::Act(Action::Hold) => self.end_turn(self.turn, log),
            Move::Forfeit => self.end_turn(0, log),
        }
        Ok(())
    }

    fn outcome(&self) -> Option<Outcome> {
        let scores = self.scores.iter().map(|&score| score.into()).collect();
        self.is_won().then(|| Outcome::ranked(&self.scores, scores, self.turns))
    }

    fn invariants(&self) -> Result<(), String> {
        within_limit(self.scores.iter().copied().chain([self.turn, self.turns]))?;
        let seats = self.scores.len();
        if !Self::SEATS.contains(&seats) || self.current.index() >= seats {
            return Err(format!("seat {} of {seats}", self.current));
        }
        if self.scores.iter().filter(|&&score| score >= self.rules.goal.get()).count() > 1 {
            return Err("two have won".into());
        }
        if self.is_won() && self.turn > 0 {
            return Err("points of a turn after the end".into());
        }
        Ok(())
    }
}

impl Listed for Pig {
    const CARD: Card = Card {
        rules: "Roll as often as you dare, or hold and bank the turn. A one loses the turn. 100 points win.",
        opponents: &["hold-at"],
        line_up: &["hold-at", "hold-at:points=10", "random"],
        ..Card::new("pig", "Pig", "Roll a die as often as you dare: a one loses the turn, 100 points win.")
    };

    fn built_ins() -> Vec<BuiltIn<Self>> {
        bots::built_ins()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{chance::Scripted, game::Logged};

    #[test]
    fn a_one_loses_the_turn_and_holding_banks_it() {
        let names = Names::new(["Ada", "Bob"]).unwrap();
        let mut log: Vec<Logged<Event>> = Vec::new();
        let mut script = Scripted::new(&[4, 5, 0][..]);
        let game = script.run(|chance| {
            let mut game = Pig::new(&names, &PigRules::default(), chance, &mut log).unwrap();
            for action in [Action::Roll, Action::Roll, Action::Hold, Action::Roll] {
                game.apply(&[Move::Act(action)], chance, &mut log).unwrap();
            }
            game
        });
        let game = game.unwrap();
        assert_eq!((game.scores.as_slice(), game.current, game.turns), (&[11, 0][..], Seat(0), 2));
        assert_eq!(log[2].event, Event::Banked { seat: Seat(0), points: 11, score: 11 });
        assert_eq!(log[4].event, Event::Banked { seat: Seat(1), points: 0, score: 0 });
    }
}
