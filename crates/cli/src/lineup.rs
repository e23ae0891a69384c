//! Turns words on the command line into a game, its rules, and the players in its seats.

use crate::{
    error::Error,
    human::Human,
    interrupt,
    numbers::{above_zero, within},
    paint::{count, error_redraws, say},
};
use necrodome_arena::{
    dice::{Dice, DiceWish, Secret, random_seed},
    entry::{EntryKind, EntrySpec, files_of, has_processes, name_all, split_name},
    lineup::{Terms, player},
    model,
    player::Player,
    process::{Gifts, Launcher, Level, Limits, Wish},
    tournament::Allowed,
};
use necrodome_models::{Answers, AskError, Budget, Desk, DeskWishes, Models, Money, Tally};
use necrodome_rules::{
    catalog::{GameId, Listed},
    chance::{Seed, Seeded},
    names::Names,
    options::{self, OptionError},
};
use std::{
    path::{Path, PathBuf},
    sync::atomic::Ordering,
};

/// Returns the game with this id.
pub fn game(name: &str) -> Result<GameId, Error> {
    Ok(name.parse()?)
}

/// Returns the rules of a game with `option=value` settings on top.
pub fn rules<G: Listed>(settings: &[String]) -> Result<G::Rules, Error> {
    let parse = || -> Result<G::Rules, OptionError> {
        options::parse(&settings.iter().map(|text| options::split_pair(text)).collect::<Result<Vec<_>, _>>()?)
    };
    parse().map_err(|error| Error::option(format_args!("{} --set", G::ID), &error))
}

/// Returns the given seed, or a random one of 128 bits.
pub fn seed(given: Option<Seed>) -> Result<Seed, Error> {
    given.map_or_else(random_seed, Ok).map_err(|error| {
        Error::failure(format!("the system gives no random seed: {error}")).hint("choose one with --seed")
    })
}

/// The flags for seeds and secrets.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct DiceFlags {
    /// The seed, a number or 0x and hexadecimal digits; without one a random seed of 128 bits is chosen and printed
    #[arg(long)]
    pub seed: Option<Seed>,
    /// Let the dice follow from the seed alone, even if programs take part that could compute them
    #[arg(long)]
    pub public_dice: bool,
    /// Play again with the secret that was told at the end, and the same --seed
    #[arg(long, value_name = "HEX", conflicts_with = "public_dice")]
    pub secret: Option<Secret>,
}

impl DiceFlags {
    /// Returns the seed and the secret of a match between these entries.
    pub fn of_match(&self, entries: &[EntrySpec]) -> Result<(Seed, Option<Secret>), Error> {
        if self.secret.is_some() && self.seed.is_none() {
            return Err(Error::usage("--secret means nothing without --seed"));
        }
        let wish = DiceWish { public: self.public_dice, secret: self.secret.clone() };
        let secret = wish.of_match(entries).map_err(|error| Error::failure(error.to_string()))?;
        Ok((seed(self.seed)?, secret))
    }
}

/// Parses the entries and names them. The desk knows the language models among them.
pub fn entries(words: &[String], desk: Option<&Desk>) -> Result<(Vec<EntrySpec>, Names), Error> {
    let parse = |word: &String| EntrySpec::parse_with(word, Path::new("."), desk);
    let entries = words.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    entries.iter().try_for_each(EntrySpec::check)?;
    let names = name_all(&entries)?;
    Ok((entries, names))
}

/// The flags for language models.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Language models")]
pub struct ModelFlags {
    /// A file with a table [models.NAME] for each entry llm:NAME; see `necrodome docs models`
    #[arg(long, value_name = "FILE")]
    pub models: Option<PathBuf>,
    /// Where answers come from: reuse (calls that were kept, else new ones; the default), fresh (new ones) or only (calls that were kept)
    #[arg(long, value_name = "WHERE")]
    pub answers: Option<Answers>,
    /// The file that keeps every call; by default STORE.calls beside a --store, else one in the user's cache folder
    #[arg(long, value_name = "FILE")]
    pub calls: Option<PathBuf>,
    /// The most money that new calls may cost, in the currency of the prices
    #[arg(long, value_name = "MONEY")]
    pub budget: Option<Money>,
    /// The most tokens that new calls may take
    #[arg(long, value_name = "N", value_parser = above_zero::<u64>)]
    pub budget_tokens: Option<u64>,
}

impl ModelFlags {
    /// Returns these flags, with those of `other` where they are not set.
    pub fn over(&self, other: Self) -> Self {
        ModelFlags {
            models: self.models.clone().or(other.models),
            answers: self.answers.or(other.answers),
            calls: self.calls.clone().or(other.calls),
            budget: self.budget.or(other.budget),
            budget_tokens: self.budget_tokens.or(other.budget_tokens),
        }
    }

    /// Returns the desk that asks the models among some entries, or `None` if there are no models. `own` are the models of the
    /// tournament's file. Calls are kept beside the store, if there is one.
    pub fn desk(&self, words: &[String], own: Models, store: Option<&Path>) -> Result<Option<Desk>, Error> {
        let is_model = |word: &String| model::is_model(word);
        if !words.iter().any(is_model) {
            return self.mean_nothing_without("an entry llm:NAME");
        }
        // The first Ctrl-C waits for the answers that are paid for. While a person is asked, it ends the program as ever.
        if !words.iter().any(|word| split_name(word).1 == "human") {
            interrupt::flag();
        }
        let answers = self.answers.unwrap_or_default();
        self.opened(DeskWishes { own, file: self.models.as_deref(), answers, store, ..DeskWishes::default() })
    }

    /// Returns the desk to play a stored tournament again: the answers of its models are kept beside its store. `--models` may name
    /// the file of the tournament.
    pub fn desk_again(&self, store: &Path) -> Result<Option<Desk>, Error> {
        if self.models.is_none() {
            return self.mean_nothing_without("--models");
        }
        if self.answers == Some(Answers::Fresh) {
            return Err(Error::usage("--answers: fresh answers would make another tournament")
                .hint("only (the default) asks nothing; reuse asks what is missing"));
        }
        let answers = self.answers.unwrap_or(Answers::Only);
        let (file, store) = (self.models.as_deref(), Some(store));
        self.opened(DeskWishes { file, answers, store, ..DeskWishes::default() })
    }

    /// Opens a desk with the book and the budget of these flags.
    fn opened(&self, wishes: DeskWishes) -> Result<Option<Desk>, Error> {
        let budget = Budget { money: self.budget, tokens: self.budget_tokens };
        let wishes = DeskWishes { calls: self.calls.as_deref(), budget, ..wishes };
        let desk = Desk::open(wishes, interrupt::shared())?;
        if let Some(desk) = &desk {
            // A bar that is drawn again and again makes room for the line.
            desk.tell_at_once(|note| {
                let clear = if error_redraws() { "\r\x1b[2K" } else { "" };
                say(format_args!("{clear}note: {note}"));
            });
        }
        Ok(desk)
    }

    /// Returns no desk, or an error if a flag needs one.
    fn mean_nothing_without(&self, what: &str) -> Result<Option<Desk>, Error> {
        let given = [
            ("--answers", self.answers.is_some()),
            ("--budget", self.budget.is_some()),
            ("--budget-tokens", self.budget_tokens.is_some()),
            ("--calls", self.calls.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(Error::usage(format!("{flag} means nothing without {what}"))),
            None => Ok(None),
        }
    }

    /// Parses the entries, names them, and opens the desk for the models among them.
    pub fn entries(&self, words: &[String]) -> Result<(Vec<EntrySpec>, Names, Option<Desk>), Error> {
        let desk = self.desk(words, Models::default(), None)?;
        let (entries, names) = entries(words, desk.as_ref())?;
        Ok((entries, names, desk))
    }
}

/// Prints what the calls of models cost, and anything that users should know about their endpoints.
pub fn tell_spent(desk: Option<&Desk>) {
    let Some(desk) = desk else { return };
    let cost = |tally: &Tally| tally.known_cost().map_or("?".to_owned(), |cost| cost.to_string());
    desk.take_notes().iter().for_each(|note| say(format_args!("note: {note}")));
    for (name, spent) in desk.spent() {
        let tokens = spent.made.tokens.input + spent.made.tokens.output;
        if spent.made.calls + spent.reused.calls + spent.lost.calls == 0 {
            continue;
        }
        let mut text = format!("{name}: {}", count(spent.made.calls, "call"));
        if spent.made.calls > 0 {
            text += &format!(" with {tokens} tokens, cost {}", cost(&spent.made));
        }
        if spent.reused.calls > 0 {
            text += &format!("; {} answered from {}", spent.reused.calls, the_book(Some(desk)));
        }
        if spent.lost.calls > 0 {
            let (lost, cost) = (spent.lost.calls, cost(&spent.lost));
            text += &format!("; {lost} lost on the way, which may have cost {cost}");
        }
        say(text);
    }
}

/// Names the book of calls: `the book llm.store.calls`.
pub fn the_book(desk: Option<&Desk>) -> String {
    desk.map_or("the book".to_owned(), |desk| format!("the book {}", desk.book().display()))
}

/// Adds a hint at `--dry-run` if a budget is too small for even one call.
pub fn hint_at_costs(desk: Option<&Desk>, error: Error) -> Error {
    let is_budget = |obstacle: &AskError| matches!(obstacle, AskError::Budget { .. });
    match desk.is_some_and(|desk| desk.obstacles().iter().any(is_budget)) {
        true => error.hint("--dry-run says what the whole run would cost"),
        false => error,
    }
}

/// Says how to find the same questions again after the seed was chosen at random.
pub fn again_with(seed: Seed) -> String {
    format!("run it again with --seed {seed}; calls that were kept are not paid again")
}

/// Returns the error after Ctrl-C. If models took part, a hint says how their answers are found again.
pub fn interrupted(desk: Option<&Desk>, seed: Seed) -> Error {
    let stopped = Error::interrupted();
    if desk.is_some() { stopped.hint(again_with(seed)) } else { stopped }
}

/// Adds hints on how to go on after models could not be asked, and what to correct first so that it does not fail again. `place`
/// says how far the run got.
pub fn how_to_go_on(desk: Option<&Desk>, error: Error, place: &str, again: &str) -> Error {
    if desk.is_some() && interrupt::shared().load(Ordering::Relaxed) {
        return Error::interrupted();
    }
    let obstacles = desk.map(Desk::obstacles).unwrap_or_default();
    let is_lacking = obstacles.iter().any(|obstacle| matches!(obstacle, AskError::NotKept(_)));
    let mut hints: Vec<String> = obstacles
        .into_iter()
        .filter_map(|obstacle| match obstacle {
            AskError::Stuck { hint, .. } => hint,
            AskError::Budget { raise, .. } => raise.map(|raise| raise.to_string()),
            AskError::NotKept(_) => {
                Some("--answers reuse asks for what is missing, --calls FILE names another book".to_owned())
            }
            _ => None,
        })
        .collect();
    hints.sort();
    hints.dedup();
    let again = match hints.is_empty() {
        _ if is_lacking || again.is_empty() => String::new(),
        true => again.to_owned(),
        false => format!("then {again}"),
    };
    let last: Vec<&str> = [place, &again].into_iter().filter(|part| !part.is_empty()).collect();
    hints.extend((!last.is_empty()).then(|| last.join(": ")));
    hints.into_iter().fold(error, Error::hint)
}

/// The flags for the confinement of programs.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Confinement of programs")]
pub struct SandboxFlags {
    /// How far programs are confined: full, strict, limits, or auto (the best there is, by default); see `necrodome doctor`
    #[arg(long, value_name = "LEVEL")]
    pub sandbox: Option<Wish>,
    /// A file or folder that all programs may read besides their own folder; can be repeated
    #[arg(long, value_name = "PATH")]
    pub share: Vec<PathBuf>,
    /// Let all programs reach the network, including this machine's own services
    #[arg(long)]
    pub allow_network: bool,
    /// Give all programs this environment variable, such as a key, from the environment or from a file .env in this folder; can be
    /// repeated
    #[arg(long, value_name = "NAME")]
    pub pass_env: Vec<String>,
}

impl SandboxFlags {
    /// Returns these flags combined with others. Where both set a level, these win.
    pub fn over(&self, other: Self) -> Self {
        SandboxFlags {
            sandbox: self.sandbox.or(other.sandbox),
            share: other.share.into_iter().chain(self.share.clone()).collect(),
            allow_network: self.allow_network || other.allow_network,
            pass_env: other.pass_env.into_iter().chain(self.pass_env.clone()).collect(),
        }
    }

    /// Returns how to start this program again, to supervise processes. If no program takes part, confinement is not tried.
    pub fn launcher(&self, entries: &[EntrySpec]) -> Result<Launcher, Error> {
        match has_processes(entries) {
            true => Ok(self.launcher_for_any()?.hiding(files_of(entries))),
            false => own_program(),
        }
    }

    /// Returns a launcher for programs that are not known yet.
    pub fn launcher_for_any(&self) -> Result<Launcher, Error> {
        let launcher = own_program()?;
        if let Some(missing) = self.share.iter().find(|path| !path.exists()) {
            return Err(Error::usage(format!("--share: there is no file or folder {missing:?}")));
        }
        if self.share.iter().any(|path| path.canonicalize().is_ok_and(|path| path.parent().is_none())) {
            return Err(Error::usage("--share: expected a file or folder, got / with everything in it"));
        }
        let wish = self.sandbox.unwrap_or_default();
        let confined = launcher.confined(wish).map_err(|error| {
            let better = Level::Strict.hint().unwrap_or("`necrodome doctor` says more");
            Error::usage(error.to_string()).hint(better)
        })?;
        let level = confined.level();
        if wish == Wish::Auto && level < Level::Strict {
            let hint = "`necrodome doctor` says why; run no strangers' programs like this";
            say(format_args!("warning: programs are confined by {} ({level}): {hint}", level.about()));
        }
        let wanted = Gifts { network: self.allow_network, environment: self.pass_env.clone() };
        let giving = confined.sharing(self.share.clone()).giving(Gifts::default().with(&wanted));
        let launcher = giving.map_err(|missing| {
            Error::usage(format!("--pass-env: there is no environment variable {missing}"))
                .hint(format!("set it, or write {missing}=... into a file .env in this folder"))
        })?;
        if !launcher.gifts().is_empty() {
            say(format_args!("all programs are given {}", launcher.gifts()));
        }
        Ok(launcher)
    }
}

/// The flags that allow a plan what it asks for. A plan may be a stranger's.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "What the plan's programs may do here")]
pub struct AllowFlags {
    /// The least confinement that you allow: full, strict (by default) or limits
    #[arg(long, value_name = "LEVEL")]
    sandbox: Option<Wish>,
    /// Let programs reach the network, if the plan says so
    #[arg(long)]
    allow_network: bool,
    /// Give programs this environment variable, if the plan says so; can be repeated
    #[arg(long, value_name = "NAME")]
    pass_env: Vec<String>,
    #[command(flatten)]
    most: LimitFlags,
}

impl AllowFlags {
    /// Returns what they allow.
    pub fn allowed(&self) -> Allowed {
        let gifts = Gifts { network: self.allow_network, environment: self.pass_env.clone() };
        Allowed::new(self.sandbox.unwrap_or_default(), gifts, self.most.over(Limits::default()))
    }
}

/// Returns a launcher with this program.
pub fn own_program() -> Result<Launcher, Error> {
    Ok(std::env::current_exe()?.into())
}

/// The flags for what programs may do and use.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ProgramFlags {
    #[command(flatten)]
    pub limits: LimitFlags,
    #[command(flatten)]
    pub sandbox: SandboxFlags,
}

/// The flags for the limits of programs.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Limits of programs")]
pub struct LimitFlags {
    /// Milliseconds of CPU time for a decision (500 by default)
    #[arg(long, value_name = "N", value_parser = above_zero::<u64>)]
    decision_ms: Option<u64>,
    /// Milliseconds of CPU time for all decisions of a match (20000)
    #[arg(long, value_name = "N", value_parser = above_zero::<u64>)]
    match_ms: Option<u64>,
    /// Milliseconds of wall-clock time in a match for which the bot may do nothing while the arena waits (10000)
    #[arg(long, value_name = "N", value_parser = above_zero::<u64>)]
    idle_ms: Option<u64>,
    /// Milliseconds of CPU time to start (10000)
    #[arg(long, value_name = "N", value_parser = above_zero::<u64>)]
    start_ms: Option<u64>,
    /// Megabytes of memory (1024)
    #[arg(long, value_name = "N", value_parser = above_zero::<u64>)]
    memory_mb: Option<u64>,
    /// Processes and threads (256)
    #[arg(long, value_name = "N", value_parser = above_zero::<u64>)]
    processes: Option<u64>,
    /// Open files (256)
    #[arg(long, value_name = "N", value_parser = above_zero::<u64>)]
    files: Option<u64>,
    /// Megabytes of each file that a bot writes, and of all its temporary files together (64)
    #[arg(long, value_name = "N", value_parser = above_zero::<u64>)]
    file_mb: Option<u64>,
    /// Bytes of a line (65536; 4194304 in Last Bullet)
    #[arg(long, value_name = "N", value_parser = above_zero::<usize>)]
    line_bytes: Option<usize>,
    /// How many times its CPU time a bot may take by the clock (4)
    #[arg(long, value_name = "N", value_parser = above_zero::<u32>)]
    wall_factor: Option<u32>,
    /// How often a bot is restarted after a fault before it is out (3)
    #[arg(long, value_name = "N", value_parser = within(0..=1000_u32))]
    restarts: Option<u32>,
    /// Millions of instructions of a .wasm bot for a decision (500)
    #[arg(long, value_name = "N", value_parser = above_zero::<u64>)]
    decision_fuel_m: Option<u64>,
    /// Millions of instructions of a .wasm bot for all decisions of a match (10000)
    #[arg(long, value_name = "N", value_parser = above_zero::<u64>)]
    match_fuel_m: Option<u64>,
    /// Millions of instructions of a .wasm bot to start (20000)
    #[arg(long, value_name = "N", value_parser = above_zero::<u64>)]
    start_fuel_m: Option<u64>,
    /// Megabytes of memory of a .wasm bot (256)
    #[arg(long, value_name = "N", value_parser = above_zero::<u64>)]
    wasm_memory_mb: Option<u64>,
}

impl LimitFlags {
    /// Returns `limits`, changed by the flags that are set.
    pub fn over(&self, limits: Limits) -> Limits {
        Limits {
            decision_ms: self.decision_ms.unwrap_or(limits.decision_ms),
            match_ms: self.match_ms.unwrap_or(limits.match_ms),
            idle_ms: self.idle_ms.unwrap_or(limits.idle_ms),
            start_ms: self.start_ms.unwrap_or(limits.start_ms),
            memory_mb: self.memory_mb.unwrap_or(limits.memory_mb),
            processes: self.processes.unwrap_or(limits.processes),
            files: self.files.unwrap_or(limits.files),
            file_mb: self.file_mb.unwrap_or(limits.file_mb),
            line_bytes: self.line_bytes.or(limits.line_bytes),
            wall_factor: self.wall_factor.unwrap_or(limits.wall_factor),
            restarts: self.restarts.unwrap_or(limits.restarts),
            decision_fuel_m: self.decision_fuel_m.unwrap_or(limits.decision_fuel_m),
            match_fuel_m: self.match_fuel_m.unwrap_or(limits.match_fuel_m),
            start_fuel_m: self.start_fuel_m.unwrap_or(limits.start_fuel_m),
            wasm_memory_mb: self.wasm_memory_mb.unwrap_or(limits.wasm_memory_mb),
        }
    }
}

/// Returns what players need to know before the first match.
pub fn terms<R>(rules: R, entries: &[EntrySpec], flags: &ProgramFlags) -> Result<Terms<R>, Error> {
    let limits = flags.limits.over(Limits::default());
    Ok(Terms { launcher: flags.sandbox.launcher(entries)?, limits, rules, seats: entries.len() })
}

/// Makes the players of one match. One of them can be a person.
pub fn players<G: Listed>(
    entries: &[EntrySpec],
    names: &Names,
    terms: &Terms<G::Rules>,
    dice: Dice,
) -> Result<Vec<Box<dyn Player<G>>>, Error> {
    if entries.iter().filter(|entry| entry.kind == EntryKind::Human).count() > 1 {
        return Err(Error::usage("only one human can play at this terminal"));
    }
    let seat = |(seat, (entry, name)): (usize, (&EntrySpec, &str))| {
        if entry.kind == EntryKind::Human {
            return Ok(Box::new(Human::<G>::new(&terms.rules, terms.seats)) as Box<dyn Player<G>>);
        }
        Ok(player::<G>(entry, name, terms, Seeded::new(dice.dice, "bot", seat as u64))?)
    };
    entries.iter().zip(names.iter()).enumerate().map(seat).collect()
}
