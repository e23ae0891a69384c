//! Some worlds of a batch, stepped on one thread.

use super::moves::Scratch;
use super::shape::Shape;
use super::world::{SURVIVOR, World};
use crate::{
    batch::{Autoreset, Out},
    observe::last_bullet::CELLS,
};

/// Worlds next to each other, and what belongs to their rows.
pub(super) struct Part<'a> {
    pub(super) shape: &'a Shape,
    pub(super) worlds: &'a mut [World],
    pub(super) scratch: &'a mut Scratch,
    pub(super) out: Out<'a, u8>,
}

impl Part<'_> {
    /// Begins the worlds that are marked, or all, and writes the observations of all.
    pub(super) fn reset(self, which: Option<&[bool]>) {
        let Part { shape, worlds, scratch, mut out } = self;
        for (one, (world, mut out)) in worlds.iter_mut().zip(split(&mut out, shape.survivors())).enumerate() {
            if which.is_none_or(|which| which[one]) {
                world.begin(shape, scratch);
                report(world, shape, &mut out, 0.0);
            }
            out.obs.fill(0);
            world.observe(shape, out.obs);
        }
    }

    /// Plays a turn in each world.
    pub(super) fn step(self, actions: &[u8], autoreset: Autoreset) {
        let Part { shape, worlds, scratch, mut out } = self;
        let actions = actions.chunks_exact(shape.survivors());
        for ((world, mut out), actions) in
            worlds.iter_mut().zip(split(&mut out, shape.survivors())).zip(actions)
        {
            match (world.over, autoreset) {
                (false, _) => {
                    world.turn(shape, actions, scratch);
                    report(world, shape, &mut out, 1.0);
                    if world.over && autoreset == Autoreset::SameStep {
                        out.final_obs.fill(0);
                        world.observe(shape, out.final_obs);
                        world.begin(shape, scratch);
                    }
                }
                (true, Autoreset::Disabled) => report(world, shape, &mut out, 0.0),
                (true, Autoreset::NextStep | Autoreset::SameStep) => {
                    world.begin(shape, scratch);
                    report(world, shape, &mut out, 0.0);
                }
            }
            world.observe(shape, out.obs);
        }
    }
}

/// Writes rewards and flags: `reward` for the living.
fn report(world: &World, shape: &Shape, out: &mut Out<'_, u8>, reward: f32) {
    let cut = world.over && world.alive > 0;
    for (row, &kind) in world.kinds[..shape.survivors()].iter().enumerate() {
        let lives = kind >= SURVIVOR;
        out.rewards[row] = if lives { reward } else { 0.0 };
        out.terminated[row] = !lives;
        out.truncated[row] = lives && cut;
    }
}

/// What belongs to each next so many rows.
pub(super) fn split<'a>(out: &'a mut Out<'_, u8>, rows: usize) -> impl Iterator<Item = Out<'a, u8>> {
    let cells = rows * CELLS;
    let obs = out.obs.chunks_mut(cells).zip(out.final_obs.chunks_mut(cells));
    let flags = out.terminated.chunks_mut(rows).zip(out.truncated.chunks_mut(rows));
    obs.zip(out.rewards.chunks_mut(rows)).zip(flags).map(
        |(((obs, final_obs), rewards), (terminated, truncated))| Out {
            obs,
            final_obs,
            rewards,
            terminated,
            truncated,
        },
    )
}
