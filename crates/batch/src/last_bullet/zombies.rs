//! The moves of zombies: they step toward the nearest living player that they see.

use super::observe::REACH;
use super::set::Squares;
use super::shape::STAY;
use necrodome_rules::last_bullet::Square;

/// The columns of a window up to each distance, from 1 on.
const COLUMNS: [u64; REACH] = {
    let mut columns = [0; REACH];
    let mut distance = 1;
    while distance <= REACH {
        columns[distance - 1] = ((2 << (2 * distance)) - 1) << (REACH - distance);
        distance += 1;
    }
    columns
};

/// The step of a zombie toward the nearest of `players`; of several the westmost, then the northmost. `None` if it
/// sees nobody.
///
/// The window is searched in growing squares. The first square that holds a player holds all of them at the same
/// distance, and only the side on which they stand matters: so the rows to the north are one word, and those to the south another.
#[inline(always)]
pub(super) fn chase(at: Square, players: &Squares) -> Option<u8> {
    let (rows, west) = players.window(at);
    let centre = west + REACH;
    let (mut north, level, mut south) = (0, rows[REACH], 0);
    for (distance, columns) in (1..).zip(COLUMNS) {
        north |= rows[REACH - distance];
        south |= rows[REACH + distance];
        let seen = (north | level | south) & columns << west;
        if seen != 0 {
            let column = seen & seen.wrapping_neg();
            // Sums of comparisons, since nobody can predict them.
            let up = u8::from(north & column != 0);
            let down = u8::from((north | level) & column == 0);
            let (left, right) = (u8::from(column < 1 << centre), u8::from(column > 1 << centre));
            return Some(STAY + 3 * down + right - 3 * up - left);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::shape::Shape;
    use super::*;
    use crate::kernel::Kernel;
    use necrodome_rules::last_bullet::Direction;
    use proptest::prelude::*;

    /// The rule as it is written.
    fn nearest(players: &[(i32, i32)]) -> Option<u8> {
        let key = |&&(dx, dy): &&(i32, i32)| (dx.abs().max(dy.abs()), dx, dy);
        players.iter().min_by_key(key).map(|&(dx, dy)| Direction::toward(dx, dy) as u8)
    }

    proptest! {
        #[test]
        fn the_nearest_is_followed(
            (x, y) in (0u16..29, 0u16..29),
            players in prop::collection::vec((-8i32..=8, -8i32..=8), 0..6),
        ) {
            let mut shape = Shape::new(&Default::default(), 1).unwrap();
            shape.side = 29;
            let at = Square { x, y };
            let players: Vec<_> = players.into_iter().filter(|&offset| offset != (0, 0)).collect();
            let mut squares = Squares::new(&shape);
            players.iter().for_each(|&(dx, dy)| squares.insert(shape.step(at, dx, dy)));
            squares.wrap();
            prop_assert_eq!(chase(at, &squares), nearest(&players));
        }
    }
}
