//! Bots at a party: the built-in bots of Infection, shown what a guest in their seat would know.

use super::{
    refused::Refused,
    room::{Holder, Input, Number, Room},
};
use necrodome_rules::{
    bot::{Bot, BotSpec},
    chance::Seeded,
    game::Seat,
    infection::{Action, Commitment, Infection, Question, built_ins},
};
use std::collections::BTreeSet;

/// Names for bots, in the order in which they are used.
const NAMES: [&str; 20] = [
    "Ada", "Bela", "Cleo", "Dino", "Ebba", "Fritz", "Gaia", "Hugo", "Iris", "Juno", "Kaya", "Lino", "Mona",
    "Nero", "Odo", "Pina", "Quin", "Runa", "Sepp", "Tilda",
];

/// Returns names that no player has: `Bot Ada` and so on, and when all are taken `Bot Ada 2`.
pub(super) fn free_names(room: &Room) -> impl Iterator<Item = String> + use<> {
    let taken: BTreeSet<String> = room.members().iter().map(|member| member.name.to_lowercase()).collect();
    let names = (1..).flat_map(|round| {
        NAMES.iter().map(move |name| match round {
            1 => format!("Bot {name}"),
            _ => format!("Bot {name} {round}"),
        })
    });
    names.filter(move |name| !taken.contains(&name.to_lowercase()))
}

fn build(text: &str, chance: Seeded) -> Result<Box<dyn Bot<Infection>>, Refused> {
    let refuse = |why: String| Refused::Bot(why);
    let spec: BotSpec = text.parse().map_err(|error| refuse(format!("{text:?} ({error})")))?;
    let all = built_ins();
    let Some(found) = all.iter().find(|built_in| built_in.name == spec.name) else {
        let names: Vec<&str> = all.iter().map(|built_in| built_in.name).collect();
        return Err(refuse(format!("{text:?}, expected one of {}", names.join(", "))));
    };
    found.build(&spec, chance).map_err(|error| refuse(format!("{text:?} ({error})")))
}

/// Checks that there is a bot of this name, with these parameters.
pub(super) fn check(bot: &str) -> Result<(), Refused> {
    build(bot, Seeded::new(0, "party bot", 0)).map(drop)
}

/// Returns the players that a bot plays for and that have something to decide now.
pub(super) fn to_act(room: &Room) -> Vec<Number> {
    let Some(game) = room.game.as_ref().filter(|game| game.party().ending().is_none()) else {
        return Vec::new();
    };
    let acts = |seat: Seat| {
        if game.party().players()[seat.index()].ended {
            return false;
        }
        match game.busy(seat) {
            Some(contact) => {
                let side = contact.side(seat).unwrap_or_default();
                contact.commits.is_some_and(|commits| commits[side].is_none())
            }
            None => game.proposal(seat).is_none() || game.waiting(seat).next().is_some(),
        }
    };
    let members = room.members().iter().enumerate();
    members
        .filter(|(place, member)| matches!(member.holder, Holder::Bot(_)) && acts(Seat(*place as u16)))
        .map(|(_, member)| member.number)
        .collect()
}

/// Returns what the bot of a player does now, in order.
pub(super) fn inputs(room: &Room, player: Number) -> Vec<Input> {
    decide(room, player).unwrap_or_default()
}

fn decide(room: &Room, player: Number) -> Option<Vec<Input>> {
    let (game, seat) = (room.game.as_ref()?, room.seat(player).ok()?);
    let Holder::Bot(bot) = &room.members()[seat.index()].holder else { return None };
    let mut bot = build(bot, room.chance("party bot", room.next().into())).ok()?;
    let antidote =
        |wanted: bool| (wanted && game.may_try_antidote(seat)).then_some(Input::Antidote { player });
    if let Some(contact) = game.busy(seat) {
        let to = contact.seats[1 - contact.side(seat)?];
        let action = bot.act(&game.view(seat, Question::Answer { to }));
        let (commit, first) = match action {
            Action::Answer { commit, antidote } => (commit, antidote),
            _ => (Commitment::None, false),
        };
        let commit = Input::Commit { contact: contact.id, player, commit };
        return Some(antidote(first).into_iter().chain([commit]).collect());
    }
    let own = game.proposal(seat);
    let willing = game.waiting(seat).find(|contact| game.busy(contact.seats[0]).is_none());
    if let Some(contact) = willing {
        let withdraw = own.map(|own| Input::Withdraw { contact: own.id });
        return Some(withdraw.into_iter().chain([Input::Accept { contact: contact.id }]).collect());
    }
    if own.is_some() {
        return None;
    }
    let action = bot.act(&game.view(seat, Question::Choose));
    let (then, first) = match action {
        Action::Contact { with, antidote, .. } => {
            (Input::Propose { from: player, to: room.members()[with.index()].number }, antidote)
        }
        Action::End { antidote } => (Input::End { player }, antidote),
        Action::Answer { .. } => return None,
    };
    Some(antidote(first).into_iter().chain([then]).collect())
}
