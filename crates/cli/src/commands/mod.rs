//! One module for each command.

pub mod bots;
pub mod games;
pub mod play_match;

use crate::error::Error;
use serde::Serialize;
use std::io::Write;

/// One JSON document on standard output.
fn print_json(document: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(document).map_err(std::io::Error::from)?;
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(())
}
