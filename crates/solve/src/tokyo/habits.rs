//! The habits of a monster: mistakes that it makes again and again.

use necrodome_rules::{
    game::Move,
    tokyo::{
        Action, Face, Phase, TokyoView,
        words::{self, kept, place},
    },
    words::count,
};

/// Health in bands, so that habits come up more than once.
fn band(health: u8) -> &'static str {
    match health {
        0..=3 => "1-3",
        4..=6 => "4-6",
        _ => "7-10",
    }
}

/// The faces that `more` has more dice of than `less`.
fn surplus(more: &[Face], less: &[Face]) -> Vec<&'static str> {
    let number = |dice: &[Face], face: Face| dice.iter().filter(|&&die| die == face).count();
    let surplus = Face::ALL.into_iter().filter(|&face| number(more, face) > number(less, face));
    surplus
        .map(|face| match face {
            Face::One => "ones",
            Face::Two => "twos",
            Face::Three => "threes",
            Face::Heal => "heals",
            Face::Attack => "attacks",
        })
        .collect()
}

pub(super) fn kind(view: &TokyoView) -> String {
    match view.phase {
        Phase::Rolling { rerolls_left } => {
            format!("{}, {} left", place(view), count(rerolls_left, "reroll"))
        }
        Phase::Yielding { .. } | Phase::Over => "hit in Tokyo".to_owned(),
    }
}

pub(super) fn habit(view: &TokyoView, choice: &Move<Action>, best: &Action) -> String {
    let health = view.monsters[view.seat.index()].health;
    match (choice, best) {
        (Move::Act(Action::Keep { dice }), Action::Keep { dice: better }) => {
            let [own, better]: [Vec<Face>; 2] = [*dice, *better].map(|keep| kept(view, keep).collect());
            let (keeps, drops) = (surplus(&own, &better), surplus(&better, &own));
            let mut wrong = Vec::new();
            if !keeps.is_empty() {
                wrong.push(format!("keeps {} that should be rerolled", keeps.join(" and ")));
            }
            if !drops.is_empty() {
                wrong.push(format!("rerolls {} that should be kept", drops.join(" and ")));
            }
            format!("{}, health {}: it {}", place(view), band(health), wrong.join(" and "))
        }
        _ => format!("hit in Tokyo, health {health} left: it {}", words::choice(view, choice)),
    }
}
