//! The names of the players, and the errors of a set-up.

use alloc::{borrow::ToOwned, string::String, sync::Arc, vec::Vec};
use core::ops::{Index, RangeInclusive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{game::Seat, words::range};

/// The longest name, in characters.
pub const MAX_NAME: usize = 40;

/// The names of a match, one for each seat: 1 to 40 visible characters each, no two alike. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Names(Arc<[Arc<str>]>);

/// Why a match cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The number of seats does not suit the game.
    #[error("expected {}, got {came}", range(.expected, "player"))]
    Seats {
        /// The numbers of seats that the game takes.
        expected: RangeInclusive<usize>,
        /// The number of seats given.
        came: usize,
    },
    /// A name that cannot be used.
    #[error("the name {name:?} {why}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Options that are fine alone, but not together or not with these seats.
    #[error("option {option}: {why}")]
    Option {
        /// The option to change.
        option: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

impl Names {
    /// Checks names: not empty, at most 40 characters, nothing invisible, no spaces at the ends, and no two that
    /// differ only in case.
    pub fn new<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Self, SetupError> {
        let names: Vec<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
        let mut folded: Vec<(String, &String)> = Vec::with_capacity(names.len());
        for name in &names {
            check_name(name)?;
            let seen: String = name.chars().filter(|&c| c != AS_PICTURE && c != JOINER).collect();
            folded.push((seen.to_lowercase(), name));
        }
        folded.sort();
        if let Some(pair) = folded.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(refuse(pair[1].1, "is taken: names must differ in more than upper and lower case"));
        }
        Ok(Names(names.into_iter().map(Arc::from).collect()))
    }

    /// Selects names, in the order in which the entries sit.
    pub fn seated(&self, seating: &[usize]) -> Self {
        Names(seating.iter().map(|&name| self.0[name].clone()).collect())
    }

    /// The number of names.
    #[allow(clippy::len_without_is_empty)] // No game has zero seats.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All names in the order of the seats.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Refuses a number of seats that the game does not take.
    pub fn expect_seats(&self, expected: RangeInclusive<usize>) -> Result<(), SetupError> {
        if expected.contains(&self.len()) {
            Ok(())
        } else {
            Err(SetupError::Seats { expected, came: self.len() })
        }
    }

    /// Refuses names that the game reserves, in any case.
    pub fn expect_none_of(&self, reserved: &[&str]) -> Result<(), SetupError> {
        match self.iter().find(|name| reserved.iter().any(|taken| taken.eq_ignore_ascii_case(name))) {
            Some(name) => Err(refuse(name, "is reserved in this game")),
            None => Ok(()),
        }
    }
}

impl Names {
    /// The name of a seat, or `None` if there is no such seat.
    pub fn get(&self, seat: Seat) -> Option<&str> {
        self.0.get(seat.index()).map(AsRef::as_ref)
    }
}

impl Index<Seat> for Names {
    type Output = str;

    fn index(&self, seat: Seat) -> &str {
        &self.0[seat.index()]
    }
}

impl TryFrom<Vec<String>> for Names {
    type Error = SetupError;

    fn try_from(names: Vec<String>) -> Result<Self, SetupError> {
        Names::new(names)
    }
}

impl From<Names> for Vec<String> {
    fn from(names: Names) -> Self {
        names.iter().map(ToOwned::to_owned).collect()
    }
}

fn refuse(name: &str, why: &'static str) -> SetupError {
    SetupError::Name { name: name.to_owned(), why }
}

fn check_name(name: &str) -> Result<(), SetupError> {
    if name.is_empty() {
        return Err(refuse(name, "is empty"));
    }
    if name.chars().count() > MAX_NAME {
        return Err(refuse(name, "is longer than 40 characters"));
    }
    if hides_something(name) {
        return Err(refuse(name, "has control or invisible characters"));
    }
    if name.trim() != name {
        return Err(refuse(name, "begins or ends with a space"));
    }
    Ok(())
}

/// Makes a picture of the character before it; below, joins two pictures into one.
const AS_PICTURE: char = '\u{fe0f}';
const JOINER: char = '\u{200d}';

/// Whether a name has invisible characters, but for those that phones put into pictures.
fn hides_something(name: &str) -> bool {
    let chars: Vec<char> = name.chars().collect();
    let is_shown = |at: usize| match chars[at] {
        AS_PICTURE => at > 0 && is_picture(chars[at - 1]),
        JOINER => {
            at > 0
                && (chars[at - 1] == AS_PICTURE || is_picture(chars[at - 1]))
                && chars.get(at + 1).copied().is_some_and(is_picture)
        }
        c => !is_invisible(c),
    };
    !(0..chars.len()).all(is_shown)
}

/// Whether a character can be a picture, such as a heart or a zombie.
fn is_picture(c: char) -> bool {
    let could_be = matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}');
    could_be && !is_invisible(c)
}

/// Whether a character is a control character, or a format character that can make two names look alike or reverse text.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn good_names_pass() {
        let forty = "x".repeat(40);
        let names = Names::new(["greedy", "Élodie", "眠い", "two words", &forty]).unwrap();
        assert_eq!(names.len(), 5);
        assert_eq!(&names[Seat(1)], "Élodie");
    }

    #[test]
    fn bad_names_are_refused_with_the_reason() {
        for (name, why) in [
            ("", "is empty"),
            (&"x".repeat(41), "longer than 40"),
            ("a\nb", "control or invisible"),
            ("a\u{7}", "control or invisible"),
            ("evil\u{202e}txt", "control or invisible"),
            ("zero\u{200b}width", "control or invisible"),
            (" pad", "begins or ends"),
        ] {
            let error = Names::new([name]).unwrap_err().to_string();
            assert!(error.contains(why), "{name:?}: {error}");
        }
    }

    #[test]
    fn pictures_are_names() {
        let names = ["\u{2764}\u{fe0f}", "\u{1f9df}\u{200d}\u{2640}\u{fe0f}\u{1f389}", "\u{1f44d}\u{1f3fd}"];
        assert!(Names::new(names).is_ok());
        for name in ["\u{fe0f}", "a\u{fe0f}", "a\u{200d}b", "\u{1f9df}\u{200d}", "\u{2800}\u{fe0f}"] {
            assert!(Names::new([name]).is_err(), "{name:?}");
        }
        let alike = Names::new(["\u{2764}\u{fe0f}", "\u{2764}"]).unwrap_err().to_string();
        assert!(alike.contains("is taken"), "{alike}");
    }

    #[test]
    fn names_that_differ_only_in_case_are_one_name() {
        let error = Names::new(["Tim", "kiril", "tIM"]).unwrap_err();
        assert!(error.to_string().contains("is taken"), "{error}");
        assert!(Names::new(["Ärger", "ärger"]).is_err());
    }

    #[test]
    fn json_cannot_smuggle_in_bad_names() {
        assert!(serde_json::from_str::<Names>(r#"["a","b"]"#).is_ok());
        assert!(serde_json::from_str::<Names>(r#"["a","A"]"#).is_err());
    }
}
