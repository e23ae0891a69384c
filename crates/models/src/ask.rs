//! A question to a model, and the reply.

use crate::Money;
use serde::Serialize;
use serde_json::value::RawValue;
use std::{fmt, sync::Arc, time::Duration};

/// The speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The author of the task.
    System,
    /// The user who asks.
    User,
    /// The model itself.
    Assistant,
}

impl Role {
    /// The name in the protocol.
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
    /// The speaker.
    pub role: Role,
    /// The text of the message.
    #[serde(rename = "content")]
    pub text: String,
}

/// The form in which an endpoint must answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON that fits a schema (`response_format`).
    Schema,
    /// The arguments of a tool that the model must call (`tools`, `tool_choice`).
    Tool,
    /// Plain text; the prompt says what its last line must look like.
    Line,
}

impl Form {
    /// All forms, the most reliable first.
    pub const ALL: [Form; 3] = [Form::Schema, Form::Tool, Form::Line];

    /// The name in model tables.
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
    /// 0, unless the same question needs a separate answer: questions with different salts are different questions.
    pub salt: u64,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// Its answer was complete.
    Stop,
    /// It reached its limit of tokens.
    Length,
    /// The endpoint's filter stopped it.
    Filter,
    /// The endpoint says something else, or nothing.
    Other,
}

impl Finish {
    /// The name in the protocol.
    pub fn as_str(self) -> &'static str {
        match self {
            Finish::Stop => "stop",
            Finish::Length => "length",
            Finish::Filter => "content_filter",
            Finish::Other => "other",
        }
    }

    /// All reasons.
    pub const ALL: [Finish; 4] = [Finish::Stop, Finish::Length, Finish::Filter, Finish::Other];

    pub(crate) fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|finish| finish.as_str() == name).unwrap_or(Finish::Other)
    }
}

/// The tokens that a call took.
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
    /// Whether the counts are estimates, because the endpoint's own are missing or impossible.
    pub estimated: bool,
}

impl Tokens {
    /// The sum of input and output.
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

/// A model's answer. An answer that cannot be used is a reply, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The JSON of a schema or of a tool's arguments, or the text of the message. Empty if there is none.
    pub text: String,
    /// The model's thoughts before the answer, if the endpoint shows them.
    pub reasoning: Option<String>,
    /// Why the model stopped.
    pub finish: Finish,
    /// Why the model, or the endpoint's filter, refuses to answer.
    pub refusal: Option<String>,
    /// The model as the endpoint calls it.
    pub model: String,
    /// The tokens that the call took.
    pub tokens: Tokens,
    /// The cost when the call was made, if prices were known.
    pub cost: Option<Money>,
    /// The time that the endpoint took, without failed tries.
    pub latency: Duration,
    /// The number of the try that was answered, from 1.
    pub attempt: u32,
    /// Whether it cost nothing now: it was in the book already, or another caller had just asked the same question.
    pub reused: bool,
}

/// How large a budget must be for one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raise {
    /// The owner of the budget, such as `of mini`.
    pub whose: String,
    /// The least money, or 0 if it is enough.
    pub money: Money,
    /// The fewest tokens, or 0 if they are enough.
    pub tokens: u64,
}

impl Raise {
    /// Covers another call, too.
    pub(crate) fn cover(&mut self, other: &Raise) {
        self.money = self.money.max(other.money);
        self.tokens = self.tokens.max(other.tokens);
    }
}

impl fmt::Display for Raise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let money = (self.money > Money::default()).then(|| self.money.to_string());
        let tokens = (self.tokens > 0).then(|| format!("{} tokens", self.tokens));
        let least: Vec<String> = money.into_iter().chain(tokens).collect();
        write!(f, "raise the budget {} to at least {} for one call", self.whose, least.join(" and "))
    }
}

/// Why there is no reply. None of it is the model's fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The endpoint gave no answer after all tries. It may give one another time.
    #[error("{0}")]
    Endpoint(String),
    /// Every further call would fail until somebody changes something: nobody listens at the endpoint, it refuses the key or the
    /// request, or the book of calls cannot be used.
    #[error("{why}")]
    Stuck {
        /// What is wrong.
        why: String,
        /// What to change.
        hint: Option<String>,
    },
    /// The call might cost more than the rest of the budget.
    #[error("{why}")]
    Budget {
        /// What is short.
        why: String,
        /// How large the budget must be, if it does not even cover one call.
        raise: Option<Raise>,
    },
    /// The answer is not in the book, and the run may make no calls.
    #[error("{0}")]
    NotKept(String),
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
}

impl AskError {
    /// Whether asking again cannot help until something is changed.
    pub fn is_lasting(&self) -> bool {
        matches!(
            self,
            AskError::Stuck { .. } | AskError::NotKept(_) | AskError::Budget { raise: Some(_), .. }
        )
    }
}
