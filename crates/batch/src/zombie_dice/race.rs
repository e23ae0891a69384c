//! The race: turns change sides, and the first to have banked 13 wins.

use super::{
    kernel::{DiceFormat, Played, Settled, Told, TurnRules},
    lanes::{Column, LANES, Turn, below, mask, pick},
};
use necrodome_rules::{
    game::{Game, Seat},
    zombie_dice::{GOAL, Race, RaceView, TurnView, WIN_REWARD},
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
    type Basis = TurnRules;
    type Saved = [u32; 5];
    const NUMBERS: usize = 2;

    fn turn_rules(rules: &<Race as Game>::Rules) -> TurnRules {
        let max_turns = rules.max_rounds.map_or(u32::MAX, |max| 2 * max.get());
        TurnRules { out_of_dice: rules.out_of_dice, first_roll: rules.first_roll, max_turns }
    }

    fn basis(rules: &<Race as Game>::Rules, _: usize) -> TurnRules {
        Self::turn_rules(rules)
    }

    fn new(_: &<Race as Game>::Rules, _: usize) -> Self {
        RaceFormat {
            own: [0; LANES],
            other: [0; LANES],
            mover: [0; LANES],
            result: [0; LANES],
            turns: [0; LANES],
        }
    }

    #[inline(always)]
    fn last_turns(&self, max_turns: u32) -> Column {
        self.turns.map(|turns| mask(turns.wrapping_add(1) == max_turns))
    }

    #[inline(always)]
    fn settle(&mut self, i: usize, turn: &Turn, played: &Played) -> Settled {
        let banks = played.stopped | played.rolled.out_of_dice;
        let ended = banks | played.rolled.busted;
        let own = self.own[i].wrapping_add(turn.brains & banks);
        let other = self.other[i];
        self.own[i] = own;
        let over = ended & (!below(own, GOAL as u16) | played.last);
        // A mask is minus one as a number.
        let sign = below(own, other).wrapping_sub(below(other, own));
        let reward = sign.wrapping_mul(WIN_REWARD as u16) & over;
        // Negative where the other seat has moved.
        let moved = self.mover[i].wrapping_neg();
        let seat_0 = (reward ^ moved).wrapping_sub(moved);
        self.result[i] = pick(over, seat_0, self.result[i] as u16) as i16;
        Settled { over, ended, reward: reward as i16 }
    }

    #[inline(always)]
    fn proceed(&mut self, i: usize, passed: u16, again: u16) {
        let (own, other) = (self.own[i], self.other[i]);
        self.own[i] = pick(passed, other, own) & !again;
        self.other[i] = pick(passed, own, other) & !again;
        self.mover[i] = (self.mover[i] ^ (passed & 1)) & !again;
    }

    #[inline(always)]
    fn pass_on(&mut self, told: &Told) {
        for i in 0..LANES {
            let turns = self.turns[i].wrapping_add(u32::from(told.ended[i] & 1));
            self.turns[i] = if told.over[i] == 0 { turns } else { 0 };
        }
    }

    #[inline(always)]
    fn numbers(&self, i: usize) -> [u16; 2] {
        [self.own[i], self.other[i]]
    }

    fn to_act(&self, i: usize) -> u8 {
        self.mover[i] as u8
    }

    fn view(&self, i: usize, seat: Seat, turn: TurnView) -> RaceView {
        let (own, other) = (self.own[i].into(), self.other[i].into());
        let (score, opponent_score) = if seat.0 == self.mover[i] { (own, other) } else { (other, own) };
        RaceView { turn, score, opponent_score }
    }

    fn results(&self, i: usize, reward: i16, out: &mut [f32]) -> f32 {
        let seat_0 = f32::from(self.result[i]);
        out.copy_from_slice(&[seat_0, -seat_0]);
        reward.into()
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
