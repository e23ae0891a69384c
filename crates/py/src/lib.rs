//! The native module under the Python package: the parts that need the speed or the rules of the Rust crates.
//!
//! It is thin. Names, defaults and everything that people see are in `python/necrodome`. It exchanges numpy
//! arrays (batches), objects (what bots in Python see and answer) and JSON (everything else, as in the bot protocol).
//!
//! The arena runs on Linux. On other systems the module has no matches, tournaments, replays or seats in processes.

#[cfg(target_os = "linux")]
mod arena;
#[cfg(target_os = "linux")]
mod cluster;
mod exit;
#[cfg(target_os = "linux")]
mod guest;
mod referee;
mod setup;
mod solo;
mod solve;
mod tree;
#[cfg(target_os = "linux")]
mod values;
mod vector;
mod zombies;

use pyo3::prelude::*;

#[pymodule]
#[pyo3(name = "_native")]
mod native {
    use super::*;

    #[pymodule_export]
    use super::exit::close;
    #[pymodule_export]
    use super::referee::{Referee, card};
    #[pymodule_export]
    use super::solo::Solo;
    #[pymodule_export]
    use super::solve::{Solution, evaluate};
    #[pymodule_export]
    use super::tree::Position;
    #[pymodule_export]
    use super::vector::{Vector, bot_actions, usual_seats};
    #[pymodule_export]
    use super::zombies::{TurnOver, ZombieHand, ZombieTable, ZombieTurn};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::{
        arena::{Replay, play, run_stage},
        cluster::{Merger, audit_store, pack_plan, plan_check, plan_info, play_shard},
        guest::Legal,
        solve::analyze,
        zombies::ZombieSeat,
    };

    /// The instruction set that the batches use, such as "avx2".
    #[pyfunction]
    fn instruction_set() -> PyResult<&'static str> {
        use necrodome_batch::instructions::{chosen, name};
        chosen().map(|_| name()).map_err(setup::refuse)
    }

    /// The version of the package.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
