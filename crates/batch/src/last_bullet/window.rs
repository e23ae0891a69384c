//! The observations of the survivors, as numbers.

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

/// The number of bytes copied at once: a row of a window, and some of the next row, which is then overwritten.
const CHUNK: usize = 32;

impl World {
    /// Writes the observations of some survivors; zeros for the dead.
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

    /// Gives the living the looks that they have to one group of entries; see [`GROUP`].
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

    /// Whether an action of a survivor can have an effect, or the survivor is dead.
    #[inline]
    pub(super) fn is_legal(&self, shape: &Shape, piece: usize, action: u8) -> bool {
        let Some(target) = usize::from(action).checked_sub(MOVES) else { return true };
        // The margin shows what lies beyond the edges.
        let there = self.in_reach(shape, piece) + target / TARGETS * shape.stride() + target % TARGETS;
        self.kinds[piece] < SURVIVOR
            || self.bullets[piece] > 0 && self.looks[there] != EMPTY && self.looks[there] != CORPSE
    }

    /// The place of the first square that a survivor's gun reaches.
    #[inline]
    fn in_reach(&self, shape: &Shape, piece: usize) -> usize {
        let range = usize::from(RANGE);
        shape.place(self.squares[piece]) - range * shape.stride() - range
    }

    /// Marks the actions of some survivors that can have an effect: any move, and with a bullet a shot at a piece that is not a
    /// corpse. The dead can only stay.
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

/// Writes the observations of the survivors in a group, with the best instructions that the machine
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

/// Copies the window that begins with `looks`, as the survivors that look like `me` see it.
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
