//! `check-bot`: good bots pass, and each kind of bad one fails with the line that says why.

use crate::program::necrodome;
use necrodome_arena::{
    check::{Candidate, Verdict, check_bot},
    entry::EntrySpec,
    process::Limits,
};
use necrodome_rules::zombie_dice::Solo;
use serde_json::Value;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

fn bots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bots").canonicalize().unwrap()
}

fn check(game: &str, bot: &str, more: &[&str]) -> std::process::Output {
    necrodome(&[&["check-bot", game, bot], more].concat()).output().unwrap()
}

fn report(game: &str, bot: &str) -> Value {
    let result = check(game, bot, &["--json"]);
    let report: Value = serde_json::from_slice(&result.stdout).unwrap();
    let code = if report["passed"] == true { 0 } else { 1 };
    assert_eq!(result.status.code(), Some(code), "{}", String::from_utf8_lossy(&result.stderr));
    report
}

/// The checks that came out like this, each with its text.
fn found(report: &Value, verdict: &str) -> Vec<(String, String)> {
    let findings = report["findings"].as_array().unwrap().iter();
    let text = |finding: &Value, field: &str| finding[field].as_str().unwrap().to_owned();
    let chosen = findings.filter(|finding| finding["verdict"] == verdict);
    chosen.map(|finding| (text(finding, "check"), text(finding, "text"))).collect()
}

#[track_caller]
fn passes(game: &str, bot: &Path) {
    let report = report(game, bot.to_str().unwrap());
    assert_eq!(found(&report, "fail"), [], "{game} {bot:?} {report:#}");
    assert_eq!(found(&report, "skipped"), [], "{game} {bot:?}");
}

/// The first failure of a bot that plays Zombie Dice.
#[track_caller]
fn first_failure(bot: &str) -> (String, String, Value) {
    let report = report("zombie-dice", bot);
    let (check, text) = found(&report, "fail").into_iter().next().expect("a failure");
    let findings = report["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["verdict"] == "fail").unwrap();
    (check, text, finding["wrong"].clone())
}

#[track_caller]
fn misbehaving(file: &str) -> (String, String, Value) {
    first_failure(bots().join("misbehaving").join(file).to_str().unwrap())
}

/// A bot in Python made for one test.
fn script(folder: &tempfile::TempDir, body: &str) -> String {
    let path = folder.path().join("made.py");
    let text = format!("import json, sys, random\nfor line in sys.stdin:\n    m = json.loads(line)\n{body}");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

const GAMES: [(&str, &str); 6] = [
    ("zombie-dice", "zombie_dice"),
    ("zombie-dice-solo", "zombie_dice"),
    ("zombie-dice-race", "zombie_dice"),
    ("last-bullet", "last_bullet"),
    ("infection", "infection"),
    ("tokyo", "tokyo"),
];

#[test]
fn the_python_examples_pass() {
    for (game, file) in GAMES {
        passes(game, &bots().join(format!("python/{file}.py")));
    }
}

#[test]
fn the_javascript_examples_pass() {
    for (game, file) in GAMES {
        passes(game, &bots().join(format!("javascript/{file}.js")));
    }
}

#[test]
fn the_java_example_passes() {
    passes("tokyo", &bots().join("java/Tokyo.java"));
}

#[test]
fn two_rust_examples_pass() {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("example-bots");
    let build = std::process::Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet", "--locked"])
        .current_dir(bots().join("rust"))
        .env("CARGO_TARGET_DIR", &target)
        .output()
        .unwrap();
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    for (game, file) in [GAMES[3], GAMES[5]] {
        passes(game, &target.join("release").join(file));
    }
}

#[test]
fn built_in_bots_pass_and_are_said_to_speak_no_protocol() {
    for (game, bot) in [("zombie-dice", "greedy"), ("last-bullet", "gunner"), ("infection", "careful")] {
        let report = report(game, bot);
        assert_eq!(found(&report, "fail"), []);
        assert_eq!(found(&report, "skipped")[0].0, "protocol");
    }
}

#[test]
fn a_bot_that_does_not_start_gets_one_line() {
    let (check, text, wrong) = misbehaving("dies_at_start.py");
    assert_eq!(check, "start");
    assert!(text.contains("exit code 3"), "{text}");
    assert_eq!(wrong["expected"], r#"{"type":"ready","protocol":1}"#);
    assert!(wrong["message"].as_str().unwrap().contains(r#""game":"zombie-dice""#), "{wrong}");
}

#[test]
fn wrong_ids_are_named() {
    let (check, text, wrong) = misbehaving("wrong_id.py");
    assert_eq!((check.as_str(), text.as_str()), ("ids", "answers with another id than that of the decision"));
    assert!(wrong["came"].as_str().unwrap().contains("1003"), "{wrong}");
    assert!(wrong["expected"].as_str().unwrap().starts_with(r#"{"id":3,"action":{"type":""#), "{wrong}");
}

#[test]
fn a_bot_that_does_not_repeat_ids_has_wrong_ids() {
    let folder = tempfile::TempDir::new().unwrap();
    // Never asked; counted; answered before.
    for id in ["0", "count", "min(count, 2)"] {
        let body = format!(
            "    if m['type'] == 'hello': count = 0; print(json.dumps({{'type': 'ready', 'protocol': 1}}), flush=True)\n    \
             elif m['type'] == 'decide':\n        count += 1\n        \
             print(json.dumps({{'id': {id}, 'action': {{'type': 'stop'}}}}), flush=True)\n"
        );
        let (check, text, wrong) = first_failure(&script(&folder, &body));
        let came = wrong["came"].as_str().unwrap();
        assert!(["ids", "first answer"].contains(&check.as_str()), "{id}: {check} {text}");
        assert!(came.contains("wrong_id: expected id"), "{id}: {text} {wrong}");
    }
}

#[test]
fn malformed_orders_of_last_bullet_are_named() {
    let folder = tempfile::TempDir::new().unwrap();
    let body = "    if m['type'] == 'hello': print(json.dumps({'type': 'ready', 'protocol': 1}), flush=True)\n    \
                elif m['type'] == 'decide': print(json.dumps({'id': m['id'], 'action': {'orders': \
                [{'type': 'move', 'copy': copy['number'], 'direction': 'up' if BAD else 'north'} \
                for copy in m['view']['copies']]}}), flush=True)\n";
    // In the first answer, and once the bot is asked in matches only.
    for (when, check) in [("True", "first answer"), ("m['view']['clock'] == 1", "matches")] {
        let bot = script(&folder, &body.replace("BAD", when));
        let report = report("last-bullet", &bot);
        let failures = found(&report, "fail");
        assert_eq!(failures[0].0, check, "{failures:?}");
        let findings = report["findings"].as_array().unwrap();
        let came =
            findings.iter().find(|finding| finding["verdict"] == "fail").unwrap()["wrong"]["came"].clone();
        assert!(came.as_str().unwrap().contains("is malformed, so copy "), "{came}");
    }
}

/// The limit binds root, too, and holds from the first process on.
#[test]
fn the_protocol_is_checked_under_the_limits_of_matches() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("forks.py");
    let text = "import json, os, sys, time\n\
                for line in sys.stdin:\n    m = json.loads(line)\n    \
                if m['type'] == 'hello': print(json.dumps({'type': 'ready', 'protocol': 1}), flush=True)\n    \
                elif m['type'] == 'decide':\n        \
                children = []\n        \
                for _ in range(8):\n            \
                try: child = os.fork()\n            \
                except OSError: sys.exit('no more processes')\n            \
                if child == 0: time.sleep(60); os._exit(0)\n            \
                children.append(child)\n        \
                for child in children: os.waitpid(child, 0)\n        \
                print(json.dumps({'id': m['id'], 'action': m['legal'][-1]}), flush=True)\n";
    fs::write(&path, text).unwrap();
    let entry = EntrySpec::parse(path.to_str().unwrap(), folder.path()).unwrap();
    let candidate = Candidate {
        entry: &entry,
        name: "forks",
        launcher: assert_cmd::cargo::cargo_bin!("necrodome").to_path_buf().into(),
        limits: Limits { processes: 4, ..Limits::default() },
        settings: &[],
    };
    let report = check_bot::<Solo>(&candidate, &mut |_| {}).unwrap();
    let failure = report.findings.iter().find(|finding| finding.verdict == Verdict::Fail).expect("a failure");
    let came = &failure.wrong.as_ref().unwrap().came;
    // The system itself stops whoever is not root.
    let stopped = came.contains("more than 4 processes at once") || report.log.contains("no more processes");
    // Where python3 is a script that starts another program, that alone may be too many.
    assert!(["start", "first answer"].contains(&failure.check) && stopped, "{failure:?}");
}

#[test]
fn illegal_actions_are_named_with_what_was_expected() {
    let (check, text, wrong) = misbehaving("illegal.py");
    assert_eq!((check.as_str(), text.as_str()), ("first answer", "illegal"));
    assert!(wrong["came"].as_str().unwrap().contains("is no action of this game"), "{wrong}");
    assert!(
        wrong["message"].as_str().unwrap().contains(r#""legal":[{"type":"go"},{"type":"stop"}]"#),
        "{wrong}"
    );
}

#[test]
fn other_misbehaviour_fails_with_its_name() {
    for (file, name) in [
        ("crash.py", "crash"),
        ("exit.py", "exit"),
        ("garbage.py", "garbage"),
        ("oversized.py", "oversized"),
        ("closes_stdout.py", "closed"),
        ("spin.py", "timeout"),
        ("flood.py", "flood"),
    ] {
        let (check, text, wrong) = misbehaving(file);
        let came = wrong["came"].as_str().unwrap_or_default().to_owned();
        assert!(text.contains(name) || came.contains(name), "{file}: {check} {text} {wrong}");
    }
}

#[test]
fn a_bot_that_lives_on_after_its_input_fails() {
    let (check, text, _) = misbehaving("ignores_sigterm.py");
    assert_eq!((check.as_str(), text.as_str()), ("end of input", "does not end when its input ends"));
}

#[test]
fn a_bot_that_leaves_processes_fails() {
    let (check, text, _) = misbehaving("forks.py");
    assert_eq!(check, "processes");
    assert!(text.contains("left_children"), "{text}");
}

#[test]
fn unknown_messages_and_fields_must_be_ignored() {
    let folder = tempfile::TempDir::new().unwrap();
    let answers_all = "    a = {'type': 'ready', 'protocol': 1} if m['type'] == 'hello' else \
                       {'id': m['id'], 'action': {'type': 'stop'}} if 'id' in m else None\n    \
                       if a: print(json.dumps(a), flush=True)\n";
    let (check, text, wrong) = first_failure(&script(&folder, answers_all));
    assert_eq!(
        (check.as_str(), text.as_str()),
        ("unknown messages", "answers a message that it cannot know")
    );
    assert!(wrong["expected"].as_str().unwrap().contains("no answer"), "{wrong}");

    let strict = "    if m['type'] == 'decide' and len(m) != 4: sys.exit(9)\n    \
                  a = {'type': 'ready', 'protocol': 1} if m['type'] == 'hello' else \
                  {'id': m['id'], 'action': {'type': 'stop'}} if m['type'] == 'decide' else None\n    \
                  if a: print(json.dumps(a), flush=True)\n";
    let (check, text, _) = first_failure(&script(&folder, strict));
    assert_eq!(check, "unknown fields");
    assert!(text.starts_with("crash"), "{text}");
}

#[test]
fn promises_and_manners_are_checked() {
    let folder = tempfile::TempDir::new().unwrap();
    let fickle = "    if m['type'] == 'hello': print(json.dumps({'type': 'ready', 'protocol': 1, \
                  'deterministic': True}), flush=True)\n    elif m['type'] == 'start': random.seed(m['seed'])\n    \
                  elif m['type'] == 'decide': print(json.dumps({'id': m['id'], \
                  'action': random.choice(m['legal'])}), flush=True)\n";
    let report = report("tokyo", &script(&folder, fickle));
    assert_eq!(found(&report, "fail")[0].0, "deterministic");

    let chatty = "    if m['type'] == 'hello': print(json.dumps({'type': 'ready', 'protocol': 1}), flush=True)\n    \
                  elif m['type'] == 'decide': print(json.dumps({'id': m['id'], 'action': {'type': 'stop'}}), \
                  flush=True)\n    elif m['type'] == 'end': print('gg', flush=True)\n";
    let report = self::report("zombie-dice", &script(&folder, chatty));
    assert_eq!(found(&report, "fail"), []);
    assert!(found(&report, "warning")[0].1.contains("\"gg"), "{report:#}");

    let old =
        "    if m['type'] == 'hello': print(json.dumps({'type': 'ready', 'protocol': 7}), flush=True)\n";
    let (check, text, _) = first_failure(&script(&folder, old));
    assert_eq!(
        (check.as_str(), text.as_str()),
        ("protocol", "the bot speaks protocol 7, but this arena speaks 1")
    );
}

#[test]
fn a_bot_that_knows_one_setup_only_fails_in_the_others() {
    let folder = tempfile::TempDir::new().unwrap();
    let two_only = "    if m['type'] == 'hello': print(json.dumps({'type': 'ready', 'protocol': 1}), flush=True)\n    \
                    elif m['type'] == 'decide':\n        assert len(m['view']['scores']) == 2, 'a table of two'\n        \
                    print(json.dumps({'id': m['id'], 'action': {'type': 'stop'}}), flush=True)\n";
    let bot = script(&folder, two_only);
    let report = report("zombie-dice", &bot);
    let failures = found(&report, "fail");
    assert_eq!(failures[0].0, "matches");
    assert!(failures[0].1.starts_with("5 seats"), "{failures:?}");
    assert!(report["log"].as_str().unwrap().contains("a table of two"));

    let told = check("zombie-dice", &bot, &[]);
    let text = String::from_utf8(told.stdout).unwrap();
    assert_eq!(told.status.code(), Some(1));
    assert!(text.contains("ok    stamina"), "{text}");
    assert!(text.contains("FAIL  matches           5 seats"), "{text}");
    assert!(text.contains("\n       message: {\"type\":\"decide\",\"id\":"), "{text}");
    assert!(text.contains("log: AssertionError: a table of two"), "{text}");
    assert!(String::from_utf8(told.stderr).unwrap().contains("error: made failed"));
}

#[test]
fn options_hold_in_every_match_and_mistakes_are_refused() {
    let told = check("tokyo", "angry", &["--set", "max_turns=1"]);
    let text = String::from_utf8(told.stdout).unwrap();
    assert_eq!(told.status.code(), Some(0), "{text}");
    // What a single turn cannot bring about is said to be left out.
    assert!(text.contains("skip  position          hit in Tokyo, with 1 health left"), "{text}");
    for (words, message) in [
        (["tokyo", "./nowhere.py", "max_turns=1"], "there is no file"),
        (["tokyo", "greddy", "max_turns=1"], "has no bot"),
        (["tokyo", "angry", "max_turn=1"], "did you mean max_turns?"),
        (["tokyo", "human", "max_turns=1"], "human"),
        (["toyko", "angry", "max_turns=1"], "did you mean tokyo?"),
    ] {
        let result = check(words[0], words[1], &["--set", words[2]]);
        let error = String::from_utf8(result.stderr).unwrap();
        assert_eq!(result.status.code(), Some(2), "{error}");
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn chatter_is_a_warning_and_no_failure() {
    let chatty = bots().join("misbehaving/chatter.py");
    let chatty = |when: &str| format!("cmd:python3 -u '{}' {when}", chatty.display());
    for when in ["before", "hello", "start", "after"] {
        let report = report("zombie-dice", &chatty(when));
        assert_eq!(found(&report, "fail"), [], "{when}: {report:#}");
        let [(check, text)] = &found(&report, "warning")[..] else { panic!("{when}: {report:#}") };
        assert_eq!(check, "output");
        assert!(
            text.starts_with("chatter, forgiven once a match: ") && text.contains("print to standard error")
        );
    }
    let (check, text, wrong) = first_failure(&chatty("always"));
    assert_eq!((&*check, &*text), ("answers", "garbage, when asked several times"));
    assert!(wrong["came"].as_str().unwrap().starts_with("I see {"), "{wrong}");
    let (check, _, wrong) = first_failure(&chatty("only"));
    assert_eq!(check, "first answer");
    assert!(wrong["came"].as_str().unwrap().starts_with("I see {"), "{wrong}");
}
