//! What goes between a table and its viewers.

use super::coach::CoachWord;
use necrodome_rules::{
    game::Outcome,
    words::{Text, Told},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How a person can play each game.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlayInfo {
    /// The id of the game.
    pub game: &'static str,
    /// Opponents that suit it.
    pub opponents: Vec<&'static str>,
    /// Options that suit a table of people.
    pub options: Map<String, Value>,
    /// The most seats of a table.
    pub most_seats: usize,
    /// Bounds on options at a table that are narrower than those of the rules.
    pub bounds: Vec<OptionBound>,
    /// The rules on half a screen.
    pub rules: &'static str,
}

/// What an option may be at a table.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OptionBound {
    /// The option.
    pub option: &'static str,
    /// The smallest value.
    pub least: f64,
    /// The largest value.
    pub most: f64,
}

/// A table that somebody wants to sit at.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTable {
    /// The id of the game.
    pub game: String,
    /// The name of whoever opens the table, and takes the first seat.
    pub name: String,
    /// The bots at the table: built-in ones as they are written on the command line; for the host also those on their list.
    #[serde(default)]
    pub bots: Vec<String>,
    /// Seats that are kept for people who come by the link.
    #[serde(default)]
    pub friends: u16,
    /// Options of the rules; what is left out is as it suits a table, or as in the rulebook.
    #[serde(default)]
    pub options: Map<String, Value>,
    /// Whether the coach tells the price of every decision.
    #[serde(default)]
    pub coach: bool,
    /// Seconds for each decision of a person; then a bot decides for them. None: as long as they like.
    #[serde(default)]
    pub clock: Option<u32>,
}

/// Somebody takes a seat.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinTable {
    /// The name at the table.
    pub name: String,
}

/// Somebody wants a bot to play for a person who is away.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaceAtTable {
    /// The seat of who is away.
    pub seat: u16,
}

/// A decision of a person.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActAtTable {
    /// The number of the question that it answers: a late or a second click changes nothing.
    pub question: u32,
    /// The action, as the game's protocol writes it.
    pub action: Value,
}

/// Where a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TablePhase {
    /// Seats are open.
    Waiting,
    /// The game is about to begin: the perfect player is being worked out.
    Preparing,
    /// The game is on.
    Playing,
    /// The game has come to its end.
    Over,
    /// It was broken off.
    Ended,
}

/// A table as one viewer may see it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TableState {
    /// The id of the table.
    pub id: String,
    /// The id of the game.
    pub game: &'static str,
    /// The name of the game.
    pub title: &'static str,
    /// The rules on half a screen.
    pub rules: &'static str,
    /// The options of the rules.
    pub options: Value,
    /// Where it is.
    pub phase: TablePhase,
    /// All seats.
    pub seats: Vec<TableSeat>,
    /// The viewer's seat.
    pub you: Option<u16>,
    /// The number of the question that the viewer has to answer now.
    pub question: Option<u32>,
    /// The address that lets others join or watch.
    pub link: String,
    /// Whether the coach sits at the table.
    pub coach: bool,
    /// Seconds for each decision of a person.
    pub clock: Option<u32>,
    /// Open pages of those who only watch.
    pub watching: usize,
    /// How many seconds somebody must be away before others may let a bot play for them.
    pub patience: u64,
    /// The table at which the same people play again.
    pub next: Option<String>,
    /// Why there is no coach although one was asked for, or why the game was broken off.
    pub note: Option<String>,
    /// What the referee lets the viewer see, once the game is on.
    pub scene: Option<Scene>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// The scores by seat, with what they count.
    pub scores: Option<Vec<String>>,
}

/// A seat of a table.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TableSeat {
    /// Its name; none while the seat is open.
    pub name: Option<String>,
    /// The bot that plays it, as it is written; none for a person.
    pub bot: Option<String>,
    /// Whether it is to act, where everybody may know it; the viewer's own in any case.
    pub to_act: bool,
    /// When its time is up (milliseconds since 1970), if it is to act and there is a clock.
    pub deadline: Option<u64>,
    /// Since when its person has no page open (milliseconds since 1970); none while they are here, and for bots.
    pub away_since: Option<u64>,
    /// Whether its person has left, and the bot plays on.
    pub left: bool,
}

/// What a viewer sees of a game.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Scene {
    /// The seat through whose eyes `view` looks.
    pub seat: u16,
    /// The referee's view, as the protocol of the game writes it; none where a spectator may see nothing.
    pub view: Option<Value>,
    /// What the view shows, in words.
    pub situation: Option<Text>,
    /// The last things that the viewer may have heard of, the oldest first.
    pub told: Vec<Told>,
    /// How many of them came after the viewer's last decision.
    pub fresh: usize,
    /// How many beats the viewer has seen or missed so far.
    pub heard: u32,
    /// What happened since the viewer's last decision, one thing after the other; of much only the last.
    pub beats: Vec<Beat>,
    /// All that the viewer may do now, where it can be listed.
    pub legal: Option<Vec<Offer>>,
    /// What the coach says about the viewer's last decision.
    pub coach: Option<CoachWord>,
}

/// One thing that happened, and how it looked to the viewer then.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Beat {
    /// Which it is of all that the viewer heard of, from 1.
    pub number: u32,
    /// How many lines of `told` it takes. Those of the last beat are the last.
    pub told: usize,
    /// What happened, as the protocol of the game writes it.
    pub events: Vec<Value>,
    /// The view right after it; none where a spectator may see nothing.
    pub view: Option<Value>,
}

/// Something that a player may do.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Offer {
    /// The action, as the protocol of the game writes it.
    pub action: Value,
    /// The same in words: `roll`, `keep attack attack`.
    pub label: String,
    /// The key for it, if it has one.
    pub key: Option<char>,
}
