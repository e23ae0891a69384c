//! All callers share the solutions, on any thread.

use necrodome_rules::zombie_dice::{FirstRoll, OutOfDice, Table, TableRules, Tiebreak};
use necrodome_solve::{Solution, Solvable};
use std::{sync::mpsc, thread, time::Duration};

/// A thread that solves holds the shelf and needs rayon's threads; these must not wait for the shelf.
#[test]
fn solutions_can_be_asked_for_from_within_rayon() {
    let rules = |code: u32| TableRules {
        out_of_dice: OutOfDice::RecycleBrains,
        first_roll: if code & 1 == 0 { FirstRoll::Free } else { FirstRoll::Mandatory },
        tiebreak: if code & 2 == 0 { Tiebreak::OneRound } else { Tiebreak::UntilBroken },
        max_rounds: None,
    };
    let (done, finished) = mpsc::channel();
    for code in 0..4 {
        let done = done.clone();
        thread::spawn(move || done.send(Table::solve(&rules(code), 2).unwrap().start()));
    }
    thread::spawn(move || {
        // Some of these come while the others solve.
        let values =
            (0..4).map(|code| rayon::broadcast(|_| Table::solve(&rules(code), 2).unwrap().start())[0]);
        done.send(values.sum())
    });
    for _ in 0..5 {
        // All of it takes a few seconds.
        finished.recv_timeout(Duration::from_secs(300)).expect("a standstill");
    }
}
