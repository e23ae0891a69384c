//! What hosts give programs beyond the usual, tested as an ordinary user: nothing by default, and exactly what the host names, at
//! every level.

use crate::hostile::{
    has_namespaces,
    world::{PATH, Place, become_user, new_user},
};
use serde_json::{Value, json};
use std::{
    fs,
    net::TcpListener,
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

/// Says what it has, and plays on.
const BOT: &str = r#"
import json, os, socket, sys
def tries(what):
    try: return what() or "yes"
    except OSError: return "no"
def calls():
    socket.create_connection(("127.0.0.1", PORT), 5).close()
said = {"network": tries(calls), "local": tries(lambda: socket.socket(socket.AF_UNIX).close())}
said |= {"key": os.environ.get("SOME_KEY"), "other": os.environ.get("OTHER_KEY"), "file": tries(lambda: open(".env").close())}
print("SAID" + json.dumps(said), file=sys.stderr)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello": print('{"type":"ready","protocol":1}', flush=True)
    if message["type"] == "decide": print(json.dumps({"id": message["id"], "action": {"type": "stop"}}), flush=True)
"#;

/// A folder with a bot and the keys of a host, and somebody who answers calls.
struct Host {
    place: Arc<Place>,
    folder: PathBuf,
    user: Option<u32>,
    /// Whether somebody has called is not asked: that a call was taken is enough.
    _listener: TcpListener,
}

impl Host {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let place = Place::get();
        let folder = place.0.join(format!("gifts-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        fs::create_dir_all(folder.join("bot")).unwrap();
        fs::write(folder.join("bot/bot.py"), BOT.replace("PORT", &port.to_string())).unwrap();
        fs::write(folder.join(".env"), "OTHER_KEY=\"from the file\"\n").unwrap();
        fs::write(folder.join("bot/.env"), "OTHER_KEY=of the bot's folder\n").unwrap();
        let user = new_user();
        for path in [&folder, &folder.join("bot")] {
            chown(path, user, user).unwrap();
        }
        Host { place, folder, user, _listener: listener }
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.place.0.join("necrodome"));
        command.args(words).current_dir(&self.folder);
        command.env_clear().env("PATH", PATH).env("HOME", &self.folder).env("SOME_KEY", "a key");
        command.env("QUIET_KEY", "a word for nobody");
        become_user(&mut command, self.user);
        command
    }

    /// What the bot has said in a match with these flags.
    fn said(&self, level: &str, flags: &[&str]) -> Value {
        let words =
            ["match", "zombie-dice", "greedy", "./bot/bot.py", "--json", "--seed=1", "--sandbox", level];
        let Output { status, stdout, stderr } = self.run(&[&words, flags].concat());
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        let document: Value = serde_json::from_slice(&stdout).unwrap();
        assert_eq!(document["faults"], json!([]));
        let log = document["logs"][1].as_str().unwrap();
        let said = log.lines().find_map(|line| line.strip_prefix("SAID")).expect(log);
        serde_json::from_str(said).unwrap()
    }
}

fn levels() -> Vec<&'static str> {
    if has_namespaces() { vec!["full", "strict", "limits"] } else { vec!["strict", "limits"] }
}

#[test]
fn programs_are_given_nothing_by_themselves() {
    let host = Host::new();
    for level in levels() {
        let said = host.said(level, &[]);
        assert_eq!((&said["key"], &said["other"]), (&Value::Null, &Value::Null), "{level}");
        if level != "limits" {
            assert_eq!(
                (&said["network"], &said["local"], &said["file"]),
                (&json!("no"), &json!("no"), &json!("no"))
            );
        }
    }
}

#[test]
fn programs_are_given_what_the_host_says_and_no_more() {
    let host = Host::new();
    for level in levels() {
        let said = host.said(level, &["--allow-network"]);
        assert_eq!((&said["network"], &said["key"]), (&json!("yes"), &Value::Null), "{level}");
        if level != "limits" {
            assert_eq!((&said["local"], &said["file"]), (&json!("no"), &json!("no")), "{level}");
        }
        let said = host.said(level, &["--pass-env", "SOME_KEY", "--pass-env=OTHER_KEY"]);
        assert_eq!((&said["key"], &said["other"]), (&json!("a key"), &json!("from the file")), "{level}");
        if level != "limits" {
            assert_eq!(said["network"], "no", "{level}");
        }
    }
}

#[test]
fn gifts_are_in_the_plan_and_in_the_report() {
    let host = Host::new();
    let words = ["tournament", "zombie-dice", "greedy", "./bot/bot.py", "--seed=1", "--store=night.store"];
    let gifts = ["--blocks=1", "--allow-network", "--pass-env=QUIET_KEY"];
    let Output { status, stdout, stderr } = host.run(&[&words[..], &gifts[..]].concat());
    let (told, said) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    let given = "given the network and the environment variable QUIET_KEY";
    assert!(status.success() && said.contains(&format!("all programs are {given}")), "{said}");
    assert!(told.contains(&format!("programs were {given}")), "{told}");
    assert!(!told.contains("a word for nobody"), "{told}");
    // What was given once stays in the plan, whatever is given later; nobody's keys are kept.
    let again = host.run(&[&words[..], &["--blocks=2", "--json"]].concat());
    let document: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(document["plan"]["gifts"], json!({"network": true, "environment": ["QUIET_KEY"]}));
    assert!(!contains(&host.folder.join("night.store"), "a word for nobody"));
}

fn contains(file: &Path, text: &str) -> bool {
    fs::read(file).unwrap().windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn a_variable_that_is_not_there_is_a_mistake() {
    let host = Host::new();
    let refused = host.run(&["match", "zombie-dice", "greedy", "./bot/bot.py", "--pass-env=NO_KEY"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said.contains("--pass-env: there is no environment variable NO_KEY"), "{said}");
    assert!(said.contains("hint: set it, or write NO_KEY=... into a file .env in this folder"), "{said}");
}

#[test]
fn what_is_given_is_given_to_the_program_and_not_to_what_starts_it() {
    let host = Host::new();
    let words =
        ["match", "zombie-dice", "greedy", "./bot/bot.py", "--json", "--seed=1", "--pass-env=LD_PRELOAD"];
    let mut command = host.command(&words);
    // The loader complains once for each program that it starts. What starts the bot is not confined, and is in the bot's folder.
    let ended = command.env("LD_PRELOAD", "./none.so").output().unwrap();
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(document["faults"], json!([]));
    let log = document["logs"][1].as_str().unwrap();
    assert_eq!(log.matches("none.so").count(), 1, "{log}");
}
