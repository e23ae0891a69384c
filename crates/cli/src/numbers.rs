//! Parses whole numbers on the command line. The errors are in plain words, not in Rust's.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

/// Parses a whole number.
pub fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| expected(text, "a whole number, 0 or more"))
}

/// Parses a whole number above 0.
pub fn above_zero<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| *number >= T::from(1));
    number.ok_or_else(|| expected(text, "a whole number above 0"))
}

/// Says that a whole number is too large, or else what was expected.
fn expected(text: &str, wanted: &str) -> String {
    let is_large = text.bytes().all(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte != b'0');
    format!("expected {}", if is_large { "a smaller number" } else { wanted })
}

/// Returns a parser for whole numbers in a range.
pub fn within<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Clone,
{
    move |text| {
        let (least, most) = (range.start(), range.end());
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("expected a whole number from {least} to {most}"))
    }
}
