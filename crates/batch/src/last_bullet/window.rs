//! What the survivors see, as numbers.

use super::observe::{
    ACTIONS, CELLS, MOVES, REACH, TARGETS, WINDOW,
    code::{CORPSE, EMPTY, OTHER},
};
use super::set::pop;
use super::shape::{STAY, Shape};
use super::world::{ANOTHER, GROUP, SURVIVOR, World};
use crate::instructions::arch;
use necrodome_rules::last_bullet::RANGE;
use pulp::NullaryFnOnce;
use std::ops::Range;

/// Bytes that are copied at once: a row of a window, and some of the next, which is copied after it.
const CHUNK: usize = 32;

impl World {
    /// Writes the observations of some survivors; of the dead, zeros.
    pub(super) fn observe(&mut self, shape: &Shape, pieces: Range<usize>, obs: &mut [u8]) {
        let arch = arch();
        let groups = shape.entries.div_ceil(GROUP);
        for group in (0..groups).rev() {
            if groups > 1 {
                self.label(shape, group);
            }
            arch.dispatch(Observe { world: self, shape, pieces: pieces.clone(), obs });
        }
        for mut word in self.living.missing(pieces.clone()) {
            while let Some(piece) = pop(&mut word) {
                obs[(piece - pieces.start) * CELLS..][..CELLS].fill(EMPTY);
            }
        }
    }

    /// Makes the living look like what they are to one group of entries; see [`GROUP`].
    fn label(&mut self, shape: &Shape, group: usize) {
        for mut word in self.living.words() {
            while let Some(piece) = pop(&mut word) {
                let entry = piece / shape.copies;
                let label = if entry / GROUP == group { SURVIVOR + (entry % GROUP) as u8 } else { ANOTHER };
                self.looks[shape.place(self.squares[piece])] = label;
            }
        }
        self.wrap_looks(shape);
    }

    /// Whether an action of a survivor can do something, or its survivor is dead.
    #[inline]
    pub(super) fn is_legal(&self, shape: &Shape, piece: usize, action: u8) -> bool {
        let Some(target) = usize::from(action).checked_sub(MOVES) else { return true };
        // The margin shows what lies beyond the edges.
        let there = self.in_reach(shape, piece) + target / TARGETS * shape.stride() + target % TARGETS;
        self.kinds[piece] < SURVIVOR
            || self.bullets[piece] > 0 && self.looks[there] != EMPTY && self.looks[there] != CORPSE
    }

    /// Where the first of the squares lies that the gun of a survivor reaches.
    #[inline]
    fn in_reach(&self, shape: &Shape, piece: usize) -> usize {
        let range = usize::from(RANGE);
        shape.place(self.squares[piece]) - range * shape.stride() - range
    }

    /// Writes which actions of some survivors can do something: any move, and a shot at somebody who is not a corpse, with a
    /// bullet. The dead can only stay.
    pub(super) fn masks(&self, shape: &Shape, pieces: Range<usize>, masks: &mut [bool]) {
        for (piece, mask) in pieces.zip(masks.chunks_exact_mut(ACTIONS)) {
            mask.fill(false);
            if self.kinds[piece] < SURVIVOR {
                mask[usize::from(STAY)] = true;
                continue;
            }
            let (moves, shots) = mask.split_at_mut(MOVES);
            moves.fill(true);
            if self.bullets[piece] > 0 {
                let rows = self.looks[self.in_reach(shape, piece)..].chunks(shape.stride());
                for (shots, looks) in shots.chunks_exact_mut(TARGETS).zip(rows) {
                    for (shot, &look) in shots.iter_mut().zip(looks) {
                        *shot = look != EMPTY && look != CORPSE;
                    }
                }
            }
        }
    }
}

/// Writes the observations of those survivors who have a number of their own, with the best instructions that the machine
/// has.
struct Observe<'a> {
    world: &'a World,
    shape: &'a Shape,
    pieces: Range<usize>,
    obs: &'a mut [u8],
}

impl NullaryFnOnce for Observe<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Observe { world, shape, pieces, obs } = self;
        let first = pieces.start;
        for mut word in world.living.within(pieces) {
            while let Some(piece) = pop(&mut word) {
                let place = shape.place(world.squares[piece]);
                let me = world.looks[place];
                let obs = obs[(piece - first) * CELLS..].first_chunk_mut::<CELLS>();
                if let (true, Some(obs)) = (me != ANOTHER, obs) {
                    look(&world.looks[place - REACH * shape.stride() - REACH..], shape.stride(), me, obs);
                    obs[CELLS - 1] = world.bullets[piece].min(u8::MAX.into()) as u8;
                }
            }
        }
    }
}

/// Copies the window that begins with `looks`, as those see it who look like `me`.
#[inline(always)]
fn look(looks: &[u8], stride: usize, me: u8, obs: &mut [u8; CELLS]) {
    // All survivors are others, and those who look like me are one less: `OWN`.
    let seen = |look: u8| look.min(OTHER).wrapping_sub(u8::from(look == me));
    let mut rows = looks.chunks_exact(stride);
    for row in 0..WINDOW - 1 {
        let Some(looks) = rows.next().and_then(|looks| looks.first_chunk::<CHUNK>()) else { return };
        obs[row * WINDOW..row * WINDOW + CHUNK].copy_from_slice(&looks.map(seen));
    }
    let Some(looks) = rows.next().and_then(|looks| looks.first_chunk::<WINDOW>()) else { return };
    let (most, last) = obs[(WINDOW - 1) * WINDOW..WINDOW * WINDOW].split_at_mut(WINDOW - 1);
    for (seen_there, &look) in most.iter_mut().zip(looks) {
        *seen_there = seen(look);
    }
    last[0] = seen(looks[WINDOW - 1]);
}
