//! Opens a desk with the settings of a run.

use super::{Answers, Desk};
use crate::{Book, BookError, Budget, Models, TableError};
use necrodome_own as own;
use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

/// The settings of a run for its models.
#[derive(Debug, Clone, Default)]
pub struct DeskWishes<'a> {
    /// Tables that are known already, such as those in a tournament's file.
    pub own: Models,
    /// A file with more tables, which replace tables of the same name.
    pub file: Option<&'a Path>,
    /// The source of answers.
    pub answers: Answers,
    /// The path of the book; by default beside the store, or else the default path.
    pub calls: Option<&'a Path>,
    /// The store of the run.
    pub store: Option<&'a Path>,
    /// The limits of its calls.
    pub budget: Budget,
}

/// Why a desk could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// The file with the tables cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// A table is wrong.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The book cannot be used.
    #[error(transparent)]
    Book(#[from] BookError),
}

impl Desk {
    /// Opens the desk of a run, or returns `None` if the user has named no models.
    pub fn open(wishes: DeskWishes, interrupt: Arc<AtomicBool>) -> Result<Option<Self>, DeskError> {
        let DeskWishes { own, file, answers, calls, store, budget } = wishes;
        let models = match file {
            None => own,
            Some(path) => {
                let unread = |error| DeskError::Unread { path: path.to_owned(), error };
                own.with(Models::parse_file(&own::read_text(path).map_err(unread)?, path)?)
            }
        };
        if file.is_none() && models.names().next().is_none() {
            return Ok(None);
        }
        let path = match (calls, store) {
            (Some(path), _) => path.to_owned(),
            (None, Some(store)) => Book::beside(store),
            (None, None) => Book::made_usual_place()?,
        };
        let book = Book::open_for(&path, answers)?;
        Ok(Some(Desk::new(models, Some(book), answers, budget, interrupt)?))
    }
}
