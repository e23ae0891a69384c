//! Named options: of a game's rules (`--set out_of_dice=recycle_brains`) and of a built-in bot
//! (`stop-at:brains=5`).
//!
//! A set of options is a struct; names, defaults, values and meanings are read off its type and doc comments, so
//! no second list can go out of date.

use alloc::{
    borrow::{Cow, ToOwned},
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// A struct of options. Every field has a default; an unknown field is refused (`#[serde(default,
/// deny_unknown_fields)]`).
pub trait Options:
    Default + Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema
{
}

impl<T> Options for T where
    T: Default + Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema
{
}

/// No options: for bots without any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoOptions {}

/// One option, described for people and for pages.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OptionInfo {
    /// Its name.
    pub name: String,
    /// Its value when it is not set.
    pub default: Value,
    /// The values that it takes.
    pub takes: Takes,
    /// Whether it takes `none`, too.
    pub or_none: bool,
    /// The values that it takes, in words.
    pub values: String,
    /// Its meaning.
    pub meaning: String,
}

/// The values of an option.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Takes {
    /// One of these words.
    Choice {
        /// The words.
        choices: Vec<String>,
    },
    /// A whole number.
    Integer {
        /// The least, if there is one.
        min: Option<i64>,
        /// The most, if there is one.
        max: Option<i64>,
    },
    /// Any number.
    Number {
        /// The least, if there is one.
        min: Option<f64>,
        /// The most, if there is one.
        max: Option<f64>,
    },
    /// Something else, as JSON calls it.
    Other {
        /// The type: string, array and so on.
        json: String,
    },
}

/// Why an option was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// There is no such option.
    #[error("unknown option {name:?}: expected {}", alternatives(.valid))]
    Unknown {
        /// The name that was given.
        name: String,
        /// The options there are.
        valid: Vec<String>,
    },
    /// The option does not take this value.
    #[error("bad value {value:?} for option {name}: expected {expected}")]
    Value {
        /// The option.
        name: String,
        /// The value that was given.
        value: String,
        /// The values that it takes.
        expected: String,
    },
    /// The option was set twice.
    #[error("option {name} is set twice")]
    Twice {
        /// The option.
        name: String,
    },
    /// Not of the form `name=value`.
    #[error("expected option=value, got {came:?}")]
    Form {
        /// The text that was given.
        came: String,
    },
}

fn alternatives(names: &[String]) -> String {
    match names {
        [] => "no options at all".to_owned(),
        [one] => one.clone(),
        names => format!("one of {}", names.join(", ")),
    }
}

/// Splits `name=value`.
pub fn split_pair(text: &str) -> Result<(String, String), OptionError> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(OptionError::Form { came: text.to_owned() }),
    }
}

/// Takes the defaults and sets `pairs` on top. Values are written as in JSON, but text needs no quotes, and `none`
/// turns an option off.
pub fn parse<T: Options>(pairs: &[(String, String)]) -> Result<T, OptionError> {
    if pairs.is_empty() {
        return Ok(T::default());
    }
    let infos = describe::<T>();
    let mut values = Map::new();
    for (name, text) in pairs {
        let Some(info) = infos.iter().find(|info| info.name == *name) else {
            let valid = infos.into_iter().map(|info| info.name).collect();
            return Err(OptionError::Unknown { name: name.clone(), valid });
        };
        let value = match text.as_str() {
            "none" => Value::Null,
            text => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
        };
        let alone = Map::from_iter([(name.clone(), value.clone())]);
        if serde_json::from_value::<T>(Value::Object(alone)).is_err() {
            let expected = info.values.clone();
            return Err(OptionError::Value { name: name.clone(), value: text.clone(), expected });
        }
        if values.insert(name.clone(), value).is_some() {
            return Err(OptionError::Twice { name: name.clone() });
        }
    }
    // Each value was accepted alone, and fields do not depend on each other.
    serde_json::from_value(Value::Object(values)).map_err(|e| OptionError::Form { came: e.to_string() })
}

/// Lists all options of `T`, read off its JSON schema.
pub fn describe<T: Options>() -> Vec<OptionInfo> {
    let generator = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true).into_generator();
    let schema = generator.into_root_schema_for::<T>();
    let Some(Value::Object(properties)) = schema.get("properties") else { return Vec::new() };
    let defaults = serde_json::to_value(T::default()).unwrap_or_default();
    let info = |(name, property): (&String, &Value)| {
        let (takes, or_none) = Takes::of(property);
        OptionInfo {
            name: name.clone(),
            // A default that is not written stands in the schema.
            default: defaults.get(name).or(property.get("default")).cloned().unwrap_or_default(),
            values: takes.words(or_none),
            takes,
            or_none,
            meaning: property["description"].as_str().unwrap_or_default().replace('\n', " "),
        }
    };
    properties.iter().map(info).collect()
}

impl Takes {
    /// Reads from a schema which values it allows, and whether it allows null.
    fn of(schema: &Value) -> (Self, bool) {
        if let Some(Value::Array(parts)) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
            return Self::any_of(parts);
        }
        let only = schema.get("const").map(core::slice::from_ref);
        let values = only.or_else(|| schema.get("enum").and_then(Value::as_array).map(Vec::as_slice));
        if let Some(values) = values {
            let words = values.iter().filter(|value| !value.is_null());
            let choices = words.map(plain).collect();
            return (Takes::Choice { choices }, values.iter().any(Value::is_null));
        }
        let types = match schema.get("type") {
            Some(Value::Array(types)) => types.as_slice(),
            Some(only) => core::slice::from_ref(only),
            None => &[],
        };
        let or_none = types.iter().any(|name| name == "null");
        let name = types.iter().filter_map(Value::as_str).find(|name| *name != "null");
        let (min, max) = (&schema["minimum"], &schema["maximum"]);
        let takes = match name {
            Some("integer") => Takes::Integer { min: min.as_i64(), max: max.as_i64() },
            Some("number") => Takes::Number { min: min.as_f64(), max: max.as_f64() },
            Some("boolean") => Takes::Choice { choices: ["true", "false"].map(ToOwned::to_owned).into() },
            // Null alone: part of something that is optional.
            None if or_none => Takes::Choice { choices: Vec::new() },
            name => Takes::Other { json: name.unwrap_or("a value").to_owned() },
        };
        (takes, or_none)
    }

    /// The words of all parts; if some parts are not words, the first of those.
    fn any_of(parts: &[Value]) -> (Self, bool) {
        let (mut words, mut or_none, mut other) = (Vec::new(), false, None);
        for (takes, none) in parts.iter().map(Self::of) {
            or_none |= none;
            match takes {
                Takes::Choice { choices } => words.extend(choices),
                takes => other = other.or(Some(takes)),
            }
        }
        (other.unwrap_or(Takes::Choice { choices: words }), or_none)
    }

    /// Describes the values in words: `end_turn or recycle_brains`, `a whole number from 1 to 99, or none`.
    fn words(&self, or_none: bool) -> String {
        let range = |min: Option<String>, max: Option<String>| match (min, max) {
            (Some(min), Some(max)) => format!(" from {min} to {max}"),
            _ => String::new(),
        };
        let text = |number: &f64| number.to_string();
        let words = match self {
            Takes::Choice { choices } => choices.join(" or "),
            Takes::Integer { min, max } => {
                format!("a whole number{}", range(min.map(|n| n.to_string()), max.map(|n| n.to_string())))
            }
            Takes::Number { min, max } => {
                format!("a number{}", range(min.as_ref().map(text), max.as_ref().map(text)))
            }
            Takes::Other { json } => json.clone(),
        };
        match self {
            _ if !or_none => words,
            Takes::Choice { .. } => format!("{words} or none"),
            _ => format!("{words}, or none"),
        }
    }
}

/// Writes a value as people do: text without quotes, null as `none`.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        // 0.000001, not 1e-6.
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().to_string(),
        other => other.to_string(),
    }
}

/// A whole number from `MIN` to `MAX`: an option that cannot be out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Bounded<const MIN: u32, const MAX: u32>(u32);

impl<const MIN: u32, const MAX: u32> Bounded<MIN, MAX> {
    /// Makes a number that is in range. One that is not is a compile-time error in a constant.
    pub const fn new(value: u32) -> Self {
        assert!(MIN <= value && value <= MAX, "out of range");
        Bounded(value)
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl<const MIN: u32, const MAX: u32> TryFrom<u32> for Bounded<MIN, MAX> {
    type Error = String;

    fn try_from(value: u32) -> Result<Self, String> {
        if (MIN..=MAX).contains(&value) {
            Ok(Bounded(value))
        } else {
            Err(match MAX {
                u32::MAX => format!("expected a whole number, {MIN} or more, got {value}"),
                _ => format!("expected a whole number from {MIN} to {MAX}, got {value}"),
            })
        }
    }
}

impl<const MIN: u32, const MAX: u32> From<Bounded<MIN, MAX>> for u32 {
    fn from(bounded: Bounded<MIN, MAX>) -> u32 {
        bounded.0
    }
}

impl<const MIN: u32, const MAX: u32> JsonSchema for Bounded<MIN, MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("Bounded_{MIN}_{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Mode {
        /// Slow and sure.
        #[default]
        Careful,
        /// Fast.
        VeryBold,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    struct Sample {
        /// How to go on
        /// about it.
        mode: Mode,
        /// How often.
        times: Bounded<1, 9>,
        /// When to stop.
        limit: Option<Bounded<1, 100>>,
    }

    #[test]
    fn every_kind_of_schema_has_its_kind_of_values() {
        fn words<T: JsonSchema>() -> String {
            let generator =
                SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true).into_generator();
            let (takes, or_none) = Takes::of(generator.into_root_schema_for::<T>().as_value());
            takes.words(or_none)
        }
        assert_eq!(words::<Option<Mode>>(), "careful or very_bold or none");
        assert_eq!(words::<bool>(), "true or false");
        assert_eq!(words::<Option<f64>>(), "a number, or none");
        assert_eq!(words::<String>(), "string");
    }

    impl Default for Sample {
        fn default() -> Self {
            Sample { mode: Mode::Careful, times: Bounded::new(3), limit: None }
        }
    }

    fn parsed(pairs: &[&str]) -> Result<Sample, OptionError> {
        parse(&pairs.iter().map(|pair| split_pair(pair)).collect::<Result<Vec<_>, _>>()?)
    }

    #[test]
    fn options_are_described_by_their_type() {
        let rows: Vec<_> = describe::<Sample>()
            .into_iter()
            .map(|info| (info.name, plain(&info.default), info.values, info.meaning))
            .collect();
        let row = |a: &str, b: &str, c: &str, d: &str| (a.into(), b.into(), c.into(), d.into());
        assert_eq!(
            rows,
            vec![
                row("limit", "none", "a whole number from 1 to 100, or none", "When to stop."),
                row("mode", "careful", "careful or very_bold", "How to go on about it."),
                row("times", "3", "a whole number from 1 to 9", "How often."),
            ]
        );
        let takes: Vec<_> = describe::<Sample>().into_iter().map(|info| (info.takes, info.or_none)).collect();
        let words = ["careful", "very_bold"].map(ToOwned::to_owned);
        assert_eq!(
            takes,
            vec![
                (Takes::Integer { min: Some(1), max: Some(100) }, true),
                (Takes::Choice { choices: words.into() }, false),
                (Takes::Integer { min: Some(1), max: Some(9) }, false),
            ]
        );
        assert_eq!(describe::<NoOptions>(), vec![]);
    }

    #[test]
    fn values_are_set_on_top_of_the_defaults() {
        let sample = parsed(&["mode=very_bold", "limit = 7"]).unwrap();
        assert_eq!(sample.mode, Mode::VeryBold);
        assert_eq!(sample.limit, Some(Bounded::new(7)));
        assert_eq!(sample.times.get(), 3);
        assert_eq!(parsed(&["limit=none"]).unwrap().limit, None);
    }

    #[test]
    fn mistakes_say_what_was_expected() {
        for (pairs, message) in [
            (vec!["moode=careful"], r#"unknown option "moode": expected one of limit, mode, times"#),
            (vec!["mode=wild"], r#"bad value "wild" for option mode: expected careful or very_bold"#),
            (vec!["times=0"], r#"bad value "0" for option times: expected a whole number from 1 to 9"#),
            (vec!["times=1.5"], r#"bad value "1.5" for option times: expected a whole number from 1 to 9"#),
            (vec!["times=none"], r#"bad value "none" for option times: expected a whole number from 1 to 9"#),
            (vec!["times=1", "times=2"], "option times is set twice"),
            (vec!["times"], r#"expected option=value, got "times""#),
            (vec!["=3"], r#"expected option=value, got "=3""#),
        ] {
            assert_eq!(parsed(&pairs).unwrap_err().to_string(), message);
        }
    }
}
