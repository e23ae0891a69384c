//! How far a bot is confined, and the parts of which its confinement is made.
//!
//! Each part is used where the kernel offers it: namespaces with a file system of the bot's own ([`namespaces`]), then Landlock,
//! seccomp, no capabilities and resource limits ([`walls`]). What a bot may read is decided once, outside, by [`allowed`].

mod allowed;
mod level;
mod namespaces;
mod walls;

pub(super) use allowed::{Sight, is_common, readable};
pub use level::{Level, LevelError, Reach, Wish};
pub(super) use namespaces::{enter_root, leave};
pub(super) use walls::{Walls, close};
