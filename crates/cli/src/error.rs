//! What can go wrong, said once, in one line, with a hint.

use necrodome_rules::{names::SetupError, options::OptionError};
use std::io;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no game {name:?}: {}", suggest(name, valid))]
    UnknownGame { name: String, valid: Vec<String> },
    #[error("{game} has no bot {name:?}: {}", suggest(name, valid))]
    UnknownBot { game: &'static str, name: String, valid: Vec<String> },
    #[error("{context}: {source}{}", option_hint(source))]
    Option { context: String, source: OptionError },
    #[error("{game}: {source}{}", setup_hint(game, source))]
    Setup { game: &'static str, source: SetupError },
    #[error("a built-in bot broke the rules, which is a bug in necrodome: {0}")]
    Rejected(String),
    #[error("no random seed could be had from the system ({0}): choose one with --seed")]
    NoSeed(getrandom::Error),
    #[error("cannot write the output: {0}")]
    Io(#[from] io::Error),
}

impl Error {
    /// 2 where the command line makes no sense, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::UnknownGame { .. }
            | Error::UnknownBot { .. }
            | Error::Option { .. }
            | Error::Setup { .. } => 2,
            Error::Rejected(_) | Error::NoSeed(_) | Error::Io(_) => 1,
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
