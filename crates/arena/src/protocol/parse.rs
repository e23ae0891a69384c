//! Reads what comes back from a bot: one line, once.

use super::{MAX_REASON, PROTOCOL, Ready, excerpt};
use crate::{
    fault::{Fault, FaultKind},
    player::Answer,
};
use necrodome_rules::game::Game;
use serde::Deserialize;
use serde_json::Value;

/// Reads the answer to `hello`; says what is wrong with it.
pub(super) fn parse_ready(line: &[u8]) -> Result<Ready, String> {
    let ready: Ready = serde_json::from_slice(line)
        .map_err(|error| format!("expected ready, got {} ({error})", excerpt(line)))?;
    if ready.protocol != PROTOCOL {
        return Err(format!("speaks protocol {}, and this arena {PROTOCOL}", ready.protocol));
    }
    Ok(ready)
}

/// Whether a line that is not what was expected is a print of another kind, such as a debug print, rather than a bad try: JSON
/// with this word in it.
pub(crate) fn is_chatter(line: &[u8], word: &str) -> bool {
    let meant = line.trim_ascii_start().starts_with(b"{")
        && line.windows(word.len()).any(|part| part == word.as_bytes());
    !meant
}

/// Refuses an answer to another decision than the one that was asked.
pub(crate) fn expect_id(came: u64, asked: u64) -> Result<(), Fault> {
    let wrong = || Fault::new(FaultKind::WrongId, format!("expected id {asked}, got {came}"));
    (came == asked).then_some(()).ok_or_else(wrong)
}

/// Tells wrong ids from surplus lines, over the answers of one bot.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// The last decision that was answered with its own id.
    answered: Option<u64>,
    /// Whether that answer has come again in place of the next one.
    repeated: bool,
}

impl Ids {
    /// An answer that comes again is a wrong id or a line too many. It was one too many if the right answer follows: it
    /// is found before the next question is sent, or comes as the answer to it.
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

/// An answer to `decide`. What is missing or wrong beside the id is noticed after the id, so that the answer to another decision
/// is told from garbage.
#[derive(Deserialize)]
struct AnswerLine {
    id: u64,
    #[serde(default)]
    action: Option<Value>,
    #[serde(default)]
    reason: Option<Value>,
}

/// Reads the answer to the decision `id`, or as much of it as the game's rules let stand.
pub fn parse_act<G: Game>(
    line: &[u8],
    id: u64,
    check_id: impl FnOnce(u64) -> Result<(), Fault>,
) -> Result<Answer<G::Action>, Fault> {
    let garbage = |why: &dyn std::fmt::Display| {
        let detail = format!("expected {{\"id\":{id},\"action\":...}}, got {} ({why})", excerpt(line));
        Fault::new(FaultKind::Garbage, detail)
    };
    let AnswerLine { id: came, action, reason } =
        serde_json::from_slice(line).map_err(|error| garbage(&error))?;
    check_id(came)?;
    let action = action.ok_or_else(|| garbage(&"missing field `action`"))?;
    let reason = match reason {
        None => None,
        Some(Value::String(reason)) => Some(reason),
        Some(_) => return Err(garbage(&"expected a string as `reason`")),
    };
    read_choice::<G>(&action, reason)
}

/// Reads a choice, or as much of it as the game's rules let stand: an action in the JSON of the bot protocol, and the reason for it.
pub fn read_choice<G: Game>(action: &Value, reason: Option<String>) -> Result<Answer<G::Action>, Fault> {
    let reason = reason.map(|reason| reason.chars().take(MAX_REASON).collect());
    // Well-formed, but perhaps not an action of this game.
    let (action, malformed) = G::read_action(action).map_err(|error| {
        let came = excerpt(action.to_string().as_bytes());
        Fault::new(FaultKind::Illegal, format!("{came} is no action of this game ({error})"))
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

    /// What comes of answers with these ids to the decisions 1, 2, 3 and so on.
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
