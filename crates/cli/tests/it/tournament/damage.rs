//! Damaged stores of tournaments with programs are noticed, checked and repaired; also stores in unsafe places.

use super::{LINE_UP, hash, json, refusal, tournament};
use crate::program::{necrodome, necrodome_in, output_in};
use necrodome_arena::tournament::{Archive, Schedule, StoreError, TournamentError, all_matches, report};
use serde_json::Value;
use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};
use tempfile::TempDir;

/// A program that plays, and one that says nothing that makes sense; both write to standard error.
fn play(folder: &Path) -> Value {
    let bots = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bots");
    fs::copy(bots.join("python/zombie_dice.py"), folder.join("ada.py")).unwrap();
    fs::copy(bots.join("misbehaving/garbage.py"), folder.join("bob.py")).unwrap();
    let words = ["tournament", "zombie-dice", "greedy", "./ada.py", "./bob.py", "--seed=3", "--blocks=2"];
    necrodome_in(folder, &[&words[..], &["--store=t.store"]].concat()).assert().success();
    reported(folder)
}

fn reported(folder: &Path) -> Value {
    serde_json::from_str(&output_in(folder, &["report", "t.store", "--json"])).unwrap()
}

fn shown(store: &Path) -> Result<String, StoreError> {
    let mut text = String::new();
    for (store, plan) in Archive::read(store)?.stores()? {
        let schedule = Schedule::of(&plan).unwrap();
        let report = report(&plan, &schedule, &store).map_err(|error| match error {
            TournamentError::Store(error) => error,
            other => panic!("{other}"),
        })?;
        text += &serde_json::to_string(&report).unwrap();
        for played in all_matches(&schedule, &store) {
            let played = played?;
            text += &format!("{played:?} {:?}", store.replay(played.block, played.number)?);
        }
    }
    Ok(text)
}

fn flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    changed[bit / 8] ^= 1 << (bit % 8);
    changed
}

#[test]
fn a_changed_bit_in_a_tournament_of_programs_is_noticed_or_changes_nothing() {
    let folder = TempDir::new().unwrap();
    let before = play(folder.path());
    assert!(!before["faults"].as_array().unwrap().is_empty());
    let store = folder.path().join("t.store");
    let (bytes, sound) = (fs::read(&store).unwrap(), shown(&store).unwrap());
    let (bits, mut refused) = (bytes.len() * 8, 0);
    for bit in (0..1000).map(|number| number * ((bits / 2 + 977) | 1) % bits) {
        fs::write(&store, flipped(&bytes, bit)).unwrap();
        match shown(&store) {
            Ok(text) => assert!(text == sound, "bit {bit} changes what is shown, and nobody says so"),
            Err(StoreError::Damaged(_) | StoreError::Version { .. }) => refused += 1,
            Err(other) => panic!("bit {bit}: {other}"),
        }
    }
    // Much of a small store is unused.
    assert!(refused > 100, "{refused}");
    // The commands refuse it, and say what to do.
    let plan = bytes.windows(20).position(|window| window == b"\"game\":\"zombie-dice\"").unwrap();
    fs::write(&store, flipped(&bytes, plan * 8 + 800)).unwrap();
    for words in [&["report", "t.store"][..], &["replay", "t.store", "--from=0.0"]] {
        let result = necrodome_in(folder.path(), words).assert().code(2);
        let said = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
        assert!(said.contains("damaged (tournament 1: the plan changed since written"), "{said}");
        assert!(said.contains("hint: `necrodome store check t.store`"), "{said}");
    }
}

#[test]
fn a_damaged_store_is_checked_and_repaired() {
    let folder = TempDir::new().unwrap();
    let before = play(folder.path());
    let store = folder.path().join("t.store");
    let said = output_in(folder.path(), &["store", "check", "t.store"]);
    assert!(
        said.contains("tournament 1 (zombie-dice): blocks 0 to 1 are sound, and the details of 12 matches"),
        "{said}"
    );
    assert!(said.contains("sound: every row is as it was written; seal "), "{said}");
    let nothing = necrodome_in(folder.path(), &["store", "repair", "t.store"]).assert().success();
    assert!(String::from_utf8_lossy(&nothing.get_output().stderr).contains("nothing was done"));

    // Results and replays are gone: the programs play again.
    let sound = fs::read(&store).unwrap();
    let damage = |statements: &str| {
        fs::write(&store, &sound).unwrap();
        let connection = rusqlite::Connection::open(&store).unwrap();
        connection.execute_batch(statements).unwrap();
        connection.execute_batch("PRAGMA journal_mode = DELETE; VACUUM").unwrap();
    };
    const REPLAYS: &str = "DELETE FROM details WHERE block = 1 AND number IN (2, 3)";
    let (both, chunks) = (format!("DELETE FROM chunks; {REPLAYS}"), "chunks has 0 rows");
    for (statements, damaged, how) in [
        (&*both, chunks, "blocks 0 to 1: played again"),
        ("DELETE FROM chunks", chunks, "blocks 0 to 1: made again from the replays"),
        (REPLAYS, "details has 10 rows", "replay and faults of block 1: made again by playing it again"),
    ] {
        damage(statements);
        let result = necrodome_in(folder.path(), &["store", "check", "t.store", "--json"]).assert().code(1);
        let condition: Value = serde_json::from_slice(&result.get_output().stdout).unwrap();
        assert_eq!(condition["seal"], Value::Null);
        assert!(condition["damage"].to_string().contains(damaged), "{condition}");
        let broken = fs::read(&store).unwrap();
        let result = necrodome_in(folder.path(), &["store", "repair", "t.store"]).assert().success();
        let said = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
        assert!(said.contains(how) && said.contains("kept as t.store.damaged"), "{said}");
        assert_eq!(hash(&reported(folder.path())), hash(&before));
        let verified = output_in(folder.path(), &["replay", "t.store", "--verify"]);
        assert!(verified.contains("verified: 12 matches"), "{verified}");
        assert_eq!(fs::read(folder.path().join("t.store.damaged")).unwrap(), broken);
        // Not twice over the same.
        damage(statements);
        let again = necrodome_in(folder.path(), &["store", "repair", "t.store"]).assert().code(1);
        assert!(String::from_utf8_lossy(&again.get_output().stderr).contains("is there already"));
        fs::remove_file(folder.path().join("t.store.damaged")).unwrap();
    }

    // A program that is not what it was cannot stand in for itself.
    fs::write(folder.path().join("ada.py"), "# another program").unwrap();
    damage("DELETE FROM chunks; DELETE FROM details WHERE number = 3");
    let result =
        necrodome_in(folder.path(), &["store", "repair", "t.store", "--out=new.store"]).assert().code(1);
    let said = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
    assert!(
        said.contains(
            "lost: tournament 1: blocks 0 to 1 and all that came after: ada (./ada.py) is not here"
        ),
        "{said}"
    );
    assert!(
        said.contains("error: 2 blocks lost") && said.contains("hint: put back what is missing"),
        "{said}"
    );
    assert!(store.exists() && folder.path().join("new.store").exists());
    damage(REPLAYS);
    output_in(folder.path(), &["store", "repair", "t.store", "--out=bare.store"]);
    let result = necrodome_in(folder.path(), &["replay", "bare.store", "--verify"]).assert().code(1);
    let said = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
    assert!(said.contains("10 matches verified, but no replay is there of 2 matches: 1.2, 1.3"), "{said}");
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_store_is_for_its_owner_and_is_not_written_through_links() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let stored = |name: &str| format!("--store={}", path(name).display());
    let words = |stored: &str| {
        [&LINE_UP[..], &["--blocks=5", stored]].concat().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let with = |name: &str| {
        let stored = stored(name);
        refusal(&words(&stored).iter().map(String::as_str).collect::<Vec<_>>(), 1)
    };
    let first = stored("mine");
    let before = json(&[&LINE_UP[..], &["--blocks=5", &first]].concat());
    assert_eq!(mode(&path("mine")), 0o600);
    // One that everybody could read is closed when it goes on.
    fs::set_permissions(path("mine"), Permissions::from_mode(0o644)).unwrap();
    json(&[&LINE_UP[..], &["--blocks=6", &first]].concat());
    assert_eq!(mode(&path("mine")), 0o600);

    symlink(path("mine"), path("link")).unwrap();
    symlink(path("elsewhere"), path("dangling")).unwrap();
    for link in ["link", "dangling"] {
        let said = with(link);
        assert!(said.contains("is a symbolic link") && said.contains("hint: name the file itself"), "{said}");
    }
    assert!(!path("elsewhere").exists());
    // To read is no harm.
    necrodome(&["report", path("link").to_str().unwrap()]).assert().success();
    fs::hard_link(path("mine"), path("twin")).unwrap();
    assert!(with("twin").contains("has another name as well"), "{}", with("twin"));
    fs::remove_file(path("twin")).unwrap();
    fs::write(path("victim"), "my diary").unwrap();
    for end in ["-wal", "-journal"] {
        let log = path(&format!("mine{end}"));
        symlink(path("victim"), &log).unwrap();
        assert!(with("mine").contains(&format!("mine{end} is a symbolic link")));
        fs::remove_file(log).unwrap();
    }
    // Tables are not written through links either.
    symlink(path("victim"), path("results.csv")).unwrap();
    let csv = format!("--csv={}", path("results.csv").display());
    let result = tournament(&[&LINE_UP[..], &["--blocks=5", &csv, "--force"]].concat()).assert().code(1);
    assert!(String::from_utf8_lossy(&result.get_output().stderr).contains("is a symbolic link"));
    assert_eq!(fs::read_to_string(path("victim")).unwrap(), "my diary");
    assert_eq!(hash(&before), hash(&json(&[&LINE_UP[..], &["--blocks=5"]].concat())));
}
