//! What a dry run says: what language models would still cost.

use super::{
    print_json,
    tournament::print::{LONGEST_NAME, cost, plain_table, shortened},
};
use crate::{
    error::Error,
    paint::{bold, count, wrapped},
};
use necrodome_arena::model::{CostEstimate, ModelEstimate};
use std::io::Write;

pub fn tell(estimate: &CostEstimate, json: bool) -> Result<(), Error> {
    if json { print_json(estimate) } else { print(estimate) }
}

fn print(estimate: &CostEstimate) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    let column = |head: &str, cell: &dyn Fn(&ModelEstimate) -> String| -> Vec<String> {
        std::iter::once(head.to_owned()).chain(estimate.models.iter().map(cell)).collect()
    };
    let table = [
        column("model", &|model| shortened(&model.name, LONGEST_NAME)),
        column("decisions", &|model| model.decisions.to_string()),
        column("free", &|model| model.kept.to_string()),
        column("calls", &|model| model.calls.to_string()),
        column("tokens in", &|model| model.input_tokens.to_string()),
        column("tokens out", &|model| model.output_tokens.to_string()),
        column("cost", &|model| cost(model.cost)),
    ];
    for line in wrapped(&headline(estimate), 0) {
        writeln!(out, "{}", bold(line))?;
    }
    writeln!(out)?;
    plain_table(&mut out, &table, 0)?;
    writeln!(out)?;
    for text in [counted(estimate), paid(estimate)] {
        wrapped(&text, 0).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    Ok(out.flush()?)
}

/// `10 blocks would cost about 0.0123.`
fn headline(estimate: &CostEstimate) -> String {
    let what = match (estimate.questions, estimate.blocks) {
        (Some(questions), _) => format!("{} for each model", count(questions as u64, "question")),
        (None, blocks) => {
            let stored = estimate.blocks_stored.unwrap_or(0);
            let rest = if stored > 0 { format!(" ({stored} more are stored)") } else { String::new() };
            count(blocks.unwrap_or(0), "block") + &rest
        }
    };
    let open: u64 = estimate.models.iter().map(|model| model.open).sum();
    match (estimate.answers, open) {
        ("only", 0) => format!("{what} would cost nothing: the book has all answers."),
        ("only", open) => {
            format!("{what} would cost nothing, but the book lacks answers to {}.", count(open, "decision"))
        }
        (_, 0) => format!("{what} would cost nothing: all is there."),
        _ => match estimate.cost {
            Some(_) => format!("{what} would cost about {}.", cost(estimate.cost)),
            None => format!("{what} would cost about {}.", known_cost(estimate)),
        },
    }
}

/// `0.0123, and an unknown amount for a, b (no prices)`.
fn known_cost(estimate: &CostEstimate) -> String {
    let unknown = estimate.models.iter().filter(|model| model.cost.is_none());
    let names: Vec<&str> = unknown.map(|model| model.name.as_str()).collect();
    let known: f64 = estimate.models.iter().filter_map(|model| model.cost).sum();
    format!("{}, and an unknown amount for {} (no prices)", cost(Some(known)), names.join(", "))
}

/// What was counted, and how.
fn counted(estimate: &CostEstimate) -> String {
    let free = match estimate.answers {
        "fresh" => "free: the same question comes up twice, or this estimate has asked it",
        _ => "free: the book has the answer, or the same question comes up twice",
    };
    match (estimate.blocks, estimate.blocks_sampled) {
        (Some(blocks), Some(sampled)) if blocks > 0 => {
            let seen = if sampled < blocks {
                format!("{sampled} of the {blocks} blocks")
            } else {
                "all blocks".into()
            };
            format!(
                "Decisions were counted in {seen}; where the book has no answer, a built-in bot decided. {free}."
            )
        }
        (None, _) => format!("All questions were looked up in the book. {free}."),
        _ => "All blocks are stored.".to_owned(),
    }
}

/// What the estimate itself has taken.
fn paid(estimate: &CostEstimate) -> String {
    let asked: u64 = estimate.models.iter().map(|model| model.asked).sum();
    match estimate.paid.calls {
        0 => "This estimate made no calls and cost nothing.".to_owned(),
        calls => format!(
            "This estimate itself made {} for {} ({} tokens, cost {}). Their answers are kept; no result is.",
            count(calls, "call"),
            count(asked, "decision"),
            estimate.paid.tokens,
            cost(estimate.paid.cost)
        ),
    }
}
