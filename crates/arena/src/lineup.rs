//! From entries to players on seats.

use crate::{
    entry::{EntryKind, EntrySpec},
    player::{BuiltInPlayer, Player},
    process::{Limits, ProcessPlayer},
};
use necrodome_rules::{
    bot::{Bot, BotSpec, BuiltIn},
    catalog::Listed,
    chance::Seeded,
    options::OptionError,
};
use std::path::PathBuf;

/// What players need to know before the first match.
#[derive(Debug, Clone)]
pub struct Table<R> {
    /// The arena's own binary, which supervises processes.
    pub launcher: PathBuf,
    /// What processes may use.
    pub limits: Limits,
    /// The rules.
    pub rules: R,
    /// How many seats each match has.
    pub seats: usize,
}

/// Why an entry cannot play this game.
#[derive(Debug, thiserror::Error)]
pub enum LineupError {
    /// There is no such built-in bot.
    #[error("{game} has no bot {name:?}")]
    UnknownBot {
        /// The game.
        game: &'static str,
        /// What came.
        name: String,
        /// The bots there are.
        valid: Vec<String>,
    },
    /// The parameters of a built-in bot are wrong.
    #[error("bot {text:?}: {source}")]
    Params {
        /// The entry.
        text: String,
        /// What is wrong.
        source: OptionError,
    },
    /// A person can only sit at the terminal.
    #[error("a human can play in `match` and `play` only")]
    Human,
}

/// A kind of built-in bot, looked up once and built for every match.
pub struct Maker<'a, G: Listed> {
    built_in: BuiltIn<G>,
    spec: &'a BotSpec,
}

impl<'a, G: Listed> Maker<'a, G> {
    /// Looks up a built-in bot by its name.
    pub fn find(spec: &'a BotSpec) -> Result<Self, LineupError> {
        let mut built_ins = G::built_ins();
        match built_ins.iter().position(|bot| bot.name == spec.name) {
            Some(found) => Ok(Maker { built_in: built_ins.swap_remove(found), spec }),
            None => Err(LineupError::UnknownBot {
                game: G::ID,
                name: spec.name.clone(),
                valid: built_ins.iter().map(|bot| bot.name.to_owned()).collect(),
            }),
        }
    }

    /// A new bot with its own randomness.
    pub fn build(&self, chance: Seeded) -> Result<Box<dyn Bot<G>>, LineupError> {
        let refuse = |source| LineupError::Params { text: self.spec.to_string(), source };
        self.built_in.build(self.spec, chance).map_err(refuse)
    }
}

/// A built-in bot.
pub fn built_in<G: Listed>(spec: &BotSpec, chance: Seeded) -> Result<Box<dyn Bot<G>>, LineupError> {
    Maker::find(spec)?.build(chance)
}

/// A player for an entry; `chance` is a built-in bot's own randomness.
pub fn player<G: Listed>(
    entry: &EntrySpec,
    name: &str,
    table: &Table<G::Rules>,
    chance: Seeded,
) -> Result<Box<dyn Player<G>>, LineupError> {
    match &entry.kind {
        EntryKind::BuiltIn(spec) => Ok(Box::new(BuiltInPlayer(built_in(spec, chance)?))),
        EntryKind::Program(program) => Ok(Box::new(ProcessPlayer::<G>::new(
            table.launcher.clone(),
            program.clone(),
            table.limits,
            name,
            &table.rules,
            table.seats,
        ))),
        EntryKind::Human => Err(LineupError::Human),
    }
}
