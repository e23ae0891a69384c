//! The packed part of a battle. The decoder of the pages is `web/src/battle/film.ts`.
//!
//! Numbers are unsigned LEB128 varints unless stated otherwise. A piece is identified by its index in the referee's list, which
//! never changes; a square by `y * side + x`. The stream begins with the square of every copy; each copy starts with three bullets.
//! Then comes a record for every turn from 0, with the changes since the turn before:
//!
//! 1. the number of shots; for each the shooter, then `2 * (target + 1) + hit`, where `target + 1` is 0 if no piece had that number
//! 2. the list of pieces that became corpses
//! 3. for every piece except the corpses, in order, where it went: a digit from 0 (northwest) through 4 (stayed) to 8 (southeast), in rows
//!    from north to south. Five digits make one little-endian `u16`, the first digit counting ones; the last `u16` is padded with zeros.
//! 4. the zombie that rose: 0 for none, else its piece + 1; a new piece is followed by its square
//! 5. the list of pieces that were bitten
//! 6. the list of pieces whose bullets changed; then the new number of bullets of each
//!
//! A list is its length, then for each piece, in ascending order, the number of pieces between it and the one before.

use necrodome_arena::varint::push;
use necrodome_rules::{
    game::{Logged, Seat},
    last_bullet::{BULLETS, Direction, Event, Kind, LastBullet, Piece, ShotResult, Square, Torus},
};
use std::collections::HashMap;

/// Digits in a `u16`.
const DIGITS: usize = 5;

pub(super) struct Writer {
    torus: Torus,
    /// All pieces, as the stream has described them.
    pieces: Vec<Piece>,
    /// The place of every piece number so far.
    places: HashMap<u32, usize>,
    out: Vec<u8>,
}

impl Writer {
    /// Begins with the copies as they were set up. Copies lost since then have not moved yet.
    pub(super) fn new(game: &LastBullet, seats: usize, copies: usize) -> Self {
        let torus = Torus::new(game.side());
        let set_up = |(place, piece): (usize, &Piece)| Piece {
            kind: Kind::Player(Seat((place / copies) as u16)),
            number: place as u32,
            square: piece.square,
            bullets: BULLETS,
        };
        let pieces: Vec<Piece> = game.pieces()[..seats * copies].iter().enumerate().map(set_up).collect();
        let places = (0..).zip(0..pieces.len()).collect();
        let mut out = Vec::new();
        for piece in &pieces {
            varint(&mut out, torus.index(piece.square));
        }
        Writer { torus, pieces, places, out }
    }

    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    pub(super) fn side(&self) -> u16 {
        self.torus.side()
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.out
    }

    /// Writes the record of a turn: from the pieces of the turn before to those of `game`.
    pub(super) fn turn(&mut self, game: &LastBullet, log: &[Logged<Event>]) {
        self.shots(log);
        self.killed(log);
        self.moves(game);
        self.rose(game, log);
        self.bitten(log);
        self.bullets(game);
        for (place, piece) in game.pieces().iter().enumerate() {
            if self.pieces[place].number != piece.number {
                self.places.insert(piece.number, place);
            }
        }
        self.pieces.copy_from_slice(game.pieces());
    }

    fn shots(&mut self, log: &[Logged<Event>]) {
        // Whoever shoots without a bullet does nothing.
        let shots = log.iter().filter_map(|logged| match logged.event {
            Event::Shot { result: ShotResult::NoBullet, .. } => None,
            Event::Shot { number, target, result, .. } => Some((number, target, result == ShotResult::Hit)),
            _ => None,
        });
        varint(&mut self.out, shots.clone().count());
        for (shooter, target, hit) in shots {
            let there = |&&place: &&usize| self.pieces[place].number == target;
            let target = self.places.get(&target).filter(there).map_or(0, |place| place + 1);
            varint(&mut self.out, shooter as usize);
            varint(&mut self.out, 2 * target + usize::from(hit));
        }
    }

    fn killed(&mut self, log: &[Logged<Event>]) {
        let killed = log.iter().filter_map(|logged| match logged.event {
            Event::Killed { number, .. } => self.places.get(&number).copied(),
            _ => None,
        });
        let killed: Vec<usize> = killed.collect();
        list(&mut self.out, &killed);
        for place in killed {
            self.pieces[place].kind = Kind::Corpse;
        }
    }

    fn moves(&mut self, game: &LastBullet) {
        let (torus, out) = (self.torus, &mut self.out);
        let walking = self.pieces.iter().zip(game.pieces()).filter(|(before, _)| before.kind != Kind::Corpse);
        let (mut word, mut digits, mut weight) = (0u16, 0, 1u16);
        for (before, now) in walking {
            word += weight * digit(torus, before.square, now.square);
            digits += 1;
            if digits == DIGITS {
                out.extend(word.to_le_bytes());
                (word, digits, weight) = (0, 0, 1);
            } else {
                weight *= 9;
            }
        }
        if digits > 0 {
            out.extend(word.to_le_bytes());
        }
    }

    fn rose(&mut self, game: &LastBullet, log: &[Logged<Event>]) {
        let square = log.iter().find_map(|logged| match logged.event {
            Event::Rose { square, .. } => Some(square),
            _ => None,
        });
        let risen = square.and_then(|square| game.pieces().iter().position(|piece| piece.square == square));
        varint(&mut self.out, risen.map_or(0, |place| place + 1));
        if let Some(place) = risen.filter(|&place| place == self.pieces.len()) {
            let zombie = game.pieces()[place];
            varint(&mut self.out, self.torus.index(zombie.square));
            self.pieces.push(zombie);
            self.places.insert(zombie.number, place);
        }
    }

    fn bitten(&mut self, log: &[Logged<Event>]) {
        let bitten = log.iter().filter_map(|logged| match logged.event {
            Event::Bitten { number, .. } => Some(number as usize),
            _ => None,
        });
        list(&mut self.out, &bitten.collect::<Vec<_>>());
    }

    fn bullets(&mut self, game: &LastBullet) {
        let both = self.pieces.iter().zip(game.pieces()).enumerate();
        let changed = both.filter(|(_, (before, now))| before.bullets != now.bullets);
        let changed: Vec<usize> = changed.map(|(place, _)| place).collect();
        list(&mut self.out, &changed);
        for place in changed {
            varint(&mut self.out, game.pieces()[place].bullets as usize);
        }
    }
}

/// Returns which of the nine directions leads from one square to another.
fn digit(torus: Torus, from: Square, to: Square) -> u16 {
    let along = |from: u16, to: u16| match to {
        _ if to == from => 0,
        _ if to == from + 1 || (to == 0 && from + 1 == torus.side()) => 1,
        _ => -1,
    };
    Direction::toward(along(from.x, to.x), along(from.y, to.y)) as u16
}

fn list(out: &mut Vec<u8>, places: &[usize]) {
    varint(out, places.len());
    let mut next = 0;
    for &place in places {
        varint(out, place - next);
        next = place + 1;
    }
}

fn varint(out: &mut Vec<u8>, number: usize) {
    push(out, number as u64);
}
