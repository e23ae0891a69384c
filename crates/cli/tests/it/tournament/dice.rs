//! Secret dice: nobody who takes part can predict them, and everybody can check them afterwards.

use super::{hash, json, refusal, start, tournament};
use crate::program::{necrodome_in, output_in};
use necrodome_arena::dice::Secret;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
};
use tempfile::TempDir;

const BOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bots/python/zombie_dice.py");

/// The secret that a report tells, with its hash.
fn secret_of(report: &Value, number: usize) -> (String, &str) {
    let sealed = &report["plan"]["sealed_dice"][number];
    let secret: Secret = sealed["secret"].as_str().unwrap().parse().unwrap();
    assert_eq!(secret.commitment(), sealed["commitment"], "the hash is that of the secret");
    (format!("--secret={secret}"), sealed["commitment"].as_str().unwrap())
}

#[test]
fn dice_of_programs_are_secret_until_the_end_and_the_same_again_with_the_secret() {
    let words = ["zombie-dice-race", "greedy", BOT, "--seed=7", "--blocks=8"];
    let run = |more: &[&str]| json(&[&words[..], more].concat());
    let (one, other) = (run(&[]), run(&[]));
    assert_ne!(one["plan"]["sealed_dice"], other["plan"]["sealed_dice"]);
    assert_ne!(hash(&one), hash(&other));
    let (secret, _) = secret_of(&one, 0);
    for threads in ["--threads=1", "--threads=2", "--threads=3"] {
        let again = run(&[&secret, threads]);
        assert_eq!(
            (hash(&again), &again["standings"][0]["score"]),
            (hash(&one), &one["standings"][0]["score"])
        );
    }
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("t.toml");
    let digits = secret.trim_start_matches("--secret=");
    let written =
        format!("bots = [\"greedy\", {BOT:?}]\nblocks = 8\nseed = \"0x7\"\nsecret = \"{digits}\"\n");
    fs::write(&file, format!("game = \"zombie-dice-race\"\n{written}")).unwrap();
    assert_eq!(hash(&json(&[file.to_str().unwrap()])), hash(&one));
    assert_ne!(hash(&json(&[&words[..3], &["--seed=8", "--blocks=8", &secret]].concat())), hash(&one));
    let public = run(&["--public-dice"]);
    assert_eq!(
        (hash(&run(&["--public-dice"])), &public["plan"]["sealed_dice"]),
        (hash(&public), &Value::Null)
    );
    for (more, why) in [
        (&["--secret=12"][..], "expected the 128 hexadecimal digits that a report tells at its end"),
        (&[&secret, "--public-dice"], "cannot be used with"),
    ] {
        let said = refusal(&[&words[..], more].concat(), 2);
        assert!(said.contains(why), "{said}");
    }
    let lone = refusal(&["zombie-dice-race", "greedy", BOT, &secret], 2);
    assert!(lone.contains("--secret means nothing without --seed"), "{lone}");
}

#[test]
fn the_hash_of_the_secret_is_told_before_the_first_match_and_the_secret_after_the_last() {
    let result =
        tournament(&["zombie-dice-race", "greedy", BOT, "--seed=7", "--blocks=2"]).assert().success();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (told, said) = (text(&result.get_output().stdout), text(&result.get_output().stderr));
    let secret = told.lines().find_map(|line| line.strip_prefix("secret ")?.parse::<Secret>().ok()).unwrap();
    let hash = secret.commitment();
    let before = format!(
        "dice follow from seed 7\nand a secret, published at the end, whose BLAKE3 hash is\n{hash}\n"
    );
    assert!(said.starts_with(&before), "{said}");
    assert!(told.contains(&format!("\ndice sealed by {hash}\nsecret {secret}\n")), "{told}");
}

#[test]
fn an_interrupted_tournament_keeps_its_secret_and_more_blocks_get_a_new_one() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.store");
    let stored = format!("--store={}", path.display());
    let with = |blocks: &str, more: &[&str]| -> Vec<String> {
        let words = ["zombie-dice-race", "greedy", BOT, "--seed=7", blocks, &stored];
        words.iter().chain(more).map(|&word| word.to_owned()).collect()
    };
    fn borrowed(words: &[String]) -> Vec<&str> {
        words.iter().map(String::as_str).collect()
    }
    let mut arena = start(&borrowed(&with("--blocks=100000", &[])));
    let lines = BufReader::new(arena.stderr.take().unwrap()).lines();
    lines.map_while(Result::ok).find(|line| line.contains("blocks,")).unwrap();
    kill(Pid::from_raw(arena.id() as i32), Signal::SIGINT).unwrap();
    assert_eq!(arena.wait().unwrap().code(), Some(130));

    // The store has it, and tells nobody.
    let kept: Vec<u8> = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("SELECT secret FROM secrets", [], |row| row.get(0))
        .unwrap();
    let kept: String = kept.iter().map(|byte| format!("{byte:02x}")).collect();
    for more in [&["--json"][..], &["--explain"], &["--markdown"]] {
        let shown = output_in(folder.path(), &[&["report", "t.store"], more].concat());
        assert!(!shown.contains(&kept) && !shown.contains("secret\":"), "{shown}");
    }
    output_in(folder.path(), &["report", "t.store", "--html=site"]);
    let index = fs::read_to_string(folder.path().join("site/index.html")).unwrap();
    assert!(
        !index.contains(&kept) && index.contains("the secret is published after the last block"),
        "{index}"
    );
    let shown: Value =
        serde_json::from_str(&output_in(folder.path(), &["report", "t.store", "--json"])).unwrap();
    let commitment = shown["plan"]["sealed_dice"][0]["commitment"].as_str().unwrap().to_owned();
    let played = shown["blocks"].as_u64().unwrap();
    assert_eq!(kept.parse::<Secret>().unwrap().commitment(), commitment);

    // Another secret, or none, is another tournament.
    let other = format!("--secret={}", Secret::random().unwrap());
    let refuses_others = || {
        for (more, why) in [
            (&[other.as_str()][..], "the secret of its dice is another one"),
            (&["--public-dice"], "its dice are secret there, public here"),
        ] {
            let said = refusal(&borrowed(&with("--blocks=100000", more)), 2);
            assert!(said.contains(why), "{said}");
        }
    };
    refuses_others();

    // Enough was played: the secret is told, and what was played is as it says.
    let end = format!("--blocks={played}");
    let finished = json(&borrowed(&with(&end, &[])));
    let (secret, _) = secret_of(&finished, 0);
    assert_eq!(secret, format!("--secret={kept}"));
    let verified = output_in(folder.path(), &["replay", "t.store", "--verify"]);
    assert!(verified.contains(&format!("verified: {} matches", 2 * played)), "{verified}");
    assert!(verified.contains(&kept), "{verified}");
    let fresh = ["zombie-dice-race", "greedy", BOT, "--seed=7", &end, &secret];
    assert_eq!(hash(&json(&fresh)), hash(&finished));

    // What everybody knows is of no use for more blocks.
    let more = format!("--blocks={}", played + 3);
    let longer = json(&borrowed(&with(&more, &[])));
    let sealed = longer["plan"]["sealed_dice"].as_array().unwrap();
    assert_eq!((sealed.len(), &sealed[1]["first"]), (2, &played.into()));
    assert_eq!(sealed[0], finished["plan"]["sealed_dice"][0]);
    assert_ne!(secret_of(&longer, 1).1, commitment);
    output_in(folder.path(), &["replay", "t.store", "--verify"]);
    // Nothing is left to do, and nothing is sealed for it.
    assert_eq!(json(&borrowed(&with(&more, &[])))["plan"], longer["plan"]);
    // A secret that was told does not open the door for another one.
    refuses_others();
}

#[test]
fn public_dice_stay_public() {
    let folder = TempDir::new().unwrap();
    let stored = format!("--store={}", folder.path().join("t.store").display());
    let words = ["zombie-dice-race", "greedy", BOT, "--seed=7", &stored];
    let run = |more: &[&str]| json(&[&words[..], more].concat());
    run(&["--blocks=3", "--public-dice"]);
    let said = refusal(&[&words[..], &["--blocks=6"]].concat(), 2);
    assert!(said.contains("its dice are public there, secret here"), "{said}");
    let longer = run(&["--blocks=6", "--public-dice"]);
    let at_once = json(&[&words[..4], &["--blocks=6", "--public-dice"]].concat());
    assert_eq!(hash(&longer), hash(&at_once));
}

/// Programs that join get secret dice from there on.
#[test]
fn a_tournament_without_programs_needs_no_secret_until_one_joins() {
    let folder = TempDir::new().unwrap();
    let run = |more: &[&str]| -> Value {
        let words = ["tournament", "zombie-dice-race", "greedy", "random", "--format=round-robin"];
        let stored = ["--seed=7", "--store=t.store", "--json"];
        serde_json::from_str(&output_in(folder.path(), &[&words[..], &stored, more].concat())).unwrap()
    };
    let before = run(&["--blocks=4"]);
    assert_eq!(before["plan"]["sealed_dice"], Value::Null);
    let after = run(&["--blocks=6", BOT]);
    assert_eq!(after["plan"]["sealed_dice"][0]["first"], 4);
    secret_of(&after, 0);
    output_in(folder.path(), &["replay", "t.store", "--verify"]);
}

/// Says what it is told, and how the two processes of the arena above it were started, its supervisor and the arena. No further: what
/// runs the test is not its business.
const NOSY: &str = "\
import json, os, sys
process = os.getppid()
for _ in range(2):
    for name in ('cmdline', 'environ'):
        try:
            print(open(f'/proc/{process}/{name}', 'rb').read().replace(b'\\0', b' ').decode(), file=sys.stderr)
        except OSError:
            pass
    try:
        process = int(open(f'/proc/{process}/stat').read().rsplit(')')[-1].split()[1])
    except OSError:
        break
for line in sys.stdin:
    message = json.loads(line)
    if message['type'] == 'start':
        print('told', message['seed'], file=sys.stderr)
    if message['type'] == 'hello':
        print(json.dumps({'type': 'ready', 'protocol': 1}), flush=True)
    elif message['type'] == 'decide':
        print(json.dumps({'id': message['id'], 'action': message['legal'][0]}), flush=True)
";

#[test]
fn a_match_can_be_played_again_and_tells_its_programs_nothing() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("nosy.py"), NOSY).unwrap();
    let words = ["match", "zombie-dice-race", "./nosy.py", "greedy", "--seed=7"];
    // With nothing in its environment but what it needs, so that nothing else can be read there.
    let path = std::env::var("PATH").unwrap();
    let output = |words: &[&str]| {
        let result = necrodome_in(folder.path(), words).env_clear().env("PATH", &path).assert().success();
        String::from_utf8(result.get_output().stdout.clone()).unwrap()
    };
    let run = |more: &[&str]| -> Value {
        let all = [&words[..], &["--json", "--force", "--replay=m.replay"], more].concat();
        serde_json::from_str(&output(&all)).unwrap()
    };
    let told = |result: &Value| {
        let log = result["logs"][0].as_str().unwrap();
        log.lines().find_map(|line| line.strip_prefix("told ")).unwrap().to_owned()
    };
    let (first, public) = (run(&[]), run(&["--public-dice"]));
    let secret = first["secret"].as_str().unwrap();
    let log = first["logs"][0].as_str().unwrap();
    assert!(!log.contains(&secret[..32]) && !log.contains(&secret[96..]), "{log}");
    assert_eq!(public["secret"], Value::Null);
    assert_ne!(told(&first), told(&public));
    assert_eq!(told(&run(&["--public-dice"])), told(&public));

    let given = format!("--secret={secret}");
    let again = run(&[&given]);
    assert_eq!(
        (told(&again), &again["scores"], &again["turns"]),
        (told(&first), &first["scores"], &first["turns"])
    );
    let verify = ["replay", "m.replay", "--verify", "--seed=7", &given];
    assert!(output_in(folder.path(), &verify).contains("every event, the hash and the dice agree"));
    let wrong = necrodome_in(folder.path(), &verify[..4]).assert().failure();
    let said = String::from_utf8(wrong.get_output().stderr.clone()).unwrap();
    assert!(said.contains("other dice than those that follow from the seed and the secret"), "{said}");

    // The log has the command line, which is another one.
    let without_log =
        |text: &str| text.lines().filter(|line| !line.starts_with("log:")).collect::<Vec<_>>().join("\n");
    let told = output(&words);
    let again = told.lines().find_map(|line| line.strip_prefix("the same dice again: ")).unwrap();
    let again: Vec<&str> = again.split(' ').collect();
    assert_eq!((again.len(), &again[..3]), (4, &["--seed", "7", "--secret"][..]));
    assert_eq!(without_log(&output(&[&words[..4], &again].concat())), without_log(&told));
}
