//! A tournament that is played slowly has the results of a fast one.

use necrodome_arena::{
    entry::EntrySpec,
    tournament::{Format, Plan, PlannedEntry, Schedule, Speed, Stop, Store, report, run, run_at},
};
use necrodome_rules::{
    catalog::Listed,
    game::Game,
    zombie_dice::{Race, RaceRules},
};
use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

const BLOCKS: u32 = 100;

fn plan() -> (Plan, Vec<EntrySpec>) {
    let bots = ["greedy", "cautious"];
    let planned = bots.iter().map(|bot| PlannedEntry::new(*bot, *bot)).collect();
    let options = serde_json::to_value(RaceRules::default()).unwrap();
    let plan = Plan { options, ..Plan::new(Race::ID, planned, Format::RoundRobin, 2, BLOCKS, 7) };
    let entries = bots.iter().map(|bot| EntrySpec::parse(bot, Path::new(".")).unwrap()).collect();
    (plan, entries)
}

fn hash(plan: &Plan, store: &Store) -> Option<String> {
    report(plan, &Schedule::new(plan, Race::SEATS).unwrap(), store).unwrap().hash
}

#[test]
fn a_show_can_be_stopped_and_played_to_its_end_with_the_same_results() {
    let (plan, entries) = plan();
    let launcher = "unused".into();
    let mut fast = Store::in_memory(&plan).unwrap();
    let never = AtomicBool::new(false);
    run(&plan, &entries, &launcher, &mut fast, 2, &never, &mut |_| {}).unwrap();

    // Nobody waits for so long: whoever has seen the first blocks has seen enough.
    let mut shown = Store::in_memory(&plan).unwrap();
    let speed = Speed { threads: 2, lasts: Duration::from_secs(100_000) };
    let enough = AtomicBool::new(false);
    let mut see = |_: necrodome_arena::tournament::Update| enough.store(true, Ordering::Relaxed);
    let stop = run_at(&plan, &entries, &launcher, &mut shown, speed, &enough, &mut see).unwrap();
    assert_eq!(stop, Stop::Interrupted);
    assert!((1..BLOCKS).contains(&shown.blocks().unwrap()), "{:?}", shown.blocks());

    let brisk = Speed { threads: 2, lasts: Duration::from_millis(50) };
    let stop = run_at(&plan, &entries, &launcher, &mut shown, brisk, &never, &mut |_| {}).unwrap();
    assert_eq!((stop, shown.blocks().unwrap()), (Stop::Done, BLOCKS));
    assert!(hash(&plan, &shown).is_some());
    assert_eq!(hash(&plan, &shown), hash(&plan, &fast));
}
