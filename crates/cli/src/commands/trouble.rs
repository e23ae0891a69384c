//! Prints what went wrong with bots, and what they wrote to standard error.

use crate::{
    commands::new_bot::quoted,
    paint::{self, Painted, count, dim, red, wrapped, yellow},
};
use anstyle::Style;
use necrodome_arena::{
    entry::{EntryKind, EntrySpec},
    fault::{FaultKind, SeatFault, Trouble, hinted, shown},
};
use necrodome_rules::{game::Seat, names::Names};
use std::{
    collections::BTreeSet,
    fmt::Display,
    io::{self, Write},
};

/// Prints the trouble of one match: the first faults of each seat, with repeated ones counted, then the beginning and end of each log.
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
        let mut told = Vec::new();
        for SeatFault { fault, .. } in own.iter().take(FAULTS) {
            // What to do about faults of a kind is said once.
            let hint = fault.hint.as_deref().filter(|_| !told.contains(&fault.kind));
            told.extend(hint.map(|_| fault.kind));
            fault_line(out, fault.kind, &name, &hinted(&fault.to_string(), hint))?;
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
    let hinted = faults.iter().any(|fault| fault.fault.hint.is_some());
    hint_at_walls(out, hinted, logs.iter().flat_map(|log| log.lines()))
}

/// Prints the trouble of many matches, counted.
pub fn print(out: &mut impl Write, trouble: &Trouble) -> io::Result<()> {
    let mut said = BTreeSet::new();
    for fault in &trouble.faults {
        let text = match fault.kind {
            // How many matches it missed says nothing about the bot.
            FaultKind::Out => format!("out since {}", fault.first),
            kind => format!("{kind} {}, first in {}", count(fault.count, "time"), fault.first),
        };
        // What to do is said once.
        let hint = fault.hint.as_deref().filter(|&hint| said.insert((&fault.name, hint)));
        fault_line(out, fault.kind, &Painted(Style::new(), &fault.name), &hinted(&text, hint))?;
    }
    for log in &trouble.logs {
        log.lines.iter().try_for_each(|written| line(out, dim("log:"), &log.name, written))?;
    }
    let hinted = trouble.faults.iter().any(|fault| fault.hint.is_some());
    hint_at_walls(out, hinted, trouble.logs.iter().flat_map(|log| log.lines.iter().map(String::as_str)))
}

/// Returns the command that checks an entry, in backticks.
pub fn check_bot(game: &str, entry: &EntrySpec) -> String {
    let models = if matches!(entry.kind, EntryKind::Model(_)) { " --models FILE" } else { "" };
    format!("`necrodome check-bot {game} {}{models}`", quoted(&entry.text))
}

/// Says how to look into the faults of programs, once for each of them.
pub fn hint_at_checks(
    out: &mut impl Write,
    game: &str,
    entries: &[EntrySpec],
    faults: &[SeatFault],
) -> io::Result<()> {
    for (seat, entry) in entries.iter().enumerate() {
        let failed = faults.iter().any(|at| at.seat.index() == seat && !at.fault.kind.is_warning());
        if failed && matches!(entry.kind, EntryKind::Program(_) | EntryKind::Wasm(_)) {
            writeln!(out, "hint: {} looks at every answer", check_bot(game, entry))?;
        }
    }
    Ok(())
}

/// Adds a hint if a program probably missed a file that the sandbox hides, or may not write one: what it may not see, it takes for
/// missing. Not after other hints, which know more.
pub fn hint_at_walls<'a>(
    out: &mut impl Write,
    hinted: bool,
    mut logs: impl Iterator<Item = &'a str>,
) -> io::Result<()> {
    const SIGNS: [&str; 6] = [
        "No such file or directory",
        "Permission denied",
        "Read-only file system",
        "ENOENT",
        "EACCES",
        "EROFS",
    ];
    if !hinted && logs.any(|written| SIGNS.iter().any(|sign| written.contains(sign))) {
        let hint = "hint: a program that is confined sees its own folder, its interpreter and the system, and writes to /tmp only: \
                    --share PATH lets programs read more (`necrodome docs security`)";
        wrapped(hint, 0).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    Ok(())
}

/// Prints a fault of an entry, in lines that fit a terminal.
fn fault_line(out: &mut impl Write, kind: FaultKind, name: &Painted<&str>, text: &str) -> io::Result<()> {
    let word = if kind.is_warning() { yellow("warning:") } else { red("fault:") };
    let taken = format!("{} {}: ", word.1, name.1).chars().count();
    writeln!(out, "{word} {name}: {}", wrapped(text, taken).join("\n"))
}

fn line(out: &mut impl Write, kind: Painted<&str>, name: impl Display, text: impl Display) -> io::Result<()> {
    writeln!(out, "{kind} {name}: {text}")
}
