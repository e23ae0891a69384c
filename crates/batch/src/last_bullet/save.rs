//! Worlds as text, and back: only what boards and sets can be derived from.

use super::shape::Shape;
use super::world::{SURVIVOR, World};
use crate::{
    observe::last_bullet::code::{CORPSE, ZOMBIE},
    stream::Stream,
};
use necrodome_rules::last_bullet::{BULLETS, Square};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    shape: Shape,
    worlds: Vec<SavedWorld>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedWorld {
    stream: Stream,
    clock: u32,
    over: bool,
    /// What it is, column, row, bullets.
    pieces: Vec<(u8, u16, u16, u32)>,
}

pub(super) fn save(shape: &Shape, worlds: &[World]) -> Vec<u8> {
    let worlds = worlds.iter().map(|world| SavedWorld {
        stream: world.stream.clone(),
        clock: world.clock,
        over: world.over,
        pieces: world.kinds.iter().zip(&world.squares).zip(&world.bullets).map(piece).collect(),
    });
    // Plain numbers in lists: there is nothing that could fail.
    serde_json::to_vec(&Saved { shape: *shape, worlds: worlds.collect() }).unwrap_or_default()
}

fn piece(((&kind, at), &bullets): ((&u8, &Square), &u32)) -> (u8, u16, u16, u32) {
    (kind, at.x, at.y, bullets)
}

/// The worlds of a state, if it is one of so many worlds of this shape.
pub(super) fn restore(shape: &Shape, worlds: usize, state: &[u8]) -> Result<Vec<World>, String> {
    let saved: Saved = serde_json::from_slice(state)
        .map_err(|error| format!("not a saved state of Last Bullet: {error}"))?;
    if saved.shape != *shape {
        return Err(format!(
            "the state is of worlds with other rules: expected {shape:?}, came {:?}",
            saved.shape
        ));
    }
    if saved.worlds.len() != worlds {
        return Err(format!("expected a state of {worlds} worlds, came {}", saved.worlds.len()));
    }
    let world = |(index, world): (usize, SavedWorld)| {
        world.restore(shape).map_err(|why| format!("world {index} of the state: {why}"))
    };
    saved.worlds.into_iter().enumerate().map(world).collect()
}

impl SavedWorld {
    fn restore(self, shape: &Shape) -> Result<World, String> {
        self.check(shape)?;
        let mut world = World::new(shape, self.stream);
        (world.clock, world.over) = (self.clock, self.over);
        for (kind, x, y, bullets) in self.pieces {
            world.kinds.push(kind);
            world.squares.push(Square { x, y });
            world.bullets.push(bullets);
        }
        world.derive(shape);
        if self.over != (world.alive == 0 || world.is_out_of_turns(shape)) {
            let (over, clock, alive) = (self.over, self.clock, world.alive);
            return Err(format!("over is {over} at clock {clock} with {alive} alive"));
        }
        Ok(world)
    }

    /// Whether the pieces fit each other and the board.
    fn check(&self, shape: &Shape) -> Result<(), String> {
        let survivors = shape.survivors();
        if self.pieces.len() < survivors {
            return Err(format!("expected at least {survivors} pieces, came {}", self.pieces.len()));
        }
        let mut taken = vec![false; shape.squares()];
        for (index, &(kind, x, y, bullets)) in self.pieces.iter().enumerate() {
            let (column, row) = (usize::from(x), usize::from(y));
            let possible = match kind {
                SURVIVOR => index < survivors,
                ZOMBIE => bullets == 0,
                kind => kind == CORPSE,
            };
            if !possible || column >= shape.side || row >= shape.side {
                return Err(format!("piece {index} cannot be {:?}", (kind, x, y, bullets)));
            }
            if std::mem::replace(&mut taken[row * shape.side + column], true) {
                return Err(format!("two pieces stand at {x},{y}"));
            }
        }
        let bullets: u64 = self.pieces.iter().map(|piece| u64::from(piece.3)).sum();
        if bullets > survivors as u64 * u64::from(BULLETS) {
            return Err(format!("{bullets} bullets: more than there were at the start"));
        }
        Ok(())
    }
}
