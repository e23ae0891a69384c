//! Builds bots for the host: the machine's own compilers compile each into a folder of the user's cache that is named after
//! its contents. A folder is complete or does not exist, and never changes.

use super::{Form, HOST, MOST_BYTES, MOST_FILES, classes::Class, is, is_too_much};
use crate::{
    entry::{EntryError, missing, on_path},
    fault::harmless,
    own,
};
use rustix::{
    io::Errno,
    process::{Resource, Rlimit},
};
use std::{
    fs,
    io::{self, Read, Seek},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The folder with a bot's classes, inside the bot's folder.
pub(super) const BOT: &str = "bot";
/// The host's file in a bot's folder.
pub(super) const HOST_JAR: &str = "host.jar";
/// How long a compiler may take: a source can be written so that it never ends.
const PATIENCE: Duration = Duration::from_secs(120);

/// The most bytes of a compiler's messages to show.
const MOST_SAID: u64 = 64 << 10;
const LONGEST_LINE: usize = 400;
/// The options that start a compiler's JVM.
const FRUGAL: [&str; 3] = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
/// The compiler of Scala. Debian's `scalac` is a script: if the script is killed, the compiler runs on.
const SCALAC: [&str; 3] = [
    "/usr/share/java/scala-compiler.jar",
    "/usr/share/java/scala-library.jar",
    "/usr/share/java/scala-reflect.jar",
];

macro_rules! sources {
    ($($name:literal)*) => { [$(($name, include_str!(concat!("host/", $name)))),*] };
}

/// The sources of the host.
const SOURCES: [(&str, &str); 15] = sources! {
    "Action.java" "Answer.java" "Bot.java" "Constants.java" "Dead.java" "Host.java" "Json.java" "Log.java" "Move.java"
    "Player.java" "PlayerContext.java" "PlayerId.java" "PlayerRegistry.java" "Seen.java" "Shoot.java"
};

/// The bot to build.
pub(super) struct Bot<'a> {
    /// The file or folder, as the user named it.
    pub path: &'a Path,
    /// All files that are part of the bot.
    pub files: &'a [PathBuf],
    pub form: Form,
    /// Libraries.
    pub class_path: &'a [&'static str],
}

/// A bot that can be run.
pub(super) struct Built {
    pub folder: PathBuf,
    /// Its classes.
    pub classes: Vec<Class>,
}

/// Returns the bot, compiled now or earlier.
pub(super) fn built(bot: &Bot) -> Result<Built, EntryError> {
    let cache = cache()?;
    let lost = |error: io::Error| EntryError::Cache { path: cache.clone(), why: error.to_string() };
    let javac = tool("javac")?;
    let mut how = blake3::Hasher::new();
    for text in SOURCES.iter().flat_map(|(name, text)| [*name, *text]).chain(bot.class_path.iter().copied()) {
        add(&mut how, text.as_bytes());
    }
    add(&mut how, &version(&javac));
    let how = how.finalize().to_hex();
    let folder = cache.join(format!("{}-{}", content(bot)?, &how[..16]));
    if !folder.is_dir() {
        let new = new_folder(&cache).map_err(lost)?;
        let host = host(&cache, &how, &javac)?;
        fs::copy(host, new.path().join(HOST_JAR)).map_err(lost)?;
        fill(bot, &javac, new.path())?;
        settle(new, &folder).map_err(lost)?;
    }
    let compiled = folder.join(BOT);
    let files = if compiled.is_dir() { super::files_in(&compiled)? } else { Vec::new() };
    let classes =
        files.iter().filter(|file| is(file, "class")).filter_map(|file| Class::read(&fs::read(file).ok()?));
    Ok(Built { classes: classes.collect(), folder })
}

/// Returns the part of a folder's name that is the hash of the bot's content.
pub(super) fn content_of(folder: &Path) -> Option<&str> {
    Some(folder.file_name()?.to_str()?.split_once('-')?.0)
}

/// Returns the file name of a script in its folder.
pub(super) fn script_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns a hash of everything that a bot consists of, wherever the files are.
fn content(bot: &Bot) -> Result<String, EntryError> {
    let mut hasher = blake3::Hasher::new();
    for file in bot.files {
        let name = file.strip_prefix(bot.path).ok().filter(|name| !name.as_os_str().is_empty());
        add(&mut hasher, name.unwrap_or(Path::new(&script_name(file))).as_os_str().as_encoded_bytes());
        add(&mut hasher, &fs::read(file).map_err(missing(file))?);
    }
    Ok(hasher.finalize().to_hex()[..32].to_owned())
}

/// Adds bytes with their length, so that it is clear where they end.
fn add(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
}

/// Returns the folder of all compiled bots.
fn cache() -> Result<PathBuf, EntryError> {
    let Some(cache) = own::cache() else {
        return Err(EntryError::Cache { path: ".cache".into(), why: "HOME is not set".into() });
    };
    let cache = cache.join("zombies");
    let lost = |error: io::Error| EntryError::Cache { path: cache.clone(), why: error.to_string() };
    fs::create_dir_all(&cache).and_then(|()| cache.canonicalize()).map_err(lost)
}

fn new_folder(cache: &Path) -> io::Result<TempDir> {
    // What was left when somebody ended the arena.
    for entry in
        fs::read_dir(cache)?.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("new-"))
    {
        let made =
            entry.metadata().and_then(|data| data.modified()).ok().and_then(|made| made.elapsed().ok());
        if made.is_some_and(|ago| ago > 10 * PATIENCE) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    tempfile::Builder::new().prefix("new-").tempdir_in(cache)
}

/// Moves a folder to its place. Another process may have put the same one there in the meantime.
fn settle(new: TempDir, folder: &Path) -> io::Result<()> {
    match fs::rename(new.path(), folder) {
        Ok(()) => {
            let _ = new.keep();
            Ok(())
        }
        Err(_) if folder.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns the host, compiled now or earlier.
fn host(cache: &Path, how: &str, javac: &Path) -> Result<PathBuf, EntryError> {
    let folder = cache.join(format!("host-{}", &how[..16]));
    if !folder.is_dir() {
        let lost = |error: io::Error| EntryError::Cache { path: cache.to_owned(), why: error.to_string() };
        let new = new_folder(cache).map_err(lost)?;
        let mut compile = compiler(javac, &new.path().join("classes"));
        for (name, text) in SOURCES {
            let file = new.path().join(name);
            fs::write(&file, text).map_err(lost)?;
            compile.arg(file);
        }
        run("javac", &mut compile, Path::new("the host"))?;
        let mut pack = Command::new(tool("jar")?);
        pack.args(["--create", "--main-class", HOST, "--file"]).arg(new.path().join(HOST_JAR));
        run("jar", pack.arg("-C").arg(new.path().join("classes")).arg("."), Path::new(HOST_JAR))?;
        settle(new, &folder).map_err(lost)?;
    }
    Ok(folder.join(HOST_JAR))
}

/// Builds what the host runs, in a folder that has the host already.
fn fill(bot: &Bot, javac: &Path, folder: &Path) -> Result<(), EntryError> {
    let lost = |error: io::Error| EntryError::Cache { path: folder.to_owned(), why: error.to_string() };
    let out = folder.join(BOT);
    let host = folder.join(HOST_JAR).display().to_string();
    let libraries =
        [host.as_str()].into_iter().chain(bot.class_path.iter().copied()).collect::<Vec<_>>().join(":");
    if !matches!(bot.form, Form::Script(_)) {
        fs::create_dir(&out).map_err(lost)?;
    }
    match bot.form {
        Form::Sources(scala) => {
            if let Some(language) = scala {
                if let Some(file) = SCALAC.into_iter().find(|jar| !Path::new(jar).exists()) {
                    return Err(EntryError::NoRuntime {
                        name: language.name,
                        file,
                        package: language.package,
                    });
                }
                let mut compile = Command::new(tool("java")?);
                compile.args(FRUGAL).args(["-Xss4m", "-cp", &SCALAC.join(":"), "scala.tools.nsc.Main"]);
                compile.args(["-nowarn", "-d"]).arg(&out).args(["-classpath", &libraries]).args(bot.files);
                run("scalac", &mut compile, bot.path)?;
            }
            let java: Vec<&PathBuf> = bot.files.iter().filter(|file| is(file, "java")).collect();
            if !java.is_empty() {
                let mut compile = compiler(javac, &out);
                let class_path = format!("{libraries}:{}", out.display());
                run("javac", compile.args(["-cp", &class_path]).args(java), bot.path)?;
            }
        }
        Form::Classes => {
            for file in bot.files {
                let bytes = fs::read(file).map_err(missing(file))?;
                // Where the class belongs, even if the folder of its package was named.
                let class = Class::read(&bytes).map(|class| PathBuf::from(class.name + ".class"));
                let name = class.unwrap_or_else(|| file.strip_prefix(bot.path).unwrap_or(file).to_owned());
                // A stranger's class may be named as it likes.
                if name.components().all(|part| matches!(part, std::path::Component::Normal(_))) {
                    let target = out.join(name);
                    fs::create_dir_all(target.parent().unwrap_or(&out)).map_err(lost)?;
                    fs::write(target, bytes).map_err(lost)?;
                }
            }
        }
        Form::Jar => {
            let jar = bot.path.canonicalize().map_err(missing(bot.path))?;
            let mut unpack = Command::new(tool("jar")?);
            unpack.args(["--extract", "--file"]).arg(jar).current_dir(&out);
            // A small file can unpack to anything.
            run_while("jar", &mut unpack, bot.path, || !is_too_much(&out))?;
            if is_too_much(&out) {
                return Err(too_much(bot.path));
            }
        }
        Form::Script(_) => {
            fs::copy(bot.path, folder.join(script_name(bot.path))).map_err(lost)?;
        }
    }
    Ok(())
}

/// Returns a command for `javac` that does not run any code of the sources.
fn compiler(javac: &Path, out: &Path) -> Command {
    let mut command = Command::new(javac);
    command.args(FRUGAL.map(|option| format!("-J{option}")));
    command.args(["-proc:none", "-nowarn", "-encoding", "UTF-8", "-d"]).arg(out);
    command
}

/// Runs a tool to its end, and returns its messages if it fails.
fn run(tool: &'static str, command: &mut Command, path: &Path) -> Result<(), EntryError> {
    run_while(tool, command, path, || true)
}

/// Does the same, but stops the tool when `is_well` returns false.
fn run_while(
    tool: &'static str,
    command: &mut Command,
    path: &Path,
    is_well: impl Fn() -> bool,
) -> Result<(), EntryError> {
    let failed = |said: String| EntryError::Compiler { tool, path: path.to_owned(), said };
    // A file never fills up, as a pipe would while nobody reads it.
    let started = tempfile::tempfile().and_then(|log| {
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?);
        let child = command.spawn()?;
        bound(&child)?;
        Ok((child, log))
    });
    let (mut child, mut log) = started.map_err(|error| failed(error.to_string()))?;
    let deadline = Instant::now() + PATIENCE;
    let mut pause = Duration::from_millis(5);
    let why = loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) => {
                let mut said = Vec::new();
                let _ = log.rewind().and_then(|()| log.take(MOST_SAID).read_to_end(&mut said));
                let said = String::from_utf8_lossy(&said);
                let lines = said
                    .trim_end()
                    .lines()
                    .map(|line| line.chars().map(harmless).take(LONGEST_LINE).collect());
                return Err(failed(lines.collect::<Vec<String>>().join("\n")));
            }
            Ok(None) if !is_well() => break too_much(path),
            Ok(None) if Instant::now() < deadline => thread::sleep(pause),
            _ => break failed(format!("it did not end within {} s", PATIENCE.as_secs())),
        }
        pause = (2 * pause).min(Duration::from_millis(50));
    };
    let _ = (child.kill(), child.wait());
    Err(why)
}

/// Limits what a tool can do to the machine, even if the arena no longer waits for it.
fn bound(child: &Child) -> io::Result<()> {
    let pid = rustix::process::Pid::from_child(child);
    for (resource, most) in [(Resource::Cpu, PATIENCE.as_secs()), (Resource::Fsize, MOST_BYTES)] {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        match rustix::process::prlimit(Some(pid), resource, limit) {
            // It has ended already.
            Ok(_) | Err(Errno::SRCH) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

pub(super) fn too_much(path: &Path) -> EntryError {
    let most = format!("{MOST_FILES} files or {} MB", MOST_BYTES >> 20);
    EntryError::Unreadable {
        path: path.to_owned(),
        why: format!("it holds more than {most}, which is more than a bot"),
    }
}

fn tool(name: &'static str) -> Result<PathBuf, EntryError> {
    on_path(name).ok_or(EntryError::NoRuntime { name: "JDK", file: name, package: "default-jdk-headless" })
}

/// Returns bytes that identify a compiler's version: from a file that each JDK has, which is faster than to ask the compiler.
fn version(javac: &Path) -> Vec<u8> {
    let home = javac.canonicalize().ok().and_then(|file| Some(file.parent()?.parent()?.to_owned()));
    let noted = home.and_then(|home| fs::read(home.join("release")).ok());
    noted.or_else(|| Some(Command::new(javac).arg("-version").output().ok()?.stdout)).unwrap_or_default()
}
