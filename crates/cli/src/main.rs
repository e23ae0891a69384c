//! `necrodome`: flags and glue. Each command is a file in `commands`, the stories of matches are in `tell`, and the code for a
//! person at the terminal is in `human`.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod commands;
mod documents;
mod error;
mod games;
mod human;
mod interrupt;
mod lineup;
mod npz;
mod numbers;
mod output_file;
mod paint;
mod progress;
mod tell;

use anstyle::{AnsiColor, Style};
use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand};
use error::{Error, ExitKind, plain};
use paint::{Painted, harmless, say_after};
use std::process::ExitCode;

/// The arena for zombie games.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  necrodome games                                        what can be played, and its options
  necrodome bots zombie-dice                             who plays it out of the box
  necrodome match zombie-dice greedy cautious random     play one match and narrate it
  necrodome match zombie-dice-race greedy optimal --seed 7 --json
  necrodome play zombie-dice                             play it yourself against bots
  necrodome new-bot zombie-dice python mybot.py          write a small working bot to start from
  necrodome check-bot zombie-dice ./mybot.py             say what a bot does right and wrong
  necrodome store check night.store                      whether a stored tournament is as it was written
  necrodome audit night.store --blocks 100               play some of it again, and compare
  necrodome solve zombie-dice-race                       what the game is worth, exactly
  necrodome analyze zombie-dice-race ./mybot.py          what its decisions cost
  necrodome exam tokyo ./mybot.py random optimal         how good its decisions are, without dice
  necrodome calls night.store                            what language models were asked, and what it took
  necrodome advise zombie-dice-solo brains 4 shotguns 1 feet green yellow
  necrodome judge live party.txt                         judge a party of Infection from the terminal
  necrodome serve --open                                 the arena in the browser, for phones and projectors
  necrodome doctor                                       how far this machine confines strangers' programs
  necrodome rules last-bullet                            the rules of a game
  necrodome docs                                         everything else there is to read

Exit codes: 0 done, 1 something went wrong while running, 2 the command line, a config or an input file makes no sense or is
missing, 130 after Ctrl-C.";

#[derive(Subcommand)]
enum Command {
    Games(commands::games::Args),
    Bots(commands::bots::Args),
    Match(commands::play_match::Args),
    NewBot(commands::new_bot::Args),
    CheckBot(commands::check_bot::Args),
    Play(commands::play::Args),
    Tournament(Box<commands::tournament::Args>),
    Replay(commands::replay::Args),
    Report(commands::report::Args),
    Store(commands::store::Args),
    Shard(commands::shard::Args),
    Merge(commands::merge::Args),
    Audit(commands::audit::Args),
    Pack(commands::pack::Args),
    Serve(commands::serve::Args),
    Solve(commands::solve::Args),
    Analyze(commands::analyze::Args),
    Exam(commands::exam::Args),
    Calls(commands::calls::Args),
    Judge(commands::judge::Args),
    Advise(commands::advise::Args),
    Rules(commands::docs::RulesArgs),
    Docs(commands::docs::Args),
    Doctor(commands::doctor::Args),
    Completions(commands::shell::CompletionsArgs),
    Man(commands::shell::ManArgs),
}

fn main() -> ExitCode {
    necrodome_arena::process::run_stage();
    necrodome_arena::process::own_processes();
    paint::choose_colours();
    let result = interrupt::watch().map_err(Error::from).and_then(|()| run(parsed().command));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind == ExitKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let bold = Style::new().bold();
            let red = bold.fg_color(Some(AnsiColor::Red.into()));
            say_after(&Painted(red, "error:"), &harmless(&plain(&error.what)));
            for hint in &error.hints {
                say_after(&Painted(bold, "hint:"), &harmless(hint));
            }
            ExitCode::from(error.exit_code())
        }
    }
}

/// Parses the command line, or prints an error message and exits.
fn parsed() -> Cli {
    Cli::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit())
}

/// Returns all commands. Paragraphs of their help are wrapped for the terminal only, not also where the source file wraps them.
/// Options take negative numbers, so that these are refused in our own words.
fn command() -> clap::Command {
    prepared(Cli::command())
}

fn prepared(mut command: clap::Command) -> clap::Command {
    if let Some(help) = command.get_after_help().map(ToString::to_string) {
        command = command.after_help(join_lines(&help));
    }
    let takes_number = |arg: &Arg| arg.get_long().is_some() && arg.get_action().takes_values();
    let accept = |arg: Arg| if takes_number(&arg) { arg.allow_negative_numbers(true) } else { arg };
    command.mut_args(accept).mut_subcommands(prepared)
}

/// Joins the lines of each paragraph. Indented lines, and those after a colon, stay as they are.
fn join_lines(text: &str) -> String {
    let mut joined = String::new();
    let mut is_open = false;
    for line in text.lines() {
        let is_plain = !line.is_empty() && !line.starts_with(' ');
        let separator = if is_open && is_plain { " " } else { "\n" };
        joined.push_str(if joined.is_empty() { "" } else { separator });
        joined.push_str(line);
        is_open = is_plain && !line.ends_with(':');
    }
    joined
}

fn run(command: Command) -> Result<(), Error> {
    match command {
        Command::Games(args) => commands::games::run(&args),
        Command::Bots(args) => commands::bots::run(&args),
        Command::Match(args) => commands::play_match::run(&args),
        Command::NewBot(args) => commands::new_bot::run(&args),
        Command::CheckBot(args) => commands::check_bot::run(&args),
        Command::Play(args) => commands::play::run(args),
        Command::Tournament(args) => commands::tournament::run(&args),
        Command::Replay(args) => commands::replay::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Store(args) => commands::store::run(&args),
        Command::Shard(args) => commands::shard::run(&args),
        Command::Merge(args) => commands::merge::run(&args),
        Command::Audit(args) => commands::audit::run(&args),
        Command::Pack(args) => commands::pack::run(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Solve(args) => commands::solve::run(&args),
        Command::Analyze(args) => commands::analyze::run(&args),
        Command::Exam(args) => commands::exam::run(&args),
        Command::Calls(args) => commands::calls::run(&args),
        Command::Judge(args) => commands::judge::run(&args),
        Command::Advise(args) => commands::advise::run(&args),
        Command::Rules(args) => commands::docs::rules(&args),
        Command::Docs(args) => commands::docs::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Completions(args) => commands::shell::completions(&args, crate::command()),
        Command::Man(args) => commands::shell::man(&args, crate::command()),
    }
}
