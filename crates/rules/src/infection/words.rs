//! Infection in words, for the judge and for those who hear only part of it.

use super::{
    Action, Commitment, Effect, Ending, Event, Identity, InfectionView, PrivateReport, PublicReport,
    Question, Role,
};
use crate::{
    game::Move,
    names::Names,
    text,
    words::{Text, Told, bad, count, dim, fair, good, name, strong},
};
use alloc::{format, string::String, vec, vec::Vec};

fn role(role: Role) -> Text {
    match role {
        Role::Human => "human".into(),
        Role::Infected => fair("infected"),
        Role::Zombie => good("a zombie"),
    }
}

const NOTHING: &str = "commits nothing";

fn commitment(commitment: Commitment, failed: bool) -> String {
    match commitment {
        Commitment::None if failed => "tries a precaution without an antibody".into(),
        Commitment::None => NOTHING.into(),
        Commitment::Precaution => "takes a precaution".into(),
        Commitment::Virus { count: viruses } => format!("applies {}", count(viruses, "virus")),
    }
}

/// What a player has become, and what they have now.
fn effect(effect: &Effect) -> Text {
    let [human, zombie] = effect.rules.things();
    let stock = match (effect.is, effect.viruses) {
        (Role::Zombie, viruses) => count(viruses, zombie),
        (_, 0) => count(effect.antibodies, human),
        (_, carried) => {
            format!("{} and carries {}", count(effect.antibodies, "antibody"), count(carried, "virus"))
        }
    };
    if effect.was == effect.is {
        text!["is ", role(effect.is), " and has ", stock]
    } else {
        text!["was ", role(effect.was), " and ", bad("becomes"), " ", role(effect.is), ", with ", stock]
    }
}

/// What a player is told, in a few words.
pub fn told(report: &PrivateReport) -> String {
    match (report.identity, report.antidotes) {
        (Identity::Human, None) => format!("human, {}", count(report.stock, "antibody")),
        (Identity::Zombie, None) => format!("a zombie, {}", count(report.stock, "virus")),
        (Identity::Human, Some(antidotes)) => format!("human, {}", count(antidotes, "antidote")),
        (Identity::Zombie, Some(antidotes)) => format!("a zombie, {}", count(antidotes, "antidote")),
    }
}

fn announced(report: &PublicReport) -> Text {
    let title = match report.turns {
        0 => "The game begins:".into(),
        turn => format!("End of turn {turn}:"),
    };
    let [humans, zombies] = [count(report.humans, "human"), count(report.zombies, "zombie")];
    let [human, zombie] = report.rules.things();
    let most = [count(report.most_antibodies, human), count(report.most_viruses, zombie)];
    text![strong(title), format!(" {humans} and {zombies}, at most {} and {}", most[0], most[1])]
}

pub(super) fn tell(event: &Event, names: &Names) -> Vec<Told> {
    let one = match event {
        Event::Met { seat, with } => Told::by(*seat, text!["meets ", name(names, *with)]),
        Event::Resolved { seats, commitments, failed, effects } => {
            let [own, other] = [0, 1].map(|side| commitment(commitments[side], failed[side]));
            let met = if own == NOTHING && other == NOTHING {
                // That they meet has been told.
                None
            } else {
                Some(Told::by(seats[0], text![own, "; ", name(names, seats[1]), " ", other]))
            };
            let each = seats.iter().zip(effects).map(|(&seat, happened)| Told::by(seat, effect(happened)));
            return met.into_iter().chain(each).collect();
        }
        Event::Antidote { seat, effect: None } => {
            Told::by(*seat, "tries the antidote, but has nothing to spend")
        }
        Event::Antidote { seat, effect: Some(happened) } => {
            Told::by(*seat, text!["takes the antidote and ", effect(happened)])
        }
        Event::Ended { seat } => Told::by(*seat, dim("ends their turn")),
        Event::Turned { seat } => Told::by(*seat, bad("turns into a zombie")),
        Event::MetNobody { seat } => Told::by(*seat, bad("met nobody and broke a rule")),
        Event::Told { seat, report } => Told::by(*seat, format!("is told: {}", told(report))),
        Event::Announced { report } => Told::all(announced(report)).mark(),
        Event::Over { ending } => {
            let ending = match ending {
                Ending::ZombiesWin => "no human is left: the zombies win".into(),
                Ending::SurvivorWins { seat } => {
                    text![name(names, *seat), " is the only survivor and wins"]
                }
                Ending::HumansWin => "time is up: the humans win, ranked by antibodies".into(),
            };
            Told::all(text![strong("The end:"), " ", ending]).mark()
        }
    };
    vec![one]
}

pub(super) fn situation(view: &InfectionView, names: &Names) -> Text {
    let question = match view.question {
        Question::Wait => "waits".into(),
        Question::Choose => "chooses whom to meet".into(),
        Question::Answer { to } => text!["is met by ", name(names, to)],
    };
    text![format!("{}, turn {} of {}, ", told(&view.told), view.public.turns + 1, view.max_turns), question]
}

fn with_what(commit: Commitment) -> String {
    match commit {
        Commitment::None => String::new(),
        Commitment::Precaution => ", with a precaution".into(),
        Commitment::Virus { count: 1 } => ", with a virus".into(),
        Commitment::Virus { count } => format!(", with {count} viruses"),
    }
}

pub(super) fn choice(choice: &Move<Action>, names: &Names) -> Text {
    let first = |antidote: bool| if antidote { "takes the antidote and " } else { "" };
    match *choice {
        Move::Act(Action::Contact { with, commit, antidote }) => {
            text![first(antidote), "wants to meet ", name(names, with), with_what(commit)]
        }
        Move::Act(Action::Answer { commit, antidote }) => {
            text![first(antidote), "agrees to meet", with_what(commit)]
        }
        Move::Act(Action::End { antidote }) => text![first(antidote), "ends the turn"],
        Move::Forfeit => "gives no valid answer".into(),
    }
}

pub(super) fn label(action: Action, names: &Names) -> String {
    let first = |antidote: bool| if antidote { "take the antidote and " } else { "" };
    match action {
        Action::Contact { with, commit, antidote } => {
            format!("{}meet {}{}", first(antidote), &names[with], with_what(commit))
        }
        Action::Answer { commit, antidote } => {
            format!("{}agree to meet{}", first(antidote), with_what(commit))
        }
        Action::End { antidote } => format!("{}end the turn", first(antidote)),
    }
}

pub(super) fn score(score: i64) -> String {
    match score {
        0 => "lost".into(),
        1 => "won".into(),
        score => format!("won with {}", count(score.unsigned_abs() - 1, "point")),
    }
}
