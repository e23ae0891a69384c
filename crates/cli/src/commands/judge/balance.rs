//! `necrodome judge balance`: finds the numbers of zombies and turns that make the fairest game.

use super::simulate::{GameBar, PartyArgs, percent, plus_minus, refused};
use crate::{
    commands::print_json,
    error::Error,
    numbers::within,
    paint::{bold, count, dim, green, wrapped, yellow},
};
use necrodome_judge::simulate::{Balance, Bounds, Cell, balance, on_threads};
use necrodome_rules::{
    catalog::Listed,
    chance::Seed,
    infection::{Infection, SurplusVirus},
};
use serde::Serialize;
use std::io::Write;

/// Look for the number of zombies and turns that makes the fairest game
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome judge balance --players 30 --set start_antibodies=3
  necrodome judge balance --config config.yml
  necrodome judge balance --players 12 --max-zombies 4 --max-turns 6 --set start_antibodies=2
  necrodome judge balance --players 30 --humans random --json

The fairest game is the one that the zombies win nearest to half of the time; among equals, the shorter one.
The search drops early those numbers of zombies that can't be the fairest; --games is for the others.")]
pub struct Args {
    #[command(flatten)]
    party: PartyArgs,
    /// The most zombies to try [default: a third of the players, 12 at most]
    #[arg(long, value_parser = within(1..=499_u32))]
    max_zombies: Option<u32>,
    /// The most turns to try
    #[arg(long, default_value_t = 12, value_parser = within(1..=1000_u32))]
    max_turns: u32,
    /// How many games to play with each number of zombies that stays in the race
    #[arg(long, default_value_t = 20_000, value_parser = within(10..=100_000_000_u64))]
    games: u64,
}

/// How many of the fairest settings are listed.
const LISTED: usize = 10;
/// How many numbers of turns fit the width of a terminal.
const COLUMNS: u32 = 12;

/// The options of the rules that all cells share.
#[derive(Serialize)]
struct SharedOptions {
    start_antibodies: u32,
    start_viruses: u32,
    surplus_virus: SurplusVirus,
}

#[derive(Serialize)]
struct BalanceDocument<'a> {
    game: &'static str,
    players: usize,
    options: SharedOptions,
    humans_play: String,
    zombies_play: String,
    seed: Seed,
    confidence: f64,
    bounds: Bounds,
    #[serde(flatten)]
    balance: &'a Balance,
    fairest: &'a [&'a Cell],
}

pub fn run(args: &Args) -> Result<(), Error> {
    let plan = args.party.plan()?;
    let most = plan.players as u32 - 1;
    let max_zombies = args.max_zombies.unwrap_or((plan.players as u32 / 3).clamp(1, 12));
    if max_zombies > most {
        return Err(Error::usage(format!(
            "--max-zombies {max_zombies}: of {} players at most {most} can be zombies",
            plan.players
        )));
    }
    let bounds = Bounds { max_zombies, max_turns: args.max_turns, games: args.games };
    let progress = GameBar::new(args.games * u64::from(max_zombies));
    let plays = [&plan.humans, &plan.zombie_play];
    let result = on_threads(plan.threads, || {
        balance(
            plan.players,
            &plan.rules,
            plays,
            &bounds,
            plan.seed,
            &|games| progress.plan(games),
            &|games| progress.advance(games),
        )
    });
    progress.finish();
    let balance = result.map_err(refused)?;
    let balance = balance.ok_or_else(|| Error::usage("no games were played"))?;
    let fairest = balance.fairest();
    let document = BalanceDocument {
        game: Infection::ID,
        players: plan.players,
        options: SharedOptions {
            start_antibodies: plan.rules.start_antibodies.get(),
            start_viruses: plan.rules.start_viruses.get(),
            surplus_virus: plan.rules.surplus_virus,
        },
        humans_play: plan.humans.to_string(),
        zombies_play: plan.zombie_play.to_string(),
        seed: plan.seed,
        confidence: 0.95,
        bounds,
        balance: &balance,
        fairest: &fairest[..LISTED.min(fairest.len())],
    };
    if args.party.json { print_json(&document) } else { print(&document) }
}

fn size(cell: &Cell) -> String {
    format!("{}, {}", count(cell.zombies, "zombie"), count(cell.turns, "turn"))
}

fn print(document: &BalanceDocument) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    let balance = document.balance;
    let best = &balance.recommended;
    writeln!(out, "{}", bold(format!("{}: {}", count(document.players as u64, "player"), size(best))))?;
    writeln!(out, "humans play {}, zombies play {}", document.humans_play, document.zombies_play)?;
    writeln!(out, "{}\n", dim(format!("seed {}", document.seed)))?;
    writeln!(out, "  zombies win        {}", percent(&best.zombies_win))?;
    writeln!(out, "  one survivor wins  {}", percent(&best.survivor_wins))?;
    writeln!(out, "  humans win         {}", percent(&best.humans_win))?;
    writeln!(out, "  turns               {}", plus_minus(&best.length))?;
    let why = match balance.candidates {
        1 => "This is the fairest, and luck doesn't explain it.".to_owned(),
        several => {
            format!("{several} set-ups are equally fair, as far as luck lets us tell; shown is the shortest.")
        }
    };
    writeln!(out, "\n{}", wrapped(&why, 0).join("\n"))?;
    if best.unfairness.low > 0.05 {
        let none = if balance.candidates == 1 { "Even this one is not fair" } else { "None of them is fair" };
        let text = format!(
            "{none}. Try --max-zombies, --max-turns, --set start_antibodies=3, or other ways to play."
        );
        wrapped(&text, 0).into_iter().try_for_each(|line| writeln!(out, "{}", yellow(line)))?;
    }
    writeln!(out, "\n{}", bold("the fairest"))?;
    writeln!(
        out,
        "{}",
        dim(format!(
            "{:>7} {:>5}  {:<21} {:<21} {:>10} {:>8}",
            "zombies", "turns", " zombies win", "  humans win", "lasts", "games"
        ))
    )?;
    for cell in document.fairest {
        let line = format!(
            "{:>7} {:>5}  {:<21} {:<21} {:>10} {:>8}",
            cell.zombies,
            cell.turns,
            percent(&cell.zombies_win),
            percent(&cell.humans_win),
            plus_minus(&cell.length),
            cell.games
        );
        if same(cell, best) { writeln!(out, "{}", green(line))? } else { writeln!(out, "{line}")? }
    }
    print_grid(&mut out, document)
}

fn same(a: &Cell, b: &Cell) -> bool {
    (a.zombies, a.turns) == (b.zombies, b.turns)
}

/// Prints the zombies' chances as a grid: zombies down, turns across.
fn print_grid(out: &mut impl Write, document: &BalanceDocument) -> Result<(), Error> {
    let balance = document.balance;
    // As many columns as fit, always with that of the recommended cell.
    let step = balance.useful_turns().div_ceil(COLUMNS);
    let last = balance.useful_turns().max(balance.recommended.turns);
    let shown = |cell: &&Cell| cell.turns <= last && cell.turns % step == balance.recommended.turns % step;
    let rows = || balance.cells.chunk_by(|one, next| one.zombies == next.zombies);
    writeln!(out, "\n{}", bold("how often the zombies win, % (zombies down, turns across)"))?;
    write!(out, "{:>4} ", "")?;
    for cell in rows().next().into_iter().flatten().filter(shown) {
        write!(out, "{}", dim(format!("{:>6}", cell.turns)))?;
    }
    writeln!(out)?;
    let mut widest: f64 = 0.0;
    for row in rows() {
        write!(out, "{}", dim(format!("{:>4} ", row[0].zombies)))?;
        for cell in row.iter().filter(shown) {
            let share = &cell.zombies_win;
            widest = widest.max(share.high - share.rate).max(share.rate - share.low);
            let text = format!("{:>6.1}", 100.0 * share.rate);
            if same(cell, &balance.recommended) {
                write!(out, "{}", green(text))?;
            } else if (share.rate - 0.5).abs() <= 0.1 {
                write!(out, "{}", yellow(text))?;
            } else {
                write!(out, "{text}")?;
            }
        }
        writeln!(out)?;
    }
    if last < document.bounds.max_turns {
        writeln!(out, "{}", dim(format!("No game went beyond turn {last}: more turns change nothing.")))?;
    }
    let note =
        format!("Intervals hold 95%; no number in this table is off by more than {:.1}.", 100.0 * widest);
    writeln!(out, "{}", dim(note))?;
    Ok(())
}
