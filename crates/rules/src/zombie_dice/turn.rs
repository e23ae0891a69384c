//! One turn: roll three dice at a time, set brains and shotguns aside, stop in time.

use super::{
    Action, Colour, Counts, DICE, Die, Event, Face, FirstRoll, OutOfDice, TurnEnd,
    dice::{Hand, Pile, Tally},
};
use crate::{
    chance::Chance,
    game::{Audience, Log, Move, Seat, within_limit},
};
use alloc::{
    format,
    string::{String, ToString},
};
use core::mem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The dice on the table during a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Turn {
    brains: u32,
    /// The brain dice set aside. There are fewer than `brains` once some have been recycled.
    brain_dice: Pile,
    shotgun_dice: Pile,
    /// The dice of the last roll, sorted, since their order carries no information; none before the first roll.
    hand: Hand,
    cup: Pile,
}

/// The result of a roll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rolled {
    /// The player may go on.
    GoOn,
    /// Fewer than three dice are left: the turn is over and its brains count.
    OutOfDice,
    /// The third shotgun: the turn is over and nothing counts.
    Busted,
}

/// A turn as everybody at the table sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct TurnView {
    /// Brains of this turn.
    pub brains: u32,
    /// Shotguns of this turn.
    pub shotguns: u8,
    /// The three dice of the last roll, sorted by colour and face; `null` before the first roll. Those that show
    /// footsteps are rolled again.
    pub hand: Option<[Die; 3]>,
    /// Dice left in the cup.
    pub cup: Counts,
    /// Brain dice set aside (they can come back with `out_of_dice=recycle_brains`).
    pub brain_dice: Counts,
}

impl Turn {
    /// The start of a turn: all dice in the cup, the hand empty.
    pub const START: Turn = Turn {
        brains: 0,
        brain_dice: Pile::NONE,
        shotgun_dice: Pile::NONE,
        hand: Hand::NONE,
        cup: Pile::new(DICE),
    };

    /// Brains so far.
    #[inline]
    pub fn brains(&self) -> u32 {
        self.brains
    }

    /// Shotguns so far.
    #[inline]
    pub fn shotguns(&self) -> u8 {
        self.shotgun_dice.total()
    }

    /// The dice of the last roll.
    #[inline]
    pub fn hand(&self) -> Option<[Die; 3]> {
        self.hand.dice()
    }

    /// The dice that will be rolled again.
    #[inline]
    pub fn footsteps(&self) -> Counts {
        self.hand.tally().footsteps.counts()
    }

    /// The dice left in the cup.
    #[inline]
    pub fn cup(&self) -> Counts {
        self.cup.counts()
    }

    /// The shotguns by colour.
    #[inline]
    pub fn shotgun_dice(&self) -> Counts {
        self.shotgun_dice.counts()
    }

    /// The brains whose dice have gone back into the cup.
    #[inline]
    pub fn recycled(&self) -> u32 {
        self.brains - u32::from(self.brain_dice.total())
    }

    /// Rolls: fills the hand to three dice from the cup, rolls them, sets brains and shotguns aside. Only for a turn
    /// that can go on.
    ///
    /// Chance is asked first for the colour of each die that is drawn, then for the face of each die in the hand, green
    /// dice first.
    pub fn roll(&mut self, out_of_dice: OutOfDice, chance: &mut impl Chance) -> Rolled {
        let colours = self.fill_hand(chance);
        self.settle(roll_dice(colours, chance), out_of_dice)
    }

    /// Applies a roll that is known to have shown `hand`: the same as [`roll`](Turn::roll), without chance. Returns `None`, and
    /// changes nothing, if this turn cannot roll such a hand.
    #[inline]
    pub fn land(&mut self, hand: [Die; 3], out_of_dice: OutOfDice) -> Option<Rolled> {
        let hand = Hand::new(hand);
        let drawn = hand.tally().all.minus(self.hand.tally().footsteps)?;
        self.cup = self.cup.minus(drawn)?;
        Some(self.settle(hand, out_of_dice))
    }

    /// Applies a hand that was drawn and rolled.
    #[inline]
    fn settle(&mut self, hand: Hand, out_of_dice: OutOfDice) -> Rolled {
        let Tally { brains, shotguns, footsteps, .. } = hand.tally();
        self.hand = hand.sorted();
        self.brains += u32::from(brains.total());
        self.brain_dice = self.brain_dice.plus(brains);
        self.shotgun_dice = self.shotgun_dice.plus(shotguns);
        if self.shotguns() >= 3 {
            return Rolled::Busted;
        }
        if self.cup.total() + footsteps.total() < 3 {
            match out_of_dice {
                OutOfDice::EndTurn => return Rolled::OutOfDice,
                OutOfDice::RecycleBrains => self.recycle(),
            }
        }
        Rolled::GoOn
    }

    /// Puts the brain dice back into the cup; their points stay. At most two shotguns are out, so at least eleven dice
    /// can be rolled again.
    fn recycle(&mut self) {
        self.cup = self.cup.plus(mem::take(&mut self.brain_dice));
    }

    /// Draws the colours of the dice to roll: the footsteps of the last roll, and dice from the cup.
    #[inline]
    fn fill_hand(&mut self, chance: &mut impl Chance) -> Pile {
        let mut hand = self.hand.tally().footsteps;
        for _ in hand.total()..3 {
            let drawn = Pile::one(chance.pick(&self.cup.weights()));
            self.cup = self.cup.less(drawn);
            hand = hand.plus(drawn);
        }
        hand
    }

    /// The turn as the players see it.
    #[inline]
    pub fn view(&self) -> TurnView {
        TurnView {
            brains: self.brains,
            shotguns: self.shotguns(),
            hand: self.hand.dice(),
            cup: self.cup.counts(),
            brain_dice: self.brain_dice.counts(),
        }
    }

    /// Checks that all thirteen dice are accounted for, by colour, and that the counts fit each other.
    pub fn invariants(&self, out_of_dice: OutOfDice) -> Result<(), String> {
        within_limit([self.brains])?;
        let all = [self.cup, self.hand.tally().footsteps, self.brain_dice, self.shotgun_dice];
        let all = all.into_iter().map(Pile::counts).try_fold(Counts::default(), Counts::checked_add);
        if all != Some(DICE) {
            return Err(format!("not thirteen dice: {self:?}"));
        }
        let brain_count = u32::from(self.brain_dice.total());
        let brains_fit = match out_of_dice {
            OutOfDice::EndTurn => self.brains == brain_count,
            OutOfDice::RecycleBrains => self.brains >= brain_count,
        };
        if !brains_fit {
            return Err(format!("{} brains with {brain_count} brain dice", self.brains));
        }
        let Some(hand) = self.hand.dice() else {
            return if *self == Turn::START { Ok(()) } else { Err("dice are out, but no hand".to_string()) };
        };
        if !hand.is_sorted() {
            return Err(format!("the hand is not sorted: {hand:?}"));
        }
        let (brain_dice, shotgun_dice) = (self.brain_dice.counts(), self.shotgun_dice.counts());
        for colour in Colour::ALL {
            let shown = |face| hand.iter().filter(|die| **die == Die { colour, face }).count();
            let brains_left =
                out_of_dice == OutOfDice::EndTurn && shown(Face::Brain) > brain_dice[colour].into();
            if brains_left || shown(Face::Shotgun) > shotgun_dice[colour].into() {
                return Err(format!("the hand shows dice that are not set aside: {self:?}"));
            }
        }
        Ok(())
    }

    /// Checks the invariants of a turn whose player may still go on.
    pub fn open_invariants(&self, out_of_dice: OutOfDice) -> Result<(), String> {
        self.invariants(out_of_dice)?;
        if self.shotguns() >= 3 {
            return Err("the turn goes on after three shotguns".to_string());
        }
        let dice_left = self.cup.total() + self.hand.tally().footsteps.total();
        if dice_left < 3 {
            return Err("the turn goes on with fewer than three dice".to_string());
        }
        Ok(())
    }
}

impl TurnView {
    /// The dice that will be rolled again.
    #[inline]
    pub fn footsteps(&self) -> Counts {
        Hand::from(self.hand).tally().footsteps.counts()
    }
}

/// Rolls three dice in the order of their colours.
#[inline]
fn roll_dice(colours: Pile, chance: &mut impl Chance) -> Hand {
    let [green, yellow, _] = colours.weights();
    let mut roll = |place: u32| {
        // The colour by its number, and the face by its own: no branch that nobody can predict.
        let colour = u32::from(place >= green) + u32::from(place >= green + yellow);
        Hand::number(colour, chance.pick(&Colour::sides_of(colour)) as u32)
    };
    // Not `map`, which the compiler does not always see through.
    Hand::of_numbers([roll(0), roll(1), roll(2)])
}

/// Starts a turn, with its first roll where that is mandatory. Returns why the turn is over, if it is.
pub(super) fn start_turn(
    seat: Seat,
    turn: &mut Turn,
    first_roll: FirstRoll,
    out_of_dice: OutOfDice,
    chance: &mut impl Chance,
    log: &mut impl Log<Event>,
) -> Option<TurnEnd> {
    *turn = Turn::START;
    match first_roll {
        FirstRoll::Free => None,
        FirstRoll::Mandatory => roll_for(seat, turn, out_of_dice, chance, log),
    }
}

/// Plays a move within a turn. Returns why the turn is over, if it is.
pub(super) fn take_move(
    seat: Seat,
    turn: &mut Turn,
    choice: &Move<Action>,
    out_of_dice: OutOfDice,
    chance: &mut impl Chance,
    log: &mut impl Log<Event>,
) -> Option<TurnEnd> {
    match choice {
        Move::Act(Action::Go) => roll_for(seat, turn, out_of_dice, chance, log),
        Move::Act(Action::Stop) => Some(TurnEnd::Stopped),
        Move::Forfeit => Some(TurnEnd::Forfeited),
    }
}

#[inline]
fn roll_for(
    seat: Seat,
    turn: &mut Turn,
    out_of_dice: OutOfDice,
    chance: &mut impl Chance,
    log: &mut impl Log<Event>,
) -> Option<TurnEnd> {
    let rolled = turn.roll(out_of_dice, chance);
    if let Some(hand) = turn.hand() {
        let event = Event::Rolled { seat, hand, brains: turn.brains, shotguns: turn.shotguns() };
        log.record(Audience::Everyone, event);
    }
    match rolled {
        Rolled::GoOn => None,
        Rolled::OutOfDice => Some(TurnEnd::OutOfDice),
        Rolled::Busted => Some(TurnEnd::Busted),
    }
}

/// Adds the points of a finished turn to `score` and reports it.
pub(super) fn bank(seat: Seat, turn: &Turn, why: TurnEnd, score: &mut u32, log: &mut impl Log<Event>) {
    let banked = match why {
        TurnEnd::Stopped | TurnEnd::OutOfDice => turn.brains,
        TurnEnd::Busted | TurnEnd::Forfeited => 0,
    };
    *score += banked;
    log.record(Audience::Everyone, Event::TurnEnded { seat, why, banked, score: *score });
}
