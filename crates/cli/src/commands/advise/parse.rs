//! Parses the words of a state: keys, and the words that belong to them.

use crate::error::Error;
use std::{fmt::Display, ops::RangeInclusive};

/// The names of each key. Messages use the first one.
pub type KeyNames<K> = [(&'static str, K)];

/// The words that are still to be parsed, in lower case.
pub struct Words {
    game: &'static str,
    words: std::iter::Peekable<std::vec::IntoIter<String>>,
}

impl Words {
    pub fn new(game: &'static str, state: &[String]) -> Self {
        let separates = |c: char| c.is_whitespace() || ",=:;".contains(c);
        let words = state.iter().flat_map(|text| text.split(separates)).filter(|word| !word.is_empty());
        let words: Vec<String> = words.flat_map(|word| pair(&word.to_lowercase())).collect();
        Words { game, words: words.into_iter().peekable() }
    }

    /// Returns an error with the game in front.
    pub fn refuse<T>(&self, what: impl Display) -> Result<T, Error> {
        Err(Error::at(self.game, what))
    }

    /// Takes the next key, or returns `None` at the end. A key must not come twice.
    pub fn key<K: Copy + PartialEq>(
        &mut self,
        names: &KeyNames<K>,
        seen: &mut Vec<K>,
    ) -> Result<Option<(&'static str, K)>, Error> {
        let Some(word) = self.words.next() else { return Ok(None) };
        let (name, key) = self.find(&word, names)?;
        if seen.contains(&key) {
            return self.refuse(format!("{name} is there twice"));
        }
        seen.push(key);
        Ok(Some((name, key)))
    }

    /// Finds a key by its whole name, or by a beginning that only one key has.
    fn find<K: Copy + PartialEq>(&self, word: &str, names: &KeyNames<K>) -> Result<(&'static str, K), Error> {
        let first = |key: K| names.iter().find(|(_, other)| *other == key).map_or("", |(name, _)| name);
        if let Some(&(_, key)) = names.iter().find(|(name, _)| *name == word) {
            return Ok((first(key), key));
        }
        let mut found: Vec<K> = Vec::new();
        for &(_, key) in names.iter().filter(|(name, _)| name.starts_with(word)) {
            if !found.contains(&key) {
                found.push(key);
            }
        }
        match found[..] {
            [key] => Ok((first(key), key)),
            [] => {
                let mut valid: Vec<&str> = names.iter().map(|&(_, key)| first(key)).collect();
                valid.dedup();
                Err(Error::unknown(format_args!("{}: unknown word", self.game), word, &valid))
            }
            _ => {
                let found: Vec<&str> = found.into_iter().map(first).collect();
                self.refuse(format!("{word:?} can be {}: write more of it", found.join(" or ")))
            }
        }
    }

    /// Takes the next word if it has a meaning here.
    pub fn take<T>(&mut self, meaning: impl Fn(&str) -> Option<T>) -> Option<T> {
        let meant = self.words.peek().and_then(|word| meaning(word))?;
        self.words.next();
        Some(meant)
    }

    /// Takes all following words that have a meaning here.
    pub fn take_all<T>(&mut self, meaning: impl Fn(&str) -> Option<T>) -> Vec<T> {
        std::iter::from_fn(|| self.take(&meaning)).collect()
    }

    /// Returns the next word as messages show it: `got "many"`, `got nothing`.
    pub fn got(&mut self) -> String {
        self.words.peek().map_or("got nothing".to_owned(), |word| format!("got {word:?}"))
    }

    /// Takes the next word if it is a number.
    pub fn number(&mut self, key: &str, range: RangeInclusive<u32>) -> Result<Option<u32>, Error> {
        match self.take(number) {
            Some(text) => self.within(key, &text, range).map(Some),
            None => Ok(None),
        }
    }

    /// Takes all numbers that follow.
    pub fn numbers(&mut self, key: &str, range: RangeInclusive<u32>) -> Result<Vec<u32>, Error> {
        let texts = self.take_all(number);
        texts.iter().map(|text| self.within(key, text, range.clone())).collect()
    }

    fn within(&self, key: &str, text: &str, range: RangeInclusive<u32>) -> Result<u32, Error> {
        match text.parse() {
            Ok(value) if range.contains(&value) => Ok(value),
            _ => {
                let (least, most) = range.into_inner();
                self.refuse(format!("{key}: expected a number from {least} to {most}, got {text}"))
            }
        }
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the word if it looks like a number, even one out of range.
pub fn number(word: &str) -> Option<String> {
    is_digits(word.trim_start_matches(['-', '+'])).then(|| word.to_owned())
}

/// Splits a pair: `7-9` is two numbers.
fn pair(word: &str) -> Vec<String> {
    match word.split_once('-') {
        Some((own, other)) if is_digits(own) && is_digits(other) => vec![own.to_owned(), other.to_owned()],
        _ => vec![word.to_owned()],
    }
}
