//! The book of calls: what `necrodome calls` shows of it, and what reports and repairs do with it.

use crate::{
    models::{KEY, PRICES, RACE, command, entry, failure, files, folder, json_of, plays, with},
    program::{output, refusal},
};
use necrodome_models::testing::{Act, Answer, Asked, Server};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// Colours the terminal, moves its cursor, and turns the direction of text.
const HOSTILE: &str = "\u{1b}[2J\u{9b}31m\u{202e}";

/// Plays, and says hostile things. Every fourth answer is cut off, from another version of the model.
fn hostile(asked: &Asked) -> Act {
    let Act::Answer(answer) = plays(asked) else { unreachable!() };
    let is_cut = asked.text.len().is_multiple_of(4);
    Act::Answer(Answer {
        text: answer.text.replace("I ", &format!("{HOSTILE}I ")),
        reasoning: Some(format!("{HOSTILE} hm")),
        model: if is_cut { format!("tiny-2024{HOSTILE}") } else { "tiny".to_owned() },
        finish: if is_cut { "length" } else { "stop" }.to_owned(),
        ..answer
    })
}

/// All that commands print, which must not move anybody's cursor.
fn shown(folder: &Path, words: &[&str]) -> String {
    let text = output(&mut command(folder, words));
    let is_harmful = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!text.contains(is_harmful), "{text:?}");
    text
}

fn lines_of(folder: &Path, words: &[&str]) -> Vec<Value> {
    let text = shown(folder, &[words, &["--json"]].concat());
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn calls_are_listed_chosen_and_shown_whole() {
    let server = Server::minded(hostile);
    let folder = folder(&server, PRICES);
    let folder = folder.path();
    json_of(folder, &RACE);
    let asked = server.asked().len();
    drop(server);
    let before = files(folder);
    let list = shown(folder, &["calls", "s.store"]);
    assert_eq!(list, shown(folder, &["calls", "s.store.calls"]));
    assert_eq!(list.lines().find(|line| line.chars().count() > 80), None, "{list}");
    assert!(list.starts_with("  call UTC      table    model       answer by  finish"), "{list}");
    assert!(list.contains(" small    tiny        same       stop      110 0.000200 "), "{list}");
    assert!(list.contains(" length    110 0.000200 "), "{list}");
    let total = list.lines().find(|line| line.starts_with("small  ")).unwrap();
    let total: Vec<&str> = total.split_whitespace().collect();
    let cost = format!("{:.6}", asked as f64 * 0.0002);
    let counts = [asked, asked * 100, 0, asked * 10].map(|count| count.to_string());
    assert_eq!(total[1..5], counts.each_ref().map(String::as_str), "{list}");
    assert_eq!(total[5], cost, "{list}");
    assert!(
        list.contains("small: asked for tiny, answered by tiny (") && list.contains("tiny-2024"),
        "{list}"
    );

    let calls = lines_of(folder, &["calls", "s.store"]);
    assert_eq!(calls.len(), asked);
    let [first, ..] = &calls[..] else { unreachable!() };
    assert_eq!(
        (&first["number"], &first["table"], &first["cost"]),
        (&json!(1), &json!("small"), &json!(0.0002))
    );
    assert_eq!(
        (&first["attempt"], &first["checksum"], first.get("request")),
        (&json!(1), &json!(true), None)
    );
    let is_cut = |call: &&Value| call["finish"] == "length";
    let cut = lines_of(folder, &["calls", "s.store", "--finish=length"]);
    assert_eq!(cut, calls.iter().filter(is_cut).cloned().collect::<Vec<_>>());
    assert!(!cut.is_empty() && cut.len() < asked);
    assert_eq!(lines_of(folder, &["calls", "s.store", "--last=3"]), calls[asked - 3..]);
    let named = format!("--model=tiny-2024{HOSTILE}");
    assert_eq!(lines_of(folder, &["calls", "s.store", &named, "--last=1"]), cut[cut.len() - 1..]);
    assert!(lines_of(folder, &["calls", "s.store", "--model=other"]).is_empty());
    // What it says is what it said, though a terminal obeys none of it.
    let texts = lines_of(folder, &["calls", "s.store", "--texts", "--last=1"]);
    let said = texts[0]["answer"]["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(said.contains(HOSTILE), "{said}");
    assert!(texts[0]["request"]["messages"][0]["content"].as_str().unwrap().contains("Thirteen dice"));

    let one = shown(folder, &["calls", "s.store", "--show=2"]);
    assert_eq!(one.lines().find(|line| line.chars().count() > 80), None, "{one}");
    for part in [
        "call 2\n",
        "asked for    tiny\n",
        "input        100 tokens, 0 of them cached\n",
        "output       10 tokens, 0 of them for reasoning\n",
        "cost         0.0002\n",
        ", try 1\n",
        "checksum     fits\n",
        "── system ─",
        "Thirteen dice lie in a cup",
        "── user ─",
        "\"max_tokens\": 100",
        "── reasoning ─",
        "── answer ─",
        "?[2J?31m?I ",
    ] {
        assert!(one.contains(part), "{part}: {one}");
    }
    assert_eq!(lines_of(folder, &["calls", "s.store", "--show=2"]).len(), 1);
    assert!(
        refusal(&mut command(folder, &["calls", "s.store", "--show=9999"]), 2)
            .contains("there is no call 9999")
    );
    assert_eq!(files(folder), before, "nothing is changed, nor left beside it");
    assert!(!list.contains(KEY) && !one.contains(KEY));
}

#[test]
fn a_cost_without_prices_is_shown_as_unknown() {
    let server = Server::minded(plays);
    let folder = folder(&server, "answers = \"schema\"");
    let words = ["match", "zombie-dice-solo", "llm:small", "--models=models.toml", "--seed=1"];
    let said = command(folder.path(), &words).output().unwrap();
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains(" tokens, cost ?\n"), "{said}");
    // Without a name, the book is the one that matches use.
    let list = shown(folder.path(), &["calls"]);
    assert!(list.contains("     110        ? ") && !list.contains("0.000000"), "{list}");
    assert!(lines_of(folder.path(), &["calls"]).iter().all(|call| call["cost"].is_null()));
    assert!(shown(folder.path(), &["calls", "--show=1"]).contains("cost         ?\n"));
    let checked = ["check-bot", "zombie-dice-solo", "llm:small", "--models=models.toml"];
    let checked = output(&mut command(folder.path(), &checked));
    assert!(checked.contains("cost ?)"), "{checked}");
}

#[test]
fn a_book_that_is_not_there_or_damaged_is_told_by_its_name() {
    let server = Server::minded(plays);
    let folder = folder(&server, PRICES);
    let folder = folder.path();
    let none = refusal(&mut command(folder, &["calls"]), 2);
    assert!(none.contains("calls.db: there is no such book of calls"), "{none}");
    assert!(!folder.join("cache").exists(), "nothing is made");
    fs::write(folder.join("t.store"), "no book").unwrap();
    let foreign = refusal(&mut command(folder, &["calls", "t.store"]), 2);
    assert!(
        foreign.contains("t.store: this file is no book of calls") && foreign.contains("hint: "),
        "{foreign}"
    );
    json_of(folder, &RACE);
    let book = rusqlite::Connection::open(folder.join("s.store.calls")).unwrap();
    // An answer that belongs to another question.
    let sql =
        "UPDATE calls SET answer = (SELECT other.answer FROM calls other WHERE other.answer <> calls.answer)
        WHERE id = 2";
    book.execute_batch(sql).unwrap();
    drop(book);
    for words in [
        &["calls", "s.store"][..],
        &[
            &with(&RACE, &[("--store=s.store", "--store=o.store")])[..],
            &["--answers=only", "--calls=s.store.calls"],
        ]
        .concat(),
    ] {
        let said = failure(&mut command(folder, words));
        assert!(
            said.contains("s.store.calls: the book is damaged: call 2: its question, its answer"),
            "{said}"
        );
    }
}

#[test]
fn reports_say_which_model_has_answered() {
    let server = Server::minded(hostile);
    let folder = folder(&server, PRICES);
    let folder = folder.path();
    let report = json_of(folder, &RACE);
    let usage = &entry(&report, "small")["usage"];
    let answered = usage["answered_by"].as_object().unwrap();
    assert_eq!(answered.len(), 2, "{usage}");
    assert_eq!(
        answered.values().map(|calls| calls.as_u64().unwrap()).sum::<u64>(),
        usage["calls"].as_u64().unwrap()
    );
    let words = format!("small: answered by tiny ({} calls), tiny-2024?[2J?31m? (", answered["tiny"]);
    let text = output(&mut command(folder, &["report", "s.store", "--html=site"]));
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(&words), "{text}");
    assert!(fs::read_to_string(folder.join("site/index.html")).unwrap().contains(&words));

    let exam = ["exam", "zombie-dice-solo", "llm:small", "greedy", "--models=models.toml", "--positions=20"];
    let entries = &json_of(folder, &[&exam[..], &["--json"]].concat())["entries"];
    let small = entries.as_array().unwrap().iter().find(|entry| entry["name"] == "small").unwrap();
    assert!(small["answered_by"]["tiny"].as_u64() > Some(0), "{small}");
    let text = output(&mut command(folder, &[&exam[..], &["--html=e.html"]].concat()));
    assert!(text.contains("small: answered by tiny"), "{text}");
    assert!(fs::read_to_string(folder.join("e.html")).unwrap().contains("small: answered by tiny"));
}

#[test]
fn a_damaged_store_with_models_is_repaired_from_its_book() {
    let server = Server::minded(plays);
    let folder = folder(&server, PRICES);
    let folder = folder.path();
    let report = json_of(folder, &RACE);
    drop(server);
    let damage = |change: &str| {
        let store = rusqlite::Connection::open(folder.join("s.store")).unwrap();
        store.execute_batch(&format!("{change}; PRAGMA secure_delete = ON; VACUUM")).unwrap();
    };
    let whole = fs::read(folder.join("s.store")).unwrap();
    let repair_to = |words: &[&str], code: i32| {
        let said = command(folder, &[&["store", "repair"], words].concat()).output().unwrap();
        let told = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(code), "{told}");
        told
    };
    let repair = |words: &[&str]| {
        let told = repair_to(&[&["s.store"], words].concat(), 0);
        fs::remove_file(folder.join("s.store.damaged")).unwrap();
        told
    };
    let again = || {
        serde_json::from_str::<Value>(&output(&mut command(folder, &["report", "s.store", "--json"])))
            .unwrap()
    };
    // Replays and all: only the book knows what was said.
    damage("DELETE FROM chunks WHERE first = 0; DELETE FROM details WHERE block = 0");
    let said = repair(&["--models=models.toml"]);
    assert!(said.contains("answered from the book"), "{said}");
    let repaired = again();
    assert_eq!(repaired["hash"], report["hash"], "{said}");
    assert_eq!(entry(&repaired, "small")["usage"], entry(&report, "small")["usage"]);

    // With replays it is the same, and what the calls took is known again.
    fs::write(folder.join("s.store"), &whole).unwrap();
    damage("DELETE FROM chunks WHERE first = 0");
    let said = repair(&["--models=models.toml"]);
    assert!(said.contains(": played again"), "{said}");
    assert_eq!(entry(&again(), "small")["usage"], entry(&report, "small")["usage"]);
    // Nobody says what models there are: the replays are enough for the results.
    fs::write(folder.join("s.store"), &whole).unwrap();
    damage("DELETE FROM chunks WHERE first = 0");
    let said = repair(&[]);
    assert!(
        said.contains("without what their calls took: small (llm:small): ")
            && said.contains("no file of models"),
        "{said}"
    );
    let repaired = again();
    assert_eq!(repaired["hash"], report["hash"]);
    let calls = |report: &Value| entry(report, "small")["usage"]["calls"].as_u64();
    assert!(calls(&repaired) < calls(&report), "{repaired}");

    // Another table is another entry, and fresh answers make another tournament.
    fs::write(folder.join("s.store"), &whole).unwrap();
    damage("DELETE FROM chunks WHERE first = 0; DELETE FROM details WHERE block = 0");
    let table = fs::read_to_string(folder.join("models.toml")).unwrap();
    fs::write(folder.join("other.toml"), table.replace("answers =", "retries = 0\nanswers =")).unwrap();
    let said = repair_to(&["s.store", "--models=other.toml", "--out=less.store"], 1);
    assert!(said.contains("small (llm:small) is not here as it was"), "{said}");
    // Without tables blocks stay lost; the hint says how they come back.
    let said = repair_to(&["s.store"], 1);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("error: 3 blocks lost") && said.contains("--models"), "{said}");
    let hint = said.split_once("`necrodome store repair ").unwrap().1.split_once('`').unwrap().0;
    assert_eq!(hint, "s.store.damaged --out NEW.store --models FILE --calls s.store.calls");
    let hint = hint.replace("NEW.store", "whole.store").replace("FILE", "models.toml");
    repair_to(&hint.split(' ').collect::<Vec<_>>(), 0);
    let whole_again = json_of(folder, &["report", "whole.store", "--json"]);
    assert_eq!(whole_again["hash"], report["hash"], "{said}");
    fs::remove_file(folder.join("s.store.damaged")).unwrap();
    fs::write(folder.join("s.store"), &whole).unwrap();
    damage("DELETE FROM chunks WHERE first = 0");
    let fresh = ["store", "repair", "s.store", "--models=models.toml", "--answers=fresh"];
    assert!(refusal(&mut command(folder, &fresh), 2).contains("fresh answers would make another tournament"));
    let idle = ["store", "repair", "s.store", "--answers=only"];
    assert!(refusal(&mut command(folder, &idle), 2).contains("--answers means nothing without --models"));
}
