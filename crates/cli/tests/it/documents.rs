//! What `--json` prints conforms to `docs/schema`. The schemas themselves are made from the types (`crates/arena/tests`).

use crate::program::output_in;
use jsonschema::Validator;
use necrodome_arena::tournament::Archive;
use serde_json::{Value, json};
use std::{fs, path::Path};

/// The schema of a document, with no place for anything that it does not name.
fn schema(name: &str) -> Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schema/{name}.json"));
    let mut schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    close(&mut schema);
    jsonschema::validator_for(&schema).unwrap()
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            if fields.get("properties").is_some_and(|properties| properties.get("type").is_none()) {
                fields.insert("additionalProperties".into(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn assert_valid(schema: &Validator, document: &Value, what: &str) {
    if let Err(error) = schema.validate(document) {
        panic!("{what}: {error}, at {:?}\n{document}", error.instance_path().to_string());
    }
}

const CRASH: &str =
    r#"d=cmd:python3 -c 'print("{\"type\":\"ready\",\"protocol\":1}", flush=True); input(); input()'"#;

#[test]
fn reports_are_valid_under_their_schema() {
    let folder = tempfile::tempdir().unwrap();
    let schema = schema("report");
    for line_up in [
        &["zombie-dice-race", "greedy", "random", CRASH, "--format=round-robin", "--store=t.store"][..],
        &["zombie-dice-race", "greedy", "random", "--test=0,10", "--rank-by=plain"],
        &["zombie-dice-solo", "greedy", "random", "cautious"],
        &["zombie-dice", "greedy", "random", "--until=decided", "--margin=0.1"],
        &["tokyo", "angry", "random", "point-hunter", "--format=gauntlet", "--blocks=1"],
        &["last-bullet", "gunner", "huddle", "--format=battle", "--blocks=20"],
    ] {
        let more = ["--seed=1", "--json"];
        let blocks =
            if line_up.iter().any(|word| word.starts_with("--blocks")) { &[][..] } else { &["--blocks=12"] };
        let text = output_in(folder.path(), &[&["tournament"], line_up, &more, blocks].concat());
        assert_valid(&schema, &serde_json::from_str(&text).unwrap(), &line_up.join(" "));
    }
    // A store without a block, as one that was killed at once leaves it.
    let (_, plan) = Archive::read(&folder.path().join("t.store")).unwrap().stores().unwrap().remove(0);
    Archive::open(&folder.path().join("empty.store")).unwrap().begin(&plan).unwrap();
    for store in ["empty.store", "t.store"] {
        let text = output_in(folder.path(), &["report", store, "--json"]);
        let report: Value = serde_json::from_str(&text).unwrap();
        assert_valid(&schema, &report, store);
        for name in report.as_object().unwrap().keys() {
            let mut less = report.clone();
            less.as_object_mut().unwrap().remove(name);
            assert!(!schema.is_valid(&less), "a report without {name} is valid");
            let mut other = report.clone();
            other[name] = json!({"brains": "many"});
            assert!(!schema.is_valid(&other), "a report with any {name} is valid");
        }
    }
}

#[test]
fn forecasts_are_valid_under_their_schema() {
    let folder = tempfile::tempdir().unwrap();
    let schema = schema("forecast");
    for line_up in [
        &["zombie-dice-race", "greedy", "cautious", CRASH, "--format=round-robin", "--difference=0.02"][..],
        &["zombie-dice-solo", "greedy", "twin=greedy"],
    ] {
        let words = [&["tournament"], line_up, &["--plan", "--seed=1", "--json"]].concat();
        let forecast: Value = serde_json::from_str(&output_in(folder.path(), &words)).unwrap();
        assert_valid(&schema, &forecast, &line_up.join(" "));
    }
}

#[test]
fn matches_are_valid_under_their_schema() {
    let folder = tempfile::tempdir().unwrap();
    let schema = schema("match");
    for line_up in [
        &["zombie-dice", "greedy", CRASH][..],
        &["zombie-dice-solo", "random"],
        &["infection", "careful", "spreader", "random"],
    ] {
        let text = output_in(folder.path(), &[&["match"], line_up, &["--seed=1", "--json"]].concat());
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_valid(&schema, &document, &line_up.join(" "));
        for name in document.as_object().unwrap().keys() {
            let mut less = document.clone();
            less.as_object_mut().unwrap().remove(name);
            assert!(!schema.is_valid(&less), "a match without {name} is valid");
        }
    }
}

#[test]
fn exams_are_valid_under_their_schema() {
    let folder = tempfile::tempdir().unwrap();
    let schema = schema("exam");
    for line_up in [&["zombie-dice-race", "greedy", "optimal", CRASH][..], &["zombie-dice-solo", "random"]] {
        let words = [&["exam"], line_up, &["--positions=20", "--json"]].concat();
        let document: Value = serde_json::from_str(&output_in(folder.path(), &words)).unwrap();
        assert_valid(&schema, &document, &line_up.join(" "));
        for name in document.as_object().unwrap().keys() {
            let mut less = document.clone();
            less.as_object_mut().unwrap().remove(name);
            // What may be null may be missing.
            assert!(name == "stopped" || !schema.is_valid(&less), "an exam without {name} is valid");
        }
    }
}
