//! Every group of as many entries as a match has seats: all pairs of entries meet equally often, so that win rates can be compared.

use super::{Groups, Rules, Seats};
use crate::{
    stats::Measure,
    tournament::{ScheduleError, schedule::MAX_SEATINGS},
};

pub(super) const RULES: Rules =
    Rules { seats: Seats::Any, groups: combinations, rotates: true, measure: Measure::WinRate };

/// Returns every group of `size` entries out of `count`, in order.
fn combinations(count: usize, size: usize) -> Groups {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut group: Vec<usize> = (0..size).collect();
    loop {
        if groups.len() >= MAX_SEATINGS {
            return Err(ScheduleError::TooMany);
        }
        groups.push(group.clone());
        let Some(place) = (0..size).rev().find(|&place| group[place] < count - size + place) else {
            return Ok(groups);
        };
        group[place] += 1;
        for later in place + 1..size {
            group[later] = group[later - 1] + 1;
        }
    }
}
