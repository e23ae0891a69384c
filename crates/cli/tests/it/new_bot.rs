//! `new-bot`, in every language and for every game: the bots that it writes pass `check-bot` and play a match without a fault.

use crate::program::{necrodome_in, output_in};
use serde_json::Value;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

const GAMES: [(&str, &[&str]); 6] = [
    ("zombie-dice", &["greedy", "cautious"]),
    ("zombie-dice-solo", &[]),
    ("zombie-dice-race", &["greedy"]),
    ("last-bullet", &["gunner", "runner"]),
    ("infection", &["careful", "spreader", "random"]),
    ("tokyo", &["angry", "random"]),
];

/// Standard error of a command that fails with this exit code.
fn refusal(folder: &Path, words: &[&str], code: i32) -> String {
    let result = necrodome_in(folder, words).assert().code(code).stdout("");
    String::from_utf8(result.get_output().stderr.clone()).unwrap().trim_end().to_owned()
}

/// A test that cannot run must not look as if it had passed.
fn need(program: &str, package: &str) {
    let found = std::process::Command::new(program).arg("--version").output();
    assert!(
        found.is_ok_and(|result| result.status.success()),
        "{program} is missing. Install it: apt-get install {package} (./scripts/test does)"
    );
}

fn run(folder: &Path, program: &str, words: &[&str]) {
    let result = std::process::Command::new(program).current_dir(folder).args(words).output().unwrap();
    assert!(result.status.success(), "{program} {words:?}\n{}", String::from_utf8_lossy(&result.stderr));
}

/// The bot passes the gauntlet with nothing skipped, and plays a real match without a fault.
fn plays(folder: &Path, game: &str, others: &[&str], entry: &str) {
    let check = output_in(folder, &["check-bot", game, entry]);
    assert!(check.contains("ready for the arena"), "{check}");
    assert!(!check.lines().any(|line| line.starts_with("FAIL") || line.starts_with("skip")), "{check}");
    let words = [&["match", game, entry][..], others, &["--seed", "5", "--public-dice", "--json"]].concat();
    let result: Value = serde_json::from_str(&output_in(folder, &words)).unwrap();
    assert_eq!(result["faults"], serde_json::json!([]), "{game} {entry}");
}

/// Writes a bot for each game and plays it as it is.
fn plays_all(language: &str, file: &str) {
    for (game, others) in GAMES {
        let folder = TempDir::new().unwrap();
        let told = output_in(folder.path(), &["new-bot", game, language, file]);
        let entry = format!("./{file}");
        assert!(told.contains(&format!("necrodome check-bot {game} {entry}\n")), "{told}");
        plays(folder.path(), game, others, &entry);
    }
}

/// The games whose templates have code of their own; all others have that of Tokyo.
const CODES: [&str; 3] = ["tokyo", "last-bullet", "infection"];

/// Plays what was compiled from the template of `code` in all games that have it.
fn plays_where_alike(folder: &Path, code: &str, entry: &str) {
    let code_of = |game| if CODES.contains(&game) { game } else { "tokyo" };
    for (game, others) in GAMES.into_iter().filter(|(game, _)| code_of(game) == code) {
        plays(folder, game, others, entry);
    }
}

#[test]
fn python() {
    need("python3", "python3");
    plays_all("python", "mybot.py");
}

#[test]
fn javascript() {
    need("node", "nodejs");
    plays_all("javascript", "mybot.js");
}

#[test]
fn ruby() {
    need("ruby", "ruby");
    plays_all("ruby", "mybot.rb");
}

#[test]
fn c() {
    need("gcc", "gcc libc6-dev");
    for (game, others) in GAMES {
        let folder = TempDir::new().unwrap();
        let told = output_in(folder.path(), &["new-bot", game, "c", "mybot.c"]);
        assert!(told.contains("  cc -O2 -o mybot mybot.c\n"), "{told}");
        run(folder.path(), "gcc", &["-O2", "-Wall", "-Wextra", "-Werror", "-o", "mybot", "mybot.c"]);
        plays(folder.path(), game, others, "./mybot");
    }
}

#[test]
fn java() {
    need("java", "default-jdk-headless");
    need("javac", "default-jdk-headless");
    let folder = TempDir::new().unwrap();
    output_in(folder.path(), &["new-bot", "tokyo", "java", "Sniper.java"]);
    assert!(fs::read_to_string(folder.path().join("Sniper.java")).unwrap().contains("public class Sniper "));
    // As the next steps say, without compiling it first.
    plays(folder.path(), "tokyo", &["angry"], "./Sniper.java");
    for code in CODES {
        output_in(folder.path(), &["new-bot", code, "java", "Sniper.java", "--force"]);
        run(folder.path(), "javac", &["-d", "classes", "Sniper.java"]);
        let entry = "cmd:java -Xmx256m -Xss512k -XX:+UseSerialGC -cp classes Sniper";
        plays_where_alike(folder.path(), code, entry);
    }
}

/// Built as the next steps say, and never started as a process.
#[test]
fn c_as_wasm() {
    need("clang", "clang lld wasi-libc libclang-rt-dev-wasm32");
    for (game, others) in GAMES {
        let folder = TempDir::new().unwrap();
        let told = output_in(folder.path(), &["new-bot", game, "c", "mybot.c", "--wasm"]);
        let build = "clang --target=wasm32-wasi -O2 -o mybot.wasm mybot.c";
        assert!(told.contains(&format!("  {build}\n")), "{told}");
        let text = fs::read_to_string(folder.path().join("mybot.c")).unwrap();
        assert!(text.contains(build) && text.contains("./mybot.wasm\n"), "{text}");
        let words: Vec<&str> = build.split(' ').skip(1).collect();
        run(folder.path(), "clang", &words);
        plays(folder.path(), game, others, "./mybot.wasm");
    }
}

#[test]
fn rust_as_wasm() {
    let folder = TempDir::new().unwrap();
    let told = output_in(folder.path(), &["new-bot", "tokyo", "rust", "eater", "--wasm"]);
    let build = "cargo build --release --target wasm32-wasip1 --manifest-path eater/Cargo.toml";
    assert!(told.contains(&format!("  rustup target add wasm32-wasip1\n  {build}\n")), "{told}");
    let entry = "eater/target/wasm32-wasip1/release/eater.wasm";
    assert!(told.contains(&format!("necrodome check-bot tokyo {entry}\n")), "{told}");
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("new-bot");
    for code in CODES {
        output_in(folder.path(), &["new-bot", code, "rust", "eater", "--wasm", "--force"]);
        let build = std::process::Command::new(env!("CARGO"))
            .args(["build", "--release", "--quiet", "--target", "wasm32-wasip1"])
            .current_dir(folder.path().join("eater"))
            .env("CARGO_TARGET_DIR", &target)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&build.stderr);
        assert!(build.status.success(), "rustup target add wasm32-wasip1 (./scripts/test does)\n{said}");
        let module = target.join("wasm32-wasip1/release/eater.wasm");
        plays_where_alike(folder.path(), code, module.to_str().unwrap());
    }
}

#[test]
fn only_what_compiles_to_wasm_is_offered_as_such() {
    let folder = TempDir::new().unwrap();
    let said = refusal(folder.path(), &["new-bot", "tokyo", "ruby", "bot.rb", "--wasm"], 2);
    assert_eq!(said, "error: --wasm: expected rust or c, got ruby");
    assert!(!folder.path().join("bot.rb").exists());
}

#[test]
fn rust() {
    let folder = TempDir::new().unwrap();
    let told = output_in(folder.path(), &["new-bot", "tokyo", "rust", "Brain Eater"]);
    assert!(told.contains("cargo build --release --manifest-path 'Brain Eater/Cargo.toml'"), "{told}");
    assert!(told.contains("'Brain Eater/target/release/brain-eater'"), "{told}");
    // In the target folder of the repository, so that serde_json is compiled once and for all.
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("new-bot");
    for code in CODES {
        output_in(folder.path(), &["new-bot", code, "rust", "Brain Eater", "--force"]);
        let build = std::process::Command::new(env!("CARGO"))
            .args(["build", "--release", "--quiet"])
            .current_dir(folder.path().join("Brain Eater"))
            .env("CARGO_TARGET_DIR", &target)
            .output()
            .unwrap();
        assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
        plays_where_alike(folder.path(), code, target.join("release/brain-eater").to_str().unwrap());
    }
}

#[test]
fn placeholders_are_filled_and_scripts_can_be_run() {
    let folder = TempDir::new().unwrap();
    for (game, _) in GAMES {
        for language in ["python", "javascript", "java", "rust", "c", "ruby"] {
            output_in(folder.path(), &["new-bot", game, language, &format!("{game}/{language}/")]);
        }
    }
    let mut files = Vec::new();
    let mut folders = vec![folder.path().to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    assert_eq!(files.len(), 6 * 8);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("{{"), "{file:?}");
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o100 != 0, text.starts_with("#!"), "{file:?}");
    }
    let manifest = fs::read_to_string(folder.path().join("tokyo/rust/Cargo.toml")).unwrap();
    assert!(manifest.contains("name = \"rust\""), "{manifest}");
    assert!(folder.path().join("tokyo/java/Bot.java").is_file());
}

#[test]
fn paths_and_names() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    output_in(folder, &["new-bot", "tokyo", "py", "deep/er/mybot", "--name", "Big One"]);
    let text = fs::read_to_string(folder.join("deep/er/mybot.py")).unwrap();
    assert!(text.contains("\"\"\"Big One, a bot for tokyo.\n"), "{text}");
    assert!(text.contains("check-bot tokyo mybot.py\n"), "{text}");
    output_in(folder, &["new-bot", "tokyo", "ruby", "."]);
    assert!(folder.join("bot.rb").is_file());
    output_in(folder, &["new-bot", "zombie-dice", "java", "my-bot"]);
    assert!(fs::read_to_string(folder.join("my-bot.java")).unwrap().contains("\nclass Bot {"));
}

/// The name is in the file, and the arena calls the bot by it.
#[test]
fn names_are_honoured_in_every_language() {
    for (game, _) in GAMES {
        for (language, file) in [
            ("python", "Big_One.py"),
            ("javascript", "Big_One.js"),
            ("java", "Big_One.java"),
            ("c", "Big_One.c"),
            ("ruby", "Big_One.rb"),
            ("rust", "src/main.rs"),
        ] {
            let folder = TempDir::new().unwrap();
            let told = output_in(folder.path(), &["new-bot", game, language, ".", "--name", "Big One"]);
            let text = fs::read_to_string(folder.path().join(file)).unwrap();
            assert!(text.contains(&format!("Big One, a bot for {game}.")), "{text}");
            assert!(told.contains(&format!("necrodome check-bot {game} 'Big One=./")), "{told}");
            if language == "java" {
                assert!(text.contains("public class Big_One {"), "{text}");
            }
            if language == "rust" {
                let manifest = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
                assert!(manifest.contains("name = \"big-one\""), "{manifest}");
            }
        }
    }
    // A file with the bot's own name needs no other.
    let folder = TempDir::new().unwrap();
    let told = output_in(folder.path(), &["new-bot", "tokyo", "java", ".", "--name", "Sniper"]);
    assert!(told.contains("necrodome check-bot tokyo ./Sniper.java\n"), "{told}");
}

/// A template has its own game only, and says where to print.
#[test]
fn templates_hold_their_own_game_only() {
    for (game, _) in GAMES {
        for (language, file, aside) in [
            ("python", "bot.py", "file=sys.stderr"),
            ("javascript", "bot.js", "console.error("),
            ("java", "Bot.java", "System.err.println("),
            ("c", "bot.c", "fprintf(stderr"),
            ("ruby", "bot.rb", "warn "),
            ("rust", "src/main.rs", "eprintln!("),
        ] {
            let folder = TempDir::new().unwrap();
            output_in(folder.path(), &["new-bot", game, language, "."]);
            let text = fs::read_to_string(folder.path().join(file)).unwrap();
            assert!(text.contains(aside), "{text}");
            for (other, word) in [("last-bullet", "northeast"), ("infection", "partners")] {
                assert_eq!(text.contains(word), game == other, "{game} {language} {word}");
            }
        }
    }
}

#[test]
fn nothing_is_overwritten_without_force() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("mine.py"), "precious").unwrap();
    let words = ["new-bot", "tokyo", "python", "mine.py"];
    assert!(refusal(folder, &words, 1).contains("mine.py is there already"));
    assert_eq!(fs::read_to_string(folder.join("mine.py")).unwrap(), "precious");
    output_in(folder, &[&words[..], &["--force"]].concat());
    assert!(fs::read_to_string(folder.join("mine.py")).unwrap().starts_with("#!"));
    // One file of a crate is enough to refuse, and then none of the others is written.
    fs::create_dir_all(folder.join("crate")).unwrap();
    fs::write(folder.join("crate/Cargo.toml"), "precious").unwrap();
    assert!(refusal(folder, &["new-bot", "tokyo", "rust", "crate"], 1).contains("crate/Cargo.toml is there"));
    assert!(!folder.join("crate/src").exists());
}

#[test]
fn mistakes_get_one_line_with_a_hint() {
    let folder = TempDir::new().unwrap();
    let error = |words: &[&str]| refusal(folder.path(), words, 2);
    assert_eq!(
        error(&["new-bot", "tokyo", "pyton", "x"]),
        "error: there is no template for \"pyton\": expected one of python, javascript, java, rust, c, ruby\n\
         hint: did you mean python?"
    );
    let cobol = error(&["new-bot", "tokyo", "cobol", "x"]);
    assert!(cobol.ends_with("expected one of python, javascript, java, rust, c, ruby"), "{cobol}");
    assert!(error(&["new-bot", "toyko", "python", "x"]).contains("did you mean tokyo?"));
    assert!(error(&["new-bot", "tokyo", "python", "x.js"]).contains("expected the extension .py"));
    assert!(error(&["new-bot", "tokyo", "c", "x", "--name", "a */ b"]).contains("bad name"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
