//! The messages between the arena and a bot: one line of JSON each, how they are written and read, and the player
//! that speaks them over any [`Transport`].
//!
//! `docs/protocol.md` is the version for bot authors; tests keep the two in step.

mod parse;
mod player;

pub(crate) use parse::{expect_id, is_chatter, parse_ready};
pub use parse::{parse_act, read_choice};
pub use player::{ProtocolPlayer, Silence, Transport};

use necrodome_rules::game::{Game, Outcome, Seat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the protocol that this arena speaks.
pub const PROTOCOL: u32 = 1;

/// The most legal actions that are listed with a decision.
pub const MAX_LISTED: usize = 256;

/// The most characters of a `reason` that are kept.
pub const MAX_REASON: usize = 2000;

/// A message of the arena. Views, actions and events are those of the game.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToBot<'a, V, A, E, R> {
    /// Once, when the bot has been started. The bot answers [`Ready`].
    Hello {
        /// The version of the protocol.
        protocol: u32,
        /// The id of the game.
        game: &'a str,
        /// The options of the rules.
        options: &'a R,
        /// How many seats each match has.
        seats: usize,
        /// The bot's own name in this arena.
        name: &'a str,
    },
    /// A match begins. The bot does not answer.
    Start {
        /// The bot's seat.
        seat: Seat,
        /// The names of all entries by seat.
        names: &'a [String],
        /// A seed for the bot's own randomness, unrelated to the match's.
        seed: u32,
    },
    /// A decision is wanted. The bot answers [`Act`].
    Decide {
        /// The id, which the answer must repeat.
        id: u64,
        /// What the seat knows.
        view: &'a V,
        /// All legal actions, if there are few.
        #[serde(skip_serializing_if = "Option::is_none")]
        legal: Option<Vec<A>>,
    },
    /// Events since the last message that the seat may hear of; only for bots that asked for them. The bot does not answer.
    Events {
        /// The events.
        events: &'a [&'a E],
    },
    /// The match is over. The bot does not answer.
    End {
        /// How it ended.
        outcome: &'a Outcome,
    },
}

/// A message for a game.
pub type Message<'a, G> =
    ToBot<'a, <G as Game>::View, <G as Game>::Action, <G as Game>::Event, <G as Game>::Rules>;

/// Writes a message as a line. Types of messages have no maps with odd keys, so it cannot fail.
pub(crate) fn to_line(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).unwrap_or_default()
}

/// Returns the beginning of what came, safe to print.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const SHOWN: usize = 80;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).into_owned();
    let dots = if bytes.len() > SHOWN { "..." } else { "" };
    format!("{text:?}{dots}")
}

/// A word in every answer to `hello`; the next one is in every answer to `decide`. A line with the word was meant as such an answer.
pub(crate) const IN_READY: &str = "protocol";
pub(crate) const IN_ACT: &str = "action";

/// The bot's answer to `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ready {
    /// Always `ready`.
    #[serde(rename = "type")]
    pub kind: ReadyTag,
    /// The version of the protocol that the bot speaks.
    pub protocol: u32,
    /// Whether the bot wants `events` messages.
    #[serde(default)]
    pub events: bool,
    /// Whether the bot promises to give the same answer to the same view.
    #[serde(default)]
    pub deterministic: bool,
}

/// The word `ready`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadyTag {
    /// The word.
    Ready,
}

/// The bot's answer to `decide`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Act<A> {
    /// The id of the decision.
    pub id: u64,
    /// The choice.
    pub action: A,
    /// The reason, in the bot's own words; kept in the replay, up to 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
