//! Parses whole numbers on the command line. The errors are in plain words, not in Rust's.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

/// Parses a whole number.
pub fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let expected = if is_number { "expected a smaller number" } else { "expected a whole number, 0 or more" };
    text.parse().map_err(|_| expected.to_owned())
}

/// Parses a whole number above 0.
pub fn above_zero<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| *number >= T::from(1));
    number.ok_or_else(|| "expected a whole number above 0".to_owned())
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
