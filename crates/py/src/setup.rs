//! Games and options of the rules, as Python names them.

use necrodome_rules::{
    catalog::GameId,
    options::{self, Options},
};
use pyo3::{exceptions::PyValueError, prelude::*};
use serde_json::Value;

/// A mistake of the caller.
pub fn refuse(why: impl ToString) -> PyErr {
    PyValueError::new_err(why.to_string())
}

/// The game with this id.
pub fn game(id: &str) -> PyResult<GameId> {
    GameId::ALL.into_iter().find(|game| game.as_str() == id).ok_or_else(|| {
        let all = GameId::ALL.map(GameId::as_str).join(", ");
        refuse(format!("unknown game {id:?}: expected one of {all}"))
    })
}

/// Rules from a JSON object of the options that are set: the same names, values and mistakes as on the command line.
pub fn rules<R: Options>(json: &str) -> PyResult<R> {
    let Ok(Value::Object(set)) = serde_json::from_str(json) else {
        return Err(refuse(format!("expected options as a JSON object, got {json}")));
    };
    let pairs: Vec<_> = set.into_iter().map(|(name, value)| (name, options::plain(&value))).collect();
    options::parse(&pairs).map_err(refuse)
}
