//! The set-up of a party in YAML, and the script that it begins with.

use crate::script::{Dialect, Script};
use necrodome_rules::{
    chance::{Chance, Seed, Seeded},
    infection::{InfectionRules, Party, Ruleset, SurplusVirus},
    names::Names,
    options::Bounded,
};
use serde::{Deserialize, de::IgnoredAny};
use serde_saphyr::{Location, Spanned};
use std::{collections::BTreeMap, fmt};

/// A set-up: the players and the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The players, as they were listed.
    pub players: Vec<String>,
    /// The rules. `zombies` of the players start as zombies.
    pub rules: InfectionRules,
    /// The judge that the file was written for.
    pub dialect: Dialect,
}

/// An error in a set-up, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1.
    pub column: u64,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ConfigError {}

/// An example of a set-up, with comments.
pub const EXAMPLE: &str = "\
# A party of Infection. Change what you like, then run: necrodome judge new --force

# Everybody who plays, one name a line. No two may differ only in capital letters.
players:
  - Anna
  - Ben
  - Carla
  - David
  - Emma
  - Felix
  - Greta
  - Hugo

# The number of zombies at the start, fewer than there are players. Which players they are is drawn at random.
zombies: 1

# The number of turns.
max_turns: 4

# What everybody has at the start.
start_antibodies: 3
start_viruses: 0

# Without these lines, Necrodome chooses values that suit the number of players. To see how such games go:
# necrodome judge simulate --config config.yml

# What becomes of viruses that find no antibody to cancel: carry or lost.
surplus_virus: carry

# With rules: classic there are points and one antidote each instead: necrodome docs rules/infection-classic
";

/// The keys of older set-ups besides `players`, and their names today. Ruby wrote some of them as symbols, with a
/// colon in front.
const OLDER: [(&str, &str); 5] = [
    ("zombie_count", "zombies"),
    ("total_turns", "max_turns"),
    ("interation_turn_limit", "interaction_limit"),
    ("interaction_turn_limit", "interaction_limit"),
    ("antidote_turn_limit", "antidote_limit"),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(alias = ":players")]
    players: Spanned<Option<Vec<Spanned<String>>>>,
    rules: Option<Ruleset>,
    #[serde(alias = "zombie_count", alias = ":zombie_count")]
    zombies: Option<Spanned<Bounded<0, 499>>>,
    #[serde(alias = "total_turns", alias = ":total_turns")]
    max_turns: Option<Bounded<1, 10_000>>,
    #[serde(
        alias = "interation_turn_limit",
        alias = ":interation_turn_limit",
        alias = "interaction_turn_limit",
        alias = ":interaction_turn_limit"
    )]
    interaction_limit: Option<Bounded<0, 10_000>>,
    #[serde(alias = "antidote_turn_limit", alias = ":antidote_turn_limit")]
    antidote_limit: Option<Bounded<0, 10_000>>,
    start_antibodies: Option<Bounded<0, 1000>>,
    start_viruses: Option<Bounded<0, 1000>>,
    surplus_virus: Option<SurplusVirus>,
}

impl Config {
    /// Reads a set-up.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
            return Err(ConfigError { line: 1, column: 1, message: "expected players, got nothing".into() });
        }
        let raw: Raw = read(text).map_err(|error| {
            let message = error.render_with_formatter(&serde_saphyr::UserMessageFormatter);
            // The place is told apart from the message.
            let message = message.split(" at line ").next().unwrap_or_default().to_owned();
            at(error.location().unwrap_or(Location::UNKNOWN), message)
        })?;
        let place = raw.players.referenced;
        let players = raw.players.value.unwrap_or_default();
        if players.len() < 2 {
            let message = format!("expected at least two players, got {}", players.len());
            return Err(at(place, message));
        }
        if players.len() > Party::MAX_PLAYERS {
            let message = format!("expected at most {} players, got {}", Party::MAX_PLAYERS, players.len());
            return Err(at(players[Party::MAX_PLAYERS].referenced, message));
        }
        check_names(&players)?;
        let older = keys(text).is_some_and(|keys| keys.value.keys().any(|key| today(key) != key));
        let rules = raw.rules.unwrap_or(if older { Ruleset::Classic } else { Ruleset::Standard });
        let usual = InfectionRules { rules, ..InfectionRules::default() };
        let usual = if rules == Ruleset::Standard { usual.suited(players.len()) } else { usual };
        let max_turns = if older { Bounded::new(10_000) } else { usual.max_turns };
        let defaults = InfectionRules { max_turns, ..usual };
        let zombies = raw.zombies.as_ref().map_or(defaults.zombies, |zombies| zombies.value);
        // Without a human, the game is over before it begins.
        if zombies.get() as usize >= players.len() {
            let place = raw.zombies.map_or(place, |zombies| zombies.referenced);
            let message =
                format!("expected fewer zombies than the {} players, got {}", players.len(), zombies.get());
            return Err(at(place, message));
        }
        Ok(Config {
            players: players.into_iter().map(|name| name.value).collect(),
            dialect: if older { Dialect::Older } else { Dialect::Current },
            rules: InfectionRules {
                rules,
                zombies,
                max_turns: raw.max_turns.unwrap_or(defaults.max_turns),
                start_antibodies: raw.start_antibodies.unwrap_or(defaults.start_antibodies),
                start_viruses: raw.start_viruses.unwrap_or(defaults.start_viruses),
                surplus_virus: raw.surplus_virus.unwrap_or(defaults.surplus_virus),
                // 0 turns are no limit.
                interaction_limit: raw.interaction_limit.and_then(|limit| limit.get().try_into().ok()),
                antidote_limit: raw.antidote_limit.unwrap_or(defaults.antidote_limit),
            },
        })
    }

    /// Writes the script that this party begins with, with the roles drawn from `seed`.
    pub fn script(&self, seed: impl Into<Seed>) -> String {
        let seed = seed.into();
        let zombies = self.rules.zombies.get() as usize;
        let mut roles: Vec<bool> = (0..self.players.len()).map(|player| player < zombies).collect();
        Seeded::new(seed, "judge new", 0).shuffle(&mut roles);
        let comment =
            format!(" A party of Infection. The roles were drawn with seed {seed}. For the judge only!");
        let mut text = Script::opening(comment, &self.rules, &self.players, &roles).to_string();
        text += match self.rules.rules {
            Ruleset::Standard => {
                "\
            # One command a line. i anna ben: they meet (i anna! ben*2: anna takes a precaution, ben applies two viruses),\n\
            # a anna: they take the antidote, e anna: they end their turn, nt: the turn is over for everybody.\n"
            }
            Ruleset::Classic => {
                "\
            # One command a line. i anna ben: anna meets ben, a anna: they take the antidote, e anna: they end their turn,\n\
            # nt: the turn is over for everybody.\n"
            }
        };
        text
    }
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, serde_saphyr::Error> {
    serde_saphyr::from_str_with_options(text, serde_saphyr::options! { with_snippet: false })
}

/// Today's name of a key.
pub(crate) fn today(key: &str) -> &str {
    let plain = key.strip_prefix(':').unwrap_or(key);
    OLDER.iter().find(|(older, _)| *older == plain).map_or(plain, |(_, today)| today)
}

/// Reads the keys of a set-up, with the places of all values.
pub(crate) fn keys(text: &str) -> Option<Spanned<BTreeMap<String, Spanned<IgnoredAny>>>> {
    read(text).ok()
}

fn at(location: Location, message: impl Into<String>) -> ConfigError {
    ConfigError { line: location.line().max(1), column: location.column().max(1), message: message.into() }
}

fn check_names(players: &[Spanned<String>]) -> Result<(), ConfigError> {
    let mut known: BTreeMap<String, &Spanned<String>> = BTreeMap::new();
    for name in players {
        // One by one, so that it is known which one is wrong.
        if let Err(error) = Names::new([&name.value]) {
            return Err(at(name.referenced, error.to_string()));
        }
        if name.value.contains('"') {
            return Err(at(
                name.referenced,
                format!("the name {:?} has quotes, and scripts need those", name.value),
            ));
        }
        if let Some(first) = known.insert(name.value.to_lowercase(), name) {
            let message = format!("{:?} plays already (line {})", name.value, first.referenced.line());
            return Err(at(name.referenced, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{book::Book, convert, script::parse};

    #[test]
    fn the_example_is_a_party() {
        let config = Config::parse(EXAMPLE).unwrap();
        assert_eq!((config.players.len(), config.rules.zombies.get()), (8, 1));
        assert_eq!(config.rules, InfectionRules::default().suited(8));
        let names = EXAMPLE.lines().filter(|line| line.starts_with("players") || line.starts_with("  -"));
        let bare = Config::parse(&names.collect::<Vec<_>>().join("\n")).unwrap();
        assert_eq!(bare, config, "what a set-up does not say suits its players");
    }

    #[test]
    fn a_script_plays_by_the_rules_of_its_set_up() {
        let text = "players: [Anna, 'Ben Z', '#1']\nzombies: 2\nmax_turns: 3\nstart_viruses: 5\nsurplus_virus: lost\n";
        let config = Config::parse(text).unwrap();
        for seed in 0..20 {
            let parsed = parse(&config.script(seed));
            let book = Book::of(&parsed);
            assert_eq!(book.mistakes(), []);
            assert_eq!(book.names(), ["Anna", "Ben Z", "#1"]);
            assert_eq!(book.zombies().iter().filter(|&&zombie| zombie).count(), 2);
            assert_eq!(*book.rules(), config.rules);
            assert!(book.party().is_some());
        }
        let scripts: std::collections::BTreeSet<String> = (0..20).map(|seed| config.script(seed)).collect();
        assert!(scripts.len() > 3, "the roles are not drawn");
    }

    #[test]
    fn older_set_ups_are_read_and_rewritten() {
        let both = "interation_turn_limit: 6\n:antidote_turn_limit: 2\n";
        for (text, turns, interaction, antidote) in [
            ("players: [Y, N, 'Ben Z']\nzombie_count: 2\n", 10_000, None, 3),
            ("players: [Y, N, 'Ben Z']\nzombie_count: 2\ntotal_turns: 5\n", 5, None, 3),
            (&format!("---\n:players:\n- Y\n- N\n- Ben Z\n:zombie_count: 2\n:{both}"), 10_000, Some(6), 2),
            ("players: [Y, N, Ben Z]\nzombie_count: 2\ninteraction_turn_limit: 0\n", 10_000, None, 3),
        ] {
            let config = Config::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(config.dialect, Dialect::Older, "{text}");
            assert_eq!(config.players, ["Y", "N", "Ben Z"]);
            let rules = config.rules;
            assert_eq!((rules.rules, rules.zombies.get()), (Ruleset::Classic, 2), "{text}");
            let limits = (
                rules.max_turns.get(),
                rules.interaction_limit.map(Bounded::get),
                rules.antidote_limit.get(),
            );
            assert_eq!(limits, (turns, interaction, antidote), "{text}");
            let new = convert::set_up(text, &config).unwrap();
            let again = Config::parse(&new).unwrap();
            assert_eq!(again, Config { dialect: Dialect::Current, ..config.clone() }, "{new}");
            let book = Book::of(&parse(&config.script(1)));
            assert_eq!((book.mistakes(), *book.rules()), (&[][..], rules));
        }
        // Nothing but keys changes, and only what older judges took for granted is added.
        for (older, today) in [
            (
                "--- # Friday\n:players: # zombie_count of us\n- Ä\n- zombie_count\n\n# few\n:zombie_count: 1\n:total_turns: 4",
                "--- # Friday\nplayers: # zombie_count of us\n- Ä\n- zombie_count\n\n# few\nzombies: 1\nmax_turns: 4\nrules: classic\n",
            ),
            (
                "  players: [a, b]\n  rules: standard\n  'zombie_count': 1\n",
                "  players: [a, b]\n  rules: standard\n  'zombies': 1\n  max_turns: 10000\n",
            ),
            (
                "{players: [a, b], zombie_count: 1}\n",
                "{rules: classic, max_turns: 10000, players: [a, b], zombies: 1}\n",
            ),
        ] {
            let config = Config::parse(older).unwrap();
            assert_eq!(convert::set_up(older, &config).as_deref(), Ok(today));
        }
        for odd in ["players: [a, b]\nzombie_count: 1\n...\n", "players: [a, b]\n\"zombie\\x5fcount\": 1\n"] {
            let refused = convert::set_up(odd, &Config::parse(odd).unwrap()).unwrap_err();
            assert!(refused.message.contains("cannot be converted"), "{odd}: {refused}");
        }
        // A name that says otherwise wins, and one thing is not said twice.
        assert_eq!(
            Config::parse("players: [a, b]\nzombie_count: 1\nrules: standard\n").unwrap().rules.rules,
            Ruleset::Standard
        );
        let twice = Config::parse("players: [a, b]\nzombie_count: 1\nzombies: 1\n").unwrap_err();
        assert!(twice.message.contains("duplicate field `zombies`"), "{twice}");
    }

    #[test]
    fn mistakes_name_line_and_column() {
        for (text, line, column, message) in [
            ("players: [a, b]\nzombie: 1\n", 2, 1, "zombie"),
            ("players: [a, b]\nzombies: 3\n", 2, 10, "expected fewer zombies than the 2 players, got 3"),
            ("players: [a, b]\nzombies: 2\n", 2, 10, "expected fewer zombies than the 2 players, got 2"),
            ("players: [a, b]\nzombies: many\n", 2, 10, ""),
            ("players:\n  - Anna\n  - anna\n", 3, 5, "\"anna\" plays already (line 2)"),
            ("players:\n  - a\n  - \"\"\n", 3, 5, "name"),
            ("players: []\n", 1, 10, "expected at least two players, got 0"),
            ("players:\n", 1, 8, "expected at least two players, got 0"),
            ("players: [a, b]\nmax_turns: 0\n", 2, 12, "1 to 10000"),
            ("players: [a, b]\nsurplus_virus: gone\n", 2, 16, "gone"),
            ("players: [a, b\n", 1, 10, ""),
        ] {
            let error = Config::parse(text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {error}");
            assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
            assert!(!error.message.is_empty());
        }
        for text in ["", "\n# nothing\n", "- a\n- b\n", "zombies: 2\n", "\u{0}", "players: *a\n", "a: {"] {
            let error = Config::parse(text).unwrap_err();
            assert!(error.line >= 1 && error.column >= 1 && error.message.len() > 5, "{text:?}: {error}");
        }
    }
}
