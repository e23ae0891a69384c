//! Tournaments in parts: `--plan-out`, `shard`, `merge`, `pack` and `audit`, with programs among the entries.

use super::{ENDLESS, endless};
use crate::program::{necrodome_in, output_in, process, refusal};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::Stdio,
};

/// Waits for nothing and remembers how many turns it has had since it was started, which decides what it does.
const COUNTING: &str = r#"
import json, sys
turns = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"type": "ready", "protocol": 1}
    elif message["type"] == "decide":
        turns += 1
        answer = {"id": message["id"], "action": {"type": "stop" if turns % 3 == 0 else "go"}}
    else:
        continue
    print(json.dumps(answer), flush=True)
"#;

/// A folder with a bot in a folder of its own, and a plan.
fn planned(folder: &Path) {
    fs::create_dir_all(folder.join("bots/ada")).unwrap();
    fs::write(folder.join("bots/ada/ada.py"), COUNTING).unwrap();
    fs::write(folder.join("bots/ada/.secret"), "nobody's business").unwrap();
    output_in(
        folder,
        &[
            "tournament",
            "zombie-dice-race",
            "greedy",
            "bots/ada/ada.py",
            "--blocks",
            "150",
            "--seed",
            "7",
            "--plan-out",
            "plan.toml",
        ],
    );
}

fn json_in(folder: &Path, words: &[&str]) -> Value {
    serde_json::from_str(&output_in(folder, words)).unwrap()
}

/// The secret in a plan.
fn secret(folder: &Path) -> String {
    let plan = fs::read_to_string(folder.join("plan.toml")).unwrap();
    let is_secret = |word: &&str| word.len() == 128 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    plan.split('"').find(is_secret).unwrap().to_owned()
}

#[test]
fn parts_that_were_played_elsewhere_make_the_tournament_of_one_machine() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (here, there) = (here.path(), there.path());
    planned(here);
    let mode = here.join("plan.toml").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it has the secret");
    output_in(here, &["pack", "plan.toml"]);
    fs::rename(here.join("plan.pack"), there.join("plan.pack")).unwrap();
    // Parts that begin in the middle of what a program remembers.
    for (name, blocks) in [("a", "70..150"), ("b", "0..64"), ("c", "60..80")] {
        output_in(there, &["shard", "plan.pack", "--blocks", blocks, "--out", name]);
    }
    let early = json_in(there, &["merge", "night.store", "a", "--json"]);
    assert_eq!(
        (&early["waiting"], &early["gaps"]),
        (&serde_json::json!([[70, 150]]), &serde_json::json!([[0, 70]]))
    );
    let merged = json_in(there, &["merge", "night.store", "c", "b", "--json"]);
    assert_eq!((&merged["complete"], &merged["blocks"]), (&true.into(), &150.into()));
    let words =
        ["tournament", "zombie-dice-race", "greedy", "bots/ada/ada.py", "--blocks", "150", "--seed", "7"];
    let whole = json_in(here, &[&words[..], &["--secret", &secret(here), "--json"]].concat());
    assert_eq!((&whole["hash"], &whole["faults"]), (&merged["hash"], &serde_json::json!([])));
    assert_eq!(json_in(there, &["report", "night.store", "--json"])["hash"], whole["hash"]);
    output_in(there, &["replay", "night.store", "--verify"]);
    let audit = json_in(there, &["audit", "night.store", "--blocks", "3", "--plan", "plan.pack", "--json"]);
    assert_eq!((audit["blocks"].as_array().unwrap().len(), &audit["differ"]), (3, &serde_json::json!([])));
}

#[test]
fn what_a_machine_lacks_is_its_own_fault() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    planned(folder);
    output_in(folder, &["pack", "plan.toml"]);
    let shard = |plan: &str| necrodome_in(folder, &["shard", plan, "--blocks", "0..2", "--out", "x"]);
    let error = refusal(shard("plan.pack").env("PATH", "/nowhere"), 1);
    assert!(error.contains("this machine has no python3, which runs ada"), "{error}");
    fs::write(folder.join("bots/ada/ada.py"), COUNTING.replace("% 3", "% 4")).unwrap();
    let error = refusal(&mut shard("plan.toml"), 2);
    assert!(error.contains("the program of ada has changed"), "{error}");
    // The pack has the bot that was planned.
    shard("plan.pack").assert().success();
    let error = refusal(&mut shard("bots/ada/ada.py"), 2);
    assert!(error.contains("is not a plan"), "{error}");
    let error = refusal(&mut shard("nothing.toml"), 2);
    assert!(error.contains("there is no file nothing.toml"), "{error}");
    let error = refusal(&mut necrodome_in(folder, &["merge", "s.store", "plan.toml"]), 2);
    assert!(error.contains("is not a shard"), "{error}");
    let error = refusal(&mut necrodome_in(folder, &["pack", "x", "--out", "y"]), 2);
    assert!(error.contains("x is not a plan"), "{error}");
    assert!(!folder.join("s.store").exists());
}

/// A bot in the folder of the plan, which reads a file from a folder beside it.
fn with_a_library(folder: &Path) {
    fs::create_dir(folder.join("lib")).unwrap();
    fs::write(folder.join("lib/ada_knows.py"), "").unwrap();
    let import = "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'lib'))\nimport ada_knows\n";
    fs::write(folder.join("ada.py"), format!("{import}{COUNTING}")).unwrap();
}

#[test]
fn a_bot_that_does_not_start_on_a_worker_is_not_charged_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    with_a_library(folder);
    fs::write(folder.join("never.py"), "raise SystemExit('not today')").unwrap();
    let plan = |bot| {
        let words = [
            "tournament",
            "zombie-dice-race",
            "greedy",
            bot,
            "--blocks",
            "4",
            "--plan-out",
            "plan.toml",
            "--force",
        ];
        let planned = necrodome_in(folder, &words).assert().success();
        String::from_utf8(planned.get_output().stderr.clone()).unwrap()
    };
    let play = |plan| necrodome_in(folder, &["shard", plan, "--blocks", "0..2", "--out", "x", "--force"]);
    assert!(!plan("ada.py").contains("does not start"));
    let packed = necrodome_in(folder, &["pack", "plan.toml"]).assert().success();
    let said = String::from_utf8(packed.get_output().stderr.clone()).unwrap();
    assert!(said.contains("left out: lib/\n"), "{said}");
    play("plan.toml").assert().success();
    for words in [&mut play("plan.pack"), &mut necrodome_in(folder, &["shard", "plan.pack"])] {
        let error = refusal(words, 1);
        assert!(
            error.contains("ada does not start on this machine, though it did where the plan"),
            "{error}"
        );
        assert!(error.contains("No module named 'ada_knows'") && error.contains("leaves out"), "{error}");
    }
    // Nor is a worker charged for a bot that starts nowhere.
    let said = plan("never.py");
    assert!(
        said.contains("never does not start here, and need not elsewhere") && said.contains("not today"),
        "{said}"
    );
    output_in(folder, &["pack", "plan.toml", "--force"]);
    play("plan.pack").assert().success();
}

/// Without the plan, an audit knows from the store what started.
#[test]
fn an_audit_on_a_machine_that_lacks_something_accuses_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    with_a_library(folder);
    fs::write(folder.join("never.py"), "raise SystemExit('not today')").unwrap();
    for bot in ["ada", "never"] {
        let (bot, plan, part, store) =
            (format!("{bot}.py"), format!("{bot}.toml"), format!("{bot}.shard"), format!("{bot}.store"));
        let words = ["tournament", "zombie-dice-race", "greedy", &bot, "--blocks", "4", "--plan-out", &plan];
        output_in(folder, &words);
        output_in(folder, &["shard", &plan, "--blocks", "0..4", "--out", &part]);
        output_in(folder, &["merge", &store, &part]);
    }
    output_in(folder, &["audit", "ada.store"]);
    fs::rename(folder.join("lib"), folder.join("elsewhere")).unwrap();
    for words in [&["audit", "ada.store"][..], &["audit", "ada.store", "--plan", "ada.toml"]] {
        let error = refusal(&mut necrodome_in(folder, words), 1);
        assert!(
            error.contains("ada does not start on this machine") && error.contains("ada_knows"),
            "{error}"
        );
    }
    // What started nowhere is played again.
    assert!(output_in(folder, &["audit", "never.store"]).contains("all are as stored"));
}

/// A bot may play otherwise after a change of what it imports, of which a plan has no fingerprint.
#[test]
fn an_audit_without_the_pack_says_what_it_does_not_know() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("knows.py"), "KNOWS = 3\n").unwrap();
    fs::write(
        folder.join("ada.py"),
        format!("from knows import KNOWS\n{}", COUNTING.replace("% 3", "% KNOWS")),
    )
    .unwrap();
    let plan =
        ["tournament", "zombie-dice-race", "greedy", "ada.py", "--blocks", "4", "--plan-out", "plan.toml"];
    output_in(folder, &plan);
    output_in(folder, &["shard", "plan.toml", "--blocks", "0..4", "--out", "x"]);
    output_in(folder, &["merge", "s.store", "x"]);
    let note = "note: what programs import is not known to be the same here";
    assert!(!output_in(folder, &["audit", "s.store"]).contains(note), "there is nothing to explain");
    fs::write(folder.join("knows.py"), "KNOWS = 1  # and more\n").unwrap();
    for words in [&["audit", "s.store"][..], &["audit", "s.store", "--plan", "plan.toml"]] {
        let differs = necrodome_in(folder, words).assert().code(1);
        let said = String::from_utf8(differs.get_output().stdout.clone()).unwrap();
        assert!(said.contains("differs: block") && said.contains(note), "{said}");
    }
}

/// A plan may be a stranger's: what its programs get here is said on this machine's command line, and told before they start.
#[test]
fn a_worker_gives_programs_only_what_its_own_flags_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("worker")).unwrap();
    fs::write(folder.join("eve.py"), COUNTING).unwrap();
    fs::write(folder.join(".env"), "MY_TOKEN=planner\n").unwrap();
    fs::write(folder.join("worker/.env"), "MY_TOKEN=worker\n").unwrap();
    let plan =
        ["tournament", "zombie-dice-race", "greedy", "eve.py", "--blocks", "4", "--plan-out", "e.toml"];
    let asks = [
        "--sandbox",
        "limits",
        "--allow-network",
        "--pass-env",
        "MY_TOKEN",
        "--memory-mb",
        "1025",
        "--files",
        "257",
    ];
    output_in(folder, &[&plan[..], &asks].concat());
    output_in(folder, &["pack", "e.toml", "--out", "worker/e.pack"]);
    let worker = &folder.join("worker");
    let play = ["shard", "e.pack", "--blocks", "0..4", "--out", "e.shard", "--force"];
    for (flags, hint) in [
        (&[][..], "add --sandbox limits --allow-network --pass-env MY_TOKEN --memory-mb 1025 --files 257"),
        (&asks[..2], "add --allow-network --pass-env MY_TOKEN --memory-mb 1025 --files 257"),
        (&asks[..3], "add --pass-env MY_TOKEN --memory-mb 1025 --files 257"),
        (&asks[..5], "add --memory-mb 1025 --files 257"),
        (&asks[..7], "add --files 257"),
        (&asks[2..], "add --sandbox limits"),
    ] {
        for words in [&play[..], &["shard", "e.pack"]] {
            let error = refusal(&mut necrodome_in(worker, &[words, flags].concat()), 2);
            assert!(error.contains("as you have not allowed") && error.ends_with(hint), "{error}");
        }
        assert!(!worker.join("e.shard").exists());
    }
    let played = necrodome_in(worker, &[&play[..], &asks].concat()).assert().success();
    let said = String::from_utf8(played.get_output().stderr.clone()).unwrap();
    assert!(said.contains("programs are confined by resource limits only (limits)"), "{said}");
    assert!(
        said.contains("all programs are given the network and the environment variable MY_TOKEN"),
        "{said}"
    );
    // An audit plays on this machine as well.
    output_in(worker, &["merge", "e.store", "e.shard"]);
    let audit = ["audit", "e.store", "--plan", "e.pack"];
    let error = refusal(&mut necrodome_in(worker, &audit), 2);
    let hint = "add --sandbox limits --allow-network --pass-env MY_TOKEN --memory-mb 1025 --files 257";
    assert!(error.ends_with(hint), "{error}");
    let said = output_in(worker, &[&audit[..], &asks].concat());
    assert!(said.contains("all 4 stored blocks were played again, and all are as stored"), "{said}");
}

/// What a bot imports has no fingerprint, but a pack has one.
#[test]
fn parts_of_packs_with_other_files_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    planned(folder);
    for (name, knows, blocks) in [("a", "1", "0..64"), ("b", "2", "64..150"), ("c", "1", "64..150")] {
        fs::write(folder.join("bots/ada/knows.py"), format!("KNOWS = {knows}\n")).unwrap();
        let pack = format!("{name}.pack");
        output_in(folder, &["pack", "plan.toml", "--out", &pack]);
        output_in(folder, &["shard", &pack, "--blocks", blocks, "--out", name]);
    }
    for (first, second) in [("a", "b"), ("b", "a")] {
        let store = format!("{first}.store");
        output_in(folder, &["merge", &store, first]);
        let error = refusal(&mut necrodome_in(folder, &["merge", &store, second]), 1);
        assert!(
            error.contains(&format!("the files beside the bots of {second} are not those of ")),
            "{error}"
        );
    }
    assert_eq!(json_in(folder, &["merge", "a.store", "c", "--json"])["complete"], true);
    // A forger may be first, unless the pack is named.
    let error = refusal(&mut necrodome_in(folder, &["merge", "c.store", "b", "--plan", "a.pack"]), 1);
    assert!(
        error.contains("the files beside the bots of b are not those of the pack that was named"),
        "{error}"
    );
    // Nor does an audit blame a machine for the files of another pack.
    let audit = |pack| necrodome_in(folder, &["audit", "a.store", "--blocks", "2", "--plan", pack]);
    audit("a.pack").assert().success();
    let error = refusal(&mut audit("b.pack"), 1);
    assert!(
        error.contains("the files beside the bots of the pack that was named are not those of"),
        "{error}"
    );
}

#[test]
fn what_a_killed_worker_has_unpacked_is_removed_by_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    planned(folder);
    output_in(folder, &["pack", "plan.toml"]);
    let only_read = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o555)).unwrap();
    for name in ["dead", "alive"] {
        let unpacked = folder.join(format!("tmp/necrodome-pack-{name}"));
        fs::create_dir_all(unpacked.join("bots")).unwrap();
        fs::write(unpacked.join("bots/ada.py"), "").unwrap();
        only_read(&unpacked.join("bots"));
        only_read(&unpacked);
    }
    let alive = fs::File::open(folder.join("tmp/necrodome-pack-alive")).unwrap();
    alive.lock().unwrap();
    let mut play = necrodome_in(folder, &["shard", "plan.pack", "--blocks", "0..2", "--out", "x"]);
    play.env("TMPDIR", folder.join("tmp")).assert().success();
    let left: Vec<String> = fs::read_dir(folder.join("tmp"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("necrodome-pack-"))
        .collect();
    assert_eq!(left, ["necrodome-pack-alive"]);
    for path in ["tmp/necrodome-pack-alive", "tmp/necrodome-pack-alive/bots"] {
        fs::set_permissions(folder.join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn a_pack_has_what_bots_need_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    planned(folder);
    fs::write(folder.join("bots/ada/weights.bin"), vec![7; 3 << 20]).unwrap();
    fs::write(folder.join("private.txt"), "nobody's business").unwrap();
    let error = refusal(&mut necrodome_in(folder, &["pack", "plan.toml", "--max-mb", "1"]), 2);
    assert!(error.contains("bots/ada/weights.bin (3072 KB)"), "{error}");
    output_in(folder, &["pack", "plan.toml"]);
    let mut pack = zip::ZipArchive::new(fs::File::open(folder.join("plan.pack")).unwrap()).unwrap();
    let mut names: Vec<String> = pack.file_names().map(|name| name.unwrap().into_owned()).collect();
    names.sort();
    assert_eq!(names, ["bots/ada/ada.py", "bots/ada/weights.bin", "plan.toml"]);
    assert!(pack.by_name("plan.toml").is_ok());
    // A bot outside of the plan's folder cannot travel.
    let elsewhere = tempfile::tempdir().unwrap();
    let bot = folder.join("bots/ada/ada.py");
    let words = [
        "tournament",
        "zombie-dice-race",
        "greedy",
        bot.to_str().unwrap(),
        "--blocks",
        "2",
        "--plan-out",
        "plan.toml",
    ];
    output_in(elsewhere.path(), &words);
    let error = refusal(&mut necrodome_in(elsewhere.path(), &["pack", "plan.toml"]), 2);
    assert!(error.contains("in a folder that all bots are in or below"), "{error}");
}

/// Names in an archive can lead anywhere.
#[test]
fn a_pack_writes_nowhere_but_into_a_folder_of_its_own() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    planned(folder);
    let plan = fs::read(folder.join("plan.toml")).unwrap();
    let packed = |files: &[(&str, &[u8])]| {
        let mut pack = zip::ZipWriter::new(fs::File::create(folder.join("bad.pack")).unwrap());
        for (name, content) in [("plan.toml", &plan[..])].iter().chain(files) {
            pack.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            pack.write_all(content).unwrap();
        }
        pack
    };
    let refused =
        || refusal(&mut necrodome_in(folder, &["shard", "bad.pack", "--blocks", "0..2", "--out", "x"]), 1);
    for name in ["../escaped", "a/../../escaped", "bots/ada/"] {
        packed(&[(name, b"x")]).finish().unwrap();
        let error = refused();
        assert!(error.contains("it has a file with the odd name"), "{name}: {error}");
        assert!(error.contains(&format!("odd name {name:?}")), "{error}");
    }
    let mut linked = packed(&[]);
    linked.add_symlink("bots", "/", zip::write::SimpleFileOptions::default()).unwrap();
    linked.finish().unwrap();
    assert!(refused().contains("it has a file with the odd name"));
    // A file, and another one inside of it.
    packed(&[("bots", b"x"), ("bots/ada", b"x")]).finish().unwrap();
    assert!(refused().contains("bad.pack is damaged: bots/ada"));
    // An absolute name is one below the folder.
    packed(&[("/escaped", b"x")]).finish().unwrap();
    refused();
    assert!(!folder.join("escaped").exists() && !Path::new("/escaped").exists());
}

/// What a bot names is shown to it, so a pack must not name files of the worker.
#[test]
fn a_pack_names_nothing_outside_of_itself() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    planned(folder);
    fs::create_dir(folder.join("worker")).unwrap();
    let private = folder.join("private.txt");
    fs::write(&private, "nobody's business").unwrap();
    let command = format!("cmd:python3 bots/ada/ada.py {}", private.display());
    let words =
        ["tournament", "zombie-dice-race", "greedy", &command, "--blocks", "2", "--plan-out", "evil.toml"];
    output_in(folder, &words);
    let plan = fs::read(folder.join("evil.toml")).unwrap();
    let mut pack = zip::ZipWriter::new(fs::File::create(folder.join("worker/evil.pack")).unwrap());
    for (name, content) in [("plan.toml", &plan[..]), ("bots/ada/ada.py", COUNTING.as_bytes())] {
        pack.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        pack.write_all(content).unwrap();
    }
    pack.finish().unwrap();
    let words = ["shard", "evil.pack", "--blocks", "0..2", "--out", "x.shard"];
    let error = refusal(&mut necrodome_in(&folder.join("worker"), &words), 2);
    assert!(error.contains("private.txt lies outside of the pack"), "{error}");
}

/// A disk that is full when the store is begun.
#[test]
fn a_store_that_cannot_be_begun_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let plan =
        ["tournament", "zombie-dice-race", "greedy", "cautious", "--blocks", "4", "--plan-out", "plan.toml"];
    output_in(folder, &plan);
    output_in(folder, &["shard", "plan.toml", "--blocks", "0..4", "--out", "good"]);
    let merge = |limit: &str| {
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" merge s.store good");
        let program = assert_cmd::cargo::cargo_bin!("necrodome");
        let run =
            std::process::Command::new("sh").args(["-c", &script]).arg(program).current_dir(folder).output();
        run.unwrap()
    };
    let failed = merge("0");
    assert!(!failed.status.success());
    assert!(!folder.join("s.store").exists(), "{}", String::from_utf8_lossy(&failed.stderr));
    assert!(merge("unlimited").status.success());
}

/// What is no shard is named, and no store is made.
#[test]
fn files_that_are_no_shards_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let plan =
        ["tournament", "zombie-dice-race", "greedy", "cautious", "--blocks", "4", "--plan-out", "plan.toml"];
    output_in(folder, &plan);
    output_in(folder, &["shard", "plan.toml", "--blocks", "0..4", "--out", "good"]);
    fs::write(folder.join("empty"), "").unwrap();
    fs::create_dir(folder.join("folder")).unwrap();
    nix::unistd::mkfifo(&folder.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let good = fs::read(folder.join("good")).unwrap();
    fs::write(folder.join("newer"), [b"necrodome-shard 2", &good[17..]].concat()).unwrap();
    fs::write(folder.join("cut"), &good[..good.len() - 1]).unwrap();
    let refused = |name: &str, code| {
        let error = refusal(&mut necrodome_in(folder, &["merge", "s.store", "good", name]), code);
        assert!(error.contains(name), "{error}");
        error
    };
    for (name, expected) in [
        ("empty", "is not a shard"),
        ("folder", "Is a directory"),
        ("pipe", "is no regular file"),
        ("newer", "of another version"),
        ("missing", "there is no file"),
    ] {
        let error = refused(name, 2);
        assert!(error.contains(expected), "{name}: {error}");
        assert!(!folder.join("s.store").exists());
    }
    let error = refused("cut", 1);
    assert!(error.contains("do not match the hash"), "{error}");
    assert_eq!(json_in(folder, &["merge", "s.store", "good", "--json"])["complete"], true);
    // A store that is a folder, or a pipe, is none.
    for words in [&["merge", "pipe", "good"][..], &["merge", "folder", "good"]] {
        refusal(&mut necrodome_in(folder, words), 1);
    }
    for words in [&["merge", "pipe"][..], &["merge", "folder"], &["merge", "good", "good"]] {
        let error = refusal(&mut necrodome_in(folder, words), 2);
        assert!(error.contains("the store comes first"), "{error}");
    }
}

#[test]
fn an_audit_says_what_it_could_not_do() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let plan =
        ["tournament", "zombie-dice-race", "greedy", "cautious", "--blocks", "8", "--plan-out", "plan.toml"];
    output_in(folder, &plan);
    output_in(folder, &["shard", "plan.toml", "--blocks", "0..4", "--out", "half"]);
    output_in(folder, &["merge", "s.store", "--plan", "plan.toml"]);
    let error = refusal(&mut necrodome_in(folder, &["audit", "s.store"]), 2);
    assert!(error.contains("there is nothing to audit"), "{error}");
    output_in(folder, &["merge", "s.store", "half"]);
    let said = output_in(folder, &["audit", "s.store", "--blocks", "100"]);
    assert!(said.contains("all 4 stored blocks were played again, and all are as stored"), "{said}");
    // 10% of four blocks is less than one.
    assert!(said.contains("50% of the blocks") && !said.contains("10% of the blocks"), "{said}");
    let said = output_in(folder, &["audit", "s.store", "--blocks", "1"]);
    assert!(said.contains("to catch a single forged block with a chance of 95%, use --blocks 4"), "{said}");
    necrodome_in(folder, &["audit", "s.store", "--blocks", "0"]).assert().code(2);
    let other =
        ["tournament", "zombie-dice-race", "greedy", "random", "--blocks", "8", "--plan-out", "other.toml"];
    output_in(folder, &other);
    let error = refusal(&mut necrodome_in(folder, &["audit", "s.store", "--plan", "other.toml"]), 2);
    assert!(error.contains("other.toml is a part of another tournament"), "{error}");
}

#[test]
fn what_scripts_want_to_know_is_json() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    planned(folder);
    let plan = json_in(folder, &["shard", "plan.toml", "--json"]);
    assert_eq!((&plan["first"], &plan["blocks"], &plan["unit"]), (&0.into(), &150.into(), &64.into()));
    assert_eq!(plan["interpreters"], serde_json::json!(["python3"]));
    // The example is a multiple of the unit.
    let said = necrodome_in(folder, &["shard", "plan.toml"]).assert().success();
    let said = String::from_utf8(said.get_output().stderr.clone()).unwrap();
    assert!(said.contains("play multiples of that") && said.contains("--blocks 0..128 --out"), "{said}");
    let bot = folder.join("bots/ada").canonicalize().unwrap();
    // And what its interpreter belongs to, if that is not the system's.
    let mut lines = said.lines().filter(|line| line.starts_with("ada can read "));
    assert!(lines.any(|line| line.contains(bot.to_str().unwrap())), "{said}");
    let words = ["tournament", "zombie-dice", "greedy", "cautious", "--plan-out", "other.toml", "--json"];
    assert_eq!(json_in(folder, &words)["id"], json_in(folder, &["shard", "other.toml", "--json"])["id"]);
    let packed = json_in(folder, &["pack", "plan.toml", "--json"]);
    assert_eq!((&packed["file"], &packed["plan"]["id"]), (&"plan.pack".into(), &plan["id"]));
    assert_eq!(packed["files"][0]["name"], "bots/ada/ada.py");
    let played = json_in(folder, &["shard", "plan.pack", "--blocks", "0..2", "--out", "x", "--json"]);
    assert_eq!((&played["blocks"], &played["id"]), (&serde_json::json!([0, 2]), &plan["id"]));
}

/// No shard has the blocks of earlier stages, so a new store would never be complete.
#[test]
fn shards_of_a_later_stage_belong_into_the_store_of_the_earlier_ones() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let words = |bots: &[&'static str]| {
        let start = [
            "tournament",
            "zombie-dice-race",
            "--format",
            "round-robin",
            "--seed",
            "7",
            "--store",
            "s.store",
        ];
        [&start[..], bots].concat()
    };
    output_in(folder, &words(&["greedy", "cautious", "--blocks", "4"]));
    output_in(folder, &words(&["greedy", "cautious", "random", "--blocks", "4", "--plan-out", "plan.toml"]));
    let plan = json_in(folder, &["shard", "plan.toml", "--json"]);
    let (first, end) = (plan["first"].as_u64().unwrap(), plan["blocks"].as_u64().unwrap());
    assert!(first > 0);
    output_in(folder, &["shard", "plan.toml", "--blocks", &format!("{first}..{end}"), "--out", "x"]);
    let error = refusal(&mut necrodome_in(folder, &["merge", "new.store", "x"]), 2);
    assert!(error.contains(&format!("blocks 0..{first} were played before its plan was made")), "{error}");
    assert!(!folder.join("new.store").exists());
    assert_eq!(json_in(folder, &["merge", "s.store", "x", "--json"])["complete"], true);
}

#[test]
fn what_cannot_travel_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("words")).unwrap();
    fs::write(folder.join("ada.py"), COUNTING).unwrap();
    let words =
        ["tournament", "zombie-dice-race", "greedy", "ada.py", "--plan-out", "plan.toml", "--share", "words"];
    let error = refusal(&mut necrodome_in(folder, &words), 2);
    assert!(error.contains("--share does not go with --plan-out"), "{error}");
    assert!(!folder.join("plan.toml").exists());
    necrodome_in(folder, &["shard", "x", "--blocks", "7..7", "--out", "y"]).assert().code(2);
}

/// Many workers may merge at once: the second one says that it waits, and goes on when the first one is done.
#[test]
fn a_merge_waits_for_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    output_in(folder, &[&["tournament"], &ENDLESS[..], &["--plan-out", "plan.toml"]].concat());
    output_in(folder, &["shard", "plan.toml", "--blocks", "0..4", "--out", "part"]);
    let store = folder.join("s.store");
    let (mut arena, _lines) = endless(&format!("--store={}", store.display()));
    let part = folder.join("part");
    let mut merge = process(&["merge", store.to_str().unwrap(), part.to_str().unwrap()])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(merge.stderr.take().unwrap()).lines().map_while(Result::ok);
    let waits = said.next().unwrap();
    assert!(waits.contains("s.store is in use by another process: waiting for up to 60 s"), "{waits}");
    arena.kill().unwrap();
    arena.wait().unwrap();
    let rest: Vec<String> = said.collect();
    assert!(merge.wait().unwrap().success(), "{rest:?}");
    assert!(rest.iter().any(|line| line == "0 blocks added"), "{rest:?}");
}
