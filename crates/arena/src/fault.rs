//! Faults of entries, each kind with its own name.

use crate::stderr::lines;
use necrodome_rules::game::Seat;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::{borrow::Cow, collections::BTreeMap, fmt};

/// The kinds of misbehaviour, as `docs/protocol.md` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The process ended by a signal or with an exit code other than 0.
    Crash,
    /// The process ended with exit code 0 in the middle of a match.
    Exit,
    /// Too much CPU time, or no answer within the wall-clock limit.
    Timeout,
    /// The line was not the JSON that was expected.
    Garbage,
    /// A line longer than allowed.
    Oversized,
    /// Output that the arena had not asked for.
    Flood,
    /// An action that the rules do not allow.
    Illegal,
    /// The answer to a different decision.
    WrongId,
    /// Standard output was closed while the process lived on.
    Closed,
    /// The process did not end when asked to.
    IgnoredSigterm,
    /// The process left other processes running.
    LeftChildren,
    /// The program could not be started, or did not say `ready`.
    NoStart,
    /// The bot was restarted too often, and is out of the tournament.
    Out,
    /// A line before the answer that is not an answer, such as a debug print; forgiven once per match.
    Chatter,
    /// A language model's answer was cut off at its limit of tokens.
    Truncated,
    /// A language model answered nothing.
    Empty,
    /// A language model, or its endpoint's filter, would not answer.
    Refused,
    /// A language model's answer contains no action.
    Unparsable,
}

impl FaultKind {
    /// Returns the name that users see.
    pub fn as_str(self) -> &'static str {
        match self {
            FaultKind::Crash => "crash",
            FaultKind::Exit => "exit",
            FaultKind::Timeout => "timeout",
            FaultKind::Garbage => "garbage",
            FaultKind::Oversized => "oversized",
            FaultKind::Flood => "flood",
            FaultKind::Illegal => "illegal",
            FaultKind::WrongId => "wrong_id",
            FaultKind::Closed => "closed",
            FaultKind::IgnoredSigterm => "ignored_sigterm",
            FaultKind::LeftChildren => "left_children",
            FaultKind::NoStart => "no_start",
            FaultKind::Out => "out",
            FaultKind::Chatter => "chatter",
            FaultKind::Truncated => "truncated",
            FaultKind::Empty => "empty",
            FaultKind::Refused => "refused",
            FaultKind::Unparsable => "unparsable",
        }
    }

    /// Returns counts in words, such as `2 illegal, 1 refused`.
    pub fn words(counts: &BTreeMap<FaultKind, u64>) -> String {
        counts.iter().map(|(kind, times)| format!("{times} {kind}")).collect::<Vec<_>>().join(", ")
    }

    /// Whether the arena forgives it: no action was lost.
    pub fn is_warning(self) -> bool {
        self == FaultKind::Chatter
    }

    /// Whether only a language model can have this fault.
    pub fn is_of_model(self) -> bool {
        matches!(self, FaultKind::Truncated | FaultKind::Empty | FaultKind::Refused | FaultKind::Unparsable)
    }

    /// Whether the process can play on after it.
    pub fn is_survivable(self) -> bool {
        matches!(self, FaultKind::Illegal | FaultKind::WrongId | FaultKind::Chatter)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One misbehaviour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// The kind.
    pub kind: FaultKind,
    /// The details: what was expected, and what came.
    #[serde(deserialize_with = "clean_detail")]
    pub detail: String,
    /// What the bot's author should do about it, if the arena can tell.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "clean_hint")]
    pub hint: Option<String>,
}

/// The longest detail, in characters.
const LONGEST: usize = 500;

/// Makes a text that may quote a bot safe to print, and short.
fn clean(text: &str) -> String {
    text.chars().map(harmless).take(LONGEST).collect()
}

/// Reads a detail. Text from a file is no safer than text from a bot.
fn clean_detail<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(clean(&Cow::<str>::deserialize(from)?))
}

fn clean_hint<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<Cow<str>>::deserialize(from)?.as_deref().map(clean))
}

/// Returns a character that is safe to show: one that does not move the cursor or change the direction of the text after it.
pub fn harmless(c: char) -> char {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    match c {
        '\t' => ' ',
        _ if c.is_control() || turns => '?',
        _ => c,
    }
}

/// Returns at most `most` lines of a log, from its beginning and its end: some languages say first what was wrong, others last.
pub fn shown(log: &str, most: usize) -> Vec<String> {
    let lines = without_repeats(&lines(log).collect::<Vec<_>>());
    let safe = |lines: &[Cow<str>]| -> Vec<String> { lines.iter().map(|line| clean(line)).collect() };
    let Some(more) = lines.len().checked_sub(most).filter(|&more| more > 0) else { return safe(&lines) };
    let (first, last) = (most / 3, most - most / 3 - 1);
    let gap = format!("[{} more lines]", more + 1);
    [safe(&lines[..first]), vec![gap], safe(&lines[lines.len() - last..])].concat()
}

/// Replaces lines that are written again at once, such as the traceback of each start, by their count.
fn without_repeats<'a>(lines: &[&'a str]) -> Vec<Cow<'a, str>> {
    const LONGEST: usize = 60;
    let mut told = Vec::new();
    let mut rest = lines;
    while !rest.is_empty() {
        let repeats =
            |period: usize| rest[period..].chunks(period).take_while(|next| *next == &rest[..period]).count();
        let longest = LONGEST.min(rest.len() / 2);
        let found = (1..=longest).map(|period| (period, repeats(period))).find(|&(_, again)| again > 0);
        let (period, again) = found.unwrap_or((1, 0));
        told.extend(rest[..period].iter().map(|&line| Cow::Borrowed(line)));
        match again {
            0 => {}
            1 => told.push(Cow::Borrowed("[the same once more]")),
            again => told.push(Cow::Owned(format!("[the same {again} more times]"))),
        }
        rest = &rest[period * (again + 1)..];
    }
    told
}

impl Fault {
    /// Returns a fault. Its detail, which may quote what a bot wrote, is made safe to print, and short.
    pub fn new(kind: FaultKind, detail: impl Into<String>) -> Self {
        Fault { kind, detail: clean(&detail.into()), hint: None }
    }

    /// Returns the same fault with a hint, unless it has one already.
    pub fn hinted(mut self, hint: Option<String>) -> Self {
        self.hint = self.hint.or(hint.as_deref().map(clean));
        self
    }

    /// Returns this fault of a first line if no second line came in time: that the first was not an answer says more than that none followed.
    pub(crate) fn then(self, next: Fault) -> Self {
        match (next.kind, self.kind) {
            (FaultKind::Timeout, _) | (_, FaultKind::NoStart) => {
                let detail = format!("{}; then {}", self.detail, next.detail);
                Fault::new(self.kind, detail).hinted(self.hint)
            }
            _ => next,
        }
    }

    /// Returns the detail and the hint.
    pub fn words(&self) -> String {
        hinted(&self.detail, self.hint.as_deref())
    }
}

/// Returns a text with its hint.
pub fn hinted(text: &str, hint: Option<&str>) -> String {
    hint.map_or_else(|| text.to_owned(), |hint| format!("{text} (hint: {hint})"))
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.detail)
    }
}

/// A fault in a match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeatFault {
    /// The seat of the entry.
    pub seat: Seat,
    /// The step of the match, counted from 0.
    pub step: u32,
    /// The fault.
    #[serde(flatten)]
    pub fault: Fault,
}

/// How often an entry misbehaved in one way.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FaultCount {
    /// The entry.
    pub name: String,
    /// How it misbehaved.
    pub kind: FaultKind,
    /// How often.
    pub count: u32,
    /// The first time, in words.
    pub first: String,
    /// What to do about it, if the arena can tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What an entry has written to standard error.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BotLog {
    /// The entry.
    pub name: String,
    /// The first and the last lines.
    pub lines: Vec<String>,
}

/// What went wrong in many matches, and what the entries have written to standard error.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Trouble {
    /// What went wrong, counted.
    pub faults: Vec<FaultCount>,
    /// The beginning and the end of each log.
    pub logs: Vec<BotLog>,
}

/// Collects trouble during matches; entries go by their numbers.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    faults: BTreeMap<(usize, FaultKind), Noted>,
    logs: BTreeMap<usize, Vec<String>>,
}

/// Faults of one kind.
#[derive(Debug, Clone)]
struct Noted {
    count: u32,
    first: String,
    hint: Option<String>,
}

impl Notes {
    /// Notes a fault. `place` says where it happened; it is called only for the first fault of each kind.
    pub fn fault(&mut self, entry: usize, fault: &Fault, place: impl FnOnce() -> String) {
        let first =
            || Noted { count: 0, first: format!("{}: {}", place(), fault.detail), hint: fault.hint.clone() };
        self.faults.entry((entry, fault.kind)).or_insert_with(first).count += 1;
    }

    /// Notes a log. For an entry that ran in several processes, the last log with any text counts.
    pub fn log(&mut self, entry: usize, log: &str) {
        const MOST: usize = 12;
        if !log.is_empty() {
            self.logs.insert(entry, shown(log, MOST));
        }
    }

    /// Returns everything that was noted, with the names of the entries.
    pub fn named(self, name: impl Fn(usize) -> String) -> Trouble {
        let faults = self.faults.into_iter();
        let faults = faults
            .map(|((entry, kind), Noted { count, first, hint })| FaultCount {
                name: name(entry),
                kind,
                count,
                first,
                hint,
            })
            .collect();
        let logs = self.logs.into_iter().map(|(entry, lines)| BotLog { name: name(entry), lines }).collect();
        Trouble { faults, logs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_log_the_beginning_and_the_end_are_shown() {
        let log = |lines: u32| (1..=lines).map(|line| format!("line\t{line}\n")).collect::<String>();
        assert_eq!(shown(&log(3), 3), ["line 1", "line 2", "line 3"]);
        assert_eq!(shown(&log(9), 6), ["line 1", "line 2", "[4 more lines]", "line 7", "line 8", "line 9"]);
        let crashes = "Traceback\n  in line 5\nKeyError: 'brains'\n".repeat(4) + "bye\n";
        let once = ["Traceback", "  in line 5", "KeyError: 'brains'", "[the same 3 more times]", "bye"];
        assert_eq!(shown(&crashes, 9), once);
        assert_eq!(shown("a\u{1b}[31m\u{202e}b", 3), ["a?[31m?b"]);
    }
}
