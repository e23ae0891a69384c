//! An exam as one page that opens without a server. All text goes through the template, which escapes it: the names of entries and
//! the words of models can be anything.

use super::{
    chart,
    print::{self, Row, cost, interval, percent},
};
use crate::commands::{
    analyze::ledger::Scale,
    report::pages::{Bars, caption, page, table},
};
use maud::{Markup, PreEscaped, html};
use necrodome_arena::{
    exam::{ExamEntry, ExamReport},
    fault::{FaultKind, harmless},
    stats::Estimate,
};
use necrodome_rules::options::plain;

/// Returns the page.
pub fn exam(title: &str, report: &ExamReport, scale: &Scale) -> Markup {
    let entries = print::columns(report);
    let costs = report.entries.iter().any(|entry| entry.cost.is_some_and(|cost| cost > 0.0));
    page(
        &format!("{title}: exam"),
        &html! {
            h1 { (title) ": exam" }
            p.summary { (print::headline(title, report)) }
            @if let Some(warning) = print::warning(report) { p.warning { (warning) } }
            section aria-labelledby="standings" {
                h2 id="standings" { "Standings" }
                (standings(report, scale))
                ul.notes { @for note in print::notes(report, scale) { li { (note) } } }
            }
            @if report.entries.iter().any(|entry| entry.calls > 0) {
                section aria-labelledby="expenses" {
                    h2 id="expenses" { "What it took" }
                    (expenses(report))
                    ul.notes { @for text in print::bargains(report, scale) { li { (text) } } }
                    // Drawn by this program; the names in it are escaped there.
                    @if let (true, Ok(svg)) = (costs, chart::draw(title, report, scale)) {
                        div.scroll.chart role="img" tabindex="0" aria-label="regret against the cost of a decision" { (PreEscaped(svg)) }
                    }
                }
            }
            @if !report.pairs.is_empty() {
                section aria-labelledby="pairs" {
                    h2 id="pairs" { "Compared by the same questions" }
                    (pairs(report, scale))
                }
            }
            section aria-labelledby="kinds" {
                h2 id="kinds" { "Where regret comes from" }
                (groups("kind of decision", &print::by_kind(&entries), &entries, scale))
                br;
                (groups("what is at stake", &print::by_stake(report, &entries, scale), &entries, scale))
            }
            section aria-labelledby="worst" {
                h2 id="worst" { "The worst answers" }
                @for entry in report.entries.iter().filter(|entry| entry.copy == 0) { (worst(entry, scale)) }
            }
            @if !report.trouble.faults.is_empty() {
                section.trouble aria-labelledby="faults" {
                    h2 id="faults" { "What went wrong" }
                    ul.notes {
                        @for fault in &report.trouble.faults {
                            li { strong { (fault.name) } ": " (fault.kind) ", " (fault.count) " times, first in " (fault.first) }
                        }
                    }
                }
            }
            section aria-labelledby="asked" {
                h2 id="asked" { "What was asked" }
                (asked(report))
            }
        },
    )
}

fn standings(report: &ExamReport, scale: &Scale) -> Markup {
    let estimate = |entry: &ExamEntry| {
        Some(Estimate { mean: entry.regret?, low: entry.regret_low, high: entry.regret_high })
    };
    let bars = Bars::new(report.entries.iter().filter_map(estimate));
    table(
        "standings",
        &html! {
            (caption("Least regret first. The bar is regret with its 95% interval; brackets are 95% intervals"))
            thead {
                tr {
                    th scope="col" { "rank" }
                    th.name scope="col" { "entry" }
                    th scope="col" { "regret" }
                    th scope="col" { "perfect" }
                    th scope="col" { "blunders" }
                    th scope="col" { "unusable" }
                    th scope="col" { "lost" }
                }
            }
            tbody {
                @for entry in &report.entries {
                    tr {
                        td { (print::rank(entry)) }
                        th.name scope="row" {
                            (entry.name)
                            @if !entry.complete {
                                br;
                                span.fault { "not complete: answered " (entry.answered) " of " (report.questions) }
                            }
                        }
                        td { (bars.draw(estimate(entry))) (interval(scale, entry.regret, entry.regret_low, entry.regret_high)) }
                        td title=(format!("{} to {}", percent(entry.perfect_low), percent(entry.perfect_high))) { (percent(entry.perfect)) }
                        td title=(format!("{} to {}", percent(entry.blunders_low), percent(entry.blunders_high))) { (percent(entry.blunders)) }
                        td {
                            (entry.unusable)
                            @if entry.unusable > 0 { br; span.fault { (FaultKind::words(&entry.unusable_by_kind)) } }
                        }
                        td {
                            (entry.lost)
                            @if entry.lost > 0 { br; span.fault { (FaultKind::words(&entry.lost_by_kind)) } }
                        }
                    }
                }
            }
        },
    )
}

fn expenses(report: &ExamReport) -> Markup {
    table(
        "expenses",
        &html! {
            (caption("Tokens and money of all answers; seconds that the endpoint took for a decision: half took less, one of twenty took longer"))
            thead {
                tr {
                    th.name scope="col" { "entry" }
                    @for head in ["calls", "input", "cached", "output", "reasoning", "cost", "a decision", "seconds", "95%"] {
                        th scope="col" { (head) }
                    }
                }
            }
            tbody {
                @for entry in report.entries.iter().filter(|entry| entry.calls > 0) {
                    tr {
                        th.name scope="row" { (entry.name) }
                        @for tokens in [entry.calls, entry.input_tokens, entry.cached_tokens, entry.output_tokens, entry.reasoning_tokens] {
                            td { (tokens) }
                        }
                        td { (cost(entry.cost)) }
                        td { (cost(entry.cost_per_decision)) }
                        @if let Some(latency) = entry.latency {
                            td { (format!("{:.2}", latency.median)) }
                            td { (format!("{:.2}", latency.p95)) }
                        } @else {
                            td { "-" }
                            td { "-" }
                        }
                    }
                }
            }
        },
    )
}

fn pairs(report: &ExamReport, scale: &Scale) -> Markup {
    let is_copy = |name: &String| report.entries.iter().any(|entry| entry.name == *name && entry.copy > 0);
    html! {
        ul.notes {
            @for pair in report.pairs.iter().filter(|pair| pair.null || ![&pair.one, &pair.other].into_iter().any(is_copy)) {
                li.good[pair.told_apart] { (print::compared(pair, report, scale)) }
            }
        }
    }
}

fn groups(label: &str, rows: &[Row], entries: &[&ExamEntry], scale: &Scale) -> Markup {
    table(
        label,
        &html! {
            (caption(&format!("Regret of a decision, by {label}")))
            thead {
                tr {
                    th.name scope="col" { (label) }
                    th scope="col" { "share" }
                    th scope="col" { "asked" }
                    @for entry in entries { th scope="col" { (entry.name) } }
                }
            }
            tbody {
                @for row in rows {
                    tr {
                        th.name scope="row" { (row.label) }
                        td { (format!("{:.0}%", 100.0 * row.share)) }
                        td { (row.questions) }
                        @for regret in &row.regrets {
                            @match regret {
                                Some(own) => td title=(interval(scale, Some(own.regret), own.regret_low, own.regret_high)) { (scale.show(own.regret)) }
                                None => td { "-" }
                            }
                        }
                    }
                }
            }
        },
    )
}

fn worst(entry: &ExamEntry, scale: &Scale) -> Markup {
    let visible = |text: &str| -> String { text.chars().map(harmless).collect() };
    html! {
        details open[!entry.built_in] {
            summary { (entry.name) }
            @if entry.answered == 0 {
                p { "No question was answered." }
            } @else if entry.worst.is_empty() {
                p { "Every decision was the best there was." }
            }
            ol {
                @for worst in &entry.worst {
                    li {
                        (visible(&worst.situation)) " " span.dim { "(question " (worst.question) ")" }
                        br;
                        (visible(&print::told_of(worst, scale)))
                    }
                }
            }
        }
    }
}

fn asked(report: &ExamReport) -> Markup {
    let options = report.options.as_object().into_iter().flatten();
    let options: Vec<String> = options.map(|(name, value)| format!("{name}={}", plain(value))).collect();
    html! {
        dl {
            dt { "game" } dd { (report.game) }
            @if !options.is_empty() { dt { "options" } dd { (options.join(", ")) } }
            dt { "positions" } dd { (report.positions) }
            dt { "questions" } dd { (report.questions) }
            dt { "seed" } dd { (report.seed) }
            @for entry in report.entries.iter().filter(|entry| entry.bot != entry.name) {
                dt { (entry.name) } dd { code { (entry.bot) } }
            }
        }
        p { "The same game, options, positions and seed make the same questions:" }
        pre.command tabindex="0" {
            "necrodome exam " (report.game)
            @for option in &options { " --set " (option) }
            " --positions " (report.positions) " --seed " (report.seed) " ENTRY..."
        }
    }
}
