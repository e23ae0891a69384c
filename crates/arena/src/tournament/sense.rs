//! What makes no sense in a plan, in the same words for the command line, TOML, Python and the web.

use super::{Claims, Plan};
use std::str::FromStr;

/// Why a plan makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// A margin, but nothing stops early.
    #[error("margin means nothing without until decided")]
    LoneMargin,
    /// A margin that is no difference.
    #[error("margin: expected a number above 0, such as 0.02, got {0}")]
    Margin(f64),
    /// A margin that every difference is smaller than.
    #[error("margin is a share of matches: expected a number below 1, got {0}")]
    LargeMargin(f64),
    /// Two claims that are none, or the wrong way round.
    #[error("test: expected two differences in Elo, the smaller one first, such as 0,10, got {elo0},{elo1}")]
    Claims {
        /// The first.
        elo0: f64,
        /// The second.
        elo1: f64,
    },
    /// Two rules for stopping.
    #[error("test and until decided are two rules for stopping: expected one of them")]
    TwoRules,
    /// A test of more, or fewer, than two.
    #[error("a test compares two entries, got {0}")]
    TestEntries(usize),
    /// A test of entries that do not meet in pairs.
    #[error("a match of a test has exactly 2 seats, got {0}")]
    TestSeats(usize),
    /// A limit under which no program can run.
    #[error("limits.{0}: expected a whole number above 0, got 0")]
    Limit(&'static str),
}

impl PlanError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        matches!(self, PlanError::LargeMargin(_)).then_some("two points of a hundred are 0.02")
    }
}

impl Claims {
    fn make_sense(self) -> bool {
        self.elo0 < self.elo1 && self.elo0.abs() <= 2000.0 && self.elo1.abs() <= 2000.0
    }
}

/// As in `0,10`.
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
    /// Whether the rule for stopping and the limits make sense.
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
