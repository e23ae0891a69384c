//! Step 6: all pieces move at once, and pieces that want the same square stay where they were.

use super::board::{Square, Torus};
use alloc::{vec, vec::Vec};

/// Settles which pieces may move. `wants[i]` is the square that piece `i` wants (its own to stay) and becomes the square
/// it gets; `homes[i]` is where it stands, all different.
///
/// A conflict sends every piece involved home, where it can cause new conflicts. There are no others, so each
/// piece is examined a bounded number of times and the order does not matter.
pub(super) fn settle(torus: Torus, homes: &[Square], wants: &mut [Square]) {
    const NOBODY: u32 = u32::MAX;
    // The first who wants a square, linked to the next who wants it.
    let mut first = vec![NOBODY; torus.squares()];
    let mut next = vec![NOBODY; homes.len()];
    let mut contested: Vec<usize> = Vec::new();
    for (piece, &want) in wants.iter().enumerate() {
        let at = torus.index(want);
        next[piece] = first[at];
        first[at] = piece as u32;
        if next[piece] != NOBODY {
            contested.push(at);
        }
    }
    while let Some(at) = contested.pop() {
        let mut piece = core::mem::replace(&mut first[at], NOBODY);
        while piece != NOBODY {
            let i = piece as usize;
            piece = next[i];
            wants[i] = homes[i];
            let home = torus.index(homes[i]);
            next[i] = first[home];
            first[home] = i as u32;
            if next[i] != NOBODY && home != at {
                contested.push(home);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type At = (u16, u16);

    /// Returns where pieces end up that stand on the first square of each pair and want the second.
    fn settled(side: u16, moves: &[(At, At)]) -> Vec<At> {
        let square = |(x, y)| Square { x, y };
        let homes: Vec<Square> = moves.iter().map(|m| square(m.0)).collect();
        let mut wants: Vec<Square> = moves.iter().map(|m| square(m.1)).collect();
        settle(Torus::new(side), &homes, &mut wants);
        wants.into_iter().map(|s| (s.x, s.y)).collect()
    }

    #[test]
    fn two_who_want_the_same_square_stay() {
        assert_eq!(settled(17, &[((0, 0), (1, 0)), ((2, 0), (1, 0))]), [(0, 0), (2, 0)]);
    }

    #[test]
    fn who_stays_keeps_its_square() {
        assert_eq!(settled(17, &[((0, 0), (1, 0)), ((1, 0), (1, 0))]), [(0, 0), (1, 0)]);
    }

    #[test]
    fn swapping_and_cycles_are_allowed() {
        assert_eq!(settled(17, &[((0, 0), (1, 0)), ((1, 0), (0, 0))]), [(1, 0), (0, 0)]);
        let cycle = [((0, 0), (1, 0)), ((1, 0), (1, 1)), ((1, 1), (0, 0))];
        assert_eq!(settled(17, &cycle), [(1, 0), (1, 1), (0, 0)]);
    }

    #[test]
    fn a_conflict_of_three_cascades_to_those_who_counted_on_a_free_square() {
        // 0, 1 and 2 collide; 3 wanted the square of 0, 4 that of 3; 5 is not concerned.
        let moves = [
            ((4, 4), (5, 5)),
            ((6, 4), (5, 5)),
            ((5, 6), (5, 5)),
            ((3, 4), (4, 4)),
            ((2, 4), (3, 4)),
            ((9, 9), (10, 10)),
        ];
        assert_eq!(settled(17, &moves), [(4, 4), (6, 4), (5, 6), (3, 4), (2, 4), (10, 10)]);
    }

    #[test]
    fn followers_of_a_free_chain_all_move() {
        let moves = [((16, 0), (0, 0)), ((15, 0), (16, 0)), ((14, 0), (15, 0))];
        assert_eq!(settled(17, &moves), [(0, 0), (16, 0), (15, 0)]);
    }

    /// The rule as it is written: find every contested square, send every piece there home, repeat.
    fn settle_by_rounds(torus: Torus, homes: &[Square], wants: &mut [Square]) {
        loop {
            let mut count = vec![0; torus.squares()];
            wants.iter().for_each(|&want| count[torus.index(want)] += 1);
            let contested = |want: Square| count[torus.index(want)] > 1;
            let clash: Vec<usize> =
                (0..wants.len()).filter(|&i| contested(wants[i]) && wants[i] != homes[i]).collect();
            if clash.is_empty() {
                return;
            }
            clash.into_iter().for_each(|i| wants[i] = homes[i]);
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_rule_as_it_is_written(
            moves in prop::collection::btree_map(0usize..49, (-1i32..=1, -1i32..=1), 0..49),
        ) {
            let torus = Torus::new(7);
            let homes: Vec<Square> = moves.keys().map(|&i| torus.square(i)).collect();
            let mut wants: Vec<Square> =
                moves.iter().map(|(&i, &(dx, dy))| torus.step(torus.square(i), dx, dy)).collect();
            let mut expected = wants.clone();
            settle_by_rounds(torus, &homes, &mut expected);
            settle(torus, &homes, &mut wants);
            prop_assert_eq!(wants, expected);
        }
    }
}
