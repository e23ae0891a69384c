//! `necrodome tournament --plan`: says how long a tournament must be.

use super::print::{estimate, shortened};
use crate::{
    commands::trouble,
    error::Error,
    paint::{bold, count, dim, wrapped},
};
use indicatif::HumanDuration;
use necrodome_arena::{
    fault::FaultKind,
    stats::Measure,
    tournament::{Forecast, Length, PairForecast},
};
use std::{io::Write, time::Duration};

/// How many pairs are listed, those that need the most blocks.
const SHOWN: usize = 15;
/// The longest name in the table.
const LONGEST: usize = 20;

pub fn print(forecast: &Forecast) -> Result<(), Error> {
    let mut out = std::io::BufWriter::new(anstream::stdout().lock());
    trouble::print(&mut out, &forecast.trouble)?;
    for (place, sentence) in sentences(forecast).into_iter().enumerate() {
        for line in wrapped(&sentence, 0) {
            if place == 0 { writeln!(out, "{}", bold(line))? } else { writeln!(out, "{line}")? }
        }
    }
    let name = |name: &str| shortened(name, LONGEST);
    let (factor, digits) = scale(forecast.measure);
    let head =
        format!("{:LONGEST$}  {:LONGEST$}  {:>22}  {:>12}", "ahead", "behind", "by, in the pilot", "blocks");
    writeln!(out, "\nwhat it takes if the entries are as far apart as they seem")?;
    writeln!(out, "{}", dim(head.trim_end()))?;
    for PairForecast { one, other, ahead, needed, .. } in forecast.pairs.iter().take(SHOWN) {
        let blocks = needed.map_or("too many".to_owned(), |needed| needed.blocks.to_string());
        let ahead = estimate(Some(ahead), factor, digits);
        writeln!(out, "{:LONGEST$}  {:LONGEST$}  {ahead:>22}  {blocks:>12}", name(one), name(other))?;
    }
    if forecast.pairs.len() > SHOWN {
        let more = count((forecast.pairs.len() - SHOWN) as u64, "more pair");
        writeln!(out, "{}", dim(format!("{more} that need no more than that")))?;
    }
    Ok(out.flush()?)
}

fn sentences(forecast: &Forecast) -> Vec<String> {
    let Forecast { measure, pilot, planned, visible, .. } = forecast;
    let mut sentences = Vec::new();
    let failed = forecast.trouble.faults.iter().find(|fault| fault.kind == FaultKind::NoStart);
    if let Some(fault) = failed {
        sentences.push(format!("{} did not start, so that this plan means little.", fault.name));
    }
    if let Some(difference) = forecast.difference {
        let difference = amount(*measure, difference);
        sentences.push(match &forecast.needed {
            Some(needed) => {
                format!("To tell entries apart that differ by {difference}, play about {}.", length(needed))
            }
            None => format!("A difference of {difference} is too small to be seen."),
        });
    }
    sentences.push(format!(
        "As planned, {} show differences of {} or more.",
        length(planned),
        amount(*measure, *visible)
    ));
    sentences.push(format!(
        "(In four of five tournaments, with an error of 5% for all pairs together. From a pilot of {}, with dice of its own; \
         nothing of it is kept.)",
        length(pilot)
    ));
    sentences
}

/// Returns `500 blocks (3000 matches, 4 seconds)`.
fn length(length: &Length) -> String {
    let time = Duration::try_from_secs_f64(length.seconds).unwrap_or(Duration::MAX);
    let time = if time < Duration::from_secs(1) {
        "less than a second".to_owned()
    } else {
        HumanDuration(time).to_string()
    };
    format!("{} ({}, {time})", count(length.blocks, "block"), count(length.matches, "match"))
}

/// Returns the factor and the digits with which differences are written.
fn scale(measure: Measure) -> (f64, usize) {
    match measure {
        Measure::MeanScore => (1.0, 2),
        Measure::WinRate | Measure::AgainstFirst | Measure::MedianScore => (100.0, 1),
    }
}

fn amount(measure: Measure, difference: f64) -> String {
    let (factor, digits) = scale(measure);
    let number = format!("{:.digits$}", difference * factor);
    match measure {
        Measure::MeanScore => format!("{number} in score"),
        Measure::WinRate | Measure::AgainstFirst => format!("{number} points of win rate"),
        Measure::MedianScore => format!("{number} points in how often one outscores the other"),
    }
}
