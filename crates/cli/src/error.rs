//! What can go wrong, said once: what is wrong and what was expected, then hints on what to do.

use necrodome_arena::{
    entry::EntryError,
    lineup::LineupError,
    replay::ReplayError,
    run::RunError,
    tournament::{ScheduleError, StoreError, TournamentError},
};
use necrodome_judge::simulate::SimulateError;
use necrodome_rules::{
    catalog::{GameId, UnknownGame},
    names::SetupError,
    options::OptionError,
};
use necrodome_server::ServeError;
use necrodome_solve::Unsolved;
use std::{io, path::Path};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    UnknownGame(#[from] UnknownGame),
    #[error("there is no document {name:?}: expected one of {}", valid.join(", "))]
    UnknownPage { name: String, valid: Vec<String> },
    #[error("there is no template for {name:?}: expected one of {}", valid.join(", "))]
    UnknownLanguage { name: String, valid: Vec<String> },
    #[error("{game}: unknown word {word:?}: expected one of {}", valid.join(", "))]
    UnknownWord { game: &'static str, word: String, valid: Vec<String> },
    #[error("{path} is there already")]
    Exists { path: String },
    #[error("{name} failed {failed} of the checks")]
    CheckFailed { name: String, failed: usize },
    #[error("{0} did not start")]
    NoStart(String),
    #[error(transparent)]
    Lineup(#[from] LineupError),
    #[error(transparent)]
    Entry(#[from] EntryError),
    #[error("{context}: {source}")]
    Option { context: String, source: OptionError },
    #[error("{game}: {source}")]
    Setup { game: &'static str, source: SetupError },
    #[error("{0}")]
    Run(#[from] RunError),
    #[error("{path}: {source}")]
    Replay { path: String, source: ReplayError },
    #[error(transparent)]
    Tournament(#[from] TournamentError),
    #[error("{path}: {source}")]
    Store { path: String, source: StoreError },
    /// A key of a TOML file that does not exist.
    #[error("{place}: unknown key {key:?}: expected one of {}", valid.join(", "))]
    UnknownKey { place: String, key: String, valid: Vec<String> },
    #[error("{path}: {why}")]
    Config { path: String, why: String },
    #[error("{count} {} of {path} {} left out", if *count == 1 { "line" } else { "lines" }, if *count == 1 { "was" } else { "were" })]
    Mistakes { count: usize, path: String },
    #[error(transparent)]
    Unsolved(#[from] Unsolved),
    #[error("no exact value of {0}")]
    Inexact(String),
    #[error(transparent)]
    Simulate(SimulateError),
    #[error("{0}")]
    Usage(String),
    #[error("interrupted")]
    Interrupted,
    #[error("{path} is in use: another `necrodome judge live` writes this script")]
    InUse { path: String },
    #[error("cannot listen on {address}: {source}")]
    Listen { address: std::net::SocketAddr, source: io::Error },
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error("cannot write {path}: {source}")]
    Write { path: String, source: io::Error },
    #[error("the system gives no random seed: {0}")]
    NoSeed(getrandom::Error),
    #[error("cannot write the output: {0}")]
    Io(#[from] io::Error),
    /// Any of the others, with a hint.
    #[error("{0}")]
    Hinted(Box<Error>, String),
}

impl Error {
    /// 2 where the command line, a config or an input file makes no sense or is missing, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::UnknownGame(_)
            | Error::UnknownPage { .. }
            | Error::UnknownLanguage { .. }
            | Error::UnknownWord { .. }
            | Error::Lineup(_)
            | Error::Entry(_)
            | Error::Option { .. }
            | Error::Config { .. }
            | Error::Setup { .. }
            | Error::Unsolved(_)
            | Error::UnknownKey { .. }
            | Error::Usage(_)
            | Error::Serve(ServeError::Bots(_))
            | Error::Tournament(TournamentError::Schedule(_) | TournamentError::Lineup(_)) => 2,
            Error::Tournament(TournamentError::Store(why))
            | Error::Serve(ServeError::Store { why, .. })
            | Error::Store { source: why, .. } => match why {
                StoreError::Foreign
                | StoreError::Damaged(_)
                | StoreError::Version { .. }
                | StoreError::OtherPlan { .. } => 2,
                StoreError::Busy | StoreError::Unfinished | StoreError::Full | StoreError::Other(_) => 1,
            },
            // The file is what it should be, but the referee does not agree with it.
            Error::Replay {
                source: ReplayError::Rejected { .. } | ReplayError::Picks { .. } | ReplayError::Changed(_),
                ..
            } => 1,
            Error::Replay { .. } => 2,
            Error::Hinted(error, _) => error.exit_code(),
            // What shells give for a command that Ctrl-C has ended.
            Error::Interrupted => 130,
            _ => 1,
        }
    }

    /// The same error with one more hint.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Error::Hinted(Box::new(self), hint.into())
    }

    /// What to do about it, one line each.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Error::UnknownGame(unknown) => near(&unknown.name, &GameId::ALL.map(|id| id.as_str().to_owned())),
            Error::UnknownPage { name, valid } | Error::UnknownLanguage { name, valid } => near(name, valid),
            Error::UnknownWord { word, valid, .. } => near(word, valid),
            Error::UnknownKey { key, valid, .. } => near(key, valid),
            Error::Exists { .. } => vec!["choose another path, or overwrite it with --force".into()],
            Error::NoStart(_) => vec!["`necrodome check-bot GAME BOT` says what is wrong with a bot".into()],
            Error::Lineup(error) => lineup_hints(error),
            Error::Option { source, .. } => option_hints(source),
            Error::Setup { game, source: SetupError::Seats { .. } } => {
                vec![format!("name one bot for each seat: `necrodome bots {game}` lists them")]
            }
            Error::Tournament(TournamentError::Lineup(error)) => lineup_hints(error),
            Error::Tournament(TournamentError::Store(error)) => store_hints(error),
            Error::Tournament(TournamentError::Schedule(ScheduleError::Entries {
                expected, came, ..
            })) if came > expected.end() => {
                vec!["--format round-robin lets groups of them meet, --seats says how large".into()]
            }
            Error::Store { source: StoreError::Unfinished, .. } => {
                vec!["copy it, with the file whose name ends in -wal, to a folder where you may write".into()]
            }
            Error::Store { source: StoreError::Busy, .. } => vec![WAIT.into()],
            Error::Listen { .. } => vec!["choose another --port, or end what uses it".into()],
            Error::NoSeed(_) => vec!["choose one with --seed".into()],
            Error::Hinted(error, hint) => [error.hints(), vec![hint.clone()]].concat(),
            _ => Vec::new(),
        }
    }
}

const WAIT: &str =
    "wait until the tournament that uses it is over, or stop it: it goes on when it is started again";

/// The nearest valid name, if one is near.
fn near(name: &str, valid: &[String]) -> Vec<String> {
    nearest(name, valid).map(|near| format!("did you mean {near}?")).into_iter().collect()
}

fn lineup_hints(error: &LineupError) -> Vec<String> {
    match error {
        LineupError::UnknownBot { name, .. } if Path::new(name).exists() => {
            vec![format!("the file of that name is written ./{name}")]
        }
        LineupError::UnknownBot { name, valid, .. } => near(name, valid),
        LineupError::Params { source, .. } => option_hints(source),
        LineupError::Human => vec!["`necrodome match` and `necrodome play` seat a human".into()],
    }
}

fn option_hints(error: &OptionError) -> Vec<String> {
    match error {
        OptionError::Unknown { name, valid } => near(name, valid),
        _ => Vec::new(),
    }
}

/// What to do about a store that was to be written.
fn store_hints(error: &StoreError) -> Vec<String> {
    let hint = match error {
        StoreError::Busy => WAIT,
        StoreError::Foreign | StoreError::Damaged(_) | StoreError::Version { .. } => "choose another --store",
        StoreError::OtherPlan { .. } => "choose another --store, or repeat the command as it was",
        StoreError::Full => "make room, then run the same command again: it goes on where it was",
        StoreError::Unfinished | StoreError::Other(_) => return Vec::new(),
    };
    vec![hint.into()]
}

fn nearest<'a>(name: &str, valid: &'a [String]) -> Option<&'a String> {
    let likeness = |candidate: &String| strsim::jaro_winkler(&name.to_lowercase(), candidate);
    valid
        .iter()
        .map(|candidate| (likeness(candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
