//! The value of a match at every moment: the solver's ledger, in words and numbers that the pages can draw.

use super::follow;
use necrodome_arena::replay::{Bounds, Replay, ReplayError, unpack_within};
use necrodome_rules::{
    catalog::Listed,
    game::{Move, Seat},
    names::Names,
    with_game,
};
use necrodome_solve::{Ledger, LedgerEntry};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The value of a match to seat 0, entry by entry: `start` plus the changes of all entries gives `result`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Values {
    /// The unit of all values.
    pub unit: Unit,
    /// Before anything happened.
    pub start: f64,
    /// At the end.
    pub result: f64,
    /// Everything that changed the value in between.
    pub entries: Vec<ValueEntry>,
    /// What dice and decisions did to each seat.
    pub seats: Vec<SeatSum>,
    /// The most expensive decisions, as places in `entries`, the worst first.
    pub worst: Vec<u32>,
    /// The extremes.
    pub peaks: Vec<Peak>,
}

/// An extreme of a match.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Peak {
    /// What it is.
    pub name: PeakName,
    /// Its place in the entries.
    pub entry: u32,
    /// The step of the film.
    pub step: u32,
    /// Whose it is.
    pub seat: Seat,
    /// What the roll gave, what the decision cost, or the winner's chance.
    pub amount: f64,
}

/// The name of an extreme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeakName {
    /// The luckiest roll.
    Luck,
    /// The worst decision.
    Mistakes,
    /// Where the winner's chance was lowest, if that was below one half.
    Comeback,
    /// Where the winner was behind for the last time and then ahead.
    Turn,
}

/// The unit of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// The chance to win, from 0 to 1. Seat 1 has the rest.
    Chance,
    /// Expected points of a game for one.
    Points,
}

/// Luck and mistakes of a seat.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SeatSum {
    /// What the dice gave it.
    pub luck: f64,
    /// What its decisions cost it.
    pub regret: f64,
}

/// An event that changed the value. `before` and `after` are the values to seat 0.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ValueEntry {
    /// Somebody decided.
    Decision {
        /// The step of the film, from 1. In a film, step 0 is the set-up.
        step: u32,
        /// Who decided.
        seat: Seat,
        /// What it saw, in words.
        situation: String,
        /// What it did, in words.
        chosen: String,
        /// The value of the choice to this seat.
        value: f64,
        /// The value of the best option to this seat.
        best: f64,
        /// The difference: the cost of the choice. Never negative.
        regret: f64,
        /// All options, the best first.
        options: Vec<Priced>,
        /// The value before.
        before: f64,
        /// The value after.
        after: f64,
    },
    /// Dice were rolled.
    Roll {
        /// The step of the film; 0 is the set-up.
        step: u32,
        /// Who rolled.
        seat: Seat,
        /// The roll, in words.
        words: String,
        /// The luck of seat 0: `after - before`.
        luck: f64,
        /// The value expected before the roll.
        before: f64,
        /// The value after the roll.
        after: f64,
    },
    /// The limit on rounds ended a match that would have gone on.
    Limit {
        /// The value before.
        before: f64,
        /// The result.
        after: f64,
    },
}

/// An option of a decision.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Priced {
    /// What the player does, in words.
    pub words: String,
    /// Its value to the player who decides.
    pub value: f64,
    /// Whether it was chosen.
    pub chosen: bool,
}

/// Whether a match uses the usual rules, apart from limits on rounds and turns. Solving other rules takes time and memory, and the
/// solution is kept as long as the server runs, so only the host may ask for that.
pub(crate) fn is_usual<G: Listed>(rules: &G::Rules) -> bool {
    let plain = |rules: &G::Rules| {
        let options: Map<String, Value> = serde_json::from_value(serde_json::to_value(rules).ok()?).ok()?;
        Some(options.into_iter().filter(|(name, _)| !name.starts_with("max_")).collect::<Map<_, _>>())
    };
    plain(rules) == plain(&G::Rules::default())
}

/// Returns the values of a match, or `None` if the game is not solved under its rules and for its number of seats.
pub(super) fn values<G: Listed>(replay: &Replay<G>) -> Result<Option<Values>, ReplayError> {
    let seats = replay.names.len();
    let Some((ledger, steps)) = priced(replay)? else { return Ok(None) };
    let sum = |&seat: &Seat| SeatSum { luck: ledger.luck(seat), regret: ledger.regret(seat) };
    Ok(Some(Values {
        unit: if *G::SEATS.end() == 1 { Unit::Points } else { Unit::Chance },
        start: ledger.start,
        result: ledger.result,
        entries: ledger
            .entries
            .iter()
            .zip(&steps)
            .map(|(one, &step)| entry(one, step, &replay.names))
            .collect(),
        seats: Seat::all(seats).iter().map(sum).collect(),
        worst: ledger.worst().iter().map(|decision| decision.number as u32).collect(),
        peaks: peaks(replay, &ledger, &steps),
    }))
}

/// Returns the extremes of a packed replay; none if the game is not solved under its rules and for its number of seats.
pub(crate) fn peaks_of(packed: Vec<u8>) -> Result<Vec<Peak>, ReplayError> {
    let unpacked = unpack_within(packed, &Bounds::FILE)?;
    with_game!(unpacked.game()?, G => {
        let replay: Replay<G> = unpacked.parse()?;
        Ok(priced(&replay)?.map_or(Vec::new(), |(ledger, steps)| peaks(&replay, &ledger, &steps)))
    })
}

/// A ledger, and the step of the film in which each of its entries is shown.
type Shown<G> = (Ledger<G>, Vec<u32>);

/// Returns the ledger of a match with its steps, or `None` if the game is not solved.
fn priced<G: Listed>(replay: &Replay<G>) -> Result<Option<Shown<G>>, ReplayError> {
    let Ok(solution) = necrodome_solve::solve::<G>(&replay.rules, replay.names.len()) else {
        return Ok(None);
    };
    let ledger = replay.ledger(solution)?;
    let steps = steps(replay, &ledger)?;
    Ok(Some((ledger, steps)))
}

/// Returns the extremes of a match; of equals, the first.
fn peaks<G: Listed>(replay: &Replay<G>, ledger: &Ledger<G>, steps: &[u32]) -> Vec<Peak> {
    let alone = *G::SEATS.end() == 1;
    let peak = |name, place: usize, seat, amount| Peak {
        name,
        entry: place as u32,
        step: steps[place],
        seat,
        amount,
    };
    let entries = || ledger.entries.iter().enumerate();
    let rolls = entries().filter_map(|(place, entry)| match entry {
        LedgerEntry::Roll { seat, luck, .. } => {
            let own = if alone || seat.0 == 0 { *luck } else { -luck };
            Some(peak(PeakName::Luck, place, *seat, own))
        }
        _ => None,
    });
    let luckiest = rolls.min_by(|a, b| b.amount.total_cmp(&a.amount)).filter(|roll| roll.amount > 0.0);
    let worst = ledger.worst();
    let worst = worst.first().map(|one| peak(PeakName::Mistakes, one.number, one.seat, one.regret));
    let mut peaks: Vec<Peak> = luckiest.into_iter().chain(worst).collect();
    let winners: Vec<Seat> = replay.outcome.winners().collect();
    let ([winner], false) = (winners.as_slice(), alone) else { return peaks };
    let course: Vec<(usize, f64)> = entries()
        .filter_map(|(place, entry)| match entry {
            LedgerEntry::Decision { after, .. } | LedgerEntry::Roll { after, .. } => {
                Some((place, if winner.0 == 0 { *after } else { 1.0 - after }))
            }
            LedgerEntry::Limit { .. } => None,
        })
        .collect();
    let is_behind = |(_, chance): &&(usize, f64)| *chance < 0.5;
    let lowest = course.iter().filter(is_behind).min_by(|a, b| a.1.total_cmp(&b.1));
    let ahead = course.iter().rposition(|one| is_behind(&one)).and_then(|behind| course.get(behind + 1));
    for (name, at) in [(PeakName::Comeback, lowest), (PeakName::Turn, ahead)] {
        peaks.extend(at.map(|&(place, chance)| peak(name, place, *winner, chance)));
    }
    peaks
}

/// Returns the step of the film in which each entry is shown.
fn steps<G: Listed>(replay: &Replay<G>, ledger: &Ledger<G>) -> Result<Vec<u32>, ReplayError> {
    let mut entries = ledger.entries.iter().peekable();
    let (mut steps, mut frame) = (Vec::with_capacity(ledger.entries.len()), 0_u32);
    follow(replay, |moment, parts| {
        let of_step = moment.number;
        let decided =
            |entry: &&LedgerEntry<G>| matches!(entry, LedgerEntry::Decision { step, .. } if *step == of_step);
        while entries.next_if(decided).is_some() {
            steps.push(frame);
        }
        for part in parts {
            for logged in part.log {
                let rolled = |entry: &&LedgerEntry<G>| matches!(entry, LedgerEntry::Roll { step, event, .. } if *step == of_step && *event == logged.event);
                if entries.next_if(rolled).is_some() {
                    steps.push(frame);
                }
            }
            frame += 1;
        }
        Ok(())
    })?;
    // What a limit did is shown at the end.
    steps.resize(ledger.entries.len(), frame.saturating_sub(1));
    Ok(steps)
}

fn entry<G: Listed>(entry: &LedgerEntry<G>, step: u32, names: &Names) -> ValueEntry {
    match entry {
        LedgerEntry::Decision { seat, view, options, chosen, best, value, regret, before, after, .. } => {
            let words = G::choice(view, chosen, names).to_string();
            let mut options: Vec<Priced> = options
                .iter()
                .map(|option| {
                    let text = G::choice(view, &Move::Act(option.action.clone()), names).to_string();
                    // Keeping this or that of two equal dice is one option, so the words tell, not the action.
                    Priced { chosen: text == words, words: text, value: option.value }
                })
                .collect();
            options.sort_by(|a, b| b.value.total_cmp(&a.value));
            ValueEntry::Decision {
                step,
                seat: *seat,
                situation: G::situation(view, names).to_string(),
                chosen: words,
                value: *value,
                best: *best,
                regret: *regret,
                options,
                before: *before,
                after: *after,
            }
        }
        LedgerEntry::Roll { seat, event, luck, before, after, .. } => ValueEntry::Roll {
            step,
            seat: *seat,
            words: G::dice(event, names),
            luck: *luck,
            before: *before,
            after: *after,
        },
        LedgerEntry::Limit { before, after } => ValueEntry::Limit { before: *before, after: *after },
    }
}
