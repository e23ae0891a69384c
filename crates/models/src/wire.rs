//! Requests and answers in the format of OpenAI-compatible endpoints.

use crate::{Finish, Form, Message, Model, Money, Question, Reply, Tokens, table::MOST_TOKENS};
use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue};
use std::time::Duration;

/// A request. Its frame and its messages are kept apart, since most requests share all but the last message.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Everything but the messages, as the text of a JSON object.
    pub frame: String,
    pub messages: Vec<Message>,
    pub salt: u64,
    /// The hash that identifies it in the book.
    pub hash: [u8; 32],
}

impl Request {
    pub fn new(model: &Model, question: &Question) -> Result<Self, serde_json::Error> {
        let frame = frame(model, question)?;
        let hash = hash(&model.base_url, question.salt, &frame, &question.messages);
        Ok(Request { frame, messages: question.messages.clone(), salt: question.salt, hash })
    }

    /// The body as it is sent.
    pub fn body(&self) -> Result<String, serde_json::Error> {
        body(&self.frame, &self.messages)
    }
}

/// The hash by which the book finds a question again.
pub(crate) fn hash(base_url: &str, salt: u64, frame: &str, messages: &[Message]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    };
    add(base_url.as_bytes());
    add(&salt.to_le_bytes());
    add(frame.as_bytes());
    for message in messages {
        add(message.role.as_str().as_bytes());
        add(message.text.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// Puts messages into a frame.
pub(crate) fn body(frame: &str, messages: &[Message]) -> Result<String, serde_json::Error> {
    let messages = serde_json::to_string(messages)?;
    // A frame is never empty: it names the model.
    Ok(format!("{{\"messages\":{messages},{}", frame.strip_prefix('{').unwrap_or(frame)))
}

/// The name of answers in schemas and tools.
const ANSWER: &str = "answer";

#[derive(Serialize)]
struct Frame<'a> {
    model: &'a str,
    #[serde(flatten)]
    parameters: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Typed<'a, JsonSchema<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tool<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
}

#[derive(Serialize)]
struct Typed<'a, T> {
    r#type: &'a str,
    json_schema: T,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    strict: bool,
    schema: &'a RawValue,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'a str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    strict: bool,
    parameters: &'a RawValue,
}

fn frame(model: &Model, question: &Question) -> Result<String, serde_json::Error> {
    let (name, schema) = (ANSWER, &*question.schema);
    let mut frame = Frame {
        model: &model.model,
        parameters: &model.parameters,
        response_format: None,
        tools: None,
        tool_choice: None,
    };
    match question.form {
        Form::Schema => {
            let json_schema = JsonSchema { name, strict: true, schema };
            frame.response_format = Some(Typed { r#type: "json_schema", json_schema });
        }
        Form::Tool => {
            let description = "Gives the answer.";
            let function = Function { name, description, strict: true, parameters: schema };
            frame.tools = Some([Tool { r#type: "function", function }]);
            frame.tool_choice = Some(json!({"type": "function", "function": {"name": name}}));
        }
        Form::Line => {}
    }
    serde_json::to_string(&frame)
}

/// The content of an answer, before it is counted and paid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub text: String,
    pub reasoning: Option<String>,
    pub finish: Finish,
    pub refusal: Option<String>,
    pub model: String,
    pub tokens: Tokens,
}

/// What a call took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    pub tokens: Tokens,
    pub cost: Option<Money>,
    pub latency: Duration,
    pub attempt: u32,
}

impl Said {
    /// Changes all texts in the same way.
    pub fn map(self, change: impl Fn(String) -> String) -> Self {
        Said {
            text: change(self.text),
            reasoning: self.reasoning.map(&change),
            refusal: self.refusal.map(&change),
            model: change(self.model),
            ..self
        }
    }

    /// Writes the body of an answer with this content, without the counts.
    pub fn body(&self) -> String {
        let Said { text, reasoning, finish, refusal, model, .. } = self;
        let message = json!({"content": text, "reasoning_content": reasoning, "refusal": refusal});
        json!({"model": model, "choices": [{"message": message, "finish_reason": finish.as_str()}]})
            .to_string()
    }

    /// Makes the reply from this content and what the call took.
    pub fn reply(self, took: Took) -> Reply {
        let Said { text, reasoning, finish, refusal, model, .. } = self;
        let Took { tokens, cost, latency, attempt } = took;
        Reply { text, reasoning, finish, refusal, model, tokens, cost, latency, attempt, reused: false }
    }
}

/// The longest name of an answering model; no real one is as long.
const LONGEST_NAME: usize = 100;

/// Facts about a request that are needed to count its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    pub bytes: usize,
    /// The most tokens that an answer can have.
    pub most_output: u64,
}

impl Sent {
    pub fn new(model: &Model, bytes: usize) -> Self {
        Sent { bytes, most_output: model.most_output().unwrap_or(MOST_TOKENS) }
    }
}

/// Reads the body of an answer. `sent` is for endpoints that count badly or not at all.
pub(crate) fn read(answer: &str, sent: Sent) -> Result<Said, String> {
    let answer: Value = serde_json::from_str(answer).map_err(|error| match error.is_eof() {
        true => "the answer is cut off".to_owned(),
        false => format!("the answer is no JSON (line {}, column {})", error.line(), error.column()),
    })?;
    let choice = &answer["choices"][0];
    let message = &choice["message"];
    // Trouble behind the endpoint may come with a good status, and beside an answer that was begun.
    if is_trouble(&answer["error"]) || choice.is_null() {
        return read_error(&answer, sent);
    }
    if is_trouble(&choice["error"]) || choice["finish_reason"] == "error" || !message.is_object() {
        return read_error(choice, sent);
    }
    let text = said_text(message);
    let reasoning = [&message["reasoning_content"], &message["reasoning"]].into_iter().find_map(spoken);
    let finish = match choice["finish_reason"].as_str() {
        Some("tool_calls" | "function_call") => Finish::Stop,
        Some(name) => Finish::named(name),
        None => Finish::Other,
    };
    let said_bytes = text.len() + reasoning.as_ref().map_or(0, String::len);
    let tokens = count(&answer["usage"], sent, said_bytes);
    let refusal = spoken(&message["refusal"]);
    let model = short(answer["model"].as_str().unwrap_or_default(), LONGEST_NAME);
    Ok(Said { text, reasoning, finish, refusal, model, tokens })
}

/// Whether the value of `error` in an answer is really an error.
fn is_trouble(error: &Value) -> bool {
    ![Value::Null, json!(false), json!(""), json!({})].contains(error)
}

/// Reads the arguments of our tool, or else the text, or else the arguments of another tool.
fn said_text(message: &Value) -> String {
    let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
    let arguments = |call: &Value| match &call["function"]["arguments"] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let ours = calls.iter().filter(|call| call["function"]["name"] == ANSWER).find_map(arguments);
    let is_said = |text: &String| !text.trim().is_empty();
    let text = ours.filter(is_said).or_else(|| Some(content(&message["content"])).filter(is_said));
    text.or_else(|| calls.iter().find_map(arguments)).unwrap_or_default()
}

/// Reads the text of a message; some endpoints split it into parts.
fn content(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn spoken(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Reads an answer, or a choice, without a message or with an error. A filter's refusal may come as an error, as Azure sends it.
fn read_error(answer: &Value, sent: Sent) -> Result<Said, String> {
    let why = complaint(answer);
    if answer.pointer("/error/code").and_then(Value::as_str) == Some("content_filter") {
        let refusal = why.or(Some("filtered".into()));
        let tokens = count(&answer["usage"], sent, 0);
        let (text, model) = (String::new(), String::new());
        return Ok(Said { text, reasoning: None, finish: Finish::Filter, refusal, model, tokens });
    }
    Err(match why {
        Some(why) => format!("the endpoint says {:?}", short(&why, LONGEST_QUOTE)),
        None => "there is no message in the answer".into(),
    })
}

/// The complaint of an endpoint.
fn complaint(answer: &Value) -> Option<String> {
    let places = ["/error/message", "/error", "/message", "/detail"];
    places.iter().find_map(|place| spoken(answer.pointer(place)?))
}

/// Quotes an answer with a bad status, shortened.
pub(crate) fn quote(answer: &str) -> Option<String> {
    let json = serde_json::from_str(answer).ok();
    let said = json.as_ref().and_then(complaint).unwrap_or_else(|| answer.trim().to_owned());
    (!said.is_empty()).then(|| format!("{:?}", short(&said, LONGEST_QUOTE)))
}

const LONGEST_QUOTE: usize = 300;

/// The first characters of a text.
fn short(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Estimates the tokens in `bytes` bytes: more than there are, in most languages.
pub(crate) fn estimate(bytes: usize) -> u64 {
    bytes.div_ceil(2) as u64
}

/// The most tokens that a request of `bytes` bytes can have: no token is shorter than a byte, and what endpoints add (a frame for
/// each message, how to call a tool) is less than the rest. Budgets set this much aside, and no larger count is believed.
pub(crate) fn most_input(bytes: usize) -> u64 {
    const ADDED: u64 = 1024;
    bytes as u64 + ADDED
}

/// Takes the endpoint's counts, or an estimate where they are missing or impossible.
fn count(usage: &Value, sent: Sent, said_bytes: usize) -> Tokens {
    let number = |place: &str| usage.pointer(place).and_then(Value::as_u64);
    let input = number("/prompt_tokens").filter(|tokens| (1..=most_input(sent.bytes)).contains(tokens));
    let least = u64::from(said_bytes > 0);
    let output = number("/completion_tokens").filter(|tokens| (least..=MOST_TOKENS).contains(tokens));
    let cached = number("/prompt_tokens_details/cached_tokens").or(number("/prompt_cache_hit_tokens"));
    let reasoning = number("/completion_tokens_details/reasoning_tokens");
    let is_more = output.is_some_and(|tokens| tokens > sent.most_output);
    let estimated = input.is_none() || output.is_none() || is_more;
    let input = input.unwrap_or(estimate(sent.bytes));
    let output = output.unwrap_or(estimate(said_bytes)).min(sent.most_output);
    Tokens {
        input,
        cached: cached.unwrap_or(0).min(input),
        output,
        reasoning: reasoning.unwrap_or(0).min(output),
        estimated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sent(bytes: usize) -> Sent {
        Sent { bytes, most_output: 4000 }
    }

    /// JSON that looks like parts of an answer.
    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-z{}\":]{0,9}".prop_map(Value::from),
            Just(json!("content_filter")),
        ];
        let names = proptest::sample::select(vec![
            "choices",
            "message",
            "content",
            "tool_calls",
            "function",
            "arguments",
            "finish_reason",
            "usage",
            "prompt_tokens",
            "completion_tokens",
            "error",
            "code",
            "text",
            "refusal",
            "model",
        ]);
        leaf.prop_recursive(6, 40, 5, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::vec((names.clone(), inner), 0..5).prop_map(|pairs| pairs
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_an_endpoint_says_is_read_or_refused(message in any_json(), usage in any_json(), any in any_json()) {
            let answer = json!({"choices": [{"message": message}], "usage": usage});
            let said = read(&answer.to_string(), sent(100));
            prop_assert_eq!(said.is_ok(), message.is_object(), "a message makes an answer");
            if let Ok(Said { tokens, .. }) = said {
                prop_assert!(tokens.cached <= tokens.input && tokens.reasoning <= tokens.output);
                prop_assert!(tokens.input > 0 && tokens.total() <= 100 + 1024 + 4000);
            }
            let _ = (read(&any.to_string(), sent(100)), quote(&any.to_string()));
        }
    }

    #[test]
    fn impossible_counts_are_estimated() {
        let count = |usage| count(&usage, sent(1000), 100);
        let fine = json!({"prompt_tokens": 300, "completion_tokens": 20,
            "prompt_tokens_details": {"cached_tokens": 256}, "completion_tokens_details": {"reasoning_tokens": 7}});
        let tokens = Tokens { input: 300, cached: 256, output: 20, reasoning: 7, estimated: false };
        assert_eq!(count(fine), tokens);
        let all = Tokens { input: 500, cached: 0, output: 50, reasoning: 0, estimated: true };
        for usage in [
            Value::Null,
            json!({"prompt_tokens": 0, "completion_tokens": 0}),
            json!({"prompt_tokens": -3, "completion_tokens": "many"}),
            json!({"prompt_tokens": 10_000_000, "completion_tokens": 1e300}),
        ] {
            assert_eq!(count(usage.clone()), all, "{usage}");
        }
        let more = json!({"prompt_tokens": 300, "completion_tokens": 4001});
        let most = Tokens { input: 300, output: 4000, estimated: true, ..Tokens::default() };
        assert_eq!(count(more), most, "more than may be is at most that");
        let more_cached =
            json!({"prompt_tokens": 300, "completion_tokens": 20, "prompt_cache_hit_tokens": 301});
        assert_eq!(count(more_cached).cached, 300);
    }

    #[test]
    fn answers_of_all_forms_are_read() {
        let message = |message: Value| {
            read(
                &json!({"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]})
                    .to_string(),
                sent(10),
            )
        };
        let call = json!({"tool_calls": [{"function": {"name": "answer", "arguments": "{\"a\":1}"}}], "content": null});
        assert_eq!(message(call).unwrap().text, "{\"a\":1}");
        let object = json!({"tool_calls": [{"function": {"name": "answer", "arguments": {"a": 1}}}]});
        assert_eq!(message(object).unwrap().text, "{\"a\":1}");
        for call in [
            json!({"function": {"name": "answer", "arguments": null}}),
            json!({"function": {"name": "answer", "arguments": ""}}),
            json!({"function": {"name": "search", "arguments": "{\"query\":1}"}}),
        ] {
            let beside = json!({"tool_calls": [call], "content": "{\"a\":1}"});
            assert_eq!(message(beside).unwrap().text, "{\"a\":1}", "{call}");
        }
        let second = json!({"name": "answer", "arguments": "{\"a\":1}"});
        let second = json!({"tool_calls": [{"function": {"name": "search"}}, {"function": second}]});
        assert_eq!(message(second).unwrap().text, "{\"a\":1}");
        let renamed = json!({"tool_calls": [{"function": {"name": "Answer", "arguments": "{\"a\":1}"}}]});
        assert_eq!(message(renamed).unwrap().text, "{\"a\":1}");
        let parts = json!({"content": [{"type": "text", "text": "AN"}, {"type": "text", "text": "SWER"}]});
        assert_eq!(message(parts).unwrap().text, "ANSWER");
        let thought = message(json!({"content": "", "reasoning_content": "hm", "refusal": "no"})).unwrap();
        assert_eq!((thought.reasoning.as_deref(), thought.refusal.as_deref()), (Some("hm"), Some("no")));
        assert_eq!(read("{\"choices\": [", sent(10)), Err("the answer is cut off".into()));
        assert_eq!(read("<html>", sent(10)), Err("the answer is no JSON (line 1, column 1)".into()));
        assert_eq!(read("{}", sent(10)), Err("there is no message in the answer".into()));
        assert_eq!(read("{\"detail\": \"busy\"}", sent(10)), Err("the endpoint says \"busy\"".into()));
        let deep = "[".repeat(100_000);
        assert!(read(&deep, sent(10)).unwrap_err().contains("no JSON"));
    }
}
