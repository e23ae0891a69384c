//! `necrodome tournament`: plays many matches, for standings that can be defended.

mod config;
mod forecast;
pub(super) mod print;
mod progress;
pub(super) mod tables;

use super::{costs, print_json, replay};
use crate::{
    error::Error,
    interrupt, lineup,
    numbers::{above_zero, whole, within},
    output_file::{self, Access, OutputFile},
    paint::{count, say},
};
pub(super) use config::BUNDLED;
use config::Config;
use necrodome_arena::{
    entry::{EntrySpec, has_processes},
    lineup::{Terms, player},
    own,
    run::RunError,
    stats::RankBy,
    tournament::{
        self, Allowed, Archive, Claims, Format, Opened, Plan, PlanFile, Report, Schedule, Stop, Store,
        TournamentError, Wishes, natural_threads, packed_replay, report,
    },
};
use necrodome_models::{Answers, Desk};
use necrodome_rules::{
    catalog::{GameId, Listed},
    chance::Seeded,
    with_game,
};
use necrodome_server::film::{self, Size};
use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// Play a tournament and print its standings with intervals
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome tournament zombie-dice
  necrodome tournament zombie-dice greedy cautious ./mybot.py --blocks 2000 --store night.store
  necrodome tournament zombie-dice greedy cautious random --format round-robin --seats 2 --until decided
  necrodome tournament last-bullet gunner runner huddle ./mybot.js --blocks 20
  necrodome tournament last-bullet gunner runner huddle ./mybot.js --rounds 5 --watch
  necrodome tournament zombie-dice-race new=./new.py old=./old.py --test 0,20 --blocks 5000
  necrodome tournament night.toml --json --csv night.csv
  necrodome tournament tokyo llm:small llm:large --models m.toml --budget 5.00
  necrodome tournament tokyo llm:small optimal --models models.toml --dry-run    what would it cost?
  necrodome tournament zombie-dice greedy ./mybot.py --plan --difference 0.02    how many blocks does that take?

A block is one round of the schedule: every group in all orders (of more than four seats: in all rotations of a new random
order), so that nobody gains by a seat or a neighbour. Every interval is computed on blocks. With --store the tournament survives anything: run the same command
again and it goes on where it was. In a round-robin or gauntlet entries may come and go: add or remove some, and only what is
missing is played. The hash at the end proves the results: the same with any number of threads.

A file.toml holds the same as the flags, under their names; a flag overrides it, and bots are added to its bots. Paths in it start from its folder.
  game = \"zombie-dice\"
  bots = [\"greedy\", \"Ada=./ada.py\"]
  blocks = 2000
  until = \"decided\"
  store = \"night.store\"
  sandbox = \"full\"     # or strict, limits, auto
  share = [\"words\"]    # folders that all programs may read
  [options]  # what --set sets
  tiebreak = \"until_broken\"
  [limits]   # what programs may use
  decision_ms = 100
  [models.small]   # the entry llm:small; see `necrodome docs models`
  base_url = \"http://localhost:8080/v1\"
  model = \"small\"

Exit codes: 0 all is played, 1 it could not go on (an endpoint, or a budget; what is stored is kept), 2 a mistake in the command,
130 interrupted.")]
#[command(group = clap::ArgGroup::new("written").multiple(true))]
pub struct Args {
    /// A game (see `necrodome games`), or a FILE.toml
    game: String,
    /// The entries, as in `necrodome match`; without any, a sample line-up
    #[arg(value_name = "BOT")]
    bots: Vec<String>,
    /// How many blocks to play; by default as many as suit the game, at most 200 with programs, 10 with language models
    #[arg(long, value_parser = above_zero::<u32>)]
    blocks: Option<u32>,
    /// Rounds of a battle to play (each is a block). Prints the score of every entry in each round, the median last
    #[arg(long, value_parser = within(1..=1000_u32), conflicts_with = "blocks")]
    rounds: Option<u32>,
    /// Open the film of the last match in the browser when all is played
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    dice: lineup::DiceFlags,
    /// Who meets whom: table, round-robin, gauntlet or battle; by default what suits the game
    #[arg(long)]
    format: Option<String>,
    /// Seats of a match in a round-robin
    #[arg(long, value_parser = whole::<usize>)]
    seats: Option<usize>,
    /// Set an option of the rules; can be repeated
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Vec<String>,
    /// Stop as soon as a test that may look at any time separates the neighbours in the standings
    #[arg(long, value_name = "WHEN", value_parser = ["decided"])]
    until: Option<String>,
    /// Also stop when entries that cannot be separated differ by less than this for certain: in win rate (0.02 is two points of a
    /// hundred), in score where players play alone
    #[arg(long, value_name = "DIFFERENCE", value_parser = positive)]
    margin: Option<f64>,
    /// Test two entries: stop when the first is known to be at most ELO0 points better, or at least ELO1
    #[arg(long, value_name = "ELO0,ELO1", value_parser = clap::value_parser!(Claims), allow_hyphen_values = true)]
    test: Option<Claims>,
    /// Play a short pilot only, and say how many blocks are needed; nothing is stored or written. Not with language models, which
    /// would be paid for it
    #[arg(long)]
    plan: bool,
    /// With --plan: the smallest difference to detect, in win rate (0.02 is two points of a hundred), in score where players play alone
    #[arg(long, value_name = "DIFFERENCE", value_parser = positive)]
    difference: Option<f64>,
    /// What decides the standings of a solved game
    #[arg(long, value_name = "WHAT")]
    rank_by: Option<RankByName>,
    /// Threads to play on; by default all cores, or as many as language models may be asked at once
    #[arg(long, value_parser = within(1..=1024_u16))]
    threads: Option<u16>,
    /// Keep the tournament in this file, and go on with it if it is there
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Play nothing: write the plan to this file, so that other machines can play it (see `necrodome shard`). With --store the
    /// tournament begins there
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plan", "dry_run", "watch"])]
    plan_out: Option<PathBuf>,
    /// Take a program that has changed as a new entry, and retire the old one; where all entries sit in every match, begin a new
    /// tournament beside the old one
    #[arg(long)]
    new_version: bool,
    /// Let only these entries meet now, more often than the others; needs --store, and a round-robin or gauntlet
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Print one JSON document instead of tables
    #[arg(long)]
    json: bool,
    /// Show all columns, and intervals of all pairs, however wide that is
    #[arg(long)]
    wide: bool,
    /// Say what each number means
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    tables: tables::TableFlags,
    /// Overwrite the files of --csv, --csv-pairs and --csv-matches
    #[arg(long)]
    force: bool,
    /// Estimate what language models would still cost, not counting stored blocks and kept answers. Each model is asked for three
    /// decisions at most, which cost money; with --answers only, none is
    #[arg(long, conflicts_with = "plan")]
    dry_run: bool,
    #[command(flatten)]
    programs: lineup::ProgramFlags,
    #[command(flatten)]
    models: lineup::ModelFlags,
}

/// What decides the standings, by name.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum RankByName {
    /// Results without the luck of the dice
    LuckAdjusted,
    /// Results as they are
    Plain,
}

impl From<RankByName> for RankBy {
    fn from(name: RankByName) -> Self {
        match name {
            RankByName::LuckAdjusted => RankBy::LuckAdjusted,
            RankByName::Plain => RankBy::Plain,
        }
    }
}

/// Warns if the standings are not ranked as the user asked.
pub(super) fn note_measure(asked: Option<RankBy>, report: &Report) {
    let lucky = report.standings.iter().any(|entry| entry.luck_adjusted.is_some());
    if asked == Some(RankBy::LuckAdjusted) && !lucky && report.blocks > 0 {
        let (game, seats) = (&report.plan.game, count(report.plan.seats as u64, "seat"));
        say("note: --rank-by luck-adjusted changes nothing: the luck of the dice is not known");
        say(format_args!("  in {game} with {seats} and these options"));
    }
}

/// Parses a number above 0.
fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "expected a number above 0, such as 0.02".to_owned())
}

/// Returns the absolute path, if the system can resolve it.
pub(super) fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

pub fn run(args: &Args) -> Result<(), Error> {
    let mut config = Config::read(args)?;
    let id = lineup::game(&config.game)?;
    // The folder of the bundled bot lives until the tournament is over.
    let _folder = match (config.bots.is_empty(), &config.plan_out) {
        (true, None) => config.default_line_up(id)?,
        // The bundled bot lives here only.
        (true, Some(_)) => {
            config.bots = id.card().line_up.iter().map(|&bot| bot.to_owned()).collect();
            None
        }
        (false, _) => None,
    };
    with_game!(id, G => play::<G>(id, &config))
}

/// Says how a tournament goes on, if that differs from before.
fn announce(opened: &Opened, path: &Path) {
    let Opened { store, plan, joined, left, edition } = opened;
    let folder = output_file::folder(path);
    if own::is_open_to_all(folder) {
        say(format_args!(
            "note: everybody may write in {}, and put another file in the place of the store",
            folder.display()
        ));
    }
    if let Some(version) = store.archive().older_version() {
        say(format_args!(
            "{} was of version {version}, and is brought up to date: what is added from now on is",
            path.display()
        ));
        say("protected against damage, what was there before is taken as it was found");
    }
    if *edition {
        let (id, path, format) = (store.id(), path.display(), plan.format.as_str());
        say(format_args!("tournament {id} of {path}: a new edition, beside the old one,"));
        say(format_args!("since in this {format} all entries play in each block"));
    }
    let without = |names: &[String], others: &[String]| -> Vec<String> {
        names.iter().filter(|name| !others.contains(name)).cloned().collect()
    };
    let renewed: Vec<String> = joined.iter().filter(|name| left.contains(name)).cloned().collect();
    for (names, what) in [
        (without(joined, left), "joined"),
        (without(left, joined), "left"),
        (renewed, "another version, and the old one leaves"),
    ] {
        if !names.is_empty() {
            say(format_args!("{what}: {}", names.join(", ")));
        }
    }
    if !(joined.is_empty() && left.is_empty()) {
        say("what was played stays; only what is missing is played");
    }
}

/// Writes a plan for other machines.
fn write_plan(path: &Path, plan: &Plan, config: &Config) -> Result<(), Error> {
    if !config.sandbox.share.is_empty() {
        return Err(Error::usage("--share does not go with --plan-out: other machines have other folders")
            .hint("put what bots read into their own folders"));
    }
    let out = OutputFile::claim(path, config.force)?.with_access(Access::Secret);
    let (store, plan) = match &config.store {
        None => {
            let opened = Archive::in_memory().and_then(|archive| archive.begun(plan, config.secret.as_ref()));
            opened.map(|opened| (opened.store, opened.plan)).map_err(TournamentError::from)?
        }
        Some(store) => {
            let secret = config.secret.as_ref();
            let opened =
                Archive::open(store).and_then(|archive| archive.resume(plan, config.new_version, secret));
            let opened = opened.map_err(|error| Error::written_store(store, error))?;
            announce(&opened, store);
            (opened.store, opened.plan)
        }
    };
    let mut file = PlanFile::new(&plan, &store, Path::new("."))?.allowing(Allowed::all_of(&plan));
    for (name, why) in file.note_starts(&lineup::own_program()?)? {
        say(format_args!("{name} does not start here, and need not elsewhere: {why}"));
    }
    for sealed in &plan.sealed_dice {
        say(format_args!("dice follow from seed {} and a secret; its BLAKE3 hash is", plan.seed));
        say(&sealed.commitment);
    }
    out.write(file.text(output_file::folder(path))?)?;
    if config.json {
        return print_json(&file.info()?);
    }
    let (blocks, path) = (file.blocks()?, path.display());
    say(format_args!("blocks {}..{} can be played by `necrodome shard {path}`", blocks.start, blocks.end));
    if plan.has_programs() {
        say("the file has the secret of the dice: keep it from those who enter bots");
    }
    Ok(())
}

/// Returns the plan as it would go on, how many of its blocks are stored, and the entries in its order. The store does not change.
fn outlook(
    plan: Plan,
    entries: Vec<EntrySpec>,
    config: &Config,
) -> Result<(Plan, u32, Vec<EntrySpec>), Error> {
    let Some(path) = config.store.as_deref().filter(|path| path.exists()) else {
        return Ok((plan, 0, entries));
    };
    let opened = Archive::read(path).and_then(|archive| archive.outlook(&plan, config.new_version));
    let (stored, played) = opened.map_err(|error| Error::written_store(path, error))?;
    let entries = stored.in_order(&plan, entries);
    Ok((stored, played, entries))
}

/// Opens the film of the last match of a block in the browser, or says where it is.
fn watch(plan: &Plan, schedule: &Schedule, store: &Store, block: u32) -> Result<(), Error> {
    let number = schedule.matches(block).saturating_sub(1) as u32;
    let packed =
        packed_replay(plan, store, block, number).map_err(|error| Error::failure(error.to_string()))?;
    let film = film::film(packed, &Size::FILE).map_err(|error| Error::failure(error.to_string()))?;
    let page = replay::page(&[film])?;
    // The browser reads it when this program has ended.
    let mut file = tempfile::Builder::new().prefix("necrodome-").suffix(".html").tempfile()?;
    file.write_all(page.as_bytes())?;
    let (_, path) = file.keep().map_err(|error| error.error)?;
    say(format_args!("the film of the last match is {}", path.display()));
    if let Err(error) = open::that_detached(&path) {
        say(format_args!("no browser could be opened ({error}): open the file yourself"));
    }
    Ok(())
}

fn play<G: Listed>(id: GameId, config: &Config) -> Result<(), Error>
where
    G::Rules: Sync,
{
    let rules = config.rules::<G>()?;
    for (flag, is_set, needs, is_there) in [
        ("--new-version", config.new_version, "--store", config.store.is_some()),
        ("--only", !config.only.is_empty(), "--store", config.store.is_some()),
        ("--force", config.force, "--csv", config.tables.is_some() || config.plan_out.is_some()),
        ("--difference", config.difference.is_some(), "--plan", config.plan),
        ("--secret", config.secret.is_some(), "--seed", config.seed.is_some() || config.store.is_some()),
    ] {
        if is_set && !is_there {
            return Err(Error::usage(format!("{flag} means nothing without {needs}")));
        }
    }
    let desk = config.models.desk(&config.bots, config.own_models.clone(), config.store.as_deref())?;
    let (mut entries, names) = lineup::entries(&config.bots, desk.as_ref())?;
    if config.dry_run && desk.is_none() {
        return Err(Error::usage(
            "--dry-run means nothing without an entry llm:NAME: other matches cost nothing",
        ));
    }
    if config.plan && desk.is_some() {
        let why = "--plan plays a pilot of up to 100 blocks, which language models would be paid for";
        return Err(Error::usage(why).hint(
            "--dry-run says what the tournament would cost; play a few blocks to see the differences",
        ));
    }
    if let (Some(bundled), Some(last)) = (config.bundled, entries.last_mut()) {
        // Where it lies differs from run to run, and must not make another plan of the same tournament.
        last.text = bundled.to_owned();
    }
    let wishes = Wishes {
        format: config.format.as_deref(),
        seats: config.seats,
        blocks: config.blocks,
        seed: config.seed,
        public_dice: config.public_dice,
        until_decided: config.until_decided,
        margin: config.margin,
        test: config.test,
        rank_by: config.rank_by.unwrap_or_default(),
        only: &config.only,
        limits: config.limits,
        sandbox: None,
        gifts: Default::default(),
        store: config.store.as_deref(),
    };
    let launcher = config.sandbox.launcher(&entries)?;
    let sandbox = has_processes(&entries).then(|| launcher.level());
    let wishes = Wishes { sandbox, gifts: launcher.gifts().clone(), ..wishes };
    let plan = wishes.plan::<G, Error>(id, &entries, &names, &rules, || lineup::seed(None))?;
    if let Some(share) = config.difference.filter(|share| plan.seats > 1 && *share >= 1.0) {
        return Err(Error::usage(format!(
            "--difference is a share of matches: expected a number below 1, got {share}"
        ))
        .hint("two points of a hundred are 0.02"));
    }
    if config.rounds.is_some() && plan.format != Format::Battle {
        let what = format!("--rounds is for a battle, and this is a {}", plan.format.as_str());
        return Err(Error::usage(what).hint("--blocks N plays N blocks, --format battle a battle"));
    }
    if config.watch && !necrodome_server::pages_included() {
        return Err(replay::no_viewer());
    }
    Schedule::new(&plan, G::SEATS).map_err(TournamentError::from)?;
    let threads = config.threads.unwrap_or_else(|| natural_threads(&entries));
    // A bot that is not there shows before anything is written.
    let terms = Terms { launcher: launcher.clone(), limits: plan.limits, rules, seats: plan.seats };
    for (entry, name) in entries.iter().zip(names.iter()) {
        player::<G>(entry, name, &terms, Seeded::new(0, "trial", 0)).map_err(TournamentError::from)?;
    }
    if config.dry_run {
        let (plan, played, entries) = outlook(plan, entries, config)?;
        let estimate = tournament::estimate(&plan, played, &entries, &launcher);
        lineup::tell_spent(desk.as_ref());
        let stopped = |error: TournamentError| lineup::how_to_go_on(desk.as_ref(), error.into(), "", "");
        return costs::tell(&estimate.map_err(stopped)?, &lineup::the_book(desk.as_ref()), config.json);
    }
    if config.plan {
        let flag = interrupt::flag();
        let forecast = tournament::forecast(&plan, &entries, &launcher, threads, flag, config.difference)?;
        let forecast = forecast.ok_or_else(Error::interrupted)?;
        return if config.json { print_json(&forecast) } else { forecast::print(&forecast) };
    }
    if let Some(path) = &config.plan_out {
        return write_plan(path, &plan, config);
    }
    let tables = config.tables.claim(("--store", config.store.as_deref()), config.force)?;
    let secret = config.secret.as_ref();
    let opened = match &config.store {
        None => Archive::in_memory()
            .and_then(|archive| archive.begun(&plan, secret))
            .map_err(TournamentError::from)?,
        Some(path) => {
            let opened =
                Archive::open(path).and_then(|archive| archive.resume(&plan, config.new_version, secret));
            let opened = opened.map_err(|error| Error::written_store(path, error))?;
            announce(&opened, path);
            opened
        }
    };
    let entries = opened.plan.in_order(&plan, entries);
    let Opened { mut store, plan, .. } = opened;
    let schedule = Schedule::new(&plan, G::SEATS).map_err(TournamentError::from)?;
    let played = store.blocks().map_err(TournamentError::from)?;
    if played < schedule.end() {
        // Before the first match: anyone who has this line can prove that the secret was not chosen later.
        let sealed = plan.sealed_dice.iter().filter(|sealed| sealed.secret.is_none());
        sealed.for_each(|sealed| {
            say(format_args!("dice follow from seed {}", plan.seed));
            say("and a secret, published at the end, whose BLAKE3 hash is");
            say(&sealed.commitment);
        });
    }
    let mut progress = progress::TournamentProgress::new(&plan, &schedule, played);
    let stopped =
        tournament::run(&plan, &entries, &launcher, &mut store, threads, interrupt::flag(), &mut |update| {
            progress.show(&update);
        });
    progress.finish();
    lineup::tell_spent(desk.as_ref());
    let report = report(&plan, &schedule, &store);
    let print = |report: &Report| match report.blocks {
        _ if config.json => print_json(report),
        // Nobody has a rank yet.
        0 => Ok(()),
        _ => print::report(report, config.shown),
    };
    if let (Err(_), Ok(report)) = (&stopped, &report)
        && report.blocks > 0
    {
        // What was played is shown; the error that ended it follows.
        print(report)?;
    }
    let put_back = |error: TournamentError| match error {
        TournamentError::Run(RunError::Arena(why)) if desk.is_some() => {
            let kept = store.blocks().unwrap_or_default();
            let left = schedule.end().saturating_sub(kept);
            let mut stopped = Error::failure(format!("stopped before the end: {why}"));
            let failing: Vec<String> =
                desk.iter().flat_map(Desk::failing).map(|name| format!("llm:{name}")).collect();
            if !failing.is_empty() && entries.len() > failing.len() + 1 {
                stopped =
                    stopped.hint(format!("leave out {}, and the others can play", failing.join(" and ")));
            }
            let is_sealed = plan.sealed_dice.first().is_some_and(|sealed| sealed.first == 0);
            if config.models.answers == Some(Answers::Only)
                && is_sealed
                && config.secret.is_none()
                && played == 0
            {
                stopped = stopped.hint(
                    "with programs the dice follow from a secret, too: add --secret with the one that was told at the end",
                );
            }
            let stored = format!("{} played, {} left", count(kept, "block"), count(left, "block"));
            let again = match &config.store {
                Some(_) => {
                    "run the same command again to go on; calls that were kept are not paid again".to_owned()
                }
                None => lineup::again_with(plan.seed),
            };
            let stopped = lineup::hint_at_costs(desk.as_ref(), stopped);
            lineup::how_to_go_on(desk.as_ref(), stopped, &stored, &again)
        }
        other => other.into(),
    };
    let (stop, report) = (stopped.map_err(put_back)?, report?);
    let printed = print(&report);
    tables.write(&report, &schedule, &store)?;
    printed?;
    note_measure(config.rank_by, &report);
    if config.watch && report.blocks > 0 {
        watch(&plan, &schedule, &store, report.blocks - 1)?;
    }
    match (stop, &config.store) {
        (Stop::Interrupted, Some(_)) => {
            let kept = report.blocks;
            say(format_args!("stopped: {kept} blocks are kept; run the same command again to go on"));
            Err(Error::interrupted())
        }
        (Stop::Interrupted, None) => Err(lineup::interrupted(desk.as_ref(), plan.seed)),
        _ => Ok(()),
    }
}
