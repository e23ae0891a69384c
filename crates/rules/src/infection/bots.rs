//! Built-in bots. Any of them may be dealt either side, so each has a way to play both.

use super::{Action, Commitment, Identity, Infection, InfectionView, Question};
use crate::{
    bot::{Bot, BuiltIn, Named},
    chance::{Chance, Seeded},
    game::Seat,
    options::{Bounded, NoOptions},
};
use alloc::{vec, vec::Vec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The built-in bots.
pub fn built_ins() -> Vec<BuiltIn<Infection>> {
    vec![BuiltIn::of::<Random>(), BuiltIn::of::<Careful>(), BuiltIn::of::<Spreader>()]
}

/// Draws a partner at random, or `None` if there is nobody to meet.
#[inline(always)]
fn any_partner(view: &InfectionView, chance: &mut Seeded) -> Option<Seat> {
    match view.partners.len() as u32 {
        0 => None,
        count => view.partners.nth(chance.uniform(count) as usize),
    }
}

struct Random(Seeded);

impl Random {
    fn commit(&mut self, view: &InfectionView) -> Commitment {
        match (view.told.identity, view.known_viruses()) {
            (Identity::Human, _) if self.0.uniform(2) == 0 => Commitment::Precaution,
            (Identity::Zombie, known @ 1..) => match self.0.uniform(known + 1) {
                0 => Commitment::None,
                count => Commitment::Virus { count },
            },
            _ => Commitment::None,
        }
    }
}

impl Named for Random {
    const NAME: &'static str = "random";
    const ABOUT: &'static str = "Meets anybody, commits anything, stops any time.";
    type Params = NoOptions;

    fn new(_: NoOptions, chance: impl FnOnce() -> Seeded) -> Self {
        Random(chance())
    }
}

impl Bot<Infection> for Random {
    fn act(&mut self, view: &InfectionView) -> Action {
        let antidote = view.told.identity == Identity::Human && self.0.uniform(8) == 0;
        let stops = view.has_met && self.0.uniform(2) == 0;
        match (view.question, any_partner(view, &mut self.0)) {
            (Question::Answer { .. }, _) => Action::Answer { commit: self.commit(view), antidote },
            (_, Some(with)) if !stops => Action::Contact { with, commit: self.commit(view), antidote },
            _ => Action::End { antidote },
        }
    }
}

/// The parameters of `careful`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct CarefulParams {
    /// Spends antibodies on precautions and the antidote when the last report shows at least this many.
    reserve: Bounded<1, 1000>,
}

impl Default for CarefulParams {
    fn default() -> Self {
        CarefulParams { reserve: Bounded::new(2) }
    }
}

struct Careful {
    reserve: u32,
    chance: Seeded,
}

impl Named for Careful {
    const NAME: &'static str = "careful";
    const ABOUT: &'static str =
        "Meets one other a turn, takes precautions, and the antidote at the end of a turn.";
    type Params = CarefulParams;

    fn new(params: CarefulParams, chance: impl FnOnce() -> Seeded) -> Self {
        Careful { reserve: params.reserve.get(), chance: chance() }
    }
}

impl Bot<Infection> for Careful {
    fn act(&mut self, view: &InfectionView) -> Action {
        let rich = view.told.identity == Identity::Human && view.told.stock >= self.reserve;
        let commit = if rich { Commitment::Precaution } else { Commitment::None };
        if let Question::Answer { .. } = view.question {
            return Action::Answer { commit, antidote: false };
        }
        match any_partner(view, &mut self.chance) {
            Some(with) if !view.has_met => Action::Contact { with, commit, antidote: false },
            // The only antidote of the classic rules is for the end of a turn, too.
            _ => Action::End { antidote: rich || view.told.antidotes > Some(0) },
        }
    }
}

/// The parameters of `spreader`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct SpreaderParams {
    /// Viruses that a zombie applies in one contact, as long as any are left.
    dose: Bounded<0, 1000>,
}

impl Default for SpreaderParams {
    fn default() -> Self {
        SpreaderParams { dose: Bounded::new(1) }
    }
}

struct Spreader {
    dose: u32,
    chance: Seeded,
}

impl Named for Spreader {
    const NAME: &'static str = "spreader";
    const ABOUT: &'static str = "Meets everybody it can; as a zombie it applies viruses, as a human nothing.";
    type Params = SpreaderParams;

    fn new(params: SpreaderParams, chance: impl FnOnce() -> Seeded) -> Self {
        Spreader { dose: params.dose.get(), chance: chance() }
    }
}

impl Bot<Infection> for Spreader {
    fn act(&mut self, view: &InfectionView) -> Action {
        let commit = match self.dose.min(view.known_viruses()) {
            0 => Commitment::None,
            count => Commitment::Virus { count },
        };
        if let Question::Answer { .. } = view.question {
            return Action::Answer { commit, antidote: false };
        }
        match any_partner(view, &mut self.chance) {
            Some(with) => Action::Contact { with, commit, antidote: false },
            None => Action::End { antidote: false },
        }
    }
}
