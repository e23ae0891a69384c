//! Bots as processes, end to end: whatever a bot in `bots/misbehaving` does is recorded under its name, harms nobody else, and
//! leaves no process behind, however the arena ends.

use crate::{hostile::rows, program::process};
use necrodome_arena::{
    lineup::built_in,
    replay::{self, Moment, Replay, Step},
};
use necrodome_rules::{
    bot::Bot,
    chance::Seeded,
    game::{Game, Move, Seat},
    last_bullet::LastBullet,
    zombie_dice::Table,
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

/// Never banks more than once in a while, so that the bot between two of it has many turns.
const OPPONENT: &str = "stop-at:brains=9";
/// With it the bot that crashes has used up its restarts long before the end.
const SEED: u64 = 5;
/// A bot is started once, and three times more.
const STARTS: usize = 4;
/// One that does not start is tried once more only.
const STARTS_OF_THE_DEAD: usize = 2;
/// What is kept of a bot's standard error.
const MAX_LOG: usize = 64 << 10;

fn bots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bots").canonicalize().unwrap()
}

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("process-bots-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a command that must succeed and say nothing on standard error but what it wrote.
fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8_lossy(&stderr));
    let calm = stderr.lines().all(|line| line.starts_with("wrote "));
    assert!(status.success() && calm, "{command:?}: {status}\n{stdout}\n{stderr}");
    stdout
}

fn run_json(command: &mut Command) -> Value {
    serde_json::from_str(&run(command)).unwrap()
}

/// A word that no other process on the machine has on its command line.
fn new_marker() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("necrodome-mark-{}-{}-end", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A misbehaving bot with arguments and a marker, which it does not care about.
fn misbehaving(bot: &str, marker: &str) -> String {
    let mut words = bot.split_whitespace();
    let file = bots().join("misbehaving").join(words.next().unwrap()).with_extension("py");
    let arguments: Vec<&str> = words.chain([marker]).collect();
    format!("cmd:python3 -u '{}' {}", file.display(), arguments.join(" "))
}

/// Command lines of all living processes that have the marker.
fn marked(marker: &str) -> Vec<Vec<String>> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let commands = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let words = |line: Vec<u8>| -> Vec<String> {
        line.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    };
    commands.map(words).filter(|words| words.iter().any(|word| word.contains(marker))).collect()
}

/// How many Python processes run this file under this marker.
fn running(file: &str, marker: &str) -> usize {
    let is_python = |words: &[String]| {
        Path::new(&words[0]).file_name().is_some_and(|f| f.to_string_lossy().starts_with("python"))
    };
    let runs = |words: &Vec<String>| is_python(words) && words.iter().any(|word| word.ends_with(file));
    marked(marker).iter().filter(|words| runs(words)).count()
}

/// Waits until something holds, but not for ever.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// What a bot's faults are to be.
#[derive(Clone, Copy, PartialEq)]
enum Expected {
    /// None: it plays as it should.
    Nothing,
    /// This one, and it plays on.
    Survivable(&'static str),
    /// One of these each time; it is started again, up to the limit, and then is out.
    Fatal(&'static [&'static str]),
    /// Output that nobody had asked for; what of it comes a moment too late is taken for an answer with a wrong id.
    Flood,
    /// Never came to play.
    NoStart,
    /// It plays as it should; this is told at the end.
    AtTheEnd(&'static str),
    /// Forgiven the first time, and garbage from then on.
    Chatty,
}

use Expected::{AtTheEnd, Chatty, Fatal, Flood, NoStart, Nothing, Survivable};

/// Every bot in the folder with what must come of it.
const MISBEHAVING: [(&str, Expected); 35] = [
    // The slow ones first.
    ("no_ready", NoStart),
    ("slow_start 60", NoStart),
    ("sleep", Fatal(&["timeout"])),
    ("bad_utf8", Fatal(&["garbage"])),
    ("chatter before", AtTheEnd("chatter")),
    ("chatter hello", AtTheEnd("chatter")),
    ("chatter start", AtTheEnd("chatter")),
    ("chatter after", AtTheEnd("chatter")),
    ("chatter always", Chatty),
    ("chatter again", Fatal(&["garbage"])),
    ("chatter only", Fatal(&["garbage"])),
    ("closes_stdout", Fatal(&["closed"])),
    ("crash", Fatal(&["crash"])),
    ("escapes", Fatal(&["crash"])),
    ("stops_parent", AtTheEnd("ignored_sigterm")),
    ("deep_json 100000", Fatal(&["oversized"])),
    ("deep_json 20000", Fatal(&["garbage"])),
    ("dies_at_start", NoStart),
    ("exit", Fatal(&["exit"])),
    ("files", Nothing),
    ("flood", Flood),
    ("fork_bomb", AtTheEnd("left_children")),
    ("forks", AtTheEnd("left_children")),
    ("garbage", Fatal(&["garbage"])),
    ("ignores_sigterm", AtTheEnd("ignored_sigterm")),
    ("illegal", Survivable("illegal")),
    // To fill a gigabyte takes about as much CPU time as a decision may.
    ("memory", Fatal(&["crash", "timeout"])),
    ("oversized", Fatal(&["oversized"])),
    ("peeks", Nothing),
    ("spin", Fatal(&["timeout"])),
    ("stderr_flood", Nothing),
    ("twice", Flood),
    ("wrong_id", Survivable("wrong_id")),
    ("wrong_id 0", Survivable("wrong_id")),
    ("wrong_id last", Survivable("wrong_id")),
];

/// A match of a misbehaving bot between two opponents.
struct Played {
    result: Value,
    code: Option<i32>,
    replay: PathBuf,
    left: Vec<Vec<String>>,
}

impl Played {
    fn new(bot: &str, folder: &Path) -> Self {
        let marker = new_marker();
        let replay = folder.join(format!("{marker}.replay"));
        let entry = misbehaving(bot, &marker);
        let seed = SEED.to_string();
        let words = [
            "match",
            "zombie-dice",
            OPPONENT,
            &entry,
            OPPONENT,
            "--seed",
            &seed,
            "--public-dice",
            "--json",
            "--replay",
        ];
        // Where nothing but limits keeps them from what they do: at the other levels some would not come to do it.
        let output =
            process(&words).arg(&replay).args(["--sandbox", "limits"]).current_dir(folder).output().unwrap();
        // At once: whoever has seen the result must not find a process of the bot any more.
        let left = marked(&marker);
        let result = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        Played { result, code: output.status.code(), replay, left }
    }

    /// Step and kind of the faults of a seat.
    fn faults(&self, seat: u64) -> Vec<(u64, &str)> {
        let faults = self.result["faults"].as_array().unwrap().iter().filter(|fault| fault["seat"] == seat);
        faults.map(|fault| (fault["step"].as_u64().unwrap(), fault["kind"].as_str().unwrap())).collect()
    }

    fn kinds(&self) -> Vec<&str> {
        self.faults(1).into_iter().map(|(_, kind)| kind).collect()
    }

    /// All that must hold after any match; the first thing that does not.
    fn check(&self, expected: Expected) -> Result<(), String> {
        let result = &self.result;
        if !self.left.is_empty() {
            return Err(format!("left behind: {:?}", self.left));
        }
        if result["places"].as_array().is_none_or(|places| places.len() != 3) || result["turns"] == 0 {
            return Err(format!("no result: {result}"));
        }
        if !self.faults(0).is_empty() || !self.faults(2).is_empty() {
            return Err(format!("faults of those who did nothing: {result}"));
        }
        if result["faults"].as_array().unwrap().iter().any(|fault| fault["detail"] == "") {
            return Err("a fault without a detail".into());
        }
        if self.code != Some(i32::from(expected == NoStart)) {
            return Err(format!("exit code {:?}", self.code));
        }
        if !has_expected_kinds(&self.kinds(), expected) {
            return Err(format!("faults: {}", result["faults"]));
        }
        self.check_moves()
    }

    /// The opponents play as they do without a misbehaving bot among them, and the bot forfeits exactly the decisions
    /// that it has failed.
    fn check_moves(&self) -> Result<(), String> {
        let replay: Replay<Table> = replay::open(&self.replay)
            .and_then(replay::Unpacked::parse)
            .map_err(|error| error.to_string())?;
        let mut bots: Vec<Box<dyn Bot<Table>>> = (0..3)
            .map(|seat| {
                built_in(&OPPONENT.parse().unwrap(), &Default::default(), Seeded::new(SEED, "bot", seat))
                    .unwrap()
            })
            .collect();
        let failed = self.faults(1);
        let mut before: Option<Table> = None;
        let mut wrong = Ok(());
        let verified = replay.follow(|Moment { number, step, game, .. }| {
            let moves = step.iter().flat_map(|step| &step.moves);
            for (&seat, came) in before.iter().flat_map(|game| game.to_act()).zip(moves) {
                let view = before.as_ref().unwrap().view(seat);
                let is_right = match seat {
                    Seat(1) => {
                        let has_failed = failed.iter().any(|&(step, _)| step + 1 == number as u64);
                        has_failed == (*came == Move::Forfeit)
                    }
                    other => *came == Move::Act(bots[other.index()].act(&view)),
                };
                if !is_right && wrong.is_ok() {
                    wrong = Err(format!("step {number}, seat {seat}: {came:?}"));
                }
            }
            before = Some(game.clone());
            Ok(())
        });
        verified.map_err(|error| error.to_string())?;
        wrong
    }
}

/// All steps of a replay.
fn steps_of<G: Game>(replay: &Replay<G>) -> Vec<Step<G::Action>> {
    let mut steps = Vec::new();
    let follow = |moment: Moment<G>| {
        steps.extend(moment.step.cloned());
        Ok(())
    };
    replay.follow(follow).unwrap();
    steps
}

fn has_expected_kinds(kinds: &[&str], expected: Expected) -> bool {
    let out_after = |starts: usize, names: &[&str]| {
        let (failed, out) = kinds.split_at(kinds.len().min(starts));
        !failed.is_empty()
            && failed.iter().all(|kind| names.contains(kind))
            && out.iter().all(|kind| *kind == "out")
    };
    match expected {
        Nothing => kinds.is_empty(),
        Survivable(name) => kinds.len() > 1 && kinds.iter().all(|kind| *kind == name),
        Fatal(names) => out_after(STARTS, names),
        Flood => {
            kinds.contains(&"flood") && kinds.iter().all(|kind| ["flood", "wrong_id", "out"].contains(kind))
        }
        NoStart => out_after(STARTS_OF_THE_DEAD, &["no_start"]) && kinds.len() > STARTS_OF_THE_DEAD,
        AtTheEnd(name) => kinds == [name],
        Chatty => match kinds {
            [kinds @ .., "chatter"] => kinds.len() > 1 && has_expected_kinds(kinds, Fatal(&["garbage"])),
            _ => false,
        },
    }
}

/// Plays all matches, the ones that mostly wait beside the others.
fn play_all(folder: &Path) -> Vec<Played> {
    const SLOW: usize = 3;
    thread::scope(|scope| {
        let slow: Vec<_> = MISBEHAVING[..SLOW]
            .iter()
            .map(|(bot, _)| scope.spawn(move || Played::new(bot, folder)))
            .collect();
        let quick: Vec<Played> =
            MISBEHAVING[SLOW..].iter().map(|(bot, _)| Played::new(bot, folder)).collect();
        slow.into_iter().map(|thread| thread.join().unwrap()).chain(quick).collect()
    })
}

#[test]
fn every_misbehaviour_is_recorded_hurts_nobody_else_and_leaves_no_process() {
    let folder = folder("all");
    let played = play_all(&folder);
    let of = |bot: &str| &played[MISBEHAVING.iter().position(|(name, _)| *name == bot).unwrap()];
    let mut wrong = Vec::new();
    for (played, (bot, expected)) in played.iter().zip(MISBEHAVING) {
        if let Err(what) = played.check(expected) {
            wrong.push(format!("{bot}: {what}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    // The limit is reached, not only respected.
    for bot in ["crash", "exit", "garbage", "sleep", "spin"] {
        let kinds = of(bot).kinds();
        assert!(
            kinds.len() > STARTS && kinds[STARTS..].iter().all(|kind| *kind == "out"),
            "{bot}: {kinds:?}"
        );
    }
    // After a restart it is the next decision that is asked, and a good answer counts: each process fails its third.
    let replay: Replay<Table> = replay::open(&of("crash").replay).unwrap().parse().unwrap();
    let steps = steps_of(&replay);
    let of_bot = |step: &u64| steps[*step as usize].moves == [Move::Forfeit];
    assert!(of("crash").faults(1).iter().all(|(step, _)| of_bot(step)));
    assert!(
        of("crash").result["scores"][1].as_i64().unwrap() > 0,
        "it has banked brains between the crashes"
    );
    assert_eq!(of("dies_at_start").result["scores"][1], 0);

    // Those who play as they should all play the same match.
    let same = ["peeks", "files", "stderr_flood", "forks", "fork_bomb", "ignores_sigterm"];
    let forgiven = ["chatter before", "chatter hello", "chatter start", "chatter after"];
    for bot in same.into_iter().chain(forgiven) {
        for field in ["places", "scores", "turns"] {
            assert_eq!(of(bot).result[field], of("peeks").result[field], "{bot}: {field}");
        }
    }
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn every_misbehaving_bot_is_tested() {
    let one_by_one =
        MISBEHAVING.iter().filter_map(|(bot, _)| bot.split_whitespace().next()).map(str::to_owned);
    // The hostile ones, and what they share.
    let hostile = rows().into_iter().map(|row| row.file).chain(["hostile".to_owned()]);
    let tested: BTreeSet<String> = one_by_one.chain(hostile).collect();
    let files = fs::read_dir(bots().join("misbehaving")).unwrap().flatten().map(|entry| entry.path());
    let there: BTreeSet<String> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(tested, there);
}

/// An arena in the middle of a match.
fn start_match(bots: &[String]) -> Child {
    let mut words = vec!["match", "zombie-dice", "--json", "--seed", "1", "--public-dice"];
    words.extend(bots.iter().map(String::as_str));
    // As a shell starts jobs in the background: SIGINT is ignored, and must end the match all the same.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' INT; exec \"$@\"", "sh"]).arg(assert_cmd::cargo::cargo_bin!("necrodome"));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn send(signal: Signal, arena: &mut Child) {
    assert!(arena.try_wait().unwrap().is_none(), "the match was over before it could be interrupted");
    kill(Pid::from_raw(arena.id() as i32), signal).unwrap();
    assert_eq!(arena.wait().unwrap().signal(), Some(signal as i32));
}

#[test]
fn no_process_is_left_when_the_arena_is_killed_in_the_middle_of_a_match() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT] {
        let marker = new_marker();
        // One has left its children behind, the other hears nothing any more.
        let mut arena = start_match(&[misbehaving("forks", &marker), misbehaving("sleep", &marker)]);
        wait_until("the bots and their children run", || {
            running("forks.py", &marker) >= 4 && running("sleep.py", &marker) >= 1
        });
        send(signal, &mut arena);
        wait_until(&format!("no process is left after {signal}"), || marked(&marker).is_empty());
    }
}

#[test]
fn a_bot_that_ignores_sigterm_does_not_outlive_the_arena_either() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM] {
        let marker = new_marker();
        let mut arena =
            start_match(&[misbehaving("ignores_sigterm", &marker), misbehaving("no_ready", &marker)]);
        wait_until("the bots run", || {
            running("ignores_sigterm.py", &marker) >= 1 && running("no_ready.py", &marker) >= 1
        });
        send(signal, &mut arena);
        wait_until(&format!("no process is left after {signal}"), || marked(&marker).is_empty());
    }
}

#[test]
fn no_process_is_left_when_the_arena_is_killed_while_a_bot_is_being_started() {
    for round in 0..12 {
        let marker = new_marker();
        let mut arena = start_match(&[misbehaving("no_ready", &marker), OPPONENT.into()]);
        // The arena itself has the marker too. Each round waits a little longer, from before the first stage on.
        wait_until("the arena runs", || !marked(&marker).is_empty());
        if round > 0 {
            wait_until("the first stage runs", || marked(&marker).len() > 1);
        }
        thread::sleep(Duration::from_millis(round));
        send(Signal::SIGKILL, &mut arena);
        wait_until("no process is left", || marked(&marker).is_empty());
    }
}

/// What `peeks.py` has seen in a match: names of environment variables and the working directory.
fn peeked(entry: &str, folder: &Path) -> Value {
    let replay = folder.join("peeks.replay");
    let words =
        ["match", "zombie-dice-solo", entry, "--seed", "1", "--public-dice", "--json", "--force", "--replay"];
    let mut command = process(&words);
    command.arg(&replay).current_dir(folder).env("SECRET", "brains").env("AWS_SECRET_ACCESS_KEY", "brains");
    assert_eq!(run_json(&mut command)["faults"], json!([]));
    let replay: Replay<necrodome_rules::zombie_dice::Solo> = replay::open(&replay).unwrap().parse().unwrap();
    let reason = steps_of(&replay)[0].reasons[0].clone().expect("the reason is kept in the replay");
    serde_json::from_str(&reason).unwrap()
}

#[test]
fn a_bot_sees_little_of_the_environment() {
    // Python itself, not a wrapper that sets variables of its own.
    let mut python = Command::new("python3");
    let python = run(python.args(["-c", "import sys; print(sys.executable)"]));
    let file = bots().join("misbehaving/peeks.py");
    let folder = folder("environment");
    let seen = peeked(&format!("cmd:'{}' -u '{}'", python.trim(), file.display()), &folder);
    let names: Vec<&str> = seen["environment"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    const ALLOWED: [&str; 8] =
        ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "JAVA_HOME", "TMPDIR", "PYTHONUNBUFFERED"];
    assert!(names.iter().all(|name| ALLOWED.contains(name)), "{names:?}");
    assert!(names.contains(&"PATH"), "{names:?}");
    assert_eq!(
        seen["cwd"],
        folder.canonicalize().unwrap().to_str().unwrap(),
        "a command runs where it was given"
    );
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn a_bot_from_a_file_runs_in_the_folder_of_the_file() {
    let folder = folder("own-folder");
    let own = folder.join("own bots");
    fs::create_dir(&own).unwrap();
    fs::copy(bots().join("misbehaving/peeks.py"), own.join("my peeks.py")).unwrap();
    let seen = peeked("./own bots/my peeks.py", &folder);
    assert_eq!(seen["cwd"], own.canonicalize().unwrap().to_str().unwrap());
    let names = seen["environment"].as_array().unwrap();
    assert!(!names.iter().any(|name| name == "SECRET" || name == "AWS_SECRET_ACCESS_KEY"), "{names:?}");
    let _ = fs::remove_dir_all(folder);
}

/// The story of a match of one bot against the opponents.
fn told(entry: &str, folder: &Path) -> String {
    let seed = SEED.to_string();
    let words = [
        "match",
        "zombie-dice",
        OPPONENT,
        entry,
        OPPONENT,
        "--seed",
        &seed,
        "--public-dice",
        "--quiet",
        "--sandbox",
        "limits",
    ];
    run(process(&words).current_dir(folder))
}

#[test]
fn open_files_and_the_size_of_files_are_bounded() {
    let folder = folder("files");
    let text = told(&misbehaving("files", &new_marker()), &folder);
    let number_after = |what: &str| -> usize {
        let rest = text.split_once(what).unwrap_or_else(|| panic!("no {what:?} in {text}")).1;
        rest.split(',').next().unwrap().trim().parse().unwrap()
    };
    assert!((100..=256).contains(&number_after("open files: ")), "{text}");
    assert_eq!(number_after("file size: "), 64 << 20, "{text}");
    // It clears up after itself; where it could not, no more than the limit is left.
    let left = fs::metadata(folder.join("huge.tmp")).map_or(0, |data| data.len());
    assert!(left <= 64 << 20, "{left}");
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn memory_is_bounded() {
    let folder = folder("memory");
    let bot = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    if message["type"] == "decide":
        for megabytes in (64, 3000):
            try:
                bytearray(megabytes << 20)
                print(megabytes, "MB are there", file=sys.stderr)
            except MemoryError:
                print(megabytes, "MB are too much", file=sys.stderr)
        print(json.dumps({"id": message["id"], "action": {"type": "stop"}}), flush=True)
"#;
    fs::write(folder.join("hoards.py"), bot).unwrap();
    let text = told("./hoards.py", &folder);
    assert!(text.contains("64 MB are there") && text.contains("3000 MB are too much"), "{text}");
    assert!(!text.contains("3000 MB are there") && !text.contains("fault:"), "{text}");
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn a_flood_of_standard_error_is_cut_and_does_no_harm() {
    let folder = folder("stderr");
    let text = told(&misbehaving("stderr_flood", &new_marker()), &folder);
    let log = text.lines().find(|line| line.starts_with("log: stderr_flood: ")).expect("the log is shown");
    assert!(log.contains("brains brains"), "{log}");
    assert!(log.len() < 600 && text.len() < 3000, "{} bytes of {}", log.len(), text.len());
    let words = ["match", "zombie-dice", OPPONENT, &misbehaving("stderr_flood", &new_marker()), "--json"];
    let document: serde_json::Value = serde_json::from_str(&run(&mut process(&words))).unwrap();
    let kept = document["logs"][1].as_str().unwrap().len();
    assert!((MAX_LOG / 2..=MAX_LOG + 100).contains(&kept), "{kept} bytes");
    assert!(!text.contains("fault:"), "{text}");
}

#[test]
fn a_bot_that_ends_on_sigterm_only_has_done_nothing_wrong() {
    let folder = folder("sigterm");
    let bot = r#"
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    if message["type"] == "decide":
        print(json.dumps({"id": message["id"], "action": message["legal"][-1]}), flush=True)
time.sleep(3600)
"#;
    fs::write(folder.join("lingers.py"), bot).unwrap();
    let words = ["match", "zombie-dice-solo", "./lingers.py", "--seed", "1", "--public-dice", "--json"];
    assert_eq!(run_json(process(&words).current_dir(&folder))["faults"], json!([]));
    let _ = fs::remove_dir_all(folder);
}

/// Runtimes that compile a bot's source, and large libraries, take seconds of CPU time before a bot can say anything.
#[test]
fn a_bot_may_compute_for_some_seconds_before_it_is_ready() {
    let folder = folder("start");
    let bot = r#"
import json, sys, time
while time.process_time() < 3.5:
    pass
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    if message["type"] == "decide":
        print(json.dumps({"id": message["id"], "action": message["legal"][-1]}), flush=True)
"#;
    fs::write(folder.join("heavy.py"), bot).unwrap();
    let words = ["match", "zombie-dice-solo", "./heavy.py", "--seed", "1", "--public-dice", "--json"];
    assert_eq!(run_json(process(&words).current_dir(&folder))["faults"], json!([]));
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn a_fault_is_told_to_people() {
    let folder = folder("told");
    let text = told(&format!("Ada={}", misbehaving("crash", &new_marker())), &folder);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let crash =
        "fault: Ada: crash: the process ended with exit code 1 (RuntimeError: the third decision is too much";
    assert!(flat.contains(crash), "{text}");
    assert!(text.contains("fault: Ada: out: failed too often and is not started again\n"), "{text}");
    assert!(text.contains("log: Ada: RuntimeError: the third decision is too much\n"), "{text}");
}

#[test]
fn who_does_not_start_fails_the_match_after_its_result() {
    let folder = folder("no-start");
    fs::write(folder.join("broken.py"), "def act(:\n").unwrap();
    let fails = |words: &[&str]| {
        let mut child = process(words)
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // For those who play themselves; the others may not wait for it.
        let _ = child.stdin.take().unwrap().write_all("stop\n".repeat(300).as_bytes());
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(stderr).unwrap();
        assert_eq!(status.code(), Some(1), "{words:?}: {stderr}");
        assert!(stderr.contains("error: Ada did not start\nhint: `necrodome check-bot "), "{stderr}");
        String::from_utf8(stdout).unwrap()
    };
    let brain = format!("Ada={}", misbehaving("dies_at_start", &new_marker()));
    let text = fails(&["match", "zombie-dice", "greedy", &brain, "--seed", "1", "--quiet"]);
    assert!(text.starts_with("Result\n"), "{text}");
    assert!(text.contains("fault: Ada: no_start: the process ended with exit code 3\n"), "{text}");
    assert!(text.contains("log: Ada: cannot find my brain\n"), "{text}");
    let text = fails(&["match", "zombie-dice", "greedy", "Ada=./broken.py", "--seed", "1", "--json"]);
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["faults"][0]["kind"], "no_start");
    assert!(result["logs"][1].as_str().unwrap().contains("SyntaxError"), "{result}");
    let text = fails(&["play", "zombie-dice", "Ada=./broken.py", "--seed", "1"]);
    assert!(text.contains("Result\n") && text.contains("log: Ada: SyntaxError"), "{text}");
    // A tournament goes on without it.
    let words =
        ["tournament", "zombie-dice-race", "greedy", "Ada=./broken.py", "--blocks=2", "--seed=1", "--json"];
    let output = process(&words).current_dir(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["faults"].to_string().contains("no_start"), "{report}");
    let _ = fs::remove_dir_all(folder);
}

/// What is forgiven is told with its hint, and is no misbehaviour in any number of a report.
#[test]
fn chatter_is_a_warning() {
    let chatty = bots().join("misbehaving/chatter.py");
    let entry = |when: &str| format!("Ada=cmd:python3 -u '{}' {when}", chatty.display());
    let words = |entry: &str, more: &[&str]| {
        let words =
            ["tournament", "zombie-dice-race", "greedy", entry, "--blocks=20", "--seed=1", "--public-dice"];
        let output = process(&words).args(more).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        // Its progress is told on standard error.
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("\nwarning: Ada: chatter, first in block 0"), "{told}");
        assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
        String::from_utf8(output.stdout).unwrap()
    };
    let json =
        |entry: &str, threads| serde_json::from_str::<Value>(&words(entry, &["--json", threads])).unwrap();
    let report = json(&entry("after"), "--threads=1");
    let [fault] = &report["faults"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!((&fault["kind"], &fault["count"]), (&json!("chatter"), &json!(40)), "once in each match");
    assert!(fault["hint"].as_str().unwrap().starts_with("print to standard error"), "{fault}");
    let ada = report["standings"].as_array().unwrap().iter().find(|entry| entry["name"] == "Ada").unwrap();
    assert_eq!(ada["win_rate_without_faults"], Value::Null);
    assert!(!report["summary"].to_string().contains("misbehaved"), "{}", report["summary"]);
    // Whether the line came before or after the next question makes no difference.
    for threads in ["--threads=2", "--threads=4"] {
        assert_eq!(json(&entry("after"), threads)["hash"], report["hash"]);
    }
    let text = words(&entry("before"), &[]);
    assert!(text.contains("\nwarning: Ada: chatter 40 times, first in block 0, match 0: "), "{text}");
    assert!(text.replace("\n  ", " ").contains("(hint: print to standard error instead"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let text = told(&entry("hello"), Path::new("."));
    assert!(text.contains("\nwarning: Ada: chatter: \"loading my model ...\" came before"), "{text}");
    assert!(!text.contains("fault:"), "{text}");
}

/// A bot of Last Bullet that gives its first copy this order in each turn, and sends the others to the east.
fn orders_first(order: &str) -> String {
    format!(
        r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({{"type": "ready", "protocol": 1}}), flush=True)
    if message["type"] == "decide":
        copies = [copy["number"] for copy in message["view"]["copies"]]
        copy = copies[0]
        orders = [{{"type": "move", "copy": number, "direction": "east"}} for number in copies[1:]]
        print(json.dumps({{"id": message["id"], "action": {{"orders": [*{order}, *orders]}}}}), flush=True)
"#
    )
}

#[test]
fn a_bad_order_costs_one_copy_and_is_told() {
    const COPIES: usize = 4;
    let folder = folder("orders");
    let replay = folder.join("orders.replay");
    let stay = json!({"type": "move", "copy": 0, "direction": "stay"});
    let west = json!({"type": "move", "copy": 0, "direction": "west"});
    let waste = json!({"type": "shoot", "copy": 0, "target": u32::MAX});
    for (order, played, says) in [
        (
            "[{'type': 'move', 'copy': copy, 'direction': 'up'}]",
            Some(&stay),
            "order 1 is malformed, so copy 0 stays",
        ),
        ("[{'type': 'shoot', 'copy': copy, 'target': 'x'}]", Some(&waste), "so copy 0 wastes its shot"),
        ("[None]", None, "order 1 names no copy: null"),
        ("[{'type': 'move', 'copy': 9999, 'direction': 'west'}]", None, "an order for number 9999"),
        (
            "[{'type': 'move', 'copy': copy, 'direction': 'west'}, {'type': 'shoot', 'copy': copy, 'target': 1}]",
            Some(&west),
            "two orders for copy 0",
        ),
    ] {
        fs::write(folder.join("orders.py"), orders_first(order)).unwrap();
        let mut command =
            process(&["match", "last-bullet", "./orders.py", "--set", "copies=4", "--set", "max_turns=3"]);
        command
            .args(["--seed", "1", "--public-dice", "--json", "--force", "--replay"])
            .arg(&replay)
            .current_dir(&folder);
        let result = run_json(&mut command);
        let faults = result["faults"].as_array().unwrap();
        assert!(
            !faults.is_empty() && faults.iter().all(|fault| fault["kind"] == "illegal"),
            "{order}: {result}"
        );
        assert!(faults[0]["detail"].as_str().unwrap().contains(says), "{order}: {}", faults[0]);
        let replay: Replay<LastBullet> = replay::open(&replay).unwrap().parse().unwrap();
        let Move::Act(action) = &steps_of(&replay)[0].moves[0] else { panic!("{order}: all copies forfeit") };
        let orders = serde_json::to_value(&action.orders).unwrap();
        let orders = orders.as_array().unwrap();
        let own = orders.len() - (COPIES - 1);
        assert_eq!(orders[..own].first(), played, "{order}");
        assert!(orders[own..].iter().all(|order| order["direction"] == "east"), "{order}: {orders:?}");
    }
    // People see it, too.
    let words =
        ["match", "last-bullet", "./orders.py", "--set", "copies=4", "--set", "max_turns=2", "--quiet"];
    let text = run(process(&words).args(["--seed", "1", "--public-dice"]).current_dir(&folder));
    assert!(text.contains("fault: orders: illegal: two orders for copy 0\n"), "{text}");
    let _ = fs::remove_dir_all(folder);
}

/// A match of example bots with built-in ones, in which nothing may go wrong.
fn plays_without_a_fault(game: &str, entries: &[&str], settings: &[&str]) {
    let mut command = process(&["match", game, "--seed", "3", "--public-dice", "--json"]);
    command.args(entries).current_dir(bots());
    for setting in settings {
        command.args(["--set", setting]);
    }
    let result = run_json(&mut command);
    assert_eq!(result["faults"], json!([]), "{game} {entries:?}");
    assert_eq!(result["places"].as_array().unwrap().len(), entries.len());
}

#[test]
fn the_examples_play_every_game_without_a_fault() {
    let dice = ["python/zombie_dice.py", "javascript/zombie_dice.js"];
    plays_without_a_fault("zombie-dice", &[dice[0], dice[1], "greedy"], &[]);
    plays_without_a_fault("zombie-dice-race", &[dice[0], dice[1]], &[]);
    for bot in dice {
        plays_without_a_fault("zombie-dice-solo", &[bot], &[]);
    }
    let shooters = ["python/last_bullet.py", "javascript/last_bullet.js", "gunner"];
    plays_without_a_fault("last-bullet", &shooters, &["copies=5", "max_turns=60"]);
    let party = ["python/infection.py", "javascript/infection.js", "careful", "random"];
    plays_without_a_fault("infection", &party, &["start_antibodies=3"]);
    let monsters = ["python/tokyo.py", "javascript/tokyo.js", "java/Tokyo.java", "angry"];
    plays_without_a_fault("tokyo", &monsters, &[]);
}

#[test]
fn children_that_nobody_waits_for_are_charged_all_the_same() {
    let folder = folder("unburied");
    // The system adds the time of such children to nobody's. Eight at once, so that a busy machine, too, gives them more than a
    // quarter of a processor: that is what separates this fault from an answer that is late by the clock.
    let bot = r#"
import json, os, signal, sys, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
def children():
    for _ in range(8):
        if os.fork() == 0:
            while time.process_time() < 0.25: pass
            os._exit(0)
    try: os.wait()
    except ChildProcessError: pass
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello": print('{"type":"ready","protocol":1}', flush=True)
    if message["type"] == "decide":
        children()
        print(json.dumps({"id": message["id"], "action": {"type": "stop"}}), flush=True)
"#;
    fs::write(folder.join("unburied.py"), bot).unwrap();
    let words = [
        "match",
        "zombie-dice",
        OPPONENT,
        "./unburied.py",
        "--quiet",
        "--sandbox=limits",
        "--decision-ms=300",
    ];
    let text = run(process(&words).current_dir(&folder));
    assert!(text.contains("fault: unburied: timeout: ") && text.contains(" ms of CPU time"), "{text}");
    let _ = fs::remove_dir_all(folder);
}
