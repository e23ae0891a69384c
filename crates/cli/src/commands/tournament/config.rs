//! What the flags and the TOML file say together.

use super::Args;
use crate::{error::Error, lineup};
use necrodome_arena::{entry::moved_to, process::Limits};
use necrodome_rules::catalog::{GameId, Listed};
use serde::Deserialize;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A tournament as a file describes it; flags come on top.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub game: String,
    pub bots: Vec<String>,
    pub blocks: Option<u32>,
    pub seed: Option<u64>,
    pub format: Option<String>,
    pub seats: Option<usize>,
    pub until_decided: bool,
    pub store: Option<PathBuf>,
    pub options: toml::Table,
    pub limits: Option<Limits>,
    /// What to call the last bot, if it comes with the program.
    #[serde(skip)]
    pub bundled: Option<&'static str>,
    /// `--set` from the command line.
    #[serde(skip)]
    pub settings: Vec<String>,
}

impl Config {
    pub fn read(args: &Args) -> Result<Self, Error> {
        let mut config = if args.game.ends_with(".toml") {
            Self::from_file(Path::new(&args.game))?
        } else {
            Config { game: args.game.clone(), ..Config::default() }
        };
        config.bots.extend(args.bots.iter().cloned());
        config.blocks = args.blocks.or(config.blocks);
        config.seed = args.seed.or(config.seed);
        config.format = args.format.clone().or(config.format);
        config.seats = args.seats.or(config.seats);
        config.store = args.store.clone().or(config.store);
        config.settings.clone_from(&args.set);
        Ok(config)
    }

    fn from_file(path: &Path) -> Result<Self, Error> {
        let refuse = |why: String| Error::Usage(format!("{}: {why}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
        let mut config: Config = toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = 1 + before.matches('\n').count();
            refuse(format!("line {line}: {}", error.message().replace('\n', " ")))
        })?;
        if config.game.is_empty() {
            return Err(refuse("expected game = \"...\"".into()));
        }
        if config.blocks == Some(0) {
            return Err(refuse("blocks: expected at least 1".into()));
        }
        // Files are named as seen from the file.
        let folder = path.parent().unwrap_or(Path::new("."));
        for bot in &mut config.bots {
            *bot = moved_to(folder, bot);
        }
        config.store = config.store.map(|store| folder.join(store));
        Ok(config)
    }

    /// The rules: options of the file, then `--set`.
    pub fn rules<G: Listed>(&self) -> Result<G::Rules, Error> {
        let plain = |value: &toml::Value| match value {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let mut settings: Vec<String> =
            self.options.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
        let set = |name: &str| self.settings.iter().any(|setting| setting.split('=').next() == Some(name));
        settings.retain(|setting| !setting.split('=').next().is_some_and(set));
        settings.extend(self.settings.iter().cloned());
        lineup::rules::<G>(&settings)
    }

    /// Some bots to look at, one of them in Python where Python is. Its file lives as long as what is returned.
    pub fn default_line_up(&mut self, game: GameId) -> Result<Option<tempfile::TempDir>, Error> {
        let (built_ins, python): (&[&str], _) = match game {
            GameId::ZombieDice | GameId::ZombieDiceRace | GameId::ZombieDiceSolo => {
                let bots = &["greedy", "cautious", "random", "stop-at:brains=5,shotguns=2"];
                (bots, include_str!("../../../../../bots/python/zombie_dice.py"))
            }
            GameId::LastBullet => (
                &["gunner", "runner", "huddle", "wander", "stand-still"],
                include_str!("../../../../../bots/python/last_bullet.py"),
            ),
            GameId::Infection => (
                &["careful", "spreader", "random", "careful:reserve=3", "spreader:dose=2"],
                include_str!("../../../../../bots/python/infection.py"),
            ),
            GameId::Tokyo => {
                (&["angry", "point-hunter", "random"], include_str!("../../../../../bots/python/tokyo.py"))
            }
        };
        self.bots = built_ins.iter().map(|&bot| bot.to_owned()).collect();
        let path = std::env::var_os("PATH").unwrap_or_default();
        if !std::env::split_paths(&path).any(|folder| folder.join("python3").is_file()) {
            eprintln!("note: python3 is not there, so the line-up has no Python bot");
            return Ok(None);
        }
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("bot.py");
        fs::write(&file, python)?;
        self.bots.push(format!("python={}", file.display()));
        self.bundled = Some("the bundled Python bot");
        Ok(Some(folder))
    }
}
