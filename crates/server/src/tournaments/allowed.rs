//! `bots.toml`: the programs that the host allows in tournaments. Pages refer to them by name; commands and files stay on the server.

use necrodome_arena::{
    entry::{EntryError, EntryKind, EntrySpec},
    fault::hinted,
    lineup,
};
use necrodome_rules::misread::{Format, Misread};
use necrodome_rules::{
    catalog::{GameId, UnknownGame},
    names::Names,
    with_game,
};
use serde::Deserialize;
use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
};
use toml::Spanned;

/// Why a list of bots cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}{}: {why}", path.display(), line.map(|line| format!(", line {line}")).unwrap_or_default())]
pub struct BotsError {
    path: PathBuf,
    line: Option<usize>,
    why: String,
}

/// The programs that the host allows.
#[derive(Debug, Default)]
pub(crate) struct Allowed(Vec<AllowedBot>);

#[derive(Debug)]
struct AllowedBot {
    name: String,
    kind: EntryKind,
    games: Vec<GameId>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    bot: Vec<Line>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    name: Spanned<String>,
    run: Spanned<String>,
    /// The games that it plays. Empty means all games.
    #[serde(default)]
    games: Vec<Spanned<String>>,
}

impl Allowed {
    /// Reads a list. Its programs are relative to the folder of the file.
    pub fn read(path: &Path) -> Result<Self, BotsError> {
        let refuse = |line, why: String| BotsError { path: path.to_owned(), line, why };
        let text = fs::read_to_string(path).map_err(|error| refuse(None, error.to_string()))?;
        let line_of =
            |span: Range<usize>| Some(1 + text.get(..span.start).unwrap_or_default().matches('\n').count());
        let file: File = toml::from_str(&text).map_err(|error| {
            let why = Misread::new(error.message(), Format::Toml).to_string();
            refuse(error.span().and_then(line_of), why)
        })?;
        // Of a bare `bots.toml` the parent is empty, and nothing can be started in a folder without a name.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut allowed = Allowed::default();
        for line in file.bot {
            let at = |span: Range<usize>| move |why: String| (span, why);
            let bot = allowed
                .check_name(line.name.get_ref())
                .map_err(at(line.name.span()))
                .and_then(|()| games(&line))
                .and_then(|games| {
                    unlike_built_ins(line.name.get_ref(), &games).map_err(at(line.name.span()))?;
                    let kind = program(line.run.get_ref(), folder).map_err(at(line.run.span()))?;
                    Ok(AllowedBot { name: line.name.get_ref().clone(), kind, games })
                });
            allowed.0.push(bot.map_err(|(span, why)| refuse(line_of(span), why))?);
        }
        Ok(allowed)
    }

    fn check_name(&self, name: &str) -> Result<(), String> {
        Names::new([name]).map_err(|error| format!("name: {error}"))?;
        if name.contains([':', '=', '/', ',']) || name == "human" {
            return Err(format!("name: expected a word without : = / or , that is not human, got {name:?}"));
        }
        if self.0.iter().any(|bot| bot.name.eq_ignore_ascii_case(name)) {
            return Err(format!("name: there is another bot {name:?} in this file"));
        }
        Ok(())
    }

    /// Returns the names of the programs that play a game.
    pub fn names(&self, game: GameId) -> Vec<String> {
        self.0.iter().filter(|bot| bot.games.contains(&game)).map(|bot| bot.name.clone()).collect()
    }

    /// Returns the program of this name as an entry, or `None` if it is not allowed in this game.
    pub fn entry(&self, game: GameId, name: &str) -> Option<EntrySpec> {
        let bot = self.0.iter().find(|bot| bot.name == name && bot.games.contains(&game))?;
        Some(EntrySpec { name: None, text: name.to_owned(), kind: bot.kind.clone() })
    }
}

/// Returns the games of a bot, or where they are wrong and why.
fn games(line: &Line) -> Result<Vec<GameId>, (Range<usize>, String)> {
    if line.games.is_empty() {
        return Ok(GameId::ALL.into());
    }
    let game = |written: &Spanned<String>| {
        let game = written.get_ref().parse();
        game.map_err(|unknown: UnknownGame| (written.span(), format!("games: {unknown}")))
    };
    line.games.iter().map(game).collect()
}

/// Refuses the name of a built-in bot: a name must have only one meaning.
fn unlike_built_ins(name: &str, games: &[GameId]) -> Result<(), String> {
    let taken = |&&game: &&GameId| {
        let built_ins = with_game!(game, G => lineup::bots::<G>());
        built_ins.iter().any(|bot| bot.name.eq_ignore_ascii_case(name))
    };
    match games.iter().find(taken) {
        Some(game) => Err(format!("name: {game} has a built-in bot {name:?}, choose another name")),
        None => Ok(()),
    }
}

/// Reads the command or file of a program.
fn program(run: &str, folder: &Path) -> Result<EntryKind, String> {
    let entry = EntrySpec::parse(run, folder).and_then(|entry| entry.check().map(|()| entry));
    let refuse =
        |error: EntryError| hinted(&format!("run: {error}"), error.hints().first().map(String::as_str));
    match entry.map_err(refuse)?.kind {
        kind @ (EntryKind::Program(_) | EntryKind::Wasm(_)) => Ok(kind),
        EntryKind::BuiltIn(_) | EntryKind::Guest(_) | EntryKind::Model(_) | EntryKind::Human => Err(format!(
            "run: expected a file such as ./{run}.py, cmd: and a command, or compat:KIND:FILE.py:CLASS, got {run:?}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn read(text: &str) -> Result<Allowed, String> {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("ada.py"), "").unwrap();
        let path = folder.path().join("bots.toml");
        fs::write(&path, text).unwrap();
        Allowed::read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn bots_are_called_by_name_in_their_games() {
        let text = "[[bot]]\nname = \"ada\"\nrun = \"./ada.py\"\ngames = [\"infection\"]\n\
                    [[bot]]\nname = \"bob\"\nrun = \"cmd:sh -c true\"\n";
        let allowed = read(text).unwrap();
        assert_eq!(allowed.names(GameId::Infection), ["ada", "bob"]);
        assert_eq!(allowed.names(GameId::ZombieDice), ["bob"]);
        let EntryKind::Program(ada) = allowed.entry(GameId::Infection, "ada").unwrap().kind else { panic!() };
        assert!(ada.words[2].ends_with("ada.py"));
        assert!(allowed.entry(GameId::ZombieDice, "ada").is_none());
        assert!(read("").unwrap().names(GameId::Infection).is_empty());
    }

    #[test]
    fn mistakes_name_the_line_and_what_was_expected() {
        let bot = |name: &str, run: &str, games: &str| {
            format!("# Ours\n[[bot]]\nname = {name:?}\nrun = {run:?}\ngames = [{games}]\n")
        };
        for (text, line, message) in [
            (bot("ada", "./nowhere.py", ""), 4, "there is no file"),
            (bot("ada", "greedy", ""), 4, "expected a file such as"),
            (
                bot("ada", "./ada.py", "\"chess\""),
                5,
                "there is no game \"chess\": expected one of zombie-dice",
            ),
            (bot("greedy", "./ada.py", "\"zombie-dice\""), 3, "built-in bot"),
            (bot("a:b", "./ada.py", ""), 3, "without :"),
            (bot("human", "./ada.py", ""), 3, "not human"),
            (bot("ada", "./ada.py", "") + &bot("Ada", "./ada.py", ""), 8, "another bot"),
            ("[[bot]]\nname = \"ada\"\n".to_owned(), 1, "run"),
            ("[[bot]]\nnames = \"ada\"\n".to_owned(), 2, "names"),
            ("bot = \n".to_owned(), 1, ""),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.contains(&format!("bots.toml, line {line}: ")), "{text}: {error}");
            assert!(error.contains(message) && error.lines().count() == 1, "{text}: {error}");
        }
        let missing = Allowed::read(Path::new("/nowhere/bots.toml")).unwrap_err().to_string();
        assert!(missing.contains("/nowhere/bots.toml: "), "{missing}");
    }
}
