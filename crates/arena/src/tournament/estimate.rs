//! What a tournament with language models would still cost.

use super::{Plan, Schedule, TournamentDice, TournamentError, crew::own_chance, play::run_name};
use crate::{
    entry::{EntryKind, EntrySpec},
    lineup::{LineupError, Terms, built_in},
    model::{CostEstimate, ModelEntry, ModelPlayer, Sample, Sampled},
    player::{BuiltInPlayer, Player},
    process::Launcher,
    run::run_unrecorded,
};
use necrodome_rules::{bot::BotSpec, catalog::Listed, names::Names, with_game};
use std::{cell::RefCell, rc::Rc};

/// Blocks that are looked at, at most: they are spread over all that are left.
const MOST_BLOCKS: u32 = 10;

/// Plays some of the blocks that are left when `played` are stored, in which models decide as far as the book has their answers, and
/// a few times beyond. Elsewhere a built-in bot stands in for them, and for programs and people.
pub fn estimate(
    plan: &Plan,
    played: u32,
    entries: &[EntrySpec],
    launcher: &Launcher,
) -> Result<CostEstimate, TournamentError> {
    let id = plan.game().map_err(TournamentError::Plan)?;
    with_game!(id, G => estimate_game::<G>(plan, played, entries, launcher))
}

fn estimate_game<G: Listed>(
    plan: &Plan,
    played: u32,
    entries: &[EntrySpec],
    launcher: &Launcher,
) -> Result<CostEstimate, TournamentError> {
    let rules = plan.rules::<G>().map_err(TournamentError::Plan)?;
    let terms = Terms { launcher: launcher.clone(), limits: plan.limits, rules, seats: plan.seats };
    let schedule = Schedule::new(plan, G::SEATS)?;
    let names = Names::new(plan.entries.iter().map(|entry| &entry.name))?;
    // Nobody knows secret dice of blocks that are still to be played.
    let dice = TournamentDice::new(&Plan { sealed_dice: Vec::new(), ..plan.clone() }, &[])?;
    // By their place in the plan, which may have others who have left.
    let members: Vec<usize> = plan.members().collect();
    let kind =
        |place: usize| members.iter().position(|&member| member == place).map(|member| &entries[member].kind);
    let samples: Vec<Rc<RefCell<Sample>>> = plan.entries.iter().map(|_| Rc::default()).collect();
    let models: Vec<(usize, &ModelEntry)> = (0..plan.entries.len())
        .filter_map(|place| match kind(place) {
            Some(EntryKind::Model(model)) => Some((place, model)),
            _ => None,
        })
        .collect();
    for (_, model) in &models {
        model.desk().begin(&run_name(plan), played > 0)?;
    }
    let left = schedule.end().saturating_sub(played);
    let sampled = left.min(MOST_BLOCKS);
    for number in 0..sampled {
        let block = played + (u64::from(number) * u64::from(left) / u64::from(sampled)) as u32;
        for (number, seating) in schedule.seatings(block).iter().enumerate() {
            let dice = dice.of_match(block, number);
            let seat = |&place: &usize| -> Result<Box<dyn Player<G>>, LineupError> {
                let chance = own_chance(dice.dice, place);
                let bot = |spec: &BotSpec| -> Result<Box<dyn Player<G>>, LineupError> {
                    Ok(Box::new(BuiltInPlayer(built_in::<G>(spec, &terms.rules, chance.clone())?)))
                };
                let usual = BotSpec { name: G::CARD.stand_in.to_owned(), params: Vec::new() };
                Ok(match kind(place) {
                    Some(EntryKind::BuiltIn(spec)) => bot(spec)?,
                    Some(EntryKind::Model(model)) => Box::new(Sampled {
                        model: ModelPlayer::new(model, &terms)?,
                        stand_in: bot(&usual)?,
                        sample: samples[place].clone(),
                    }),
                    _ => bot(&usual)?,
                })
            };
            let mut sitting = seating.iter().map(seat).collect::<Result<Vec<_>, LineupError>>()?;
            run_unrecorded::<G>(&names.seated(seating), &terms.rules, dice, &mut sitting, |_, _| {})?;
        }
    }
    let times = f64::from(left) / f64::from(sampled.max(1));
    let estimates = models
        .iter()
        .map(|&(place, model)| samples[place].borrow().estimate(&plan.entries[place].name, model, times));
    let models: Vec<&ModelEntry> = models.iter().map(|(_, model)| *model).collect();
    Ok(CostEstimate {
        blocks: Some(left),
        blocks_stored: Some(played),
        blocks_sampled: Some(sampled),
        ..CostEstimate::of(estimates.collect(), &models)
    })
}
