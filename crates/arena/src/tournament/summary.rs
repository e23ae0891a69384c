//! A report in a few sentences: who is first, who is behind whom, and what it would take to know more.

use super::{Claims, Report};
use crate::stats::Side;
use necrodome_rules::words::count;

/// More blocks than so many times those that were played are not worth waiting for.
const FAR: u64 = 100;
/// Names that are listed in a sentence; the rest are counted.
const LISTED: usize = 5;

/// The sentences.
pub(super) fn of(report: &Report) -> Vec<String> {
    if report.blocks == 0 {
        return vec!["Nothing has been played yet.".into()];
    }
    let groups = groups(report);
    let mut sentences: Vec<String> = tested(report).into_iter().collect();
    sentences.push(leaders(&groups));
    sentences.extend(followers(&groups));
    sentences.extend(outlook(report));
    sentences.extend(faults(report));
    sentences
}

/// What the test of the plan has shown.
fn tested(report: &Report) -> Option<String> {
    let Claims { elo0, elo1 } = report.plan.test?;
    let [one, other] = &report.plan.entries[..] else { return None };
    let (one, other) = (&one.name, &other.name);
    Some(match report.tested {
        Some(Side::AtLeast) => format!("Test: {one} is more than {elo0} Elo better than {other}."),
        Some(Side::AtMost) => format!("Test: {one} is less than {elo1} Elo better than {other}."),
        None => format!("Test not decided: {one} may be {elo0} or {elo1} Elo better than {other}."),
    })
}

/// The entries in order, in groups of those whose neighbours cannot be told apart.
fn groups(report: &Report) -> Vec<Vec<&str>> {
    let mut groups: Vec<Vec<&str>> = Vec::new();
    for entry in &report.standings {
        let last = groups.last_mut().filter(|group| {
            let tied = |pair: &super::Separated| pair.other == entry.name && group.contains(&&*pair.one);
            report.undecided.iter().any(tied)
        });
        match last {
            Some(group) => group.push(&entry.name),
            None => groups.push(vec![&entry.name]),
        }
    }
    groups
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

fn leaders(groups: &[Vec<&str>]) -> String {
    match groups.first().map(Vec::as_slice).unwrap_or_default() {
        [winner] if groups.len() == 2 && groups[1].len() == 1 => {
            format!("{winner} is better than {}, with 95% confidence.", groups[1][0])
        }
        [winner] => format!("{winner} is first, with 95% confidence."),
        all if groups.len() == 1 => format!("These results do not tell {} apart.", list(all)),
        tied => format!("{} lead; these results do not tell them apart.", list(tied)),
    }
}

fn followers(groups: &[Vec<&str>]) -> Option<String> {
    let behind: Vec<&str> = groups.iter().skip(1).flatten().copied().collect();
    let leaders = groups.first()?;
    if behind.is_empty() || (leaders.len() == 1 && behind.len() == 1) {
        return None;
    }
    let whom = if leaders.len() == 2 {
        " both"
    } else if leaders.len() > 2 {
        " all of them"
    } else {
        ""
    };
    let verb = if behind.len() == 1 { "is" } else { "are" };
    let confidence = if leaders.len() == 1 { "" } else { ", with 95% confidence" };
    Some(format!("{} {verb} behind{whom}{confidence}.", list(&behind)))
}

/// What it would take to tell the first neighbours apart that are not.
fn outlook(report: &Report) -> Option<String> {
    let pair = report.undecided.first()?;
    let (one, other) = (&pair.one, &pair.other);
    let played = u64::from(report.blocks);
    Some(match pair.blocks_needed {
        Some(needed) if needed > played.saturating_mul(FAR) => {
            format!(
                "{one} and {other} are so close that {FAR} times as many blocks would hardly separate them."
            )
        }
        Some(needed) => {
            let more = rounded(needed.saturating_sub(played).max(played / 10 + 1));
            format!("About {} would probably separate {one} and {other}.", count(more, "more block"))
        }
        None => format!("{one} and {other} came out exactly equal."),
    })
}

/// Two digits are all that a guess is worth.
fn rounded(number: u64) -> u64 {
    let mut step = 1;
    while number / step >= 100 {
        step *= 10;
    }
    number.div_ceil(step) * step
}

fn faults(report: &Report) -> Option<String> {
    let mut names: Vec<&str> = report.trouble.faults.iter().map(|fault| fault.name.as_str()).collect();
    names.dedup();
    let verb = if names.len() == 1 { "has" } else { "have" };
    (!names.is_empty()).then(|| format!("{} {verb} misbehaved: see below.", list(&names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_become_sentences() {
        let said = |groups: &[Vec<&str>]| {
            [Some(leaders(groups)), followers(groups)].into_iter().flatten().collect::<Vec<_>>()
        };
        assert_eq!(said(&[vec!["a"], vec!["b"]]), ["a is better than b, with 95% confidence."]);
        assert_eq!(said(&[vec!["a", "b"]]), ["These results do not tell a and b apart."]);
        assert_eq!(
            said(&[vec!["a", "b"], vec!["c"]]),
            ["a and b lead; these results do not tell them apart.", "c is behind both, with 95% confidence."]
        );
        assert_eq!(
            said(&[vec!["a"], vec!["b", "c"]]),
            ["a is first, with 95% confidence.", "b and c are behind."]
        );
    }

    #[test]
    fn long_lists_are_cut_and_guesses_are_round() {
        assert_eq!(list(&["a", "b", "c", "d", "e", "f"]), "a, b, c, d and 2 others");
        assert_eq!([7, 99, 101, 4321].map(rounded), [7, 99, 110, 4400]);
    }
}
