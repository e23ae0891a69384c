//! The key of an endpoint: read when a call is made, sent in one header, and taken out of all that comes back.

use serde_json::Value;
use std::{env, fmt, mem};

/// What stands where an endpoint has echoed the key.
const REMOVED: &str = "[key]";

/// Shorter keys are placeholders for servers that want some key; to remove them would garble ordinary text.
const SHORTEST: usize = 8;

/// A key, which never shows itself.
pub(crate) struct Key(String);

impl Key {
    /// The key in an environment variable.
    pub fn read(variable: &str) -> Result<Self, String> {
        let key = env::var(variable).map(|key| key.trim().to_owned()).unwrap_or_default();
        if key.is_empty() {
            return Err(format!("the environment variable {variable}, which holds the key, is not set"));
        }
        match key.bytes().all(|byte| byte.is_ascii_graphic()) {
            true => Ok(Key(key)),
            false => Err(format!("the key in {variable} has characters that no key has, such as spaces")),
        }
    }

    /// The value of the header that carries it.
    pub fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// A text without the key.
    pub fn remove(&self, text: String) -> String {
        match self.is_in(&text) {
            true => text.replace(&self.0, REMOVED),
            false => text,
        }
    }

    /// A text that may be JSON without the key, also where JSON writes it with escapes.
    pub fn remove_from_json(&self, text: String) -> String {
        let text = self.remove(text);
        let Ok(mut json) = serde_json::from_str(&text) else { return text };
        match self.remove_from_value(&mut json) {
            true => json.to_string(),
            false => text,
        }
    }

    /// Gives whether it was there.
    fn remove_from_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) if self.is_in(text) => {
                *text = self.remove(mem::take(text));
                true
            }
            Value::Array(values) => {
                values.iter_mut().fold(false, |found, value| self.remove_from_value(value) | found)
            }
            Value::Object(map) => {
                let names = map.keys().any(|name| self.is_in(name));
                let renamed = |(name, value)| (self.remove(name), value);
                if names {
                    *map = mem::take(map).into_iter().map(renamed).collect();
                }
                map.values_mut().fold(names, |found, value| self.remove_from_value(value) | found)
            }
            _ => false,
        }
    }

    fn is_in(&self, text: &str) -> bool {
        self.0.len() >= SHORTEST && text.contains(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REMOVED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_behind_escapes() {
        let key = Key("sk-secret-1".into());
        let text = r#"{"a":["sk\u002dsecret-1",{"sk-secret\u002d1":1}],"b":"x sk-secret-1"}"#;
        let clean = key.remove_from_json(text.into());
        assert_eq!(clean, r#"{"a":["[key]",{"[key]":1}],"b":"x [key]"}"#);
        assert_eq!(key.remove_from_json("<p>sk-secret-1".into()), "<p>[key]");
        assert_eq!(format!("{key:?}"), "[key]");
        let untouched = r#"{ "b" : 1, "a" : 2 }"#;
        assert_eq!(key.remove_from_json(untouched.into()), untouched);
    }

    #[test]
    fn a_placeholder_is_no_secret() {
        assert_eq!(Key("none".into()).remove("none of it".into()), "none of it");
    }
}
