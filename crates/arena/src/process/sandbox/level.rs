//! The levels of confinement: what users can ask for, and what this machine can do.

use crate::process::{Ending, How, Launcher, Limits, Process, Program};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    fmt, fs,
    path::PathBuf,
    str::FromStr,
    sync::OnceLock,
    time::{Duration, Instant},
};

/// How strictly bots are confined, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Resource limits only: a bot can read what the user can read.
    Limits,
    /// Landlock and seccomp too: a bot reads its own folder and the system, writes only to its own temporary folder, and has no network.
    Strict,
    /// Namespaces as well: a bot sees no other process and no other file.
    Full,
}

impl Level {
    /// Returns the name that users write and read.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Limits => "limits",
            Level::Strict => "strict",
            Level::Full => "full",
        }
    }

    /// Says in a few words what the level means.
    pub fn about(self) -> &'static str {
        match self {
            Level::Limits => "resource limits only",
            Level::Strict => "Landlock, seccomp and resource limits",
            Level::Full => "namespaces, Landlock, seccomp and resource limits",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The confinement that a user asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wish {
    /// The best that this machine offers.
    #[default]
    Auto,
    /// This level; if it is not available, nothing starts.
    Named(Level),
}

impl FromStr for Wish {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = |level: &Level| level.as_str() == text;
        match [Level::Full, Level::Strict, Level::Limits].iter().find(|level| named(level)) {
            Some(level) => Ok(Wish::Named(*level)),
            None if text == "auto" => Ok(Wish::Auto),
            None => Err(format!("expected full, strict, limits or auto, got {text:?}")),
        }
    }
}

/// The error for a level that this machine does not reach.
#[derive(Debug, Clone, thiserror::Error)]
#[error("this machine cannot confine bots as asked (sandbox {level}): {why}")]
pub struct LevelError {
    /// The level.
    pub level: Level,
    /// The reason.
    pub why: String,
}

/// `Ok` if the machine reaches a level, or the reason why not.
pub type Reach = Result<(), String>;

impl Level {
    /// Tries the level with a real program, once per process of the arena.
    pub fn reached(self, launcher: &Launcher) -> &'static Reach {
        static FULL: OnceLock<Reach> = OnceLock::new();
        static STRICT: OnceLock<Reach> = OnceLock::new();
        match self {
            Level::Full => FULL.get_or_init(|| attempt(launcher, self)),
            Level::Strict => STRICT.get_or_init(|| attempt(launcher, self)),
            Level::Limits => &Ok(()),
        }
    }

    /// Returns the best level of this machine.
    pub fn best(launcher: &Launcher) -> Self {
        let levels = [Level::Full, Level::Strict];
        levels.into_iter().find(|level| level.reached(launcher).is_ok()).unwrap_or(Level::Limits)
    }

    /// Returns the level for a wish.
    pub(in crate::process) fn granted(launcher: &Launcher, wish: Wish) -> Result<Self, LevelError> {
        match wish {
            Wish::Auto => Ok(Level::best(launcher)),
            Wish::Named(level) => match level.reached(launcher) {
                Ok(()) => Ok(level),
                Err(why) => Err(LevelError { level, why: why.clone() }),
            },
        }
    }

    /// Says how to get more than this level, if that is known.
    pub fn hint(self) -> Option<&'static str> {
        let says = |file: &str, value: &str| fs::read_to_string(file).is_ok_and(|text| text.trim() == value);
        if self == Level::Full {
            return None;
        }
        if says("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
            return Some(
                "AppArmor forbids user namespaces: `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0` \
                 allows them, or an AppArmor profile for necrodome with `userns,`",
            );
        }
        if says("/proc/sys/kernel/unprivileged_userns_clone", "0") {
            return Some("`sudo sysctl kernel.unprivileged_userns_clone=1` allows user namespaces");
        }
        if says("/proc/sys/user/max_user_namespaces", "0") {
            return Some("`sudo sysctl user.max_user_namespaces=10000` allows user namespaces");
        }
        let contained = ["/.dockerenv", "/run/.containerenv"].iter().any(|file| PathBuf::from(file).exists());
        contained.then_some(
            "a container forbids namespaces by default: start it with --security-opt seccomp=unconfined \
             --security-opt systempaths=unconfined, or run necrodome outside",
        )
    }
}

/// How long a program that ends at once may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a program that ends at once, exactly as the arena starts a bot.
fn attempt(launcher: &Launcher, level: Level) -> Reach {
    let program = Program {
        words: vec!["/bin/sh".into(), "-c".into(), ":".into()],
        folder: "/".into(),
        ..Program::default()
    };
    let launcher = launcher.clone().at(level);
    let mut process = Process::spawn(&launcher, &program, &Limits::default(), usize::MAX >> 1)
        .map_err(|error| format!("the arena's own program cannot be started: {error}"))?;
    // A machine under load must not make bots less confined.
    let ended = process.end_input().or_else(|| process.ended_by(Instant::now() + PATIENCE));
    let said = String::from_utf8_lossy(process.log()).trim().to_owned();
    match ended {
        Some(Ending { how: How::Exited(0), .. }) => Ok(()),
        Some(_) if !said.is_empty() => Err(said),
        Some(ending) => Err(format!("a program that does nothing ended otherwise: {ending:?}")),
        None => Err("a program that does nothing did not end".into()),
    }
}
