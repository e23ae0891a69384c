//! Runs one match between any players and records it.

use crate::{
    dice::{Dice, Secret},
    entry::EntrySpec,
    fault::{Fault, FaultKind, SeatFault},
    player::{Answer, MatchStart, Player},
    replay::{Recording, Step},
    stderr,
    tournament::{PlannedEntry, planned},
};
use necrodome_rules::{
    catalog::Listed,
    chance::{Chance, Recorder, Seed, Seeded},
    game::{Game, Logged, Move, Outcome, Rejected, Seat},
    names::{Names, SetupError},
};
use schemars::JsonSchema;
use serde::Serialize;
use std::iter;

/// A finished match.
#[derive(Debug, Clone)]
pub struct Finished<G: Game> {
    /// The outcome.
    pub outcome: Outcome,
    /// The faults.
    pub faults: Vec<SeatFault>,
    /// Everything needed to play it again.
    pub recording: Recording<G>,
}

/// A match as a JSON document.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MatchDocument<'a, R> {
    /// The id of the game.
    game: &'static str,
    /// The options of the rules.
    options: &'a R,
    /// The seed of the match.
    seed: Seed,
    /// The secret from which the dice follow, together with the seed; only if a program took part.
    secret: Option<&'a Secret>,
    /// The entry in each seat.
    entries: Vec<PlannedEntry>,
    /// The place of each seat: 1 is best, and seats that tie share a place.
    places: &'a [u16],
    /// The score of each seat.
    scores: &'a [i64],
    /// How many turns the match took, as the game counts them.
    turns: u32,
    /// What went wrong.
    faults: &'a [SeatFault],
    /// What each bot has written to standard error.
    logs: &'a [String],
}

impl<G: Listed> Finished<G> {
    /// Ends all players, adds their last faults to the match, and returns their logs.
    pub fn close(&mut self, players: &mut [Box<dyn Player<G>>]) -> Vec<String> {
        let step = self.recording.steps();
        let mut logs = Vec::new();
        for (&seat, player) in Seat::all(players.len()).iter().zip(players) {
            let (faults, log) = player.close();
            self.faults.extend(faults.into_iter().map(|fault| SeatFault { seat, step, fault }));
            logs.push(stderr::without_headings(&log));
        }
        logs
    }

    /// Returns the match as a JSON document.
    pub fn document<'a>(
        &'a self,
        entries: &[EntrySpec],
        names: &Names,
        rules: &'a G::Rules,
        (seed, secret): (Seed, Option<&'a Secret>),
        logs: &'a [String],
    ) -> MatchDocument<'a, G::Rules> {
        let Outcome { places, scores, turns } = &self.outcome;
        let (entries, faults) = (planned(entries, names), &self.faults);
        MatchDocument {
            game: G::ID,
            options: rules,
            seed,
            secret,
            entries,
            places,
            scores,
            turns: *turns,
            faults,
            logs,
        }
    }
}

/// The reason why a match has no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The match could not begin.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A person left.
    #[error("a player has left the table: the match has no result")]
    Quit,
    /// The arena lacks something, such as open files or processes. No bot is at fault.
    #[error("{0} (no bot is charged for it)")]
    Arena(String),
    /// The referee refused a forfeit, which it must always accept.
    #[error("the referee refused moves that it must accept: {0}")]
    Referee(String),
}

/// Plays a match from its seed, or with secret dice. `watch` is called after each step with the state and the events of the step.
pub fn run_match<G: Game>(
    names: &Names,
    rules: &G::Rules,
    dice: impl Into<Dice>,
    players: &mut [Box<dyn Player<G>>],
    watch: impl FnMut(&G, &[Logged<G::Event>]),
) -> Result<Finished<G>, RunError> {
    let mut recording = Recording::new(names, rules);
    let (outcome, faults) = referee(names, rules, dice.into(), players, Some(&mut recording), watch)?;
    Ok(Finished { outcome, faults, recording })
}

/// Plays a match without a replay: recording it takes longer than playing it. Returns the outcome and the faults.
pub fn run_unrecorded<G: Game>(
    names: &Names,
    rules: &G::Rules,
    dice: impl Into<Dice>,
    players: &mut [Box<dyn Player<G>>],
    watch: impl FnMut(&G, &[Logged<G::Event>]),
) -> Result<(Outcome, Vec<SeatFault>), RunError> {
    referee(names, rules, dice.into(), players, None, watch)
}

/// Returns the seeds that the players of a match are told when it starts, by seat.
pub(crate) fn start_seeds(bots: Seed) -> impl Iterator<Item = u32> {
    let mut seeds = Seeded::new(bots, "bot seeds", 0);
    iter::repeat_with(move || seeds.uniform(u32::MAX))
}

fn referee<G: Game>(
    names: &Names,
    rules: &G::Rules,
    Dice { dice, bots }: Dice,
    players: &mut [Box<dyn Player<G>>],
    mut recording: Option<&mut Recording<G>>,
    mut watch: impl FnMut(&G, &[Logged<G::Event>]),
) -> Result<(Outcome, Vec<SeatFault>), RunError> {
    let mut chance = Recorder::new(Seeded::new(dice, "match", 0));
    let mut log = Vec::new();
    let mut game = G::new(names, rules, &mut chance, &mut log)?;
    let seats = Seat::all(names.len());
    for ((&seat, player), seed) in seats.iter().zip(players.iter_mut()).zip(start_seeds(bots)) {
        player.start(&MatchStart { seat, names, seed });
    }
    let mut views: Vec<G::View> = seats.iter().map(|&seat| game.view(seat)).collect();
    let mut faults = Vec::new();
    let (mut told, mut number) = (0, 0);
    loop {
        watch(&game, &log);
        for (&seat, player) in seats.iter().zip(players.iter_mut()).filter(|(_, player)| player.listens()) {
            let heard = log.iter().filter(|logged| logged.audience.includes(seat));
            let heard: Vec<&G::Event> = heard.map(|logged| &logged.event).collect();
            if !heard.is_empty() {
                player.hear(&heard);
            }
        }
        if let Some(recording) = &mut recording {
            recording.happened(&chance.picks()[told..], &log);
        }
        told = chance.picks().len();
        log.clear();
        if let Some(outcome) = game.outcome() {
            for (&seat, player) in seats.iter().zip(players.iter_mut()) {
                let late = player.end(&outcome).into_iter();
                faults.extend(late.map(|fault| SeatFault { seat, step: number, fault }));
            }
            if let Some(recording) = &mut recording {
                recording.finish(&outcome);
            }
            return Ok((outcome, faults));
        }
        let mut step = collect(&game, players, &mut views)?;
        apply(&mut game, players, &views, &mut step, &mut chance, &mut log)?;
        faults.extend(step.faults.drain(..).map(|(seat, fault)| SeatFault { seat, step: number, fault }));
        if let Some(recording) = &mut recording {
            recording.steps.push(Step { moves: step.moves, reasons: step.reasons, picks: Vec::new() });
        }
        number += 1;
    }
}

/// The moves from all seats in one step.
struct Collected<A> {
    moves: Vec<Move<A>>,
    reasons: Vec<Option<String>>,
    faults: Vec<(Seat, Fault)>,
}

/// Asks all seats that are to act, then waits for each answer.
fn collect<G: Game>(
    game: &G,
    players: &mut [Box<dyn Player<G>>],
    views: &mut [G::View],
) -> Result<Collected<G::Action>, RunError> {
    for &seat in game.to_act() {
        game.refresh_view(seat, &mut views[seat.index()]);
        players[seat.index()].ask(&views[seat.index()]);
    }
    let mut collected = Collected { moves: Vec::new(), reasons: Vec::new(), faults: Vec::new() };
    for &seat in game.to_act() {
        let (choice, reason) = match players[seat.index()].answer(&views[seat.index()]) {
            Answer::Act(action, reason) => (Move::Act(action), reason),
            Answer::Partly { action, reason, fault } => {
                collected.faults.push((seat, fault));
                (Move::Act(action), reason)
            }
            Answer::Fault(fault) => {
                // What was said instead of an action is told like a reason, so that films and stories show it.
                let is_told = fault.kind.is_of_model() || fault.kind == FaultKind::Illegal;
                let said = is_told.then(|| format!("({fault})"));
                collected.faults.push((seat, fault));
                (Move::Forfeit, said)
            }
            Answer::Quit => return Err(RunError::Quit),
            Answer::Arena(what) => return Err(RunError::Arena(what)),
        };
        collected.moves.push(choice);
        collected.reasons.push(reason);
    }
    Ok(collected)
}

/// Applies the moves; an action that the referee rejects becomes what can be saved of it, or a forfeit.
fn apply<G: Game>(
    game: &mut G,
    players: &mut [Box<dyn Player<G>>],
    views: &[G::View],
    step: &mut Collected<G::Action>,
    chance: &mut impl Chance,
    log: &mut Vec<Logged<G::Event>>,
) -> Result<(), RunError> {
    // Each round settles one seat for good, the last one by forfeits only.
    for _ in 0..=2 * step.moves.len() {
        match game.apply(&step.moves, chance, log) {
            Ok(()) => return Ok(()),
            Err(Rejected::Illegal { seat, why }) => {
                let Some(place) = game.to_act().iter().position(|&s| s == seat) else { break };
                let why = why.to_string();
                players[seat.index()].refused(&why);
                step.faults.push((seat, Fault::new(FaultKind::Illegal, why)));
                let saved = match &step.moves[place] {
                    Move::Act(action) => G::salvage(&views[seat.index()], action),
                    Move::Forfeit => None,
                };
                step.moves[place] = saved.map_or(Move::Forfeit, Move::Act);
            }
            Err(other) => return Err(RunError::Referee(other.to_string())),
        }
    }
    Err(RunError::Referee(format!("{:?}", step.moves)))
}
