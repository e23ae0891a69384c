//! The ledger of a match: what every decision cost and what every roll gave. It adds up.

use crate::solution::{Meter, Price, Solution, result};
use necrodome_rules::game::{Game, Logged, Move, Outcome, Seat};
use serde::Serialize;
use std::sync::Arc;

/// What a match was worth to seat 0, entry by entry: `start` and the changes of all entries sum to `result`.
#[derive(Debug, Clone, Serialize)]
pub struct Ledger<G: Game> {
    /// Before anything happened.
    pub start: f64,
    /// At the end.
    pub result: f64,
    /// All that happened in between.
    #[serde(bound(serialize = ""))]
    pub entries: Vec<LedgerEntry<G>>,
}

/// One entry of a ledger. `before` and `after` are values to seat 0.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", bound(serialize = ""))]
pub enum LedgerEntry<G: Game> {
    /// Somebody decided.
    Decision {
        /// The number of the step in the match, from 1.
        step: usize,
        /// Who decided.
        seat: Seat,
        /// What it saw.
        view: G::View,
        /// All options, with their values to the one who decides.
        options: Vec<Price<G::Action>>,
        /// What it did.
        chosen: Move<G::Action>,
        /// What the best option is worth to it.
        best: f64,
        /// What its choice is worth to it.
        value: f64,
        /// The difference: what the choice has cost. Never negative.
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
        /// Who rolled.
        seat: Seat,
        /// What came.
        event: G::Event,
        /// The luck of seat 0: `after - before`.
        luck: f64,
        /// What was to be expected.
        before: f64,
        /// What came.
        after: f64,
    },
    /// The limit on rounds has ended a match that would have gone on.
    Limit {
        /// The value to seat 0 before.
        before: f64,
        /// The result.
        after: f64,
    },
}

impl<G: Game> LedgerEntry<G> {
    /// What it changed, to seat 0.
    pub fn change(&self) -> f64 {
        let (LedgerEntry::Decision { before, after, .. }
        | LedgerEntry::Roll { before, after, .. }
        | LedgerEntry::Limit { before, after }) = self;
        after - before
    }
}

impl<G: Game> Ledger<G> {
    /// What the decisions of a seat have cost it.
    pub fn regret(&self, of: Seat) -> f64 {
        let cost = |entry: &LedgerEntry<G>| match entry {
            LedgerEntry::Decision { seat, regret, .. } if *seat == of => *regret,
            _ => 0.0,
        };
        self.entries.iter().map(cost).sum()
    }

    /// What the dice have given to a seat.
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
    /// For a match that is about to begin.
    pub fn new(solution: Arc<dyn Solution<G>>) -> Self {
        let value = solution.start();
        Audit { meter: solution.clone().meter(), solution, step: 0, value, entries: Vec::new() }
    }

    /// Moves are about to be made.
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

    /// Things have happened.
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

    /// The match is over.
    pub fn finish(mut self, outcome: &Outcome) -> Ledger<G> {
        let result = result(outcome);
        if (result - self.value).abs() > 1e-9 {
            self.entries.push(LedgerEntry::Limit { before: self.value, after: result });
        }
        Ledger { start: self.solution.start(), result, entries: self.entries }
    }
}
