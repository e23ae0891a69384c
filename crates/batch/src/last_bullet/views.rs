//! The views of a world for built-in bots, and their orders as numbers.
//!
//! A piece's number is its index in the list of pieces. The referee's numbers keep more secret, but built-in bots
//! only look at whether two of them are the same.

use super::observe::{MOVES, REACH, TARGETS, WINDOW, code};
use super::set::pop;
use super::shape::{STAY, Shape};
use super::world::{SURVIVOR, World};
use necrodome_rules::{
    game::Seat,
    last_bullet::{CORPSE, CopyView, LastBulletView, Order, RANGE, Seen, Square, WhoIs, ZOMBIE},
    names::Names,
};
use std::ops::Range;

/// Makes an empty view.
pub(super) fn blank(shape: &Shape) -> LastBulletView {
    let entries = (0..shape.entries).map(|entry| format!("entry {}", entry + 1));
    let names = [ZOMBIE, CORPSE].map(str::to_owned).into_iter().chain(entries);
    LastBulletView {
        clock: 0,
        side: shape.side as u16,
        names: Names::new(names).expect("names that differ by their numbers"),
        me: WhoIs(0),
        copies: Vec::new(),
    }
}

impl World {
    /// Fills the view of the entry with these survivors, reusing its memory.
    pub(super) fn show(&self, shape: &Shape, pieces: Range<usize>, view: &mut LastBulletView) {
        view.clock = self.clock;
        view.me = WhoIs::entry(Seat((pieces.start / shape.copies) as u16));
        let mut shown = 0;
        for mut word in self.living.within(pieces) {
            while let Some(piece) = pop(&mut word) {
                if shown == view.copies.len() {
                    view.copies.push(CopyView { number: 0, x: 0, y: 0, bullets: 0, seen: Vec::new() });
                }
                let copy = &mut view.copies[shown];
                shown += 1;
                let at = self.squares[piece];
                (copy.number, copy.x, copy.y, copy.bullets) = (piece as u32, at.x, at.y, self.bullets[piece]);
                self.look_around(shape, at, &mut copy.seen);
            }
        }
        view.copies.truncate(shown);
    }

    /// Lists every piece in the window around a square, except the one in its middle.
    fn look_around(&self, shape: &Shape, at: Square, seen: &mut Vec<Seen>) {
        seen.clear();
        let north_west = shape.place(at) - REACH * shape.stride() - REACH;
        let rows = self.looks[north_west..].chunks(shape.stride()).take(WINDOW);
        for (row, looks) in rows.enumerate() {
            for (column, &look) in looks[..WINDOW].iter().enumerate() {
                if look == code::EMPTY || (row, column) == (REACH, REACH) {
                    continue;
                }
                let (dx, dy) = (column as i32 - REACH as i32, row as i32 - REACH as i32);
                let number = self.index[shape.place(shape.step(at, dx, dy))];
                let who = match look {
                    code::ZOMBIE => WhoIs::ZOMBIE,
                    SURVIVOR.. => WhoIs::entry(Seat((number as usize / shape.copies) as u16)),
                    _ => WhoIs::CORPSE,
                };
                seen.push(Seen { dx: dx as i8, dy: dy as i8, who, number });
            }
        }
    }

    /// The survivor of an order, and the number of its action. A shot out of range, which no built-in bot orders, is
    /// not fired.
    pub(super) fn number(&self, shape: &Shape, order: Order) -> (usize, u8) {
        match order {
            Order::Move { copy, direction } => (copy as usize, direction as u8),
            Order::Shoot { copy, target } => {
                let Some(&to) = self.squares.get(target as usize) else { return (copy as usize, STAY) };
                let from = self.squares[copy as usize];
                let (dx, dy) = (shape.offset(from.x, to.x), shape.offset(from.y, to.y));
                let reach = i32::from(RANGE);
                let place = (dy + reach) * TARGETS as i32 + dx + reach;
                let hits = dx.abs().max(dy.abs()) <= reach;
                (copy as usize, if hits { (MOVES as i32 + place) as u8 } else { STAY })
            }
        }
    }
}
