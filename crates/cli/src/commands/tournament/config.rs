//! Combines the flags and the TOML file.

use super::{Args, print::Shown, tables::TableFlags};
use crate::{
    documents::Page,
    error::Error,
    lineup::{ModelFlags, SandboxFlags},
    paint::say,
};
use necrodome_arena::{
    dice::{Secret, SecretError},
    entry::moved_to,
    own,
    process::Limits,
    stats::RankBy,
    tournament::{Claims, PlanError},
};
use necrodome_models::{Models, MoneyError};
use necrodome_rules::misread::{Format, Misread};
use necrodome_rules::{
    catalog::{GameId, Listed},
    chance::Seed,
    options::{self, Bounded, OptionError},
};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};
use toml::Spanned;

/// The placeholder for the bot that comes with the program.
pub const BUNDLED: &str = "the bundled Python bot";

/// A tournament in a file, with a key for each flag.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    game: String,
    bots: Vec<String>,
    blocks: Option<Bounded<1, { u32::MAX }>>,
    rounds: Option<Bounded<1, 1000>>,
    watch: bool,
    seed: Option<Seed>,
    #[serde(alias = "public-dice")]
    public_dice: bool,
    secret: Option<Spanned<String>>,
    format: Option<String>,
    seats: Option<usize>,
    #[serde(alias = "set")]
    options: BTreeMap<Spanned<String>, toml::Value>,
    until: Option<Spanned<String>>,
    until_decided: bool,
    margin: Option<Spanned<f64>>,
    test: Option<Spanned<String>>,
    plan: bool,
    difference: Option<Spanned<f64>>,
    #[serde(alias = "rank-by")]
    rank_by: Option<RankBy>,
    wide: bool,
    explain: bool,
    threads: Option<Bounded<1, 1024>>,
    store: Option<PathBuf>,
    #[serde(alias = "new-version")]
    new_version: bool,
    only: Vec<String>,
    json: bool,
    csv: Option<PathBuf>,
    #[serde(alias = "csv-pairs")]
    csv_pairs: Option<PathBuf>,
    #[serde(alias = "csv-matches")]
    csv_matches: Option<PathBuf>,
    force: bool,
    limits: Option<Limits>,
    sandbox: Option<Spanned<String>>,
    share: Vec<Spanned<PathBuf>>,
    #[serde(alias = "allow-network")]
    allow_network: bool,
    #[serde(alias = "pass-env")]
    pass_env: Vec<String>,
    /// Either the path of a file with models, or tables of them.
    models: Option<toml::Value>,
    answers: Option<Spanned<String>>,
    calls: Option<PathBuf>,
    budget: Option<Spanned<toml::Value>>,
    #[serde(alias = "budget-tokens")]
    budget_tokens: Option<Bounded<1, { u32::MAX }>>,
    #[serde(alias = "dry-run")]
    dry_run: bool,
}

/// A tournament from the file and the flags. Flags override the file.
#[derive(Debug, Default)]
pub struct Config {
    pub game: String,
    pub bots: Vec<String>,
    pub blocks: Option<u32>,
    /// The number of rounds, if blocks were asked for as rounds of a battle.
    pub rounds: Option<u32>,
    pub watch: bool,
    pub seed: Option<Seed>,
    pub public_dice: bool,
    pub secret: Option<Secret>,
    pub format: Option<String>,
    pub seats: Option<usize>,
    pub until_decided: bool,
    pub margin: Option<f64>,
    pub test: Option<Claims>,
    pub plan: bool,
    pub difference: Option<f64>,
    /// The measure that was asked for, if any.
    pub rank_by: Option<RankBy>,
    pub shown: Shown,
    pub threads: Option<usize>,
    pub store: Option<PathBuf>,
    pub new_version: bool,
    pub plan_out: Option<PathBuf>,
    pub only: Vec<String>,
    pub json: bool,
    pub tables: TableFlags,
    pub force: bool,
    pub limits: Limits,
    pub sandbox: SandboxFlags,
    pub models: ModelFlags,
    /// The models that the file describes itself.
    pub own_models: Models,
    pub dry_run: bool,
    /// The name of the last bot, if it comes with the program.
    pub bundled: Option<&'static str>,
    /// Options of the rules from the file.
    options: Vec<Setting>,
    /// `--set` from the command line.
    settings: Vec<String>,
}

/// An option of the rules, set in a file.
#[derive(Debug)]
struct Setting {
    name: String,
    value: String,
    place: String,
}

impl Config {
    pub fn read(args: &Args) -> Result<Self, Error> {
        let mut config = if args.game.ends_with(".toml") {
            Self::from_file(Path::new(&args.game))?
        } else {
            Config { game: args.game.clone(), ..Config::default() }
        };
        config.bots.extend(args.bots.iter().cloned());
        // Rounds are blocks of a battle; whoever names one of them overrides what the file says.
        config.rounds = args.rounds.or(config.rounds.filter(|_| args.blocks.is_none()));
        config.blocks = config.rounds.or(args.blocks).or(config.blocks);
        config.watch |= args.watch;
        config.seed = args.dice.seed.or(config.seed);
        config.public_dice |= args.dice.public_dice;
        config.secret = args.dice.secret.clone().or(config.secret);
        config.format = args.format.clone().or(config.format);
        config.seats = args.seats.or(config.seats);
        config.until_decided |= args.until.is_some();
        config.margin = args.margin.or(config.margin);
        config.test = args.test.or(config.test);
        config.plan |= args.plan;
        config.difference = args.difference.or(config.difference);
        config.rank_by = args.rank_by.map(RankBy::from).or(config.rank_by);
        config.shown.rounds = config.rounds.is_some();
        config.shown.wide |= args.wide;
        config.shown.explained |= args.explain;
        config.threads = args.threads.map(usize::from).or(config.threads);
        config.store = args.store.clone().or(config.store);
        config.new_version |= args.new_version;
        config.plan_out.clone_from(&args.plan_out);
        if !args.only.is_empty() {
            config.only.clone_from(&args.only);
        }
        config.json |= args.json;
        config.tables = args.tables.over(config.tables);
        config.force |= args.force;
        config.limits = args.programs.limits.over(config.limits);
        config.sandbox = args.programs.sandbox.over(config.sandbox);
        config.models = args.models.over(config.models);
        config.dry_run |= args.dry_run;
        config.settings.clone_from(&args.set);
        Ok(config)
    }

    fn from_file(path: &Path) -> Result<Self, Error> {
        let refuse = |why: String| Error::at(path.display(), why);
        let text = own::read_text(path).map_err(|error| Error::unread(path, &error))?;
        let file: File = toml::from_str(&text).map_err(|error| {
            let place = error.span().map(|span| place(path, &text, span.start));
            mistake(place.unwrap_or(path.display().to_string()), error.message())
        })?;
        if file.force {
            return Err(refuse("`force` in a file would overwrite files unasked".into())
                .hint("leave it out, and add --force to the command if you want that"));
        }
        if file.game.is_empty() {
            return Err(refuse("expected a game, such as game = \"zombie-dice\"".into()));
        }
        if let Some(until) = file.until.as_ref().filter(|until| until.get_ref() != "decided") {
            let place = place(path, &text, until.span().start);
            return Err(Error::at(place, format_args!("expected \"decided\", got {:?}", until.get_ref())));
        }
        let is_bad = |number: &&Spanned<f64>| !(number.get_ref().is_finite() && *number.get_ref() > 0.0);
        if let Some(number) = [&file.margin, &file.difference].into_iter().flatten().find(is_bad) {
            let place = place(path, &text, number.span().start);
            return Err(Error::at(
                place,
                format_args!("expected a number above 0, got {}", number.get_ref()),
            ));
        }
        let test = match &file.test {
            None => None,
            Some(written) => Some(written.get_ref().parse().map_err(|why: String| {
                Error::at(
                    place(path, &text, written.span().start),
                    format_args!("{why}, got {:?}", written.get_ref()),
                )
            })?),
        };
        let at = |span: std::ops::Range<usize>| place(path, &text, span.start);
        let secret = match &file.secret {
            None => None,
            Some(written) => Some(
                written.get_ref().parse().map_err(|why: SecretError| Error::at(at(written.span()), why))?,
            ),
        };
        let sandbox = match &file.sandbox {
            None => None,
            Some(written) => {
                Some(written.get_ref().parse().map_err(|why: String| Error::at(at(written.span()), why))?)
            }
        };
        let limits = file.limits.unwrap_or_default();
        limits.zero().map_or(Ok(()), |name| Err(refuse(PlanError::Limit(name).to_string())))?;
        // Files are named as seen from the file.
        let folder = path.parent().unwrap_or(Path::new("."));
        let share: Vec<PathBuf> = file.share.iter().map(|path| folder.join(path.get_ref())).collect();
        if let Some((missing, _)) = file.share.iter().zip(&share).find(|(_, path)| !path.exists()) {
            let why = format!("share: there is no file or folder {:?}", missing.get_ref());
            return Err(Error::at(at(missing.span()), why));
        }
        let joined = |path: Option<PathBuf>| path.map(|path| folder.join(path));
        let answers = match &file.answers {
            None => None,
            Some(written) => {
                Some(written.get_ref().parse().map_err(|why: String| Error::at(at(written.span()), why))?)
            }
        };
        let budget = match &file.budget {
            None => None,
            Some(written) => {
                let text = match written.get_ref() {
                    toml::Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                Some(text.parse().map_err(|why: MoneyError| Error::at(at(written.span()), why))?)
            }
        };
        let (models, own_models) = match &file.models {
            None => (None, Models::default()),
            Some(toml::Value::String(path)) => (Some(folder.join(path)), Models::default()),
            Some(_) => (None, Models::parse_within(&text, path)?),
        };
        let setting = |(name, value): (Spanned<String>, toml::Value)| Setting {
            place: place(path, &text, name.span().start),
            name: name.into_inner(),
            value: match value {
                toml::Value::String(text) => text,
                other => other.to_string(),
            },
        };
        Ok(Config {
            game: file.game,
            bots: file.bots.iter().map(|bot| moved_to(folder, bot)).collect(),
            blocks: file.blocks.map(Bounded::get),
            rounds: file.rounds.map(Bounded::get),
            watch: file.watch,
            seed: file.seed,
            public_dice: file.public_dice,
            secret,
            format: file.format,
            seats: file.seats,
            until_decided: file.until.is_some() || file.until_decided,
            margin: file.margin.map(Spanned::into_inner),
            test,
            plan: file.plan,
            difference: file.difference.map(Spanned::into_inner),
            rank_by: file.rank_by,
            shown: Shown { wide: file.wide, explained: file.explain, rounds: false },
            threads: file.threads.map(|threads| threads.get() as usize),
            store: joined(file.store),
            new_version: file.new_version,
            plan_out: None,
            only: file.only,
            json: file.json,
            tables: TableFlags {
                csv: joined(file.csv),
                csv_pairs: joined(file.csv_pairs),
                csv_matches: joined(file.csv_matches),
            },
            force: false,
            limits,
            sandbox: SandboxFlags {
                sandbox,
                share,
                allow_network: file.allow_network,
                pass_env: file.pass_env,
            },
            models: ModelFlags {
                models,
                answers,
                calls: joined(file.calls),
                budget,
                budget_tokens: file.budget_tokens.map(|tokens| tokens.get().into()),
            },
            own_models,
            dry_run: file.dry_run,
            bundled: None,
            options: file.options.into_iter().map(setting).collect(),
            settings: Vec::new(),
        })
    }

    /// Returns the rules: options from the file, then those from `--set`.
    pub fn rules<G: Listed>(&self) -> Result<G::Rules, Error> {
        let flags = format!("{} --set", G::ID);
        let mut pairs = Vec::new();
        for text in &self.settings {
            pairs.push(options::split_pair(text).map_err(|error| Error::option(&flags, &error))?);
        }
        let set: Vec<String> = pairs.iter().map(|(name, _)| name.clone()).collect();
        let filed = self.options.iter().filter(|option| !set.contains(&option.name));
        pairs.extend(filed.map(|option| (option.name.clone(), option.value.clone())));
        options::parse(&pairs).map_err(|error| {
            let (OptionError::Unknown { name, .. }
            | OptionError::Value { name, .. }
            | OptionError::Twice { name }
            | OptionError::Form { came: name }) = &error;
            let filed = self.options.iter().find(|option| option.name == *name && !set.contains(name));
            Error::option(filed.map_or(&flags, |option| &option.place), &error)
        })
    }

    /// Sets a sample line-up, with one bot in Python if Python is installed. Its file exists as long as the folder that is returned.
    pub fn default_line_up(&mut self, game: GameId) -> Result<Option<tempfile::TempDir>, Error> {
        self.bots = game.card().line_up.iter().map(|&bot| bot.to_owned()).collect();
        let Some(python) = Page::bot_of_game(&game.card()) else { return Ok(None) };
        let path = std::env::var_os("PATH").unwrap_or_default();
        if !std::env::split_paths(&path).any(|folder| folder.join("python3").is_file()) {
            say("note: python3 is not there, so the line-up has no Python bot");
            return Ok(None);
        }
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("bot.py");
        fs::write(&file, python.text)?;
        self.bots.push(format!("python={}", file.display()));
        self.bundled = Some(BUNDLED);
        Ok(Some(folder))
    }
}

/// Returns `file.toml:3:1`, with lines and columns from 1.
fn place(path: &Path, text: &str, byte: usize) -> String {
    let before = text.get(..byte).unwrap_or(text);
    let line = 1 + before.matches('\n').count();
    let column = 1 + before.rsplit('\n').next().unwrap_or_default().chars().count();
    format!("{}:{line}:{column}", path.display())
}

/// Returns a mistake that the parser found, in the words of TOML.
fn mistake(place: String, message: &str) -> Error {
    match Misread::new(message, Format::Toml) {
        Misread::Key { name, known } => Error::unknown(format_args!("{place}: unknown key"), name, &known),
        Misread::Other(why) => Error::at(place, why),
    }
}
