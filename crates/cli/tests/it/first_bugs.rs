//! The most common mistakes of a first bot. For each one, a real bot gets a hint that names the remedy: in `match`, in
//! `tournament`, in `check-bot`, and before anything starts.

use crate::program::{necrodome_in, process, refusal};
use serde_json::Value;
use std::{fs, os::unix::fs::PermissionsExt, path::Path};
use tempfile::TempDir;

/// A bot in Python that is fine but for these lines, in place of its `ready` and of its answer.
fn python(ready: &str, answer: &str) -> String {
    format!(
        "import json, sys\n\
         for line in sys.stdin:\n    \
             m = json.loads(line)\n    \
             if m['type'] == 'hello':\n        {ready}\n    \
             elif m['type'] == 'decide':\n        {answer}\n"
    )
}

const READY: &str = "print(json.dumps({'type': 'ready', 'protocol': 1}))";
const ANSWER: &str = "print(json.dumps({'id': m['id'], 'action': {'type': 'stop'}}))";

fn write(folder: &Path, file: &str, text: &str) -> String {
    let path = folder.join(file);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("./{file}")
}

/// The first hint that a match gives the bot in the first seat, and the kind of the fault.
#[track_caller]
fn hint(folder: &Path, file: &str, text: &str) -> (String, String) {
    let entry = write(folder, file, text);
    // A bot that waits is given up soon.
    let words = ["match", "zombie-dice", &entry, "greedy", "--json", "--seed=1", "--public-dice"];
    let limits = ["--set=max_rounds=2", "--start-ms=1000", "--decision-ms=200"];
    let output = process(&[&words[..], &limits].concat()).current_dir(folder).output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let faults = result["faults"].as_array().unwrap();
    let told = faults.iter().find(|fault| fault["hint"].is_string());
    let told = told.unwrap_or_else(|| panic!("{file} has no hint: {result:#}"));
    (told["kind"].as_str().unwrap().to_owned(), told["hint"].as_str().unwrap().to_owned())
}

#[track_caller]
fn hints(bots: &[(&str, String, &str, &str)]) {
    let folder = TempDir::new().unwrap();
    for (file, text, kind, cure) in bots {
        let (came, hint) = hint(folder.path(), file, text);
        assert!(
            kind.split(' ').any(|kind| came == kind) && hint.contains(cure),
            "{file} {text}\n{came}: {hint}"
        );
    }
}

#[test]
fn what_is_no_answer() {
    let noisy = format!("print('I see', m['view']); print('so'); {ANSWER}");
    hints(&[
        ("a.py", python(READY, &noisy), "garbage", "`print(..., file=sys.stderr)`"),
        ("b.py", python(READY, &format!("print('hm') if m['id'] == 1 else None; {ANSWER}")), "chatter", "`print(..., file=sys.stderr)`"),
        ("c.py", python("print({'type': 'ready', 'protocol': 1})", ANSWER), "no_start", "`print(json.dumps(answer), flush=True)`"),
        ("d.py", python(READY, "print({'id': m['id'], 'action': {'type': 'stop'}, 'reason': None})"), "garbage", "json.dumps"),
        ("e.py", python(READY, "print(json.dumps({'id': m['id'], 'action': {'type': 'stop'}}, indent=1))"), "garbage", "one line"),
        ("f.py", python(READY, "print('stop')"), "garbage", r#"{"id":1,"action":{"type":"stop"}}"#),
        ("g.py", python(READY, "print(json.dumps({'type': 'stop'}))"), "garbage", r#"{"id":1,"action":{"type":"stop"}}"#),
        ("h.py", python(READY, "print(json.dumps({'id': m['id'], 'action': 'stop'}))"), "illegal", r#"{"id":1,"action":{"type":"stop"}}"#),
        ("l.py", python(READY, "print(json.dumps({'id': m['id'], 'action': {'type': 'roll'}}))"), "illegal", "write `go` or `stop` as its `type`"),
        ("m.py", python(READY, "print(json.dumps({'id': m['id'], 'action': {'type': 'Stop'}}))"), "illegal", "write `stop` in small letters"),
        ("i.py", python(READY, "print(json.dumps({'id': str(m['id']), 'action': {'type': 'stop'}}))"), "garbage", r#"{"id":1,"action":"#),
        ("j.js", "require('readline').createInterface({input: process.stdin}).on('line', line => {\n\
                  if (JSON.parse(line).type === 'hello') console.log({type: 'ready', protocol: 1});\n});\n".to_owned(),
         "no_start", "`console.log(JSON.stringify(answer))`"),
        ("k.rb", "require 'json'\n$stdout.sync = true\n\
                  $stdin.each_line { |line| puts({type: 'ready', protocol: 1}) if JSON.parse(line)['type'] == 'hello' }\n".to_owned(),
         "no_start", "`puts JSON.generate(answer)`"),
        ("n.js", "require('readline').createInterface({input: process.stdin}).on('line', () => console.log('' + {}));\n".to_owned(),
         "no_start", "`console.log(JSON.stringify(answer))`"),
        ("o.py", python(READY, "print(json.dumps({'id': m['id']}))"), "garbage", "there is no `action`"),
        ("p.py", python(READY, &format!("print('> ', end=''); {ANSWER}")), "garbage", "`input()` without a prompt"),
    ]);
}

#[test]
fn silence() {
    let unflushed =
        "require 'json'\n$stdin.each_line { |line| puts JSON.generate({type: 'ready', protocol: 1}) }\n";
    hints(&[
        (
            "a.py",
            python(READY, "sys.stdout.write(json.dumps({'id': m['id'], 'action': {'type': 'stop'}}))"),
            "timeout",
            "newline",
        ),
        (
            "b.py",
            "import sys\nfor line in sys.stdin.read().splitlines():\n    print(line)\n".to_owned(),
            "no_start",
            "`for line in sys.stdin:`, not `sys.stdin.read()`",
        ),
        ("c.py", python("pass", ANSWER), "no_start", r#"answer `hello` with {"type":"ready","protocol":1}"#),
        ("d.rb", unflushed.to_owned(), "no_start", "flush each answer (`$stdout.sync = true`)"),
        (
            "e.py",
            format!("import json, sys\nm = json.loads(input())\n{READY}\n"),
            "exit",
            "until the input ends",
        ),
        (
            "f.py",
            python(READY, "[sys.stdin.readline() for _ in range(9)]"),
            "timeout",
            "--decision-ms is the limit for a decision",
        ),
        ("g.py", "\n".to_owned(), "no_start exit", "the file is empty: `necrodome new-bot`"),
        ("h.py", "import sys\n".to_owned(), "no_start exit", "ends before it answers `hello`"),
    ]);
}

#[test]
fn answers_that_nobody_asked_for() {
    let all = format!("import json, sys\nfor line in sys.stdin:\n    m = json.loads(line)\n    {ANSWER}\n");
    let ready = all.replace(ANSWER, &format!("{READY} if m['type'] != 'decide' else {ANSWER}"));
    let null =
        python(READY, ANSWER).replace("elif m['type'] == 'decide'", "else").replace("m['id']", "m.get('id')");
    let twice = format!("{ANSWER}; {ANSWER}");
    let only = "one line for each `hello` and each `decide`";
    // Whether several lines come before the next question, a flood, is chance.
    hints(&[
        ("a.py", all, "no_start", "look at the `type` of a message before its `id`"),
        ("b.py", ready, "chatter", only),
        ("c.py", null, "garbage flood", only),
        ("e.py", format!("import json, sys\nfor line in sys.stdin:\n    {READY}\n"), "garbage flood", only),
    ]);
    let folder = TempDir::new().unwrap();
    // Whether the second answer comes before the next question is chance.
    let (kind, hint) = hint(folder.path(), "d.py", &python(READY, &twice));
    assert!(
        ["flood", "wrong_id"].contains(&kind.as_str()) && hint.contains("`decide`") | hint.contains("`id`"),
        "{kind}: {hint}"
    );
}

#[test]
fn what_does_not_start() {
    let windows = |text: &str| text.replace('\n', "\r\n");
    hints(&[
        ("a.py", "import json\ndef choose(view)\n    pass\n".to_owned(), "no_start", "in line 2"),
        (
            "b.py",
            "import numpie.linalg\n".to_owned(),
            "no_start",
            "there is no module numpie: check the spelling",
        ),
        (
            "c.js",
            "require('lodashh')\n".to_owned(),
            "no_start",
            "there is no module lodashh: check the spelling",
        ),
        (
            "d.rb",
            "require 'nothing_like_it'\n".to_owned(),
            "no_start",
            "there is no module nothing_like_it: check the spelling",
        ),
        ("e", windows("#!/usr/bin/env python3\nprint(1)\n"), "no_start", "Windows line ends"),
        ("f.sh", windows("#!/bin/sh\nexec python3 good.py\n"), "no_start", "Windows line ends"),
        (
            "g.sh",
            "#!/bin/sh\n".to_owned() + &windows("if true; then\nexec python3 good.py\nfi\n"),
            "no_start",
            "Windows line ends",
        ),
        (
            "h",
            "#!/usr/bin/env nolang\n".to_owned(),
            "no_start",
            "there is no nolang here: check the spelling, install it",
        ),
        (
            "i",
            "#!/opt/nolang\n".to_owned(),
            "no_start",
            "there is no nolang here: check the spelling, install it",
        ),
        ("j", "exec python3 good.py\n".to_owned(), "no_start", "`#!/usr/bin/env python3`"),
        (
            "k.mjs",
            "import x from 'lodashh';\n".to_owned(),
            "no_start",
            "there is no module lodashh: check the spelling",
        ),
        ("l.mjs", "import x from './nope.mjs';\n".to_owned(), "no_start", "there is no file nope.mjs"),
    ]);
}

/// What `check-bot` prints, in one line.
fn checked(folder: &Path, entry: &str) -> String {
    let output = necrodome_in(folder, &["check-bot", "zombie-dice", entry]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_bot_that_writes_beside_itself_is_told_where_it_may() {
    let folder = TempDir::new().unwrap();
    let bot = "import sys\nsys.exit(\"OSError: [Errno 30] Read-only file system: 'log.txt'\")\n";
    let entry = write(folder.path(), "log.py", bot);
    assert!(checked(folder.path(), &entry).contains("writes to /tmp only"));
}

#[test]
fn a_misspelled_file_of_a_command_is_named() {
    let folder = TempDir::new().unwrap();
    let text = checked(folder.path(), "cmd:python3 -u mybut.py");
    assert!(text.contains("hint: there is no file mybut.py: check the spelling"), "{text}");
    assert!(!text.contains("--share"), "{text}");
}

#[test]
fn bytes_that_no_system_runs_are_no_program() {
    let folder = TempDir::new().unwrap();
    let entry = write(folder.path(), "bin", "");
    fs::write(folder.path().join("bin"), [0xff; 64]).unwrap();
    let text = checked(folder.path(), &entry);
    assert!(text.contains("hint: the system cannot run this file: build it for Linux"), "{text}");
}

/// The end of a traceback is shown whole.
#[test]
fn a_traceback_is_shown_to_its_end() {
    let folder = TempDir::new().unwrap();
    let deep = "def down(n):\n    return down(n - 1) if n else {}['brain']\n".to_owned()
        + &python(READY, "down(90 % 7)");
    let entry = write(folder.path(), "deep.py", &deep);
    let words = ["match", "zombie-dice", &entry, "greedy", "--seed=1", "--set=max_rounds=1"];
    let output = necrodome_in(folder.path(), &words).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("log: deep: KeyError: 'brain'\n"), "{text}");
    let crash = "fault: deep: crash: the process ended with exit code 1 (KeyError: 'brain', line 2)";
    assert!(flat.contains(crash), "{text}");
    // Each start ended in the same way.
    assert_eq!(text.matches("log: deep: KeyError").count(), 1, "{text}");
    assert!(text.contains("log: deep: [the same "), "{text}");
    assert!(
        flat.contains("hint: `necrodome check-bot zombie-dice ./deep.py` looks at every answer"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_run_is_refused_with_the_cure() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let path = write(folder, "bot.sh", "#!/bin/sh\n");
    fs::set_permissions(folder.join("bot.sh"), fs::Permissions::from_mode(0o644)).unwrap();
    write(folder, "bot.js", "");
    fs::write(folder.join("bot.rs"), "fn main() {}\n").unwrap();
    fs::create_dir(folder.join("care")).unwrap();
    for command in ["match", "tournament", "check-bot"] {
        let more: &[&str] = if command == "check-bot" { &[] } else { &["greedy"] };
        let refused = |entry: &str, search: &str| {
            let words = [&[command, "zombie-dice-race", entry], more].concat();
            refusal(necrodome_in(folder, &words).env("PATH", search), 2)
        };
        let system = std::env::var("PATH").unwrap();
        let error = refused(&path, &system);
        assert!(
            error.ends_with("bot.sh\" is not executable\nhint: allow it to run: `chmod +x ./bot.sh`"),
            "{error}"
        );
        let error = refused("./bot.js", "/nowhere");
        assert!(error.contains("there is no node on this machine, which runs ./bot.js"), "{error}");
        assert!(error.contains("`apt-get install nodejs`"), "{error}");
        let error = refused("./bot.rs", &system);
        assert!(error.ends_with("hint: compile it first (`rustc -O bot.rs`) and enter `./bot`"), "{error}");
        let error = refused("./care/", &system);
        assert!(error.ends_with("care\" is a folder\nhint: name the bot's file in it"), "{error}");
        let error = refused("cmd:nolang bot.x", &system);
        assert!(error.contains("there is no nolang here: check the spelling, install it"), "{error}");
    }
}

/// The same hint in a tournament, in its report, and from `check-bot`.
#[test]
fn hints_reach_every_front_end() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let entry = write(folder, "dict.py", &python("print({'type': 'ready', 'protocol': 1})", ANSWER));
    let cure = "`print(json.dumps(answer), flush=True)`";
    let words =
        ["tournament", "zombie-dice-race", &entry, "greedy", "--blocks=1", "--seed=1", "--store=t.sqlite"];
    let flat =
        |text: Vec<u8>| String::from_utf8(text).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let output = necrodome_in(folder, &words).output().unwrap();
    assert!(flat(output.stdout).contains(cure));
    necrodome_in(folder, &["report", "t.sqlite", "--html", "pages"]).assert().success();
    let page = fs::read_to_string(folder.join("pages/index.html")).unwrap();
    assert!(page.contains("print(json.dumps(answer), flush=True)"), "{page}");
    let output = necrodome_in(folder, &["check-bot", "zombie-dice", &entry]).output().unwrap();
    let text = flat(output.stdout);
    assert!(
        text.contains("FAIL start expected ready") && text.contains("hint: this is how Python"),
        "{text}"
    );

    // A crash is a crash, and says nothing about a promise.
    let crashes = "if m['view']['turn']['brains'] > 2: {}['brain']\n        ".to_owned() + ANSWER;
    let promises = "print(json.dumps({'type': 'ready', 'protocol': 1, 'deterministic': True}))";
    let entry = write(folder, "late.py", &python(promises, &crashes));
    let output = necrodome_in(folder, &["check-bot", "zombie-dice", &entry]).output().unwrap();
    let text = flat(output.stdout);
    assert!(text.contains("FAIL crash in a position from a match"), "{text}");
    assert!(text.contains("skip deterministic cannot be told because of the crash above"), "{text}");
}

/// Bots that never start: each cause is said once, without counting the matches that they missed.
#[test]
fn a_tournament_of_broken_bots_is_not_drowned_in_repeats() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    for file in ["a.py", "b.py"] {
        write(folder, file, "import numpie\n");
    }
    let words = ["tournament", "zombie-dice", "greedy", "./a.py", "./b.py", "--blocks=3", "--seed=1"];
    let output = necrodome_in(folder, &words).output().unwrap();
    let (text, warned) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    for name in ["a", "b"] {
        assert_eq!(text.matches(&format!("fault: {name}: out since ")).count(), 1, "{text}");
        assert_eq!(text.matches(&format!("log: {name}: ModuleNotFoundError")).count(), 1, "{text}");
    }
    assert!(!text.contains("out 1") && !text.contains("out 2"), "{text}");
    assert_eq!(text.matches("check the spelling").count(), 2, "{text}");
    assert!(!warned.contains("hint") && !warned.contains(": out"), "{warned}");
    assert!(warned.lines().filter(|line| line.starts_with("warning: a: ")).count() <= 1, "{warned}");
}

/// A tournament file may come from a stranger: it does not say that files are overwritten.
#[test]
fn only_the_command_line_overwrites_files() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let file = "game = \"zombie-dice\"\nbots = [\"greedy\", \"random\"]\nblocks = 1\ncsv = \"a.csv\"\n";
    fs::write(folder.join("a.csv"), "mine").unwrap();
    fs::write(folder.join("t.toml"), format!("{file}force = true\n")).unwrap();
    let error = refusal(&mut necrodome_in(folder, &["tournament", "t.toml"]), 2);
    assert!(error.contains("`force` in a file") && error.contains("add --force"), "{error}");
    assert_eq!(fs::read_to_string(folder.join("a.csv")).unwrap(), "mine");
    fs::write(folder.join("t.toml"), file).unwrap();
    necrodome_in(folder, &["tournament", "t.toml", "--force"]).assert().success();
}
