//! How many pieces live, walk as zombies or lie as corpses, turn by turn.

use necrodome_rules::last_bullet::{Kind, LastBullet};

pub(super) struct Curves {
    pub(super) living: Vec<Vec<(u32, u32)>>,
    pub(super) zombies: Vec<u32>,
    pub(super) corpses: Vec<u32>,
}

impl Curves {
    pub(super) fn new(seats: usize) -> Self {
        Curves { living: vec![Vec::new(); seats], zombies: Vec::new(), corpses: Vec::new() }
    }

    pub(super) fn turn(&mut self, turn: u32, game: &LastBullet) {
        let mut living = vec![0; self.living.len()];
        let (mut zombies, mut corpses) = (0, 0);
        for piece in game.pieces() {
            match piece.kind {
                Kind::Player(seat) => living[seat.index()] += 1,
                Kind::Zombie => zombies += 1,
                Kind::Corpse => corpses += 1,
            }
        }
        self.zombies.push(zombies);
        self.corpses.push(corpses);
        for (curve, now) in self.living.iter_mut().zip(living) {
            if curve.last().is_none_or(|&(_, before)| before != now) {
                curve.push((turn, now));
            }
        }
    }
}
