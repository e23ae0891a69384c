//! The `Game` trait: the contract between a referee and everything around it.

use crate::{
    chance::Chance,
    misread::Object,
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
    /// The numbers of seats that a match may have.
    const SEATS: RangeInclusive<usize>;

    /// The options of the rules. The defaults are those of the rulebook.
    type Rules: Options + Send + Sync;
    /// A seat's choice. Its JSON is part of the bot protocol.
    type Action: Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema + Send + Sync;
    /// Everything that a seat is shown. Its JSON is part of the bot protocol.
    type View: Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema + Send + Sync;
    /// Something that happened. Its JSON is part of the bot protocol.
    type Event: Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema + Send + Sync;
    /// The reason why an action is not allowed.
    type Illegal: Error + Clone + PartialEq;

    /// Starts a new match with one seat for each name and plays up to the first decision.
    fn new(
        names: &Names,
        rules: &Self::Rules,
        chance: &mut impl Chance,
        log: &mut impl Log<Self::Event>,
    ) -> Result<Self, SetupError>;

    /// The number of seats in the match.
    fn seats(&self) -> usize;

    /// The rules of the match.
    fn rules(&self) -> &Self::Rules;

    /// The seats that decide now, in ascending order: none when the match is over, one in a sequential game, several
    /// when they decide simultaneously.
    fn to_act(&self) -> &[Seat];

    /// Everything that `seat` may know: built field by field from what the rules tell it, never a copy with things removed.
    fn view(&self, seat: Seat) -> Self::View;

    /// Makes `view` equal to `self.view(seat)`. Games with large views reuse its memory.
    fn refresh_view(&self, seat: Seat, view: &mut Self::View) {
        *view = self.view(seat);
    }

    /// Every action that the rules accept from a seat that is to act and has this view, or `None` if there are too many to
    /// list. It depends on the view alone, so it cannot reveal a secret.
    fn legal_actions(view: &Self::View) -> Option<impl Iterator<Item = Self::Action>>;

    /// The legal actions, or `None` if there are more than `most`. Works out at most one action beyond `most`.
    fn few_legal_actions(view: &Self::View, most: usize) -> Option<Vec<Self::Action>> {
        let mut actions = Self::legal_actions(view)?;
        let few: Vec<Self::Action> = actions.by_ref().take(most).collect();
        actions.next().is_none().then_some(few)
    }

    /// Reads an action of the bot protocol. Where the game's rule for a bad action is kinder than a forfeit, this reads
    /// the well-formed parts of a malformed action, and says what was wrong with the rest.
    fn read_action(json: &Value) -> Result<(Self::Action, Option<String>), serde_json::Error> {
        let Object(action) = Object::deserialize(json)?;
        Ok((action, None))
    }

    /// Plays on until the next decision. `moves[i]` is the move of `to_act()[i]`. On `Err` nothing has changed.
    fn apply(
        &mut self,
        moves: &[Move<Self::Action>],
        chance: &mut impl Chance,
        log: &mut impl Log<Self::Event>,
    ) -> Result<(), Rejected<Self::Illegal>>;

    /// Returns the legal part of a rejected action, where the game's rule for a bad action is kinder than a forfeit.
    fn salvage(view: &Self::View, action: &Self::Action) -> Option<Self::Action> {
        let _ = (view, action);
        None
    }

    /// How the match ended, or `None` while it goes on. It has ended exactly when `to_act()` is empty.
    fn outcome(&self) -> Option<Outcome>;

    /// Checks everything that must hold in every state. The error says what does not.
    fn invariants(&self) -> Result<(), String>;

    /// Refuses moves whose number differs from the number of seats to act. For use at the start of `apply`.
    #[inline]
    fn check_count(&self, moves: &[Move<Self::Action>]) -> Result<(), Rejected<Self::Illegal>> {
        match self.to_act().len() {
            0 => Err(Rejected::Over),
            expected if expected == moves.len() => Ok(()),
            expected => Err(Rejected::Count { expected, came: moves.len() }),
        }
    }
}

/// Restores a state from its JSON and checks its invariants. States from outside must be read with this.
pub fn restore<G: Game>(json: &str) -> Result<G, RestoreError> {
    let game: G = serde_json::from_str(json).map_err(RestoreError::Json)?;
    game.invariants().map_err(RestoreError::Invalid)?;
    Ok(game)
}

/// A limit that no count in a match comes near. Invariants refuse larger counts, so that no sum can overflow.
pub(crate) const LIMIT: u32 = 1 << 30;

/// Refuses counts above [`LIMIT`].
pub(crate) fn within_limit(counts: impl IntoIterator<Item = u32>) -> Result<(), String> {
    match counts.into_iter().find(|&count| count > LIMIT) {
        Some(count) => Err(alloc::format!("no match counts up to {count}")),
        None => Ok(()),
    }
}

/// Why a state could not be restored.
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

/// A number of seats that no game exceeds.
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

    /// A slice of just this seat, for [`Game::to_act`] of a sequential game.
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

/// The answer of a seat that was asked.
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
    /// The match is over.
    #[error("the match is over")]
    Over,
    /// The number of moves is not the number of seats to act.
    #[error("{expected} seats are to act, but {came} moves came")]
    Count {
        /// The number of seats to act.
        expected: usize,
        /// The number of moves given.
        came: usize,
    },
    /// An action is against the rules.
    #[error("seat {seat}: {why}")]
    Illegal {
        /// The seat that chose the action.
        seat: Seat,
        /// The rule that the action breaks.
        why: I,
    },
}

/// How a match ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The place of each seat: 1 is best. Seats that tie share a place, and the next places are skipped (1, 1, 3).
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

/// The seats that may hear of an event. The judge (replays, the arena, a spectator without a seat) hears everything.
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
    /// Whether `seat` may hear of the event.
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
    /// The seats that may hear of it.
    pub audience: Audience,
    /// What happened.
    pub event: E,
}

/// The place where a referee reports events.
pub trait Log<E> {
    /// Records an event.
    fn record(&mut self, audience: Audience, event: E);

    /// Whether the log uses audiences; if not, a referee need not work them out.
    fn asks_for_audience(&self) -> bool {
        true
    }
}

/// A log that keeps nothing: for play at full speed.
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
