//! Last Bullet in words.

use super::{Action, Event, LastBulletView, Order, ShotResult, WhoIs};
use crate::{
    game::{Move, Seat},
    names::Names,
    text,
    words::{Text, Told, bad, count, good, name},
};
use alloc::{format, string::String, vec, vec::Vec};

/// The entry of a piece, or `None` for a zombie or a corpse.
pub fn seat_of(who: WhoIs) -> Option<Seat> {
    who.0.checked_sub(2).map(Seat)
}

pub(super) fn tell(event: &Event, names: &Names) -> Vec<Told> {
    let told = match event {
        Event::Rose { replaced, .. } => match replaced.and_then(|old| seat_of(old.who)) {
            Some(seat) => Told::by(seat, bad("loses a survivor under a rising zombie")),
            None => return Vec::new(),
        },
        Event::Bitten { seat, .. } => Told::by(*seat, bad("loses a survivor to a bite")),
        Event::Killed { who, .. } => match seat_of(*who) {
            Some(seat) => Told::by(seat, bad("loses a survivor to a bullet")),
            None => Told::all(good("A zombie is shot")),
        },
        Event::Shot { seat, result: ShotResult::Hit, .. } => Told::by(*seat, "shoots and hits"),
        Event::Shot { seat, result: ShotResult::Missed, .. } => Told::by(*seat, "shoots and misses"),
        Event::Shot { result: ShotResult::NoBullet, .. } => return Vec::new(),
        Event::Scavenged { seat, bullets, .. } => {
            Told::by(*seat, format!("takes {} from a corpse", count(*bullets, "bullet")))
        }
        Event::EntryOut { seat, score } => Told {
            mark: true,
            ..Told::all(text![name(names, *seat), " ", bad(format!("is gone, score {score}"))])
        },
    };
    vec![told]
}

pub(super) fn situation(view: &LastBulletView) -> Text {
    let seen: usize = view.copies.iter().map(|copy| copy.seen.len()).sum();
    format!("{} alive, {seen} in sight", count(view.copies.len() as u64, "survivor")).into()
}

pub(super) fn choice(choice: &Move<Action>) -> Text {
    let orders = match choice {
        Move::Act(Action { orders }) => orders,
        Move::Forfeit => return "gives no valid answer".into(),
    };
    let shots = orders.iter().filter(|order| matches!(order, Order::Shoot { .. })).count() as u64;
    let moves = orders.len() as u64 - shots;
    match (moves, shots) {
        (0, 0) => "stays".into(),
        (moves, 0) => format!("moves {}", count(moves, "survivor")).into(),
        (0, shots) => format!("shoots {}", count(shots, "time")).into(),
        (moves, shots) => {
            format!("moves {}, shoots {}", count(moves, "survivor"), count(shots, "time")).into()
        }
    }
}

pub(super) fn score(score: i64) -> String {
    format!("lived to clock {score}")
}
