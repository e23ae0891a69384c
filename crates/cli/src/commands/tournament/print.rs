//! Prints the report for people.

use crate::{
    commands::trouble,
    error::Error,
    paint::{self, bold, count, dim, green, harmless, wrapped, yellow},
};
use necrodome_arena::{
    fault::FaultKind,
    front::Bargain,
    stats::{Confidence, Estimate, Measure, RankBy, Rating},
    tournament::{EntryReport, Plan, Report, SealedDice, Stop, UsageReport},
};
use std::{collections::BTreeMap, io::Write};

/// How a report is shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown {
    /// Whether to show all columns.
    pub wide: bool,
    /// Whether to explain the numbers.
    pub explained: bool,
    /// Whether to show the scores of each round.
    pub rounds: bool,
}

pub fn report(report: &Report, shown: Shown) -> Result<(), Error> {
    let mut out = std::io::BufWriter::new(anstream::stdout().lock());
    for line in wrapped(&report.summary.join(" "), 0) {
        writeln!(out, "{}", bold(line))?;
    }
    writeln!(out)?;
    trouble::print(&mut out, &report.trouble)?;
    if !(report.trouble.faults.is_empty() && report.trouble.logs.is_empty()) {
        writeln!(out)?;
    }
    let width = if shown.wide { usize::MAX } else { paint::width() };
    standings(&mut out, report, width)?;
    if !shown.wide {
        usage(&mut out, report, width)?;
    }
    if shown.rounds {
        writeln!(out)?;
        rounds(&mut out, report, width)?;
    }
    head_to_head(&mut out, report, width)?;
    notes(&mut out, report)?;
    if shown.explained {
        explain(&mut out, report)?;
    }
    out.flush()?;
    Ok(())
}

/// Returns `12.3 (11.9 to 12.7)`, or just the number if there is no interval.
pub fn estimate(estimate: Option<&Estimate>, factor: f64, digits: usize) -> String {
    let Some(Estimate { mean, low, high }) = estimate else { return "-".into() };
    let mean = mean * factor;
    match low.zip(*high).map(|(low, high)| (low * factor, high * factor)) {
        Some((low, high)) => format!("{mean:.digits$} ({low:.digits$} to {high:.digits$})"),
        None => format!("{mean:.digits$}"),
    }
}

/// Returns `+120 (80 to 165)`; an end that the results do not bound is left open.
fn rating(rating: &Rating) -> String {
    // Not -0.
    let whole = |points: f64| points.round() + 0.0;
    let elo = format!("{:+.0}", whole(rating.elo));
    match (rating.low.map(whole), rating.high.map(whole)) {
        (Some(low), Some(high)) => format!("{elo} ({low} to {high})"),
        (Some(low), None) => format!("{elo} (at least {low})"),
        (None, Some(high)) => format!("{elo} (at most {high})"),
        (None, None) => elo,
    }
}

/// Returns `2`, or `2-4`.
pub fn rank(entry: &EntryReport) -> String {
    match (entry.rank.best, entry.rank.worst) {
        (best, worst) if best == worst => best.to_string(),
        (best, worst) => format!("{best}-{worst}"),
    }
}

/// A column of the standings.
pub struct Column {
    pub head: &'static str,
    pub cell: fn(&EntryReport) -> String,
}

/// Returns all columns after rank and name.
pub fn columns(report: &Report) -> Vec<Column> {
    columns_up_to(report, usize::MAX)
}

/// Returns the most important columns, at most `most`, followed by the usage columns if language models take part.
pub fn columns_up_to(report: &Report, most: usize) -> Vec<Column> {
    let with_models = report.standings.iter().any(|entry| entry.usage.is_some());
    let is_used = |column: &Column| {
        (with_models || most == usize::MAX)
            && report.standings.iter().any(|entry| !(column.cell)(entry).is_empty())
    };
    main_columns(report)
        .into_iter()
        .take(most)
        .chain(usage_columns(report).into_iter().filter(is_used))
        .collect()
}

/// Returns the columns for what decisions used and cost, for tournaments with language models.
fn usage_columns(report: &Report) -> Vec<Column> {
    let column = |head, cell| Column { head, cell };
    // A chance to win in percent, as in exams, or points.
    let regret: fn(&EntryReport) -> String = match report.plan.seats {
        1 => |entry| entry.regret.map_or(String::new(), |regret| format!("{:.3}", regret.per_decision)),
        _ => |entry| {
            entry.regret.map_or(String::new(), |regret| format!("{:.2}%", 100.0 * regret.per_decision))
        },
    };
    vec![
        column("regret/decision", regret),
        column("cost/decision", |entry| used(entry, |usage| cost(usage.cost_per_decision))),
        column("cost", |entry| used(entry, |usage| cost(usage.cost))),
        column("tokens", |entry| used(entry, |usage| (usage.input_tokens + usage.output_tokens).to_string())),
        column("unusable", |entry| used(entry, |usage| usage.unusable.to_string())),
        column("lost", |entry| used(entry, |usage| usage.lost.to_string())),
        column("regret/money", |entry| used(entry, |usage| bargain(&usage.bargain))),
    ]
}

/// Returns the columns of every tournament, the most important first: those that do not fit are dropped from the end.
fn main_columns(report: &Report) -> Vec<Column> {
    let column = |head, cell| Column { head, cell };
    let score = column("score", |entry| estimate(entry.record.mean_score.as_ref(), 1.0, 2));
    let wins = column("win %", |entry| estimate(entry.record.win_rate.as_ref(), 100.0, 1));
    let lucky = report.standings.iter().any(|entry| entry.luck_adjusted.is_some());
    let mut columns = Vec::new();
    match report.measure {
        Measure::MedianScore => {
            columns
                .push(column("median score", |entry| estimate(entry.record.median_score.as_ref(), 1.0, 1)));
            columns.extend([score, wins]);
        }
        Measure::MeanScore => {
            if lucky {
                columns.push(column("luck-adjusted score", |entry| adjusted(entry, 1.0, 3)));
            }
            columns.extend([score, wins]);
        }
        Measure::WinRate | Measure::AgainstFirst => {
            if lucky {
                columns.push(column("luck-adjusted %", |entry| adjusted(entry, 100.0, 1)));
            }
            columns.extend([wins, column("rating", |entry| rating(&entry.rating)), score]);
        }
    }
    if lucky && report.plan.rank_by == RankBy::Plain {
        columns[..2].rotate_left(1);
    }
    columns.extend([
        column("cpu/decision", |entry| entry.cpu_us.map_or(String::new(), |us| format!("{us:.0} us"))),
        column("wins", |entry| entry.record.outright_wins.to_string()),
        column("shared", |entry| entry.record.shared_wins.to_string()),
        column("place", |entry| estimate(entry.record.mean_place.as_ref(), 1.0, 2)),
    ]);
    if matches!(report.measure, Measure::MeanScore | Measure::MedianScore) {
        columns.push(column("rating", |entry| rating(&entry.rating)));
    }
    columns
}

/// Returns a cell about the usage of a language model.
fn used(entry: &EntryReport, cell: impl Fn(&UsageReport) -> String) -> String {
    entry.usage.as_ref().map_or(String::new(), cell)
}

/// Explains the column regret/money, if there is one.
fn bargains(report: &Report) -> Option<String> {
    let is_compared =
        |entry: &EntryReport| entry.usage.as_ref().is_some_and(|usage| usage.bargain.on_front.is_some());
    let unit = if report.plan.seats == 1 { "points" } else { "wins" };
    report.standings.iter().any(is_compared).then(|| {
        format!(
            "regret/money: how many {unit} each further unit of money saves, against the next language model that costs at \
             least 10% less and that none beats in both regret and cost. cheapest: there is no such model. beaten: another one \
             costs no more and has no more regret."
        )
    })
}

/// Says how much regret each additional unit of money saves.
fn bargain(bargain: &Bargain) -> String {
    match (bargain.on_front, bargain.regret_per_cost) {
        (_, Some(saved)) => format!("{saved:.3}"),
        (Some(true), None) => "cheapest".to_owned(),
        (Some(false), None) => "beaten".to_owned(),
        (None, None) => String::new(),
    }
}

/// Formats an amount of money, or `?` if a price is not known.
pub fn cost(amount: Option<f64>) -> String {
    amount.map_or("?".to_owned(), money)
}

/// Formats an amount of money with four decimals, or as many as a small one needs.
fn money(amount: f64) -> String {
    if amount > 0.0 && amount < 0.001 { format!("{amount:.6}") } else { format!("{amount:.4}") }
}

/// Returns the luck-adjusted result.
fn adjusted(entry: &EntryReport, factor: f64, digits: usize) -> String {
    estimate(entry.luck_adjusted.as_ref().map(|adjusted| &adjusted.estimate), factor, digits)
}

/// Shortens a text to at most `most` characters.
pub fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// The longest name: longer ones are cut, so that there is room for results.
pub const LONGEST_NAME: usize = 24;

/// Returns the standings, column by column, as many as fit. The first cell of each is its heading.
fn table(report: &Report, width: usize) -> Vec<Vec<String>> {
    let longest = if width == usize::MAX { usize::MAX } else { LONGEST_NAME };
    let mut table: Vec<Vec<String>> = vec![vec!["rank".into()], vec!["entry".into()]];
    table[0].extend(report.standings.iter().map(rank));
    table[1].extend(report.standings.iter().map(|entry| shortened(&entry.name, longest)));
    let mut used = size(&table[0]) + 2 + size(&table[1]);
    let columns = if width == usize::MAX { columns(report) } else { main_columns(report) };
    for Column { head, cell } in columns {
        let cells: Vec<String> = report.standings.iter().map(cell).collect();
        if cells.iter().all(String::is_empty) {
            continue;
        }
        let cells = [vec![head.to_owned()], cells].concat();
        used = used.saturating_add(2 + size(&cells));
        if used > width {
            break;
        }
        table.push(cells);
    }
    table
}

/// Returns the width of a column.
fn size(cells: &[String]) -> usize {
    cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0)
}

/// Prints the standings as a table in Markdown, with explanations.
pub fn markdown(report: &Report, shown: Shown) -> Result<(), Error> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    writeln!(out, "{}\n", report.summary.join(" "))?;
    markdown_table(&mut out, &table(report, usize::MAX), 1)?;
    if shown.rounds {
        writeln!(out)?;
        let columns = round_columns(report, |round| format!("Round {round}"));
        markdown_table(&mut out, &[vec![entry_names(report)], columns].concat(), 0)?;
    }
    writeln!(out, "\n{}", footer(report).join("  \n"))?;
    Ok(out.flush()?)
}

/// Writes a table of columns with their headings in Markdown. The column of names is on the left.
fn markdown_table(out: &mut impl Write, table: &[Vec<String>], names: usize) -> std::io::Result<()> {
    for row in 0..table[names].len() {
        let cell = |cells: &Vec<String>| cells[row].replace('\\', "\\\\").replace('|', "\\|");
        writeln!(out, "| {} |", table.iter().map(cell).collect::<Vec<_>>().join(" | "))?;
        if row == 0 {
            let rule = |column: usize| if column == names { "---" } else { "---:" };
            writeln!(out, "| {} |", (0..table.len()).map(rule).collect::<Vec<_>>().join(" | "))?;
        }
    }
    Ok(())
}

fn standings(out: &mut impl Write, report: &Report, width: usize) -> std::io::Result<()> {
    plain_table(out, &table(report, width), 1)
}

/// Prints what decisions used and cost, if language models take part.
fn usage(out: &mut impl Write, report: &Report, width: usize) -> std::io::Result<()> {
    if report.standings.iter().all(|entry| entry.usage.is_none()) {
        return Ok(());
    }
    let cells = |Column { head, cell }: Column| {
        let cells: Vec<String> = report.standings.iter().map(cell).collect();
        cells.iter().any(|cell| !cell.is_empty()).then(|| [vec![head.to_owned()], cells].concat())
    };
    writeln!(out)?;
    let columns = usage_columns(report).into_iter().filter_map(cells).collect();
    in_bands(out, &entry_names(report), columns, width)
}

/// Returns the names of the entries, with a heading.
fn entry_names(report: &Report) -> Vec<String> {
    let names = report.standings.iter().map(|entry| shortened(&entry.name, LONGEST_NAME));
    std::iter::once("entry".to_owned()).chain(names).collect()
}

/// Returns the scores of each round and their median, column by column. The first cell of each is its heading.
fn round_columns(report: &Report, head: impl Fn(usize) -> String) -> Vec<Vec<String>> {
    let entries = &report.standings;
    let rounds = entries.iter().map(|entry| entry.rounds.len()).max().unwrap_or(0);
    let score =
        |entry: &EntryReport, round: usize| entry.rounds.get(round).map_or("-".into(), i64::to_string);
    let round = |round: usize| {
        let scores = entries.iter().map(|entry| score(entry, round));
        std::iter::once(head(round + 1)).chain(scores).collect()
    };
    let median = |entry: &EntryReport| {
        let mut scores = entry.rounds.clone();
        scores.sort_unstable();
        // The two in the middle, or twice the one.
        let middle = [scores.len().wrapping_sub(1) / 2, scores.len() / 2];
        let [Some(low), Some(high)] = middle.map(|place| scores.get(place)) else { return "-".to_owned() };
        ((low + high) as f64 / 2.0).to_string()
    };
    let medians = std::iter::once("median".to_owned()).chain(entries.iter().map(median)).collect();
    (0..rounds).map(round).chain([medians]).collect()
}

/// Prints the scores of each round, the median last, best first. Columns that do not fit continue below.
fn rounds(out: &mut impl Write, report: &Report, width: usize) -> std::io::Result<()> {
    let names = entry_names(report);
    let columns = round_columns(report, |round| format!("round {round}"));
    let full = columns.iter().fold(size(&names), |used, cells| used + 2 + size(cells));
    // Of many rounds the numbers are enough.
    let columns = if full > width { round_columns(report, |round| round.to_string()) } else { columns };
    writeln!(out, "{}", dim("the score in each round, and the median"))?;
    in_bands(out, &names, columns, width)
}

/// Prints columns beside the names. Those that do not fit continue below.
fn in_bands(
    out: &mut impl Write,
    names: &[String],
    columns: Vec<Vec<String>>,
    width: usize,
) -> std::io::Result<()> {
    let mut bands = vec![vec![names.to_vec()]];
    let mut used = size(names);
    for cells in columns {
        used = used.saturating_add(2 + size(&cells));
        if used > width {
            used = size(names) + 2 + size(&cells);
            bands.push(vec![names.to_vec()]);
        }
        bands.last_mut().expect("there is a first one").push(cells);
    }
    bands.iter().try_for_each(|band| plain_table(out, band, 0))
}

/// Writes a table of columns with their headings. The column of names is on the left.
pub fn plain_table(out: &mut impl Write, table: &[Vec<String>], names: usize) -> std::io::Result<()> {
    let widths: Vec<usize> = table.iter().map(|cells| size(cells)).collect();
    for row in 0..table[names].len() {
        let pad = |(column, cells): (usize, &Vec<String>)| {
            let fill = " ".repeat(widths[column] - cells[row].chars().count());
            if column == names { format!("{}{fill}", cells[row]) } else { format!("{fill}{}", cells[row]) }
        };
        let line = table.iter().enumerate().map(pad).collect::<Vec<_>>().join("  ");
        match row {
            0 => writeln!(out, "{}", dim(line.trim_end()))?,
            1 => writeln!(out, "{}", green(bold(line.trim_end())))?,
            _ => writeln!(out, "{}", line.trim_end())?,
        }
    }
    Ok(())
}

/// Prints how often the entry of the row placed better than that of the column, if there is room.
fn head_to_head(out: &mut impl Write, report: &Report, width: usize) -> std::io::Result<()> {
    let entries = &report.standings;
    let cell = |met: &Option<(u64, Estimate)>| match met {
        Some((_, better)) if width == usize::MAX => estimate(Some(better), 100.0, 1),
        Some((_, better)) => format!("{:.1}", better.mean * 100.0),
        None => "-".to_owned(),
    };
    let column = if width == usize::MAX { 23 } else { 7 };
    let name_width =
        entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0).min(LONGEST_NAME);
    if entries.len() < 3 || entries.len().saturating_mul(column).saturating_add(name_width + 4) > width {
        return Ok(());
    }
    writeln!(out, "\n{}", dim("row placed better than column, % of their matches"))?;
    let heads: String = (1..=entries.len()).map(|head| format!("{head:>column$}")).collect();
    writeln!(out, "{}{}", " ".repeat(name_width + 4), dim(heads))?;
    for (row, (entry, met)) in entries.iter().zip(report.matrix()).enumerate() {
        let name = shortened(&entry.name, LONGEST_NAME);
        let cell = |(other, met)| if other == row { "·".to_owned() } else { cell(met) };
        let cells: String = met.iter().enumerate().map(|met| format!("{:>column$}", cell(met))).collect();
        writeln!(out, "{:>2}. {name:<name_width$}{cells}", row + 1)?;
    }
    Ok(())
}

fn notes(out: &mut impl Write, report: &Report) -> std::io::Result<()> {
    writeln!(out)?;
    for text in warnings(report) {
        wrapped(&text, 0).into_iter().try_for_each(|line| writeln!(out, "{}", yellow(line)))?;
    }
    for remark in remarks(report) {
        wrapped(&remark, 0).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    let [played, proof @ ..] = &footer(report)[..] else { return Ok(()) };
    wrapped(played, 0).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    for line in proof {
        // Hashes and secrets are for copying: they stay whole, however narrow the terminal is.
        let is_copied = line.split(' ').any(|word| word.len() >= 64);
        let lines = if is_copied { vec![line.clone()] } else { wrapped(line, 0) };
        lines.iter().try_for_each(|line| writeln!(out, "{}", dim(line)))?;
    }
    Ok(())
}

/// Returns other remarks: on the models that answered, the seats, the luck, and why the tournament stopped.
pub fn remarks(report: &Report) -> Vec<String> {
    let answered = |entry: &EntryReport| {
        let models = entry.usage.as_ref()?.answered_by.words()?;
        Some(format!("{}: answered by {models}", entry.name))
    };
    let unusable = |entry: &EntryReport| {
        let usage = entry.usage.as_ref()?;
        let kinds = &usage.unusable_by_kind;
        // Faults count decisions, of which some were made after an unusable answer.
        (!kinds.is_empty()).then(|| {
            let lost = count(usage.lost, "decision");
            format!("{}: unusable answers: {}; {lost} lost", entry.name, FaultKind::words(kinds))
        })
    };
    let mut remarks: Vec<String> = report.standings.iter().filter_map(answered).collect();
    remarks.extend(report.standings.iter().filter_map(unusable));
    if let Some(effect) = report.seats.as_ref().filter(|effect| effect.p_value.is_some()) {
        let seat = |(seat, rate): (usize, &Option<Estimate>)| {
            format!("seat {seat} wins {} %", estimate(rate.as_ref(), 100.0, 1))
        };
        let seats: Vec<String> = effect.win_rates.iter().enumerate().take(6).map(seat).collect();
        let verdict = if effect.differ { "the seat matters" } else { "no seat is shown to be better" };
        remarks.push(format!("{}: {}", verdict, seats.join(", ")));
    }
    if report.measure == Measure::AgainstFirst {
        let first = &report.plan.entries[0].name;
        remarks.push(format!(
            "the others are ranked by what they win against {first}, who stands at one half among them"
        ));
    }
    let ratios = report.standings.iter().filter_map(|entry| entry.luck_adjusted?.variance_ratio);
    let ratios: Vec<f64> = ratios.collect();
    let mean = 100.0 * ratios.iter().sum::<f64>() / ratios.len() as f64;
    // With few blocks nothing is gained yet.
    if !ratios.is_empty() && mean < 95.0 {
        remarks.push(format!(
            "luck-adjusted: results without the luck of the dice, which is known exactly; with the same number of blocks their \
             variance is {mean:.0}% of that of plain results"
        ));
    }
    remarks.extend(bargains(report));
    remarks.extend(match report.stopped {
        Stop::Decided if report.tested.is_some() => Some("stopped early: the test is decided".to_owned()),
        Stop::Decided => Some("stopped early: all neighbours in the standings are told apart".to_owned()),
        Stop::Close => {
            Some("stopped early: those who are not told apart differ by less than the margin".to_owned())
        }
        Stop::Done | Stop::Interrupted => None,
    });
    remarks
}

/// Says how many blocks were played; if entries came and went, for each pair.
pub fn blocks(report: &Report) -> String {
    match report.blocks_each {
        _ if report.plan.stages.is_empty() && report.stopped == Stop::Interrupted => {
            format!("{} of {}", report.blocks, count(report.plan.blocks, "block"))
        }
        _ if report.plan.stages.is_empty() => count(report.blocks, "block"),
        [fewest, most] if fewest < most => format!("{fewest} to {most} blocks each"),
        [each, _] => format!("{} each", count(each, "block")),
    }
}

/// Says what was played and what the numbers promise, with the hash that proves them.
pub fn footer(report: &Report) -> Vec<String> {
    let plan = &report.plan;
    let (blocks, matches) = (blocks(report), count(report.matches, "match"));
    let promise = match report.confidence {
        Confidence::Fixed => "intervals are 95%, each on its own; ranks are 95% for all entries together",
        Confidence::Anytime => "intervals and ranks are 95%, whenever somebody looks or stops",
    };
    let mut lines = vec![
        format!("{}, {}, {blocks}, {matches}, seed {}", plan.game, plan.format.as_str(), plan.seed),
        promise.to_owned(),
    ];
    lines.extend(sealed_dice(plan));
    if !report.left.is_empty() {
        lines.push(format!("no longer in it: {}", report.left.join(", ")));
    }
    lines.extend(runs_with(plan));
    lines.extend(plan.sandbox.map(|level| format!("programs were confined: {level} ({})", level.about())));
    if !plan.gifts.is_empty() {
        lines.push(format!("programs were given {}", plan.gifts));
    }
    lines.extend(report.hash.as_ref().map(|hash| format!("hash {hash}")));
    lines
}

/// Says what the dice follow from besides the seed: the commitment and, once everything is played, the secret itself.
pub fn sealed_dice(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for SealedDice { first, commitment, secret } in &plan.sealed_dice {
        if *first > 0 {
            lines.push(format!("from block {first} on:"));
        }
        lines.push(format!("dice sealed by {commitment}"));
        lines.push(match secret {
            Some(secret) => format!("secret {secret}"),
            None => "the secret is published after the last block".to_owned(),
        });
    }
    lines
}

/// Says what the programs ran with, by interpreter.
fn runs_with(plan: &Plan) -> Option<String> {
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entry in plan.entries.iter().filter(|entry| !entry.left) {
        if let Some(version) = &entry.runs_with {
            all.entry(version).or_default().push(&entry.name);
        }
    }
    let said: Vec<String> = all
        .iter()
        .map(|(version, names)| format!("{} ran with {}", names.join(", "), harmless(version)))
        .collect();
    (!said.is_empty()).then(|| said.join("; "))
}

fn explain(out: &mut impl Write, report: &Report) -> std::io::Result<()> {
    writeln!(out)?;
    for text in explanations(report) {
        wrapped(&text, 0).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    Ok(())
}

/// Explains what the numbers mean, using those of the first entry.
pub fn explanations(report: &Report) -> Vec<String> {
    let Some(first) = report.standings.first() else { return Vec::new() };
    let name = &first.name;
    let luckless = first.luck_adjusted.is_some() && report.plan.rank_by == RankBy::LuckAdjusted;
    let mut texts = vec![format!(
        "rank: by {}{}. {}",
        match report.measure {
            Measure::WinRate => "the share of matches won",
            Measure::AgainstFirst => "the share of matches won against the first entry",
            Measure::MeanScore => "the mean score",
            Measure::MedianScore =>
                "the median score (two entries are told apart by how often each outscores the other)",
        },
        if luckless { ", without the luck of the dice" } else { "" },
        match (first.rank.best, first.rank.worst) {
            (1, 1) => format!("{name} has rank 1: every other entry is significantly behind."),
            (best, worst) => format!(
                "{name} has rank {best}-{worst}: these results allow every rank from {best} to {worst}."
            ),
        }
    )];
    let alone = report.measure == Measure::MeanScore;
    if let Some(adjusted) = &first.luck_adjusted {
        let (factor, unit) = if alone { (1.0, "") } else { (100.0, " %") };
        texts.push(format!(
            "luck-adjusted: the dice gave {name} {:+.2}{unit} on average. After taking out as much of that luck as this \
             number of blocks supports, the result is {}{unit}. In the long run both numbers agree, but this one is more precise.",
            adjusted.luck * factor,
            estimate(Some(&adjusted.estimate), factor, 2)
        ));
    }
    if let Some(Estimate { mean, low: Some(low), high: Some(high) }) = first.record.win_rate {
        let what = if alone { "had the best score in" } else { "won" };
        let [fewest, most] = report.blocks_each;
        let mean_over = if fewest < most { " (the mean over its opponents)" } else { "" };
        texts.push(format!(
            "win %: {name} {what} {:.1} of 100 matches{mean_over}, where a win shared by two counts half. Another tournament would give \
             another number; the true one is between {:.1} and {:.1}, and such a statement is right in 95 of 100 tournaments.",
            mean * 100.0,
            low * 100.0,
            high * 100.0
        ));
    }
    let share = 100.0 / (1.0 + 10f64.powf(-first.rating.elo / 400.0));
    if matches!(report.measure, Measure::WinRate | Measure::AgainstFirst) {
        texts.push(format!(
            "rating: {name} has {:+.0} points; an entry rated so places ahead of an average one in {share:.0} of 100 matches.",
            first.rating.elo
        ));
    }
    texts.push(
        "hash: playing this plan again gives the same hash; a different one means that something changed."
            .to_owned(),
    );
    texts
}

/// Returns warnings for readers of the standings.
pub fn warnings(report: &Report) -> Vec<String> {
    const SHOWN: usize = 3;
    let mut warnings = Vec::new();
    match report.stopped {
        Stop::Done if report.plan.stops_early() => {
            warnings.push("not decided: all blocks are played".to_owned());
        }
        Stop::Interrupted => warnings.push("interrupted: these are the results so far".to_owned()),
        Stop::Done | Stop::Decided | Stop::Close => {}
    }
    let factor = if matches!(report.measure, Measure::WinRate | Measure::AgainstFirst) { 100.0 } else { 1.0 };
    for drift in report.drifts.iter().take(SHOWN) {
        warnings.push(format!(
            "{} was not the same all the time: {:.1} in the first half, {:.1} in the second",
            drift.name,
            drift.first * factor,
            drift.second * factor
        ));
    }
    for [a, b, c] in report.cycles.iter().take(SHOWN) {
        warnings.push(format!("no simple order: {a} beats {b}, {b} beats {c}, and {c} beats {a}"));
    }
    for misfit in report.misfits.iter().take(SHOWN) {
        warnings.push(format!(
            "the ratings do not fit {} and {}: {:.1} % where they say {:.1} %",
            misfit.one,
            misfit.other,
            misfit.better * 100.0,
            misfit.expected * 100.0
        ));
    }
    for entry in &report.standings {
        if let (Some(clean), Some(matches), Some(all)) =
            (entry.win_rate_without_faults, entry.matches_without_faults, entry.record.win_rate)
            && (clean - all.mean).abs() > 0.005
        {
            warnings.push(format!(
                "{} wins {:.1} %, but {:.1} % in the {} in which it does not misbehave",
                entry.name,
                all.mean * 100.0,
                clean * 100.0,
                count(matches, "match")
            ));
        }
    }
    warnings
}
