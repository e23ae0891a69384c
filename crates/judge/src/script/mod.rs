//! The judge's script: the record of a game, one command a line.
//!
//! Commands and names are case-insensitive, `#` begins a comment, names with spaces stand in double quotes. A line that
//! makes no sense is a [`Mistake`]; the others are not affected.

mod parse;
mod print;

pub use parse::{Parsed, parse, parse_bytes, read};

use necrodome_rules::infection::{Commitment, InfectionRules, SurplusVirus};
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
        let surplus = match rules.surplus_virus {
            SurplusVirus::Carry => "carry",
            SurplusVirus::Lost => "lost",
        };
        let settings = [
            ("zombies", rules.zombies.get().to_string()),
            ("max_turns", rules.max_turns.get().to_string()),
            ("start_antibodies", rules.start_antibodies.get().to_string()),
            ("start_viruses", rules.start_viruses.get().to_string()),
            ("surplus_virus", surplus.to_owned()),
        ];
        let settings = settings
            .into_iter()
            .map(|(option, value)| Command::Set { option: Word::new(option), value: Word::new(value) });
        let join = |(name, &zombie): (&String, &bool)| match zombie {
            true => Command::Zombie(Word::new(name)),
            false => Command::Human(Word::new(name)),
        };
        let mut script = Script { lines: vec![Line::new(1, None, Some(comment))] };
        for command in settings.chain(names.iter().zip(zombies).map(join)).chain([Command::Start]) {
            script.lines.push(Line::new(script.next_number(), Some(command), None));
        }
        script
    }

    /// The number of the line that comes next.
    pub fn next_number(&self) -> usize {
        self.lines.len() + 1
    }
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
    /// The game starts.
    Start,
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
    let likeness = |candidate: &str| strsim::jaro_winkler(&word.to_lowercase(), &candidate.to_lowercase());
    let near = words.into_iter().map(|candidate| (likeness(candidate), candidate));
    near.filter(|(likeness, _)| *likeness > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, word)| word)
}
