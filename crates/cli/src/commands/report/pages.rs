//! The markup of the pages. All text goes through the template, which escapes it: bots can have any name, and write anything into
//! their logs. No page loads or runs anything, and the browser is told to allow nothing.

use super::site::{Again, Bot, Conduct, Film, percent};
use crate::{commands::tournament::print, paint::count};
use anstream::adapter::WinconBytes;
use anstyle::{AnsiColor, Color, Effects, Style};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use necrodome_arena::{
    fault::{FaultCount, FaultKind},
    stats::{Estimate, Measure},
    tournament::{EntryReport, Report},
};

const STYLE: &str = include_str!("style.css");
/// The content policy: even if something slipped through the template, it would not run.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Returns the file name of an entry's page. It has the entry's number in the plan, so that no name can point elsewhere.
pub fn file(entry: usize) -> String {
    format!("bot-{}.html", entry + 1)
}

/// Returns a page with this title.
pub fn page(title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main { (content) }
                footer { "made by necrodome " (env!("CARGO_PKG_VERSION")) }
            }
        }
    }
}

/// Returns the page of the tournament.
pub fn index(report: &Report, game: &str, again: &Again) -> Markup {
    page(
        &format!("{game}: tournament"),
        &html! {
            h1 { (game) ": tournament" }
            p.summary { (report.summary.join(" ")) }
            @if !report.trouble.faults.is_empty() {
                section.trouble aria-labelledby="faults" {
                    h2 id="faults" { "What went wrong" }
                    (faults(report, &report.trouble.faults.iter().collect::<Vec<_>>(), true))
                }
            }
            section aria-labelledby="standings" {
                h2 id="standings" { "Standings" }
                (standings(report))
                ul.notes {
                    @for warning in print::warnings(report) { li.warning { (warning) } }
                    @for remark in print::remarks(report) { li { (remark) } }
                }
            }
            @if report.head_to_head.len() > 1 {
                section aria-labelledby="pairs" {
                    h2 id="pairs" { "Pairs" }
                    (matrix(report))
                }
            }
            section aria-labelledby="played" {
                h2 id="played" { "How it was played" }
                (played(report))
                @if report.plan.stages.is_empty() {
                    p { "This command plays it again, to the same hash, where the same programs are in place:" }
                    pre.command tabindex="0" { (again.command) }
                    @if let Some(book) = &again.book {
                        p {
                            code { "FILE" } " is the file with the tables of the language models, and " code { (book) }
                            " the book that kept their calls. Their answers come from the book: nobody is asked, and \
                             nothing is paid."
                        }
                    }
                } @else {
                    p { "Entries came and went, so no single command plays it again; the store holds how it was." }
                }
            }
            details {
                summary { "What the numbers mean" }
                @for text in print::explanations(report) { p { (text) } }
            }
        },
    )
}

/// Returns the number of an entry in the plan.
fn number(report: &Report, name: &str) -> usize {
    report.plan.entries.iter().position(|entry| entry.name == name).unwrap_or_default()
}

fn link(report: &Report, name: &str) -> Markup {
    html! { a href=(file(number(report, name))) { (name) } }
}

/// Returns a table that scrolls separately if it is too wide, also with the keyboard.
pub fn table(label: &str, content: &Markup) -> Markup {
    html! { div.scroll role="region" aria-label=(format!("table of {label}")) tabindex="0" { table { (content) } } }
}

/// Returns the caption of a table. It stays in sight while the table scrolls.
pub fn caption(text: &str) -> Markup {
    html! { caption { span { (text) } } }
}

fn standings(report: &Report) -> Markup {
    // What is more than that stands on the pages of the entries.
    const SHOWN: usize = 4;
    let columns = print::columns_up_to(report, SHOWN);
    let bars = Bars::new(report.standings.iter().filter_map(|entry| deciding(report, entry)));
    table(
        "standings",
        &html! {
            (caption(&format!("Best first. The bar is {} with its 95% interval{}", measure(report), bars.range(factor(report)))))
            thead {
                tr {
                    th scope="col" { "rank" }
                    th.name scope="col" { "entry" }
                    @for column in &columns { th scope="col" { (column.head) } }
                }
            }
            tbody {
                @for entry in &report.standings {
                    tr {
                        td { (print::rank(entry)) }
                        th.name scope="row" { (link(report, &entry.name)) }
                        @for (place, column) in columns.iter().enumerate() {
                            // The first column decides the order.
                            td { @if place == 0 { (bars.draw(deciding(report, entry))) } ((column.cell)(entry)) }
                        }
                    }
                }
            }
        },
    )
}

/// Returns the value that decides the standings, for one entry.
fn deciding(report: &Report, entry: &EntryReport) -> Option<Estimate> {
    let plain = match report.measure {
        Measure::WinRate | Measure::AgainstFirst => entry.record.win_rate,
        Measure::MeanScore => entry.record.mean_score,
        Measure::MedianScore => entry.record.median_score,
    };
    adjusted(report, entry).or(plain)
}

/// Returns the luck-adjusted value of an entry, if it decides the standings.
fn adjusted(report: &Report, entry: &EntryReport) -> Option<Estimate> {
    let adjusted =
        entry.luck_adjusted.filter(|_| report.plan.rank_by != necrodome_arena::stats::RankBy::Plain);
    adjusted.map(|adjusted| adjusted.estimate)
}

fn measure(report: &Report) -> String {
    let plain = match report.measure {
        Measure::WinRate => "win rate",
        Measure::AgainstFirst => "win rate against the first entry",
        Measure::MeanScore => "mean score",
        Measure::MedianScore => "median score",
    };
    let adjusted = report.standings.iter().any(|entry| adjusted(report, entry).is_some());
    format!("the {}{plain}", if adjusted { "luck-adjusted " } else { "" })
}

fn factor(report: &Report) -> f64 {
    if matches!(report.measure, Measure::WinRate | Measure::AgainstFirst) { 100.0 } else { 1.0 }
}

/// Draws intervals to one scale.
pub struct Bars {
    low: f64,
    high: f64,
}

impl Bars {
    pub fn new(estimates: impl Iterator<Item = Estimate>) -> Self {
        let ends =
            estimates.flat_map(|Estimate { mean, low, high }| [low.unwrap_or(mean), high.unwrap_or(mean)]);
        let (low, high) =
            ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end), high.max(end)));
        Bars { low, high }
    }

    /// Returns `, on a scale from 10.0 to 72.5`.
    pub fn range(&self, factor: f64) -> String {
        match self.low < self.high {
            true => format!(", on a scale from {:.1} to {:.1}", self.low * factor, self.high * factor),
            false => String::new(),
        }
    }

    /// Draws an interval. This is only a picture, since the numbers stand beside it.
    pub fn draw(&self, estimate: Option<Estimate>) -> Markup {
        let Some(Estimate { mean, low, high }) = estimate.filter(|_| self.low < self.high) else {
            return html! {};
        };
        let x = |value: f64| 1.0 + 98.0 * (value - self.low) / (self.high - self.low);
        let (from, to, mean) = (x(low.unwrap_or(mean)), x(high.unwrap_or(mean)), x(mean));
        html! {
            svg.bar viewBox="0 0 100 14" aria-hidden="true" preserveAspectRatio="none" {
                line.axis x1="0" x2="100" y1="7" y2="7" {}
                rect.range x=(format!("{from:.1}")) width=(format!("{:.1}", to - from)) y="4" height="6" {}
                rect.mean x=(format!("{:.1}", mean - 0.75)) width="1.5" y="1" height="12" {}
            }
        }
    }
}

fn matrix(report: &Report) -> Markup {
    table(
        "pairs",
        &html! {
            (caption("How often the row placed better than the column, in % of their matches"))
            thead {
                tr {
                    td {}
                    @for (place, entry) in (1..).zip(&report.standings) {
                        th scope="col" { abbr title=(entry.name) { (place) } }
                    }
                }
            }
            tbody {
                @for (row, (entry, cells)) in report.standings.iter().zip(report.matrix()).enumerate() {
                    tr {
                        th.name scope="row" { (row + 1) ". " (link(report, &entry.name)) }
                        @for (column, met) in cells.iter().enumerate() {
                            @match met {
                                Some((games, better)) => {
                                    td.share style=(format!("--share:{:.0}%", 100.0 * better.mean))
                                        title=(format!("{} against {}: {}, {}", entry.name, report.standings[column].name, percent(better), count(*games, "match"))) {
                                        (format!("{:.1}", 100.0 * better.mean))
                                    }
                                }
                                None => td { @if column != row { "-" } }
                            }
                        }
                    }
                }
            }
        },
    )
}

fn faults(report: &Report, faults: &[&FaultCount], named: bool) -> Markup {
    table(
        "faults",
        &html! {
            thead {
                tr {
                    @if named { th.name scope="col" { "entry" } }
                    th.name scope="col" { "what" }
                    th scope="col" { "times" }
                    th.name scope="col" { "first in" }
                }
            }
            tbody {
                @for fault in faults {
                    tr {
                        @if named { th.name scope="row" { (link(report, &fault.name)) } }
                        td.name { (fault.kind) @if fault.kind.is_warning() { " (a warning, no fault)" } }
                        // How many matches it missed says nothing about the bot.
                        td { @if fault.kind != FaultKind::Out { (fault.count) } }
                        td.long { (fault.first) @if let Some(hint) = &fault.hint { br; "Hint: " (hint) } }
                    }
                }
            }
        },
    )
}

fn played(report: &Report) -> Markup {
    let plan = &report.plan;
    let options = plan.options.as_object().into_iter().flatten();
    let options: Vec<String> = options.map(|(name, value)| format!("{name}={value}")).collect();
    html! {
        dl {
            dt { "game" } dd { (plan.game) }
            @if !options.is_empty() { dt { "options" } dd { (options.join(", ")) } }
            dt { "format" } dd { (plan.format.as_str()) ", " (count(plan.seats as u64, "seat")) }
            dt { "played" } dd { (print::blocks(report)) ", " (count(report.matches, "match")) }
            @if !report.left.is_empty() { dt { "no longer in it" } dd { (report.left.join(", ")) } }
            dt { "seed" } dd { (plan.seed) }
            @if !plan.sealed_dice.is_empty() {
                dt { "dice" } dd { @for line in print::sealed_dice(plan) { code { (line) } br; } }
            }
            @if let Some(hash) = &report.hash { dt { "hash" } dd { code { (hash) } } }
            @for entry in plan.members().map(|member| &plan.entries[member]) {
                dt { (link(report, &entry.name)) } dd { code { (entry.bot) } }
            }
        }
        p { (print::footer(report)[1]) "." }
    }
}

/// Returns the page of an entry.
pub fn bot(report: &Report, number: usize, bot: &Bot, game: &str) -> Markup {
    let name = &report.plan.entries[number].name;
    let place = report.standings.iter().position(|entry| entry.name == *name).unwrap_or_default();
    let entry = &report.standings[place];
    let own: Vec<&FaultCount> = report.trouble.faults.iter().filter(|fault| fault.name == *name).collect();
    page(
        &format!("{name}: {game}"),
        &html! {
            nav { a href="index.html" { "← " (game) ": tournament" } }
            h1 { (name) }
            p { code { (entry.bot) } }
            @if !own.is_empty() {
                section.trouble aria-labelledby="faults" {
                    h2 id="faults" { "What went wrong" }
                    (faults(report, &own, false))
                }
            }
            section aria-labelledby="record" {
                h2 id="record" { "Record" }
                dl {
                    dt { "rank" } dd { (print::rank(entry)) " of " (report.standings.len()) }
                    dt { "matches" } dd { (entry.record.games) }
                    @for column in print::columns(report) {
                        @let cell = (column.cell)(entry);
                        @if !cell.is_empty() { dt { (column.head) } dd { (cell) } }
                    }
                }
                (record(report, place))
            }
            @if let Some(conduct) = &bot.conduct {
                section aria-labelledby="habits" {
                    h2 id="habits" { "Habits" }
                    (habits(conduct))
                }
            }
            @if !bot.films.is_empty() {
                section aria-labelledby="films" {
                    h2 id="films" { "Its worst matches" }
                    p { (worst_first(report, &bot.films)) }
                    @for film in &bot.films { (self::film(film)) }
                }
            }
            @if !bot.log.is_empty() {
                section aria-labelledby="log" {
                    h2 id="log" { "Its log" }
                    p { "The end of what it has written to standard error." }
                    pre tabindex="0" { (bot.log.join("\n")) }
                }
            }
        },
    )
}

fn record(report: &Report, place: usize) -> Markup {
    let matrix = report.matrix();
    let met: Vec<_> = report
        .standings
        .iter()
        .zip(&matrix[place])
        .filter_map(|(other, met)| Some((other, (*met)?)))
        .collect();
    let bars = Bars { low: 0.0, high: 1.0 };
    html! {
        @if !met.is_empty() {
            (table("results against each other entry", &html! {
                (caption("How often it placed better, a tie counting half; the bar goes from 0 to 100%"))
                thead {
                    tr {
                        th.name scope="col" { "against" }
                        th scope="col" { "matches" }
                        th scope="col" { "better, %" }
                    }
                }
                tbody {
                    @for (other, (games, better)) in met {
                        tr {
                            th.name scope="row" { (link(report, &other.name)) }
                            td { (games) }
                            td { (bars.draw(Some(better))) (percent(&better)) }
                        }
                    }
                }
            }))
        }
    }
}

fn habits(conduct: &Conduct) -> Markup {
    let Conduct { matches, cost_of_match, habits, scale } = conduct;
    let often = |habit: &necrodome_arena::profile::Habit| match habit.matches_between {
        between if between < 1.5 => format!("{:.1} times a match", 1.0 / between),
        between => format!("once in {between:.0} matches"),
    };
    html! {
        p {
            "The game is solved, so the price of every decision is known. In " (count(*matches as u64, "match"))
            " of this tournament its decisions cost " strong { (cost_of_match) } " a match."
        }
        @if habits.is_empty() {
            p { "Every decision was the best there was." }
        } @else {
            (table("habits", &html! {
                (caption("What it does where something else was better, and what that costs; the most expensive in all first"))
                thead {
                    tr {
                        th.name scope="col" { "habit" }
                        th scope="col" { "each time" }
                        th scope="col" { "a match" }
                    }
                }
                tbody {
                    @for habit in habits {
                        tr {
                            td.long { (habit.habit) ", " span.dim { (often(habit)) } }
                            td { (scale.show(habit.cost)) }

                            td { (scale.show(habit.regret_per_match)) }
                        }
                    }
                }
            }))
        }
    }
}

/// Says which matches are shown.
fn worst_first(report: &Report, films: &[Film]) -> String {
    let faulty = if films.iter().any(|film| !film.faults.is_empty()) {
        "Those with faults first, then those"
    } else {
        "Those"
    };
    let lucky = report.standings.iter().any(|entry| entry.luck_adjusted.is_some());
    let what = if lucky { "in which it made least of its luck" } else { "that it lost worst" };
    format!("{faulty} {what}.")
}

fn film(film: &Film) -> Markup {
    html! {
        details.film {
            summary { (film.title) @if !film.faults.is_empty() { " " span.fault { (count(film.faults.len() as u64, "fault")) } } }
            @if !film.faults.is_empty() {
                ul { @for fault in film.faults.iter().take(20) { li.warning { (fault) } } }
            }
            @match &film.story {
                Ok(story) => pre tabindex="0" { (painted(story)) }
                Err(why) => p { (why) }
            }
            p.place { code { "necrodome replay STORE --from " (film.place) } }
        }
    }
}

/// Returns a text in the colours that a terminal would show.
fn painted(text: &str) -> Markup {
    html! {
        @for (style, text) in WinconBytes::new().extract_next(text.as_bytes()) {
            @match class(style) {
                Some(class) => span class=(class) { (text) }
                None => (text)
            }
        }
    }
}

fn class(style: Style) -> Option<&'static str> {
    Some(match style.get_fg_color() {
        Some(Color::Ansi(colour)) => match colour {
            AnsiColor::Green => "good",
            AnsiColor::Yellow => "fair",
            AnsiColor::Red => "bad",
            AnsiColor::BrightYellow => "seat0",
            AnsiColor::BrightCyan => "seat1",
            AnsiColor::BrightMagenta => "seat2",
            AnsiColor::BrightBlue => "seat3",
            AnsiColor::BrightRed => "seat4",
            _ => "strong",
        },
        _ if style.get_effects().contains(Effects::BOLD) => "strong",
        _ if style.get_effects().contains(Effects::DIMMED) => "dim",
        _ => return None,
    })
}
