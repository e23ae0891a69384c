//! Games, options of the rules and built-in bots, as Python names them.

use necrodome_rules::{
    bot::{Bot, BotSpec, Decide},
    catalog::{GameId, Listed, UnknownGame},
    chance::Seeded,
    options::{self, Options},
};
use necrodome_solve::bots;
use pyo3::{exceptions::PyValueError, prelude::*};
use serde_json::Value;

/// Makes the error for a mistake of the caller.
pub fn refuse(why: impl ToString) -> PyErr {
    PyValueError::new_err(why.to_string())
}

/// Finds the game with this id.
pub fn game(id: &str) -> PyResult<GameId> {
    id.parse().map_err(|unknown: UnknownGame| refuse(unknown))
}

/// Reads rules from a JSON object of options: the same names, values and errors as on the command line.
pub fn rules<R: Options>(json: &str) -> PyResult<R> {
    let Ok(Value::Object(set)) = serde_json::from_str(json) else {
        return Err(refuse(format!("expected options as a JSON object, got {json}")));
    };
    let pairs: Vec<_> = set.into_iter().map(|(name, value)| (name, options::plain(&value))).collect();
    options::parse(&pairs).map_err(refuse)
}

/// Makes a built-in bot by its name, including the perfect player; `chance` is the bot's randomness.
pub fn built_in<G: Listed>(name: &str, rules: &G::Rules, chance: Seeded) -> PyResult<Box<dyn Bot<G>>> {
    let spec: BotSpec = name.parse().map_err(refuse)?;
    bots::built_in(&spec, rules, chance).map_err(refuse)
}

/// Makes a built-in bot by its name, for single decisions on any thread.
pub fn decider<G: Listed>(name: &str, rules: &G::Rules) -> PyResult<Decide<G>> {
    let spec: BotSpec = name.parse().map_err(refuse)?;
    bots::decider::<G>(&spec, rules).map_err(refuse)
}
