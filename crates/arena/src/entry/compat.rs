//! Bots that were written for other programs: `compat:zombiedice:my_bots.py:ClassName`. The Python package runs each in
//! a process that speaks the bot protocol; bots for one program, which ran on the JVM, have their own module (`zombies`).

use super::{EntryError, missing, seen_from, zombies};
use crate::process::Program;
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

/// The prefix of such an entry.
pub const PREFIX: &str = "compat:";
/// The programs whose bots can take part. All but `zombies` are named after their modules in `necrodome.compat`.
pub const KINDS: [&str; 4] = ["gamezombies", "godzilla", "zombiedice", zombies::KIND];
/// The command that runs Python files.
const PYTHON: [&str; 2] = ["python3", "-u"];

/// An entry, split into its parts. The class may be missing if the file has only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written<'a> {
    kind: &'a str,
    /// The file, as it was written.
    pub file: &'a str,
    class: Option<&'a str>,
}

impl<'a> Written<'a> {
    /// Splits the text after `compat:`.
    pub fn parse(text: &'a str) -> Result<Self, EntryError> {
        let refuse = |why: String| EntryError::Compat { text: format!("{PREFIX}{text}"), why };
        let kinds = KINDS.join(", ");
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        if !KINDS.contains(&kind) {
            return Err(refuse(format!("there is no kind {kind:?}: expected one of {kinds}")));
        }
        let (file, class) = match rest.rsplit_once(':') {
            Some((file, class)) => (file, Some(class)),
            None => (rest, None),
        };
        // Objects have names, too, and those may have spaces in them.
        let is_name = |class: &str| class.chars().all(|c| !c.is_control() && c != '/');
        if file.is_empty() || class.is_some_and(|class| class.is_empty() || !is_name(class)) {
            let file = if kind == zombies::KIND { "FILE_OR_FOLDER[:CLASS]" } else { "FILE.py:CLASS" };
            return Err(refuse(format!("expected {PREFIX}{kind}:{file}")));
        }
        Ok(Written { kind, file, class })
    }

    /// Whether the Python package runs the bot.
    pub(super) fn is_python(self) -> bool {
        self.kind != zombies::KIND
    }

    /// Returns the same entry with its file relative to another folder.
    pub fn moved_to(self, folder: &Path) -> String {
        let class = self.class.map(|class| format!(":{class}")).unwrap_or_default();
        format!("{PREFIX}{}:{}{class}", self.kind, folder.join(self.file).display())
    }

    /// Returns the name for the bot, before it is made unique.
    pub(super) fn wish(self) -> String {
        let stem = || Path::new(self.file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        self.class.map_or_else(stem, str::to_owned)
    }

    pub(super) fn program(self, folder: &Path) -> Result<Program, EntryError> {
        let path = seen_from(folder, self.file);
        if !self.is_python() {
            return zombies::program(&path, self.class);
        }
        let file = fs::canonicalize(&path).map_err(missing(&path))?;
        if !file.is_file() {
            return Err(EntryError::Unreadable { path, why: "expected a file of Python".into() });
        }
        let own = file.parent().unwrap_or(Path::new("/"));
        // Players in a copy of the program they were written for run from its folder, and read what is in it.
        let folder = match self.kind {
            "godzilla" => file.ancestors().skip(1).take(3).find(|folder| is_godzilla(folder)).unwrap_or(own),
            _ => own,
        }
        .to_owned();
        let own = file.to_string_lossy().into_owned();
        let words = PYTHON.into_iter().chain(["-m", "necrodome.compat", self.kind]).map(str::to_owned);
        Ok(Program {
            words: words.chain([own]).chain(self.class.map(str::to_owned)).collect(),
            folder,
            ..Program::default()
        })
    }
}

/// Whether this is the folder of the program godzilla-v2.
fn is_godzilla(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).is_file();
    has("player.py") && (has("constants.py") || has("helpers/constants.py"))
}

/// What Python is asked. With `-c`, the present folder comes first in its path; what is imported must not come from there.
const IMPORT: &str = "import sys; sys.path[:] = [path for path in sys.path if path]; import necrodome.compat";

/// Checks that Python can import the package, as a bot would. It runs before a match, since an import error inside a bot is harder to read.
/// Nothing confines it, so it runs away from the bot's folder, where a stranger's package may have the same name.
pub(super) fn check_package(program: &Program) -> Result<(), EntryError> {
    let command = program.command();
    let python = command.first().map_or("", String::as_str);
    let status = Command::new(python)
        .args(["-c", IMPORT])
        .current_dir("/")
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(EntryError::NoPackage { python: python.to_owned() }),
        Err(_) => Err(EntryError::NoPython { python: python.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::EntrySpec;

    #[test]
    fn a_package_in_the_folder_of_a_bot_is_not_run_to_check_the_bot() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("bot.py"), "").unwrap();
        fs::create_dir_all(folder.path().join("necrodome/compat")).unwrap();
        let ran = folder.path().join("ran");
        let spy = format!("open({:?}, 'w')", ran.display().to_string());
        for name in ["necrodome/__init__.py", "necrodome/compat/__init__.py", "sys.py", "os.py"] {
            fs::write(folder.path().join(name), &spy).unwrap();
        }
        for kind in ["gamezombies", "godzilla", "zombiedice"] {
            // Whether this machine has the package makes no difference.
            let _ = EntrySpec::parse(&format!("{PREFIX}{kind}:bot.py:Bot"), folder.path()).unwrap().check();
            assert!(!ran.exists(), "{kind}");
        }
    }
}
