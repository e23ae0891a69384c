//! What a game is: the contract between a referee and everything around it.

use crate::{
    chance::Chance,
    names::{Names, SetupError},
    options::Options,
};
use alloc::{boxed::Box, string::String, vec::Vec};
use core::{error::Error, fmt, ops::RangeInclusive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// A referee: a state that changes only by [`apply`](Game::apply), and only by the rules.
pub trait Game:
    Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// How many seats a match may have.
    const SEATS: RangeInclusive<usize>;

    /// The options of the rules. The default is the rulebook's.
    type Rules: Options + Send + Sync;
    /// What a seat may choose. Its JSON is part of the bot protocol.
    type Action: Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema + Send + Sync;
    /// What a seat is shown. Its JSON is part of the bot protocol.
    type View: Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema + Send + Sync;
    /// What happened. Its JSON is part of the bot protocol.
    type Event: Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema + Send + Sync;
    /// Why an action is not allowed.
    type Illegal: Error + Clone + PartialEq;

    /// A new match with one seat for each name, brought to its first decision.
    fn new(
        names: &Names,
        rules: &Self::Rules,
        chance: &mut impl Chance,
        log: &mut impl Log<Self::Event>,
    ) -> Result<Self, SetupError>;

    /// How many seats the match has.
    fn seats(&self) -> usize;

    /// The rules it is played by.
    fn rules(&self) -> &Self::Rules;

    /// The seats that decide now, in ascending order: none when the match is over, one in a sequential game, several
    /// when they decide simultaneously.
    fn to_act(&self) -> &[Seat];

    /// All that `seat` may know: built field by field from what the rules tell it, never a copy with things removed.
    fn view(&self, seat: Seat) -> Self::View;

    /// Makes `view` equal to `self.view(seat)`. Games with large views reuse its memory.
    fn refresh_view(&self, seat: Seat, view: &mut Self::View) {
        *view = self.view(seat);
    }

    /// Every action that would be accepted from a seat that is to act and has this view, or `None` where they are too
    /// many to list. A function of the view, so that it cannot tell a secret.
    fn legal_actions(view: &Self::View) -> Option<impl Iterator<Item = Self::Action>>;

    /// The legal actions, or `None` where there are more than `most`. Never works out more than one action too many.
    fn few_legal_actions(view: &Self::View, most: usize) -> Option<Vec<Self::Action>> {
        let mut actions = Self::legal_actions(view)?;
        let few: Vec<Self::Action> = actions.by_ref().take(most).collect();
        actions.next().is_none().then_some(few)
    }

    /// Reads an action of the bot protocol. Where the game's rule for a bad action is kinder than a forfeit, it reads
    /// what is well-formed of a malformed one, and says what was wrong with the rest.
    fn read_action(json: &Value) -> Result<(Self::Action, Option<String>), serde_json::Error> {
        Ok((Self::Action::deserialize(json)?, None))
    }

    /// Plays on until the next decision. `moves[i]` is the move of `to_act()[i]`. On `Err` nothing has changed.
    fn apply(
        &mut self,
        moves: &[Move<Self::Action>],
        chance: &mut impl Chance,
        log: &mut impl Log<Self::Event>,
    ) -> Result<(), Rejected<Self::Illegal>>;

    /// What can stand of an action that was rejected, where the game's rule for a bad action is kinder than a forfeit.
    fn salvage(view: &Self::View, action: &Self::Action) -> Option<Self::Action> {
        let _ = (view, action);
        None
    }

    /// How the match ended, once it has: exactly when `to_act()` is empty.
    fn outcome(&self) -> Option<Outcome>;

    /// Checks all that must hold in every state; says what does not.
    fn invariants(&self) -> Result<(), String>;

    /// Refuses moves that do not fit the seats to act. For use at the start of `apply`.
    #[inline]
    fn check_count(&self, moves: &[Move<Self::Action>]) -> Result<(), Rejected<Self::Illegal>> {
        match self.to_act().len() {
            0 => Err(Rejected::Over),
            expected if expected == moves.len() => Ok(()),
            expected => Err(Rejected::Count { expected, came: moves.len() }),
        }
    }
}

/// Brings back a state from its JSON and checks its invariants: the way for states that come from outside.
pub fn restore<G: Game>(json: &str) -> Result<G, RestoreError> {
    let game: G = serde_json::from_str(json).map_err(RestoreError::Json)?;
    game.invariants().map_err(RestoreError::Invalid)?;
    Ok(game)
}

/// No count in a match comes near this. Invariants refuse what is beyond, so that no sum can overflow.
pub(crate) const LIMIT: u32 = 1 << 30;

/// Refuses counts that no match can reach.
pub(crate) fn within_limit(counts: impl IntoIterator<Item = u32>) -> Result<(), String> {
    match counts.into_iter().find(|&count| count > LIMIT) {
        Some(count) => Err(alloc::format!("no match counts up to {count}")),
        None => Ok(()),
    }
}

/// Why a state was not restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// It is not the JSON of a state.
    #[error("not a state of this game: {0}")]
    Json(serde_json::Error),
    /// It is a state that no match can reach.
    #[error("not a valid state: {0}")]
    Invalid(String),
}

/// A place at the table, counted from 0.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Seat(pub u16);

/// More seats than any game has.
pub const MAX_SEATS: usize = 1024;

static SEATS: [Seat; MAX_SEATS] = {
    let mut seats = [Seat(0); MAX_SEATS];
    let mut i = 0;
    while i < MAX_SEATS {
        seats[i] = Seat(i as u16);
        i += 1;
    }
    seats
};

impl Seat {
    /// The seat as an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// All seats of a table.
    #[inline]
    pub fn all(count: usize) -> &'static [Seat] {
        &SEATS[..count]
    }

    /// Just this seat: what [`Game::to_act`] of a sequential game gives.
    #[inline]
    pub fn alone(self) -> &'static [Seat] {
        &SEATS[self.index()..=self.index()]
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What came from a seat that was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Move<A> {
    /// An action.
    Act(A),
    /// Nothing usable (a crash, a time-out, garbage): the game's rule for a bad action applies.
    Forfeit,
}

/// Why moves were not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected<I> {
    /// Nobody is to act any more.
    #[error("the match is over")]
    Over,
    /// The number of moves is not the number of seats to act.
    #[error("{expected} seats are to act, but {came} moves came")]
    Count {
        /// Seats to act.
        expected: usize,
        /// Moves that came.
        came: usize,
    },
    /// An action is against the rules.
    #[error("seat {seat}: {why}")]
    Illegal {
        /// Whose action.
        seat: Seat,
        /// Which rule.
        why: I,
    },
}

/// How a match ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The place of each seat: 1 is best, those who tie share a place, and the next place is left out for each.
    pub places: Vec<u16>,
    /// What the game counts, by seat: brains, victory points, the last clock alive.
    pub scores: Vec<i64>,
    /// How many turns were played, as the game counts them.
    pub turns: u32,
}

impl Outcome {
    /// Places by descending `rank`; equal ranks share a place.
    pub fn ranked<R: Ord>(ranks: &[R], scores: Vec<i64>, turns: u32) -> Self {
        let place = |rank: &R| 1 + ranks.iter().filter(|other| *other > rank).count() as u16;
        Outcome { places: ranks.iter().map(place).collect(), scores, turns }
    }

    /// The seats in first place.
    pub fn winners(&self) -> impl Iterator<Item = Seat> + '_ {
        Seat::all(self.places.len()).iter().copied().filter(|seat| self.places[seat.index()] == 1)
    }
}

/// Who may hear of an event. The judge (replays, the arena, a spectator who plays no seat) hears everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// All seats.
    Everyone,
    /// One seat.
    Seat(Seat),
    /// Two seats.
    Pair(Seat, Seat),
    /// Some seats, in ascending order.
    Seats(Vec<Seat>),
    /// No seat.
    Judge,
}

impl Audience {
    /// Whether `seat` may hear of it.
    pub fn includes(&self, seat: Seat) -> bool {
        match self {
            Audience::Everyone => true,
            Audience::Seat(one) => seat == *one,
            Audience::Pair(one, other) => seat == *one || seat == *other,
            Audience::Seats(seats) => seats.binary_search(&seat).is_ok(),
            Audience::Judge => false,
        }
    }
}

/// An event with its audience.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged<E> {
    /// Who may hear of it.
    pub audience: Audience,
    /// What happened.
    pub event: E,
}

/// Where a referee reports what happens.
pub trait Log<E> {
    /// Takes an event.
    fn record(&mut self, audience: Audience, event: E);

    /// Whether anybody reads who may hear of an event; if not, a referee need not work it out.
    fn asks_for_audience(&self) -> bool {
        true
    }
}

/// Keeps nothing: for play at full speed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl<E> Log<E> for Silent {
    #[inline]
    fn record(&mut self, _: Audience, _: E) {}

    #[inline]
    fn asks_for_audience(&self) -> bool {
        false
    }
}

impl<E, L: Log<E> + ?Sized> Log<E> for Box<L> {
    #[inline]
    fn record(&mut self, audience: Audience, event: E) {
        (**self).record(audience, event);
    }

    fn asks_for_audience(&self) -> bool {
        (**self).asks_for_audience()
    }
}

impl<E> Log<E> for Vec<Logged<E>> {
    fn record(&mut self, audience: Audience, event: E) {
        self.push(Logged { audience, event });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn ties_share_a_place_and_the_next_is_left_out() {
        let outcome = Outcome::ranked(&[5, 9, 5, 1], vec![5, 9, 5, 1], 3);
        assert_eq!(outcome.places, [2, 1, 2, 4]);
        assert_eq!(outcome.winners().collect::<Vec<_>>(), [Seat(1)]);
    }

    #[test]
    fn an_audience_hears_and_no_one_else() {
        let heard = |audience: Audience| -> Vec<Seat> {
            Seat::all(3).iter().copied().filter(|&s| audience.includes(s)).collect()
        };
        assert_eq!(heard(Audience::Everyone), Seat::all(3));
        assert_eq!(heard(Audience::Seat(Seat(1))), [Seat(1)]);
        assert_eq!(heard(Audience::Pair(Seat(0), Seat(2))), [Seat(0), Seat(2)]);
        assert_eq!(heard(Audience::Seats(alloc::vec![Seat(0), Seat(2)])), [Seat(0), Seat(2)]);
        assert_eq!(heard(Audience::Judge), []);
    }
}
