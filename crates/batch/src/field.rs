//! The meaning of a number in an observation.

use serde::Serialize;

/// One number of an observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Its name, in snake case.
    pub name: String,
    /// Its meaning, in one sentence.
    pub about: String,
    /// The least value.
    pub low: i16,
    /// The greatest value.
    pub high: i16,
}

impl Field {
    /// Makes a field.
    pub fn new(name: impl Into<String>, about: impl Into<String>, low: i16, high: i16) -> Self {
        Field { name: name.into(), about: about.into(), low, high }
    }
}
