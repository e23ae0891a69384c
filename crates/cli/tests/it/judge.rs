//! `judge new` and `judge run`, through the binary.

use crate::program::{necrodome_in, output_in};
use serde_json::Value;
use std::{fs, path::Path, process::Output};

fn judge(folder: &Path, words: &[&str]) -> Output {
    necrodome_in(folder, &[&["judge"], words].concat()).output().unwrap()
}

fn output(folder: &Path, words: &[&str]) -> String {
    output_in(folder, &[&["judge"], words].concat())
}

/// Standard error of a command that fails.
fn error(folder: &Path, code: i32, words: &[&str]) -> String {
    let output = judge(folder, words);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {error}");
    error
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

const GAME: &str = "SET start_antibodies 2\nHUMAN Anna\nHUMAN Ben\nHUMAN \"Carla Maria\"\nZOMBIE Zoe\nGAME_START\n\
    i anna ben\ni carla zoe\nnt\n";

#[test]
fn a_party_is_drawn_from_an_example_that_is_written_first() {
    let folder = folder();
    let told = output(folder.path(), &["new", "--seed", "7"]);
    assert!(
        told.contains("an example has been written to it") && told.contains("8 players, 1 zombie among them"),
        "{told}"
    );
    let config = fs::read_to_string(folder.path().join("config.yml")).unwrap();
    assert!(config.starts_with("# A party of Infection."), "{config}");
    let script = fs::read_to_string(folder.path().join("game.txt")).unwrap();
    assert_eq!(script.matches("ZOMBIE ").count(), 1);
    assert_eq!(script.matches("HUMAN ").count(), 7);
    let report = output(folder.path(), &["run", "game.txt"]);
    assert!(report.starts_with("8 players, 1 zombie at the start, 4 turns"), "{report}");

    // What is there is not overwritten, unless it is meant to be.
    let refused = error(folder.path(), 1, &["new"]);
    assert!(refused.contains("game.txt is there already") && refused.contains("--force"), "{refused}");
    assert_eq!(fs::read_to_string(folder.path().join("game.txt")).unwrap(), script);
    output(folder.path(), &["new", "--seed", "7", "--force"]);
    assert_eq!(fs::read_to_string(folder.path().join("game.txt")).unwrap(), script);
    let scripts: Vec<String> = (0..6)
        .map(|seed| {
            output(folder.path(), &["new", "--seed", &seed.to_string(), "--force"]);
            fs::read_to_string(folder.path().join("game.txt")).unwrap()
        })
        .collect();
    let zombie = |script: &String| script.lines().find(|line| line.starts_with("ZOMBIE")).unwrap().to_owned();
    let mut zombies: Vec<String> = scripts.iter().map(zombie).collect();
    zombies.dedup();
    assert!(zombies.len() > 1, "always the same zombie: {zombies:?}");
    // An edited set-up stays as it is.
    fs::write(folder.path().join("config.yml"), "players: [a, b, c]\nzombies: 2\nmax_turns: 3\n").unwrap();
    let told = output(folder.path(), &["new", "--force", "--script", "other.txt"]);
    assert!(told.starts_with("3 players, 2 zombies among them"), "{told}");
    assert!(
        output(folder.path(), &["run", "other.txt"])
            .starts_with("3 players, 2 zombies at the start, 3 turns")
    );
}

#[test]
fn a_bad_set_up_is_an_error_with_file_line_and_column() {
    let folder = folder();
    for (text, place, message) in [
        ("players: [a, b\n", "my.yml:1:10", ""),
        ("players: []\n", "my.yml:1:10", "at least two players, got 0"),
        ("players: [a, b]\nzombies: 3\n", "my.yml:2:10", "expected fewer zombies than the 2 players, got 3"),
        ("players: [a, b]\nzombies: 2\n", "my.yml:2:10", "expected fewer zombies than the 2 players, got 2"),
        ("players:\n  - Tim\n  - Kiril\n  - TIM\n", "my.yml:4:5", "\"TIM\" plays already (line 2)"),
        ("players: [a, b]\nturns: 3\n", "my.yml:2:1", "turns"),
        ("", "my.yml:1:1", "expected players"),
        ("players: [a, b]\nmax_turns: soon\n", "my.yml:2:12", ""),
    ] {
        fs::write(folder.path().join("my.yml"), text).unwrap();
        let error = error(folder.path(), 2, &["new", "--config", "my.yml"]);
        assert!(error.contains(place) && error.contains(message), "{text}: {error}");
        assert!(!folder.path().join("game.txt").exists());
    }
}

#[test]
fn a_script_is_told_to_those_who_may_hear_it() {
    let folder = folder();
    fs::write(folder.path().join("game.txt"), GAME).unwrap();
    let run = |words: &[&str]| output(folder.path(), &[&["run", "game.txt"], words].concat());
    let judge = run(&[]);
    assert!(judge.contains("Carla Maria: becomes infected") && judge.contains("Now"), "{judge}");
    let public = run(&["--public"]);
    assert_eq!(
        public,
        "The game begins: 3 humans, 1 zombie; the most antibodies anybody has: 2, the most viruses: 0.\n\
         Turn 1 is over: 3 humans, 1 zombie; the most antibodies anybody has: 3, the most viruses: 0.\n"
    );
    let whispered = run(&["--player", "carla"]);
    assert_eq!(
        whispered,
        "For Carla Maria\nAt the start: you are human and have 2 antibodies.\n\
         Turn 1: you met Zoe. Now you are human and have 1 antibody.\n"
    );
    run(&["--letters", "notes"]);
    assert_eq!(fs::read_to_string(folder.path().join("notes/003-Carla_Maria.txt")).unwrap(), whispered);
    assert_eq!(fs::read_dir(folder.path().join("notes")).unwrap().count(), 4);
    let json: Value = serde_json::from_str(&run(&["--json"])).unwrap();
    assert_eq!(json["players"][2]["role"], "infected");
    assert_eq!(json["players"][2]["letter"], whispered);
    assert_eq!((json["turns"].as_u64(), json["mistakes"].as_array().unwrap().len()), (Some(1), 0));
    assert_eq!(json["records"][1]["type"], "contact");
    let unknown = error(folder.path(), 2, &["run", "game.txt", "--player", "nobody"]);
    assert!(unknown.contains("Carla Maria"), "{unknown}");
}

#[test]
fn all_mistakes_are_shown_at_once_and_left_out() {
    let folder = folder();
    let text = format!(
        "{GAME}i ana zoe\ni ben zoe*2 # he is no match\ni ben*1 anna\nintract anna ben\ni anna ben!\nnt\n"
    );
    fs::write(folder.path().join("game.txt"), &text).unwrap();
    let shown = judge(folder.path(), &["run", "game.txt"]);
    assert_eq!(shown.status.code(), Some(1));
    let (report, errors) =
        (String::from_utf8(shown.stdout).unwrap(), String::from_utf8(shown.stderr).unwrap());
    assert!(report.contains("left out: lines 10, 11, 12, 13"), "{report}");
    insta::assert_snapshot!(errors);
    // The good lines among them count.
    assert!(report.contains("Anna met Ben (precaution)"), "{report}");
    // Mistakes tell secrets: who looks at the public report does not see them.
    for words in [&["run", "game.txt", "--public"][..], &["run", "game.txt", "--player", "ben"]] {
        let error = error(folder.path(), 1, words);
        assert_eq!(error, "error: 4 lines of game.txt do not count\n");
    }
    let json = judge(folder.path(), &["run", "game.txt", "--json"]);
    let document: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(document["mistakes"][0]["line"], 10);
    assert_eq!(document["mistakes"][0]["column"], 3);
}

#[test]
fn files_that_are_not_there_or_no_text_are_errors_and_no_panics() {
    let folder = folder();
    assert!(error(folder.path(), 2, &["run", "nowhere.txt"]).contains("nowhere.txt"));
    fs::write(folder.path().join("bytes.txt"), b"HUMAN a\nHUMAN b\n\xff\xfe\xfd\nGAME_START\n\"\n").unwrap();
    let shown = judge(folder.path(), &["run", "bytes.txt"]);
    assert_eq!(shown.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&shown.stdout).contains("left out: lines 3, 5"));
    fs::write(folder.path().join("empty.txt"), "").unwrap();
    assert_eq!(output(folder.path(), &["run", "empty.txt"]), "0 players, 0 zombies at the start, 8 turns\n");
}

/// What is no script by its size is refused at once, and a script full of mistakes does not fill the screen.
#[test]
fn files_that_are_no_scripts_are_refused_before_they_are_read() {
    let folder = folder();
    let write = |text: &str| fs::write(folder.path().join("game.txt"), text).unwrap();
    for (text, words) in [
        ("x".repeat(5 << 20), "the file is too large: expected at most 4 MB"),
        (format!("{GAME}# {}\n", "x".repeat(20_000)), "line 10 is too long"),
    ] {
        write(&text);
        for verb in
            [&["run"][..], &["watch", "--once"], &["live"], &["new", "--config=game.txt", "--script=new.txt"]]
        {
            let told = error(folder.path(), 2, verb);
            assert!(told.contains(words) && told.len() < 500, "{verb:?}: {told}");
        }
    }
    write(&(GAME.to_owned() + &"nonsense\n".repeat(300)));
    let run = judge(folder.path(), &["run"]);
    let (out, told) = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
    assert!(
        out.contains(" and 200 more") && told.contains("300 lines of game.txt do not count"),
        "{out}{told}"
    );
    assert_eq!(told.matches("nonsense\"").count().max(told.matches("Error").count()), 100, "{told}");
}

/// A script as an older judge read it.
const OLDER: &str =
    "HUMAN Anna\nHUMAN Ben\nHUMAN Carla\nZOMBIE Zoe\n\nGAME_START 6 3\n\nt anna ben\nt zoe ben\nnt\na ben\n";

#[test]
fn older_scripts_are_judged_by_the_classic_rules_and_can_be_converted() {
    let folder = folder();
    fs::write(folder.path().join("old.txt"), OLDER).unwrap();
    let ran = judge(folder.path(), &["run", "old.txt"]);
    let [report, notes] = [&ran.stdout, &ran.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(ran.status.success(), "{notes}");
    assert_eq!(notes.lines().count(), 1, "{notes}");
    assert!(notes.starts_with("old.txt is written for an older judge: the classic rules apply"), "{notes}");
    assert!(report.contains("Classic rules: 3 turns to cure an infection, 6 to begin a contact"), "{report}");
    assert!(report.contains("Ben takes the antidote, is cured and human again"), "{report}");
    assert!(
        report.contains("  Ben    human     1 handshake, 0 antidotes, 5 turns to begin a contact"),
        "{report}"
    );

    // Converted, it is the same game, in a script that is nothing special.
    let printed = output(folder.path(), &["convert", "old.txt"]);
    output(folder.path(), &["convert", "old.txt", "--to", "new.txt"]);
    assert_eq!(fs::read_to_string(folder.path().join("new.txt")).unwrap(), printed);
    for line in [
        "SET rules classic",
        "SET interaction_limit 6",
        "SET antidote_limit 3",
        "GAME_START",
        "INTERACT anna ben",
    ] {
        assert!(printed.lines().any(|other| other == line), "{line}: {printed}");
    }
    let document = |name: &str| -> Value {
        let mut document: Value =
            serde_json::from_str(&output(folder.path(), &["run", name, "--json"])).unwrap();
        // Lines have moved.
        for record in document["records"].as_array_mut().unwrap() {
            record["line"] = 0.into();
        }
        document
    };
    let [mut old, mut new] = ["old.txt", "new.txt"].map(document);
    assert_eq!((old["dialect"].take(), new["dialect"].take()), ("older".into(), "current".into()));
    assert_eq!(old, new);
    let exists = error(folder.path(), 1, &["convert", "old.txt", "--to", "new.txt"]);
    assert!(exists.contains("--force"), "{exists}");
    // Whoever converts a new script is told, and gets it as it is.
    let same = judge(folder.path(), &["convert", "new.txt"]);
    assert!(String::from_utf8_lossy(&same.stderr).contains("was not written for an older judge"));
    assert_eq!(String::from_utf8_lossy(&same.stdout), printed);
}

#[test]
fn convert_reports_the_mistakes_that_run_reports() {
    let folder = folder();
    for (text, converted) in [
        (OLDER.replace("6 3", "1.5 x"), "ZOMBIE Zoe"),
        (OLDER.replace("6 3", "-1 -1 -1"), "ZOMBIE Zoe"),
        (OLDER.replace("6 3", "4294967296 3"), "ZOMBIE Zoe"),
        (OLDER.replace("t anna ben", "t anna dora"), "GAME_START"),
        ("GAME_START 6 3\nt anna ben\n".to_owned(), "SET rules classic"),
        // Not an older one: it stays as it is.
        ("SET max_turns 5\nHUMAN  a\nHUMAN b\nGAME_START 5\n".to_owned(), "HUMAN  a"),
    ] {
        fs::write(folder.path().join("old.txt"), &text).unwrap();
        // One line says what kind of script it is.
        let mistakes = |verb: &str| {
            let told = error(folder.path(), 1, &[verb, "old.txt"]);
            told.lines().filter(|line| !line.starts_with("old.txt ")).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(mistakes("convert"), mistakes("run"), "{text}");
        let printed = String::from_utf8(judge(folder.path(), &["convert", "old.txt"]).stdout).unwrap();
        assert!(printed.lines().any(|line| line == converted), "{printed}");
        if text.starts_with("SET") {
            assert_eq!(printed, text);
            continue;
        }
        // What is left makes no mistakes, and is the same game.
        fs::write(folder.path().join("new.txt"), &printed).unwrap();
        let public = |name: &str| judge(folder.path(), &["run", name, "--public"]).stdout;
        assert_eq!(public("new.txt"), public("old.txt"), "{printed}");
        output(folder.path(), &["run", "new.txt"]);
    }
}

#[test]
fn older_set_ups_make_classic_parties() {
    let folder = folder();
    let older = "---\n:players:\n- Anna\n- Ben\n- Carla\n:zombie_count: 1\n:interation_turn_limit: 6\n:antidote_turn_limit: 2\n";
    fs::write(folder.path().join("config.yml"), older).unwrap();
    let made = judge(folder.path(), &["new", "--seed", "3"]);
    let notes = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(made.status.success() && notes.contains("config.yml is written for an older judge"), "{notes}");
    let report = output(folder.path(), &["run"]);
    assert!(report.contains("Classic rules: 2 turns to cure an infection, 6 to begin a contact"), "{report}");
    output(folder.path(), &["convert", "config.yml", "--to", "new.yml"]);
    let converted = fs::read_to_string(folder.path().join("new.yml")).unwrap();
    assert!(
        converted.contains("\nrules: classic\n") && converted.contains("\ninteraction_limit: 6\n"),
        "{converted}"
    );
    output(folder.path(), &["new", "--config", "new.yml", "--script", "new.txt", "--seed", "3"]);
    let [one, other] =
        ["game.txt", "new.txt"].map(|name| fs::read_to_string(folder.path().join(name)).unwrap());
    assert_eq!(one, other);
    // One that is not older stays as it is.
    fs::write(folder.path().join("own.yml"), "# ours\nplayers: [Anna,  Ben] # two\n").unwrap();
    let same = judge(folder.path(), &["convert", "own.yml"]);
    assert_eq!(
        String::from_utf8_lossy(&same.stderr),
        "own.yml was not written for an older judge: it stays as it is\n"
    );
    assert_eq!(same.stdout, fs::read(folder.path().join("own.yml")).unwrap());
}

#[test]
fn one_cause_gives_one_error() {
    let folder = folder();
    let script = OLDER.replace("6 3", "six 3");
    fs::write(folder.path().join("old.txt"), script).unwrap();
    let wrong = error(folder.path(), 1, &["run", "old.txt"]);
    assert_eq!(wrong.matches("Error:").count(), 1, "{wrong}");
    assert!(
        wrong.contains("interaction_limit") && wrong.contains("4 more lines left out for the same cause"),
        "{wrong}"
    );
    assert!(wrong.contains("5 lines of old.txt do not count"), "{wrong}");
    let document: Value =
        serde_json::from_slice(&judge(folder.path(), &["run", "old.txt", "--json"]).stdout).unwrap();
    assert_eq!(document["mistakes"][0]["also"], serde_json::json!([8, 9, 10, 11]));
    // A name that is not read is missing wherever it is used, and makes a game too small.
    fs::write(folder.path().join("game.txt"), "HUMEN Tim\nZOMBIE Zoe\nGAME_START\ni tim zoe\nnt\n").unwrap();
    let wrong = error(folder.path(), 1, &["run"]);
    assert_eq!(wrong.matches("Error:").count(), 1, "{wrong}");
    assert!(wrong.contains("3 more lines left out for the same cause"), "{wrong}");
}
