//! Seeds: numbers of up to 128 bits.

use alloc::borrow::Cow;
use core::{fmt, str::FromStr};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A seed: a whole number of up to 128 bits. Random seeds use all of them, so that nobody finds one by trying; typed seeds may
/// be short.
///
/// A seed below 2^64 is written as a plain number, in JSON too, as in older versions; a larger one as hexadecimal digits after `0x`.
///
/// ```
/// use necrodome_rules::chance::Seed;
/// let wide = Seed::new(1 << 100);
/// assert_eq!(wide.to_string(), "0x00000010000000000000000000000000");
/// assert_eq!(wide.to_string().parse(), Ok(wide));
/// assert_eq!(Seed::from(7).to_string(), "7");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Seed(u128);

impl Seed {
    /// Makes the seed with this number.
    pub const fn new(number: u128) -> Self {
        Seed(number)
    }

    /// The number.
    pub const fn number(self) -> u128 {
        self.0
    }

    /// The number if it fits into 64 bits, as all seeds of older versions do, or `None`.
    pub fn short(self) -> Option<u64> {
        u64::try_from(self.0).ok()
    }
}

/// The only integer type that converts into a seed, so that literals need no type.
impl From<u64> for Seed {
    fn from(number: u64) -> Self {
        Seed(number.into())
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.short() {
            Some(number) => write!(f, "{number}"),
            None => write!(f, "{:#034x}", self.0),
        }
    }
}

/// The error for a text that is not a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected {EXPECTED}")]
pub struct SeedError;

const EXPECTED: &str = "a whole number, 0 or more, or up to 32 hexadecimal digits after 0x";

impl FromStr for Seed {
    type Err = SeedError;

    fn from_str(text: &str) -> Result<Self, SeedError> {
        let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
        // Rust would take a sign, too.
        let plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        u128::from_str_radix(digits, radix).ok().filter(|_| plain).map(Seed).ok_or(SeedError)
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.short() {
            Some(number) => serializer.serialize_u64(number),
            None => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Seed;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Seed, E> {
                Ok(number.into())
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Seed, E> {
                let unexpected = de::Unexpected::Signed(number);
                u64::try_from(number).map(Seed::from).map_err(|_| E::invalid_value(unexpected, &self))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Seed, E> {
                text.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Seed {
    fn schema_name() -> Cow<'static, str> {
        "Seed".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A seed: a number below 2^64, or above it as text, 32 hexadecimal digits after 0x.",
            "anyOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "string", "pattern": "^(0x[0-9a-fA-F]{1,32}|[0-9]{1,39})$" }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn seeds_are_read_as_they_are_written() {
        for (number, text, json) in [
            (0, "0", "0"),
            (u64::MAX.into(), "18446744073709551615", "18446744073709551615"),
            (1 << 64, "0x00000000000000010000000000000000", "\"0x00000000000000010000000000000000\""),
            (u128::MAX, "0xffffffffffffffffffffffffffffffff", "\"0xffffffffffffffffffffffffffffffff\""),
        ] {
            let seed = Seed::new(number);
            assert_eq!((seed.to_string().as_str(), text.parse()), (text, Ok(seed)));
            assert_eq!(serde_json::to_string(&seed).unwrap(), json);
            assert_eq!(serde_json::from_str::<Seed>(json).unwrap(), seed);
        }
        assert_eq!("0x1F".parse(), Ok(Seed::from(31)));
        assert_eq!("18446744073709551616".parse(), Ok(Seed::new(1 << 64)));
        assert_eq!(serde_json::from_str::<Seed>("\"7\"").unwrap(), Seed::from(7));
    }

    #[test]
    fn what_is_no_seed_is_refused() {
        let too_long = "0x100000000000000000000000000000000";
        for text in ["", "x", "-1", "+1", "0x", "0x+1", "1.0", "1f", too_long] {
            assert_eq!(text.parse::<Seed>(), Err(SeedError), "{text:?}");
        }
        for json in ["-1", "1.5", "true", "\"x\"", "null"] {
            let why = serde_json::from_str::<Seed>(json).unwrap_err().to_string();
            assert!(why.contains("expected a whole number, 0 or more, or up to 32"), "{why}");
        }
    }
}
