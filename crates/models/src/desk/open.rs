//! A desk put together from what a run wants.

use super::{Answers, Desk};
use crate::{Book, BookError, Budget, Models, TableError};
use necrodome_own as own;
use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

/// What a run wants of models.
#[derive(Debug, Clone, Default)]
pub struct DeskWishes<'a> {
    /// Tables that are known already, such as those of a tournament's own file.
    pub own: Models,
    /// A file with more tables, which win where names are the same.
    pub file: Option<&'a Path>,
    /// Where answers come from.
    pub answers: Answers,
    /// The book; by default it is beside the store, else in the usual place.
    pub calls: Option<&'a Path>,
    /// The store of the run.
    pub store: Option<&'a Path>,
    /// What calls may take.
    pub budget: Budget,
}

/// Why there is no desk.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// The file with the tables cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A table makes no sense.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The book cannot be used.
    #[error(transparent)]
    Book(#[from] BookError),
}

impl Desk {
    /// The desk that a run wants; none if nobody has said what models there are.
    pub fn open(wishes: DeskWishes, interrupt: Arc<AtomicBool>) -> Result<Option<Self>, DeskError> {
        let DeskWishes { own, file, answers, calls, store, budget } = wishes;
        let models = match file {
            None => own,
            Some(path) => {
                let unread = |error| DeskError::Unread { path: path.to_owned(), error };
                own.with(Models::parse(&own::read_text(path).map_err(unread)?, path)?)
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
