//! Last Bullet (rulebook section 2): king of the hill on a torus, with rising zombies and three bullets each.

mod action;
mod board;
mod bots;
mod card;
mod event;
mod moves;
mod numbers;
mod referee;
mod rules;
mod sight;
mod view;
pub mod words;
mod zombies;

pub use action::{Action, Direction, Illegal, NOBODY, Order};
pub use board::{Kind, Piece, Square, Torus};
pub use bots::built_ins;
pub use event::{Event, Replaced, ShotResult};
pub use referee::LastBullet;
pub use rules::{BULLETS, Density, LastBulletRules, RANGE, VISION};
pub use view::{CORPSE, CopyView, LastBulletView, Seen, WhoIs, ZOMBIE};
