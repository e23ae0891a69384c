//! `necrodome play`: a person against bots.

use super::play_match;
use crate::{error::Error, human::Playable, lineup};
use necrodome_rules::{catalog::GameId, with_game};
use std::path::PathBuf;

/// Play yourself, against bots
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome play zombie-dice                      against cautious and greedy
  necrodome play tokyo angry ./mybot.py
  necrodome play last-bullet --set copies=1       no spare survivors, for anybody
  necrodome play infection --name Ada --set start_antibodies=2
  printf 'go\\nstop\\n' | necrodome play zombie-dice-solo

On a terminal one key is one choice: ? shows the rules, q quits. Otherwise one line of text is one answer.
You sit in the first seat and are told only what that seat may know; there is no undo.
A bot that does not start forfeits all its decisions: the match has a result, and the exit code is 1.
Last Bullet: you steer one survivor. The other copies of your entry stay where they are and are your spare lives; the
default here is copies=5.")]
pub struct Args {
    /// What to play (see `necrodome games`)
    game: String,
    /// The opponents; without any, some that suit the game
    #[arg(value_name = "BOT")]
    bots: Vec<String>,
    /// Your name at the table
    #[arg(long, default_value = "player")]
    name: String,
    /// The seed of the match; without one a random seed is chosen and printed
    #[arg(long)]
    seed: Option<u64>,
    /// Set an option of the rules; can be repeated
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Vec<String>,
    /// Save the match, to be told and verified again
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Overwrite the file of --replay
    #[arg(long, requires = "replay")]
    force: bool,
}

/// Copies of each entry of Last Bullet: a few lives, and a board that can be crossed.
const COPIES: &str = "copies=5";

pub fn run(args: Args) -> Result<(), Error> {
    let id = lineup::game(&args.game)?;
    let Args { game, mut bots, name, seed, mut set, replay, force } = args;
    if bots.is_empty() {
        let opponents = with_game!(id, G => G::OPPONENTS);
        bots.extend(opponents.iter().map(|&bot| bot.to_owned()));
    }
    // The name goes in front of an entry, where these have a meaning of their own.
    if name.is_empty() || name.contains([':', '/', '=']) {
        return Err(Error::Usage(format!("--name {name:?}: expected a name without : / and =")));
    }
    bots.insert(0, format!("{name}=human"));
    if id == GameId::LastBullet && !set.iter().any(|setting| setting.starts_with("copies=")) {
        set.push(COPIES.to_owned());
    }
    play_match::run(&play_match::Args { game, bots, seed, set, replay, force, json: false, quiet: false })
}
