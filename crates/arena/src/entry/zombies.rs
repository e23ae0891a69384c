//! Bots of the contest "Save the last bullet for yourself", which ran on the JVM: `compat:zombies:Gunner.java`. Our own host program,
//! in Java, offers the contest's interface, speaks the bot protocol and asks the bot for each of its copies.

mod build;
mod classes;

use super::{EntryError, compat::PREFIX, missing};
use crate::process::Program;
use build::{Bot, Built};
use classes::Class;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The word for this kind after `compat:`.
pub(super) const KIND: &str = "zombies";
/// The host's class.
const HOST: &str = "zombie.Host";
/// The command that starts a JVM: quickly, with little memory, and with no output of its own on standard output.
const JAVA: [&str; 10] = [
    "java",
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Xshare:auto",
    "-XX:+DisplayVMOutputToStderr",
    "-Xlog:disable",
    "-Xlog:all=warning:stderr",
    "-Djava.awt.headless=true",
];
/// The libraries that the contest offered, as Debian installs them. Those that are installed are on the class path.
const LIBRARIES: [&str; 5] = [
    "/usr/share/java/guava.jar",
    "/usr/share/java/failureaccess.jar",
    "/usr/share/java/commons-io.jar",
    "/usr/share/java/commons-math3.jar",
    "/usr/share/java/commons-math.jar",
];
/// The most files, and the most bytes, that a bot may have. Some come with all their libraries.
const MOST_FILES: usize = 20_000;
const MOST_BYTES: u64 = 64 << 20;

/// A language of the contest other than Java.
#[derive(Debug, PartialEq, Eq)]
struct Language {
    extension: &'static str,
    name: &'static str,
    /// Debian's package.
    package: &'static str,
    /// Its libraries; the first must be installed.
    jars: &'static [&'static str],
    options: &'static [&'static str],
}

const SCALA: Language = Language {
    extension: "scala",
    name: "Scala",
    package: "scala",
    jars: &["/usr/share/java/scala-library.jar"],
    options: &[],
};
const SCRIPTS: [Language; 4] = [
    Language {
        extension: "js",
        name: "Rhino",
        package: "rhino",
        jars: &["/usr/share/java/js.jar"],
        options: &[],
    },
    Language {
        extension: "py",
        name: "Jython",
        package: "jython",
        jars: &["/usr/share/java/jython.jar"],
        options: &[
            "-Dpython.home=/usr/share/jython",
            "-Dpython.cachedir.skip=true",
            "-Dpython.import.site=false",
        ],
    },
    Language {
        extension: "rb",
        name: "JRuby",
        package: "jruby",
        jars: &["/usr/share/jruby/lib/jruby.jar"],
        // It warns where it may not look into them.
        options: &[
            "-Djruby.home=/usr/share/jruby",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-opens=java.base/java.io=ALL-UNNAMED",
        ],
    },
    Language {
        extension: "clj",
        name: "Clojure",
        package: "clojure",
        jars: &[
            "/usr/share/java/clojure.jar",
            "/usr/share/java/spec.alpha.jar",
            "/usr/share/java/core.specs.alpha.jar",
        ],
        options: &[],
    },
];

/// The parts that an entry consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Sources in Java, and also in Scala if that is given.
    Sources(Option<&'static Language>),
    /// Compiled classes, in a folder.
    Classes,
    /// Compiled classes, in a file.
    Jar,
    Script(&'static Language),
}

/// Returns the program that runs a bot: the class with that name, or the only one.
pub(super) fn program(path: &Path, class: Option<&str>) -> Result<Program, EntryError> {
    let refuse = |why| EntryError::Compat { text: format!("{PREFIX}{KIND}:{}", path.display()), why };
    let file = fs::canonicalize(path).map_err(missing(path))?;
    let files = if file.is_dir() { files_in(path)? } else { vec![regular(path)?] };
    let form = Form::of(&files, file.is_dir()).map_err(refuse)?;
    let files: Vec<PathBuf> = files.into_iter().filter(|file| form.takes(file)).collect();
    let language = match form {
        Form::Script(language) | Form::Sources(Some(language)) => Some(language),
        _ => None,
    };
    let jars = class_path(language)?;
    let Built { folder, classes } = build::built(&Bot { path, files: &files, form, class_path: &jars })?;
    let (bot, name) = match form {
        Form::Script(_) => {
            let text = String::from_utf8_lossy(&fs::read(&file).map_err(missing(path))?).into_owned();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            (build::script_name(path), class.map_or_else(|| registered(&text).unwrap_or(stem), str::to_owned))
        }
        _ => (build::BOT.to_owned(), chosen(&classes, path, class).map_err(refuse)?),
    };
    let host = [build::HOST_JAR].into_iter().chain(jars.iter().copied());
    let words = JAVA.into_iter().chain(language.map_or(&[][..], |language| language.options).iter().copied());
    let words = words.map(str::to_owned).chain(["-cp".to_owned(), host.collect::<Vec<_>>().join(":")]);
    Ok(Program {
        words: words.chain([HOST.to_owned(), bot, name]).collect(),
        folder,
        sources: vec![file],
        interpreter: None,
    })
}

/// Returns the name of a bot's class, or of the player that its script registers; `None` if the program is not such a bot.
pub(super) fn name_of(program: &Program) -> Option<&str> {
    let [.., host, bot, name] = program.words.as_slice() else { return None };
    match bot == build::BOT {
        _ if host != HOST => None,
        true => name.rsplit(['.', '$']).next(),
        false => Some(name),
    }
}

/// Returns a hash of what a bot consists of, whoever compiled it; `None` if the program is not such a bot.
pub(super) fn fingerprint(program: &Program) -> Option<String> {
    name_of(program)?;
    // Several bots may come from one folder.
    let class = program.words.last()?;
    Some(
        blake3::hash(format!("{} {class}", build::content_of(&program.folder)?).as_bytes())
            .to_hex()
            .to_string(),
    )
}

impl Form {
    fn of(files: &[PathBuf], is_folder: bool) -> Result<Form, String> {
        let has = |extension: &str| files.iter().any(|file| is(file, extension));
        let script = SCRIPTS.iter().find(|language| has(language.extension));
        match is_folder {
            _ if has("scala") => Ok(Form::Sources(Some(&SCALA))),
            _ if has("java") => Ok(Form::Sources(None)),
            true if has("class") => Ok(Form::Classes),
            false if has("jar") => Ok(Form::Jar),
            false if let Some(language) = script => Ok(Form::Script(language)),
            _ if has("fr") => Err("Frege is not run here: Debian has no package of it".to_owned()),
            true => Err("expected a folder with .java, .scala or .class files".to_owned()),
            false => Err("expected .java, .scala, .jar, .js, .py, .rb or .clj, or a folder".to_owned()),
        }
    }

    /// Whether a file of the folder is part of the bot. Compiled classes may come with files that they read.
    fn takes(self, file: &Path) -> bool {
        match self {
            Form::Sources(_) => is(file, "java") || is(file, "scala"),
            _ => true,
        }
    }
}

fn is(file: &Path, extension: &str) -> bool {
    file.extension().is_some_and(|own| own == extension)
}

/// Returns all files below a folder, sorted by name. It skips hidden files and the contest's own package, which the host provides.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, EntryError> {
    let (mut files, mut folders, mut bytes) = (Vec::new(), vec![folder.to_owned()], 0);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).map_err(missing(&next))? {
            let entry = entry.map_err(missing(&next))?;
            let (path, name) = (entry.path(), entry.file_name());
            if name.to_string_lossy().starts_with('.') || name == "zombie" {
                continue;
            }
            // Not through links: what they lead to is not the bot's, and would be copied to where it can read it.
            let data = entry.metadata().map_err(missing(&path))?;
            if data.is_dir() {
                folders.push(path);
            } else if data.is_file() {
                bytes += data.len();
                files.push(path);
            }
            if files.len() > MOST_FILES || bytes > MOST_BYTES {
                return Err(build::too_much(folder));
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the path if it is a regular file that is small enough to read.
fn regular(path: &Path) -> Result<PathBuf, EntryError> {
    let data = fs::metadata(path).map_err(missing(path))?;
    let refuse = |why: String| Err(EntryError::Unreadable { path: path.to_owned(), why });
    match data.is_file() {
        true if data.len() <= MOST_BYTES => Ok(path.to_owned()),
        true => refuse(format!("it has more than {} MB, which is more than a bot", MOST_BYTES >> 20)),
        false => refuse("it is not a file".to_owned()),
    }
}

/// Whether a folder holds more files or bytes than a bot may have, whatever their names.
fn is_too_much(folder: &Path) -> bool {
    let (mut files, mut folders, mut bytes) = (0, vec![folder.to_owned()], 0);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            let Ok(data) = entry.metadata() else { continue };
            if data.is_dir() {
                folders.push(entry.path());
            }
            files += 1;
            bytes += data.len();
        }
    }
    files > MOST_FILES || bytes > MOST_BYTES
}

/// Returns the libraries that are installed. It is an error if the language is not.
fn class_path(language: Option<&Language>) -> Result<Vec<&'static str>, EntryError> {
    let own = match language {
        Some(&Language { name, package, jars, .. }) if !Path::new(jars[0]).exists() => {
            return Err(EntryError::NoRuntime { name, file: jars[0], package });
        }
        own => own.map_or(&[][..], |language| language.jars),
    };
    Ok(own.iter().chain(&LIBRARIES).copied().filter(|jar| Path::new(jar).exists()).collect())
}

/// Returns the class that plays: the requested one, the one that the file is named after, or the only one.
fn chosen(classes: &[Class], path: &Path, wanted: Option<&str>) -> Result<String, String> {
    let players = classes::players(classes);
    let list = |players: &[&Class]| players.iter().map(|class| class.dotted()).collect::<Vec<_>>().join(", ");
    let named = |name: &str| -> Vec<&Class> {
        players.iter().copied().filter(|class| class.is_called(name)).collect()
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    match (wanted, players.as_slice()) {
        (_, []) => Err("no class in it implements zombie.Player".to_owned()),
        (Some(name), _) => match named(name).as_slice() {
            [] => Err(format!("there is no player {name:?} in it, but {}", list(&players))),
            [only] => Ok(only.dotted()),
            several => Err(format!("several players in it are called {name:?}: {}", list(several))),
        },
        (None, [only]) => Ok(only.dotted()),
        (None, _) if let [class] = named(&stem).as_slice() => Ok(class.dotted()),
        (None, _) => Err(format!("several players are in it; add one of them as :CLASS: {}", list(&players))),
    }
}

/// Returns the name under which a script registers its player, if that can be read without running the script.
fn registered(script: &str) -> Option<String> {
    let (_, behind) = script.split_once("registerPlayer")?;
    let quoted = behind.trim_start_matches([' ', '(', '\n', '\r', '\t']);
    let quote = quoted.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
    Some(quoted[1..].split_once(quote)?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_tell_under_which_name_they_play() {
        let name = |script| registered(script);
        assert_eq!(name(r#"PlayerRegistry.registerPlayer("Bee", Bee())"#).as_deref(), Some("Bee"));
        assert_eq!(
            name("with (Packages.zombie) { PlayerRegistry.registerPlayer(\n 'a b',").as_deref(),
            Some("a b")
        );
        assert_eq!(name("(zombie.PlayerRegistry/registerPlayer\n  \"Owl\" x)").as_deref(), Some("Owl"));
        assert_eq!(name("registerPlayer(name, x)"), None);
        assert_eq!(name("print('hello')"), None);
    }

    #[test]
    fn what_a_folder_holds_says_what_it_is() {
        let form = |files: &[&str], is_folder| {
            Form::of(&files.iter().map(PathBuf::from).collect::<Vec<_>>(), is_folder)
        };
        assert_eq!(form(&["a/Bot.java", "a/read.me"], true), Ok(Form::Sources(None)));
        assert_eq!(form(&["Bot.java", "Help.scala"], true), Ok(Form::Sources(Some(&SCALA))));
        assert_eq!(form(&["Bot.class", "words.txt"], true), Ok(Form::Classes));
        assert_eq!(form(&["bots.jar"], false), Ok(Form::Jar));
        assert_eq!(form(&["bee.py"], false), Ok(Form::Script(&SCRIPTS[1])));
        assert!(form(&["bee.py"], true).unwrap_err().contains("a folder with .java"));
        assert!(form(&["Owl.fr"], false).unwrap_err().contains("Frege"));
        assert!(form(&["Owl.c"], false).unwrap_err().contains("expected .java"));
    }
}
