//! What went wrong with bots, and what they have written to standard error.

use crate::paint::{self, Painted, count, dim, red};
use necrodome_arena::fault::{SeatFault, Trouble};
use necrodome_rules::{game::Seat, names::Names};
use std::{
    fmt::Display,
    io::{self, Write},
};

/// The trouble of one match: the first faults of each seat (many of a kind are counted), then the end of each log.
pub fn print_match(
    out: &mut impl Write,
    names: &Names,
    faults: &[SeatFault],
    logs: &[String],
) -> io::Result<()> {
    const FAULTS: usize = 5;
    const LINES: usize = 20;
    for &seat in Seat::all(names.len()) {
        let name = paint::name(names, seat);
        let own: Vec<_> = faults.iter().filter(|fault| fault.seat == seat).collect();
        for fault in own.iter().take(FAULTS) {
            line(out, red("fault:"), &name, &fault.fault)?;
        }
        if own.len() > FAULTS {
            line(out, red("fault:"), &name, format!("{} more", own.len() - FAULTS))?;
        }
    }
    for (&seat, log) in Seat::all(names.len()).iter().zip(logs) {
        let skipped = log.lines().count().saturating_sub(LINES);
        for written in log.lines().skip(skipped) {
            // Control characters must not reach the terminal.
            let harmless: String = written.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
            line(out, dim("log:"), paint::name(names, seat), harmless)?;
        }
    }
    Ok(())
}

/// The trouble of many matches, counted.
pub fn print(out: &mut impl Write, trouble: &Trouble) -> io::Result<()> {
    for fault in &trouble.faults {
        let times = count(fault.count, "time");
        line(out, red("fault:"), &fault.name, format!("{} {times}, first in {}", fault.kind, fault.first))?;
    }
    for log in &trouble.logs {
        log.lines.iter().try_for_each(|written| line(out, dim("log:"), &log.name, written))?;
    }
    Ok(())
}

fn line(out: &mut impl Write, kind: Painted<&str>, name: impl Display, text: impl Display) -> io::Result<()> {
    writeln!(out, "{kind} {name}: {text}")
}
