//! All entries in one match per block, in a new random order each time. The rulebook ranks by the median.

use super::{Rules, Seats, whole_field};
use crate::stats::Measure;

pub(super) const RULES: Rules =
    Rules { seats: Seats::All, groups: whole_field, rotates: false, measure: Measure::MedianScore };
