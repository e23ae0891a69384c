//! Tokyo: every roll, every hit, who leaves and who enters.

use super::Draw;
use necrodome_rules::{
    game::Seat,
    tokyo::{Event, Phase, Tokyo, TokyoRules, TokyoView},
};

/// The most rolls of a turn, including the first.
const ROLLS: u8 = 3;

pub(super) fn draw(_: &TokyoRules) -> Draw<Tokyo> {
    let mut left = ROLLS;
    Box::new(move |view: &mut TokyoView, event, _: Seat| {
        match *event {
            Event::TurnStarted { seat, points } => {
                view.current = seat;
                score(view, seat, points);
                left = ROLLS;
                // Without points there is nothing to see before the dice.
                return points > 0;
            }
            Event::Rolled { dice, .. } => {
                left = left.saturating_sub(1);
                view.dice = dice;
                view.phase = Phase::Rolling { rerolls_left: left };
            }
            Event::Scored { seat, points } => score(view, seat, points),
            Event::Hit { seat, health, .. } => {
                set_health(view, seat, health);
                if health == 0 && view.in_tokyo == Some(seat) {
                    view.in_tokyo = None;
                }
            }
            Event::Decided { yields, .. } => {
                if yields {
                    view.in_tokyo = None;
                }
            }
            Event::Healed { seat, health } => set_health(view, seat, health),
            Event::Entered { seat, points } => {
                view.in_tokyo = Some(seat);
                score(view, seat, points);
            }
        }
        true
    })
}

fn score(view: &mut TokyoView, seat: Seat, points: u32) {
    if let Some(monster) = view.monsters.get_mut(seat.index()) {
        monster.points += points;
    }
}

fn set_health(view: &mut TokyoView, seat: Seat, health: u8) {
    if let Some(monster) = view.monsters.get_mut(seat.index()) {
        monster.health = health;
    }
}
