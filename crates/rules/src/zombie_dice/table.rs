//! Table: 2 to 99 players, a last round when somebody has 13, tiebreaks.

use super::{
    Action, Event, FirstRoll, GOAL, OutOfDice, Turn, TurnEnd, TurnView,
    turn::{bank, start_turn, take_move},
};
use crate::{
    chance::Chance,
    game::{Audience, Game, Log, Move, Outcome, Rejected, Seat, within_limit},
    names::{Names, SetupError},
    options::Bounded,
};
use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::{convert::Infallible, ops::RangeInclusive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rule for players who are tied for the lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tiebreak {
    /// They play one more round; those who are still tied share the win.
    #[default]
    OneRound,
    /// They play on until one leads.
    UntilBroken,
}

/// The options of the table game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TableRules {
    /// What happens when the cup and the footsteps hold fewer than three dice.
    pub out_of_dice: OutOfDice,
    /// Whether a player may stop before the first roll, or must make it.
    pub first_roll: FirstRoll,
    /// Whether players tied for the lead play one more round, or play on until one leads.
    pub tiebreak: Tiebreak,
    /// The most rounds, after which the highest score wins. With none, players who never bank play forever.
    pub max_rounds: Option<Bounded<1, 1_000_000>>,
}

impl Default for TableRules {
    fn default() -> Self {
        TableRules {
            out_of_dice: OutOfDice::EndTurn,
            first_roll: FirstRoll::Mandatory,
            tiebreak: Tiebreak::OneRound,
            max_rounds: Some(Bounded::new(1000)),
        }
    }
}

/// A table of 2 to 99 players.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Table {
    rules: TableRules,
    scores: Vec<u32>,
    /// The players of this round, in the order of their turns: everybody, or those in the tiebreak.
    playing: Vec<Seat>,
    /// Index in `playing` of the player whose turn it is.
    mover: usize,
    turn: Turn,
    /// Rounds finished.
    rounds: u32,
    tiebreak: bool,
    over: bool,
    /// Turns that have ended.
    turns: u32,
}

/// The view of a player at the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableView {
    /// The dice of the player whose turn it is.
    pub turn: TurnView,
    /// This player's seat.
    pub seat: Seat,
    /// Banked scores of all seats.
    pub scores: Vec<u32>,
    /// The players of this round, in the order of their turns.
    pub playing: Vec<Seat>,
    /// The number of players in `playing` who have finished their turn of this round.
    pub played: u16,
    /// Rounds finished.
    pub rounds: u32,
    /// Whether this is a tiebreak round.
    pub tiebreak: bool,
}

impl AsRef<TurnView> for TableView {
    fn as_ref(&self) -> &TurnView {
        &self.turn
    }
}

impl Table {
    fn start_turn(&mut self, chance: &mut impl Chance, log: &mut impl Log<Event>) -> Option<TurnEnd> {
        let TableRules { first_roll, out_of_dice, .. } = self.rules;
        start_turn(self.playing[self.mover], &mut self.turn, first_roll, out_of_dice, chance, log)
    }

    /// Ends turns and starts new ones until a player has to decide or the match is over.
    fn proceed(&mut self, mut ended: Option<TurnEnd>, chance: &mut impl Chance, log: &mut impl Log<Event>) {
        while let Some(why) = ended {
            let seat = self.playing[self.mover];
            bank(seat, &self.turn, why, &mut self.scores[seat.index()], log);
            self.turns += 1;
            self.mover += 1;
            if self.mover == self.playing.len() {
                self.end_round(log);
                if self.over {
                    return;
                }
            }
            ended = self.start_turn(chance, log);
        }
    }

    /// Ends a round: the match ends, the leaders play a tiebreak, or the next round begins.
    ///
    /// Everybody has the same number of turns, so after the first player reaches 13 the others still finish the round.
    fn end_round(&mut self, log: &mut impl Log<Event>) {
        self.rounds += 1;
        self.mover = 0;
        let best = self.best();
        if self.rules.max_rounds.is_some_and(|max| self.rounds == max.get()) {
            self.over = true;
        } else if best >= GOAL {
            let tied = self.scores.iter().filter(|&&score| score == best).count();
            let played_out = self.tiebreak && self.rules.tiebreak == Tiebreak::OneRound;
            if tied == 1 || played_out {
                self.over = true;
            } else {
                self.tiebreak = true;
                self.playing.retain(|seat| self.scores[seat.index()] == best);
                log.record(Audience::Everyone, Event::TiebreakStarted { seats: self.playing.clone() });
            }
        }
        if self.over {
            // Nobody is to act: keep the last mover, for the record.
            self.mover = self.playing.len() - 1;
        }
    }

    fn best(&self) -> u32 {
        self.scores.iter().copied().max().unwrap_or(0)
    }
}

impl Game for Table {
    const SEATS: RangeInclusive<usize> = 2..=99;
    type Rules = TableRules;
    type Action = Action;
    type View = TableView;
    type Event = Event;
    type Illegal = Infallible;

    fn new(
        names: &Names,
        rules: &TableRules,
        chance: &mut impl Chance,
        log: &mut impl Log<Event>,
    ) -> Result<Self, SetupError> {
        names.expect_seats(Self::SEATS)?;
        let mut game = Table {
            rules: *rules,
            scores: vec![0; names.len()],
            playing: Seat::all(names.len()).to_vec(),
            mover: 0,
            turn: Turn::START,
            rounds: 0,
            tiebreak: false,
            over: false,
            turns: 0,
        };
        let ended = game.start_turn(chance, log);
        game.proceed(ended, chance, log);
        Ok(game)
    }

    fn seats(&self) -> usize {
        self.scores.len()
    }

    fn rules(&self) -> &TableRules {
        &self.rules
    }

    #[inline]
    fn to_act(&self) -> &[Seat] {
        if self.over { &[] } else { self.playing[self.mover].alone() }
    }

    #[inline]
    fn view(&self, seat: Seat) -> TableView {
        TableView {
            turn: self.turn.view(),
            seat,
            scores: self.scores.clone(),
            playing: self.playing.clone(),
            played: self.mover as u16,
            rounds: self.rounds,
            tiebreak: self.tiebreak,
        }
    }

    #[inline]
    fn refresh_view(&self, seat: Seat, view: &mut TableView) {
        let TableView { turn, seat: view_seat, scores, playing, played, rounds, tiebreak } = view;
        *turn = self.turn.view();
        *view_seat = seat;
        scores.clone_from(&self.scores);
        playing.clone_from(&self.playing);
        *played = self.mover as u16;
        *rounds = self.rounds;
        *tiebreak = self.tiebreak;
    }

    fn legal_actions(_: &TableView) -> Option<impl Iterator<Item = Action>> {
        Some([Action::Go, Action::Stop].into_iter())
    }

    fn apply(
        &mut self,
        moves: &[Move<Action>],
        chance: &mut impl Chance,
        log: &mut impl Log<Event>,
    ) -> Result<(), Rejected<Infallible>> {
        self.check_count(moves)?;
        let ended = take_move(
            self.playing[self.mover],
            &mut self.turn,
            &moves[0],
            self.rules.out_of_dice,
            chance,
            log,
        );
        self.proceed(ended, chance, log);
        Ok(())
    }

    fn outcome(&self) -> Option<Outcome> {
        let scores = || self.scores.iter().map(|&score| score.into()).collect();
        self.over.then(|| Outcome::ranked(&self.scores, scores(), self.turns))
    }

    fn invariants(&self) -> Result<(), String> {
        within_limit(self.scores.iter().copied().chain([self.rounds, self.turns]))?;
        let seats = self.scores.len();
        if !Self::SEATS.contains(&seats) {
            return Err(format!("{seats} seats"));
        }
        if self.mover >= self.playing.len() || self.playing.iter().any(|seat| seat.index() >= seats) {
            return Err(format!("mover {} of {:?} among {seats} seats", self.mover, self.playing));
        }
        if !self.playing.is_sorted_by(|a, b| a < b) {
            return Err(format!("not in the order of the seats: {:?}", self.playing));
        }
        if !self.tiebreak && self.playing.len() != seats {
            return Err("somebody is left out, but it is no tiebreak".to_string());
        }
        if self.rules.max_rounds.is_some_and(|max| self.rounds >= max.get()) && !self.over {
            return Err(format!("{} rounds, and not over", self.rounds));
        }
        let out_of_rounds = self.rules.max_rounds.is_some_and(|max| self.rounds >= max.get());
        if self.over && !out_of_rounds && self.best() < GOAL {
            return Err("over, but nobody has reached the goal".to_string());
        }
        if !self.over && !self.tiebreak && self.mover == 0 && self.best() >= GOAL {
            return Err("a round began after somebody had reached the goal".to_string());
        }
        if self.over {
            self.turn.invariants(self.rules.out_of_dice)
        } else {
            self.turn.open_invariants(self.rules.out_of_dice)
        }
    }
}
