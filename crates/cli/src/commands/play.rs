//! `necrodome play`: a person against bots.

use super::play_match;
use crate::{error::Error, lineup};
use std::path::PathBuf;

/// Play against bots yourself
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome play zombie-dice                      against cautious and greedy
  necrodome play zombie-dice greedy ./mybot.py
  necrodome play last-bullet --set copies=1       nobody has spare survivors
  necrodome play infection --name Ada --set start_antibodies=2
  printf 'go\\nstop\\n' | necrodome play zombie-dice-solo

On a terminal one key is one choice: ? shows the rules, h gives a hint in solved games, q quits. Without a
terminal one line of text is one answer, and hint gives a hint.
You sit in the first seat and see only what that seat may know; there is no undo.
A bot that does not start forfeits all its decisions: the match has a result, and the exit code is 1.
Some options have other defaults for people: copies=5 max_turns=150 in last-bullet (you steer one survivor; the
other copies of your entry stay where they are and are your spare lives), max_turns=5 start_antibodies=2
start_viruses=1 in infection.")]
pub struct Args {
    /// What to play (see `necrodome games`)
    game: String,
    /// Your opponents; without any, some that suit the game
    #[arg(value_name = "BOT")]
    bots: Vec<String>,
    /// Your name at the table
    #[arg(long, default_value = "player")]
    name: String,
    #[command(flatten)]
    dice: lineup::DiceFlags,
    /// Set an option of the rules; can be repeated
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Vec<String>,
    /// Save the match, to replay and verify it later
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Overwrite the file of --replay
    #[arg(long, requires = "replay")]
    force: bool,
    #[command(flatten)]
    programs: lineup::ProgramFlags,
    #[command(flatten)]
    models: lineup::ModelFlags,
}

pub fn run(args: Args) -> Result<(), Error> {
    let card = lineup::game(&args.game)?.card();
    let Args { game, mut bots, name, dice, mut set, replay, force, programs, models } = args;
    if bots.is_empty() {
        bots.extend(card.opponents.iter().map(|&bot| bot.to_owned()));
    }
    // The name goes in front of an entry, where these have a meaning of their own.
    if name.is_empty() || name.contains([':', '/', '=']) {
        return Err(Error::usage(format!("--name {name:?}: expected a name without : / and =")));
    }
    bots.insert(0, format!("{name}=human"));
    let is_set = |option: &str| set.iter().any(|text| text.split('=').next() == Some(option));
    let for_people = card.options_for_people.iter().filter(|(option, _)| !is_set(option));
    let for_people: Vec<String> = for_people.map(|(option, value)| format!("{option}={value}")).collect();
    set.extend(for_people);
    play_match::run(&play_match::Args {
        game,
        bots,
        dice,
        set,
        replay,
        force,
        json: false,
        quiet: false,
        programs,
        models,
    })
}
