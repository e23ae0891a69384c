//! Tests of what the book keeps, and of the calls that it saves.

use super::{SCHEMA, Set, desk, named, question};
use necrodome_models::{
    Answers, AskError, Book, BookError, Call, Finish, Form, Money, Question, Run, Tokens, Wanted,
    testing::{Act, Answer, Server},
};
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    sync::{Barrier, mpsc},
    thread,
};

const PRICES: &str = "input_price = 2\ncached_price = 0.5\noutput_price = 10";

/// An endpoint that counts its answers.
fn counting() -> Server {
    let number = std::sync::atomic::AtomicU64::new(0);
    Server::minded(move |_| {
        Act::say(format!("answer {}", number.fetch_add(1, std::sync::atomic::Ordering::SeqCst)))
    })
}

fn with(book: &Book, answers: Answers) -> Set {
    Set { book: Some(book.clone()), answers, ..Set::default() }
}

fn calls(book: &Book) -> Vec<Call> {
    wanted(book, &Wanted { texts: true, ..Wanted::default() }).unwrap()
}

fn wanted(book: &Book, wanted: &Wanted) -> Result<Vec<Call>, BookError> {
    let mut calls = Vec::new();
    book.each(wanted, |call| {
        calls.push(call);
        Ok::<_, BookError>(())
    })?;
    Ok(calls)
}

#[test]
fn every_call_is_kept_with_all_that_belongs_to_it() {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 64}, "completion_tokens_details": {"reasoning_tokens": 4}});
    let answer = Answer { text: "Hello".into(), usage, ..Answer::default() };
    let server = Server::scripted([Act::error(500, "oh no"), Act::Answer(answer)]);
    let book = Book::in_memory().unwrap();
    let (desk, model) = desk(&server, PRICES, with(&book, Answers::Reuse));
    let asked = Question { form: Form::Schema, salt: u64::MAX, ..question("Your move?") };
    let reply = desk.ask(&model, &asked).unwrap();
    let calls = calls(&book);
    let [call] = &calls[..] else { panic!("one call, got {calls:?}") };
    let texts = call.texts.as_ref().unwrap();
    assert_eq!(texts.request, server.asked()[1].text, "byte for byte");
    assert!(texts.request.contains(SCHEMA) && texts.request.contains("The rules."));
    assert_eq!((texts.messages.len(), texts.messages[1].text.as_str()), (2, "Your move?"));
    let body: Value = serde_json::from_str(&texts.answer).unwrap();
    assert_eq!(
        (body["choices"][0]["message"]["content"].as_str(), texts.reply.text.as_str()),
        (Some("Hello"), "Hello")
    );
    assert!(call.sealed && call.at.starts_with("20") && call.at.ends_with('Z'), "{}", call.at);
    assert_eq!((call.name.as_str(), call.model.as_str(), call.answered_by.as_str()), ("m", "tiny", "tiny-1"));
    assert_eq!(
        (call.base_url.as_str(), call.salt, call.finish),
        (server.base_url().as_str(), u64::MAX, Finish::Stop)
    );
    let tokens = Tokens { input: 100, cached: 64, output: 10, reasoning: 4, estimated: false };
    assert_eq!((call.tokens, call.attempt, call.latency), (tokens, 2, reply.latency));
    // 36 at 2 a million, 64 at 0.50, 10 at 10.
    assert_eq!((call.cost, reply.cost), (Some(Money { nanos: 72_000 + 32_000 + 100_000 }), call.cost));
}

#[test]
fn a_cost_without_prices_is_unknown_and_one_of_0_is_0() {
    let server = counting();
    for (lines, cost) in
        [("", None), ("input_price = 1", None), ("input_price = 0\noutput_price = 0", Some(Money::default()))]
    {
        let book = Book::in_memory().unwrap();
        let (first, model) = desk(&server, lines, with(&book, Answers::Reuse));
        assert_eq!(first.ask(&model, &question("?")).unwrap().cost, cost, "{lines}");
        assert_eq!(first.spent()["m"].made.known_cost(), cost, "{lines}");
        // Other prices today do not change what it cost then.
        let (later, model) = desk(&server, PRICES, with(&book, Answers::Only));
        assert_eq!(later.ask(&model, &question("?")).unwrap().cost, cost, "{lines}");
        assert_eq!(calls(&book)[0].cost, cost, "{lines}");
    }
}

#[test]
fn calls_are_chosen_by_model_finish_and_number() {
    let long = Answer { finish: "length".into(), model: "tiny-2".into(), ..Answer::default() };
    let server = Server::minded(move |asked| match asked.last_message() {
        "c" | "d" => Act::Answer(long.clone()),
        _ => Act::say("Hello"),
    });
    let book = Book::in_memory().unwrap();
    let (desk, model) = desk(&server, "", with(&book, Answers::Reuse));
    for text in ["a", "b", "c", "d", "e"] {
        desk.ask(&model, &question(text)).unwrap();
    }
    let all = Wanted::default();
    let length = Some(Finish::Length);
    for (chosen, numbers) in [
        (all, &[1, 2, 3, 4, 5][..]),
        (Wanted { last: Some(2), ..all }, &[4, 5]),
        (Wanted { last: Some(9), ..all }, &[1, 2, 3, 4, 5]),
        (Wanted { finish: length, ..all }, &[3, 4]),
        (Wanted { finish: length, last: Some(1), ..all }, &[4]),
        (Wanted { model: Some("tiny-1"), ..all }, &[1, 2, 5]),
        (Wanted { model: Some("tiny"), last: Some(0), ..all }, &[]),
        (Wanted { model: Some("m"), id: Some(3), ..all }, &[3]),
        (Wanted { model: Some("other"), ..all }, &[]),
    ] {
        let found = wanted(&book, &chosen).unwrap();
        assert!(found.iter().all(|call| call.texts.is_none()));
        assert_eq!(found.iter().map(|call| call.id).collect::<Vec<_>>(), numbers, "{chosen:?}");
    }
}

#[test]
fn a_book_is_read_without_changing_anything() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a b?%41#.calls");
    let server = counting();
    let (desk, model) = desk(&server, "", with(&Book::open(&path).unwrap(), Answers::Reuse));
    desk.ask(&model, &question("?")).unwrap();
    // While somebody writes it, with what is in the log only.
    assert_eq!(calls(&Book::read(&path).unwrap()).len(), 1);
    desk.ask(&model, &question("!")).unwrap();
    drop(desk);
    for version in [4, 3, 2, 1] {
        let older = rusqlite::Connection::open(&path).unwrap();
        match version {
            3 => older.execute_batch("ALTER TABLE generations DROP COLUMN since"),
            2 => older
                .execute_batch("ALTER TABLE calls DROP COLUMN seal; ALTER TABLE calls DROP COLUMN priced"),
            1 => older.execute_batch("DROP TABLE generations; ALTER TABLE calls DROP COLUMN generation"),
            _ => Ok(()),
        }
        .unwrap();
        older.pragma_update(None, "user_version", version).unwrap();
        drop(older);
        let files = || {
            let file = |file: Result<fs::DirEntry, _>| {
                file.map(|file: fs::DirEntry| {
                    (
                        file.path(),
                        fs::read(file.path()).unwrap(),
                        file.metadata().unwrap().permissions().mode(),
                    )
                })
            };
            fs::read_dir(folder.path())
                .unwrap()
                .map(file)
                .collect::<Result<Vec<_>, std::io::Error>>()
                .unwrap()
        };
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let before = files();
        let found = calls(&Book::read(&path).unwrap());
        assert_eq!((found.len(), found[0].sealed), (2, version >= 3));
        assert_eq!(found[0].texts.as_ref().unwrap().reply.text, "answer 0");
        assert!(files() == before, "version {version}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let refused = Book::read(&folder.path().join("none")).unwrap_err();
    assert!(refused.why.contains("there is no such book of calls"), "{refused}");
    assert!(Book::read(folder.path()).unwrap_err().why.contains("is no book of calls"));
}

#[test]
fn a_question_has_one_answer() {
    let server = counting();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db.calls");
    let book = Book::open(&path).unwrap();
    let (first, model) = desk(&server, "", with(&book, Answers::Reuse));
    let asked = first.ask(&model, &question("?")).unwrap();
    assert_eq!((asked.text.as_str(), asked.reused), ("answer 0", false));
    drop((first, book));

    // Another run, and another process as far as the file can tell.
    let book = Book::open(&path).unwrap();
    let (later, model) = desk(&server, "concurrency = 1\ninput_price = 5", with(&book, Answers::Reuse));
    let kept = later.ask(&model, &question("?")).unwrap();
    assert_eq!(kept, necrodome_models::Reply { reused: true, ..asked });
    let salted = later.ask(&model, &Question { salt: 1, ..question("?") }).unwrap();
    let other_form = later.ask(&model, &Question { form: Form::Tool, ..question("?") }).unwrap();
    assert_eq!((salted.text.as_str(), other_form.text.as_str()), ("answer 1", "answer 2"));
    let spent = later.spent()["m"];
    assert_eq!((spent.made.calls, spent.reused.calls), (2, 1));

    let (offline, model) = desk(&server, "", with(&book, Answers::Only));
    assert_eq!(offline.ask(&model, &question("?")).unwrap().text, "answer 0");
    let why = offline.ask(&model, &question("never asked")).unwrap_err();
    assert_eq!(why, AskError::NotKept("the book has no answer of m to this question".into()));
    let (hot, model) = desk(&server, "[models.m.parameters]\ntemperature = 2.0", with(&book, Answers::Only));
    assert!(hot.ask(&model, &question("?")).is_err(), "other parameters, another question");
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn fresh_answers_replace_those_in_the_book() {
    let server = counting();
    let book = Book::in_memory().unwrap();
    let texts = |answers| {
        let (desk, model) = desk(&server, "", with(&book, answers));
        [(); 2].map(|()| desk.ask(&model, &question("?")).unwrap().text)
    };
    assert_eq!(texts(Answers::Reuse), ["answer 0", "answer 0"]);
    assert_eq!(texts(Answers::Fresh), ["answer 1", "answer 1"], "each question once a run");
    assert_eq!(texts(Answers::Only), ["answer 1", "answer 1"], "the last answer counts");
    assert_eq!(calls(&book).len(), 2);
}

#[test]
fn an_interrupted_fresh_run_goes_on_in_its_generation() {
    let server = counting();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    // Every run has a connection of its own, as processes have.
    let run = |answers, name: &str, texts: &[&str], ends: bool| -> Vec<String> {
        let (desk, model) = desk(&server, "", with(&Book::open(&path).unwrap(), answers));
        desk.begin(&model, &named(name)).unwrap();
        let said = texts.iter().map(|text| desk.ask(&model, &question(text)).unwrap().text).collect();
        if ends {
            desk.finish(&model).unwrap();
        }
        said
    };
    assert_eq!(run(Answers::Reuse, "a", &["x"], true), ["answer 0"]);
    assert_eq!(run(Answers::Fresh, "a", &["x"], false), ["answer 1"]);
    assert_eq!(run(Answers::Fresh, "a", &["x", "y"], true), ["answer 1", "answer 2"], "goes on");
    assert_eq!(run(Answers::Fresh, "b", &["x", "y"], true), ["answer 3", "answer 4"], "another run");
    assert_eq!(run(Answers::Only, "a", &["x", "y"], true), ["answer 1", "answer 2"], "its own answers");
    assert_eq!(run(Answers::Only, "c", &["x", "y"], true), ["answer 3", "answer 4"], "the last ones");
    assert_eq!(run(Answers::Fresh, "a", &["x"], true), ["answer 5"], "a complete run begins anew");
}

#[test]
fn a_run_finds_what_it_has_found_whatever_is_asked_later() {
    let server = counting();
    let book = Book::in_memory().unwrap();
    let run = |answers, name: &str, texts: &[&str]| -> Vec<String> {
        let (desk, model) = desk(&server, "", with(&book, answers));
        desk.begin(&model, &named(name)).unwrap();
        texts.iter().map(|text| desk.ask(&model, &question(text)).unwrap().text).collect()
    };
    assert_eq!(run(Answers::Reuse, "a", &["x"]), ["answer 0"]);
    assert_eq!(run(Answers::Fresh, "b", &["x", "y"]), ["answer 1", "answer 2"]);
    assert_eq!(run(Answers::Only, "a", &["x"]), ["answer 0"], "its own");
    assert_eq!(run(Answers::Reuse, "c", &["x"]), ["answer 1"], "the latest when it began");
    assert_eq!(run(Answers::Reuse, "a", &["x", "y"]), ["answer 0", "answer 2"], "nothing is paid twice");
    assert_eq!(run(Answers::Fresh, "d", &["x", "y"]), ["answer 3", "answer 4"]);
    for answers in [Answers::Reuse, Answers::Only] {
        assert_eq!(run(answers, "a", &["x", "y"]), ["answer 0", "answer 2"], "the first that came later");
        assert_eq!(run(answers, "c", &["x"]), ["answer 1"]);
    }
    assert_eq!(run(Answers::Fresh, "a", &["x"]), ["answer 5"], "fresh answers are nobody else's");
}

#[test]
fn each_model_of_a_run_has_answers_of_its_own() {
    let server = counting();
    let book = Book::in_memory().unwrap();
    let tables = ["hot", "cold"]
        .map(|name| server.table(name, &format!("[models.{name}.parameters]\nstop = \"{name}\"")));
    let run = |model: &str, answers, name: &str, texts: &[&str], ends: bool| -> Vec<String> {
        let desk = with(&book, answers).desk(&tables.concat());
        let model = desk.model(model).unwrap();
        desk.begin(&model, &named(name)).unwrap();
        let said = texts.iter().map(|text| desk.ask(&model, &question(text)).unwrap().text).collect();
        if ends {
            desk.finish(&model).unwrap();
        }
        said
    };
    assert_eq!(run("hot", Answers::Fresh, "a", &["x"], false), ["answer 0"]);
    assert_eq!(run("cold", Answers::Fresh, "a", &["x"], true), ["answer 1"]);
    assert_eq!(
        run("hot", Answers::Fresh, "a", &["x"], true),
        ["answer 0"],
        "it goes on, though the other is done"
    );
    assert_eq!(run("cold", Answers::Reuse, "b", &[], true), [""; 0]);
    assert_eq!(run("hot", Answers::Fresh, "c", &["x"], true), ["answer 2"]);
    assert_eq!(run("hot", Answers::Reuse, "b", &["x"], true), ["answer 2"], "the latest when it joined");
}

#[test]
fn a_run_keeps_its_answers_when_fresh_ones_are_not_complete() {
    let server = counting();
    let book = Book::in_memory().unwrap();
    let run = |answers, run: Run, texts: &[&str], ends: bool| -> Vec<String> {
        let (desk, model) = desk(&server, "", with(&book, answers));
        desk.begin(&model, &run).unwrap();
        let said = texts.iter().map(|text| desk.ask(&model, &question(text)).unwrap().text).collect();
        if ends {
            desk.finish(&model).unwrap();
        }
        said
    };
    let (a, dry) = (named("a"), Run { is_dry: true, ..named("a") });
    assert_eq!(run(Answers::Reuse, a, &["x", "y", "z"], true), ["answer 0", "answer 1", "answer 2"]);
    assert_eq!(run(Answers::Fresh, named("b"), &["x", "y"], true), ["answer 3", "answer 4"]);
    assert_eq!(
        run(Answers::Fresh, dry, &["x"], false),
        ["answer 5"],
        "fresh answers are not in the book yet"
    );
    assert_eq!(run(Answers::Reuse, a, &["x", "y"], false), ["answer 0", "answer 1"], "as if it had not been");
    assert_eq!(run(Answers::Fresh, a, &["x"], false), ["answer 6"]);
    assert_eq!(
        run(Answers::Fresh, dry, &["x"], false),
        ["answer 6"],
        "what is left of the run that was stopped"
    );
    assert_eq!(
        run(Answers::Only, a, &["x", "y"], false),
        ["answer 6", "answer 1"],
        "its own, the newest first"
    );
    assert_eq!(run(Answers::Reuse, a, &["x", "y"], true), ["answer 6", "answer 1"]);
    assert_eq!(run(Answers::Fresh, a, &["x"], true), ["answer 7"], "it was complete");
    // A run that has begun nothing takes the latest.
    assert_eq!(run(Answers::Reuse, Run { is_dry: true, ..named("c") }, &["x"], false), ["answer 7"]);
    assert_eq!(run(Answers::Fresh, named("d"), &["x"], true), ["answer 8"]);
    assert_eq!(run(Answers::Reuse, named("c"), &["x"], true), ["answer 8"]);
}

#[test]
fn books_of_version_1_are_brought_up_to_date() {
    let server = counting();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let (first, model) = desk(&server, "", with(&Book::open(&path).unwrap(), Answers::Reuse));
    first.ask(&model, &question("?")).unwrap();
    drop(first);
    let older = rusqlite::Connection::open(&path).unwrap();
    let sql = "ALTER TABLE calls DROP COLUMN seal; ALTER TABLE calls DROP COLUMN priced;
        DROP TABLE generations; ALTER TABLE calls DROP COLUMN generation; DROP TABLE forms;
        CREATE TABLE forms (question BLOB PRIMARY KEY, form TEXT NOT NULL) STRICT, WITHOUT ROWID;
        PRAGMA user_version = 1";
    older.execute_batch(sql).unwrap();
    drop(older);
    let (later, model) = desk(&server, "", with(&Book::open(&path).unwrap(), Answers::Only));
    assert_eq!(later.ask(&model, &question("?")).unwrap().text, "answer 0");
    let (fresh, model) = desk(&server, "", with(&Book::open(&path).unwrap(), Answers::Fresh));
    assert_eq!(fresh.ask(&model, &question("?")).unwrap().text, "answer 1");
}

#[test]
fn those_who_ask_the_same_share_a_call() {
    const ASKING: usize = 6;
    let (open, door) = mpsc::channel::<()>();
    let door = std::sync::Mutex::new(door);
    let server = Server::minded(move |asked| {
        let _ = door.lock().unwrap().recv();
        Act::say(asked.last_message())
    });
    let (desk, model) = desk(&server, "", Set::default());
    let ready = Barrier::new(ASKING + 1);
    let replies: Vec<_> = thread::scope(|scope| {
        let ask = || {
            ready.wait();
            desk.ask(&model, &question("same")).unwrap()
        };
        let threads: Vec<_> = (0..ASKING).map(|_| scope.spawn(ask)).collect();
        ready.wait();
        open.send(()).unwrap();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(server.asked().len(), 1);
    assert_eq!(replies.iter().filter(|reply| !reply.reused).count(), 1);
    assert!(replies.iter().all(|reply| reply.text == "same" && reply.tokens == replies[0].tokens));
    let spent = desk.spent()["m"];
    assert_eq!((spent.made.calls, spent.reused.calls), (1, ASKING as u64 - 1));
}

#[test]
fn two_programs_may_share_a_book() {
    let server = counting();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let (mine, yours) = (Book::open(&path).unwrap(), Book::open(&path).unwrap());
    let (mine, model) = desk(&server, "", with(&mine, Answers::Reuse));
    let (yours, _) = desk(&server, "", with(&yours, Answers::Reuse));
    for text in ["a", "b"] {
        // On the disk as soon as it is answered: whoever is killed now has lost nothing.
        let asked = mine.ask(&model, &question(text)).unwrap();
        assert_eq!(yours.ask(&model, &question(text)).unwrap().text, asked.text);
    }
    assert_eq!(yours.ask(&model, &question("c")).unwrap().text, "answer 2");
    assert_eq!(mine.ask(&model, &question("c")).unwrap().text, "answer 2");
}

#[test]
fn texts_are_kept_once() {
    let server = Server::scripted([Act::say("Hello")]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let book = Book::open(&path).unwrap();
    let (desk, model) = desk(&server, "", with(&book, Answers::Reuse));
    // What zstd cannot make small.
    let rules: String = (0..20_000).map(random_looking).collect();
    for number in 0..20 {
        let mut asked = question(&number.to_string());
        asked.messages[0].text.clone_from(&rules);
        desk.ask(&model, &asked).unwrap();
    }
    drop((desk, book));
    let size: u64 =
        fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!(size < 120_000, "20 calls with the same 20 kB of rules take {size} bytes");
    let has_rules = |call: &Call| call.texts.as_ref().unwrap().request.contains(&rules);
    assert!(calls(&Book::open(&path).unwrap()).iter().all(has_rules));
}

/// A letter or digit that looks random.
fn random_looking(n: u32) -> char {
    let mixed = n.wrapping_mul(2_654_435_761).rotate_left(13).wrapping_mul(0x9e37_79b9);
    char::from_digit((mixed >> 24) % 36, 36).unwrap()
}

#[test]
fn the_file_is_its_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let path = folder.path().join("calls.db");
    let book = Book::open(&path).unwrap();
    let server = Server::scripted([Act::say("Hello")]);
    let (desk, model) = desk(&server, "", with(&book, Answers::Reuse));
    desk.ask(&model, &question("?")).unwrap();
    for file in fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{path:?}");
    }
    drop((desk, book));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    drop(Book::open(&path).unwrap());
    assert_eq!(mode(&path), 0o600, "also one that others could read before");
    let pipe = folder.path().join("pipe.db");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let refused = Book::open(&pipe).unwrap_err();
    assert!(refused.why.ends_with("is no regular file") && refused.hint.is_some(), "{refused}");
    let link = folder.path().join("link.db");
    symlink(&path, &link).unwrap();
    let refused = Book::open(&link).unwrap_err();
    assert!(refused.why.contains("symbolic link") && refused.hint.is_some(), "{refused}");
}

#[test]
fn an_older_book_with_absurd_counts_is_summed_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let server = counting();
    let (desk, model) = desk(&server, "", with(&Book::open(&path).unwrap(), Answers::Reuse));
    desk.ask(&model, &question("?")).unwrap();
    let tampered = rusqlite::Connection::open(&path).unwrap();
    tampered.execute_batch("UPDATE calls SET seal = NULL, priced = NULL").unwrap();
    let columns =
        ["input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "cost_nanos", "latency_us"];
    for column in columns {
        tampered.execute_batch(&format!("UPDATE calls SET {column} = {}", i64::MAX)).unwrap();
    }
    for _ in 0..3 {
        desk.ask(&model, &question("?")).unwrap();
    }
    let sum = desk.spent()["m"].reused;
    let most =
        Tokens { input: u64::MAX, cached: u64::MAX, output: u64::MAX, reasoning: u64::MAX, estimated: false };
    assert_eq!((sum.calls, sum.tokens, sum.cost), (3, most, Money { nanos: u64::MAX }));
}

#[test]
fn two_processes_may_write_one_book() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let server = counting();
    // Each has a connection of its own, as processes have.
    let process = |answers: Answers, text: &dyn Fn(usize, usize) -> String| {
        thread::scope(|scope| {
            let ask = |process: usize| {
                let (desk, model) = desk(&server, "", with(&Book::open(&path).unwrap(), answers));
                let texts: Vec<String> = (0..25).map(|round| text(process, round)).collect();
                move || texts.iter().map(|text| desk.ask(&model, &question(text)).unwrap().text).collect()
            };
            let threads: Vec<_> = (0..4).map(|process| scope.spawn(ask(process))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<Vec<String>>>()
        })
    };
    process(Answers::Reuse, &|process, round| format!("{process}.{round}"));
    assert_eq!(calls(&Book::open(&path).unwrap()).len(), 100, "no answer that is paid for is lost");
    let said = process(Answers::Fresh, &|_, round| format!("the same {round}"));
    assert!(said[1..].iter().all(|other| *other != said[0]), "each has its own: {said:?}");
    assert_eq!(calls(&Book::open(&path).unwrap()).len(), 200);
}

#[test]
fn two_processes_that_ask_the_same_agree() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    // Both are asking before either is answered.
    let (number, together) = (std::sync::atomic::AtomicU64::new(0), Barrier::new(2));
    let server = Server::minded(move |_| {
        together.wait();
        Act::say(format!("answer {}", number.fetch_add(1, std::sync::atomic::Ordering::SeqCst)))
    });
    let ask = || {
        let (desk, model) = desk(&server, "", with(&Book::open(&path).unwrap(), Answers::Reuse));
        let reply = desk.ask(&model, &question("?")).unwrap();
        assert_eq!(desk.spent()["m"].made.calls, 1, "both have paid");
        reply.text
    };
    let [one, two] =
        thread::scope(|scope| [scope.spawn(ask), scope.spawn(ask)].map(|thread| thread.join().unwrap()));
    assert_eq!((one, server.asked().len()), (two, 2));
    assert_eq!(calls(&Book::open(&path).unwrap()).len(), 1);
}

#[test]
fn foreign_and_damaged_files_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    fs::write(&path, "not a database, but long enough to look like one".repeat(50)).unwrap();
    let refused = Book::open(&path).unwrap_err();
    assert_eq!(refused.hint.as_deref(), Some("choose another file for the calls"), "{refused}");
    fs::remove_file(&path).unwrap();

    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE mine (a)").unwrap();
    drop(other);
    let before = fs::read(&path).unwrap();
    assert!(Book::open(&path).unwrap_err().why.contains("no book of calls"));
    assert_eq!(fs::read(&path).unwrap(), before);
    fs::remove_file(&path).unwrap();

    let server = Server::scripted([Act::say("Hello")]);
    let book = Book::open(&path).unwrap();
    let (desk, model) = desk(&server, "", with(&book, Answers::Reuse));
    desk.ask(&model, &question("?")).unwrap();
    let damage = rusqlite::Connection::open(&path).unwrap();
    damage
        .execute_batch(
            "UPDATE texts SET packed = (SELECT packed FROM texts WHERE hash = (SELECT frame FROM calls))",
        )
        .unwrap();
    let Err(AskError::Stuck { why, .. }) = desk.ask(&model, &question("?")) else { panic!("an error") };
    assert!(why.contains("calls.db: the book is damaged: call 1: a text is not what was written"), "{why}");
    assert_eq!(server.asked().len(), 1, "an answer that is lost is not asked for silently");
}

#[test]
fn a_request_that_does_not_fit_its_question_is_an_error() {
    for change in [
        "messages = (SELECT messages FROM calls WHERE id = 2)",
        "frame = (SELECT substr(messages, 2, 32) FROM calls WHERE id = 2)",
        "base_url = 'http://elsewhere'",
        "salt = 7",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.db");
        let server = counting();
        let book = Book::open(&path).unwrap();
        let (desk, model) = desk(&server, "", with(&book, Answers::Reuse));
        for text in ["?", "!"] {
            desk.ask(&model, &question(text)).unwrap();
        }
        let tampered = rusqlite::Connection::open(&path).unwrap();
        // As calls of older versions are.
        tampered.execute_batch(&format!("UPDATE calls SET seal = NULL, {change} WHERE id = 1")).unwrap();
        let Err(AskError::Stuck { why, .. }) = desk.ask(&model, &question("?")) else { panic!("{change}") };
        assert!(
            why.contains("calls.db: the book is damaged: call 1: a request does not fit"),
            "{change}: {why}"
        );
        assert!(wanted(&book, &Wanted { texts: true, ..Wanted::default() }).is_err(), "{change}");
        assert_eq!(desk.ask(&model, &question("!")).unwrap().text, "answer 1");
        assert_eq!(server.asked().len(), 2, "no answer is asked for silently");
    }
}

#[test]
fn an_answer_or_a_count_that_is_not_the_calls_own_is_an_error() {
    let columns = [
        "question",
        "at_ms",
        "name",
        "base_url",
        "model",
        "frame",
        "messages",
        "salt",
        "answer",
        "answered_by",
        "finish",
        "input_tokens",
        "cached_tokens",
        "output_tokens",
        "reasoning_tokens",
        "estimated",
        "cost_nanos",
        "latency_us",
        "attempt",
        "generation",
        "priced",
    ];
    let swapped = |column: &str| match column {
        "question" | "frame" | "messages" | "answer" => format!("(SELECT {column} FROM calls WHERE id = 2)"),
        "estimated" | "priced" => format!("1 - {column}"),
        "name" | "base_url" | "model" | "answered_by" | "finish" => "'another'".into(),
        number => format!("{number} + 1"),
    };
    for column in columns {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.db");
        let server = counting();
        let book = Book::open(&path).unwrap();
        let (desk, model) = desk(&server, "", with(&book, Answers::Reuse));
        let other = Question { form: Form::Schema, ..question("!") };
        for asked in [&question("?"), &other] {
            desk.ask(&model, asked).unwrap();
        }
        let tampered = rusqlite::Connection::open(&path).unwrap();
        tampered
            .execute_batch(&format!("UPDATE calls SET {column} = {} WHERE id = 1", swapped(column)))
            .unwrap();
        let says =
            "calls.db: the book is damaged: call 1: its question, its answer and its counts do not fit";
        let why = wanted(&book, &Wanted::default()).unwrap_err().to_string();
        assert!(why.contains(says), "{column}: {why}");
        // A question that is another's is not found; all else is an error, and no answer is asked for silently.
        if column != "question" {
            let Err(AskError::Stuck { why, .. }) = desk.ask(&model, &question("?")) else {
                panic!("{column}")
            };
            assert!(why.contains(says), "{column}: {why}");
            assert_eq!(
                (desk.ask(&model, &other).unwrap().text.as_str(), server.asked().len()),
                ("answer 1", 2)
            );
        }
    }
}

#[test]
fn a_book_that_must_be_there_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let refused = Book::open_for(&path, Answers::Only).unwrap_err();
    assert!(refused.to_string().contains("calls.db: there is no such book"), "{refused}");
    assert!(!path.exists());
    drop(Book::open_for(&path, Answers::Reuse).unwrap());
    assert!(Book::open_for(&path, Answers::Only).is_ok());
}
