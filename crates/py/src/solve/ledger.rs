//! The ledger of a recorded match.

use crate::setup::{self, refuse};
use necrodome_arena::replay::{Unpacked, unpack};
use necrodome_rules::{catalog::Listed, with_game};
use pyo3::prelude::*;

/// Reports what every decision of a packed replay cost and what every roll brought: the document of `necrodome analyze --json`.
#[pyfunction]
pub fn analyze(py: Python<'_>, packed: &[u8]) -> PyResult<String> {
    let packed = packed.to_vec();
    py.detach(move || {
        let unpacked = unpack(packed).map_err(refuse)?;
        let id = setup::game(&unpacked.game)?;
        with_game!(id, G => audit::<G>(unpacked))
    })
}

fn audit<G: Listed>(unpacked: Unpacked) -> PyResult<String> {
    let replay = unpacked.parse::<G>().map_err(refuse)?;
    let solution = necrodome_solve::solve::<G>(&replay.rules, replay.names.iter().count()).map_err(refuse)?;
    let ledger = replay.ledger(solution).map_err(refuse)?;
    serde_json::to_string(&ledger.report(&replay.names, &replay.rules)).map_err(refuse)
}
