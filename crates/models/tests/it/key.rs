//! The key appears nowhere: not in errors, replies, notes, debug output or the book.

use super::{Set, desk, in_process, question};
use necrodome_models::{
    Book, BookError, Call, Form, Question, Wanted,
    testing::{Act, Answer, Server},
};
use serde_json::json;
use std::fs;

const KEY: &str = "sk-test-0123456789abcdef";
const TABLE: &str = "key_env = \"NECRODOME_TEST_KEY\"";

/// Runs a test again in a process that has the key in its environment, and searches what it prints.
fn with_key(test: &str, body: impl FnOnce()) {
    let printed = in_process(test, &[("NECRODOME_TEST_KEY", KEY)], body);
    assert!(printed.is_none_or(|printed| !printed.contains(KEY)));
}

#[test]
fn the_key_goes_into_one_header() {
    with_key("key::the_key_goes_into_one_header", || {
        let server = Server::scripted([Act::say("Hello")]);
        let (desk, model) = desk(&server, TABLE, Set::default());
        desk.ask(&model, &question("?")).unwrap();
        let asked = &server.asked()[0];
        assert_eq!(asked.header("authorization"), format!("Bearer {KEY}"));
        let others = asked.headers.iter().filter(|(name, _)| name != "authorization");
        assert!(!format!("{} {} {:?}", asked.path, asked.text, others.collect::<Vec<_>>()).contains(KEY));
    });
}

#[test]
fn the_key_appears_nowhere() {
    with_key("key::the_key_appears_nowhere", || {
        let echo = |asked: &necrodome_models::testing::Asked| {
            let key = asked.key();
            let escaped = key.replace('-', "\\u002d");
            let answer = |model: &str| Answer {
                text: format!("your key is {key}"),
                reasoning: Some(key.into()),
                refusal: Some(key.into()),
                model: format!("{model}-{key}"),
                ..Answer::default()
            };
            match asked.last_message() {
                "echo" => Act::Answer(answer("one")),
                "another" => Act::Answer(answer("two")),
                "escaped" => Act::Status(
                    200,
                    Vec::new(),
                    format!("{{\"choices\":[{{\"message\":{{\"content\":\"{escaped}\"}}}}]}}"),
                ),
                "escaped twice" => Act::say(format!("{{\"reason\":\"{}\"}}", key.replace('s', "\\u0073"))),
                "in parts" => {
                    let (one, two) = key.split_at(9);
                    let content = json!([{"type": "text", "text": one}, {"type": "text", "text": two}]);
                    let answer = json!({"choices": [{"message": {"content": content}}]});
                    Act::Status(200, Vec::new(), answer.to_string())
                }
                "redirect" => {
                    Act::Status(302, vec![("location", format!("http://thief.test/{key}"))], key.into())
                }
                "garbage" => Act::Status(200, Vec::new(), key.into()),
                "status" => Act::error(400, key),
                "escaped status" => Act::Status(400, Vec::new(), format!("{{\"error\":\"{escaped}\"}}")),
                "key" => Act::error(401, &format!("bad key {key}")),
                _ => Act::say("Hello"),
            }
        };
        let server = Server::minded(echo);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.db");
        let book = Book::open(&path).unwrap();
        let (desk, model) = desk(&server, TABLE, Set { book: Some(book.clone()), ..Set::default() });
        let mut shown = String::new();
        for text in [
            "echo",
            "another",
            "escaped",
            "escaped twice",
            "in parts",
            "redirect",
            "garbage",
            "status",
            "escaped status",
            "key",
            "plain",
        ] {
            for form in [Form::Line, Form::Tool] {
                let outcome = desk.ask(&model, &Question { form, ..question(text) });
                if let Err(error) = &outcome {
                    shown += &error.to_string();
                }
                shown += &format!("{text}: {outcome:?}\n");
            }
        }
        assert!(shown.contains("your key is [key]") && shown.contains("one-[key]"), "{shown}");
        assert!(shown.contains("http://thief.test/[key]") && shown.contains("bad key [key]"), "{shown}");
        let twice = desk.ask(&model, &question("escaped twice")).unwrap();
        assert_eq!(twice.text, "{\"reason\":\"[key]\"}");
        let parts = desk.ask(&model, &question("in parts")).unwrap();
        assert_eq!((parts.text.as_str(), parts.reused), ("[key]", true), "nor from the book");
        shown += &format!("{desk:?} {model:?} {book:?} {:?} {:?}", desk.take_notes(), desk.spent());
        let all = Wanted { texts: true, ..Wanted::default() };
        let show = |call: Call| {
            shown += &format!("{call:?}");
            Ok::<_, BookError>(())
        };
        book.each(&all, show).unwrap();
        assert!(!shown.contains(KEY.split_at(9).1), "{shown}");
        assert!(!shown.contains(KEY) && !shown.contains(&KEY.replace('-', "\\u002d")), "{shown}");
        assert!(shown.contains("now answers as \\\"two-[key]\\\""), "{shown}");

        // The whole file and what lies beside it, as bytes; `each` has unpacked the texts in it.
        for file in fs::read_dir(folder.path()).unwrap() {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            assert!(!bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()));
        }
    });
}

#[test]
fn a_key_that_is_missing_is_told_by_its_table() {
    // Keys that could be names of variables.
    for key in ["sk_live_0123456789abcdef", "AKIAIOSFODNN7EXAMPLE", "NECRODOME_NO_SUCH_KEY"] {
        let server = Server::scripted([Act::say("Hello")]);
        let (desk, model) = desk(&server, &format!("key_env = \"{key}\""), Set::default());
        let why = desk.ask(&model, &question("?")).unwrap_err().to_string();
        let says = "key_env of [models.m] in models.toml names an environment variable that is not set";
        assert!(why.ends_with(says), "{why}");
        assert!(!format!("{why} {desk:?} {model:?}").contains(key));
        assert!(server.asked().is_empty());
    }
}

#[test]
fn a_key_that_is_refused_is_told_by_its_table() {
    with_key("key::a_key_that_is_refused_is_told_by_its_table", || {
        let server = Server::scripted([Act::error(401, "no")]);
        let (desk, model) = desk(&server, TABLE, Set::default());
        let why = desk.ask(&model, &question("?")).unwrap_err().to_string();
        assert!(
            why.contains("refuses the key (key_env of [models.m] in models.toml names its variable)"),
            "{why}"
        );
        assert!(!why.contains("NECRODOME_TEST_KEY"), "{why}");
    });
}

#[test]
fn a_key_that_everybody_can_read_is_told_once() {
    for (base_url, is_told) in [
        ("http://192.0.2.1:8000/v1", true),
        ("http://models.test/v1", true),
        ("https://models.test/v1", false),
        ("http://localhost:8000/v1", false),
        ("http://127.0.0.1/v1", false),
        ("http://[::1]:8000/v1", false),
    ] {
        let desk =
            Set::default().desk(&format!("[models.m]\nbase_url = {base_url:?}\nmodel = \"x\"\n{TABLE}"));
        desk.model("m").unwrap();
        desk.model("m").unwrap();
        assert_eq!(desk.take_notes().len(), usize::from(is_told), "{base_url}");
    }
}
