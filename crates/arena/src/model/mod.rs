//! Language models at the table: what the arena tells them, how it reads their answers, and what it does about answers that it cannot use.
//!
//! `necrodome_models` defines what a model is and how to reach it; this module makes a player of it.

mod answer;
mod bounded;
mod disguise;
mod estimate;
mod player;
mod prompt;
mod schema;

pub use disguise::Disguise;
pub use estimate::{CostEstimate, ModelEstimate, Paid};
pub(crate) use estimate::{Sample, Sampled};
pub use player::{ModelPlayer, Rehearsal};
pub use prompt::{PromptError, Prompts, Variant};
pub use schema::answer_schema;

use necrodome_models::{BookError, Desk, Model, Run};
use std::{fmt, sync::Arc};

/// The prefix of an entry that is a language model.
pub const PREFIX: &str = "llm:";

/// Whether an entry, as the user wrote it, is a language model, with or without a name in front.
pub fn is_model(written: &str) -> bool {
    crate::entry::split_name(written).1.starts_with(PREFIX)
}

/// A language model that takes part.
#[derive(Clone)]
pub struct ModelEntry {
    desk: Desk,
    model: Arc<Model>,
    prompts: Arc<Prompts>,
    fingerprint: String,
}

/// The reason why a model cannot take part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoModel {
    /// No table of models was given.
    #[error("there is no model {0:?}: no file of models is given")]
    NoTables(String),
    /// There is no such table, or it cannot be used.
    #[error("{0}")]
    Model(#[from] necrodome_models::ModelError),
    /// Its prompt cannot be used.
    #[error("the prompt of model {model}: {why}")]
    Prompt {
        /// The model.
        model: String,
        /// What is wrong.
        why: PromptError,
    },
}

impl ModelEntry {
    /// Returns the model with this name, with its prompts.
    pub fn new(desk: &Desk, name: &str) -> Result<Self, NoModel> {
        let model = desk.model(name)?;
        let refuse = |why| NoModel::Prompt { model: name.to_owned(), why };
        let prompts = Prompts::load(&model.prompt, model.folder()).map_err(refuse)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(model.fingerprint().as_bytes()).update(prompts.hash().as_bytes());
        let fingerprint = hasher.finalize().to_hex()[..32].to_owned();
        Ok(ModelEntry { desk: desk.clone(), model, prompts: prompts.into(), fingerprint })
    }

    /// Returns the desk that asks the model.
    pub fn desk(&self) -> &Desk {
        &self.desk
    }

    /// Begins a run for the model in the book of calls.
    pub fn begin(&self, run: &Run) -> Result<(), BookError> {
        self.desk.begin(&self.model, run)
    }

    /// Marks the run as complete for the model.
    pub fn finish(&self) -> Result<(), BookError> {
        self.desk.finish(&self.model)
    }

    /// Returns what the model's table says.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns a hash of everything that affects its answers: an edited table or prompt makes another entry.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

impl fmt::Debug for ModelEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ModelEntry").field(&self.model.name).field(&self.fingerprint).finish()
    }
}

impl PartialEq for ModelEntry {
    fn eq(&self, other: &Self) -> bool {
        self.model.name == other.model.name && self.fingerprint == other.fingerprint
    }
}

impl Eq for ModelEntry {}
