//! From entries to players on seats.

use crate::{
    entry::{EntryKind, EntrySpec},
    player::{BuiltInPlayer, Player},
    process::{Limits, ProcessPlayer},
};
use necrodome_rules::{
    bot::{Bot, BotSpec},
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

/// A built-in bot.
pub fn built_in<G: Listed>(spec: &BotSpec, chance: Seeded) -> Result<Box<dyn Bot<G>>, LineupError> {
    let built_ins = G::built_ins();
    let Some(found) = built_ins.iter().find(|bot| bot.name == spec.name) else {
        return Err(LineupError::UnknownBot {
            game: G::ID,
            name: spec.name.clone(),
            valid: built_ins.iter().map(|bot| bot.name.to_owned()).collect(),
        });
    };
    found.build(spec, chance).map_err(|source| LineupError::Params { text: spec.to_string(), source })
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
