//! The report for people, and as comma-separated values.

use crate::{
    commands::trouble,
    error::Error,
    paint::{bold, count, dim, green, yellow},
};
use necrodome_arena::{
    stats::{Estimate, Measure, Rating},
    tournament::{EntryReport, Format, Report, Stop},
};
use std::io::{self, Write};

pub fn report(report: &Report, stop: Stop) -> Result<(), Error> {
    let mut out = std::io::BufWriter::new(anstream::stdout().lock());
    standings(&mut out, report)?;
    head_to_head(&mut out, report)?;
    notes(&mut out, report, stop)?;
    out.flush()?;
    Ok(())
}

/// `12.3 ±0.4`, or just the number where there is no interval.
fn estimate(estimate: Option<&Estimate>, factor: f64, digits: usize) -> String {
    let Some(Estimate { mean, low, high }) = estimate else { return "-".into() };
    let half = low.zip(*high).map(|(low, high)| (high - low) / 2.0 * factor);
    let mean = mean * factor;
    half.map_or(format!("{mean:.digits$}"), |half| format!("{mean:.digits$} ±{half:.digits$}"))
}

/// `+120 (80 to 165)`; an end that the results do not bound is left open.
fn rating(rating: &Rating) -> String {
    let elo = format!("{:+.0}", rating.elo);
    match (rating.low, rating.high) {
        (Some(low), Some(high)) => format!("{elo} ({low:.0} to {high:.0})"),
        (Some(low), None) => format!("{elo} (at least {low:.0})"),
        (None, Some(high)) => format!("{elo} (at most {high:.0})"),
        (None, None) => elo,
    }
}

fn rank(entry: &EntryReport) -> String {
    match (entry.rank.best, entry.rank.worst) {
        (best, worst) if best == worst => best.to_string(),
        (best, worst) => format!("{best}-{worst}"),
    }
}

/// The columns of the standings: their heads, and the cells of an entry. Those that are empty for all are left out.
fn columns(report: &Report, entry: &EntryReport) -> Vec<(&'static str, String)> {
    let record = &entry.record;
    let mut columns = vec![
        ("rank", rank(entry)),
        ("entry", entry.name.clone()),
        ("win %", estimate(record.win_rate.as_ref(), 100.0, 1)),
        ("luck-adjusted %", adjusted(entry, Measure::WinRate, 100.0)),
        ("wins", record.outright_wins.to_string()),
        ("shared", record.shared_wins.to_string()),
        ("place", estimate(record.mean_place.as_ref(), 1.0, 2)),
        ("score", estimate(record.mean_score.as_ref(), 1.0, 2)),
        ("luck-adjusted score", adjusted(entry, Measure::MeanScore, 1.0)),
        ("rating", rating(&entry.rating)),
        ("cpu/decision", entry.cpu_us.map_or(String::new(), |us| format!("{us:.0} us"))),
    ];
    if report.plan.format == Format::Battle {
        let median = entry.median_score.map_or("-".into(), |median| format!("{median:.1}"));
        columns.insert(2, ("median", median));
    }
    columns
}

/// The result without luck, if that is what was measured.
fn adjusted(entry: &EntryReport, measure: Measure, factor: f64) -> String {
    let adjusted = entry.luck_adjusted.as_ref().filter(|adjusted| adjusted.measure == measure);
    adjusted.map_or(String::new(), |adjusted| estimate(Some(&adjusted.estimate), factor, 2))
}

fn standings(out: &mut impl Write, report: &Report) -> std::io::Result<()> {
    let rows: Vec<Vec<(&str, String)>> =
        report.standings.iter().map(|entry| columns(report, entry)).collect();
    let Some(first) = rows.first() else { return Ok(()) };
    let heads: Vec<String> = first.iter().map(|(head, _)| (*head).to_owned()).collect();
    let shown: Vec<usize> =
        (0..heads.len()).filter(|&column| rows.iter().any(|row| !row[column].1.is_empty())).collect();
    let rows: Vec<Vec<String>> =
        rows.into_iter().map(|row| row.into_iter().map(|(_, cell)| cell).collect()).collect();
    let width = |column: usize| {
        let cells = rows.iter().chain([&heads]).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: &[String]| -> String {
        let pad = |&column: &usize| {
            let cell = &cells[column];
            let fill = " ".repeat(widths[column] - cell.chars().count());
            if column == 1 { format!("{cell}{fill}") } else { format!("{fill}{cell}") }
        };
        shown.iter().map(pad).collect::<Vec<_>>().join("  ")
    };
    writeln!(out, "{}", dim(line(&heads)))?;
    for (place, row) in rows.iter().enumerate() {
        match place {
            0 => writeln!(out, "{}", green(bold(line(row))))?,
            _ => writeln!(out, "{}", line(row))?,
        }
    }
    Ok(())
}

/// How often the row placed better than the column.
fn head_to_head(out: &mut impl Write, report: &Report) -> std::io::Result<()> {
    const SHOWN: usize = 12;
    let entries = &report.plan.entries;
    if !(3..=SHOWN).contains(&entries.len()) {
        return Ok(());
    }
    let index = |name: &str| entries.iter().position(|entry| entry.name == name).unwrap_or(0);
    let order: Vec<usize> = report.standings.iter().map(|entry| index(&entry.name)).collect();
    let width = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    writeln!(out, "\n{}", dim("row placed better than column, % of their games"))?;
    let columns: String = (1..=order.len()).map(|column| format!("{column:>13}")).collect();
    writeln!(out, "{}{}", " ".repeat(width + 4), dim(columns))?;
    for (place, &row) in (1..).zip(&order) {
        let name = &entries[row].name;
        write!(out, "{place:>2}. {name}{}", " ".repeat(width - name.chars().count()))?;
        for &column in &order {
            let cell = if row == column {
                "·".to_owned()
            } else {
                estimate(report.head_to_head[row][column].better.as_ref(), 100.0, 1)
            };
            write!(out, "{}{cell}", " ".repeat(13usize.saturating_sub(cell.chars().count())))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn notes(out: &mut impl Write, report: &Report, stop: Stop) -> std::io::Result<()> {
    writeln!(out)?;
    for pair in &report.undecided {
        let text = format!("{} and {} cannot be told apart by these results", pair.one, pair.other);
        writeln!(out, "{}", yellow(text))?;
    }
    if let Some(effect) = report.seats.as_ref().filter(|effect| effect.win_rates.len() > 1) {
        let seat = |(seat, rate): (usize, &Option<Estimate>)| {
            format!("seat {seat} wins {} %", estimate(rate.as_ref(), 100.0, 1))
        };
        let seats: Vec<String> = effect.win_rates.iter().enumerate().take(6).map(seat).collect();
        let verdict = if effect.differ { "the seat matters" } else { "no effect of the seat is visible" };
        writeln!(out, "{}: {}", verdict, seats.join(", "))?;
    }
    let ratios = report.standings.iter().filter_map(|entry| entry.luck_adjusted?.variance_ratio);
    let ratios: Vec<f64> = ratios.collect();
    if !ratios.is_empty() {
        let mean = 100.0 * ratios.iter().sum::<f64>() / ratios.len() as f64;
        writeln!(
            out,
            "luck-adjusted: without the luck of the dice, which is known exactly: the same mean, {mean:.0}% of the variance"
        )?;
    }
    trouble::print(out, &report.trouble)?;
    match stop {
        Stop::Done => {}
        Stop::Decided => writeln!(out, "stopped early: all neighbours in the standings are told apart")?,
        Stop::Interrupted => writeln!(out, "{}", yellow("interrupted: these are the results so far"))?,
    }
    let plan = &report.plan;
    let blocks = count(report.blocks, "block");
    let matches = count(report.matches as u64, "match");
    writeln!(out, "{blocks}, {matches}, {}, seed {}; intervals are 95%", plan.format.as_str(), plan.seed)?;
    writeln!(out, "{}", dim(format!("hash of all results {}", report.hash)))
}

/// The columns of the standings as comma-separated values.
const COLUMNS: [&str; 21] = [
    "rank_best",
    "rank_worst",
    "name",
    "bot",
    "games",
    "wins",
    "shared_wins",
    "win_rate",
    "win_rate_low",
    "win_rate_high",
    "mean_place",
    "mean_score",
    "median_score",
    "rating",
    "rating_low",
    "rating_high",
    "cpu_us",
    "luck_adjusted",
    "luck_adjusted_low",
    "luck_adjusted_high",
    "luck",
];

/// The standings as comma-separated values.
pub fn csv(report: &Report) -> Result<Vec<u8>, Error> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(COLUMNS).map_err(io::Error::from)?;
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for entry in &report.standings {
        let record = &entry.record;
        let rate = record.win_rate.as_ref();
        let cells = [
            entry.rank.best.to_string(),
            entry.rank.worst.to_string(),
            entry.name.clone(),
            entry.bot.clone(),
            record.games.to_string(),
            record.outright_wins.to_string(),
            record.shared_wins.to_string(),
            number(rate.map(|rate| rate.mean)),
            number(rate.and_then(|rate| rate.low)),
            number(rate.and_then(|rate| rate.high)),
            number(record.mean_place.as_ref().map(|place| place.mean)),
            number(record.mean_score.as_ref().map(|score| score.mean)),
            number(entry.median_score),
            entry.rating.elo.to_string(),
            number(entry.rating.low),
            number(entry.rating.high),
            number(entry.cpu_us),
            number(entry.luck_adjusted.map(|adjusted| adjusted.estimate.mean)),
            number(entry.luck_adjusted.and_then(|adjusted| adjusted.estimate.low)),
            number(entry.luck_adjusted.and_then(|adjusted| adjusted.estimate.high)),
            number(entry.luck_adjusted.map(|adjusted| adjusted.luck)),
        ];
        table.write_record(cells).map_err(io::Error::from)?;
    }
    Ok(table.into_inner().map_err(|error| error.into_error())?)
}
