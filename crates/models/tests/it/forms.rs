//! Forms of answers on the wire, and which of them work.

use super::{SCHEMA, Set, desk, question, schema};
use necrodome_models::{
    Answers, AskError, Book, Form,
    testing::{Act, Answer, Server},
};
use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

const GOOD: &str = r#"{"reason":"because","action":3}"#;

#[test]
fn each_form_is_asked_for_in_its_way() {
    let server = Server::scripted([Act::say(GOOD)]);
    let (desk, model) = desk(&server, "[models.m.parameters]\ntemperature = 0.5", Set::default());
    for form in Form::ALL {
        let reply = desk.ask(&model, &necrodome_models::Question { form, ..question("Your move?") }).unwrap();
        assert_eq!((reply.text.as_str(), reply.model.as_str()), (GOOD, "tiny-1"), "{form}");
    }
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    for asked in &asked {
        assert_eq!(asked.path, "/v1/chat/completions");
        assert_eq!((asked.header("content-type"), asked.header("authorization")), ("application/json", ""));
        assert_eq!((&asked.body["model"], &asked.body["temperature"]), (&json!("tiny"), &json!(0.5)));
        let messages =
            json!([{"role": "system", "content": "The rules."}, {"role": "user", "content": "Your move?"}]);
        assert_eq!(asked.body["messages"], messages);
    }
    let [by_schema, by_tool, by_line] = &asked[..] else { panic!("three questions") };
    assert!(by_schema.wants_schema() && by_schema.body.get("tools").is_none());
    let format = json!({"type": "json_schema", "json_schema": {
        "name": "answer", "strict": true, "schema": serde_json::from_str::<serde_json::Value>(SCHEMA).unwrap()}});
    assert_eq!(by_schema.body["response_format"], format);
    assert!(by_tool.wants_tool() && by_tool.body.get("response_format").is_none());
    assert_eq!(by_tool.body["tool_choice"]["function"]["name"], by_tool.body["tools"][0]["function"]["name"]);
    // Models answer in the order of the properties.
    assert!(by_schema.text.contains(SCHEMA) && by_tool.text.contains(SCHEMA));
    assert!(["tools", "tool_choice", "response_format"].iter().all(|key| by_line.body.get(key).is_none()));
}

#[test]
fn the_first_form_that_works_is_found_and_kept() {
    let answers = |works: Option<Form>| {
        Server::minded(move |asked| {
            let form = match (asked.wants_schema(), asked.wants_tool()) {
                (true, _) => Form::Schema,
                (_, true) => Form::Tool,
                _ => Form::Line,
            };
            match works {
                // Some say no, some do not care about the schema.
                _ if Some(form) == works => Act::say(GOOD),
                Some(Form::Tool) => Act::say("I am a model."),
                _ if form == Form::Line => Act::say("I am a model."),
                _ => Act::error(400, "unknown field"),
            }
        })
    };
    for (works, found, calls) in
        [(Some(Form::Schema), Form::Schema, 1), (Some(Form::Tool), Form::Tool, 2), (None, Form::Line, 3)]
    {
        let server = answers(works);
        let book = Book::in_memory().unwrap();
        let (first, model) = desk(&server, "", Set { book: Some(book.clone()), ..Set::default() });
        assert_eq!(first.form(&model, &schema()), Ok(found));
        assert_eq!(first.form(&model, &schema()), Ok(found));
        assert_eq!(server.asked().len(), calls);
        let (later, model) =
            desk(&server, "", Set { book: Some(book), answers: Answers::Only, ..Set::default() });
        assert_eq!(later.form(&model, &schema()), Ok(found));
        assert_eq!(server.asked().len(), calls, "offline");
    }
}

#[test]
fn a_form_that_was_found_while_the_endpoint_failed_is_kept_for_its_run_only() {
    let is_ill = Arc::new(AtomicBool::new(true));
    let ill = is_ill.clone();
    let server = Server::minded(move |asked| match asked.wants_schema() && ill.load(Ordering::SeqCst) {
        true => Act::error(500, "oh no"),
        false => Act::say(GOOD),
    });
    let book = Book::in_memory().unwrap();
    let run = |name, answers| {
        let (desk, model) = desk(&server, "", Set { book: Some(book.clone()), answers, ..Set::default() });
        desk.begin(&model, &super::named(name)).unwrap();
        (desk, model)
    };
    let (first, model) = run("a", Answers::Reuse);
    assert_eq!(first.form(&model, &schema()), Ok(Form::Tool));
    is_ill.store(false, Ordering::SeqCst);
    assert_eq!(first.form(&model, &schema()), Ok(Form::Tool), "one form for all of a run");
    let told = "m: the endpoint failed in other forms of answers; tool is used for this run";
    assert_eq!(first.take_notes(), [told]);
    let found = |name, answers| {
        let (later, model) = run(name, answers);
        let found = later.form(&model, &schema());
        assert!(later.take_notes().is_empty());
        found
    };
    assert_eq!(found("b", Answers::Only), Ok(Form::Tool), "better than none");
    assert_eq!(found("c", Answers::Reuse), Ok(Form::Schema), "another run tries again");
    assert_eq!(found("b", Answers::Only), Ok(Form::Schema), "what surely works");
    for answers in [Answers::Reuse, Answers::Only] {
        assert_eq!(found("a", answers), Ok(Form::Tool), "the run goes on as it began");
    }
    assert_eq!(found("a", Answers::Fresh), Ok(Form::Schema));
}

#[test]
fn a_table_that_names_a_form_is_not_doubted() {
    let server = Server::scripted([Act::say("")]);
    let (desk, model) = desk(&server, "answers = \"tool\"", Set::default());
    assert_eq!(desk.form(&model, &schema()), Ok(Form::Tool));
    assert!(server.asked().is_empty());
}

#[test]
fn a_trial_shows_what_came() {
    let cut = Answer { text: "{\"reason\":\"so so so".into(), finish: "length".into(), ..Answer::default() };
    let server = Server::scripted([
        Act::Answer(cut),
        Act::say("{\"reason\":\"no action\"}"),
        Act::error(422, "no tools here"),
    ]);
    let (desk, model) = desk(&server, "", Set::default());
    let trial = |form| desk.try_form(&model, &schema(), form).unwrap();
    assert!(trial(Form::Schema).works, "a model that rambles keeps to the schema all the same");
    let incomplete = trial(Form::Tool);
    assert!(!incomplete.works && incomplete.outcome.unwrap().text.contains("no action"));
    let refused = trial(Form::Line);
    assert!(
        !refused.works
            && refused.outcome.unwrap_err().to_string().ends_with("failed: status 422: \"no tools here\"")
    );
}

#[test]
fn an_endpoint_that_does_not_work_at_all_is_no_question_of_form() {
    let server = Server::scripted([Act::error(404, "no such model")]);
    let (desk, model) = desk(&server, "", Set::default());
    let Err(error @ AskError::Stuck { .. }) = desk.form(&model, &schema()) else { panic!("an error") };
    assert!(error.to_string().contains("no such model"), "{error}");
    assert_eq!(server.asked().len(), 3);
    // Whoever comes later is told the same at once, and the endpoint has its peace.
    assert_eq!(desk.form(&model, &schema()), Err(error.clone()));
    assert_eq!((server.asked().len(), desk.obstacles()), (3, vec![error]));
    let (desk, model) = super::desk(&server, "", Set { answers: Answers::Only, ..Set::default() });
    assert!(matches!(desk.form(&model, &schema()), Err(AskError::NotKept(_))));
}
