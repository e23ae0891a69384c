//! Built-in bots by name: those that come with a game's rules, and its perfect player.

use crate::{OPTIMAL, Optimal, solver};
use necrodome_rules::{
    bot::{Bot, BotSpec, BuiltIn, Decide, Regular},
    catalog::Listed,
    chance::Seeded,
    options::{self, NoOptions, OptionError, OptionInfo},
};
use schemars::JsonSchema;
use serde::Serialize;

/// Why a bot could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BotError {
    /// The game has no bot of this name.
    #[error("{game} has no bot {name:?}: expected one of {}", .valid.join(", "))]
    Unknown {
        /// The game.
        game: &'static str,
        /// The name.
        name: String,
        /// The names of the bots that exist.
        valid: Vec<String>,
    },
    /// The parameters of the bot are wrong.
    #[error("bot {text:?}: {source}")]
    Params {
        /// The bot with its parameters.
        text: String,
        /// What is wrong.
        source: OptionError,
    },
}

/// A built-in bot, described for users.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BotInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Its parameters.
    pub params: Vec<OptionInfo>,
}

/// All built-in bots of a game: those that come with its rules, and its perfect player if there is one.
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
    Optimal { make: Optimal<G>, decide: Decide<G> },
}

impl<'a, G: Listed> Maker<'a, G> {
    /// Looks up a built-in bot by its name. The perfect player is solved here, once for the whole process.
    pub fn find(spec: &'a BotSpec, rules: &G::Rules) -> Result<Self, BotError> {
        let mut built_ins = G::built_ins();
        if let Some(found) = built_ins.iter().position(|bot| bot.name == spec.name) {
            return Ok(Maker { kind: MakerKind::BuiltIn(built_ins.swap_remove(found)), spec });
        }
        if let Some(solver) = solver::<G>().filter(|_| spec.name == OPTIMAL) {
            options::parse::<NoOptions>(&spec.params).map_err(refuse(spec))?;
            return Ok(Maker {
                kind: MakerKind::Optimal { make: (solver.optimal)(rules), decide: (solver.decide)(rules) },
                spec,
            });
        }
        Err(BotError::Unknown {
            game: G::ID,
            name: spec.name.clone(),
            valid: bots::<G>().iter().map(|bot| bot.name.to_owned()).collect(),
        })
    }

    /// Makes a new bot for many matches; `chance` makes its randomness for the first match.
    pub fn build(&self, chance: &dyn Fn() -> Seeded) -> Result<Box<dyn Regular<G>>, BotError> {
        match &self.kind {
            MakerKind::BuiltIn(built_in) => built_in.regular(self.spec, chance).map_err(refuse(self.spec)),
            MakerKind::Optimal { make, .. } => Ok(make()),
        }
    }
}

/// Makes a built-in bot for single decisions, on any thread.
pub fn decider<G: Listed>(spec: &BotSpec, rules: &G::Rules) -> Result<Decide<G>, BotError> {
    match Maker::<G>::find(spec, rules)?.kind {
        MakerKind::BuiltIn(built_in) => built_in.decide(spec).map_err(refuse(spec)),
        MakerKind::Optimal { decide, .. } => Ok(decide),
    }
}

fn refuse(spec: &BotSpec) -> impl Fn(OptionError) -> BotError {
    move |source| BotError::Params { text: spec.to_string(), source }
}

/// Makes a built-in bot.
pub fn built_in<G: Listed>(
    spec: &BotSpec,
    rules: &G::Rules,
    chance: Seeded,
) -> Result<Box<dyn Bot<G>>, BotError> {
    Ok(Maker::find(spec, rules)?.build(&|| chance.clone())?)
}
