//! `necrodome new-bot`: writes a small working bot to start from, out of `templates/`.

use crate::{
    error::Error,
    lineup,
    output_file::{Access, OutputFile},
    paint::{bold, dim},
};
use necrodome_rules::catalog::GameId;
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

/// Write a small, commented, working bot to start from
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome new-bot zombie-dice python mybot.py
  necrodome new-bot zombie-dice rust bots/eater
  necrodome new-bot last-bullet java . --name Sniper
  necrodome new-bot tokyo rust bots/eater --wasm

Languages: python, javascript, java, rust, c, ruby. PATH is a file or a folder, which is made if it is missing; in
Rust it is always the folder of a new crate. In a folder, the file is called after the bot. With --wasm, in Rust and C, the
bot is built to a .wasm file: `necrodome docs wasm` tells why.")]
pub struct Args {
    /// The game (see `necrodome games`)
    game: String,
    /// The programming language
    language: String,
    /// Where to write it
    path: PathBuf,
    /// The bot's name; by default that of the file or folder
    #[arg(long)]
    name: Option<String>,
    /// Build it to a .wasm file, which the arena runs by itself (rust and c)
    #[arg(long)]
    wasm: bool,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
}

/// A programming language with its template.
struct Language {
    name: &'static str,
    /// Other names for it.
    aliases: &'static [&'static str],
    /// The extension of its files. Empty for Rust, whose bots are folders.
    extension: &'static str,
    /// The files of the template: their paths and contents. The user names one of them.
    files: &'static [(&'static str, &'static str)],
}

macro_rules! template {
    ($file:literal) => {
        include_str!(concat!("../../templates/", $file))
    };
}

const LANGUAGES: [Language; 6] = [
    Language {
        name: "python",
        aliases: &["py", "python3"],
        extension: "py",
        files: &[("bot.py", template!("python/bot.py"))],
    },
    Language {
        name: "javascript",
        aliases: &["js", "node", "nodejs"],
        extension: "js",
        files: &[("bot.js", template!("javascript/bot.js"))],
    },
    Language {
        name: "java",
        aliases: &[],
        extension: "java",
        files: &[("Bot.java", template!("java/Bot.java"))],
    },
    Language {
        name: "rust",
        aliases: &["rs"],
        extension: "",
        files: &[
            ("src/main.rs", template!("rust/src/main.rs")),
            ("Cargo.toml", template!("rust/Cargo.toml")),
            (".gitignore", template!("rust/.gitignore")),
        ],
    },
    Language { name: "c", aliases: &[], extension: "c", files: &[("bot.c", template!("c/bot.c"))] },
    Language {
        name: "ruby",
        aliases: &["rb"],
        extension: "rb",
        files: &[("bot.rb", template!("ruby/bot.rb"))],
    },
];

/// The name that Rust uses for WASI preview 1.
const RUST_TARGET: &str = "wasm32-wasip1";

pub fn run(args: &Args) -> Result<(), Error> {
    let game = lineup::game(&args.game)?;
    let language = language(&args.language)?;
    if args.wasm && !["rust", "c"].contains(&language.name) {
        return Err(Error::usage(format!("--wasm: expected rust or c, got {}", language.name)));
    }
    let plan = plan(args, game, language)?;
    let files = OutputFile::claim_all(plan.files.iter().map(|(path, _)| path.clone()), args.force)?;
    for (file, (_, text)) in files.into_iter().zip(&plan.files) {
        let access = if text.starts_with("#!") { Access::Program } else { Access::Usual };
        file.with_access(access).write(text)?;
    }
    print_next_steps(game, language, &plan, args.wasm)
}

fn language(name: &str) -> Result<&'static Language, Error> {
    let wanted = name.to_lowercase();
    let found = LANGUAGES.iter().find(|l| l.name == wanted || l.aliases.contains(&wanted.as_str()));
    found.ok_or_else(|| {
        Error::unknown("there is no template for", name, &LANGUAGES.each_ref().map(|language| language.name))
    })
}

/// The files to write.
struct BotFiles {
    /// The name that the user has asked for.
    wish: Option<String>,
    /// The name of the bot for cargo.
    crate_name: String,
    files: Vec<(PathBuf, String)>,
}

impl BotFiles {
    /// Returns the file for the user to edit.
    fn main(&self) -> &Path {
        &self.files[0].0
    }

    /// Returns the folder of the crate.
    fn folder(&self) -> &Path {
        self.files.get(1).and_then(|(manifest, _)| manifest.parent()).unwrap_or(Path::new("."))
    }
}

fn plan(args: &Args, game: GameId, language: &Language) -> Result<BotFiles, Error> {
    let is_crate = language.extension.is_empty();
    let target = match (is_crate, is_folder(&args.path)) {
        (true, _) => args.path.clone(),
        (false, true) => args.path.join(file_in_folder(args, language)),
        (false, false) => with_extension(&args.path, language.extension)?,
    };
    if is_crate && target.is_file() {
        return Err(Error::exists(&target));
    }
    let name = match &args.name {
        Some(name) => checked_name(name)?,
        None => default_name(&args.path, &target, is_crate),
    };
    let crate_name = crate_name(&name);
    // The text tells how to run the file under the name that it really has.
    let own = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let fill = |text: &str| {
        let text = for_game(text, game);
        let text = text.replace("{{game}}", game.as_str()).replace("{{hint}}", game.card().hint);
        let text = match language.name {
            _ if is_crate && args.wasm => text
                .replace("cargo build --release", &format!("cargo build --release --target {RUST_TARGET}"))
                .replace(
                    "target/release/{{crate}}",
                    &format!("target/{RUST_TARGET}/release/{{{{crate}}}}.wasm"),
                ),
            _ if is_crate => text,
            "java" => rename_class(&text, &own),
            "c" => rename_c(&text, &own, args.wasm),
            _ => text.replace(language.files[0].0, &own),
        };
        text.replace("{{name}}", &name).replace("{{crate}}", &crate_name)
    };
    let place = |file: &str| if is_crate { target.join(file) } else { target.clone() };
    let files = language.files.iter().map(|(file, text)| (place(file), fill(text))).collect();
    let wish = args.name.is_some().then_some(name);
    Ok(BotFiles { wish, crate_name, files })
}

/// Returns the name of the file in a folder: that of the template, or one with the bot's name, since the arena names a bot after
/// its file.
fn file_in_folder(args: &Args, language: &Language) -> String {
    match &args.name {
        Some(name) => format!("{}.{}", name.replace(' ', "_"), language.extension),
        None => language.files[0].0.to_owned(),
    }
}

/// Removes the parts of a template for other games: the lines between `{{only GAME ...}}` or `{{not GAME ...}}` and `{{end}}`.
fn for_game(template: &str, game: GameId) -> String {
    let mut is_kept = true;
    let mut text = String::new();
    for line in template.lines() {
        let marker = line.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
        let (word, games) = marker.map_or(("", ""), |marker| marker.split_once(' ').unwrap_or((marker, "")));
        let is_named = games.split(' ').any(|named| named == game.as_str());
        match word {
            "only" => is_kept = is_named,
            "not" => is_kept = !is_named,
            "end" => is_kept = true,
            _ if is_kept => text += &format!("{line}\n"),
            _ => {}
        }
    }
    text
}

/// Whether a path is a folder, or can only mean one.
fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with('/')
}

/// Adds the extension if there is none. Refuses the extension of another language.
fn with_extension(path: &Path, extension: &str) -> Result<PathBuf, Error> {
    match path.extension() {
        None => Ok(path.with_extension(extension)),
        Some(own) if own == extension => Ok(path.to_owned()),
        Some(own) if LANGUAGES.iter().any(|language| own == language.extension) || own == "rs" => {
            Err(Error::usage(format!("{}: expected the extension .{extension}, or none", path.display())))
        }
        // A name with a dot in it, as in `bot-1.2`.
        Some(_) => {
            let mut name = path.as_os_str().to_owned();
            name.push(".");
            name.push(extension);
            Ok(name.into())
        }
    }
}

/// Returns the name of the file, or of the folder if the file has the template's name.
fn default_name(path: &Path, target: &Path, is_crate: bool) -> String {
    let source = if is_crate || !is_folder(path) { target } else { path };
    // `.` and `..` have no name of their own.
    let full = source.file_name().map(|_| source.to_owned()).or_else(|| fs::canonicalize(source).ok());
    let stem = full.as_deref().and_then(if is_crate { Path::file_name } else { Path::file_stem });
    let name = stem.unwrap_or_default().to_string_lossy();
    checked_name(&name).unwrap_or_else(|_| "mybot".to_owned())
}

/// Checks that a name can be the name of an entry, and is safe in a comment of any language.
fn checked_name(name: &str) -> Result<String, Error> {
    let good = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
    let fits = name.chars().count() <= necrodome_rules::names::MAX_NAME;
    if name.is_empty() || name.trim() != name || !fits || !name.chars().all(good) {
        return Err(Error::usage(format!(
            "bad name {name:?}: expected up to {} letters, digits, spaces, dots, - and _",
            necrodome_rules::names::MAX_NAME
        )));
    }
    Ok(name.to_owned())
}

/// Returns a name that cargo accepts: ASCII letters, digits, `-` and `_`, beginning with a letter, and not a reserved word.
fn crate_name(name: &str) -> String {
    /// Names that cargo refuses: keywords, and names of its own folders and of the standard library.
    const TAKEN: [&str; 20] = [
        "test",
        "core",
        "std",
        "alloc",
        "build",
        "deps",
        "examples",
        "incremental",
        "bot",
        "crate",
        "self",
        "super",
        "fn",
        "mod",
        "use",
        "impl",
        "match",
        "loop",
        "move",
        "serde_json",
    ];
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' });
    let name: String = letters.collect::<String>().to_lowercase();
    let name = name.trim_matches('-');
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || TAKEN.contains(&name) {
        return format!("bot-{name}").trim_matches('-').to_owned();
    }
    name.to_owned()
}

/// Renames the class after the file. Java would run a file with any class in it, but readers expect the two names to match.
fn rename_class(text: &str, file: &str) -> String {
    let stem = file.strip_suffix(".java").unwrap_or(file);
    let text = text.replace("Bot.java", file);
    let is_identifier = stem.starts_with(|c: char| c.is_ascii_alphabetic())
        && stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // Classes that the template itself uses.
    let taken =
        ["Json", "Object", "String", "List", "Map", "Random", "Math", "System", "Long", "Double", "Integer"];
    if is_identifier && !taken.contains(&stem) {
        text.replace("public class Bot ", &format!("public class {stem} "))
    } else {
        // A public class must have the name of its file.
        text.replace("public class Bot ", "class Bot ")
    }
}

fn rename_c(text: &str, file: &str, wasm: bool) -> String {
    let program = c_program(Path::new(file), wasm).display().to_string();
    text.replace("cc -O2 -o bot bot.c", &format!("{} -O2 -o {program} {file}", c_compiler(wasm)))
        .replace("./bot\n", &format!("./{program}\n"))
}

/// Returns the path of the program that is compiled from a C file.
fn c_program(file: &Path, wasm: bool) -> PathBuf {
    file.with_extension(if wasm { "wasm" } else { "" })
}

fn c_compiler(wasm: bool) -> &'static str {
    if wasm { "clang --target=wasm32-wasi" } else { "cc" }
}

/// Returns a bot as an entry: with a slash, so that it is not taken for a built-in bot, and with the name that the user has asked
/// for if the file has another.
fn as_entry(path: &Path, wish: Option<&str>) -> String {
    let text = path.display().to_string();
    let text = if text.contains('/') { text } else { format!("./{text}") };
    let own = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = wish.filter(|wish| *wish != own).map_or(String::new(), |wish| format!("{wish}="));
    quoted(&(name + &text))
}

/// Returns a word for a shell.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '=' | ':' | ',');
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

fn print_next_steps(game: GameId, language: &Language, plan: &BotFiles, wasm: bool) -> Result<(), Error> {
    let main = plan.main();
    let wish = plan.wish.as_deref();
    let mut steps = Vec::new();
    let entry = match language.name {
        "rust" => {
            let manifest = quoted(&plan.folder().join("Cargo.toml").display().to_string());
            let (target, built) = if wasm {
                steps.push(format!("rustup target add {RUST_TARGET}"));
                (
                    format!(" --target {RUST_TARGET}"),
                    format!("target/{RUST_TARGET}/release/{}.wasm", plan.crate_name),
                )
            } else {
                (String::new(), format!("target/release/{}", plan.crate_name))
            };
            steps.push(format!("cargo build --release{target} --manifest-path {manifest}"));
            as_entry(&plan.folder().join(built), wish)
        }
        "c" => {
            let program = c_program(main, wasm);
            let words = [&program, main].map(|path| quoted(&path.display().to_string()));
            if wasm {
                steps.push("apt-get install clang lld wasi-libc libclang-rt-dev-wasm32".to_owned());
            }
            steps.push(format!("{} -O2 -o {} {}", c_compiler(wasm), words[0], words[1]));
            as_entry(&program, wish)
        }
        _ => as_entry(main, wish),
    };
    let others: String = game.card().opponents.iter().map(|bot| format!(" {bot}")).collect();
    steps.push(format!("necrodome check-bot {game} {entry}"));
    steps.push(format!("necrodome match {game} {entry}{others}"));
    let mut out = anstream::stdout().lock();
    writeln!(out, "{} is a bot for {game} in {}. Next:", bold(main.display()), language.name)?;
    for step in steps {
        writeln!(out, "  {step}")?;
    }
    writeln!(
        out,
        "{}",
        dim(format!("The messages it reads and writes: `necrodome rules {game}`, `necrodome docs protocol`"))
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_end_no_comment() {
        for game in GameId::ALL {
            for bad in ["*/", "\"\"\"", "\\u", "\n", "{{"] {
                assert!(!game.card().hint.contains(bad), "{game}: {bad:?}");
            }
            // A Python docstring must not end in a quote.
            assert!(game.card().hint.ends_with('.'));
        }
    }

    #[test]
    fn crates_get_names_that_cargo_takes() {
        for (name, expected) in [
            ("My Bot 2.0", "my-bot-2-0"),
            ("眠い", "bot"),
            ("9lives", "bot-9lives"),
            ("test", "bot-test"),
            ("eater", "eater"),
        ] {
            assert_eq!(crate_name(name), expected);
        }
    }

    #[test]
    fn a_missing_extension_is_added() {
        let path = |path: &str, extension| {
            with_extension(Path::new(path), extension).map(|p| p.display().to_string())
        };
        assert_eq!(path("a/mybot", "py").unwrap(), "a/mybot.py");
        assert_eq!(path("a/mybot.py", "py").unwrap(), "a/mybot.py");
        assert_eq!(path("bot-1.2", "py").unwrap(), "bot-1.2.py");
        assert!(path("mybot.js", "py").is_err());
    }
}
