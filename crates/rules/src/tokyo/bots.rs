//! Built-in bots.

use super::{Action, Face, MAX_HEALTH, Phase, Tokyo, TokyoView};
use crate::{
    bot::{Bot, BuiltIn, Named},
    chance::{Chance, Seeded},
    options::{Bounded, NoOptions},
};
use alloc::{vec, vec::Vec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The built-in bots.
pub fn built_ins() -> Vec<BuiltIn<Tokyo>> {
    vec![BuiltIn::of::<Random>(), BuiltIn::of::<Angry>(), BuiltIn::of::<PointHunter>()]
}

struct Random(Seeded);

impl Named for Random {
    const NAME: &'static str = "random";
    const ABOUT: &'static str = "Keeps each die, and leaves Tokyo, by the toss of a coin.";
    type Params = NoOptions;

    fn new(_: NoOptions, chance: impl FnOnce() -> Seeded) -> Self {
        Random(chance())
    }
}

impl Bot<Tokyo> for Random {
    fn act(&mut self, view: &TokyoView) -> Action {
        let mut coin = || self.0.uniform(2) == 0;
        match view.phase {
            Phase::Yielding { .. } if coin() => Action::Yield,
            Phase::Yielding { .. } => Action::Stay,
            _ => Action::Keep { dice: core::array::from_fn(|_| coin()) },
        }
    }
}

/// The parameters of `angry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Angry {
    /// Leaves Tokyo when its health is at most this.
    flee: Bounded<0, 10>,
}

impl Default for Angry {
    fn default() -> Self {
        Angry { flee: Bounded::new(3) }
    }
}

impl Named for Angry {
    const NAME: &'static str = "angry";
    const ABOUT: &'static str = "Keeps attacks, and heals only when it is badly hurt and can.";
    type Params = Angry;

    fn new(params: Angry, _: impl FnOnce() -> Seeded) -> Self {
        params
    }
}

impl Bot<Tokyo> for Angry {
    fn act(&mut self, view: &TokyoView) -> Action {
        let health = view.monsters[view.seat.index()].health;
        let hurt = u32::from(health) <= self.flee.get();
        match view.phase {
            Phase::Yielding { .. } if hurt => Action::Yield,
            Phase::Yielding { .. } => Action::Stay,
            _ => {
                let heals = hurt && view.in_tokyo != Some(view.seat);
                Action::keep_where(&view.dice, |face| face == Face::Attack || (heals && face == Face::Heal))
            }
        }
    }
}

/// The parameters of `point-hunter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct PointHunter {
    /// Leaves Tokyo when its health is at most this.
    flee: Bounded<0, 10>,
}

impl Default for PointHunter {
    fn default() -> Self {
        PointHunter { flee: Bounded::new(5) }
    }
}

impl Named for PointHunter {
    const NAME: &'static str = "point-hunter";
    const ABOUT: &'static str =
        "Collects the number that it has most of, and stays in Tokyo while it is healthy.";
    type Params = PointHunter;

    fn new(params: PointHunter, _: impl FnOnce() -> Seeded) -> Self {
        params
    }
}

impl Bot<Tokyo> for PointHunter {
    fn act(&mut self, view: &TokyoView) -> Action {
        let health = view.monsters[view.seat.index()].health;
        let flee = u32::from(health) <= self.flee.get();
        match view.phase {
            Phase::Yielding { .. } if flee => Action::Yield,
            Phase::Yielding { .. } => Action::Stay,
            _ => {
                let alike = |face: Face| view.dice.iter().filter(|&&die| die == face).count();
                // On a tie the higher number.
                let best = [Face::One, Face::Two, Face::Three]
                    .into_iter()
                    .max_by_key(|&face| alike(face))
                    .unwrap_or(Face::Three);
                let heals = view.in_tokyo != Some(view.seat) && health < MAX_HEALTH / 2;
                Action::keep_where(&view.dice, |face| face == best || (heals && face == Face::Heal))
            }
        }
    }
}
