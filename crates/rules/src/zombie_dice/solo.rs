//! Solo: one turn, as a decision problem.

use super::{
    Action, Event, FirstRoll, OutOfDice, Turn, TurnEnd, TurnView,
    turn::{bank, start_turn, take_move},
};
use crate::{
    chance::Chance,
    game::{Game, Log, Move, Outcome, Rejected, Seat},
    names::{Names, SetupError},
};
use alloc::{format, string::String, vec};
use core::{convert::Infallible, ops::RangeInclusive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The options of solo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SoloRules {
    /// What happens when the cup and the footsteps hold fewer than three dice.
    pub out_of_dice: OutOfDice,
    /// Whether a player may stop before the first roll, or must make it.
    pub first_roll: FirstRoll,
}

impl Default for SoloRules {
    fn default() -> Self {
        SoloRules { out_of_dice: OutOfDice::EndTurn, first_roll: FirstRoll::Free }
    }
}

/// One turn of one player.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Solo {
    rules: SoloRules,
    turn: Turn,
    /// The final score, once the turn is over.
    banked: Option<u32>,
}

/// The eight variables of the turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SoloView {
    /// The dice.
    pub turn: TurnView,
}

impl AsRef<TurnView> for SoloView {
    fn as_ref(&self) -> &TurnView {
        &self.turn
    }
}

impl Solo {
    /// The score if the player stopped now; once the turn is over, the final score. The reward of a step is the change of
    /// this score, so rewards sum to the final score.
    pub fn provisional_score(&self) -> u32 {
        self.banked.unwrap_or(self.turn.brains())
    }

    fn end(&mut self, ended: Option<TurnEnd>, log: &mut impl Log<Event>) {
        if let Some(why) = ended {
            let mut score = 0;
            bank(Seat(0), &self.turn, why, &mut score, log);
            self.banked = Some(score);
        }
    }
}

impl Game for Solo {
    const SEATS: RangeInclusive<usize> = 1..=1;
    type Rules = SoloRules;
    type Action = Action;
    type View = SoloView;
    type Event = Event;
    type Illegal = Infallible;

    fn new(
        names: &Names,
        rules: &SoloRules,
        chance: &mut impl Chance,
        log: &mut impl Log<Event>,
    ) -> Result<Self, SetupError> {
        names.expect_seats(Self::SEATS)?;
        let mut game = Solo { rules: *rules, turn: Turn::START, banked: None };
        let ended = start_turn(Seat(0), &mut game.turn, rules.first_roll, rules.out_of_dice, chance, log);
        game.end(ended, log);
        Ok(game)
    }

    fn seats(&self) -> usize {
        1
    }

    fn rules(&self) -> &SoloRules {
        &self.rules
    }

    #[inline]
    fn to_act(&self) -> &[Seat] {
        if self.banked.is_none() { Seat(0).alone() } else { &[] }
    }

    fn view(&self, _: Seat) -> SoloView {
        SoloView { turn: self.turn.view() }
    }

    fn legal_actions(_: &SoloView) -> Option<impl Iterator<Item = Action>> {
        Some([Action::Go, Action::Stop].into_iter())
    }

    fn apply(
        &mut self,
        moves: &[Move<Action>],
        chance: &mut impl Chance,
        log: &mut impl Log<Event>,
    ) -> Result<(), Rejected<Infallible>> {
        self.check_count(moves)?;
        let ended = take_move(Seat(0), &mut self.turn, &moves[0], self.rules.out_of_dice, chance, log);
        self.end(ended, log);
        Ok(())
    }

    fn outcome(&self) -> Option<Outcome> {
        let score = self.banked?;
        Some(Outcome { places: vec![1], scores: vec![score.into()], turns: 1 })
    }

    fn invariants(&self) -> Result<(), String> {
        match self.banked {
            None => self.turn.open_invariants(self.rules.out_of_dice),
            Some(score) if score != 0 && score != self.turn.brains() => {
                Err(format!("banked {score} for {} brains", self.turn.brains()))
            }
            Some(_) => self.turn.invariants(self.rules.out_of_dice),
        }
    }
}
