//! Language models as players: the real binary against an endpoint on loopback.

use crate::{
    program::{necrodome_in, output, process, refusal},
    report::command_on_page,
};
use necrodome_models::testing::{Act, Answer, Asked, Server};
use necrodome_server::film::{Size, film};
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::Stdio,
    sync::{
        Arc, Condvar, Mutex, OnceLock,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tempfile::TempDir;

pub const KEY: &str = "sk-very-secret-0123456789";
pub const PRICES: &str = "input_price = 1.0\noutput_price = 10.0\nkey_env = \"TEST_KEY\"\nanswers = \"schema\"\n\
                      [models.small.parameters]\nmax_tokens = 100";

/// Plays Zombie Dice by its view: goes on until it has two brains.
pub fn plays(asked: &Asked) -> Act {
    let line = asked.last_message().lines().find(|line| line.starts_with("{\"")).unwrap_or("{}");
    let view: Value = serde_json::from_str(line).unwrap();
    let action = if view["turn"]["brains"].as_u64() < Some(2) { "go" } else { "stop" };
    Act::say(json!({"reason": format!("I {action}."), "action": {"type": action}}).to_string())
}

/// A folder with a file of one model, `small`.
pub fn folder(server: &Server, lines: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("models.toml"), server.table("small", lines)).unwrap();
    folder
}

pub fn command(folder: &Path, words: &[&str]) -> assert_cmd::Command {
    let mut command = necrodome_in(folder, words);
    command.env("TEST_KEY", KEY).env("XDG_CACHE_HOME", folder.join("cache"));
    command
}

pub fn json_of(folder: &Path, words: &[&str]) -> Value {
    serde_json::from_str(&output(&mut command(folder, words))).unwrap()
}

/// Standard error of a command that could not go on.
pub fn failure(command: &mut assert_cmd::Command) -> String {
    let result = command.assert().code(1);
    String::from_utf8(result.get_output().stderr.clone()).unwrap()
}

pub const RACE: [&str; 9] = [
    "tournament",
    "zombie-dice-race",
    "llm:small",
    "greedy",
    "--models=models.toml",
    "--blocks=3",
    "--seed=5",
    "--store=s.store",
    "--json",
];

/// The same words with others instead of some.
pub fn with<'a>(words: &[&'a str], others: &[(&str, &'a str)]) -> Vec<&'a str> {
    let swap = |word: &&'a str| others.iter().find(|(old, _)| old == word).map_or(*word, |(_, new)| new);
    words.iter().map(swap).collect()
}

pub fn entry<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["standings"].as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap()
}

#[test]
fn a_tournament_is_paid_once_and_can_be_played_again_offline() {
    let server = Server::minded(plays);
    let folder = folder(&server, PRICES);
    let report = json_of(folder.path(), &RACE);
    let calls = server.asked().len();
    let small = entry(&report, "small");
    let usage = &small["usage"];
    assert_eq!((report["stopped"].as_str(), usage["unusable"].as_u64()), (Some("done"), Some(0)), "{report}");
    // Every call has 100 tokens in and 10 out; the same question is asked once.
    let counted = usage["calls"].as_u64().unwrap();
    assert!(counted >= calls as u64 && calls > 10, "{counted} {calls}");
    assert_eq!(usage["decisions"], usage["calls"]);
    assert_eq!(usage["input_tokens"].as_u64(), Some(100 * counted));
    let cost = usage["cost"].as_f64().unwrap();
    assert!((cost - counted as f64 * (100.0 + 10.0 * 10.0) / 1e6).abs() < 1e-12, "{usage}");
    // Bots beside it are priced, too; stopping at two brains costs something.
    let regret = |name: &str| entry(&report, name)["regret"]["per_decision"].as_f64().unwrap();
    assert!(regret("small") > 0.0 && regret("greedy") > 0.0, "{report}");
    assert!(entry(&report, "greedy")["usage"].is_null());
    // There is no other model to compare it with.
    assert!(usage["regret_per_cost"].is_null() && usage["on_front"].is_null(), "{usage}");

    // What is finished is not asked for again, and what was kept is enough to play it all again.
    let again = json_of(folder.path(), &RACE);
    assert_eq!((&again["hash"], server.asked().len()), (&report["hash"], calls));
    drop(server);
    let offline = with(&RACE, &[("--store=s.store", "--store=other.store")]);
    let offline = [&offline[..], &["--answers=only", "--calls=s.store.calls"]].concat();
    let replayed = json_of(folder.path(), &offline);
    assert_eq!(replayed["hash"], report["hash"]);
    assert_eq!(entry(&replayed, "small")["usage"]["cost"], usage["cost"]);
    // Other dice, other questions: those were never answered.
    let missing = [
        &with(&offline, &[("--seed=5", "--seed=6"), ("--store=other.store", "--store=more.store")])[..],
        &[],
    ]
    .concat();
    let said = failure(&mut command(folder.path(), &missing));
    assert!(said.contains("stopped before the end: "), "{said}");
    assert!(said.contains("hint: --answers reuse asks for what is missing"), "{said}");
    assert!(!said.contains("run the same command again"), "it would stop in the same place: {said}");

    // The report shows it in every form.
    let text = output(&mut command(folder.path(), &["report", "s.store"]));
    for head in ["regret/decision", "cost", "tokens", "unusable", "lost", "cost/decision"] {
        assert!(text.contains(head), "{head}: {text}");
    }
    // In percent, as in an exam.
    let regret = entry(&report, "small")["regret"]["per_decision"].as_f64().unwrap();
    assert!(text.contains(&format!(" {:.2}%", 100.0 * regret)), "{regret}: {text}");
    output(&mut command(folder.path(), &["report", "s.store", "--csv", "s.csv", "--html", "site"]));
    let table = fs::read_to_string(folder.path().join("s.csv")).unwrap();
    assert!(table.lines().next().unwrap().ends_with(
        "regret,cost,calls,input_tokens,output_tokens,unusable,unusable_by_kind,lost,cost_per_decision,regret_per_cost"
    ));
    let index = fs::read_to_string(folder.path().join("site/index.html")).unwrap();
    for part in ["regret/decision", "cost/decision", "tokens", "unusable", "lost"] {
        assert!(index.contains(part), "{part}: {index}");
    }
    // The command on the page plays it again, though nobody answers any more.
    assert!(index.contains("<code>s.store.calls</code> the book that kept their calls"), "{index}");
    let words = command_on_page(&folder.path().join("site"));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = [&with(&words, &[("FILE", "models.toml")])[..], &["--json"]].concat();
    assert_eq!(json_of(folder.path(), &words)["hash"], report["hash"], "{words:?}");
}

#[test]
fn an_analysis_pays_once_and_reports_what_its_budget_allowed() {
    let server = Server::minded(plays);
    let folder = folder(&server, &PRICES.replace("answers", "concurrency = 1\nanswers"));
    let words =
        ["analyze", "zombie-dice-race", "llm:small", "--models=models.toml", "--blocks=3", "--seed=5"];
    let words = [&words[..], &["--json"]].concat();
    // A call costs 0.0002 or so, and may cost a little more.
    let short = command(folder.path(), &[&words[..], &["--budget=0.012"]].concat()).assert().code(1);
    let said = String::from_utf8_lossy(&short.get_output().stderr).into_owned();
    assert!(said.contains("not all blocks were played") && said.contains("budget"), "{said}");
    let part: Value = serde_json::from_slice(&short.get_output().stdout).unwrap();
    assert!(part["matches"].as_u64() < Some(6) && part["stopped"].is_string(), "{part}");
    let paid = server.asked().len();
    assert!(paid > 0);
    let whole = json_of(folder.path(), &words);
    assert_eq!((&whole["matches"], whole.get("stopped")), (&json!(6), None), "{whole}");
    // Nothing is played but these matches, and no question is asked twice.
    assert!(whole["without_habits"].is_null(), "{whole}");
    let calls = server.asked().len();
    assert!(paid < calls && calls as u64 <= whole["decisions"].as_u64().unwrap(), "{paid}, {calls}: {whole}");
}

/// All files in a folder, by name.
pub fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    found
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

/// The command lines of a process and all below it, and the environments of those below it.
fn processes_of(pid: u32) -> Vec<(String, Vec<u8>)> {
    let read = |pid: u32, file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let mut found = vec![(format!("command of {pid}"), read(pid, "cmdline"))];
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    for task in tasks {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|child| child.parse().ok()) {
            found.extend(processes_of(child));
            found.push((format!("environment of {child}"), read(child, "environ")));
        }
    }
    found
}

#[test]
fn the_key_is_nowhere_but_in_the_header() {
    let (pid, seen) = (Arc::new(AtomicU32::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (of, all) = (pid.clone(), seen.clone());
    // An endpoint that repeats the key wherever it can, and looks around while it is asked.
    let server = Server::minded(move |asked| {
        let pid = of.load(Ordering::SeqCst);
        if pid != 0 {
            all.lock().unwrap().extend(processes_of(pid));
        }
        let Act::Answer(answer) = plays(asked) else { unreachable!() };
        let text = answer.text.replace("I ", &format!("{KEY} says: I "));
        Act::Answer(Answer {
            text,
            reasoning: Some(format!("thinking of {KEY}")),
            model: format!("tiny-{KEY}"),
            ..answer
        })
    });
    let folder = folder(&server, PRICES);
    let bot = "import json, sys\nfor line in sys.stdin:\n  m = json.loads(line)\n  \
               if m['type'] == 'hello': print('{\"type\":\"ready\",\"protocol\":1}', flush=True)\n  \
               if m['type'] == 'decide': print(json.dumps({'id': m['id'], 'action': {'type': 'stop'}}), flush=True)\n";
    fs::create_dir(folder.path().join("bot")).unwrap();
    fs::write(folder.path().join("bot/bot.py"), bot).unwrap();
    let words =
        with(&RACE, &[("greedy", "./bot/bot.py"), ("--blocks=3", "--blocks=1"), ("--json", "--csv=s.csv")]);
    let mut command_line = process(&words);
    command_line
        .current_dir(folder.path())
        .env("TEST_KEY", KEY)
        .env("XDG_CACHE_HOME", folder.path().join("cache"));
    let child = command_line.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    pid.store(child.id(), Ordering::SeqCst);
    let said = child.wait_with_output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert!(server.asked().iter().all(|asked| asked.key() == KEY && !asked.text.contains(KEY)));

    let shown = command(folder.path(), &["replay", "s.store", "--from", "0.0"]).output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("says: I "), "the reasons are kept");
    output(&mut command(folder.path(), &["report", "s.store", "--html", "site"]));
    let checked =
        command(folder.path(), &["check-bot", "zombie-dice-race", "llm:small", "--models=models.toml"]);
    let checked = { checked }.output().unwrap();

    // What is kept is packed: only the commands that unpack it can tell.
    let models = "--models=models.toml";
    let played =
        ["match", "zombie-dice-race", "llm:small", "greedy", models, "--seed=9", "--replay=m.replay"];
    let mut unpacked = Vec::new();
    for words in [
        &["calls", "s.store", "--texts", "--json"][..],
        &["replay", "s.store", "--from", "0.1"],
        &["report", "s.store", "--json"],
        &played,
        &["replay", "m.replay"],
        &["exam", "zombie-dice-race", "llm:small", models, "--positions=20", "--json"],
        &["calls", "--texts", "--json"],
    ] {
        let shown = command(folder.path(), words).output().unwrap();
        assert!(shown.status.success(), "{words:?}: {}", String::from_utf8_lossy(&shown.stderr));
        unpacked.push((words.join(" "), shown));
    }
    for (name, shown) in &unpacked {
        let has_answers = !name.starts_with("report");
        assert_eq!(holds(&shown.stdout, "[key] says: I "), has_answers, "{name}: the answers are there");
    }
    // An error of the endpoint, which a command that could not go on repeats.
    let thief = Server::scripted([Act::error(401, &format!("{KEY} is no key"))]);
    fs::write(folder.path().join("thief.toml"), thief.table("small", PRICES)).unwrap();
    let elsewhere =
        with(&played, &[(models, "--models=thief.toml"), ("--replay=m.replay", "--replay=n.replay")]);
    let refused = command(folder.path(), &elsewhere).output().unwrap();
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.split_whitespace().collect::<Vec<_>>().join(" ").contains("[key] is no key"), "{told}");
    assert_eq!(thief.asked()[0].key(), KEY);

    let mut places = seen.lock().unwrap().clone();
    assert!(
        places.iter().any(|(name, bytes)| name.starts_with("command") && holds(bytes, "bot.py")),
        "a child was seen"
    );
    let told = [("tournament", said), ("replay", shown), ("check-bot", checked), ("refused", refused)];
    for (name, output) in told.map(|(name, output)| (name.to_owned(), output)).into_iter().chain(unpacked) {
        places.push((format!("stdout of {name}"), output.stdout));
        places.push((format!("stderr of {name}"), output.stderr));
    }
    places.extend(files(folder.path()));
    for name in ["s.store", "s.store.calls", "s.csv"] {
        assert!(places.iter().any(|(place, _)| place.ends_with(name)), "{name}");
    }
    let leaks: Vec<&String> =
        places.iter().filter(|(_, bytes)| holds(bytes, KEY)).map(|(name, _)| name).collect();
    assert!(leaks.is_empty(), "{leaks:?}");
}

#[test]
fn an_answer_that_cannot_be_used_is_asked_for_again_and_counted() {
    // Bad at first, good when it is told why.
    let server = Server::minded(|asked| {
        if asked.last_message().starts_with("Your answer cannot be used") {
            return Act::say(r#"{"reason": "Oh.", "action": {"type": "stop"}}"#);
        }
        Act::say("I would go on, I think.")
    });
    let folder = folder(&server, "answers = \"line\"");
    let words =
        ["match", "zombie-dice-solo", "llm:small", "--models=models.toml", "--seed=1", "--replay=m.replay"];
    let told = output(&mut command(folder.path(), &words));
    assert!(told.contains("(asked again after unparsable: expected"), "{told}");
    assert!(told.contains("Oh.") && !told.contains("misbehaved"), "{told}");
    let replay = output(&mut command(folder.path(), &["replay", "m.replay"]));
    assert!(replay.contains("asked again after unparsable"), "{replay}");
    // A film has it beside the decision, and its price.
    let reel = film(fs::read(folder.path().join("m.replay")).unwrap(), &Size::FILE).unwrap();
    let reel: Value = serde_json::from_slice(&reel.json).unwrap();
    let choices = reel["frames"].as_array().unwrap().iter().filter(|frame| frame["choice"].is_object());
    let [choice] = choices.collect::<Vec<_>>()[..] else { panic!("{reel}") };
    let reason = choice["choice"]["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("(asked again after unparsable: expected") && reason.ends_with(") Oh."),
        "{reason}"
    );
    let priced =
        reel["values"]["entries"].as_array().unwrap().iter().find(|entry| entry["type"] == "decision");
    assert!(priced.is_some_and(|entry| entry["regret"].as_f64() > Some(0.0)), "{}", reel["values"]);
    let [first, second] = &server.asked()[..] else { panic!("{:?}", server.asked().len()) };
    assert_eq!(second.body["messages"].as_array().unwrap().len(), 4);
    assert!(first.body["messages"][0]["content"].as_str().unwrap().contains("Thirteen dice lie in a cup"));

    // Never good: the game's rule for a bad action applies, under the name of what is wrong.
    for (answer, kind) in [
        (Answer { text: "no".into(), ..Answer::default() }, "unparsable"),
        (Answer { text: "".into(), ..Answer::default() }, "empty"),
        (Answer { text: "{\"rea".into(), finish: "length".into(), ..Answer::default() }, "truncated"),
        (Answer { refusal: Some("I can't do that".into()), ..Answer::default() }, "refused"),
        (Answer { text: r#"{"action": {"type": "dance"}}"#.into(), ..Answer::default() }, "illegal"),
    ] {
        let server = Server::scripted([Act::Answer(answer)]);
        let folder = self::folder(&server, "answers = \"schema\"\nretries = 2");
        let words = [
            "tournament",
            "zombie-dice-solo",
            "llm:small",
            "greedy",
            "--models=models.toml",
            "--blocks=1",
            "--seed=1",
        ];
        let report = json_of(folder.path(), &[&words[..], &["--json"]].concat());
        let fault = &report["faults"][0];
        assert_eq!((fault["name"].as_str(), fault["kind"].as_str()), (Some("small"), Some(kind)), "{report}");
        let usage = &entry(&report, "small")["usage"];
        // Three answers, one decision. Without prices nobody knows the cost.
        assert_eq!((usage["unusable"].as_u64(), usage["lost"].as_u64()), (Some(3), Some(1)), "{kind}");
        assert!(usage["cost"].is_null() && usage["cost_per_decision"].is_null(), "{usage}");
        // Beside the faults, which count decisions, it says that these are answers.
        let text = output(&mut command(folder.path(), &words));
        assert!(text.contains(&format!("small: unusable answers: 3 {kind}; 1 decision lost")), "{text}");
        assert_eq!(server.asked().len(), 3, "{kind}");
    }
}

#[test]
fn a_budget_stops_in_order_and_nothing_is_paid_twice() {
    let server = Server::minded(plays);
    let folder = folder(&server, &PRICES.replace("answers", "concurrency = 1\nanswers"));
    let limited = [&RACE[..], &["--budget=0.012"]].concat();
    let said = failure(&mut command(folder.path(), &limited));
    assert!(said.contains("stopped before the end: ") && said.contains("budget"), "{said}");
    assert!(said.contains("left: run the same command again to go on"), "{said}");
    let paid = server.asked().len();
    assert!(paid > 0);
    // An endpoint that fails is no fault of the model's, either; the same again goes on, and pays for the rest only.
    let report = json_of(folder.path(), &RACE);
    assert_eq!(report["stopped"], "done");
    let bodies: Vec<String> = server.asked().into_iter().map(|asked| asked.text).collect();
    let once: std::collections::BTreeSet<&String> = bodies.iter().collect();
    assert_eq!(once.len(), bodies.len());
    assert!(bodies.len() > paid);
}

#[test]
fn a_fresh_tournament_that_was_interrupted_is_played_again_to_the_same_hash() {
    // Another answer to the same question every time.
    let number = AtomicU32::new(0);
    let server = Server::minded(move |_| {
        let action = if number.fetch_add(1, Ordering::SeqCst).is_multiple_of(2) { "go" } else { "stop" };
        Act::say(json!({"reason": "", "action": {"type": action}}).to_string())
    });
    let folder = folder(&server, &PRICES.replace("answers", "concurrency = 1\nanswers"));
    // What the book has of the same questions before does not count.
    json_of(folder.path(), &with(&RACE, &[("--store=s.store", "--calls=s.store.calls")]));
    let before = server.asked().len();
    let fresh = [&RACE[..], &["--answers=fresh"]].concat();
    // Some blocks are played, some are not.
    let said = failure(&mut command(folder.path(), &[&fresh[..], &["--budget=0.016"]].concat()));
    assert!(said.contains("budget") && !said.contains("0 blocks played"), "{said}");
    let paid = server.asked().len();
    let report = json_of(folder.path(), &fresh);
    assert_eq!(report["stopped"], "done");
    assert!(paid > before && server.asked().len() > paid);
    let bodies: Vec<String> = server.asked().into_iter().skip(before).map(|asked| asked.text).collect();
    // Positions that come back in a match are asked again; apart from that nothing is paid twice.
    let replayed = [
        &with(&RACE, &[("--store=s.store", "--store=other.store")])[..],
        &["--answers=only", "--calls=s.store.calls"],
    ]
    .concat();
    let again = json_of(folder.path(), &replayed);
    assert_eq!(again["hash"], report["hash"], "{} calls", bodies.len());
}

#[test]
fn a_tournament_has_the_same_hash_again_whatever_was_asked_later() {
    // Another answer to the same question every time.
    let number = AtomicU32::new(0);
    let server = Server::minded(move |_| {
        let action = if number.fetch_add(1, Ordering::SeqCst).is_multiple_of(3) { "go" } else { "stop" };
        Act::say(json!({"reason": "", "action": {"type": action}}).to_string())
    });
    let folder = folder(&server, &PRICES.replace("answers", "concurrency = 1\nanswers"));
    let of_book = with(&RACE, &[("--store=s.store", "--calls=s.calls")]);
    let first = json_of(folder.path(), &of_book);
    // Another seed, and another line-up with the same seed, which was stopped.
    json_of(
        folder.path(),
        &[&with(&of_book, &[("--seed=5", "--seed=6")])[..], &["--answers=fresh"]].concat(),
    );
    let others = [&with(&of_book, &[("greedy", "optimal")])[..], &["--answers=fresh"]].concat();
    failure(&mut command(folder.path(), &[&others[..], &["--budget=0.012"]].concat()));
    let again = json_of(folder.path(), &[&of_book[..], &["--answers=only"]].concat());
    assert_eq!(again["hash"], first["hash"]);
    // Nor does this line-up take what the stopped one was told.
    let before = server.asked().len();
    json_of(folder.path(), &[&of_book[..], &["--answers=fresh"]].concat());
    let asked: Vec<String> = server.asked().into_iter().skip(before).map(|asked| asked.text).collect();
    assert_eq!(server.asked()[0].text, asked[0], "the first question is asked anew");
}

#[test]
fn a_pilot_with_models_is_refused_before_anything_is_paid() {
    let server = Server::minded(plays);
    let folder = folder(&server, PRICES);
    let pilot = [&with(&RACE, &[("--store=s.store", "--plan")])[..], &["--budget=1"]].concat();
    let said = refusal(&mut command(folder.path(), &pilot), 2);
    assert!(said.contains("--plan plays a pilot") && said.contains("--dry-run"), "{said}");
    assert!(server.asked().is_empty());
}

#[test]
fn without_its_book_nothing_is_replayed_and_no_book_is_made() {
    let server = Server::minded(plays);
    let folder = folder(&server, PRICES);
    let offline = [&RACE[..], &["--answers=only", "--calls=lost.calls"]].concat();
    let said = command(folder.path(), &offline).output().unwrap();
    let told = String::from_utf8_lossy(&said.stderr);
    assert!(!said.status.success() && told.contains("lost.calls: there is no such book of calls"), "{told}");
    assert!(files(folder.path()).iter().all(|(name, _)| !name.contains("lost.calls")));
}

#[test]
fn an_endpoint_that_fails_is_not_charged_to_the_model() {
    let server = Server::scripted([Act::error(401, "no such key")]);
    let folder = folder(&server, PRICES);
    let said = failure(&mut command(folder.path(), &RACE));
    assert!(
        said.contains("the endpoint refuses the key (key_env of [models.small] in models.toml"),
        "{said}"
    );
    // The same again would fail again.
    let first = said.find("hint: put a valid key into the variable that key_env of [models.small]");
    let then = said.find("hint: 0 blocks played, 3 blocks left: then run the same command again to go on");
    assert!(first.is_some() && first < then, "{said}");
    let check = ["check-bot", "zombie-dice-race", "llm:small", "--models=models.toml"];
    assert!(failure(&mut command(folder.path(), &check)).contains("hint: put a valid key"));

    let server = Server::scripted([Act::error(404, "there is no model tiny")]);
    let folder = self::folder(&server, &PRICES.replace("answers = \"schema\"\n", ""));
    let words = ["match", "zombie-dice-solo", "llm:small", "--models=models.toml"];
    let said = failure(&mut command(folder.path(), &words));
    assert!(said.contains("hint: check model and base_url in [models.small] in models.toml"), "{said}");
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("error: small at http://127.0.0.1:"), "the cause comes first: {said}");
    assert!(flat.contains("(no bot is charged for it)"), "{said}");
}

#[test]
fn an_exam_in_which_nobody_answers_praises_nobody() {
    let server = Server::scripted([Act::error(401, "no such key")]);
    let folder = folder(&server, PRICES);
    let words =
        ["exam", "zombie-dice-race", "llm:small", "--models=models.toml", "--positions=20", "--html=e.html"];
    let exam = |words: &[&str]| {
        let result = command(folder.path(), words).assert().code(1);
        String::from_utf8(result.get_output().stdout.clone()).unwrap()
    };
    let text = exam(&words);
    assert!(
        text.contains("not complete: answered 0 of 20") && !text.contains("the best there was"),
        "{text}"
    );
    let page = fs::read_to_string(folder.path().join("e.html")).unwrap();
    assert!(page.contains("No question was answered.") && !page.contains("the best there was"), "{page}");
    // Others are perfect, but it is not told about them.
    let text = exam(&[&words[..], &["optimal", "--force"]].concat());
    assert!(text.contains("optimal") && !text.contains("the best there was"), "{text}");
}

#[test]
fn many_matches_wait_at_once_and_the_result_is_the_same() {
    // Nobody is answered before two have asked.
    let both = Arc::new((Mutex::new(0_u32), Condvar::new()));
    let server = Server::minded(move |asked| {
        let (count, came) = &*both;
        let mut count = count.lock().unwrap();
        *count += 1;
        came.notify_all();
        let waited = came.wait_timeout_while(count, Duration::from_secs(60), |count| *count < 2).unwrap();
        assert!(!waited.1.timed_out(), "only one match asks at a time");
        plays(asked)
    });
    let many = folder(&server, &PRICES.replace("answers", "concurrency = 4\nanswers"));
    // A block has two matches.
    let one = with(&RACE, &[("--blocks=3", "--blocks=1")]);
    let report = json_of(many.path(), &one);
    assert_eq!((&report["stopped"], &report["matches"]), (&json!("done"), &json!(2)), "{report}");
    // The same model, whatever its pace: offline and on one thread.
    let alone = with(&one, &[("--store=s.store", "--store=one.store")]);
    let alone = [&alone[..], &["--threads=1", "--answers=only", "--calls=s.store.calls"]].concat();
    assert_eq!(json_of(many.path(), &alone)["hash"], report["hash"]);
}

/// A bot that goes on once in its first match, and never in later ones. It writes to its log when it ends.
const TIRED_BOT: &str = r#"
import json, sys
matches = turns = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready","protocol":1}', flush=True)
    if message["type"] == "start":
        matches, turns = matches + 1, 0
    if message["type"] == "decide":
        turns += 1
        action = "go" if matches == 1 and turns % 2 else "stop"
        print(json.dumps({"id": message["id"], "action": {"type": action}}), flush=True)
sys.stderr.write(f"{matches} played")
"#;

#[test]
fn matches_beside_a_program_wait_at_once_too() {
    // Nobody is answered before five of the six matches have asked: more than this machine has cores, and than there are blocks.
    let five = Arc::new((Mutex::new(0_u32), Condvar::new()));
    let server = Server::minded(move |asked| {
        let (count, came) = &*five;
        let mut count = count.lock().unwrap();
        *count += 1;
        came.notify_all();
        let waited = came.wait_timeout_while(count, Duration::from_secs(60), |count| *count < 5).unwrap();
        assert!(!waited.1.timed_out(), "fewer than five matches ask at a time");
        plays(asked)
    });
    let prices = PRICES.replace("answers", "concurrency = 6\nsamples = \"match\"\nanswers");
    let folder = folder(&server, &prices);
    fs::write(folder.path().join("tired.py"), TIRED_BOT).unwrap();
    let words = [&with(&RACE, &[("greedy", "./tired.py")])[..], &["--public-dice"]].concat();
    let report = json_of(folder.path(), &words);
    assert_eq!((&report["stopped"], &report["matches"]), (&json!("done"), &json!(6)), "{report}");
    assert_eq!(report["faults"], json!([]), "{report}");
    // A program begins anew with each match, so it does not matter which were played at once.
    let text = output(&mut command(folder.path(), &["report", "s.store"]));
    assert!(text.contains("1 played") && !text.contains("2 played"), "{text}");
    let alone = with(&words, &[("--store=s.store", "--store=one.store")]);
    let alone = [&alone[..], &["--threads=1", "--answers=only", "--calls=s.store.calls"]].concat();
    assert_eq!(json_of(folder.path(), &alone)["hash"], report["hash"]);
}

#[test]
fn a_dry_run_asks_a_few_times_and_says_what_all_would_cost() {
    let server = Server::minded(plays);
    let folder = folder(&server, PRICES);
    let dry = [&with(&RACE, &[("--json", "--dry-run")])[..], &["--calls=b.calls"]].concat();
    let told = output(&mut command(folder.path(), &dry));
    assert_eq!(server.asked().len(), 3);
    assert!(told.contains("3 blocks would cost about 0.0"), "{told}");
    let flat = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("with the game's usual bots in the place of the models it was"), "{told}");
    assert!(flat.contains("made 3 calls for 3 decisions (330 tokens, cost 0.000600)"), "{told}");
    assert!(
        flat.contains("Their answers are in the book b.calls, and runs that use it do not pay"),
        "{told}"
    );
    assert!(!folder.path().join("s.store").exists());

    // What was asked for is kept, so three others are asked now. Every call costs 200 millionths.
    let dry = [&dry[..], &["--json"]].concat();
    let report = json_of(folder.path(), &with(&dry, &[("--blocks=3", "--blocks=1000")]));
    let small = &report["models"][0];
    let [decisions, kept, open] = ["decisions", "kept", "open"].map(|name| small[name].as_u64().unwrap());
    assert!(
        (small["asked"] == 3, decisions > 5000, open > 0, decisions == kept + open)
            == (true, true, true, true),
        "{report}"
    );
    assert_eq!((report["blocks"].as_u64(), report["blocks_sampled"].as_u64()), (Some(1000), Some(10)));
    let cost = report["cost"].as_f64().unwrap();
    assert!((cost - open as f64 * 200.0 / 1e6).abs() < 1e-6, "{report}");
    // A bot that plays at random needs more decisions for the same matches than the stand-in.
    let [least, most] = [0, 1].map(|end| report["cost_range"][end].as_f64().unwrap());
    assert!(least <= cost && 1.2 * cost < most && most < 10.0 * cost, "{report}");
    let [fewest, more] = [0, 1].map(|end| small["decisions_range"][end].as_u64().unwrap());
    assert!(fewest <= decisions && decisions < more, "{report}");

    // What is stored is not counted, and when all is stored or in the book nothing is left to pay.
    let all = [&RACE[..], &["--calls=b.calls"]].concat();
    json_of(folder.path(), &all);
    let calls = server.asked().len();
    let stored = json_of(folder.path(), &dry);
    assert_eq!(
        (&stored["blocks"], &stored["blocks_stored"], &stored["cost"]),
        (&json!(0), &json!(3), &json!(0.0))
    );
    let elsewhere = with(&dry, &[("--store=s.store", "--store=other.store")]);
    for answers in ["--answers=reuse", "--answers=only"] {
        let known = json_of(folder.path(), &[&elsewhere[..], &[answers]].concat());
        let small = &known["models"][0];
        assert_eq!(
            (&small["open"], &small["calls"], &known["cost"]),
            (&json!(0), &json!(0), &json!(0.0)),
            "{known}"
        );
        assert!(small["decisions"].as_u64() > Some(10) && small["decisions"] == small["kept"], "{known}");
    }
    let lacking = with(&[&elsewhere[..], &["--answers=only"]].concat(), &[("--blocks=3", "--blocks=9")]);
    let lacking = json_of(folder.path(), &lacking);
    assert!(lacking["models"][0]["open"].as_u64() > Some(0) && lacking["cost"] == 0.0, "{lacking}");
    assert_eq!(server.asked().len(), calls, "nothing was paid for this");

    let without = ["tournament", "zombie-dice-race", "greedy", "cautious", "--dry-run"];
    assert!(refusal(&mut command(folder.path(), &without), 2).contains("--dry-run means nothing without"));
}

#[test]
fn a_dry_run_of_an_exam_counts_the_questions_that_are_not_answered_yet() {
    let server = Server::minded(plays);
    let folder = folder(&server, PRICES);
    let exam = [
        "exam",
        "zombie-dice-race",
        "llm:small",
        "greedy",
        "--models=models.toml",
        "--positions=20",
        "--json",
    ];
    let dry = [&exam[..], &["--dry-run"]].concat();
    let report = json_of(folder.path(), &dry);
    assert_eq!(
        (server.asked().len(), &report["questions"], &report["paid"]["calls"]),
        (3, &json!(20), &json!(3))
    );
    let small = &report["models"][0];
    assert_eq!(
        [&small["decisions"], &small["open"], &small["calls"]],
        [&json!(20), &json!(17), &json!(17)],
        "{report}"
    );
    assert!((report["cost"].as_f64().unwrap() - 17.0 * 200.0 / 1e6).abs() < 1e-9, "{report}");
    // It was right.
    json_of(folder.path(), &exam);
    assert_eq!(server.asked().len(), 20);
    let report = json_of(folder.path(), &dry);
    assert_eq!(
        (&report["cost"], &report["paid"]["calls"], server.asked().len()),
        (&json!(0.0), &json!(0), 20)
    );
    let told = output(&mut command(folder.path(), &with(&dry, &[("--json", "--null")])));
    assert!(
        told.contains("small again") && server.asked().len() == 23,
        "the twin is asked for itself: {told}"
    );
    let without = ["exam", "zombie-dice-race", "greedy", "--dry-run"];
    assert!(refusal(&mut command(folder.path(), &without), 2).contains("--dry-run means nothing without"));
}

#[test]
fn check_bot_says_which_forms_of_answers_work() {
    let server = Server::minded(|asked| match asked {
        _ if asked.wants_schema() => Act::error(400, "response_format is not supported"),
        _ if asked.last_message().starts_with("Hello!") => {
            Act::say(r#"{"reason": "x", "action": {"type": "go"}}"#)
        }
        _ => plays(asked),
    });
    let folder = folder(&server, "");
    let told = output(&mut command(
        folder.path(),
        &["check-bot", "zombie-dice-race", "llm:small", "--models=models.toml"],
    ));
    assert!(told.contains("response_format is not supported"), "{told}");
    for part in
        ["tool call", "works", "last line", "decision", "system:", "Thirteen dice", "model:", "\"go\""]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    // Found out by itself: the tool.
    let played = ["match", "zombie-dice-solo", "llm:small", "--models=models.toml", "--seed=1"];
    output(&mut command(folder.path(), &played));
    assert!(server.asked().last().unwrap().wants_tool());

    // What it chooses is put to the referee: it may have made something up.
    let meets_nobody =
        r#"{"type": "contact", "with": 99, "commit": {"type": "precaution"}, "antidote": false}"#;
    let server = Server::scripted([Act::say(format!("{{\"reason\": \"x\", \"action\": {meets_nobody}}}"))]);
    let folder = self::folder(&server, "answers = \"schema\"\nretries = 0");
    let check = ["check-bot", "infection", "llm:small", "--models=models.toml"];
    let refused = command(folder.path(), &check).assert().code(1);
    let told = String::from_utf8_lossy(&refused.get_output().stdout).into_owned();
    let flat = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("FAIL decision illegal: ") && flat.contains("seat 99, which is not there"),
        "{told}"
    );
}

#[test]
fn a_model_is_found_in_its_file_or_in_the_tournament() {
    let server = Server::minded(plays);
    let folder = folder(&server, PRICES);
    let said = |words: &[&str]| refusal(&mut command(folder.path(), words), 2);
    let none = said(&["match", "zombie-dice-solo", "llm:small"]);
    assert!(none.contains("--models FILE.toml") && none.contains("[models.small]"), "{none}");
    let near = said(&["match", "zombie-dice-solo", "llm:smal", "--models=models.toml"]);
    assert!(near.contains("smal") && near.contains("did you mean"), "{near}");
    let missing = said(&["match", "zombie-dice-solo", "llm:small", "--models=nowhere.toml"]);
    assert!(missing.contains("there is no file nowhere.toml"), "{missing}");
    let pipe = folder.path().join("pipe.toml");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for words in
        [&["match", "zombie-dice-solo", "llm:small", "--models=pipe.toml"][..], &["tournament", "pipe.toml"]]
    {
        let waiting = said(words);
        assert!(waiting.contains("pipe.toml: is no regular file"), "{waiting}");
    }
    let idle = said(&["match", "zombie-dice-solo", "greedy", "--budget=5"]);
    assert!(idle.contains("--budget means nothing without an entry llm:NAME"), "{idle}");

    let plan = "game = \"zombie-dice-solo\"\nbots = [\"llm:small\", \"greedy\"]\nblocks = 1\nseed = 3\nbudget = 1.50\nstore = \"t.store\"\n";
    fs::write(folder.path().join("t.toml"), plan.to_owned() + &server.table("small", PRICES)).unwrap();
    let report = json_of(folder.path(), &["tournament", "t.toml", "--json"]);
    assert_eq!(entry(&report, "small")["bot"], "llm:small");
    // The command on its page names the file with the tables: here it is that of the tournament.
    output(&mut command(folder.path(), &["report", "t.store", "--html", "site"]));
    let words = command_on_page(&folder.path().join("site"));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = [&with(&words, &[("FILE", "t.toml")])[..], &["--json"]].concat();
    assert_eq!(json_of(folder.path(), &words)["hash"], report["hash"], "{words:?}");
    // An edited table is another entry.
    let edited =
        plan.to_owned() + &server.table("small", &PRICES.replace("answers", "disguise = 3\nanswers"));
    fs::write(folder.path().join("t.toml"), edited).unwrap();
    let changed = said(&["tournament", "t.toml", "--blocks=2"]);
    assert!(changed.contains("small"), "{changed}");
}

#[test]
fn a_disguised_model_reads_other_words_and_is_understood() {
    let server = Server::minded(|asked| {
        let text = asked.text.to_lowercase();
        assert!(!text.contains("zombie") && !text.contains("brain") && !text.contains("shotgun"), "{text}");
        Act::say(r#"{"reason": "fine", "action": {"type": "stop"}}"#)
    });
    let folder = folder(&server, "answers = \"schema\"\ndisguise = 11");
    let words =
        ["match", "zombie-dice-race", "llm:small", "greedy", "--models=models.toml", "--seed=1", "--json"];
    let played = json_of(folder.path(), &words);
    assert_eq!(played["faults"], json!([]), "{played}");
}

/// Stops a command by Ctrl-C when some calls are answered and the next is under way. Returns its folder and its standard error.
fn interrupted(words: &[&str], answered: u32) -> (TempDir, String) {
    let (count, silent) = (AtomicU32::new(0), Arc::new((Mutex::new(false), Condvar::new())));
    let told = silent.clone();
    let server = Server::minded(move |asked| {
        if count.fetch_add(1, Ordering::SeqCst) < answered {
            return plays(asked);
        }
        *told.0.lock().unwrap() = true;
        told.1.notify_all();
        Act::Silence
    });
    let quick = PRICES.replace("answers", "concurrency = 1\ntimeout_s = 1\nanswers");
    let folder = folder(&server, &quick);
    let mut command_line = process(words);
    command_line
        .current_dir(folder.path())
        .env("TEST_KEY", KEY)
        .env("XDG_CACHE_HOME", folder.path().join("cache"));
    let child = command_line.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let is_waiting = silent.0.lock().unwrap();
    drop(silent.1.wait_while(is_waiting, |is_waiting| !*is_waiting).unwrap());
    let pid = nix::unistd::Pid::from_raw(child.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let stopped = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&stopped.stderr).into_owned();
    assert_eq!(stopped.status.code(), Some(130), "{said}");
    assert!(said.contains(&format!("small: {answered} calls with")), "{said}");
    (folder, said)
}

#[test]
fn an_interrupt_stops_in_order_and_the_rest_is_played_later() {
    const ANSWERED: u32 = 5;
    let (folder, said) = interrupted(&RACE, ANSWERED);
    assert!(said.contains("run the same command again to go on"), "{said}");
    // The answers that came are kept, and are enough for as far as they go.
    let said = failure(&mut command(folder.path(), &[&RACE[..], &["--answers=only"]].concat()));
    assert!(said.contains(&format!("{ANSWERED} answered from the book")), "{said}");
}

#[test]
fn an_interrupt_keeps_what_is_paid_in_every_command() {
    const GAME: [&str; 4] = ["zombie-dice-race", "llm:small", "greedy", "--models=models.toml"];
    let (_, said) = interrupted(&[&["match"], &GAME[..], &["--seed=5"]].concat(), 2);
    assert!(!said.contains("no bot is charged") && said.contains("interrupted"), "{said}");
    interrupted(&[&["exam"], &GAME[..], &["--positions=20", "--dry-run"]].concat(), 2);
    interrupted(&[&["tournament"], &GAME[..], &["--blocks=2", "--dry-run"]].concat(), 2);
    interrupted(&["check-bot", GAME[0], GAME[1], GAME[3]], 2);
    // Without the seed the answers would be lost.
    let (folder, said) = interrupted(&[&["tournament"], &GAME[..], &["--blocks=2"]].concat(), 5);
    let seed = said.split("--seed ").nth(1).unwrap_or_else(|| panic!("{said}"));
    let seed = format!("--seed={}", seed.split([';', ' ', '\n']).next().unwrap());
    let offline = ["--blocks=2", "--answers=only", &seed];
    let again = failure(&mut command(folder.path(), &[&["tournament"], &GAME[..], &offline].concat()));
    assert!(again.contains("5 answered from the book"), "{again}");
    let (_, said) = interrupted(&["analyze", GAME[0], GAME[1], GAME[3], "--blocks=2"], 5);
    assert!(said.contains("run it again with --seed "), "{said}");
}

#[test]
fn a_killed_tournament_pays_nothing_twice() {
    const ANSWERED: usize = 5;
    let (pid, count) = (Arc::new(OnceLock::new()), AtomicUsize::new(0));
    let of = pid.clone();
    let server = Server::minded(move |asked| {
        if count.fetch_add(1, Ordering::SeqCst) != ANSWERED {
            return plays(asked);
        }
        nix::sys::signal::kill(*of.wait(), nix::sys::signal::Signal::SIGKILL).unwrap();
        Act::Silence
    });
    let prices = PRICES.replace("answers", "concurrency = 1\nsamples = \"match\"\nanswers");
    let folder = folder(&server, &prices);
    let mut arena = process(&RACE);
    arena.current_dir(folder.path()).env("TEST_KEY", KEY).env("XDG_CACHE_HOME", folder.path().join("cache"));
    let mut arena = arena.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    pid.set(nix::unistd::Pid::from_raw(arena.id() as i32)).unwrap();
    assert_eq!(arena.wait().unwrap().signal(), Some(9));
    let report = json_of(folder.path(), &RACE);
    let calls = entry(&report, "small")["usage"]["calls"].as_u64().unwrap() as usize;
    // Only the one without an answer was sent twice.
    assert!(calls > ANSWERED && server.asked().len() == calls + 1, "{calls} {}", server.asked().len());
}

#[test]
fn a_model_sits_an_exam_and_its_twin_is_asked_for_itself() {
    let server = Server::minded(plays);
    let folder = folder(&server, PRICES);
    let words = [
        "exam",
        "zombie-dice-race",
        "llm:small",
        "optimal",
        "--models=models.toml",
        "--positions=20",
        "--null",
        "--json",
    ];
    let exam = json_of(folder.path(), &words);
    let of =
        |name: &str| exam["entries"].as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap();
    let (one, other) = (of("small"), of("small again"));
    assert!(
        one["cost"].as_f64() > Some(0.0) && one["regret"].as_f64() > of("optimal")["regret"].as_f64(),
        "{exam}"
    );
    assert_eq!((&one["regret"], &one["unusable"]), (&other["regret"], &json!(0)), "the same mind twice");
    assert_eq!(server.asked().len(), 40);
    // Asked again, the book answers.
    assert_eq!(json_of(folder.path(), &words)["entries"], exam["entries"]);
    assert_eq!(server.asked().len(), 40);
}

#[test]
fn an_exam_compares_all_language_models_and_prices_the_difference() {
    // Another model that never goes on, and costs less.
    let timid = Server::minded(|_| Act::say(r#"{"reason": "x", "action": {"type": "stop"}}"#));
    let server = Server::minded(plays);
    let folder = folder(&server, PRICES);
    let cheap = PRICES.replace("models.small", "models.timid").replace("10.0", "1.0");
    let tables = [server.table("small", PRICES), timid.table("timid", &cheap)];
    fs::write(folder.path().join("models.toml"), tables.join("\n")).unwrap();
    let words = [
        "exam",
        "zombie-dice-race",
        "llm:small",
        "llm:timid",
        "optimal",
        "greedy",
        "random",
        "--models=models.toml",
        "--positions=40",
    ];
    let exam = json_of(folder.path(), &[&words[..], &["--json"]].concat());
    let names: Vec<&str> =
        exam["entries"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    let [small, timid] = ["small", "timid"].map(|name| names.iter().position(|own| *own == name).unwrap());
    assert!(small + 1 < timid, "the test needs others between the two: {names:?}");
    let text = output(&mut command(folder.path(), &words));
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("small is better than timid") || flat.contains("small and timid cannot"), "{text}");
    assert!(!flat.contains("optimal is better than random"), "{text}");
    assert!(flat.contains("(neighbours in rank and language models only; --html and --json have all pairs)"));
    assert!(flat.contains("No model is both cheaper and better than these: timid, small."), "{text}");
    assert!(flat.contains("small instead of timid: 0.00009 more and "), "{text}");
    assert!(flat.contains(" wins for each further unit of money."), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn tables_that_ask_alike_are_no_null_and_a_note_says_so() {
    let server = Server::minded(plays);
    let folder = folder(&server, PRICES);
    let tables = ["small", "same", "other"].map(|name| {
        let lines = PRICES.replace("models.small", &format!("models.{name}"));
        server.table(
            name,
            &if name == "other" { lines.replace("answers", "retries = 0\nanswers") } else { lines },
        )
    });
    fs::write(folder.path().join("models.toml"), tables.join("\n")).unwrap();
    let exam = |bots: &[&str]| {
        let words = [&["exam", "zombie-dice-race", "--models=models.toml", "--positions=20"], bots].concat();
        let said = command(folder.path(), &words).assert().success();
        String::from_utf8(said.get_output().stderr.clone()).unwrap()
    };
    let said = exam(&["llm:small", "llm:same"]);
    let note = "note: the tables small and same ask alike, so they share their answers: name one twice";
    assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains(note), "{said}");
    assert_eq!(server.asked().len(), 20);
    // The same entry twice is asked twice; another table is another question, or might be.
    for bots in [["llm:small", "b=llm:small"], ["llm:small", "llm:other"]] {
        let said = exam(&bots);
        assert!(!said.contains("ask alike"), "{said}");
    }
}

#[test]
fn a_dead_or_dear_model_stops_nobody_else_in_an_exam() {
    let (server, dead) = (Server::minded(plays), Server::scripted([Act::error(401, "no such key")]));
    let folder = folder(&server, PRICES);
    let more = PRICES.replace("models.small", "models.dear") + "\n";
    let tables = [
        server.table("small", "answers = \"schema\""),
        server.table("dear", &more.replace("answers", "concurrency = 1\nbudget = 0.0115\nanswers")),
        dead.table("dead", "answers = \"schema\"\ninput_price = 0\noutput_price = 0"),
    ];
    fs::write(folder.path().join("models.toml"), tables.join("\n")).unwrap();
    let words = [
        "exam",
        "zombie-dice-solo",
        "llm:dead",
        "llm:dear",
        "llm:small",
        "greedy",
        "--models=models.toml",
        "--positions=20",
        "--csv=e.csv",
        "--html=e.html",
        "--svg=e.svg",
        "--force",
    ];
    let result = command(folder.path(), &[&words[..], &["--json"]].concat()).assert().code(1);
    let said = String::from_utf8(result.get_output().stderr.clone()).unwrap();
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("the exam is not complete") && flat.contains("dead answered 0 of 20"), "{said}");
    assert!(flat.contains("dear answered") && flat.contains("budget of dear"), "{said}");
    let exam: Value = serde_json::from_slice(&result.get_output().stdout).unwrap();
    let of =
        |name: &str| exam["entries"].as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap();
    assert_eq!(exam["complete"], false);
    for name in ["small", "greedy"] {
        assert_eq!((&of(name)["answered"], &of(name)["complete"]), (&20.into(), &true.into()), "{name}");
        assert!(of(name)["rank"]["worst"].as_u64() <= Some(2), "{name}");
    }
    for name in ["dead", "dear"] {
        assert_eq!((&of(name)["complete"], &of(name)["rank"]), (&false.into(), &Value::Null), "{name}");
        assert!(of(name)["stopped"].is_string(), "{name}");
    }
    let answered = of("dear")["answered"].as_u64().unwrap();
    assert!((1..20).contains(&answered), "{answered}");
    // No prices: nobody knows. Prices of 0: nothing.
    assert!(of("small")["cost"].is_null() && of("small")["cost_per_decision"].is_null());
    assert_eq!((of("dead")["cost"].as_f64(), of("greedy")["cost"].as_f64()), (Some(0.0), Some(0.0)));

    let read = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
    let not_complete = format!("not complete: answered {answered} of 20");
    assert!(read("e.html").contains(&not_complete));
    assert!(read("e.svg").contains(&format!("dear (not complete: {answered} of 20)")), "{}", read("e.svg"));
    assert!(read("e.svg").contains("small (price unknown)"));
    let row = read("e.csv").lines().find(|line| line.starts_with("dear,")).unwrap().to_owned();
    assert!(row.starts_with(&format!("dear,llm:dear,,,false,{answered},")), "{row}");
    let text = command(folder.path(), &words).assert().code(1);
    let text = String::from_utf8(text.get_output().stdout.clone()).unwrap();
    // What was kept costs nothing now, so only the dead one is not complete.
    assert!(text.contains("not complete: answered 0 of 20") && !text.contains(&not_complete), "{text}");
    assert!(text.contains("  ?"), "{text}");
    assert_eq!(text.lines().find(|line| line.chars().count() > 80), None, "{text}");
}
