//! What is shown while a tournament is played: a bar and the standings on a terminal, plain lines elsewhere.

use crate::paint::{error_redraws, say};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use necrodome_arena::tournament::{EntryReport, Plan, Schedule, Sums, Update, report_of};
use std::time::{Duration, Instant};

/// How often standings are computed, and plain lines are written.
const EVERY: Duration = Duration::from_secs(2);

pub struct TournamentProgress<'a> {
    plan: &'a Plan,
    schedule: &'a Schedule,
    bars: Option<Bars>,
    began: Instant,
    told: Option<Instant>,
    first: u32,
    sums: Sums,
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
            let bar = all.add(ProgressBar::new(plan.blocks.into()));
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
            told: None,
            first: done,
            sums: Sums::new(plan),
        }
    }

    pub fn show(&mut self, update: &Update) {
        let elapsed = self.began.elapsed();
        let rate = update.matches as f64 / elapsed.as_secs_f64().max(0.001);
        if let Some(bars) = &self.bars {
            bars.bar.set_position(update.blocks.into());
            bars.bar.set_message(format!("{rate:.0} matches/s"));
        }
        if self.told.is_some_and(|told| told.elapsed() < EVERY) {
            return;
        }
        self.told = Some(Instant::now());
        match &self.bars {
            Some(_) => {
                let standings = self.standings(update);
                if let Some(bars) = &self.bars {
                    bars.standings.set_message(standings);
                }
            }
            None => {
                let played = f64::from(update.blocks - self.first).max(1.0);
                let left = f64::from(self.plan.blocks - update.blocks) / played * elapsed.as_secs_f64();
                let (blocks, all) = (update.blocks, self.plan.blocks);
                say(format_args!("{blocks}/{all} blocks, {rate:.0} matches/s, ETA {left:.0} s"));
            }
        }
    }

    /// The leaders so far, in a few lines, and who misbehaves.
    fn standings(&mut self, update: &Update) -> String {
        const SHOWN: usize = 10;
        let caught_up = self.sums.catch_up(self.schedule, update.store);
        let report =
            caught_up.map_err(Into::into).and_then(|()| report_of(self.plan, update.store, &self.sums));
        let Ok(report) = report else { return String::new() };
        let line = |(place, entry): (usize, &EntryReport)| {
            let rate = entry.record.win_rate.as_ref().map_or(0.0, |rate| rate.mean * 100.0);
            format!("{:>3}. {:<24} {rate:5.1}% wins", place + 1, entry.name)
        };
        let mut lines: Vec<String> = report.standings.iter().enumerate().take(SHOWN).map(line).collect();
        let faults = report.trouble.faults.iter().take(SHOWN);
        lines.extend(faults.map(|fault| {
            format!("  ! {}: {} {}, first in {}", fault.name, fault.count, fault.kind, fault.first)
        }));
        lines.join("\n")
    }

    pub fn finish(&mut self) {
        if let Some(bars) = self.bars.take() {
            bars.standings.finish_and_clear();
            bars.bar.finish_and_clear();
        }
    }
}
