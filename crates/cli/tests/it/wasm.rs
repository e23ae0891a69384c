//! Bots as WebAssembly modules, end to end: they do the same everywhere, including timeouts.

use crate::program::{necrodome_in, output_in, refusal};
use serde_json::{Value, json};
use std::{fs, path::Path, process::Command};
use tempfile::TempDir;

/// Compiles a bot of C for zombie-dice, of which a line is replaced.
fn compile(folder: &Path, name: &str, from: &str, to: &str) {
    let source = format!("{name}.c");
    output_in(folder, &["new-bot", "zombie-dice", "c", &source, "--wasm"]);
    let text = fs::read_to_string(folder.join(&source)).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(folder.join(&source), text.replace(from, to)).unwrap();
    let words = ["--target=wasm32-wasi", "-O2", "-o", &format!("{name}.wasm"), &source];
    let built = Command::new("clang").current_dir(folder).args(words).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

fn json_of(folder: &Path, words: &[&str]) -> Value {
    serde_json::from_str(&output_in(folder, words)).unwrap()
}

#[test]
fn a_tournament_has_the_same_hash_with_any_number_of_threads() {
    let folder = TempDir::new().unwrap();
    compile(folder.path(), "mybot", "", "");
    let play = |threads: &str| {
        let words = ["tournament", "zombie-dice", "greedy", "./mybot.wasm", "--blocks", "150", "--seed", "3"];
        json_of(folder.path(), &[&words[..], &["--threads", threads, "--json", "--public-dice"]].concat())
    };
    let (one, two) = (play("1"), play("2"));
    assert!(one["hash"].is_string(), "{one}");
    assert_eq!(one["hash"], two["hash"]);
    assert_eq!(one["faults"], json!([]));
}

#[test]
fn a_bot_that_thinks_longer_and_longer_is_stopped_at_the_same_decision_in_every_process() {
    let folder = TempDir::new().unwrap();
    let spin = "static unsigned long thoughts;\n\
                for (volatile unsigned long left = thoughts += 20000; left; left--) {}\n\
                const char *action";
    compile(folder.path(), "thinker", "const char *action", spin);
    let play = || {
        let words = ["match", "zombie-dice", "stop-at:brains=9", "./thinker.wasm", "--seed", "5", "--json"];
        json_of(folder.path(), &[&words[..], &["--decision-fuel-m", "1", "--public-dice"]].concat())
    };
    let one = play();
    assert_eq!(one["faults"][0]["kind"], "timeout");
    assert_eq!(one["faults"][0]["detail"], "all 1 million instructions are used up");
    assert!(one["faults"][0]["step"].as_u64().unwrap() > 0, "{one}");
    assert_eq!(one, play());
}

#[test]
fn instructions_are_counted_alike_in_every_process() {
    let folder = TempDir::new().unwrap();
    compile(folder.path(), "mybot", "", "");
    let check = || output_in(folder.path(), &["check-bot", "zombie-dice", "./mybot.wasm"]);
    let one = check();
    let words = one.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("M instructions in the median of"), "{one}");
    assert!(words.contains("M instructions, where 20000 M are allowed"), "{one}");
    assert_eq!(one, check());
}

#[test]
fn what_is_no_module_is_refused_with_a_hint() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("bot.wasm"), "#!/bin/sh").unwrap();
    let said = refusal(&mut necrodome_in(folder.path(), &["match", "tokyo", "angry", "./bot.wasm"]), 2);
    assert_eq!(
        said,
        "error: cannot run \"./bot.wasm\": not a WebAssembly module: it does not begin with \\0asm\n\
         hint: `necrodome docs wasm` tells how to build a bot that runs as .wasm"
    );
    let said = refusal(&mut necrodome_in(folder.path(), &["check-bot", "tokyo", "none.wasm"]), 2);
    assert_eq!(said, "error: there is no file \"./none.wasm\"");
}

/// Bots of other languages run unchanged inside the arena.
fn plays_interpreted(language: &str, file: &str) {
    let folder = TempDir::new().unwrap();
    output_in(folder.path(), &["new-bot", "tokyo", language, file]);
    let entry = format!("wasm:{file}");
    let words = ["match", "tokyo", &entry, "angry", "--seed", "5", "--json", "--public-dice"];
    let ran = necrodome_in(folder.path(), &words).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}\nscripts/wasm-interpreters gets the interpreters");
    let one: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(one["faults"], json!([]), "{one}");
    assert_eq!(one, json_of(folder.path(), &words));
}

#[test]
fn javascript_runs_inside() {
    plays_interpreted("javascript", "mybot.js");
}

#[test]
fn python_runs_inside() {
    plays_interpreted("python", "mybot.py");
}

#[test]
fn an_interpreter_that_is_not_there_is_named() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("bot.py"), "").unwrap();
    let mut command = necrodome_in(folder.path(), &["match", "tokyo", "angry", "wasm:bot.py"]);
    let said = refusal(command.env("NECRODOME_WASM", "nowhere"), 2);
    assert_eq!(
        said,
        "error: there is no \"nowhere/python.wasm\", which runs wasm:bot.py\n\
         hint: `necrodome docs wasm` tells how to get it"
    );
}
