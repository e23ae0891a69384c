//! Last Bullet (rulebook section 2): king of the hill on a torus, with rising zombies and three bullets each.

mod board;
mod bots;
mod moves;
mod numbers;
mod referee;
mod sight;
mod view;
mod zombies;

pub use board::{Kind, Piece, Square, Torus};
pub use bots::built_ins;
pub use referee::{
    Action, BULLETS, Density, Direction, Event, Illegal, LastBullet, LastBulletRules, Order, RANGE, Replaced,
    ShotResult, VISION,
};
pub use view::{CORPSE, CopyView, LastBulletView, Seen, WhoIs, ZOMBIE};
