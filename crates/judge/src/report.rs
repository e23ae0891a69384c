//! What may be said to whom: the judge's whole view, what may be read aloud, what may be whispered to one player.
//!
//! Each is built from what its listener may hear, never from the judge's view with things removed.

use crate::book::{Book, ContactSide, What, role_word};
use necrodome_rules::{
    game::Seat,
    infection::{Commitment, Ending, Identity, Party, Player, PrivateReport, PublicReport, Role},
};
use serde::Serialize;
use std::fmt::{self, Write};

/// `1 antibody`, `2 antibodies`.
fn count(number: u32, thing: &str) -> String {
    match (number, thing) {
        (1, _) => format!("1 {thing}"),
        (_, "antibody") => format!("{number} antibodies"),
        (_, "virus") => format!("{number} viruses"),
        _ => format!("{number} {thing}s"),
    }
}

/// What everybody is told, in one sentence.
pub fn announcement(public: &PublicReport) -> String {
    format!(
        "{}, {}; the most antibodies anybody has: {}, the most viruses: {}",
        count(public.humans.into(), "human"),
        count(public.zombies.into(), "zombie"),
        public.most_antibodies,
        public.most_viruses
    )
}

/// What one player is told, in one sentence.
pub fn whisper(private: &PrivateReport) -> String {
    match private.identity {
        Identity::Human => format!("you are human and have {}", count(private.stock, "antibody")),
        Identity::Zombie => format!("you are a zombie and have {}", count(private.stock, "virus")),
    }
}

/// How the game ended, for everybody.
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
    /// The rank, from 1; who has as many antibodies shares it.
    pub rank: u16,
    /// Their seat.
    #[serde(skip)]
    pub seat: Seat,
    /// Their name.
    pub name: String,
    /// The antibodies that made the rank, where they did.
    pub antibodies: Option<u32>,
}

/// The winners, best first; none while the game goes on.
pub fn winners(book: &Book) -> Vec<Winner> {
    let Some((party, end)) = book.party().and_then(|party| Some((party, party.ending()?))) else {
        return Vec::new();
    };
    let Some(outcome) = party.outcome() else { return Vec::new() };
    let seats = Seat::all(party.players().len()).iter().filter(|seat| outcome.scores[seat.index()] > 0);
    let winner = |seat: &Seat| Winner {
        rank: outcome.places[seat.index()],
        seat: *seat,
        name: book.names()[seat.index()].clone(),
        antibodies: (end == Ending::HumansWin).then(|| party.players()[seat.index()].antibodies),
    };
    let mut winners: Vec<Winner> = seats.map(winner).collect();
    winners.sort_by_key(|winner| winner.rank);
    winners
}

fn write_winners(out: &mut String, book: &Book) -> fmt::Result {
    for winner in winners(book) {
        let with = winner.antibodies.map_or(String::new(), |n| format!(", {}", count(n, "antibody")));
        writeln!(out, "  {}. {}{with}", winner.rank, winner.name)?;
    }
    Ok(())
}

/// What may be read aloud.
pub fn public(book: &Book) -> String {
    let mut out = String::new();
    for record in book.records() {
        // Writing to a string cannot fail.
        let _ = match &record.what {
            What::Started { public, .. } => writeln!(out, "The game begins: {}.", announcement(public)),
            What::TurnClosed { turn, public, ending: end, .. } => {
                let told = writeln!(out, "Turn {turn} is over: {}.", announcement(public));
                match end {
                    Some(end) => writeln!(out, "\nThe game is over: {}.", ending(book, *end))
                        .and_then(|()| write_winners(&mut out, book)),
                    None => told,
                }
            }
            What::Contact { .. } | What::Antidote { .. } | What::Ended { .. } => Ok(()),
        };
    }
    out
}

/// What may be whispered to one player: what it is told to be, and whom it met, which it knows.
pub fn player(book: &Book, seat: Seat) -> String {
    let mut out = format!("For {}\n", book.names()[seat.index()]);
    let mut met: Vec<&str> = Vec::new();
    for record in book.records() {
        let _ = match &record.what {
            What::Started { private, .. } => {
                writeln!(out, "At the start: {}.", whisper(&private[seat.index()]))
            }
            What::Contact { sides } => {
                let other = sides.iter().find(|side| side.seat != seat).map(|side| side.seat);
                if let (Some(other), true) = (other, sides.iter().any(|side| side.seat == seat)) {
                    met.push(&book.names()[other.index()]);
                }
                Ok(())
            }
            What::TurnClosed { turn, private, .. } => {
                let whom = if met.is_empty() { "nobody".to_owned() } else { met.join(", ") };
                met.clear();
                writeln!(out, "Turn {turn}: you met {whom}. Now {}.", whisper(&private[seat.index()]))
            }
            What::Antidote { .. } | What::Ended { .. } => Ok(()),
        };
    }
    out
}

/// The judge's whole view.
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
    let zombies = book.zombies().iter().filter(|&&zombie| zombie).count() as u32;
    let rules = book.rules();
    writeln!(
        out,
        "{}, {} at the start, {}",
        count(names.len() as u32, "player"),
        count(zombies, "zombie"),
        count(rules.max_turns.get(), "turn")
    )?;
    let mut open = false;
    let mut turn = 0;
    for record in book.records() {
        if !open && !matches!(record.what, What::Started { .. }) {
            turn += 1;
            open = true;
            writeln!(out, "\nTurn {turn}")?;
        }
        let line = record.line;
        match &record.what {
            What::Started { public, private } => {
                writeln!(out, "  announce: {}", announcement(public))?;
                write_private(out, book, private)?;
            }
            What::Contact { sides } => writeln!(out, "  {line:>5}  {}", contact(book, sides))?,
            What::Antidote { seat, before, after } => {
                let name = &names[seat.index()];
                let effect = match before.role {
                    Role::Infected => "is cured and human again",
                    _ => "was not infected: it is spent for nothing",
                };
                let left = count(after.antibodies, "antibody");
                writeln!(out, "  {line:>5}  {name} takes the antidote, {effect} ({left} left)")?;
            }
            What::Ended { seat } => writeln!(out, "  {line:>5}  {} ends their turn", names[seat.index()])?,
            What::TurnClosed { without_contact, turned, public, private, ending: end, .. } => {
                open = false;
                writeln!(out, "  {line:>5}  the turn is over")?;
                if !without_contact.is_empty() {
                    writeln!(out, "  broke a rule, met nobody: {}", list(without_contact))?;
                }
                if !turned.is_empty() {
                    writeln!(out, "  became zombies, infected with no antibody left: {}", list(turned))?;
                }
                writeln!(out, "  announce: {}", announcement(public))?;
                write_private(out, book, private)?;
                if let Some(end) = end {
                    writeln!(out, "\nThe game is over: {}", ending(book, *end))?;
                    write_winners(out, book)?;
                }
            }
        }
    }
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

/// Everybody as they really are.
fn write_standing(out: &mut String, book: &Book, party: &Party) -> fmt::Result {
    let width = book.names().iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (name, player) in book.names().iter().zip(party.players()) {
        let fill = " ".repeat(width - name.chars().count());
        let ended = if player.ended { ", has ended their turn" } else { "" };
        let met = match player.contacts {
            0 => "met nobody yet".to_owned(),
            met => format!("met {met}"),
        };
        let met = if party.ending().is_some() { String::new() } else { format!(", {met}") };
        writeln!(out, "  {name}{fill}  {:<9} {}{met}{ended}", role_word(player.role), stock(player))?;
    }
    Ok(())
}

/// What a player really has.
pub fn stock(player: &Player) -> String {
    match player.role {
        Role::Zombie => count(player.viruses, "virus"),
        _ if player.viruses > 0 => {
            format!("{}, carries {}", count(player.antibodies, "antibody"), count(player.viruses, "virus"))
        }
        _ => count(player.antibodies, "antibody"),
    }
}

/// A contact: who met whom, what became of them, and why.
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
    format!("{} met {}: {roles}, {}. {effects}", name(one), name(other), why(sides))
}

/// The row of the table of contacts that applies.
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

/// What became of one side, if anything did.
fn change(book: &Book, side: &ContactSide) -> Option<String> {
    let ContactSide { before, after, .. } = side;
    let mut changes = Vec::new();
    if before.role != after.role {
        changes.push(format!("becomes {}", role_word(after.role)));
    }
    if before.antibodies != after.antibodies {
        changes.push(format!("antibodies {} to {}", before.antibodies, after.antibodies));
    }
    if before.viruses != after.viruses {
        changes.push(format!("viruses {} to {}", before.viruses, after.viruses));
    }
    (!changes.is_empty()).then(|| format!("{}: {}", book.names()[side.seat.index()], changes.join(", ")))
}
