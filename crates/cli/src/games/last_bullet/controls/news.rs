//! The news of an entry: the fate of its survivors, and what they see happen to others.

use crate::human::OwnSeat;
use necrodome_rules::{
    catalog::Listed,
    game::Seat,
    last_bullet::{Event, LastBullet, ShotResult, WhoIs},
};

/// Whether the event happened to a survivor of this entry.
pub fn is_own(me: Seat, event: &Event) -> bool {
    match event {
        Event::Rose { replaced, .. } => replaced.is_some_and(|replaced| replaced.who == WhoIs::entry(me)),
        Event::Killed { who, .. } => *who == WhoIs::entry(me),
        Event::Bitten { seat, .. }
        | Event::Shot { seat, .. }
        | Event::Scavenged { seat, .. }
        | Event::EntryOut { seat, .. } => *seat == me,
    }
}

/// Returns an event in words; `steered` is the number of the survivor that the person steers.
pub fn line(steered: Option<u32>, place: &OwnSeat, event: &Event) -> Option<String> {
    if !is_own(place.seat, event) {
        let told = LastBullet::tell(event, &place.names).into_iter().next()?;
        return Some(format!("{}.", told.sentence(&place.names)));
    }
    let lost = |number: u32, how: &str| match steered == Some(number) {
        true => format!("You were {how}."),
        false => format!("One of yours was {how}."),
    };
    Some(match event {
        Event::Rose { replaced, .. } => lost(replaced.as_ref()?.number, "buried by a rising zombie"),
        Event::Bitten { number, .. } => lost(*number, "bitten"),
        Event::Killed { number, .. } => lost(*number, "shot"),
        Event::Shot { result: ShotResult::Hit, .. } => "Your shot hit.".to_owned(),
        Event::Shot { result: ShotResult::Missed, .. } => "Your shot missed.".to_owned(),
        Event::Shot { result: ShotResult::NoBullet, .. } => return None,
        Event::Scavenged { bullets, .. } => format!("Bullets taken from a corpse: {bullets}."),
        Event::EntryOut { score, .. } => {
            format!("You are gone; you lived to clock {score}. The others play on without you.")
        }
    })
}
