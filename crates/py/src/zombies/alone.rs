//! Single turns, for programs that play turn by turn.

use super::shown::arranged;
use crate::setup;
use necrodome_rules::{
    chance::Seeded,
    zombie_dice::{Colour, Counts, Die, Face, Rolled, SoloRules, Turn},
};
use pyo3::prelude::*;

/// Turns by the rules of `zombie-dice-solo`, one after the other: call `begin`, then `go` as often as you like.
#[pyclass(module = "necrodome._native")]
pub struct ZombieTurn {
    rules: SoloRules,
    chance: Seeded,
    turn: Turn,
    hand: ZombieHand,
}

/// Three numbers: of dice (colour times three, plus face), or counts by colour.
type Numbers = (u8, u8, u8);

#[pymethods]
impl ZombieTurn {
    /// Makes the turns. `options` is a JSON object of the rules that differ from the rulebook.
    #[new]
    fn new(options: &str) -> PyResult<Self> {
        let (chance, hand) = (Seeded::new(0, "match", 0), ZombieHand::new(0));
        Ok(ZombieTurn { rules: setup::rules(options)?, chance, turn: Turn::START, hand })
    }

    /// Begins a game: everything that follows comes from this seed.
    fn start(&mut self, seed: u64) {
        (self.chance, self.hand) = (Seeded::new(seed, "match", 0), ZombieHand::new(seed));
    }

    /// Begins a turn.
    fn begin(&mut self) {
        self.turn = Turn::START;
        self.hand.clear();
    }

    /// Rolls; only in a turn that is not over. Returns the dice in their places, the cup by colour, brains and shotguns of the turn,
    /// and whether fewer than three dice are left, and whether the turn is lost.
    fn go(&mut self) -> (Numbers, Numbers, (u32, u8), (bool, bool)) {
        let rolled = self.turn.roll(self.rules.out_of_dice, &mut self.chance);
        let Counts { green, yellow, red } = self.turn.cup();
        let dice = self.turn.hand().map_or((0, 0, 0), |hand| self.hand.put(hand));
        let is_out = self.turn.cup().total() + self.turn.footsteps().total() < 3;
        let counts = (self.turn.brains(), self.turn.shotguns());
        (dice, (green, yellow, red), counts, (is_out, rolled == Rolled::Busted))
    }
}

/// Three places for dice. Footsteps stay in place, although the referee sorts a hand, because the order of dice tells nothing.
#[pyclass(module = "necrodome._native")]
pub struct ZombieHand {
    kept: [Option<Colour>; 3],
    order: Seeded,
}

#[pymethods]
impl ZombieHand {
    #[new]
    fn new(seed: u64) -> Self {
        ZombieHand { kept: [None; 3], order: Seeded::new(seed, "order", 0) }
    }

    /// Removes all dice.
    fn clear(&mut self) {
        self.kept = [None; 3];
    }

    /// Takes a roll; returns its dice in their places.
    fn land(&mut self, dice: [u8; 3]) -> Numbers {
        let pick = |number: u8, all: usize| usize::from(number).min(all - 1);
        let die = |number: u8| Die {
            colour: Colour::ALL[pick(number / 3, 3)],
            face: Face::ALL[pick(number % 3, 3)],
        };
        self.put(dice.map(die))
    }
}

impl ZombieHand {
    fn put(&mut self, hand: [Die; 3]) -> Numbers {
        let hand = arranged(self.kept, hand, &mut self.order);
        self.kept = hand.map(|die| (die.face == Face::Footsteps).then_some(die.colour));
        let [a, b, c] = hand.map(|die| die.colour as u8 * 3 + die.face as u8);
        (a, b, c)
    }
}
