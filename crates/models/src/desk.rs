//! The desk: the one door to all models.

use crate::{AskError, Book, BookError, Budget, Form, Model, Models, Question, Reply, Spent};
use serde_json::value::RawValue;
use std::{
    collections::BTreeMap,
    str::FromStr,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

/// Where answers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answers {
    /// From the book, where it has them; calls are made for the rest.
    #[default]
    Reuse,
    /// From calls, each question once a run; the answers replace those in the book.
    Fresh,
    /// From the book only.
    Only,
}

impl FromStr for Answers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "reuse" => Ok(Answers::Reuse),
            "fresh" => Ok(Answers::Fresh),
            "only" => Ok(Answers::Only),
            _ => Err(format!("expected reuse, fresh or only, got {text:?}")),
        }
    }
}

/// How long the desk puts up with endpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// The most tries for one question.
    pub tries: u32,
    /// The most time for all tries but the last.
    pub in_all: Duration,
    /// The longest first pause between two tries; it doubles from try to try.
    pub pause: Duration,
    /// How long a call that is under way may go on after an interrupt, so that what is paid for is kept.
    pub grace: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            tries: 6,
            in_all: Duration::from_secs(120),
            pause: Duration::from_secs(1),
            grace: Duration::from_secs(10),
        }
    }
}

/// Why a model cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct ModelError {
    /// What is wrong.
    pub why: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// What came of trying a form of answers.
#[derive(Debug, Clone)]
pub struct Trial {
    /// What was asked.
    pub question: Question,
    /// What came, or why the endpoint refused.
    pub outcome: Result<Reply, String>,
    /// Whether the form works.
    pub works: bool,
}

/// The one door to all models, for all threads; a clone is the same desk.
#[derive(Debug, Clone)]
pub struct Desk;

impl Desk {
    /// A desk for some models. Without a book, answers are kept as long as the desk. `interrupt` stops waiting and asking.
    pub fn new(
        models: Models,
        book: Option<Book>,
        answers: Answers,
        budget: Budget,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Self, BookError> {
        Self::with_patience(models, book, answers, budget, interrupt, Patience::default())
    }

    /// A desk with a patience of its own.
    pub fn with_patience(
        models: Models,
        book: Option<Book>,
        answers: Answers,
        budget: Budget,
        interrupt: Arc<AtomicBool>,
        patience: Patience,
    ) -> Result<Self, BookError> {
        todo!("{models:?} {book:?} {answers:?} {budget:?} {interrupt:?} {patience:?}")
    }

    /// A model by its name, if it can be used: with a budget, the worst case of a call must be known.
    pub fn model(&self, name: &str) -> Result<Arc<Model>, ModelError> {
        todo!("{name}")
    }

    /// Asks a model. The answer is in the book before anybody sees it.
    pub fn ask(&self, model: &Model, question: &Question) -> Result<Reply, AskError> {
        todo!("{model:?} {question:?}")
    }

    /// The form in which a model answers: as its table says, else the first that works for the schema. What works is kept in the
    /// book, too.
    pub fn form(&self, model: &Model, schema: &Arc<RawValue>) -> Result<Form, AskError> {
        todo!("{model:?} {schema:?}")
    }

    /// Tries a form of answers.
    pub fn try_form(&self, model: &Model, schema: &Arc<RawValue>, form: Form) -> Result<Trial, AskError> {
        todo!("{model:?} {schema:?} {form:?}")
    }

    /// What the run has taken so far, by the names of models.
    pub fn spent(&self) -> BTreeMap<String, Spent> {
        todo!()
    }

    /// What users should be told and was not told yet, such as that an endpoint has begun to answer as another model.
    pub fn take_notes(&self) -> Vec<String> {
        todo!()
    }
}
