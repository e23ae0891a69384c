//! Built-in bots.

use super::{Action, Pig, PigView};
use crate::{
    bot::{Bot, BuiltIn, Named},
    chance::{Chance, Seeded},
    options::{Bounded, NoOptions},
};
use alloc::{vec, vec::Vec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The built-in bots.
pub(super) fn built_ins() -> Vec<BuiltIn<Pig>> {
    vec![BuiltIn::of::<Random>(), BuiltIn::of::<HoldAt>()]
}

struct Random(Seeded);

impl Named for Random {
    const NAME: &'static str = "random";
    const ABOUT: &'static str = "Holds once in four times.";
    type Params = NoOptions;

    fn new(_: NoOptions, chance: impl FnOnce() -> Seeded) -> Self {
        Random(chance())
    }
}

impl Bot<Pig> for Random {
    fn act(&mut self, _: &PigView) -> Action {
        if self.0.uniform(4) == 0 { Action::Hold } else { Action::Roll }
    }
}

/// When to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct HoldAt {
    /// Holds with at least this many points in the turn.
    points: Bounded<1, 100>,
}

impl Default for HoldAt {
    fn default() -> Self {
        HoldAt { points: Bounded::new(20) }
    }
}

impl Named for HoldAt {
    const NAME: &'static str = "hold-at";
    const ABOUT: &'static str = "Holds with enough points, or with those that win.";
    type Params = HoldAt;

    fn new(params: HoldAt, _: impl FnOnce() -> Seeded) -> Self {
        params
    }
}

impl Bot<Pig> for HoldAt {
    fn act(&mut self, view: &PigView) -> Action {
        let wins = view.scores[view.current.index()] + view.turn >= view.goal;
        if wins || view.turn >= self.points.get() { Action::Hold } else { Action::Roll }
    }
}
