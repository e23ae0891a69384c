//! `necrodome judge simulate`: how a party is likely to go.

mod chart;

use super::new::read_config;
use crate::{
    commands::print_json,
    error::Error,
    interrupt, lineup,
    numbers::within,
    output_file::OutputFile,
    paint::{bold, count, dim, error_redraws},
};
use indicatif::{ProgressBar, ProgressStyle};
use necrodome_arena::lineup::BotError;
use necrodome_judge::simulate::{
    Estimate, Report, Share, SimulateError, Simulator, Spread, on_threads, sized,
};
use necrodome_rules::{
    bot::BotSpec,
    catalog::Listed,
    chance::Seed,
    infection::{Infection, InfectionRules},
    options,
};
use serde::Serialize;
use std::{
    io::Write,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

/// Simulate a party: how often each side wins, how long it lasts, how the numbers develop
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome judge simulate --config config.yml
  necrodome judge simulate --players 30 --zombies 3 --turns 5 --set start_antibodies=3
  necrodome judge simulate --players 30 --zombies 3 --humans careful:reserve=1 --svg party.svg
  necrodome judge simulate --players 12 --zombies 2 --set start_antibodies=2 --json

Name a built-in bot for how to play: see necrodome bots infection.")]
pub struct Args {
    #[command(flatten)]
    party: PartyArgs,
    /// How many zombies there are at the start [default: as in --config, else 1]
    #[arg(long, value_parser = within(0..=499_u32))]
    zombies: Option<u32>,
    /// How many turns a game lasts at most [default: as in --config, else 8]
    #[arg(long, value_parser = within(1..=10_000_u32))]
    turns: Option<u32>,
    /// How many games to play
    #[arg(long, default_value_t = 20_000, value_parser = within(10..=100_000_000_u64))]
    games: u64,
    /// Draw the numbers of humans and zombies over the turns
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Overwrite the file of --svg
    #[arg(long, requires = "svg")]
    force: bool,
}

/// The flags that `simulate` and `balance` share.
#[derive(clap::Args)]
pub struct PartyArgs {
    /// How many players there are
    #[arg(long, required_unless_present = "config", value_parser = within(2..=500_u32))]
    players: Option<u32>,
    /// A set-up of `judge new`, with the number of players and the rules
    #[arg(long, value_name = "FILE", conflicts_with_all = ["players", "set"])]
    config: Option<PathBuf>,
    /// The bot that plays for those who are told that they are human
    #[arg(long, value_name = "BOT", default_value = "careful")]
    humans: String,
    /// The bot that plays for those who are told that they are zombies
    #[arg(long, value_name = "BOT", default_value = "spreader")]
    zombie_play: String,
    /// Set another option of the rules; can be repeated
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Vec<String>,
    /// The seed of all randomness; the same seed gives the same games [default: a random one]
    #[arg(long)]
    seed: Option<Seed>,
    /// How many threads play [default: one for each core]
    #[arg(long, value_parser = within(1..=1024_u32))]
    threads: Option<u32>,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// The parsed flags that `simulate` and `balance` share.
pub struct PartyPlan {
    pub players: usize,
    pub humans: BotSpec,
    pub zombie_play: BotSpec,
    /// The rules, with the default numbers of zombies and turns.
    pub rules: InfectionRules,
    pub seed: Seed,
    pub threads: Option<usize>,
}

impl PartyArgs {
    pub fn plan(&self) -> Result<PartyPlan, Error> {
        for text in &self.set {
            let (flag, option) = match options::split_pair(text) {
                Ok((name, _)) if name == "zombies" => ("zombies", name),
                Ok((name, _)) if name == "max_turns" => ("turns", name),
                _ => continue,
            };
            return Err(Error::usage(format!("{option} is not for --set here: use --{flag}")));
        }
        let spec = |flag: &str, text: &str| {
            let parsed = text.parse::<BotSpec>();
            parsed.map_err(|error| Error::option(format_args!("--{flag} {text}"), &error))
        };
        let (players, rules) = match &self.config {
            Some(path) => {
                let (_, config) = read_config(path)?;
                (config.players.len(), config.rules)
            }
            None => (self.players.unwrap_or_default() as usize, lineup::rules::<Infection>(&self.set)?),
        };
        Ok(PartyPlan {
            players,
            humans: spec("humans", &self.humans)?,
            zombie_play: spec("zombie-play", &self.zombie_play)?,
            rules,
            seed: lineup::seed(self.seed)?,
            threads: self.threads.map(|threads| threads as usize),
        })
    }
}

/// Returns the error for a simulation that could not run.
pub fn refused(error: SimulateError) -> Error {
    let game = Infection::ID;
    match error {
        SimulateError::UnknownBot { name, valid } => BotError::Unknown { game, name, valid }.into(),
        SimulateError::Params { text, source } => BotError::Params { text, source }.into(),
        SimulateError::Setup(error) => Error::setup(game, &error),
        SimulateError::Stopped => Error::interrupted(),
        error => Error::failure(error.to_string()),
    }
}

/// A progress bar on a terminal, and nothing elsewhere. It also says whether to go on.
pub struct GameBar {
    bar: ProgressBar,
    stop: &'static AtomicBool,
}

impl GameBar {
    pub fn new(games: u64) -> Self {
        let stop = interrupt::flag();
        let bar = if error_redraws() { ProgressBar::new(games) } else { ProgressBar::hidden() };
        let bar = bar.with_message("playing");
        bar.enable_steady_tick(Duration::from_millis(200));
        let bar = match ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        GameBar { bar, stop }
    }

    pub fn plan(&self, games: u64) {
        self.bar.set_length(games);
    }

    pub fn advance(&self, games: u64) -> bool {
        if games > 0 {
            self.bar.inc(games);
        }
        !self.stop.load(Ordering::Relaxed)
    }

    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

#[derive(Serialize)]
struct SimulationDocument<'a> {
    game: &'static str,
    players: usize,
    options: &'a InfectionRules,
    humans_play: String,
    zombies_play: String,
    seed: Seed,
    confidence: f64,
    #[serde(flatten)]
    report: &'a Report,
}

pub fn run(args: &Args) -> Result<(), Error> {
    let plan = args.party.plan()?;
    let zombies = args.zombies.unwrap_or(plan.rules.zombies.get());
    let turns = args.turns.unwrap_or(plan.rules.max_turns.get());
    let rules = sized(&plan.rules, zombies, turns).map_err(refused)?;
    let simulator = Simulator::new(plan.players, rules, &plan.humans, &plan.zombie_play).map_err(refused)?;
    let svg = args.svg.as_ref().map(|path| OutputFile::claim(path, args.force)).transpose()?;
    let progress = GameBar::new(args.games);
    let play = || simulator.run(plan.seed, 0..args.games, &|games| progress.advance(games));
    let tally = on_threads(plan.threads, play);
    progress.finish();
    let report = tally.map_err(refused)?.report(turns as usize);
    let report = report.ok_or_else(|| Error::usage("no games were played"))?;
    let document = SimulationDocument {
        game: Infection::ID,
        players: plan.players,
        options: simulator.rules(),
        humans_play: plan.humans.to_string(),
        zombies_play: plan.zombie_play.to_string(),
        seed: plan.seed,
        confidence: 0.95,
        report: &report,
    };
    let printed = if args.party.json { print_json(&document) } else { print(&document) };
    if let Some(file) = svg {
        file.write(chart::draw(&title(&document), &report).map_err(std::io::Error::other)?)?;
    }
    printed
}

fn title(document: &SimulationDocument) -> String {
    let rules = document.options;
    format!(
        "{}, {}, {}",
        count(document.players as u64, "player"),
        count(rules.zombies.get(), "zombie"),
        count(rules.max_turns.get(), "turn")
    )
}

/// Returns `72.1% [71.5, 72.7]`.
pub fn percent(share: &Share) -> String {
    let [rate, low, high] = [share.rate, share.low, share.high].map(|value| 100.0 * value);
    format!("{rate:5.1}% [{low:.1}, {high:.1}]")
}

/// Returns `3.48±0.02`.
pub fn plus_minus(estimate: &Estimate) -> String {
    let Estimate { mean, low, high } = estimate;
    format!("{mean:.2}±{:.2}", (high - low) / 2.0)
}

fn quartiles(spread: &Spread) -> String {
    let [lower, median, upper] = spread.quartiles().map(|quartile| quartile.value);
    format!("{lower:>3} {median:>3} {upper:>3}")
}

fn print(document: &SimulationDocument) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    let report = document.report;
    writeln!(out, "{}", bold(title(document)))?;
    writeln!(out, "humans play {}, zombies play {}", document.humans_play, document.zombies_play)?;
    writeln!(out, "{}\n", dim(format!("{} games, seed {}", report.games, document.seed)))?;
    for (who, share) in [
        ("zombies win", &report.zombies_win),
        ("one survivor wins", &report.survivor_wins),
        ("humans win", &report.humans_win),
    ] {
        writeln!(out, "  {who:<19}{}", percent(share))?;
    }
    let length = &report.length;
    let spread = quartiles(length).split_whitespace().collect::<Vec<_>>().join(", ");
    writeln!(out, "  {:<19} {} (quartiles {spread})\n", "turns", plus_minus(&length.mean))?;
    let head = format!("{:^23}", "mean      quartiles");
    writeln!(out, "{}", dim(format!("    {:^25}{:^25}{:^25}", "humans", "zombies", "infected").trim_end()))?;
    writeln!(out, "{}", dim(format!("turn  {head}  {head}  {head}").trim_end()))?;
    for turn in &report.turns {
        write!(out, "{:>4}", turn.turn)?;
        for spread in [&turn.humans, &turn.zombies, &turn.infected] {
            write!(out, "  {:>11} {}", plus_minus(&spread.mean), quartiles(spread))?;
        }
        writeln!(out)?;
    }
    let spreads = report.turns.iter().flat_map(|turn| [&turn.humans, &turn.zombies, &turn.infected]);
    let off = spreads
        .chain([length])
        .flat_map(|spread| spread.quartiles())
        .map(|quartile| (quartile.high - quartile.value).max(quartile.value - quartile.low))
        .max();
    let notes = [
        "After each turn, over all games; a game that is over counts as it ended.".to_owned(),
        "The infected count as human; only the judge knows who they are.".to_owned(),
        format!("Intervals hold 95%; the quartiles are off by {} at most.", off.unwrap_or(0)),
    ];
    writeln!(out, "\n{}", dim(notes.join("\n")))?;
    Ok(())
}
