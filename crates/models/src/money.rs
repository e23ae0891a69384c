//! Money in billionths of the currency of the price list, so that sums are exact.

use std::{fmt, str::FromStr};

/// An amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Money {
    /// Billionths of the currency of the price list.
    pub nanos: u64,
}

/// The price of a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Price(pub Money);

/// Why a text is no amount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected an amount such as 5 or 2.50, at most {} and with at most 9 decimals, got {0:?}",
    Money::MOST
)]
pub struct MoneyError(pub String);

impl Money {
    /// The largest amount that can be written.
    pub const MOST: Money = Money { nanos: 1_000_000_000 * 1_000_000_000 };
}

impl FromStr for Money {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, MoneyError> {
        todo!("{text}")
    }
}

impl fmt::Display for Money {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
