//! Views as numbers: one layout for single, multi-agent and vector environments.
//!
//! An observation is written from a view alone, so it cannot reveal a secret; the tests of this module check
//! that it contains everything that decides what comes next. Seats are numbered from the viewer: the own seat is 0, the
//! next one is 1, and so on around the table, so that a policy learned in one seat can play in all.
//!
//! A seat that decides for many at once, each with its own observation, does not fit this trait:
//! [`Numbers`](crate::numbers::Numbers) covers such games, too.

use crate::field::Field;
use necrodome_rules::game::{Game, Outcome, Seat};

/// A game whose views and actions can be written as numbers.
pub trait Observe: Game {
    /// The meaning of each number in an observation, in order.
    fn fields(rules: &Self::Rules, seats: usize) -> Vec<Field>;

    /// Writes an observation: one number for each of the [`fields`](Observe::fields). A number that is greater than its field
    /// allows (only an endless game gets there) is written as the most that it allows.
    fn observe(rules: &Self::Rules, view: &Self::View, out: &mut [i16]);

    /// The number of actions; an action is a number below it.
    fn actions(seats: usize) -> usize;

    /// The action with a number, for a seat with this view, or `None` if there is no such action. It need not be legal.
    fn action(view: &Self::View, index: usize) -> Option<Self::Action>;

    /// The number of an action of a seat with this view. If no number means exactly this action, the number of a similar one.
    fn number(view: &Self::View, action: &Self::Action) -> u8;

    /// Marks the actions that the rules accept from a seat that is to act and has this view.
    fn mask(view: &Self::View, out: &mut [bool]);

    /// Writes each seat's return so far: the reward of a step is its change.
    ///
    /// The return is 0 until the match is over, then what [`by_place`] gives. Zombie Dice differs: solo counts the provisional
    /// score, the race ten times as much as its place.
    fn returns(&self, out: &mut [f32]) {
        match self.outcome() {
            Some(outcome) => out.copy_from_slice(&by_place(&outcome)),
            None => out.fill(0.0),
        }
    }
}

/// The values of the places of a match: from +1 (the first) to -1 (the last) in equal steps. Seats that tie share the mean of
/// the places that they take, so the sum is always 0; two winners among four get 2/3 each. A seat without
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

/// All seats in the order of the viewer: the own seat, then those after it, around the table.
pub(crate) fn around(own: Seat, seats: usize) -> impl Iterator<Item = Seat> {
    (0..seats).map(move |steps| Seat(((own.index() + steps) % seats) as u16))
}

/// The number of steps from `own` to another seat.
pub(crate) fn steps_to(own: Seat, other: Seat, seats: usize) -> usize {
    (other.index() + seats - own.index()) % seats
}

/// Fits a count into a number of an observation.
pub(crate) fn number(count: impl TryInto<i16>) -> i16 {
    count.try_into().unwrap_or(i16::MAX)
}

/// Writes numbers one after the other, and checks that they fill the space.
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
