//! A question to a model and what comes of it.

use crate::Money;
use serde::Serialize;
use serde_json::value::RawValue;
use std::{fmt, sync::Arc, time::Duration};

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Whoever sets the task.
    System,
    /// Whoever asks.
    User,
    /// The model itself.
    Assistant,
}

impl Role {
    /// The name, as the protocol has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What they say.
    #[serde(rename = "content")]
    pub text: String,
}

/// The form in which an endpoint is asked to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON that fits a schema (`response_format`).
    Schema,
    /// The arguments of a tool that the model must call (`tools`, `tool_choice`).
    Tool,
    /// Plain text; the prompt says how its last line has to look.
    Line,
}

impl Form {
    /// All forms, the most reliable first.
    pub const ALL: [Form; 3] = [Form::Schema, Form::Tool, Form::Line];

    /// The name, as tables have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Form::Schema => "schema",
            Form::Tool => "tool",
            Form::Line => "line",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A question to a model.
#[derive(Debug, Clone)]
pub struct Question {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The JSON Schema of the answer, as text that keeps the order of properties. Strict endpoints want every property to be
    /// required and `additionalProperties` to be false.
    pub schema: Arc<RawValue>,
    /// The form of the answer.
    pub form: Form,
    /// 0, unless the same question shall have an answer of its own: questions with different salts are different questions.
    pub salt: u64,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// It had said all.
    Stop,
    /// It came to its limit of tokens.
    Length,
    /// The endpoint's filter stopped it.
    Filter,
    /// The endpoint says something else, or nothing.
    Other,
}

impl Finish {
    /// The name, as the protocol has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Finish::Stop => "stop",
            Finish::Length => "length",
            Finish::Filter => "content_filter",
            Finish::Other => "other",
        }
    }

    /// All of them.
    pub const ALL: [Finish; 4] = [Finish::Stop, Finish::Length, Finish::Filter, Finish::Other];

    pub(crate) fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|finish| finish.as_str() == name).unwrap_or(Finish::Other)
    }
}

/// What a call took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// Tokens of the prompt, cached ones included.
    pub input: u64,
    /// Tokens of the prompt that the endpoint had cached.
    pub cached: u64,
    /// Tokens of the answer, reasoning included.
    pub output: u64,
    /// Tokens of the answer that were spent on reasoning.
    pub reasoning: u64,
    /// Whether they are estimated, since the endpoint's own counts are missing or impossible.
    pub estimated: bool,
}

impl Tokens {
    /// Input and output.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, other: Tokens) {
        // A book that somebody has changed may say anything.
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.output = self.output.saturating_add(other.output);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.estimated = self.estimated || other.estimated;
    }
}

/// What a model answered. An answer that cannot be used is a reply, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The JSON of a schema or of a tool's arguments, or the message as it is. Empty if there is none.
    pub text: String,
    /// What the model thought before, where the endpoint tells.
    pub reasoning: Option<String>,
    /// Why it stopped.
    pub finish: Finish,
    /// Why the model, or the endpoint's filter, will not answer.
    pub refusal: Option<String>,
    /// The model as the endpoint calls it.
    pub model: String,
    /// What it took.
    pub tokens: Tokens,
    /// What it cost when the call was made, if prices were known.
    pub cost: Option<Money>,
    /// How long the endpoint took, without tries that failed.
    pub latency: Duration,
    /// Which try was answered, from 1.
    pub attempt: u32,
    /// Whether it was in the book already, or somebody else had asked the same meanwhile: it cost nothing now.
    pub reused: bool,
}

/// Why there is no reply. None of it is the model's fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The endpoint gave no answer, after all tries.
    #[error("{0}")]
    Endpoint(String),
    /// The call might cost more than is left.
    #[error("{0}")]
    Budget(String),
    /// The answer is not in the book, and no calls are wanted.
    #[error("{0}")]
    NotKept(String),
    /// Somebody wants to stop.
    #[error("interrupted")]
    Interrupted,
}
