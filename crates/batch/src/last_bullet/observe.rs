//! Last Bullet as numbers: what one survivor sees, and its possible actions.
//!
//! An entry decides for each of its survivors; these functions treat one of them, with the view of its entry.

use crate::field::Field;
use necrodome_rules::last_bullet::{
    CopyView, Direction, LastBulletView, NOBODY, Order, RANGE, Seen, VISION, WhoIs,
};

/// The distance up to which a survivor sees.
pub(crate) const REACH: usize = VISION as usize;
/// The number of squares in a row of a window.
pub const WINDOW: usize = 2 * REACH + 1;
/// The number of numbers in an observation: the window and the bullets.
pub const CELLS: usize = WINDOW * WINDOW + 1;
/// The number of squares in a row of those that a gun reaches.
pub const TARGETS: usize = 2 * RANGE as usize + 1;
/// The number of moves. They are the first actions, in the order of [`Direction`].
pub const MOVES: usize = Direction::ALL.len();
/// The number of actions: the moves, then the shots by their targets, from north to south and from west to east.
pub const ACTIONS: usize = MOVES + TARGETS * TARGETS;

/// The content of a square, in a window.
pub(crate) mod code {
    pub(crate) const EMPTY: u8 = 0;
    pub(crate) const CORPSE: u8 = 1;
    pub(crate) const ZOMBIE: u8 = 2;
    pub(crate) const OWN: u8 = 3;
    pub(crate) const OTHER: u8 = 4;
}

/// The meaning of each number in an observation: the window around the survivor from north to south and from west to east,
/// then its bullets.
pub fn fields() -> Vec<Field> {
    let reach = REACH as i32;
    let offsets = || (0..WINDOW as i32).map(move |place| place - reach);
    let window = offsets().flat_map(|dy| {
        offsets().map(move |dx| {
            let name = format!("square_{}_{}", aside(dx, "w", "e"), aside(dy, "n", "s"));
            let about = format!(
                "What stands {} to the east and {} to the south: 0 nothing, 1 a corpse, 2 a zombie, 3 a survivor of \
                 the own entry, 4 one of another.",
                dx, dy
            );
            Field::new(name, about, code::EMPTY.into(), code::OTHER.into())
        })
    });
    let bullets = Field::new("bullets", "Bullets of the survivor; 255 stands for more.", 0, u8::MAX.into());
    window.chain([bullets]).collect()
}

/// Writes an offset without a sign: `w8`, `0`, `e8`.
fn aside(by: i32, before: &str, after: &str) -> String {
    match by {
        ..0 => format!("{before}{}", -by),
        0 => "0".to_owned(),
        1.. => format!("{after}{by}"),
    }
}

/// Writes the observation of a survivor of the entry that has this view: [`CELLS`] numbers.
pub fn observe(view: &LastBulletView, copy: &CopyView, out: &mut [u8]) {
    out.fill(code::EMPTY);
    let centre = WINDOW * WINDOW / 2;
    out[centre] = code::OWN;
    for seen in &copy.seen {
        let offset = isize::from(seen.dy) * WINDOW as isize + isize::from(seen.dx);
        out[centre.wrapping_add_signed(offset)] = match seen.who {
            WhoIs::ZOMBIE => code::ZOMBIE,
            WhoIs::CORPSE => code::CORPSE,
            who if who == view.me => code::OWN,
            _ => code::OTHER,
        };
    }
    out[CELLS - 1] = copy.bullets.min(u8::MAX.into()) as u8;
}

/// Returns the order of an action for a survivor, or `None` if there is no such action.
///
/// A shot at an empty square names a number that nobody has: the rulebook's bad action, which costs the bullet.
pub fn order(copy: &CopyView, action: usize) -> Option<Order> {
    if let Some(&direction) = Direction::ALL.get(action) {
        return Some(Order::Move { copy: copy.number, direction });
    }
    let target = action - MOVES;
    let (dx, dy) =
        ((target % TARGETS) as i32 - i32::from(RANGE), (target / TARGETS) as i32 - i32::from(RANGE));
    let stands_there = |seen: &&Seen| (i32::from(seen.dx), i32::from(seen.dy)) == (dx, dy);
    let target = match copy.seen.iter().find(stands_there) {
        _ if (dx, dy) == (0, 0) => copy.number,
        Some(seen) => seen.number,
        None => NOBODY,
    };
    (action < ACTIONS).then_some(Order::Shoot { copy: copy.number, target })
}

/// Marks the actions that can have an effect, [`ACTIONS`] flags: all moves; and with a bullet the shots at a piece that is
/// not a corpse, the survivor itself included.
pub fn mask(copy: &CopyView, out: &mut [bool]) {
    let (moves, shots) = out.split_at_mut(MOVES);
    moves.fill(true);
    shots.fill(false);
    if copy.bullets == 0 {
        return;
    }
    let middle = TARGETS * TARGETS / 2;
    shots[middle] = true;
    for seen in copy.seen.iter().filter(|seen| seen.who != WhoIs::CORPSE) {
        if u16::from(seen.distance()) <= RANGE {
            let offset = isize::from(seen.dy) * TARGETS as isize + isize::from(seen.dx);
            shots[middle.wrapping_add_signed(offset)] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_rules::{game::Seat, names::Names};

    fn seen(dx: i8, dy: i8, who: WhoIs, number: u32) -> Seen {
        Seen { dx, dy, who, number }
    }

    fn view() -> LastBulletView {
        let (own, other) = (WhoIs::entry(Seat(1)), WhoIs::entry(Seat(0)));
        let seen = vec![
            seen(-8, -8, WhoIs::CORPSE, 70),
            seen(5, -5, other, 3),
            seen(1, 0, own, 9),
            seen(0, 1, WhoIs::CORPSE, 71),
            seen(-6, 2, WhoIs::ZOMBIE, 72),
            seen(8, 8, WhoIs::ZOMBIE, 73),
        ];
        LastBulletView {
            clock: 4,
            side: 40,
            names: Names::new(["Zombie", "DeadBody", "a", "b"]).unwrap(),
            me: own,
            copies: vec![CopyView { number: 8, x: 0, y: 39, bullets: 300, seen }],
        }
    }

    #[test]
    fn the_window_is_read_like_a_page_and_the_bullets_follow() {
        let view = view();
        let mut out = [9; CELLS];
        observe(&view, &view.copies[0], &mut out);
        let named: Vec<(String, u8)> = fields().into_iter().map(|field| field.name).zip(out).collect();
        let full: Vec<_> =
            named.iter().filter(|(_, number)| *number > 0).map(|(n, v)| (n.as_str(), *v)).collect();
        let expected = [
            ("square_w8_n8", code::CORPSE),
            ("square_e5_n5", code::OTHER),
            ("square_0_0", code::OWN),
            ("square_e1_0", code::OWN),
            ("square_0_s1", code::CORPSE),
            ("square_w6_s2", code::ZOMBIE),
            ("square_e8_s8", code::ZOMBIE),
            ("bullets", 255),
        ];
        assert_eq!(full, expected);
        assert_eq!((CELLS, named[0].0.as_str()), (290, "square_w8_n8"));
    }

    #[test]
    fn actions_are_moves_and_then_shots_by_their_target() {
        let mut view = view();
        let copy = &view.copies[0];
        assert_eq!(order(copy, 0), Some(Order::Move { copy: 8, direction: Direction::Northwest }));
        assert_eq!(order(copy, 8), Some(Order::Move { copy: 8, direction: Direction::Southeast }));
        let shot = |dx: usize, dy: usize| 9 + dy * 11 + dx;
        let target = |action| match order(copy, action) {
            Some(Order::Shoot { copy: 8, target }) => target,
            other => panic!("{other:?}"),
        };
        assert_eq!(target(shot(10, 0)), 3);
        assert_eq!(target(shot(6, 5)), 9);
        assert_eq!(target(shot(5, 6)), 71);
        assert_eq!(target(shot(5, 5)), 8, "itself");
        assert_eq!(target(shot(0, 0)), u32::MAX, "nobody");
        assert_eq!(order(copy, ACTIONS), None);

        let mut marks = [false; ACTIONS];
        mask(copy, &mut marks);
        let marked: Vec<usize> = (0..ACTIONS).filter(|&action| marks[action]).collect();
        let moves: Vec<usize> = (0..9).collect();
        assert_eq!(marked, [&moves[..], &[shot(10, 0), shot(5, 5), shot(6, 5)]].concat());
        view.copies[0].bullets = 0;
        mask(&view.copies[0], &mut marks);
        assert_eq!(marks.iter().filter(|&&mark| mark).count(), 9);
    }
}
