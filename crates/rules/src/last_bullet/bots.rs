//! Built-in bots. Each decides copy by copy; none of them shares knowledge between its copies.

use super::{
    Action, CopyView, Direction, LastBullet, LastBulletView, Order, Seen, WhoIs,
    rules::{RANGE, VISION},
};
use crate::{
    bot::{Bot, BuiltIn, Named},
    chance::{Chance, Seeded},
    options::{Bounded, NoOptions},
};
use alloc::{vec, vec::Vec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The built-in bots.
pub fn built_ins() -> Vec<BuiltIn<LastBullet>> {
    vec![
        BuiltIn::of::<StandStill>(),
        BuiltIn::of::<Wander>(),
        BuiltIn::of::<Runner>(),
        BuiltIn::of::<Gunner>(),
        BuiltIn::of::<Huddle>(),
    ]
}

/// Orders for all copies of a view.
fn order_all(view: &LastBulletView, order: impl FnMut(&CopyView) -> Order) -> Action {
    Action { orders: view.copies.iter().map(order).collect() }
}

fn walk(copy: &CopyView, direction: Direction) -> Order {
    Order::Move { copy: copy.number, direction }
}

fn nearest_zombie(copy: &CopyView) -> Option<&Seen> {
    copy.seen.iter().filter(|seen| seen.who == WhoIs::ZOMBIE).min_by_key(|seen| seen.distance())
}

/// The step onto a free square that keeps the nearest zombie as far away as possible, then all zombies together.
fn flee(copy: &CopyView) -> Direction {
    let mut taken = [false; 9];
    for seen in copy.seen.iter().filter(|seen| seen.distance() == 1) {
        taken[Direction::toward(seen.dx.into(), seen.dy.into()) as usize] = true;
    }
    let safety = |direction: &Direction| {
        let (dx, dy) = direction.offset();
        let (mut nearest, mut sum) = (i32::from(VISION) + 2, 0);
        for seen in copy.seen.iter().filter(|seen| seen.who == WhoIs::ZOMBIE) {
            let (x, y) = (i32::from(seen.dx) - dx, i32::from(seen.dy) - dy);
            nearest = nearest.min(x.abs().max(y.abs()));
            sum += x.abs() + y.abs();
        }
        (nearest, sum)
    };
    let free = Direction::ALL.into_iter().filter(|&direction| !taken[direction as usize]);
    free.max_by_key(safety).unwrap_or(Direction::Stay)
}

struct StandStill;

impl Named for StandStill {
    const NAME: &'static str = "stand-still";
    const ABOUT: &'static str = "Does nothing and hopes.";
    type Params = NoOptions;

    fn new(_: NoOptions, _: impl FnOnce() -> Seeded) -> Self {
        StandStill
    }
}

impl Bot<LastBullet> for StandStill {
    fn act(&mut self, _: &LastBulletView) -> Action {
        Action::default()
    }
}

struct Wander(Seeded);

impl Named for Wander {
    const NAME: &'static str = "wander";
    const ABOUT: &'static str = "Walks in random directions.";
    type Params = NoOptions;

    fn new(_: NoOptions, chance: impl FnOnce() -> Seeded) -> Self {
        Wander(chance())
    }
}

impl Bot<LastBullet> for Wander {
    fn act(&mut self, view: &LastBulletView) -> Action {
        order_all(view, |copy| walk(copy, Direction::ALL[self.0.uniform(9) as usize]))
    }
}

struct Runner;

impl Named for Runner {
    const NAME: &'static str = "runner";
    const ABOUT: &'static str = "Flees the nearest zombie and never shoots.";
    type Params = NoOptions;

    fn new(_: NoOptions, _: impl FnOnce() -> Seeded) -> Self {
        Runner
    }
}

impl Bot<LastBullet> for Runner {
    fn act(&mut self, view: &LastBulletView) -> Action {
        order_all(view, |copy| match nearest_zombie(copy) {
            Some(_) => walk(copy, flee(copy)),
            None => walk(copy, Direction::Stay),
        })
    }
}

/// The parameters of `gunner`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Gunner {
    /// Shoots a zombie that is at most this far away.
    range: Bounded<1, { RANGE as u32 }>,
}

impl Default for Gunner {
    fn default() -> Self {
        Gunner { range: Bounded::new(2) }
    }
}

impl Named for Gunner {
    const NAME: &'static str = "gunner";
    const ABOUT: &'static str = "Shoots a zombie that comes too close, flees when it cannot.";
    type Params = Gunner;

    fn new(params: Gunner, _: impl FnOnce() -> Seeded) -> Self {
        params
    }
}

impl Bot<LastBullet> for Gunner {
    fn act(&mut self, view: &LastBulletView) -> Action {
        order_all(view, |copy| match nearest_zombie(copy) {
            Some(zombie) if copy.bullets > 0 && u32::from(zombie.distance()) <= self.range.get() => {
                Order::Shoot { copy: copy.number, target: zombie.number }
            }
            Some(_) => walk(copy, flee(copy)),
            None => walk(copy, Direction::Stay),
        })
    }
}

/// The parameters of `huddle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Huddle {
    /// Leaves the others for a zombie that is at most this far away.
    fear: Bounded<1, { VISION as u32 }>,
}

impl Default for Huddle {
    fn default() -> Self {
        Huddle { fear: Bounded::new(3) }
    }
}

impl Named for Huddle {
    const NAME: &'static str = "huddle";
    const ABOUT: &'static str = "Gathers with its own kind, who shoot together what comes too close.";
    type Params = Huddle;

    fn new(params: Huddle, _: impl FnOnce() -> Seeded) -> Self {
        params
    }
}

impl Bot<LastBullet> for Huddle {
    fn act(&mut self, view: &LastBulletView) -> Action {
        order_all(view, |copy| match nearest_zombie(copy) {
            Some(zombie) if u32::from(zombie.distance()) <= self.fear.get() => {
                if copy.bullets > 0 && u16::from(zombie.distance()) <= RANGE {
                    Order::Shoot { copy: copy.number, target: zombie.number }
                } else {
                    walk(copy, flee(copy))
                }
            }
            _ => {
                let friends = copy.seen.iter().filter(|seen| seen.who == view.me);
                let (dx, dy) = friends
                    .fold((0, 0), |(dx, dy), friend| (dx + i32::from(friend.dx), dy + i32::from(friend.dy)));
                walk(copy, Direction::toward(dx, dy))
            }
        })
    }
}
