//! Makes players of entries.

use crate::{
    entry::{EntryKind, EntrySpec},
    model::ModelPlayer,
    player::{BuiltInPlayer, Player},
    process::{Launcher, Limits, ProcessTransport},
    protocol::ProtocolPlayer,
    wasm::WasmTransport,
};
use necrodome_rules::{catalog::Listed, chance::Seeded, names::SetupError};
pub use necrodome_solve::bots::{BotError, BotInfo, Maker, bots, built_in};

/// The terms that players need to know before the first match.
#[derive(Debug, Clone)]
pub struct Terms<R> {
    /// The arena's own program, which supervises processes.
    pub launcher: Launcher,
    /// The limits on processes.
    pub limits: Limits,
    /// The rules.
    pub rules: R,
    /// The number of seats in each match.
    pub seats: usize,
}

/// The reason why an entry cannot play this game.
#[derive(Debug, thiserror::Error)]
pub enum LineupError {
    /// There is no such built-in bot.
    #[error(transparent)]
    BuiltIn(#[from] BotError),
    /// A guest was invited to another game.
    #[error("{name} was invited to another game than {game}")]
    Invited {
        /// The game.
        game: &'static str,
        /// The guest.
        name: String,
    },
    /// There are more seats than names.
    #[error(transparent)]
    Seats(#[from] SetupError),
    /// A person can play only at the terminal, in a single match.
    #[error("a human can only play at a terminal, in a single match")]
    Human,
    /// The book of calls of a language model cannot be used.
    #[error(transparent)]
    Book(#[from] necrodome_models::BookError),
}

/// Makes a player for an entry; `chance` is a built-in bot's own randomness.
pub fn player<G: Listed>(
    entry: &EntrySpec,
    name: &str,
    terms: &Terms<G::Rules>,
    chance: Seeded,
) -> Result<Box<dyn Player<G>>, LineupError> {
    match &entry.kind {
        EntryKind::BuiltIn(spec) => Ok(Box::new(BuiltInPlayer(built_in(spec, &terms.rules, chance)?))),
        EntryKind::Program(program) => {
            let Terms { launcher, limits, .. } = terms;
            let transport = ProcessTransport::new(launcher.clone(), program.clone(), *limits, G::CARD);
            Ok(Box::new(ProtocolPlayer::<G, _>::new(transport, name, &terms.rules, terms.seats)))
        }
        EntryKind::Wasm(module) => {
            let transport = WasmTransport::new(module.clone(), terms.limits, G::CARD);
            Ok(Box::new(ProtocolPlayer::<G, _>::new(transport, name, &terms.rules, terms.seats)))
        }
        EntryKind::Guest(invitation) => {
            let elsewhere = || LineupError::Invited { game: G::ID, name: name.to_owned() };
            invitation.player::<G>(name, terms).ok_or_else(elsewhere)
        }
        EntryKind::Model(model) => Ok(Box::new(ModelPlayer::<G>::new(model, terms)?)),
        EntryKind::Human => Err(LineupError::Human),
    }
}
