//! The key of an endpoint: read when a call is made, sent in one header, and removed from everything that comes back.

use regex::{NoExpand, Regex};
use serde_json::Value;
use std::{borrow::Cow, env, fmt, mem};

/// The text that replaces the key where an endpoint has echoed it.
const REMOVED: &str = "[key]";

/// The length of the shortest real key. Shorter ones are placeholders; removing them would garble ordinary text.
const SHORTEST: usize = 8;

/// The name of the environment variable that holds a key. It is never shown: some people write the key itself here by mistake,
/// and many keys could be names.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyEnv(pub(crate) String);

impl fmt::Debug for KeyEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyEnv")
    }
}

/// A key, which is never shown.
pub(crate) struct Key {
    key: String,
    /// Finds the key, also behind escapes. `None` for a placeholder, which is not searched for.
    pattern: Option<Regex>,
}

impl Key {
    fn new(key: String) -> Result<Self, regex::Error> {
        let pattern = (key.len() >= SHORTEST).then(|| Regex::new(&pattern(&key))).transpose()?;
        Ok(Key { key, pattern })
    }

    /// Reads the key from an environment variable, or says what is wrong with the variable.
    pub fn read(variable: &KeyEnv) -> Result<Self, &'static str> {
        let key = env::var(&variable.0).map(|key| key.trim().to_owned()).unwrap_or_default();
        if key.is_empty() {
            return Err("names an environment variable that is not set");
        }
        match key.bytes().all(|byte| byte.is_ascii_graphic()) {
            true => Key::new(key).map_err(|_| "names a variable with more than any key has"),
            false => Err("names a variable with characters that no key has, such as spaces"),
        }
    }

    /// The value of the header that carries it.
    pub fn header(&self) -> String {
        format!("Bearer {}", self.key)
    }

    /// Removes the key from a text.
    pub fn remove(&self, text: String) -> String {
        let Some(pattern) = &self.pattern else { return text };
        match pattern.replace_all(&text, NoExpand(REMOVED)) {
            Cow::Owned(clean) => clean,
            Cow::Borrowed(_) => text,
        }
    }

    /// Removes the key from a text that may be JSON, also where JSON writes it with escapes.
    pub fn remove_from_json(&self, text: String) -> String {
        let text = self.remove(text);
        let Ok(mut json) = serde_json::from_str(&text) else { return text };
        match self.remove_from_value(&mut json) {
            true => json.to_string(),
            false => text,
        }
    }

    /// Removes the key from a value. Returns whether it was there.
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
        self.pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
    }
}

/// The pattern of a key in JSON, in JSON that is a text in JSON, and so on: each character as it is or as `\u0073`, behind
/// any number of backslashes, which may be written as `\u005c` themselves.
fn pattern(key: &str) -> String {
    let character = |c: char| {
        let digits = format!("{:02x}", u32::from(c));
        let digits: String = digits.chars().map(|d| format!("[{d}{}]", d.to_ascii_uppercase())).collect();
        let plain = regex::escape(&c.to_string());
        format!(r"(?:\\(?:u005[cC])*)*(?:{plain}|\\(?:u005[cC])*u00{digits})")
    };
    key.chars().map(character).collect()
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
        let key = Key::new("sk-secret-1".into()).unwrap();
        let text = r#"{"a":["sk\u002dsecret-1",{"sk-secret\u002d1":1}],"b":"x sk-secret-1"}"#;
        let clean = key.remove_from_json(text.into());
        assert_eq!(clean, r#"{"a":["[key]",{"[key]":1}],"b":"x [key]"}"#);
        assert_eq!(key.remove_from_json("<p>sk-secret-1".into()), "<p>[key]");
        assert_eq!(format!("{key:?}"), "[key]");
        let untouched = r#"{ "b" : 1, "a" : 2 }"#;
        assert_eq!(key.remove_from_json(untouched.into()), untouched);
    }

    #[test]
    fn a_key_is_found_behind_escapes_of_escapes() {
        let key = Key::new("sk-secret-1".into()).unwrap();
        for text in [
            r"a sk\u002Dsecret-1 z",
            r"a \\u0073k\\\\u002dsecret-1 z",
            r"a \u005cu0073k-secret\u005cu005cu002d1 z",
            r"a \\\sk\-secret-\1 z",
        ] {
            assert_eq!(key.remove(text.into()), "a [key] z", "{text}");
        }
        let others = r"a \u0074k-secret-1 \u0073k-secret-2 u0073k-secret-1 \n";
        assert_eq!(key.remove(others.into()), others);
        assert!(Key::new("k".repeat(4096)).is_ok(), "tokens may be long");
        // Slow if every backslash were tried as a beginning.
        let many = "\\".repeat(1 << 20);
        assert_eq!(key.remove(many.clone()), many);
    }

    #[test]
    fn a_placeholder_is_no_secret() {
        assert_eq!(Key::new("none".into()).unwrap().remove("none of it".into()), "none of it");
    }
}
