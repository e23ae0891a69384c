//! All entries at one table.

use super::{Rules, Seats, whole_field};
use crate::stats::Measure;

pub(super) const RULES: Rules =
    Rules { seats: Seats::All, groups: whole_field, rotates: true, measure: Measure::WinRate };
