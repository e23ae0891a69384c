//! A table as a state machine: who sits where, and which answers were given.

use super::{
    keep::{Answer, Given},
    no_such_table,
    setup::Setup,
};
use crate::{Refusal, keys::KeyHash};
use necrodome_rules::game::Seat;
use std::collections::BTreeMap;

/// An input of a table.
pub(crate) enum Input {
    /// The table is opened, as it was set up.
    Open,
    /// Somebody takes the first open seat.
    Join { name: String, key: KeyHash },
    /// Bots take all open seats, so that the match begins.
    Fill,
    /// A person leaves their seat.
    Leave(Seat),
    /// A person takes back their seat, on which a bot has played for them.
    Return(Seat),
    /// The table is removed, because nobody has acted for long.
    Clear,
    /// Answers of bots that are not in the file yet, and after them a person's answer.
    Answers { bots: Vec<Answer>, person: Option<Answer> },
}

/// A table. The match begins as soon as all seats are taken.
#[derive(Clone)]
pub(crate) struct Seating {
    pub setup: Setup,
    is_gone: bool,
    /// The last step that each person has answered.
    answered: BTreeMap<Seat, u32>,
}

impl Seating {
    pub fn new(setup: Setup) -> Self {
        Seating { setup, is_gone: false, answered: BTreeMap::new() }
    }

    /// Rebuilds a table from the file, with the answers that were given at it.
    pub fn again(setup: Setup, given: &Given) -> Self {
        let mut seating = Self::new(setup);
        for &(seat, step) in given.keys() {
            let last = seating.answered.entry(Seat(seat)).or_default();
            *last = step.max(*last);
        }
        seating
    }

    /// Whether the last person has left. A table that is gone takes no more inputs.
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }

    pub fn apply(&mut self, input: &Input) -> Result<(), Refusal> {
        if self.is_gone {
            return Err(no_such_table());
        }
        match input {
            Input::Open => Ok(()),
            Input::Join { .. } if self.setup.is_full() => {
                Err(Refusal::conflict("the game has begun, and all seats are taken")
                    .hint("you can watch, or open a table of your own"))
            }
            Input::Join { name, key } => self.setup.join(name, *key),
            Input::Fill if self.setup.is_full() => Err(Refusal::conflict("the game has begun")),
            Input::Fill => self.setup.fill(),
            Input::Leave(seat) if self.setup.people() > 1 => self.setup.leave(*seat),
            Input::Return(seat) => {
                self.setup.come_back(*seat);
                Ok(())
            }
            Input::Leave(_) | Input::Clear => {
                self.is_gone = true;
                Ok(())
            }
            Input::Answers { person: Some((step, seat, _)), .. } => {
                if self.answered.get(seat).is_some_and(|last| last >= step) {
                    return Err(Refusal::conflict("this question has an answer already"));
                }
                self.answered.insert(*seat, *step);
                Ok(())
            }
            Input::Answers { person: None, .. } => Ok(()),
        }
    }
}
