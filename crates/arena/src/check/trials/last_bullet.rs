//! Positions that bots for Last Bullet stumble over.

use super::{Setup, Trials};
use necrodome_rules::last_bullet::{CopyView, LastBullet, LastBulletView, WhoIs};

/// Whether a piece in sight is beyond the edge of the board, so that the window wraps.
fn sees_around_the_edge(copy: &CopyView, side: u16) -> bool {
    let inside = |place: u16, step: i8| (0..i32::from(side)).contains(&(i32::from(place) + i32::from(step)));
    copy.seen.iter().any(|seen| !inside(copy.x, seen.dx) || !inside(copy.y, seen.dy))
}

fn any_copy(view: &LastBulletView, wanted: impl Fn(&CopyView) -> bool) -> bool {
    view.copies.iter().any(wanted)
}

pub(super) fn trials() -> Trials<LastBullet> {
    const SHOOTERS: &[&str] = &["gunner", "huddle"];
    Trials {
        opponents: vec!["wander", "gunner", "runner", "huddle"],
        stamina: 20,
        patience: 5_000,
        setups: vec![
            Setup {
                seats: 3,
                set: "copies=5 max_turns=80",
                matches: 2,
                positions: vec![
                    ("a corpse next to a copy", SHOOTERS, |view| {
                        any_copy(view, |copy| {
                            copy.seen.iter().any(|seen| seen.who == WhoIs::CORPSE && seen.distance() == 1)
                        })
                    }),
                    ("a zombie close by, and no bullets", SHOOTERS, |view| {
                        any_copy(view, |copy| {
                            copy.bullets == 0
                                && copy
                                    .seen
                                    .iter()
                                    .any(|seen| seen.who == WhoIs::ZOMBIE && seen.distance() <= 3)
                        })
                    }),
                    ("a window that wraps around the edge", SHOOTERS, |view| {
                        any_copy(view, |copy| sees_around_the_edge(copy, view.side))
                    }),
                    ("one copy left", SHOOTERS, |view| view.copies.len() == 1),
                ],
            },
            Setup {
                seats: 1,
                set: "copies=1 max_turns=200",
                matches: 4,
                positions: vec![("a board no larger than the window", SHOOTERS, |view| view.side == 17)],
            },
            Setup {
                seats: 4,
                set: "copies=50 max_turns=25",
                matches: 1,
                positions: vec![
                    ("fifty copies", SHOOTERS, |view| view.copies.len() == 50),
                    ("more than twenty in sight", SHOOTERS, |view| {
                        any_copy(view, |copy| copy.seen.len() > 20)
                    }),
                ],
            },
            Setup {
                seats: 2,
                set: "copies=2 density=0.0005 max_turns=60",
                matches: 2,
                positions: vec![("nobody in sight", SHOOTERS, |view| {
                    view.copies.iter().all(|copy| copy.seen.is_empty())
                })],
            },
            Setup { seats: 20, set: "copies=10 density=0.25 max_turns=10", matches: 1, positions: vec![] },
        ],
    }
}
