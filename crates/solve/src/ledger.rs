//! The ledger of a match: what every decision cost and every roll brought. It adds up.

use crate::solution::{Meter, Price, Solution, result};
use necrodome_rules::game::{Game, Logged, Move, Outcome, Seat};
use serde::Serialize;
use std::sync::Arc;

/// The value of a match to seat 0, entry by entry: `start` and the changes of all entries sum to `result`.
#[derive(Debug, Clone, Serialize)]
pub struct Ledger<G: Game> {
    /// The value before anything happened.
    pub start: f64,
    /// The value at the end.
    pub result: f64,
    /// Everything that happened in between.
    #[serde(bound(serialize = ""))]
    pub entries: Vec<LedgerEntry<G>>,
}

/// One entry of a ledger. `before` and `after` are values to seat 0.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", bound(serialize = ""))]
pub enum LedgerEntry<G: Game> {
    /// A player decided.
    Decision {
        /// The number of the step in the match, from 1.
        step: usize,
        /// The seat that decided.
        seat: Seat,
        /// The view that it had.
        view: G::View,
        /// All options, with their values to the seat that decides.
        options: Vec<Price<G::Action>>,
        /// The move that it made.
        chosen: Move<G::Action>,
        /// The value of the best option to it.
        best: f64,
        /// The value of its choice to it.
        value: f64,
        /// The difference: the cost of the choice. Never negative.
        regret: f64,
        /// The value to seat 0 before.
        before: f64,
        /// The value to seat 0 after.
        after: f64,
    },
    /// Dice were rolled.
    Roll {
        /// The number of the step in the match; 0 is the set-up.
        step: usize,
        /// The seat that rolled.
        seat: Seat,
        /// The event.
        event: G::Event,
        /// The luck of seat 0: `after - before`.
        luck: f64,
        /// The value expected before the roll.
        before: f64,
        /// The value after the roll.
        after: f64,
    },
    /// The limit on rounds ended a match that would have gone on.
    Limit {
        /// The value to seat 0 before.
        before: f64,
        /// The result.
        after: f64,
    },
}

impl<G: Game> LedgerEntry<G> {
    /// The change of the value to seat 0.
    pub fn change(&self) -> f64 {
        let (LedgerEntry::Decision { before, after, .. }
        | LedgerEntry::Roll { before, after, .. }
        | LedgerEntry::Limit { before, after }) = self;
        after - before
    }
}

impl<G: Game> Ledger<G> {
    /// The total cost of a seat's decisions.
    pub fn regret(&self, of: Seat) -> f64 {
        let cost = |entry: &LedgerEntry<G>| match entry {
            LedgerEntry::Decision { seat, regret, .. } if *seat == of => *regret,
            _ => 0.0,
        };
        self.entries.iter().map(cost).sum()
    }

    /// The total luck of a seat.
    pub fn luck(&self, of: Seat) -> f64 {
        let gift = |entry: &LedgerEntry<G>| match entry {
            LedgerEntry::Roll { luck, .. } => *luck,
            _ => 0.0,
        };
        let luck: f64 = self.entries.iter().map(gift).sum();
        if of.0 == 0 { luck } else { -luck }
    }

    /// The sum of all changes: the result minus the value at the start.
    pub fn sum(&self) -> f64 {
        self.entries.iter().map(LedgerEntry::change).sum()
    }
}

/// Writes a ledger while a match is played or replayed.
pub struct Audit<G: Game> {
    solution: Arc<dyn Solution<G>>,
    meter: Box<dyn Meter<G::Event>>,
    step: usize,
    value: f64,
    entries: Vec<LedgerEntry<G>>,
}

impl<G: Game> Audit<G> {
    /// Begins the audit of a match that has not started.
    pub fn new(solution: Arc<dyn Solution<G>>) -> Self {
        let value = solution.start();
        Audit { meter: solution.clone().meter(), solution, step: 0, value, entries: Vec::new() }
    }

    /// Notes the moves before they are made.
    pub fn decide(&mut self, game: &G, moves: &[Move<G::Action>]) {
        self.step += 1;
        let alone = *G::SEATS.end() == 1;
        for (&seat, chosen) in game.to_act().iter().zip(moves) {
            let view = game.view(seat);
            let options = self.solution.prices(&view);
            let best = options.iter().map(|option| option.value).fold(f64::NEG_INFINITY, f64::max);
            let value = self.solution.price(&view, chosen);
            let to_first = |value: f64| if alone || seat.0 == 0 { value } else { 1.0 - value };
            let (before, after) = (to_first(best), to_first(value));
            let regret = best - value;
            self.value = after;
            let chosen = chosen.clone();
            let step = self.step;
            self.entries.push(LedgerEntry::Decision {
                step,
                seat,
                view,
                options,
                chosen,
                best,
                value,
                regret,
                before,
                after,
            });
        }
    }

    /// Notes the events of a step.
    pub fn happen(&mut self, log: &[Logged<G::Event>]) {
        for logged in log {
            self.meter.record(logged.audience.clone(), logged.event.clone());
            if let Some(roll) = self.meter.take() {
                let (before, after) = (roll.before, roll.after);
                self.value = after;
                let event = logged.event.clone();
                let (step, seat, luck) = (self.step, roll.seat, after - before);
                self.entries.push(LedgerEntry::Roll { step, seat, event, luck, before, after });
            }
        }
    }

    /// Ends the ledger when the match is over.
    pub fn finish(mut self, outcome: &Outcome) -> Ledger<G> {
        let result = result(outcome);
        if (result - self.value).abs() > 1e-9 {
            self.entries.push(LedgerEntry::Limit { before: self.value, after: result });
        }
        Ledger { start: self.solution.start(), result, entries: self.entries }
    }
}
