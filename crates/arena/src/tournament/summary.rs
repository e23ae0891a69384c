//! A report in a few sentences: which entry is first, which are behind, and what it would take to know more.

use super::{Claims, EntryReport, Report, Stop};
use crate::{
    fault::{FaultCount, FaultKind},
    stats::Side,
};
use necrodome_rules::words::count;

/// If it would take more than this many times the blocks played so far, it is not worth waiting.
const FAR: u64 = 100;
/// The most names that are listed in a sentence; the rest are counted.
const LISTED: usize = 5;

/// Returns the sentences.
pub(super) fn of(report: &Report) -> Vec<String> {
    if report.blocks == 0 {
        return vec!["Nothing has been played yet.".into()];
    }
    let mut sentences: Vec<String> = match report.plan.test {
        Some(claims) => tested(report, claims).into_iter().collect(),
        None => {
            let entries = report.standings.iter();
            let ranks: Vec<Ranked> =
                entries.map(|entry| (entry.name.as_str(), entry.rank.best, entry.rank.worst)).collect();
            [Some(leaders(&ranks)), followers(&ranks), outlook(report)].into_iter().flatten().collect()
        }
    };
    let [fewest, most] = report.blocks_each;
    if fewest < most {
        let share = "each opponent counts once";
        sentences.push(format!("Some have met more often than others ({fewest} to {most} blocks): {share}."));
    }
    sentences.extend(faults(report));
    absent(report).into_iter().chain(sentences).collect()
}

impl Report {
    /// Whether an entry failed to start and has taken no decision.
    pub fn never_started(&self, name: &str) -> bool {
        let failed = |fault: &FaultCount| fault.kind == FaultKind::NoStart && fault.name == name;
        let decided = |entry: &EntryReport| entry.name == name && entry.cpu_us.is_some();
        self.trouble.faults.iter().any(failed) && !self.standings.iter().any(decided)
    }
}

/// Names the entries that never started: everything else means little then.
fn absent(report: &Report) -> Option<String> {
    let failed = report.trouble.faults.iter().filter(|fault| fault.kind == FaultKind::NoStart);
    let names: Vec<&str> =
        failed.map(|fault| fault.name.as_str()).filter(|name| report.never_started(name)).collect();
    let theirs = if names.len() == 1 { "its" } else { "their" };
    let bots = list(&names);
    (!names.is_empty()).then(|| {
        format!("{bots} never started, and forfeited all {theirs} decisions: `necrodome check-bot` says why.")
    })
}

/// A name with the best and the worst rank.
type Ranked<'a> = (&'a str, usize, usize);

/// Says what the test of the plan has shown.
fn tested(report: &Report, Claims { elo0, elo1 }: Claims) -> Option<String> {
    let [one, other] = &report.plan.entries[..] else { return None };
    let (one, other) = (&one.name, &other.name);
    Some(match report.tested {
        Some(Side::AtLeast) => {
            format!("Test: {one} is more than {elo0} Elo better than {other}, with 95% confidence.")
        }
        Some(Side::AtMost) => {
            format!("Test: {one} is less than {elo1} Elo better than {other}, with 95% confidence.")
        }
        None => format!("Test not decided: {one} may be {elo0} or {elo1} Elo better than {other}."),
    })
}

/// `a`, `a and b`, `a, b and c`, `a, b and 7 others`.
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] if names.len() <= LISTED => format!("{} and {last}", first.join(", ")),
        _ => {
            let rest = names.len() - (LISTED - 1);
            format!("{} and {rest} others", names[..LISTED - 1].join(", "))
        }
    }
}

/// Says which entries may be first.
fn leaders(entries: &[Ranked]) -> String {
    let first: Vec<&str> = entries.iter().filter(|(_, best, _)| *best == 1).map(|(name, ..)| *name).collect();
    match entries {
        [(only, ..)] => return format!("Only {only} has played."),
        [(winner, _, 1), (loser, ..)] => {
            return format!("{winner} is better than {loser}, with 95% confidence.");
        }
        [(one, ..), (other, ..)] => return format!("These results do not tell {one} and {other} apart."),
        _ => {}
    }
    match entries.iter().find(|(_, _, worst)| *worst == 1) {
        Some((winner, ..)) => format!("{winner} is first, with 95% confidence."),
        None if first.len() == entries.len() => "These results do not tell who is first.".to_owned(),
        None => format!("These results do not tell who is first: {}.", either(&first)),
    }
}

/// `a or b`, `a, b or c`, `one of 7`.
fn either(names: &[&str]) -> String {
    match names {
        [first @ .., last] if (2..=LISTED).contains(&names.len()) => {
            format!("{} or {last}", first.join(", "))
        }
        [one] => (*one).to_owned(),
        _ => format!("one of {}", names.len()),
    }
}

/// Says which entries are surely not first.
fn followers(entries: &[Ranked]) -> Option<String> {
    let behind: Vec<&str> = entries.iter().filter(|(_, best, _)| *best > 1).map(|(name, ..)| *name).collect();
    if behind.is_empty() || entries.len() < 3 {
        return None;
    }
    let has_winner = entries.iter().any(|(_, _, worst)| *worst == 1);
    Some(match (has_winner, behind.len()) {
        (true, 1) => format!("{} is behind.", list(&behind)),
        (true, _) => format!("{} are behind.", list(&behind)),
        (false, 1) => format!("{} is not first, with 95% confidence.", list(&behind)),
        (false, _) => format!("{} are not first, with 95% confidence.", list(&behind)),
    })
}

/// Says what it would take to tell the first undecided neighbours apart. Few blocks do not justify a guess.
fn outlook(report: &Report) -> Option<String> {
    const ENOUGH: u32 = 10;
    let worth_it = report.blocks_each[0] >= ENOUGH && report.stopped != Stop::Close;
    let pair = report.undecided.first().filter(|_| worth_it)?;
    let (one, other) = (&pair.one, &pair.other);
    let played = u64::from(report.blocks);
    let needed = pair.blocks_needed?;
    if needed > played.saturating_mul(FAR) {
        return Some(format!(
            "{one} and {other} are so close that {FAR} times as many blocks would hardly separate them."
        ));
    }
    let more = count(rounded(needed.saturating_sub(played).max(played / 10 + 1)), "more block");
    Some(format!("If {one} is as far ahead of {other} as it seems, about {more} would separate them."))
}

/// Rounds up to two digits, which is all that a guess is worth.
fn rounded(number: u64) -> u64 {
    let mut step = 1;
    while number / step >= 100 {
        step *= 10;
    }
    number.div_ceil(step) * step
}

fn faults(report: &Report) -> Option<String> {
    let lost = report.trouble.faults.iter().filter(|fault| !fault.kind.is_warning());
    let mut names: Vec<&str> = lost.map(|fault| fault.name.as_str()).collect();
    names.dedup();
    let verb = if names.len() == 1 { "has" } else { "have" };
    (!names.is_empty()).then(|| format!("{} {verb} misbehaved: see below.", list(&names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_become_sentences() {
        let said = |ranks: &[Ranked]| {
            [Some(leaders(ranks)), followers(ranks)].into_iter().flatten().collect::<Vec<_>>()
        };
        assert_eq!(said(&[("a", 1, 1), ("b", 2, 2)]), ["a is better than b, with 95% confidence."]);
        assert_eq!(said(&[("a", 1, 2), ("b", 1, 2)]), ["These results do not tell a and b apart."]);
        assert_eq!(
            said(&[("a", 1, 2), ("b", 1, 2), ("c", 3, 3)]),
            ["These results do not tell who is first: a or b.", "c is not first, with 95% confidence."]
        );
        assert_eq!(
            said(&[("a", 1, 1), ("b", 2, 3), ("c", 2, 3)]),
            ["a is first, with 95% confidence.", "b and c are behind."]
        );
        // Neighbours are not told apart, but some of the others are.
        assert_eq!(
            said(&[("a", 1, 2), ("b", 1, 3), ("c", 2, 4), ("d", 3, 4)]),
            [
                "These results do not tell who is first: a or b.",
                "c and d are not first, with 95% confidence."
            ]
        );
        assert_eq!(said(&[("a", 1, 1)]), ["Only a has played."]);
    }

    #[test]
    fn long_lists_are_cut_and_guesses_are_round() {
        assert_eq!(list(&["a", "b", "c", "d", "e", "f"]), "a, b, c, d and 2 others");
        assert_eq!(either(&["a", "b", "c"]), "a, b or c");
        assert_eq!([7, 99, 101, 4321].map(rounded), [7, 99, 110, 4400]);
    }
}
