//! What the survivors see, as numbers.

use super::shape::{STAY, Shape};
use super::world::{ANOTHER, GROUP, SURVIVOR, World};
use crate::observe::last_bullet::{
    ACTIONS, CELLS, MOVES, REACH, TARGETS, WINDOW,
    code::{CORPSE, EMPTY, OTHER},
};
use necrodome_rules::last_bullet::RANGE;

/// Bytes that are copied at once: a row of a window, and some of the next, which is copied after it.
pub(super) const CHUNK: usize = 32;

impl World {
    /// Writes the observation of every survivor; of the dead, zeros. `obs` holds zeros, or what was written before.
    #[inline(always)]
    pub(super) fn observe(&mut self, shape: &Shape, obs: &mut [u8]) {
        let groups = shape.entries.div_ceil(GROUP);
        if groups == 1 {
            self.observe_group(shape, obs);
        } else {
            for group in (0..groups).rev() {
                self.label(shape, group);
                self.observe_group(shape, obs);
            }
        }
        for piece in self.living.missing(shape.survivors()) {
            let obs = &mut obs[piece * CELLS..][..CELLS];
            // Nobody's own square looks empty, so what does was cleared before.
            if obs[WINDOW * WINDOW / 2] != EMPTY {
                obs.fill(EMPTY);
            }
        }
    }

    /// Writes the observations of those who have a number of their own.
    #[inline(always)]
    fn observe_group(&self, shape: &Shape, obs: &mut [u8]) {
        for piece in self.living.iter() {
            let place = shape.place(self.squares[piece]);
            let me = self.looks[place];
            if me != ANOTHER {
                let obs = &mut obs[piece * CELLS..][..CELLS];
                look(&self.looks[place - REACH * shape.stride() - REACH..], shape.stride(), me, obs);
                obs[CELLS - 1] = self.bullets[piece].min(u8::MAX.into()) as u8;
            }
        }
    }

    /// Makes the living look like what they are to one group of entries; see [`GROUP`].
    fn label(&mut self, shape: &Shape, group: usize) {
        for piece in self.living.iter() {
            let entry = piece / shape.copies;
            let label = if entry / GROUP == group { SURVIVOR + (entry % GROUP) as u8 } else { ANOTHER };
            self.looks[shape.place(self.squares[piece])] = label;
        }
        self.wrap_looks(shape);
    }

    /// Writes which actions can do something: any move, and a shot at somebody who is not a corpse, with a bullet. The
    /// dead can only stay.
    pub(super) fn masks(&self, shape: &Shape, masks: &mut [bool]) {
        for (piece, mask) in masks.chunks_exact_mut(ACTIONS).enumerate() {
            mask.fill(false);
            if self.kinds[piece] < SURVIVOR {
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

/// Copies the window that begins with `looks`, as those see it who look like `me`.
#[inline(always)]
fn look(looks: &[u8], stride: usize, me: u8, obs: &mut [u8]) {
    // All survivors are others, and those who look like me are one less: `OWN`.
    let seen = |look: u8| look.min(OTHER).wrapping_sub(u8::from(look == me));
    for row in 0..WINDOW - 1 {
        let from: [u8; CHUNK] = *looks[row * stride..].first_chunk().unwrap_or(&[0; CHUNK]);
        let to = &mut obs[row * WINDOW..row * WINDOW + CHUNK];
        to.copy_from_slice(&from.map(seen));
    }
    let last = &looks[(WINDOW - 1) * stride..][..WINDOW];
    for (to, &look) in obs[(WINDOW - 1) * WINDOW..].iter_mut().zip(last) {
        *to = seen(look);
    }
}
