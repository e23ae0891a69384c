//! `necrodome analyze`: the price of decisions and the luck of rolls, of one match or of a bot.

mod chart;
pub(super) mod ledger;
mod profile;

use super::replay;
use crate::{error::Error, lineup, numbers::within, output_file::OutputFile};
use necrodome_arena::{
    lineup::bots,
    replay::{Replay, Unpacked, unpack},
};
use necrodome_rules::{
    catalog::{GameId, Listed},
    chance::Seed,
    with_game,
};
use std::path::{Path, PathBuf};

/// Show what every decision cost and how lucky the dice were, for a recorded match or for a bot
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome match zombie-dice-race greedy cautious --replay my.replay
  necrodome analyze my.replay                          the ledger of the match, and its worst decisions
  necrodome analyze my.replay --svg my.svg --json
  necrodome analyze night.store --from 12.0            block 12, match 0 of a stored tournament
  necrodome analyze zombie-dice-race ./mybot.py        a bot's profile against the perfect player
  necrodome analyze zombie-dice greedy --against cautious --blocks 500
  necrodome analyze zombie-dice-race ./mybot.py --against greedy --exact
  necrodome analyze tokyo llm:small --models models.toml --blocks 5     the expensive habits of a language model

Every value is exact (for a match without a limit on rounds). The cost of a decision is how much more the best option was worth; luck is how much
better a roll came out than expected. Start + luck - own costs + the other's costs = result, if no limit ends the match.
The exact value of a bot needs one that is a function of what it sees: built-in bots are asked by themselves, processes
with --exact, if they call themselves deterministic. Every state that it can come to is asked once.
A bot that does not start has no profile: its faults and its log are shown, and the exit code is 1.")]
pub struct Args {
    /// A replay file, a store (with --from), or a game
    what: String,
    /// The bot to look at, if a game is given
    bot: Option<String>,
    /// Its opponent; by default the perfect player
    #[arg(long, value_name = "BOT")]
    against: Option<String>,
    /// How many blocks to play: each seed from both seats
    #[arg(long, value_parser = within(1..=1_000_000_u32))]
    blocks: Option<u32>,
    /// The seed of everything; without one a random seed is chosen and printed
    #[arg(long)]
    seed: Option<Seed>,
    /// Set an option of the rules; can be repeated
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Vec<String>,
    /// Only the exact value of the bot (zombie-dice-solo, zombie-dice-race); nothing is played
    #[arg(long, conflicts_with_all = ["blocks", "seed"])]
    exact: bool,
    /// Take the match from a tournament's store: block and number of the match
    #[arg(long, value_name = "BLOCK.MATCH")]
    from: Option<String>,
    /// Write a chart of the winning chance over the match
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Overwrite the file of --svg
    #[arg(long, requires = "svg")]
    force: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    programs: lineup::ProgramFlags,
    #[command(flatten)]
    models: lineup::ModelFlags,
}

pub fn run(args: &Args) -> Result<(), Error> {
    match &args.bot {
        Some(bot) => {
            if args.svg.is_some() || args.from.is_some() {
                return Err(Error::usage("--svg and --from are for one match: give a replay, not a bot"));
            }
            let id = lineup::game(&args.what)?;
            with_game!(id, G => profile::run::<G>(args, bot))
        }
        None => {
            if let Ok(id) = args.what.parse::<GameId>() {
                let bots: Vec<&str> = with_game!(id, G => bots::<G>()).iter().map(|bot| bot.name).collect();
                let text =
                    format!("which bot of {id}? Expected a file, a command, or one of {}", bots.join(", "));
                return Err(
                    Error::usage(text).hint(format!("for example: necrodome analyze {id} {}", bots[0]))
                );
            }
            let for_bots = args.against.is_some() || args.blocks.is_some() || args.seed.is_some();
            if for_bots || args.exact || !args.set.is_empty() {
                let text =
                    "--against, --blocks, --seed, --set and --exact are for bots: expected a game and a bot";
                return Err(Error::usage(text));
            }
            let path = Path::new(&args.what);
            let refuse = |error| Error::replay(path, &error);
            let svg = args.svg.as_ref().map(|path| OutputFile::claim(path, args.force)).transpose()?;
            let packed = replay::read(path, args.from.as_deref())?;
            let unpacked = unpack(packed).map_err(refuse)?;
            let id = unpacked.game().map_err(refuse)?;
            with_game!(id, G => audit::<G>(args, unpacked, svg.as_ref()))
        }
    }
}

fn audit<G: Listed>(args: &Args, unpacked: Unpacked, svg: Option<&OutputFile>) -> Result<(), Error> {
    let refuse = |error| Error::replay(Path::new(&args.what), &error);
    let replay: Replay<G> = unpacked.parse().map_err(refuse)?;
    let solution = necrodome_solve::solve::<G>(&replay.rules, replay.names.iter().count())?;
    let ledger = replay.ledger(solution).map_err(refuse)?;
    let printed =
        if args.json { ledger::print_json(&replay, &ledger) } else { ledger::print(&replay, &ledger) };
    if let Some(file) = svg {
        file.write(chart::draw(&replay.names, &ledger).map_err(std::io::Error::other)?)?;
    }
    printed
}
