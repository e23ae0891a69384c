//! An exam as comma-separated values: a row for each entry, or for each answer.

use crate::commands::tournament::tables::{name, number};
use necrodome_arena::{
    exam::{AnswerRow, ExamEntry, ExamReport},
    fault::FaultKind,
};
use std::io::{self, Write};

/// Writes a row for each entry.
pub fn entries(report: &ExamReport, out: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record([
        "name",
        "bot",
        "rank_best",
        "rank_worst",
        "complete",
        "answered",
        "regret",
        "regret_low",
        "regret_high",
        "perfect",
        "perfect_low",
        "perfect_high",
        "blunders",
        "blunders_low",
        "blunders_high",
        "unusable",
        "unusable_by_kind",
        "lost",
        "lost_by_kind",
        "calls",
        "tokens",
        "input_tokens",
        "cached_tokens",
        "output_tokens",
        "reasoning_tokens",
        "cost",
        "cost_per_decision",
        "regret_per_cost",
        "latency_median",
        "latency_p95",
    ])?;
    for entry in &report.entries {
        let ExamEntry { rank, latency, .. } = entry;
        table.write_record([
            name(&entry.name),
            name(&entry.bot),
            rank.map_or(String::new(), |rank| rank.best.to_string()),
            rank.map_or(String::new(), |rank| rank.worst.to_string()),
            entry.complete.to_string(),
            entry.answered.to_string(),
            number(entry.regret),
            number(entry.regret_low),
            number(entry.regret_high),
            number(entry.perfect),
            number(entry.perfect_low),
            number(entry.perfect_high),
            number(entry.blunders),
            number(entry.blunders_low),
            number(entry.blunders_high),
            entry.unusable.to_string(),
            FaultKind::words(&entry.unusable_by_kind),
            entry.lost.to_string(),
            FaultKind::words(&entry.lost_by_kind),
            entry.calls.to_string(),
            entry.tokens.to_string(),
            entry.input_tokens.to_string(),
            entry.cached_tokens.to_string(),
            entry.output_tokens.to_string(),
            entry.reasoning_tokens.to_string(),
            number(entry.cost),
            number(entry.cost_per_decision),
            number(entry.bargain.regret_per_cost),
            number(latency.map(|latency| latency.median)),
            number(latency.map(|latency| latency.p95)),
        ])?;
    }
    table.flush()
}

/// Writes a row for each answer.
pub fn answers(report: &ExamReport, out: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record([
        "name",
        "question",
        "kind",
        "stake",
        "weight",
        "situation",
        "choice",
        "best",
        "regret",
        "fault",
        "reason",
        "tokens",
        "cost",
    ])?;
    for row in &report.answers {
        let AnswerRow { usage, .. } = row;
        table.write_record([
            name(&row.name),
            row.question.to_string(),
            row.kind.clone(),
            row.stake.to_string(),
            row.weight.to_string(),
            name(&row.situation),
            name(&row.choice),
            name(&row.best),
            row.regret.to_string(),
            row.fault.unwrap_or_default().to_owned(),
            name(row.reason.as_deref().unwrap_or_default()),
            (usage.input_tokens + usage.output_tokens).to_string(),
            number(usage.cost()),
        ])?;
    }
    table.flush()
}
