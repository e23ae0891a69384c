//! Entries, as users write them: `greedy`, `stop-at:brains=5`, `./mybot.py`, `./mybot.wasm`, `wasm:mybot.py`, `cmd:python3 -u bot.py --fast`,
//! `compat:zombiedice:my_bots.py:MyZombie`, `compat:zombies:Gunner.java`, `llm:NAME`, `human`, each with an optional `name=` in front.

pub mod compat;
mod interpreted;
mod interpreter;
mod zombies;

pub use interpreter::{version_of, versions};

use crate::{
    diagnosis::{how_to_get, of_extension},
    guest::Invitation,
    model::{self, ModelEntry, NoModel},
    process::Program,
    wasm,
};
use necrodome_models::{Desk, ModelError};
use necrodome_rules::{
    bot::BotSpec,
    names::{MAX_NAME, Names, SetupError},
    options::OptionError,
};
use std::{
    fs,
    io::{ErrorKind, Read},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// An entry, as a user wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntrySpec {
    /// The name in front, if there was one.
    pub name: Option<String>,
    /// The entry as the user wrote it.
    pub text: String,
    /// The kind of entry.
    pub kind: EntryKind,
}

/// The kinds of entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    /// A built-in bot.
    BuiltIn(BotSpec),
    /// An external program.
    Program(Program),
    /// A WebAssembly module, which the arena runs itself.
    Wasm(wasm::Module),
    /// A player inside the program that runs the arena.
    Guest(Invitation),
    /// A language model.
    Model(ModelEntry),
    /// A person at this terminal.
    Human,
}

impl EntryKind {
    /// Whether it is a program, perhaps a stranger's, that might try to compute what it is not told.
    pub fn is_program(&self) -> bool {
        matches!(self, EntryKind::Program(_) | EntryKind::Wasm(_))
    }

    /// Whether the same player stays from match to match, and could remember them.
    pub fn remembers(&self) -> bool {
        matches!(self, EntryKind::Program(_) | EntryKind::Wasm(_) | EntryKind::Guest(_))
    }
}

/// The reason why an entry cannot take part.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// The file does not exist.
    #[error("there is no file {path:?}")]
    NoFile {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read, or is not a file.
    #[error("cannot read {path:?}: {why}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The arena cannot tell how to run the file.
    #[error(
        "cannot tell how to run {path:?}: expected .py, .js, .mjs, .rb, .jar, .java, .wasm or an executable file"
    )]
    NoRunner {
        /// The file.
        path: PathBuf,
    },
    /// The bot is a file in this folder.
    #[error("{path:?} is a folder")]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// The file would run if it were executable.
    #[error("{path:?} is not executable")]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// The program that runs the entry is not installed.
    #[error("there is no {runner} on this machine, which runs {text}")]
    NoProgram {
        /// The missing program.
        runner: String,
        /// The entry.
        text: String,
    },
    /// The file is not a WebAssembly module that could play.
    #[error("cannot run {path:?}: {why}")]
    Wasm {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: wasm::BadModule,
    },
    /// `wasm:` without the interpreter installed.
    #[error("there is no {interpreter:?}, which runs {text}")]
    NoInterpreter {
        /// The interpreter's file.
        interpreter: PathBuf,
        /// The entry.
        text: String,
    },
    /// `cmd:` with nothing after it, or with an open quote.
    #[error("bad command {text:?}: {why}")]
    Command {
        /// The command.
        text: String,
        /// What is wrong.
        why: String,
    },
    /// `compat:` with something other than a kind, a file and a class.
    #[error("bad entry {text:?}: {why}")]
    Compat {
        /// The entry.
        text: String,
        /// What is wrong.
        why: String,
    },
    /// `compat:` without the Python package installed.
    #[error("{python} has no package necrodome, which runs compat: bots")]
    NoPackage {
        /// The interpreter.
        python: String,
    },
    /// `compat:` without Python installed.
    #[error("there is no {python}, which runs compat: bots")]
    NoPython {
        /// The interpreter.
        python: String,
    },
    /// `compat:zombies` without a program that it needs to run or compile bots.
    #[error("there is no {name} here ({file} is missing)")]
    NoRuntime {
        /// Its name.
        name: &'static str,
        /// The file that the arena looked for.
        file: &'static str,
        /// Debian's package for it.
        package: &'static str,
    },
    /// A compiler rejects a bot.
    #[error("{tool} does not take {path:?}:\n{said}")]
    Compiler {
        /// The compiler.
        tool: &'static str,
        /// The file or folder to compile.
        path: PathBuf,
        /// The compiler's message.
        said: String,
    },
    /// Compiled bots cannot be stored.
    #[error("cannot keep compiled bots in {path:?}: {why}")]
    Cache {
        /// The folder.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The parameters of a built-in bot are not well-formed.
    #[error("bot {text:?}: {why}")]
    Params {
        /// The entry.
        text: String,
        /// What is wrong.
        why: OptionError,
    },
    /// A language model cannot take part.
    #[error(transparent)]
    Model(#[from] NoModel),
    /// A name cannot be used, or two names are alike.
    #[error(transparent)]
    Name(#[from] SetupError),
}

impl EntryError {
    /// Returns what to do about it.
    pub fn hints(&self) -> Vec<String> {
        let hint = match self {
            EntryError::NoRunner { path } => path
                .extension()
                .and_then(|extension| of_extension(extension.to_str()?))
                .unwrap_or_else(|| format!("say how to run it: cmd:RUNNER {}", path.display())),
            EntryError::Folder { .. } => "name the bot's file in it".to_owned(),
            EntryError::NotExecutable { path } => format!("allow it to run: `chmod +x {}`", path.display()),
            EntryError::NoProgram { runner, .. } => how_to_get(runner),
            EntryError::Command { text, why } if why == NO_SUCH_PROGRAM => {
                how_to_get(text.split_whitespace().next().unwrap_or(text))
            }
            EntryError::Wasm { .. } => {
                "`necrodome docs wasm` tells how to build a bot that runs as .wasm".to_owned()
            }
            EntryError::NoInterpreter { .. } => "`necrodome docs wasm` tells how to get it".to_owned(),
            EntryError::NoPython { python } => how_to_get(python),
            EntryError::NoPackage { python } => {
                format!("in the folder of the sources, run `{python} -m pip install ./python`")
            }
            EntryError::NoRuntime { package, .. } => format!("install it; Debian's package is {package}"),
            EntryError::Model(NoModel::NoTables(name)) => {
                return vec![
                    format!("name a file with a table [models.{name}]: --models FILE.toml"),
                    "a tournament's FILE.toml may have such tables, too; `necrodome docs models` shows one"
                        .to_owned(),
                ];
            }
            EntryError::Model(NoModel::Model(ModelError { hint: Some(hint), .. })) => hint.clone(),
            EntryError::Cache { .. } => "set XDG_CACHE_HOME to a folder that you can write to".to_owned(),
            _ => return Vec::new(),
        };
        vec![hint]
    }
}

impl EntrySpec {
    /// Reads an entry; paths of files are relative to `folder`.
    pub fn parse(written: &str, folder: &Path) -> Result<Self, EntryError> {
        Self::parse_with(written, folder, None)
    }

    /// Reads an entry that may be a language model: the desk knows the models.
    pub fn parse_with(written: &str, folder: &Path, desk: Option<&Desk>) -> Result<Self, EntryError> {
        let (name, text) = split_name(written);
        let kind = if text == "human" {
            EntryKind::Human
        } else if let Some(name) = text.strip_prefix(model::PREFIX) {
            let desk = desk.ok_or_else(|| NoModel::NoTables(name.to_owned()))?;
            EntryKind::Model(ModelEntry::new(desk, name)?)
        } else if let Some(command) = text.strip_prefix("cmd:") {
            EntryKind::Program(command_program(command, folder)?)
        } else if let Some(written) = text.strip_prefix(compat::PREFIX) {
            EntryKind::Program(compat::Written::parse(written)?.program(folder)?)
        } else if let Some(written) = text.strip_prefix(interpreted::PREFIX) {
            EntryKind::Wasm(interpreted::parse(written, folder)?)
        } else if is_module(Path::new(text)) {
            EntryKind::Wasm(module(&seen_from(folder, text))?)
        } else if looks_like_file(text) {
            EntryKind::Program(file_program(&seen_from(folder, text))?)
        } else {
            let why = |why| EntryError::Params { text: text.to_owned(), why };
            EntryKind::BuiltIn(text.parse().map_err(why)?)
        };
        Ok(EntrySpec { name: name.map(str::to_owned), text: text.to_owned(), kind })
    }

    /// Returns the fingerprint of a program: a hash of the content of every file that its command names, wherever the files are; for a language
    /// model, a hash of its table and its prompt; `None` for other entries. Files that a program loads by itself are not known here.
    pub fn fingerprint(&self) -> Option<String> {
        let program = match &self.kind {
            EntryKind::Program(program) => program,
            EntryKind::Wasm(module) => return Some(module.fingerprint()),
            EntryKind::Model(model) => return Some(model.fingerprint().to_owned()),
            _ => return None,
        };
        if let Some(content) = zombies::fingerprint(program) {
            return Some(content);
        }
        let mut hasher = blake3::Hasher::new();
        // An interpreter is found by its name alone: upgrading it makes no new bot.
        for path in program.files() {
            let mut content = blake3::Hasher::new();
            // A file that cannot be read is not the one that could.
            let read = fs::File::open(path).and_then(|file| content.update_reader(file).map(|_| ()));
            hasher.update(&[u8::from(read.is_ok())]);
            hasher.update(content.finalize().as_bytes());
        }
        Some(hasher.finalize().to_hex()[..32].to_owned())
    }

    /// Checks what only the machine can tell: whether the program that runs the entry is installed.
    pub fn check(&self) -> Result<(), EntryError> {
        match &self.kind {
            EntryKind::Program(program) if self.compat().is_some_and(|written| written.is_python()) => {
                compat::check_package(program)
            }
            EntryKind::Program(program)
                if let Some(runner) = program.command().first()
                    && !is_found(runner, &program.folder) =>
            {
                Err(EntryError::NoProgram { runner: runner.clone(), text: self.text.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Returns the same entry under another name: any difference between the two is chance.
    pub fn twin(&self) -> Result<EntrySpec, EntryError> {
        const AGAIN: &str = " again";
        let names = name_all(std::slice::from_ref(self))?;
        let name: String = names.iter().flat_map(str::chars).take(MAX_NAME - AGAIN.len()).collect();
        Ok(EntrySpec { name: Some(name.trim_end().to_owned() + AGAIN), ..self.clone() })
    }

    /// Returns the files and folders that must travel with the entry, as it was written: the folders of its files, if it has any.
    pub(crate) fn luggage(&self, folder: &Path) -> Vec<PathBuf> {
        let beside = |path: PathBuf| match path.is_dir() {
            true => path,
            false => path.parent().map_or(path.clone(), Path::to_owned),
        };
        match &self.kind {
            EntryKind::Program(program) if self.text.starts_with("cmd:") => {
                program.files().into_iter().map(beside).collect()
            }
            EntryKind::Program(program) if self.compat().is_some_and(|written| written.is_python()) => {
                vec![program.folder.clone()]
            }
            _ => file_of(&self.text, folder).map(beside).into_iter().collect(),
        }
    }

    /// Runs Python files with this interpreter, which has the packages that its user installed. The interpreter is not part of the bot.
    pub fn run_by(&mut self, python: &str) {
        let is_command = self.text.starts_with("cmd:");
        if let EntryKind::Program(program) = &mut self.kind
            && !is_command
            && program.words.first().is_some_and(|word| word == "python3")
        {
            program.interpreter = Some(python.to_owned());
        }
    }

    fn compat(&self) -> Option<compat::Written<'_>> {
        compat::Written::parse(self.text.strip_prefix(compat::PREFIX)?).ok()
    }

    /// Returns the name for the entry, before it is made unique.
    fn wish(&self) -> String {
        let text = match (&self.name, &self.kind) {
            (Some(name), _) => return name.clone(),
            (None, EntryKind::Guest(_)) => self.text.clone(),
            (None, EntryKind::Program(program)) if let Some(name) = zombies::name_of(program) => {
                name.to_owned()
            }
            (None, EntryKind::Program(_)) if let Some(written) = self.compat() => written.wish(),
            (None, EntryKind::BuiltIn(spec)) => spec.to_string(),
            (None, EntryKind::Program(_) | EntryKind::Wasm(_)) if looks_like_file(&self.text) => {
                let text = self.text.strip_prefix(interpreted::PREFIX).unwrap_or(&self.text);
                let stem = Path::new(text).file_stem().unwrap_or_default();
                stem.to_string_lossy().into_owned()
            }
            (None, EntryKind::Program(program)) => {
                let file = program.words.iter().rfind(|word| Path::new(word).extension().is_some());
                let stem = file.and_then(|file| Path::new(file).file_stem());
                stem.map_or_else(|| program.words[0].clone(), |stem| stem.to_string_lossy().into_owned())
            }
            (None, EntryKind::Wasm(_)) => self.text.clone(),
            (None, EntryKind::Model(model)) => model.model().name.clone(),
            (None, EntryKind::Human) => "human".to_owned(),
        };
        text.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect::<String>().trim().to_owned()
    }
}

/// Returns the files and folders of all programs, which other programs must not see.
pub fn files_of<'a>(entries: impl IntoIterator<Item = &'a EntrySpec>) -> Vec<PathBuf> {
    let programs = entries.into_iter().filter_map(|entry| match &entry.kind {
        EntryKind::Program(program) => Some(program),
        _ => None,
    });
    programs
        .flat_map(|program| {
            program.files().into_iter().chain([program.folder.clone()]).chain(program.sources.clone())
        })
        .collect()
}

/// Whether any entry runs as a process, which must be confined.
pub fn has_processes(entries: &[EntrySpec]) -> bool {
    entries.iter().any(|entry| matches!(entry.kind, EntryKind::Program(_)))
}

/// Returns the language models that take part, each once.
pub fn models_of(entries: &[EntrySpec]) -> Vec<&ModelEntry> {
    let mut models: Vec<&ModelEntry> = Vec::new();
    for entry in entries {
        if let EntryKind::Model(model) = &entry.kind
            && !models.contains(&model)
        {
            models.push(model);
        }
    }
    models
}

/// Whether any programs take part.
pub fn has_programs(entries: &[EntrySpec]) -> bool {
    entries.iter().any(|entry| entry.kind.is_program())
}

/// Returns names for all entries: the given name, or one made from the entry, with a number after it if that name is taken.
/// It is an error if two names given by the user are alike.
pub fn name_all(entries: &[EntrySpec]) -> Result<Names, EntryError> {
    let mut names: Vec<String> = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let wish = entry.wish();
        let given_later = entries[index + 1..].iter().filter_map(|other| other.name.as_deref());
        let taken: Vec<String> =
            names.iter().map(String::as_str).chain(given_later).map(str::to_lowercase).collect();
        if entry.name.is_some() || !taken.contains(&wish.to_lowercase()) {
            names.push(wish);
            continue;
        }
        let numbered = |number: usize| {
            let suffix = format!("-{number}");
            wish.chars().take(MAX_NAME - suffix.len()).collect::<String>() + &suffix
        };
        let free = (2..).map(numbered).find(|name| !taken.contains(&name.to_lowercase()));
        names.push(free.unwrap_or(wish));
    }
    Ok(Names::new(names)?)
}

/// Splits `name=rest`, if the name holds nothing that makes the text a path, a command or parameters.
pub fn split_name(text: &str) -> (Option<&str>, &str) {
    match text.split_once('=') {
        Some((name, rest)) if !name.is_empty() && !name.contains([':', '/']) => (Some(name), rest),
        _ => (None, text),
    }
}

/// Returns the same entry with its file, if it has one, relative to another folder.
pub fn moved_to(folder: &Path, written: &str) -> String {
    let (name, text) = split_name(written);
    let compat = text.strip_prefix(compat::PREFIX).map(compat::Written::parse);
    let interpreted = text.strip_prefix(interpreted::PREFIX);
    let moved = match compat {
        Some(Ok(compat)) => compat.moved_to(folder),
        None if let Some(file) = interpreted => {
            format!("{}{}", interpreted::PREFIX, folder.join(file).display())
        }
        None if looks_like_file(text) && !text.starts_with("cmd:") => folder.join(text).display().to_string(),
        _ => text.to_owned(),
    };
    name.map_or(moved.clone(), |name| format!("{name}={moved}"))
}

/// Returns the file or folder that an entry names, without looking at it; `None` for commands and for entries without a file.
pub(crate) fn file_of(written: &str, folder: &Path) -> Option<PathBuf> {
    let (_, text) = split_name(written);
    let file = if let Some(written) = text.strip_prefix(compat::PREFIX) {
        compat::Written::parse(written).ok()?.file
    } else if let Some(file) = text.strip_prefix(interpreted::PREFIX) {
        file
    } else {
        let is_file = !["cmd:", model::PREFIX].iter().any(|prefix| text.starts_with(prefix));
        Some(text).filter(|text| is_file && looks_like_file(text))?
    };
    Some(seen_from(folder, file))
}

/// Whether an entry is a built-in bot. Looks at no file of it.
pub(crate) fn is_built_in(written: &str) -> bool {
    let spec = || EntrySpec::parse(written, Path::new("")).ok();
    file_of(written, Path::new("")).is_none()
        && spec().is_some_and(|spec| matches!(spec.kind, EntryKind::BuiltIn(_)))
}

/// Whether an entry runs as a process. Looks at no file of it.
pub(crate) fn is_process(written: &str) -> bool {
    let (_, text) = split_name(written);
    let is_wasm = text.starts_with(interpreted::PREFIX) || is_module(Path::new(text));
    ["cmd:", compat::PREFIX].iter().any(|prefix| text.starts_with(prefix))
        || !is_wasm && file_of(written, Path::new("")).is_some()
}

/// Whether an entry (without its name) looks like a file: it has a slash, or an extension that the arena can run.
pub fn looks_like_file(text: &str) -> bool {
    text.contains('/') || runner(Path::new(text)).is_some() || is_module(Path::new(text))
}

/// Returns the program that runs files with this extension.
fn runner(path: &Path) -> Option<&'static [&'static str]> {
    Some(match path.extension()?.to_str()? {
        "py" => &["python3", "-u"],
        "js" | "mjs" | "cjs" => &["node"],
        "rb" => &["ruby"],
        // Small spaces: a bot has its memory limited. No file in /tmp that outlives a bot that is killed.
        "jar" => &["java", "-Xmx256m", "-Xss512k", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-jar"],
        // The source is compiled at each start. The quick one of the two compilers at run time takes half of the CPU time
        // that both take for it.
        "java" => &[
            "java",
            "-Xmx256m",
            "-Xss512k",
            "-XX:+UseSerialGC",
            "-XX:-UsePerfData",
            "-XX:TieredStopAtLevel=1",
        ],
        _ => return None,
    })
}

/// Whether a file is meant to be a WebAssembly module.
fn is_module(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "wasm")
}

/// Reads and checks a WebAssembly module.
fn module(path: &Path) -> Result<wasm::Module, EntryError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    wasm::Module::new(&read(path)?, &[&name]).map_err(|why| EntryError::Wasm { path: path.to_owned(), why })
}

/// Reads a file, keeping no more bytes than the largest module has.
fn read(path: &Path) -> Result<Vec<u8>, EntryError> {
    if !fs::metadata(path).map_err(missing(path))?.is_file() {
        return Err(EntryError::Unreadable { path: path.to_owned(), why: "it is not a file".to_owned() });
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(missing(path))?;
    file.take(wasm::MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(missing(path))?;
    Ok(bytes)
}

/// Returns the path of a file relative to a folder, without needless dots.
fn seen_from(folder: &Path, file: &str) -> PathBuf {
    folder.join(file).components().collect()
}

/// Returns the error for a file that cannot be found.
fn missing(path: &Path) -> impl Fn(std::io::Error) -> EntryError {
    move |error| match error.kind() {
        ErrorKind::NotFound => EntryError::NoFile { path: path.to_owned() },
        _ => EntryError::Unreadable { path: path.to_owned(), why: error.to_string() },
    }
}

fn file_program(path: &Path) -> Result<Program, EntryError> {
    let file = fs::canonicalize(path).map_err(missing(path))?;
    let data = fs::metadata(&file).map_err(missing(path))?;
    let executable = data.is_file() && data.permissions().mode() & 0o111 != 0;
    let runner = match runner(&file) {
        _ if data.is_dir() => return Err(EntryError::Folder { path: path.to_owned() }),
        Some(runner) if data.is_file() => runner,
        None if executable => &[],
        None if is_script(&file) => return Err(EntryError::NotExecutable { path: path.to_owned() }),
        _ => return Err(EntryError::NoRunner { path: path.to_owned() }),
    };
    let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
    let own = file.to_string_lossy().into_owned();
    Ok(Program {
        words: runner.iter().map(|&word| word.to_owned()).chain([own]).collect(),
        folder,
        ..Program::default()
    })
}

/// Whether the first line of a file says which program runs it.
fn is_script(path: &Path) -> bool {
    let mut begin = [0; 2];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && &begin == b"#!"
}

const NO_SUCH_PROGRAM: &str = "there is no such program";

fn command_program(text: &str, folder: &Path) -> Result<Program, EntryError> {
    let bad = |why: &str| EntryError::Command { text: text.to_owned(), why: why.to_owned() };
    let words = shell_words::split(text).map_err(|error| bad(&error.to_string()))?;
    let Some(program) = words.first() else { return Err(bad("expected a program, got nothing")) };
    if !is_found(program, folder) {
        return Err(bad(NO_SUCH_PROGRAM));
    }
    Ok(Program { words, folder: folder.to_owned(), ..Program::default() })
}

/// Whether the first word of a command can be run from a folder.
pub(crate) fn is_found(word: &str, folder: &Path) -> bool {
    if word.contains('/') { folder.join(word).is_file() } else { on_path(word).is_some() }
}

/// Finds a program by its name.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<EntrySpec, EntryError> {
        EntrySpec::parse(text, Path::new(env!("CARGO_MANIFEST_DIR")))
    }

    fn names(texts: &[&str]) -> Result<Vec<String>, String> {
        let entries: Vec<_> = texts.iter().map(|text| parse(text).unwrap()).collect();
        name_all(&entries).map(Vec::from).map_err(|error| error.to_string())
    }

    #[test]
    fn kinds_are_told_apart() {
        let kind = |text| parse(text).unwrap().kind;
        assert!(matches!(kind("greedy"), EntryKind::BuiltIn(_)));
        assert!(
            matches!(kind("stop-at:brains=5,shotguns=2"), EntryKind::BuiltIn(spec) if spec.params.len() == 2)
        );
        assert!(matches!(kind("human"), EntryKind::Human));
        let EntryKind::Program(program) = kind("cmd:sh -c 'echo hi' x=1") else { panic!() };
        assert_eq!(program.words, ["sh", "-c", "echo hi", "x=1"]);
    }

    #[test]
    fn a_program_is_its_content_wherever_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("elsewhere")).unwrap();
        let of = |entry: &str, content: &str| {
            let file = entry.rsplit(' ').next().unwrap();
            fs::write(folder.path().join(file), content).unwrap();
            EntrySpec::parse(entry, folder.path()).unwrap().fingerprint().unwrap()
        };
        let first = of("./bot.py", "one");
        assert_eq!(of("./elsewhere/bot.py", "one"), first);
        assert_eq!(of("cmd:python3 elsewhere/bot.py", "one"), first);
        assert_ne!(of("./bot.py", "two"), first);
        assert_ne!(of("cmd:python3 bot.py elsewhere/bot.py", "one"), first);
        assert_eq!(EntrySpec::parse("greedy", folder.path()).unwrap().fingerprint(), None);
    }

    #[test]
    fn java_is_started_with_small_spaces_and_compiled_quickly() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Bot.java").display().to_string();
        fs::write(&path, "").unwrap();
        let EntryKind::Program(source) = parse(&path).unwrap().kind else { panic!() };
        let (file, options) = source.words.split_last().unwrap();
        assert!(file.ends_with("/Bot.java") && options[0] == "java", "{options:?}");
        for option in ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"] {
            assert!(options.iter().any(|word| word == option), "{option}");
        }
        // What is compiled already starts quickly, and may think hard.
        assert!(!runner(Path::new("bot.jar")).unwrap().contains(&"-XX:TieredStopAtLevel=1"));
    }

    #[test]
    fn a_name_in_front_is_taken_off() {
        let entry = parse("Ada=stop-at:brains=5").unwrap();
        assert_eq!((entry.name.as_deref(), entry.text.as_str()), (Some("Ada"), "stop-at:brains=5"));
        assert_eq!(parse("stop-at:brains=5").unwrap().name, None);
    }

    #[test]
    fn names_are_made_and_numbered() {
        assert_eq!(names(&["greedy", "x=greedy", "greedy"]).unwrap(), ["greedy", "x", "greedy-2"]);
        assert_eq!(names(&["greedy", "greedy=random"]).unwrap(), ["greedy-2", "greedy"]);
        assert!(names(&["x=greedy", "X=random"]).unwrap_err().contains("is taken"));
        assert!(names(&["=greedy"]).is_ok_and(|names| names == ["=greedy"]));
    }

    #[test]
    fn bots_of_other_programs_are_run_by_the_python_package() {
        let file = "../../bots/python/zombie_dice.py";
        let entry = parse(&format!("compat:godzilla:{file}:Brave")).unwrap();
        let EntryKind::Program(program) = &entry.kind else { panic!() };
        assert_eq!(program.words[..5], ["python3", "-u", "-m", "necrodome.compat", "godzilla"]);
        assert!(program.words[5].ends_with("/bots/python/zombie_dice.py"));
        assert_eq!(program.words[6..], ["Brave"]);
        assert!(program.folder.ends_with("bots/python"));

        let entry = parse(&format!("compat:zombiedice:{file}")).unwrap();
        assert!(matches!(&entry.kind, EntryKind::Program(program) if program.words.len() == 6));
        let all = ["Ada=compat:zombiedice", "compat:godzilla", "compat:gamezombies"];
        let all =
            [format!("{}:{file}:A", all[0]), format!("{}:{file}:B", all[1]), format!("{}:{file}", all[2])];
        assert_eq!(names(&all.each_ref().map(String::as_str)).unwrap(), ["Ada", "B", "zombie_dice"]);
    }

    #[test]
    fn files_move_with_their_folder() {
        let moved = |text| moved_to(Path::new("night"), text);
        assert_eq!(moved("./a.py"), "night/./a.py");
        assert_eq!(moved("Ada=a.py"), "Ada=night/a.py");
        assert_eq!(
            moved("Ada=compat:zombiedice:bots/a.py:Brave"),
            "Ada=compat:zombiedice:night/bots/a.py:Brave"
        );
        assert_eq!(moved("compat:zombies:bots:player.Ada"), "compat:zombies:night/bots:player.Ada");
        assert_eq!(moved("Ada=wasm:bots/a.py"), "Ada=wasm:night/bots/a.py");
        for same in ["greedy", "stop-at:brains=5", "cmd:python3 x/a.py", "human", "compat:nothing:a.py"] {
            assert_eq!(moved(same), same);
        }
    }

    #[test]
    fn a_file_is_named_as_it_was_written() {
        let missing = |text| EntrySpec::parse(text, Path::new(".")).unwrap_err().to_string();
        assert_eq!(missing("./nope.py"), r#"there is no file "./nope.py""#);
        assert_eq!(missing("bots/nope.py"), r#"there is no file "./bots/nope.py""#);
        assert_eq!(missing("/nope.py"), r#"there is no file "/nope.py""#);
    }

    #[test]
    fn mistakes_are_found_before_anything_starts() {
        for (text, message) in [
            ("compat:", "expected one of gamezombies, godzilla, zombiedice, zombies"),
            ("compat:chess:./a.py:A", "there is no kind \"chess\""),
            ("compat:zombiedice", "expected compat:zombiedice:FILE.py:CLASS"),
            ("compat:zombiedice:a.py:", "expected compat:zombiedice:FILE.py:CLASS"),
            ("compat:zombiedice:./nowhere.py:A", "there is no file"),
            ("compat:zombiedice:src:A", "expected a file of Python"),
            ("compat:zombies", "expected compat:zombies:FILE_OR_FOLDER[:CLASS]"),
            ("compat:zombies:./Nowhere.java", "there is no file"),
            ("compat:zombies:Cargo.toml", "expected .java, .scala, .jar"),
            ("./nowhere.py", "there is no file"),
            ("./nowhere.wasm", "there is no file"),
            ("wasm:nowhere.py", "there is no file"),
            ("wasm:Cargo.toml", "wasm: runs files that end in .wasm, .py, .js, .mjs or .cjs"),
            ("./Cargo.toml", "cannot tell how to run"),
            ("./src", "src\" is a folder"),
            ("cmd:", "expected a program"),
            ("cmd:no-such-program-here", "no such program"),
            ("cmd:sh 'open", "bad command"),
            ("stop-at:brains", "expected option=value"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
