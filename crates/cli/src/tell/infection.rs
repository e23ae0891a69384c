//! Infection: the judge's view, turn by turn.

use super::Tell;
use crate::paint::{self, bold, count, dim, green, red, yellow};
use necrodome_rules::{
    game::{Logged, Seat},
    infection::{Commitment, Effect, Ending, Event, Identity, Infection, PublicReport, Role},
    names::Names,
};
use std::io::{self, Write};

fn role(role: Role) -> String {
    match role {
        Role::Human => "human".to_owned(),
        Role::Infected => yellow("infected").to_string(),
        Role::Zombie => green("zombie").to_string(),
    }
}

fn commitment(commitment: Commitment, failed: bool) -> String {
    match commitment {
        Commitment::None if failed => " (precaution, but no antibody)".to_owned(),
        Commitment::None => String::new(),
        Commitment::Precaution => " (precaution)".to_owned(),
        Commitment::Virus { count: viruses } => format!(" ({})", plural(viruses, "virus", "viruses")),
    }
}

pub fn plural(number: u32, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

pub fn antibodies(number: u32) -> String {
    plural(number, "antibody", "antibodies")
}

/// What a player has become, and what it has now.
fn effect(effect: &Effect) -> String {
    let stock = match (effect.is, effect.viruses) {
        (Role::Zombie, viruses) => plural(viruses, "virus", "viruses"),
        (_, 0) => antibodies(effect.antibodies),
        (_, carried) => {
            format!("{}, carries {}", antibodies(effect.antibodies), plural(carried, "virus", "viruses"))
        }
    };
    if effect.was == effect.is {
        format!("{}, {stock}", role(effect.is))
    } else {
        format!("{} {} {}, {stock}", role(effect.was), red("becomes"), role(effect.is))
    }
}

/// Tells events; a player's own story is made of those that it may hear of.
pub fn tell(out: &mut impl Write, names: &Names, log: &[Logged<Event>]) -> io::Result<()> {
    let name = |seat: &Seat| paint::name(names, *seat);
    for Logged { event, .. } in log {
        match event {
            Event::Met { .. } => {}
            Event::Resolved { seats: [a, b], commitments, failed, effects } => {
                let [a_commits, b_commits] = [0, 1].map(|i| commitment(commitments[i], failed[i]));
                writeln!(out, "  {}{a_commits} meets {}{b_commits}", name(a), name(b))?;
                for (seat, happened) in [a, b].into_iter().zip(effects) {
                    writeln!(out, "    {}: {}", name(seat), effect(happened))?;
                }
            }
            Event::Antidote { seat, effect: None } => {
                writeln!(out, "  {} tries the antidote, but has no antibody", name(seat))?;
            }
            Event::Antidote { seat, effect: Some(happened) } => {
                writeln!(out, "  {} takes the antidote: {}", name(seat), effect(happened))?;
            }
            Event::Ended { seat } => writeln!(out, "  {}", dim(format!("{} ends its turn", &names[*seat])))?,
            Event::Turned { seat } => writeln!(out, "  {} {}", name(seat), red("turns into a zombie"))?,
            Event::MetNobody { seat } => {
                writeln!(out, "  {} {}", name(seat), red("met nobody and broke a rule"))?;
            }
            Event::Told { seat, report } => {
                let stock = match report.identity {
                    Identity::Human => format!("human, {}", antibodies(report.stock)),
                    Identity::Zombie => format!("zombie, {}", plural(report.stock, "virus", "viruses")),
                };
                writeln!(out, "  {} is told: {stock}", name(seat))?;
            }
            Event::Announced { report } => announce(out, report)?,
            Event::Over { ending } => {
                let ending = match ending {
                    Ending::ZombiesWin => "no human is left: the zombies win".to_owned(),
                    Ending::SurvivorWins { seat } => {
                        format!("{} is the only survivor and wins", name(seat))
                    }
                    Ending::HumansWin => "time is up: the humans win, ranked by antibodies".to_owned(),
                };
                writeln!(out, "{} {ending}", bold("The end:"))?;
            }
        }
    }
    Ok(())
}

impl Tell for Infection {
    type Story = ();

    fn tell(
        _: &mut (),
        out: &mut impl Write,
        names: &Names,
        _: &Self,
        log: &[Logged<Event>],
    ) -> io::Result<()> {
        tell(out, names, log)
    }

    fn score_text(score: i64) -> String {
        match score {
            0 => "lost".to_owned(),
            1 => "won".to_owned(),
            score => format!("won with {}", antibodies((score - 1) as u32)),
        }
    }
}

fn announce(out: &mut impl Write, report: &PublicReport) -> io::Result<()> {
    let title = match report.turns {
        0 => "The game begins:".to_owned(),
        turn => format!("End of turn {turn}:"),
    };
    writeln!(
        out,
        "{} {} and {}, at most {} and {}",
        bold(title),
        count(report.humans, "human"),
        count(report.zombies, "zombie"),
        antibodies(report.most_antibodies),
        plural(report.most_viruses, "virus", "viruses"),
    )
}
