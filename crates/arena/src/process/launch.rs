//! Starts a bot: the arena starts its own program again, with an order in the environment.

use super::{
    Limits, Program,
    sandbox::{self, Level, LevelError, Sight, Walls, Wish},
    supervise,
};
use nix::unistd::{close, getpid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    ffi::OsString,
    fmt, fs, io,
    os::fd::RawFd,
    path::{Path, PathBuf},
    process::Command,
};

/// How the arena starts its own program again to supervise a bot, and how strictly it confines the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    program: PathBuf,
    words: Vec<OsString>,
    /// The level, or `None` for the best there is, which is determined when the first bot starts.
    level: Option<Level>,
    sight: Sight,
    gifts: Gifts,
    /// The environment variables among the gifts.
    variables: Vec<(String, OsString)>,
}

/// Returns the value of an environment variable, or of a line of `.env`.
fn value_of(name: &str) -> Option<OsString> {
    // Not every text is a name.
    if name.is_empty() || name.contains(['=', '\0']) {
        return None;
    }
    let kept = || dotenvy::from_path_iter(".env").ok()?.flatten().find(|(key, _)| key == name);
    std::env::var_os(name).or_else(|| kept().map(|(_, value)| value.into()))
}

/// What the host gives to all programs, which they would not have otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gifts {
    /// Whether they can reach the network, including this machine's own services.
    pub network: bool,
    /// The environment variables of the host that they get, by name.
    pub environment: Vec<String>,
}

impl Gifts {
    /// Whether there are no gifts.
    pub fn is_empty(&self) -> bool {
        !self.network && self.environment.is_empty()
    }

    /// Returns these gifts and others.
    pub fn with(mut self, others: &Self) -> Self {
        self.network |= others.network;
        self.environment.extend(others.environment.iter().cloned());
        self.environment.sort();
        self.environment.dedup();
        self
    }
}

/// In words, for reports: "the network and the environment variable KEY".
impl fmt::Display for Gifts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables = match self.environment.as_slice() {
            [] => None,
            [one] => Some(format!("the environment variable {one}")),
            all => Some(format!("the environment variables {}", all.join(", "))),
        };
        let all: Vec<String> =
            self.network.then(|| "the network".to_owned()).into_iter().chain(variables).collect();
        f.write_str(&all.join(" and "))
    }
}

impl Launcher {
    /// Returns a launcher for a program that needs some words before those of a stage, as an interpreter does.
    pub fn new(program: impl Into<PathBuf>, words: impl IntoIterator<Item = OsString>) -> Self {
        Launcher {
            program: program.into(),
            words: words.into_iter().collect(),
            level: None,
            sight: Sight::default(),
            gifts: Gifts::default(),
            variables: Vec::new(),
        }
    }

    /// Gives bots these gifts, too. The values of variables come from the environment, or else from a file `.env` in the current folder, where
    /// programs that ask a service keep their keys. The error is the name of a variable that is in neither.
    pub fn giving(mut self, gifts: Gifts) -> Result<Self, String> {
        for name in &gifts.environment {
            let value = value_of(name).ok_or_else(|| name.clone())?;
            self.variables.push((name.clone(), value));
        }
        self.gifts = gifts;
        Ok(self)
    }

    /// Returns what bots get beyond the usual.
    pub fn gifts(&self) -> &Gifts {
        &self.gifts
    }

    /// Returns the same launcher with the requested confinement, if this machine offers it.
    pub fn confined(self, wish: Wish) -> Result<Self, LevelError> {
        let level = Level::granted(&self, wish)?;
        Ok(self.at(level))
    }

    pub(crate) fn at(self, level: Level) -> Self {
        Launcher { level: Some(level), ..self }
    }

    /// Returns how strictly bots are confined.
    pub fn level(&self) -> Level {
        self.level.unwrap_or_else(|| Level::best(self))
    }

    /// Lets bots read these files and folders, too.
    pub fn sharing(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        // As seen from here: the stages are in the bot's folder.
        self.sight.shared.extend(paths.into_iter().filter_map(|path| path.canonicalize().ok()));
        self
    }

    /// Hides these files and folders from every bot, even inside its own folder, except for its own program.
    pub fn hiding(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.sight.hidden.extend(paths.into_iter().filter_map(|path| path.canonicalize().ok()));
        self
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.words);
        command
    }

    /// Returns the command that supervises a bot, with a temporary folder and a control group, if it has them. The bot inherits the command's
    /// environment, except for the order. The host's gifts are not in it, since variables can change how a program is loaded.
    pub(super) fn supervise(
        &self,
        program: &Program,
        limits: &Limits,
        (temporary, group): (Option<&Path>, Option<&Path>),
    ) -> io::Result<Command> {
        let folder = program.folder.canonicalize()?;
        let level = self.level();
        let inside = |path: &&PathBuf| path.starts_with(&folder);
        let order = Order {
            arena: getpid().as_raw(),
            level,
            resources: limits.resources(level),
            processes: limits.processes,
            temporary_bytes: limits.file_mb.saturating_mul(1 << 20),
            temporary: temporary.map(Path::to_owned),
            group: group.map(Path::to_owned),
            news: None,
            words: program.command(),
            shared: self.sight.shared.clone(),
            hidden: self.sight.hidden.iter().filter(inside).cloned().collect(),
            network: self.gifts.network,
            variables: self.variables.clone(),
            folder,
            launcher: (self.program.clone(), self.words.clone()),
        };
        let mut command = order.stage(SUPERVISE)?;
        let own: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_owned(), value.map(OsString::from))).collect();
        command
            .env_clear()
            .envs(ENVIRONMENT.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
            .env("PYTHONUNBUFFERED", "1");
        command.envs(own.into_iter().filter_map(|(name, value)| Some((name, value?))));
        Ok(command)
    }
}

impl From<PathBuf> for Launcher {
    fn from(program: PathBuf) -> Self {
        Launcher::new(program, [])
    }
}

impl From<&str> for Launcher {
    fn from(program: &str) -> Self {
        Launcher::new(program, [])
    }
}

/// The resource limits of a bot's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Resources {
    /// Bytes of private memory of a process.
    pub memory: u64,
    /// Processes and threads of the user in the bot's namespace or, without one, on the machine. Not enforced for root.
    pub processes: u64,
    /// Open files of a process.
    pub files: u64,
    /// Bytes in a file that a process writes.
    pub file_size: u64,
}

/// The order for a stage. It travels in the environment, which no bot can read; a command line is visible to all.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Order {
    /// The process that gave the order.
    pub arena: i32,
    /// How strictly the bot is confined.
    pub level: Level,
    /// The limits of each of its processes.
    pub resources: Resources,
    /// The most processes besides its first.
    pub processes: u64,
    /// Bytes of its temporary folder.
    pub temporary_bytes: u64,
    /// Its temporary folder, once it has one.
    pub temporary: Option<PathBuf>,
    /// Its control group, if it has one.
    pub group: Option<PathBuf>,
    /// The pipe on which the last stage tells the supervisor why it cannot become the bot.
    pub news: Option<RawFd>,
    /// Its command.
    pub words: Vec<String>,
    /// The folder it runs in.
    pub folder: PathBuf,
    /// Files and folders that bots may read beyond the usual.
    pub shared: Vec<PathBuf>,
    /// Files and folders in its folder that the bot must not see.
    pub hidden: Vec<PathBuf>,
    /// Whether it can reach the network.
    pub network: bool,
    /// Environment variables that the host gives it.
    pub variables: Vec<(String, OsString)>,
    /// The command that starts the next stage.
    pub launcher: (PathBuf, Vec<OsString>),
}

/// The environment variables that bots get.
const ENVIRONMENT: [&str; 7] = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "JAVA_HOME", "TMPDIR"];
/// The environment variable with the order.
const ORDER: &str = "NECRODOME_ORDER";

impl Order {
    /// Returns the command of a stage with this order.
    pub(super) fn stage(&self, stage: &str) -> io::Result<Command> {
        let (program, words) = &self.launcher;
        let mut command = Launcher::new(program, words.iter().cloned()).command();
        command.arg(stage).env(ORDER, serde_json::to_string(self)?);
        Ok(command)
    }

    /// Returns everything that the bot may read.
    pub(super) fn readable(&self) -> Vec<PathBuf> {
        let program =
            Program { words: self.words.clone(), folder: self.folder.clone(), ..Program::default() };
        let sight = Sight { shared: self.shared.clone(), hidden: self.hidden.clone(), network: self.network };
        sandbox::readable(&program, &sight)
    }

    /// Takes everything that bots do not get from this process.
    pub(super) fn give_up(&self, readable: &[PathBuf]) -> io::Result<()> {
        let own_files = self.level == Level::Full;
        let folder = Some(self.folder.as_path()).filter(|folder| !sandbox::is_common(folder));
        let network = self.network;
        let walls = |temporary| Walls { readable, folder, temporary, own_files, network };
        let walls = self.temporary.as_deref().map(walls);
        sandbox::close(&self.resources, walls.as_ref())
    }

    /// Returns the bot's own command.
    pub(super) fn program(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).env_remove(ORDER).envs(self.variables.iter().cloned());
        if let Some(folder) = &self.temporary {
            command.env("TMPDIR", folder);
        }
        command
    }
}

/// The hidden command of the process that the arena starts.
const SUPERVISE: &str = "__supervise";
/// The hidden command of the first process in new namespaces.
pub(super) const FIRST: &str = "__first";
/// The hidden command of the last stage before a bot without namespaces.
pub(super) const ENTER: &str = "__enter";

/// Runs a stage, if the command line asks for one. Call it first in `main`: a stage does not return.
pub fn run_stage() {
    if let Some(stage) = std::env::args_os().nth(1) {
        run_stage_named(&stage);
    }
}

/// Runs the stage with this name, if there is one, with the order in the environment.
pub fn run_stage_named(stage: &std::ffi::OsStr) {
    let run: fn(&Order) -> i32 = match stage.to_str() {
        Some(SUPERVISE) => supervise::supervise,
        Some(FIRST) => supervise::first,
        Some(ENTER) => supervise::enter,
        _ => return,
    };
    let order: Option<Order> = std::env::var(ORDER).ok().and_then(|text| serde_json::from_str(&text).ok());
    let Some(order) = order else { std::process::exit(1) };
    close_all_but(&[0, 1, 2, order.news.unwrap_or(0)]);
    std::process::exit(run(&order));
}

/// Closes files that were open when the arena was started, so that bots do not get them.
fn close_all_but(kept: &[RawFd]) {
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open: Vec<RawFd> = open.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in open.into_iter().filter(|number| !kept.contains(number)) {
        // One of them was the folder that was read, and is closed already.
        let _ = close(number);
    }
}
