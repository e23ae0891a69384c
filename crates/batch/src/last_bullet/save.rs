//! Worlds as bytes, and back: only the state from which boards and sets can be derived.

use super::observe::code::{CORPSE, ZOMBIE};
use super::shape::Shape;
use super::world::{World, survivor};
use crate::stream::Stream;
use necrodome_rules::last_bullet::{BULLETS, Square};
use serde::{Deserialize, Serialize};

/// A world without what follows from its pieces.
#[derive(Serialize, Deserialize)]
pub struct SavedWorld {
    stream: Stream,
    clock: u32,
    over: bool,
    /// For each piece its kind, column, row and bullets.
    pieces: Vec<(u8, u16, u16, u32)>,
}

impl SavedWorld {
    pub(super) fn new(world: &World) -> Self {
        let piece = |((&kind, at), &bullets): ((&u8, &Square), &u32)| (kind, at.x, at.y, bullets);
        SavedWorld {
            stream: world.stream.clone(),
            clock: world.clock,
            over: world.over,
            pieces: world.kinds.iter().zip(&world.squares).zip(&world.bullets).map(piece).collect(),
        }
    }

    pub(super) fn restore(self, shape: &Shape) -> Result<World, String> {
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

    /// Checks that the pieces fit each other and the board.
    fn check(&self, shape: &Shape) -> Result<(), String> {
        let survivors = shape.survivors();
        if self.pieces.len() < survivors {
            return Err(format!("expected at least {survivors} pieces, came {}", self.pieces.len()));
        }
        let mut taken = vec![false; shape.squares()];
        for (index, &(kind, x, y, bullets)) in self.pieces.iter().enumerate() {
            let (column, row) = (usize::from(x), usize::from(y));
            let possible = match kind {
                CORPSE => true,
                ZOMBIE => bullets == 0,
                kind => index < survivors && kind == survivor(index / shape.copies),
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

#[cfg(test)]
mod tests {
    use super::super::moves::Scratch;
    use super::*;
    use crate::kernel::Kernel;

    #[test]
    fn worlds_that_cannot_be_are_refused() {
        let mut shape = Shape::new(&Default::default(), 1).unwrap();
        (shape.copies, shape.side, shape.max_turns) = (2, 17, Some(20));
        let mut world = World::new(&shape, Stream::new(1));
        world.begin(&shape, &mut Scratch::new(&shape));
        assert_eq!(SavedWorld::new(&world).restore(&shape), Ok(world.clone()));

        let refused = |change: &dyn Fn(&mut World), why: &str| {
            let mut world = world.clone();
            change(&mut world);
            let error = SavedWorld::new(&world).restore(&shape).unwrap_err();
            assert!(error.contains(why), "{error}");
        };
        refused(&|world| world.kinds.truncate(1), "expected at least 2 pieces, came 1");
        refused(&|world| world.kinds[0] = 0, "piece 0 cannot be");
        refused(&|world| world.kinds[0] = survivor(1), "piece 0 cannot be");
        refused(&|world| world.kinds[2] = survivor(0), "piece 2 cannot be");
        refused(&|world| world.bullets[2] = 1, "piece 2 cannot be");
        refused(&|world| world.squares[1].y = 17, "piece 1 cannot be");
        refused(&|world| world.squares[1] = world.squares[0], "two pieces stand at");
        refused(&|world| world.bullets[0] = 9, "more than there were at the start");
        refused(&|world| world.clock = 20, "over is false at clock 20 with 2 alive");
        refused(&|world| world.over = true, "over is true at clock 0 with 2 alive");
    }
}
