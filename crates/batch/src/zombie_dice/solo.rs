//! Solo: one turn, whose reward is the change of the provisional score.

use super::{
    kernel::{DiceFormat, Played, Settled, TurnRules},
    lanes::{Column, LANES, Turn},
};
use necrodome_rules::{game::Game, zombie_dice::Solo};

/// A turn needs nothing but its dice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoloFormat;

impl DiceFormat for SoloFormat {
    type Game = Solo;
    const SEATS: usize = 1;
    const START: Self = SoloFormat;
    const NUMBERS: usize = 0;

    fn turn_rules(rules: &<Solo as Game>::Rules) -> TurnRules {
        TurnRules { out_of_dice: rules.out_of_dice, first_roll: rules.first_roll, max_turns: u32::MAX }
    }

    #[inline(always)]
    fn last_turns(&self, _: u32) -> Column {
        [0; LANES]
    }

    #[inline(always)]
    fn settle(&mut self, _: usize, turn: &Turn, played: &Played) -> Settled {
        // A bust gives back all that the turn had before; without a roll nothing is gained.
        let worth = if played.rolled.busted { 0 } else { turn.brains };
        let over = played.stopped | played.rolled.busted | played.rolled.out_of_dice;
        Settled { over, ended: over, reward: worth.wrapping_sub(played.brains_before) as i16 }
    }

    #[inline(always)]
    fn count_turns(&mut self, _: &Column, _: &Column) {}

    fn begin(&mut self, _: usize) {}

    #[inline(always)]
    fn proceed(&mut self, _: usize, _: bool, _: bool) {}

    #[inline(always)]
    fn numbers(&self, _: usize) -> [u16; 2] {
        [0; 2]
    }

    fn to_act(&self, _: usize) -> u8 {
        0
    }

    fn result(&self, _: usize) -> i16 {
        0
    }

    fn save(&self, _: usize) -> [u32; 5] {
        [0; 5]
    }

    fn restore(&mut self, _: usize, saved: [u32; 5]) -> bool {
        saved == [0; 5]
    }
}
