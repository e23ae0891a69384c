//! Files that nobody else may turn against us: a program could leave a link where we are about to write, or a file of its own.

#![deny(missing_docs)]

use nix::{
    libc::{O_NOFOLLOW, O_NONBLOCK},
    unistd::geteuid,
};
use rusqlite::types::ValueRef;
use std::{
    env,
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Read},
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

/// The error for an existing file that must not be written to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} {why}", path.display())]
pub struct Distrust {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub why: Why,
}

/// What is wrong with an existing file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// A symbolic link.
    #[error("is a symbolic link, and what it leads to is not written")]
    Link,
    /// A file with several names (hard links).
    #[error("has another name as well (it is a hard link), and is not written")]
    Named,
    /// A pipe, a socket or a device.
    #[error("is no regular file")]
    Odd,
    /// A file that belongs to another user.
    #[error("belongs to another user, and is not written")]
    Stranger,
}

impl Distrust {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self.why {
            Why::Link => "name the file itself, or remove the link if you did not make it",
            Why::Named => "copy the file and use the copy: both names would change at once",
            Why::Odd => "name a file",
            Why::Stranger => "choose a path in a folder where nobody else may write",
        }
    }
}

/// Refuses a path that holds a link (symbolic or hard), a pipe or a device, or a file that belongs neither to this process's user,
/// nor to root, nor to the owner of the folder.
pub fn check(path: &Path) -> Result<(), Distrust> {
    let Ok(there) = path.symlink_metadata() else { return Ok(()) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let trusted = [Some(geteuid().as_raw()), Some(0), folder.metadata().ok().map(|folder| folder.uid())];
    let why = if there.is_symlink() {
        Why::Link
    } else if !there.is_file() && !there.is_dir() {
        Why::Odd
    } else if there.is_file() && there.nlink() > 1 {
        Why::Named
    } else if !trusted.contains(&Some(there.uid())) {
        Why::Stranger
    } else {
        return Ok(());
    };
    Err(Distrust { path: path.to_owned(), why })
}

/// Opens an existing file to write it in place, and does not follow a link that was put there meanwhile.
pub fn open_in_place(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).custom_flags(O_NOFOLLOW).open(path)?;
    let there = file.metadata()?;
    match there.is_file() && there.nlink() > 1 {
        true => Err(io::Error::other(Distrust { path: path.to_owned(), why: Why::Named })),
        false => Ok(file),
    }
}

/// Opens a file to read it. Refuses a pipe or a device, which might never end.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    // A pipe is opened at once, and not when somebody writes into it.
    let file = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path)?;
    let there = file.metadata()?;
    // Whoever reads a folder is told that it is one.
    match there.is_file() || there.is_dir() {
        true => Ok(file),
        false => Err(io::Error::other(Why::Odd)),
    }
}

/// The longest text that is read, in bytes: far more than anybody writes by hand.
const MOST_TEXT: u64 = 16 << 20;

/// Reads a text written by hand, such as a plan, a table or a prompt: at most 16 MB.
pub fn read_text(path: &Path) -> io::Result<String> {
    let text = String::from_utf8(read_bytes(path, MOST_TEXT)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "is not a text in UTF-8"))
}

/// Reads a file of at most `most` bytes.
pub fn read_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_to_read(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= most {
        // Somebody may be writing it.
        file.take(most + 1).read_to_end(&mut bytes)?;
    }
    let length = length.max(bytes.len() as u64);
    match length > most {
        true => Err(io::Error::other(format!(
            "is {} MB long; expected at most {} MB",
            length.div_ceil(1 << 20),
            most >> 20
        ))),
        false => Ok(bytes),
    }
}

/// Makes a file that only its owner may use, unless it exists.
pub fn make_private(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map(drop)
}

/// Makes an existing file private to its owner, if it is ours.
pub fn make_own(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().read(true).custom_flags(O_NOFOLLOW).open(path)?;
    let there = file.metadata()?;
    let mode = there.mode() & 0o7777;
    if there.is_file() && mode & 0o077 != 0 && there.uid() == geteuid().as_raw() {
        file.set_permissions(Permissions::from_mode(mode & 0o700))?;
    }
    Ok(())
}

/// Whether everybody may replace the files in a folder.
pub fn is_open_to_all(folder: &Path) -> bool {
    // Where the sticky bit is set, as in /tmp, only owners may.
    folder.metadata().is_ok_and(|folder| folder.mode() & 0o1002 == 0o002)
}

/// The path with the links in its folder resolved, but not a link at the path itself.
pub fn in_real_folder(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = path
        .parent()
        .zip(path.file_name())
        .and_then(|(folder, name)| Some(fs::canonicalize(folder).ok()?.join(name)));
    real.unwrap_or(path)
}

/// The URI by which SQLite opens a file that nobody changes: it takes no lock, and writes no file beside it.
pub fn unchanging(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let written =
        |&byte: &u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    let path: String = path.as_os_str().as_bytes().iter().map(written).collect();
    format!("file:{path}?immutable=1")
}

/// Our folder in the user's cache, or `None` if there is no home for it. It may not exist yet.
pub fn cache() -> Option<PathBuf> {
    let own = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = own.or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".cache")))?;
    Some(cache.join("necrodome"))
}

/// The checksum of a row of SQLite: a hash of its context and of its values in order, each with its type and its length, so
/// that nothing can move from one value to the next.
pub fn seal<'v>(what: &str, values: impl IntoIterator<Item = ValueRef<'v>>) -> [u8; blake3::OUT_LEN] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(what.as_bytes());
    for value in values {
        let number;
        let (kind, bytes): (u8, &[u8]) = match value {
            ValueRef::Null => (0, &[]),
            ValueRef::Integer(value) => {
                number = value.to_le_bytes();
                (1, &number)
            }
            ValueRef::Real(value) => {
                number = value.to_le_bytes();
                (2, &number)
            }
            ValueRef::Text(bytes) => (3, bytes),
            ValueRef::Blob(bytes) => (4, bytes),
        };
        hasher.update(&[kind]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_up_to_a_limit_and_from_no_device() {
        let path = env::temp_dir().join(format!("necrodome-own-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        // Without its bytes on the disk.
        file.set_len(MOST_TEXT).unwrap();
        assert_eq!(read_text(&path).unwrap().len() as u64, MOST_TEXT);
        file.set_len(MOST_TEXT + 1).unwrap();
        let refused = read_text(&path).unwrap_err().to_string();
        fs::remove_file(&path).unwrap();
        assert_eq!(refused, "is 17 MB long; expected at most 16 MB");
        assert_eq!(read_text(Path::new("/dev/zero")).unwrap_err().to_string(), "is no regular file");
    }

    #[test]
    fn a_seal_depends_on_every_value_its_type_and_its_place() {
        let text = |text: &'static str| ValueRef::Text(text.as_bytes());
        let rows: [&[ValueRef]; 7] = [
            &[text("ab"), text("c")],
            &[text("a"), text("bc")],
            &[text("c"), text("ab")],
            &[text("abc")],
            &[ValueRef::Blob(b"abc")],
            &[ValueRef::Integer(0)],
            &[ValueRef::Null],
        ];
        let seals = rows.map(|row| seal("a table", row.iter().copied()));
        for (place, one) in seals.iter().enumerate() {
            assert_eq!(seals.iter().position(|other| other == one), Some(place));
        }
        assert_ne!(seal("another", rows[0].iter().copied()), seals[0]);
    }
}
