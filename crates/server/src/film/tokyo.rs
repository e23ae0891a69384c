//! Tokyo between two turns: the view after some of the events of a step. For the last view of a step the referee's own is used.

use super::{Camera, Shot};
use necrodome_rules::{
    game::{Game, Seat},
    tokyo::{Event, Phase, Tokyo, TokyoRules, TokyoView},
};

/// Updates a view by one event.
fn follow(view: &mut TokyoView, event: &Event) {
    match *event {
        Event::TurnStarted { seat, points } => {
            view.current = seat;
            view.turn += 1;
            view.monsters[seat.index()].points += points;
        }
        Event::Rolled { dice, .. } => view.dice = dice,
        Event::Scored { seat, points } => view.monsters[seat.index()].points += points,
        Event::Hit { seat, health, .. } => {
            view.monsters[seat.index()].health = health;
            view.in_tokyo = view.in_tokyo.filter(|inside| health > 0 || *inside != seat);
        }
        Event::Decided { yields, .. } => view.in_tokyo = view.in_tokyo.filter(|_| !yields),
        Event::Healed { seat, health } => view.monsters[seat.index()].health = health,
        Event::Entered { seat, points } => {
            view.in_tokyo = Some(seat);
            view.monsters[seat.index()].points += points;
        }
    }
}

pub(super) fn camera(_: &TokyoRules) -> Camera<Tokyo> {
    let mut before: Option<TokyoView> = None;
    Box::new(move |game, parts| {
        let mut shots = Vec::new();
        if let ([first @ .., _], Some(view)) = (parts, &mut before) {
            // Whoever is between two turns has nothing left to roll.
            view.phase = Phase::Rolling { rerolls_left: 0 };
            for log in first {
                log.iter().for_each(|logged| follow(view, &logged.event));
                shots.push(Shot::new(view.turn, &*view));
            }
        }
        let now = game.view(Seat(0));
        shots.push(Shot::new(now.turn, &now));
        before = Some(now);
        shots
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_rules::{
        chance::{Chance, Seeded},
        game::{Logged, Move},
        names::Names,
        tokyo::Action,
    };

    /// The events of a step lead from its first view to its last one.
    #[test]
    fn events_tell_all_that_changes() {
        for seed in 0..50 {
            let mut chance = Seeded::new(seed, "match", 0);
            let names = Names::new(["a", "b", "c"]).unwrap();
            let mut log: Vec<Logged<Event>> = Vec::new();
            let mut game = Tokyo::new(&names, &TokyoRules::default(), &mut chance, &mut log).unwrap();
            let mut view = game.view(Seat(0));
            while let [seat] = *game.to_act() {
                log.clear();
                let legal: Vec<Action> =
                    Tokyo::legal_actions(&game.view(seat)).into_iter().flatten().collect();
                let chosen = legal[chance.uniform(legal.len() as u32) as usize];
                game.apply(&[Move::Act(chosen)], &mut chance, &mut log).unwrap();
                log.iter().for_each(|logged| follow(&mut view, &logged.event));
                view.phase = game.view(Seat(0)).phase;
                assert_eq!(view, game.view(Seat(0)));
            }
        }
    }
}
