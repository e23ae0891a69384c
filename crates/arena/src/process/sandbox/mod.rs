//! Confines bots, at one of several levels made of the same parts.
//!
//! Each part is used if the kernel offers it: namespaces with a separate file system for the bot ([`namespaces`]), then Landlock,
//! seccomp, no capabilities and resource limits ([`walls`]). [`allowed`] decides once, outside, what a bot may read.

mod allowed;
mod level;
mod namespaces;
mod walls;

pub(crate) use allowed::beyond_system;
pub(super) use allowed::{Sight, is_common, readable};
pub use level::{Level, LevelError, Reach, Wish};
pub(super) use namespaces::{enter_root, leave};
pub(super) use walls::{Walls, close};
