//! One module for each command.

pub mod advise;
pub mod analyze;
pub mod bots;
pub mod check_bot;
pub mod docs;
pub mod games;
pub mod judge;
pub mod new_bot;
pub mod play;
pub mod play_match;
pub mod replay;
pub mod serve;
pub mod shell;
pub mod solve;
pub mod tournament;
mod trouble;

use crate::error::Error;
use serde::Serialize;
use std::io::Write;

/// One JSON document on standard output.
fn print_json(document: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(document).map_err(std::io::Error::from)?;
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(())
}
