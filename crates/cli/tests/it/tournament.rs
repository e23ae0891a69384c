//! Tournaments, end to end: reproducible, resumable, and honest about what went wrong.

use assert_cmd::Command;
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Stdio},
};
use tempfile::TempDir;

fn necrodome(words: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("necrodome"));
    command.args(["tournament"]).args(words).env_remove("CLICOLOR_FORCE");
    command
}

fn json(words: &[&str]) -> Value {
    let result = necrodome(&[words, &["--json"]].concat()).assert().success();
    serde_json::from_slice(&result.get_output().stdout).unwrap()
}

/// The line on standard error of a command that fails.
fn refusal(words: &[&str], code: i32) -> String {
    let result = necrodome(words).assert().code(code);
    String::from_utf8(result.get_output().stderr.clone()).unwrap().trim_end().to_owned()
}

fn hash(report: &Value) -> &str {
    report["hash"].as_str().unwrap()
}

const LINE_UP: [&str; 5] = ["zombie-dice", "greedy", "cautious", "random", "--seed=7"];

#[test]
fn the_same_plan_gives_the_same_results_on_any_number_of_threads() {
    let run = |threads| json(&[&LINE_UP[..], &["--blocks=300", threads]].concat());
    let (one, two, five) = (run("--threads=1"), run("--threads=2"), run("--threads=5"));
    assert_eq!(one, two);
    assert_eq!(one, five);
    assert_eq!(one["blocks"], 300);
    assert_eq!(one["matches"], 1800, "three seats in all six orders");
    let other = json(&["zombie-dice", "greedy", "cautious", "random", "--seed=8", "--blocks=300"]);
    assert_ne!(hash(&one), hash(&other));
}

#[test]
fn processes_are_reproducible_too() {
    let bot = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bots/python/zombie_dice.py");
    let words = ["zombie-dice", "greedy", bot, "--seed=7", "--blocks=10"];
    let run = |threads| json(&[&words[..], &[threads]].concat());
    let (one, two) = (run("--threads=1"), run("--threads=2"));
    assert_eq!(hash(&one), hash(&two));
    assert_eq!(one["faults"], serde_json::json!([]));
    assert!(one["standings"].as_array().unwrap().iter().any(|entry| entry["cpu_us"].as_f64() > Some(0.0)));
}

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
    assert_eq!(hash(&finished), hash(&json(&words)));
}

fn start(words: &[&str]) -> Child {
    std::process::Command::new(assert_cmd::cargo::cargo_bin!("necrodome"))
        .arg("tournament")
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn ctrl_c_stops_cleanly_and_says_how_to_go_on() {
    let folder = TempDir::new().unwrap();
    let stored = format!("--store={}", folder.path().join("t.store").display());
    let words = ["zombie-dice", "greedy", "random", "--seed=3", "--blocks=100000000", &stored];
    let mut arena = start(&words);
    let mut lines = BufReader::new(arena.stderr.take().unwrap()).lines();
    lines.by_ref().map_while(Result::ok).find(|line| line.contains("blocks")).unwrap();
    let pid = nix::unistd::Pid::from_raw(arena.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let last = lines.map_while(Result::ok).find(|line| line.contains("run the same command again"));
    assert!(last.is_some(), "it says how to go on");
    assert_eq!(arena.wait().unwrap().code(), Some(130));
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
    let other = refusal(&["zombie-dice", "greedy", "random", "--seed=7", "--blocks=5", &good], 2);
    assert!(other.contains("another tournament (entries differs)"), "{other}");

    // Damage in the middle of the file.
    let mut bytes = fs::read(path("good")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0xff);
    fs::write(path("damaged"), &bytes).unwrap();
    let damaged = with(&path("damaged"), 2);
    assert!(damaged.contains("damaged") || damaged.contains("malformed"), "{damaged}");
    assert_eq!(fs::read(path("damaged")).unwrap(), bytes);

    assert!(with("/nowhere/at/all.store", 1).contains("cannot be used"));
}

#[test]
fn a_second_process_on_the_same_store_is_refused() {
    let folder = TempDir::new().unwrap();
    let stored = format!("--store={}", folder.path().join("t.store").display());
    let words = ["zombie-dice", "greedy", "random", "--seed=3", "--blocks=100000000", &stored];
    let mut arena = start(&words);
    let mut lines = BufReader::new(arena.stderr.take().unwrap()).lines();
    lines.by_ref().map_while(Result::ok).find(|line| line.contains("blocks")).unwrap();
    let second = refusal(&words, 1);
    arena.kill().unwrap();
    arena.wait().unwrap();
    assert!(second.contains("in use by another process"), "{second}");
}

#[test]
fn until_decided_stops_early_and_says_so() {
    let words = ["tokyo", "angry", "random", "--seed=1", "--blocks=3000", "--until=decided"];
    let report = json(&words);
    assert!(report["blocks"].as_u64().unwrap() < 1000, "{}", report["blocks"]);
    let on_two = json(&[&words[..], &["--threads=2"]].concat());
    assert_eq!(hash(&report), hash(&on_two));
    let told = necrodome(&words).assert().success();
    assert!(String::from_utf8_lossy(&told.get_output().stdout).contains("stopped early"));
}

#[test]
fn twins_cannot_be_told_apart_and_unequals_can() {
    let report = json(&["zombie-dice-race", "a=greedy", "b=greedy", "c=random", "--seed=5", "--blocks=400"]);
    let undecided: Vec<String> =
        report["undecided"].as_array().unwrap().iter().map(|pair| pair.to_string()).collect();
    assert_eq!(undecided.len(), 1, "{undecided:?}");
    assert!(undecided[0].contains("\"a\"") && undecided[0].contains("\"b\""), "{undecided:?}");
    let last = report["standings"].as_array().unwrap().last().unwrap();
    assert_eq!(last["name"], "c");
    assert_eq!(last["rank"], serde_json::json!({ "best": 3, "worst": 3 }));
}

#[test]
fn formats_meet_as_they_should() {
    let bots = ["greedy", "cautious", "random", "stop-at:brains=3"];
    let matches = |words: &[&str]| {
        json(&[&["zombie-dice", "--seed=1", "--blocks=3"], words, &bots[..]].concat())["matches"].clone()
    };
    assert_eq!(matches(&["--format=table"]), 12);
    assert_eq!(matches(&["--format=round-robin"]), 36);
    assert_eq!(matches(&["--format=round-robin", "--seats=3"]), 72);
    assert_eq!(matches(&["--format=gauntlet"]), 18);
    let battle = json(&["last-bullet", "runner", "gunner", "--seed=1", "--blocks=3", "--set=copies=5"]);
    assert_eq!((battle["matches"].clone(), battle["plan"]["format"].clone()), (3.into(), "battle".into()));
    assert!(
        battle["standings"][0]["median_score"].as_f64() >= battle["standings"][1]["median_score"].as_f64()
    );
}

/// In a battle every entry keeps its seat: a strong entry is not a strong seat.
#[test]
fn the_seat_is_judged_only_where_entries_change_seats() {
    let words = |format| ["tokyo", "angry", "random", "random", "--seed=1", "--blocks=200", format];
    let battle = words("--format=battle");
    assert_eq!(json(&battle)["seats"], Value::Null);
    let told = |words: &[&str]| {
        let result = necrodome(words).assert().success();
        String::from_utf8(result.get_output().stdout.clone()).unwrap()
    };
    assert!(!told(&battle).contains("seat"), "{}", told(&battle));
    let table = words("--format=table");
    assert_eq!(json(&table)["seats"]["win_rates"].as_array().unwrap().len(), 3);
    assert!(told(&table).contains("seat 0 wins"));
}

#[test]
fn a_misbehaving_bot_hurts_only_itself() {
    let bot = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bots/misbehaving/crash.py");
    let report = json(&["zombie-dice", "greedy", "cautious", bot, "--seed=1", "--blocks=4"]);
    let faults = report["faults"].as_array().unwrap();
    assert!(faults.iter().all(|fault| fault["name"] == "crash"), "{faults:?}");
    let kinds: Vec<&str> = faults.iter().map(|fault| fault["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"crash") && kinds.contains(&"out"), "{kinds:?}");
    assert_eq!(report["matches"], 24);
}

/// What happens when a process ends belongs to the report too.
#[test]
fn bad_endings_and_logs_are_reported() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bots/misbehaving");
    let bot = |name: &str| format!("{folder}/{name}.py");
    let (stubborn, crash) = (bot("ignores_sigterm"), bot("crash"));
    let report = json(&["zombie-dice", "greedy", &stubborn, &crash, "--seed=1", "--blocks=1", "--threads=1"]);
    let faults = report["faults"].as_array().unwrap();
    let has = |name: &str, kind: &str| faults.iter().any(|f| f["name"] == name && f["kind"] == kind);
    assert!(has("ignores_sigterm", "ignored_sigterm") && has("crash", "crash"), "{faults:?}");
    assert!(report["logs"].to_string().contains("Traceback"), "{}", report["logs"]);
}

#[test]
fn players_who_play_alone_are_compared_by_their_scores() {
    let report = json(&["zombie-dice-solo", "greedy", "random", "--seed=1", "--blocks=500"]);
    assert_eq!(report["matches"], 500);
    let best = &report["standings"][0];
    assert_eq!((best["name"].clone(), best["rank"]["worst"].clone()), ("greedy".into(), 1.into()));
    let mean = best["mean_score"]["mean"].as_f64().unwrap();
    assert!((1.7..2.5).contains(&mean), "the exact value is 2.087, this is {mean}");
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
fn a_file_describes_a_tournament_and_mistakes_name_the_line() {
    let folder = TempDir::new().unwrap();
    let file = |text: &str| {
        let path = folder.path().join("t.toml");
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let good = "game = \"zombie-dice\"\nbots = [\"greedy\", \"Ada=cautious\"]\nblocks = 5\nseed = 1\n\
                [options]\ntiebreak = \"until_broken\"\n[limits]\ndecision_ms = 50\n";
    let report = json(&[&file(good)]);
    assert_eq!(report["plan"]["options"]["tiebreak"], "until_broken");
    assert_eq!(report["plan"]["entries"][1]["name"], "Ada");
    for (text, message) in [
        ("game = \"zombie-dice\"\nblock = 3\n", "line 2"),
        ("game = \n", "line 1"),
        ("blocks = 3\n", "expected game"),
        ("game = \"zombie-dice\"\nblocks = 0\n", "at least 1"),
        ("game = \"zombie-dice\"\nbots = [\"a\", \"b\"]\n[options]\ntiebreak = \"never\"\n", "until_broken"),
    ] {
        let error = refusal(&[&file(text)], 2);
        assert!(error.contains(message) && error.lines().count() == 1, "{text}: {error}");
    }
    assert!(refusal(&["nowhere.toml"], 2).contains("nowhere.toml"));
}

#[test]
fn mistakes_are_found_before_anything_starts() {
    for (words, message) in [
        (vec!["zombie-dice", "greedy"], "2 to 99"),
        (vec!["zombie-dice", "greedy", "./nowhere.py"], "there is no file"),
        (vec!["zombie-dice", "x=greedy", "X=random"], "is taken"),
        (vec!["zombie-dice", "greedy", "gredy"], "no bot"),
        (vec!["zombie-dice", "greedy", "random", "--format=cup"], "no format"),
        (vec!["zombie-dice", "greedy", "random", "--format=gauntlet", "--seats=3"], "does not fit"),
        (vec!["zombie-dice", "greedy", "human"], "human"),
        (vec!["tokyo", "angry", "angry", "angry", "angry", "angry", "angry", "angry"], "2 to 6"),
    ] {
        let error = refusal(&words, 2);
        assert!(error.contains(message), "{words:?}: {error}");
    }
}

#[test]
fn csv_has_a_row_for_each_entry() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.csv");
    let csv = format!("--csv={}", path.display());
    json(&[&LINE_UP[..], &["--blocks=5", &csv]].concat());
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 4);
    let columns = |line: &str| line.split(',').count();
    assert!(text.lines().all(|line| columns(line) == columns(text.lines().next().unwrap())), "{text}");
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
    assert!(String::from_utf8_lossy(&missing.get_output().stderr).contains("no block 9"));
}

fn replay(words: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("necrodome"));
    command.arg("replay").args(words);
    command
}

fn verify(store: &Path, place: &str) {
    let from = format!("--from={place}");
    let result = replay(&[store.to_str().unwrap(), &from, "--verify"]).assert().success();
    assert!(String::from_utf8_lossy(&result.get_output().stdout).contains("verified"));
}
