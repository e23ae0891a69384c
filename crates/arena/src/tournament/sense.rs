//! Checks that a plan makes sense, with the same messages for the command line, TOML, Python and the web.

use super::{Claims, Plan};
use std::str::FromStr;

/// The reason why a plan makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// There is a margin, but no rule that stops early.
    #[error("margin means nothing without until decided")]
    LoneMargin,
    /// The margin is not a possible difference.
    #[error("margin: expected a number above 0, such as 0.02, got {0}")]
    Margin(f64),
    /// The margin is so large that every difference is smaller.
    #[error("margin is a share of matches: expected a number below 1, got {0}")]
    LargeMargin(f64),
    /// The two claims are not claims, or the wrong way round.
    #[error("test: expected two differences in Elo, the smaller one first, such as 0,10, got {elo0},{elo1}")]
    Claims {
        /// The first.
        elo0: f64,
        /// The second.
        elo1: f64,
    },
    /// There are two rules for stopping.
    #[error("test and until decided are two rules for stopping: expected one of them")]
    TwoRules,
    /// There is a test, but not exactly two entries.
    #[error("a test compares two entries, got {0}")]
    TestEntries(usize),
    /// There is a test, but the entries do not meet in pairs.
    #[error("a match of a test has exactly 2 seats, got {0}")]
    TestSeats(usize),
    /// No program can run under this limit.
    #[error("limits.{0}: expected a whole number above 0, got 0")]
    Limit(&'static str),
}

impl PlanError {
    /// Returns what to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        matches!(self, PlanError::LargeMargin(_)).then_some("two points of a hundred are 0.02")
    }
}

impl Claims {
    fn make_sense(self) -> bool {
        self.elo0 < self.elo1 && self.elo0.abs() <= 2000.0 && self.elo1.abs() <= 2000.0
    }
}

/// Reads claims such as `0,10`.
impl FromStr for Claims {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<f64>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
        match numbers.as_deref() {
            // Not -0.
            Some(&[elo0, elo1]) => Some(Claims { elo0: elo0 + 0.0, elo1: elo1 + 0.0 }),
            _ => None,
        }
        .filter(|claims| claims.make_sense())
        .ok_or_else(|| "expected two differences in Elo, the smaller one first, such as 0,10".to_owned())
    }
}

impl Plan {
    /// Checks that the rule for stopping and the limits make sense.
    pub fn check(&self) -> Result<(), PlanError> {
        self.limits.zero().map_or(Ok(()), |name| Err(PlanError::Limit(name)))?;
        match self.margin {
            Some(_) if !self.until_decided => return Err(PlanError::LoneMargin),
            Some(margin) if !(margin.is_finite() && margin > 0.0) => return Err(PlanError::Margin(margin)),
            Some(margin) if self.seats > 1 && margin >= 1.0 => return Err(PlanError::LargeMargin(margin)),
            _ => {}
        }
        let Some(claims) = self.test else { return Ok(()) };
        let Claims { elo0, elo1 } = claims;
        match self.entries.len() {
            _ if self.until_decided => Err(PlanError::TwoRules),
            _ if !claims.make_sense() => Err(PlanError::Claims { elo0, elo1 }),
            2 if self.seats == 2 => Ok(()),
            2 => Err(PlanError::TestSeats(self.seats)),
            entries => Err(PlanError::TestEntries(entries)),
        }
    }
}
