//! The error type of all commands: what is wrong and what was expected, then hints on what to do. The libraries say what is wrong;
//! the hints are added here, because only the command line knows its flags.

use necrodome_arena::{
    entry::EntryError,
    lineup::{BotError, LineupError},
    replay::ReplayError,
    run::RunError,
    tournament::{PartError, ScheduleError, StoreError, TournamentError},
};
use necrodome_models::{BookError, DeskError, TableError};
use necrodome_rules::{
    catalog::{GameId, UnknownGame},
    names::SetupError,
    options::OptionError,
};
use necrodome_server::ServeError;
use necrodome_solve::Unsolved;
use std::{fmt::Display, io, path::Path};

/// Why a command failed.
#[derive(Debug)]
pub struct Error {
    pub kind: ExitKind,
    /// What is wrong, what was expected, and where, in one line.
    pub what: String,
    /// What to do about it, one line each.
    pub hints: Vec<String>,
}

/// The kinds of errors that the program itself distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitKind {
    /// The command line, a config or an input file is missing or makes no sense.
    Usage,
    /// Something went wrong while running.
    Failure,
    /// A file exists already, and must not be overwritten.
    Exists,
    /// Another process is writing this file.
    InUse,
    /// Ctrl-C or SIGTERM ended the command.
    Interrupted,
    /// The reader of the output has closed it.
    BrokenPipe,
}

impl Error {
    pub fn new(kind: ExitKind, what: impl Into<String>) -> Self {
        Error { kind, what: what.into(), hints: Vec::new() }
    }

    pub fn usage(what: impl Into<String>) -> Self {
        Error::new(ExitKind::Usage, what)
    }

    pub fn failure(what: impl Into<String>) -> Self {
        Error::new(ExitKind::Failure, what)
    }

    pub fn interrupted() -> Self {
        Error::new(ExitKind::Interrupted, "interrupted")
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a hint with the valid name that is most like `name`, if one is similar enough.
    pub fn near<S: AsRef<str>>(mut self, name: &str, valid: &[S]) -> Self {
        self.hints.extend(nearest(name, valid).map(|near| format!("did you mean {near}?")));
        self
    }

    /// Returns the error for a name that is not a valid one.
    pub fn unknown<S: AsRef<str>>(what: impl Display, name: &str, valid: &[S]) -> Self {
        let all: Vec<&str> = valid.iter().map(AsRef::as_ref).collect();
        Error::usage(format!("{what} {name:?}: expected one of {}", all.join(", "))).near(name, valid)
    }

    /// Returns the error for something that makes no sense or cannot be read; `place` is the file, flag or game.
    pub fn at(place: impl Display, why: impl Display) -> Self {
        Error::usage(format!("{place}: {why}"))
    }

    /// Returns the error for a file that cannot be read or does not exist.
    pub fn unread(path: &Path, why: &io::Error) -> Self {
        match why.kind() {
            io::ErrorKind::NotFound => Error::usage(format!("there is no file {}", path.display())),
            _ => Error::at(path.display(), why),
        }
    }

    pub fn exists(path: &Path) -> Self {
        Error::new(ExitKind::Exists, format!("{} is there already", path.display()))
            .hint("choose another path, or overwrite it with --force")
    }

    pub fn unwritten(path: &Path, why: &io::Error) -> Self {
        let why: &dyn Display = match why.kind() {
            // Whoever found out that the folder is missing has said which.
            io::ErrorKind::NotFound if why.get_ref().is_none() => {
                &"its folder is not there, or takes no new files"
            }
            _ => why,
        };
        Error::failure(format!("cannot write {}: {why}", path.display()))
    }

    /// `names` did not start, and `check` is a command that says why.
    pub fn no_start(names: &str, check: &str) -> Self {
        Error::failure(format!("{names} did not start")).hint(format!("{check} says what is wrong"))
    }

    pub fn option(context: impl Display, error: &OptionError) -> Self {
        Error::at(context, error).near_option(error)
    }

    fn near_option(self, error: &OptionError) -> Self {
        match error {
            OptionError::Unknown { name, valid } => self.near(name, valid),
            _ => self,
        }
    }

    pub fn setup(game: &str, error: &SetupError) -> Self {
        let refused = Error::at(game, error);
        match error {
            SetupError::Seats { .. } => {
                refused.hint(format!("name one bot for each seat: `necrodome bots {game}` lists them"))
            }
            _ => refused,
        }
    }

    pub fn replay(path: &Path, error: &ReplayError) -> Self {
        let kind = match error {
            ReplayError::Io(why) => return Error::unread(path, why),
            // The file is what it should be, but the referee does not agree with it.
            ReplayError::Rejected { .. } | ReplayError::Picks { .. } | ReplayError::Changed(_) => {
                ExitKind::Failure
            }
            _ => ExitKind::Usage,
        };
        Error::new(kind, format!("{}: {error}", path.display()))
    }

    /// Returns the error for a store that could not be read.
    pub fn store(path: &Path, error: &StoreError) -> Self {
        let refused = Error::new(kind(error), format!("{}: {error}", path.display()));
        match error {
            StoreError::Unfinished => refused
                .hint("copy it, with the file whose name ends in -wal, to a folder where you may write"),
            StoreError::Busy => refused.hint(WAIT),
            StoreError::Damaged(_) => refused.hint(repair(path)),
            StoreError::Distrusted(error) => refused.hint(error.hint()),
            _ => refused,
        }
    }

    /// Returns the error for a store that could not be written.
    pub fn written_store(path: &Path, error: StoreError) -> Self {
        if let StoreError::Damaged(_) = error {
            return Error::store(path, &error);
        }
        let refused = Error::from(TournamentError::from(error));
        Error { what: format!("{}: {}", path.display(), refused.what), ..refused }
    }

    /// Returns 2 for mistakes that the user can correct in the command or its files, 130 after an interrupt, 0 if the reader has
    /// closed the output, and 1 otherwise.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            ExitKind::BrokenPipe => 0,
            ExitKind::Failure | ExitKind::Exists | ExitKind::InUse => 1,
            ExitKind::Usage => 2,
            // What shells give for a command that Ctrl-C has ended.
            ExitKind::Interrupted => 130,
        }
    }
}

/// Returns a message of the system without error numbers: `No such file or directory (os error 2)` loses its end.
pub fn plain(what: &str) -> String {
    let mut words = what.split(" (os error ");
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, rest| text + rest.split_once(')').map_or(rest, |(_, rest)| rest))
}

/// Says what to do about a damaged store.
fn repair(path: &Path) -> String {
    format!(
        "`necrodome store check {0}` says what is sound, `necrodome store repair {0}` keeps that and plays the rest again",
        path.display()
    )
}

const WAIT: &str =
    "wait until the tournament that uses it is over, or stop it: it goes on when it is started again";

fn kind(error: &StoreError) -> ExitKind {
    match error {
        StoreError::Foreign
        | StoreError::Damaged(_)
        | StoreError::Version { .. }
        | StoreError::OtherPlan { .. }
        | StoreError::PublicSecret
        | StoreError::OtherProgram { .. } => ExitKind::Usage,
        StoreError::Busy
        | StoreError::Unfinished
        | StoreError::Full
        | StoreError::Closed
        | StoreError::ReadOnly
        | StoreError::Distrusted(_)
        | StoreError::Broken
        | StoreError::Random(_)
        | StoreError::Other(_) => ExitKind::Failure,
    }
}

fn nearest<'a, S: AsRef<str>>(name: &str, valid: &'a [S]) -> Option<&'a str> {
    let likeness = |candidate: &str| strsim::jaro_winkler(&name.to_lowercase(), candidate);
    // Everything is like a single letter.
    let is_word = |candidate: &&S| candidate.as_ref().len() > 1 || name.len() == 1;
    valid
        .iter()
        .filter(is_word)
        .map(|candidate| (likeness(candidate.as_ref()), candidate.as_ref()))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Error::new(ExitKind::BrokenPipe, error.to_string()),
            _ => Error::failure(format!("cannot write the output: {error}")),
        }
    }
}

impl From<UnknownGame> for Error {
    fn from(error: UnknownGame) -> Self {
        Error::usage(error.to_string()).near(&error.name, &GameId::ALL.map(GameId::as_str))
    }
}

impl From<EntryError> for Error {
    fn from(error: EntryError) -> Self {
        error.hints().into_iter().fold(Error::usage(error.to_string()), Error::hint)
    }
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Self {
        let refused = Error::usage(error.to_string());
        error.hint.into_iter().fold(refused, Error::hint)
    }
}

impl From<BookError> for Error {
    fn from(error: BookError) -> Self {
        let refused = Error::failure(error.to_string());
        error.hint.into_iter().fold(refused, Error::hint)
    }
}

impl From<DeskError> for Error {
    fn from(error: DeskError) -> Self {
        match error {
            DeskError::Unread { path, error } => Error::unread(&path, &error),
            DeskError::Table(error) => error.into(),
            DeskError::Book(error) => error.into(),
        }
    }
}

impl From<BotError> for Error {
    fn from(error: BotError) -> Self {
        let refused = Error::usage(error.to_string());
        match error {
            BotError::Unknown { name, .. } if Path::new(&name).exists() => {
                refused.hint(format!("the file of that name is written ./{name}"))
            }
            BotError::Unknown { name, valid, .. } => refused.near(&name, &valid),
            BotError::Params { source, .. } => refused.near_option(&source),
        }
    }
}

impl From<LineupError> for Error {
    fn from(error: LineupError) -> Self {
        let refused = Error::usage(error.to_string());
        match error {
            LineupError::BuiltIn(error) => error.into(),
            LineupError::Human => refused.hint("`necrodome match` and `necrodome play` seat a human"),
            LineupError::Invited { .. } | LineupError::Seats(_) => refused,
            LineupError::Book(error) => error.into(),
        }
    }
}

impl From<Unsolved> for Error {
    fn from(error: Unsolved) -> Self {
        Error::usage(error.to_string())
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        Error::failure(error.to_string())
    }
}

impl From<ServeError> for Error {
    fn from(error: ServeError) -> Self {
        let kind = match &error {
            ServeError::Bots(_) => ExitKind::Usage,
            ServeError::Store { why, .. } => kind(why),
        };
        Error::new(kind, error.to_string())
    }
}

impl From<PartError> for Error {
    fn from(error: PartError) -> Self {
        let kind = match &error {
            PartError::File { path, why } => return Error::unread(path, why),
            PartError::Foreign { .. }
            | PartError::Edited { .. }
            | PartError::Unsuitable(_)
            | PartError::Blocks { .. }
            | PartError::NotAllowed { .. }
            | PartError::OtherPlan { .. } => ExitKind::Usage,
            PartError::Store(error) => kind(error),
            _ => ExitKind::Failure,
        };
        let failed = Error::new(kind, error.to_string());
        if let Some(hint) = error.allowing() {
            return failed.hint(hint);
        }
        match error {
            PartError::Play(error) => error.into(),
            PartError::NoRoom { .. } => failed.hint("free some space, or name a folder with more in the variable TMPDIR"),
            PartError::Entry { name, why } => {
                let Error { what, hints, .. } = why.into();
                Error { kind, what: format!("{name}: {what}"), hints }
            }
            PartError::Edited { .. } => failed.hint("write a new one with `necrodome tournament ... --plan-out`"),
            PartError::NoInterpreter { program, .. } => {
                failed.hint(format!("install {program} on this machine, or play these blocks on one that has it"))
            }
            PartError::NoStart { .. } => failed.hint(
                "install what it needs on this machine, or play these blocks elsewhere; `necrodome pack` lists what it leaves out",
            ),
            PartError::OtherBots { .. } | PartError::NoBots { .. } => {
                failed.hint("make one pack, and play and audit all blocks with it; or begin a new store with the new pack")
            }
            PartError::NoVariable(_) => failed.hint("set it, or play these blocks on a machine that has it"),
            PartError::Level(_) => failed.hint("`necrodome doctor` says what is missing; play these blocks elsewhere"),
            PartError::Store(StoreError::OtherProgram { .. }) => failed.hint(
                "restore the bots as they were, or write a new plan with `necrodome tournament ... --plan-out`",
            ),
            _ => failed,
        }
    }
}

impl From<TournamentError> for Error {
    fn from(error: TournamentError) -> Self {
        let kind = match &error {
            TournamentError::Schedule(_) | TournamentError::Senseless(_) => ExitKind::Usage,
            TournamentError::Store(error) => kind(error),
            _ => ExitKind::Failure,
        };
        let failed = Error::new(kind, error.to_string());
        match error {
            TournamentError::Lineup(error) => error.into(),
            TournamentError::Senseless(error) => match error.hint() {
                Some(hint) => failed.hint(hint),
                None => failed,
            },
            TournamentError::Schedule(ScheduleError::Entries { expected, came, .. })
                if came > *expected.end() =>
            {
                failed.hint("--format round-robin lets groups of them meet, --seats says how large")
            }
            TournamentError::Schedule(ScheduleError::Seats { what, .. }) if what != "game" => {
                failed.hint("--seats is for --format round-robin")
            }
            TournamentError::Schedule(ScheduleError::Crowd { .. }) => {
                failed.hint("hold qualifying tournaments with fewer entries, and let the best of each meet")
            }
            TournamentError::Schedule(ScheduleError::TooMany) => {
                failed.hint("name fewer entries, or choose another --format")
            }
            TournamentError::Store(StoreError::Busy) => failed.hint(WAIT),
            TournamentError::Store(
                StoreError::Foreign
                | StoreError::Damaged(_)
                | StoreError::Version { .. }
                | StoreError::Closed,
            ) => failed.hint("choose another path for the store"),
            TournamentError::Store(StoreError::ReadOnly) => {
                failed.hint("`necrodome report` reads it; to go on with it, copy it to where you may write")
            }
            TournamentError::Store(StoreError::OtherPlan { .. }) => {
                failed.hint("choose another --store, or repeat the command as it was")
            }
            TournamentError::Store(StoreError::OtherProgram { .. }) => failed
                .hint("--new-version takes it as a new entry, and the old one leaves (in a table or battle: a new tournament)")
                .hint("to go on with the old one, put the old program back, or the old table and prompt of a model"),
            TournamentError::Store(StoreError::Distrusted(error)) => failed.hint(error.hint()),
            TournamentError::Store(StoreError::Full) => {
                failed.hint("make room, then run the same command again: it goes on where it was")
            }
            _ => failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_made_is_blamed_on_its_folder() {
        let error = Error::unwritten(Path::new("x/bot.py"), &io::ErrorKind::NotFound.into());
        assert_eq!(error.what, "cannot write x/bot.py: its folder is not there, or takes no new files");
    }
}
