//! What calls may take, and what they took.

use crate::{Money, Tokens};

/// What calls may take in one run. Answers from the book take nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// The most money.
    pub money: Option<Money>,
    /// The most tokens, input and output.
    pub tokens: Option<u64>,
}

/// Calls, and what they took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// How many calls.
    pub calls: u64,
    /// Their tokens.
    pub tokens: Tokens,
    /// What they cost.
    pub cost: Money,
}

impl Tally {
    /// What so many calls would take, if they were like these; nothing if there are none. For estimates.
    pub fn scaled(&self, calls: u64) -> Tally {
        todo!("{calls}")
    }
}

/// What a run has taken so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Calls that were made.
    pub made: Tally,
    /// Calls that the book answered, at what they took when they were made.
    pub reused: Tally,
    /// Calls whose answer was lost on the way (timeouts, cut answers), at the most that they may have cost. Budgets count them.
    pub lost: Tally,
}
