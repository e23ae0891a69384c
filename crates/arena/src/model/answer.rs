//! Reads a model's answer: JSON, tool arguments, or a last line. It tolerates other text around the answer.

use super::Disguise;
use crate::{
    fault::{Fault, FaultKind},
    player::{Answer, is_legal},
    protocol::{excerpt, read_choice},
};
use necrodome_models::{Finish, Reply};
use necrodome_rules::game::Game;
use serde_json::Value;

/// The word that begins the last line of an answer in plain text.
const TAG: &str = "ANSWER:";

/// The longest answer that is searched for a choice, in bytes: a search in megabytes of braces takes seconds.
const LONGEST: usize = 256 << 10;

/// An answer with a fault.
pub(super) struct Unusable<A> {
    /// The fault.
    pub fault: Fault,
    /// The part of the answer that counts if the model is not asked again.
    pub stands: Answer<A>,
}

/// Reads an answer to this view. `Ok` is a choice that the rules allow, as far as the view shows.
pub(super) fn read<G: Game>(
    reply: &Reply,
    view: &G::View,
    disguise: Option<&Disguise>,
) -> Result<Answer<G::Action>, Box<Unusable<G::Action>>> {
    let unusable = |fault: Fault| Box::new(Unusable { fault: fault.clone(), stands: Answer::Fault(fault) });
    let (reason, action) = parts(reply).map_err(unusable)?;
    let undo = |text: String| disguise.map_or(text.clone(), |disguise| disguise.undo(&text));
    let action = disguise.map_or(action.clone(), |disguise| disguise.undo_json(&action));
    let answer = read_choice::<G>(&action, reason.map(undo)).map_err(unusable)?;
    match answer {
        Answer::Partly { ref fault, .. } => Err(Box::new(Unusable { fault: fault.clone(), stands: answer })),
        Answer::Act(ref chosen, _) if !is_legal::<G>(view, chosen) => {
            let why = format!("{} is not legal now", excerpt(action.to_string().as_bytes()));
            // The referee says what comes of it.
            Err(Box::new(Unusable { fault: Fault::new(FaultKind::Illegal, why), stands: answer }))
        }
        other => Ok(other),
    }
}

/// Returns the reason and the action of an answer, or why there are none.
fn parts(reply: &Reply) -> Result<(Option<String>, Value), Fault> {
    if let Some(refusal) = &reply.refusal {
        return Err(Fault::new(FaultKind::Refused, refusal.clone()));
    }
    let text = without_thoughts(&reply.text).trim();
    if text.len() > LONGEST {
        let why = format!("expected at most {} KB, got {} KB", LONGEST >> 10, text.len().div_ceil(1 << 10));
        return Err(Fault::new(FaultKind::Unparsable, why));
    }
    if let Some(found) = found(text) {
        return Ok(found);
    }
    Err(match reply.finish {
        Finish::Filter => Fault::new(FaultKind::Refused, "the endpoint's filter stopped the answer"),
        Finish::Length => Fault::new(FaultKind::Truncated, "the answer came to its limit of tokens"),
        _ if text.is_empty() => Fault::new(FaultKind::Empty, "the answer is empty"),
        _ => {
            let expected = r#"expected {"reason": ..., "action": ...}"#;
            Fault::new(FaultKind::Unparsable, format!("{expected}, got {}", excerpt(text.as_bytes())))
        }
    })
}

/// Returns the text after the thoughts that some models write into their answers.
fn without_thoughts(text: &str) -> &str {
    text.rsplit_once("</think>").map_or(text, |(_, answer)| answer)
}

/// Returns the choice in a text: the one after the last `ANSWER:`, or else the last JSON object that is a choice.
fn found(text: &str) -> Option<(Option<String>, Value)> {
    if let Some((before, line)) = text.rsplit_once(TAG)
        && let Some((reason, action)) = last_object(line).and_then(choice)
    {
        let said = Some(before.trim()).filter(|before| !before.is_empty()).map(str::to_owned);
        return Some((reason.or(said), action));
    }
    last_object(text).and_then(choice)
}

/// Returns the last JSON object in a text that is not inside another, whatever surrounds it: words, or a code fence.
fn last_object(text: &str) -> Option<Value> {
    let (mut last, mut at) = (None, 0);
    while let Some(start) = text[at..].find('{') {
        at += start;
        let mut objects = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        match objects.next() {
            Some(Ok(object)) => {
                at += objects.byte_offset();
                last = Some(object);
            }
            _ => at += 1,
        }
    }
    last
}

/// Reads an object as a choice: `{"reason": ..., "action": ...}`, or an action by itself.
fn choice(mut object: Value) -> Option<(Option<String>, Value)> {
    let fields = object.as_object_mut()?;
    let reason = fields.get("reason").and_then(Value::as_str).map(str::to_owned);
    match fields.remove("action") {
        // Some write the action as text.
        Some(Value::String(text)) => {
            Some((reason, serde_json::from_str(&text).unwrap_or(Value::String(text))))
        }
        Some(action) => Some((reason, action)),
        None => reason.is_none().then_some((None, object)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_models::Tokens;
    use serde_json::json;
    use std::time::Duration;

    fn reply(text: &str, finish: Finish, refusal: Option<&str>) -> Reply {
        Reply {
            text: text.to_owned(),
            reasoning: None,
            finish,
            refusal: refusal.map(str::to_owned),
            model: String::new(),
            tokens: Tokens::default(),
            cost: None,
            latency: Duration::ZERO,
            attempt: 1,
            reused: false,
        }
    }

    #[test]
    fn a_choice_is_found_in_whatever_stands_around_it() {
        let go = json!({"type": "go"});
        for (text, reason) in [
            (r#"{"reason": "why not", "action": {"type": "go"}}"#, Some("why not")),
            ("```json\n{\"reason\": \"why not\", \"action\": {\"type\": \"go\"}}\n```", Some("why not")),
            (r#"{"action": {"type": "go"}}"#, None),
            (r#"{"action": "{\"type\": \"go\"}"}"#, None),
            (r#"{"type": "go"}"#, None),
            ("why not\nANSWER: {\"action\": {\"type\": \"go\"}}", Some("why not")),
            (
                "ANSWER: {\"type\": \"stop\"}? No.\nANSWER: `{\"type\": \"go\"}`.",
                Some("ANSWER: {\"type\": \"stop\"}? No."),
            ),
            ("<think>{\"type\": \"stop\"}</think>{\"type\": \"go\"}", None),
            ("I may {stop} or go: {\"type\": \"go\"}", None),
        ] {
            let (why, action) = parts(&reply(text, Finish::Stop, None)).unwrap();
            assert_eq!((why.as_deref(), &action), (reason, &go), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_used_has_a_name() {
        let kind = |text: &str, finish, refusal| parts(&reply(text, finish, refusal)).unwrap_err().kind;
        assert_eq!(kind("", Finish::Stop, None), FaultKind::Empty);
        assert_eq!(kind(" \n", Finish::Other, None), FaultKind::Empty);
        assert_eq!(kind("", Finish::Length, None), FaultKind::Truncated);
        assert_eq!(kind(r#"{"reason": "Well, th"#, Finish::Length, None), FaultKind::Truncated);
        assert_eq!(kind("I'd rather", Finish::Filter, None), FaultKind::Refused);
        assert_eq!(kind("", Finish::Stop, Some("I can't help with that")), FaultKind::Refused);
        assert_eq!(kind("I go on.", Finish::Stop, None), FaultKind::Unparsable);
        assert_eq!(kind(r#"{"reason": "I go on."}"#, Finish::Stop, None), FaultKind::Unparsable);
        // Too long to be searched, whatever it ends with.
        let action = r#"{"action": {"type": "go"}}"#;
        let padded = |bytes: usize| format!("{}{action}", "x".repeat(bytes - action.len()));
        assert!(parts(&reply(&padded(LONGEST), Finish::Stop, None)).is_ok());
        assert_eq!(kind(&padded(LONGEST + 1), Finish::Stop, None), FaultKind::Unparsable);
        // Cut off, but all that matters was said.
        let said = parts(&reply(r#"{"action": {"type": "go"}} Well, th"#, Finish::Length, None));
        assert_eq!(said.unwrap().1, json!({"type": "go"}));
    }
}
