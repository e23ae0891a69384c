//! Money in billionths of the currency of the price list, so that sums are exact.

use crate::{Model, Tokens};
use std::{
    fmt,
    ops::{Add, AddAssign},
    str::FromStr,
};

const UNIT: u64 = 1_000_000_000;

/// An amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Money {
    /// Billionths of the currency of the price list.
    pub nanos: u64,
}

/// The price of a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Price(pub Money);

/// The error for a text that is not an amount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an amount such as 5 or 2.50, up to {most} and with at most 9 decimals, got {0:?}", most = Money::MOST)]
pub struct MoneyError(pub String);

impl Money {
    /// The largest amount that can be written.
    pub const MOST: Money = Money { nanos: 1_000_000 * UNIT };

    /// The amount nearest to a number, or `None` if it is out of range.
    pub(crate) fn from_number(number: f64) -> Option<Self> {
        let nanos = (number * UNIT as f64).round();
        (0.0..=Self::MOST.nanos as f64).contains(&nanos).then_some(Money { nanos: nanos as u64 })
    }

    /// The cost of a call, or `None` if the prices of its model are not known.
    pub(crate) fn of(model: &Model, tokens: &Tokens) -> Option<Self> {
        let (input_price, output_price) = model.prices()?;
        let cached = tokens.cached.min(tokens.input);
        let parts = [
            (tokens.input - cached, input_price),
            (cached, model.cached_price.unwrap_or(input_price)),
            (tokens.output, output_price),
        ];
        let each = |(tokens, price): (u64, Price)| u128::from(tokens) * u128::from(price.0.nanos);
        let sum: u128 = parts.into_iter().map(each).sum();
        Some(Money { nanos: u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX) })
    }
}

impl Add for Money {
    type Output = Money;

    fn add(self, other: Money) -> Money {
        Money { nanos: self.nanos.saturating_add(other.nanos) }
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Money) {
        *self = *self + other;
    }
}

impl FromStr for Money {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let refuse = || MoneyError(text.to_owned());
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(decimals) || decimals.len() > 9 {
            return Err(refuse());
        }
        let number = |part: &str| part.parse::<u64>().map_err(|_| refuse());
        let nanos = number(whole)?.checked_mul(UNIT).ok_or_else(refuse)?;
        let money = Money { nanos } + Money { nanos: number(&format!("{decimals:0<9}"))? };
        if money > Money::MOST { Err(refuse()) } else { Ok(money) }
    }
}

impl fmt::Display for Money {
    /// Shows all decimals up to the last that is not zero, and at least two.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = format!("{:09}", self.nanos % UNIT);
        write!(f, "{}.{:0<2}", self.nanos / UNIT, decimals.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_and_written_exactly() {
        for (text, nanos, written) in [
            ("5", 5 * UNIT, "5.00"),
            ("2.5", 2_500_000_000, "2.50"),
            ("0.000000001", 1, "0.000000001"),
            ("1000000", 1_000_000 * UNIT, "1000000.00"),
        ] {
            assert_eq!(text.parse(), Ok(Money { nanos }));
            assert_eq!(Money { nanos }.to_string(), written);
        }
        for text in
            ["", ".", "5.", ".5", "-1", "1e3", "1,5", "0.0000000001", "1000000.1", "99999999999999999999"]
        {
            assert_eq!(text.parse::<Money>(), Err(MoneyError(text.into())));
        }
        assert_eq!(Money::from_number(0.15), Some(Money { nanos: 150_000_000 }));
        assert_eq!([-1.0, f64::NAN, f64::INFINITY, 2e6].map(Money::from_number), [None; 4]);
    }
}
