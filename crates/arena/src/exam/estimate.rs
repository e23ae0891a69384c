//! The remaining cost of an exam of language models.

use super::{Candidate, Paper, sit::begin};
use crate::{
    entry::EntryKind,
    lineup::{LineupError, Terms, built_in},
    model::{CostEstimate, ModelEntry, ModelEstimate, ModelPlayer, Sample, Sampled},
    player::{Answer, BuiltInPlayer, MatchStart, Player},
};
use necrodome_rules::{bot::BotSpec, catalog::Listed, chance::Seeded, names::SetupError};
use std::{cell::RefCell, rc::Rc};

/// The reason why there is no estimate.
#[derive(Debug, thiserror::Error)]
pub enum NoEstimate {
    /// An entry cannot take part.
    #[error(transparent)]
    Lineup(#[from] LineupError),
    /// A name or a number of seats is wrong.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// An endpoint fails, or the budget is used up.
    #[error("{0}")]
    Arena(String),
}

/// Looks up every question of the models in the book, and asks a few of those that are not there. It asks no other entries.
pub fn estimate<G: Listed>(
    paper: &Paper<G>,
    candidates: &[Candidate],
    terms: &Terms<G::Rules>,
) -> Result<CostEstimate, NoEstimate> {
    begin(paper, candidates, &terms.rules, true)?;
    let (mut estimates, mut models) = (Vec::new(), Vec::new());
    for candidate in candidates {
        if let EntryKind::Model(model) = &candidate.entry.kind {
            estimates.push(of_candidate(paper, candidate, model, terms)?);
            models.push(model);
        }
    }
    Ok(CostEstimate { questions: Some(paper.questions.len()), ..CostEstimate::of(estimates, &models) })
}

fn of_candidate<G: Listed>(
    paper: &Paper<G>,
    candidate: &Candidate,
    entry: &ModelEntry,
    terms: &Terms<G::Rules>,
) -> Result<ModelEstimate, NoEstimate> {
    let mut model = ModelPlayer::<G>::new(entry, terms)?;
    Player::<G>::be_copy(&mut model, candidate.copy);
    // Nobody hears what it would answer.
    let usual = BotSpec { name: G::CARD.stand_in.to_owned(), params: Vec::new() };
    let bot =
        built_in::<G>(&usual, &terms.rules, Seeded::new(0, "estimate", 0)).map_err(LineupError::from)?;
    let sample: Rc<RefCell<Sample>> = Rc::default();
    let mut player = Sampled { model, stand_in: Box::new(BuiltInPlayer(bot)), sample: sample.clone() };
    for (number, question) in paper.questions.iter().enumerate() {
        let (names, seed) = (paper.names(question), candidate.seed(paper.seed, number));
        player.start(&MatchStart { seat: question.seat, names: &names, seed });
        if !question.heard.is_empty() {
            player.hear(&question.heard.iter().collect::<Vec<_>>());
        }
        if let Answer::Arena(why) = player.answer(&question.view) {
            return Err(NoEstimate::Arena(why));
        }
    }
    let sample = sample.borrow();
    Ok(sample.estimate(&candidate.name, entry, 1.0))
}
