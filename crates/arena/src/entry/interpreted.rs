//! `wasm:mybot.py` and `wasm:mybot.js`: source files that run in an interpreter, which is itself a WebAssembly module. The interpreter gets
//! the source as a word of its command line, so it needs no file.

use super::{EntryError, is_module, module, read, seen_from};
use crate::{own, wasm};
use std::{
    env, fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// The prefix of such an entry.
pub const PREFIX: &str = "wasm:";

/// The environment variable with the folder of the interpreters.
const FOLDER: &str = "NECRODOME_WASM";

/// An interpreter.
struct Interpreter {
    extensions: &'static [&'static str],
    /// Its file.
    file: &'static str,
    /// Its command line, up to the source and the source's name.
    words: &'static [&'static str],
    /// Whether the name of the source goes before the source.
    named: bool,
}

const INTERPRETERS: [Interpreter; 2] = [
    Interpreter { extensions: &["py"], file: "python.wasm", words: &["python", "-I", "-c"], named: false },
    Interpreter { extensions: &["js", "mjs", "cjs"], file: "quickjs.wasm", words: &["quickjs"], named: true },
];

/// The folder of the interpreters.
fn folder() -> PathBuf {
    let cache = || own::cache().unwrap_or_else(|| "necrodome".into());
    env::var_os(FOLDER).map_or_else(cache, PathBuf::from)
}

/// Returns the module for the text after the prefix.
pub(super) fn parse(written: &str, from: &Path) -> Result<wasm::Module, EntryError> {
    let path = seen_from(from, written);
    if is_module(&path) {
        return module(&path);
    }
    let extension = path.extension().unwrap_or_default();
    let found =
        INTERPRETERS.iter().find(|interpreter| interpreter.extensions.iter().any(|&own| extension == own));
    let refuse = |why: &str| EntryError::Unreadable { path: path.clone(), why: why.to_owned() };
    let Some(Interpreter { file, words, named, .. }) = found else {
        return Err(refuse("wasm: runs files that end in .wasm, .py, .js, .mjs or .cjs"));
    };
    let source = String::from_utf8(read(&path)?).map_err(|_| refuse("it is not text in UTF-8"))?;
    if source.contains('\0') {
        return Err(refuse("it has a character 0"));
    }
    let interpreter = folder().join(file);
    let bytes = match fs::metadata(&interpreter) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(EntryError::NoInterpreter { interpreter, text: format!("{PREFIX}{written}") });
        }
        _ => read(&interpreter)?,
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = named.then_some(name.as_str());
    let words: Vec<&str> = words.iter().copied().chain(name).chain([source.as_str()]).collect();
    wasm::Module::shared(&bytes, &words).map_err(|why| EntryError::Wasm { path: interpreter, why })
}
