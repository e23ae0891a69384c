//! Positions and choices in words.

use necrodome_rules::zombie_dice::{Colour, TurnView};

/// `1 brain`, `2 brains`.
pub(crate) fn count(number: u32, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// The dice of a turn: `3 brains, 2 shotguns, feet green green`.
pub fn turn(turn: &TurnView) -> String {
    let Some(_) = turn.hand else { return "nothing rolled yet".to_owned() };
    let feet = turn.footsteps();
    let mut text = format!("{}, {}", count(turn.brains, "brain"), count(turn.shotguns.into(), "shotgun"));
    if feet.total() > 0 {
        text += ", feet";
        for colour in Colour::ALL {
            for _ in 0..feet[colour] {
                text += match colour {
                    Colour::Green => " green",
                    Colour::Yellow => " yellow",
                    Colour::Red => " red",
                };
            }
        }
    }
    text
}
