//! The arena: bots in any language, matches, tournaments that can be defended, replays that prove themselves.

#![deny(missing_docs)]

pub mod stats;
