//! Shows the progress of a tournament: a bar and the standings on a terminal, plain lines elsewhere.

use crate::{
    interrupt,
    paint::{error_redraws, say},
};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use necrodome_arena::{
    fault::{FaultCount, FaultKind},
    tournament::{EntryReport, Plan, Report, Schedule, Sums, Update, report_of},
};
use std::{
    collections::BTreeSet,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

/// How often standings are computed, and plain lines are written.
const EVERY: Duration = Duration::from_secs(2);
/// Computing standings may take one part in this many of the time.
const SHARE: u32 = 20;

pub struct TournamentProgress<'a> {
    plan: &'a Plan,
    schedule: &'a Schedule,
    bars: Option<Bars>,
    began: Instant,
    /// When the standings are computed next: later if computing them takes long.
    due: Option<Instant>,
    first: u32,
    sums: Sums,
    /// The faults that were already reported in plain lines, by entry and kind.
    warned: BTreeSet<(String, String)>,
}

struct Bars {
    bar: ProgressBar,
    standings: ProgressBar,
}

impl<'a> TournamentProgress<'a> {
    pub fn new(plan: &'a Plan, schedule: &'a Schedule, done: u32) -> Self {
        let bars = error_redraws().then(|| {
            let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
            let standings = all.add(ProgressBar::new_spinner());
            standings
                .set_style(ProgressStyle::with_template("{msg}").unwrap_or(ProgressStyle::default_spinner()));
            let bar = all.add(ProgressBar::new(schedule.end().into()));
            let style = "{wide_bar} {pos}/{len} blocks  {msg}  ETA {eta}";
            bar.set_style(ProgressStyle::with_template(style).unwrap_or(ProgressStyle::default_bar()));
            bar.set_position(done.into());
            bar.reset_eta();
            Bars { bar, standings }
        });
        TournamentProgress {
            plan,
            schedule,
            bars,
            began: Instant::now(),
            due: None,
            first: done,
            sums: Sums::new(plan, schedule),
            warned: BTreeSet::new(),
        }
    }

    pub fn show(&mut self, update: &Update) {
        let elapsed = self.began.elapsed();
        let rate = update.matches as f64 / elapsed.as_secs_f64().max(0.001);
        if let Some(bars) = &self.bars {
            bars.bar.set_position(update.blocks.into());
            bars.bar.set_message(format!("{rate:.0} matches/s"));
        }
        let begun = Instant::now();
        if self.due.is_some_and(|due| begun < due) || interrupt::flag().load(Ordering::Relaxed) {
            return;
        }
        let caught_up = self.sums.catch_up(self.schedule, update.store);
        let report = caught_up
            .map_err(Into::into)
            .and_then(|()| report_of(self.plan, self.schedule, update.store, &self.sums));
        self.due = Some(Instant::now() + EVERY.max(begun.elapsed() * SHARE));
        // What cannot be read now will be an error at the end.
        let Ok(report) = report else { return };
        if let Some(bars) = &self.bars {
            return bars.standings.set_message(standings(&report));
        }
        let played = f64::from(update.blocks - self.first).max(1.0);
        let left = f64::from(self.schedule.end() - update.blocks) / played * elapsed.as_secs_f64();
        let (blocks, all) = (update.blocks, self.schedule.end());
        let open = open_pairs(&report).map_or(String::new(), |open| format!(", {open}"));
        say(format_args!("{blocks}/{all} blocks, {rate:.0} matches/s, ETA {left:.0} s{open}"));
        for fault in warnings(&report) {
            if self.warned.insert((fault.name.clone(), fault.kind.to_string())) {
                say(warning(fault));
            }
        }
    }

    pub fn finish(&mut self) {
        if let Some(bars) = self.bars.take() {
            bars.standings.finish_and_clear();
            bars.bar.finish_and_clear();
        }
    }
}

/// Returns the leaders so far, in a few lines, and the entries that misbehave.
fn standings(report: &Report) -> String {
    const SHOWN: usize = 10;
    let line = |(place, entry): (usize, &EntryReport)| {
        let rate = entry.record.win_rate.as_ref().map_or(0.0, |rate| rate.mean * 100.0);
        format!("{:>3}. {:<24} {rate:5.1}% wins", place + 1, entry.name)
    };
    let mut lines: Vec<String> = report.standings.iter().enumerate().take(SHOWN).map(line).collect();
    lines.extend(open_pairs(report));
    lines.extend(warnings(report).take(SHOWN).map(warning));
    lines.join("\n")
}

/// Says which neighbours are not told apart yet, for a tournament that stops when all are; otherwise returns `None`.
fn open_pairs(report: &Report) -> Option<String> {
    let first = report.undecided.first().filter(|_| report.plan.until_decided)?;
    Some(match report.undecided.len() {
        1 => format!("not told apart yet: {} and {}", first.one, first.other),
        open => format!("{open} pairs of neighbours not told apart yet"),
    })
}

/// Returns the faults to warn of. That an entry is out follows from its other faults.
fn warnings(report: &Report) -> impl Iterator<Item = &FaultCount> {
    report.trouble.faults.iter().filter(|fault| fault.kind != FaultKind::Out)
}

/// Warns of a fault in one line; the report at the end has the details and the hint.
fn warning(fault: &FaultCount) -> String {
    let place = fault.first.split(": ").next().unwrap_or_default();
    format!("warning: {}: {}, first in {place}", fault.name, fault.kind)
}
