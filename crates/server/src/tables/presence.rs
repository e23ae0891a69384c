//! Who is at a table, going by the pages that are open. This is forgotten when the server ends; the pages reconnect by themselves.

use super::LiveTable;
use crate::live::{Live, now};
use necrodome_rules::game::Seat;
use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};

/// The open pages of a table.
pub(super) struct Presence {
    /// When the table was opened, or resumed (milliseconds since 1970).
    since: u64,
    seats: BTreeMap<Seat, Pages>,
    /// How many pages are open without a seat.
    watching: usize,
}

#[derive(Default)]
struct Pages {
    open: usize,
    /// When the last page was closed.
    left: u64,
}

impl Default for Presence {
    fn default() -> Self {
        Presence { since: now(), seats: BTreeMap::new(), watching: 0 }
    }
}

impl Presence {
    /// Returns since when a seat has had no page open, or `None` while it has one.
    pub fn away_since(&self, seat: Seat) -> Option<u64> {
        match self.seats.get(&seat) {
            Some(pages) if pages.open > 0 => None,
            Some(pages) => Some(pages.left),
            None => Some(self.since),
        }
    }

    pub fn watching(&self) -> usize {
        self.watching
    }

    fn pages(&mut self, seat: Option<Seat>) -> &mut usize {
        match seat {
            Some(seat) => &mut self.seats.entry(seat).or_default().open,
            None => &mut self.watching,
        }
    }
}

/// A page, open until this is dropped.
pub(super) struct Page {
    table: Weak<Live<LiveTable>>,
    seat: Option<Seat>,
}

impl Page {
    pub fn open(table: &Arc<Live<LiveTable>>, seat: Option<Seat>) -> Self {
        table.update(|table| *table.presence.pages(seat) += 1);
        Page { table: Arc::downgrade(table), seat }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let Some(table) = self.table.upgrade() else { return };
        table.update(|table| {
            let open = table.presence.pages(self.seat);
            *open = open.saturating_sub(1);
            if let Some(pages) = self.seat.and_then(|seat| table.presence.seats.get_mut(&seat)) {
                pages.left = now();
            }
        });
    }
}
