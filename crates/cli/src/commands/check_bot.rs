//! `necrodome check-bot`: puts a bot through a gauntlet, and reports it line by line.

use super::{print_json, trouble};
use crate::{
    error::Error,
    lineup,
    paint::{self, bold, column, dim, green, red, yellow},
};
use necrodome_arena::{
    check::{Candidate, CheckError, CheckReport, Finding, Verdict, check_bot},
    fault::{self, shown},
    process::Limits,
};
use necrodome_rules::{catalog::Listed, options, with_game};
use serde::Serialize;
use std::io::{self, Write};

/// Play a bot through a gauntlet and say what it did right and wrong
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome check-bot zombie-dice ./mybot.py
  necrodome check-bot zombie-dice 'cmd:java -cp classes Bot'
  necrodome check-bot last-bullet target/release/mybot --set copies=100 --json
  necrodome check-bot tokyo llm:small --models models.toml      which forms of answers work, and what is said

Write the bot as in `necrodome match`. The commonest mistakes get a hint that names the cure. Exit codes: 0 all is fine, 1 the bot has to
be changed.")]
pub struct Args {
    /// What to play (see `necrodome games`)
    game: String,
    /// The bot: a file, a command (cmd:...), a bot of another program (compat:...), a language model (llm:...) or a built-in
    bot: String,
    /// Set an option of the rules in every match; can be repeated
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    programs: lineup::ProgramFlags,
    #[command(flatten)]
    models: lineup::ModelFlags,
}

#[derive(Serialize)]
struct CheckDocument<'a> {
    game: &'static str,
    bot: &'a str,
    passed: bool,
    #[serde(flatten)]
    report: &'a CheckReport,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let id = lineup::game(&args.game)?;
    with_game!(id, G => check::<G>(args))
}

fn check<G: Listed>(args: &Args) -> Result<(), Error> {
    // Refuses bad options before anything starts.
    lineup::rules::<G>(&args.set)?;
    let context = || format!("{} --set", G::ID);
    let settings: Result<Vec<_>, _> = args.set.iter().map(|text| options::split_pair(text)).collect();
    let settings = settings.map_err(|error| Error::option(context(), &error))?;
    let (entries, names, desk) = args.models.entries(std::slice::from_ref(&args.bot))?;
    let candidate = Candidate {
        entry: &entries[0],
        name: &Vec::from(names)[0],
        launcher: args.programs.sandbox.launcher(&entries)?,
        limits: args.programs.limits.over(Limits::default()),
        settings: &settings,
    };
    let mut out = anstream::stdout().lock();
    let mut told = Ok(());
    let report = check_bot::<G>(&candidate, &mut |finding| {
        if !args.json && told.is_ok() {
            told = print_finding(&mut out, finding).and_then(|()| out.flush());
        }
    });
    lineup::tell_spent(desk.as_ref());
    told?;
    let report = report.map_err(|error| match error {
        CheckError::Lineup(error) => error.into(),
        CheckError::Option(error) => Error::option(context(), &error),
        CheckError::Setup(error) => Error::setup(G::ID, &error),
    })?;
    let failed = report.failures();
    if args.json {
        drop(out);
        print_json(&CheckDocument { game: G::ID, bot: &args.bot, passed: failed == 0, report: &report })?;
    } else {
        print_end(&mut out, candidate.name, &report)?;
    }
    match failed {
        0 => Ok(()),
        failed => {
            let failed = Error::failure(format!("{} failed {failed} of the checks", candidate.name));
            Err(lineup::how_to_go_on(desk.as_ref(), failed, "", ""))
        }
    }
}

fn print_finding(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    let verdict = match finding.verdict {
        Verdict::Ok => green("ok  "),
        Verdict::Fail => red("FAIL"),
        Verdict::Warning => yellow("warn"),
        Verdict::Skipped => yellow("skip"),
    };
    let text = column(&harmless(&finding.text), 24);
    writeln!(out, "{verdict}  {}  {text}", bold(format!("{:<16}", finding.check)))?;
    if let Some(wrong) = &finding.wrong {
        let rows = [("message", &wrong.message), ("came", &wrong.came), ("expected", &wrong.expected)];
        for (what, text) in rows.into_iter().chain(wrong.hint.as_ref().map(|hint| ("hint", hint))) {
            paint::line(out, 6, &format!("{} {}", dim(format!("{what:>8}:")), harmless(text)))?;
        }
    }
    Ok(())
}

/// Prints what the bot has logged, and the result.
fn print_end(out: &mut impl Write, name: &str, report: &CheckReport) -> io::Result<()> {
    const MOST: usize = 12;
    for said in &report.transcript {
        writeln!(out, "\n{}", bold(format!("{}:", said.by)))?;
        for line in said.text.lines() {
            writeln!(out, "  {}", dim(harmless(line)))?;
        }
    }
    if !report.transcript.is_empty() {
        writeln!(out)?;
    }
    for line in shown(&report.log, MOST) {
        writeln!(out, "{} {line}", dim("log:"))?;
    }
    let mut wrong = report.findings.iter().filter_map(|finding| finding.wrong.as_ref());
    let hinted = wrong.any(|wrong| wrong.hint.is_some());
    trouble::hint_at_walls(out, hinted, report.log.lines())?;
    match report.failures() {
        0 => writeln!(out, "{} is ready for the arena.", bold(name)),
        _ => Ok(()),
    }
}

/// Removes control characters from a bot's text, since they must not reach the terminal.
fn harmless(text: &str) -> String {
    text.chars().map(fault::harmless).collect()
}
