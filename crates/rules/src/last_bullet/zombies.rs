//! The moves of zombies: they walk toward the nearest living player they see.

use super::board::Square;
use super::sight::{Sight, WINDOW};
use super::{action::Direction, rules::VISION};
use crate::chance::Chance;

/// The squares of a window by distance; at the same distance westmost first, then northmost.
const BY_DISTANCE: [(i8, i8); WINDOW * WINDOW - 1] = {
    let mut squares = [(0, 0); WINDOW * WINDOW - 1];
    let (mut i, mut distance) = (0, 1);
    while distance <= VISION as i8 {
        let mut dx = -distance;
        while dx <= distance {
            let on_side = dx == -distance || dx == distance;
            let mut dy = -distance;
            while dy <= distance {
                squares[i] = (dx, dy);
                i += 1;
                dy += if on_side { 1 } else { 2 * distance };
            }
            dx += 1;
        }
        distance += 1;
    }
    squares
};

/// Decides the step of a zombie on `square`: toward the nearest of `players` that it sees, or a random move.
pub(super) fn decide(square: Square, players: &Sight, chance: &mut impl Chance) -> Direction {
    let window = players.window(square);
    if window.iter().all(|&row| row == 0) {
        return Direction::ALL[chance.uniform(9) as usize];
    }
    let reach = VISION as i8;
    let stands_at = |(dx, dy): (i8, i8)| window[(dy + reach) as usize] >> (dx + reach) & 1 == 1;
    let (dx, dy) = BY_DISTANCE.into_iter().find(|&offset| stands_at(offset)).unwrap_or((0, 0));
    Direction::toward(dx.into(), dy.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{chance::Scripted, last_bullet::board::Torus};

    #[test]
    fn squares_are_listed_by_distance_then_west_then_north() {
        let mut sorted = BY_DISTANCE;
        sorted.sort_by_key(|&(dx, dy)| (dx.abs().max(dy.abs()), dx, dy));
        assert_eq!(BY_DISTANCE, sorted);
        assert!(sorted.windows(2).all(|pair| pair[0] != pair[1]));
    }

    fn step(players: &[(i32, i32)]) -> Direction {
        let torus = Torus::new(21);
        let centre = Square { x: 1, y: 20 };
        let sight = Sight::new(torus, players.iter().map(|&(dx, dy)| torus.step(centre, dx, dy)));
        let mut no_chance = Scripted::new([]);
        no_chance.run(|chance| decide(centre, &sight, chance)).unwrap()
    }

    #[test]
    fn the_nearest_player_is_followed_across_the_edge() {
        assert_eq!(step(&[(-5, 0), (4, 3)]), Direction::Southeast);
        assert_eq!(step(&[(0, 8)]), Direction::South);
    }

    #[test]
    fn ties_go_to_the_westmost_then_the_northmost() {
        assert_eq!(step(&[(3, -3), (-3, 3)]), Direction::Southwest);
        assert_eq!(step(&[(-3, 3), (-3, -1), (3, -3)]), Direction::Northwest);
        assert_eq!(step(&[(0, 2), (0, -2)]), Direction::North);
    }

    #[test]
    fn without_a_player_in_sight_it_wanders() {
        let torus = Torus::new(21);
        let centre = Square { x: 10, y: 10 };
        let sight = Sight::new(torus, [Square { x: 1, y: 10 }].into_iter());
        for (pick, direction) in Direction::ALL.into_iter().enumerate() {
            let mut script = Scripted::new([pick as u32]);
            assert_eq!(script.run(|chance| decide(centre, &sight, chance)), Ok(direction));
        }
    }
}
