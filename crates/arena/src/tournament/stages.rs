//! Entries that come and go: a stored tournament continues with another line-up, and only what is missing is played.
//!
//! A plan then has stages. In each stage some entries meet each other, until every group of them has met as often as planned; groups that
//! have already met more often wait for the others. Earlier results stay, under the same numbers. Entries that have left are not in the
//! standings, and their matches do not count; both count again when they come back.

use super::{
    Format, Plan, PlannedEntry, ScheduleError,
    formats::{self, Seats},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Blocks in which only some entries meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stage {
    /// The first of its blocks. Its last one is before the first of the next stage.
    pub first: u32,
    /// The entries that meet each other: their numbers, in order.
    pub entries: Vec<usize>,
}

/// The entries of a group.
type Group = Vec<usize>;
/// A first block, and the groups that meet from then on.
type Stretch = (u32, Vec<Group>);

/// Returns the stretches, each with its first block and the groups that meet in it, and the block after the last one. `groups` returns the
/// groups of some entries.
pub(super) fn stretches(
    plan: &Plan,
    groups: impl Fn(&[usize]) -> Result<Vec<Group>, ScheduleError>,
) -> Result<(Vec<Stretch>, u32), ScheduleError> {
    let all = [Stage { first: 0, entries: (0..plan.entries.len()).collect() }];
    let stages = if plan.stages.is_empty() { &all[..] } else { &plan.stages };
    let in_order = stages.windows(2).all(|pair| pair[0].first < pair[1].first) && stages[0].first == 0;
    let fits = |stage: &Stage| {
        stage.entries.is_sorted_by(|a, b| a < b)
            && stage.entries.last().is_none_or(|&last| last < plan.entries.len())
    };
    if !in_order || !stages.iter().all(fits) {
        return Err(ScheduleError::Stages);
    }
    let mut met: BTreeMap<Group, u32> = BTreeMap::new();
    let mut stretches = Vec::new();
    let mut end = 0;
    for (place, stage) in stages.iter().enumerate() {
        let groups = groups(&stage.entries)?;
        let times = |group: &Group| met.get(group).copied().unwrap_or(0);
        let mut counts: Vec<u32> = groups.iter().map(times).collect();
        counts.sort_unstable();
        counts.dedup();
        let fewest = counts[0];
        let next = stages.get(place + 1).map(|next| next.first);
        end = next.unwrap_or_else(|| stage.first.saturating_add(plan.blocks.saturating_sub(fewest)));
        for count in &counts {
            let first = stage.first.saturating_add(count - fewest);
            // The stage ended before. The last one may have gone beyond what is wanted now.
            if next.is_some_and(|next| first >= next) {
                break;
            }
            let meet = groups.iter().filter(|group| times(group) <= *count).cloned().collect();
            stretches.push((first, meet));
        }
        let reached = fewest.saturating_add(end - stage.first);
        for group in groups {
            let times = met.entry(group).or_default();
            *times = reached.max(*times);
        }
    }
    Ok((stretches, end))
}

/// Returns by stratum and member the share of the member's groups that are in the stratum; and by stretch and group the stratum, if no
/// entry of the group has left. Groups that meet in the same stretches make a stratum.
pub(super) fn strata(plan: &Plan, stretches: &[Stretch]) -> (Vec<Vec<f64>>, Vec<Vec<Option<usize>>>) {
    let has_left = |group: &Group| group.iter().any(|&entry| plan.entries[entry].left);
    let mut history: BTreeMap<&Group, Vec<usize>> = BTreeMap::new();
    for (number, (_, groups)) in stretches.iter().enumerate() {
        for group in groups.iter().filter(|group| !has_left(group)) {
            history.entry(group).or_default().push(number);
        }
    }
    let mut numbers: BTreeMap<&[usize], usize> = BTreeMap::new();
    for stretches in history.values() {
        let next = numbers.len();
        numbers.entry(stretches).or_insert(next);
    }
    let stratum = |group: &Group| Some(numbers[&history.get(group)?[..]]);
    let members: Vec<usize> = plan.members().collect();
    let mut weights = vec![vec![0.0; members.len()]; numbers.len().max(1)];
    for (place, member) in members.iter().enumerate() {
        let own: Vec<_> = history.keys().filter(|group| group.contains(member)).collect();
        for group in &own {
            weights[stratum(group).unwrap_or(0)][place] += 1.0 / own.len() as f64;
        }
    }
    if numbers.len() <= 1 {
        // Sums of shares are not always exactly 1.
        weights = vec![vec![1.0; members.len()]];
    }
    let by_stretch = stretches.iter().map(|(_, groups)| groups.iter().map(stratum).collect());
    (weights, by_stretch.collect())
}

/// How a stored tournament fits the requested line-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineUp {
    /// The same entries, perhaps in another order.
    Same,
    /// Some entries have come or gone.
    Changed,
    /// An entry that cannot continue under its name, or no entries in common.
    Other,
}

/// Compares the entries of a stored plan with those of the requested one.
pub(super) fn compare(stored: &Plan, asked: &Plan) -> LineUp {
    let first_differs = asked.format == Format::Gauntlet
        && !(stored.entries.first().zip(asked.entries.first()))
            .is_some_and(|(one, other)| one.is_same(other));
    let known = asked.entries.iter().filter(|entry| stored.place_of(entry).is_some()).count();
    if first_differs || known == 0 || asked.entries.iter().any(|entry| namesake(stored, entry).is_some()) {
        return LineUp::Other;
    }
    let stays = |&member: &usize| asked.place_of(&stored.entries[member]).is_some();
    match known == asked.entries.len() && stored.members().all(|member| stays(&member)) {
        true => LineUp::Same,
        false => LineUp::Changed,
    }
}

/// Returns a different entry with the same name.
pub(super) fn namesake<'a>(stored: &'a Plan, wanted: &PlannedEntry) -> Option<&'a PlannedEntry> {
    let same = |entry: &&PlannedEntry| entry.name.to_lowercase() == wanted.name.to_lowercase();
    stored.entries.iter().find(same).filter(|entry| !entry.is_same(wanted))
}

/// Whether a stored tournament can continue with this line-up. Nothing is left of a gauntlet if its first entry is another program.
pub(super) fn can_go_on(stored: &Plan, asked: &Plan) -> bool {
    let first = asked.entries.first().and_then(|entry| version(&stored.entries, entry));
    can_change(asked) && (asked.format != Format::Gauntlet || first == Some(0))
}

/// Whether a tournament can continue with another line-up. It cannot if all entries sit in each match, or have the same dice, or if it
/// is a test between two entries.
pub(super) fn can_change(plan: &Plan) -> bool {
    formats::rules(plan.format).seats != Seats::All && plan.seats > 1 && plan.test.is_none()
}

/// Returns the plan with which a stored tournament continues after `played` blocks. Programs that differ from the stored ones are new
/// entries, and the old ones leave.
pub(super) fn go_on(stored: &Plan, played: u32, asked: &Plan) -> Plan {
    if played == 0 {
        return asked.clone();
    }
    let mut entries = stored.entries.clone();
    entries.iter_mut().for_each(|entry| entry.left = true);
    let mut places = Vec::with_capacity(asked.entries.len());
    for entry in &asked.entries {
        let place = version(&stored.entries, entry).unwrap_or(entries.len());
        if place == entries.len() {
            entries.push(entry.clone());
        }
        let under_its_name = entries.iter().position(|other| other.name == entry.name);
        if let Some(other) = under_its_name.filter(|&other| other != place) {
            entries[other].name = free_name(&entries, &asked.entries, &entry.name);
        }
        // A program that has moved is still called as it was.
        let known = &mut entries[place];
        known.fingerprint = known.fingerprint.take().or(entry.fingerprint.clone());
        known.runs_with.clone_from(&entry.runs_with);
        (known.name, known.left) = (entry.name.clone(), false);
        places.push(place);
    }
    let wanted =
        asked.stages.last().map_or((0..asked.entries.len()).collect(), |stage| stage.entries.clone());
    let mut meet: Vec<usize> = wanted.into_iter().filter_map(|entry| places.get(entry).copied()).collect();
    meet.sort_unstable();
    let mut stages = stored.stages.clone();
    if stages.is_empty() {
        stages.push(Stage { first: 0, entries: (0..stored.entries.len()).collect() });
    }
    stages.retain(|stage| stage.first < played);
    if stages.last().is_none_or(|last| last.entries != meet) {
        stages.push(Stage { first: played, entries: meet });
    }
    let everybody = |stage: &Stage| stage.entries.len() == entries.len();
    if matches!(&stages[..], [only] if everybody(only)) {
        stages.clear();
    }
    // Fewer than were played already change nothing.
    let is_done = stages.is_empty() && (asked.blocks..=played).contains(&stored.blocks);
    let blocks = if is_done { stored.blocks } else { asked.blocks };
    // What was played with less confinement stays so.
    let sandbox = stored.sandbox.into_iter().chain(asked.sandbox).min();
    let gifts = stored.gifts.clone().with(&asked.gifts);
    let grown = stored.grown || blocks != stored.blocks;
    Plan { entries, stages, blocks, grown, sandbox, gifts, ..asked.clone() }
}

/// Returns the number of exactly this version of an entry, perhaps under the name of an old one.
pub(super) fn version(entries: &[PlannedEntry], wanted: &PlannedEntry) -> Option<usize> {
    let print = wanted.fingerprint.as_deref();
    let current = |entry: &PlannedEntry| entry.is_same(wanted) && !entry.is_other(print);
    let old =
        |entry: &PlannedEntry| entry.left && entry.bot == wanted.bot && entry.fingerprint.as_deref() == print;
    let found = entries.iter().position(current);
    found.or_else(|| entries.iter().position(old).filter(|_| print.is_some()))
}

/// Returns a name for a changed program: the old name with a number.
fn free_name(entries: &[PlannedEntry], asked: &[PlannedEntry], name: &str) -> String {
    let taken = |wish: &String| {
        entries.iter().chain(asked).any(|entry| entry.name.to_lowercase() == wish.to_lowercase())
    };
    let numbered = |number: u32| {
        let number = format!(" (version {number})");
        let room = necrodome_rules::names::MAX_NAME - number.len();
        name.chars().take(room).collect::<String>().trim_end().to_owned() + &number
    };
    // There are fewer entries than numbers.
    (1..).map(numbered).find(|wish| !taken(wish)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::{Schedule, schedule::tests::plan};
    use super::*;

    /// Returns a round-robin of two seats between entries with these names.
    fn line_up(names: &[&str], blocks: u32) -> Plan {
        let mut plan = Plan { blocks, ..plan(Format::RoundRobin, names.len(), 2) };
        plan.entries.iter_mut().zip(names).for_each(|(entry, name)| entry.name = (*name).to_owned());
        plan
    }

    fn schedule_of(plan: &Plan) -> Schedule {
        Schedule::new(plan, 2..=9).unwrap()
    }

    /// Returns the pairs that meet in a block, each once.
    fn pairs(plan: &Plan, block: u32) -> Vec<String> {
        let schedule = schedule_of(plan);
        let seatings = schedule.seatings(block);
        let name = |entry: usize| plan.entries[entry].name.as_str();
        seatings
            .iter()
            .filter(|pair| pair[0] < pair[1])
            .map(|pair| name(pair[0]).to_owned() + name(pair[1]))
            .collect()
    }

    #[test]
    fn who_joins_meets_everybody_as_often_as_they_have_met_each_other() {
        let old = line_up(&["a", "b", "c"], 100);
        let new = go_on(&old, 100, &line_up(&["a", "b", "c", "d"], 150));
        assert_eq!(new.members().count(), 4);
        assert_eq!(pairs(&new, 99), ["ab", "ac", "bc"]);
        assert_eq!(pairs(&new, 100), ["ad", "bd", "cd"]);
        assert_eq!(pairs(&new, 199), ["ad", "bd", "cd"]);
        assert_eq!(pairs(&new, 200), ["ab", "ac", "ad", "bc", "bd", "cd"]);
        let schedule = schedule_of(&new);
        assert_eq!((schedule.end(), schedule.rounds(130), schedule.rounds(250)), (250, 30..=100, 150..=150));
        assert_eq!(schedule.matches_before(250), 100 * 6 + 100 * 6 + 50 * 12);
        for (number, block) in
            [(0, (0, 0)), (599, (99, 5)), (600, (100, 0)), (1200, (200, 0)), (1212, (201, 0))]
        {
            assert_eq!(schedule.block_of(number), Some(block));
        }
        // Two strata: a, b and c have two of their three opponents in the first.
        let thirds = |shares: [f64; 4]| shares.map(|share| share / 3.0).to_vec();
        let near =
            |one: &Vec<f64>, other: &Vec<f64>| one.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-12);
        let expected = [thirds([2.0, 2.0, 2.0, 0.0]), thirds([1.0, 1.0, 1.0, 3.0])];
        assert!(schedule.weights().iter().zip(&expected).all(|(one, other)| near(one, other)));
        // As often as wanted already: nothing is played, and what was played is still there.
        let less = go_on(&new, 250, &line_up(&["a", "b", "c", "d"], 90));
        assert!(schedule_of(&less).end() < 250 && pairs(&less, 249).len() == 6);
    }

    #[test]
    fn who_leaves_is_not_in_the_standings_and_may_come_back() {
        let old = line_up(&["a", "b", "c"], 100);
        let without = go_on(&old, 100, &line_up(&["a", "c"], 100));
        assert_eq!(without.members().collect::<Vec<_>>(), [0, 2]);
        let schedule_without = schedule_of(&without);
        assert_eq!(schedule_without.end(), 100, "there is nothing to play");
        let counted: Vec<bool> = (0..6).map(|number| schedule_without.stratum(7, number).is_some()).collect();
        assert_eq!(counted, [false, false, true, true, false, false]);
        // Nothing was played without b, so that it never left.
        assert_eq!(go_on(&without, 100, &old), old);
        let longer = go_on(&without, 100, &line_up(&["a", "c"], 160));
        let back = go_on(&longer, 160, &line_up(&["b", "c", "a"], 160));
        assert_eq!(pairs(&back, 160), ["ab", "bc"]);
        assert_eq!(schedule_of(&back).end(), 220);
        assert_eq!(back.in_order(&line_up(&["b", "c", "a"], 1), vec!["B", "C", "A"]), ["A", "B", "C"]);
    }

    #[test]
    fn chosen_pairs_meet_more_often() {
        let old = line_up(&["a", "b", "c"], 100);
        let only =
            Plan { stages: vec![Stage { first: 0, entries: vec![0, 2] }], ..line_up(&["a", "b", "c"], 300) };
        let more = go_on(&old, 100, &only);
        assert_eq!((pairs(&more, 100), schedule_of(&more).end()), (vec!["ac".to_owned()], 300));
        assert_eq!(schedule_of(&more).rounds(300), 100..=300);
        // The others catch up, and then all go on.
        let all = go_on(&more, 300, &line_up(&["a", "b", "c"], 310));
        assert_eq!((pairs(&all, 300), pairs(&all, 500)), (vec!["ab".into(), "bc".into()], pairs(&all, 0)));
        assert_eq!(schedule_of(&all).end(), 510);
    }

    #[test]
    fn a_program_that_was_changed_is_another_entry() {
        let program = |print: &str| {
            let mut plan = line_up(&["a", "b"], 10);
            plan.entries[1].fingerprint = Some(print.to_owned());
            plan
        };
        let renewed = go_on(&program("one"), 10, &program("two"));
        let names: Vec<(&str, bool)> = renewed.entries.iter().map(|e| (e.name.as_str(), e.left)).collect();
        assert_eq!(names, [("a", false), ("b (version 1)", true), ("b", false)]);
        assert_eq!(
            (pairs(&renewed, 9), pairs(&renewed, 10)),
            (vec!["ab (version 1)".to_owned()], vec!["ab".to_owned()])
        );
        let again = go_on(&renewed, 20, &program("three"));
        assert_eq!(again.entries[2].name, "b (version 2)");
        // The first version again: nothing is missing.
        let back = go_on(&renewed, 20, &program("one"));
        let names: Vec<(&str, bool)> = back.entries.iter().map(|e| (e.name.as_str(), e.left)).collect();
        assert_eq!(names, [("a", false), ("b", false), ("b (version 2)", true)]);
        assert_eq!(schedule_of(&back).rounds(20), 10..=10);
    }

    #[test]
    fn line_ups_are_told_apart() {
        let old = line_up(&["a", "b", "c"], 1);
        let compared = |names: &[&str]| compare(&old, &line_up(names, 1));
        assert_eq!(compared(&["c", "a", "b"]), LineUp::Same);
        assert_eq!(compared(&["a", "d"]), LineUp::Changed);
        assert_eq!(compared(&["d", "e"]), LineUp::Other);
        let mut other = line_up(&["a", "B"], 1);
        assert_eq!(compare(&old, &other), LineUp::Other, "two that differ in case only");
        other.entries[1] = PlannedEntry { name: "b".into(), bot: "greedy".into(), ..PlannedEntry::default() };
        assert_eq!(compare(&old, &other), LineUp::Other, "the same name of another bot");
    }

    #[test]
    fn stages_that_somebody_has_changed_are_refused() {
        let stage = |first, entries: &[usize]| Stage { first, entries: entries.to_vec() };
        for stages in [
            vec![stage(1, &[0, 1])],
            vec![stage(0, &[0, 1]), stage(0, &[1, 2])],
            vec![stage(0, &[0, 3])],
            vec![stage(0, &[1, 0])],
            vec![stage(0, &[1, 1])],
        ] {
            let plan = Plan { stages, ..line_up(&["a", "b", "c"], 5) };
            assert_eq!(Schedule::new(&plan, 2..=9), Err(ScheduleError::Stages));
        }
        let alone = Plan { stages: vec![stage(0, &[1])], ..line_up(&["a", "b", "c"], 5) };
        assert!(matches!(Schedule::new(&alone, 2..=9), Err(ScheduleError::Entries { .. })));
    }
}
