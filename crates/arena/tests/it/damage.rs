//! A changed bit is noticed, or changes nothing that users see.

use necrodome_arena::{
    entry::{EntryKind, EntrySpec},
    fault::{Fault, FaultKind},
    guest::Invitation,
    player::{Answer, MatchStart, Player},
    tournament::{
        Archive, Closing, Format, Plan, PlannedEntry, Schedule, Store, StoreError, all_matches, check,
        packed_replay, repair, report, run,
    },
};
use necrodome_rules::{
    game::{Game, Outcome},
    zombie_dice::{Race, RaceRules},
};
use std::{fs, path::Path, sync::atomic::AtomicBool};
use tempfile::TempDir;

/// A guest that never says anything that makes sense.
struct Babbler;

impl<G: Game> Player<G> for Babbler {
    fn start(&mut self, _: &MatchStart) {}

    fn hear(&mut self, _: &[&G::Event]) {}

    fn ask(&mut self, _: &G::View) {}

    fn answer(&mut self, _: &G::View) -> Answer<G::Action> {
        Answer::Fault(Fault::new(FaultKind::Garbage, "brains"))
    }

    fn refused(&mut self, _: &str) {}

    fn end(&mut self, _: &Outcome) -> Vec<Fault> {
        Vec::new()
    }
}

/// A file of two tournaments: one of built-in bots, one with a bot whose matches are kept with their faults.
fn fill(path: &Path, blocks: u32) -> Archive {
    let archive = Archive::open(path).unwrap();
    for other in ["cautious", "babbler"] {
        let entries = ["greedy", other].map(|bot| PlannedEntry::new(bot, bot)).into();
        let plan = Plan {
            options: serde_json::to_value(RaceRules::default()).unwrap(),
            ..Plan::new("zombie-dice-race", entries, Format::RoundRobin, 2, blocks, 7)
        };
        let mut specs = ["greedy", "cautious"].map(|bot| EntrySpec::parse(bot, Path::new(".")).unwrap());
        if other == "babbler" {
            specs[1].kind = EntryKind::Guest(Invitation::new::<Race>(|_, _| Box::new(Babbler)));
        }
        let mut store = archive.begin(&plan).unwrap();
        play(&plan, &specs, &mut store);
        // More blocks are wanted: another plan, another chunk.
        let longer = Plan { blocks: blocks + 2, grown: true, ..plan };
        let mut store = archive.resume(&longer, false, None).unwrap().store;
        play(&longer, &specs, &mut store);
        let fault = Fault::new(FaultKind::Crash, "fell over");
        store.close(&[Closing { entry: 1, faults: vec![fault], log: "goodbye".into() }]).unwrap();
    }
    archive
}

fn play(plan: &Plan, entries: &[EntrySpec], store: &mut Store) {
    run(plan, entries, &"unused".into(), store, 1, &AtomicBool::new(false), &mut |_| {}).unwrap();
}

/// All that anybody is shown of a file.
fn shown(archive: &Archive) -> Result<String, StoreError> {
    let mut text = String::new();
    for (store, plan) in archive.stores()? {
        let schedule = Schedule::of(&plan).unwrap();
        let report = report(&plan, &schedule, &store).map_err(|error| match error {
            necrodome_arena::tournament::TournamentError::Store(error) => error,
            other => panic!("{other}"),
        })?;
        text += &serde_json::to_string(&report).unwrap();
        for played in all_matches(&schedule, &store) {
            let played = played?;
            // Those that are not kept are made anew from the plan: one tells as much as all.
            let replay = match store.replay(played.block, played.number)? {
                Some(replay) => replay,
                None if played.block == 0 => packed_replay(&plan, &store, 0, played.number).unwrap(),
                None => Vec::new(),
            };
            text += &format!("{played:?} {replay:?}");
        }
    }
    Ok(text)
}

struct Count {
    refused: usize,
    harmless: usize,
}

/// Changes bits of a file, one at a time.
fn flip(folder: &Path, name: &str, bits: impl Iterator<Item = usize>) -> Count {
    let [store, victim] = ["store", name].map(|name| folder.join(name));
    let kept: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    let kept: Vec<_> = kept.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    let sound = shown(&Archive::read(&store).unwrap()).unwrap();
    let bytes = kept.iter().find(|(path, _)| *path == victim).unwrap().1.clone();
    let mut count = Count { refused: 0, harmless: 0 };
    for bit in bits {
        for (path, bytes) in &kept {
            fs::write(path, bytes).unwrap();
        }
        let mut changed = bytes.clone();
        changed[bit / 8 % bytes.len()] ^= 1 << (bit % 8);
        fs::write(&victim, &changed).unwrap();
        match Archive::read(&store).and_then(|archive| shown(&archive)) {
            Ok(text) => {
                assert!(text == sound, "bit {bit} of {name} changes what is shown, and nobody says so");
                count.harmless += 1;
            }
            Err(StoreError::Damaged(what)) => {
                assert!(!what.is_empty());
                assert_eq!(fs::read(&victim).unwrap(), changed, "it is left as it is");
                count.refused += 1;
            }
            Err(StoreError::Version { came }) => {
                assert_eq!((came ^ 6).count_ones(), 1, "bit {bit}");
                count.refused += 1;
            }
            Err(other) => panic!("bit {bit} of {name}: {other}"),
        }
    }
    for (path, bytes) in &kept {
        fs::write(path, bytes).unwrap();
    }
    count
}

fn some(count: usize, bits: usize) -> impl Iterator<Item = usize> {
    // Far apart, and never the same twice.
    let step = (bits / 2 + 977) | 1;
    (0..count).map(move |number| number * step % bits)
}

#[test]
fn no_changed_bit_of_a_store_goes_unnoticed() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("store");
    drop(fill(&store, 6));
    let bits = fs::metadata(&store).unwrap().len() as usize * 8;
    let header = flip(folder.path(), "store", (0..800).step_by(2));
    let anywhere = flip(folder.path(), "store", some(2000, bits));
    println!("{bits} bits: {} and {} refused", header.refused, anywhere.refused);
    assert!(anywhere.refused > anywhere.harmless / 4 && header.refused > 100);
}

/// Where the rows are, every byte counts.
#[test]
fn no_changed_byte_of_a_row_goes_unnoticed() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("store");
    drop(fill(&store, 1));
    let connection = rusqlite::Connection::open(&store).unwrap();
    // Nothing of before is left lying about.
    connection.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA secure_delete = ON; VACUUM").unwrap();
    let bytes = fs::read(&store).unwrap();
    let mut rows = Vec::new();
    for (table, column) in [
        ("plans", "plan"),
        ("chunks", "results"),
        ("chunks", "luck"),
        ("details", "replay"),
        ("heads", "chain"),
    ] {
        let mut query = connection.prepare(&format!("SELECT CAST({column} AS BLOB) FROM {table}")).unwrap();
        let values = query.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
        rows.extend(values.map(Result::unwrap));
    }
    drop(connection);
    let mut bits = Vec::new();
    for row in &rows {
        let start = bytes.windows(row.len()).position(|window| window == row).unwrap();
        bits.extend((start..start + row.len()).map(|byte| byte * 8 + byte % 8));
    }
    let count = flip(folder.path(), "store", bits.iter().step_by(7).copied());
    assert_eq!((count.harmless, count.refused), (0, bits.len().div_ceil(7)));
}

/// SQLite takes a frame that does not fit its sum for the end of the log, and forgets the rest.
#[test]
fn no_changed_bit_of_the_log_of_a_killed_arena_goes_unnoticed() {
    let (alive, killed) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let archive = fill(&alive.path().join("store"), 1);
    for name in ["store", "store-wal"] {
        fs::copy(alive.path().join(name), killed.path().join(name)).unwrap();
    }
    drop(archive);
    let kept = ["store", "store-wal"].map(|name| fs::read(killed.path().join(name)).unwrap());
    let bytes = kept[1].len();
    let header = flip(killed.path(), "store-wal", (0..32 * 8).step_by(5));
    let anywhere = flip(killed.path(), "store-wal", some(100, bytes * 8));
    let end = flip(killed.path(), "store-wal", some(40, 4120 * 8).map(|bit| (bytes - 4120) * 8 + bit));
    assert_eq!([header.harmless, anywhere.harmless, end.harmless], [0; 3]);
    // What was cut off by the kill is no damage.
    fs::write(killed.path().join("store"), &kept[0]).unwrap();
    fs::write(killed.path().join("store-wal"), &kept[1][..bytes - 2000]).unwrap();
    assert_eq!(Archive::read(&killed.path().join("store")).unwrap().stores().unwrap().len(), 2);
}

#[test]
fn what_is_sound_is_kept_and_the_rest_is_made_again() {
    let folder = TempDir::new().unwrap();
    let [store, new] = ["store", "new"].map(|name| folder.path().join(name));
    drop(fill(&store, 6));
    let sound = shown(&Archive::read(&store).unwrap()).unwrap();
    let bytes = fs::read(&store).unwrap();
    let healthy = check(&store).unwrap();
    assert!(healthy.damage.is_empty() && healthy.seal.is_some());
    assert_eq!(healthy.tournaments[1].blocks, [(0, 7)]);
    let (mut whole, mut part) = (0, 0);
    for bit in some(100, bytes.len() * 8) {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        fs::write(&store, &changed).unwrap();
        if check(&store).unwrap().damage.is_empty() {
            continue;
        }
        let repaired = repair(&store, &new, &"unused".into(), None).unwrap();
        let text = shown(&Archive::read(&new).unwrap()).unwrap();
        if text == sound {
            whole += 1;
        } else {
            assert!(!repaired.lost.is_empty(), "bit {bit}: {repaired:?}");
            part += 1;
        }
        assert_eq!(fs::read(&store).unwrap(), changed, "the damaged one stays as it is");
        fs::remove_file(&new).unwrap();
    }
    println!("{whole} as before, {part} in part");
    assert!(whole > 9 * part && whole > 10);
}

/// Whole pages of a file that SQLite cannot open.
#[test]
fn a_file_that_sqlite_cannot_open_is_saved_row_by_row() {
    let folder = TempDir::new().unwrap();
    let [store, new] = ["store", "new"].map(|name| folder.path().join(name));
    drop(fill(&store, 6));
    let sound = shown(&Archive::read(&store).unwrap()).unwrap();
    let connection = rusqlite::Connection::open(&store).unwrap();
    // A block of each kind of tournament: one is played again, one made of its replays.
    connection
        .execute_batch("DELETE FROM chunks WHERE first = 0; PRAGMA secure_delete = ON; VACUUM")
        .unwrap();
    drop(connection);
    let mut bytes = fs::read(&store).unwrap();
    bytes[..100].fill(0xff);
    fs::write(&store, &bytes).unwrap();
    // Nothing says any more that it is ours.
    assert!(matches!(Archive::read(&store), Err(StoreError::Foreign)));
    let repaired = repair(&store, &new, &"unused".into(), None).unwrap();
    let words = repaired.done.join("; ");
    // How many blocks were stored together depends on how busy the machine is.
    assert!(words.contains("tournament 1: block") && words.contains(": played again"), "{repaired:?}");
    assert!(words.contains(": made again from the replays of their matches"), "{repaired:?}");
    assert_eq!(shown(&Archive::read(&new).unwrap()).unwrap(), sound);
}
