//! The first entry against each of the others.

use super::{Rules, Seats};
use crate::stats::Measure;

pub(super) const RULES: Rules = Rules {
    seats: Seats::Two,
    groups: |entries, _| Ok((1..entries).map(|other| vec![0, other]).collect()),
    rotates: true,
    measure: Measure::AgainstFirst,
};
