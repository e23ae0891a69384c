//! What can go wrong, said once, in one line, with a hint.

use necrodome_arena::{
    entry::EntryError,
    lineup::LineupError,
    replay::ReplayError,
    run::RunError,
    tournament::{StoreError, TournamentError},
};
use necrodome_judge::simulate::SimulateError;
use necrodome_rules::{names::SetupError, options::OptionError};
use necrodome_server::ServeError;
use necrodome_solve::Unsolved;
use std::{io, path::Path};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no game {name:?}: {}", suggest(name, valid))]
    UnknownGame { name: String, valid: Vec<String> },
    #[error("there is no document {name:?}: {}", suggest(name, valid))]
    UnknownPage { name: String, valid: Vec<String> },
    #[error("there is no template for {name:?}: {}", suggest(name, valid))]
    UnknownLanguage { name: String, valid: Vec<String> },
    #[error("{game}: unknown word {word:?}: {}", suggest(word, valid))]
    UnknownWord { game: &'static str, word: String, valid: Vec<String> },
    #[error("{path} is there already: choose another path, or overwrite it with --force")]
    Exists { path: String },
    #[error("{name} failed {failed} of the checks")]
    CheckFailed { name: String, failed: usize },
    #[error("{error}{hint}", error = .0, hint = lineup_hint(.0))]
    Lineup(#[from] LineupError),
    #[error(transparent)]
    Entry(#[from] EntryError),
    #[error("{context}: {source}{}", option_hint(source))]
    Option { context: String, source: OptionError },
    #[error("{game}: {source}{}", setup_hint(game, source))]
    Setup { game: &'static str, source: SetupError },
    #[error("{0}")]
    Run(#[from] RunError),
    #[error("{path}: {source}")]
    Replay { path: String, source: ReplayError },
    #[error(transparent)]
    Tournament(#[from] TournamentError),
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
    #[error("cannot listen on {address}: {source} (choose another --port, or end what uses it)")]
    Listen { address: std::net::SocketAddr, source: io::Error },
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error("cannot write {path}: {source}")]
    Write { path: String, source: io::Error },
    #[error("no random seed could be had from the system ({0}): choose one with --seed")]
    NoSeed(getrandom::Error),
    #[error("cannot write the output: {0}")]
    Io(#[from] io::Error),
}

impl Error {
    /// 2 where the command line, a config or an input file makes no sense or is missing, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::UnknownGame { .. }
            | Error::UnknownPage { .. }
            | Error::UnknownLanguage { .. }
            | Error::UnknownWord { .. }
            | Error::Lineup(_)
            | Error::Entry(_)
            | Error::Option { .. }
            | Error::Config { .. }
            | Error::Setup { .. }
            | Error::Unsolved(_)
            | Error::Usage(_)
            | Error::Serve(ServeError::Bots(_))
            | Error::Tournament(TournamentError::Schedule(_) | TournamentError::Lineup(_)) => 2,
            Error::Tournament(TournamentError::Store(why)) | Error::Serve(ServeError::Store { why, .. }) => {
                match why {
                    StoreError::Foreign
                    | StoreError::Damaged(_)
                    | StoreError::Version { .. }
                    | StoreError::OtherPlan { .. } => 2,
                    StoreError::Busy | StoreError::Full | StoreError::Other(_) => 1,
                }
            }
            // The file is what it should be, but the referee does not agree with it.
            Error::Replay {
                source: ReplayError::Rejected { .. } | ReplayError::Picks { .. } | ReplayError::Changed(_),
                ..
            } => 1,
            Error::Replay { .. } => 2,
            // What shells give for a command that Ctrl-C has ended.
            Error::Interrupted => 130,
            _ => 1,
        }
    }
}

/// The nearest valid name if one is near, and all of them.
fn suggest(name: &str, valid: &[String]) -> String {
    let all = valid.join(", ");
    match nearest(name, valid) {
        Some(near) => format!("did you mean {near}? (all: {all})"),
        None => format!("expected one of {all}"),
    }
}

fn lineup_hint(error: &LineupError) -> String {
    match error {
        LineupError::UnknownBot { name, .. } if Path::new(name).exists() => {
            format!(" (the file of that name is written ./{name})")
        }
        LineupError::UnknownBot { name, valid, .. } => format!(": {}", suggest(name, valid)),
        LineupError::Params { source, .. } => option_hint(source),
        LineupError::Human => String::new(),
    }
}

fn option_hint(error: &OptionError) -> String {
    match error {
        OptionError::Unknown { name, valid } => {
            nearest(name, valid).map(|near| format!(" (did you mean {near}?)")).unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn setup_hint(game: &str, error: &SetupError) -> String {
    match error {
        SetupError::Seats { .. } => format!(" (name one bot for each: see necrodome bots {game})"),
        _ => String::new(),
    }
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
