//! Estimates the remaining cost of a tournament with language models.

use super::{Plan, Schedule, TournamentDice, TournamentError, crew::own_chance, play::run_name};
use crate::{
    entry::{EntryKind, EntrySpec},
    lineup::{LineupError, Terms, built_in},
    model::{CostEstimate, ModelEntry, ModelPlayer, Sample, Sampled},
    player::{BuiltInPlayer, Player, Through},
    process::Launcher,
    run::run_unrecorded,
};
use necrodome_models::Run;
use necrodome_rules::{bot::BotSpec, catalog::Listed, names::Names, with_game};
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// The most blocks to play for an estimate, spread over all that are left.
const MOST_BLOCKS: u32 = 10;

/// Plays some of the blocks that are left after the `played` stored ones. The models decide where the book has their answers, and a few
/// times by calls; otherwise a built-in bot stands in for them, as it does for programs and people. The range comes from playing the same
/// blocks with each of the game's usual bots in place of the models.
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
    let models: Vec<(usize, &ModelEntry)> = (0..plan.entries.len())
        .filter_map(|place| match kind(place) {
            Some(EntryKind::Model(model)) => Some((place, model)),
            _ => None,
        })
        .collect();
    for (_, model) in &models {
        model.begin(&Run { name: &run_name(plan), goes_on: played > 0, is_dry: true })?;
    }
    let left = schedule.end().saturating_sub(played);
    let sampled = left.min(MOST_BLOCKS);
    let spread = |number: u32| played + (u64::from(number) * u64::from(left) / u64::from(sampled)) as u32;
    // Plays the blocks that are looked at. Who sits for a model is up to the caller, who gets a bot for it.
    let play = |bot: &BotSpec, seated: Seated<G>| -> Result<(), TournamentError> {
        for block in (0..sampled).map(spread) {
            for (number, seating) in schedule.seatings(block).iter().enumerate() {
                let dice = dice.of_match(block, number);
                let seat = |&place: &usize| -> Result<Box<dyn Player<G>>, LineupError> {
                    let player = |spec: &BotSpec| -> Result<Box<dyn Player<G>>, LineupError> {
                        let chance = own_chance(dice.dice, place);
                        Ok(Box::new(BuiltInPlayer(built_in::<G>(spec, &terms.rules, chance)?)))
                    };
                    match kind(place) {
                        Some(EntryKind::BuiltIn(spec)) => player(spec),
                        Some(EntryKind::Model(model)) => seated(place, model, player(bot)?),
                        _ => player(&usual::<G>()),
                    }
                };
                let mut sitting = seating.iter().map(seat).collect::<Result<Vec<_>, LineupError>>()?;
                run_unrecorded::<G>(&names.seated(seating), &terms.rules, dice, &mut sitting, |_, _| {})?;
            }
        }
        Ok(())
    };
    let samples: Vec<Rc<RefCell<Sample>>> = plan.entries.iter().map(|_| Rc::default()).collect();
    play(&usual::<G>(), &|place, model, stand_in| {
        let (model, sample) = (ModelPlayer::new(model, &terms)?, samples[place].clone());
        Ok(Box::new(Sampled { model, stand_in, sample }))
    })?;
    // How long matches are depends on who plays: so many decisions each bot of the game has to make in the place of each model.
    let decisions_of = |bot: &BotSpec| -> Result<Vec<u32>, TournamentError> {
        let counts: Vec<Rc<Cell<u32>>> = plan.entries.iter().map(|_| Rc::default()).collect();
        play(bot, &|place, _, stand_in| {
            let count = counts[place].clone();
            let counted = move |_: &G::View, answer| {
                count.set(count.get() + 1);
                answer
            };
            Ok(Box::new(Through::new(stand_in, counted)))
        })?;
        Ok(counts.iter().map(|count| count.get()).collect())
    };
    let by_usual = decisions_of(&usual::<G>())?;
    let others = G::CARD.entries().filter_map(|(_, written)| written.parse().ok());
    let by_others = others.map(|bot| decisions_of(&bot)).collect::<Result<Vec<_>, _>>()?;
    let times = f64::from(left) / f64::from(sampled.max(1));
    let estimates = models.iter().map(|&(place, model)| {
        let estimate = samples[place].borrow().estimate(&plan.entries[place].name, model, times);
        let relative = |counts: &Vec<u32>| f64::from(counts[place]) / f64::from(by_usual[place].max(1));
        let (least, most) = by_others
            .iter()
            .map(relative)
            .fold((1.0_f64, 1.0_f64), |(least, most), share| (least.min(share), most.max(share)));
        estimate.between(least, most)
    });
    let estimates = estimates.collect();
    let models: Vec<&ModelEntry> = models.iter().map(|(_, model)| *model).collect();
    Ok(CostEstimate {
        blocks: Some(left),
        blocks_stored: Some(played),
        blocks_sampled: Some(sampled),
        ..CostEstimate::of(estimates, &models)
    })
}

/// Returns the player for a model, from its place in the plan, the model, and a bot that can decide for it.
type Seated<'a, G> =
    &'a dyn Fn(usize, &ModelEntry, Box<dyn Player<G>>) -> Result<Box<dyn Player<G>>, LineupError>;

/// Returns the bot that stands in for others.
fn usual<G: Listed>() -> BotSpec {
    BotSpec { name: G::CARD.stand_in.to_owned(), params: Vec::new() }
}
