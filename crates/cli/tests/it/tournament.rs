//! Tournaments, end to end: reproducible, resumable, and honest about what went wrong.

use crate::program::{necrodome, necrodome_in, output_in};
use assert_cmd::Command;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    io::{BufRead, BufReader},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Stdio},
};
use tempfile::TempDir;

fn tournament(words: &[&str]) -> Command {
    necrodome(&[&["tournament"], words].concat())
}

fn json(words: &[&str]) -> Value {
    let result = tournament(&[words, &["--json"]].concat()).assert().success();
    serde_json::from_slice(&result.get_output().stdout).unwrap()
}

/// Standard error of a command that fails.
fn refusal(words: &[&str], code: i32) -> String {
    let result = tournament(words).assert().code(code);
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

/// A bot that plays by what it remembers of earlier matches, and crashes now and then.
const REMEMBERS: &str = "\
import json, sys
matches = 0
for line in sys.stdin:
    message = json.loads(line)
    if message['type'] == 'hello':
        print(json.dumps({'type': 'ready', 'protocol': 1}), flush=True)
    elif message['type'] == 'start':
        matches += 1
    elif message['type'] == 'decide':
        if matches % 40 == 39:
            sys.exit(1)
        print(json.dumps({'id': message['id'], 'action': message['legal'][matches % 2]}), flush=True)
";

#[test]
fn what_a_program_remembers_does_not_depend_on_threads_or_interruptions() {
    let folder = TempDir::new().unwrap();
    let bot = folder.path().join("remembers.py");
    fs::write(&bot, REMEMBERS).unwrap();
    let words = ["zombie-dice-race", "greedy", bot.to_str().unwrap(), "--seed=7"];
    let run = |more: &[&str]| json(&[&words[..], more].concat());
    let one = run(&["--threads=1", "--blocks=140"]);
    let of = |report: &Value| (hash(report).to_owned(), report["faults"].clone());
    assert!(!one["faults"].as_array().unwrap().is_empty(), "{one}");
    for threads in ["--threads=2", "--threads=3"] {
        assert_eq!(of(&run(&[threads, "--blocks=140"])), of(&one), "{threads}");
    }
    // In the middle of a shard of 64 blocks.
    let stored = format!("--store={}", folder.path().join("t.store").display());
    run(&["--threads=2", &stored, "--blocks=90"]);
    assert_eq!(hash(&run(&["--threads=1", &stored, "--blocks=140"])), hash(&one));
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
    let words = ["zombie-dice", "greedy", "random", "--seed=3", "--blocks=100000000", &stored];
    let mut arena = start(&words);
    let mut lines = BufReader::new(arena.stderr.take().unwrap()).lines();
    lines.by_ref().map_while(Result::ok).find(|line| line.contains("blocks")).unwrap();
    let second = refusal(&words, 1);
    arena.kill().unwrap();
    arena.wait().unwrap();
    assert!(second.contains("in use by another process\nhint: wait until the tournament"), "{second}");
}

#[test]
fn until_decided_stops_early_and_says_so() {
    let words = ["tokyo", "angry", "random", "--seed=1", "--blocks=3000", "--until=decided"];
    let report = json(&words);
    assert!(report["blocks"].as_u64().unwrap() < 1000, "{}", report["blocks"]);
    let on_two = json(&[&words[..], &["--threads=2"]].concat());
    assert_eq!(hash(&report), hash(&on_two));
    let told = tournament(&words).assert().success();
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
    assert_eq!(matches(&["--format=table"]), 72, "four seats in all 24 orders");
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
        let result = tournament(words).assert().success();
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
    assert_eq!(report["matches"], 1000);
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
        (
            "game = \"zombie-dice\"\nblock = 3\n",
            "t.toml:2:1: unknown key \"block\": expected one of game, bots, blocks, ",
        ),
        ("game = \"zombie-dice\"\nblock = 3\n", "\nhint: did you mean blocks?"),
        ("game = \"zombie-dice\"\n[limits]\n  decison_ms = 3\n", "t.toml:3:3: unknown key \"decison_ms\": "),
        ("game = \n", "t.toml:1:8: "),
        ("blocks = 3\n", "t.toml: expected a game"),
        ("blocks = 0\n", "t.toml:1:10: expected a whole number from 1 to 4294967295, got 0"),
        ("seed = \"x\"\n", "t.toml:1:8: expected a whole number, got string \"x\""),
        ("bots = 3\n", "t.toml:1:8: expected a list, got integer 3"),
        ("limits = 3\n", "t.toml:1:10: expected a table, got integer 3"),
        ("game = \"tokyo\"\nuntil = \"dawn\"\n", "t.toml:2:9: expected \"decided\", got \"dawn\""),
        ("threads = 0\n", "t.toml:1:11: expected a whole number from 1 to 1024, got 0"),
        (
            "game = \"zombie-dice\"\nbots = [\"a\", \"b\"]\n[options]\ntiebreak = \"never\"\n",
            "t.toml:4:1: bad value \"never\" for option tiebreak: expected one_round or until_broken",
        ),
        (
            "game = \"zombie-dice\"\nbots = [\"a\", \"b\"]\n[options]\n tiebrake = \"never\"\n",
            "t.toml:4:2: unknown option \"tiebrake\": expected one of first_roll, max_rounds, out_of_dice, tiebreak\n\
             hint: did you mean tiebreak?",
        ),
    ] {
        let error = refusal(&[&file(text)], 2);
        assert!(error.contains(message) && error.lines().count() <= 2, "{text}: {error}");
    }
    // A flag is blamed for what the flag says.
    let error = refusal(&[&file(good), "--set=tiebreak=never"], 2);
    assert!(error.starts_with("error: zombie-dice --set: bad value \"never\""), "{error}");
    assert!(refusal(&["nowhere.toml"], 2).contains("nowhere.toml"));
}

/// The help says that a file holds the same as the flags: every flag is a key, and overrides it.
#[test]
fn every_flag_is_a_key_of_the_file() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.toml");
    let values = [
        ("blocks", "7"),
        ("seed", "5"),
        ("format", "\"round-robin\""),
        ("seats", "2"),
        ("set", "{ tiebreak = \"until_broken\" }"),
        ("until", "\"decided\""),
        ("margin", "0.05"),
        ("rank-by", "\"plain\""),
        ("threads", "2"),
        ("store", "\"t.store\""),
        ("new-version", "true"),
        ("wide", "true"),
        ("explain", "true"),
        ("json", "true"),
        ("csv", "\"t.csv\""),
        ("csv-pairs", "\"pairs.csv\""),
        ("csv-matches", "\"matches.csv\""),
        ("force", "true"),
    ];
    let help = tournament(&["--help"]).assert().success();
    let help = String::from_utf8(help.get_output().stdout.clone()).unwrap();
    // Limits have a table of their own.
    let options = help.split_once("\nOptions:\n").unwrap().1.split_once("\nLimits of programs:\n").unwrap().0;
    let flag = |line: &str| Some(line.trim().split_once("--")?.1.split(' ').next()?.to_owned());
    let flags: Vec<String> = options
        .lines()
        .filter(|line| line.trim_start().starts_with('-'))
        .filter_map(flag)
        // A test is between two entries, only some meet in a round-robin only, a plan is not played: all tried elsewhere.
        .filter(|flag| !["help", "test", "only", "plan", "difference"].contains(&flag.as_str()))
        .collect();
    assert!(flags.len() >= 10, "{flags:?}");
    let mut text = String::from("game = \"zombie-dice\"\nbots = [\"greedy\", \"random\", \"cautious\"]\n");
    for flag in &flags {
        let (_, value) =
            values.iter().find(|(name, _)| name == flag).unwrap_or_else(|| panic!("no value for {flag}"));
        text += &format!("{flag} = {value}\n");
    }
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let told = tournament(&[path]).assert().success();
    let report: Value = serde_json::from_slice(&told.get_output().stdout).unwrap();
    let plan = &report["plan"];
    assert_eq!((&plan["blocks"], &plan["seed"], &plan["seats"]), (&7.into(), &5.into(), &2.into()));
    assert_eq!((&plan["format"], &plan["until_decided"]), (&"round-robin".into(), &true.into()));
    let told = tournament(&[path, "--decision-ms=77", "--force", "--new-version"]).assert();
    let said = String::from_utf8(told.get_output().stderr.clone()).unwrap();
    assert!(said.contains("the limit decision_ms is 500 there, 77 here"), "flags go over the file: {said}");
    assert_eq!((&plan["margin"], &plan["rank_by"]), (&0.05.into(), &"plain".into()));
    assert_eq!(plan["options"]["tiebreak"], "until_broken");
    assert!(
        ["t.store", "t.csv", "pairs.csv", "matches.csv"].iter().all(|file| folder.path().join(file).exists())
    );

    let other = folder.path().join("other.store").display().to_string();
    let flags = [
        "--blocks=3",
        "--seed=6",
        "--format=table",
        "--seats=3",
        "--set=tiebreak=one_round",
        "--store",
        &other,
    ];
    let told = tournament(&[&[path][..], &flags].concat()).assert().success();
    let report: Value = serde_json::from_slice(&told.get_output().stdout).unwrap();
    let plan = &report["plan"];
    assert_eq!((&plan["blocks"], &plan["seed"], &plan["seats"]), (&3.into(), &6.into(), &3.into()));
    assert_eq!((&plan["format"], &plan["options"]["tiebreak"]), (&"table".into(), &"one_round".into()));
}

/// Neither SQLite, nor the system, nor Rust speaks to users.
#[test]
fn mistakes_are_told_in_plain_words() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    fs::write(folder.path().join("zero.toml"), "game = \"tokyo\"\n[limits]\nfiles = 0\n").unwrap();
    let race = ["tournament", "zombie-dice-race", "greedy", "random"];
    let with = |more: &[&'static str]| [&race[..], more].concat();
    let above = "expected a whole number above 0";
    for (words, code, why) in [
        (
            with(&["--store=folder"]),
            1,
            "folder: the store cannot be opened: expected a file in a folder that is there",
        ),
        (with(&["--store=nowhere/t.store"]), 1, "nowhere/t.store: the store cannot be opened"),
        (with(&["--blocks=0"]), 2, above),
        (with(&["--blocks=99999999999"]), 2, above),
        (with(&["--decision-ms=0"]), 2, above),
        (with(&["--threads=0"]), 2, "expected a whole number from 1 to 1024"),
        (with(&["--seed=x"]), 2, "expected a whole number, 0 or more"),
        (with(&["--force"]), 2, "--force means nothing without --csv"),
        (with(&["--margin=0.1"]), 2, "margin means nothing without until decided"),
        (
            vec!["tournament", "zero.toml"],
            2,
            "zero.toml: limits.files: expected a whole number above 0, got 0",
        ),
        (vec!["tournament", "nowhere.toml"], 2, "error: nowhere.toml: No such file or directory\n"),
        (vec!["report", "nowhere.store"], 2, "error: nowhere.store: No such file or directory\n"),
        (vec!["replay", "nowhere.replay"], 2, "No such file or directory\n"),
    ] {
        let refused = necrodome_in(folder.path(), &words).assert().code(code);
        let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
        assert!(said.contains(why), "{words:?}: {said}");
        for raw in ["os error", "..=", "unable to", "database", "invalid digit"] {
            assert!(!said.contains(raw), "{words:?}: {said}");
        }
    }
}

#[test]
fn a_measure_that_is_not_there_is_not_passed_over_in_silence() {
    let folder = TempDir::new().unwrap();
    let said = |words: &[&str]| {
        let result = necrodome_in(folder.path(), words).assert().success();
        String::from_utf8(result.get_output().stderr.clone()).unwrap()
    };
    const NOTE: &str = "note: --rank-by luck-adjusted changes nothing: ";
    let tournament = |more: &[&'static str]| {
        said(
            &[&["tournament", "zombie-dice", "greedy", "random"], more, &["--seed=1", "--blocks=3"]].concat(),
        )
    };
    let asked = tournament(&["cautious", "--rank-by=luck-adjusted", "--store=t.store"]);
    assert!(asked.contains(NOTE) && asked.contains("in zombie-dice with 3 seats"), "{asked}");
    assert!(said(&["report", "t.store", "--rank-by=luck-adjusted"]).contains(NOTE));
    assert!(!said(&["report", "t.store"]).contains(NOTE));
    assert!(!tournament(&["cautious"]).contains(NOTE));
    assert!(!tournament(&["--rank-by=luck-adjusted"]).contains(NOTE), "two seats are solved");
}

#[test]
fn who_never_started_is_told_first() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("broken.py"), "def act(:\n").unwrap();
    let words = ["tournament", "zombie-dice-race", "greedy", "./broken.py", "--seed=1", "--blocks=2"];
    let result = necrodome_in(folder.path(), &words).assert().success();
    let said = String::from_utf8(result.get_output().stdout.clone()).unwrap();
    assert!(said.starts_with("broken never started, and forfeited all its decisions: "), "{said}");
    assert!(said.lines().filter(|line| !line.starts_with("log:")).all(|line| line.len() <= 80), "{said}");
}

#[test]
fn what_a_program_runs_with_is_noted_and_not_compared() {
    let folder = TempDir::new().unwrap();
    let bot = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bots/python/zombie_dice.py");
    fs::copy(bot, folder.path().join("bot.py")).unwrap();
    let before = std::env::var("PATH").unwrap();
    let path = format!("{}:{before}", folder.path().display());
    let run = |version: &str| {
        let python = folder.path().join("python3");
        let says = format!("[ \"$1\" = --version ] && echo '{version}' && exit");
        fs::write(&python, format!("#!/bin/sh\n{says}\nPATH='{before}' exec python3 \"$@\"\n")).unwrap();
        fs::set_permissions(&python, Permissions::from_mode(0o755)).unwrap();
        let words = ["tournament", "zombie-dice", "greedy", "bot.py", "--seed=1", "--store=t.store"];
        let mut command = necrodome_in(folder.path(), &words);
        let result = command.arg("--blocks=2").env("PATH", &path).assert().success();
        String::from_utf8(result.get_output().stdout.clone()).unwrap()
    };
    let first = run("Python 3.98");
    assert!(first.contains("\nbot ran with Python 3.98\n") && !first.contains("fault:"), "{first}");
    let second = run("Python 3.99");
    assert!(second.contains("\nbot ran with Python 3.99\n"), "the same tournament: {second}");
    let hash = |text: &str| text.lines().find(|line| line.starts_with("hash ")).unwrap().to_owned();
    assert_eq!(hash(&first), hash(&second));
}

#[test]
fn a_plan_says_how_many_blocks_are_needed_and_keeps_nothing() {
    let folder = TempDir::new().unwrap();
    let line_up = "game = \"zombie-dice-race\"\nbots = [\"greedy\", \"twin=greedy\", \"random\"]\nformat = \"round-robin\"\n";
    let more =
        "blocks = 300\nseed = 1\nstore = \"t.store\"\ncsv = \"t.csv\"\nplan = true\ndifference = 0.04\n";
    fs::write(folder.path().join("t.toml"), format!("{line_up}{more}")).unwrap();
    let plan = |words: &[&str]| -> Value {
        serde_json::from_str(&output_in(
            folder.path(),
            &[&["tournament", "t.toml", "--json"], words].concat(),
        ))
        .unwrap()
    };
    let blocks = |forecast: &Value| forecast["needed"]["blocks"].as_u64().unwrap();
    let (coarse, fine) = (plan(&[]), plan(&["--difference=0.01"]));
    // A quarter of the difference takes sixteen times the blocks; the pilot is the same.
    assert_eq!(coarse["pairs"][0]["ahead"], fine["pairs"][0]["ahead"]);
    let ratio = blocks(&fine) as f64 / blocks(&coarse) as f64;
    assert!((15.0..17.0).contains(&ratio), "{ratio}");
    assert_eq!(fine["needed"]["matches"], 6 * blocks(&fine), "three pairs in both orders");
    // What so many blocks show is what they are needed for.
    let shown = plan(&["--blocks", &blocks(&coarse).to_string()])["visible"].as_f64().unwrap();
    assert!((0.039..0.0401).contains(&shown), "{shown}");
    let pairs = fine["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 3);
    let twins = |pair: &Value| ["one", "other"].iter().all(|name| pair[name] != "random");
    assert!(twins(&pairs[0]), "twins are hardest to tell apart: {pairs:?}");
    assert!(
        pairs[1..]
            .iter()
            .all(|pair| pair["other"] == "random" && pair["needed"]["blocks"].as_u64() < Some(20))
    );
    let files: Vec<_> = contents(folder.path()).into_keys().collect();
    assert_eq!(files, [folder.path().join("t.toml")], "a pilot leaves nothing behind");
    let told = output_in(folder.path(), &["tournament", "t.toml"]);
    assert!(
        told.starts_with("To tell entries apart that differ by 4.0 points of win rate, play about "),
        "{told}"
    );
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    for (words, message) in [
        (&["--difference=0.02"][..], "--difference means nothing without --plan"),
        (&["--plan", "--difference=2"], "--difference is a share of matches"),
        (&["--plan", "--difference=0"], "expected a number above 0"),
    ] {
        let error = refusal(&[&LINE_UP[..], words].concat(), 2);
        assert!(error.contains(message), "{words:?}: {error}");
    }
}

#[test]
fn mistakes_are_found_before_anything_starts() {
    for (words, message) in [
        (vec!["zombie-dice", "greedy"], "a table needs at least 2 entries, got 1"),
        (vec!["zombie-dice", "greedy", "./nowhere.py"], "there is no file"),
        (vec!["zombie-dice", "x=greedy", "X=random"], "is taken"),
        (vec!["zombie-dice", "greedy", "gredy"], "no bot"),
        (vec!["zombie-dice", "greedy", "random", "--format=cup"], "no format"),
        (
            vec!["zombie-dice", "greedy", "random", "--format=gauntlet", "--seats=3"],
            "a match of this gauntlet has exactly 2 seats, got 3",
        ),
        (vec!["zombie-dice", "greedy", "human"], "hint: `necrodome match` and `necrodome play` seat a human"),
        (vec!["zombie-dice", "greedy", "gredy"], "hint: did you mean greedy?"),
        (
            vec!["tokyo", "angry", "angry", "angry", "angry", "angry", "angry", "angry"],
            "a table needs 2 to 6 entries, got 7\nhint: --format round-robin",
        ),
    ] {
        let error = refusal(&words, 2);
        assert!(error.contains(message), "{words:?}: {error}");
    }
}

#[test]
fn pairs_are_named_and_listed_once() {
    let report = json(&[&LINE_UP[..], &["--blocks=20"]].concat());
    let pairs: Vec<(&str, &str)> = report["head_to_head"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| (pair["one"].as_str().unwrap(), pair["other"].as_str().unwrap()))
        .collect();
    assert_eq!(pairs, [("greedy", "cautious"), ("greedy", "random"), ("cautious", "random")]);
    let last = &report["head_to_head"][2];
    assert_eq!(last["games"], 120, "in each of the six matches of a block");
    let [low, mean, high] = ["low", "mean", "high"].map(|end| last["better"][end].as_f64().unwrap());
    assert!(0.5 < low && low < mean && mean < high, "cautious beats random: {last}");
    // Only those who have met.
    let gauntlet = json(&[&LINE_UP[..], &["--blocks=2", "--format=gauntlet"]].concat());
    assert_eq!(gauntlet["head_to_head"].as_array().unwrap().len(), 2);
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

/// The rows of a table, by the names of its columns.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_path(path).unwrap().deserialize().collect::<Result<_, _>>().unwrap()
}

#[test]
fn pairs_and_matches_are_tables_too() {
    let folder = TempDir::new().unwrap();
    let crash =
        r#"d=cmd:python3 -c 'print("{\"type\":\"ready\",\"protocol\":1}", flush=True); input(); input()'"#;
    let words = ["tournament", "zombie-dice-race", "a,\"b=greedy", "c=random", crash, "--format=round-robin"];
    let more = ["--blocks=3", "--seed=1", "--store=t.store", "--csv-pairs=p.csv", "--csv-matches=m.csv"];
    output_in(folder.path(), &[&words[..], &more, &["--json"]].concat());
    let again = ["report", "t.store", "--json", "--csv-pairs=p2.csv", "--csv-matches=m2.csv"];
    let report: Value = serde_json::from_str(&output_in(folder.path(), &again)).unwrap();
    let file = |name: &str| folder.path().join(name);
    for (played, stored) in [("p.csv", "p2.csv"), ("m.csv", "m2.csv")] {
        assert_eq!(fs::read(file(played)).unwrap(), fs::read(file(stored)).unwrap());
    }
    let pairs = rows(&file("p.csv"));
    assert_eq!(pairs.len(), 3);
    for (row, pair) in pairs.iter().zip(report["head_to_head"].as_array().unwrap()) {
        assert_eq!(
            (row["one"].as_str(), row["other"].as_str()),
            (pair["one"].as_str().unwrap(), pair["other"].as_str().unwrap())
        );
        assert_eq!(row["better_low"].parse::<f64>().ok(), pair["better"]["low"].as_f64());
    }
    let matches = rows(&file("m.csv"));
    assert_eq!(matches.len(), 3 * 6 * 2, "blocks, matches, seats");
    let number = |row: &BTreeMap<String, String>, column: &str| row[column].parse::<f64>().unwrap();
    for seats in matches.chunks(2) {
        assert_eq!(seats[0]["match"], seats[1]["match"]);
        assert_eq!(["0", "1"], [&seats[0]["seat"][..], &seats[1]["seat"]]);
        assert_eq!(number(&seats[0], "luck"), -number(&seats[1], "luck"));
    }
    for entry in report["standings"].as_array().unwrap() {
        let name = entry["name"].as_str().unwrap();
        let own: Vec<_> = matches.iter().filter(|row| row["name"] == name).collect();
        let places = own.iter().map(|row| number(row, "place")).sum::<f64>() / own.len() as f64;
        assert_eq!(own.len() as u64, entry["games"]);
        assert!((places - entry["mean_place"]["mean"].as_f64().unwrap()).abs() < 1e-9, "{name}");
        let faults: f64 = own.iter().map(|row| number(row, "faults")).sum();
        assert_eq!(faults > 0.0, name == "d", "{name} has {faults} faults");
    }
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
fn a_stored_result_that_was_changed_is_not_verified() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("t.store");
    let stored = format!("--store={}", store.display());
    let before = json(&["zombie-dice-race", "greedy", "random", "--seed=3", "--blocks=3", &stored]);
    verify(&store, "2.1");
    let change = |statement: &str| {
        rusqlite::Connection::open(&store).unwrap().execute_batch(statement).unwrap();
        let report = necrodome(&["report", store.to_str().unwrap(), "--json"]).assert().success();
        hash(&serde_json::from_slice(&report.get_output().stdout).unwrap()).to_owned()
    };
    // The luck of the first match, as if the dice had been kinder.
    let lucky = change("UPDATE luck SET packed = CAST(x'0000003f' || substr(packed, 5) AS BLOB)");
    assert_ne!(lucky, hash(&before), "luck decides the standings");
    // The last byte is the score of the second seat in the last match.
    assert_ne!(
        change("UPDATE results SET packed = CAST(substr(packed, 1, length(packed) - 1) || x'02' AS BLOB)"),
        lucky
    );
    verify(&store, "0.0");
    let result = replay(&[store.to_str().unwrap(), "--from=2.1", "--verify"]).assert().code(1);
    let said = String::from_utf8(result.get_output().stderr.clone()).unwrap();
    assert!(said.contains("t.store: match 2.1 is stored with places") && said.contains("hint: "), "{said}");
}

/// Everything in a folder, with its contents.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
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
fn a_stored_tournament_is_reported_without_its_command() {
    let folder = tempfile::tempdir().unwrap();
    let words = [
        "tournament",
        "zombie-dice-race",
        "greedy",
        "cautious",
        "--blocks=60",
        "--seed=3",
        "--store=t.store",
    ];
    let played = output_in(folder.path(), &words);
    assert_eq!(output_in(folder.path(), &["report", "t.store"]), played);
    assert!(played.lines().all(|line| line.chars().count() <= 80), "{played}");
    let plain = output_in(folder.path(), &["report", "t.store", "--rank-by", "plain", "--json"]);
    let plain: Value = serde_json::from_str(&plain).unwrap();
    assert_eq!((&plain["plan"]["rank_by"], &plain["measure"]), (&"plain".into(), &"win-rate".into()));
    let explained = output_in(folder.path(), &["report", "t.store", "--explain"]);
    assert!(
        explained.starts_with(&played) && explained.contains("\nrank: what decides it is how many"),
        "{explained}"
    );
    assert!(explained.lines().all(|line| line.chars().count() <= 80), "{explained}");
    let markdown = output_in(folder.path(), &["report", "t.store", "--markdown", "--csv", "t.csv"]);
    assert!(markdown.contains("\n| rank | entry | luck-adjusted % |"), "{markdown}");
    assert!(fs::read_to_string(folder.path().join("t.csv")).unwrap().starts_with("rank_best,"));
    let missing = necrodome_in(folder.path(), &["report", "t.store", "7"]).assert().code(2);
    let said = String::from_utf8(missing.get_output().stderr.clone()).unwrap();
    assert!(
        said.contains("the store has no tournament 7: it has 1 (zombie-dice-race: greedy, cautious)"),
        "{said}"
    );
    necrodome_in(folder.path(), &["report", "nothing.store"]).assert().code(2);
}

#[test]
fn intervals_of_a_tournament_that_went_on_hold_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let report = |blocks: &str| -> Value {
        let words =
            ["tournament", "zombie-dice-race", "greedy", "cautious", "--seed=3", "--store=t.store", "--json"];
        serde_json::from_str(&output_in(folder.path(), &[&words[..], &["--blocks", blocks]].concat()))
            .unwrap()
    };
    let width = |report: &Value| {
        let rate = &report["standings"][0]["win_rate"];
        rate["high"].as_f64().unwrap() - rate["low"].as_f64().unwrap()
    };
    let (first, more) = (report("50"), report("60"));
    assert_eq!((&first["confidence"], &more["confidence"]), (&"fixed".into(), &"anytime".into()));
    assert!(width(&more) > 1.2 * width(&first), "{first} {more}");
}

#[test]
fn a_changed_program_is_not_mixed_with_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let bot = |keep: &str| {
        output_in(folder.path(), &["new-bot", "zombie-dice-race", "python", "bot.py", "--force"]);
        let path = folder.path().join("bot.py");
        let text = fs::read_to_string(&path).unwrap() + keep;
        fs::write(&path, text).unwrap();
    };
    // Where all sit at one table, the new program begins a new edition.
    let words =
        "tournament zombie-dice-race greedy ./bot.py --format=table --blocks=2 --seed=1 --store=t.store";
    let words: &[&str] = &words.split(' ').collect::<Vec<_>>();
    bot("");
    let first = output_in(folder.path(), words);
    assert_eq!(output_in(folder.path(), words), first, "the same program goes on");
    bot("# another version\n");
    let refused = necrodome_in(folder.path(), words).assert().code(2);
    let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(said.contains("the program of bot has changed since this tournament began"), "{said}");
    assert!(said.contains("--new-version"), "{said}");
    output_in(folder.path(), &[words, &["--new-version"]].concat());
    // Both editions are there, and each goes on with its own program.
    output_in(folder.path(), &["report", "t.store", "1"]);
    output_in(folder.path(), &["report", "t.store", "2"]);
    output_in(folder.path(), words);
    bot("");
    output_in(folder.path(), words);
}

#[test]
fn a_test_between_two_claims_stops_when_it_is_decided() {
    let folder = TempDir::new().unwrap();
    let run =
        |words: &[&str]| output_in(folder.path(), &[&["tournament", "zombie-dice-race"], words].concat());
    let better = run(&["optimal", "cautious", "--test", "0,50", "--seed=1", "--blocks=3000"]);
    assert!(
        better.contains("Test: optimal is more than 0 Elo better than cautious, with 95% confidence."),
        "{better}"
    );
    assert!(better.contains("stopped early: the test is decided"), "{better}");
    let equal = run(&["greedy", "twin=greedy", "--test=-10,60", "--seed=1", "--blocks=3000"]);
    assert!(
        equal.contains("Test: greedy is less than 60 Elo better than twin, with 95% confidence."),
        "{equal}"
    );
    let short = run(&["greedy", "twin=greedy", "--test=0,5", "--seed=1", "--blocks=20"]);
    assert!(
        short.contains("Test not decided") && short.contains("not decided: all blocks are played"),
        "{short}"
    );
    fs::write(
        folder.path().join("t.toml"),
        "game = \"zombie-dice\"\nbots = [\"greedy\", \"random\"]\ntest = \"5\"\n",
    )
    .unwrap();
    for (words, why) in [
        (
            &["tournament", "zombie-dice-race", "greedy", "random", "--test=5,0"][..],
            "expected two differences in Elo",
        ),
        (
            &["tournament", "zombie-dice", "greedy", "random", "cautious", "--test=0,5"],
            "a test compares two entries, got 3",
        ),
        (
            &["tournament", "zombie-dice-solo", "greedy", "random", "--test=0,5"],
            "a match of a test has exactly 2 seats, got 1",
        ),
        (
            &["tournament", "zombie-dice", "greedy", "random", "--test=0,5", "--until=decided"],
            "two rules for stopping",
        ),
        (
            &["tournament", "zombie-dice", "greedy", "random", "--until=decided", "--margin=2"],
            "expected a number below 1, got 2",
        ),
        (&["tournament", "t.toml"], "t.toml:3:8: expected two differences in Elo"),
    ] {
        let refused = necrodome_in(folder.path(), words).assert().code(2);
        let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
        assert!(said.contains(why), "{words:?}: {said}");
    }
}

#[test]
fn twins_who_play_alone_are_never_told_apart() {
    for seed in 1..=6 {
        let report =
            json(&["zombie-dice-solo", "greedy", "twin=greedy", "--blocks=50", &format!("--seed={seed}")]);
        assert_eq!(report["undecided"].as_array().unwrap().len(), 1, "{}", report["summary"]);
    }
}

#[test]
fn a_program_that_is_changed_while_it_plays_ends_the_tournament() {
    let folder = tempfile::tempdir().unwrap();
    output_in(folder.path(), &["new-bot", "zombie-dice-race", "python", "bot.py"]);
    let path = folder.path().join("bot.py");
    // The bot changes itself in its first match.
    let text = fs::read_to_string(&path).unwrap() + "\nopen(__file__, 'a').write('# more')\n";
    let text = text.replacen("import", "open(__file__, 'a').write('# changed\\n')\nimport", 1);
    fs::write(&path, text).unwrap();
    let words =
        ["tournament", "zombie-dice-race", "greedy", "./bot.py", "--blocks=200", "--threads=1", "--seed=1"];
    let refused = necrodome_in(folder.path(), &words).assert().code(2);
    let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(said.contains("the program of bot has changed"), "{said}");
    let shown = String::from_utf8(refused.get_output().stdout.clone()).unwrap();
    assert!(shown.contains("64 blocks, 128 matches"), "what was played before counts: {shown}");
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

#[test]
fn a_pipe_in_a_command_does_not_hold_up_a_tournament() {
    let folder = tempfile::tempdir().unwrap();
    output_in(folder.path(), &["new-bot", "zombie-dice-race", "python", "bot.py"]);
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let words = [
        "tournament",
        "zombie-dice-race",
        "greedy",
        "b=cmd:python3 -u bot.py ./pipe",
        "--blocks=2",
        "--seed=1",
    ];
    output_in(folder.path(), &words);
}
