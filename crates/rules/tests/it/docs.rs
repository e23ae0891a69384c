//! The JSON in `docs/rules` is the JSON of the code: every example parses, and the code writes the same text.

use necrodome_rules::{
    catalog::{GameId, Listed},
    options, with_game,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::Path};

/// The documents by game; formats of one game share a document.
const DOCUMENTS: [(&str, &[&str]); 4] = [
    ("zombie-dice.md", &["zombie-dice", "zombie-dice-solo", "zombie-dice-race"]),
    ("last-bullet.md", &["last-bullet"]),
    ("infection.md", &["infection"]),
    ("tokyo.md", &["tokyo"]),
];

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All blocks that start with "```json GAME KIND", with their text.
fn examples(text: &str) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(tag) = line.strip_prefix("```json") {
            let words: Vec<&str> = tag.split_whitespace().collect();
            let [game, kind] = words[..] else { panic!("expected \"```json GAME KIND\", got {line:?}") };
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push((game.to_owned(), kind.to_owned(), block.join("\n")));
        }
    }
    found
}

fn same<T: Serialize + DeserializeOwned>(text: &str) -> Result<(), String> {
    let written: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let value: T = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let again = serde_json::to_value(value).unwrap();
    if again == written { Ok(()) } else { Err(format!("the code writes {again}")) }
}

fn check<G: Listed>(kind: &str, text: &str) -> Result<(), String> {
    match kind {
        "view" => same::<G::View>(text),
        "action" => same::<G::Action>(text),
        "event" => same::<G::Event>(text),
        other => Err(format!("no such kind: {other}")),
    }
}

#[test]
fn every_example_is_what_the_code_reads_and_writes() {
    let mut kinds: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (name, _) in DOCUMENTS {
        for (game, kind, text) in examples(&document(name)) {
            let id = GameId::ALL.into_iter().find(|id| id.as_str() == game).unwrap();
            with_game!(id, G => check::<G>(&kind, &text))
                .unwrap_or_else(|error| panic!("{name}, {game} {kind}:\n{text}\n{error}"));
            *kinds.entry((game, kind)).or_default() += 1;
        }
    }
    for (name, games) in DOCUMENTS {
        for game in games {
            assert!(kinds.contains_key(&((*game).into(), "view".into())), "{name}: no view of {game}");
        }
        for kind in ["action", "event"] {
            assert!(kinds.contains_key(&(games[0].into(), kind.into())), "{name}: no {kind}");
        }
    }
}

#[test]
fn every_option_is_explained_under_its_name() {
    for (name, games) in DOCUMENTS {
        let text = document(name);
        for id in GameId::ALL.into_iter().filter(|id| games.contains(&id.as_str())) {
            let options =
                with_game!(id, G => options::describe::<<G as necrodome_rules::game::Game>::Rules>());
            for option in options {
                assert!(
                    text.contains(&format!("`{}`", option.name)),
                    "{name} says nothing of {}",
                    option.name
                );
            }
        }
    }
}
