//! Built-in bots. All of them look only at the dice, so one policy plays every format.

use super::{Action, TurnView};
use crate::{
    bot::{Bot, BuiltIn, Named},
    chance::{Chance, Seeded},
    game::Game,
    options::{Bounded, NoOptions},
};
use alloc::{vec, vec::Vec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The built-in bots for any format.
pub fn built_ins<G>() -> Vec<BuiltIn<G>>
where
    G: Game<Action = Action>,
    G::View: AsRef<TurnView>,
{
    vec![
        BuiltIn::of::<DiceBot<Random>>(),
        BuiltIn::of::<DiceBot<Cautious>>(),
        BuiltIn::of::<DiceBot<Greedy>>(),
        BuiltIn::of::<DiceBot<StopAt>>(),
    ]
}

/// A policy that decides by the dice on the table.
trait StopPolicy: Named {
    fn stops(&mut self, turn: &TurnView) -> bool;
}

/// A policy as a bot of any format.
struct DiceBot<P>(P);

impl<P: StopPolicy> Named for DiceBot<P> {
    const NAME: &'static str = P::NAME;
    const ABOUT: &'static str = P::ABOUT;
    type Params = P::Params;

    fn new(params: P::Params, chance: impl FnOnce() -> Seeded) -> Self {
        DiceBot(P::new(params, chance))
    }
}

impl<G, P> Bot<G> for DiceBot<P>
where
    G: Game<Action = Action>,
    G::View: AsRef<TurnView>,
    P: StopPolicy,
{
    fn act(&mut self, view: &G::View) -> Action {
        if self.0.stops(view.as_ref()) { Action::Stop } else { Action::Go }
    }
}

struct Random(Seeded);

impl Named for Random {
    const NAME: &'static str = "random";
    const ABOUT: &'static str = "Tosses a coin for every decision.";
    type Params = NoOptions;

    fn new(_: NoOptions, chance: impl FnOnce() -> Seeded) -> Self {
        Random(chance())
    }
}

impl StopPolicy for Random {
    fn stops(&mut self, _: &TurnView) -> bool {
        self.0.uniform(2) == 0
    }
}

struct Cautious;

impl Named for Cautious {
    const NAME: &'static str = "cautious";
    const ABOUT: &'static str = "Stops at the first shotgun, once it has a brain to bank.";
    type Params = NoOptions;

    fn new(_: NoOptions, _: impl FnOnce() -> Seeded) -> Self {
        Cautious
    }
}

impl StopPolicy for Cautious {
    fn stops(&mut self, turn: &TurnView) -> bool {
        turn.shotguns >= 1 && turn.brains >= 1
    }
}

struct Greedy;

impl Named for Greedy {
    const NAME: &'static str = "greedy";
    const ABOUT: &'static str = "Rolls until it has two shotguns.";
    type Params = NoOptions;

    fn new(_: NoOptions, _: impl FnOnce() -> Seeded) -> Self {
        Greedy
    }
}

impl StopPolicy for Greedy {
    fn stops(&mut self, turn: &TurnView) -> bool {
        turn.shotguns >= 2
    }
}

/// The parameters of `stop-at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct StopAt {
    /// Stop with at least this many brains in the turn; with none, brains don't matter.
    brains: Option<Bounded<0, 1000>>,
    /// Stop with at least this many shotguns in the turn; with none, shotguns don't matter.
    shotguns: Option<Bounded<0, 3>>,
}

impl Named for StopAt {
    const NAME: &'static str = "stop-at";
    const ABOUT: &'static str = "Stops at a number of brains or of shotguns, whichever comes first.";
    type Params = StopAt;

    fn new(params: StopAt, _: impl FnOnce() -> Seeded) -> Self {
        params
    }
}

impl StopPolicy for StopAt {
    fn stops(&mut self, turn: &TurnView) -> bool {
        self.brains.is_some_and(|brains| turn.brains >= brains.get())
            || self.shotguns.is_some_and(|shotguns| u32::from(turn.shotguns) >= shotguns.get())
    }
}
