//! The files that a bot may read: the system, its interpreter, its own folder. The bot's file system and Landlock use the same list.

use crate::{ours, process::Program};
use std::{
    collections::BTreeSet,
    env, fs,
    io::Read,
    path::{Path, PathBuf},
};

/// Programs and libraries of the system. These folders hold no secrets.
const SYSTEM: [&str; 10] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/run/current-system/sw",
];
/// Files in `/etc` that runtimes read: where libraries are, names of users, time zones, certificates. Not `shadow`, not keys.
const ETC: [&str; 15] = [
    "alternatives",
    "ca-certificates",
    "group",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "ssl/certs",
    "ssl/openssl.cnf",
    "timezone",
];
/// Files that programs read to use the network: name servers, names, certificates.
const NETWORK: [&str; 9] = [
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/cert.pem",
    "/run/systemd/resolve",
    "/var/lib/ca-certificates",
];
/// Prefixes of the names of folders in `/etc` that belong to a runtime.
const ETC_OF_RUNTIMES: [&str; 5] = ["java", "python", "perl", "php", "mono"];
/// The parts of an installation below a prefix.
const INSTALLED: [&str; 12] = [
    "bin",
    "conf",
    "include",
    "jmods",
    "jre",
    "lib",
    "lib64",
    "libexec",
    "release",
    "share",
    "pyvenv.cfg",
    "node_modules",
];

/// What bots can see beyond the usual, and what is hidden from them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::process) struct Sight {
    /// Files and folders that all bots may read.
    pub shared: Vec<PathBuf>,
    /// The files of all bots and of the arena; each bot sees only its own.
    pub hidden: Vec<PathBuf>,
    /// Whether bots can reach the network, and read its configuration.
    pub network: bool,
}

/// Returns everything that a bot may read: files and folders, none inside another.
pub(in crate::process) fn readable(program: &Program, sight: &Sight) -> Vec<PathBuf> {
    let mut found: BTreeSet<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    found.extend(NETWORK.iter().filter(|_| sight.network).map(PathBuf::from));
    found.extend(ETC.iter().map(|name| Path::new("/etc").join(name)));
    let runtimes = fs::read_dir("/etc").into_iter().flatten().flatten().map(|entry| entry.path());
    found.extend(runtimes.filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        ETC_OF_RUNTIMES.iter().any(|runtime| name.starts_with(runtime))
    }));
    found.extend(sight.shared.iter().cloned());
    for executable in executables(program) {
        found.extend(installation(&executable));
    }
    // Packages that the user installed for Python, but nothing else of the home folder.
    found.extend(home().map(|home| home.join(".local/lib")));
    found.extend(own(program, &sight.hidden));
    outermost(found)
}

/// Drops what is inside something else, or missing.
fn outermost(found: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in found.into_iter().filter(|path| path.symlink_metadata().is_ok()) {
        if !kept.iter().any(|above| path.starts_with(above)) {
            kept.push(path);
        }
    }
    kept
}

fn home() -> Option<PathBuf> {
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).ok().flatten();
    user.map(|user| user.dir).filter(|home| home.parent().is_some())
}

/// Whether a folder holds much more than a bot: the root, a home folder or one above it, the folder of temporary files.
pub(in crate::process) fn is_common(folder: &Path) -> bool {
    let above = |inner: &Path| inner.starts_with(folder);
    let homes = [home(), env::var_os("HOME").map(PathBuf::from)];
    folder.parent().is_none()
        || homes.into_iter().flatten().any(|home| above(&home))
        || above(&env::temp_dir())
        || ["/home", "/root", "/tmp", "/etc", "/var", "/proc", "/dev", "/sys", "/run"]
            .iter()
            .any(|path| above(Path::new(path)))
}

/// Returns the bot's own folder. A bot in a common folder gets the folders of the files that its command names, unless they are common, too.
fn folders(program: &Program, files: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = program.folder.canonicalize().into_iter().collect();
    if folders.iter().any(|folder| is_common(folder)) {
        folders = files.iter().filter_map(|file| file.parent().map(Path::to_owned)).collect();
    }
    folders.retain(|folder| !is_common(folder));
    folders
}

/// Returns what a confined bot may read because its command names it: all but the system's own folders.
pub(crate) fn beyond_system(program: &Program) -> Vec<PathBuf> {
    let files = program.files();
    let mut found: BTreeSet<PathBuf> = folders(program, &files).into_iter().chain(files).collect();
    found.extend(executables(program).iter().flat_map(|executable| installation(executable)));
    found.retain(|path| !SYSTEM.iter().any(|system| path.starts_with(system)));
    outermost(found)
}

/// Returns the folders that the bot may read without the hidden files, and the files that its command names.
fn own(program: &Program, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let files = program.files();
    let mut shown = files.clone();
    for folder in &folders(program, &files) {
        let foreign = hidden
            .iter()
            .cloned()
            .chain(ours_in(folder))
            // Keys of the host.
            .chain(Some(folder.join(".env")).filter(|keys| keys.exists()))
            .filter(|path| path.starts_with(folder) && !files.iter().any(|file| file.starts_with(path)));
        show(folder, &foreign.collect::<Vec<_>>(), &mut shown);
    }
    shown
}

/// Returns the stores, plans, packs and shards in a folder and in the folders in it: their secrets may not be public yet.
fn ours_in(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && next == folder => folders.push(entry.path()),
                Ok(kind) if kind.is_file() && ours::is_ours(&entry.path()) => {
                    found.push(entry.path());
                }
                _ => {}
            }
        }
    }
    found
}

/// Shows a whole folder or, if something in it is hidden, everything else in it.
fn show(folder: &Path, hidden: &[PathBuf], shown: &mut Vec<PathBuf>) {
    if !hidden.iter().any(|path| path.starts_with(folder)) {
        return shown.push(folder.to_owned());
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if hidden.contains(&path) {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => show(&path, hidden, shown),
            // A link may lead anywhere; what it leads to is shown only if it is shown by itself.
            Ok(_) => shown.push(path),
            Err(_) => {}
        }
    }
}

/// Returns the programs that run a bot: the first word, the interpreter in its first line, and the targets of links.
fn executables(program: &Program) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut next = vec![program.words[0].clone()];
    // `env NAME` runs NAME, in a command as in a first line.
    next.extend(program.words.get(1).filter(|_| program.words[0].ends_with("env")).cloned());
    while let Some(word) = next.pop() {
        let Some(mut path) = find(&word, &program.folder).filter(|path| !found.contains(path)) else {
            continue;
        };
        // Links are followed one by one: a virtual environment is a folder in which the interpreter is a link.
        for _ in 0..40 {
            found.push(path.clone());
            match path.read_link() {
                Ok(target) => path = path.parent().unwrap_or(Path::new("/")).join(target),
                Err(_) => break,
            }
        }
        next.extend(interpreters(&path).into_iter().filter(|word| !word.starts_with('-')));
    }
    found
}

/// Finds a program as the system does.
fn find(word: &str, folder: &Path) -> Option<PathBuf> {
    if word.contains('/') {
        return std::path::absolute(folder.join(word)).ok().filter(|path| path.is_file());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(word)).find(|path| path.is_file())
}

/// Returns the words in the first line of a script: its interpreter, and the name after `env`.
fn interpreters(script: &Path) -> Vec<String> {
    let mut start = [0; 256];
    let read = fs::File::open(script).and_then(|mut file| file.read(&mut start)).unwrap_or(0);
    let text = String::from_utf8_lossy(&start[..read]);
    let Some(line) = text.strip_prefix("#!").and_then(|text| text.lines().next()) else { return Vec::new() };
    line.split_whitespace().map(str::to_owned).collect()
}

/// Returns the installation that an executable belongs to.
fn installation(executable: &Path) -> Vec<PathBuf> {
    let Some(folder) = executable.parent() else { return Vec::new() };
    let name = folder.file_name().unwrap_or_default();
    let mut shown = vec![executable.to_owned()];
    let Some(prefix) = folder.parent().filter(|prefix| !is_common(prefix)) else { return shown };
    if name == "shims" {
        // Of pyenv and its like: a script that looks for the version that is wanted.
        shown.push(prefix.to_owned());
    } else if name == "bin" || name == "sbin" {
        // What a user installed for themselves shares its prefix with much that is private.
        let parts = INSTALLED.iter().filter(|part| !(prefix.ends_with(".local") && **part == "share"));
        shown.extend(parts.map(|part| prefix.join(part)));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bot(folder: &Path, file: &str) -> Program {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        let words = vec!["python3".into(), "-u".into(), path.display().to_string()];
        Program { words, folder: path.parent().unwrap().to_owned(), ..Program::default() }
    }

    fn sees(list: &[PathBuf], path: &Path) -> bool {
        list.iter().any(|above| path.starts_with(above))
    }

    #[test]
    fn a_bot_sees_its_own_folder_and_no_other_bot() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (ada, ben, carl) =
            (bot(&folder, "bots/ada.py"), bot(&folder, "bots/ben.py"), bot(&folder, "bots/carl/main.py"));
        let store = folder.join("bots/night.store");
        for beside in ["bots/night.store", "bots/helper.py", "bots/data/book.txt", "elsewhere/x"] {
            bot(&folder, beside);
        }
        // A tournament that somebody keeps there, whatever it is called.
        let kept = [&b"SQLite format 3\0"[..], &[0; 52], b"NECR", b"..."].concat();
        fs::write(folder.join("bots/other.db"), kept).unwrap();
        // Parts of one, which have the secret of the dice.
        fs::create_dir(folder.join("bots/shards")).unwrap();
        fs::write(folder.join("bots/plan"), "# The plan of a tournament, for `necrodome shard`, ...")
            .unwrap();
        fs::write(folder.join("bots/packed"), [&b"PK\x03\x04"[..], &[0; 26], b"plan.toml..."].concat())
            .unwrap();
        fs::write(folder.join("bots/shards/0"), "necrodome-shard 1\n{").unwrap();
        fs::write(folder.join("bots/shards/book"), "its own").unwrap();
        let mut hidden: Vec<PathBuf> = [&ada, &ben, &carl].iter().flat_map(|bot| bot.files()).collect();
        hidden.extend([carl.folder.clone(), store.clone()]);
        let list = readable(&ada, &Sight { hidden: hidden.clone(), ..Sight::default() });
        for own in ["bots/ada.py", "bots/helper.py", "bots/data/book.txt", "bots/shards/book"] {
            assert!(sees(&list, &folder.join(own)), "{own}: {list:?}");
        }
        for other in [
            "bots/ben.py",
            "bots/carl",
            "bots/night.store",
            "bots/other.db",
            "bots/plan",
            "bots/packed",
            "bots/shards/0",
            "elsewhere/x",
        ] {
            assert!(!sees(&list, &folder.join(other)), "{other}: {list:?}");
        }
        let list =
            readable(&carl, &Sight { shared: vec![folder.join("elsewhere")], hidden, ..Sight::default() });
        assert!(sees(&list, &folder.join("bots/carl/main.py")) && sees(&list, &folder.join("elsewhere/x")));
        assert!(!sees(&list, &folder.join("bots/helper.py")));
    }

    #[test]
    fn a_bot_in_a_common_folder_is_shown_its_file_only() {
        let file = tempfile::Builder::new().suffix(".py").tempfile().unwrap();
        let folder = file.path().parent().unwrap().to_owned();
        let words = vec!["python3".into(), file.path().display().to_string()];
        let list =
            readable(&Program { words, folder: folder.clone(), ..Program::default() }, &Sight::default());
        assert!(sees(&list, &file.path().canonicalize().unwrap()));
        assert!(!sees(&list, &folder) && !sees(&list, Path::new("/etc/shadow")));
        // The folder of a file that the command names is its own all the same.
        let below = tempfile::tempdir_in(&folder).unwrap();
        let Program { words, .. } = bot(below.path(), "bot.py");
        let list =
            readable(&Program { words, folder: folder.clone(), ..Program::default() }, &Sight::default());
        assert!(
            sees(&list, &below.path().canonicalize().unwrap().join("helper.py")) && !sees(&list, &folder)
        );
    }

    #[test]
    fn the_packages_of_a_virtual_environment_are_readable() {
        let folder = tempfile::tempdir().unwrap();
        let venv = folder.path().canonicalize().unwrap().join("venv");
        fs::create_dir_all(venv.join("bin")).unwrap();
        fs::create_dir_all(venv.join("lib/python3/site-packages")).unwrap();
        fs::write(venv.join("secret"), "").unwrap();
        std::os::unix::fs::symlink("/bin/sh", venv.join("bin/python3")).unwrap();
        let words = vec![venv.join("bin/python3").display().to_string(), "bot.py".into()];
        let list = readable(&Program { words, folder: "/".into(), ..Program::default() }, &Sight::default());
        assert!(
            sees(&list, &venv.join("lib/python3/site-packages/numpy"))
                && sees(&list, &venv.join("bin/python3"))
        );
        assert!(!sees(&list, &venv.join("secret")), "{list:?}");
    }
}
