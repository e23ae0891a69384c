//! The coach: what a decision was worth, told after it was made.

use crate::film::Unit;
use necrodome_rules::game::Move;
use necrodome_solve::{Explain, Solution};
use schemars::JsonSchema;
use serde::Serialize;

/// The price of a decision, if everybody plays perfectly from there.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CoachWord {
    /// The question that was answered.
    pub question: u32,
    /// What was on the table.
    pub situation: String,
    /// What values count.
    pub unit: Unit,
    /// The value of the choice.
    pub value: f64,
    /// The value of the best option.
    pub best: f64,
    /// What the choice has cost: never negative.
    pub cost: f64,
    /// The best options, and the choice, in descending order.
    pub options: Vec<CoachOption>,
    /// How lucky the roll that followed was.
    pub luck: Option<f64>,
}

/// Something that could have been done.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CoachOption {
    /// In words: `roll`, `keep attack attack`.
    pub label: String,
    /// What it is worth.
    pub value: f64,
    /// Whether it was done.
    pub chosen: bool,
}

/// So many options are told.
const TOLD: usize = 5;
/// Values that differ by less are the same.
const ROUNDING: f64 = 1e-9;

/// The price of `action` to whoever had this view.
pub(crate) fn price<G: Explain>(
    solution: &G::Solution,
    question: u32,
    view: &G::View,
    action: &G::Action,
) -> CoachWord {
    let chosen = Move::Act(action.clone());
    let value = solution.price(view, &chosen);
    let own = imperative(&G::choice(view, &chosen));
    let options = priced::<G>(solution, view).into_iter();
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
    CoachWord { question, situation: G::situation(view), unit, value, best, cost, options, luck: None }
}

/// All options with their values, the best first.
pub(crate) fn priced<G: Explain>(solution: &G::Solution, view: &G::View) -> Vec<(String, f64)> {
    let prices = solution.prices(view).into_iter();
    let mut options: Vec<(String, f64)> =
        prices.map(|price| (imperative(&G::choice(view, &Move::Act(price.action))), price.value)).collect();
    options.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    options
}

/// `keeps attack` as what a person is told to do: `keep attack`.
fn imperative(choice: &str) -> String {
    match choice.split_once(' ') {
        Some((verb, rest)) => format!("{} {rest}", verb.strip_suffix('s').unwrap_or(verb)),
        None => choice.strip_suffix('s').unwrap_or(choice).to_owned(),
    }
}
