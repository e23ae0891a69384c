//! A tournament in parts, which other machines play: a plan as a file, shards of its blocks, and one store that they are merged
//! into. Since a block is the same wherever it is played, every part can be proved by playing it again.

mod audit;
mod merge;
mod origin;
mod origins;
mod pack;
mod plan_file;
mod shard;
#[cfg(test)]
mod tests;

pub use audit::{Audit, Catch, Difference, audit, blocks_to_catch, chance_to_catch};
pub use merge::{Merged, Merger, merge, merged};
pub use origin::Origin;
pub use pack::{Packed, is_pack, pack};
pub use plan_file::{PlanFile, PlanInfo};
pub use shard::Shard;

use super::{StoreError, TournamentError};
use crate::{entry::EntryError, process::LevelError};
use std::{
    io,
    ops::Range,
    path::{Path, PathBuf},
};

/// Why a part of a tournament cannot be planned, played, merged or audited.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// A file cannot be read or written.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
    /// A file is not what it should be.
    #[error("{} is not {expected}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What was expected.
        expected: &'static str,
    },
    /// A file is what it should be, but not as it was written.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Somebody has edited a plan.
    #[error("{} was changed since it was written, and would be another tournament", path.display())]
    Edited {
        /// The file.
        path: PathBuf,
    },
    /// A tournament that can be played in one place only.
    #[error("{0}")]
    Unsuitable(String),
    /// Blocks that the plan does not have.
    #[error("the plan has blocks {} to {}, so there is no part {}..{}", has.start, has.end, asked.start, asked.end)]
    Blocks {
        /// What was asked for.
        asked: Range<u32>,
        /// What there is.
        has: Range<u32>,
    },
    /// This machine lacks what runs an entry. That is no fault of the bot.
    #[error("this machine has no {program}, which runs {name}")]
    NoInterpreter {
        /// The entry.
        name: String,
        /// What runs it.
        program: String,
    },
    /// An environment variable that bots are to be given.
    #[error("this machine has no environment variable {0}, which the plan gives to all programs")]
    NoVariable(String),
    /// An entry cannot take part.
    #[error("{name}: {why}")]
    Entry {
        /// The entry.
        name: String,
        /// Why.
        why: EntryError,
    },
    /// This machine cannot confine programs as the plan wants it.
    #[error(transparent)]
    Level(#[from] LevelError),
    /// The parts of two tournaments.
    #[error("{} is a part of another tournament: {what}", path.display())]
    OtherPlan {
        /// The file.
        path: PathBuf,
        /// How it can be told.
        what: String,
    },
    /// One block, two results.
    #[error("block {block} was played twice and {what}: once by {one}, once by {other}")]
    Conflict {
        /// The block.
        block: u32,
        /// What differs.
        what: &'static str,
        /// Where the first comes from.
        one: String,
        /// Where the other comes from.
        other: String,
    },
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A part cannot be played.
    #[error(transparent)]
    Play(#[from] TournamentError),
}

impl PartError {
    /// An error of the system about a file.
    fn file(path: &Path) -> impl Fn(io::Error) -> Self {
        move |why| PartError::File { path: path.to_owned(), why }
    }

    fn damaged(path: &Path, what: impl Into<String>) -> Self {
        PartError::Damaged { path: path.to_owned(), what: what.into() }
    }
}

impl From<rusqlite::Error> for PartError {
    fn from(error: rusqlite::Error) -> Self {
        PartError::Store(error.into())
    }
}
