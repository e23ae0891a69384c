//! The desk against a real endpoint on loopback. Tests wait only where they test a time limit.

#![allow(clippy::unwrap_used)]

mod book;
mod budgets;
mod calls;
mod forms;
mod key;
mod tables;
mod tls;

use necrodome_models::{
    Answers, Book, Budget, Desk, Form, Message, Model, Models, Patience, Question, Role, Run, testing::Server,
};
use serde_json::value::RawValue;
use std::{
    env,
    path::Path,
    process::Command,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

const SCHEMA: &str = r#"{"type":"object","properties":{"reason":{"type":"string"},"action":{"type":"integer"}},"required":["reason","action"],"additionalProperties":false}"#;

fn schema() -> Arc<RawValue> {
    Arc::from(RawValue::from_string(SCHEMA.into()).unwrap())
}

fn question(text: &str) -> Question {
    let messages = vec![
        Message { role: Role::System, text: "The rules.".into() },
        Message { role: Role::User, text: text.into() },
    ];
    Question { messages, schema: schema(), form: Form::Line, salt: 0 }
}

fn models(text: &str) -> Models {
    Models::parse(text, Path::new("models.toml")).unwrap_or_else(|error| panic!("{error}"))
}

fn named(name: &str) -> Run<'_> {
    Run { name, goes_on: false, is_dry: false }
}

/// The settings of a desk that a test changes.
struct Set {
    book: Option<Book>,
    answers: Answers,
    budget: Budget,
    interrupt: Arc<AtomicBool>,
    patience: Patience,
}

impl Default for Set {
    fn default() -> Self {
        let patience = Patience { pause: Duration::from_millis(1), ..Patience::default() };
        let (answers, budget) = (Answers::Reuse, Budget::default());
        Set { book: None, answers, budget, interrupt: Arc::default(), patience }
    }
}

impl Set {
    fn desk(self, text: &str) -> Desk {
        let Set { book, answers, budget, interrupt, patience } = self;
        Desk::with_patience(models(text), book, answers, budget, interrupt, patience).unwrap()
    }
}

/// Makes a desk with the model `m` at an endpoint, and more lines in its table.
fn desk(server: &Server, lines: &str, set: Set) -> (Desk, Arc<Model>) {
    let desk = set.desk(&server.table("m", lines));
    let model = desk.model("m").unwrap();
    (desk, model)
}

/// Runs a test in a separate process with some environment variables. Returns its output, or `None` in that process.
fn in_process(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Option<String> {
    const MARK: &str = "NECRODOME_TEST_ALONE";
    if env::var_os(MARK).is_some() {
        body();
        return None;
    }
    let mut alone = Command::new(env::current_exe().unwrap());
    alone.args(["--exact", test, "--nocapture"]).env(MARK, "1").envs(variables.iter().copied());
    let output = alone.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    Some(printed.into_owned())
}
