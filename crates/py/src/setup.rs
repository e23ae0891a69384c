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

/// A mistake of the caller.
pub fn refuse(why: impl ToString) -> PyErr {
    PyValueError::new_err(why.to_string())
}

/// The game with this id.
pub fn game(id: &str) -> PyResult<GameId> {
    id.parse().map_err(|unknown: UnknownGame| refuse(unknown))
}

/// Rules from a JSON object of the options that are set: the same names, values and mistakes as on the command line.
pub fn rules<R: Options>(json: &str) -> PyResult<R> {
    let Ok(Value::Object(set)) = serde_json::from_str(json) else {
        return Err(refuse(format!("expected options as a JSON object, got {json}")));
    };
    let pairs: Vec<_> = set.into_iter().map(|(name, value)| (name, options::plain(&value))).collect();
    options::parse(&pairs).map_err(refuse)
}

/// A built-in bot by its name, the perfect player included; `chance` is its own.
pub fn built_in<G: Listed>(name: &str, rules: &G::Rules, chance: Seeded) -> PyResult<Box<dyn Bot<G>>> {
    let spec: BotSpec = name.parse().map_err(refuse)?;
    bots::built_in(&spec, rules, chance).map_err(refuse)
}

/// A built-in bot by its name, asked for single decisions on any thread.
pub fn decider<G: Listed>(name: &str, rules: &G::Rules) -> PyResult<Decide<G>> {
    let spec: BotSpec = name.parse().map_err(refuse)?;
    bots::decider::<G>(&spec, rules).map_err(refuse)
}
