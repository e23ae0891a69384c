//! The moments of a battle that are worth a look.

use necrodome_rules::{
    catalog::Listed,
    game::{Logged, Seat},
    last_bullet::{Event, Kind, LastBullet, ShotResult, words::seat_of},
    names::Names,
    text,
    words::{Told, bad, count, name},
};
use schemars::JsonSchema;
use serde::Serialize;
use std::{cmp::Reverse, collections::HashMap};

/// A moment of a battle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Notable {
    /// The turn.
    pub turn: u32,
    /// What kind of moment.
    pub kind: NotableKind,
    /// Where to look: the place of a piece in the list of pieces.
    pub piece: Option<u32>,
    /// What happened, in words.
    pub told: Told,
}

/// Why a moment of a battle is worth a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotableKind {
    /// The first bite.
    Bite,
    /// The first survivor shot.
    Blood,
    /// A record number of hits.
    Hits,
    /// A record number of bullets.
    Bullets,
    /// An entry has lost half of its survivors.
    Half,
    /// From now on there are more zombies than survivors.
    Outnumbered,
    /// One of the turns that cost the most survivors.
    Massacre,
    /// An entry is gone.
    Gone,
    /// Only one entry is left.
    Alone,
    /// Only one survivor is left.
    Last,
}

/// The fewest hits by one piece that are worth mentioning.
const MIN_HITS: u32 = 3;
/// The fewest bullets in one hand that are worth mentioning: twice what everybody starts with.
const MIN_HOARD: u32 = 6;
/// The fewest victims of a massacre; the next constant is the most massacres that are listed.
const MIN_MASSACRE: u32 = 5;
const MAX_MASSACRES: usize = 10;

/// Watches a battle.
pub(super) struct Watcher<'a> {
    names: &'a Names,
    notable: Vec<Notable>,
    massacres: Vec<(u32, u32)>,
    copies: u32,
    living: Vec<u32>,
    hits: HashMap<u32, u32>,
    most_hits: u32,
    most_bullets: u32,
    is_bitten: bool,
    is_bloody: bool,
    is_outnumbered: bool,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(names: &'a Names, copies: u32) -> Self {
        Watcher {
            names,
            notable: Vec::new(),
            massacres: Vec::new(),
            copies,
            living: vec![copies; names.len()],
            hits: HashMap::new(),
            most_hits: MIN_HITS - 1,
            most_bullets: MIN_HOARD - 1,
            is_bitten: false,
            is_bloody: false,
            is_outnumbered: false,
        }
    }

    pub(super) fn turn(&mut self, turn: u32, game: &LastBullet, log: &[Logged<Event>]) {
        let mut record =
            |kind, piece: Option<u32>, told| self.notable.push(Notable { turn, kind, piece, told });
        for logged in log {
            match logged.event {
                Event::Bitten { seat, number, .. } if !self.is_bitten => {
                    self.is_bitten = true;
                    let words = "is the first to lose a survivor to a bite";
                    record(NotableKind::Bite, Some(number), Told::by(seat, words));
                }
                Event::Shot { seat, number, target, result: ShotResult::Hit } => {
                    let killed = killed(log, target);
                    if let (Some(Some(victim)), false) = (killed, self.is_bloody) {
                        self.is_bloody = true;
                        let whose = match victim == seat {
                            true => "one of their own".into(),
                            false => text!["a survivor of ", name(self.names, victim)],
                        };
                        record(
                            NotableKind::Blood,
                            Some(target),
                            Told::by(seat, text!["draws first blood: ", whose]),
                        );
                    }
                    let hits = self.hits.entry(number).or_default();
                    *hits += u32::from(killed.is_some());
                    if *hits > self.most_hits {
                        self.most_hits = *hits;
                        let hits = count(*hits, "hit");
                        record(
                            NotableKind::Hits,
                            Some(number),
                            Told::by(seat, format!("has a survivor with {hits}")),
                        );
                    }
                }
                Event::Scavenged { seat, number, .. } => {
                    let bullets = game.pieces()[number as usize].bullets;
                    if bullets > self.most_bullets {
                        self.most_bullets = bullets;
                        let bullets = count(bullets, "bullet");
                        let words = format!("has a survivor with {bullets}");
                        record(NotableKind::Bullets, Some(number), Told::by(seat, words));
                    }
                }
                Event::EntryOut { seat, score } => {
                    let score = LastBullet::score(score.into());
                    record(
                        NotableKind::Gone,
                        None,
                        Told::by(seat, text![bad("is gone"), format!(": {score}")]),
                    );
                }
                _ => {}
            }
        }
        self.count(turn, game);
    }

    /// Records the moments that follow from the numbers of zombies and survivors.
    fn count(&mut self, turn: u32, game: &LastBullet) {
        let before: u32 = self.living.iter().sum();
        let mut living = vec![0u32; self.living.len()];
        let (mut zombies, mut last) = (0, None);
        for (place, piece) in (0..).zip(game.pieces()) {
            match piece.kind {
                Kind::Player(seat) => {
                    living[seat.index()] += 1;
                    last = Some((place, seat));
                }
                Kind::Zombie => zombies += 1,
                Kind::Corpse => {}
            }
        }
        let now: u32 = living.iter().sum();
        if before - now >= MIN_MASSACRE {
            self.massacres.push((turn, before - now));
        }
        let mut record =
            |kind, piece: Option<u32>, told| self.notable.push(Notable { turn, kind, piece, told });
        for ((&seat, &before), &now) in Seat::all(living.len()).iter().zip(&self.living).zip(&living) {
            // Those with one copy are out at once.
            if now > 0 && 2 * now <= self.copies && self.copies < 2 * before {
                record(NotableKind::Half, None, Told::by(seat, "has lost half of their survivors"));
            }
        }
        if zombies > now && !self.is_outnumbered {
            self.is_outnumbered = true;
            let (zombies, living) = (count(zombies, "zombie"), count(now, "survivor"));
            let words = format!("Outnumbered: {zombies} against {living}");
            record(NotableKind::Outnumbered, None, Told::all(words));
        }
        let entries = |living: &[u32]| living.iter().filter(|&&count| count > 0).count();
        if let Some((place, seat)) = last {
            if entries(&living) == 1 && entries(&self.living) > 1 {
                record(NotableKind::Alone, Some(place), Told::by(seat, "is the only entry left"));
            }
            if now == 1 && before > 1 {
                record(NotableKind::Last, Some(place), Told::by(seat, "has the last survivor"));
            }
        }
        self.living = living;
    }

    pub(super) fn finish(mut self) -> Vec<Notable> {
        self.massacres.sort_by_key(|&(turn, lost)| (Reverse(lost), turn));
        self.massacres.truncate(MAX_MASSACRES);
        let massacre = |(turn, lost): (u32, u32)| {
            let told = Told::all(format!("Massacre: {} lost in one turn", count(lost, "survivor")));
            Notable { turn, kind: NotableKind::Massacre, piece: None, told }
        };
        self.notable.extend(self.massacres.into_iter().map(massacre));
        self.notable.sort_by_key(|notable| notable.turn);
        self.notable
    }
}

/// Returns `None` unless the piece with this number was killed, and otherwise its entry, if it was a survivor.
fn killed(log: &[Logged<Event>], target: u32) -> Option<Option<Seat>> {
    log.iter().find_map(|logged| match logged.event {
        Event::Killed { who, number, .. } if number == target => Some(seat_of(who)),
        _ => None,
    })
}
