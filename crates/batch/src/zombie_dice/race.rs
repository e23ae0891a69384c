//! The race: the players take turns, and the first to bank 13 wins.

use super::{
    kernel::{DiceFormat, Played, Settled, Told, TurnRules},
    lanes::{Column, Counters, LANES, Turn, below, pick},
};
use necrodome_rules::{
    game::{Game, Seat},
    zombie_dice::{GOAL, Race, RaceView, TurnView, WIN_REWARD},
};

/// The scores of races, and the seat to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub struct RaceFormat {
    /// The score of the seat to act.
    own: Column,
    /// The score of the other seat.
    other: Column,
    mover: Column,
    /// The reward of seat 0 in the last match that ended.
    result: [i16; LANES],
    /// Turns that have ended.
    turns: Counters,
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
            turns: Counters::ZERO,
        }
    }

    #[inline(always)]
    fn is_last(&self, i: usize, max_turns: u32) -> u16 {
        self.turns.is(i, max_turns.wrapping_sub(1))
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
        Settled { over, ended, reward: reward as i16 }
    }

    #[inline(always)]
    fn proceed(&mut self, i: usize, passed: u16, again: u16) {
        let (own, other) = (self.own[i], self.other[i]);
        self.own[i] = pick(passed, other, own) & !again;
        self.other[i] = pick(passed, own, other) & !again;
    }

    #[inline(always)]
    fn pass_on(&mut self, told: &Told) {
        for i in 0..LANES {
            self.turns.count(i, told.ended[i], told.over[i]);
            self.mover[i] = (self.mover[i] ^ (told.passed[i] & 1)) & !told.again[i];
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

    fn results(&mut self, i: usize, reward: i16, out: &mut [f32]) -> f32 {
        self.result[i] = if self.mover[i] == 0 { reward } else { -reward };
        let seat_0 = f32::from(self.result[i]);
        out.copy_from_slice(&[seat_0, -seat_0]);
        reward.into()
    }

    fn save(&self, i: usize) -> [u32; 5] {
        let result = (self.result[i] + WIN_REWARD as i16) as u32;
        [self.own[i].into(), self.other[i].into(), self.mover[i].into(), result, self.turns.get(i)]
    }

    fn restore(&mut self, i: usize, [own, other, mover, result, turns]: [u32; 5]) -> bool {
        self.own[i] = own as u16;
        self.other[i] = other as u16;
        self.mover[i] = mover as u16;
        self.result[i] = result as i16 - WIN_REWARD as i16;
        self.turns.set(i, turns);
        own < 1 << 14 && other < 1 << 14 && mover < 2 && result <= 2 * WIN_REWARD as u32
    }
}
