//! The results of an exam: regret with its interval, comparisons of entries, the worst answers in words.

use super::{
    paper::{Band, NOTHING, Paper, Question},
    sit::{Answered, Candidate, Sat},
};
use crate::{
    entry::EntryKind,
    fault::{FaultKind, Trouble},
    front::{Bargain, bargains, is_clearly_cheaper},
    player::{AnsweredBy, Usage},
    stats::{Estimate, Layer, RankInterval, Ranking, Sampled},
};
use necrodome_rules::{catalog::Listed, chance::Seed, game::Move};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// The number of answers that an entry's list of the worst has at most.
const WORST: usize = 10;

/// The results of an exam, as a document. An interval is three fields: `regret`, `regret_low`, `regret_high`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExamReport {
    /// The id of the game.
    pub game: &'static str,
    /// The options of the rules.
    pub options: Value,
    /// The seed of the questions.
    pub seed: Seed,
    /// What regret is measured in: `win_chance` (1 is a win) or `points`.
    pub unit: &'static str,
    /// How many positions were wanted.
    pub positions: usize,
    /// How many were asked: fewer if not enough different ones came up.
    pub questions: usize,
    /// The share of all decisions in which nothing was at stake. They are left out.
    pub nothing_at_stake: f64,
    /// A decision that costs this much is a blunder.
    pub blunder: f64,
    /// The mean stake.
    pub mean_stake: f64,
    /// The bands of what is at stake from which questions were drawn.
    pub bands: Vec<BandReport>,
    /// The entries: those that answered every question, the best first; then the others, which have no rank.
    pub entries: Vec<ExamEntry>,
    /// Every two entries compared, by the questions that both have answered.
    pub pairs: Vec<ExamPair>,
    /// Whether every entry has answered every question.
    pub complete: bool,
    /// What went wrong, and what programs have written to standard error.
    #[serde(flatten)]
    pub trouble: Trouble,
    /// Every answer.
    #[serde(skip)]
    pub answers: Vec<AnswerRow>,
}

/// Decisions with about as much at stake.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BandReport {
    /// The lowest stake.
    pub from: f64,
    /// The highest stake.
    pub to: f64,
    /// Its share of all decisions in which something is at stake: its weight.
    pub weight: f64,
    /// How many questions come from it.
    pub questions: usize,
}

/// The results of an entry.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExamEntry {
    /// Its name.
    pub name: String,
    /// What it is.
    pub bot: String,
    /// Whether it is a bot of this program.
    pub built_in: bool,
    /// The number of earlier candidates that are the same entry.
    pub copy: u64,
    /// The ranks that it may truly have among the complete entries, with an error of 5% for all pairs together; none if it is not
    /// complete.
    pub rank: Option<RankInterval>,
    /// Whether it has answered every question.
    pub complete: bool,
    /// How many questions it has answered.
    pub answered: usize,
    /// Why it was asked no further questions, if the arena or its endpoint is the cause.
    pub stopped: Option<String>,
    /// The mean cost of a decision; none if nothing was answered.
    pub regret: Option<f64>,
    /// The lower end of its 95% interval.
    pub regret_low: Option<f64>,
    /// The upper end of its 95% interval.
    pub regret_high: Option<f64>,
    /// The share of decisions that could not have been better.
    pub perfect: Option<f64>,
    /// The lower end of its 95% interval.
    pub perfect_low: Option<f64>,
    /// The upper end of its 95% interval.
    pub perfect_high: Option<f64>,
    /// The share of blunders.
    pub blunders: Option<f64>,
    /// The lower end of its 95% interval.
    pub blunders_low: Option<f64>,
    /// The upper end of its 95% interval.
    pub blunders_high: Option<f64>,
    /// Answers that could not be used, including those of a language model that was then asked again.
    pub unusable: u64,
    /// The same, by what was wrong with them.
    pub unusable_by_kind: BTreeMap<FaultKind, u64>,
    /// Questions without a usable answer after all tries: the game's rule for a bad action decided.
    pub lost: u64,
    /// The same, by what was wrong with the last answer.
    pub lost_by_kind: BTreeMap<FaultKind, u64>,
    /// Calls to a language model.
    pub calls: u64,
    /// The models that answered, as the endpoint calls them, and how many calls each.
    pub answered_by: AnsweredBy,
    /// Tokens of prompts and answers.
    pub tokens: u64,
    /// Tokens of prompts.
    pub input_tokens: u64,
    /// Tokens of prompts that the endpoint had cached.
    pub cached_tokens: u64,
    /// Tokens of answers, reasoning included.
    pub output_tokens: u64,
    /// Tokens of answers that were spent on reasoning.
    pub reasoning_tokens: u64,
    /// What all its answers cost, in the currency of the price list; none if a price is not known.
    pub cost: Option<f64>,
    /// What a decision cost; none if a price is not known, or nothing was answered.
    pub cost_per_decision: Option<f64>,
    /// Where it stands among the language models that are complete, by regret and money.
    #[serde(flatten)]
    pub bargain: Bargain,
    /// How long an endpoint took for a decision; none for other players.
    pub latency: Option<Latency>,
    /// Where the regret comes from, by the kind of decision, the kind with the most regret in total first.
    pub kinds: Vec<KindRegret>,
    /// Regret by what is at stake, in the order of the bands.
    pub stakes: Vec<KindRegret>,
    /// The worst answers, the most expensive first.
    pub worst: Vec<Worst>,
}

/// Seconds that a decision took.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Latency {
    /// Half of the decisions took less.
    pub median: f64,
    /// One in twenty took longer.
    pub p95: f64,
}

/// The regret of some of the decisions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KindRegret {
    /// What they have in common.
    pub kind: String,
    /// How many were asked.
    pub questions: usize,
    /// Their share of all decisions.
    pub share: f64,
    /// The mean cost of one of them.
    pub regret: f64,
    /// The lower end of its 95% interval.
    pub regret_low: Option<f64>,
    /// The upper end of its 95% interval.
    pub regret_high: Option<f64>,
    /// The share that could not have been better.
    pub perfect: f64,
}

/// An answer that cost something.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Worst {
    /// The number of the question, from 1.
    pub question: usize,
    /// The situation, in words.
    pub situation: String,
    /// What the entry saw.
    pub view: Value,
    /// The entry's choice.
    pub choice: String,
    /// The value of that choice.
    pub value: f64,
    /// The reason that the entry gave.
    pub reason: Option<String>,
    /// What was wrong with the answer, if it could not be used.
    pub fault: Option<String>,
    /// The choice of a perfect player.
    pub best: String,
    /// The value of that choice.
    pub best_value: f64,
    /// The difference.
    pub regret: f64,
}

/// Two entries, by the questions that both have answered.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExamPair {
    /// The one with less regret.
    pub one: String,
    /// The other.
    pub other: String,
    /// Questions that both have answered.
    pub questions: usize,
    /// How much more regret the other has.
    pub difference: f64,
    /// The lower end of its 95% interval.
    pub difference_low: Option<f64>,
    /// The upper end of its 95% interval.
    pub difference_high: Option<f64>,
    /// Whether they are told apart, with an error of 5% for all pairs together.
    pub told_apart: bool,
    /// The share of decisions in which both did the same.
    pub same: f64,
    /// Whether both are the same entry, so that the difference is noise.
    pub null: bool,
}

/// One answer, as a row of a table.
#[derive(Debug, Clone)]
pub struct AnswerRow {
    /// The entry.
    pub name: String,
    /// The number of the question, from 1.
    pub question: usize,
    /// The kind of the decision.
    pub kind: String,
    /// What was at stake.
    pub stake: f64,
    /// Its weight in the mean.
    pub weight: f64,
    /// The situation in words.
    pub situation: String,
    /// The entry's choice.
    pub choice: String,
    /// The choice of a perfect player.
    pub best: String,
    /// The regret of the answer.
    pub regret: f64,
    /// The fault of the answer, if it has one.
    pub fault: Option<&'static str>,
    /// The reason that the entry gave.
    pub reason: Option<String>,
    /// What the calls to a language model took.
    pub usage: Usage,
}

/// Averages values over the questions of an exam: a value comes from a question and the answers of one entry or two.
struct Marks<'a, G: Listed> {
    paper: &'a Paper<G>,
    /// The total weight of the questions of each band.
    sizes: Vec<f64>,
}

impl<'a, G: Listed> Marks<'a, G> {
    fn new(paper: &'a Paper<G>) -> Self {
        let mut sizes = vec![0.0; paper.bands.len()];
        paper.questions.iter().for_each(|question| sizes[question.band] += question.times);
        Marks { paper, sizes }
    }

    /// Returns the share of a question in a mean over all questions.
    fn weight(&self, question: &Question<G>) -> f64 {
        self.paper.bands[question.band].weight * question.times / self.sizes[question.band]
    }

    /// Returns the mean of a value over all questions that have one.
    fn mean(&self, value: impl Fn(usize, &Question<G>) -> Option<f64>) -> Option<Sampled> {
        let layer = |band: &Band| Layer { weight: band.weight, cases: Vec::new() };
        let mut layers: Vec<Layer> = self.paper.bands.iter().map(layer).collect();
        for (number, question) in self.paper.questions.iter().enumerate() {
            if let Some(value) = value(number, question) {
                layers[question.band].cases.push((question.times, value));
            }
        }
        Sampled::of(&layers, self.paper.pool as f64)
    }

    /// Returns the regret of the answers that belong to a group.
    fn of_group(
        &self,
        kind: String,
        answers: &[Option<Answered<G::Action>>],
        belongs: impl Fn(&Question<G>) -> bool,
    ) -> Option<KindRegret> {
        let within = |value: &dyn Fn(f64) -> f64| {
            self.mean(|number, question| {
                let regret = answers[number].as_ref()?.regret;
                Some(if belongs(question) { value(regret) } else { 0.0 })
            })
        };
        let share = within(&|_| 1.0)?.mean;
        if share <= 0.0 {
            return None;
        }
        let mean = within(&|regret| regret)?.mean / share;
        // The error of a ratio is, to first order, that of the mean of its residuals (Cochran, Sampling Techniques, ch. 6).
        let reach = within(&|regret| (regret - mean) / share)?.reach();
        Some(KindRegret {
            kind,
            questions: self
                .paper
                .questions
                .iter()
                .zip(answers)
                .filter(|(question, answer)| answer.is_some() && belongs(question))
                .count(),
            share,
            regret: mean,
            regret_low: reach.map(|reach| (mean - reach).max(0.0)),
            regret_high: reach.map(|reach| mean + reach),
            perfect: within(&|regret| f64::from(u8::from(regret <= NOTHING)))?.mean / share,
        })
    }
}

impl ExamReport {
    /// Evaluates the answers.
    pub fn new<G: Listed>(
        paper: &Paper<G>,
        rules: &G::Rules,
        candidates: &[Candidate],
        sat: &Sat<G::Action>,
    ) -> Self {
        let marks = Marks::new(paper);
        let regret =
            |entry: usize, number: usize| sat.answers[entry][number].as_ref().map(|answer| answer.regret);
        let regrets: Vec<Option<Sampled>> =
            (0..candidates.len()).map(|entry| marks.mean(|number, _| regret(entry, number))).collect();
        let difference = |one: usize, other: usize| {
            marks.mean(|number, _| Some(regret(other, number)? - regret(one, number)?))
        };
        let is_complete = |entry: usize| sat.answers[entry].iter().all(Option::is_some);
        // Who was not asked everything has no rank, and comes last: the other questions might have been harder.
        let value = |(entry, regret): (usize, &Option<Sampled>)| {
            regret.filter(|_| is_complete(entry)).map_or(f64::NEG_INFINITY, |regret| -regret.mean)
        };
        let values: Vec<f64> = regrets.iter().enumerate().map(value).collect();
        let p_value =
            |one: usize, other: usize| difference(one, other).map_or(1.0, |sampled| sampled.p_value());
        let ranking = Ranking::of(&values, p_value);
        let ranked: Vec<usize> = ranking.order.iter().copied().filter(|&entry| is_complete(entry)).collect();
        let rank = |entry: usize| {
            let place = ranked.iter().position(|&other| other == entry)?;
            let apart =
                |others: &[usize]| others.iter().filter(|&&other| ranking.are_apart(entry, other)).count();
            let (better, worse) = (apart(&ranked[..place]), apart(&ranked[place..]));
            Some(RankInterval { best: 1 + better, worst: ranked.len() - worse })
        };
        let entry = |&entry: &usize| ExamEntry {
            stopped: sat.stopped[entry].clone(),
            ..ExamEntry::new(&marks, &candidates[entry], &sat.answers[entry], rank(entry))
        };
        let mut pairs = Vec::new();
        for (place, &one) in ranking.order.iter().enumerate() {
            for &other in &ranking.order[place + 1..] {
                let Some(sampled) = difference(one, other) else { continue };
                // By the questions that both have answered, one that is not complete may be the better one.
                let (one, other, sampled) = match difference(other, one) {
                    Some(turned) if turned.mean > NOTHING => (other, one, turned),
                    _ => (one, other, sampled),
                };
                let same = |number: usize, _: &Question<G>| {
                    let [one, other] = [one, other].map(|entry| sat.answers[entry][number].as_ref());
                    Some(f64::from(u8::from(is_same(one?, other?))))
                };
                let Estimate { mean, low, high } = sampled.estimate();
                let both = |number: &usize| regret(one, *number).and(regret(other, *number)).is_some();
                let texts =
                    [one, other].map(|entry| (&candidates[entry].entry.text, &candidates[entry].entry.kind));
                pairs.push(ExamPair {
                    one: candidates[one].name.clone(),
                    other: candidates[other].name.clone(),
                    questions: (0..paper.questions.len()).filter(both).count(),
                    difference: mean,
                    difference_low: low,
                    difference_high: high,
                    told_apart: ranking.are_apart(one, other),
                    same: marks.mean(same).map_or(0.0, |same| same.mean),
                    null: texts[0] == texts[1],
                });
            }
        }
        let mut entries: Vec<ExamEntry> = ranking.order.iter().map(entry).collect();
        // Numbers from fewer questions cannot beat anybody.
        let deal = |entry: &ExamEntry| {
            Some((entry.cost_per_decision?, entry.regret?)).filter(|_| entry.complete && entry.calls > 0)
        };
        let bargains = bargains(&entries.iter().map(deal).collect::<Vec<_>>());
        entries.iter_mut().zip(bargains).for_each(|(entry, bargain)| entry.bargain = bargain);
        let bands = paper.bands.iter().map(|band| BandReport {
            from: band.from,
            to: band.to,
            weight: band.weight,
            questions: band.questions,
        });
        ExamReport {
            game: G::ID,
            options: serde_json::to_value(rules).unwrap_or_default(),
            seed: paper.seed,
            unit: if *G::SEATS.end() == 1 { "points" } else { "win_chance" },
            positions: paper.positions,
            questions: paper.questions.len(),
            nothing_at_stake: paper.idle,
            blunder: paper.blunder(),
            mean_stake: marks.mean(|_, question| Some(question.stake)).map_or(0.0, |stake| stake.mean),
            bands: bands.collect(),
            entries,
            pairs,
            complete: sat.answers.iter().flatten().all(Option::is_some),
            trouble: sat.trouble.clone(),
            answers: rows(&marks, candidates, sat),
        }
    }
}

/// Whether two answers are the same or cost the same.
fn is_same<A: PartialEq>(one: &Answered<A>, other: &Answered<A>) -> bool {
    one.choice == other.choice || (one.regret - other.regret).abs() <= NOTHING
}

impl ExamReport {
    /// Returns the language model whose price and regret a model on the front is compared with (`regret_per_cost`).
    pub fn next_cheaper(&self, entry: &ExamEntry) -> Option<&ExamEntry> {
        let price = |entry: &ExamEntry| entry.cost_per_decision.unwrap_or_default();
        let cheaper = self.entries.iter().filter(|other| {
            other.bargain.on_front == Some(true) && is_clearly_cheaper(price(other), price(entry))
        });
        cheaper.max_by(|one, other| price(one).total_cmp(&price(other)))
    }
}

impl ExamEntry {
    fn new<G: Listed>(
        marks: &Marks<G>,
        candidate: &Candidate,
        answers: &[Option<Answered<G::Action>>],
        rank: Option<RankInterval>,
    ) -> Self {
        let paper = marks.paper;
        let given: Vec<(usize, &Answered<G::Action>)> = answers
            .iter()
            .enumerate()
            .filter_map(|(number, answer)| Some((number, answer.as_ref()?)))
            .collect();
        let share = |holds: &dyn Fn(f64) -> bool| {
            let value = |number: usize, _: &Question<G>| {
                answers[number].as_ref().map(|answer| f64::from(u8::from(holds(answer.regret))))
            };
            marks.mean(value).map(|sampled| sampled.share())
        };
        let perfect = share(&|regret| regret <= NOTHING);
        let blunders = share(&|regret| regret >= paper.blunder());
        let regret = regret(marks, answers);
        let mut usage = Usage::default();
        given.iter().for_each(|(_, answer)| usage += answer.effort.usage.clone());
        let mut unusable_by_kind = usage.unusable_by_kind.clone();
        let mut lost_by_kind = BTreeMap::new();
        for (_, answer) in &given {
            let Some(fault) = &answer.fault else { continue };
            if answer.effort.usage.calls == 0 {
                *unusable_by_kind.entry(fault.kind).or_default() += 1;
            }
            if answer.choice == Move::Forfeit {
                *lost_by_kind.entry(fault.kind).or_default() += 1;
            }
        }
        let kinds: BTreeSet<&String> = paper.questions.iter().map(|question| &question.kind).collect();
        let kind = |kind: &String| marks.of_group(kind.clone(), answers, |question| question.kind == *kind);
        let mut kinds: Vec<KindRegret> = kinds.into_iter().filter_map(kind).collect();
        kinds.sort_by(|a, b| (b.share * b.regret).total_cmp(&(a.share * a.regret)));
        let stake =
            |band: usize| marks.of_group((band + 1).to_string(), answers, |question| question.band == band);
        let cost = usage.cost();
        let [low, high] = [|part: &Estimate| part.low, |part: &Estimate| part.high];
        ExamEntry {
            name: candidate.name.clone(),
            bot: candidate.entry.text.clone(),
            built_in: matches!(candidate.entry.kind, EntryKind::BuiltIn(_)),
            copy: candidate.copy,
            rank,
            complete: given.len() == answers.len(),
            answered: given.len(),
            stopped: None,
            regret: regret.map(|regret| regret.mean),
            regret_low: regret.as_ref().and_then(low),
            regret_high: regret.as_ref().and_then(high),
            perfect: perfect.map(|perfect| perfect.mean),
            perfect_low: perfect.as_ref().and_then(low),
            perfect_high: perfect.as_ref().and_then(high),
            blunders: blunders.map(|blunders| blunders.mean),
            blunders_low: blunders.as_ref().and_then(low),
            blunders_high: blunders.as_ref().and_then(high),
            unusable: unusable_by_kind.values().sum(),
            unusable_by_kind,
            lost: lost_by_kind.values().sum(),
            lost_by_kind,
            calls: usage.calls,
            answered_by: usage.answered_by,
            tokens: usage.input_tokens + usage.output_tokens,
            input_tokens: usage.input_tokens,
            cached_tokens: usage.cached_tokens,
            output_tokens: usage.output_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            cost,
            cost_per_decision: cost.filter(|_| !given.is_empty()).map(|cost| cost / given.len() as f64),
            bargain: Bargain::default(),
            latency: latency(&given.iter().map(|(_, answer)| &answer.effort.usage).collect::<Vec<_>>()),
            kinds,
            stakes: (0..paper.bands.len()).filter_map(stake).collect(),
            worst: worst(paper, given),
        }
    }
}

/// Returns the cost of a decision. An entry without a mistake may make one in the next question: then the upper end of the interval is the
/// largest share of mistakes that its number of perfect answers allows (Wilson), times the mean stake.
fn regret<G: Listed>(marks: &Marks<G>, answers: &[Option<Answered<G::Action>>]) -> Option<Estimate> {
    let sampled = marks.mean(|number, _| answers[number].as_ref().map(|answer| answer.regret))?;
    let Estimate { mean, low, high } = sampled.estimate();
    let stake = marks.mean(|_, question| Some(question.stake))?.mean;
    let given: Vec<(f64, f64)> = answers.iter().flatten().map(|_| (1.0, 1.0)).collect();
    let plain = Sampled::of(&[Layer { weight: 1.0, cases: given }], f64::INFINITY)?.share();
    let high = if mean <= NOTHING { plain.low.map(|perfect| (1.0 - perfect) * stake) } else { high };
    Some(Estimate { mean, low: low.map(|low| low.max(0.0)), high })
}

/// Returns how long an endpoint took for a decision, from the decisions that called one.
fn latency(usages: &[&Usage]) -> Option<Latency> {
    let called = usages.iter().filter(|usage| usage.calls > 0);
    let mut waits: Vec<Duration> = called.map(|usage| usage.waited).collect();
    waits.sort_unstable();
    let at = |share: f64| waits.get((share * waits.len() as f64) as usize).map(Duration::as_secs_f64);
    Some(Latency { median: at(0.5)?, p95: at(0.95)? })
}

fn worst<G: Listed>(paper: &Paper<G>, mut given: Vec<(usize, &Answered<G::Action>)>) -> Vec<Worst> {
    given.retain(|(_, answer)| answer.regret > NOTHING);
    given.sort_by(|a, b| b.1.regret.total_cmp(&a.1.regret));
    given.truncate(WORST);
    let told = |(number, answer): (usize, &Answered<G::Action>)| {
        let question = &paper.questions[number];
        let [situation, choice, best] = words(paper, question, &answer.choice);
        Worst {
            question: number + 1,
            situation,
            view: serde_json::to_value(&question.view).unwrap_or_default(),
            choice,
            value: question.best - answer.regret,
            reason: answer.reason.clone(),
            fault: answer.fault.as_ref().map(ToString::to_string),
            best,
            best_value: question.best,
            regret: answer.regret,
        }
    };
    given.into_iter().map(told).collect()
}

/// Returns the situation, a choice and the best choice, in words.
fn words<G: Listed>(paper: &Paper<G>, question: &Question<G>, choice: &Move<G::Action>) -> [String; 3] {
    let (view, names) = (&question.view, paper.names(question));
    let best = Move::Act(paper.solution.best(view));
    [
        G::situation(view, &names).to_string(),
        G::choice(view, choice, &names).to_string(),
        G::choice(view, &best, &names).to_string(),
    ]
}

fn rows<G: Listed>(marks: &Marks<G>, candidates: &[Candidate], sat: &Sat<G::Action>) -> Vec<AnswerRow> {
    let mut rows = Vec::new();
    for (candidate, answers) in candidates.iter().zip(&sat.answers) {
        for (number, (question, answer)) in marks.paper.questions.iter().zip(answers).enumerate() {
            let Some(answer) = answer else { continue };
            let [situation, choice, best] = words(marks.paper, question, &answer.choice);
            rows.push(AnswerRow {
                name: candidate.name.clone(),
                question: number + 1,
                kind: question.kind.clone(),
                stake: question.stake,
                weight: marks.weight(question),
                situation,
                choice,
                best,
                regret: answer.regret,
                fault: answer.fault.as_ref().map(|fault| fault.kind.as_str()),
                reason: answer.reason.clone(),
                usage: answer.effort.usage.clone(),
            });
        }
    }
    rows
}
