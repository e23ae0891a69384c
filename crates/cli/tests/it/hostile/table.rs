//! The tables of `docs/security.md`: hostile bots, and their outcome at each level.

use necrodome_arena::fault::FaultKind;
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../../../docs/security.md");

/// How far bots are confined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level {
    Full,
    Strict,
    Limits,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Level::Full => "full",
            Level::Strict => "strict",
            Level::Limits => "limits",
        }
    }
}

/// A hostile bot: an attack of a file, and what comes of it.
#[derive(Debug, Clone)]
pub struct Row {
    pub file: String,
    pub attack: String,
    full: Outcome,
    strict: Outcome,
}

impl Row {
    pub fn name(&self) -> String {
        format!("{} {}", self.file, self.attack)
    }

    pub fn outcome(&self, level: Level) -> &Outcome {
        match level {
            // What limits hold at all, they hold as well.
            Level::Full | Level::Limits => &self.full,
            Level::Strict => &self.strict,
        }
    }
}

/// What comes of an attack.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The attack fails, and the bot knows it.
    refused: bool,
    /// What the bot is charged with: one of these, or several.
    faults: BTreeSet<String>,
    /// Nothing comes of it.
    plays_on: bool,
    /// Whether one of these is enough.
    either: bool,
    /// The attack succeeds: not protected.
    possible: bool,
    /// It may succeed for a moment.
    for_a_moment: bool,
}

impl Outcome {
    /// ``refused``, ``refused, `crash` ``, ``refused or `crash` ``, ``plays on``, ``possible``.
    fn parse(cell: &str) -> Self {
        let mut outcome = Outcome { either: cell.contains(" or "), ..Outcome::default() };
        for word in cell.split(" or ").flat_map(|part| part.split(", ")) {
            match word.strip_prefix('`').and_then(|word| word.strip_suffix('`')) {
                Some(kind) => {
                    let _: FaultKind = serde_json::from_value(kind.into()).expect(kind);
                    outcome.faults.insert(kind.to_owned());
                }
                None => match word {
                    "refused" => outcome.refused = true,
                    "plays on" => outcome.plays_on = true,
                    "possible" => outcome.possible = true,
                    "for a moment" => outcome.for_a_moment = true,
                    _ => panic!("an outcome that is not known: {word:?}"),
                },
            }
        }
        outcome
    }

    /// Whether these faults and this log are such an outcome. No attack succeeds that is not said to.
    pub fn fits(&self, kinds: &BTreeSet<&str>, log: &[&str], row: &Row) -> bool {
        let says =
            |verdict: &str| log.iter().any(|line| line.starts_with(&format!("{}: {verdict}: ", row.name())));
        let known = kinds.iter().all(|kind| *kind == "out" || self.faults.contains(*kind));
        let (refused, charged) = (says("refused"), !kinds.is_empty());
        let enough = match self.either {
            true => charged || self.plays_on || self.for_a_moment || self.refused && refused,
            false => (refused || !self.refused) && charged != self.faults.is_empty(),
        };
        known && enough && (self.for_a_moment || says("succeeded") == self.possible)
    }
}

/// All rows of the tables.
pub fn rows() -> Vec<Row> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.strip_suffix(" |")?.split(" | ").collect();
        let [bot, _, full, strict] = cells[..] else { return None };
        let (file, attack) = bot.strip_suffix('`')?.split_once(' ')?;
        Some(Row {
            file: file.to_owned(),
            attack: attack.to_owned(),
            full: Outcome::parse(full),
            strict: Outcome::parse(strict),
        })
    };
    PAGE.lines().filter_map(row).collect()
}
