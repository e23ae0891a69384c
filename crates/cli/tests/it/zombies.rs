//! Bots of the contest on the JVM, in the arena: every form they come in, every language, and what they may see.

use crate::program::{necrodome, refusal};
use assert_cmd::Command;
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};

fn bots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bots/compat").canonicalize().unwrap()
}

fn java(class: &str) -> String {
    format!("compat:zombies:{}", bots().join(format!("java/{class}.java")).display())
}

/// A match of Last Bullet with a small field.
fn a_match(entries: &[&str]) -> Command {
    let words = ["match", "last-bullet", "--set", "copies=5", "--seed", "3", "--public-dice", "--json"];
    necrodome(&[&words[..], entries].concat())
}

/// Its result, without any fault.
fn result(command: &mut Command) -> Value {
    let ended = command.assert().success();
    let result: Value = serde_json::from_slice(&ended.get_output().stdout).unwrap();
    assert_eq!(result["faults"], serde_json::json!([]), "{result:#}");
    result
}

fn names(result: &Value) -> Vec<&str> {
    result["entries"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect()
}

fn score(result: &Value, name: &str) -> u64 {
    let place = names(result).iter().position(|own| *own == name).unwrap();
    result["scores"][place].as_u64().unwrap()
}

/// The classes of our bots, compiled by hand.
fn compiled(folder: &Path) -> PathBuf {
    // The host's sources are all that a bot is compiled against.
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("../arena/src/entry/zombies/host");
    let (api, classes) = (folder.join("api"), folder.join("classes"));
    let javac = |out: &Path, sources: &Path| {
        let mut sources: Vec<PathBuf> =
            fs::read_dir(sources).unwrap().map(|file| file.unwrap().path()).collect();
        sources.sort();
        let mut command = Command::new("javac");
        command.args(["-proc:none", "-cp"]).arg(&api).arg("-d").arg(out).args(sources).assert().success();
    };
    javac(&api, &host);
    javac(&classes, &bots().join("java"));
    classes
}

#[test]
fn our_bots_play_and_are_named_after_their_classes() {
    let all = ["Statue", "Drunkard", "Stoic", "Marksman", "Sprinter", "Penguin"];
    let entries = all.map(java);
    let play = || result(&mut a_match(&entries.each_ref().map(String::as_str)));
    let first = play();
    assert_eq!(names(&first), all);
    // All copies shoot themselves in the first turn, and a bullet hits.
    assert_eq!(score(&first, "Stoic"), 0);
    assert!(all.iter().filter(|name| **name != "Stoic").all(|name| score(&first, name) > 0), "{first:#}");
    // The same seed, the same match: what bots draw from Move follows from it, too.
    assert_eq!(play()["scores"], first["scores"]);
}

#[test]
fn a_bot_passes_the_gauntlet() {
    necrodome(&["check-bot", "last-bullet", &java("Marksman")]).assert().success();
}

#[test]
fn classes_and_jars_play_as_their_sources_do() {
    let folder = tempfile::tempdir().unwrap();
    let classes = compiled(folder.path());
    let jar = folder.path().join("bots.jar");
    let mut pack = Command::new("jar");
    pack.args(["--create", "--file"]).arg(&jar).arg("-C").arg(&classes).arg(".").assert().success();
    let of = |path: &Path| format!("compat:zombies:{}:Sprinter", path.display());
    // The folder of the package will do, too; the last is the same as the first, by its whole name.
    let forms =
        [java("Sprinter"), of(&bots().join("java")), of(&classes), of(&classes.join("player")), of(&jar)];
    let scores = forms.map(|entry| result(&mut a_match(&[&entry, "runner"]))["scores"].clone());
    assert!(scores.iter().all(|score| *score == scores[0]), "{scores:?}");
    let whole = format!("compat:zombies:{}:player.Sprinter", jar.display());
    assert_eq!(names(&result(&mut a_match(&[&whole, "Ada=wander"]))), ["Sprinter", "Ada"]);
}

#[test]
fn bots_of_other_languages_play() {
    for (file, name) in [
        ("javascript/hermit.js", "Hermit"),
        ("python/sentry.py", "Sentry"),
        ("ruby/drifter.rb", "Drifter"),
        ("clojure/lookout.clj", "Lookout"),
        ("scala/Scout.scala", "Scout"),
    ] {
        let entry = format!("compat:zombies:{}", bots().join(file).display());
        let result = result(&mut a_match(&[&entry, "runner"]));
        assert_eq!(names(&result)[0], name);
        assert_eq!(result["logs"][0], "", "{name}");
        assert!(score(&result, name) > 0, "{name}");
    }
}

#[test]
fn mistakes_are_told_before_the_match() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let body = |class: &str, gives: &str| {
        let text = "package player;\nimport zombie.*;\npublic class CLASS implements Player {\n    public Action doTurn(PlayerContext \
                    context) {\n        return GIVES;\n    }\n}\n";
        text.replace("CLASS", class).replace("GIVES", gives)
    };
    fs::write(path("Ada.java"), body("Ada", "Move.UPWARD")).unwrap();
    let entry = |name: &str| format!("compat:zombies:{}", path(name).display());
    // What the compiler says is shown as it is.
    let output =
        a_match(&[&entry("Ada.java"), "wander"]).assert().code(2).stdout("").get_output().stderr.clone();
    let said = String::from_utf8(output).unwrap();
    assert!(said.contains("Ada.java:5: error: cannot find symbol\n        return Move.UPWARD;\n"), "{said}");

    fs::create_dir(path("two")).unwrap();
    fs::write(path("two/Ada.java"), body("Ada", "Move.NORTH")).unwrap();
    fs::write(path("two/Ben.java"), body("Ben", "Move.SOUTH")).unwrap();
    let error = refusal(&mut a_match(&[&entry("two"), "wander"]), 2);
    assert!(error.contains("add one of them as :CLASS: player.Ada, player.Ben"), "{error}");
    let error = refusal(&mut a_match(&[&format!("{}:Carl", entry("two")), "wander"]), 2);
    assert!(error.contains("no player \"Carl\" in it, but player.Ada, player.Ben"), "{error}");
    assert_eq!(names(&result(&mut a_match(&[&format!("{}:Ben", entry("two")), "wander"])))[0], "Ben");

    fs::write(path("Shape.java"), "class Shape {}").unwrap();
    let error = refusal(&mut a_match(&[&entry("Shape.java"), "wander"]), 2);
    assert!(error.contains("no class in it implements zombie.Player"), "{error}");
    let error = refusal(a_match(&[&java("Statue"), "wander"]).env("PATH", ""), 2);
    assert_eq!(
        error,
        "error: there is no JDK here (javac is missing)\nhint: install it; Debian's package is default-jdk-headless"
    );
}

#[test]
fn a_bot_is_compiled_once_and_sees_nothing_but_itself() {
    let folder = tempfile::tempdir().unwrap();
    // Tells what it can read of the folder that it came from.
    let text = "package player;\nimport zombie.*;\nimport java.io.File;\npublic class Spy implements Player {\n    static {\n        \
                System.err.println(new File(\"FOLDER/Spy.java\").exists() + \" \" + new File(\"FOLDER/notes.txt\").exists());\n    }\n    \
                public Action doTurn(PlayerContext context) {\n        return Move.STAY;\n    }\n}\n";
    let place = folder.path().canonicalize().unwrap();
    fs::write(place.join("Spy.java"), text.replace("FOLDER", &place.display().to_string())).unwrap();
    fs::write(place.join("notes.txt"), "secret").unwrap();
    let cache = place.join("cache");
    let entry = format!("compat:zombies:{}", place.join("Spy.java").display());
    let play = || result(a_match(&[&entry, "wander", "--sandbox", "full"]).env("XDG_CACHE_HOME", &cache));
    let first = play();
    assert_eq!(first["logs"][0], "false false\n");
    let made = || {
        let mut made: Vec<_> = fs::read_dir(cache.join("necrodome/zombies"))
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name(), entry.metadata().unwrap().modified().unwrap()))
            .collect();
        made.sort();
        made
    };
    let before = made();
    // The host and the bot, and nothing half-made.
    assert_eq!(before.len(), 2, "{before:?}");
    assert_eq!(
        (play()["entries"][0]["fingerprint"].clone(), made()),
        (first["entries"][0]["fingerprint"].clone(), before)
    );
}

#[test]
fn scripts_are_run_as_their_engines_of_then_did() {
    let folder = tempfile::tempdir().unwrap();
    let entry = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        format!("compat:zombies:{}", folder.path().join(name).display())
    };
    // Classes in variables, what a package imports, and the printing of the contest's JDK; a name that is no class.
    let script = "var Move = Packages.zombie.Move, Registry = Packages.zombie.PlayerRegistry\nimportPackage(Packages.zombie)\n\
                  println('ready')\nfunction Bot() { this.doTurn = function (context) { return Move.EAST } }\n\
                  Registry.registerPlayer('Dr. v1.5', new Player(new Bot()))\n";
    let played = result(&mut a_match(&[&entry("bot.js", script), "wander"]));
    assert_eq!((names(&played)[0], &played["logs"][0]), ("Dr. v1.5", &"ready\n".into()));
    // What a script keeps for itself is new in each match.
    let script = "(ns my.bot (:require clojure.set))\n(defonce played (atom 0))\n(swap! played inc)\n\
                  (.println System/err (str \"match \" @played (clojure.set/union)))\n\
                  (zombie.PlayerRegistry/registerPlayer \"Owl\" (reify zombie.Player (doTurn [_ context] zombie.Move/EAST)))\n";
    let entry = entry("bot.clj", script);
    let words = [
        "tournament",
        "last-bullet",
        &entry,
        "wander",
        "--rounds=3",
        "--set=copies=2",
        "--set=max_turns=3",
        "--json",
    ];
    let ended = necrodome(&words).assert().success();
    let report: Value = serde_json::from_slice(&ended.get_output().stdout).unwrap();
    assert_eq!(
        report["logs"][0]["lines"],
        serde_json::json!(["match 1#{}", "[the same 2 more times]"]),
        "{report:#}"
    );
}

#[test]
fn what_strangers_pack_stays_within_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let play = |path: &Path| {
        let mut play = a_match(&[&format!("compat:zombies:{}:Statue", path.display()), "wander"]);
        play.env("XDG_CACHE_HOME", &cache);
        play
    };
    // A link leads nowhere: what it names would be copied to where the bot can read it.
    let classes = compiled(folder.path());
    fs::write(folder.path().join("secret.txt"), "a secret").unwrap();
    std::os::unix::fs::symlink(folder.path().join("secret.txt"), classes.join("notes.txt")).unwrap();
    result(&mut play(&classes));
    let made = |name: &str| {
        let mut found = Vec::new();
        let mut folders = vec![cache.clone()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
                if entry.file_name() == name {
                    found.push(entry.path());
                }
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        found
    };
    assert_eq!((made("notes.txt").len(), made("Statue.class").len()), (0, 1));
    // A small file that unpacks to much, hidden in the package that is never looked at.
    let zeros = folder.path().join("zeros/zombie");
    fs::create_dir_all(&zeros).unwrap();
    for name in ["one", "two"] {
        fs::File::create(zeros.join(name)).unwrap().set_len(40 << 20).unwrap();
    }
    let bomb = folder.path().join("bomb.jar");
    let mut pack = Command::new("jar");
    pack.args(["--create", "--file"])
        .arg(&bomb)
        .arg("-C")
        .arg(folder.path().join("zeros"))
        .arg(".")
        .assert()
        .success();
    let error = refusal(&mut play(&bomb), 2);
    assert!(error.contains("more than a bot"), "{error}");
    assert_eq!(made("two").len(), 0);
    // What never ends is no file.
    let fifo = folder.path().join("Statue.java");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(refusal(&mut play(&fifo), 2).contains("it is not a file"));
}

#[test]
fn another_class_of_the_same_folder_is_another_bot() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("--store={}", folder.path().join("a.store").display());
    let play = |class: &str, rounds: &str| {
        let entry = format!("x=compat:zombies:{}:{class}", bots().join("java").display());
        let rounds = format!("--rounds={rounds}");
        let words =
            ["tournament", "last-bullet", &entry, "wander", "--set=copies=2", "--seed=1", &store, &rounds];
        necrodome(&words)
    };
    play("Statue", "1").assert().success();
    let error = refusal(&mut play("Sprinter", "2"), 2);
    assert!(error.contains("--new-version"), "{error}");
}
