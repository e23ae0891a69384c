//! `[models.NAME]` tables, and mistakes in them.

use super::models;
use necrodome_models::{Budget, Disguise, Form, Legal, Models, Money, Price};
use serde_json::json;
use std::{path::Path, time::Duration};

#[test]
fn a_table_needs_two_keys() {
    let models = models("[models.tiny]\nbase_url = \"http://127.0.0.1:8080/v1/\"\nmodel = \"tiny\"\n");
    let model = models.get("tiny").unwrap();
    assert_eq!((model.base_url.as_str(), model.model.as_str()), ("http://127.0.0.1:8080/v1", "tiny"));
    assert_eq!((model.prompt.as_str(), model.answers, model.legal), ("plain", None, Legal::Shown));
    assert_eq!((model.retries, model.concurrency, model.timeout), (1, 8, Duration::from_secs(120)));
    assert_eq!((&model.key_env, model.disguise, model.most_output()), (&None, None, None));
    assert_eq!(model.budget, Budget::default());
}

#[test]
fn all_keys_are_read() {
    let text = r#"
        [models."gpt-4.1"]
        base_url = "https://api.openai.com/v1/chat/completions"
        model = "gpt-4.1-mini"
        key_env = "OPENAI_API_KEY"
        prompt = "prompts/mine"
        answers = "tool"
        legal = "hidden"
        disguise = 7
        retries = 3
        input_price = 0.4
        cached_price = 0.1
        output_price = 2
        requests_per_minute = 500
        tokens_per_minute = 200000
        concurrency = 32
        timeout_s = 60
        budget = 2.50
        budget_tokens = 1000000

        [models."gpt-4.1".parameters]
        temperature = 0.5
        max_completion_tokens = 2000
        reasoning = { effort = "low" }
        stop = ["\n\n"]
    "#;
    let models = Models::parse(text, Path::new("some/where/models.toml")).unwrap();
    let model = models.get("gpt-4.1").unwrap();
    let price = |nanos| Some(Price(Money { nanos }));
    assert_eq!(model.base_url, "https://api.openai.com/v1");
    assert!(model.key_env.is_some());
    assert_eq!((model.prompt.as_str(), model.folder()), ("prompts/mine", Path::new("some/where")));
    assert_eq!(
        (model.answers, model.legal, model.disguise),
        (Some(Form::Tool), Legal::Hidden, Some(Disguise::Invented(7)))
    );
    assert_eq!((model.retries, model.concurrency, model.timeout), (3, 32, Duration::from_secs(60)));
    assert_eq!(model.input_price, price(400_000_000));
    assert_eq!((model.cached_price, model.output_price), (price(100_000_000), price(2_000_000_000)));
    assert_eq!((model.requests_per_minute, model.tokens_per_minute), (Some(500), Some(200_000)));
    assert_eq!(model.budget, Budget { money: Some(Money { nanos: 2_500_000_000 }), tokens: Some(1_000_000) });
    let parameters = json!({"temperature": 0.5, "max_completion_tokens": 2000, "reasoning": {"effort": "low"}, "stop": ["\n\n"]});
    assert_eq!(json!(model.parameters), parameters);
    assert_eq!(model.most_output(), Some(2000));
}

#[test]
fn mistakes_have_a_place_and_a_hint() {
    let table = |line: &str| format!("[models.m]\nbase_url = \"http://h/v1\"\nmodel = \"x\"\n{line}\n");
    for (text, says, hint) in [
        (table("promt = \"plain\""), "f.toml:4:1: unknown key \"promt\"", Some("did you mean prompt?")),
        (
            table("answers = \"tools\""),
            "f.toml:4:11: expected one of \"auto\", \"schema\", \"tool\", \"line\", got \"tools\"",
            Some("did you mean tool?"),
        ),
        (table("legal = \"no\""), "f.toml:4:9: expected one of \"shown\", \"hidden\", got \"no\"", None),
        (
            table("disguise = \"real\""),
            "f.toml:4:12: expected a seed (a whole number, 0 or more) or \"real-words\", got \"real\"",
            None,
        ),
        (
            table("disguise = -1"),
            "f.toml:4:12: expected a seed (a whole number, 0 or more) or \"real-words\", got -1",
            None,
        ),
        (table("retries = 11"), "f.toml:4:11: expected a whole number from 0 to 10, got 11", None),
        (table("concurrency = 0"), "f.toml:4:15: expected a whole number from 1 to 1024, got 0", None),
        (table("concurrency = \"8\""), "f.toml:4:15: expected a whole number, 0 or more, got \"8\"", None),
        (table("input_price = -1"), "f.toml:4:15: expected a price from 0 to 1000000.00, got -1", None),
        (table("budget = nan"), "f.toml:4:10: expected an amount from 0 to 1000000.00, got NaN", None),
        (
            table("key_env = \"sk-live-0123\""),
            "f.toml:4:11: expected the name of an environment variable: letters, digits and _, no digit first",
            Some("put the key into a variable, and the variable's name here"),
        ),
        (table("[models.m.parameters]\nstream = true"), "f.toml:5:1: the arena itself sets \"stream\"", None),
        (table("[models.m.parameters]\nwhen = 1979-05-27"), "f.toml:5:8: expected what JSON can say", None),
        ("[models.m]\nmodel = \"x\"\n".into(), "f.toml:1:1: expected a key \"base_url\" in this table", None),
        (
            "[models.m]\nbase_url = \"api.openai.com\"\nmodel = \"x\"\n".into(),
            "f.toml:2:12: expected an address such as \"https://api.openai.com/v1\", got \"api.openai.com\"",
            None,
        ),
        (
            "[models.m]\nbase_url = \"https://u:secret@h/v1\"\nmodel = \"x\"\n".into(),
            "f.toml:2:12: expected an address without a user, a password, ? or #",
            Some("keys go into the environment variable that key_env names"),
        ),
        (
            "[models.\"a b\"]\nbase_url = \"http://h\"\nmodel = \"x\"\n".into(),
            "f.toml:1:9: expected a name of letters, digits, - _ and . only, got \"a b\"",
            None,
        ),
        (
            "[models.gpt-4.1]\nbase_url = \"http://h/v1\"\nmodel = \"x\"\n".into(),
            "f.toml:1:15: unknown key \"1\"",
            Some("put a name with a dot in quotes, such as [models.\"gpt-4.1\"]"),
        ),
        ("[model.m]\n".into(), "f.toml:1:2: unknown key \"model\"", Some("did you mean models?")),
    ] {
        let error = Models::parse(&text, Path::new("f.toml")).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.hint.as_deref()), (says, hint), "{text}");
    }
    let broken = Models::parse("[models.m]\nmodel = \n", Path::new("f.toml")).unwrap_err();
    assert_eq!(broken.place.map(|(line, _)| line), Some(2), "{broken}");
}

#[test]
fn a_tournament_may_hold_tables() {
    let text = "game = \"tokyo\"\nbots = [\"llm:m\"]\n[models.m]\nbase_url = \"http://h\"\nmodel = \"x\"\n";
    let models = Models::parse_within(text, Path::new("t.toml")).unwrap();
    assert_eq!(models.names().collect::<Vec<_>>(), ["m"]);
    assert_eq!(models.nearest("mm"), Some("m"));
    assert!(Models::parse(text, Path::new("t.toml")).is_err());
    // Whoever names a file of tables may name that of a tournament; in others no key is unknown.
    let named = |text: &str| Models::parse_file(text, Path::new("t.toml"));
    assert_eq!(named(text).unwrap().names().collect::<Vec<_>>(), ["m"]);
    let lost = named(&text.replace("game = \"tokyo\"\n", "")).unwrap_err();
    assert_eq!(lost.to_string(), "t.toml:1:1: unknown key \"bots\"");
    assert_eq!(named("[models.m\n").unwrap_err().place.map(|(line, _)| line), Some(1));
}

#[test]
fn a_fingerprint_changes_with_answers_only() {
    let fingerprint = |lines: &str| {
        let text = format!("[models.m]\nbase_url = \"http://h\"\nmodel = \"x\"\n{lines}");
        models(&text).get("m").unwrap().fingerprint()
    };
    let usual = fingerprint("");
    assert_eq!(usual.len(), 16);
    for same in [
        "key_env = \"K\"",
        "input_price = 1",
        "concurrency = 2",
        "timeout_s = 9",
        "budget = 1",
        "legal = \"shown\"",
    ] {
        assert_eq!(fingerprint(same), usual, "{same}");
    }
    for other in [
        "prompt = \"short\"",
        "answers = \"line\"",
        "legal = \"hidden\"",
        "disguise = 0",
        "disguise = \"real-words\"",
        "retries = 0",
        "[models.m.parameters]\nseed = 1",
    ] {
        assert_ne!(fingerprint(other), usual, "{other}");
    }
}

#[test]
fn the_document_has_all_keys_and_tables_that_work() {
    const PAGE: &str = include_str!("../../../../docs/models.md");
    let unknown = "[models.m]\nbase_url = \"http://h\"\nmodel = \"x\"\nqqq = 1\n";
    let hint = Models::parse(unknown, Path::new("f.toml")).unwrap_err().hint.unwrap();
    let mut keys: Vec<&str> = hint.strip_prefix("there are ").unwrap().split(", ").collect();
    let section = PAGE.split("## Keys of a table").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut told: Vec<&str> =
        section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    keys.sort_unstable();
    told.sort_unstable();
    assert_eq!(told, keys);
    let example = PAGE.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(models(example).names().collect::<Vec<_>>(), ["local", "mini"]);
}

#[test]
fn keys_among_the_parameters_are_refused() {
    let read = |line: &str| {
        let text =
            format!("[models.m]\nbase_url = \"http://h\"\nmodel = \"x\"\n[models.m.parameters]\n{line}\n");
        Models::parse(&text, Path::new("f.toml"))
    };
    for line in [
        "api_key = \"sk-5ecret\"",
        "Authorization = \"Bearer 5ecret\"",
        "OPENAI-API-KEY = \"5ecret\"",
        "extra_headers = { x-api-key = \"5ecret\" }",
        "extra = [{ access_token = \"5ecret\" }]",
    ] {
        let refused = read(line).unwrap_err();
        let told = format!("{refused} {:?}", refused.hint);
        assert!(
            told.starts_with("f.toml:5:1: ") && told.contains("key_env") && !told.contains("5ecret"),
            "{told}"
        );
    }
    assert!(read("max_tokens = 9\nmetadata = { key = 1, keys = [\"a\"] }").is_ok());
}

#[test]
fn a_key_in_the_place_of_its_variable_is_never_shown() {
    for value in [
        "\"sk-5ecret\"",
        "\"5ecret\"",
        "[\"sk-5ecret\"]",
        "{ a = \"5ecret\" }",
        "\"5ecret \"",
        "sk-5ecret",
        "\"\"",
    ] {
        let text =
            format!("[models.m]\nbase_url = \"http://localhost/v1\"\nmodel = \"x\"\nkey_env = {value}\n");
        for read in [Models::parse, Models::parse_within] {
            let refused = read(&text, Path::new("f.toml")).unwrap_err();
            let told = format!("{refused} {:?} {refused:?}", refused.hint);
            assert!(!told.contains("5ecret"), "{told}");
            assert!(told.starts_with("f.toml:4:"), "{told}");
        }
    }
}
