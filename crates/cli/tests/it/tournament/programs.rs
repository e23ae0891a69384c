//! Programs in tournaments.

use super::{hash, json};
use crate::program::{necrodome_in, output_in};
use serde_json::Value;
use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
};
use tempfile::TempDir;

#[test]
fn processes_are_reproducible_too() {
    let bot = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bots/python/zombie_dice.py");
    let words = ["zombie-dice", "greedy", bot, "--seed=7", "--public-dice", "--blocks=10"];
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
    let words = ["zombie-dice-race", "greedy", bot.to_str().unwrap(), "--seed=7", "--public-dice"];
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
fn a_misbehaving_bot_hurts_only_itself() {
    let bot = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bots/misbehaving/crash.py");
    let report = json(&["zombie-dice", "greedy", "cautious", bot, "--seed=1", "--blocks=4"]);
    let faults = report["faults"].as_array().unwrap();
    assert!(faults.iter().all(|fault| fault["name"] == "crash"), "{faults:?}");
    let kinds: Vec<&str> = faults.iter().map(|fault| fault["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"crash") && kinds.contains(&"out"), "{kinds:?}");
    assert_eq!(report["matches"], 24);
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
    // At the other levels it cannot.
    let words = [&words[..], &["--sandbox=limits"]].concat();
    let refused = necrodome_in(folder.path(), &words).assert().code(2);
    let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(said.contains("the program of bot has changed"), "{said}");
    let shown = String::from_utf8(refused.get_output().stdout.clone()).unwrap();
    assert!(shown.contains("64 of 200 blocks, 128 matches"), "what was played before counts: {shown}");
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

/// Paths on the command line are seen from where the user is, whatever folder the bot is in.
#[test]
fn what_is_shared_can_be_read_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["bots", "shared", "private"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("data.txt"), name).unwrap();
    }
    output_in(folder.path(), &["new-bot", "zombie-dice-race", "python", "bots/bot.py"]);
    let path = folder.path().join("bots/bot.py");
    let reads = "import sys\nfor name in ['../shared/data.txt', 'data.txt', '../private/data.txt']:\n    \
                 try: print('read', open(name).read(), file=sys.stderr)\n    \
                 except OSError: print('refused', name, file=sys.stderr)\n";
    fs::write(&path, reads.to_owned() + &fs::read_to_string(&path).unwrap()).unwrap();
    let words = ["match", "zombie-dice-race", "greedy", "./bots/bot.py", "--json", "--share", "shared"];
    let log =
        serde_json::from_str::<Value>(&output_in(folder.path(), &words)).unwrap()["logs"][1].to_string();
    assert!(log.contains("read shared") && log.contains("read bots"), "{log}");
    assert!(log.contains("refused ../private/data.txt"), "{log}");
}
