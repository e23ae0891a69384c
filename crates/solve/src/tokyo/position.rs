//! Checks of views that somebody made by hand: whether a match of two monsters can reach them, and if not, why.

use super::Place;
use crate::position::{Impossible, for_two, refuse};
use necrodome_rules::{
    game::Seat,
    tokyo::{Dice, Face, GOAL, MAX_HEALTH, Monster, Phase, Tokyo, TokyoView},
    words::count,
};

/// A question to one of two monsters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MonsterQuestion {
    /// Which dice does it keep?
    Keep {
        /// The dice on the table.
        dice: Dice,
        /// The number of rerolls left.
        rerolls: u8,
    },
    /// It was hit in Tokyo: does it leave or stay?
    Leave {
        /// The attacker's heal dice that have not taken effect yet.
        heals: u8,
    },
}

impl MonsterQuestion {
    /// The view of the monster that is asked. Its own health and points come first.
    pub fn view(self, health: [u8; 2], points: [u32; 2], place: Place) -> TokyoView {
        let (current, dice, phase) = match self {
            MonsterQuestion::Keep { dice, rerolls } => {
                (Seat(0), dice, Phase::Rolling { rerolls_left: rerolls })
            }
            MonsterQuestion::Leave { heals } => {
                // Of the attacker's dice only those that heal still matter.
                let die = |at: usize| if at < heals.into() { Face::Heal } else { Face::Attack };
                (Seat(1), std::array::from_fn(die), Phase::Yielding { damage: 6_u8.saturating_sub(heals) })
            }
        };
        let in_tokyo = match place {
            Place::Inside => Some(Seat(0)),
            Place::Outside => Some(Seat(1)),
            Place::Empty => None,
        };
        let monsters = [0, 1].map(|seat| Monster { health: health[seat], points: points[seat] }).into();
        TokyoView { seat: Seat(0), current, monsters, in_tokyo, dice, phase, turn: 1 }
    }
}

/// Checks that a match of two can reach this view, with a decision to make.
pub(super) fn check(view: &TokyoView) -> Result<(), Impossible> {
    for_two::<Tokyo>(view.monsters.len(), view.seat)?;
    let own = view.seat.index();
    let [me, other] = [view.monsters[own], view.monsters[1 - own]];
    for (monster, who) in [(me, "you have"), (other, "the other has")] {
        if !(1..=MAX_HEALTH).contains(&monster.health) {
            return refuse(format!("{who} health {}: expected 1 to {MAX_HEALTH}", monster.health));
        }
        if monster.points >= GOAL {
            return refuse(format!("{who} won with {} points: expected fewer than {}", monster.points, GOAL));
        }
    }
    let inside = view.in_tokyo == Some(view.seat);
    match view.in_tokyo {
        None if [me, other].iter().any(|m| m.health < MAX_HEALTH || m.points > 0) => {
            return refuse(format!(
                "Tokyo is empty only on the first turn, with health {MAX_HEALTH} and 0 points each"
            ));
        }
        Some(seat) if seat.index() > 1 => return refuse(format!("seat {seat} in Tokyo, in a match of two")),
        Some(_) if !inside && other.points == 0 => {
            return refuse("the other is in Tokyo, so they have at least 1 point, for entering");
        }
        _ => {}
    }
    match view.phase {
        Phase::Over => refuse("nothing is to be decided: the match is over"),
        Phase::Rolling { .. } if view.current != view.seat => {
            refuse("the other rolls the dice: nothing is to be decided")
        }
        Phase::Rolling { rerolls_left } if !(1..=2).contains(&rerolls_left) => {
            refuse(format!("expected 1 or 2 rerolls left, got {rerolls_left}"))
        }
        Phase::Rolling { .. } if inside && me.points < 3 => refuse(format!(
            "you are in Tokyo with {}: expected at least 3 points, 1 for entering and 2 for this turn",
            count(me.points, "point")
        )),
        Phase::Yielding { .. } if view.current == view.seat || view.current.index() > 1 || !inside => {
            refuse("only a monster in Tokyo that was hit is asked whether to leave")
        }
        Phase::Yielding { damage } if !(1..=6).contains(&damage) => {
            refuse(format!("a hit is 1 to 6 of the attacker's six dice, got {damage}"))
        }
        Phase::Yielding { .. } if me.health == MAX_HEALTH => {
            refuse(format!("after a hit you have health below {MAX_HEALTH}"))
        }
        Phase::Yielding { .. } if me.points == 0 => {
            refuse("you are in Tokyo, so you have at least 1 point, for entering")
        }
        _ => Ok(()),
    }
}
