//! Built-in bots: functions of their view and of their own randomness, nothing else.

use crate::{
    chance::Seeded,
    game::Game,
    options::{self, OptionError, OptionInfo, Options},
};
use alloc::{borrow::ToOwned, boxed::Box, string::String, vec::Vec};
use core::{fmt, str::FromStr};

/// A bot that decides for one seat.
pub trait Bot<G: Game> {
    /// Returns the action for this view.
    fn act(&mut self, view: &G::View) -> G::Action;
}

impl<G: Game, B: Bot<G> + ?Sized> Bot<G> for Box<B> {
    fn act(&mut self, view: &G::View) -> G::Action {
        (**self).act(view)
    }
}

/// A bot that can be called by name.
pub trait Named {
    /// Its name on the command line.
    const NAME: &'static str;
    /// What it does, in one sentence.
    const ABOUT: &'static str;
    /// Its parameters.
    type Params: Options + Send + Sync;

    /// Makes a new bot. `chance` makes the bot's randomness, which is independent of the match's. A bot that never draws should
    /// not call it, since deriving a stream takes as long as playing several turns.
    fn new(params: Self::Params, chance: impl FnOnce() -> Seeded) -> Self;
}

/// A bot that plays many matches in a row, each as if it were newly made.
pub trait Regular<G: Game>: Bot<G> {
    /// Begins a new match; `chance` makes the bot's randomness.
    fn restart(&mut self, chance: &dyn Fn() -> Seeded);
}

/// A built-in bot that is rebuilt in place for each match.
struct Remade<B: Named> {
    params: B::Params,
    bot: B,
}

impl<G: Game, B: Named + Bot<G>> Bot<G> for Remade<B> {
    fn act(&mut self, view: &G::View) -> G::Action {
        self.bot.act(view)
    }
}

impl<G: Game, B: Named + Bot<G>> Regular<G> for Remade<B> {
    fn restart(&mut self, chance: &dyn Fn() -> Seeded) {
        self.bot = B::new(self.params.clone(), chance);
    }
}

/// A bot's decision as a function: it takes one view, from any match and on any thread, and the randomness for this
/// decision.
pub type Decide<G> =
    Box<dyn Fn(&<G as Game>::View, &dyn Fn() -> Seeded) -> <G as Game>::Action + Send + Sync>;

/// Makes a bot from its parameters, as they were written, and its randomness.
type Build<G> = fn(&[(String, String)], &dyn Fn() -> Seeded) -> Result<Box<dyn Regular<G>>, OptionError>;

/// Makes a bot for single decisions from its parameters.
type BuildDecide<G> = fn(&[(String, String)]) -> Result<Decide<G>, OptionError>;

/// An entry in a game's list of built-in bots.
pub struct BuiltIn<G: Game> {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    describe: fn() -> Vec<OptionInfo>,
    build: Build<G>,
    decide: BuildDecide<G>,
}

impl<G: Game> BuiltIn<G> {
    /// Makes the entry for the bot `B`.
    pub fn of<B: Named + Bot<G> + 'static>() -> Self {
        BuiltIn {
            name: B::NAME,
            about: B::ABOUT,
            describe: options::describe::<B::Params>,
            build: |params, chance| {
                let params: B::Params = options::parse(params)?;
                Ok(Box::new(Remade { bot: B::new(params.clone(), chance), params }))
            },
            decide: |params| {
                let params: B::Params = options::parse(params)?;
                Ok(Box::new(move |view, chance| B::new(params.clone(), chance).act(view)))
            },
        }
    }

    /// Its parameters.
    pub fn params(&self) -> Vec<OptionInfo> {
        (self.describe)()
    }

    /// Makes a new bot of this kind.
    pub fn build(&self, spec: &BotSpec, chance: Seeded) -> Result<Box<dyn Bot<G>>, OptionError> {
        Ok(self.regular(spec, &|| chance.clone())?)
    }

    /// Makes a new bot of this kind for many matches.
    pub fn regular(
        &self,
        spec: &BotSpec,
        chance: &dyn Fn() -> Seeded,
    ) -> Result<Box<dyn Regular<G>>, OptionError> {
        (self.build)(&spec.params, chance)
    }

    /// Makes a bot of this kind for single decisions. Built-in bots have no memory, so it plays just as one that stays for the match.
    pub fn decide(&self, spec: &BotSpec) -> Result<Decide<G>, OptionError> {
        (self.decide)(&spec.params)
    }
}

/// The name and parameters of a built-in bot, written `name` or `name:key=value,key=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BotSpec {
    /// The bot's name.
    pub name: String,
    /// Its parameters, as they were written.
    pub params: Vec<(String, String)>,
}

impl FromStr for BotSpec {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let (name, params) = match text.split_once(':') {
            Some((name, params)) => {
                (name, params.split(',').map(options::split_pair).collect::<Result<_, _>>()?)
            }
            None => (text, Vec::new()),
        };
        Ok(BotSpec { name: name.trim().to_owned(), params })
    }
}

impl fmt::Display for BotSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (i, (key, value)) in self.params.iter().enumerate() {
            write!(f, "{}{key}={value}", if i == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_spec_is_a_name_and_parameters() {
        let spec: BotSpec = "stop-at:brains=5, shotguns=2".parse().unwrap();
        assert_eq!(spec.name, "stop-at");
        assert_eq!(spec.params, [("brains".into(), "5".into()), ("shotguns".into(), "2".into())]);
        assert_eq!(spec.to_string(), "stop-at:brains=5,shotguns=2");
        assert_eq!("greedy".parse::<BotSpec>().unwrap().to_string(), "greedy");
    }

    #[test]
    fn a_parameter_without_a_value_is_an_error() {
        for text in ["stop-at:", "stop-at:brains", "stop-at:brains=", "stop-at:brains=1,"] {
            assert!(matches!(text.parse::<BotSpec>(), Err(OptionError::Form { .. })), "{text}");
        }
    }
}
