//! What viewers of a tournament are told, and how it is made from a report. Numbers are rounded and lists are short, so that it
//! can be sent to many every second.

use super::samples::is_sample;
use crate::Refusal;
use necrodome_arena::{
    entry::looks_like_file,
    process::Level,
    stats::{self, Measure, RankBy},
    tournament::{Plan, Report, Schedule, SealedDice, UsageReport},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Entries that have lines in the chart and rows in the table of meetings.
const SHOWN: usize = 12;
/// Points of the chart.
const POINTS: usize = 200;

/// How far a tournament is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TournamentState {
    /// It is being played.
    Running,
    /// The host wants it to wait.
    Paused,
    /// The host has ended it.
    Cancelled,
    /// All blocks are played.
    Finished,
    /// It has ended early: the neighbours in the standings are told apart.
    Decided,
    /// It cannot go on.
    Failed,
}

/// A tournament in a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TournamentLine {
    /// Its number.
    pub id: i64,
    /// How far it is.
    pub state: TournamentState,
    /// The id of the game.
    pub game: String,
    /// The names of the entries, the first of them.
    pub names: Vec<String>,
    /// How many entries there are.
    pub entries: usize,
    /// Blocks played.
    pub blocks: u32,
    /// Blocks wanted.
    pub wanted: u32,
    /// Matches played.
    pub matches: u64,
    /// Who leads.
    pub leader: Option<String>,
    /// When it began, in seconds since 1970.
    pub began: i64,
    /// Whether it is one that every new arena shows.
    #[serde(default)]
    pub sample: bool,
}

/// A tournament as its viewers see it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TournamentView {
    /// In a line.
    pub line: TournamentLine,
    /// Who meets whom.
    pub format: String,
    /// Seats of a match.
    pub seats: usize,
    /// The options of the rules.
    pub options: Value,
    /// The seed of everything; guests are told when it is over, since a program that takes part could ask for it.
    pub seed: Option<String>,
    /// What the dice follow from beside the seed, where programs take part: its hash from the start, itself when all is played.
    pub sealed_dice: Vec<SealedDice>,
    /// Whether it stops as soon as the neighbours are told apart.
    pub until_decided: bool,
    /// Matches of a block.
    pub matches_of_block: usize,
    /// Matches in a second: lately while it runs, on average when it does not.
    pub rate: f64,
    /// Seconds until all blocks are played, at this rate.
    pub eta: Option<f64>,
    /// Seconds that it has been played for.
    pub seconds: f64,
    /// Blocks that had been played when the standings were made.
    pub seen: u32,
    /// What decides the order: luck-adjusted, win-rate, mean-score or median-score.
    pub order: String,
    /// What it all means, in a few sentences.
    #[serde(default)]
    pub summary: Vec<String>,
    /// The entries, best first.
    pub standings: Vec<Standing>,
    /// The first of the standings against each other, row against column; nothing where they have not met.
    pub meetings: Vec<Vec<Option<Meeting>>>,
    /// Neighbours in the standings that cannot be told apart.
    pub undecided: Vec<(String, String)>,
    /// Ratings over time.
    pub history: Vec<HistoryPoint>,
    /// What went wrong.
    pub faults: Vec<FaultLine>,
    /// How far programs are confined, and what that means; none where none takes part.
    pub sandbox: Option<(Level, String)>,
    /// What programs are given beside the usual, in words; none if nothing.
    pub gifts: Option<String>,
    /// The hash of the plan and of the results that were seen: the same for everybody who plays it.
    pub hash: Option<String>,
    /// What only the host is told.
    pub host: Option<HostOnly>,
}

/// What programs have written, and why things went wrong: it may tell of files on the host's machine.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct HostOnly {
    /// Why it cannot go on.
    pub error: Option<String>,
    /// For each line of faults: the first of them in words.
    pub first_faults: Vec<String>,
    /// The end of what each program has written to standard error.
    pub logs: Vec<EntryLog>,
}

/// What a program has written to standard error.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EntryLog {
    /// The entry.
    pub name: String,
    /// The last lines.
    pub lines: Vec<String>,
}

/// A number with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The estimate.
    pub mean: f64,
    /// The lower end, if it is known.
    pub low: Option<f64>,
    /// The upper end, if it is known.
    pub high: Option<f64>,
}

/// An entry in the standings.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Standing {
    /// Its number in the line-up, from 0.
    pub entry: usize,
    /// Its name.
    pub name: String,
    /// The bot behind it.
    pub bot: String,
    /// The best rank that the results allow.
    pub best_rank: usize,
    /// The worst rank that the results allow.
    pub worst_rank: usize,
    /// Games that the numbers are from.
    pub games: u64,
    /// Wins per game, a shared win counted in part.
    pub win_rate: Option<Interval>,
    /// The win rate (of who plays alone: the mean score) without the luck of the dice, where the game is solved.
    pub luck_adjusted: Option<Interval>,
    /// The joint rating in Elo points.
    pub rating: Interval,
    /// The mean score.
    pub mean_score: Option<Interval>,
    /// The median score, where it decides the order.
    pub median_score: Option<Interval>,
    /// Mean CPU time of a decision in microseconds, of programs.
    pub cpu_us: Option<f64>,
    /// What a decision cost against the best one, in a solved game where language models take part: in chances to win, or in points
    /// where players play alone.
    #[serde(default)]
    pub regret: Option<f64>,
    /// What its calls took, of a language model.
    #[serde(default)]
    pub expenses: Option<Expenses>,
}

/// What the calls of a language model took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Expenses {
    /// What they cost, in the currency of the price list; none if a price is not known.
    pub cost: Option<f64>,
    /// What a decision cost.
    pub cost_per_decision: Option<f64>,
    /// Tokens, input and output.
    pub tokens: u64,
    /// Answers that could not be used.
    pub unusable: u64,
    /// Decisions without a usable answer after all tries.
    pub lost: u64,
    /// Whether no other language model beats it in both regret and cost; none if that is not known.
    pub on_front: Option<bool>,
    /// How much regret each further unit of money saves, against the next cheaper one on the front.
    pub regret_per_cost: Option<f64>,
}

impl Expenses {
    fn of(usage: &UsageReport) -> Self {
        Expenses {
            cost: usage.cost,
            cost_per_decision: usage.cost_per_decision,
            tokens: usage.input_tokens.saturating_add(usage.output_tokens),
            unusable: usage.unusable,
            lost: usage.lost,
            on_front: usage.bargain.on_front,
            regret_per_cost: usage.bargain.regret_per_cost,
        }
    }
}

/// One entry against another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Meeting {
    /// Games in which they met.
    pub games: u64,
    /// The share of them in which the first placed better, a tie counted half.
    pub better: f64,
    /// The lower end of its interval.
    pub low: Option<f64>,
    /// The upper end of its interval.
    pub high: Option<f64>,
}

/// The ratings at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryPoint {
    /// Blocks played by then.
    pub blocks: u32,
    /// The ratings of the first entries of the line-up, in whole points.
    pub ratings: Vec<f64>,
}

/// How often an entry misbehaved in one way.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FaultLine {
    /// The entry.
    pub name: String,
    /// How it misbehaved.
    pub kind: String,
    /// How often.
    pub count: u32,
    /// What to do about it, where that is always the same.
    pub hint: Option<String>,
}

impl HistoryPoint {
    /// The ratings as a report has them.
    pub(super) fn of(report: &Report) -> Self {
        let rating = |member: usize| {
            let name = &report.plan.entries[member].name;
            let entry = report.standings.iter().find(|entry| entry.name == *name);
            entry.map_or(0.0, |entry| entry.rating.elo.round())
        };
        let ratings = report.plan.members().take(SHOWN).map(rating).collect();
        HistoryPoint { blocks: report.blocks, ratings }
    }
}

impl TournamentState {
    /// The state that comes next, if it can.
    pub(super) fn then(self, next: Self) -> Result<Self, Refusal> {
        use TournamentState::*;
        match (self, next) {
            // What ends by itself has ended, whatever the host wanted meanwhile.
            (_, Finished | Decided | Failed) => Ok(next),
            (Paused | Failed, Running) | (Running, Paused) | (Running | Paused | Failed, Cancelled) => {
                Ok(next)
            }
            (_, Running) => Err(Refusal::conflict(format!("it is {}, and cannot go on", self.as_str()))),
            _ => Err(Refusal::conflict(format!("it is {} already", self.as_str()))),
        }
    }

    /// The name as it is kept.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            TournamentState::Running => "running",
            TournamentState::Paused => "paused",
            TournamentState::Cancelled => "cancelled",
            TournamentState::Finished => "finished",
            TournamentState::Decided => "decided",
            TournamentState::Failed => "failed",
        }
    }

    /// The state that was kept so.
    pub(super) fn named(name: &str) -> Option<Self> {
        use TournamentState::*;
        [Running, Paused, Cancelled, Finished, Decided, Failed]
            .into_iter()
            .find(|state| state.as_str() == name)
    }
}

impl TournamentView {
    /// A tournament of which nothing has been seen yet.
    pub(super) fn new(id: i64, plan: &Plan, schedule: &Schedule, state: TournamentState, began: i64) -> Self {
        TournamentView {
            line: TournamentLine {
                id,
                state,
                game: plan.game.clone(),
                names: plan.members().take(SHOWN).map(|member| plan.entries[member].name.clone()).collect(),
                entries: plan.members().count(),
                blocks: 0,
                wanted: schedule.end(),
                matches: 0,
                leader: None,
                began,
                sample: is_sample(plan),
            },
            format: plan.format.as_str().into(),
            seats: plan.seats,
            options: plan.options.clone(),
            seed: Some(plan.seed.to_string()),
            sealed_dice: plan.sealed_dice.clone(),
            until_decided: plan.until_decided,
            matches_of_block: schedule.matches(schedule.end().saturating_sub(1)),
            rate: 0.0,
            eta: None,
            seconds: 0.0,
            seen: 0,
            order: "win-rate".into(),
            summary: Vec::new(),
            standings: Vec::new(),
            meetings: Vec::new(),
            undecided: Vec::new(),
            history: Vec::new(),
            faults: Vec::new(),
            sandbox: plan.sandbox.map(|level| (level, level.about().to_owned())),
            gifts: (!plan.gifts.is_empty()).then(|| plan.gifts.to_string()),
            hash: None,
            host: Some(HostOnly::default()),
        }
    }

    /// Blocks that were played.
    pub(super) fn played(&mut self, blocks: u32, schedule: &Schedule) {
        self.line.blocks = blocks;
        self.line.matches = schedule.matches_before(blocks);
    }

    /// Takes over what a report says.
    pub(super) fn take(&mut self, report: &Report) {
        let seen = report.blocks;
        self.seen = seen;
        self.order = order(report).into();
        self.summary.clone_from(&report.summary);
        self.sealed_dice.clone_from(&report.plan.sealed_dice);
        self.line.leader = report.standings.first().map(|entry| entry.name.clone()).filter(|_| seen > 0);
        let names: Vec<&str> =
            report.plan.members().map(|member| report.plan.entries[member].name.as_str()).collect();
        let number = |name: &str| names.iter().position(|&member| member == name).unwrap_or_default();
        let with_models = report.standings.iter().any(|entry| entry.usage.is_some());
        self.standings = report
            .standings
            .iter()
            .map(|entry| Standing {
                entry: number(&entry.name),
                name: entry.name.clone(),
                bot: harmless(&entry.bot),
                best_rank: entry.rank.best,
                worst_rank: entry.rank.worst,
                games: entry.record.games,
                win_rate: entry.record.win_rate.map(Interval::of),
                luck_adjusted: entry.luck_adjusted.map(|adjusted| Interval::of(adjusted.estimate)),
                rating: Interval {
                    mean: tenths(entry.rating.elo),
                    low: entry.rating.low.map(tenths),
                    high: entry.rating.high.map(tenths),
                },
                mean_score: entry.record.mean_score.map(Interval::of),
                median_score: entry.record.median_score.map(Interval::of),
                cpu_us: entry.cpu_us.map(tenths),
                regret: entry.regret.filter(|_| with_models).map(|regret| regret.per_decision),
                expenses: entry.usage.as_ref().map(Expenses::of),
            })
            .collect();
        let meeting = |(games, better): (u64, stats::Estimate)| Meeting {
            games,
            better: rounded(better.mean),
            low: better.low.map(rounded),
            high: better.high.map(rounded),
        };
        let row = |row: Vec<Option<_>>| row.into_iter().take(SHOWN).map(|met| met.map(meeting)).collect();
        self.meetings = report.matrix().into_iter().take(SHOWN).map(row).collect();
        self.undecided = report.undecided.iter().map(|pair| (pair.one.clone(), pair.other.clone())).collect();
        let fault = |fault: &necrodome_arena::fault::FaultCount| FaultLine {
            name: fault.name.clone(),
            kind: fault.kind.as_str().into(),
            count: fault.count,
            hint: fault.hint.map(str::to_owned),
        };
        self.faults = report.trouble.faults.iter().map(fault).collect();
        let error = self.host.take().and_then(|host| host.error);
        let log = |log: &necrodome_arena::fault::BotLog| EntryLog {
            name: log.name.clone(),
            lines: log.lines.clone(),
        };
        self.host = Some(HostOnly {
            error,
            first_faults: report.trouble.faults.iter().map(|fault| fault.first.clone()).collect(),
            logs: report.trouble.logs.iter().map(log).collect(),
        });
        self.history.retain(|point| point.blocks < seen);
        self.remember(HistoryPoint::of(report));
    }

    /// Adds a point to the chart. Where there are too many, one goes where they are densest.
    pub(super) fn remember(&mut self, point: HistoryPoint) {
        if point.blocks == 0 {
            return;
        }
        let place = self.history.partition_point(|other| other.blocks < point.blocks);
        self.history.insert(place, point);
        if self.history.len() > POINTS {
            let gap = |&index: &usize| self.history[index + 1].blocks - self.history[index - 1].blocks;
            if let Some(dense) = (1..self.history.len() - 1).min_by_key(gap) {
                self.history.remove(dense);
            }
        }
    }

    /// As everybody may see it.
    pub(super) fn for_guests(&self) -> Self {
        use TournamentState::{Cancelled, Decided, Finished};
        let is_over = matches!(self.line.state, Finished | Decided | Cancelled);
        TournamentView { host: None, seed: self.seed.clone().filter(|_| is_over), ..self.clone() }
    }
}

/// What decides the order of a report.
fn order(report: &Report) -> &'static str {
    let lucky = report.standings.iter().any(|entry| entry.luck_adjusted.is_some());
    match report.measure {
        Measure::WinRate | Measure::AgainstFirst | Measure::MeanScore
            if lucky && report.plan.rank_by == RankBy::LuckAdjusted =>
        {
            "luck-adjusted"
        }
        Measure::WinRate | Measure::AgainstFirst => "win-rate",
        Measure::MeanScore => "mean-score",
        Measure::MedianScore => "median-score",
    }
}

impl Interval {
    fn of(estimate: stats::Estimate) -> Self {
        Interval {
            mean: rounded(estimate.mean),
            low: estimate.low.map(rounded),
            high: estimate.high.map(rounded),
        }
    }
}

/// What a bot is, for everybody: a built-in one or an allowed name as it was written, but no file and no command.
fn harmless(bot: &str) -> String {
    if bot.starts_with("cmd:") || looks_like_file(bot) { "a program".to_owned() } else { bot.to_owned() }
}

fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_arena::tournament::{Format, PlannedEntry};

    fn view() -> TournamentView {
        let entry = |name: &str| PlannedEntry::new(name, "random");
        let plan = Plan::new("zombie-dice-race", vec![entry("a"), entry("b")], Format::Table, 2, 10, 1);
        TournamentView::new(1, &plan, &Schedule::of(&plan).unwrap(), TournamentState::Running, 0)
    }

    #[test]
    fn the_chart_stays_small_and_keeps_its_ends() {
        let mut view = view();
        // Points in between are found out later.
        for blocks in (2..=5000).step_by(2).chain((1..5000).step_by(2)) {
            view.remember(HistoryPoint { blocks, ratings: Vec::new() });
            assert!(view.history.len() <= POINTS);
        }
        assert_eq!(view.history.last().map(|point| point.blocks), Some(5000));
        assert!(view.history[0].blocks < 100, "the beginning is still there");
        assert!(view.history.windows(2).all(|pair| pair[0].blocks < pair[1].blocks));
    }

    #[test]
    fn guests_are_not_told_what_programs_wrote() {
        let mut view = view();
        view.host = Some(HostOnly { error: Some("/home/ada".into()), ..HostOnly::default() });
        let told = serde_json::to_string(&view.for_guests()).unwrap();
        assert!(!told.contains("/home/ada"), "{told}");
        assert_eq!(harmless("./ada.py"), "a program");
        assert_eq!(harmless("cmd:python3 x"), "a program");
        assert_eq!(harmless("angry:x=1"), "angry:x=1");
    }
}
