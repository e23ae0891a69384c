//! The coach: it tells people what a decision was worth, once they have made it.

use crate::film::Unit;
use necrodome_rules::{catalog::Listed, game::Move, names::Names};
use necrodome_solve::Solution;
use schemars::JsonSchema;
use serde::Serialize;

/// The price of a decision, if everybody plays perfectly from there on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CoachWord {
    /// The question that was answered.
    pub question: u32,
    /// The situation, in words.
    pub situation: String,
    /// The unit of the values.
    pub unit: Unit,
    /// The value of the choice.
    pub value: f64,
    /// The value of the best option.
    pub best: f64,
    /// The cost of the choice. Never negative.
    pub cost: f64,
    /// The best options and the choice, in descending order of value.
    pub options: Vec<CoachOption>,
    /// How lucky the roll that followed was.
    pub luck: Option<f64>,
}

/// An option of the decision.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CoachOption {
    /// In words: `roll`, `keep attack attack`.
    pub label: String,
    /// Its value.
    pub value: f64,
    /// Whether it was chosen.
    pub chosen: bool,
}

/// How many options the coach names.
const TOLD: usize = 5;
/// Values that differ by less count as equal.
const ROUNDING: f64 = 1e-9;

/// Returns the price of `action` for the player who had this view.
pub(crate) fn price<G: Listed>(
    solution: &dyn Solution<G>,
    question: u32,
    view: &G::View,
    action: &G::Action,
    names: &Names,
) -> CoachWord {
    let chosen = Move::Act(action.clone());
    let value = solution.price(view, &chosen);
    let own = G::label(view, action, names);
    let options = priced::<G>(solution, view, names).into_iter();
    let mut options: Vec<CoachOption> =
        options.map(|(label, value)| CoachOption { chosen: label == own, label, value }).collect();
    let best = options.first().map_or(value, |best| best.value.max(value));
    let mut place = 0;
    options.retain(|option| {
        place += 1;
        place <= TOLD || option.chosen
    });
    let cost = if best - value < ROUNDING { 0.0 } else { best - value };
    let unit = if *G::SEATS.end() == 1 { Unit::Points } else { Unit::Chance };
    let situation = G::situation(view, names).to_string();
    CoachWord { question, situation, unit, value, best, cost, options, luck: None }
}

/// Returns all options with their values, the best first.
pub(crate) fn priced<G: Listed>(
    solution: &dyn Solution<G>,
    view: &G::View,
    names: &Names,
) -> Vec<(String, f64)> {
    let prices = solution.prices(view).into_iter();
    let mut options: Vec<(String, f64)> =
        prices.map(|price| (G::label(view, &price.action, names), price.value)).collect();
    options.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    options
}
