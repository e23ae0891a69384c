//! The judge's script: the record of a game, one command a line.
//!
//! Commands and names are case-insensitive, `#` begins a comment, names with spaces stand in double quotes. A line that
//! makes no sense is a [`Mistake`]; the others are not affected.

mod parse;
mod print;

pub use parse::{Dialect, Parsed, parse, parse_bytes, read};

use necrodome_rules::infection::{Commitment, InfectionRules, Ruleset, SurplusVirus};
use serde::Serialize;
use std::ops::Range;

/// All lines of a script that make sense, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// The lines.
    pub lines: Vec<Line>,
}

impl Script {
    /// The lines that begin a game: a comment, the rules, who plays, the start.
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

    /// The number of the line that comes next.
    pub fn next_number(&self) -> usize {
        self.lines.len() + 1
    }
}

/// The options that matter under these rules, with their values as they are written.
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

/// The commands that set these rules.
pub(crate) fn set(rules: &InfectionRules) -> impl Iterator<Item = Command> {
    let set = |(option, value)| Command::Set { option: Word::new(option), value: Word::new(value) };
    settings(rules).into_iter().map(set)
}

/// One line.
#[derive(Debug, Clone)]
pub struct Line {
    /// The number of the line in its file, from 1.
    pub number: usize,
    /// Where the command stands in the text, in bytes, without comment and surrounding space.
    pub span: Range<usize>,
    /// What is to be done; nothing in a blank line.
    pub command: Option<Command>,
    /// What follows `#`.
    pub comment: Option<String>,
    /// Where the line begins in the text, and how it is written: for columns.
    pub(crate) start: usize,
    pub(crate) text: String,
}

impl Line {
    /// The column of a place in the text that is in this line, in characters from 1.
    pub(crate) fn column(&self, place: usize) -> usize {
        let before = self.text.get(..place.saturating_sub(self.start));
        1 + before.map_or(0, |before| before.chars().count())
    }

    /// A line that stands in no text.
    pub fn new(number: usize, command: Option<Command>, comment: Option<String>) -> Self {
        Line { number, span: 0..0, command, comment, start: 0, text: String::new() }
    }
}

/// Where a line stands does not make it another line.
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
        /// Which.
        option: Word,
        /// To what.
        value: Word,
    },
    /// A player joins as a human.
    Human(Word),
    /// A player joins as a zombie.
    Zombie(Word),
    /// The game starts. Older scripts give counts with it: the turns, or the two limits of the classic rules.
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

/// A word of the script and where it stands.
#[derive(Debug, Clone)]
pub struct Word {
    /// The word, without quotes.
    pub text: String,
    /// Its place in the text, in bytes.
    pub span: Range<usize>,
}

impl Word {
    /// A word that stands in no text.
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
    /// Who.
    pub name: Word,
    /// What it commits.
    pub commit: Commitment,
}

/// Something wrong with a line. The line is left out.
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
    /// How to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// What it has in common with others, if it can have something.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) shared: Option<Box<Shared>>,
}

impl Mistake {
    /// Later lines that are left out for the same cause.
    pub fn also(&self) -> &[usize] {
        self.shared.as_ref().map_or(&[], |shared| &shared.also)
    }

    /// All lines that are left out.
    pub fn lines(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::once(self.line).chain(self.also().iter().copied())
    }

    /// The same mistake, which comes of this, as others may.
    pub(crate) fn of(mut self, cause: Cause) -> Self {
        self.shared.get_or_insert_default().of = Some(cause);
        self
    }

    /// The same mistake, and others will come of it.
    pub(crate) fn makes(mut self, cause: Cause) -> Self {
        self.shared.get_or_insert_default().makes = Some(cause);
        self
    }
}

/// What mistakes have in common.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Shared {
    /// What the mistake comes of.
    #[serde(skip)]
    pub of: Option<Cause>,
    /// What comes of the mistake.
    #[serde(skip)]
    pub makes: Option<Cause>,
    /// Later lines that are left out for the same cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<usize>,
}

/// What more than one mistake may come of. Names are in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// The game has not started.
    NotStarted,
    /// The game has started.
    Started,
    /// The game is over.
    Over,
    /// There are as many players as there can be.
    Full,
    /// This player could not join.
    Refused(String),
    /// Nobody, or more than one player, is called so.
    Unknown(String),
}

/// The commands as they are written, the first form of each is the one that is printed.
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

/// All commands, in their long form: for those who complete what is typed.
pub fn commands() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().map(|(_, forms)| forms[0])
}

/// The nearest of some words, if one is near.
pub(crate) fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let likeness = |candidate: &str| strsim::jaro_winkler(&word, &candidate.to_lowercase());
    let near = words.into_iter().map(|candidate| (likeness(candidate), candidate));
    near.filter(|(likeness, _)| *likeness > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, word)| word)
}
