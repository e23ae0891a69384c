//! A game of a few lines, sound or with one chosen breach of the contract: it proves that the checks can fail.
//!
//! Seats take turns to `add` 0 or 1; one that adds 2 is refused. After ten turns the highest sum wins.

use super::probes::Probe;
use necrodome_rules::{
    chance::{Chance, Seeded},
    game::{Audience, Game, Log, Move, Outcome, Rejected, Seat},
    names::{Names, SetupError},
    options::NoOptions,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    ops::RangeInclusive,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

pub const SOUND: u8 = 0;
pub const CHANGES_ON_REJECTION: u8 = 1;
pub const HIDES_A_LEGAL_ACTION: u8 = 2;
pub const LISTS_AN_ILLEGAL_ACTION: u8 = 3;
pub const NEVER_ENDS: u8 = 4;
pub const FORGETS_WHEN_SAVED: u8 = 5;
pub const STALE_VIEW: u8 = 6;
pub const BREAKS_INVARIANT: u8 = 7;
pub const WRONG_PLACES: u8 = 8;
pub const WORST_WINS: u8 = 9;
pub const HIDDEN_CHANCE: u8 = 10;

const TURNS: u32 = 10;

/// State outside of the game's own state, which no game may have.
static CALLS: AtomicU32 = AtomicU32::new(0);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Toy<const BREACH: u8> {
    sums: Vec<u32>,
    turn: u32,
    #[serde(default, skip)]
    luck: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Add(u32);

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("expected 0 or 1")]
pub struct TooMuch;

impl<const BREACH: u8> Toy<BREACH> {
    fn mover(&self) -> Seat {
        Seat((self.turn as usize % self.sums.len()) as u16)
    }
}

impl<const BREACH: u8> Game for Toy<BREACH> {
    const SEATS: RangeInclusive<usize> = 2..=9;
    type Rules = NoOptions;
    type Action = Add;
    type View = u32;
    type Event = u32;
    type Illegal = TooMuch;

    fn new(
        names: &Names,
        _: &NoOptions,
        _: &mut impl Chance,
        _: &mut impl Log<u32>,
    ) -> Result<Self, SetupError> {
        Ok(Toy { sums: vec![0; names.len()], turn: 0, luck: 0 })
    }

    fn seats(&self) -> usize {
        self.sums.len()
    }

    fn rules(&self) -> &NoOptions {
        &NoOptions {}
    }

    fn to_act(&self) -> &[Seat] {
        if self.turn < TURNS || BREACH == NEVER_ENDS { self.mover().alone() } else { &[] }
    }

    fn view(&self, _: Seat) -> u32 {
        self.turn
    }

    fn refresh_view(&self, seat: Seat, view: &mut u32) {
        if BREACH != STALE_VIEW {
            *view = self.view(seat);
        }
    }

    fn legal_actions(_: &u32) -> Option<impl Iterator<Item = Add>> {
        let listed = match BREACH {
            HIDES_A_LEGAL_ACTION => 0..1,
            LISTS_AN_ILLEGAL_ACTION => 0..3,
            _ => 0..2,
        };
        Some(listed.map(Add))
    }

    fn apply(
        &mut self,
        moves: &[Move<Add>],
        chance: &mut impl Chance,
        log: &mut impl Log<u32>,
    ) -> Result<(), Rejected<TooMuch>> {
        self.check_count(moves)?;
        let seat = self.mover();
        let add = match moves[0] {
            Move::Act(Add(add)) => add,
            Move::Forfeit => 0,
        };
        if add > 1 {
            self.turn += u32::from(BREACH == CHANGES_ON_REJECTION);
            return Err(Rejected::Illegal { seat, why: TooMuch });
        }
        self.luck += u32::from(BREACH == FORGETS_WHEN_SAVED) * (1 + chance.uniform(2));
        self.sums[seat.index()] += add + u32::from(BREACH == BREAKS_INVARIANT);
        if BREACH == HIDDEN_CHANCE {
            self.sums[0] = u32::from(CALLS.fetch_add(1, Relaxed).is_multiple_of(7));
        }
        self.turn += 1;
        log.record(Audience::Everyone, add);
        Ok(())
    }

    fn outcome(&self) -> Option<Outcome> {
        let scores: Vec<i64> = self.sums.iter().map(|&sum| sum.into()).collect();
        let mut outcome = self.to_act().is_empty().then(|| Outcome::ranked(&self.sums, scores, TURNS))?;
        if BREACH == WORST_WINS {
            let behind = |&sum: &u32| 1 + self.sums.iter().filter(|&&other| other < sum).count() as u16;
            outcome.places = self.sums.iter().map(behind).collect();
        }
        if BREACH == WRONG_PLACES {
            outcome.places.fill(2);
        }
        Some(outcome)
    }

    fn invariants(&self) -> Result<(), String> {
        let sum: u32 = self.sums.iter().sum();
        if sum > self.turn { Err("more points than turns".into()) } else { Ok(()) }
    }
}

impl<const BREACH: u8> Probe for Toy<BREACH> {
    const PLAYOUTS: u64 = 20;
    const CHECK_EVERY: u32 = 1;
    const MAX_STEPS: usize = 50;

    fn setups() -> Vec<(usize, NoOptions)> {
        vec![(3, NoOptions {})]
    }

    fn universe(_: &u32, _: &mut Seeded) -> Vec<Add> {
        vec![Add(0), Add(1), Add(2)]
    }
}
