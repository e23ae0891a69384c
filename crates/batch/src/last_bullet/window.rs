//! What the survivors see, as numbers.

use super::shape::{STAY, Shape};
use super::world::{SURVIVOR, World};
use crate::observe::last_bullet::{
    ACTIONS, CELLS, MOVES, REACH, TARGETS, WINDOW,
    code::{CORPSE, EMPTY, OWN},
};
use necrodome_rules::last_bullet::{RANGE, Square};

impl World {
    /// Writes the observation of every survivor; of the dead, zeros.
    #[inline(always)]
    pub(super) fn observe(&mut self, shape: &Shape, obs: &mut [u8]) {
        let entries = obs.chunks_exact_mut(CELLS * shape.copies);
        for (obs, first) in entries.zip((0..).step_by(shape.copies)) {
            // Of an entry's windows, only its own survivors differ from what all see.
            self.mark(shape, first, OWN);
            for (obs, piece) in obs.chunks_exact_mut(CELLS).zip(first..) {
                if self.kinds[piece] == SURVIVOR {
                    look(&self.looks, shape, self.squares[piece], obs);
                    obs[CELLS - 1] = self.bullets[piece].min(u8::MAX.into()) as u8;
                } else {
                    obs.fill(0);
                }
            }
            self.mark(shape, first, SURVIVOR);
        }
    }

    /// Makes the living of the entry that begins with piece `first` look like `code`, in the margins too.
    #[inline(always)]
    fn mark(&mut self, shape: &Shape, first: usize, code: u8) {
        let (side, stride) = (shape.side, shape.stride());
        // From a square to where it is seen beyond the edge; there is none in the middle of the board.
        let image = |at: u16| match usize::from(at) {
            at if at < REACH => side,
            at if at + REACH >= side => side.wrapping_neg(),
            _ => 0,
        };
        for piece in (first..first + shape.copies).filter(|&piece| self.kinds[piece] == SURVIVOR) {
            let at = self.squares[piece];
            let place = shape.place(at);
            let (x, y) = (image(at.x), image(at.y).wrapping_mul(stride));
            for image in [0, x, y, x.wrapping_add(y)] {
                self.looks[place.wrapping_add(image)] = code;
            }
        }
    }

    /// Writes which actions can do something: any move, and a shot at somebody who is not a corpse, with a bullet. The
    /// dead can only stay.
    pub(super) fn masks(&self, shape: &Shape, masks: &mut [bool]) {
        for (piece, mask) in masks.chunks_exact_mut(ACTIONS).enumerate() {
            mask.fill(false);
            if self.kinds[piece] != SURVIVOR {
                mask[usize::from(STAY)] = true;
                continue;
            }
            let (moves, shots) = mask.split_at_mut(MOVES);
            moves.fill(true);
            if self.bullets[piece] > 0 {
                let range = usize::from(RANGE);
                let north_west = shape.place(self.squares[piece]) - range * shape.stride() - range;
                let rows = self.looks[north_west..].chunks(shape.stride());
                for (shots, looks) in shots.chunks_exact_mut(TARGETS).zip(rows) {
                    for (shot, &look) in shots.iter_mut().zip(looks) {
                        *shot = look != EMPTY && look != CORPSE;
                    }
                }
            }
        }
    }
}

/// Copies the window around `at`.
#[inline(always)]
fn look(looks: &[u8], shape: &Shape, at: Square, obs: &mut [u8]) {
    let north_west = shape.place(at) - REACH * shape.stride() - REACH;
    let rows = looks[north_west..].chunks(shape.stride());
    for (obs, row) in obs.chunks_exact_mut(WINDOW).zip(rows) {
        obs.copy_from_slice(&row[..WINDOW]);
    }
}
