//! Positions that bots for Tokyo stumble over.

use super::{Setup, Trials};
use necrodome_rules::tokyo::{Phase, Tokyo, TokyoView};

/// Returns the health of the monster that is to decide.
fn health(view: &TokyoView) -> u8 {
    view.monsters[view.seat.index()].health
}

fn yielding(view: &TokyoView) -> bool {
    matches!(view.phase, Phase::Yielding { .. })
}

pub(super) fn trials() -> Trials<Tokyo> {
    Trials {
        opponents: vec!["angry", "point-hunter", "random"],
        stamina: 30,
        patience: 500_000,
        setups: vec![
            Setup {
                seats: 2,
                set: "",
                matches: 5,
                positions: vec![
                    ("nobody in Tokyo", &["angry"], |view| view.in_tokyo.is_none()),
                    ("hit in Tokyo, with 1 health left", &["angry"], |view| {
                        yielding(view) && health(view) == 1
                    }),
                    ("one point short of the goal", &["point-hunter"], |view| {
                        view.monsters[view.seat.index()].points == 19
                    }),
                ],
            },
            Setup { seats: 4, set: "max_turns=9", matches: 3, positions: vec![] },
            Setup {
                seats: 6,
                set: "",
                matches: 2,
                positions: vec![
                    ("six monsters, the last reroll", &["angry", "random"], |view| {
                        view.phase == Phase::Rolling { rerolls_left: 1 }
                    }),
                    ("six monsters, hit in Tokyo", &["angry", "random"], yielding),
                    ("all but two monsters out", &["angry"], |view| {
                        view.monsters.iter().filter(|monster| monster.is_alive()).count() == 2
                    }),
                ],
            },
        ],
    }
}
