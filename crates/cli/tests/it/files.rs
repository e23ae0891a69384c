//! The files that commands read and write follow the same rules everywhere.

use crate::{program::necrodome_in, terminal::Terminal};
use nix::{
    sys::{
        signal::{Signal, kill},
        stat::Mode,
    },
    unistd::{Pid, mkfifo},
};
use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Output, Stdio},
    thread,
};
use tempfile::TempDir;

fn necrodome(folder: &Path, words: &[&str]) -> Output {
    necrodome_in(folder, words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs a command that must end with this code. Gives standard output and standard error.
fn run(folder: &Path, code: i32, words: &[&str]) -> (String, String) {
    let output = necrodome(folder, words);
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{words:?}: {out}\n{error}");
    (out, error)
}

/// A folder with a script, a replay and a stored tournament to read from.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("game.txt"), "HUMAN Anna\nHUMAN Ben\nZOMBIE Zoe\nGAME_START\ni anna ben\nnt\n")
        .unwrap();
    run(path, 0, &["match", "zombie-dice-race", "greedy", "cautious", "--seed=1", "-q", "--replay=a.replay"]);
    run(
        path,
        0,
        &["tournament", "zombie-dice", "greedy", "random", "--seed=1", "--blocks=3", "--store=a.store"],
    );
    folder
}

const MATCH: [&str; 6] = ["match", "zombie-dice-race", "greedy", "cautious", "--seed=1", "--replay"];
const TOURNAMENT: [&str; 6] = ["tournament", "zombie-dice", "greedy", "random", "--blocks=20", "--csv"];
const SIMULATE: [&str; 6] = ["judge", "simulate", "--players=5", "--games=10", "--seed=1", "--svg"];

/// All commands with a flag that names a file to write; the name comes last.
fn writers() -> Vec<Vec<&'static str>> {
    vec![
        MATCH.to_vec(),
        vec!["play", "zombie-dice-solo", "--seed=1", "--replay"],
        vec!["replay", "a.replay", "--save"],
        vec!["replay", "a.store", "--from=1.0", "--save"],
        TOURNAMENT.to_vec(),
        vec!["report", "a.store", "--csv-pairs"],
        vec!["report", "a.store", "--csv-matches"],
        vec!["solve", "zombie-dice-solo", "--policy"],
        vec!["analyze", "a.replay", "--svg"],
        SIMULATE.to_vec(),
        vec!["judge", "new", "--seed=1", "--script"],
        vec!["new-bot", "tokyo", "python"],
    ]
}

/// Runs a command of [`writers`]; whoever plays stops at once.
fn write(folder: &Path, words: &[&str], more: &[&str]) -> (Option<i32>, String, String) {
    let mut command = necrodome_in(folder, &[words, more].concat());
    command.write_stdin("go\nstop\nstop\n");
    let output = command.output().unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn nothing_is_overwritten_without_force_and_what_is_written_is_said() {
    let folder = folder();
    let file = folder.path().join("out.py");
    for words in writers() {
        let write = |more: &[&str]| write(folder.path(), &words, more);
        fs::write(&file, "mine").unwrap();
        let (code, out, error) = write(&["out.py"]);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{words:?}: {error}");
        assert!(error.contains("out.py is there already") && error.contains("--force"), "{words:?}: {error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine", "{words:?}");

        let (code, _, error) = write(&["out.py", "--force"]);
        assert_eq!(code, Some(0), "{words:?}: {error}");
        let written = fs::read(&file).unwrap();
        assert_ne!(written, b"mine", "{words:?}");
        let said = |error: &str| error.lines().filter(|&line| line == "wrote out.py").count();
        assert_eq!(said(&error), 1, "{words:?}: {error}");

        fs::remove_file(&file).unwrap();
        let (code, _, error) = write(&["out.py"]);
        assert_eq!(code, Some(0), "{words:?}: {error}");
        assert_eq!(said(&error), 1, "{words:?}: {error}");
        assert!(file.exists());
        let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with('.')), "{words:?}");
    }
}

#[test]
fn letters_are_not_overwritten_without_force_either() {
    let folder = folder();
    let words = ["judge", "run", "--letters=notes"];
    let (out, error) = run(folder.path(), 0, &words);
    assert_eq!((out.as_str(), error.as_str()), ("", "wrote 3 letters in notes\n"));
    fs::write(folder.path().join("notes/002-Ben.txt"), "mine").unwrap();
    let (_, error) = run(folder.path(), 1, &words);
    assert!(error.contains("001-Anna.txt is there already"), "{error}");
    assert_eq!(fs::read_to_string(folder.path().join("notes/002-Ben.txt")).unwrap(), "mine");
    run(folder.path(), 0, &[&words[..], &["--force"]].concat());
    assert!(fs::read_to_string(folder.path().join("notes/002-Ben.txt")).unwrap().starts_with("For Ben"));
}

/// A bot that leaves a trace when it is started.
#[test]
fn a_bad_path_is_refused_before_the_first_match() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let bot = &format!("cmd:touch {}", folder.path().join("started").display());
    for words in [
        ["match", "zombie-dice", "greedy", bot, "--replay"],
        ["tournament", "zombie-dice", "greedy", bot, "--csv"],
    ] {
        for bad in ["nowhere/out", ".", "new/", "file/out"] {
            for more in [&[][..], &["--force"], &["--json"]] {
                let (out, error) = run(folder.path(), 1, &[&words[..], &[bad], more].concat());
                assert_eq!(out, "", "{words:?} {bad}");
                assert!(error.starts_with(&format!("error: cannot write {bad}: ")), "{error}");
                assert_eq!(error.lines().count(), 1, "{error}");
            }
        }
    }
    assert!(!folder.path().join("started").exists());
    // The trace would have been found.
    necrodome(folder.path(), &["match", "zombie-dice", "greedy", bot, "--sandbox=limits"]);
    assert!(folder.path().join("started").exists());
}

#[test]
fn a_folder_that_takes_no_files_is_refused_before_the_first_match() {
    if nix::unistd::geteuid().is_root() {
        // Root may write everywhere: the unit tests have the other cases.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let (out, error) = run(folder.path(), 1, &[&TOURNAMENT[..], &["out.csv"]].concat());
    assert_eq!(out, "");
    assert!(error.contains("cannot write out.csv: permission denied"), "{error}");
}

/// `/dev/full` is a disk that is always full.
#[test]
fn the_result_is_printed_though_the_disk_is_full() {
    let folder = folder();
    let analyze = ["analyze", "a.replay", "--svg"];
    let solve = ["solve", "zombie-dice-solo", "--policy"];
    for (words, result, json) in [
        (&MATCH[..], "Result\n", "\"places\""),
        (&TOURNAMENT, "\nhash ", "\"hash\""),
        (&SIMULATE, "zombies win", "\"zombies_win\""),
        (&analyze, "greedy", "\"start\""),
        (&solve, "expected score", "\"value\""),
    ] {
        for (more, expected) in [(&[][..], result), (&["--json"], json)] {
            let (out, error) = run(folder.path(), 1, &[words, &["/dev/full"], more].concat());
            assert!(out.contains(expected), "{words:?}: {out}");
            let last = error.lines().last().unwrap();
            assert!(last.starts_with("error: cannot write /dev/full: "), "{words:?}: {error}");
        }
    }
}

/// A bot takes the folder away in the middle of the match.
#[test]
fn the_result_is_printed_though_the_folder_has_vanished() {
    let folder = tempfile::tempdir().unwrap();
    let bot = &format!("cmd:rmdir {}", folder.path().join("out").display());
    for (words, result) in [
        (&["match", "zombie-dice", "greedy", bot, "--sandbox=limits", "--replay"][..], "Result\n"),
        (&["tournament", "zombie-dice", "greedy", bot, "--sandbox=limits", "--blocks=1", "--csv"], "\nhash "),
    ] {
        fs::create_dir(folder.path().join("out")).unwrap();
        let (out, error) = run(folder.path(), 1, &[words, &["out/file"]].concat());
        assert!(out.contains(result), "{out}");
        assert!(error.contains("cannot write out/file: there is no folder out"), "{error}");
    }
}

#[test]
fn a_reader_that_stops_early_still_gets_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("necrodome"))
        .current_dir(folder.path())
        .args(MATCH)
        .arg("a.replay")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    run(folder.path(), 0, &["replay", "a.replay", "--verify"]);
}

#[test]
fn pipes_and_the_streams_of_the_process_are_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    mkfifo(&path, Mode::S_IRWXU).unwrap();
    let reader = thread::spawn({
        let path = path.clone();
        move || fs::read_to_string(path).unwrap()
    });
    run(folder.path(), 0, &[&TOURNAMENT[..], &["pipe"]].concat());
    assert!(reader.join().unwrap().starts_with("rank_best,"));

    // Standard output is a file, and has the report in it already.
    let all = folder.path().join("all");
    let status = std::process::Command::new(assert_cmd::cargo::cargo_bin!("necrodome"))
        .args(TOURNAMENT)
        .arg("/dev/stdout")
        .stdout(File::create(&all).unwrap())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let all = fs::read_to_string(all).unwrap();
    let (report, csv) = all.split_once("rank_best,").unwrap();
    assert!(report.contains("\nhash ") && csv.lines().count() == 3, "{all}");
}

#[test]
fn ctrl_c_without_a_store_prints_what_was_played() {
    let folder = tempfile::tempdir().unwrap();
    let words =
        ["tournament", "zombie-dice", "greedy", "random", "--blocks=100000000", "--force", "--csv=a.csv"];
    for (more, expected) in
        [(&[][..], "interrupted: these are the results so far"), (&["--json"], "\"hash\"")]
    {
        let mut arena = std::process::Command::new(assert_cmd::cargo::cargo_bin!("necrodome"))
            .current_dir(folder.path())
            .args(words)
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(arena.stderr.take().unwrap()).lines().map_while(Result::ok);
        lines.find(|line| line.contains("blocks")).unwrap();
        kill(Pid::from_raw(arena.id() as i32), Signal::SIGINT).unwrap();
        let said: Vec<String> = lines.collect();
        let mut out = String::new();
        arena.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        assert_eq!(arena.wait().unwrap().code(), Some(130));
        assert!(out.contains(expected), "{out}\n{said:?}");
        assert_eq!(fs::read_to_string(folder.path().join("a.csv")).unwrap().lines().count(), 3);
    }
}

#[test]
fn what_is_missing_or_makes_no_sense_exits_with_2() {
    let folder = folder();
    fs::write(folder.path().join("text"), "my diary").unwrap();
    fs::write(folder.path().join("bad.toml"), "game = 3\n").unwrap();
    fs::write(folder.path().join("bad.yml"), "players: [a\n").unwrap();
    for words in [
        &["match", "tokyo", "angry", "./nowhere.py"][..],
        &["play", "tokyo", "./nowhere.py"],
        &["check-bot", "tokyo", "./nowhere.py"],
        &["analyze", "zombie-dice-race", "./nowhere.py"],
        &["tournament", "tokyo", "angry", "./nowhere.py"],
        &["tournament", "nowhere.toml"],
        &["tournament", "bad.toml"],
        &["tournament", "tokyo", "angry", "angry", "--store=text"],
        &["replay", "nowhere.replay"],
        &["replay", "nowhere.replay", "--verify"],
        &["replay", "nowhere.replay", "--save=copy"],
        &["replay", "nowhere.store", "--from=1.0"],
        &["replay", "text"],
        &["replay", "text", "--from=1.0"],
        &["replay", "."],
        &["analyze", "nowhere.replay"],
        &["analyze", "nowhere.store", "--from=1.0"],
        &["analyze", "text"],
        &["judge", "run", "nowhere.txt"],
        &["judge", "watch", "nowhere.txt"],
        &["judge", "watch", "nowhere.txt", "--once"],
        &["judge", "live", "nowhere/game.txt"],
        &["judge", "new", "--config=bad.yml", "--script=new.txt"],
        &["judge", "simulate", "--players=5", "--humans=nobody"],
        &["serve", "--port=0", "--bots=nowhere.toml"],
        &["serve", "--port=0", "--bots=bad.toml"],
        &["serve", "--port=0", "--store=text"],
    ] {
        let (_, error) = run(folder.path(), 2, words);
        let mut lines = error.lines();
        assert!(lines.next().is_some_and(|line| line.starts_with("error: ")), "{words:?}: {error}");
        assert!(lines.all(|line| line.starts_with("hint: ")), "{words:?}: {error}");
    }
    assert!(!folder.path().join("new.txt").exists() && !folder.path().join("copy").exists());
}

#[test]
fn the_script_of_the_judge_is_game_txt_everywhere() {
    let folder = folder();
    for words in [&["judge", "run"][..], &["judge", "watch", "--once"], &["judge", "live"]] {
        let (out, _) = run(folder.path(), 0, words);
        assert!(out.to_lowercase().contains("turn "), "{words:?}: {out}");
    }
}

#[test]
fn secrets_are_for_their_owner_alone() {
    let folder = folder();
    let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    run(folder.path(), 0, &["judge", "new", "--script=drawn.txt"]);
    assert_eq!(mode("drawn.txt"), 0o600);
    fs::write(folder.path().join("open.txt"), "").unwrap();
    run(folder.path(), 0, &["judge", "new", "--script=open.txt", "--force"]);
    assert_eq!(mode("open.txt"), 0o600);
    run(folder.path(), 0, &["judge", "live", "live.txt"]);
    assert_eq!(mode("live.txt"), 0o600);
    run(folder.path(), 0, &["judge", "run", "--letters=notes"]);
    assert_eq!(mode("notes/001-Anna.txt"), 0o600);

    let mut arena = std::process::Command::new(assert_cmd::cargo::cargo_bin!("necrodome"))
        .current_dir(folder.path())
        .args(["serve", "--port=0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(arena.stdout.take().unwrap()).lines().map_while(Result::ok);
    let open = lines.into_iter().any(|line| line.contains("Ctrl-C ends the arena"));
    arena.kill().unwrap();
    arena.wait().unwrap();
    assert!(open);
    for name in ["necrodome.sqlite", "necrodome.sqlite-wal"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
}

#[test]
fn a_dumb_terminal_gets_plain_text() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("bad.txt"), "HUMAN Anna\nnonsense\n").unwrap();
    let (bad, replay, store) = (path("bad.txt"), path("a.replay"), path("a.store"));
    for words in [
        &["match", "zombie-dice", "greedy", "cautious"][..],
        &["match", "zombie-dice", "greedy", "gredy"],
        &["match", "--nonsense"],
        &["replay", &replay],
        &["replay", &store, "--from=1.0"],
        &["tournament", "zombie-dice", "greedy", "random", "--blocks=2000"],
        &["judge", "run", &bad],
        &["judge", "watch", &bad, "--once"],
        &["judge", "simulate", "--players=5", "--games=100"],
        &["bots"],
        &["--help"],
    ] {
        // What runs in a pipeline of tests is often told to be colourful.
        let mut terminal = Terminal::run_with(words, &[("TERM", "dumb"), ("CI", "1"), ("CLICOLOR", "1")]);
        terminal.exit_code();
        assert!(!terminal.output().is_empty(), "{words:?}");
        assert!(!terminal.output().contains('\u{1b}'), "{words:?}: {:?}", terminal.output());
    }
    let mut colourful = Terminal::run(&["match", "zombie-dice", "greedy", "cautious"]);
    colourful.exit_code();
    assert!(colourful.output().contains('\u{1b}'), "other terminals get colours");
}

#[test]
fn nobody_reads_the_progress_and_nothing_is_lost() {
    let folder = folder();
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let run = |words: &[&str]| {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("necrodome"));
        command.args(words).current_dir(folder.path()).stderr(full()).output().unwrap()
    };
    let words = ["tournament", "zombie-dice", "greedy", "random", "--blocks=20", "--seed=1", "--csv=a.csv"];
    let done = run(&words);
    assert!(done.status.success() && !done.stdout.is_empty(), "{done:?}");
    assert!(folder.path().join("a.csv").exists());
    assert_eq!(run(&["docs", "nonsense"]).status.code(), Some(2));
}

#[test]
fn a_stream_is_written_where_it_is() {
    let folder = folder();
    let words = "match tokyo angry angry --seed 1 --quiet --replay /dev/stdout";
    let script = format!("{{ echo before; \"$0\" {words}; echo after; }} > all");
    let binary = assert_cmd::cargo::cargo_bin!("necrodome");
    let status = std::process::Command::new("sh")
        .args(["-c", &script])
        .arg(binary)
        .current_dir(folder.path())
        .status();
    assert!(status.unwrap().success());
    let all = fs::read(folder.path().join("all")).unwrap();
    assert!(
        all.starts_with(b"before\nResult\n") && all.ends_with(b"after\n"),
        "{:?}",
        String::from_utf8_lossy(&all)
    );
    assert!(String::from_utf8_lossy(&all).contains("turns, seed 1"));
}

#[test]
fn a_store_is_a_file_of_its_own_whatever_its_name() {
    let folder = folder();
    let line_up = ["tournament", "zombie-dice", "greedy", "random", "--seed=1", "--blocks=2"];
    let same = run(folder.path(), 2, &[&line_up[..], &["--store=same", "--csv=same", "--force"]].concat());
    assert!(same.1.contains("name the same file"), "{}", same.1);
    for name in [":memory:", "file:x?mode=memory"] {
        run(folder.path(), 0, &[&line_up[..], &["--store", name]].concat());
        assert!(folder.path().join(name).exists(), "{name}");
    }
    std::os::unix::fs::symlink(":memory:", folder.path().join("link")).unwrap();
    run(folder.path(), 0, &["replay", "link", "--from=1.0", "--verify"]);
}

#[test]
fn a_terminal_does_not_obey_a_path() {
    let folder = folder();
    let (_, error) =
        run(folder.path(), 1, &["match", "tokyo", "angry", "angry", "--replay=/nope/\u{1b}]0;x\u{7}"]);
    assert!(error.contains("cannot write /nope/?]0;x?"), "{error:?}");
}
