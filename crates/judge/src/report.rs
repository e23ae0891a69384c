//! Reports for each listener: the judge's whole view, the text to read aloud, the text to whisper to one player.
//!
//! Each report is built from what its listener may hear, never from the judge's view with things removed.

use crate::book::{Book, ContactSide, What, role_word};
use necrodome_rules::{
    game::Seat,
    infection::{
        Commitment, Ending, Identity, InfectionRules, Party, Player, PrivateReport, PublicReport, Role,
        Ruleset,
    },
    words::count,
};
use serde::Serialize;
use std::fmt::{self, Write};

/// Writes the announcement for everybody, in one sentence.
pub fn announcement(public: &PublicReport) -> String {
    let [humans, zombies] = [count(public.humans, "human"), count(public.zombies, "zombie")];
    let (most, others) = (public.most_antibodies, public.most_viruses);
    match public.rules {
        Ruleset::Standard => {
            format!(
                "{humans}, {zombies}; the most antibodies anybody has: {most}, the most viruses: {others}"
            )
        }
        Ruleset::Classic => {
            format!("{humans}, {zombies}; the most points of a human: {most}, of a zombie: {others}")
        }
    }
}

/// Writes the report for one player, in one sentence.
pub fn whisper(private: &PrivateReport) -> String {
    let who = match private.identity {
        Identity::Human => "human",
        Identity::Zombie => "a zombie",
    };
    let has = match (private.antidotes, private.identity) {
        (Some(antidotes), _) => count(antidotes, "antidote"),
        (None, Identity::Human) => count(private.stock, "antibody"),
        (None, Identity::Zombie) => count(private.stock, "virus"),
    };
    format!("you are {who} and have {has}")
}

/// Describes the rules that matter besides the players.
fn limits(rules: &InfectionRules) -> String {
    let turns = rules.last_turn().map_or("no limit on turns".to_owned(), |turns| count(turns, "turn"));
    if !rules.is_classic() {
        return turns;
    }
    let cure = count(rules.antidote_limit.get(), "turn");
    let idle = rules
        .interaction_limit
        .map_or(String::new(), |limit| format!(", {} to begin a contact", limit.get()));
    format!("{turns}\nClassic rules: {cure} to cure an infection{idle}")
}

/// Describes the effect of the antidote.
pub fn antidote(before: &Player, antidotes: Option<u32>) -> &'static str {
    match (before.role, antidotes) {
        (_, Some(0)) => "has none left: nothing happens",
        (Role::Infected, _) => "is cured and human again",
        (Role::Human, _) => "was not infected: the antidote is wasted",
        (Role::Zombie, _) => "is a zombie: the antidote is wasted",
    }
}

/// Announces how the game ended.
pub fn ending(book: &Book, ending: Ending) -> String {
    match ending {
        Ending::ZombiesWin => "no human is left: the zombies win".to_owned(),
        Ending::SurvivorWins { seat } => {
            format!("{} is the only human left, and wins", book.names()[seat.index()])
        }
        Ending::HumansWin => "the last turn is over: the humans win".to_owned(),
    }
}

/// A winner and their rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Winner {
    /// The rank, from 1; players with equally many antibodies share it.
    pub rank: u16,
    /// Their seat.
    #[serde(skip)]
    pub seat: Seat,
    /// Their name.
    pub name: String,
    /// The antibodies that decided the rank, if they did.
    pub antibodies: Option<u32>,
    /// The points that decided the rank in the classic rules: a human's handshakes or a zombie's infections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<u32>,
}

impl Winner {
    /// Says what decided the rank, if anything did: `, 2 antibodies`.
    pub fn with(&self) -> String {
        let antibodies = self.antibodies.map(|n| count(n, "antibody"));
        let points = || self.points.map(|n| count(n, "point"));
        antibodies.or_else(points).map_or(String::new(), |with| format!(", {with}"))
    }
}

/// The winners, best first; empty while the game goes on.
pub fn winners(book: &Book) -> Vec<Winner> {
    let Some((party, end)) = book.party().and_then(|party| Some((party, party.ending()?))) else {
        return Vec::new();
    };
    let Some(outcome) = party.outcome() else { return Vec::new() };
    let classic = party.rules().is_classic();
    let seats = Seat::all(party.players().len()).iter().filter(|seat| outcome.scores[seat.index()] > 0);
    let winner = |seat: &Seat| Winner {
        rank: outcome.places[seat.index()],
        seat: *seat,
        name: book.names()[seat.index()].clone(),
        antibodies: (end == Ending::HumansWin && !classic).then(|| party.players()[seat.index()].antibodies),
        points: classic.then(|| party.players()[seat.index()].stock()),
    };
    let mut winners: Vec<Winner> = seats.map(winner).collect();
    winners.sort_by_key(|winner| winner.rank);
    winners
}

fn write_winners(out: &mut String, book: &Book) -> fmt::Result {
    for winner in winners(book) {
        writeln!(out, "  {}. {}{}", winner.rank, winner.name, winner.with())?;
    }
    Ok(())
}

/// Writes the end and the winners, if the game is over at this point.
fn write_end(out: &mut String, book: &Book, stop: &str) -> fmt::Result {
    let Some(end) = book.party().and_then(Party::ending) else { return Ok(()) };
    writeln!(out, "\nThe game is over: {}{stop}", ending(book, end))?;
    write_winners(out, book)
}

/// Writes the report to read aloud.
pub fn public(book: &Book) -> String {
    let mut out = String::new();
    for record in book.records() {
        // Writing to a string cannot fail.
        let _ = match &record.what {
            What::Started { public, .. } => writeln!(out, "The game begins: {}.", announcement(public)),
            What::TurnClosed { turn, public, .. } => {
                writeln!(out, "Turn {turn} is over: {}.", announcement(public))
            }
            What::Joined { seat, .. } => writeln!(out, "{} joins.", book.names()[seat.index()]),
            What::Contact { .. } | What::Antidote { .. } | What::Ended { .. } => Ok(()),
        };
    }
    let _ = write_end(&mut out, book, ".");
    out
}

/// Writes the report to whisper to one player: their identity as they were told it, and whom they met, which they know.
pub fn player(book: &Book, seat: Seat) -> String {
    let mut out = format!("For {}\n", book.names()[seat.index()]);
    let mut met: Vec<&str> = Vec::new();
    for record in book.records() {
        let _ = match &record.what {
            // Who comes late was not there.
            What::Started { private, .. } => private
                .get(seat.index())
                .map_or(Ok(()), |told| writeln!(out, "At the start: {}.", whisper(told))),
            What::Joined { seat: who, private } if *who == seat => {
                writeln!(out, "When you came: {}.", whisper(private))
            }
            What::Contact { sides } => {
                let other = sides.iter().find(|side| side.seat != seat).map(|side| side.seat);
                if let (Some(other), true) = (other, sides.iter().any(|side| side.seat == seat)) {
                    met.push(&book.names()[other.index()]);
                }
                Ok(())
            }
            What::TurnClosed { turn, private, .. } => {
                let Some(report) = private.get(seat.index()) else { continue };
                let whom = if met.is_empty() { "nobody".to_owned() } else { met.join(", ") };
                met.clear();
                match report.antidotes {
                    // Nobody is told what they are now.
                    Some(left) => {
                        writeln!(out, "Turn {turn}: you met {whom}. Left: {}.", count(left, "antidote"))
                    }
                    None => writeln!(out, "Turn {turn}: you met {whom}. Now {}.", whisper(report)),
                }
            }
            What::Joined { .. } | What::Antidote { .. } | What::Ended { .. } => Ok(()),
        };
    }
    out
}

/// Writes the judge's whole view.
pub fn judge(book: &Book) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_judge(&mut out, book);
    out
}

fn write_judge(out: &mut String, book: &Book) -> fmt::Result {
    let names = book.names();
    let list =
        |seats: &[Seat]| seats.iter().map(|seat| names[seat.index()].as_str()).collect::<Vec<_>>().join(", ");
    let late = book.records().iter().filter(|record| matches!(record.what, What::Joined { .. })).count();
    let first = &book.zombies()[..names.len() - late];
    let zombies = first.iter().filter(|&&zombie| zombie).count() as u32;
    writeln!(
        out,
        "{}, {} at the start, {}",
        count(names.len() as u32, "player"),
        count(zombies, "zombie"),
        limits(book.rules())
    )?;
    let mut open = false;
    let mut turn = 0;
    let records = book.records();
    for (place, record) in records.iter().enumerate() {
        if !open && !matches!(record.what, What::Started { .. }) {
            turn += 1;
            open = true;
            match book.rules().last_turn() {
                Some(last) if turn > last => writeln!(out, "\nAfter the last turn")?,
                _ => writeln!(out, "\nTurn {turn}")?,
            }
        }
        let line = record.line;
        match &record.what {
            What::Started { public, private } => {
                writeln!(out, "  announce: {}", announcement(public))?;
                write_private(out, book, private)?;
            }
            What::Contact { sides } => writeln!(out, "  {line:>5}  {}", contact(book, sides))?,
            What::Antidote { seat, before, after, antidotes } => {
                let (name, effect) = (&names[seat.index()], antidote(before, *antidotes));
                let left = match antidotes {
                    Some(_) => String::new(),
                    None => format!(" ({} left)", count(after.antibodies, "antibody")),
                };
                writeln!(out, "  {line:>5}  {name} takes the antidote, {effect}{left}")?;
            }
            What::Joined { seat, private } => {
                let name = &names[seat.index()];
                writeln!(out, "  {line:>5}  {name} comes late; whisper: {}", whisper(private))?;
            }
            What::Ended { seat } => writeln!(out, "  {line:>5}  {} ends their turn", names[seat.index()])?,
            What::TurnClosed { without_contact, turned, public, private, ending: end, .. } => {
                open = false;
                writeln!(out, "  {line:>5}  the turn is over")?;
                if !without_contact.is_empty() {
                    writeln!(out, "  broke a rule, met nobody: {}", list(without_contact))?;
                }
                if !turned.is_empty() {
                    let why =
                        if book.rules().is_classic() { "for good" } else { "infected with no antibody left" };
                    writeln!(out, "  became zombies, {why}: {}", list(turned))?;
                }
                writeln!(out, "  announce: {}", announcement(public))?;
                // By the classic rules everybody knows what they may know, and a script may go on after an end.
                if book.rules().is_classic() {
                    if let Some(end) = end.filter(|_| place + 1 < records.len()) {
                        writeln!(out, "  an end: {}", ending(book, end))?;
                    }
                } else {
                    write_private(out, book, private)?;
                }
            }
        }
    }
    write_end(out, book, "")?;
    if let Some(party) = book.party() {
        writeln!(out, "\nNow{}", if party.ending().is_some() { ", at the end" } else { "" })?;
        write_standing(out, book, party)?;
    }
    Ok(())
}

fn write_private(out: &mut String, book: &Book, private: &[PrivateReport]) -> fmt::Result {
    let width = book.names().iter().map(|name| name.chars().count()).max().unwrap_or(0);
    writeln!(out, "  whisper:")?;
    for (name, report) in book.names().iter().zip(private) {
        let fill = " ".repeat(width - name.chars().count());
        writeln!(out, "    {name}{fill}  {}", whisper(report))?;
    }
    Ok(())
}

/// Lists the players as they really are.
fn write_standing(out: &mut String, book: &Book, party: &Party) -> fmt::Result {
    let width = book.names().iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (&seat, (name, player)) in
        Seat::all(book.names().len()).iter().zip(book.names().iter().zip(party.players()))
    {
        let fill = " ".repeat(width - name.chars().count());
        let ended = if player.ended { ", has ended their turn" } else { "" };
        let met = match player.contacts {
            0 => "met nobody yet".to_owned(),
            met => format!("met {met}"),
        };
        let met = if party.ending().is_some() { String::new() } else { format!(", {met}") };
        writeln!(out, "  {name}{fill}  {:<9} {}{met}{ended}", role_word(player.role), stock(party, seat))?;
    }
    Ok(())
}

/// Describes what a player really has.
pub fn stock(party: &Party, seat: Seat) -> String {
    let (player, rules) = (&party.players()[seat.index()], party.rules());
    if let Some(known) = party.classic(seat) {
        let [human, zombie] = rules.rules.things();
        let thing = if player.role == Role::Zombie { zombie } else { human };
        let left = |limit: u32| count(limit.saturating_sub(known.idle_turns), "turn");
        let idle = rules.interaction_limit.filter(|_| player.role != Role::Zombie);
        let idle = idle.map_or(String::new(), |limit| format!(", {} to begin a contact", left(limit.get())));
        return format!("{}, {}{idle}", count(player.stock(), thing), count(known.antidotes, "antidote"));
    }
    match player.role {
        Role::Zombie => count(player.viruses, "virus"),
        _ if player.viruses > 0 => {
            format!("{}, carries {}", count(player.antibodies, "antibody"), count(player.viruses, "virus"))
        }
        _ => count(player.antibodies, "antibody"),
    }
}

/// Describes a contact: who met whom, what became of them, and why.
pub fn contact(book: &Book, sides: &[ContactSide; 2]) -> String {
    let name = |side: &ContactSide| {
        let suffix = match side.commit {
            Commitment::None => String::new(),
            Commitment::Precaution => " (precaution)".to_owned(),
            Commitment::Virus { count: n } => format!(" ({})", count(n, "virus")),
        };
        format!("{}{suffix}", book.names()[side.seat.index()])
    };
    let [one, other] = sides;
    let roles = [one.before.role, other.before.role].map(role_word).join(" and ");
    let effects: Vec<String> = sides.iter().filter_map(|side| change(book, side)).collect();
    let effects = if effects.is_empty() { "nothing changes".to_owned() } else { effects.join("; ") };
    let why = if book.rules().is_classic() { why_classic(sides) } else { why(sides) };
    format!("{} met {}: {roles}, {why}. {effects}", name(one), name(other))
}

/// Explains a contact under the classic rules.
fn why_classic(sides: &[ContactSide; 2]) -> &'static str {
    let mut roles = sides.map(|side| side.before.role);
    roles.sort_unstable();
    match roles {
        [Role::Human, Role::Human] => "each gains a point",
        [Role::Human, Role::Zombie] => "the human is infected and the zombie gains a point",
        [Role::Human, _] => "the human is infected",
        _ => "nobody to infect",
    }
}

/// Names the row of the table of contacts that applies.
fn why(sides: &[ContactSide; 2]) -> &'static str {
    let roles = sides.map(|side| side.before.role);
    let commits = sides.map(|side| side.commit);
    let precaution = |role: Role| {
        roles.iter().zip(commits).any(|(&r, commit)| r == role && commit == Commitment::Precaution)
    };
    let viruses = commits.iter().any(|commit| matches!(commit, Commitment::Virus { .. }));
    let mut sorted = roles;
    sorted.sort_unstable();
    match sorted {
        [Role::Human, Role::Human] if commits != [Commitment::None; 2] => "a precaution, so nobody gains",
        [Role::Human, Role::Human] => "each gains an antibody",
        [Role::Human, Role::Infected] if precaution(Role::Human) => "the precaution holds",
        [Role::Human, Role::Infected] => "the infected gains an antibody and the human is infected",
        [Role::Human, Role::Zombie] => match (precaution(Role::Human), viruses) {
            (true, false) => "the precaution holds",
            (true, true)
                if sides
                    .iter()
                    .any(|side| side.before.role == Role::Human && side.after.role == Role::Human) =>
            {
                "the viruses cancel antibodies, the precaution holds"
            }
            (true, true) => "the viruses leave no antibody, so the precaution does not hold",
            (false, true) => "the viruses cancel antibodies and the human is infected",
            (false, false) => "the human is infected",
        },
        [Role::Infected, Role::Infected] => "nothing to infect",
        [Role::Infected, Role::Zombie] if viruses => "the touch and the viruses cancel antibodies",
        [Role::Infected, Role::Zombie] => "the touch cancels an antibody",
        _ if viruses => "the viruses change hands",
        _ => "each gains a virus",
    }
}

/// Describes the change of one side, or returns `None` if nothing changed.
fn change(book: &Book, side: &ContactSide) -> Option<String> {
    let ContactSide { before, after, .. } = side;
    let mut changes = Vec::new();
    if before.role != after.role {
        changes.push(format!("becomes {}", role_word(after.role)));
    }
    let classic = book.rules().is_classic();
    let [human, zombie] = if classic { ["points"; 2] } else { ["antibodies", "viruses"] };
    if before.antibodies != after.antibodies {
        changes.push(format!("{human} {} to {}", before.antibodies, after.antibodies));
    }
    if before.viruses != after.viruses {
        changes.push(format!("{zombie} {} to {}", before.viruses, after.viruses));
    }
    (!changes.is_empty()).then(|| format!("{}: {}", book.names()[side.seat.index()], changes.join(", ")))
}
