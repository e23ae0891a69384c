//! What viewers of a tournament are told, made from a report. Numbers are rounded and lists kept short, so that it can be sent to
//! many viewers every second.

use super::samples::is_sample;
use crate::Refusal;
use necrodome_arena::{
    entry::looks_like_file,
    process::Level,
    stats::{self, Measure, RankBy},
    tournament::{EntryReport, Plan, Report, Schedule, SealedDice, UsageReport},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// The most entries with lines in the chart and rows in the table of meetings.
const SHOWN: usize = 12;
/// The most points in the chart.
const POINTS: usize = 200;

/// The state of a tournament.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TournamentState {
    /// It is being played.
    Running,
    /// The host has paused it.
    Paused,
    /// The host has cancelled it.
    Cancelled,
    /// All blocks are played.
    Finished,
    /// It has ended early, because the condition to stop was met.
    Decided,
    /// It cannot go on.
    Failed,
}

/// How fast a tournament is played. It is no part of the plan: the results do not depend on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TournamentPace {
    /// As fast as possible.
    #[default]
    Fast,
    /// Slowly enough to be watched: it takes two minutes, or longer where the matches do.
    Show,
    /// A show of ten minutes.
    LongShow,
}

impl TournamentPace {
    /// How long all blocks take together, at least.
    pub(super) fn lasts(self) -> Duration {
        match self {
            TournamentPace::Fast => Duration::ZERO,
            TournamentPace::Show => Duration::from_mins(2),
            TournamentPace::LongShow => Duration::from_mins(10),
        }
    }
}

/// A tournament in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TournamentLine {
    /// Its number.
    pub id: i64,
    /// Its state.
    pub state: TournamentState,
    /// The id of the game.
    pub game: String,
    /// The names of the first entries.
    pub names: Vec<String>,
    /// How many entries there are.
    pub entries: usize,
    /// Blocks played.
    pub blocks: u32,
    /// How many blocks are to be played.
    pub wanted: u32,
    /// Matches played.
    pub matches: u64,
    /// The names of the entries that may be first, the best first: one if it is decided, none if nothing has been played.
    #[serde(default)]
    pub leaders: Vec<String>,
    /// When it began, in seconds since 1970.
    pub began: i64,
    /// Whether it is a sample that every new arena plays.
    #[serde(default)]
    pub sample: bool,
}

/// A tournament as its viewers see it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TournamentView {
    /// Its line in a list.
    pub line: TournamentLine,
    /// Who meets whom.
    pub format: String,
    /// Seats of a match.
    pub seats: usize,
    /// The options of the rules.
    pub options: Value,
    /// The seed. Guests see it only when the tournament is over, since a program that takes part could ask for it.
    pub seed: Option<String>,
    /// The commitment of the secret behind the dice, where programs take part; also the secret itself, once everything is played.
    pub sealed_dice: Vec<SealedDice>,
    /// Whether it stops as soon as the neighbours are told apart.
    pub until_decided: bool,
    /// Matches of a block.
    pub matches_of_block: usize,
    /// Matches per second: recently while it runs, on average once it has ended.
    pub rate: f64,
    /// How fast it is played.
    pub pace: TournamentPace,
    /// Seconds until all blocks are played, at this rate.
    pub eta: Option<f64>,
    /// How many seconds it has been played for.
    pub seconds: f64,
    /// How many blocks the standings are made from.
    pub seen: u32,
    /// What decides the order: luck-adjusted, win-rate, mean-score or median-score.
    pub order: String,
    /// A summary in a few sentences.
    #[serde(default)]
    pub summary: Vec<String>,
    /// The entries, best first.
    pub standings: Vec<Standing>,
    /// The first entries of the standings against each other, row against column; null where two have not met.
    pub meetings: Vec<Vec<Option<Meeting>>>,
    /// Neighbours in the standings that cannot be told apart.
    pub undecided: Vec<(String, String)>,
    /// Ratings over time; of those who play alone, scores.
    pub history: Vec<HistoryPoint>,
    /// What went wrong.
    pub faults: Vec<FaultLine>,
    /// How programs are confined, and what that means; none if no program takes part.
    pub sandbox: Option<(Level, String)>,
    /// What programs are given beyond the usual, in words; none if nothing.
    pub gifts: Option<String>,
    /// The hash of the plan and of the results in the report. It is the same for everybody who plays this plan.
    pub hash: Option<String>,
    /// The part that only the host sees.
    pub host: Option<HostOnly>,
}

/// The programs' output and the causes of errors, which may reveal files on the host's machine.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct HostOnly {
    /// Why the tournament cannot go on.
    pub error: Option<String>,
    /// For each line of `faults`, the first fault in words.
    pub first_faults: Vec<String>,
    /// The end of what each program has written to standard error.
    pub logs: Vec<EntryLog>,
}

/// What a program has written to standard error.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EntryLog {
    /// The entry.
    pub name: String,
    /// The lines; of many the first and the last.
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
    /// How many games the numbers are based on.
    pub games: u64,
    /// The win rate; a shared win counts as its share.
    pub win_rate: Option<Interval>,
    /// The luck-adjusted win rate, or mean score for players who play alone, where the game is solved.
    pub luck_adjusted: Option<Interval>,
    /// The joint rating in Elo points.
    pub rating: Interval,
    /// The mean score.
    pub mean_score: Option<Interval>,
    /// The median score, where it decides the order.
    pub median_score: Option<Interval>,
    /// Mean CPU time of a decision in microseconds, of programs.
    pub cpu_us: Option<f64>,
    /// The mean regret of a decision, in a solved game where language models take part: in chances to win, or in points where
    /// players play alone.
    #[serde(default)]
    pub regret: Option<f64>,
    /// The expenses for a language model; none for other entries.
    #[serde(default)]
    pub expenses: Option<Expenses>,
}

/// What the calls of a language model took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Expenses {
    /// Their cost, in the currency of the price list; none if a price is not known.
    pub cost: Option<f64>,
    /// The cost of a decision.
    pub cost_per_decision: Option<f64>,
    /// Tokens, input and output.
    pub tokens: u64,
    /// Unusable answers.
    pub unusable: u64,
    /// Decisions without a usable answer after all tries.
    pub lost: u64,
    /// Whether no other language model beats it in both regret and cost; none if that is not known.
    pub on_front: Option<bool>,
    /// How much regret each additional unit of money saves, compared with the next cheaper model on the front.
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
    /// The share of them in which the row's entry placed better; a tie counts half.
    pub better: f64,
    /// The lower end of its interval.
    pub low: Option<f64>,
    /// The upper end of its interval.
    pub high: Option<f64>,
}

/// The ratings at one moment; of entries that play alone, the scores that decide the order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryPoint {
    /// Blocks played by then.
    pub blocks: u32,
    /// The numbers of the first entries of the line-up: ratings in whole points, or mean scores.
    pub values: Vec<f64>,
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
    /// What to do about it, where the arena can tell.
    pub hint: Option<String>,
}

impl HistoryPoint {
    /// Returns the ratings or scores of a report.
    pub(super) fn of(report: &Report) -> Self {
        let without_luck = order(report) == "luck-adjusted";
        let score = |entry: &EntryReport| {
            let adjusted = entry.luck_adjusted.filter(|_| without_luck).map(|adjusted| adjusted.estimate);
            adjusted.or(entry.record.mean_score).map_or(0.0, |score| rounded(score.mean))
        };
        let value = |member: usize| {
            let name = &report.plan.entries[member].name;
            let entry = report.standings.iter().find(|entry| entry.name == *name)?;
            Some(if report.plan.seats == 1 { score(entry) } else { entry.rating.elo.round() })
        };
        let members = report.plan.members().take(SHOWN);
        let values = members.map(|member| value(member).unwrap_or_default()).collect();
        HistoryPoint { blocks: report.blocks, values }
    }
}

impl TournamentState {
    /// Returns the next state, or refuses if it cannot follow this one.
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

    /// Returns the name under which the file keeps the state.
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

    /// Returns the state that the file keeps under this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        use TournamentState::*;
        [Running, Paused, Cancelled, Finished, Decided, Failed]
            .into_iter()
            .find(|state| state.as_str() == name)
    }
}

impl TournamentView {
    /// Returns the view of a tournament that has no report yet.
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
                leaders: Vec::new(),
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
            pace: TournamentPace::default(),
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

    /// Sets the number of blocks played.
    pub(super) fn played(&mut self, blocks: u32, schedule: &Schedule) {
        self.line.blocks = blocks;
        self.line.matches = schedule.matches_before(blocks);
    }

    /// Updates the view from a report.
    pub(super) fn take(&mut self, report: &Report) {
        let seen = report.blocks;
        self.seen = seen;
        self.order = order(report).into();
        self.summary.clone_from(&report.summary);
        self.sealed_dice.clone_from(&report.plan.sealed_dice);
        let leaders = report.standings.iter().filter(|entry| seen > 0 && entry.rank.best == 1);
        self.line.leaders = leaders.map(|entry| entry.name.clone()).collect();
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
            hint: fault.hint.clone(),
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

    /// Adds a point to the chart. If there are too many, removes one where they are closest together.
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

    /// Returns the view for everybody: without the host's part and, until the tournament is over, without the seed.
    pub(super) fn for_guests(&self) -> Self {
        use TournamentState::{Cancelled, Decided, Finished};
        let is_over = matches!(self.line.state, Finished | Decided | Cancelled);
        TournamentView { host: None, seed: self.seed.clone().filter(|_| is_over), ..self.clone() }
    }
}

/// Returns what decides the order of a report.
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

/// Describes a bot for everybody: a built-in bot or an allowed name stays as it was written, but no file and no command is shown.
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
            view.remember(HistoryPoint { blocks, values: Vec::new() });
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
