//! What the judge reads, line by line, in the same words on a screen and in plain text.
//!
//! All of it is secret, except what [`report::public`] returns.

use crate::paint::{colour, count};
use anstyle::{AnsiColor, Style};
use necrodome_judge::{
    book::{Book, Record, What, role_word},
    report,
    script::Mistake,
};
use necrodome_rules::{
    game::Seat,
    infection::{PrivateReport, PublicReport, Role},
};

/// The tone of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Heading,
    Human,
    Infected,
    Zombie,
    /// An announcement to read aloud.
    Announce,
    /// What somebody typed.
    Typed,
    Wrong,
    Faint,
}

impl Tone {
    pub fn style(self) -> Style {
        match self {
            Tone::Plain => Style::new(),
            Tone::Heading => Style::new().bold(),
            Tone::Human => colour(AnsiColor::Green),
            Tone::Infected => colour(AnsiColor::Yellow),
            Tone::Zombie => colour(AnsiColor::Red),
            Tone::Announce => colour(AnsiColor::Cyan),
            Tone::Typed => Style::new().bold(),
            Tone::Wrong => colour(AnsiColor::Red).bold(),
            Tone::Faint => Style::new().dimmed(),
        }
    }

    pub fn of(role: Role) -> Self {
        match role {
            Role::Human => Tone::Human,
            Role::Infected => Tone::Infected,
            Role::Zombie => Tone::Zombie,
        }
    }
}

/// A line of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub tone: Tone,
    pub text: String,
}

pub fn said(tone: Tone, text: impl Into<String>) -> Said {
    Said { tone, text: text.into() }
}

/// Returns the last announcement. In the middle of a turn, nobody may know the true state.
pub fn last_announcement(book: &Book) -> Option<&PublicReport> {
    book.records().iter().rev().find_map(|record| match &record.what {
        What::Started { public, .. } | What::TurnClosed { public, .. } => Some(public),
        _ => None,
    })
}

/// Returns what to whisper to the players, one after another, since the last announcement: their names and the words.
pub fn whispers(book: &Book) -> Vec<(&str, String)> {
    let told = |report: &PrivateReport, is_start: bool| match report.antidotes {
        // By the classic rules nobody is told later what they are.
        Some(left) if !is_start => format!("you have {} left", count(left, "antidote")),
        _ => report::whisper(report),
    };
    let last = book.records().iter().rev().find_map(|record| match &record.what {
        What::Started { private, .. } => Some((private, true)),
        What::TurnClosed { private, .. } => Some((private, false)),
        _ => None,
    });
    let Some((private, is_start)) = last else { return Vec::new() };
    let told = private.iter().map(|report| told(report, is_start));
    book.names().iter().map(String::as_str).zip(told).collect()
}

/// Says how far the game has got; this may be read aloud.
pub fn progress(book: &Book) -> String {
    match book.party() {
        None => match book.names().len() {
            0 => "before the game, nobody has joined yet".to_owned(),
            1 => "before the game, 1 player".to_owned(),
            players => format!("before the game, {players} players"),
        },
        Some(party) if party.ending().is_some() => format!("the game is over after turn {}", party.turns()),
        Some(party) => match book.rules().last_turn() {
            Some(last) => format!("turn {} of {last}", party.turns() + 1),
            None => format!("turn {}", party.turns() + 1),
        },
    }
}

/// Lists the names of seats, separated by commas.
pub fn list(book: &Book, seats: &[Seat]) -> String {
    seats.iter().map(|seat| book.names()[seat.index()].as_str()).collect::<Vec<_>>().join(", ")
}

/// Says who has met nobody yet.
pub fn alone(book: &Book) -> Said {
    let alone = book.without_contact();
    match book.party() {
        None => said(Tone::Plain, "the game has not started"),
        Some(party) if party.ending().is_some() => said(Tone::Plain, "the game is over"),
        Some(_) if alone.is_empty() => said(Tone::Plain, "everybody has met somebody in this turn"),
        Some(_) => said(Tone::Plain, format!("met nobody yet: {}", list(book, &alone))),
    }
}

/// Describes the whole state, for the judge.
pub fn state(book: &Book) -> Vec<Said> {
    let mut lines = standing(book);
    let whispers = whispers(book);
    if !whispers.is_empty() {
        lines.push(said(Tone::Heading, "whispered"));
        let width = name_width(book);
        lines.extend(
            whispers.iter().map(|(name, text)| said(Tone::Faint, format!("{}  {text}", padded(name, width)))),
        );
    }
    lines
}

fn name_width(book: &Book) -> usize {
    book.names().iter().map(|name| name.chars().count()).max().unwrap_or(0)
}

fn padded(name: &str, width: usize) -> String {
    format!("{name}{}", " ".repeat(width - name.chars().count()))
}

/// Says what everybody is and has, for the judge, without the whispers.
pub fn standing(book: &Book) -> Vec<Said> {
    let mut lines = vec![said(Tone::Heading, progress(book))];
    let width = name_width(book);
    let Some(party) = book.party() else {
        for (name, &zombie) in book.names().iter().zip(book.zombies()) {
            let role = if zombie { Role::Zombie } else { Role::Human };
            lines.push(said(Tone::of(role), format!("{}  {}", padded(name, width), role_word(role))));
        }
        return lines;
    };
    if let Some(end) = party.ending() {
        lines.push(said(Tone::Announce, report::ending(book, end)));
        lines.extend(winners(book));
    }
    for (&seat, name) in Seat::all(book.names().len()).iter().zip(book.names()) {
        let player = &party.players()[seat.index()];
        let met = match (party.ending(), player.contacts) {
            (Some(_), _) => String::new(),
            (None, 0) => ", met nobody".to_owned(),
            (None, met) => format!(", met {met}"),
        };
        let ended = if player.ended { ", ended" } else { "" };
        let role = format!("{:<8}", role_word(player.role));
        let text = format!("{}  {role}  {}{met}{ended}", padded(name, width), report::stock(party, seat));
        lines.push(said(Tone::of(player.role), text));
    }
    if party.ending().is_none() {
        lines.push(alone(book));
    }
    if let Some(public) = last_announcement(book) {
        lines.push(said(Tone::Announce, format!("announced: {}", report::announcement(public))));
    }
    lines
}

fn winners(book: &Book) -> impl Iterator<Item = Said> {
    report::winners(book)
        .into_iter()
        .map(|winner| said(Tone::Announce, format!("  {}. {}{}", winner.rank, winner.name, winner.with())))
}

/// Describes the effects of some records.
pub fn effects(book: &Book, records: &[Record]) -> Vec<Said> {
    let mut lines = Vec::new();
    for record in records {
        match &record.what {
            What::Started { public, .. } => {
                lines.push(said(Tone::Plain, "the game begins"));
                lines.push(announce(public));
            }
            What::Joined { seat, private } => {
                let name = &book.names()[seat.index()];
                lines.push(said(Tone::Plain, format!("{name} comes late")));
                lines.push(said(Tone::Plain, format!("whisper to {name}: {}", report::whisper(private))));
            }
            What::Contact { sides } => lines.push(said(Tone::Plain, report::contact(book, sides))),
            What::Antidote { seat, before, antidotes, .. } => {
                let name = &book.names()[seat.index()];
                let effect = report::antidote(before, *antidotes);
                let has = book.party().map_or(String::new(), |party| report::stock(party, *seat));
                let text = format!("{name} takes the antidote, {effect}; {name} has {has}");
                lines.push(said(Tone::Plain, text));
            }
            What::Ended { seat } => {
                lines.push(said(Tone::Plain, format!("{} ends their turn", book.names()[seat.index()])));
            }
            What::TurnClosed { turn, without_contact, turned, public, ending, .. } => {
                lines.push(said(Tone::Plain, format!("turn {turn} is over")));
                if !without_contact.is_empty() {
                    let text = format!("broke a rule, met nobody: {}", list(book, without_contact));
                    lines.push(said(Tone::Wrong, text));
                }
                if !turned.is_empty() {
                    lines.push(said(Tone::Zombie, format!("became zombies: {}", list(book, turned))));
                }
                lines.push(announce(public));
                if let Some(end) = ending {
                    let text = format!("the game is over: {}", report::ending(book, *end));
                    lines.push(said(Tone::Announce, text));
                    lines.extend(winners(book));
                }
            }
        }
    }
    lines
}

fn announce(public: &PublicReport) -> Said {
    said(Tone::Announce, format!("announce: {}", report::announcement(public)))
}

/// Returns a mistake in one line, without its place.
pub fn complaint(mistake: &Mistake) -> String {
    let help = mistake.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
    let also = match mistake.also().len() {
        0 => String::new(),
        more => format!("; so {} left out", count(more as u64, "later line")),
    };
    format!("{}; {}{help}{also}", mistake.message, mistake.expected)
}

/// Returns a mistake in a script in one line.
pub fn mistake(mistake: &Mistake) -> Said {
    let text = format!("line {}, column {}: {}", mistake.line, mistake.column, complaint(mistake));
    said(Tone::Wrong, text)
}
