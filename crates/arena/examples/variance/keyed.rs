//! Dice that are keyed by seat, turn of that seat, roll and die: a seat meets the same luck whoever sits there and whatever was rolled before.
//!
//! They are measured here and used nowhere. The referee does not know about them: they follow the match through its events.

use necrodome_rules::{
    catalog::Listed,
    chance::Chance,
    game::{Audience, Log, Move},
    infection::{self, Infection},
    last_bullet::LastBullet,
    tokyo::{self, Tokyo},
    zombie_dice::{Event, Face, Race, Solo, Table},
};
use std::{cell::RefCell, rc::Rc};

/// The place in a match where the next die falls.
#[derive(Default)]
pub struct Place {
    seat: usize,
    /// Turns by seat.
    turns: Vec<u64>,
    roll: u64,
    die: usize,
    /// The dice to roll, in games where some are kept on the table.
    dice: Vec<usize>,
    /// The seats that play in this round.
    playing: Vec<usize>,
}

/// A game that can be followed.
pub trait Followed: Listed {
    /// Updates the place after an event.
    fn follow(event: &Self::Event, place: &mut Place);

    /// Updates the place before a move is played.
    fn moved(choice: &Move<Self::Action>, place: &mut Place) {
        let _ = (choice, place);
    }
}

macro_rules! zombie_dice {
    ($($game:ty)*) => {$(
        impl Followed for $game {
            fn follow(event: &Event, place: &mut Place) {
                match event {
                    Event::Rolled { hand, .. } => {
                        place.roll += 1;
                        // Footsteps are not drawn: the faces come from the same places all the same.
                        place.die = hand.iter().filter(|die| die.face == Face::Footsteps).count();
                    }
                    Event::TurnEnded { seat, .. } => {
                        place.turns[seat.index()] += 1;
                        (place.roll, place.die) = (0, 0);
                        let next = place.playing.iter().position(|&playing| playing == seat.index());
                        place.seat = next.map_or(0, |at| place.playing[(at + 1) % place.playing.len()]);
                    }
                    Event::TiebreakStarted { seats } => {
                        place.playing = seats.iter().map(|seat| seat.index()).collect();
                        place.seat = place.playing[0];
                    }
                }
            }
        }
    )*};
}

zombie_dice!(Race Solo Table);

impl Followed for Tokyo {
    fn follow(event: &tokyo::Event, place: &mut Place) {
        match event {
            tokyo::Event::TurnStarted { seat, .. } => {
                place.seat = seat.index();
                place.turns[seat.index()] += 1;
                (place.roll, place.die) = (0, 0);
                place.dice = (0..6).collect();
            }
            tokyo::Event::Rolled { .. } => (place.roll, place.die) = (place.roll + 1, 0),
            _ => {}
        }
    }

    fn moved(choice: &Move<tokyo::Action>, place: &mut Place) {
        if let Move::Act(tokyo::Action::Keep { dice }) = choice {
            place.dice = (0..6).filter(|&die| !dice[die]).collect();
        }
    }
}

/// Infection draws roles, and the order of each turn.
impl Followed for Infection {
    fn follow(event: &infection::Event, place: &mut Place) {
        if let infection::Event::Announced { .. } = event {
            (place.roll, place.die) = (place.roll + 1, 0);
        }
    }
}

/// Last Bullet is followed turn by turn, since pieces come and go.
impl Followed for LastBullet {
    fn follow(_: &Self::Event, _: &mut Place) {}

    fn moved(_: &Move<Self::Action>, place: &mut Place) {
        (place.roll, place.die) = (place.roll + 1, 0);
    }
}

/// The dice, and a log that tells them where the match is.
pub struct Keyed {
    seed: u64,
    place: Rc<RefCell<Place>>,
}

/// See [`Keyed`].
pub struct Follower<E>(Rc<RefCell<Place>>, fn(&E, &mut Place));

pub fn keyed<G: Followed>(seed: u64, seats: usize) -> (Keyed, Follower<G::Event>) {
    let place = Place { turns: vec![0; seats], playing: (0..seats).collect(), ..Place::default() };
    let place = Rc::new(RefCell::new(place));
    (Keyed { seed, place: place.clone() }, Follower(place, G::follow))
}

impl Keyed {
    pub fn moved<G: Followed>(&self, choice: &Move<G::Action>) {
        G::moved(choice, &mut self.place.borrow_mut());
    }
}

impl<E> Log<E> for Follower<E> {
    fn record(&mut self, _: Audience, event: E) {
        (self.1)(&event, &mut self.0.borrow_mut());
    }
}

impl Chance for Keyed {
    fn uniform(&mut self, n: u32) -> u32 {
        let place = &mut *self.place.borrow_mut();
        let die = place.dice.get(place.die).copied().unwrap_or(place.die) as u64;
        place.die += 1;
        let key = (place.seat as u64) << 56 | place.turns[place.seat] << 40 | place.roll << 20 | die;
        let word = mix(mix(self.seed ^ mix(key)).wrapping_add(key));
        (((word >> 32) * u64::from(n)) >> 32) as u32
    }
}

/// The last step of SplitMix64.
pub fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
