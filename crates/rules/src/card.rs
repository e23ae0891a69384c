//! A game's card: what people are told about the game before they play, and the settings that suit it.

/// The format of a tournament: who meets whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// All entries in each match.
    Table,
    /// Every group of entries that fills the seats of a match.
    RoundRobin,
    /// The first entry against each of the others.
    Gauntlet,
    /// All entries in one field, ranked by the median of the rounds.
    Battle,
}

impl Format {
    /// All formats, in the order in which they are listed.
    pub const ALL: [Format; 4] = [Format::Table, Format::RoundRobin, Format::Gauntlet, Format::Battle];

    /// The name as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::RoundRobin => "round-robin",
            Format::Gauntlet => "gauntlet",
            Format::Battle => "battle",
        }
    }

    /// Returns the format with this name, or `None`.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.as_str() == name)
    }
}

/// A description of a game for people. Every game has a card in its own folder.
///
/// [`Card::new`] fills in what suits most games, so that a new game names only what is different.
#[derive(Debug, Clone, Copy)]
pub struct Card {
    /// The id, as users write it.
    pub id: &'static str,
    /// The name.
    pub title: &'static str,
    /// What the game is, in one sentence.
    pub about: &'static str,
    /// The rules on half a screen, for somebody at the table who asks.
    pub rules: &'static str,
    /// The page with all of the rules, in `docs/rules`.
    pub document: &'static str,
    /// The starting point for the author of a bot: the view and the action, in one line.
    pub hint: &'static str,
    /// Whether nothing is hidden: everybody sees the board, and whose turn it is.
    pub open: bool,
    /// The default opponents of a single player.
    pub opponents: &'static [&'static str],
    /// The bot that takes over for a person who has left.
    pub stand_in: &'static str,
    /// The default line-up of a tournament: built-in bots, some with a name, as in `patient=stop-at:brains=5`.
    pub line_up: &'static [&'static str],
    /// The default format of its tournaments.
    pub format: Format,
    /// The default number of blocks in a tournament of built-in bots.
    pub blocks: u32,
    /// The longest line that a bot may send, in bytes.
    pub line_limit: usize,
    /// The most seats at a table of people.
    pub most_people: usize,
    /// The options that suit people, as they are written.
    pub options_for_people: &'static [(&'static str, &'static str)],
    /// Bounds on options at tables of people. They are narrower than those of the rules and keep every table small.
    pub bounds_for_people: &'static [Bound],
}

/// A bound on an option.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The option.
    pub option: &'static str,
    /// The smallest value.
    pub least: f64,
    /// The largest value, also for an option without an upper limit.
    pub most: f64,
}

impl Card {
    /// Makes a card with the values that suit most games.
    pub const fn new(id: &'static str, title: &'static str, about: &'static str) -> Card {
        Card {
            id,
            title,
            about,
            rules: about,
            document: id,
            hint: "a decision lists its legal actions: answer with one of them.",
            open: true,
            opponents: &[],
            stand_in: "random",
            line_up: &[],
            format: Format::Table,
            blocks: 5000,
            line_limit: 64 << 10,
            most_people: 12,
            options_for_people: &[],
            bounds_for_people: &[],
        }
    }

    /// Returns the entries of the default line-up: the name, if it has one of its own, and the bot.
    pub fn entries(&self) -> impl Iterator<Item = (Option<&'static str>, &'static str)> {
        self.line_up.iter().map(|entry| match entry.split_once('=') {
            Some((name, bot)) if !name.contains(':') => (Some(name), bot),
            _ => (None, *entry),
        })
    }
}
