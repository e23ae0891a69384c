//! What a tournament with language models would cost: a few decisions are asked for, the rest is counted.

use super::{Plan, Schedule, TournamentDice, TournamentError, crew::own_chance};
use crate::{
    entry::{EntryKind, EntrySpec},
    fault::Fault,
    lineup::{LineupError, Terms, built_in},
    model::ModelPlayer,
    player::{Answer, BuiltInPlayer, Effort, MatchStart, Player},
    process::Launcher,
    run::run_unrecorded,
};
use necrodome_rules::{bot::BotSpec, catalog::Listed, game::Outcome, names::Names, with_game};
use schemars::JsonSchema;
use serde::Serialize;
use std::{cell::RefCell, rc::Rc};

/// Decisions that each model is really asked for.
const ASKED: u64 = 3;

/// What a tournament would probably cost.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CostEstimate {
    /// Blocks of the tournament.
    pub blocks: u32,
    /// The language models.
    pub models: Vec<ModelEstimate>,
    /// What all of them would cost, in the currency of the price list; none if a price is not known.
    pub cost: Option<f64>,
}

/// What a language model would probably cost.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelEstimate {
    /// The name of the entry.
    pub name: String,
    /// Decisions that it was really asked for.
    pub asked: u64,
    /// Calls that this took, those that the book answered included.
    pub calls_made: u64,
    /// Decisions in the whole tournament, if matches are as long as those of the built-in bot that stood in for it.
    pub decisions: u64,
    /// Tokens of all prompts.
    pub input_tokens: u64,
    /// Tokens of all answers.
    pub output_tokens: u64,
    /// What they would cost; none if a price is not known.
    pub cost: Option<f64>,
}

/// What became of a model's decisions in one block.
#[derive(Debug, Default)]
struct Sample {
    decisions: u64,
    effort: Effort,
}

/// A model that decides a few times; then the built-in bot of the game that stands in for people plays on.
struct Sampled<G: Listed> {
    model: ModelPlayer<G>,
    stand_in: BuiltInPlayer<G>,
    sample: Rc<RefCell<Sample>>,
}

impl<G: Listed> Sampled<G> {
    fn is_asked(&self) -> bool {
        self.sample.borrow().effort.decisions < ASKED
    }
}

impl<G: Listed> Player<G> for Sampled<G> {
    fn start(&mut self, start: &MatchStart) {
        self.model.start(start);
    }

    fn hear(&mut self, heard: &[&G::Event]) {
        self.model.hear(heard);
    }

    fn ask(&mut self, view: &G::View) {
        if self.is_asked() {
            self.model.ask(view);
        }
    }

    fn answer(&mut self, view: &G::View) -> Answer<G::Action> {
        let asked = self.is_asked();
        self.sample.borrow_mut().decisions += 1;
        if !asked {
            return self.stand_in.answer(view);
        }
        let answer = self.model.answer(view);
        self.sample.borrow_mut().effort += self.model.take_effort();
        answer
    }

    fn refused(&mut self, _: &str) {}

    fn end(&mut self, _: &Outcome) -> Vec<Fault> {
        Vec::new()
    }
}

/// Plays the first block, in which models decide a few times only, and counts. Programs and people are stood in for, too.
pub fn estimate(
    plan: &Plan,
    entries: &[EntrySpec],
    launcher: &Launcher,
) -> Result<CostEstimate, TournamentError> {
    let id = plan.game().map_err(TournamentError::Plan)?;
    with_game!(id, G => estimate_game::<G>(plan, entries, launcher))
}

fn estimate_game<G: Listed>(
    plan: &Plan,
    entries: &[EntrySpec],
    launcher: &Launcher,
) -> Result<CostEstimate, TournamentError> {
    let rules = plan.rules::<G>().map_err(TournamentError::Plan)?;
    let terms = Terms { launcher: launcher.clone(), limits: plan.limits, rules, seats: plan.seats };
    let schedule = Schedule::new(plan, G::SEATS)?;
    let names = Names::new(plan.entries.iter().map(|entry| &entry.name))?;
    let dice = TournamentDice::new(&Plan { sealed_dice: Vec::new(), ..plan.clone() }, &[])?;
    let samples: Vec<Rc<RefCell<Sample>>> = entries.iter().map(|_| Rc::default()).collect();
    for (number, seating) in schedule.seatings(0).iter().enumerate() {
        let dice = dice.of_match(0, number);
        let seat = |&entry: &usize| -> Result<Box<dyn Player<G>>, LineupError> {
            let chance = own_chance(dice.dice, entry);
            let stand_in = |spec: &BotSpec| -> Result<_, LineupError> {
                Ok(BuiltInPlayer(built_in::<G>(spec, &terms.rules, chance.clone())?))
            };
            let usual = BotSpec { name: G::CARD.stand_in.to_owned(), params: Vec::new() };
            Ok(match &entries[entry].kind {
                EntryKind::BuiltIn(spec) => Box::new(stand_in(spec)?),
                EntryKind::Model(model) => Box::new(Sampled {
                    model: ModelPlayer::new(model, &terms)?,
                    stand_in: stand_in(&usual)?,
                    sample: samples[entry].clone(),
                }),
                _ => Box::new(stand_in(&usual)?),
            })
        };
        let mut sitting = seating.iter().map(seat).collect::<Result<Vec<_>, LineupError>>()?;
        run_unrecorded::<G>(&names.seated(seating), &terms.rules, dice, &mut sitting, |_, _| {})?;
    }
    let of_entry = |(place, entry): (usize, &EntrySpec)| match &entry.kind {
        EntryKind::Model(_) => {
            let name = plan.entries[place].name.clone();
            Some(ModelEstimate::of(name, &samples[place].borrow(), plan.blocks))
        }
        _ => None,
    };
    let models: Vec<ModelEstimate> = entries.iter().enumerate().filter_map(of_entry).collect();
    let cost = models.iter().map(|model| model.cost).sum::<Option<f64>>();
    Ok(CostEstimate { blocks: plan.blocks, models, cost })
}

impl ModelEstimate {
    fn of(name: String, Sample { decisions, effort }: &Sample, blocks: u32) -> Self {
        let decisions = decisions * u64::from(blocks);
        let asked = effort.decisions.max(1) as f64;
        let in_all = |number: u64| number as f64 / asked * decisions as f64;
        ModelEstimate {
            name,
            asked: effort.decisions,
            calls_made: effort.usage.calls,
            decisions,
            input_tokens: in_all(effort.usage.input_tokens).round() as u64,
            output_tokens: in_all(effort.usage.output_tokens).round() as u64,
            cost: effort.usage.cost().map(|cost| cost / asked * decisions as f64),
        }
    }
}
