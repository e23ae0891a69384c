//! Views as numbers: one layout for single, multi-agent and vector environments.
//!
//! An observation is written from a view and from nothing else, so it cannot tell a secret; the tests of this module check
//! that nothing is lost which decides what comes next. Seats are told as seen from the one who looks: the own seat is 0, the
//! next one is 1, and so on around the table, so that a policy learned in one seat can play in all.
//!
//! A seat that decides for many at once, each with an observation of its own, does not fit this trait:
//! [`Numbers`](crate::numbers::Numbers) is for such games, too.

use crate::field::Field;
use necrodome_rules::game::{Game, Outcome, Seat};

/// A game whose views and actions can be told in numbers.
pub trait Observe: Game {
    /// What the numbers of an observation mean, in their order.
    fn fields(rules: &Self::Rules, seats: usize) -> Vec<Field>;

    /// Writes an observation: one number for each of the [`fields`](Observe::fields). What is greater than its field allows
    /// (only an endless game gets there) is told as the most that it allows.
    fn observe(rules: &Self::Rules, view: &Self::View, out: &mut [i16]);

    /// How many actions there are; an action is a number below it.
    fn actions(seats: usize) -> usize;

    /// The action of a number, for a seat with this view; `None` if there is no such action. It need not be legal.
    fn action(view: &Self::View, index: usize) -> Option<Self::Action>;

    /// The number of an action of a seat with this view. Where no number means exactly this action, the number of one like it.
    fn number(view: &Self::View, action: &Self::Action) -> u8;

    /// Marks the actions that would be accepted from a seat that is to act and has this view.
    fn mask(view: &Self::View, out: &mut [bool]);

    /// What each seat has got so far: the reward of a step is the change of it.
    ///
    /// Nothing until the match is over, then what [`by_place`] gives. Zombie Dice differs: solo counts the provisional score,
    /// the race ten times as much as its place.
    fn returns(&self, out: &mut [f32]) {
        match self.outcome() {
            Some(outcome) => out.copy_from_slice(&by_place(&outcome)),
            None => out.fill(0.0),
        }
    }
}

/// What the places of a match are worth: from +1 (the first) to -1 (the last) in equal steps. Those who tie share the mean of
/// the places that they take, so the sum is 0 whatever happened; two winners among four get 2/3 each. A seat without
/// opponents gets 0.
pub fn by_place(outcome: &Outcome) -> Vec<f32> {
    let places = &outcome.places;
    let worth = |&place: &u16| {
        let tied = places.iter().filter(|&&other| other == place).count();
        // The middle of the places taken, counted from 0, twice.
        let middle = 2 * (i32::from(place) - 1) + tied as i32 - 1;
        let last = places.len() as i32 - 1;
        if last > 0 { (last - middle) as f32 / last as f32 } else { 0.0 }
    };
    places.iter().map(worth).collect()
}

/// All seats as seen from one: itself, then those after it, around the table.
pub(crate) fn around(own: Seat, seats: usize) -> impl Iterator<Item = Seat> {
    (0..seats).map(move |steps| Seat(((own.index() + steps) % seats) as u16))
}

/// How many steps after `own` another seat is.
pub(crate) fn steps_to(own: Seat, other: Seat, seats: usize) -> usize {
    (other.index() + seats - own.index()) % seats
}

/// A count as a number of an observation.
pub(crate) fn number(count: impl TryInto<i16>) -> i16 {
    count.try_into().unwrap_or(i16::MAX)
}

/// Writes numbers one after the other, and checks that there are as many as there is room for.
pub(crate) struct Writer<'a> {
    out: &'a mut [i16],
    written: usize,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(out: &'a mut [i16]) -> Self {
        Writer { out, written: 0 }
    }

    pub(crate) fn put(&mut self, numbers: impl IntoIterator<Item = i16>) {
        for number in numbers {
            self.out[self.written] = number;
            self.written += 1;
        }
    }

    pub(crate) fn finish(self) {
        debug_assert_eq!(self.written, self.out.len(), "an observation has a number for each field");
    }
}

#[cfg(test)]
mod tests;
