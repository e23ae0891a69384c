//! `solve`, `analyze` and perfect players in the arena, through the binary.

use crate::{
    program::{self, necrodome},
    terminal::Terminal,
};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::Stdio,
};

fn output(words: &[&str]) -> String {
    program::output(&mut necrodome(words))
}

fn json(words: &[&str]) -> Value {
    serde_json::from_str(&output(words)).unwrap()
}

fn refusal(code: i32, words: &[&str]) -> String {
    program::refusal(&mut necrodome(words), code) + "\n"
}

fn value(words: &[&str]) -> f64 {
    let words: Vec<&str> = ["solve"].iter().chain(words).chain(&["--json"]).copied().collect();
    json(&words)["value"].as_f64().unwrap()
}

#[test]
fn values_are_those_that_are_known() {
    assert!((value(&["zombie-dice-solo"]) - 2.258550969970581).abs() < 1e-14);
    assert!((value(&["zombie-dice-race"]) - 0.565961337740).abs() < 1e-12);
    assert!((value(&["tokyo"]) - 0.549538503357).abs() < 1e-12);
    let document = json(&["solve", "zombie-dice-race", "--scores", "7,9", "--json"]);
    for key in ["game", "options", "value", "states", "seconds"] {
        assert!(!document[key].is_null(), "{key} is missing in {document}");
    }
    let text = output(&["solve", "zombie-dice-solo"]);
    assert!(text.starts_with("2.258550969971  expected score"), "{text}");
    assert!(text.contains("    0  0.307129"), "{text}");
}

#[test]
fn scores_and_seats_fit_each_other() {
    // Whoever is ahead is better off, and a shared chance is a whole one.
    let race = |scores| value(&["zombie-dice-race", "--scores", scores]);
    assert!(race("9,7") > race("7,7") && race("7,7") > race("7,9"));
    let table = |scores, seat| value(&["zombie-dice", "--scores", scores, "--seat", seat]);
    assert!(table("12,0", "first") > table("0,12", "first"));
    // One brain behind the first's 13: the second's last turn. Level in a tiebreak it is better.
    assert!(table("13,13", "second") > table("12,13", "second"));
    let until_broken = value(&["zombie-dice", "--set", "tiebreak=until_broken"]);
    assert!((until_broken - table("0,0", "first")).abs() > 1e-5);
    let recycled = value(&["zombie-dice-solo", "--set", "out_of_dice=recycle_brains"]);
    assert!(recycled > value(&["zombie-dice-solo"]));
}

#[test]
fn what_cannot_be_solved_is_refused_with_a_hint() {
    for (words, text) in [
        (&["solve", "last-bullet"][..], "expected one of zombie-dice, "),
        (&["solve", "tokyo", "--set", "max_turns=10"], "expected max_turns=none"),
        (&["solve", "zombie-dice-race", "--set", "max_rounds=10"], "200 and more"),
        (&["solve", "zombie-dice-race", "--scores", "13,0"], "--scores 13,0: the race is over"),
        (
            &["solve", "zombie-dice-race", "--seat", "first"],
            "--seat first: zombie-dice-race has the same value in both seats",
        ),
        (&["solve", "zombie-dice", "--scores", "13,5"], "with 13 banked there is no turn but in a tiebreak"),
        (&["solve", "zombie-dice", "--scores", "14,13", "--seat", "second"], "the first cannot be behind"),
        (&["solve", "zombie-dice-solo", "--scores", "1,2"], "without scores and seats"),
        (&["solve", "tokyo", "--scores", "1,2"], "--scores 1,2: points and seats alone make no position"),
        (&["solve", "tokio"], "did you mean tokyo?"),
        (&["solve", "zombie-dice", "--set", "tiebreak=never"], "tiebreak"),
        (&["analyze", "tokyo"], "hint: for example: necrodome analyze tokyo random\n"),
        (&["analyze", "tokyo"], "one of random, angry, point-hunter, optimal\n"),
        (
            &["analyze", "tokyo", "greedy"],
            "tokyo has no bot \"greedy\": expected one of random, angry, point-hunter",
        ),
        (&["analyze", "last-bullet", "runner"], "is not solved"),
        (&["analyze", "tokyo", "angry", "--set", "max_turns=10"], "expected max_turns=none"),
        (&["analyze", "zombie-dice-solo", "greedy", "--against", "random"], "is for one"),
        (&["analyze", "tokyo", "angryy"], "did you mean angry?"),
        (&["analyze", "tokyo", "optimal:x=1"], "optimal:x=1"),
        (&["analyze", "tokyo", "angry", "--svg", "x.svg"], "are for one match"),
        (&["analyze", "some.replay", "--blocks", "3"], "are for bots"),
        (&["analyze", "some.replay", "--seed", "3"], "are for bots"),
    ] {
        let error = refusal(2, words);
        assert!(error.contains(text), "{words:?}: {error}");
    }
    assert!(refusal(2, &["analyze", "nowhere.replay"]).contains("nowhere.replay"));
    let scores = necrodome(&["solve", "zombie-dice-race", "--scores", "7"]).assert().code(2);
    let error = String::from_utf8(scores.get_output().stderr.clone()).unwrap();
    assert!(error.contains("expected two scores such as 7,9"), "{error}");
}

/// A match of built-in bots in a file.
fn replay(folder: &Path, game: &str, bots: &[&str], set: &[&str]) -> String {
    let path = folder.join("a.replay").to_string_lossy().into_owned();
    let mut words = vec!["match", game];
    words.extend(bots);
    for option in set {
        words.extend(["--set", option]);
    }
    words.extend(["--seed", "5", "--quiet", "--force", "--replay", &path]);
    necrodome(&words).assert().success();
    path
}

#[test]
fn a_ledger_adds_up_in_every_solved_game() {
    let folder = tempfile::tempdir().unwrap();
    for (game, bots, set) in [
        ("zombie-dice-solo", &["greedy"][..], &[][..]),
        ("zombie-dice-solo", &["greedy"], &["out_of_dice=recycle_brains", "first_roll=mandatory"]),
        ("zombie-dice-race", &["greedy", "cautious"], &[]),
        ("zombie-dice", &["random", "greedy"], &["tiebreak=until_broken"]),
        ("tokyo", &["angry", "random"], &[]),
    ] {
        let path = replay(folder.path(), game, bots, set);
        let ledger = json(&["analyze", &path, "--json"]);
        let number = |value: &Value| value.as_f64().unwrap();
        let (start, result) = (number(&ledger["start"]), number(&ledger["result"]));
        assert!((number(&ledger["sum"]) - (result - start)).abs() < 1e-9, "{game}");
        // The same from the parts.
        let seats = ledger["seats"].as_array().unwrap();
        let other = seats.get(1).map_or(0.0, |seat| number(&seat["regret"]));
        let parts = number(&seats[0]["luck"]) - number(&seats[0]["regret"]) + other;
        assert!((parts - (result - start)).abs() < 1e-9, "{game}: {parts}");
        for entry in ledger["entries"].as_array().unwrap().iter().filter(|entry| entry["type"] == "decision")
        {
            let options = entry["options"].as_array().unwrap().iter().map(|option| number(&option["value"]));
            let best = options.fold(f64::NEG_INFINITY, f64::max);
            assert!((best - number(&entry["value"]) - number(&entry["regret"])).abs() < 1e-12);
        }
        let text = output(&["analyze", &path]);
        assert!(text.contains("at the start") && text.contains("mistakes of"), "{text}");
    }
}

#[test]
fn a_ledger_tells_the_worst_decisions_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = replay(folder.path(), "zombie-dice-race", &["greedy", "cautious"], &[]);
    insta::assert_snapshot!(output(&["analyze", &path]));
    let picture = folder.path().join("a.svg");
    necrodome(&["analyze", &path, "--svg", picture.to_str().unwrap()]).assert().success();
    let svg = fs::read_to_string(&picture).unwrap();
    assert!(svg.contains("chance of greedy to win, %") && svg.matches("<circle").count() == 5, "{svg}");
    // A store is no replay, a replay of a game that is not solved, and one that was changed.
    let store = folder.path().join("a.store");
    let store = store.to_str().unwrap();
    output(&["tournament", "tokyo", "angry", "random", "--blocks", "1", "--seed", "1", "--store", store]);
    assert!(refusal(2, &["analyze", store]).contains("--from"));
    let other = replay(folder.path(), "infection", &["careful", "spreader", "random"], &[]);
    assert!(refusal(2, &["analyze", &other]).contains("infection is not solved"));
    let table = replay(folder.path(), "zombie-dice", &["greedy", "cautious", "random"], &[]);
    assert!(refusal(2, &["analyze", &table]).contains("two seats, not for 3"));
    fs::write(&other, "not a replay").unwrap();
    assert!(refusal(2, &["analyze", &other]).contains("not a necrodome replay"));
}

#[test]
fn a_stored_match_can_be_analyzed() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("a.store");
    let store = store.to_str().unwrap();
    output(&["tournament", "tokyo", "optimal", "angry", "--blocks", "5", "--seed", "1", "--store", store]);
    let ledger = json(&["analyze", store, "--from", "3.1", "--json"]);
    // The perfect player makes no mistakes.
    let seats = ledger["seats"].as_array().unwrap();
    let optimal = seats.iter().find(|seat| seat["name"] == "optimal").unwrap();
    assert!(optimal["regret"].as_f64().unwrap().abs() < 1e-9);
}

#[test]
fn a_profile_finds_habits_and_what_they_cost() {
    let words = ["analyze", "zombie-dice-race", "greedy", "--blocks", "300", "--seed", "1"];
    let text = output(&words);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
    let profile = json(&[&words[..], &["--json"]].concat());
    let number = |value: &Value| value.as_f64().unwrap();
    assert_eq!(profile["matches"], 600);
    assert_eq!(profile["habits"].as_array().unwrap().len(), 10);
    // Against the perfect player a bot loses what its decisions cost, on average.
    let without_luck = number(&profile["luck_adjusted"]["mean"]);
    assert!((without_luck + number(&profile["regret_per_match"]["mean"]) - 0.5).abs() < 0.01);
    assert!(number(&profile["without_habits"]["gain"]["low"]) > 0.0);
    let exact = number(&profile["exact"]["against_optimal"]["mean"]);
    let (low, high) = (number(&profile["luck_adjusted"]["low"]), number(&profile["luck_adjusted"]["high"]));
    let half = (high - low) / 2.0;
    assert!((exact - without_luck).abs() < 2.5 * half, "{exact} and {without_luck} +- {half}");
}

#[test]
fn intervals_hold_nothing_impossible() {
    // Two blocks: what they leave open is more than there is.
    let words = ["analyze", "zombie-dice-race", "random", "--blocks=2", "--seed=1", "--json"];
    let profile = json(&words);
    let kinds = profile["kinds"].as_array().unwrap().iter().map(|kind| &kind["regret_per_match"]);
    let costs = [&profile["regret_per_match"], &profile["regret_per_decision"]].into_iter().chain(kinds);
    for cost in costs {
        assert!(cost["low"].as_f64().is_none_or(|low| low >= 0.0), "{profile}");
    }
    let most = profile["regret_per_match"]["high"].as_f64().unwrap();
    for kind in profile["kinds"].as_array().unwrap() {
        let high = kind["regret_per_match"]["high"].as_f64();
        assert!(high.is_none_or(|high| high <= most), "a part is no more than the whole: {profile}");
    }
    for share in [&profile["result"], &profile["luck_adjusted"]] {
        let [low, high] = ["low", "high"].map(|end| share[end].as_f64().unwrap());
        assert!(0.0 <= low && high <= 1.0, "{profile}");
    }
    assert!(profile["luck_adjusted"]["low"] == 0.0, "an end that was cut off: {profile}");
}

#[test]
fn a_bot_that_has_lost_every_match_may_still_win_one() {
    let profile = json(&["analyze", "tokyo", "angry", "--blocks=5", "--seed=1", "--json"]);
    let number = |value: &Value| value.as_f64().unwrap();
    assert_eq!(profile["result"]["mean"], 0.0, "the test needs a bot without luck: {profile}");
    assert!(number(&profile["result"]["high"]) > 0.3, "{profile}");
    // It gets what its decisions leave over.
    let fair = number(&profile["luck_adjusted"]["mean"]);
    assert!((fair + number(&profile["regret_per_match"]["mean"]) - 0.5).abs() < 0.01, "{profile}");
    assert!(number(&profile["luck_adjusted"]["high"]) > fair, "{profile}");
}

#[test]
fn two_bots_that_take_their_time_meet_the_limit_on_rounds() {
    // Both rarely bank anything: many matches end at the limit, and the exact value knows it.
    let set = ["--set", "max_rounds=200", "--set", "out_of_dice=recycle_brains"];
    let bots = ["stop-at:brains=14", "stop-at:brains=20"];
    let words =
        [&["analyze", "zombie-dice-race", bots[0], "--against", bots[1], "--exact", "--json"], &set[..]]
            .concat();
    let exact = json(&words)["exact"]["against"]["mean"].as_f64().unwrap();
    let words = [
        &["tournament", "zombie-dice-race", bots[0], bots[1], "--blocks", "1000", "--seed", "1", "--json"],
        &set[..],
    ];
    let played = json(&words.concat());
    let entry =
        played["standings"].as_array().unwrap().iter().find(|entry| entry["name"] == bots[0]).unwrap();
    let rate = &entry["win_rate"];
    let half = (rate["high"].as_f64().unwrap() - rate["low"].as_f64().unwrap()) / 2.0;
    let played = rate["mean"].as_f64().unwrap();
    assert!((exact - played).abs() < 2.1 * half, "{exact} and {played} +- {half}");
    let never =
        ["analyze", "zombie-dice-race", "stop-at:brains=0", "--against", "stop-at:brains=0", "--exact"];
    let error = refusal(1, &[&never[..], &["--set", "max_rounds=none"]].concat());
    assert!(error.contains("has no end"), "{error}");
}

#[test]
fn habits_are_mended_on_matches_that_they_were_not_found_on() {
    // With few matches every mistake looks like a habit; who is measured on the same matches then looks perfect.
    let profile = json(&["analyze", "zombie-dice-solo", "greedy", "--blocks", "40", "--seed", "1", "--json"]);
    let cured = &profile["without_habits"]["luck_adjusted"];
    assert!(cured["high"].as_f64().unwrap() - cured["low"].as_f64().unwrap() > 0.01, "{cured}");
}

#[test]
fn the_perfect_player_has_no_habits() {
    for game in ["zombie-dice-solo", "zombie-dice", "tokyo"] {
        let profile = json(&["analyze", game, "optimal", "--blocks", "20", "--seed", "1", "--json"]);
        assert!(profile["regret_per_match"]["mean"].as_f64().unwrap().abs() < 1e-9, "{game}");
        assert_eq!(profile["habits"].as_array().unwrap().len(), 0, "{game}");
    }
}

#[test]
fn exact_values_of_bots() {
    let exact =
        json(&["analyze", "zombie-dice-race", "greedy", "--against", "cautious", "--exact", "--json"]);
    let mean = |key: &str| exact["exact"][key]["mean"].as_f64().unwrap();
    // Known from an evaluation of 4.3 million views, and from simulations (crates/solve/tests).
    assert!((mean("against_optimal") - 0.406645902380).abs() < 1e-11);
    assert!((mean("against") - 0.590111123464).abs() < 1e-11);
    assert!(mean("best_response") > 1.0 - mean("against_optimal"));
    let solo = json(&["analyze", "zombie-dice-solo", "cautious", "--exact", "--json"]);
    assert!((solo["exact"]["score"].as_f64().unwrap() - 1.815415018345).abs() < 1e-11);
    let error = refusal(1, &["analyze", "zombie-dice-race", "random", "--exact"]);
    assert!(error.contains("answers differently when it is asked again"), "{error}");
    let error = refusal(2, &["analyze", "tokyo", "angry", "--exact"]);
    assert!(error.contains("zombie-dice-solo and zombie-dice-race"), "{error}");
    // It is said which of the two it is.
    let error = refusal(1, &["analyze", "zombie-dice-race", "greedy", "--against", "random", "--exact"]);
    assert!(error.contains("no exact value of random: it answers differently"), "{error}");
    let random = json(&["analyze", "zombie-dice-solo", "random", "--blocks", "20", "--json"]);
    assert!(random["inexact"].as_str().unwrap().contains("differently"), "{random}");
}

/// A Python bot for solo that stops at three brains; `ready` and `decide` are pieces of the program.
fn python_bot(folder: &Path, name: &str, ready: &str, decide: &str) -> String {
    let path = folder.join(name);
    let program = format!(
        "import json, sys\n\
         calls = 0\n\
         for line in sys.stdin:\n    \
             message = json.loads(line)\n    \
             if message['type'] == 'hello':\n        \
                 print(json.dumps({{'type': 'ready', 'protocol': 1{ready}}}), flush=True)\n    \
             elif message['type'] == 'decide':\n        \
                 calls += 1\n        \
                 turn = message['view']['turn']\n        \
                 action = {decide}\n        \
                 print(json.dumps({{'id': message['id'], 'action': {{'type': action}}}}), flush=True)\n"
    );
    fs::write(&path, program).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn a_process_that_calls_itself_deterministic_has_an_exact_value_too() {
    let folder = tempfile::tempdir().unwrap();
    let stops = "'stop' if turn['brains'] >= 3 else 'go'";
    let promise = ", 'deterministic': True";
    let solo = |bot: &str| necrodome(&["analyze", "zombie-dice-solo", bot, "--exact", "--json"]).assert();
    let honest = python_bot(folder.path(), "honest.py", promise, stops);
    let exact: Value = serde_json::from_slice(&solo(&honest).success().get_output().stdout).unwrap();
    let same = json(&["analyze", "zombie-dice-solo", "stop-at:brains=3", "--exact", "--json"]);
    assert_eq!(exact["exact"]["score"], same["exact"]["score"]);

    let error = |bot: &str| String::from_utf8(solo(bot).code(1).get_output().stderr.clone()).unwrap();
    let silent = python_bot(folder.path(), "silent.py", "", stops);
    assert!(error(&silent).contains("deterministic"), "{}", error(&silent));
    let liar = python_bot(
        folder.path(),
        "liar.py",
        promise,
        "'stop' if turn['brains'] >= 3 or calls % 5 == 0 else 'go'",
    );
    assert!(error(&liar).contains("answers differently"), "{}", error(&liar));
    let broken = python_bot(folder.path(), "broken.py", promise, "1 / 0");
    assert!(error(&broken).contains("did not answer"), "{}", error(&broken));
}

#[test]
fn a_bot_that_does_not_start_has_no_profile() {
    let folder = tempfile::tempdir().unwrap();
    let bot = folder.path().join("broken.py");
    fs::write(&bot, "def act(:\n").unwrap();
    let bot = bot.to_str().unwrap();
    let race = ["analyze", "zombie-dice-race", bot, "--blocks", "5"];
    let rival = ["analyze", "zombie-dice-race", "greedy", "--against", bot, "--blocks", "5"];
    for words in
        [&race[..], &rival, &["analyze", "zombie-dice-solo", bot, "--exact"], &["analyze", "tokyo", bot]]
    {
        let result = necrodome(words).assert().code(1);
        let (out, error) = (&result.get_output().stdout, &result.get_output().stderr);
        let (out, error) = (String::from_utf8_lossy(out), String::from_utf8_lossy(error));
        assert!(error.starts_with("error: broken did not start\nhint: "), "{words:?}: {error}");
        assert!(out.contains("fault: broken: no_start") && out.contains("log: broken: SyntaxError"), "{out}");
        assert!(!out.contains("cost of a match"), "{words:?}: {out}");

        let result = necrodome(&[words, &["--json"]].concat()).assert().code(1);
        let document: Value = serde_json::from_slice(&result.get_output().stdout).unwrap();
        assert_eq!(document["faults"][0]["kind"], "no_start", "{document}");
        assert!(document["logs"].to_string().contains("SyntaxError"), "{document}");
        assert!(document["regret_per_match"].is_null() && document["exact"].is_null(), "{document}");
    }
}

#[test]
fn the_faults_and_the_log_of_a_bot_are_part_of_its_profile() {
    let folder = tempfile::tempdir().unwrap();
    let decide = "'stop' if turn['brains'] else (sys.stderr.write('onwards\\n'), 'dance')[1]";
    let bot = python_bot(folder.path(), "dancer.py", "", decide);
    let words = ["analyze", "zombie-dice-solo", &bot, "--blocks", "5", "--seed", "1"];
    let told = output(&words);
    assert!(told.contains("dancer: 5 matches") && told.contains("cost of a match"), "{told}");
    assert!(
        told.contains("fault: dancer: illegal ") && told.contains("times, first in block 0, match 0:\n  "),
        "{told}"
    );
    assert!(told.contains("log: dancer: onwards"), "{told}");
    let document = json(&[&words[..], &["--json"]].concat());
    assert_eq!(document["faults"][0]["name"], "dancer", "{document}");
    assert!(document["faults"][0]["count"].as_u64().unwrap() >= 5, "{document}");
    assert_eq!(document["logs"][0]["lines"][0], "onwards", "{document}");
    assert_eq!(document["matches"], 5);
}

/// Takes its time for every one of thousands of questions.
fn slow_bot(folder: &Path) -> String {
    let decide = "(__import__('time').sleep(0.02), 'go')[1]";
    python_bot(folder, "slow.py", ", 'deterministic': True", decide)
}

#[test]
fn a_slow_survey_says_how_long_it_takes_and_ends_on_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    for game in ["zombie-dice-solo", "zombie-dice-race"] {
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("necrodome"))
            .args(["analyze", game, &slow_bot(folder.path()), "--exact"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        assert!(line.starts_with("asking: ") && line.contains("%, ETA ") && line.ends_with(" s"), "{line}");
        let pid = nix::unistd::Pid::from_raw(child.id() as i32);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
        let last = lines.map_while(Result::ok).last();
        assert_eq!(last.as_deref(), Some("error: interrupted"));
        let result = child.wait_with_output().unwrap();
        assert_eq!(result.status.code(), Some(130));
        assert_eq!(String::from_utf8_lossy(&result.stdout), "");
    }
}

#[test]
fn a_slow_survey_shows_a_bar_on_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::run(&["analyze", "zombie-dice-race", &slow_bot(folder.path()), "--exact"]);
    terminal.expect("asking ");
    terminal.expect("ETA ");
    terminal.press("\u{3}");
    assert_eq!(terminal.exit_code(), 130);
    terminal.expect("error: interrupted");
}

#[test]
fn a_policy_is_an_archive_that_numpy_loads() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    for (game, name) in [
        ("zombie-dice-solo", "solo.npz"),
        ("zombie-dice-race", "race.npz"),
        ("zombie-dice", "table.npz"),
        ("tokyo", "tokyo.npz"),
    ] {
        necrodome(&["solve", game, "--policy", &file(name)]).assert().success();
    }
    // Read by the standard library alone, so that the test needs no numpy: the header of every array is checked and
    // the answers of some positions are compared with `solve`.
    let program = include_str!("policy.py");
    let script = folder.path().join("policy.py");
    fs::write(&script, program).unwrap();
    let python = std::process::Command::new("python3").arg(&script).arg(folder.path()).output().unwrap();
    assert!(python.status.success(), "{}", String::from_utf8_lossy(&python.stderr));
    let read: Value = serde_json::from_slice(&python.stdout).unwrap();
    assert_eq!(read["race_value"].as_f64().unwrap(), value(&["zombie-dice-race", "--scores", "7,9"]));
    assert_eq!(read["solo_value"].as_f64().unwrap(), value(&["zombie-dice-solo"]));
    assert_eq!(
        read["table_second_value"].as_f64().unwrap(),
        value(&["zombie-dice", "--scores", "3,4", "--seat", "second"])
    );
    assert_eq!(read["tokyo_first_turn_value"].as_f64().unwrap(), value(&["tokyo"]));
    let unwritable = necrodome(&["solve", "zombie-dice-solo", "--policy", "/nowhere/x.npz"]).assert().code(1);
    assert!(String::from_utf8_lossy(&unwritable.get_output().stderr).contains("cannot write /nowhere/x.npz"));
}
