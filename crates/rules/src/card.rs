//! A game's card: what people are told about it before they play, and what suits it.

/// How the entries of a tournament meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// All entries in each match.
    Table,
    /// Every group of as many entries as a match has seats.
    RoundRobin,
    /// The first entry against each of the others.
    Gauntlet,
    /// All entries in one field, ranked by the median of the rounds.
    Battle,
}

impl Format {
    /// All formats.
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

    /// The format with this name.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.as_str() == name)
    }
}

/// What is known of a game before it is played. Every game has one, in its own folder.
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
    /// The rules on half a screen, as somebody at the table asks for them.
    pub rules: &'static str,
    /// The page with all of the rules, in `docs/rules`.
    pub document: &'static str,
    /// Where a bot author should look first: the view and the action, in one line.
    pub hint: &'static str,
    /// Whether nothing is hidden: everybody sees the board, and whose turn it is.
    pub open: bool,
    /// Whom one player plays against when nobody is named.
    pub opponents: &'static [&'static str],
    /// The bot that plays on for a person who has left.
    pub stand_in: &'static str,
    /// The built-in bots of a tournament without a line-up.
    pub line_up: &'static [&'static str],
    /// How its tournaments are played when nobody says.
    pub format: Format,
    /// How many blocks a tournament of built-in bots plays when nobody says.
    pub blocks: u32,
    /// The longest line of a bot, in bytes.
    pub line_limit: usize,
    /// The most seats at a table of people.
    pub most_people: usize,
    /// Options that suit people, as they are written.
    pub options_for_people: &'static [(&'static str, &'static str)],
    /// Bounds on options, narrower than those of the rules, that keep a table small enough for everybody to have one.
    pub bounds_for_people: &'static [Bound],
}

/// A bound on an option.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The option.
    pub option: &'static str,
    /// The smallest value.
    pub least: f64,
    /// The largest value; it also stands where the option sets no limit.
    pub most: f64,
}

impl Card {
    /// A card with what suits most games.
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
}
