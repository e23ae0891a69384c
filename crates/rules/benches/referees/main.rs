//! Measures how fast the referees are, against plain baselines in the same run: `cargo bench -p necrodome-rules`.
//!
//! Every benchmark checks its answers. The table at the end gives rates and ratios: a machine may be slow, but the
//! ratio to the baseline says whether the code is.

#![allow(clippy::unwrap_used)]

mod baseline;
mod last_bullet;
mod tokyo;
mod zombie_dice;

use criterion::{Bencher, Criterion};
use std::{
    cell::RefCell,
    time::{Duration, Instant},
};

/// Collects the work done and the time it took, for the table at the end.
#[derive(Default)]
pub struct Tally(RefCell<Vec<Row>>);

struct Row {
    name: String,
    unit: &'static str,
    work: f64,
    time: Duration,
    baseline: Option<String>,
}

impl Tally {
    /// Measures `run`, which returns the number of units it has done; units and time are added up over all samples.
    pub fn bench(
        &self,
        criterion: &mut Criterion,
        name: &str,
        unit: &'static str,
        baseline: Option<&str>,
        mut run: impl FnMut() -> u64,
    ) {
        let (mut work, mut time) = (0, Duration::ZERO);
        criterion.bench_function(name, |bencher: &mut Bencher| {
            bencher.iter_custom(|iterations| {
                let start = Instant::now();
                let done: u64 = (0..iterations).map(|_| run()).sum();
                let elapsed = start.elapsed();
                work += done;
                time += elapsed;
                elapsed
            });
        });
        let baseline = baseline.map(str::to_owned);
        self.0.borrow_mut().push(Row { name: name.into(), unit, work: work as f64, time, baseline });
    }

    /// The units per second of a benchmark, or `None` if it was filtered out.
    pub fn rate(&self, name: &str) -> Option<f64> {
        let rows = self.0.borrow();
        let row = rows.iter().find(|row| row.name == name && row.work > 0.0)?;
        Some(row.work / row.time.as_secs_f64())
    }

    fn print(&self) {
        println!("\n{:<42} {:>16}   {:>12}", "benchmark", "per second", "vs baseline");
        for row in self.0.borrow().iter() {
            let Some(rate) = self.rate(&row.name) else { continue };
            let ratio = row.baseline.as_deref().and_then(|name| Some(rate / self.rate(name)?));
            let ratio = ratio.map_or(String::new(), |ratio| format!("{ratio:.2}x"));
            println!("{:<42} {:>16}   {ratio:>12}", row.name, format!("{rate:.0} {}", row.unit));
        }
    }
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    let tally = Tally::default();
    zombie_dice::bench(&mut criterion, &tally);
    tokyo::bench(&mut criterion, &tally);
    last_bullet::bench(&mut criterion, &tally);
    criterion.final_summary();
    tally.print();
}
