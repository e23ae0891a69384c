//! The ledger of a match, for people and for programs.

use crate::{
    commands,
    error::Error,
    paint::{bold, column, dim, fill, green, name, red, width, wrapped, yellow},
};
use anstream::adapter::strip_str;
use necrodome_arena::{replay::Replay, stats::Estimate};
use necrodome_rules::{catalog::Listed, game::Seat};
use necrodome_solve::{Ledger, LedgerEntry};
use std::io::{self, BufWriter, Write};

/// A cost below this is shown as zero.
const NOTHING: f64 = 5e-6;

/// How values are shown: chances in percent, points as they are.
pub struct Scale {
    factor: f64,
    digits: usize,
    sign: &'static str,
}

impl Scale {
    pub fn of<G: Listed>() -> Self {
        match *G::SEATS.end() {
            1 => Scale { factor: 1.0, digits: 3, sign: "" },
            _ => Scale { factor: 100.0, digits: 2, sign: "%" },
        }
    }

    pub fn show(&self, value: f64) -> String {
        format!("{:.*}{}", self.digits, value * self.factor, self.sign)
    }

    /// Returns `41.00% (37.46% to 44.54%)`, or a dash if nothing is known.
    pub fn estimate(&self, estimate: Option<&Estimate>) -> String {
        let Some(Estimate { mean, low, high }) = estimate else { return "-".to_owned() };
        match low.zip(*high) {
            Some((low, high)) => {
                format!("{} ({} to {})", self.show(*mean), self.show(low), self.show(high))
            }
            None => self.show(*mean),
        }
    }

    /// Returns a change with its unit: `+4.20%`.
    pub fn gain(&self, value: f64) -> String {
        self.change(value) + self.sign
    }

    fn change(&self, value: f64) -> String {
        format!("{:+.*}", self.digits, value * self.factor)
    }
}

pub fn print<G: Listed>(replay: &Replay<G>, ledger: &Ledger<G>) -> Result<(), Error> {
    let mut out = BufWriter::new(anstream::stdout().lock());
    let unit = Scale::of::<G>();
    let names = &replay.names;
    let rows = Rows::new();
    rows.head(&mut out)?;
    rows.write(
        &mut out,
        None,
        "before the first roll",
        [unit.show(ledger.start), String::new(), String::new()],
    )?;
    let mut current = None;
    let mut head = |out: &mut dyn Write, seat: Seat| match current.replace(seat) {
        Some(same) if same == seat => Ok(()),
        _ => writeln!(out, "{}", name(names, seat)),
    };
    for (number, entry) in ledger.entries.iter().enumerate() {
        match entry {
            LedgerEntry::Roll { step, seat, event, luck, after, .. } => {
                head(&mut out, *seat)?;
                let shown = unit.change(*luck);
                let shown = if *luck < 0.0 { yellow(shown) } else { green(shown) }.to_string();
                let numbers = [unit.show(*after), shown, String::new()];
                rows.write(&mut out, Some(*step), &G::dice(event, names), numbers)?;
            }
            LedgerEntry::Decision { step, seat, view, chosen, regret, after, .. } => {
                // The roll that follows says all.
                let rolls = matches!(ledger.entries.get(number + 1), Some(LedgerEntry::Roll { seat: who, .. }) if who == seat);
                if rolls && *regret <= NOTHING {
                    continue;
                }
                head(&mut out, *seat)?;
                let mut text = G::choice(view, chosen, names).to_string();
                let mut cost = String::new();
                if *regret > NOTHING {
                    let decision = ledger.decisions().find(|decision| decision.number == number);
                    text += &decision.map_or(String::new(), |d| format!("; best: {}", d.better(names)));
                    cost = red(unit.show(*regret)).to_string();
                }
                rows.write(&mut out, Some(*step), &text, [unit.show(*after), String::new(), cost])?;
            }
            LedgerEntry::Limit { after, .. } => {
                let numbers = [unit.show(*after), String::new(), String::new()];
                rows.write(&mut out, None, "the limit on rounds ends the match", numbers)?;
            }
        }
    }
    let first = &names[Seat(0)];
    let legend = match *G::SEATS.end() {
        1 => "value: the points to expect with perfect play from there; luck: what a roll added to them; cost: what a \
              mistake took away"
            .to_owned(),
        _ => format!(
            "value: the chance that {first} wins if both play perfectly from there; luck: what a roll added to it; \
             cost: what a mistake cost the player who made it"
        ),
    };
    for line in wrapped(&legend, 0) {
        writeln!(out, "{}", dim(line))?;
    }
    writeln!(out)?;
    sum(&mut out, replay, ledger, &unit)?;
    explain(&mut out, replay, ledger, &unit)?;
    out.flush()?;
    Ok(())
}

/// The table of a ledger. The column of events takes the width that the numbers leave.
struct Rows {
    what: usize,
}

/// The columns of the numbers.
const NUMBERS: [(&str, usize); 3] = [("value", 8), ("luck", 8), ("cost", 8)];
/// The width of the columns before the events.
const STEP: usize = 6;
/// The widest column of events: more width would not make them easier to read.
const MOST: usize = 58;

impl Rows {
    fn new() -> Self {
        let numbers: usize = NUMBERS.iter().map(|(_, width)| width).sum();
        Rows { what: width().saturating_sub(STEP + numbers).clamp(10, MOST) }
    }

    fn head(&self, out: &mut dyn Write) -> io::Result<()> {
        let [value, luck, cost] = NUMBERS.map(|(title, width)| format!("{title:>width$}"));
        writeln!(out, "{}", dim(format!("step  {:what$}{value}{luck}{cost}", "", what = self.what)))
    }

    /// Writes one row. Text that is too long for its column continues below.
    fn write(
        &self,
        out: &mut dyn Write,
        step: Option<usize>,
        text: &str,
        numbers: [String; 3],
    ) -> io::Result<()> {
        let lines = fill(text, 0, "  ", self.what);
        let step = step.map_or(String::new(), |step| step.to_string());
        let mut row = format!("{step:>4}  {}", lines.first().map_or("", String::as_str));
        let mut column = STEP + self.what;
        let mut used = row.chars().count();
        for (number, (_, width)) in numbers.iter().zip(NUMBERS) {
            column += width;
            if !number.is_empty() {
                let digits = strip_str(number).to_string().chars().count();
                row += &format!("{}{number}", " ".repeat(column.saturating_sub(used + digits)));
                used = column;
            }
        }
        writeln!(out, "{row}")?;
        lines.iter().skip(1).try_for_each(|line| writeln!(out, "{:STEP$}{line}", ""))
    }
}

/// Writes the equation that must hold.
fn sum<G: Listed>(
    out: &mut impl Write,
    replay: &Replay<G>,
    ledger: &Ledger<G>,
    unit: &Scale,
) -> std::io::Result<()> {
    let seats = Seat::all(replay.names.iter().count());
    let mut text =
        format!("{} at the start {} luck", unit.show(ledger.start), unit.change(ledger.luck(Seat(0))));
    for &seat in seats {
        let regret = ledger.regret(seat);
        let change = if seat.0 == 0 { -regret } else { regret };
        text += &format!(" {} mistakes of {}", unit.change(change), name(&replay.names, seat));
    }
    let limit = ledger.entries.iter().find(|entry| matches!(entry, LedgerEntry::Limit { .. }));
    if let Some(limit) = limit {
        text += &format!(" {} limit on rounds", unit.change(limit.change()));
    }
    text += &format!(" = {} at the end", bold(unit.show(ledger.result)));
    wrapped(&text, 0).iter().try_for_each(|line| writeln!(out, "{line}"))
}

fn explain<G: Listed>(
    out: &mut impl Write,
    replay: &Replay<G>,
    ledger: &Ledger<G>,
    unit: &Scale,
) -> std::io::Result<()> {
    let worst = ledger.worst();
    if worst.is_empty() {
        return writeln!(out, "\nEvery decision was perfect.");
    }
    writeln!(out, "\n{}", bold("The most expensive decisions"))?;
    for (place, decision) in (1..).zip(&worst) {
        let better = decision.better(&replay.names);
        let who = name(&replay.names, decision.seat);
        let situation = G::situation(decision.view, &replay.names);
        writeln!(out, "{place}. {}", column(&format!("step {}, {who}: {situation}", decision.step), 3))?;
        let text = format!(
            "{who} {}, which is worth {}; a perfect player {better}, which is worth {}. That cost {}.",
            G::choice(decision.view, decision.chosen, &replay.names),
            unit.show(decision.value),
            unit.show(decision.best),
            red(unit.show(decision.regret)),
        );
        writeln!(out, "   {}", column(&text, 3))?;
    }
    Ok(())
}

pub fn print_json<G: Listed>(replay: &Replay<G>, ledger: &Ledger<G>) -> Result<(), Error> {
    commands::print_json(&ledger.report(&replay.names, &replay.rules))
}
