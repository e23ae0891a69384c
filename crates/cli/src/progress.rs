//! The progress of a long piece of work: a bar on a terminal, an occasional line elsewhere.

use crate::paint::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    io::{IsTerminal, stderr},
    time::{Duration, Instant},
};

/// How often a plain line is written. Shorter work is silent.
const EVERY: Duration = Duration::from_secs(5);
/// The length of the bar.
const WHOLE: u64 = 1000;

/// The progress of one piece of work, shown until it is dropped.
pub struct Progress {
    what: &'static str,
    bar: Option<ProgressBar>,
    began: Instant,
    told: Instant,
}

impl Progress {
    /// Begins to show progress; `what` names the work, such as `playing`.
    pub fn new(what: &'static str) -> Self {
        let bar = stderr().is_terminal().then(|| {
            let bar =
                ProgressBar::with_draw_target(Some(WHOLE), ProgressDrawTarget::stderr()).with_message(what);
            let style = ProgressStyle::with_template("{msg} {wide_bar} {percent}%  ETA {eta}");
            bar.set_style(style.unwrap_or(ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Progress { what, bar, began: Instant::now(), told: Instant::now() }
    }

    /// Shows the share of the work that is done, from 0 to 1.
    pub fn show(&mut self, share: f64) {
        if let Some(bar) = &self.bar {
            let position = (share * WHOLE as f64) as u64;
            if position != bar.position() {
                bar.set_position(position);
            }
        } else if self.told.elapsed() >= EVERY {
            self.told = Instant::now();
            let left = self.began.elapsed().as_secs_f64() * (1.0 - share) / share.max(1e-6);
            say(format_args!("{}: {:.1}%, ETA {left:.0} s", self.what, 100.0 * share));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
