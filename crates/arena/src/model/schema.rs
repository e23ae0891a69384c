//! The JSON Schema of an answer: a reason, then an action of the game.

use necrodome_rules::game::Game;
use schemars::generate::SchemaSettings;
use serde_json::{Value, value::RawValue};
use std::{collections::BTreeSet, sync::Arc};

/// Returns the schema of an answer for strict endpoints: no references, every property required, no others allowed. If `types` is given,
/// only actions of these types are allowed. The reason comes first, so that a model thinks before it chooses.
pub fn answer_schema<G: Game>(types: Option<&BTreeSet<String>>) -> Arc<RawValue> {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut action = settings.into_generator().into_root_schema_for::<G::Action>().to_value();
    tighten(&mut action);
    if let Some(types) = types {
        keep_types(&mut action, types);
    }
    let reason = r#"{"type":"string","description":"Why, briefly."}"#;
    let text = format!(
        r#"{{"type":"object","properties":{{"reason":{reason},"action":{}}},"required":["reason","action"],"additionalProperties":false}}"#,
        type_first(&action)
    );
    raw(text)
}

/// Returns JSON as it is written. Text that is not JSON becomes `null`; here the text is always built from JSON.
pub(super) fn raw(json: String) -> Arc<RawValue> {
    RawValue::from_string(json).unwrap_or_default().into()
}

/// Returns the types of some actions, or `None` if actions have no type.
pub(super) fn types_of<A: serde::Serialize>(actions: &[A]) -> Option<BTreeSet<String>> {
    let type_of = |action: &A| {
        serde_json::to_value(action).ok().and_then(|action| Some(action.get("type")?.as_str()?.to_owned()))
    };
    actions.iter().map(type_of).collect()
}

/// Adapts a schema and the schemas inside it to strict endpoints. Most know `anyOf` only, and none know the formats of numbers.
fn tighten(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    for key in ["$schema", "title", "format", "default"] {
        fields.remove(key);
    }
    if let Some(variants) = fields.remove("oneOf") {
        fields.insert("anyOf".into(), variants);
    }
    if let Some(Value::Array(variants)) = fields.get_mut("anyOf") {
        variants.iter_mut().for_each(tighten);
    }
    if let Some(items) = fields.get_mut("items") {
        tighten(items);
    }
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(tighten);
        let names: Vec<Value> = properties.keys().map(|name| name.as_str().into()).collect();
        fields.insert("required".into(), names.into());
        fields.insert("additionalProperties".into(), false.into());
    }
}

/// Removes the types of actions that are not legal now.
fn keep_types(action: &mut Value, types: &BTreeSet<String>) {
    let Some(Value::Array(variants)) = action.get_mut("anyOf") else { return };
    let is_legal = |variant: &Value| {
        variant["properties"]["type"]["const"].as_str().is_none_or(|name| types.contains(name))
    };
    let legal: Vec<Value> = variants.iter().filter(|variant| is_legal(variant)).cloned().collect();
    match &legal[..] {
        [] => {}
        [only] => *action = only.clone(),
        _ => *variants = legal,
    }
}

/// Writes JSON with the `type` of every object first, before its other fields.
fn type_first(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let (first, rest): (Vec<_>, Vec<_>) = fields.iter().partition(|(name, _)| *name == "type");
            let field = |(name, value): (&String, &Value)| {
                format!("{}:{}", Value::from(name.as_str()), type_first(value))
            };
            format!("{{{}}}", first.into_iter().chain(rest).map(field).collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(type_first).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}
