//! Hints for the authors of bots: recognises the commonest mistakes from what the arena knows of a fault (what the bot wrote, its log, its
//! file), and says how to fix each. A hint travels with its [`Fault`] to every front end.

use crate::{
    fault::{Fault, FaultKind},
    process::Program,
    protocol::MAX_LISTED,
};
use necrodome_rules::catalog::Listed;
use serde_json::Value;
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

/// The language of a bot, if its command shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// Python.
    Python,
    /// JavaScript.
    JavaScript,
    /// Ruby.
    Ruby,
    /// Java.
    Java,
    /// Another language, or one that the command does not show.
    #[default]
    Other,
}

impl Language {
    /// Returns the language of a command, from the program that its first word runs.
    pub(crate) fn of(words: &[String]) -> Self {
        let runner = words.first().and_then(|word| Path::new(word).file_stem()?.to_str()).unwrap_or_default();
        match runner.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
            "python" | "pypy" => Language::Python,
            "node" | "quickjs" => Language::JavaScript,
            "ruby" => Language::Ruby,
            "java" => Language::Java,
            _ => Language::Other,
        }
    }

    /// Says how to write something that is not an answer.
    fn aside(self) -> &'static str {
        match self {
            Language::Python => "print to standard error instead: `print(..., file=sys.stderr)`",
            Language::JavaScript => "print to standard error instead: `console.error(...)`",
            Language::Ruby => "print to standard error instead: `warn ...`",
            Language::Java => "print to standard error instead: `System.err.println(...)`",
            Language::Other => "print to standard error instead: standard output is for answers",
        }
    }

    /// Says how to write an object as JSON.
    fn as_json(self) -> &'static str {
        match self {
            Language::Python => {
                "this is how Python writes a dict, not JSON: `print(json.dumps(answer), flush=True)`"
            }
            Language::JavaScript => {
                "this is how JavaScript shows an object, not JSON: `console.log(JSON.stringify(answer))`"
            }
            Language::Ruby => "this is how Ruby shows a hash, not JSON: `puts JSON.generate(answer)`",
            Language::Java | Language::Other => {
                "this is not JSON: names and texts stand in double quotes, as in {\"type\":\"ready\",\"protocol\":1}"
            }
        }
    }

    /// Says how to end a line.
    fn newline(self) -> &'static str {
        match self {
            Language::Python => "end each answer with a newline: `print(json.dumps(answer), flush=True)`",
            Language::JavaScript => "end each answer with a newline: `console.log(JSON.stringify(answer))`",
            Language::Ruby => "end each answer with a newline: `puts JSON.generate(answer)`",
            Language::Java => "end each answer with a newline: `System.out.println(answer)`",
            Language::Other => "end each answer with a newline, \"\\n\"",
        }
    }

    /// Says how to keep other text out of the line of an answer.
    fn alone(self) -> &'static str {
        match self {
            Language::Python => {
                "something stands before the JSON: call `input()` without a prompt, and print nothing with `end=\"\"`"
            }
            Language::JavaScript => {
                "something stands before the JSON: end other lines, or write them with `console.error(...)`"
            }
            Language::Ruby => {
                "something stands before the JSON: write other text with `warn ...`, not with `print`"
            }
            Language::Java => {
                "something stands before the JSON: write other text with `System.err.println(...)`, not with `System.out.print`"
            }
            Language::Other => "something stands before the JSON: an answer has a line to itself",
        }
    }

    /// Says how to read line by line.
    fn by_line(self) -> &'static str {
        match self {
            Language::Python => "`for line in sys.stdin:`, not `sys.stdin.read()`",
            Language::JavaScript => "the `line` events of `readline`, not `readFileSync(0)`",
            Language::Ruby => "`$stdin.each_line`, not `$stdin.read`",
            Language::Java => "`readLine()` of a BufferedReader, not `readAllBytes()`",
            Language::Other => "a line at a time, not up to the end of the input",
        }
    }

    /// Says how to flush what was written, or `None` where the arena takes care of it.
    fn flush(self) -> Option<&'static str> {
        match self {
            // The arena starts Python without a buffer, and Node writes at once.
            Language::Python | Language::JavaScript => None,
            Language::Ruby => Some("`$stdout.sync = true`"),
            Language::Java => Some("`System.out.flush()`"),
            Language::Other => Some("`fflush(stdout)` in C"),
        }
    }
}

/// The question to the bot.
pub(crate) enum Asked {
    /// Whether it is ready.
    Hello,
    /// Which action it takes.
    Decide {
        /// Its id.
        id: u64,
        /// Legal actions, if they can be listed, else an example, if the game has one.
        legal: Vec<Value>,
    },
    /// No question.
    Nothing,
}

impl Asked {
    /// A decision with this view.
    pub(crate) fn decision<G: Listed>(id: u64, view: &G::View) -> Self {
        let example = || G::example(view).into_iter().collect();
        let legal = G::few_legal_actions(view, MAX_LISTED).unwrap_or_else(example);
        let legal = legal.iter().filter_map(|action| serde_json::to_value(action).ok()).collect();
        Asked::Decide { id, legal }
    }

    /// Returns an acceptable answer, with an action of this kind if there is one.
    fn example(&self, kind: Option<&str>) -> String {
        match self {
            Asked::Decide { id, legal } => {
                let of_kind = legal.iter().find(|action| action.get("type").and_then(Value::as_str) == kind);
                match of_kind.or(legal.first()) {
                    Some(action) => format!("{{\"id\":{id},\"action\":{action}}}"),
                    None => format!("{{\"id\":{id},\"action\":{{...}}}}"),
                }
            }
            Asked::Hello | Asked::Nothing => r#"{"type":"ready","protocol":1}"#.to_owned(),
        }
    }

    /// Whether a list begins as an answer does.
    fn begins(&self, values: &[Value]) -> bool {
        values.first().is_some_and(|first| match self {
            Asked::Decide { id, .. } => first == id,
            Asked::Hello | Asked::Nothing => first == "ready",
        })
    }

    /// Whether a line ends with an answer.
    fn ends(&self, line: &str) -> bool {
        let Some(start) = line.find('{') else { return false };
        let Ok(Value::Object(fields)) = serde_json::from_str(&line[start..]) else { return false };
        match self {
            Asked::Decide { .. } => fields.contains_key("action"),
            Asked::Hello | Asked::Nothing => fields.get("type").is_some_and(|kind| kind == "ready"),
        }
    }

    /// Returns the kinds of legal actions, each once.
    fn kinds(&self) -> Vec<&str> {
        let Asked::Decide { legal, .. } = self else { return Vec::new() };
        let mut kinds = Vec::new();
        for kind in legal.iter().filter_map(|action| action.get("type")?.as_str()) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// Returns the kind of action that a text names, in capital letters or small ones.
    fn named(&self, text: &str) -> Option<&str> {
        self.kinds().into_iter().find(|kind| kind.eq_ignore_ascii_case(text))
    }
}

const ONLY_WHEN_ASKED: &str =
    "write one line for each `hello` and each `decide`: `start`, `events` and `end` want no answer";

/// How JavaScript prints an object that it turns into text.
const OBJECT: &str = "[object Object]";

/// Returns a fault in what a bot wrote, with a hint.
pub(crate) fn of_line(fault: Fault, line: &[u8], asked: &Asked, language: Language) -> Fault {
    let hint = match fault.kind {
        FaultKind::WrongId => Some("repeat the `id` of the message that is answered".to_owned()),
        FaultKind::Chatter
        | FaultKind::Flood
        | FaultKind::Garbage
        | FaultKind::NoStart
        | FaultKind::Illegal => line_hint(fault.kind, line, asked, language),
        _ => None,
    };
    fault.hinted(hint)
}

fn line_hint(kind: FaultKind, line: &[u8], asked: &Asked, language: Language) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim();
    let value: Option<Value> = text.lines().next().and_then(|first| serde_json::from_str(first).ok());
    let word = text.trim_matches('"');
    let hint = match &value {
        Some(Value::Object(fields)) => match kind {
            FaultKind::Flood | FaultKind::Chatter => ONLY_WHEN_ASKED.to_owned(),
            FaultKind::Illegal => return of_action(fields.get("action")?, asked),
            _ if fields.get("id").is_some_and(Value::is_null) => ONLY_WHEN_ASKED.to_owned(),
            _ if matches!(asked, Asked::Decide { .. })
                && fields.get("action").is_some_and(Value::is_null) =>
            {
                "`action` is null: does your function return an action?".to_owned()
            }
            // `ready` once more: the bot has taken another message for `hello`.
            _ if matches!(asked, Asked::Decide { .. })
                && fields.get("type").is_some_and(|kind| kind == "ready") =>
            {
                ONLY_WHEN_ASKED.to_owned()
            }
            _ if matches!(asked, Asked::Decide { .. }) && fields.keys().eq(["id"]) => {
                "there is no `action`: does your function return one?".to_owned()
            }
            _ if matches!(asked, Asked::Decide { .. }) && !fields.contains_key("action") => {
                let own = fields.get("type").and_then(Value::as_str);
                format!("an answer has an `id` and an `action`: {}", asked.example(own))
            }
            _ => format!("answer like this: {}", asked.example(None)),
        },
        _ if kind == FaultKind::Illegal => return None,
        _ if asked.named(word).is_some() => {
            format!("an answer is an object: {}", asked.example(asked.named(word)))
        }
        _ if matches!(asked, Asked::Hello) && word == "ready" => {
            format!("an answer is an object: {}", asked.example(None))
        }
        Some(Value::Array(values)) if asked.begins(values) => {
            format!("an answer is an object, not a list of its values: {}", asked.example(None))
        }
        None if ["{", "["].contains(&text) => "an answer stands on one line: do not indent it".to_owned(),
        None if kind != FaultKind::Chatter && (text.starts_with('{') || text == OBJECT) => {
            dialect(text, language).as_json().to_owned()
        }
        None if kind != FaultKind::Chatter && asked.ends(text) => language.alone().to_owned(),
        _ => {
            let once =
                if kind == FaultKind::Chatter { "; only one such line is forgiven in a match" } else { "" };
            format!("{}{once}", language.aside())
        }
    };
    Some(hint)
}

/// Says how to write an action that cannot be read, if a legal one is known.
fn of_action(action: &Value, asked: &Asked) -> Option<String> {
    let Asked::Decide { legal, .. } = asked else { return None };
    let kinds = asked.kinds();
    if kinds.is_empty() {
        return legal
            .first()
            .map(|_| format!("an action is an object like the one in {}", asked.example(None)));
    }
    let came = action.as_str().or_else(|| action.get("type")?.as_str());
    let named = came.and_then(|came| asked.named(came));
    let example = asked.example(named);
    Some(match (came, named) {
        _ if !action.is_object() => format!("an action is an object with a `type`: {example}"),
        (Some(came), Some(kind)) if came != kind => {
            format!("write `{kind}` in small letters: {example}")
        }
        (Some(_), Some(kind)) => match fields_of(kind, asked) {
            Some(fields) => format!("{fields}: {example}"),
            None => format!("answer like this: {example}"),
        },
        (Some(_), None) => format!("write {} as its `type`: {example}", one_of(&kinds)),
        (None, _) => format!("an action is an object with a `type`: {example}"),
    })
}

/// Says what a list of true and false in actions of this kind is like, if there is one.
fn fields_of(kind: &str, asked: &Asked) -> Option<String> {
    let Asked::Decide { legal, .. } = asked else { return None };
    let action = legal.iter().find(|action| action.get("type").is_some_and(|own| own == kind))?;
    let is_flags = |value: &&Value| value.as_array().is_some_and(|list| list.iter().all(Value::is_boolean));
    let (field, flags) = action.as_object()?.iter().find(|(_, value)| is_flags(value))?;
    let length = flags.as_array()?.len();
    Some(format!("`{field}` is a list of {length} times true or false, one for each of the {length} {field}"))
}

/// Returns `a`, `b` or `c`.
fn one_of(kinds: &[&str]) -> String {
    let quoted: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Returns the language that writes objects like this.
fn dialect(text: &str, language: Language) -> Language {
    let python =
        text.starts_with("{'") || [": True", ": False", ": None"].iter().any(|word| text.contains(word));
    match language {
        Language::Other if python => Language::Python,
        Language::Other if text.contains("=>") => Language::Ruby,
        _ if text == OBJECT => Language::JavaScript,
        language => language,
    }
}

/// What the arena knows of a bot that does not answer.
pub(crate) struct Silent<'a> {
    /// Its language.
    pub language: Language,
    /// Its command, or `None` for a module, which the arena runs itself.
    pub program: Option<&'a Program>,
    /// Whether it has ever written a line.
    pub has_spoken: bool,
    /// What it has written since its last line.
    pub unfinished: &'a [u8],
    /// What it has written to standard error.
    pub log: &'a [u8],
}

impl Silent<'_> {
    /// Returns a fault of a bot that gave no answer, with a hint.
    pub(crate) fn of(&self, mut fault: Fault) -> Fault {
        let language = self.language;
        let log = String::from_utf8_lossy(self.log);
        if let Some(exception) = exception(&log).filter(|_| fault.kind == FaultKind::Crash) {
            fault.detail = Fault::new(fault.kind, format!("{} ({exception})", fault.detail)).detail;
        }
        let hint = match fault.kind {
            FaultKind::Timeout | FaultKind::Exit if !self.unfinished.trim_ascii().is_empty() => {
                Some(language.newline().to_owned())
            }
            FaultKind::Timeout => Some(self.waits(language)),
            FaultKind::Exit => Some(self.of_blank_file().unwrap_or_else(|| {
                let early = if self.has_spoken { "" } else { "the bot ends before it answers `hello`: " };
                format!("{early}read in a loop until the input ends: {}", language.by_line())
            })),
            FaultKind::Crash | FaultKind::NoStart => self
                .of_blank_file()
                .or_else(|| self.of_file())
                .or_else(|| self.of_missing_file(&log))
                .or_else(|| self.of_log(&log))
                .or_else(|| self.of_runner()),
            _ => None,
        };
        fault.hinted(hint)
    }

    /// Returns the hint for a bot that neither answers nor computes.
    fn waits(&self, language: Language) -> String {
        const TO_THE_END: [&str; 8] = [
            "stdin.read()",
            "stdin.readlines()",
            "readFileSync(0",
            "readFileSync('/dev/stdin'",
            "readFileSync(\"/dev/stdin\"",
            "$stdin.read\n",
            "STDIN.read\n",
            "readAllBytes()",
        ];
        let source = self.file().and_then(|(_, bytes)| String::from_utf8(bytes).ok()).unwrap_or_default();
        let reads_all = TO_THE_END.iter().any(|call| source.contains(call));
        // A module has been run until it waited for input.
        if self.has_spoken && !reads_all && self.program.is_some() {
            let flush =
                language.flush().map_or(String::new(), |flush| format!(", does not flush ({flush}),"));
            return format!(
                "the bot has answered before, so it is too slow{flush} or waits for a message that does not come: \
                 --decision-ms is the limit for a decision"
            );
        }
        let flush = language.flush().filter(|_| !reads_all);
        let flush = flush.map_or(String::new(), |flush| format!("flush each answer ({flush}); "));
        let answer = match self.has_spoken || reads_all {
            true => "answer each message as it comes",
            false => "answer `hello` with {\"type\":\"ready\",\"protocol\":1} as soon as it comes",
        };
        format!("{flush}{answer}: read {}", language.by_line())
    }

    /// Returns the file that the command runs, and its beginning.
    fn file(&self) -> Option<(PathBuf, Vec<u8>)> {
        const MOST: u64 = 256 << 10;
        let path = self.program?.files().into_iter().next()?;
        let mut bytes = Vec::new();
        File::open(&path).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
        Some((path, bytes))
    }

    /// Returns a hint if there is nothing in the file.
    fn of_blank_file(&self) -> Option<String> {
        let (_, bytes) = self.file().filter(|_| !self.has_spoken)?;
        let hint = "the file is empty: `necrodome new-bot` writes a bot to start from";
        bytes.trim_ascii().is_empty().then(|| hint.to_owned())
    }

    /// Returns a hint if a file of the command does not exist, and the log complains about it: a command may name files to write.
    /// Pages show hints to everybody, so it does not tell the folder.
    fn of_missing_file(&self, log: &str) -> Option<String> {
        let program = self.program?;
        let words = program.words.iter().skip(1).filter(|word| crate::entry::looks_like_file(word));
        let mut missing = words.filter(|word| !program.folder.join(word).exists());
        let name = |word: &String| Some(Path::new(word).file_name()?.to_str()?.to_owned());
        let name = missing.find_map(|word| name(word).filter(|name| is_name(name) && log.contains(name)))?;
        Some(format!("there is no file {name}: check the spelling"))
    }

    /// Returns a hint if the system cannot run the file. Pages show hints to everybody, so it does not name the file.
    fn of_file(&self) -> Option<String> {
        let (path, bytes) = self.file()?;
        let name = path.file_name()?.to_string_lossy();
        let runner = self.program?.words.first().and_then(|word| Path::new(word).file_name()?.to_str())?;
        let is_own = path.file_name()?.to_str() == Some(runner);
        let runs_by_itself = [&b"#!"[..], b"\x7fELF"].iter().any(|start| bytes.starts_with(start));
        if is_own
            && !runs_by_itself
            && let Some(cure) = path.extension().and_then(|extension| of_extension(extension.to_str()?))
        {
            return Some(cure);
        }
        let Ok(source) = String::from_utf8(bytes) else {
            let hint =
                "the system cannot run this file: build it for Linux and the processor of this machine";
            return (is_own && !runs_by_itself).then(|| hint.to_owned());
        };
        let is_shell = ["sh", "bash", "dash", "zsh"].contains(&runner) || name.ends_with(".sh");
        let first = source.lines().next().unwrap_or_default();
        let shell_line = first.starts_with("#!") && first.trim_end().ends_with("sh");
        // Unlike `lines`, `split` leaves the \r.
        let windows = source.split('\n').next().is_some_and(|line| line.ends_with('\r')) && is_own
            || source.contains("\r\n") && (is_shell || shell_line);
        if windows {
            let hint = "the file has Windows line ends, which break its first line or the shell: `sed -i 's/\\r$//' FILE`";
            return Some(hint.to_owned());
        }
        if !is_own {
            return None;
        }
        let Some(command) = first.strip_prefix("#!") else {
            let hint = "begin the file with a line that says what runs it, such as `#!/usr/bin/env python3`";
            return Some(hint.to_owned());
        };
        let mut words = command.split_whitespace().filter(|word| !word.starts_with('-'));
        let interpreter = words.next()?;
        let interpreter = if interpreter.ends_with("/env") { words.next()? } else { interpreter };
        let missing = match interpreter.contains('/') {
            true => !Path::new(interpreter).exists(),
            false => !crate::entry::is_found(interpreter, Path::new(".")),
        };
        missing.then(|| how_to_get(interpreter))
    }

    /// Returns the hint that the log gives, if any.
    fn of_log(&self, log: &str) -> Option<String> {
        match missing_module(log) {
            Some(module) if self.program.is_none() => Some(format!(
                "there is no module {module} in WebAssembly: use what the interpreter brings with it"
            )),
            // Without a command to copy: the log is the bot's, and it may name what it likes.
            Some(module) => Some(format!(
                "there is no module {module}: check the spelling; if it is your own file, put it beside the bot; otherwise install it"
            )),
            None => of_log(log),
        }
    }

    /// Returns a hint if the program that runs the bot is missing.
    fn of_runner(&self) -> Option<String> {
        let runner = self.program?.words.first()?;
        (!crate::entry::is_found(runner, &self.program?.folder)).then(|| how_to_get(runner))
    }
}

/// Says how to enter a file with this extension that the system cannot run as it is.
pub(crate) fn of_extension(extension: &str) -> Option<String> {
    let (command, enter) = match extension {
        "c" => ("cc -O2 -o bot bot.c", "./bot"),
        "cpp" | "cc" | "cxx" => ("c++ -O2 -o bot bot.cpp", "./bot"),
        "rs" => ("rustc -O bot.rs", "./bot"),
        "go" => ("go build -o bot bot.go", "./bot"),
        "kt" => ("kotlinc bot.kt -include-runtime -d bot.jar", "./bot.jar"),
        "ts" => ("npx tsc bot.ts", "./bot.js"),
        "class" => return Some("enter the source file, `./Bot.java`, or a .jar".to_owned()),
        "exe" => return Some("this is a program for Windows: build it for Linux".to_owned()),
        "lua" | "php" | "pl" => {
            let interpreter = if extension == "pl" { "perl" } else { extension };
            let first = format!("begin the file with `#!/usr/bin/env {interpreter}`");
            return Some(match crate::entry::is_found(interpreter, Path::new(".")) {
                true => first,
                false => format!("{first}; {}", how_to_get(interpreter)),
            });
        }
        _ => return None,
    };
    Some(format!("compile it first (`{command}`) and enter `{enter}`"))
}

/// Returns the text after a sign, from the last line that has it.
fn behind<'a>(log: &'a str, sign: &str) -> Option<&'a str> {
    log.lines().rev().find_map(|line| Some(line.split_once(sign)?.1.trim()))
}

/// Returns a text without the quotes around it and without anything after them.
fn unquoted(text: &str) -> Option<String> {
    text.trim_start_matches(['\'', '"']).split(['\'', '"']).next().map(str::to_owned)
}

/// Returns the module that a log reports missing, if any.
fn missing_module(log: &str) -> Option<String> {
    // Of a package in Python the first part is what is installed.
    let python = || behind(log, "No module named ").and_then(unquoted)?.split('.').next().map(str::to_owned);
    let is_file = |module: &String| module.starts_with(['.', '/']);
    let node = || {
        let module = behind(log, "Cannot find module ").or_else(|| behind(log, "Cannot find package "));
        module.and_then(unquoted).filter(|module| !is_file(module))
    };
    let ruby = || behind(log, "cannot load such file -- ")?.split(' ').next().map(str::to_owned);
    python().or_else(node).or_else(ruby).filter(|module| is_name(module))
}

/// Returns the exception that ended a program in Python, with its place: `KeyError: 'brains', line 5`. Details are public, so of a
/// message with a path only the exception is told.
fn exception(log: &str) -> Option<String> {
    const LONGEST: usize = 100;
    let last = log.lines().rev().find(|line| !line.trim().is_empty())?.trim_end();
    let name = last.split(':').next()?;
    let is_exception = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._".contains(c));
    let place = behind(log, "\", line ")
        .filter(|_| is_exception && log.contains("Traceback (most recent call last)"))?;
    let line: String = place.chars().take_while(char::is_ascii_digit).collect();
    let said: String =
        if last.contains('/') { name.to_owned() } else { last.chars().take(LONGEST).collect() };
    Some(format!("{said}, line {line}"))
}

/// Returns the hint that a log gives about a crash, if any.
fn of_log(log: &str) -> Option<String> {
    let behind = |sign: &str| behind(log, sign);
    let file = behind("Cannot find module ").and_then(unquoted);
    if let Some(file) = file.as_ref().filter(|file| file.strip_prefix("./").is_some_and(is_name)) {
        return Some(format!("there is no file {file} beside the bot"));
    }
    // Modules that are imported have full paths, which are not for everybody.
    let imported = file.as_deref().filter(|file| file.starts_with('/'));
    if let Some(name) =
        imported.and_then(|file| Path::new(file).file_name()?.to_str()).filter(|name| is_name(name))
    {
        return Some(format!("there is no file {name} where the bot looks for it: check the spelling"));
    }
    let package = behind("error: package ").and_then(|rest| rest.strip_suffix(" does not exist"));
    if let Some(package) = package.filter(|package| is_name(package)) {
        return Some(format!(
            "there is no package {package}: check the spelling; Java finds its own library and what is in the file"
        ));
    }
    let in_python =
        ["SyntaxError: ", "IndentationError: ", "TabError: "].iter().any(|sign| behind(sign).is_some());
    // The first mistake counts: others may follow from it.
    let numbered = |sign: &str| {
        log.lines().find_map(|line| line.split_once(sign)?.0.rsplit_once(':')).map(|(_, line)| line)
    };
    let line = match in_python {
        true => behind(", line ").and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()),
        false => numbered(": syntax error")
            .or_else(|| numbered(": error: ").filter(|_| log.contains("error: compilation failed"))),
    };
    if in_python || line.is_some() {
        let is_number = |line: &&str| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
        let place = line.filter(is_number).map_or(String::new(), |line| format!(" in line {line}"));
        return Some(format!("mend the mistake{place}: the log shows what cannot be read"));
    }
    let field = behind("KeyError: ").and_then(unquoted);
    if let Some(field @ ("id" | "view" | "legal" | "seed" | "seat" | "names")) = field.as_deref() {
        let of = match field {
            "id" | "view" => "only `decide` has it",
            "legal" => "`decide` has it only where the legal actions are few: `message.get(\"legal\")`",
            _ => "only `start` has it",
        };
        return Some(format!("look at the `type` of a message before its `{field}`: {of}"));
    }
    None
}

/// Whether a text from a bot can be shown as a name.
fn is_name(text: &str) -> bool {
    const LONGEST: usize = 60;
    let good = |c: char| c.is_alphanumeric() || "._-/@".contains(c);
    (1..=LONGEST).contains(&text.len())
        && text.starts_with(|c: char| c.is_alphanumeric() || c == '@' || c == '_')
        && text.chars().all(good)
}

/// Says how to get a program that is missing. Only for well-known ones it says a command: a bot can name any program.
pub(crate) fn how_to_get(program: &str) -> String {
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    let package = match &*name {
        "node" => "nodejs",
        "java" | "javac" => "default-jdk-headless",
        "python" => "python-is-python3",
        "lua" => "lua5.4",
        "python3" | "ruby" | "perl" | "php" | "pypy3" => &name,
        _ if is_name(&name) => {
            return format!("there is no {name} here: check the spelling, install it, or put it on the PATH");
        }
        _ => return "there is no such program here: check the spelling".to_owned(),
    };
    format!(
        "there is no {name} here: install it (on Debian and Ubuntu: `apt-get install {package}`), or put it on the PATH"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn hint(kind: FaultKind, line: &str, asked: &Asked, language: Language) -> String {
        of_line(Fault::new(kind, ""), line.as_bytes(), asked, language).hint.unwrap_or_default()
    }

    #[test]
    fn what_is_no_answer_is_told_in_the_language_of_the_bot() {
        let asked = Asked::Decide { id: 7, legal: vec![json!({"type": "go"}), json!({"type": "stop"})] };
        let garbage = |line: &str, language| hint(FaultKind::Garbage, line, &asked, language);
        for (line, language, says) in [
            ("thinking", Language::Python, "`print(..., file=sys.stderr)`"),
            ("thinking", Language::JavaScript, "`console.error(...)`"),
            ("thinking", Language::Ruby, "`warn ...`"),
            ("thinking", Language::Java, "`System.err.println(...)`"),
            ("thinking", Language::Other, "standard output is for answers"),
            ("{'id': 7, 'action': None}", Language::Other, "`print(json.dumps(answer), flush=True)`"),
            ("{:id=>7}", Language::Other, "`puts JSON.generate(answer)`"),
            ("{ id: 7, action: { type: 'go' } }", Language::JavaScript, "JSON.stringify"),
            ("{", Language::Python, "one line"),
            ("stop", Language::Other, r#"{"id":7,"action":{"type":"stop"}}"#),
            ("\"stop\"", Language::Other, r#"{"id":7,"action":{"type":"stop"}}"#),
            (r#"{"type":"stop"}"#, Language::Other, r#"{"id":7,"action":{"type":"stop"}}"#),
            (r#"[7,["stop"]]"#, Language::Other, "not a list of its values"),
            ("[7.5, 3]", Language::Python, "`print(..., file=sys.stderr)`"),
            ("[object Object]", Language::Other, "JSON.stringify"),
            (r#"{"id":7}"#, Language::JavaScript, "there is no `action`"),
            (r#"> {"id":7,"action":{"type":"stop"}}"#, Language::Python, "`input()` without a prompt"),
            (r#"> {"id":7,"action":{"type":"stop"}}"#, Language::Ruby, "`warn ...`, not with `print`"),
            (r#"view {"turn":7}"#, Language::Python, "`print(..., file=sys.stderr)`"),
        ] {
            let hint = garbage(line, language);
            assert!(hint.contains(says), "{line} {language:?}: {hint}");
        }
        let illegal = |line: &str| hint(FaultKind::Illegal, line, &asked, Language::Python);
        assert!(illegal(r#"{"id":7,"action":"stop"}"#).contains(r#"{"type":"stop"}"#));
        for (action, says) in [
            (r#"{"type":"go","more":1}"#, r#"answer like this: {"id":7,"action":{"type":"go"}}"#),
            (r#"{"type":"roll"}"#, r#"write `go` or `stop` as its `type`: {"id":7,"action":{"type":"go"}}"#),
            (r#"{"type":"Stop"}"#, r#"write `stop` in small letters: {"id":7,"action":{"type":"stop"}}"#),
            (r#""Stop""#, r#"an action is an object with a `type`: {"id":7,"action":{"type":"stop"}}"#),
        ] {
            assert_eq!(illegal(&format!(r#"{{"id":7,"action":{action}}}"#)), says);
        }
        let legal = vec![
            json!({"type": "keep", "dice": [true, false]}),
            json!({"type": "keep", "dice": [true, true]}),
        ];
        let line = br#"{"id":7,"action":{"type":"keep","dice":["attack"]}}"#;
        let asked_dice = Asked::Decide { id: 7, legal };
        let hint = of_line(Fault::new(FaultKind::Illegal, ""), line, &asked_dice, Language::Other).hint;
        let says = "`dice` is a list of 2 times true or false, one for each of the 2 dice: {\"id\":7,";
        assert!(hint.as_ref().is_some_and(|hint| hint.starts_with(says)), "{hint:?}");
        assert_eq!(garbage(r#"{"type":"ready","protocol":1}"#, Language::Other), ONLY_WHEN_ASKED);
    }

    #[test]
    fn logs_name_what_is_missing() {
        for (log, language, says) in [
            (
                "ModuleNotFoundError: No module named 'numpy.linalg'\n",
                Language::Python,
                "no module numpy: check",
            ),
            (
                "Error: Cannot find module 'lodash'\nRequire stack:\n",
                Language::JavaScript,
                "no module lodash: check",
            ),
            ("a.rb:1: cannot load such file -- oj (LoadError)", Language::Ruby, "no module oj: check"),
            (
                "  File \"a.py\", line 12\n    x\nSyntaxError: invalid syntax\n",
                Language::Python,
                "in line 12:",
            ),
            ("KeyError: 'view'\n", Language::Python, "only `decide` has it"),
            (
                "/x/a.rb:3: syntax error, unexpected end-of-input\nputs 'a'\n/x/a.rb:9: syntax error, unexpected `end'\n",
                Language::Ruby,
                "the mistake in line 3:",
            ),
            (
                "/x/Bot.java:2: error: ';' expected\n  int x = 1\n           ^\n1 error\nerror: compilation failed\n",
                Language::Java,
                "the mistake in line 2:",
            ),
            (
                "Bot.java:1: error: package com.google.gson does not exist\nimport\n1 error\nerror: compilation failed\n",
                Language::Java,
                "no package com.google.gson: check",
            ),
            (
                "Error: Cannot find module './nope'\nRequire stack:\n- /x/a.js\n",
                Language::JavaScript,
                "no file ./nope beside the bot",
            ),
            (
                "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'lodash' imported from /x/a.mjs\n",
                Language::JavaScript,
                "no module lodash: check",
            ),
            (
                "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/x/nope.mjs' imported from /x/a.mjs\n",
                Language::JavaScript,
                "no file nope.mjs where",
            ),
        ] {
            let silent = |program| Silent { language, program, has_spoken: true, unfinished: b"", log: b"" };
            let hint = silent(Some(&Program::default())).of_log(log).unwrap();
            assert!(hint.contains(says), "{log}: {hint}");
        }
        for odd in ["`rm -rf`", "-r", "$(x)"] {
            let log = format!("KeyError: 'brain'\nNo module named '{odd}'");
            assert_eq!((missing_module(&log), of_log(&log)), (None, None));
        }
    }

    #[test]
    fn a_game_without_a_list_of_actions_shows_one() {
        let legal = vec![json!({"orders": [{"type": "move", "copy": 3, "direction": "north"}]})];
        let asked = Asked::Decide { id: 7, legal };
        for action in [r#""north""#, r#"{"orders":[5]}"#] {
            let line = format!(r#"{{"id":7,"action":{action}}}"#);
            let hint = hint(FaultKind::Illegal, &line, &asked, Language::Python);
            assert!(
                hint.ends_with(r#"{"orders":[{"copy":3,"direction":"north","type":"move"}]}}"#),
                "{hint}"
            );
        }
        let null = hint(FaultKind::Garbage, r#"{"id":7,"action":null}"#, &asked, Language::Python);
        assert_eq!(null, "`action` is null: does your function return an action?");
    }

    /// What a bot names must not become a command that somebody copies.
    #[test]
    fn no_hint_is_a_command_with_words_of_a_bot() {
        for program in ["evil", "$(curl${IFS}x)", "-y"] {
            assert!(!how_to_get(program).contains('`'), "{program}");
        }
        assert!(how_to_get("/usr/bin/node").contains("`apt-get install nodejs`"));
    }

    #[test]
    fn a_crash_names_the_exception_and_its_line() {
        let log = |last: &str| {
            format!("Traceback (most recent call last):\n  File \"/x/a.py\", line 5, in <module>\n{last}\n")
        };
        assert_eq!(exception(&log("KeyError: 'brains'")).as_deref(), Some("KeyError: 'brains', line 5"));
        let opened = exception(&log("FileNotFoundError: no such file: '/home/ada/x'"));
        assert_eq!(opened.as_deref(), Some("FileNotFoundError, line 5"));
        assert_eq!(exception("KeyError: 'brains'\n"), None);
        assert_eq!(exception(&log("I am lost")), None);
    }
}
