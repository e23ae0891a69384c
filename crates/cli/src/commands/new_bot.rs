//! `necrodome new-bot`: a small working bot to start from, out of `templates/`.

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

Languages: python, javascript, java, rust, c, ruby. PATH is a file, or a folder that is made if it is missing;
in Rust it is always the folder of a new crate. With --wasm, in Rust and C, the bot is built to a .wasm file: `necrodome docs
wasm` tells why.")]
pub struct Args {
    /// What it plays (see `necrodome games`)
    game: String,
    /// What it is written in
    language: String,
    /// Where to write it
    path: PathBuf,
    /// The bot's name; without one that of the file or folder
    #[arg(long)]
    name: Option<String>,
    /// Build it to a .wasm file, which the arena runs by itself (rust and c)
    #[arg(long)]
    wasm: bool,
    /// Overwrite files that are there
    #[arg(long)]
    force: bool,
}

/// A language with its template.
struct Language {
    name: &'static str,
    /// How else people call it.
    aliases: &'static [&'static str],
    /// The extension of its files; a Rust bot is a folder.
    extension: &'static str,
    /// Files of the template: where they go, and what is in them. One file is named by the user.
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

/// Rust's name for WASI preview 1.
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

/// What is to be written.
struct BotFiles {
    name: String,
    files: Vec<(PathBuf, String)>,
}

impl BotFiles {
    /// The file to edit.
    fn main(&self) -> &Path {
        &self.files[0].0
    }

    /// The folder of a crate.
    fn folder(&self) -> &Path {
        self.files.get(1).and_then(|(manifest, _)| manifest.parent()).unwrap_or(Path::new("."))
    }
}

fn plan(args: &Args, game: GameId, language: &Language) -> Result<BotFiles, Error> {
    let is_crate = language.extension.is_empty();
    let target = match (is_crate, is_folder(&args.path)) {
        (true, _) => args.path.clone(),
        (false, true) => args.path.join(language.files[0].0),
        (false, false) => with_extension(&args.path, language.extension)?,
    };
    if is_crate && target.is_file() {
        return Err(Error::exists(&target));
    }
    let name = match &args.name {
        Some(name) => checked_name(name)?,
        None => default_name(&args.path, &target, is_crate),
    };
    let filled_name = if is_crate { crate_name(&name) } else { name };
    // The text tells how to run the file under the name that it really has.
    let own = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let fill = |text: &str| {
        let text = text.replace("{{game}}", game.as_str()).replace("{{hint}}", game.card().hint);
        let text = match language.name {
            _ if is_crate && args.wasm => text
                .replace("cargo build --release", &format!("cargo build --release --target {RUST_TARGET}"))
                .replace(
                    "target/release/{{name}}",
                    &format!("target/{RUST_TARGET}/release/{{{{name}}}}.wasm"),
                ),
            _ if is_crate => text,
            "java" => rename_class(&text, &own),
            "c" => rename_c(&text, &own, args.wasm),
            _ => text.replace(language.files[0].0, &own),
        };
        text.replace("{{name}}", &filled_name)
    };
    let place = |file: &str| if is_crate { target.join(file) } else { target.clone() };
    let files = language.files.iter().map(|(file, text)| (place(file), fill(text))).collect();
    Ok(BotFiles { name: filled_name, files })
}

/// A folder that is there, or a path that can only mean one.
fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with('/')
}

/// Adds the extension if there is none; another language's is a mistake.
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

/// The name of the file, or of the folder when the file has the name of the template.
fn default_name(path: &Path, target: &Path, is_crate: bool) -> String {
    let source = if is_crate || !is_folder(path) { target } else { path };
    // `.` and `..` have no name of their own.
    let full = source.file_name().map(|_| source.to_owned()).or_else(|| fs::canonicalize(source).ok());
    let stem = full.as_deref().and_then(if is_crate { Path::file_name } else { Path::file_stem });
    let name = stem.unwrap_or_default().to_string_lossy();
    checked_name(&name).unwrap_or_else(|_| "mybot".to_owned())
}

/// A name that can stand in a comment of any language and be the name of an entry.
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

/// A name that cargo takes: ASCII letters, digits, `-` and `_`, beginning with a letter, and no word of the language.
fn crate_name(name: &str) -> String {
    /// What cargo refuses: keywords, and names that its own folders and the standard library have.
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

/// Java runs a file with any class in it, but its readers expect the class to have the file's name.
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

/// What is compiled from a file of C.
fn c_program(file: &Path, wasm: bool) -> PathBuf {
    file.with_extension(if wasm { "wasm" } else { "" })
}

fn c_compiler(wasm: bool) -> &'static str {
    if wasm { "clang --target=wasm32-wasi" } else { "cc" }
}

/// How an entry is written: with a slash, so that it is not taken for a built-in bot.
fn as_entry(path: &Path) -> String {
    let text = path.display().to_string();
    quoted(&if text.contains('/') { text } else { format!("./{text}") })
}

fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '=' | ':' | ',');
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

fn print_next_steps(game: GameId, language: &Language, plan: &BotFiles, wasm: bool) -> Result<(), Error> {
    let main = plan.main();
    let mut steps = Vec::new();
    let entry = match language.name {
        "rust" => {
            let manifest = quoted(&plan.folder().join("Cargo.toml").display().to_string());
            let (target, built) = if wasm {
                steps.push(format!("rustup target add {RUST_TARGET}"));
                (
                    format!(" --target {RUST_TARGET}"),
                    format!("target/{RUST_TARGET}/release/{}.wasm", plan.name),
                )
            } else {
                (String::new(), format!("target/release/{}", plan.name))
            };
            steps.push(format!("cargo build --release{target} --manifest-path {manifest}"));
            as_entry(&plan.folder().join(built))
        }
        "c" => {
            let program = c_program(main, wasm);
            let words = [&program, main].map(|path| quoted(&path.display().to_string()));
            if wasm {
                steps.push("apt-get install clang lld wasi-libc libclang-rt-dev-wasm32".to_owned());
            }
            steps.push(format!("{} -O2 -o {} {}", c_compiler(wasm), words[0], words[1]));
            as_entry(&program)
        }
        _ => as_entry(main),
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
        dim(format!("What it sees and says: `necrodome rules {game}`, `necrodome docs protocol`"))
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
