//! Words for people: events and choices as spans of text, each with its meaning.
//!
//! A game puts its events and actions into words once, here in the rules; the terminal, the pages and plain text colour them.

use crate::{
    game::{Move, Seat},
    names::Names,
};
use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::{fmt, ops::RangeInclusive};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The meaning of a span of text, which decides its look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ink {
    /// Nothing special.
    Plain,
    /// The name of a seat, in the colour of the seat.
    Name(Seat),
    /// Something that must not be overlooked.
    Strong,
    /// Something that is not as important.
    Dim,
    /// Green.
    Good,
    /// Yellow.
    Fair,
    /// Red.
    Bad,
    /// A die on the table.
    Die(Shade),
    /// A die that was kept when the others were rolled.
    KeptDie(Shade),
}

/// The colour of a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Shade {
    Plain,
    Green,
    Yellow,
    Red,
}

/// A piece of text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Span {
    /// The text.
    pub text: String,
    /// Its meaning.
    pub ink: Ink,
}

/// A line of text. [`Display`](fmt::Display) shows it plain, with dice in brackets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Text(pub Vec<Span>);

impl Text {
    /// Makes a text of a single span.
    pub fn new(ink: Ink, text: impl fmt::Display) -> Text {
        Text(vec![Span { text: text.to_string(), ink }])
    }

    /// Appends more text.
    pub fn and(mut self, more: impl Into<Text>) -> Text {
        self.0.extend(more.into().0);
        self
    }

    /// Joins pieces with a separator.
    pub fn join(pieces: impl IntoIterator<Item = Text>, between: &str) -> Text {
        let mut all = Text::default();
        for (place, piece) in pieces.into_iter().enumerate() {
            all = if place == 0 { piece } else { all.and(between).and(piece) };
        }
        all
    }

    /// The dice in the text, in a row: `green brain, red shotgun`.
    pub fn dice(&self) -> String {
        let dice = self.0.iter().filter(|span| matches!(span.ink, Ink::Die(_) | Ink::KeptDie(_)));
        dice.map(|span| span.text.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::new(Ink::Plain, text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(vec![Span { text, ink: Ink::Plain }])
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|span| span.fmt(f))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ink {
            Ink::Die(_) => write!(f, "[{}]", self.text),
            Ink::KeptDie(_) => write!(f, "({})", self.text),
            _ => f.write_str(&self.text),
        }
    }
}

/// Puts pieces of text together: `text![name(names, seat), " hits ", bad("hard")]`.
#[macro_export]
macro_rules! text {
    ($($piece:expr),* $(,)?) => {
        $crate::words::Text::default()$(.and($piece))*
    };
}

/// The name of a seat. A made-up action may name a seat that does not exist.
pub fn name(names: &Names, seat: Seat) -> Text {
    match names.get(seat) {
        Some(name) => Text::new(Ink::Name(seat), name),
        None => Text::new(Ink::Strong, format_args!("seat {}, which is not there", seat.index())),
    }
}

/// Lists names: `Ada, Bob and Cleo`.
pub fn name_all(names: &Names, seats: &[Seat]) -> Text {
    match seats {
        [] => Text::default(),
        [one] => name(names, *one),
        [first @ .., last] => {
            Text::join(first.iter().map(|&seat| name(names, seat)), ", ").and(" and ").and(name(names, *last))
        }
    }
}

/// Text that must not be overlooked.
pub fn strong(text: impl fmt::Display) -> Text {
    Text::new(Ink::Strong, text)
}

/// Text that is not as important.
pub fn dim(text: impl fmt::Display) -> Text {
    Text::new(Ink::Dim, text)
}

/// Green text.
pub fn good(text: impl fmt::Display) -> Text {
    Text::new(Ink::Good, text)
}

/// Yellow text.
pub fn fair(text: impl fmt::Display) -> Text {
    Text::new(Ink::Fair, text)
}

/// Red text.
pub fn bad(text: impl fmt::Display) -> Text {
    Text::new(Ink::Bad, text)
}

/// Counts things: `1 brain`, `2 brains`, `3 viruses`, `2 antibodies`, `4 dice`.
pub fn count(number: impl Into<u64>, thing: &str) -> String {
    let number = number.into();
    let is_vowel = |letter: char| "aeiou".contains(letter);
    let many = match thing.strip_suffix('y') {
        Some(stem) if !stem.ends_with(is_vowel) => format!("{stem}ies"),
        _ if thing.ends_with("die") => format!("{}ce", &thing[..thing.len() - 1]),
        _ if thing.ends_with(['s', 'x']) || thing.ends_with("ch") => format!("{thing}es"),
        _ => format!("{thing}s"),
    };
    if number == 1 { format!("1 {thing}") } else { format!("{number} {many}") }
}

/// Describes a range of counts: `exactly 2 seats`, `at least 3 entries`, `2 to 6 players`.
pub fn range(range: &RangeInclusive<usize>, thing: &str) -> String {
    match (*range.start(), *range.end()) {
        (low, high) if low == high => format!("exactly {}", count(low as u64, thing)),
        (low, usize::MAX) => format!("at least {}", count(low as u64, thing)),
        (low, high) => format!("{low} to {}", count(high as u64, thing)),
    }
}

/// Something that happened, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Told {
    /// The seat that did it, or that it concerns; null if it concerns everybody.
    pub seat: Option<Seat>,
    /// The words, which follow the name of the seat if there is one.
    pub text: Text,
    /// Whether a turn begins or ends with it.
    pub mark: bool,
}

impl Told {
    /// Makes words for something that a seat did.
    pub fn by(seat: Seat, text: impl Into<Text>) -> Told {
        Told { seat: Some(seat), text: text.into(), mark: false }
    }

    /// Makes words for something that concerns everybody.
    pub fn all(text: impl Into<Text>) -> Told {
        Told { seat: None, text: text.into(), mark: false }
    }

    /// Marks the start or the end of a turn.
    pub fn mark(self) -> Told {
        Told { mark: true, ..self }
    }

    /// The whole sentence, with the name in front.
    pub fn sentence(&self, names: &Names) -> Text {
        match self.seat {
            Some(seat) => text![name(names, seat), " ", self.text.clone()],
            None => self.text.clone(),
        }
    }
}

/// Describes any JSON in words: `rolled, seat 0, dice 3 4`. For events, views and actions of a game that has no words for them.
pub fn of_json(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.replace('_', " "),
        Value::Number(number) => number.to_string(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(of_json).collect::<Vec<_>>().join(" "),
        Value::Object(fields) => {
            // The tag of an enum says what it is; the rest are its details.
            let tag = fields.get("type").map(of_json);
            let rest = fields.iter().filter(|(name, _)| *name != "type");
            let rest = rest.map(|(name, value)| format!("{} {}", name.replace('_', " "), of_json(value)));
            tag.into_iter().chain(rest).collect::<Vec<_>>().join(", ")
        }
    }
}

/// Describes any event in words, as an act of the seat that the event names.
pub fn of_event(event: &impl Serialize) -> Told {
    let mut json = serde_json::to_value(event).unwrap_or_default();
    let seat = json.as_object_mut().and_then(|fields| fields.remove("seat"));
    let seat = seat.and_then(|seat| u16::try_from(seat.as_u64()?).ok()).map(Seat);
    Told { seat, text: of_json(&json).into(), mark: false }
}

/// Describes any choice in words.
pub fn of_choice(choice: &Move<impl Serialize>) -> Text {
    match choice {
        Move::Act(action) => {
            text!["chooses ", of_json(&serde_json::to_value(action).unwrap_or_default())]
        }
        Move::Forfeit => "gives no valid answer".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn things_are_counted() {
        let counted: Vec<String> =
            ["brain", "virus", "antibody", "play"].iter().map(|thing| count(2u32, thing)).collect();
        assert_eq!(counted, ["2 brains", "2 viruses", "2 antibodies", "2 plays"]);
        assert_eq!([count(1u32, "virus"), count(0u32, "brain")], ["1 virus", "0 brains"]);
    }

    #[test]
    fn text_is_plain_where_nobody_paints_it() {
        let names = Names::new(["Ada", "Bob", "Cleo"]).unwrap();
        let die = Text::new(Ink::Die(Shade::Green), "brain");
        let kept = Text::new(Ink::KeptDie(Shade::Red), "attack");
        let told = Told::by(Seat(1), text!["rolls ", die, " ", kept, strong("!")]);
        assert_eq!(told.sentence(&names).to_string(), "Bob rolls [brain] (attack)!");
        assert_eq!(name_all(&names, Seat::all(3)).to_string(), "Ada, Bob and Cleo");
        assert_eq!(name_all(&names, &[Seat(2)]).to_string(), "Cleo");
        // Actions of strangers may name anybody.
        let made_up = Told::by(Seat(0), text!["bites ", name(&names, Seat(9))]);
        assert_eq!(made_up.sentence(&names).to_string(), "Ada bites seat 9, which is not there");
    }

    #[test]
    fn a_game_without_words_is_told_all_the_same() {
        let told = of_event(&json!({"type": "rolled", "seat": 1, "dice": [3, 4], "last": false}));
        assert_eq!((told.seat, told.text.to_string().as_str()), (Some(Seat(1)), "rolled, dice 3 4, last no"));
        assert_eq!(of_choice(&Move::Act(json!({"type": "hold"}))).to_string(), "chooses hold");
        assert_eq!(of_choice(&Move::<()>::Forfeit).to_string(), "gives no valid answer");
    }
}
