//! Estimates the cost of the decisions of a language model: answers in the book cost nothing, the model is asked for a few decisions, and
//! the rest is counted. Tournaments and exams use the same estimate.

use super::{ModelEntry, ModelPlayer, player::Tried};
use crate::{
    fault::Fault,
    player::{Answer, MatchStart, Player, Usage},
};
use necrodome_models::{Answers, Spent};
use necrodome_rules::{catalog::Listed, game::Outcome};
use schemars::JsonSchema;
use serde::Serialize;
use std::{cell::RefCell, collections::HashSet, rc::Rc};

/// The most decisions that each model is really asked for.
const ASKED: u64 = 3;

/// What a run would probably cost, in addition to what was paid already.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CostEstimate {
    /// Where answers would come from: `reuse`, `fresh` or `only`.
    pub answers: &'static str,
    /// Blocks of the tournament that are left; missing in exams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u32>,
    /// Blocks that the store has already: they are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks_stored: Option<u32>,
    /// Blocks that were played to count decisions, spread over those that are left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks_sampled: Option<u32>,
    /// Questions of the exam; missing in tournaments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<usize>,
    /// The language models.
    pub models: Vec<ModelEstimate>,
    /// What all of them would cost, in the currency of the price list; none if a price is not known.
    pub cost: Option<f64>,
    /// The least and the most that all of them would cost; missing in exams, and none if a price is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_range: Option<(f64, f64)>,
    /// What the estimate itself took.
    pub paid: Paid,
}

/// What the calls of an estimate took. Their answers are kept and not paid for again, except by runs with `fresh` answers.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct Paid {
    /// Calls that were made.
    pub calls: u64,
    /// Their tokens, input and output.
    pub tokens: u64,
    /// What they cost; none if a price is not known.
    pub cost: Option<f64>,
}

/// What a language model would probably cost.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelEstimate {
    /// The name of the entry.
    pub name: String,
    /// Decisions that it was really asked for.
    pub asked: u64,
    /// Decisions that are left. In a tournament they are counted with a built-in bot playing where the book has no answer.
    pub decisions: u64,
    /// The part of them that costs nothing: the book has the answer, or the same question comes up twice.
    pub kept: u64,
    /// The part of them that the book has no answer to. With answers from the book only, the run would stop there.
    pub open: u64,
    /// Calls that they would take.
    pub calls: u64,
    /// Tokens of the prompts.
    pub input_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// What they would cost; none if a price is not known.
    pub cost: Option<f64>,
    /// In a tournament, the least and the most decisions. They depend on how long matches are, so these are the numbers that the game's usual
    /// bots would have to make in its place. Missing in exams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decisions_range: Option<(u64, u64)>,
    /// What the least and the most decisions would cost; missing in exams, and none if a price is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_range: Option<(f64, f64)>,
}

impl ModelEstimate {
    /// Returns the same estimate with a range: `least` and `most` are factors for the number of decisions.
    pub(crate) fn between(self, least: f64, most: f64) -> Self {
        let scaled = |share: f64| (self.decisions as f64 * share).round() as u64;
        ModelEstimate {
            decisions_range: Some((scaled(least), scaled(most))),
            cost_range: self.cost.map(|cost| (cost * least, cost * most)),
            ..self
        }
    }
}

/// The decisions of a model so far, by their result.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    decisions: u64,
    open: u64,
    asked: u64,
    /// Decisions from the book or from calls; `usage` is what they took.
    made: u64,
    usage: Usage,
    /// Questions without an answer.
    met: HashSet<[u8; 32]>,
}

impl Sample {
    /// Returns the estimate for `times` times the sample.
    pub fn estimate(&self, name: &str, entry: &ModelEntry, times: f64) -> ModelEstimate {
        let scaled = |number: u64| (number as f64 * times).round() as u64;
        let is_asked = entry.desk().answers() != Answers::Only;
        // Of the decisions that were asked for just now, none is paid again, except by a run that asks everything anew.
        let again = if entry.desk().answers() == Answers::Fresh { self.asked } else { 0 };
        let left = self.open + again;
        let open = left as f64 * times * f64::from(u8::from(is_asked));
        let each = |number: u64| open * number as f64 / self.made.max(1) as f64;
        ModelEstimate {
            name: name.to_owned(),
            asked: self.asked,
            decisions: scaled(self.decisions),
            kept: scaled(self.decisions) - scaled(left),
            open: scaled(left),
            calls: each(self.usage.calls).round() as u64,
            input_tokens: each(self.usage.input_tokens).round() as u64,
            output_tokens: each(self.usage.output_tokens).round() as u64,
            cost: if open > 0.0 {
                self.usage.cost().map(|cost| cost / self.made.max(1) as f64 * open)
            } else {
                Some(0.0)
            },
            decisions_range: None,
            cost_range: None,
        }
    }
}

impl CostEstimate {
    /// Returns the estimate for these models; the caller adds what was counted.
    pub(crate) fn of(models: Vec<ModelEstimate>, entries: &[&ModelEntry]) -> Self {
        let desk = entries.first().map(|entry| entry.desk());
        let spent = desk.map(|desk| desk.spent()).unwrap_or_default();
        let has_prices = |name: &String| {
            let model = entries.iter().map(|entry| entry.model()).find(|model| model.name == *name);
            model.is_none_or(|model| model.input_price.is_some() && model.output_price.is_some())
        };
        let mut paid = Paid { cost: Some(0.0), ..Paid::default() };
        for (name, Spent { made, .. }) in spent.iter().filter(|(_, spent)| spent.made.calls > 0) {
            paid.calls += made.calls;
            paid.tokens += made.tokens.total();
            let cost = has_prices(name).then_some(made.cost.nanos as f64 / 1e9);
            paid.cost = paid.cost.zip(cost).map(|(sum, cost)| sum + cost);
        }
        CostEstimate {
            answers: match desk.map(|desk| desk.answers()).unwrap_or_default() {
                Answers::Reuse => "reuse",
                Answers::Fresh => "fresh",
                Answers::Only => "only",
            },
            blocks: None,
            blocks_stored: None,
            blocks_sampled: None,
            questions: None,
            cost: models.iter().map(|model| model.cost).sum(),
            cost_range: models.iter().try_fold((0.0, 0.0), |(least, most), model| {
                model.cost_range.map(|(low, high)| (least + low, most + high))
            }),
            models,
            paid,
        }
    }
}

/// A model that decides from the book and, a few times, by calls; where it may not call, a stand-in plays on.
pub(crate) struct Sampled<G: Listed> {
    pub model: ModelPlayer<G>,
    pub stand_in: Box<dyn Player<G>>,
    pub sample: Rc<RefCell<Sample>>,
}

impl<G: Listed> Player<G> for Sampled<G> {
    fn start(&mut self, start: &MatchStart) {
        self.model.start(start);
        self.stand_in.start(start);
    }

    fn hear(&mut self, heard: &[&G::Event]) {
        self.model.hear(heard);
    }

    fn ask(&mut self, _: &G::View) {}

    fn answer(&mut self, view: &G::View) -> Answer<G::Action> {
        let sample = &mut *self.sample.borrow_mut();
        sample.decisions += 1;
        match self.model.try_to_decide(view, sample.asked < ASKED) {
            Tried::Decided { answer, usage, is_paid } => {
                sample.made += 1;
                sample.asked += u64::from(is_paid);
                sample.usage += usage;
                answer
            }
            Tried::Open(question) => {
                // The same question is asked once a run.
                let is_new = question.is_none_or(|question| sample.met.insert(question));
                sample.open += u64::from(is_new);
                self.stand_in.ask(view);
                self.stand_in.answer(view)
            }
        }
    }

    fn refused(&mut self, _: &str) {}

    fn end(&mut self, _: &Outcome) -> Vec<Fault> {
        Vec::new()
    }
}
