//! Mistakes in what people wrote, in terms of JSON or TOML. The parsers report them in terms of Rust.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;
use serde::{Deserialize, Deserializer, de::Visitor, forward_to_deserialize_any};

/// The format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON.
    Json,
    /// TOML.
    Toml,
}

/// A mistake in JSON that is one line, such as a message of a bot: no place, since the beginning shows as much.
pub fn in_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = match error.line() {
        0 => &text,
        _ => text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text),
    };
    Misread::new(text, Format::Json).to_string()
}

/// What is read from an object and from nothing else. Serde by itself also takes a list, for the values of the fields in their order.
#[derive(Debug)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(AsMap(deserializer)).map(Object)
    }
}

/// Reads a list of objects.
pub fn objects<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let objects = Vec::<Object<T>>::deserialize(deserializer)?;
    Ok(objects.into_iter().map(|Object(value)| value).collect())
}

/// A deserializer that gives maps only.
struct AsMap<D>(D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for AsMap<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq
        tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// A mistake in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misread<'a> {
    /// A key that does not exist.
    Key {
        /// The key.
        name: &'a str,
        /// The keys that exist.
        known: Vec<&'a str>,
    },
    /// Any other mistake, in words.
    Other(String),
}

impl<'a> Misread<'a> {
    /// Translates the message of a parser that is built on serde.
    pub fn new(message: &'a str, format: Format) -> Self {
        // unknown field `a`, expected one of `b`, `c`
        let mut names = message.split('`').skip(1).step_by(2);
        if message.starts_with("unknown field ") {
            return Misread::Key { name: names.next().unwrap_or_default(), known: names.collect() };
        }
        Misread::Other(match message {
            _ if message.starts_with("unknown variant ") => {
                let name = names.next().unwrap_or_default();
                format!("expected {}, got {name:?}", one_of(&names.collect::<Vec<_>>()))
            }
            _ if message.starts_with("missing field ") => {
                let name = names.next().unwrap_or_default();
                format!("expected a key {name:?} in this {}", format.object())
            }
            _ if message.starts_with("duplicate field ") => {
                format!("the key {:?} is there twice", names.next().unwrap_or_default())
            }
            _ if message.starts_with("data did not match any variant ") => {
                "this is none of the forms that are allowed here".to_owned()
            }
            "invalid digit found in string" | "cannot parse integer from empty string" => {
                "expected a whole number".to_owned()
            }
            "number too large to fit in target type" => "expected a smaller number".to_owned(),
            "number too small to fit in target type" => "expected a larger number".to_owned(),
            "expected value" | "expected ident" => "this is not JSON".to_owned(),
            "key must be a string" => "keys stand in double quotes".to_owned(),
            "trailing characters" => "something follows the end of the JSON".to_owned(),
            "trailing comma" => "there is a comma before the closing bracket".to_owned(),
            _ if message.starts_with("EOF while parsing ") => "the JSON ends too soon".to_owned(),
            _ => format.expected(message).unwrap_or_else(|| message.replace('\n', " ")),
        })
    }
}

impl fmt::Display for Misread<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misread::Key { name, known } => write!(f, "unknown key {name:?}: expected {}", one_of(known)),
            Misread::Other(why) => f.write_str(why),
        }
    }
}

fn one_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    match quoted.as_slice() {
        [] => "none".to_owned(),
        [one] => one.clone(),
        all => format!("one of {}", all.join(", ")),
    }
}

/// Returns what is wanted in place of a whole number that is beyond the ends of its type, which say nothing to anybody.
fn beyond(wanted: &str, came: &str) -> Option<&'static str> {
    match (wanted, came.starts_with('-')) {
        ("u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64", false) => Some("a smaller number"),
        ("i8" | "i16" | "i32" | "i64", true) => Some("a larger number"),
        _ => None,
    }
}

impl Format {
    /// The name for something that maps keys to values.
    fn object(self) -> &'static str {
        match self {
            Format::Json => "object",
            Format::Toml => "table",
        }
    }

    fn an_object(self) -> &'static str {
        match self {
            Format::Json => "an object",
            Format::Toml => "a table",
        }
    }

    fn a_string(self) -> &'static str {
        match self {
            Format::Json => "a string",
            Format::Toml => "text in quotes",
        }
    }

    /// Translates a mistake of the form `invalid type: what came, expected what was wanted`.
    fn expected(self, message: &str) -> Option<String> {
        let came = ["invalid type: ", "invalid value: ", "invalid length "]
            .into_iter()
            .find_map(|start| message.strip_prefix(start))?;
        let (came, wanted) = came.rsplit_once(", expected ")?;
        let came = match message.starts_with("invalid length ") {
            true if came == "1" => "1 value".to_owned(),
            true => format!("{came} values"),
            false => self.came(came),
        };
        let wanted = match message.starts_with("invalid value: ") {
            true => beyond(wanted, &came).map_or_else(|| self.wanted(wanted), str::to_owned),
            false => self.wanted(wanted),
        };
        Some(format!("expected {wanted}, got {came}"))
    }

    /// Translates the value that came: serde puts its type before the value.
    fn came(self, came: &str) -> String {
        if let Some(text) = came.strip_prefix("string ") {
            return text.to_owned();
        }
        if let Some(character) = came.strip_prefix("character ") {
            return format!("{:?}", character.trim_matches('`'));
        }
        // integer `5` as i128
        if let Some(value) = came.split('`').nth(1) {
            return value.to_owned();
        }
        match came {
            "sequence" => "a list",
            "map" => self.an_object(),
            "unit value" | "Option value" => "null",
            other => other,
        }
        .to_owned()
    }

    fn wanted(self, wanted: &str) -> String {
        let list = |length: &str| match length {
            "1" => "a list of 1 value".to_owned(),
            length => format!("a list of {length} values"),
        };
        let first_word = wanted.split(' ').next().unwrap_or_default();
        match wanted {
            "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number, 0 or more".to_owned(),
            "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number".to_owned(),
            "f32" | "f64" => "a number".to_owned(),
            "a boolean" => "true or false".to_owned(),
            "a character" => "one character in quotes".to_owned(),
            "a string" | "a borrowed string" | "variant identifier" | "field identifier" => {
                self.a_string().to_owned()
            }
            "path string" => "a path in quotes".to_owned(),
            "string or map" | "string or table" => format!("{} or {}", self.a_string(), self.an_object()),
            "a sequence" => "a list".to_owned(),
            "a map" => self.an_object().to_owned(),
            "unit" => "null".to_owned(),
            _ if wanted.starts_with("a nonzero ") => "a whole number other than 0".to_owned(),
            _ if wanted.starts_with("fewer elements in ") => "a shorter list".to_owned(),
            _ if wanted.contains("tagged enum ") => self.an_object().to_owned(),
            _ => match (first_word, wanted.split(' ').collect::<Vec<_>>().as_slice()) {
                // struct Limits with 3 elements, tuple struct Pair with 2 elements, a tuple of size 2
                (_, [.., "with", length, "element" | "elements"])
                | ("tuple", [.., "of", length, "element" | "elements"])
                | ("a", ["a", "tuple", "of", "size", length])
                | ("an", ["an", "array", "of", "length", length]) => list(length),
                ("struct", _) => self.an_object().to_owned(),
                ("tuple", _) => "a list".to_owned(),
                ("enum", _) => format!("{} or {}", self.a_string(), self.an_object()),
                _ => wanted.to_owned(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_left_out_and_a_text_that_looks_like_one_is_not() {
        let error = serde_json::from_str::<u8>("\n-1").unwrap_err();
        assert_eq!(in_json(&error), "expected a whole number, 0 or more, got -1");
        let error = serde_json::from_value::<u64>("x at line 3".into()).unwrap_err();
        assert_eq!(in_json(&error), "expected a whole number, 0 or more, got \"x at line 3\"");
    }

    #[test]
    fn an_object_is_no_list_of_its_values() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct Pair {
            a: u8,
            b: u8,
        }
        #[derive(Debug, PartialEq, Deserialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        enum Order {
            Go { to: u8 },
        }
        #[derive(Debug, Deserialize)]
        struct Many {
            #[serde(deserialize_with = "objects")]
            pairs: Vec<Pair>,
        }
        let pair = Pair { a: 1, b: 2 };
        let Object(read): Object<Pair> = serde_json::from_str(r#"{"b":2,"a":1}"#).unwrap();
        assert_eq!(read, pair);
        let Object(read): Object<Order> = serde_json::from_str(r#"{"to":2,"type":"go"}"#).unwrap();
        assert_eq!(read, Order::Go { to: 2 });
        let Object(read): Object<Many> = serde_json::from_str(r#"{"pairs":[{"a":1,"b":2}]}"#).unwrap();
        assert_eq!(read.pairs, [pair]);
        let mistakes = [
            serde_json::from_str::<Object<Pair>>("[1,2]").unwrap_err(),
            serde_json::from_str::<Object<Order>>(r#"["go",{"to":2}]"#).unwrap_err(),
            serde_json::from_str::<Object<Many>>(r#"{"pairs":[[1,2]]}"#).unwrap_err(),
        ];
        for mistake in mistakes {
            assert_eq!(in_json(&mistake), "expected an object, got a list");
        }
    }

    #[test]
    fn mistakes_are_told_in_the_words_of_json_and_toml() {
        for (message, json, toml) in [
            ("invalid type: string \"x\", expected u32", "expected a whole number, 0 or more, got \"x\"", ""),
            ("invalid value: integer `256`, expected u8", "expected a smaller number, got 256", ""),
            ("invalid value: integer `-1`, expected u64", "expected a whole number, 0 or more, got -1", ""),
            (
                "invalid value: integer `70000` as i128, expected u16",
                "expected a smaller number, got 70000",
                "",
            ),
            ("invalid value: integer `200`, expected i8", "expected a smaller number, got 200", ""),
            (
                "invalid type: floating point `1.5`, expected usize",
                "expected a whole number, 0 or more, got 1.5",
                "",
            ),
            ("invalid type: null, expected f64", "expected a number, got null", ""),
            ("invalid type: unit value, expected f64", "expected a number, got null", ""),
            (
                "invalid type: boolean `true`, expected a string",
                "expected a string, got true",
                "expected text in quotes, got true",
            ),
            ("invalid type: integer `3`, expected a boolean", "expected true or false, got 3", ""),
            (
                "invalid type: sequence, expected a map",
                "expected an object, got a list",
                "expected a table, got a list",
            ),
            (
                "invalid type: map, expected a sequence",
                "expected a list, got an object",
                "expected a list, got a table",
            ),
            (
                "invalid type: integer `3`, expected struct Limits",
                "expected an object, got 3",
                "expected a table, got 3",
            ),
            (
                "invalid type: sequence, expected internally tagged enum AdviseOn",
                "expected an object, got a list",
                "expected a table, got a list",
            ),
            (
                "invalid type: integer `3`, expected string or map",
                "expected a string or an object, got 3",
                "expected text in quotes or a table, got 3",
            ),
            (
                "invalid type: integer `3`, expected variant identifier",
                "expected a string, got 3",
                "expected text in quotes, got 3",
            ),
            (
                "invalid length 2, expected an array of length 6",
                "expected a list of 6 values, got 2 values",
                "",
            ),
            ("invalid length 1, expected a tuple of size 2", "expected a list of 2 values, got 1 value", ""),
            (
                "invalid length 2, expected struct Counts with 3 elements",
                "expected a list of 3 values, got 2 values",
                "",
            ),
            (
                "invalid length 7, expected fewer elements in array",
                "expected a shorter list, got 7 values",
                "",
            ),
            (
                "invalid type: string \"a, expected b\", expected path string",
                "expected a path in quotes, got \"a, expected b\"",
                "",
            ),
            (
                "unknown variant `red`, expected one of `green`, `blue`",
                "expected one of \"green\", \"blue\", got \"red\"",
                "",
            ),
            ("unknown variant `red`, expected `green`", "expected \"green\", got \"red\"", ""),
            ("unknown field `a`, expected `b` or `c`", "unknown key \"a\": expected one of \"b\", \"c\"", ""),
            ("unknown field `a`, there are no fields", "unknown key \"a\": expected none", ""),
            (
                "missing field `dice`",
                "expected a key \"dice\" in this object",
                "expected a key \"dice\" in this table",
            ),
            ("duplicate field `dice`", "the key \"dice\" is there twice", ""),
            (
                "data did not match any variant of untagged enum Shape",
                "this is none of the forms that are allowed here",
                "",
            ),
            ("invalid digit found in string", "expected a whole number", ""),
            ("number too large to fit in target type", "expected a smaller number", ""),
            ("expected value", "this is not JSON", ""),
            ("key must be a string", "keys stand in double quotes", ""),
            ("trailing characters", "something follows the end of the JSON", ""),
            ("trailing comma", "there is a comma before the closing bracket", ""),
            ("EOF while parsing an object", "the JSON ends too soon", ""),
            // What our own types say is in words already.
            ("expected a whole number from 1 to 9, got 0", "expected a whole number from 1 to 9, got 0", ""),
            ("invalid type: integer `3`, expected a colour", "expected a colour, got 3", ""),
        ] {
            assert_eq!(Misread::new(message, Format::Json).to_string(), json, "{message}");
            let toml = if toml.is_empty() { json } else { toml };
            assert_eq!(Misread::new(message, Format::Toml).to_string(), toml, "{message}");
        }
    }
}
