//! The native module under the Python package: what needs the speed or the truth of the Rust crates.
//!
//! It is thin. Names, defaults and everything that people see are in `python/necrodome`; what crosses the border is numpy
//! arrays (batches) and JSON (views, actions, reports: the same as in the bot protocol).

mod arena;
mod referee;
mod setup;
mod solve;
mod vector;

use pyo3::prelude::*;

#[pymodule]
#[pyo3(name = "_native")]
mod native {
    use super::*;

    #[pymodule_export]
    use super::arena::{Playing, play, run_stage};
    #[pymodule_export]
    use super::referee::Referee;
    #[pymodule_export]
    use super::solve::{Solution, analyze, evaluate};
    #[pymodule_export]
    use super::vector::Vector;

    /// The version of the package.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
