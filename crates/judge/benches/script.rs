//! Measures how fast a long script is judged: `cargo bench -p necrodome-judge --bench script`. The baseline looks at every
//! byte of the text once.

#![allow(clippy::unwrap_used)]

use necrodome_judge::{book::Book, report, script::parse};
use necrodome_rules::chance::{Chance, Seeded};
use std::{
    fmt::Write,
    hint::black_box,
    time::{Duration, Instant},
};

const PLAYERS: u32 = 500;

fn main() {
    // `cargo test --benches` only tries it out.
    let commands = if std::env::args().any(|arg| arg == "--bench") { 100_000 } else { 2_000 };
    let text = script(commands);
    let (read, bytes) = timed(|| text.bytes().map(u64::from).sum::<u64>());
    black_box(bytes);
    let (parsing, parsed) = timed(|| parse(&text));
    assert!(parsed.mistakes.is_empty());
    let (playing, book) = timed(|| Book::of(&parsed));
    assert!(book.mistakes().is_empty(), "{:?}", book.mistakes().first());
    book.party().unwrap().invariants().unwrap();
    let (telling, told) = timed(|| report::judge(&book));
    assert!(told.lines().count() > commands);
    let all = parsing + playing + telling;
    println!("{commands} commands, {PLAYERS} players, {} turns", book.party().unwrap().turns());
    for (what, time) in [("parse", parsing), ("play", playing), ("report", telling), ("all", all)] {
        let ratio = time.as_secs_f64() / read.as_secs_f64();
        println!("{what:<8} {:>8.1} ms   {ratio:>8.0} x reading the text", time.as_secs_f64() * 1e3);
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let value = work();
    (start.elapsed(), value)
}

/// Writes a game that goes on: everybody is cured at the end of each turn.
fn script(commands: usize) -> String {
    let mut text = String::from("SET max_turns 10000\nSET start_antibodies 1000\n");
    for player in 0..PLAYERS {
        let role = if player < 5 { "ZOMBIE" } else { "HUMAN" };
        writeln!(text, "{role} player{player:03}").unwrap();
    }
    text += "GAME_START\n";
    let mut chance = Seeded::new(1, "bench", 0);
    let mut written = 0;
    while written < commands {
        let mut order: Vec<u32> = (0..PLAYERS).collect();
        chance.shuffle(&mut order);
        for pair in order.as_chunks::<2>().0 {
            // Precautions all around, so that nobody is lost.
            let name = |player: u32| format!("player{player:03}{}", if player < 5 { "" } else { "!" });
            writeln!(text, "i {} {}", name(pair[0]), name(pair[1])).unwrap();
            written += 1;
        }
        writeln!(text, "nt").unwrap();
        written += 1;
    }
    text
}
