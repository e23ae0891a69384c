//! Models as `[models.NAME]` tables describe them.

use crate::{Budget, Form, Price};
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// Whether a prompt lists the legal actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Legal {
    /// It does.
    #[default]
    Shown,
    /// It does not: the model must know the rules.
    Hidden,
}

/// A model as its table describes it. The key itself is never part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The name of the table.
    pub name: String,
    /// Where the endpoint is, up to and without `/chat/completions`.
    pub base_url: String,
    /// The model as the endpoint calls it.
    pub model: String,
    /// The environment variable that holds the key.
    pub key_env: Option<String>,
    /// The variant of the prompt: a built-in one, or a folder as seen from [`folder`](Model::folder).
    pub prompt: String,
    /// The form of answers; without, the desk finds out ([`Desk::form`](crate::Desk::form)).
    pub answers: Option<Form>,
    /// Whether prompts list the legal actions.
    pub legal: Legal,
    /// The seed by which prompts rename what a game is about.
    pub disguise: Option<u64>,
    /// How often it is asked again after an answer that cannot be used.
    pub retries: u32,
    /// Passed on to the endpoint as they are.
    pub parameters: Map<String, Value>,
    /// The price of input, if known.
    pub input_price: Option<Price>,
    /// The price of input that the endpoint had cached, if it is not that of other input.
    pub cached_price: Option<Price>,
    /// The price of output, if known.
    pub output_price: Option<Price>,
    /// The most requests a minute.
    pub requests_per_minute: Option<u32>,
    /// The most tokens a minute, input and output.
    pub tokens_per_minute: Option<u32>,
    /// The most calls at once.
    pub concurrency: u32,
    /// How long a call may take.
    pub timeout: Duration,
    /// What calls of this model may take in one run.
    pub budget: Budget,
    /// The folder of the file, from which paths in it are seen.
    pub folder: PathBuf,
}

impl Model {
    /// A hash of all that changes the model's answers, as 16 hexadecimal digits. The text of prompts is not known here.
    pub fn fingerprint(&self) -> String {
        todo!()
    }
}

/// Models by name.
#[derive(Debug, Clone, Default)]
pub struct Models {
    models: BTreeMap<String, Arc<Model>>,
}

impl Models {
    /// Reads a file of `[models.NAME]` tables and nothing else. `path` is for errors, and for paths that are seen from the file.
    pub fn parse(text: &str, path: &Path) -> Result<Self, TableError> {
        todo!("{text} {path:?}")
    }

    /// Reads the `[models.NAME]` tables of a file that says other things, too, such as a tournament.
    pub fn parse_within(text: &str, path: &Path) -> Result<Self, TableError> {
        todo!("{text} {path:?}")
    }

    /// The same models and those of another file, which win where names are the same.
    pub fn with(mut self, others: Models) -> Self {
        self.models.extend(others.models);
        self
    }

    /// A model by its name.
    pub fn get(&self, name: &str) -> Option<&Arc<Model>> {
        self.models.get(name)
    }

    /// All names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.models.keys().map(String::as_str)
    }

    /// The name that is most like another one, if any is.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        todo!("{name}")
    }
}

/// A mistake in a table: `file:line:column: what is wrong`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableError {
    /// The file.
    pub path: PathBuf,
    /// Line and column, from 1.
    pub place: Option<(usize, usize)>,
    /// What is wrong, and what was expected.
    pub why: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.why)
    }
}

impl std::error::Error for TableError {}
