//! Race: two players take turns; the first to bank 13 wins on the spot.

use super::{
    Action, Event, FirstRoll, GOAL, OutOfDice, Turn, TurnEnd, TurnView,
    turn::{bank, start_turn, take_move},
};
use crate::{
    chance::Chance,
    game::{Game, Log, Move, Outcome, Rejected, Seat, within_limit},
    names::{Names, SetupError},
    options::Bounded,
};
use alloc::{
    format,
    string::{String, ToString},
};
use core::{convert::Infallible, ops::RangeInclusive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The options of the race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RaceRules {
    /// What happens when the cup and the footsteps hold fewer than three dice.
    pub out_of_dice: OutOfDice,
    /// Whether a player may stop before the first roll, or must make it.
    pub first_roll: FirstRoll,
    /// The most rounds, after which the higher score wins. With none, two players who never bank play forever.
    pub max_rounds: Option<Bounded<1, 1_000_000>>,
}

impl Default for RaceRules {
    fn default() -> Self {
        RaceRules {
            out_of_dice: OutOfDice::EndTurn,
            first_roll: FirstRoll::Free,
            max_rounds: Some(Bounded::new(1000)),
        }
    }
}

/// A race of two.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Race {
    rules: RaceRules,
    scores: [u32; 2],
    mover: Seat,
    turn: Turn,
    /// Turns that have ended.
    turns: u32,
    over: bool,
}

/// The eight variables of the turn and both scores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RaceView {
    /// The dice of the player whose turn it is.
    pub turn: TurnView,
    /// The banked score of this player.
    pub score: u32,
    /// The banked score of the other player.
    pub opponent_score: u32,
}

impl AsRef<TurnView> for RaceView {
    fn as_ref(&self) -> &TurnView {
        &self.turn
    }
}

/// The reward of a won race; that of a lost one is its negative.
pub const WIN_REWARD: i32 = 10;

impl Race {
    /// The reward at the end: +10 for the winner and -10 for the loser; 0 before it, and when `max_rounds` ends a tied race.
    pub fn reward(&self, seat: Seat) -> i32 {
        let (own, other) = (self.scores[seat.index()], self.scores[1 - seat.index()]);
        match own.cmp(&other) {
            _ if !self.over => 0,
            core::cmp::Ordering::Greater => WIN_REWARD,
            core::cmp::Ordering::Equal => 0,
            core::cmp::Ordering::Less => -WIN_REWARD,
        }
    }

    fn start_turn(&mut self, chance: &mut impl Chance, log: &mut impl Log<Event>) -> Option<TurnEnd> {
        let RaceRules { first_roll, out_of_dice, .. } = self.rules;
        start_turn(self.mover, &mut self.turn, first_roll, out_of_dice, chance, log)
    }

    /// Ends turns and starts new ones until a player has to decide or the race is over.
    fn proceed(&mut self, mut ended: Option<TurnEnd>, chance: &mut impl Chance, log: &mut impl Log<Event>) {
        while let Some(why) = ended {
            let score = &mut self.scores[self.mover.index()];
            bank(self.mover, &self.turn, why, score, log);
            self.turns += 1;
            self.over =
                *score >= GOAL || self.rules.max_rounds.is_some_and(|max| self.turns == 2 * max.get());
            if self.over {
                return;
            }
            self.mover = Seat(1 - self.mover.0);
            ended = self.start_turn(chance, log);
        }
    }
}

impl Game for Race {
    const SEATS: RangeInclusive<usize> = 2..=2;
    type Rules = RaceRules;
    type Action = Action;
    type View = RaceView;
    type Event = Event;
    type Illegal = Infallible;

    fn new(
        names: &Names,
        rules: &RaceRules,
        chance: &mut impl Chance,
        log: &mut impl Log<Event>,
    ) -> Result<Self, SetupError> {
        names.expect_seats(Self::SEATS)?;
        let mut game =
            Race { rules: *rules, scores: [0; 2], mover: Seat(0), turn: Turn::START, turns: 0, over: false };
        let ended = game.start_turn(chance, log);
        game.proceed(ended, chance, log);
        Ok(game)
    }

    fn seats(&self) -> usize {
        self.scores.len()
    }

    fn rules(&self) -> &RaceRules {
        &self.rules
    }

    #[inline]
    fn to_act(&self) -> &[Seat] {
        if self.over { &[] } else { self.mover.alone() }
    }

    #[inline]
    fn view(&self, seat: Seat) -> RaceView {
        RaceView {
            turn: self.turn.view(),
            score: self.scores[seat.index()],
            opponent_score: self.scores[1 - seat.index()],
        }
    }

    fn legal_actions(_: &RaceView) -> Option<impl Iterator<Item = Action>> {
        Some([Action::Go, Action::Stop].into_iter())
    }

    fn apply(
        &mut self,
        moves: &[Move<Action>],
        chance: &mut impl Chance,
        log: &mut impl Log<Event>,
    ) -> Result<(), Rejected<Infallible>> {
        self.check_count(moves)?;
        let ended = take_move(self.mover, &mut self.turn, &moves[0], self.rules.out_of_dice, chance, log);
        self.proceed(ended, chance, log);
        Ok(())
    }

    fn outcome(&self) -> Option<Outcome> {
        let scores = || self.scores.iter().map(|&score| score.into()).collect();
        self.over.then(|| Outcome::ranked(&self.scores, scores(), self.turns))
    }

    fn invariants(&self) -> Result<(), String> {
        if self.mover.index() >= 2 {
            return Err(format!("seat {} in a race of two", self.mover));
        }
        within_limit(self.scores.into_iter().chain([self.turns]))?;
        let max_turns = self.rules.max_rounds.map_or(u32::MAX, |max| 2 * max.get());
        let finished = self.scores.iter().any(|&score| score >= GOAL) || self.turns >= max_turns;
        if finished != self.over || self.turns > max_turns {
            return Err(format!("over is {} at {:?} after {} turns", self.over, self.scores, self.turns));
        }
        if self.scores.iter().all(|&score| score >= GOAL) {
            return Err("both have reached the goal".to_string());
        }
        if self.over {
            self.turn.invariants(self.rules.out_of_dice)
        } else {
            self.turn.open_invariants(self.rules.out_of_dice)
        }
    }
}
