//! Tournaments in a file: resumed, read, refused, replayed.

use super::{ENDLESS, LINE_UP, endless, hash, json, refusal, start};
use crate::program::{necrodome, necrodome_in, output_in};
use assert_cmd::Command;
use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    io::{BufRead, BufReader},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
};
use tempfile::TempDir;

#[test]
fn a_tournament_goes_on_where_it_was_and_plays_nothing_twice() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("t.store");
    let stored = format!("--store={}", store.display());
    let run = |blocks| json(&[&LINE_UP[..], &[blocks, &stored]].concat());
    assert_eq!(run("--blocks=40")["blocks"], 40);
    let longer = run("--blocks=90");
    let at_once = json(&[&LINE_UP[..], &["--blocks=90"]].concat());
    assert_eq!(hash(&longer), hash(&at_once));
    assert_eq!(hash(&run("--blocks=90")), hash(&at_once), "nothing is left to do");
}

/// Kills the arena again and again, each time as soon as it has reported blocks as played.
#[test]
fn after_kill_9_nothing_that_was_shown_is_lost_and_the_result_is_the_same() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("t.store");
    let stored = format!("--store={}", store.display());
    let bot = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bots/python/zombie_dice.py");
    let words = ["zombie-dice", "greedy", bot, "--seed=3", "--blocks=60"];
    let with_store = [&words[..], &[&stored]].concat();
    let mut shown = 0;
    for _ in 0..3 {
        let mut arena = start(&with_store);
        let lines = BufReader::new(arena.stderr.take().unwrap()).lines();
        // Plain lines "12/60 blocks, ..." come when blocks are stored.
        for line in lines.map_while(Result::ok) {
            if let Some(blocks) = line.split('/').next().and_then(|blocks| blocks.parse::<u32>().ok()) {
                shown = shown.max(blocks);
                break;
            }
        }
        arena.kill().unwrap();
        arena.wait().unwrap();
    }
    let finished = json(&with_store);
    assert!(finished["blocks"].as_u64().unwrap() >= shown.into());
    let secret = format!("--secret={}", finished["plan"]["sealed_dice"][0]["secret"].as_str().unwrap());
    assert_eq!(hash(&finished), hash(&json(&[&words[..], &[&secret]].concat())));
}

#[test]
fn a_store_that_cannot_be_used_is_refused_and_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let with = |store: &str, code| {
        let stored = format!("--store={store}");
        refusal(&[&LINE_UP[..], &["--blocks=5", &stored]].concat(), code)
    };

    fs::write(path("text"), "my diary").unwrap();
    assert!(with(&path("text"), 2).contains("not a necrodome store"));
    assert_eq!(fs::read_to_string(path("text")).unwrap(), "my diary");

    let foreign = rusqlite::Connection::open(path("foreign")).unwrap();
    foreign.execute_batch("CREATE TABLE diary (day TEXT); INSERT INTO diary VALUES ('monday')").unwrap();
    drop(foreign);
    let before = fs::read(path("foreign")).unwrap();
    assert!(with(&path("foreign"), 2).contains("not a necrodome store"));
    assert_eq!(fs::read(path("foreign")).unwrap(), before);

    let good = format!("--store={}", path("good"));
    json(&[&LINE_UP[..], &["--blocks=500", &good]].concat());
    let other = refusal(&["zombie-dice", "optimal", "x=random", "--seed=7", "--blocks=5", &good], 2);
    assert_eq!(
        other.replace(&path("good"), "good"),
        "error: good: the store holds another tournament: the entries are greedy, cautious, random there, optimal, x=random here\n\
         hint: choose another --store, or repeat the command as it was"
    );
    let other = refusal(&[&LINE_UP[..4], &["--seed=8", "--set=max_rounds=none", &good]].concat(), 2);
    assert!(other.contains("the seed is 7 there, 8 here; the option max_rounds is "), "{other}");

    // Damage in the middle of the file.
    let mut bytes = fs::read(path("good")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0xff);
    fs::write(path("damaged"), &bytes).unwrap();
    let damaged = with(&path("damaged"), 2);
    assert!(damaged.contains("damaged") || damaged.contains("malformed"), "{damaged}");
    assert_eq!(fs::read(path("damaged")).unwrap(), bytes);

    assert!(with("/nowhere/at/all.store", 1).contains("/nowhere/at/all.store: the store cannot be opened"));
}

#[test]
fn a_second_process_on_the_same_store_is_refused() {
    let folder = TempDir::new().unwrap();
    let stored = format!("--store={}", folder.path().join("t.store").display());
    let (mut arena, _lines) = endless(&stored);
    let second = refusal(&[&ENDLESS[..], &[&stored]].concat(), 1);
    arena.kill().unwrap();
    arena.wait().unwrap();
    assert!(second.contains("in use by another process\nhint: wait until the tournament"), "{second}");
}

/// A file system of half a megabyte, in a mount namespace of its own.
#[test]
fn a_full_disk_is_reported_and_what_was_played_is_kept() {
    let folder = TempDir::new().unwrap();
    let binary = assert_cmd::cargo::cargo_bin!("necrodome");
    let kept = folder.path().join("kept.store");
    fs::create_dir(folder.path().join("small")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=512k tmpfs {0}/small && \
         {1} tournament zombie-dice greedy random --seed 3 --blocks 100000000 --store {0}/small/t.store; \
         code=$?; cp {0}/small/t.store* {0}/ && mv {0}/t.store {2}; exit $code",
        folder.path().display(),
        binary.display(),
        kept.display()
    );
    let result = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&result.stderr);
    assert!(error.contains("the disk is full"), "{error}");
    for leftover in ["t.store-wal", "t.store-shm"] {
        let from = folder.path().join(leftover);
        if from.exists() {
            fs::rename(from, folder.path().join(leftover.replace("t.store", "kept.store"))).unwrap();
        }
    }
    let stored = format!("--store={}", kept.display());
    let words = ["zombie-dice", "greedy", "random", "--seed=3", "--blocks=1", &stored];
    let report = json(&words);
    let blocks = report["blocks"].as_u64().unwrap();
    assert!(blocks > 0, "what was stored before is there");
    let fresh = format!("--blocks={blocks}");
    assert_eq!(hash(&report), hash(&json(&["zombie-dice", "greedy", "random", "--seed=3", &fresh])));
}

#[test]
fn stored_matches_can_be_replayed_and_verified() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("t.store");
    let stored = format!("--store={}", store.display());
    let bot = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bots/python/zombie_dice.py");
    json(&["zombie-dice", "greedy", bot, "--seed=3", "--blocks=3", &stored]);
    verify(&store, "2.1");
    let fast = folder.path().join("fast.store");
    let stored = format!("--store={}", fast.display());
    json(&["zombie-dice", "greedy", "random", "--seed=3", "--blocks=3", &stored]);
    verify(&fast, "1.0");
    let missing = replay(&[fast.to_str().unwrap(), "--from=9.0", "--verify"]).assert().code(2);
    assert!(
        String::from_utf8_lossy(&missing.get_output().stderr)
            .contains("there is no block 9: expected 0 to 2")
    );
}

#[test]
fn what_was_changed_in_a_store_is_refused_with_its_blocks() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("t.store");
    let stored = format!("--store={}", store.display());
    let words = ["zombie-dice-race", "greedy", "random", "--seed=3", "--blocks=3", &stored];
    json(&words);
    verify(&store, "2.1");
    let sound = fs::read(&store).unwrap();
    // The luck of the first match, as if the dice had been kinder, and the score of the last seat in the last match.
    for statement in [
        "UPDATE chunks SET luck = CAST(x'0000003f' || substr(luck, 5) AS BLOB)",
        "UPDATE chunks SET results = CAST(substr(results, 1, length(results) - 1) || x'02' AS BLOB)",
    ] {
        fs::write(&store, &sound).unwrap();
        rusqlite::Connection::open(&store).unwrap().execute_batch(statement).unwrap();
        let path = store.to_str().unwrap();
        let report = necrodome(&["report", path]).assert().code(2);
        let replay = replay(&[path, "--from=2.1", "--verify"]).assert().code(2);
        for said in [&report.get_output().stderr, &replay.get_output().stderr] {
            let said = String::from_utf8_lossy(said);
            let why = "t.store: the store is damaged (tournament 1: blocks 0 to 2 changed since written)";
            assert!(said.contains(why) && said.contains("hint: `necrodome store check"), "{said}");
        }
        let said = refusal(&words, 2);
        assert!(said.contains("blocks 0 to 2") && said.contains("store repair"), "{said}");
    }
}

/// Everything in a folder, with its contents.
pub(super) fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

/// Root may write anywhere, so the reader is somebody else then.
#[test]
fn a_store_that_may_not_be_written_can_be_read() {
    let folder = TempDir::new().unwrap();
    let open = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    open(folder.path(), 0o755);
    let binary = folder.path().join("necrodome");
    fs::copy(assert_cmd::cargo::cargo_bin!("necrodome"), &binary).unwrap();
    let closed = folder.path().join("read only %41 ?#");
    fs::create_dir(&closed).unwrap();
    let store = closed.join("t.store");
    let stored = format!("--store={}", store.display());
    json(&["zombie-dice", "greedy", "random", "--seed=3", "--blocks=3", &stored]);
    let run = |words: &[&str]| {
        let mut command = std::process::Command::new(&binary);
        command.args(words).current_dir(&closed);
        if nix::unistd::geteuid().is_root() {
            command.uid(65534).gid(65534);
        }
        command.output().unwrap()
    };
    let read = || run(&["replay", "t.store", "--from=1.0", "--verify"]);
    // A file that may not be written in a folder that may, and the other way round, and neither.
    for (file_mode, folder_mode) in [(0o444, 0o777), (0o666, 0o555), (0o444, 0o555)] {
        open(&store, file_mode);
        open(&closed, folder_mode);
        let before = contents(&closed);
        let result = read();
        assert!(String::from_utf8_lossy(&result.stdout).starts_with("verified: "), "{result:?}");
        assert_eq!(contents(&closed), before, "nothing is written");
    }
    // Who wants to write is refused, and leaves nothing behind that would keep others from reading.
    open(&store, 0o444);
    open(&closed, 0o777);
    let before = contents(&closed);
    let words =
        ["tournament", "zombie-dice", "greedy", "random", "--seed=3", "--blocks=5", "--store=t.store"];
    let result = run(&words);
    let error = String::from_utf8_lossy(&result.stderr);
    assert!(error.starts_with("error: t.store: the store may not be written\nhint: "), "{error}");
    assert_eq!(contents(&closed), before);
    // Nor does an empty log that somebody else has left.
    fs::write(closed.join("t.store-wal"), "").unwrap();
    open(&closed, 0o555);
    let result = read();
    assert!(String::from_utf8_lossy(&result.stdout).starts_with("verified: "), "{result:?}");
    // What the killed writer of a store has left beside it belongs to it.
    open(&closed, 0o777);
    fs::write(closed.join("t.store-wal"), "unfinished").unwrap();
    open(&closed.join("t.store-wal"), 0o444);
    open(&closed, 0o555);
    let result = read();
    let error = String::from_utf8_lossy(&result.stderr);
    assert!(error.contains("was killed") && error.contains("hint: copy it"), "{result:?}");
    open(&closed, 0o755);
}

/// Whoever reads while a tournament is played is told to wait; after a kill, all that was shown as played is there.
#[test]
fn a_store_is_read_during_and_after_the_life_of_its_tournament() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("t.store");
    let stored = format!("--store={}", store.display());
    let mut arena = start(&["zombie-dice", "greedy", "random", "--seed=3", "--blocks=100000000", &stored]);
    let mut lines = BufReader::new(arena.stderr.take().unwrap()).lines();
    let line = lines.by_ref().map_while(Result::ok).find(|line| line.contains(" blocks")).unwrap();
    let shown: u32 = line.split('/').next().unwrap().parse().unwrap();
    let path = store.to_str().unwrap();
    let result = replay(&[path, "--from=0.0"]).assert().code(1).stdout("");
    let error = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
    assert!(error.contains("in use by another process\nhint: wait"), "{error}");
    arena.kill().unwrap();
    arena.wait().unwrap();
    assert!(folder.path().join("t.store-wal").exists(), "it was killed");
    verify(&store, &format!("{}.0", shown - 1));
}

fn replay(words: &[&str]) -> Command {
    necrodome(&[&["replay"], words].concat())
}

fn verify(store: &Path, place: &str) {
    let from = format!("--from={place}");
    let result = replay(&[store.to_str().unwrap(), &from, "--verify"]).assert().success();
    assert!(String::from_utf8_lossy(&result.get_output().stdout).contains("verified"));
}

#[test]
fn a_store_is_not_written_over_by_what_is_read_from_it() {
    let folder = tempfile::tempdir().unwrap();
    output_in(
        folder.path(),
        &["tournament", "zombie-dice-race", "greedy", "random", "--blocks=5", "--seed=1", "--store=t.store"],
    );
    for words in [
        &["report", "t.store", "--csv", "./t.store", "--force"][..],
        &["replay", "t.store", "--from", "0.0", "--save", "t.store", "--force"],
    ] {
        let refused = necrodome_in(folder.path(), words).assert().code(2);
        let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
        assert!(said.contains("name the same file"), "{said}");
    }
    output_in(folder.path(), &["report", "t.store"]);
}
