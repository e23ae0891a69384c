//! The view of a survivor: 17 x 17 squares, with itself in the middle.

use necrodome_rules::{
    game::Seat,
    last_bullet::{CopyView, Direction, LastBulletView, RANGE, Seen, VISION, WhoIs},
};

/// The number of squares in a row of the window.
pub const SIDE: usize = 2 * VISION as usize + 1;

/// A square of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    Empty,
    Zombie,
    Corpse,
    /// The survivor that is steered.
    Steered,
    /// Another survivor of the same entry.
    Own,
    Other(Seat),
}

/// Returns the window of a survivor, with rows from north to south.
pub fn cells(view: &LastBulletView, copy: &CopyView) -> [[Cell; SIDE]; SIDE] {
    let mut cells = [[Cell::Empty; SIDE]; SIDE];
    for seen in &copy.seen {
        let (x, y) = place(seen);
        cells[y][x] = match seen.who {
            WhoIs::ZOMBIE => Cell::Zombie,
            WhoIs::CORPSE => Cell::Corpse,
            who if who == view.me => Cell::Own,
            who => Cell::Other(seat(who)),
        };
    }
    cells[SIDE / 2][SIDE / 2] = Cell::Steered;
    cells
}

/// Returns the column and row of a piece in the window.
pub fn place(seen: &Seen) -> (usize, usize) {
    let from_middle = |offset: i8| (i16::from(offset) + VISION as i16) as usize;
    (from_middle(seen.dx), from_middle(seen.dy))
}

/// Returns the seat of an entry. Only for places in the list of names after the game's own two.
pub fn seat(who: WhoIs) -> Seat {
    Seat(who.0.saturating_sub(2))
}

/// Returns the targets in range that are worth a bullet: zombies, then others, then the entry's own, each group with the nearest first.
pub fn targets(view: &LastBulletView, copy: &CopyView) -> Vec<Seen> {
    let in_range = |seen: &&Seen| seen.who != WhoIs::CORPSE && u16::from(seen.distance()) <= RANGE;
    let mut targets: Vec<Seen> = copy.seen.iter().filter(in_range).copied().collect();
    targets.sort_by_key(|seen| (seen.who == view.me, seen.who != WhoIs::ZOMBIE, seen.distance()));
    targets
}

/// Says who a piece is and where: `Zombie, 3 to the northeast`.
pub fn whereabouts(view: &LastBulletView, who: WhoIs, dx: i32, dy: i32) -> String {
    let toward = format!("{:?}", Direction::toward(dx, dy)).to_lowercase();
    let name = view.names.iter().nth(who.0.into()).unwrap_or("?");
    format!("{name}, {} to the {toward}", dx.abs().max(dy.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use necrodome_rules::names::Names;

    #[test]
    fn the_window_shows_everybody_in_its_place() {
        let seen = |dx, dy, who, number| Seen { dx, dy, who: WhoIs(who), number };
        let copy = CopyView {
            number: 7,
            x: 0,
            y: 0,
            bullets: 1,
            seen: vec![
                seen(-8, -8, 0, 1),
                seen(6, 0, 3, 2),
                seen(2, 1, 1, 3),
                seen(0, 5, 2, 4),
                seen(1, 0, 0, 5),
            ],
        };
        let names = Names::new(["Zombie", "DeadBody", "me", "other"]).unwrap();
        let view = LastBulletView { clock: 0, side: 17, names, me: WhoIs(2), copies: vec![copy.clone()] };
        let cells = cells(&view, &copy);
        assert_eq!(cells[0][0], Cell::Zombie);
        assert_eq!(cells[8][14], Cell::Other(Seat(1)));
        assert_eq!(cells[9][10], Cell::Corpse);
        assert_eq!(cells[13][8], Cell::Own);
        assert_eq!(cells[8][8], Cell::Steered);
        assert_eq!(cells.iter().flatten().filter(|&&cell| cell != Cell::Empty).count(), 6);
        let numbers: Vec<u32> = targets(&view, &copy).iter().map(|target| target.number).collect();
        assert_eq!(numbers, [5, 4], "the corpse, and those out of range, are left out");
        assert_eq!(whereabouts(&view, WhoIs(0), 1, 0), "Zombie, 1 to the east");
    }
}
