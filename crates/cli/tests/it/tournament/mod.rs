//! Tournaments, end to end: reproducible, resumable, and honest about what went wrong.

mod damage;
mod dice;
mod line_ups;
mod parts;
mod plan;
mod programs;
mod report;
mod rounds;
mod stopping;
mod store;

use crate::program::necrodome;
use assert_cmd::Command;
use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Lines},
    process::{Child, ChildStderr, Stdio},
};

fn tournament(words: &[&str]) -> Command {
    necrodome(&[&["tournament"], words].concat())
}

fn json(words: &[&str]) -> Value {
    let result = tournament(&[words, &["--json"]].concat()).assert().success();
    serde_json::from_slice(&result.get_output().stdout).unwrap()
}

/// Standard error of a command that fails.
fn refusal(words: &[&str], code: i32) -> String {
    let result = tournament(words).assert().code(code);
    String::from_utf8(result.get_output().stderr.clone()).unwrap().trim_end().to_owned()
}

fn hash(report: &Value) -> &str {
    report["hash"].as_str().unwrap()
}

const LINE_UP: [&str; 5] = ["zombie-dice", "greedy", "cautious", "random", "--seed=7"];

/// A tournament without end that has begun, and the lines it writes.
fn endless(store: &str) -> (Child, Lines<BufReader<ChildStderr>>) {
    let mut arena = start(&[&ENDLESS[..], &[store]].concat());
    let mut lines = BufReader::new(arena.stderr.take().unwrap()).lines();
    lines.by_ref().map_while(Result::ok).find(|line| line.contains("blocks")).unwrap();
    (arena, lines)
}

const ENDLESS: [&str; 5] = ["zombie-dice", "greedy", "random", "--seed=3", "--blocks=100000000"];

fn start(words: &[&str]) -> Child {
    std::process::Command::new(assert_cmd::cargo::cargo_bin!("necrodome"))
        .arg("tournament")
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}
