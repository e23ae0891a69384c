//! The project's documents and example bots, inside the program, so that it needs no file from the checkout.

use necrodome_rules::card::Card;

/// A document inside the program: its name and its text.
pub struct Page {
    pub name: &'static str,
    pub text: &'static str,
}

// `DOCUMENTS`: every file in `docs/`, in the order of its index. `EXAMPLE_BOTS`: every file in `bots/python`.
include!(concat!(env!("OUT_DIR"), "/documents.rs"));

impl Page {
    /// Returns the name without its ending, which is how people ask for it.
    pub fn page(&self) -> &'static str {
        self.name.rsplit_once('.').map_or(self.name, |(page, _)| page)
    }

    /// Returns the first heading.
    pub fn title(&self) -> &'static str {
        self.text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(match self.page() {
            "schema/report" | "schema/match" | "schema/forecast" | "schema/cost" | "schema/exam" => {
                "JSON Schema of what --json prints"
            }
            _ => "JSON Schema of the bot protocol",
        })
    }

    /// Returns the page of this name: `protocol`, `docs/protocol.md`, or `infection` for `rules/infection`.
    pub fn find(page: &str) -> Option<&'static Page> {
        let page = page.strip_prefix("docs/").unwrap_or(page);
        let named = |document: &&Page| document.page() == page || document.name == page;
        let ends = |document: &&Page| document.page().strip_prefix("rules/") == Some(page);
        DOCUMENTS.iter().find(named).or_else(|| DOCUMENTS.iter().find(ends))
    }

    /// Returns the rules of a game.
    pub fn of_game(game: &Card) -> Option<&'static Page> {
        DOCUMENTS.iter().find(|document| document.page().strip_prefix("rules/") == Some(game.document))
    }

    /// Returns the example bot of a game.
    pub fn bot_of_game(game: &Card) -> Option<&'static Page> {
        let name = game.document.replace('-', "_");
        EXAMPLE_BOTS.iter().find(|bot| bot.page() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_rules::catalog::GameId;

    #[test]
    fn every_game_has_its_rules_and_its_schema() {
        for id in GameId::ALL {
            assert!(Page::of_game(&id.card()).is_some(), "{id}");
            assert!(Page::bot_of_game(&id.card()).is_some(), "{id}");
            assert!(Page::find(&format!("schema/{id}")).is_some(), "{id}");
        }
    }
}
