//! The moments of a battle that are worth a look.

use necrodome_rules::{
    game::{Logged, Seat},
    last_bullet::{Event, Kind, LastBullet, ShotResult, WhoIs},
};
use schemars::JsonSchema;
use serde::Serialize;
use std::{cmp::Reverse, collections::HashMap};

/// A moment of a battle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Notable {
    /// When.
    pub turn: u32,
    /// Where to look: the place of a piece in the list of pieces.
    pub piece: Option<u32>,
    /// What.
    pub what: Happening,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Happening {
    /// The first survivor became a zombie.
    FirstBite {
        /// Its entry.
        seat: Seat,
    },
    /// The first survivor was shot.
    FirstBlood {
        /// The entry of the first who hit it.
        seat: Seat,
        /// The entry of the victim.
        victim: Seat,
    },
    /// No survivor has hit more than this one.
    Hunter {
        /// Its entry.
        seat: Seat,
        /// Whom it has hit so far: zombies and survivors.
        hits: u32,
    },
    /// No survivor has carried more bullets than this one.
    Hoard {
        /// Its entry.
        seat: Seat,
        /// Its bullets.
        bullets: u32,
    },
    /// One of the turns in which the most survivors were lost.
    Massacre {
        /// How many.
        lost: u32,
    },
    /// From now on there are more zombies than survivors.
    Outnumbered {
        /// Zombies.
        zombies: u32,
        /// Survivors.
        living: u32,
    },
    /// An entry has lost half of its copies.
    HalfGone {
        /// The entry.
        seat: Seat,
    },
    /// An entry has lost its last copy.
    EntryOut {
        /// The entry.
        seat: Seat,
        /// Its score.
        score: u32,
    },
    /// Only one entry is left.
    LastEntry {
        /// The entry.
        seat: Seat,
    },
    /// Only one survivor is left.
    LastSurvivor {
        /// Its entry.
        seat: Seat,
    },
}

/// So many hits are worth a word.
const MIN_HITS: u32 = 3;
/// So many bullets in one hand: twice what everybody has at the start.
const MIN_HOARD: u32 = 6;
/// A massacre has at least so many victims, and there are at most so many massacres.
const MIN_MASSACRE: u32 = 5;
const MAX_MASSACRES: usize = 10;

/// Watches a battle.
pub(super) struct Watcher {
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

impl Watcher {
    pub(super) fn new(seats: usize, copies: u32) -> Self {
        Watcher {
            notable: Vec::new(),
            massacres: Vec::new(),
            copies,
            living: vec![copies; seats],
            hits: HashMap::new(),
            most_hits: MIN_HITS - 1,
            most_bullets: MIN_HOARD - 1,
            is_bitten: false,
            is_bloody: false,
            is_outnumbered: false,
        }
    }

    pub(super) fn turn(&mut self, turn: u32, game: &LastBullet, log: &[Logged<Event>]) {
        let mut record = |piece: Option<u32>, what| self.notable.push(Notable { turn, piece, what });
        for logged in log {
            match logged.event {
                Event::Bitten { seat, number, .. } if !self.is_bitten => {
                    self.is_bitten = true;
                    record(Some(number), Happening::FirstBite { seat });
                }
                Event::Shot { seat, number, target, result: ShotResult::Hit } => {
                    let killed = killed(log, target);
                    if let (Some(Some(victim)), false) = (killed, self.is_bloody) {
                        self.is_bloody = true;
                        record(Some(target), Happening::FirstBlood { seat, victim });
                    }
                    let hits = self.hits.entry(number).or_default();
                    *hits += u32::from(killed.is_some());
                    if *hits > self.most_hits {
                        self.most_hits = *hits;
                        record(Some(number), Happening::Hunter { seat, hits: *hits });
                    }
                }
                Event::Scavenged { seat, number, .. } => {
                    let bullets = game.pieces()[number as usize].bullets;
                    if bullets > self.most_bullets {
                        self.most_bullets = bullets;
                        record(Some(number), Happening::Hoard { seat, bullets });
                    }
                }
                Event::EntryOut { seat, score } => record(None, Happening::EntryOut { seat, score }),
                _ => {}
            }
        }
        self.count(turn, game);
    }

    /// What the numbers tell.
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
        let mut record = |piece: Option<u32>, what| self.notable.push(Notable { turn, piece, what });
        for ((&seat, &before), &now) in Seat::all(living.len()).iter().zip(&self.living).zip(&living) {
            // Those with one copy are out at once.
            if now > 0 && 2 * now <= self.copies && self.copies < 2 * before {
                record(None, Happening::HalfGone { seat });
            }
        }
        if zombies > now && !self.is_outnumbered {
            self.is_outnumbered = true;
            record(None, Happening::Outnumbered { zombies, living: now });
        }
        let entries = |living: &[u32]| living.iter().filter(|&&count| count > 0).count();
        if let Some((place, seat)) = last {
            if entries(&living) == 1 && entries(&self.living) > 1 {
                record(Some(place), Happening::LastEntry { seat });
            }
            if now == 1 && before > 1 {
                record(Some(place), Happening::LastSurvivor { seat });
            }
        }
        self.living = living;
    }

    pub(super) fn finish(mut self) -> Vec<Notable> {
        self.massacres.sort_by_key(|&(turn, lost)| (Reverse(lost), turn));
        self.massacres.truncate(MAX_MASSACRES);
        let massacre = |(turn, lost)| Notable { turn, piece: None, what: Happening::Massacre { lost } };
        self.notable.extend(self.massacres.into_iter().map(massacre));
        self.notable.sort_by_key(|notable| notable.turn);
        self.notable
    }
}

/// Whether whoever had this number was killed, and its entry if it was a survivor.
fn killed(log: &[Logged<Event>], target: u32) -> Option<Option<Seat>> {
    log.iter().find_map(|logged| match logged.event {
        Event::Killed { who, number, .. } if number == target => {
            Some((who != WhoIs::ZOMBIE).then(|| Seat(who.0 - 2)))
        }
        _ => None,
    })
}
