//! Prints an exam for people, in 80 columns.

use crate::{
    commands::{analyze::ledger::Scale, trouble},
    error::Error,
    paint::{WIDTH, bold, column, count, dim, green, harmless, red, wrapped, yellow},
};
use necrodome_arena::{
    exam::{BandReport, ExamEntry, ExamPair, ExamReport, KindRegret, Worst},
    fault::FaultKind,
    model,
};
use std::io::{self, BufWriter, Write};

/// How many of the worst answers are shown.
const TOLD: usize = 10;

pub fn report(title: &str, report: &ExamReport, scale: &Scale) -> Result<(), Error> {
    let mut out = BufWriter::new(anstream::stdout().lock());
    for line in wrapped(&headline(title, report), 0) {
        writeln!(out, "{}", bold(line))?;
    }
    writeln!(out)?;
    standings(&mut out, report, scale)?;
    if report.entries.iter().any(|entry| entry.calls > 0) {
        writeln!(out)?;
        expenses(&mut out, report, scale)?;
    }
    if !report.pairs.is_empty() {
        writeln!(out, "\n{}", bold("compared by the same questions"))?;
        let mut told = 0;
        for pair in shown(report) {
            told += 1;
            let text = compared(pair, report, scale);
            let text = wrapped(&text, 0).join("\n  ");
            writeln!(out, "{}", if pair.told_apart { green(text).to_string() } else { text })?;
        }
        if told < report.pairs.len() {
            let text = "(neighbours in rank and language models only; --html and --json have all pairs)";
            wrapped(text, 0).iter().try_for_each(|line| writeln!(out, "{}", dim(line)))?;
        }
    }
    writeln!(out)?;
    let entries = columns(report);
    groups(&mut out, "regret by kind of decision", &by_kind(&entries), &entries, scale)?;
    writeln!(out)?;
    groups(&mut out, "regret by what is at stake", &by_stake(report, &entries, scale), &entries, scale)?;
    worst(&mut out, report, scale)?;
    for line in notes(report, scale).iter().flat_map(|note| wrapped(note, 0)) {
        writeln!(out, "{}", dim(line))?;
    }
    trouble::print(&mut out, &report.trouble)?;
    if let Some(why) = warning(report) {
        wrapped(&why, 0).iter().try_for_each(|line| writeln!(out, "{}", yellow(line)))?;
    }
    Ok(out.flush()?)
}

/// Says what the exam consists of.
pub fn headline(title: &str, report: &ExamReport) -> String {
    let ExamReport { positions, questions, seed, .. } = report;
    let fewer =
        if questions < positions { format!(" ({questions} different ones came up)") } else { String::new() };
    format!("{title}: {}{fewer}, seed {seed}", count(*positions as u64, "position"))
}

/// Returns a warning that readers should know before they trust the numbers.
pub fn warning(report: &ExamReport) -> Option<String> {
    let twins = report.pairs.iter().find(|pair| pair.null && pair.told_apart);
    match twins {
        _ if !report.complete => {
            let open = report.entries.iter().filter(|entry| !entry.complete);
            let open: Vec<String> = open.map(|entry| unfinished(entry, report.questions)).collect();
            Some(format!(
                "the exam is not complete, and entries that have not answered everything have no rank: {}",
                open.join("; ")
            ))
        }
        Some(pair) => Some(format!(
            "{} and {} are the same entry, but their results differ significantly: by chance, or because they do not answer independently",
            pair.one, pair.other
        )),
        None => None,
    }
}

/// Explains what the numbers mean.
pub fn notes(report: &ExamReport, scale: &Scale) -> Vec<String> {
    let unit = if report.unit == "points" { "points" } else { "chance to win" };
    let mut notes = vec![format!(
        "regret: how much more the best option was worth, on average ({unit}); on average {} is at stake. perfect: nothing was better. \
         blunder: costs {} or more. Intervals are 95%, each by itself; entries are told apart with an error of 5% for all pairs together. \
         unusable: answers that could not be used. lost: decisions without a usable answer after all tries.",
        scale.show(report.mean_stake),
        scale.show(report.blunder)
    )];
    if report.nothing_at_stake > 0.0 {
        let share = 100.0 * report.nothing_at_stake;
        notes.push(format!("Decisions in which all options are worth the same ({share:.0}%) are left out."));
    }
    let answered =
        |entry: &ExamEntry| Some(format!("{}: answered by {}", entry.name, entry.answered_by.words()?));
    notes.extend(report.entries.iter().filter_map(answered));
    notes
}

/// Returns `small answered 12 of 200 (the budget ...)`.
pub fn unfinished(entry: &ExamEntry, questions: usize) -> String {
    let why = entry.stopped.as_ref().map_or(String::new(), |why| format!(" ({why})"));
    format!("{} answered {} of {questions}{why}", entry.name, entry.answered)
}

/// Returns `1`, or `2-3` where ranks cannot be told apart, or `-` for an entry that has not answered every question.
pub fn rank(entry: &ExamEntry) -> String {
    match entry.rank {
        None => "-".to_owned(),
        Some(rank) if rank.best == rank.worst => rank.best.to_string(),
        Some(rank) => format!("{}-{}", rank.best, rank.worst),
    }
}

/// Returns `1.20% [0.90, 1.50]`.
pub fn interval(scale: &Scale, mean: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
    let bare = |value: f64| scale.show(value).trim_end_matches('%').to_owned();
    match (mean, low, high) {
        (Some(mean), Some(low), Some(high)) => {
            format!("{} [{}, {}]", scale.show(mean), bare(low), bare(high))
        }
        (Some(mean), ..) => scale.show(mean),
        _ => "-".to_owned(),
    }
}

/// Formats a share in percent.
pub fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1}%", 100.0 * share))
}

/// Shortens a name to a width.
fn short(name: &str, width: usize) -> String {
    match name.chars().count() <= width {
        true => name.to_owned(),
        false => name.chars().take(width - 1).chain(['…']).collect(),
    }
}

fn standings(out: &mut impl Write, report: &ExamReport, scale: &Scale) -> io::Result<()> {
    const NAME: usize = 17;
    let head = format!(
        "rank  {:<NAME$}{:>22}{:>9}{:>10}{:>10}{:>6}",
        "entry", "regret", "perfect", "blunders", "unusable", "lost"
    );
    writeln!(out, "{}", dim(head))?;
    for entry in &report.entries {
        let regret = interval(scale, entry.regret, entry.regret_low, entry.regret_high);
        let (perfect, blunders) = (percent(entry.perfect), percent(entry.blunders));
        let name = format!("{:<NAME$}", short(&entry.name, NAME - 1));
        let unusable = format!("{:>10}", entry.unusable);
        let unusable = if entry.unusable > 0 { red(unusable).to_string() } else { unusable };
        let lost = format!("{:>6}", entry.lost);
        let lost = if entry.lost > 0 { red(lost).to_string() } else { lost };
        writeln!(
            out,
            "{:>4}  {}{regret:>22}{perfect:>9}{blunders:>10}{unusable}{lost}",
            rank(entry),
            bold(name)
        )?;
        if !entry.complete {
            let answered = format!("not complete: answered {} of {}", entry.answered, report.questions);
            writeln!(out, "      {}", yellow(answered))?;
        }
    }
    for entry in report.entries.iter().filter(|entry| entry.unusable > 0) {
        let unusable = FaultKind::words(&entry.unusable_by_kind);
        let lost = match entry.lost {
            0 => String::new(),
            _ => format!("; lost {}", FaultKind::words(&entry.lost_by_kind)),
        };
        for line in wrapped(&format!("{}: unusable {unusable}{lost}", entry.name), 6) {
            writeln!(out, "      {}", dim(line))?;
        }
    }
    Ok(())
}

fn expenses(out: &mut impl Write, report: &ExamReport, scale: &Scale) -> io::Result<()> {
    const NAME: usize = 20;
    let head = format!(
        "{:<NAME$}{:>7}{:>10}{:>9}{:>9}{:>10}{:>11}",
        "entry", "calls", "input", "cached", "output", "cost", "a decision"
    );
    writeln!(out, "{}", dim(head))?;
    for entry in report.entries.iter().filter(|entry| entry.calls > 0) {
        writeln!(
            out,
            "{:<NAME$}{:>7}{:>10}{:>9}{:>9}{:>10}{:>11}",
            short(&entry.name, NAME - 1),
            entry.calls,
            entry.input_tokens,
            entry.cached_tokens,
            entry.output_tokens,
            cost(entry.cost),
            cost(entry.cost_per_decision)
        )?;
    }
    for line in bargains(report, scale).iter().flat_map(|text| wrapped(text, 0)) {
        writeln!(out, "{line}")?;
    }
    for entry in report.entries.iter() {
        if let Some(latency) = entry.latency {
            let text = format!(
                "{}: half of the decisions took less than {:.1} s, one of twenty more than {:.1} s",
                entry.name, latency.median, latency.p95
            );
            wrapped(&text, 0).iter().try_for_each(|line| writeln!(out, "{}", dim(line)))?;
        }
    }
    Ok(())
}

/// Says which language models are worth their price, and how much regret additional money saves.
pub fn bargains(report: &ExamReport, scale: &Scale) -> Vec<String> {
    let mut front: Vec<&ExamEntry> =
        report.entries.iter().filter(|entry| entry.bargain.on_front == Some(true)).collect();
    front.sort_by(|one, other| one.cost.unwrap_or_default().total_cmp(&other.cost.unwrap_or_default()));
    let names: Vec<&str> = front.iter().map(|entry| entry.name.as_str()).collect();
    let unit = if report.unit == "points" { "points" } else { "wins" };
    let saved = front.iter().filter_map(|entry| {
        let saved = entry.bargain.regret_per_cost?;
        let next = report.next_cheaper(entry)?;
        let more = money(entry.cost_per_decision? - next.cost_per_decision?);
        let less = scale.show(next.regret? - entry.regret?);
        Some(format!(
            "{} instead of {}: {more} more and {less} less regret a decision, {saved:.2} {unit} for each further unit of money.",
            entry.name, next.name
        ))
    });
    let best = format!("No model is both cheaper and better than these: {}.", names.join(", "));
    if front.is_empty() { Vec::new() } else { std::iter::once(best).chain(saved).collect() }
}

/// Formats an amount of money with as many digits as are useful.
pub fn money(amount: f64) -> String {
    if amount > 0.0 && amount < 0.1 { format!("{amount:.5}") } else { format!("{amount:.2}") }
}

/// Formats an amount of money, or `?` if a price is not known.
pub fn cost(amount: Option<f64>) -> String {
    amount.map_or("?".to_owned(), money)
}

/// Returns the pairs to show: neighbours in the ranking, twins, and language models, since such a comparison was paid for.
fn shown(report: &ExamReport) -> impl Iterator<Item = &ExamPair> {
    let place = |name: &str| report.entries.iter().position(|entry| entry.name == name);
    let is_model =
        move |name: &str| place(name).is_some_and(|place| model::is_model(&report.entries[place].bot));
    let neighbours = move |pair: &ExamPair| {
        place(&pair.one).zip(place(&pair.other)).is_some_and(|(one, other)| one.abs_diff(other) == 1)
    };
    report
        .pairs
        .iter()
        .filter(move |pair| pair.null || neighbours(pair) || (is_model(&pair.one) && is_model(&pair.other)))
}

/// Compares two entries in a sentence.
pub fn compared(pair: &ExamPair, report: &ExamReport, scale: &Scale) -> String {
    let ExamPair { one, other, difference, difference_low, difference_high, .. } = pair;
    let by = interval(scale, Some(*difference), *difference_low, *difference_high);
    let twins = if pair.null { "the same entry twice: " } else { "" };
    let both = match pair.questions < report.questions {
        true => format!(", on the {} that both answered", count(pair.questions as u64, "question")),
        false => String::new(),
    };
    if pair.told_apart {
        return format!("{twins}{one} is better than {other}: {by} less regret{both}");
    }
    // The interval is that of this pair alone; the test is one of all pairs.
    let leaves_out_0 = difference_low.is_some_and(|low| low > 0.0);
    let why = match leaves_out_0 {
        true if report.pairs.len() > 1 => " once all pairs are tested together (5% error for all)",
        true => ", because too few answers differ",
        false => "",
    };
    let same = 100.0 * pair.same;
    format!("{twins}{one} and {other} cannot be told apart{why}: {by}, same decision in {same:.0}%{both}")
}

/// Returns the entries with a column for their mistakes: no copies, and no entries without mistakes unless nobody makes any.
pub fn columns(report: &ExamReport) -> Vec<&ExamEntry> {
    let own = || report.entries.iter().filter(|entry| entry.copy == 0);
    let erring: Vec<&ExamEntry> = own().filter(|entry| !entry.worst.is_empty()).collect();
    if erring.is_empty() { own().collect() } else { erring }
}

/// A group of decisions, and the regret of each entry in it.
pub struct Row {
    pub label: String,
    pub share: f64,
    pub questions: usize,
    pub regrets: Vec<Option<KindRegret>>,
}

/// Returns a row for each kind of decision, the most common first.
pub fn by_kind(entries: &[&ExamEntry]) -> Vec<Row> {
    let mut labels: Vec<&String> =
        entries.iter().flat_map(|entry| entry.kinds.iter().map(|kind| &kind.kind)).collect();
    labels.sort();
    labels.dedup();
    let find = |entry: &ExamEntry, label: &str| entry.kinds.iter().find(|kind| kind.kind == label).cloned();
    let row = |label: &&String| Row::new(label, entries.iter().map(|entry| find(entry, label)).collect());
    let mut rows: Vec<Row> = labels.iter().map(row).collect();
    rows.sort_by(|a, b| b.share.total_cmp(&a.share));
    rows
}

/// Returns a row for each band of stakes.
pub fn by_stake(report: &ExamReport, entries: &[&ExamEntry], scale: &Scale) -> Vec<Row> {
    let row = |(number, band): (usize, &BandReport)| {
        let label = (number + 1).to_string();
        let find = |entry: &&ExamEntry| entry.stakes.iter().find(|stake| stake.kind == label).cloned();
        let name = format!("{} to {}", scale.show(band.from), scale.show(band.to));
        Row::new(&name, entries.iter().map(find).collect())
    };
    report.bands.iter().enumerate().map(row).collect()
}

impl Row {
    fn new(label: &str, regrets: Vec<Option<KindRegret>>) -> Self {
        let first = regrets.iter().flatten().max_by_key(|regret| regret.questions);
        let (share, questions) = first.map_or((0.0, 0), |first| (first.share, first.questions));
        Row { label: label.to_owned(), share, questions, regrets }
    }
}

fn groups(
    out: &mut impl Write,
    title: &str,
    rows: &[Row],
    entries: &[&ExamEntry],
    scale: &Scale,
) -> io::Result<()> {
    const CELL: usize = 10;
    let wide = rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
    let label = wide.max(title.chars().count()).min(34);
    let columns = ((WIDTH - label - 14) / CELL).min(entries.len());
    let name = |entry: &&ExamEntry| format!("{:>CELL$}", short(&entry.name, CELL - 1));
    let names: String = entries[..columns].iter().map(name).collect();
    writeln!(
        out,
        "{}{}",
        bold(format!("{title:<label$}")),
        dim(format!("{:>7}{:>7}{names}", "share", "asked"))
    )?;
    for row in rows {
        let cell = |regret: &Option<KindRegret>| {
            regret.as_ref().map_or("-".to_owned(), |own| scale.show(own.regret))
        };
        let cells: String =
            row.regrets[..columns].iter().map(|regret| format!("{:>CELL$}", cell(regret))).collect();
        let share = format!("{:.0}%", 100.0 * row.share);
        writeln!(out, "{:<label$}{share:>7}{:>7}{cells}", short(&row.label, label), row.questions)?;
    }
    let more = entries.len() - columns;
    if more > 0 {
        let entries = if more == 1 { "entry" } else { "entries" };
        writeln!(out, "{}", dim(format!("{more} more {entries}: --json and --html have all")))?;
    }
    Ok(())
}

/// Prints the worst answers of all entries. Built-in bots are left out, unless there are no other entries with mistakes.
fn worst(out: &mut impl Write, report: &ExamReport, scale: &Scale) -> io::Result<()> {
    let entries = columns(report);
    let strangers = entries.iter().any(|entry| !entry.built_in);
    let told: Vec<&ExamEntry> = entries.into_iter().filter(|entry| !strangers || !entry.built_in).collect();
    let mut all: Vec<(&ExamEntry, &Worst)> =
        told.iter().flat_map(|&entry| entry.worst.iter().map(move |worst| (entry, worst))).collect();
    all.sort_by(|a, b| b.1.regret.total_cmp(&a.1.regret));
    if all.is_empty() {
        return match told.iter().any(|entry| entry.answered > 0) {
            true => writeln!(out, "\n{}\n", green("every decision was the best there was")),
            false => Ok(()),
        };
    }
    writeln!(out, "\n{}", bold("the worst answers"))?;
    for (place, (entry, worst)) in (1..).zip(all.into_iter().take(TOLD)) {
        let text = format!("{}, question {}: {}", entry.name, worst.question, worst.situation);
        writeln!(out, "{place:>2}. {}", column(&harmless(&text), 4))?;
        writeln!(out, "    {}", column(&harmless(&told_of(worst, scale)), 4))?;
    }
    writeln!(out)
}

/// Says what the entry did and why, and what would have been better.
pub fn told_of(worst: &Worst, scale: &Scale) -> String {
    let Worst { choice, value, best, best_value, regret, .. } = worst;
    let [value, best_value, regret] = [value, best_value, regret].map(|&value| scale.show(value));
    let fault = worst.fault.as_ref().map_or(String::new(), |fault| format!(" ({fault})"));
    let reason = worst.reason.as_ref().filter(|reason| !reason.is_empty());
    let reason = reason.map_or(String::new(), |reason| format!(" It says: \"{}\".", reason.trim()));
    format!(
        "It {choice}{fault}, worth {value}.{reason} A perfect player {best}, worth {best_value}. That cost {regret}."
    )
}
