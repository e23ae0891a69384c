//! A tournament in parts that other machines play: a plan as a file, shards with the results of its blocks, and one store that they are
//! merged into. A block has the same result wherever it is played, so anybody can check a part by playing it again.

mod allowed;
mod audit;
mod merge;
mod origin;
mod origins;
mod pack;
mod plan_file;
mod shard;
mod starts;
#[cfg(test)]
mod tests;

pub use allowed::Allowed;
pub use audit::{Audit, Catch, Difference, Disputed, audit, blocks_to_catch, chance_to_catch};
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

/// The largest plan, in bytes: ten times that of 320 entries. A small file must not become a large plan, whose values fill the memory.
const MOST_PLAN: u64 = 1 << 20;

/// Refuses a plan that nobody would read.
fn check_size(plan: usize) -> Result<(), String> {
    match plan as u64 > MOST_PLAN {
        true => Err(format!("the plan has more than {} MB", MOST_PLAN >> 20)),
        false => Ok(()),
    }
}

/// What errors call the pack whose hash somebody gives.
const NAMED_PACK: &str = "the pack that was named";

/// The reason why a part of a tournament cannot be planned, played, merged or audited.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// A file cannot be read or written.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
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
    /// A file is of the right kind, but not as it was written.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A plan was edited.
    #[error("{} was edited after it was written, so it would be another tournament", path.display())]
    Edited {
        /// The file.
        path: PathBuf,
    },
    /// A tournament that can only be played in one place.
    #[error("{0}")]
    Unsuitable(String),
    /// Blocks that the plan does not have.
    #[error("the plan has blocks {}..{}, got {}..{}", has.start, has.end, asked.start, asked.end)]
    Blocks {
        /// The requested blocks.
        asked: Range<u32>,
        /// The blocks that the plan has.
        has: Range<u32>,
    },
    /// This machine lacks the interpreter of an entry, which is not the bot's fault.
    #[error("this machine has no {program}, which runs {name}")]
    NoInterpreter {
        /// The entry.
        name: String,
        /// The program that runs it.
        program: String,
    },
    /// A program does not start on this machine, though it did where the plan was written.
    #[error("{name} does not start on this machine, though it did where the plan was written: {why}")]
    NoStart {
        /// The entry.
        name: String,
        /// What happened, and what it wrote.
        why: String,
    },
    /// This machine lacks an environment variable that the plan passes to programs.
    #[error("this machine has no environment variable {0}, which the plan passes to all programs")]
    NoVariable(String),
    /// A plan asks for more than this machine's user has allowed.
    #[error("the plan wants programs to run as you have not allowed: {what}")]
    NotAllowed {
        /// What it wants.
        what: String,
        /// The flags that allow it.
        flags: String,
    },
    /// There is no room for the bots of a pack.
    #[error("{} cannot be unpacked into {}: {why}", path.display(), folder.display())]
    NoRoom {
        /// The pack.
        path: PathBuf,
        /// Where it is unpacked.
        folder: PathBuf,
        /// The system's error.
        why: io::Error,
    },
    /// An entry cannot take part.
    #[error("{name}: {why}")]
    Entry {
        /// The entry.
        name: String,
        /// The reason.
        why: EntryError,
    },
    /// This machine cannot confine programs as strictly as the plan demands.
    #[error(transparent)]
    Level(#[from] LevelError),
    /// A part belongs to another tournament.
    #[error("{} is a part of another tournament: {what}", path.display())]
    OtherPlan {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// A part was played with other files beside the bots.
    #[error("the files beside the bots of {} are not those of {before}: the pack is another one", path.display())]
    OtherBots {
        /// The part, or the pack.
        path: PathBuf,
        /// Where other parts, which were merged before, come from.
        before: String,
    },
    /// A part was played without the pack that somebody gives.
    #[error("{} was played without the pack that was named, so nobody knows which files lay beside the bots", path.display())]
    NoBots {
        /// The part.
        path: PathBuf,
    },
    /// A block has two different results.
    #[error(
        "block {block} was played twice and {what}: once by {one}, once by {other}; machines name themselves"
    )]
    Conflict {
        /// The block.
        block: u32,
        /// What differs.
        what: &'static str,
        /// The source of the first.
        one: String,
        /// The source of the other.
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
    /// Returns what to do about a plan that asks for more than is allowed.
    pub fn allowing(&self) -> Option<String> {
        let PartError::NotAllowed { flags, .. } = self else { return None };
        Some(format!("if you trust the bots, and whoever sent you the plan, add {flags}"))
    }

    /// Makes an error about a file from one of the system.
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
