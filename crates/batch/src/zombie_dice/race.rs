//! The race: turns change sides, and the first to have banked 13 wins.

use super::{
    kernel::{DiceFormat, Played, Settled, TurnRules},
    lanes::{Column, LANES, Turn, mask},
};
use necrodome_rules::{
    game::Game,
    zombie_dice::{GOAL, Race, WIN_REWARD},
};

/// The scores of races, and whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub struct RaceFormat {
    /// The score of the one to act.
    own: Column,
    /// The score of the other.
    other: Column,
    mover: Column,
    /// The reward of seat 0 in the last match that ended.
    result: [i16; LANES],
    /// Turns that have ended.
    turns: [u32; LANES],
}

impl DiceFormat for RaceFormat {
    type Game = Race;
    const SEATS: usize = 2;
    const START: Self = RaceFormat {
        own: [0; LANES],
        other: [0; LANES],
        mover: [0; LANES],
        result: [0; LANES],
        turns: [0; LANES],
    };
    const NUMBERS: usize = 2;

    fn turn_rules(rules: &<Race as Game>::Rules) -> TurnRules {
        let max_turns = rules.max_rounds.map_or(u32::MAX, |max| 2 * max.get());
        TurnRules { out_of_dice: rules.out_of_dice, first_roll: rules.first_roll, max_turns }
    }

    #[inline(always)]
    fn last_turns(&self, max_turns: u32) -> Column {
        self.turns.map(|turns| mask(turns.wrapping_add(1) == max_turns))
    }

    #[inline(always)]
    fn settle(&mut self, i: usize, turn: &Turn, played: &Played) -> Settled {
        let banks = played.stopped | played.rolled.out_of_dice;
        let ended = banks | played.rolled.busted;
        let own = self.own[i].wrapping_add(if banks { turn.brains } else { 0 });
        let other = self.other[i];
        self.own[i] = own;
        let over = ended & ((own >= GOAL as u16) | played.last);
        let sign = i16::from(own > other) - i16::from(own < other);
        let reward = if over { sign * WIN_REWARD as i16 } else { 0 };
        let seat_0 = if self.mover[i] == 0 { reward } else { -reward };
        self.result[i] = if over { seat_0 } else { self.result[i] };
        Settled { over, ended, reward }
    }

    #[inline(always)]
    fn count_turns(&mut self, ended: &Column, over: &Column) {
        for i in 0..LANES {
            let turns = self.turns[i].wrapping_add(u32::from(ended[i] & 1));
            self.turns[i] = if over[i] == 0 { turns } else { 0 };
        }
    }

    fn begin(&mut self, i: usize) {
        self.turns[i] = 0;
    }

    #[inline(always)]
    fn proceed(&mut self, i: usize, passed: bool, again: bool) {
        let (own, other) = (self.own[i], self.other[i]);
        self.own[i] = if again {
            0
        } else if passed {
            other
        } else {
            own
        };
        self.other[i] = if again {
            0
        } else if passed {
            own
        } else {
            other
        };
        self.mover[i] = (self.mover[i] ^ u16::from(passed)) & !mask(again);
    }

    #[inline(always)]
    fn numbers(&self, i: usize) -> [u16; 2] {
        [self.own[i], self.other[i]]
    }

    fn to_act(&self, i: usize) -> u8 {
        self.mover[i] as u8
    }

    fn result(&self, i: usize) -> i16 {
        self.result[i]
    }

    fn save(&self, i: usize) -> [u32; 5] {
        let result = (self.result[i] + WIN_REWARD as i16) as u32;
        [self.own[i].into(), self.other[i].into(), self.mover[i].into(), result, self.turns[i]]
    }

    fn restore(&mut self, i: usize, [own, other, mover, result, turns]: [u32; 5]) -> bool {
        self.own[i] = own as u16;
        self.other[i] = other as u16;
        self.mover[i] = mover as u16;
        self.result[i] = result as i16 - WIN_REWARD as i16;
        self.turns[i] = turns;
        own < 1 << 14 && other < 1 << 14 && mover < 2 && result <= 2 * WIN_REWARD as u32
    }
}
