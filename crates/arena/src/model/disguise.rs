//! The same game in invented words: everything that a game is about gets a name from no language, the same everywhere. A model that
//! has read about the game must now reason; if it plays as well as before, it did not rely on its memory.
//!
//! Amounts stay the same: changing them would change the game. Numbers that are names, such as the faces of a die, are renamed.

use necrodome_models::Disguise as Words;
use necrodome_rules::chance::{Chance, Seeded};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The words to hide for one game, from its table in `disguises`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// Words, each with all its forms.
    words: Vec<Vec<String>>,
    /// Words that have a special meaning in JSON only.
    #[serde(default)]
    symbols: Vec<String>,
    /// Sentences of the rules that need different words, with `{symbol}` for a symbol.
    #[serde(default)]
    phrases: BTreeMap<String, String>,
}

/// The tables, by the name of the document with the rules.
const TABLES: [(&str, &str); 4] = [
    ("zombie-dice", include_str!("disguises/zombie-dice.toml")),
    ("last-bullet", include_str!("disguises/last-bullet.toml")),
    ("infection", include_str!("disguises/infection.toml")),
    ("tokyo", include_str!("disguises/tokyo.toml")),
];

impl Table {
    /// That of a document; empty if it has none.
    fn of(document: &str) -> Self {
        let table = TABLES.iter().find(|(name, _)| *name == document);
        table.and_then(|(_, table)| toml::from_str(table).ok()).unwrap_or_default()
    }
}

/// Renames the words of a game, and turns the names back.
#[derive(Debug, Clone)]
pub struct Disguise {
    /// New names for words in prose.
    words: HashMap<String, String>,
    /// More new names for words in JSON.
    symbols: HashMap<String, String>,
    /// The old name for each new one.
    back: HashMap<String, String>,
    phrases: Vec<(String, String)>,
}

impl Disguise {
    /// The disguise of a game with this document.
    pub fn of(document: &str, words: Words) -> Self {
        match words {
            Words::Invented(seed) => Self::new(document, seed),
            Words::RealWords => Self::none(document),
        }
    }

    /// A disguise that changes no word: the game is told in the same form as in every other.
    fn none(document: &str) -> Self {
        let Table { symbols, phrases, .. } = Table::of(document);
        let names = symbols.into_iter().map(|symbol| (symbol.clone(), symbol)).collect();
        Disguise {
            words: HashMap::new(),
            symbols: HashMap::new(),
            back: HashMap::new(),
            phrases: named(phrases, &names),
        }
    }

    /// Returns the disguise, drawn from a seed, of a game with this document. A game without a table has nothing to hide.
    pub fn new(document: &str, seed: u64) -> Self {
        let Table { words, symbols, phrases } = Table::of(document);
        let mut chance = Seeded::new(seed, "disguise", 0);
        let mut taken: HashSet<String> = words.iter().flatten().chain(&symbols).cloned().collect();
        let mut rename = |forms: &[String]| loop {
            let stem = invented(&mut chance);
            let names: Vec<String> = (0..forms.len()).map(|form| inflected(&stem, forms, form)).collect();
            if !names.iter().any(|name| taken.contains(name)) {
                taken.extend(names.iter().cloned());
                break forms.iter().cloned().zip(names).collect::<Vec<_>>();
            }
        };
        let words: HashMap<String, String> = words.iter().flat_map(|forms| rename(forms)).collect();
        let symbols: HashMap<String, String> =
            symbols.iter().flat_map(|symbol| rename(std::slice::from_ref(symbol))).collect();
        let back = words.iter().chain(&symbols).map(|(old, new)| (new.clone(), old.clone())).collect();
        let phrases = named(phrases, &symbols);
        Disguise { words, symbols, back, phrases }
    }

    /// Disguises prose; anything in backquotes is JSON.
    pub fn prose(&self, text: &str) -> String {
        let text = self.phrases.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new));
        // What stands in double quotes alone is JSON, too, such as a part of an answer that is quoted.
        let text = self.symbols.iter().fold(text, |text, (old, new)| {
            text.replace(&format!("\"{old}\""), &format!("\"{new}\""))
                .replace(&format!("\\\"{old}\\\""), &format!("\\\"{new}\\\""))
        });
        let parts = text.split('`').enumerate().map(|(place, part)| match place % 2 {
            0 => tokens(part, |word| self.words.get(word)),
            _ => self.code(part),
        });
        parts.collect::<Vec<_>>().join("`")
    }

    /// Disguises the text of JSON.
    pub fn code(&self, json: &str) -> String {
        tokens(json, |word| self.symbols.get(word).or_else(|| self.words.get(word)))
    }

    /// Turns a text of a model back into the words of the game.
    pub fn undo(&self, text: &str) -> String {
        tokens(text, |word| self.back.get(word))
    }

    /// Turns JSON of a model back into the words of the game.
    pub fn undo_json(&self, json: &Value) -> Value {
        // Only letters are changed, so it is JSON still.
        serde_json::from_str(&self.undo(&json.to_string())).unwrap_or_default()
    }

    /// Returns the words that are hidden in prose, and those that are also hidden in JSON.
    #[cfg(test)]
    pub(super) fn hidden(&self) -> (HashSet<&str>, HashSet<&str>) {
        (self.words.keys().map(String::as_str).collect(), self.symbols.keys().map(String::as_str).collect())
    }
}

/// Sentences and what stands for them, with the names of symbols.
fn named(phrases: BTreeMap<String, String>, symbols: &HashMap<String, String>) -> Vec<(String, String)> {
    let name = |phrase: String| {
        symbols.iter().fold(phrase, |phrase, (old, new)| phrase.replace(&format!("{{{old}}}"), new))
    };
    phrases.into_iter().map(|(old, new)| (old, name(new))).collect()
}

/// Draws a word that no language has.
fn invented(chance: &mut Seeded) -> String {
    let one_of = |letters: &str| {
        let place = chance.uniform(letters.len() as u32) as usize;
        char::from(letters.as_bytes()[place])
    };
    ["bdfgkvz", "aiou", "lmrv", "aiou", "bdgkv", "aiou", "kmpv"].map(one_of).iter().collect()
}

/// Returns a form of an invented word: plurals look like plurals, other forms only look related.
fn inflected(stem: &str, forms: &[String], form: usize) -> String {
    const ENDINGS: [&str; 6] = ["en", "ik", "ur", "os", "ab", "um"];
    let singular = &forms[0];
    match form {
        0 => stem.to_owned(),
        _ if forms[form] == format!("{singular}s") || forms[form] == format!("{singular}es") => {
            format!("{stem}s")
        }
        _ => format!("{stem}{}", ENDINGS[(form - 1) % ENDINGS.len()]),
    }
}

/// Replaces some of the words of a text, which are runs of letters; capital letters stay capital.
fn tokens<'a>(text: &str, name: impl Fn(&str) -> Option<&'a String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let end =
            rest[start..].find(|c: char| !c.is_ascii_alphabetic()).map_or(rest.len(), |end| start + end);
        let word = &rest[start..end];
        out.push_str(&rest[..start]);
        let new = name(&word.to_ascii_lowercase());
        if new.is_some() && word.starts_with(|c: char| "aeiouAEIOU".contains(c)) {
            fix_article(&mut out);
        }
        match new {
            None => out.push_str(word),
            Some(new) if word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase()) => {
                out.push_str(&new.to_ascii_uppercase());
            }
            Some(new) if word.starts_with(|c: char| c.is_ascii_uppercase()) => {
                out.push_str(&new[..1].to_ascii_uppercase());
                out.push_str(&new[1..]);
            }
            Some(new) => out.push_str(new),
        }
        rest = &rest[end..];
    }
    out + rest
}

/// Corrects "an": invented words begin with a consonant, and "an" would reveal that the old word did not.
fn fix_article(out: &mut String) {
    let is_article = |article: &str| {
        let before = out.strip_suffix(article);
        before.is_some_and(|before| !before.ends_with(|c: char| c.is_ascii_alphabetic()))
    };
    if ["an ", "An "].into_iter().any(is_article) {
        out.truncate(out.len() - 2);
        out.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disguise_is_the_same_everywhere_and_can_be_taken_off() {
        let disguise = Disguise::new("tokyo", 7);
        let [tokyo, heal, heals] = ["tokyo", "heal", "heals"].map(|word| disguise.words[word].clone());
        assert_eq!(heals, format!("{heal}s"));
        let text = disguise.prose("Tokyo heals. One of three is `one`; TOKYO, in_tokyo.");
        let (large, one) = (tokyo[..1].to_uppercase() + &tokyo[1..], &disguise.symbols["one"]);
        let upper = tokyo.to_uppercase();
        assert_eq!(text, format!("{large} {heals}. One of three is `{one}`; {upper}, in_{tokyo}."));
        assert_eq!(disguise.undo(&text), "Tokyo heals. One of three is `one`; TOKYO, in_tokyo.");
        // What is quoted of an answer is JSON, in one more layer of quotes, too.
        let [keep, dice] = [&disguise.words["keep"], &disguise.symbols["two"]];
        let quoted = disguise.prose(r#""{\"type\":\"keep\",\"dice\":[\"two\"]}", one of two, "two""#);
        assert_eq!(
            quoted,
            format!(r#""{{\"type\":\"{keep}\",\"dice\":[\"{dice}\"]}}", one of two, "{dice}""#)
        );
        let attack = &disguise.words["attack"];
        assert_eq!(
            disguise.prose("An attack, an end, than attacks"),
            format!("A {attack}, an end, than {attack}s")
        );
        // Another seed, other words; a game without a table keeps its own.
        assert_ne!(Disguise::new("tokyo", 8).words, disguise.words);
        assert_eq!(Disguise::new("tokyo", 7).words, disguise.words);
        assert_eq!(Disguise::new("chess", 7).prose("Tokyo"), "Tokyo");
    }

    #[test]
    fn every_table_is_read_and_says_something() {
        for (document, _) in TABLES {
            assert!(Disguise::new(document, 1).words.len() > 8, "{document}");
        }
    }
}
