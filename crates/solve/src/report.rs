//! The ledger of a match as a document for programs.

use crate::{
    ledger::{Ledger, LedgerEntry},
    solution::Price,
};
use necrodome_rules::{
    catalog::Listed,
    game::{Move, Seat},
    names::Names,
};
use serde::Serialize;

/// The number of decisions that are explained.
const WORST: usize = 5;
/// The cost below which a decision counts as free.
const NOTHING: f64 = 5e-6;

/// A decision of a ledger.
#[derive(Debug)]
pub struct Decision<'a, G: Listed> {
    /// The number of the step in the match, from 1.
    pub step: usize,
    /// The seat that decided.
    pub seat: Seat,
    /// The view that it had.
    pub view: &'a G::View,
    /// All options.
    pub options: &'a [Price<G::Action>],
    /// The move that it made.
    pub chosen: &'a Move<G::Action>,
    /// The value of the best option to it.
    pub best: f64,
    /// The value of its choice to it.
    pub value: f64,
    /// The difference.
    pub regret: f64,
    /// The index of this entry in the ledger.
    pub number: usize,
}

impl<G: Listed> Decision<'_, G> {
    /// The best option in words.
    pub fn better(&self, names: &Names) -> String {
        let best = self.options.iter().max_by(|a, b| a.value.total_cmp(&b.value));
        let words = |best: &Price<G::Action>| G::choice(self.view, &Move::Act(best.action.clone()), names);
        best.map_or(String::new(), |best| words(best).to_string())
    }
}

/// A ledger with names and sums.
#[derive(Debug, Serialize)]
pub struct LedgerReport<'a, G: Listed> {
    game: &'static str,
    options: &'a G::Rules,
    unit: &'static str,
    seats: Vec<SeatSum<'a>>,
    #[serde(flatten, bound(serialize = ""))]
    ledger: &'a Ledger<G>,
    /// The sum of all changes: result - start.
    sum: f64,
    worst: Vec<Worst<'a>>,
}

#[derive(Debug, Serialize)]
struct SeatSum<'a> {
    name: &'a str,
    /// The luck of the seat.
    luck: f64,
    /// The cost of the seat's decisions.
    regret: f64,
}

#[derive(Debug, Serialize)]
struct Worst<'a> {
    step: usize,
    name: &'a str,
    situation: String,
    chosen: String,
    best: String,
    regret: f64,
}

impl<G: Listed> Ledger<G> {
    /// All decisions, in order.
    pub fn decisions(&self) -> impl Iterator<Item = Decision<'_, G>> {
        self.entries.iter().enumerate().filter_map(|(number, entry)| match entry {
            LedgerEntry::Decision { step, seat, view, options, chosen, best, value, regret, .. } => {
                Some(Decision {
                    step: *step,
                    seat: *seat,
                    view,
                    options,
                    chosen,
                    best: *best,
                    value: *value,
                    regret: *regret,
                    number,
                })
            }
            _ => None,
        })
    }

    /// The most expensive decisions, the worst first.
    pub fn worst(&self) -> Vec<Decision<'_, G>> {
        let mut costly: Vec<_> = self.decisions().filter(|decision| decision.regret > NOTHING).collect();
        costly.sort_by(|a, b| b.regret.total_cmp(&a.regret));
        costly.truncate(WORST);
        costly
    }

    /// The whole ledger, with sums for each of `names` and the worst decisions in words.
    pub fn report<'a>(&'a self, names: &'a Names, rules: &'a G::Rules) -> LedgerReport<'a, G> {
        let sum =
            |&seat: &Seat| SeatSum { name: &names[seat], luck: self.luck(seat), regret: self.regret(seat) };
        let explain = |decision: Decision<'a, G>| Worst {
            step: decision.step,
            name: &names[decision.seat],
            situation: G::situation(decision.view, names).to_string(),
            chosen: G::choice(decision.view, decision.chosen, names).to_string(),
            best: decision.better(names),
            regret: decision.regret,
        };
        LedgerReport {
            game: G::ID,
            options: rules,
            unit: if *G::SEATS.end() == 1 { "points" } else { "win_chance_of_seat_0" },
            seats: Seat::all(names.iter().count()).iter().map(sum).collect(),
            ledger: self,
            sum: self.sum(),
            worst: self.worst().into_iter().map(explain).collect(),
        }
    }
}
