//! A tournament as comma-separated values: the standings, the pairs, and every match.

use crate::{commands::keep_apart, error::Error, output_file::OutputFile};
use necrodome_arena::{
    fault::{FaultKind, harmless},
    stats::Estimate,
    tournament::{Pair, Report, Schedule, Store, all_matches},
};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

/// The flags for files of comma-separated values.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct TableFlags {
    /// Write the standings as comma-separated values
    #[arg(long, value_name = "FILE", group = "written")]
    pub csv: Option<PathBuf>,
    /// Write how every pair did against each other as comma-separated values
    #[arg(long, value_name = "FILE", group = "written")]
    pub csv_pairs: Option<PathBuf>,
    /// Write every match as comma-separated values, with a row for each seat
    #[arg(long, value_name = "FILE", group = "written")]
    pub csv_matches: Option<PathBuf>,
}

/// The files that will be written.
pub struct Tables {
    standings: Option<OutputFile>,
    pairs: Option<OutputFile>,
    matches: Option<OutputFile>,
}

impl TableFlags {
    /// Returns these flags, with the values of `others` where they are not set.
    pub fn over(&self, others: TableFlags) -> TableFlags {
        let or = |own: &Option<PathBuf>, other| own.clone().or(other);
        TableFlags {
            csv: or(&self.csv, others.csv),
            csv_pairs: or(&self.csv_pairs, others.csv_pairs),
            csv_matches: or(&self.csv_matches, others.csv_matches),
        }
    }

    /// Whether any file is wanted.
    pub fn is_some(&self) -> bool {
        [&self.csv, &self.csv_pairs, &self.csv_matches].into_iter().any(Option::is_some)
    }

    /// Claims the files. They must differ from each other and from the store.
    pub fn claim(&self, store: (&str, Option<&Path>), force: bool) -> Result<Tables, Error> {
        let files = [
            store,
            ("--csv", self.csv.as_deref()),
            ("--csv-pairs", self.csv_pairs.as_deref()),
            ("--csv-matches", self.csv_matches.as_deref()),
        ];
        keep_apart(&files)?;
        let claim =
            |path: &Option<PathBuf>| path.as_ref().map(|path| OutputFile::claim(path, force)).transpose();
        Ok(Tables {
            standings: claim(&self.csv)?,
            pairs: claim(&self.csv_pairs)?,
            matches: claim(&self.csv_matches)?,
        })
    }
}

impl Tables {
    /// Writes the files that are wanted.
    pub fn write(&self, report: &Report, schedule: &Schedule, store: &Store) -> Result<(), Error> {
        if let Some(file) = &self.standings {
            file.fill(&mut |out| standings(report, out))?;
        }
        if let Some(file) = &self.pairs {
            file.fill(&mut |out| pairs(report, out))?;
        }
        if let Some(file) = &self.matches {
            file.fill(&mut |out| every_match(report, schedule, store, out))?;
        }
        Ok(())
    }
}

/// Returns a text that no spreadsheet takes for a formula and no terminal for an order: it may come from a stranger.
pub fn name(text: &str) -> String {
    let quote = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    quote.chars().chain(text.chars().map(harmless)).collect()
}

/// Formats a number, or nothing.
pub fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// Formats a whole number, or nothing.
fn whole(value: Option<u64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// Writes the pairs that have met.
fn pairs(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record(["one", "other", "games", "better", "better_low", "better_high"])?;
    for Pair { one, other, games, better: Estimate { mean, low, high } } in &report.head_to_head {
        let games = games.to_string();
        table.write_record([
            &name(one),
            &name(other),
            &games,
            &mean.to_string(),
            &number(*low),
            &number(*high),
        ])?;
    }
    table.flush()
}

/// Writes every match, with a row for each seat.
fn every_match(report: &Report, schedule: &Schedule, store: &Store, out: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().buffer_capacity(1 << 16).from_writer(out);
    table.write_record(["block", "match", "seat", "name", "place", "score", "turns", "luck", "faults"])?;
    for played in all_matches(schedule, store) {
        let played = played.map_err(io::Error::other)?;
        for (seat, &entry) in played.entries.iter().enumerate() {
            table.write_field(played.block.to_string())?;
            table.write_field(played.number.to_string())?;
            table.write_field(seat.to_string())?;
            table.write_field(name(&report.plan.entries[entry].name))?;
            table.write_field(played.result.places[seat].to_string())?;
            table.write_field(played.result.scores[seat].to_string())?;
            table.write_field(played.result.turns.to_string())?;
            table.write_field(played.luck_of(seat).map_or(String::new(), |luck| luck.to_string()))?;
            table.write_field(played.faults[seat].to_string())?;
            table.write_record(None::<&[u8]>)?;
        }
    }
    table.flush()
}

/// The columns of the table of standings.
const COLUMNS: [&str; 31] = [
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
    "regret",
    "cost",
    "calls",
    "input_tokens",
    "output_tokens",
    "unusable",
    "unusable_by_kind",
    "lost",
    "cost_per_decision",
    "regret_per_cost",
];

/// Writes the table of standings.
fn standings(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record(COLUMNS)?;
    for entry in &report.standings {
        let record = &entry.record;
        let (rate, usage) = (record.win_rate.as_ref(), entry.usage.as_ref());
        let cells = [
            entry.rank.best.to_string(),
            entry.rank.worst.to_string(),
            name(&entry.name),
            name(&entry.bot),
            record.games.to_string(),
            record.outright_wins.to_string(),
            record.shared_wins.to_string(),
            number(rate.map(|rate| rate.mean)),
            number(rate.and_then(|rate| rate.low)),
            number(rate.and_then(|rate| rate.high)),
            number(record.mean_place.as_ref().map(|place| place.mean)),
            number(record.mean_score.as_ref().map(|score| score.mean)),
            number(record.median_score.map(|score| score.mean)),
            entry.rating.elo.to_string(),
            number(entry.rating.low),
            number(entry.rating.high),
            number(entry.cpu_us),
            number(entry.luck_adjusted.map(|adjusted| adjusted.estimate.mean)),
            number(entry.luck_adjusted.and_then(|adjusted| adjusted.estimate.low)),
            number(entry.luck_adjusted.and_then(|adjusted| adjusted.estimate.high)),
            number(entry.luck_adjusted.map(|adjusted| adjusted.luck)),
            number(entry.regret.map(|regret| regret.per_decision)),
            number(usage.and_then(|usage| usage.cost)),
            whole(usage.map(|usage| usage.calls)),
            whole(usage.map(|usage| usage.input_tokens)),
            whole(usage.map(|usage| usage.output_tokens)),
            whole(usage.map(|usage| usage.unusable)),
            usage.map_or(String::new(), |usage| FaultKind::words(&usage.unusable_by_kind)),
            whole(usage.map(|usage| usage.lost)),
            number(usage.and_then(|usage| usage.cost_per_decision)),
            number(usage.and_then(|usage| usage.bargain.regret_per_cost)),
        ];
        table.write_record(cells)?;
    }
    table.flush()
}
