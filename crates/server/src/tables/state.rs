//! The messages between a table and its viewers.

use super::coach::CoachWord;
use necrodome_rules::{
    game::Outcome,
    words::{Text, Told},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The suggestions and limits for people who play a game.
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

/// The bounds of an option at a table.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OptionBound {
    /// The option.
    pub option: &'static str,
    /// The smallest value.
    pub least: f64,
    /// The largest value.
    pub most: f64,
}

/// A request to open a table.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTable {
    /// The id of the game.
    pub game: String,
    /// The name of the person who opens the table and takes the first seat.
    pub name: String,
    /// The bots at the table: built-in ones as on the command line; the host may also name the programs on their list.
    #[serde(default)]
    pub bots: Vec<String>,
    /// How many seats to keep for people who come by the link.
    #[serde(default)]
    pub friends: u16,
    /// Options of the rules. Those that are left out get the value that suits a table, or the one of the rulebook.
    #[serde(default)]
    pub options: Map<String, Value>,
    /// Whether the coach tells the price of every decision.
    #[serde(default)]
    pub coach: bool,
    /// Seconds for each decision of a person, after which a bot decides for them. If left out, there is no limit.
    #[serde(default)]
    pub clock: Option<u32>,
}

/// A request to take a seat.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinTable {
    /// The name at the table.
    pub name: String,
}

/// A request to let a bot play for a person who is away.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaceAtTable {
    /// The seat of the person who is away.
    pub seat: u16,
}

/// A decision of a person.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActAtTable {
    /// The number of the question that it answers, so that a late or second click changes nothing.
    pub question: u32,
    /// The action, as the game's protocol writes it.
    pub action: Value,
}

/// How far a table has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TablePhase {
    /// Seats are open.
    Waiting,
    /// The match is about to begin: the perfect player is being computed.
    Preparing,
    /// The match is going on.
    Playing,
    /// The match is over.
    Over,
    /// The match was broken off.
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
    /// How far it has got.
    pub phase: TablePhase,
    /// All seats.
    pub seats: Vec<TableSeat>,
    /// The viewer's seat.
    pub you: Option<u16>,
    /// The viewer's seat while a bot plays for them. They can take it back.
    pub replaced: Option<u16>,
    /// The number of the question that the viewer has to answer now.
    pub question: Option<u32>,
    /// The address that lets others join or watch.
    pub link: String,
    /// Whether the coach sits at the table.
    pub coach: bool,
    /// Seconds for each decision of a person.
    pub clock: Option<u32>,
    /// How many pages are open without a seat.
    pub watching: usize,
    /// How many seconds somebody must be away before others may let a bot play for them.
    pub patience: u64,
    /// The table of the rematch.
    pub next: Option<String>,
    /// Why there is no coach although one was asked for, or why the game was broken off.
    pub note: Option<String>,
    /// What the referee lets the viewer see, once the match has begun.
    pub scene: Option<Scene>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// The scores by seat, with what they count.
    pub scores: Option<Vec<String>>,
}

/// A seat of a table.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TableSeat {
    /// The name of the entry; none while the seat is open.
    pub name: Option<String>,
    /// The bot that plays it, as it is written; none for a person.
    pub bot: Option<String>,
    /// Whether it has to act, as far as everybody may know; the viewer's own seat in any case.
    pub to_act: bool,
    /// When its time runs out (milliseconds since 1970), if it has to act and there is a clock.
    pub deadline: Option<u64>,
    /// Since when its person has had no page open (milliseconds since 1970); none while they are here, and for bots.
    pub away_since: Option<u64>,
    /// Whether its person has left, and a bot plays for them.
    pub left: bool,
    /// What the program on this seat did wrong last.
    pub fault: Option<TableFault>,
}

/// A misbehaviour of a program at a table.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TableFault {
    /// What kind.
    pub kind: &'static str,
    /// What the bot's author should do about it. While a game with secrets is on there is none: it may quote a legal action.
    pub hint: Option<String>,
}

/// What a viewer sees of a game.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Scene {
    /// The seat whose view this is.
    pub seat: u16,
    /// The referee's view, as in the protocol of the game; none if a spectator may see nothing.
    pub view: Option<Value>,
    /// What the view shows, in words.
    pub situation: Option<Text>,
    /// The latest lines about events that the viewer may know, the oldest first.
    pub told: Vec<Told>,
    /// How many of those lines are about events after the viewer's last decision.
    pub fresh: usize,
    /// How many beats there have been for the viewer so far, including any they missed.
    pub heard: u32,
    /// The beats since the viewer's last decision; if there are many, only the last ones.
    pub beats: Vec<Beat>,
    /// All actions that the viewer may choose now, if there are few enough to list.
    pub legal: Option<Vec<Offer>>,
    /// What the coach says about the viewer's last decision.
    pub coach: Option<CoachWord>,
}

/// One thing that happened, and how it looked to the viewer then.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Beat {
    /// Its number among the viewer's beats, from 1.
    pub number: u32,
    /// How many lines of `told` belong to it. The last beat has the last lines.
    pub told: usize,
    /// What happened, as the protocol of the game writes it.
    pub events: Vec<Value>,
    /// The view right after it; none if a spectator may see nothing.
    pub view: Option<Value>,
}

/// An action that a player may choose.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Offer {
    /// The action, as the protocol of the game writes it.
    pub action: Value,
    /// The same in words: `roll`, `keep attack attack`.
    pub label: String,
    /// The key that chooses it, if it has one.
    pub key: Option<char>,
}
