//! The report of a tournament: every number with its error, and a hash that proves the results.

use super::{
    Format, Plan, PlayedMatch, Schedule, Stop, Store, StoreError, Sums, TournamentError, matches, summary,
};
use crate::{
    fault::{FaultKind, Notes, Trouble},
    front::{Bargain, bargains},
    player::{AnsweredBy, Effort, Usage},
    stats::{self, Confidence, Measure, RankBy, Side},
};
use necrodome_rules::names::Names;
use schemars::JsonSchema;
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

/// The result of a tournament, ready to be printed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Report {
    /// The plan.
    pub plan: Plan,
    /// Blocks played.
    pub blocks: u32,
    /// Matches played between those in the standings.
    pub matches: u64,
    /// The fewest and the most blocks that any group of entries has met in. They differ if entries came and went.
    pub blocks_each: [u32; 2],
    /// Entries that took part and have left.
    pub left: Vec<String>,
    /// What decides the standings: order, ranks, and when a tournament stops.
    pub measure: Measure,
    /// What the intervals promise: `fixed` if the number of blocks was fixed before the first match, `anytime` if not.
    pub confidence: Confidence,
    /// The report in a few sentences.
    pub summary: Vec<String>,
    /// Why it has stopped: `done`, `decided`, `close` (no difference is larger than the margin), or `interrupted`, also while it
    /// is being played.
    pub stopped: Stop,
    /// Which claim of the plan's test has won, if one has.
    pub tested: Option<Side>,
    /// The entries, best first.
    pub standings: Vec<EntryReport>,
    /// The pairs of entries that have met, each once.
    pub head_to_head: Vec<Pair>,
    /// The effect of the seat; missing if every entry keeps its seat.
    pub seats: Option<stats::SeatEffect>,
    /// Pairs of neighbours in the standings that cannot be told apart.
    pub undecided: Vec<Separated>,
    /// Entries that did better, or worse, in the second half than in the first.
    pub drifts: Vec<NamedDrift>,
    /// Cycles of entries: each beats the next, and the last beats the first.
    pub cycles: Vec<[String; 3]>,
    /// Pairs whose results the ratings do not explain.
    pub misfits: Vec<NamedMisfit>,
    /// What went wrong, and what processes have written to standard error.
    #[serde(flatten)]
    pub trouble: Trouble,
    /// A hash of the plan, all results and their luck: the same on any machine, with any number of threads. Missing while it is being played.
    pub hash: Option<String>,
}

/// The results of an entry.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EntryReport {
    /// Its name.
    pub name: String,
    /// What it is.
    pub bot: String,
    /// Best and worst rank that the results allow.
    pub rank: stats::RankInterval,
    /// Games, wins, win rate, mean place and score.
    #[serde(flatten)]
    pub record: stats::Record,
    /// What decides the standings, with the luck of the dice taken out; only if the game is solved.
    pub luck_adjusted: Option<stats::Adjusted>,
    /// The joint rating.
    pub rating: stats::Rating,
    /// Wins per match in matches in which it did not misbehave, against the same opponents as in all matches; only if it has
    /// misbehaved, and not against one of them in every match.
    pub win_rate_without_faults: Option<f64>,
    /// The number of these matches.
    pub matches_without_faults: Option<u64>,
    /// Mean CPU time of a decision in microseconds; only for processes.
    pub cpu_us: Option<f64>,
    /// The cost of its decisions compared with the best ones; only if the game is solved and language models take part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regret: Option<Regret>,
    /// What its calls took; only for language models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageReport>,
    /// Its score in each round of a battle, where all entries meet once a round; missing for more than 1000 rounds, and while it
    /// is being played.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<i64>,
}

/// The cost of decisions compared with the best ones, exactly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Regret {
    /// Decisions.
    pub decisions: u64,
    /// The mean cost of a decision: in chances to win, or in points in games for one.
    pub per_decision: f64,
}

impl Regret {
    fn of(effort: &Effort) -> Option<Self> {
        let decisions = Some(effort.priced).filter(|&decisions| decisions > 0)?;
        Some(Regret { decisions, per_decision: effort.regret_nanos as f64 / 1e9 / decisions as f64 })
    }
}

/// What the calls of a language model took, including those that were answered from the book.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UsageReport {
    /// Decisions.
    pub decisions: u64,
    /// Calls: more than decisions if it was asked again.
    pub calls: u64,
    /// The models that answered, as the endpoint calls them, and how many calls each.
    pub answered_by: AnsweredBy,
    /// Answers that could not be used, including those after which the model was asked again.
    pub unusable: u64,
    /// The same, by what was wrong with them.
    pub unusable_by_kind: BTreeMap<FaultKind, u64>,
    /// Decisions without a usable answer after all tries: the game's rule for a bad action decided.
    pub lost: u64,
    /// Tokens of the prompts.
    pub input_tokens: u64,
    /// The part of them that the endpoint had cached.
    pub cached_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// The part of them that was spent on reasoning.
    pub reasoning_tokens: u64,
    /// What the calls cost when they were made, in the currency of the price list; none if a price is not known.
    pub cost: Option<f64>,
    /// What a decision cost.
    pub cost_per_decision: Option<f64>,
    /// The mean number of seconds that an answer took.
    pub seconds: f64,
    /// Where it stands among the others by regret and money.
    #[serde(flatten)]
    pub bargain: Bargain,
}

impl UsageReport {
    fn of(effort: &Effort) -> Option<Self> {
        let Usage {
            calls, input_tokens, cached_tokens, output_tokens, reasoning_tokens, unusable, lost, ..
        } = effort.usage;
        let calls = Some(calls).filter(|&calls| calls > 0)?;
        let cost = effort.usage.cost();
        let decisions = effort.decisions.max(1) as f64;
        Some(UsageReport {
            decisions: effort.decisions,
            calls,
            answered_by: effort.usage.answered_by.clone(),
            unusable,
            unusable_by_kind: effort.usage.unusable_by_kind.clone(),
            lost,
            input_tokens,
            cached_tokens,
            output_tokens,
            reasoning_tokens,
            cost,
            cost_per_decision: cost.map(|cost| cost / decisions),
            seconds: effort.usage.waited.as_secs_f64() / calls as f64,
            bargain: Bargain::default(),
        })
    }
}

/// Two entries that have met.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Pair {
    /// One, by name.
    pub one: String,
    /// The other.
    pub other: String,
    /// Games in which they met.
    pub games: u64,
    /// The share of them in which the first placed better; a tie counts half.
    pub better: stats::Estimate,
}

/// Two neighbours in the standings, by name, the better one first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Separated {
    /// One.
    pub one: String,
    /// The other.
    pub other: String,
    /// The total number of blocks that would probably tell them apart; missing if they seem equal.
    pub blocks_needed: Option<u64>,
}

/// An entry that did not play equally well in both halves of the tournament.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NamedDrift {
    /// Its name.
    pub name: String,
    /// The value that decides the standings, in the first half.
    pub first: f64,
    /// The same in the second half.
    pub second: f64,
}

/// Two entries whose results against each other do not match their ratings.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NamedMisfit {
    /// One.
    pub one: String,
    /// The other.
    pub other: String,
    /// The share of their meetings in which the first placed better.
    pub better: f64,
    /// The share that the ratings predict.
    pub expected: f64,
}

/// Makes the report of all stored blocks.
pub fn report(plan: &Plan, schedule: &Schedule, store: &Store) -> Result<Report, TournamentError> {
    // A plan may come from a file that somebody has changed.
    Names::new(plan.entries.iter().map(|entry| &entry.name))?;
    let mut sums = Sums::new(plan, schedule);
    sums.catch_up(schedule, store)?;
    let hash = Some(hash_of(plan, store)?);
    let mut report = Report { hash, ..report_of(plan, schedule, store, &sums)? };
    if plan.format == Format::Battle && report.blocks <= MOST_ROUNDS {
        let played = matches(schedule, store, 0, MOST_ROUNDS as usize)?;
        for entry in &mut report.standings {
            let score = |played: &PlayedMatch| {
                let seat = played.entries.iter().position(|&other| plan.entries[other].name == entry.name)?;
                Some(played.result.scores[seat])
            };
            entry.rounds = played.iter().filter_map(score).collect();
        }
    }
    Ok(report)
}

/// The most rounds with scores to show: nobody looks at more.
const MOST_ROUNDS: u32 = 1000;

/// Makes the report of the blocks in the sums, without a hash.
pub fn report_of(
    plan: &Plan,
    schedule: &Schedule,
    store: &Store,
    sums: &Sums,
) -> Result<Report, TournamentError> {
    // Somebody may have looked, and gone on or stopped because of what was there.
    let fixed = !plan.stops_early() && !plan.grown && plan.stages.is_empty() && sums.blocks() == plan.blocks;
    let confidence = if fixed { Confidence::Fixed } else { Confidence::Anytime };
    let standings = sums.standings(plan, confidence);
    let trouble = trouble(plan, store, sums.notes())?;
    let members: Vec<usize> = plan.members().collect();
    let name = |member: usize| plan.entries[members[member]].name.clone();
    let effort = |entry: usize| {
        sums.efforts().get(members[entry]).filter(|effort| effort.decisions + effort.priced > 0)
    };
    let entry_report = |&entry: &usize| EntryReport {
        name: name(entry),
        bot: plan.entries[members[entry]].bot.clone(),
        rank: standings.ranking.ranks[entry],
        record: standings.records[entry].clone(),
        luck_adjusted: standings.adjusted[entry],
        rating: standings.ratings[entry],
        win_rate_without_faults: sums.clean(entry).win_rate(),
        matches_without_faults: sums.clean(entry).win_rate().map(|_| sums.clean(entry).matches),
        cpu_us: effort(entry)
            .filter(|effort| !effort.cpu.is_zero())
            .map(|effort| effort.cpu.div_duration_f64(Duration::from_micros(1)) / effort.decisions as f64),
        regret: effort(entry).and_then(Regret::of),
        usage: effort(entry).and_then(UsageReport::of),
        rounds: Vec::new(),
    };
    let separated = |&(one, other): &(usize, usize)| Separated {
        one: name(one),
        other: name(other),
        blocks_needed: sums.blocks_needed(plan, one, other),
    };
    let drift = |drift: &stats::Drift| NamedDrift {
        name: name(drift.entry),
        first: drift.first,
        second: drift.second,
    };
    let misfit = |misfit: &stats::Misfit| NamedMisfit {
        one: name(misfit.one),
        other: name(misfit.other),
        better: misfit.better,
        expected: misfit.expected,
    };
    let rounds = schedule.rounds(sums.blocks());
    let mut report = Report {
        summary: Vec::new(),
        plan: Plan { sealed_dice: store.sealed_dice(plan)?, ..plan.clone() },
        blocks: sums.blocks(),
        matches: sums.matches(),
        blocks_each: [*rounds.start(), *rounds.end()],
        left: plan.entries.iter().filter(|entry| entry.left).map(|entry| entry.name.clone()).collect(),
        measure: sums.measure(),
        confidence,
        stopped: match sums.stop(plan) {
            Some(stop) => stop,
            None if sums.blocks() >= schedule.end() => Stop::Done,
            None => Stop::Interrupted,
        },
        tested: sums.tested(),
        standings: standings.ranking.order.iter().map(entry_report).collect(),
        undecided: standings.ranking.undecided.iter().map(separated).collect(),
        drifts: standings.drifts.iter().map(drift).collect(),
        cycles: standings.cycles.iter().map(|cycle| cycle.0.map(name)).collect(),
        misfits: standings.misfits.iter().map(misfit).collect(),
        head_to_head: pairs(name, &standings.head_to_head),
        seats: standings.seats,
        trouble,
        hash: None,
    };
    report.find_bargains();
    report.summary = summary::of(&report);
    Ok(report)
}

impl Report {
    /// Compares the language models by the cost of a decision in money and in regret.
    fn find_bargains(&mut self) {
        let deal = |entry: &EntryReport| {
            Some((entry.usage.as_ref()?.cost_per_decision?, entry.regret?.per_decision))
        };
        let bargains = bargains(&self.standings.iter().map(deal).collect::<Vec<_>>());
        for (entry, bargain) in self.standings.iter_mut().zip(bargains) {
            entry.usage.iter_mut().for_each(|usage| usage.bargain = bargain);
        }
    }

    /// Returns the pairs as a matrix in the order of the standings: games, and how often the row placed better than the column.
    pub fn matrix(&self) -> Vec<Vec<Option<(u64, stats::Estimate)>>> {
        let places: HashMap<&str, usize> =
            self.standings.iter().enumerate().map(|(place, entry)| (entry.name.as_str(), place)).collect();
        let mut matrix = vec![vec![None; self.standings.len()]; self.standings.len()];
        for Pair { one, other, games, better } in &self.head_to_head {
            let (row, column) = (places[one.as_str()], places[other.as_str()]);
            matrix[row][column] = Some((*games, *better));
            matrix[column][row] = Some((*games, better.rest()));
        }
        matrix
    }
}

/// Returns the pairs that have met, in the order of the plan.
fn pairs(name: impl Fn(usize) -> String, matrix: &[Vec<stats::HeadToHead>]) -> Vec<Pair> {
    let of_row = |(one, row): (usize, &Vec<stats::HeadToHead>)| {
        let others = row.iter().enumerate().skip(one + 1);
        let met = |(other, met): (usize, &stats::HeadToHead)| {
            met.better.map(|better| Pair { one: name(one), other: name(other), games: met.games, better })
        };
        others.filter_map(met).collect::<Vec<_>>()
    };
    matrix.iter().enumerate().flat_map(of_row).collect()
}

/// Returns the hash of a tournament. It covers everything that determines the results, the results and their luck, but not how many
/// blocks were planned, nor how results are shown.
pub fn hash_of(plan: &Plan, store: &Store) -> Result<String, StoreError> {
    store.check_chains()?;
    let stored = store.blocks()?;
    let mut hasher = blake3::Hasher::new();
    let mut plan = Plan {
        blocks: stored,
        rank_by: RankBy::default(),
        older: false,
        sandbox: None,
        gifts: Default::default(),
        ..plan.clone()
    };
    for entry in &mut plan.entries {
        (entry.left, entry.runs_with) = (false, None);
    }
    (plan.grown, plan.public_dice) = (false, false);
    // Whether a secret was told yet makes no difference, nor that of blocks to come.
    plan.sealed_dice.retain(|sealed| sealed.first < stored);
    plan.sealed_dice.iter_mut().for_each(|sealed| sealed.secret = None);
    // Who was to come, or had left, when the last block was played makes no difference to it.
    plan.stages.retain(|stage| stage.first < stored);
    if let Some(last) = plan.stages.iter().filter_map(|stage| stage.entries.last()).max() {
        plan.entries.truncate(last + 1);
    }
    if matches!(&plan.stages[..], [only] if only.entries.len() == plan.entries.len()) {
        plan.stages.clear();
    }
    // A plan has no maps with odd keys, and a hasher takes everything.
    let _ = serde_json::to_writer(&mut hasher, &plan);
    // Luck decides standings, too. It is sums of exact values that every machine computes in the same order, without functions
    // that differ from one library to another. How blocks were stored together does not matter.
    let (mut next, mut luck) = (0, blake3::Hasher::new());
    while let Some(chunk) = store.chunk(next)? {
        hasher.update(&chunk.results);
        luck.update(chunk.packed_luck());
        next = chunk.end()?;
    }
    if luck.count() > 0 {
        hasher.update(luck.finalize().as_bytes());
    }
    Ok(hasher.finalize().to_string())
}

/// Returns what went wrong in all matches and when players were closed.
pub(super) fn trouble(plan: &Plan, store: &Store, mut notes: Notes) -> Result<Trouble, StoreError> {
    for closing in store.closings()? {
        let damaged = || StoreError::Damaged("a closing does not fit the plan".into());
        if plan.entries.get(closing.entry).ok_or_else(damaged)?.left {
            continue;
        }
        for fault in &closing.faults {
            notes.fault(closing.entry, fault, || "the end".to_owned());
        }
        notes.log(closing.entry, &closing.log);
    }
    Ok(notes.named(|entry| plan.entries[entry].name.clone()))
}
