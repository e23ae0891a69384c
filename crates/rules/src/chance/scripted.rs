//! Chance that follows a script: tests name the dice, replays repeat them.

use super::Chance;
use alloc::vec::Vec;
use core::fmt;

/// Chance that answers from a list. A script that runs out, or names an impossible outcome, is an error: [`Scripted::run`]
/// then withholds the result of the transition, and the caller must throw away the state that it changed.
///
/// ```
/// use necrodome_rules::chance::{Chance, Scripted};
/// let mut script = Scripted::new([2, 9]);
/// assert_eq!(script.run(|chance| chance.uniform(6)), Ok(2));
/// assert!(script.run(|chance| chance.uniform(6)).is_err());
/// ```
#[derive(Debug, Clone)]
pub struct Scripted {
    picks: Vec<u32>,
    next: usize,
}

/// Why a script could not be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// The transition asked for more outcomes than the script has.
    #[error("the script has {length} picks, and one more was asked for")]
    RanOut {
        /// Picks in the script.
        length: usize,
    },
    /// The script names an outcome that does not exist or has weight 0.
    #[error(
        "pick {position} of the script is {came}, which cannot come: expected one of the outcomes {possible}"
    )]
    Impossible {
        /// Index of the pick in the script, from 0.
        position: usize,
        /// The pick in the script.
        came: u32,
        /// The outcomes that were possible.
        possible: Possible,
    },
    /// The match ended before the script did.
    #[error("{left} of {length} picks of the script were never asked for")]
    LeftOver {
        /// The number of picks not used.
        left: usize,
        /// The number of picks in the script.
        length: usize,
    },
}

/// The outcomes that a question allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Possible {
    /// Each of `0..n`.
    Below(u32),
    /// Only these.
    These(Vec<u32>),
}

impl fmt::Display for Possible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Possible::Below(n) => write!(f, "0 to {}", n - 1),
            Possible::These(outcomes) => {
                for (i, outcome) in outcomes.iter().enumerate() {
                    write!(f, "{}{outcome}", if i > 0 { ", " } else { "" })?;
                }
                Ok(())
            }
        }
    }
}

impl Scripted {
    /// Makes a script of outcomes, in the order in which they will be asked for.
    pub fn new(picks: impl Into<Vec<u32>>) -> Self {
        Scripted { picks: picks.into(), next: 0 }
    }

    /// Runs one transition on the next picks. After an error the script stays where it was.
    pub fn run<T>(&mut self, transition: impl FnOnce(&mut ScriptedChance) -> T) -> Result<T, ScriptError> {
        let mut chance = ScriptedChance { picks: &self.picks, next: self.next, error: None };
        let result = transition(&mut chance);
        match chance.error {
            Some(error) => Err(error),
            None => {
                self.next = chance.next;
                Ok(result)
            }
        }
    }

    /// Checks that the whole script was used.
    pub fn finish(&self) -> Result<(), ScriptError> {
        match self.picks.len() - self.next {
            0 => Ok(()),
            left => Err(ScriptError::LeftOver { left, length: self.picks.len() }),
        }
    }
}

/// The [`Chance`] inside [`Scripted::run`].
#[derive(Debug)]
pub struct ScriptedChance<'a> {
    picks: &'a [u32],
    next: usize,
    error: Option<ScriptError>,
}

impl ScriptedChance<'_> {
    /// Returns the next pick if it is allowed. Otherwise notes the error and returns some outcome, whose consequences
    /// [`Scripted::run`] throws away. That outcome changes from call to call, so that a transition that waits for a certain
    /// outcome still ends.
    fn take(&mut self, outcomes: u32, allowed: impl Fn(u32) -> bool, possible: impl Fn() -> Possible) -> u32 {
        if self.error.is_some() {
            self.next += 1;
        }
        let from = self.next as u32 % outcomes;
        let fallback = (from..outcomes).chain(0..from).find(|&outcome| allowed(outcome)).unwrap_or(0);
        if self.error.is_some() {
            return fallback;
        }
        match self.picks.get(self.next) {
            Some(&pick) if allowed(pick) => {
                self.next += 1;
                pick
            }
            Some(&came) => {
                self.error =
                    Some(ScriptError::Impossible { position: self.next, came, possible: possible() });
                fallback
            }
            None => {
                self.error = Some(ScriptError::RanOut { length: self.picks.len() });
                fallback
            }
        }
    }
}

impl Chance for ScriptedChance<'_> {
    fn uniform(&mut self, n: u32) -> u32 {
        self.take(n, |pick| pick < n, || Possible::Below(n))
    }

    fn pick(&mut self, weights: &[u32]) -> usize {
        let possible = || (0..weights.len() as u32).filter(|&i| weights[i as usize] > 0);
        let allowed = |pick| weights.get(pick as usize).is_some_and(|&weight| weight > 0);
        self.take(weights.len() as u32, allowed, || Possible::These(possible().collect())) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{string::ToString, vec};

    #[test]
    fn gives_the_picks_in_order_and_knows_when_it_is_used_up() {
        let mut script = Scripted::new([1, 0, 4]);
        assert_eq!(script.run(|c| (c.pick(&[1, 1]), c.pick(&[5, 0]))), Ok((1, 0)));
        assert_eq!(script.finish(), Err(ScriptError::LeftOver { left: 1, length: 3 }));
        assert_eq!(script.run(|c| c.uniform(5)), Ok(4));
        assert_eq!(script.finish(), Ok(()));
    }

    #[test]
    fn running_out_is_an_error() {
        let result = Scripted::new([0]).run(|c| (c.uniform(2), c.uniform(2)));
        assert_eq!(result, Err(ScriptError::RanOut { length: 1 }));
    }

    #[test]
    fn running_out_ends_a_transition_that_waits_for_an_outcome() {
        let result = Scripted::new([0]).run(|c| while c.pick(&[1, 0, 1]) == 0 {});
        assert_eq!(result, Err(ScriptError::RanOut { length: 1 }));
    }

    #[test]
    fn an_impossible_outcome_is_an_error_that_names_the_possible_ones() {
        let zero_weight = Scripted::new([1]).run(|c| c.pick(&[2, 0, 3])).unwrap_err();
        assert_eq!(
            zero_weight,
            ScriptError::Impossible { position: 0, came: 1, possible: Possible::These(vec![0, 2]) }
        );
        let too_big = Scripted::new([0, 9]).run(|c| (c.uniform(6), c.uniform(6))).unwrap_err();
        assert_eq!(
            too_big.to_string(),
            "pick 1 of the script is 9, which cannot come: expected one of the outcomes 0 to 5"
        );
    }

    #[test]
    fn after_an_error_the_script_stays_where_it_was() {
        let mut script = Scripted::new([3, 5]);
        assert!(script.run(|c| (c.uniform(6), c.uniform(2))).is_err());
        assert_eq!(script.run(|c| (c.uniform(6), c.uniform(6))), Ok((3, 5)));
    }
}
