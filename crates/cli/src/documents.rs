//! The project's documents, inside the program, so that it needs no file of the checkout.

/// A document: its name, and its text.
pub struct Document {
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! documents {
    ($($name:literal),* $(,)?) => {
        &[$(Document { name: $name, text: include_str!(concat!("../../../docs/", $name)) }),*]
    };
}

/// Every file in `docs/`, for users first.
pub const DOCUMENTS: &[Document] = documents![
    "rules/zombie-dice.md",
    "rules/last-bullet.md",
    "rules/infection.md",
    "rules/tokyo.md",
    "protocol.md",
    "tournaments.md",
    "solve.md",
    "judge.md",
    "party.md",
    "web.md",
    "python.md",
    "design.md",
    "schema/zombie-dice.json",
    "schema/zombie-dice-solo.json",
    "schema/zombie-dice-race.json",
    "schema/last-bullet.json",
    "schema/infection.json",
    "schema/tokyo.json",
];

impl Document {
    /// The name without its ending: how people ask for it.
    pub fn page(&self) -> &'static str {
        self.name.rsplit_once('.').map_or(self.name, |(page, _)| page)
    }

    /// The first heading.
    pub fn title(&self) -> &'static str {
        self.text
            .lines()
            .find_map(|line| line.strip_prefix("# "))
            .unwrap_or("JSON Schema of the bot protocol")
    }

    /// The page of this name: `protocol`, `docs/protocol.md`, or `tokyo` for `rules/tokyo`.
    pub fn find(page: &str) -> Option<&'static Document> {
        let page = page.strip_prefix("docs/").unwrap_or(page);
        let named = |document: &&Document| document.page() == page || document.name == page;
        let ends = |document: &&Document| document.page().strip_prefix("rules/") == Some(page);
        DOCUMENTS.iter().find(named).or_else(|| DOCUMENTS.iter().find(ends))
    }

    /// The rules of a game. Variants share a page: `zombie-dice-race` is in `rules/zombie-dice.md`.
    pub fn of_game(game: &str) -> Option<&'static Document> {
        DOCUMENTS.iter().find(|document| {
            document.page().strip_prefix("rules/").is_some_and(|family| game.starts_with(family))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_rules::catalog::GameId;
    use std::{collections::BTreeSet, fs, path::Path};

    fn files(folder: &Path, root: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, root, found);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
            }
        }
    }

    #[test]
    fn every_document_is_in_the_program() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let mut found = BTreeSet::new();
        files(&root, &root, &mut found);
        let listed = DOCUMENTS.iter().map(|document| document.name.to_owned()).collect();
        assert_eq!(found, listed);
    }

    #[test]
    fn every_game_has_its_rules_and_its_schema() {
        for id in GameId::ALL {
            assert!(Document::of_game(id.as_str()).is_some(), "{id}");
            assert!(Document::find(&format!("schema/{id}")).is_some(), "{id}");
        }
    }
}
