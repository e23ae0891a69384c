//! The output of a dry run: what language models would still cost.

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

/// `book` names the book of calls.
pub fn tell(estimate: &CostEstimate, book: &str, json: bool) -> Result<(), Error> {
    if json { print_json(estimate) } else { print(estimate, book) }
}

fn print(estimate: &CostEstimate, book: &str) -> Result<(), Error> {
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
        column("cost", &|model| cost(model.cost) + &range(model.cost_range)),
    ];
    for line in wrapped(&headline(estimate), 0) {
        writeln!(out, "{}", bold(line))?;
    }
    writeln!(out)?;
    plain_table(&mut out, &table, 0)?;
    writeln!(out)?;
    for text in [counted(estimate), paid(estimate, book)] {
        wrapped(&text, 0).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    Ok(out.flush()?)
}

/// Returns `10 blocks would cost about 0.0123.`
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
            Some(_) => {
                format!("{what} would cost about {}{}.", cost(estimate.cost), range(estimate.cost_range))
            }
            None => format!("{what} would cost about {}.", known_cost(estimate)),
        },
    }
}

/// Returns ` (0.0100 to 0.0200)`, or nothing if there is no range.
fn range(range: Option<(f64, f64)>) -> String {
    let differ = range.filter(|(least, most)| least < most);
    differ.map_or(String::new(), |(least, most)| format!(" ({} to {})", cost(Some(least)), cost(Some(most))))
}

/// Returns `0.0123, and an unknown amount for a, b (no prices)`.
fn known_cost(estimate: &CostEstimate) -> String {
    let unknown = estimate.models.iter().filter(|model| model.cost.is_none());
    let names: Vec<&str> = unknown.map(|model| model.name.as_str()).collect();
    let known: f64 = estimate.models.iter().filter_map(|model| model.cost).sum();
    format!("{}, and an unknown amount for {} (no prices)", cost(Some(known)), names.join(", "))
}

/// Says what was counted, and how.
fn counted(estimate: &CostEstimate) -> String {
    let free = match estimate.answers {
        "fresh" => {
            "free: the same question comes up twice, or an interrupted run with fresh answers has asked it"
        }
        _ => "free: the book has the answer, or the same question comes up twice",
    };
    match (estimate.blocks, estimate.blocks_sampled) {
        (Some(blocks), Some(sampled)) if blocks > 0 => {
            let seen = if sampled < blocks {
                format!("{sampled} of the {blocks} blocks")
            } else {
                "all blocks".into()
            };
            let (least, most) = estimate
                .models
                .iter()
                .filter_map(|model| model.decisions_range)
                .fold((0, 0), |sum, range| (sum.0 + range.0, sum.1 + range.1));
            format!(
                "Decisions were counted in {seen}; where the book has no answer, a built-in bot decided. How many \
                 there are depends on who plays: with the game's usual bots in the place of the models it was {least} \
                 to {most}, from which the range of the cost comes. {free}."
            )
        }
        (None, _) => format!("All questions were looked up in the book. {free}."),
        _ => "All blocks are stored.".to_owned(),
    }
}

/// Says what the estimate itself has cost.
fn paid(estimate: &CostEstimate, book: &str) -> String {
    let asked: u64 = estimate.models.iter().map(|model| model.asked).sum();
    let again = match estimate.answers {
        "fresh" => "a run with fresh answers asks for them again",
        _ => "runs that use it do not pay for them again",
    };
    match estimate.paid.calls {
        0 => "This estimate made no calls and cost nothing.".to_owned(),
        calls => format!(
            "This estimate itself made {} for {} ({} tokens, cost {}). Their answers are in {book}, and {again}. \
             No result is kept.",
            count(calls, "call"),
            count(asked, "decision"),
            estimate.paid.tokens,
            cost(estimate.paid.cost)
        ),
    }
}
