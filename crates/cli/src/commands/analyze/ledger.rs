//! The ledger of a match, for people and for programs.

use crate::{
    commands,
    error::Error,
    paint::{bold, dim, green, name, red, yellow},
};
use necrodome_arena::replay::Replay;
use necrodome_rules::{catalog::Listed, game::Seat};
use necrodome_solve::{Ledger, LedgerEntry};
use std::io::{BufWriter, Write};

/// A smaller cost is shown as zero.
const NOTHING: f64 = 5e-6;

/// How values are written: chances as percent, points as they are.
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

    /// A change with its unit: `+4.20%`.
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
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let value = match *G::SEATS.end() {
        1 => "points".to_owned(),
        _ => format!("{} wins", &names[Seat(0)]),
    };
    let head = format!("step  {:width$}  {:<58} {value:>12} {:>8} {:>8}", "who", "what", "luck", "cost");
    writeln!(out, "{}", dim(head))?;
    let start = unit.show(ledger.start);
    writeln!(
        out,
        "{}",
        dim(format!("{:>4}  {:width$}  {:<58} {start:>12}", "", "", "before the first roll"))
    )?;
    for (number, entry) in ledger.entries.iter().enumerate() {
        let who = |seat: Seat| {
            let fill = " ".repeat(width - names[seat].chars().count());
            format!("{}{fill}", name(names, seat))
        };
        match entry {
            LedgerEntry::Roll { step, seat, event, luck, after, .. } => {
                let (text, after, luck) = (format!("  {}", G::dice(event, names)), unit.show(*after), *luck);
                let shown = format!("{:>8}", unit.change(luck));
                let shown = if luck < 0.0 { yellow(shown) } else { green(shown) };
                writeln!(out, "{step:>4}  {}  {text:<58} {after:>12} {shown}", who(*seat))?;
            }
            LedgerEntry::Decision { step, seat, view, chosen, regret, after, .. } => {
                // The roll that follows says all.
                let rolls = matches!(ledger.entries.get(number + 1), Some(LedgerEntry::Roll { seat: who, .. }) if who == seat);
                if rolls && *regret <= NOTHING {
                    continue;
                }
                let mut text = G::choice(view, chosen, names).to_string();
                let mut cost = String::new();
                if *regret > NOTHING {
                    let decision = ledger.decisions().find(|decision| decision.number == number);
                    text += &decision.map_or(String::new(), |d| format!("; best: {}", d.better(names)));
                    cost = format!("{:>17}", unit.show(*regret));
                }
                let after = unit.show(*after);
                writeln!(out, "{step:>4}  {}  {text:<58} {after:>12} {}", who(*seat), red(cost))?;
            }
            LedgerEntry::Limit { after, .. } => {
                let text = "the limit on rounds ends the match";
                writeln!(out, "{:>4}  {:width$}  {text:<58} {:>12}", "", "", unit.show(*after))?;
            }
        }
    }
    if *G::SEATS.end() > 1 {
        let text =
            format!("luck is that of {}: what is good for the other counts against it", &names[Seat(0)]);
        writeln!(out, "{}", dim(text))?;
    }
    writeln!(out)?;
    sum(&mut out, replay, ledger, &unit)?;
    explain(&mut out, replay, ledger, &unit)?;
    out.flush()?;
    Ok(())
}

/// The equation that must hold.
fn sum<G: Listed>(
    out: &mut impl Write,
    replay: &Replay<G>,
    ledger: &Ledger<G>,
    unit: &Scale,
) -> std::io::Result<()> {
    let seats = Seat::all(replay.names.iter().count());
    write!(out, "{} at the start {} luck", unit.show(ledger.start), unit.change(ledger.luck(Seat(0))))?;
    for &seat in seats {
        let regret = ledger.regret(seat);
        let change = if seat.0 == 0 { -regret } else { regret };
        write!(out, " {} mistakes of {}", unit.change(change), name(&replay.names, seat))?;
    }
    let limit = ledger.entries.iter().find(|entry| matches!(entry, LedgerEntry::Limit { .. }));
    if let Some(limit) = limit {
        write!(out, " {} limit on rounds", unit.change(limit.change()))?;
    }
    writeln!(out, " = {} at the end", bold(unit.show(ledger.result)))
}

fn explain<G: Listed>(
    out: &mut impl Write,
    replay: &Replay<G>,
    ledger: &Ledger<G>,
    unit: &Scale,
) -> std::io::Result<()> {
    let worst = ledger.worst();
    if worst.is_empty() {
        return writeln!(out, "\nevery decision was the best there was");
    }
    writeln!(out, "\n{}", bold("the most expensive decisions"))?;
    for (place, decision) in (1..).zip(&worst) {
        let better = decision.better(&replay.names);
        writeln!(
            out,
            "{place}. step {}, {}: {}",
            decision.step,
            name(&replay.names, decision.seat),
            G::situation(decision.view, &replay.names)
        )?;
        writeln!(
            out,
            "   It {}, which is worth {}; a perfect player {better}, worth {}. That cost {}.",
            G::choice(decision.view, decision.chosen, &replay.names),
            unit.show(decision.value),
            unit.show(decision.best),
            red(unit.show(decision.regret)),
        )?;
    }
    Ok(())
}

pub fn print_json<G: Listed>(replay: &Replay<G>, ledger: &Ledger<G>) -> Result<(), Error> {
    commands::print_json(&ledger.report(&replay.names, &replay.rules))
}
