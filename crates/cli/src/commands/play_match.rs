//! `necrodome match`: one match, told as a person would tell it.

use super::print_json;
use crate::{
    error::Error,
    lineup::{self, Entry},
    paint::{bold, count, dim},
    tell::Tell,
};
use necrodome_rules::{
    chance::Seeded,
    game::{Outcome, Seat},
    names::Names,
    play::decide,
    with_game,
};
use serde::Serialize;
use std::io::{BufWriter, Write};

/// Play one match and tell it
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome match zombie-dice greedy cautious random
  necrodome match zombie-dice-solo stop-at:brains=5,shotguns=2 --seed 7
  necrodome match last-bullet gunner runner huddle --set copies=20 --quiet
  necrodome match infection careful spreader random random random --set start_antibodies=3
  necrodome match tokyo angry point-hunter --json

The same seed, game, options and bots give the same match.")]
pub struct Args {
    /// What to play (see `necrodome games`)
    game: String,
    /// Who plays, one for each seat (see `necrodome bots`)
    #[arg(value_name = "BOT")]
    bots: Vec<String>,
    /// The seed of the match; without one a random seed is chosen and printed
    #[arg(long)]
    seed: Option<u64>,
    /// Set an option of the rules; can be repeated
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Vec<String>,
    /// Print one JSON document with the result instead of the story
    #[arg(long)]
    json: bool,
    /// Print the result only
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Serialize)]
struct MatchResult<'a, R> {
    game: &'static str,
    options: &'a R,
    seed: u64,
    entries: Vec<EntryInfo<'a>>,
    places: &'a [u16],
    scores: &'a [i64],
    turns: u32,
}

#[derive(Serialize)]
struct EntryInfo<'a> {
    name: &'a str,
    bot: String,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let id = lineup::game(&args.game)?;
    with_game!(id, G => play::<G>(args))
}

fn play<G: Tell>(args: &Args) -> Result<(), Error> {
    let seed = match args.seed {
        Some(seed) => seed,
        // Short enough to be typed again, and exact in any JSON reader.
        None => u64::from(getrandom::u32().map_err(Error::NoSeed)?),
    };
    let rules = lineup::rules::<G>(&args.set)?;
    let entries = lineup::entries::<G>(&args.bots, seed)?;
    let names = lineup::names(&entries)?;
    let infos: Vec<(String, String)> =
        entries.iter().map(|entry| (entry.name.clone(), entry.spec.to_string())).collect();

    let mut out = BufWriter::new(anstream::stdout().lock());
    let tells = !args.json && !args.quiet;
    let outcome = tell_match(entries, &names, &rules, seed, tells.then_some(&mut out))?;

    if args.json {
        let entries =
            infos.iter().map(|(name, bot)| EntryInfo { name, bot: bot.clone() }).collect::<Vec<_>>();
        let Outcome { places, scores, turns } = &outcome;
        let (game, options, turns) = (G::ID, &rules, *turns);
        return print_json(&MatchResult { game, options, seed, entries, places, scores, turns });
    }
    print_result::<G>(&mut out, &names, &outcome, seed)?;
    out.flush()?;
    Ok(())
}

/// Plays to the end and, if there is an `out`, tells what happens after each decision.
fn tell_match<G: Tell>(
    entries: Vec<Entry<G>>,
    names: &Names,
    rules: &G::Rules,
    seed: u64,
    mut out: Option<&mut impl Write>,
) -> Result<Outcome, Error> {
    let mut bots: Vec<_> = entries.into_iter().map(|entry| entry.bot).collect();
    let mut chance = Seeded::new(seed, "match", 0);
    let mut log = Vec::new();
    let game = G::new(names, rules, &mut chance, &mut log);
    let mut game = game.map_err(|source| Error::Setup { game: G::ID, source })?;
    let mut views: Vec<_> = Seat::all(bots.len()).iter().map(|&seat| game.view(seat)).collect();
    let mut moves = Vec::new();
    let mut story = G::Story::default();
    loop {
        if let Some(out) = &mut out {
            G::tell(&mut story, *out, names, &game, &log)?;
        }
        log.clear();
        if let Some(outcome) = game.outcome() {
            if let Some(out) = out {
                G::tell_end(out, names, &game)?;
            }
            return Ok(outcome);
        }
        decide(&game, &mut bots, &mut views, &mut moves);
        game.apply(&moves, &mut chance, &mut log).map_err(|why| Error::Rejected(why.to_string()))?;
    }
}

fn print_result<G: Tell>(
    out: &mut impl Write,
    names: &Names,
    outcome: &Outcome,
    seed: u64,
) -> Result<(), Error> {
    let mut seats: Vec<_> = Seat::all(names.len()).to_vec();
    seats.sort_by_key(|seat| outcome.places[seat.index()]);
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    writeln!(out, "{}", bold("Result"))?;
    for seat in seats {
        let name = &names[seat];
        let padding = " ".repeat(width - name.chars().count());
        let place = outcome.places[seat.index()];
        let score = G::score_text(outcome.scores[seat.index()]);
        writeln!(out, "  {place:>2}. {}{padding}  {score}", lineup::painted(names, seat))?;
    }
    writeln!(out, "{}", dim(format!("{}, seed {seed}", count(outcome.turns, "turn"))))?;
    Ok(())
}
