//! The audit of the statistics, as a table: `scripts/coverage`.

#![allow(clippy::unwrap_used)]

#[path = "../tests/it/coverage.rs"]
mod coverage;

use coverage::{INTERVALS, LINE_UPS, Pool, audit, audit_stops};

fn main() {
    // `cargo test --benches` only tries it out.
    let measured = std::env::args().any(|arg| arg == "--bench");
    let (runs, scale) = if measured { (1000, 1) } else { (10, 100) };
    println!("Share of {runs} tournaments, drawn from real blocks, in which what is printed is true.\n");
    println!("| line-up | blocks | {} | ranks | twins told apart |", INTERVALS.join(" | "));
    println!("| --- | ---: |{}", " ---: |".repeat(INTERVALS.len() + 2));
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    for line_up in &LINE_UPS {
        let pool = Pool::play(line_up, line_up.pool / scale + 100);
        let name = format!("{} {}: {}", line_up.game, line_up.format.as_str(), line_up.bots.join(", "));
        for blocks in [20, 50, 100, 200, 500] {
            let kept = audit(&pool, blocks, runs);
            let cells = (0..INTERVALS.len()).map(|kind| kept.share(kind).map_or("".into(), percent));
            let cells: Vec<String> = cells.collect();
            let [ranks, twins] =
                [kept.ranks, kept.twins].map(|count| percent(f64::from(count) / f64::from(kept.runs)));
            println!("| {name} | {blocks} | {} | {ranks} | {twins} |", cells.join(" | "));
        }
    }
    println!(
        "\nTournaments that look after every block, up to 1000: twins that are ever told apart, and confidence"
    );
    println!("sequences of the first entry's win rate that ever miss it. At most 5% each.\n");
    println!("| line-up | stopped | missed |\n| --- | ---: | ---: |");
    for bots in [&["cautious", "twin=cautious"][..], &["cautious", "twin=cautious", "third=cautious"]] {
        let line_up = coverage::LineUp {
            game: "zombie-dice",
            format: necrodome_arena::tournament::Format::Table,
            bots,
            pool: 20_000,
        };
        let pool = Pool::play(&line_up, line_up.pool / scale + 100);
        let (stopped, missed) = audit_stops(&pool, 1000 / scale + 20, runs / 4 + 1);
        let share = |count: u32| percent(f64::from(count) / f64::from(runs / 4 + 1));
        println!("| zombie-dice table: {} | {} | {} |", bots.join(", "), share(stopped), share(missed));
    }
}
