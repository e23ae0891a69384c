//! What went wrong with bots, and what they have written to standard error.

use crate::paint::{self, Painted, count, dim, red, wrapped, yellow};
use anstyle::Style;
use necrodome_arena::fault::{FaultKind, SeatFault, Trouble, shown};
use necrodome_rules::{game::Seat, names::Names};
use std::{
    fmt::Display,
    io::{self, Write},
};

/// The trouble of one match: the first faults of each seat (many of a kind are counted), then of each log the beginning and the end.
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
            let kind = fault.fault.kind;
            fault_line(out, kind, &name, &with_hint(fault.fault.to_string(), kind))?;
        }
        if own.len() > FAULTS {
            line(out, red("fault:"), &name, format!("{} more", own.len() - FAULTS))?;
        }
    }
    for (&seat, log) in Seat::all(names.len()).iter().zip(logs) {
        for written in shown(log, LINES) {
            line(out, dim("log:"), paint::name(names, seat), written)?;
        }
    }
    hint_at_walls(out, logs.iter().flat_map(|log| log.lines()))
}

/// The trouble of many matches, counted.
pub fn print(out: &mut impl Write, trouble: &Trouble) -> io::Result<()> {
    for fault in &trouble.faults {
        let times = count(fault.count, "time");
        let text = format!("{} {times}, first in {}", fault.kind, fault.first);
        fault_line(out, fault.kind, &Painted(Style::new(), &fault.name), &with_hint(text, fault.kind))?;
    }
    for log in &trouble.logs {
        log.lines.iter().try_for_each(|written| line(out, dim("log:"), &log.name, written))?;
    }
    hint_at_walls(out, trouble.logs.iter().flat_map(|log| log.lines.iter().map(String::as_str)))
}

/// What a program is not allowed to see, it takes for missing.
fn hint_at_walls<'a>(out: &mut impl Write, mut logs: impl Iterator<Item = &'a str>) -> io::Result<()> {
    const SIGNS: [&str; 4] = ["No such file or directory", "Permission denied", "ENOENT", "EACCES"];
    if logs.any(|written| SIGNS.iter().any(|sign| written.contains(sign))) {
        let hint = "hint: a program that is confined sees its own folder, its interpreter and the system, and writes to /tmp only: \
                    --share PATH lets programs read more (`necrodome docs security`)";
        wrapped(hint, 0).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    Ok(())
}

fn with_hint(text: String, kind: FaultKind) -> String {
    kind.hint().map_or(text.clone(), |hint| format!("{text} (hint: {hint})"))
}

/// What an entry did wrong, in lines that fit a terminal.
fn fault_line(out: &mut impl Write, kind: FaultKind, name: &Painted<&str>, text: &str) -> io::Result<()> {
    let word = if kind.is_warning() { yellow("warning:") } else { red("fault:") };
    let taken = format!("{} {}: ", word.1, name.1).chars().count();
    writeln!(out, "{word} {name}: {}", wrapped(text, taken).join("\n"))
}

fn line(out: &mut impl Write, kind: Painted<&str>, name: impl Display, text: impl Display) -> io::Result<()> {
    writeln!(out, "{kind} {name}: {text}")
}
