//! The judge's script: the record of a game, one command per line.
//!
//! Commands and names are case-insensitive, `#` begins a comment, names with spaces stand in double quotes. A line that
//! makes no sense is a [`Mistake`]; the other lines are not affected.

mod parse;
mod print;

pub use parse::{Dialect, Parsed, parse, parse_bytes, read};

use necrodome_rules::infection::{Commitment, InfectionRules, Ruleset, SurplusVirus};
use serde::Serialize;
use std::ops::Range;

/// The lines of a script that make sense, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// The lines.
    pub lines: Vec<Line>,
}

impl Script {
    /// Writes the lines that begin a game: a comment, the rules, the players, the start.
    pub fn opening(comment: String, rules: &InfectionRules, names: &[String], zombies: &[bool]) -> Self {
        let join = |(name, &zombie): (&String, &bool)| match zombie {
            true => Command::Zombie(Word::new(name)),
            false => Command::Human(Word::new(name)),
        };
        let mut script = Script { lines: vec![Line::new(1, None, Some(comment))] };
        let start = Command::Start(Vec::new());
        for command in set(rules).chain(names.iter().zip(zombies).map(join)).chain([start]) {
            script.lines.push(Line::new(script.next_number(), Some(command), None));
        }
        script
    }

    /// The number of the next line.
    pub fn next_number(&self) -> usize {
        self.lines.len() + 1
    }
}

/// The options that matter under these rules, with their values as written.
pub(crate) fn settings(rules: &InfectionRules) -> Vec<(&'static str, String)> {
    let [zombies, max_turns] = [rules.zombies.get(), rules.max_turns.get()].map(|number| number.to_string());
    let both = [("zombies", zombies), ("max_turns", max_turns)];
    let surplus = match rules.surplus_virus {
        SurplusVirus::Carry => "carry",
        SurplusVirus::Lost => "lost",
    };
    match rules.rules {
        Ruleset::Standard => [
            &both[..],
            &[
                ("start_antibodies", rules.start_antibodies.get().to_string()),
                ("start_viruses", rules.start_viruses.get().to_string()),
                ("surplus_virus", surplus.to_owned()),
            ],
        ]
        .concat(),
        Ruleset::Classic => {
            let limit = rules.interaction_limit.map_or("none".to_owned(), |limit| limit.get().to_string());
            let cure = rules.antidote_limit.get().to_string();
            let limits = [("interaction_limit", limit), ("antidote_limit", cure)];
            [&[("rules", "classic".to_owned())][..], &both, &limits].concat()
        }
    }
}

/// Makes the commands that set these rules.
pub(crate) fn set(rules: &InfectionRules) -> impl Iterator<Item = Command> {
    let set = |(option, value)| Command::Set { option: Word::new(option), value: Word::new(value) };
    settings(rules).into_iter().map(set)
}

/// One line.
#[derive(Debug, Clone)]
pub struct Line {
    /// The number of the line in its file, from 1.
    pub number: usize,
    /// The place of the command in the text, in bytes, without the comment and surrounding spaces.
    pub span: Range<usize>,
    /// The command; none in a blank line.
    pub command: Option<Command>,
    /// The text after `#`.
    pub comment: Option<String>,
    /// The place of the line's first byte in the text, and its characters: for columns.
    pub(crate) start: usize,
    pub(crate) text: String,
}

impl Line {
    /// The column of a place in this line, in characters from 1.
    pub(crate) fn column(&self, place: usize) -> usize {
        let before = self.text.get(..place.saturating_sub(self.start));
        1 + before.map_or(0, |before| before.chars().count())
    }

    /// Makes a line that is not from a text.
    pub fn new(number: usize, command: Option<Command>, comment: Option<String>) -> Self {
        Line { number, span: 0..0, command, comment, start: 0, text: String::new() }
    }
}

/// Compares lines without their places in the text.
impl PartialEq for Line {
    fn eq(&self, other: &Self) -> bool {
        self.command == other.command && self.comment == other.comment
    }
}

impl Eq for Line {}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Sets an option of the rules, before the game starts.
    Set {
        /// The option.
        option: Word,
        /// The value.
        value: Word,
    },
    /// A player joins as a human.
    Human(Word),
    /// A player joins as a zombie.
    Zombie(Word),
    /// The game starts. Older scripts add counts: the turns, or the two limits of the classic rules.
    Start(Vec<Word>),
    /// Two players meet.
    Interact(Side, Side),
    /// A player takes the antidote.
    Antidote(Word),
    /// A player ends their turn.
    End(Word),
    /// The turn ends for everybody.
    NextTurn,
}

/// A word of the script, with its place.
#[derive(Debug, Clone)]
pub struct Word {
    /// The word, without quotes.
    pub text: String,
    /// Its place in the text, in bytes.
    pub span: Range<usize>,
}

impl Word {
    /// Makes a word that is not from a text.
    pub fn new(text: impl Into<String>) -> Self {
        Word { text: text.into(), span: 0..0 }
    }
}

impl PartialEq for Word {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Word {}

/// One side of a contact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// The player's name.
    pub name: Word,
    /// What they commit.
    pub commit: Commitment,
}

/// A mistake in a line. The line is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters from 1.
    pub column: usize,
    /// The place in the text, in bytes.
    #[serde(skip)]
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What was expected there.
    pub expected: String,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Its connection to other mistakes, if it can have one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) shared: Option<Box<Shared>>,
}

impl Mistake {
    /// Later lines that are left out for the same reason.
    pub fn also(&self) -> &[usize] {
        self.shared.as_ref().map_or(&[], |shared| &shared.also)
    }

    /// All lines that are left out.
    pub fn lines(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::once(self.line).chain(self.also().iter().copied())
    }

    /// Marks the mistake as an effect of `cause`, which others may share.
    pub(crate) fn of(mut self, cause: Cause) -> Self {
        self.shared.get_or_insert_default().of = Some(cause);
        self
    }

    /// Marks the mistake as the reason for others with this cause.
    pub(crate) fn makes(mut self, cause: Cause) -> Self {
        self.shared.get_or_insert_default().makes = Some(cause);
        self
    }
}

/// The connection between mistakes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Shared {
    /// The cause of the mistake.
    #[serde(skip)]
    pub of: Option<Cause>,
    /// The cause that the mistake is for others.
    #[serde(skip)]
    pub makes: Option<Cause>,
    /// Later lines that are left out for the same reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<usize>,
}

/// A cause that several mistakes may share. Names are in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// The game has not started.
    NotStarted,
    /// The game has started.
    Started,
    /// The game is over.
    Over,
    /// The game has the most players that it can have.
    Full,
    /// This player could not join.
    Refused(String),
    /// No player, or more than one, has this name.
    Unknown(String),
}

/// The commands as they are written. The first form of each is the one that is printed.
pub(crate) const KEYWORDS: [(Keyword, &[&str]); 8] = [
    (Keyword::Set, &["SET"]),
    (Keyword::Human, &["HUMAN", "h"]),
    (Keyword::Zombie, &["ZOMBIE", "z"]),
    (Keyword::Start, &["GAME_START", "START"]),
    (Keyword::Interact, &["INTERACT", "TOUCH", "i", "t"]),
    (Keyword::Antidote, &["ANTIDOTE", "a"]),
    (Keyword::End, &["END", "e"]),
    (Keyword::NextTurn, &["NEXT_TURN", "NEXT_ROUND", "nt", "nr"]),
];

/// The first word of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyword {
    Set,
    Human,
    Zombie,
    Start,
    Interact,
    Antidote,
    End,
    NextTurn,
}

/// All commands in their long form, for completion.
pub fn commands() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().map(|(_, forms)| forms[0])
}

/// Returns the nearest of some words, or `None` if none is near.
pub(crate) fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let likeness = |candidate: &str| strsim::jaro_winkler(&word, &candidate.to_lowercase());
    let near = words.into_iter().map(|candidate| (likeness(candidate), candidate));
    near.filter(|(likeness, _)| *likeness > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, word)| word)
}
