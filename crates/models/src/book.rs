//! The book: one SQLite file that keeps every call.

use crate::{Finish, Money, Tokens};
use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// A book of calls; a clone is the same book.
#[derive(Debug, Clone)]
pub struct Book;

/// Why a book cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}", path = path.display())]
pub struct BookError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub why: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// A call as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its number in the book.
    pub id: i64,
    /// When it was answered.
    pub at: SystemTime,
    /// The table of the model.
    pub name: String,
    /// The endpoint.
    pub base_url: String,
    /// The model that was asked for.
    pub model: String,
    /// The body of the request, as JSON.
    pub request: String,
    /// The salt of the question.
    pub salt: u64,
    /// The body of the answer as it came, without the key.
    pub answer: String,
    /// The model that answered.
    pub answered_by: String,
    /// Why it stopped.
    pub finish: Finish,
    /// What it took.
    pub tokens: Tokens,
    /// What it cost.
    pub cost: Money,
    /// How long it took.
    pub latency: Duration,
    /// Which try was answered, from 1.
    pub attempt: u32,
}

impl Book {
    /// Opens a book, or makes it, for its owner alone.
    pub fn open(path: &Path) -> Result<Self, BookError> {
        todo!("{path:?}")
    }

    /// A book that lives as long as the process.
    pub fn in_memory() -> Result<Self, BookError> {
        todo!()
    }

    /// Where the book of a store is: beside it, as `STORE.calls`.
    pub fn beside(store: &Path) -> PathBuf {
        let mut path = store.as_os_str().to_owned();
        path.push(".calls");
        path.into()
    }

    /// Where the book is when nobody says where: in the user's cache folder (`necrodome/calls.db`). Makes the folder.
    pub fn usual_place() -> Result<PathBuf, BookError> {
        todo!()
    }

    /// Shows all calls in order.
    pub fn each(&self, show: impl FnMut(Call)) -> Result<(), BookError> {
        let _ = show;
        todo!()
    }
}
