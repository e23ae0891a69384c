//! `necrodome bots`: the built-in bots.

use super::{games::print_options, print_json};
use crate::{
    error::Error,
    lineup,
    paint::{bold, column, dim},
};
use necrodome_arena::lineup::{BotInfo, bots};
use necrodome_rules::{
    catalog::{GameId, Listed},
    with_game,
};
use serde::Serialize;
use std::io::Write;

/// List the built-in bots, of one game or of all
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome bots
  necrodome bots zombie-dice

Write parameters after the name: stop-at:brains=5,shotguns=2")]
pub struct Args {
    /// A game (see `necrodome games`)
    game: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct GameBots {
    game: &'static str,
    bots: Vec<BotInfo>,
}

fn bots_of<G: Listed>() -> GameBots {
    GameBots { game: G::ID, bots: bots::<G>() }
}

pub fn run(args: &Args) -> Result<(), Error> {
    let ids = match &args.game {
        Some(name) => vec![lineup::game(name)?],
        None => GameId::ALL.to_vec(),
    };
    let games: Vec<GameBots> = ids.into_iter().map(|id| with_game!(id, G => bots_of::<G>())).collect();
    if args.json {
        return print_json(&games);
    }
    let mut out = anstream::stdout().lock();
    for GameBots { game, bots } in &games {
        writeln!(out, "{}", dim(game))?;
        for bot in bots {
            writeln!(out, "  {}  {}", bold(format!("{:<14}", bot.name)), column(bot.about, 18))?;
            print_options(&mut out, &bot.params)?;
        }
        writeln!(out)?;
    }
    Ok(())
}
