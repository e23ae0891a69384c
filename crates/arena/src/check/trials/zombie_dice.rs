//! Positions that bots for Zombie Dice stumble over.

use super::{Setup, Trials};
use necrodome_rules::zombie_dice::{Race, Solo, Table, TurnView};

/// Bots that keep rolling as long as they can, so that cups run empty.
const BOLD: &[&str] = &["stop-at:brains=13,shotguns=3"];

fn nearly_empty_cup(turn: &TurnView) -> bool {
    turn.cup.total() <= 1
}

/// Whether there are more brains than dice that show them.
fn recycled(turn: &TurnView) -> bool {
    turn.brains > u32::from(turn.brain_dice.total())
}

fn no_roll_yet(turn: &TurnView) -> bool {
    turn.hand.is_none()
}

fn two_shotguns(turn: &TurnView) -> bool {
    turn.shotguns == 2 && turn.brains >= 6
}

pub(super) fn solo() -> Trials<Solo> {
    Trials {
        opponents: vec!["greedy", "cautious", "random"],
        stamina: 300,
        patience: 1_000_000,
        setups: vec![
            Setup {
                seats: 1,
                set: "",
                matches: 40,
                positions: vec![
                    ("before the first roll", BOLD, |view| no_roll_yet(&view.turn)),
                    ("a nearly empty cup", BOLD, |view| nearly_empty_cup(&view.turn)),
                    ("two shotguns and six brains", BOLD, |view| two_shotguns(&view.turn)),
                ],
            },
            Setup {
                seats: 1,
                set: "out_of_dice=recycle_brains first_roll=mandatory",
                matches: 40,
                positions: vec![("brains that went back into the cup", BOLD, |view| recycled(&view.turn))],
            },
        ],
    }
}

pub(super) fn race() -> Trials<Race> {
    Trials {
        opponents: vec!["greedy", "cautious", "random"],
        stamina: 100,
        patience: 1_000_000,
        setups: vec![
            Setup {
                seats: 2,
                set: "",
                matches: 10,
                positions: vec![
                    ("before the first roll", BOLD, |view| no_roll_yet(&view.turn)),
                    ("a nearly empty cup", BOLD, |view| nearly_empty_cup(&view.turn)),
                    ("far behind", &["greedy"], |view| view.score == 0 && view.opponent_score == 12),
                    ("both need one more", &["greedy"], |view| view.score == 12 && view.opponent_score == 12),
                ],
            },
            Setup {
                seats: 2,
                set: "out_of_dice=recycle_brains first_roll=mandatory max_rounds=5",
                matches: 10,
                positions: vec![("brains that went back into the cup", BOLD, |view| recycled(&view.turn))],
            },
        ],
    }
}

pub(super) fn table() -> Trials<Table> {
    Trials {
        opponents: vec!["greedy", "cautious", "random"],
        stamina: 50,
        patience: 1_000_000,
        setups: vec![
            Setup {
                seats: 2,
                set: "",
                matches: 8,
                positions: vec![
                    ("a nearly empty cup", BOLD, |view| nearly_empty_cup(&view.turn)),
                    ("two shotguns and six brains", BOLD, |view| two_shotguns(&view.turn)),
                ],
            },
            Setup {
                seats: 5,
                set: "tiebreak=until_broken first_roll=free",
                matches: 4,
                positions: vec![
                    ("before the first roll", BOLD, |view| no_roll_yet(&view.turn)),
                    ("a tiebreak", &["greedy"], |view| view.tiebreak),
                    ("the last turn of the last round", &["greedy"], |view| {
                        !view.tiebreak && view.played == 4 && view.scores.iter().any(|&score| score >= 13)
                    }),
                ],
            },
            Setup {
                seats: 99,
                set: "out_of_dice=recycle_brains max_rounds=4",
                matches: 2,
                positions: vec![
                    ("a table of 99", &["greedy"], |view| view.played == 98),
                    ("brains that went back into the cup", BOLD, |view| recycled(&view.turn)),
                ],
            },
        ],
    }
}
