//! A saved match.

use super::{
    block::{Block, last_turn},
    lane::{Lane, MAX_SEATS, NOBODY, OVER, ROLLING, YIELDING},
};
use crate::stream::Stream;
use necrodome_rules::tokyo::{GOAL, MAX_HEALTH, TokyoRules};
use serde::{Deserialize, Serialize};

/// A saved match; missing seats are zeros.
#[derive(Serialize, Deserialize)]
pub struct Saved {
    health: [u8; MAX_SEATS],
    points: [u8; MAX_SEATS],
    dice: [u8; 6],
    in_tokyo: u8,
    current: u8,
    phase: u8,
    rerolls_left: u8,
    damage: u8,
    seat: u8,
    turn: u32,
    stream: Stream,
}

impl Saved {
    /// Saves the match in a lane.
    pub(super) fn new(block: &Block, i: usize) -> Self {
        let Lane { health, points, dice, in_tokyo, current, phase, rerolls_left, damage, seat, .. } =
            block.lane(i);
        let (turn, stream) = (block.turns[i], block.stream(i));
        Saved { health, points, dice, in_tokyo, current, phase, rerolls_left, damage, seat, turn, stream }
    }

    /// Puts the match into a lane; `max_turns` is 0 if there is no limit.
    pub(super) fn put(self, block: &mut Block, i: usize, max_turns: u32) {
        let Saved {
            health,
            points,
            dice,
            in_tokyo,
            current,
            phase,
            rerolls_left,
            damage,
            seat,
            turn,
            stream,
        } = self;
        let lane = Lane {
            health,
            points,
            dice,
            in_tokyo,
            current,
            phase,
            rerolls_left,
            damage,
            seat,
            last_turn: last_turn(turn, max_turns),
            began: 0,
        };
        block.set_lane::<MAX_SEATS>(i, lane);
        block.turns[i] = turn;
        block.set_stream(i, &stream);
    }

    /// Refuses a state that no match can reach.
    pub(super) fn check(&self, seats: usize, rules: &TokyoRules) -> Result<(), String> {
        let alive = |seat: u8| usize::from(seat) < seats && self.health[usize::from(seat)] > 0;
        let ensure = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        let most_points = GOAL as u8 + 5;
        let empty = |of: &[u8; MAX_SEATS]| of[seats..].iter().all(|&count| count == 0);
        ensure(empty(&self.health) && empty(&self.points), "a monster has no seat")?;
        ensure(
            self.health.iter().all(|&health| health <= MAX_HEALTH),
            "a monster has more than full health",
        )?;
        ensure(self.points.iter().all(|&points| points <= most_points), "a monster has too many points")?;
        ensure(self.dice.iter().all(|&die| die < 5), "a die has five faces")?;
        ensure(self.in_tokyo == NOBODY || alive(self.in_tokyo), "only the living can be in Tokyo")?;
        ensure(alive(self.current), "it is nobody's turn")?;
        ensure(usize::from(self.seat) < seats, "nobody decides")?;
        ensure(self.turn > 0 && rules.max_turns.is_none_or(|max| self.turn <= max.get()), "no such turn")?;

        let winners = self.points.iter().filter(|&&points| u32::from(points) >= GOAL).count();
        let living = self.health.iter().filter(|&&health| health > 0).count();
        let is_won = winners == 1 || living == 1;
        let is_last = rules.max_turns.is_some_and(|max| self.turn == max.get());
        ensure(winners <= 1 && living >= 1, "only one can win")?;
        ensure(self.phase == OVER || !is_won, "a match that is won goes on")?;
        let fits = match self.phase {
            ROLLING => (1..=2).contains(&self.rerolls_left) && self.damage == 0 && self.seat == self.current,
            YIELDING => {
                let asked = self.in_tokyo == self.seat && self.seat != self.current;
                self.rerolls_left == 0 && (1..=6).contains(&self.damage) && asked
            }
            OVER => self.rerolls_left == 0 && self.damage == 0 && (is_won || is_last),
            _ => false,
        };
        ensure(fits, "what is decided does not fit the rest")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_rules::options::Bounded;

    fn row() -> Saved {
        Saved {
            health: [10, 3, 0, 0, 0, 0],
            points: [19, 4, 2, 0, 0, 0],
            dice: [0, 1, 2, 3, 4, 4],
            in_tokyo: 0,
            current: 1,
            phase: YIELDING,
            rerolls_left: 0,
            damage: 2,
            seat: 0,
            turn: 7,
            stream: Stream::new(1),
        }
    }

    #[test]
    fn what_no_match_can_come_to_is_refused() {
        let rules = TokyoRules { max_turns: Some(Bounded::new(7)) };
        assert_eq!(row().check(3, &rules), Ok(()));
        let over = |row: &mut Saved| (row.phase, row.damage) = (OVER, 0);
        let refused = |change: &dyn Fn(&mut Saved)| {
            let mut row = row();
            change(&mut row);
            row.check(3, &rules).expect_err("refused")
        };
        assert_eq!(refused(&|row| row.health[3] = 1), "a monster has no seat");
        assert_eq!(refused(&|row| row.health[0] = 11), "a monster has more than full health");
        assert_eq!(refused(&|row| row.points[0] = 26), "a monster has too many points");
        assert_eq!(refused(&|row| row.dice[0] = 5), "a die has five faces");
        assert_eq!(refused(&|row| row.in_tokyo = 2), "only the living can be in Tokyo");
        assert_eq!(refused(&|row| row.current = 2), "it is nobody's turn");
        assert_eq!(refused(&|row| row.seat = 3), "nobody decides");
        assert_eq!(refused(&|row| row.turn = 8), "no such turn");
        assert_eq!(refused(&|row| row.points = [20, 20, 0, 0, 0, 0]), "only one can win");
        assert_eq!(refused(&|row| row.points[0] = 20), "a match that is won goes on");
        assert_eq!(refused(&|row| row.damage = 0), "what is decided does not fit the rest");
        assert_eq!(
            refused(&|row| (row.phase, row.turn) = (OVER, 6)),
            "what is decided does not fit the rest"
        );
        let mut ended = row();
        over(&mut ended);
        assert_eq!(ended.check(3, &rules), Ok(()), "by the limit");
        assert!(ended.check(3, &TokyoRules::default()).is_err(), "there is none");
    }
}
