//! `docs/protocol.md` and `docs/schema` match the protocol of the code: the code reads or writes every example, the
//! schemas are generated from the types, and the messages of real matches are valid under them.
//!
//! After a change of the protocol: `UPDATE_SCHEMA=1 cargo test -p necrodome-arena protocol`, then read the
//! difference.

use jsonschema::Validator;
use necrodome_arena::{
    fault::FaultKind,
    protocol::{Act, MAX_LISTED, MAX_REASON, PROTOCOL, Ready, ToBot},
};
use necrodome_rules::{
    catalog::{GameId, Listed},
    game::{Game, Outcome, Seat},
    infection::Infection,
    names::Names,
    with_game,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
};

type Message<'a, G> =
    ToBot<'a, <G as Game>::View, <G as Game>::Action, <G as Game>::Event, <G as Game>::Rules>;

/// Messages of the arena, then those of the bot.
const KINDS: [&str; 7] = ["hello", "start", "decide", "events", "end", "ready", "act"];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn protocol_md() -> String {
    read(&docs().join("protocol.md"))
}

fn game(name: &str) -> GameId {
    GameId::ALL.into_iter().find(|id| id.as_str() == name).unwrap_or_else(|| panic!("no game {name:?}"))
}

/// All blocks that start with "```json GAME KIND", with their text.
fn examples(text: &str) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(tag) = line.strip_prefix("```json") {
            let words: Vec<&str> = tag.split_whitespace().collect();
            let [game, kind] = words[..] else { panic!("expected \"```json GAME KIND\", got {line:?}") };
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push((game.to_owned(), kind.to_owned(), block.join("\n")));
        }
    }
    found
}

/// Reads a field as a type of the code.
fn field<T: DeserializeOwned>(message: &Value, name: &str) -> T {
    let value = message.get(name).unwrap_or_else(|| panic!("no field {name:?} in {message}"));
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What the arena writes, given the values in an example.
fn as_the_arena_writes<G: Listed>(kind: &str, example: &Value) -> Value {
    let write = |message: Message<G>| serde_json::to_value(message).unwrap();
    match kind {
        "hello" => write(ToBot::Hello {
            protocol: PROTOCOL,
            game: G::ID,
            options: &field::<G::Rules>(example, "options"),
            seats: field(example, "seats"),
            name: &field::<String>(example, "name"),
        }),
        "start" => write(ToBot::Start {
            seat: field(example, "seat"),
            names: &Vec::from(field::<Names>(example, "names")),
            seed: field(example, "seed"),
        }),
        "decide" => {
            let view: G::View = field(example, "view");
            let legal = G::few_legal_actions(&view, MAX_LISTED);
            write(ToBot::Decide { id: field(example, "id"), view: &view, legal })
        }
        "events" => {
            let events: Vec<G::Event> = field(example, "events");
            let events: Vec<&G::Event> = events.iter().collect();
            write(ToBot::Events { events: &events })
        }
        "end" => write(ToBot::End { outcome: &field::<Outcome>(example, "outcome") }),
        other => panic!("the arena says no {other:?}"),
    }
}

/// Reads what a bot writes, and writes it again.
fn read_again<T: Serialize + DeserializeOwned>(example: &Value) -> Value {
    let value: T =
        serde_json::from_value(example.clone()).unwrap_or_else(|error| panic!("{example}: {error}"));
    serde_json::to_value(value).unwrap()
}

fn check_example<G: Listed>(kind: &str, example: &Value) {
    let again = match kind {
        "ready" => read_again::<Ready>(example),
        "act" => read_again::<Act<G::Action>>(example),
        _ => as_the_arena_writes::<G>(kind, example),
    };
    assert_eq!(again, *example, "{} {kind}: left is what the code makes of it", G::ID);
}

#[test]
fn every_example_is_what_the_code_reads_and_writes() {
    let mut seen = BTreeSet::new();
    for (name, kind, text) in examples(&protocol_md()) {
        let example: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
        let id = game(&name);
        with_game!(id, G => check_example::<G>(&kind, &example));
        assert_valid(&validator(&schema_of(id), &kind), &example, &format!("{name} {kind}"));
        seen.insert(kind);
    }
    assert_eq!(seen, KINDS.into_iter().map(str::to_owned).collect(), "an example of every message");
}

#[test]
fn what_can_be_left_out_can_be_left_out() {
    let ready: Ready = serde_json::from_value(json!({"type": "ready", "protocol": 1})).unwrap();
    assert!(!ready.events && !ready.deterministic);
    let act: Act<Value> = serde_json::from_value(json!({"id": 1, "action": {}})).unwrap();
    assert_eq!(act.reason, None);
    // Later versions may add fields: neither side stumbles over them.
    let later = json!({"type": "ready", "protocol": 1, "language": "Python"});
    assert!(serde_json::from_value::<Ready>(later.clone()).is_ok());
    assert_valid(&validator(&schema_of(GameId::Tokyo), "ready"), &later, "ready");
}

#[test]
fn the_document_names_every_fault_and_every_limit() {
    let text = protocol_md();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let named: BTreeSet<String> = rows.map(|(name, _)| name.to_owned()).collect();
    use FaultKind::*;
    let kinds = [
        Crash,
        Exit,
        Timeout,
        Garbage,
        Oversized,
        Flood,
        Illegal,
        WrongId,
        Closed,
        IgnoredSigterm,
        LeftChildren,
        NoStart,
        Out,
        Chatter,
    ];
    assert_eq!(named, kinds.into_iter().map(|kind| kind.as_str().to_owned()).collect());
    for kind in kinds {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
    }
    assert!(text.contains(&format!("Version: {PROTOCOL}.")));
    assert!(text.contains(&format!("at most {MAX_LISTED}")));
    assert_eq!(MAX_REASON, 2000);
    assert!(text.contains("up to 2,000 characters"));
}

#[test]
fn legal_is_left_out_where_actions_are_many() {
    let settings = [("start_antibodies".to_owned(), "1".to_owned())];
    let rules = necrodome_rules::options::parse(&settings).unwrap();
    let names = Names::new((0..200).map(|seat| format!("player {seat}"))).unwrap();
    let mut chance = necrodome_rules::chance::Seeded::new(1, "match", 0);
    let party = Infection::new(&names, &rules, &mut chance, &mut Vec::new()).unwrap();
    let view = party.view(party.to_act()[0]);
    assert!(Infection::legal_actions(&view).unwrap().count() > MAX_LISTED);
    let message = as_the_arena_writes::<Infection>("decide", &json!({"id": 1, "view": view}));
    assert!(message.get("legal").is_none());
    assert_valid(&validator(&schema_of(GameId::Infection), "decide"), &message, "decide");
}

/// Where a type has one form when the arena writes it (all fields are there) and another when it reads it (defaults may
/// be left out), the first gets this behind its name.
const AS_WRITTEN: &str = "AsWritten";

/// The schema of a type, with a reference to each type that it is made of.
fn reference<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

/// Puts another name into every reference to `name`.
fn rename(schema: &mut Value, name: &str) {
    match schema {
        Value::Object(fields) => {
            if fields.get("$ref") == Some(&json!(format!("#/$defs/{name}"))) {
                fields.insert("$ref".into(), json!(format!("#/$defs/{name}{AS_WRITTEN}")));
            }
            fields.values_mut().for_each(|value| rename(value, name));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, name)),
        _ => {}
    }
}

/// All messages of a game, made from the types.
fn schema<G: Listed>() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let mut writes = settings.clone().for_serialize().into_generator();
    let mut reads = settings.for_deserialize().into_generator();

    let to_bot: Schema = Message::<G>::json_schema(&mut writes);
    let mut written: Map<String, Value> = Map::new();
    for message in to_bot.get("oneOf").and_then(Value::as_array).unwrap() {
        let kind = message["properties"]["type"]["const"].as_str().unwrap();
        written.insert(kind.to_owned(), message.clone());
    }
    written.insert("view".into(), reference::<G::View>(&mut writes));
    written.insert("event".into(), reference::<G::Event>(&mut writes));
    written.extend(writes.take_definitions(true));

    let mut defs: Map<String, Value> = Map::new();
    defs.insert("ready".into(), Ready::json_schema(&mut reads).to_value());
    defs.insert("act".into(), Act::<G::Action>::json_schema(&mut reads).to_value());
    defs.insert("action".into(), reference::<G::Action>(&mut reads));
    defs.extend(reads.take_definitions(true));

    // Whatever refers to something with two forms has two forms itself, so this is repeated until nothing differs.
    while let Some(name) = written.iter().find_map(|(name, def)| {
        let differs = defs.get(name).is_some_and(|other| other != def);
        differs.then(|| name.clone())
    }) {
        let def = written.remove(&name).unwrap();
        written.insert(format!("{name}{AS_WRITTEN}"), def);
        written.values_mut().for_each(|def| rename(def, &name));
    }
    defs.extend(written);

    let any: Vec<Value> = KINDS.iter().map(|kind| json!({"$ref": format!("#/$defs/{kind}")})).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("{}: messages of the bot protocol, version {PROTOCOL}", G::TITLE),
        "description": "Made from the code. The arena says hello, start, decide, events and end; the bot says ready and act.",
        "anyOf": any,
        "$defs": defs,
    })
}

fn schema_of(id: GameId) -> Value {
    with_game!(id, G => schema::<G>())
}

/// Checks values against one definition.
fn validator(schema: &Value, def: &str) -> Validator {
    let mut schema = schema.clone();
    let fields = schema.as_object_mut().unwrap();
    fields.remove("anyOf");
    fields.insert("$ref".into(), json!(format!("#/$defs/{def}")));
    jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{def}: {error}"))
}

fn assert_valid(validator: &Validator, value: &Value, what: &str) {
    if let Err(error) = validator.validate(value) {
        panic!("{what}: {error}, at {:?}\n{value}", error.instance_path().to_string());
    }
}

#[test]
fn the_schemas_are_those_of_the_types() {
    let text = protocol_md();
    for id in GameId::ALL {
        let path = docs().join(format!("schema/{id}.json"));
        let fresh = serde_json::to_string_pretty(&schema_of(id)).unwrap() + "\n";
        if env::var_os("UPDATE_SCHEMA").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &fresh).unwrap();
        }
        assert!(read(&path) == fresh, "{} is old: run with UPDATE_SCHEMA=1", path.display());
        assert!(
            text.contains(&format!("(schema/{id}.json)")),
            "docs/protocol.md has no link to the schema of {id}"
        );
        for def in KINDS.into_iter().chain(["view", "action", "event"]) {
            validator(&schema_of(id), def);
        }
    }
}

/// The golden playthrough of a game, line by line: the word in front and the JSON.
fn golden(id: GameId) -> Vec<(String, Value)> {
    let name = format!("it__golden__{}.snap", id.as_str().replace('-', "_"));
    let text = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../rules/tests/it/snapshots").join(name));
    let line = |line: &str| {
        let (word, json) = line.split_at(line.find('{')?);
        Some((word.trim().to_owned(), serde_json::from_str(json).ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// The messages that a golden line would be part of, by kind.
fn messages(id: GameId, word: &str, value: &Value) -> Vec<(&'static str, Value)> {
    match word {
        "view" => vec![
            ("view", value.clone()),
            (
                "decide",
                with_game!(id, G => as_the_arena_writes::<G>("decide", &json!({"id": 1, "view": value}))),
            ),
        ],
        "move" => vec![
            ("action", value["act"].clone()),
            ("act", json!({"id": 1, "action": value["act"], "reason": "why not"})),
        ],
        "rules" => {
            let hello = json!({"options": value, "seats": 2, "name": "mybot"});
            vec![("hello", with_game!(id, G => as_the_arena_writes::<G>("hello", &hello)))]
        }
        "end" => vec![("end", json!({"type": "end", "outcome": value}))],
        word if word == "judge" || word.starts_with("to ") => {
            vec![("event", value.clone()), ("events", json!({"type": "events", "events": [value]}))]
        }
        _ => Vec::new(),
    }
}

#[test]
fn what_is_said_in_a_match_is_valid_under_the_schemas() {
    for id in GameId::ALL {
        let schema = schema_of(id);
        let whole = jsonschema::validator_for(&schema).unwrap();
        let mut validators: BTreeMap<&str, Validator> = BTreeMap::new();
        for (word, value) in golden(id) {
            for (kind, message) in messages(id, &word, &value) {
                let validator = validators.entry(kind).or_insert_with(|| validator(&schema, kind));
                assert_valid(validator, &message, &format!("{id} {kind}"));
                if KINDS.contains(&kind) {
                    assert_valid(&whole, &message, &format!("{id}, any message"));
                }
            }
        }
        let said: Vec<&str> = validators.into_keys().collect();
        assert_eq!(said, ["act", "action", "decide", "end", "event", "events", "hello", "view"], "{id}");
        let start: Message<Infection> =
            ToBot::Start { seat: Seat(1), names: &["a".into(), "b".into()], seed: 7 };
        assert_valid(&validator(&schema, "start"), &serde_json::to_value(start).unwrap(), "start");
    }
}

#[test]
fn the_schemas_refuse_what_is_wrong() {
    for id in GameId::ALL {
        let schema = schema_of(id);
        let view_validator = validator(&schema, "view");
        let mut views = 0;
        for (_, view) in golden(id).into_iter().filter(|(word, _)| word == "view").take(20) {
            for name in view.as_object().unwrap().keys() {
                let mut less = view.clone();
                less.as_object_mut().unwrap().remove(name);
                assert!(!view_validator.is_valid(&less), "{id}: a view without {name} is valid");
                let mut other = view.clone();
                other[name] = json!({"brains": "many"});
                assert!(!view_validator.is_valid(&other), "{id}: a view with any {name} is valid");
            }
            views += 1;
        }
        assert!(views > 0);
        for (kind, wrong) in [
            ("action", json!({"type": "fly"})),
            ("action", json!("go")),
            ("act", json!({"action": {"type": "go"}})),
            ("act", json!({"id": "7", "action": {"type": "go"}})),
            ("ready", json!({"type": "ready"})),
            ("ready", json!({"type": "steady", "protocol": 1})),
            ("decide", json!({"type": "decide", "id": 1})),
            ("end", json!({"type": "end", "outcome": {"places": [1]}})),
            ("event", json!({"type": "flew"})),
        ] {
            assert!(!validator(&schema, kind).is_valid(&wrong), "{id} {kind}: {wrong} is valid");
        }
    }
}
