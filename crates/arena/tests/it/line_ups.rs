//! Stored tournaments whose entries come and go.

use necrodome_arena::{
    entry::EntrySpec,
    replay::unpack,
    tournament::{
        Archive, Format, Opened, Plan, PlannedEntry, Report, Schedule, Stage, matches, packed_replay, report,
        run,
    },
};
use necrodome_rules::{
    catalog::Listed,
    zombie_dice::{Race, RaceRules},
};
use std::{collections::BTreeMap, path::Path, sync::atomic::AtomicBool};

fn plan(bots: &[&str], blocks: u32) -> Plan {
    let entries = bots.iter().map(|bot| PlannedEntry::new(*bot, *bot)).collect();
    Plan {
        options: serde_json::to_value(RaceRules::default()).unwrap(),
        ..Plan::new(Race::ID, entries, Format::RoundRobin, 2, blocks, 5)
    }
}

fn play(archive: &Archive, asked: &Plan, threads: usize) -> (Opened, Report) {
    let opened = archive.resume(asked, false, None).unwrap();
    let (mut store, plan) = (opened.store.clone(), &opened.plan);
    let parse = |member: usize| EntrySpec::parse(&plan.entries[member].bot, Path::new(".")).unwrap();
    let entries: Vec<EntrySpec> = plan.members().map(parse).collect();
    run(plan, &entries, &"unused".into(), &mut store, threads, &AtomicBool::new(false), &mut |_| {}).unwrap();
    let report = report(plan, &Schedule::of(plan).unwrap(), &store).unwrap();
    (opened, report)
}

fn names(report: &Report) -> Vec<&str> {
    let mut names: Vec<&str> = report.standings.iter().map(|entry| entry.name.as_str()).collect();
    names.sort_unstable();
    names
}

fn games(report: &Report, name: &str) -> u64 {
    report.standings.iter().find(|entry| entry.name == name).unwrap().record.games
}

#[test]
fn only_what_is_missing_is_played_and_standings_are_those_of_everybody() {
    let hashes: Vec<Option<String>> = [1, 2]
        .into_iter()
        .map(|threads| {
            let archive = Archive::in_memory().unwrap();
            let (opened, first) = play(&archive, &plan(&["greedy", "cautious", "random"], 300), threads);
            assert!(opened.joined.is_empty() && first.blocks_each == [300, 300] && first.matches == 1800);
            let (opened, second) =
                play(&archive, &plan(&["greedy", "optimal", "cautious", "random"], 300), threads);
            assert_eq!((opened.joined.len(), &opened.joined[0][..], opened.left.len()), (1, "optimal", 0));
            assert_eq!((second.matches, second.blocks, second.blocks_each), (3600, 600, [300, 300]));
            assert!(second.standings.iter().all(|entry| entry.record.games == 1800));
            assert_eq!(second.standings[0].name, "optimal");
            // Its luck is known, and its value is the mean over its opponents.
            let optimal = &second.standings[0];
            let adjusted = optimal.luck_adjusted.unwrap();
            assert!(adjusted.variance_ratio.unwrap() < 0.6, "{adjusted:?}");
            let (_, third) = play(&archive, &plan(&["optimal", "greedy", "random"], 350), threads);
            assert_eq!(names(&third), ["greedy", "optimal", "random"]);
            assert_eq!(
                (third.left.as_slice(), games(&third, "greedy")),
                (&["cautious".to_owned()][..], 1400)
            );
            let (_, back) = play(&archive, &plan(&["optimal", "greedy", "random", "cautious"], 350), threads);
            assert!(back.left.is_empty() && back.standings.iter().all(|entry| entry.record.games == 2100));
            assert_eq!(archive.stores().unwrap().len(), 1);
            back.hash
        })
        .collect();
    assert_eq!(hashes[0], hashes[1]);
}

#[test]
fn win_rates_are_the_same_whenever_somebody_joined() {
    let rates = |report: &Report| {
        let rate = |entry: &necrodome_arena::tournament::EntryReport| {
            (entry.name.clone(), entry.record.win_rate.unwrap())
        };
        report.standings.iter().map(rate).collect::<BTreeMap<_, _>>()
    };
    let everybody = ["greedy", "cautious", "random", "optimal"];
    let at_once = play(&Archive::in_memory().unwrap(), &plan(&everybody, 1000), 2).1;
    let archive = Archive::in_memory().unwrap();
    play(&archive, &plan(&everybody[..2], 1000), 2);
    play(&archive, &plan(&everybody[..3], 200), 2);
    // One pair far more often: raw percentages would pull both towards the middle.
    let only = Plan { stages: vec![Stage { first: 0, entries: vec![0, 1] }], ..plan(&everybody[..3], 8000) };
    let (_, more) = play(&archive, &only, 2);
    assert_eq!(more.blocks_each, [200, 8000]);
    let later = play(&archive, &plan(&everybody, 1000), 2).1;
    assert_eq!(later.blocks_each, [1000, 8000]);
    assert!(later.summary.iter().any(|sentence| sentence.contains("each opponent counts once")));
    let (one, other) = (rates(&at_once), rates(&later));
    for (name, rate) in &one {
        let half = |estimate: &necrodome_arena::stats::Estimate| estimate.high.unwrap() - estimate.mean;
        let (off, allowed) = ((rate.mean - other[name].mean).abs(), half(rate) + half(&other[name]));
        assert!(off < allowed, "{name}: {rate:?} and {:?}", other[name]);
    }
}

#[test]
fn matches_are_found_whoever_has_come_and_gone() {
    let archive = Archive::in_memory().unwrap();
    play(&archive, &plan(&["greedy", "cautious", "random"], 20), 2);
    let (opened, report) = play(&archive, &plan(&["greedy", "optimal", "random"], 30), 2);
    let schedule = Schedule::of(&opened.plan).unwrap();
    let total = schedule.matches_before(report.blocks);
    let page = |from: u64, count: usize| matches(&schedule, &opened.store, from, count).unwrap();
    let all = page(0, 10_000);
    assert_eq!(all.len() as u64, total);
    // Page by page it is the same, across the seams, too.
    let paged: Vec<_> = (0..total).step_by(7).flat_map(|from| page(from, 7)).collect();
    assert_eq!(all, paged);
    assert!(all.iter().all(|played| played.luck.is_some()));
    for played in all.iter().step_by(11) {
        let packed = packed_replay(&opened.plan, &opened.store, played.block, played.number).unwrap();
        let replay = unpack(&packed[..]).unwrap().parse::<Race>().unwrap();
        assert_eq!(replay.outcome, played.result);
        let name = |&entry: &usize| opened.plan.entries[entry].name.as_str();
        assert!(replay.names.iter().eq(played.entries.iter().map(name)));
    }
}

#[test]
fn where_all_sit_in_each_match_a_new_edition_begins() {
    let table = |bots: &[&str]| Plan { format: Format::Table, seats: bots.len(), ..plan(bots, 20) };
    let archive = Archive::in_memory().unwrap();
    let (_, first) = play(&archive, &table(&["greedy", "cautious"]), 1);
    let (opened, second) = play(&archive, &table(&["greedy", "random"]), 1);
    assert!(opened.edition && opened.joined.is_empty());
    assert_eq!((names(&second), second.matches), (vec!["greedy", "random"], 40));
    // The first one can go on, with its entries in any order.
    let (again, third) = play(&archive, &table(&["cautious", "greedy"]), 1);
    assert!(!again.edition && again.store.id() == 1);
    assert_eq!(third.hash, first.hash);
    assert_eq!(archive.stores().unwrap().len(), 2);
}

#[test]
fn a_gauntlet_takes_new_opponents() {
    let gauntlet = |bots: &[&str]| Plan { format: Format::Gauntlet, ..plan(bots, 40) };
    let archive = Archive::in_memory().unwrap();
    play(&archive, &gauntlet(&["optimal", "greedy"]), 1);
    let (_, more) = play(&archive, &gauntlet(&["optimal", "greedy", "random"]), 1);
    assert_eq!((more.matches, games(&more, "random"), games(&more, "greedy")), (160, 80, 80));
    assert_eq!(more.standings[2].name, "random");
    let refused = archive.resume(&gauntlet(&["greedy", "optimal"]), false, None).unwrap_err().to_string();
    assert!(refused.contains("the entries are"), "{refused}");
}

#[test]
fn who_leaves_without_a_match_changes_no_hash_and_a_store_without_anybody_is_refused() {
    let archive = Archive::in_memory().unwrap();
    let (_, first) = play(&archive, &plan(&["greedy", "cautious", "random"], 20), 1);
    let (opened, second) = play(&archive, &plan(&["greedy", "cautious"], 20), 1);
    assert_eq!((first.hash, opened.left), (second.hash, vec!["random".to_owned()]));
    let mut nobody = opened.plan;
    nobody.entries.iter_mut().for_each(|entry| entry.left = true);
    assert!(Schedule::of(&nobody).unwrap_err().to_string().contains("needs at least 2 entries, got 0"));
}

#[test]
fn a_stage_behind_the_last_block_is_damage() {
    let archive = Archive::in_memory().unwrap();
    let (opened, _) = play(&archive, &plan(&["greedy", "random"], 5), 1);
    let stage = |first| Stage { first, entries: vec![0, 1] };
    let edited = Plan { stages: vec![stage(0), stage(1000)], ..opened.plan };
    let refused = report(&edited, &Schedule::of(&edited).unwrap(), &opened.store).unwrap_err().to_string();
    assert!(refused.contains("a stage begins behind the last block"), "{refused}");
}

#[test]
fn a_gauntlet_of_another_first_program_begins_anew() {
    let with = |print: &str| {
        let mut plan = Plan { format: Format::Gauntlet, ..plan(&["optimal", "greedy"], 10) };
        plan.entries[0].fingerprint = Some(print.to_owned());
        plan
    };
    let archive = Archive::in_memory().unwrap();
    play(&archive, &with("one"), 1);
    assert!(archive.resume(&with("two"), false, None).is_err());
    let opened = archive.resume(&with("two"), true, None).unwrap();
    assert!(opened.edition && opened.store.id() == 2 && opened.plan.entries[0].name == "optimal");
}

#[test]
fn a_tournament_of_which_nothing_was_played_is_as_it_is_asked_for() {
    let archive = Archive::in_memory().unwrap();
    archive.begin(&plan(&["greedy", "cautios"], 10)).unwrap();
    let (opened, report) = play(&archive, &plan(&["greedy", "cautious"], 10), 1);
    assert_eq!((opened.store.id(), opened.plan.entries.len(), report.left.len()), (1, 2, 0));
    assert_eq!(report.confidence, necrodome_arena::stats::Confidence::Fixed);
}

#[test]
fn the_store_knows_how_many_blocks_are_wanted() {
    let archive = Archive::in_memory().unwrap();
    let confidence = |blocks| play(&archive, &plan(&["greedy", "random"], blocks), 1).1.confidence;
    use necrodome_arena::stats::Confidence::{Anytime, Fixed};
    assert_eq!([confidence(20), confidence(10), confidence(30)], [Fixed, Fixed, Anytime]);
    let (_, stored) = archive.store(1).unwrap().unwrap();
    assert_eq!((stored.blocks, stored.grown), (30, true));
}
