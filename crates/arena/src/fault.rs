//! What can go wrong with an entry, each kind under a name of its own.

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
    /// Too much CPU time, or no answer in wall-clock time.
    Timeout,
    /// The line was not the JSON that was expected.
    Garbage,
    /// A line longer than allowed.
    Oversized,
    /// Output that nobody had asked for.
    Flood,
    /// An action that the rules do not allow.
    Illegal,
    /// The answer to some other decision.
    WrongId,
    /// Standard output was closed while the process lived on.
    Closed,
    /// The process did not end when asked to.
    IgnoredSigterm,
    /// The process left other processes behind.
    LeftChildren,
    /// The program could not be started, or did not say `ready`.
    NoStart,
    /// It had been restarted too often, and is out of the tournament.
    Out,
    /// A line before the answer that was not one, such as a debug print; forgiven once a match.
    Chatter,
    /// A language model's answer was cut off at its limit of tokens.
    Truncated,
    /// A language model answered nothing.
    Empty,
    /// A language model, or its endpoint's filter, would not answer.
    Refused,
    /// A language model's answer holds no action.
    Unparsable,
}

impl FaultKind {
    /// The name as users read it.
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

    /// Whether it was forgiven: no action was lost.
    pub fn is_warning(self) -> bool {
        self == FaultKind::Chatter
    }

    /// Whether only a language model's answer can have it.
    pub fn is_of_model(self) -> bool {
        matches!(self, FaultKind::Truncated | FaultKind::Empty | FaultKind::Refused | FaultKind::Unparsable)
    }

    /// What its author should do about it, where that is always the same.
    pub fn hint(self) -> Option<&'static str> {
        let hint = "print to standard error instead: more than one such line a match is a fault";
        (self == FaultKind::Chatter).then_some(hint)
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
    /// What kind.
    pub kind: FaultKind,
    /// What exactly: what was expected, what came.
    #[serde(deserialize_with = "clean_detail")]
    pub detail: String,
}

/// No detail is longer.
const LONGEST: usize = 500;

/// A text that may quote what a bot wrote, safe to print, and short.
fn clean(text: &str) -> String {
    text.chars().map(harmless).take(LONGEST).collect()
}

/// What others have written down is no safer than what a bot wrote.
fn clean_detail<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(clean(&Cow::<str>::deserialize(from)?))
}

/// A character as it may be shown: nothing that moves the cursor, or turns the direction of what follows.
pub fn harmless(c: char) -> char {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    match c {
        '\t' => ' ',
        _ if c.is_control() || turns => '?',
        _ => c,
    }
}

/// What of a log is shown in so many lines: its beginning and its end, since some languages say first what was wrong, others last.
pub fn shown(log: &str, most: usize) -> Vec<String> {
    let lines: Vec<&str> = log.lines().collect();
    let safe = |lines: &[&str]| -> Vec<String> { lines.iter().map(|line| clean(line)).collect() };
    let Some(more) = lines.len().checked_sub(most).filter(|&more| more > 0) else { return safe(&lines) };
    let (first, last) = (most / 3, most - most / 3 - 1);
    let gap = format!("[{} more lines]", more + 1);
    [safe(&lines[..first]), vec![gap], safe(&lines[lines.len() - last..])].concat()
}

impl Fault {
    /// A fault with its detail, which may quote what a bot wrote: it is made safe to print, and short.
    pub fn new(kind: FaultKind, detail: impl Into<String>) -> Self {
        Fault { kind, detail: clean(&detail.into()) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.detail)
    }
}

/// A misbehaviour in a match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeatFault {
    /// Whose.
    pub seat: Seat,
    /// At which step of the match, from 0.
    pub step: u32,
    /// What.
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
    /// What to do about it, where that is always the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
}

/// What an entry has written to standard error.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BotLog {
    /// The entry.
    pub name: String,
    /// The first lines and the last.
    pub lines: Vec<String>,
}

/// What went wrong in many matches, and what the entries have written to standard error.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Trouble {
    /// What went wrong, counted.
    pub faults: Vec<FaultCount>,
    /// Of each log the beginning and the end.
    pub logs: Vec<BotLog>,
}

/// Trouble while it is collected; entries go by their numbers.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    faults: BTreeMap<(usize, FaultKind), (u32, String)>,
    logs: BTreeMap<usize, Vec<String>>,
}

impl Notes {
    /// Notes a fault. `place` says where it happened; it is called only for the first fault of each kind.
    pub fn fault(&mut self, entry: usize, fault: &Fault, place: impl FnOnce() -> String) {
        let first = || (0, format!("{}: {}", place(), fault.detail));
        self.faults.entry((entry, fault.kind)).or_insert_with(first).0 += 1;
    }

    /// Notes a log. An entry that has run in several processes shows the last one that wrote something.
    pub fn log(&mut self, entry: usize, log: &str) {
        const MOST: usize = 12;
        if !log.is_empty() {
            self.logs.insert(entry, shown(log, MOST));
        }
    }

    /// All that was noted, by name.
    pub fn named(self, name: impl Fn(usize) -> String) -> Trouble {
        let faults = self.faults.into_iter();
        let faults = faults
            .map(|((entry, kind), (count, first))| {
                let hint = kind.hint();
                FaultCount { name: name(entry), kind, count, first, hint }
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
        assert_eq!(shown("a\u{1b}[31m\u{202e}b", 3), ["a?[31m?b"]);
    }
}
