//! One file, many tournaments; files of older versions; files that are not ours.

use necrodome_arena::{
    entry::EntrySpec,
    tournament::{
        Archive, Format, Opened, Plan, PlannedEntry, Report, Schedule, Store, StoreError, report, run,
    },
};
use necrodome_rules::{
    catalog::Listed,
    game::Game,
    zombie_dice::{Race, RaceRules},
};
use rusqlite::Connection;
use std::{path::Path, sync::atomic::AtomicBool};
use tempfile::TempDir;

fn plan(bots: [&str; 2], blocks: u32, seed: u64) -> Plan {
    Plan {
        options: serde_json::to_value(RaceRules::default()).unwrap(),
        ..Plan::new(
            Race::ID,
            bots.map(|bot| PlannedEntry::new(bot, bot)).into(),
            Format::RoundRobin,
            2,
            blocks,
            seed,
        )
    }
}

fn play(plan: &Plan, store: &mut Store) -> Report {
    let parse = |entry: &PlannedEntry| EntrySpec::parse(&entry.bot, Path::new(".")).unwrap();
    let entries: Vec<EntrySpec> = plan.entries.iter().map(parse).collect();
    run(plan, &entries, &"unused".into(), store, 2, &AtomicBool::new(false), &mut |_| {}).unwrap();
    report(plan, &Schedule::new(plan, Race::SEATS).unwrap(), store).unwrap()
}

fn alone(plan: &Plan) -> Report {
    play(plan, &mut Store::in_memory(plan).unwrap())
}

#[test]
fn two_tournaments_in_one_file_do_not_touch_each_other() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("two");
    let (one, other) = (plan(["greedy", "random"], 300, 1), plan(["cautious", "greedy"], 200, 2));
    {
        let archive = Archive::open(&path).unwrap();
        let (mut first, mut second) = (archive.begin(&one).unwrap(), archive.begin(&other).unwrap());
        // At the same time, through the same connection.
        let (a, b) = std::thread::scope(|scope| {
            let a = scope.spawn(|| play(&one, &mut first));
            let b = scope.spawn(|| play(&other, &mut second));
            (a.join().unwrap(), b.join().unwrap())
        });
        assert_eq!(a.hash, alone(&one).hash);
        assert_eq!(b.hash, alone(&other).hash);
        assert!(b.standings[0].luck_adjusted.is_some());
    }
    let archive = Archive::open(&path).unwrap();
    let plans: Vec<Plan> = archive.stores().unwrap().into_iter().map(|(_, plan)| plan).collect();
    assert_eq!(plans, [one.clone(), other.clone()]);
    let longer = Plan { blocks: 250, ..other };
    let mut store = archive.resume(&longer, false, None).unwrap().store;
    assert_eq!(store.blocks().unwrap(), 200, "it goes on with the one that has its plan");
    assert_eq!(play(&longer, &mut store).hash, alone(&longer).hash);
    let stranger = archive.resume(&plan(["greedy", "random"], 300, 3), false, None).unwrap_err();
    assert_eq!(stranger.to_string(), "the store holds another tournament: the seed is 2 there, 3 here");
    let stranger = archive.resume(&plan(["random", "optimal"], 300, 2), false, None).unwrap_err();
    let why =
        "the store holds another tournament: the entries are cautious, greedy there, random, optimal here";
    assert_eq!(stranger.to_string(), why);
    assert_eq!(archive.seed_of(&Plan { seed: 0.into(), ..one }).unwrap(), Some(1.into()));
}

/// The tables as version 2 had them, with what the file of today holds.
const AS_VERSION_2: &str = "
CREATE TABLE old.plan (plan TEXT NOT NULL);
CREATE TABLE old.results (first INTEGER PRIMARY KEY, blocks INTEGER NOT NULL, packed BLOB NOT NULL);
CREATE TABLE old.luck (first INTEGER PRIMARY KEY, packed BLOB NOT NULL);
CREATE TABLE old.detail (
    block INTEGER NOT NULL, number INTEGER NOT NULL, faults TEXT NOT NULL, replay BLOB, PRIMARY KEY (block, number)
);
CREATE TABLE old.effort (entry INTEGER PRIMARY KEY, decisions INTEGER NOT NULL, nanoseconds INTEGER NOT NULL);
CREATE TABLE old.closing (entry INTEGER NOT NULL, faults TEXT NOT NULL, log TEXT NOT NULL);
INSERT INTO old.plan SELECT plan FROM plans;
INSERT INTO old.results SELECT first, blocks, results FROM chunks;
INSERT INTO old.luck SELECT first, luck FROM chunks;
INSERT INTO old.effort VALUES (0, 0, 0), (1, 3, 6000);
INSERT INTO old.detail VALUES (0, 1, '[]', x'0102');
INSERT INTO old.closing VALUES (1, '[]', 'goodbye');
PRAGMA old.application_id = 0x4e454352;
";

/// The tables as versions 3 to 5 had them.
const AS_VERSION_5: &str = "
CREATE TABLE old.tournament (id INTEGER PRIMARY KEY AUTOINCREMENT, plan TEXT NOT NULL);
CREATE TABLE old.results (
    tournament INTEGER NOT NULL, first INTEGER NOT NULL, blocks INTEGER NOT NULL, packed BLOB NOT NULL,
    PRIMARY KEY (tournament, first)
);
CREATE TABLE old.luck (
    tournament INTEGER NOT NULL, first INTEGER NOT NULL, packed BLOB NOT NULL, PRIMARY KEY (tournament, first)
);
CREATE TABLE old.detail (
    tournament INTEGER NOT NULL, block INTEGER NOT NULL, number INTEGER NOT NULL, faults TEXT NOT NULL, replay BLOB,
    PRIMARY KEY (tournament, block, number)
);
CREATE TABLE old.effort (
    tournament INTEGER NOT NULL, entry INTEGER NOT NULL, decisions INTEGER NOT NULL, nanoseconds INTEGER NOT NULL,
    PRIMARY KEY (tournament, entry)
);
CREATE TABLE old.closing (tournament INTEGER NOT NULL, entry INTEGER NOT NULL, faults TEXT NOT NULL, log TEXT NOT NULL);
INSERT INTO old.tournament SELECT 1, plan FROM plans;
INSERT INTO old.results SELECT 1, first, blocks, results FROM chunks;
INSERT INTO old.luck SELECT 1, first, luck FROM chunks;
INSERT INTO old.effort VALUES (1, 0, 0, 0), (1, 1, 3, 6000);
INSERT INTO old.detail VALUES (1, 0, 1, '[]', x'0102');
INSERT INTO old.closing VALUES (1, 1, '[]', 'goodbye');
PRAGMA old.application_id = 0x4e454352;
";

#[test]
fn files_of_older_versions_can_be_read_and_go_on_if_they_were_seated_as_today() {
    for version in [1, 2, 3, 4, 5] {
        let folder = TempDir::new().unwrap();
        let (new, old) = (folder.path().join("new"), folder.path().join("old"));
        let short = plan(["greedy", "random"], 100, 1);
        play(&short, &mut Archive::open(&new).unwrap().resume(&short, false, None).unwrap().store);
        let connection = Connection::open(&new).unwrap();
        connection.execute("ATTACH ?1 AS old", [old.to_str().unwrap()]).unwrap();
        connection.execute_batch(if version < 3 { AS_VERSION_2 } else { AS_VERSION_5 }).unwrap();
        connection.execute_batch(&format!("PRAGMA old.user_version = {version}")).unwrap();
        if version == 1 {
            connection.execute_batch("DROP TABLE old.luck").unwrap();
        }
        drop(connection);
        let older = version < 4;
        let check = || {
            let stores = Archive::read(&old).unwrap().stores().unwrap();
            let (store, stored) = &stores[0];
            assert_eq!((stores.len(), stored, store.id()), (1, &Plan { older, ..short.clone() }, 1));
            assert_eq!(store.replay(0, 1).unwrap(), Some(vec![1, 2]));
            let read = report(stored, &Schedule::new(stored, Race::SEATS).unwrap(), store).unwrap();
            // Before luck was measured it was not part of the hash.
            assert_eq!(read.hash == alone(&short).hash, version > 1, "as it was printed when it was played");
            assert_eq!(read.trouble.logs[0].lines, ["goodbye"]);
            assert_eq!(read.standings[0].luck_adjusted.is_some(), version > 1);
            let random = read.standings.iter().find(|entry| entry.name == "random").unwrap();
            assert_eq!(random.cpu_us, Some(2.0));
            read.hash
        };
        // To read it changes nothing.
        let before = std::fs::read(&old).unwrap();
        let printed = check();
        assert_eq!(std::fs::read(&old).unwrap(), before);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "only the two files");

        let long = Plan { blocks: 150, ..short.clone() };
        let archive = Archive::open(&old).unwrap();
        assert_eq!(archive.older_version(), Some(version));
        // It was brought up to date, and holds what it held.
        drop(archive);
        assert_ne!(std::fs::read(&old).unwrap(), before);
        assert_eq!(check(), printed);
        let archive = Archive::open(&old).unwrap();
        assert_eq!(archive.older_version(), None);
        let resumed = archive.resume(&long, false, None);
        if older {
            // Matches of today are seated otherwise, so they must not be mixed with those.
            let refused = resumed.unwrap_err().to_string();
            assert!(refused.contains("an older necrodome began it"), "{refused}");
            archive.begin(&short).unwrap();
            assert_eq!(archive.stores().unwrap().len(), 2, "others may be played beside it");
        } else {
            let Opened { mut store, plan, .. } = resumed.unwrap();
            assert_eq!(play(&plan, &mut store).hash, alone(&long).hash);
        }
        drop(archive);
        // What was there is sealed from now on.
        let change = "UPDATE chunks SET efforts = '[[9,9],[9,9]]' WHERE tournament = 1 AND first = 0";
        Connection::open(&old).unwrap().execute_batch(change).unwrap();
        let refused = Archive::read(&old).unwrap_err().to_string();
        assert!(refused.contains("tournament 1: blocks 0 to "), "{refused}");
    }
}

#[test]
fn a_file_that_cannot_be_used_says_why() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("file");
    let first = Archive::open(&path).unwrap();
    assert!(matches!(Archive::open(&path), Err(StoreError::Busy)));
    drop(first);
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 9").unwrap();
    assert!(matches!(Archive::open(&path), Err(StoreError::Version { came: 9 })));
    Connection::open(&path).unwrap().execute_batch("PRAGMA application_id = 7").unwrap();
    assert!(matches!(Archive::open(&path), Err(StoreError::Foreign)));
    assert!(matches!(Archive::read(&folder.path().join("nowhere")), Err(StoreError::Closed)));
}

/// What hears of the blocks may fail: that must end the tournament, not stop it for ever.
#[test]
fn a_watcher_that_panics_ends_the_tournament() {
    let plan = plan(["greedy", "random"], 10_000, 7);
    let parse = |entry: &PlannedEntry| EntrySpec::parse(&entry.bot, Path::new(".")).unwrap();
    let entries: Vec<EntrySpec> = plan.entries.iter().map(parse).collect();
    let mut store = Store::in_memory(&plan).unwrap();
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        run(&plan, &entries, &"unused".into(), &mut store, 2, &AtomicBool::new(false), &mut |_| {
            panic!("no more")
        })
    }));
    assert!(ended.is_err());
}
