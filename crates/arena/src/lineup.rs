//! From entries to players on seats.

use crate::{
    entry::{EntryKind, EntrySpec},
    guest::GuestTransport,
    player::{BuiltInPlayer, Player},
    process::{Launcher, Limits, ProcessTransport},
    protocol::ProtocolPlayer,
    wasm::WasmTransport,
};
use necrodome_rules::{
    bot::{Bot, BotSpec, BuiltIn, Regular},
    catalog::Listed,
    chance::Seeded,
    options::{self, NoOptions, OptionError, OptionInfo},
};
use necrodome_solve::{OPTIMAL, Optimal, solver};
use schemars::JsonSchema;
use serde::Serialize;

/// What players need to know before the first match.
#[derive(Debug, Clone)]
pub struct Terms<R> {
    /// The arena's own program, which supervises processes.
    pub launcher: Launcher,
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
    #[error("{game} has no bot {name:?}: expected one of {}", .valid.join(", "))]
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
    #[error("a human can only play at a terminal, in a single match")]
    Human,
}

/// What users are told of a built-in bot.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BotInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Its parameters.
    pub params: Vec<OptionInfo>,
}

/// All built-in bots of a game: those that come with its rules, and the perfect player where there is one.
pub fn bots<G: Listed>() -> Vec<BotInfo> {
    let info = |bot: &BuiltIn<G>| BotInfo { name: bot.name, about: bot.about, params: bot.params() };
    let optimal = solver::<G>().map(|solver| BotInfo {
        name: OPTIMAL,
        about: solver.about_optimal,
        params: Vec::new(),
    });
    G::built_ins().iter().map(info).chain(optimal).collect()
}

/// A kind of built-in bot, looked up once.
pub struct Maker<'a, G: Listed> {
    kind: MakerKind<G>,
    spec: &'a BotSpec,
}

enum MakerKind<G: Listed> {
    BuiltIn(BuiltIn<G>),
    Optimal(Optimal<G>),
}

impl<'a, G: Listed> Maker<'a, G> {
    /// Looks up a built-in bot by its name. The perfect player is solved here, once for the whole process.
    pub fn find(spec: &'a BotSpec, rules: &G::Rules) -> Result<Self, LineupError> {
        let mut built_ins = G::built_ins();
        if let Some(found) = built_ins.iter().position(|bot| bot.name == spec.name) {
            return Ok(Maker { kind: MakerKind::BuiltIn(built_ins.swap_remove(found)), spec });
        }
        if let Some(solver) = solver::<G>().filter(|_| spec.name == OPTIMAL) {
            options::parse::<NoOptions>(&spec.params).map_err(refuse(spec))?;
            return Ok(Maker { kind: MakerKind::Optimal((solver.optimal)(rules)), spec });
        }
        Err(LineupError::UnknownBot {
            game: G::ID,
            name: spec.name.clone(),
            valid: bots::<G>().iter().map(|bot| bot.name.to_owned()).collect(),
        })
    }

    /// A new bot for many matches; `chance` gives its own randomness in the first.
    pub fn build(&self, chance: &dyn Fn() -> Seeded) -> Result<Box<dyn Regular<G>>, LineupError> {
        match &self.kind {
            MakerKind::BuiltIn(built_in) => built_in.regular(self.spec, chance).map_err(refuse(self.spec)),
            MakerKind::Optimal(optimal) => Ok(optimal()),
        }
    }
}

fn refuse(spec: &BotSpec) -> impl Fn(OptionError) -> LineupError {
    move |source| LineupError::Params { text: spec.to_string(), source }
}

/// A built-in bot.
pub fn built_in<G: Listed>(
    spec: &BotSpec,
    rules: &G::Rules,
    chance: Seeded,
) -> Result<Box<dyn Bot<G>>, LineupError> {
    Ok(Maker::find(spec, rules)?.build(&|| chance.clone())?)
}

/// A player for an entry; `chance` is a built-in bot's own randomness.
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
            let transport = GuestTransport::new(invitation);
            Ok(Box::new(ProtocolPlayer::<G, _>::new(transport, name, &terms.rules, terms.seats)))
        }
        EntryKind::Human => Err(LineupError::Human),
    }
}
