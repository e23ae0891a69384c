//! Reads what a bot sends back: one line at a time.

use super::{MAX_REASON, PROTOCOL, Ready, excerpt};
use crate::{
    fault::{Fault, FaultKind},
    player::Answer,
};
use necrodome_rules::{
    game::Game,
    misread::{Object, in_json},
};
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::Value;

/// Reads the answer to `hello`; the error says what is wrong with it.
pub(crate) fn parse_ready(line: &[u8]) -> Result<Ready, String> {
    let Object(ready): Object<Ready> = serde_json::from_slice(line)
        .map_err(|error| format!("expected ready, got {} ({})", excerpt(line), misread(line, error)))?;
    if ready.protocol != PROTOCOL {
        return Err(format!("the bot speaks protocol {}, but this arena speaks {PROTOCOL}", ready.protocol));
    }
    Ok(ready)
}

/// Says what is wrong with a line: first whether it is JSON at all, since `[object Object]` begins like a list.
fn misread(line: &[u8], error: serde_json::Error) -> String {
    in_json(&serde_json::from_slice::<IgnoredAny>(line).err().unwrap_or(error))
}

/// Whether an unexpected line is something unrelated, such as a debug print, and not a failed attempt at an answer. Such an attempt
/// is JSON that contains this word, or that begins on a line of its own.
pub(crate) fn is_chatter(line: &[u8], word: &str) -> bool {
    let meant = line.trim_ascii_start().starts_with(b"{")
        && line.windows(word.len()).any(|part| part == word.as_bytes());
    let begins = matches!(line.trim_ascii(), b"{" | b"[");
    !meant && !begins
}

/// Refuses an answer with the id of another decision.
pub(crate) fn expect_id(came: u64, asked: u64) -> Result<(), Fault> {
    let wrong = || Fault::new(FaultKind::WrongId, format!("expected id {asked}, got {came}"));
    (came == asked).then_some(()).ok_or_else(wrong)
}

/// Tells wrong ids from surplus lines, over all answers of one bot.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// The last decision that was answered with the right id.
    answered: Option<u64>,
    /// Whether that answer came again in place of the next one.
    repeated: bool,
}

impl Ids {
    /// Checks an id. An answer that comes again is either a wrong id or a surplus line. It was a surplus line if the right answer follows:
    /// that is found before the next question is sent, or comes as the answer to it.
    pub fn check(&mut self, came: u64, asked: u64) -> Result<(), Fault> {
        let is_late = self.repeated && Some(came) == asked.checked_sub(1);
        self.repeated = self.answered == Some(came);
        if came == asked {
            self.answered = Some(came);
        }
        if is_late {
            let detail = format!("a line too many: the answer to {came} came when {asked} was asked");
            return Err(Fault::new(FaultKind::Flood, detail));
        }
        expect_id(came, asked)
    }
}

/// An answer to `decide`. Other mistakes are noticed only after the id was checked, so that an answer to another decision is not taken
/// for garbage.
#[derive(Deserialize)]
struct AnswerLine {
    id: u64,
    #[serde(default, deserialize_with = "even_null")]
    action: Option<Value>,
    #[serde(default)]
    reason: Option<Value>,
}

/// Reads a value that is there, even if it is null.
fn even_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Reads the answer to the decision `id`, or as much of it as the game's rules accept.
pub fn parse_act<G: Game>(
    line: &[u8],
    id: u64,
    check_id: impl FnOnce(u64) -> Result<(), Fault>,
) -> Result<Answer<G::Action>, Fault> {
    let garbage = |why: &str| {
        let detail = format!("expected {{\"id\":{id},\"action\":...}}, got {} ({why})", excerpt(line));
        Fault::new(FaultKind::Garbage, detail)
    };
    let Object(AnswerLine { id: came, action, reason }) =
        serde_json::from_slice(line).map_err(|error| garbage(&misread(line, error)))?;
    check_id(came)?;
    let action = action.ok_or_else(|| garbage("expected a key \"action\" in this object"))?;
    if action.is_null() {
        return Err(garbage("expected an object as \"action\", got null"));
    }
    let reason = match reason {
        None => None,
        Some(Value::String(reason)) => Some(reason),
        Some(_) => return Err(garbage("expected a string as \"reason\"")),
    };
    read_choice::<G>(&action, reason)
}

/// Reads a choice, or as much of it as the game's rules accept: an action in the JSON of the bot protocol, and the reason for it.
pub fn read_choice<G: Game>(action: &Value, reason: Option<String>) -> Result<Answer<G::Action>, Fault> {
    let reason = reason.map(|reason| reason.chars().take(MAX_REASON).collect());
    // Well-formed, but perhaps not an action of this game.
    let (action, malformed) = G::read_action(action).map_err(|error| {
        let came = excerpt(action.to_string().as_bytes());
        Fault::new(FaultKind::Illegal, format!("{came} is no action of this game ({})", in_json(&error)))
    })?;
    Ok(match malformed {
        None => Answer::Act(action, reason),
        Some(why) => Answer::Partly { action, reason, fault: Fault::new(FaultKind::Illegal, why) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_rules::zombie_dice::Solo;

    /// Returns the faults of answers with these ids to the decisions 1, 2, 3 and so on.
    fn kinds(came: &[u64]) -> Vec<Option<FaultKind>> {
        let mut ids = Ids::default();
        (1..).zip(came).map(|(asked, &came)| ids.check(came, asked).err().map(|fault| fault.kind)).collect()
    }

    #[test]
    fn a_wrong_id_is_no_flood() {
        const WRONG: Option<FaultKind> = Some(FaultKind::WrongId);
        // Never asked.
        assert_eq!(kinds(&[0, 0, 0]), [WRONG; 3]);
        assert_eq!(kinds(&[1, 2, 9, u64::MAX]), [None, None, WRONG, WRONG]);
        // Counts from 0, so that each id but the first was asked, and never answered.
        assert_eq!(kinds(&[0, 1, 2, 3]), [WRONG; 4]);
        // Asked and answered, but the only answer to each question.
        assert_eq!(kinds(&[1, 1, 1, 1]), [None, WRONG, WRONG, WRONG]);
        assert_eq!(kinds(&[1, 1, 3, 3, 5]), [None, WRONG, None, WRONG, None]);
    }

    #[test]
    fn a_line_too_many_is_a_flood_once_the_right_answer_follows_it() {
        let [.., repeated, late] = kinds(&[1, 2, 2, 3])[..] else { panic!() };
        assert_eq!((repeated, late), (Some(FaultKind::WrongId), Some(FaultKind::Flood)));
    }

    /// Authors of bots know JSON, not the types of the arena.
    #[test]
    fn mistakes_are_told_in_the_words_of_json() {
        let why = |line: &str| {
            let fault = parse_act::<Solo>(line.as_bytes(), 7, |came| expect_id(came, 7)).unwrap_err();
            fault.detail.rsplit_once('(').unwrap().1.trim_end_matches(')').to_owned()
        };
        for (line, says) in [
            (r#"{"id":"7","action":{"type":"go"}}"#, r#"expected a whole number, 0 or more, got "7""#),
            (r#"{"id":-7,"action":{"type":"go"}}"#, "expected a whole number, 0 or more, got -7"),
            (r#"{"id":7.5,"action":{"type":"go"}}"#, "expected a whole number, 0 or more, got 7.5"),
            (r#"{"action":{"type":"go"}}"#, r#"expected a key "id" in this object"#),
            (r#"{"id":7}"#, r#"expected a key "action" in this object"#),
            (r#"{"id":7,"action":"go"}"#, r#"expected an object, got "go""#),
            (r#"{"id":7,"action":{"kind":"go"}}"#, r#"expected a key "type" in this object"#),
            (r#"{"id":7,"action":{"type":"halt"}}"#, r#"expected one of "go", "stop", got "halt""#),
            (r#"{"id":7,"action":{"type":5}}"#, "expected a string, got 5"),
            ("thinking", "this is not JSON"),
            ("[object Object]", "this is not JSON"),
            ("{'id': 7}", "keys stand in double quotes"),
            (r#"{"id":7,"action":[]}"#, "expected an object, got a list"),
            (r#"{"id":7,"action":["go"]}"#, "expected an object, got a list"),
            (r#"[7,{"type":"go"}]"#, "expected an object, got a list"),
            (r#"{"id":7,"action":null}"#, r#"expected an object as "action", got null"#),
        ] {
            assert_eq!(why(line), says, "{line}");
        }
    }

    #[test]
    fn ready_is_an_object() {
        assert!(parse_ready(br#"{"type":"ready","protocol":1}"#).is_ok());
        for (line, says) in [
            (r#"["ready",1]"#, "expected an object, got a list"),
            (r#"{"type":"ready","protocol":"1"}"#, "expected a whole number, 0 or more, got \"1\""),
        ] {
            let why = parse_ready(line.as_bytes()).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
    }

    #[test]
    fn an_id_is_looked_at_before_the_rest() {
        let kind = |line: &str| {
            parse_act::<Solo>(line.as_bytes(), 7, |came| expect_id(came, 7)).err().map(|fault| fault.kind)
        };
        let go = r#""action":{"type":"go"}"#;
        assert_eq!(kind(&format!(r#"{{"id":7,{go}}}"#)), None);
        assert_eq!(kind(&format!(r#"{{"id":7,{go},"reason":null,"more":[1]}}"#)), None);
        assert_eq!(kind(r#"{"id":6,"action":5}"#), Some(FaultKind::WrongId));
        assert_eq!(kind(r#"{"id":6}"#), Some(FaultKind::WrongId));
        assert_eq!(kind(r#"{"id":7}"#), Some(FaultKind::Garbage));
        assert_eq!(kind(&format!(r#"{{"id":7,{go},"reason":5}}"#)), Some(FaultKind::Garbage));
        assert_eq!(kind(&format!(r#"{{"id":"7",{go}}}"#)), Some(FaultKind::Garbage));
        assert_eq!(kind(r#"{"id":7,"action":{"type":"dance"}}"#), Some(FaultKind::Illegal));
    }
}
