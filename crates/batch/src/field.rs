//! What a number of an observation means.

use serde::Serialize;

/// One number of an observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Its name, in snake case.
    pub name: String,
    /// What it is, in one sentence.
    pub about: String,
    /// The least it can be.
    pub low: i16,
    /// The most it can be.
    pub high: i16,
}

impl Field {
    /// A field.
    pub fn new(name: impl Into<String>, about: impl Into<String>, low: i16, high: i16) -> Self {
        Field { name: name.into(), about: about.into(), low, high }
    }
}
