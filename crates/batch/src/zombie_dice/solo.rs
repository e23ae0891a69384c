//! Solo: one turn, whose reward is the change of the provisional score.

use super::{
    kernel::{DiceFormat, Played, Settled, Told, TurnRules},
    lanes::Turn,
};
use necrodome_rules::{
    game::{Game, Seat},
    zombie_dice::{Solo, SoloView, TurnView},
};

/// The format of solo. A turn has nothing but its dice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoloFormat;

impl DiceFormat for SoloFormat {
    type Game = Solo;
    type Basis = TurnRules;
    type Saved = [u32; 5];
    const TAKES_TURNS: bool = false;
    const NUMBERS: usize = 0;

    fn turn_rules(rules: &<Solo as Game>::Rules) -> TurnRules {
        TurnRules { out_of_dice: rules.out_of_dice, first_roll: rules.first_roll, max_turns: u32::MAX }
    }

    fn basis(rules: &<Solo as Game>::Rules, _: usize) -> TurnRules {
        Self::turn_rules(rules)
    }

    fn new(_: &<Solo as Game>::Rules, _: usize) -> Self {
        SoloFormat
    }

    #[inline(always)]
    fn is_last(&self, _: usize, _: u32) -> u16 {
        0
    }

    #[inline(always)]
    fn settle(&mut self, _: usize, turn: &Turn, played: &Played) -> Settled {
        // A bust gives back all that the turn had before; without a roll nothing is gained.
        let worth = turn.brains & !played.rolled.busted;
        let over = played.stopped | played.rolled.busted | played.rolled.out_of_dice;
        Settled { over, ended: over, reward: worth.wrapping_sub(played.brains_before) as i16 }
    }

    #[inline(always)]
    fn proceed(&mut self, _: usize, _: u16, _: u16) {}

    #[inline(always)]
    fn pass_on(&mut self, _: &Told) {}

    #[inline(always)]
    fn numbers(&self, _: usize) -> [u16; 2] {
        [0; 2]
    }

    fn to_act(&self, _: usize) -> u8 {
        0
    }

    fn view(&self, _: usize, _: Seat, turn: TurnView) -> SoloView {
        SoloView { turn }
    }

    fn results(&mut self, _: usize, reward: i16, _: &mut [f32]) -> f32 {
        reward.into()
    }

    fn save(&self, _: usize) -> [u32; 5] {
        [0; 5]
    }

    fn restore(&mut self, _: usize, saved: [u32; 5]) -> bool {
        saved == [0; 5]
    }
}
