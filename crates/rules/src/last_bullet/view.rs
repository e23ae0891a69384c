//! The view of an entry: for each of its copies, what that copy knows and sees.

use super::sight::{Sight, WINDOW};
use super::{board::*, rules::VISION};
use crate::{game::Seat, names::Names};
use alloc::vec::Vec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of all zombies.
pub const ZOMBIE: &str = "Zombie";
/// The name of all corpses.
pub const CORPSE: &str = "DeadBody";

/// The view of an entry in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastBulletView {
    /// Turns finished.
    pub clock: u32,
    /// The side of the torus.
    pub side: u16,
    /// All names: `Zombie`, `DeadBody`, then the entries by seat.
    pub names: Names,
    /// The place of this entry's own name in `names`.
    pub me: WhoIs,
    /// This entry's living copies.
    pub copies: Vec<CopyView>,
}

/// The view of one copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CopyView {
    /// Its identity number; orders name the copy by it.
    pub number: u32,
    /// Its column, from 0 in the west.
    pub x: u16,
    /// Its row, from 0 in the north.
    pub y: u16,
    /// Its bullets.
    pub bullets: u32,
    /// The pieces that it sees, from north to south and in a row from west to east; without itself.
    pub seen: Vec<Seen>,
}

/// A place in the list of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct WhoIs(pub u16);

impl WhoIs {
    /// A zombie.
    pub const ZOMBIE: WhoIs = WhoIs(0);
    /// A corpse.
    pub const CORPSE: WhoIs = WhoIs(1);

    /// Names a living copy of this entry.
    pub fn entry(seat: Seat) -> Self {
        WhoIs(seat.0 + 2)
    }
}

impl From<Kind> for WhoIs {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Player(seat) => WhoIs::entry(seat),
            Kind::Zombie => WhoIs::ZOMBIE,
            Kind::Corpse => WhoIs::CORPSE,
        }
    }
}

/// A piece in a window, in JSON the list `[dx, dy, who, number]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "(i8, i8, WhoIs, u32)", into = "(i8, i8, WhoIs, u32)")]
pub struct Seen {
    /// Squares to the east.
    pub dx: i8,
    /// Squares to the south.
    pub dy: i8,
    /// Its name, as a place in the list of names.
    pub who: WhoIs,
    /// Its identity number.
    pub number: u32,
}

impl Seen {
    /// Its distance.
    pub fn distance(&self) -> u8 {
        self.dx.unsigned_abs().max(self.dy.unsigned_abs())
    }
}

impl From<(i8, i8, WhoIs, u32)> for Seen {
    fn from((dx, dy, who, number): (i8, i8, WhoIs, u32)) -> Self {
        Seen { dx, dy, who, number }
    }
}

impl From<Seen> for (i8, i8, WhoIs, u32) {
    fn from(seen: Seen) -> Self {
        (seen.dx, seen.dy, seen.who, seen.number)
    }
}

/// Fills `copies` with what the `living` copies of an entry know, reusing its memory. `piece_at` returns the piece on
/// an occupied square.
pub(super) fn look<'a>(
    living: impl Iterator<Item = &'a Piece>,
    torus: Torus,
    occupied: &Sight,
    piece_at: impl Fn(Square) -> &'a Piece,
    copies: &mut Vec<CopyView>,
) {
    let mut count = 0;
    for piece in living {
        if count == copies.len() {
            copies.push(CopyView { number: 0, x: 0, y: 0, bullets: 0, seen: Vec::new() });
        }
        let copy = &mut copies[count];
        count += 1;
        let Square { x, y } = piece.square;
        (copy.number, copy.x, copy.y, copy.bullets) = (piece.number, x, y, piece.bullets);
        copy.seen.clear();
        for_each_offset(occupied.window(piece.square), |dx, dy| {
            let other = piece_at(torus.step(piece.square, dx, dy));
            let (dx, dy, who) = (dx as i8, dy as i8, other.kind.into());
            copy.seen.push(Seen { dx, dy, who, number: other.number });
        });
    }
    copies.truncate(count);
}

/// Calls `visit` with the offset of every square in a window but its centre.
///
/// Three rows are joined into one word: the processor cannot predict where a loop over a few bits ends, and wrong
/// guesses cost more than the bits.
fn for_each_offset(mut window: [u32; WINDOW], mut visit: impl FnMut(i32, i32)) {
    let reach = i32::from(VISION);
    window[WINDOW / 2] &= !(1 << (WINDOW / 2));
    for (triple, rows) in window.chunks(3).enumerate() {
        let mut bits = 0u64;
        for (row, &in_row) in rows.iter().enumerate() {
            bits |= u64::from(in_row) << (row * WINDOW);
        }
        while bits != 0 {
            let place = bits.trailing_zeros() as i32;
            bits &= bits - 1;
            let (row, column) = (place / WINDOW as i32, place % WINDOW as i32);
            visit(column - reach, 3 * triple as i32 + row - reach);
        }
    }
}
