//! Last Bullet at the terminal.

pub mod controls;
pub mod tell;
