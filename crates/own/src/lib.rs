//! Files that nobody else may turn against us. A program could leave a link where we are about to write, or a file of its own.

#![deny(missing_docs)]

use nix::{
    libc::{O_NOFOLLOW, O_NONBLOCK},
    unistd::geteuid,
};
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

/// Why a file that is there is not written to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} {why}", path.display())]
pub struct Distrust {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: Why,
}

/// What is wrong with a file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// A symbolic link.
    #[error("is a symbolic link, and what it leads to is not written")]
    Link,
    /// A file with two names.
    #[error("has another name as well (it is a hard link), and is not written")]
    Named,
    /// A pipe, a socket or a device.
    #[error("is no regular file")]
    Odd,
    /// A file of somebody else's.
    #[error("belongs to another user, and is not written")]
    Stranger,
}

impl Distrust {
    /// What can be done about it.
    pub fn hint(&self) -> &'static str {
        match self.why {
            Why::Link => "name the file itself, or remove the link if you did not make it",
            Why::Named => "copy the file and use the copy: both names would change at once",
            Why::Odd => "name a file",
            Why::Stranger => "choose a path in a folder where nobody else may write",
        }
    }
}

/// Refuses a path at which there is a link, a pipe or a device, or a file of somebody who owns neither this process nor the folder.
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

/// Opens a file that is there, to write it in place: not through a link that came there meanwhile.
pub fn open_in_place(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).custom_flags(O_NOFOLLOW).open(path)?;
    let there = file.metadata()?;
    match there.is_file() && there.nlink() > 1 {
        true => Err(io::Error::other(Distrust { path: path.to_owned(), why: Why::Named })),
        false => Ok(file),
    }
}

/// Opens a file to read it. A pipe or a device is refused: one could wait for its end for ever.
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

/// Reads a text that is in a file.
pub fn read_text(path: &Path) -> io::Result<String> {
    io::read_to_string(open_to_read(path)?)
}

/// Reads a file of at most so many bytes.
pub fn read_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_to_read(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(io::Error::other(format!("it has {} MB, more than {}", length >> 20, most >> 20)));
    }
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Makes a file that its owner alone may use, if there is none.
pub fn make_private(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map(drop)
}

/// Takes from everybody else what they may do with a file, where it is ours to take.
pub fn make_own(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().read(true).custom_flags(O_NOFOLLOW).open(path)?;
    let there = file.metadata()?;
    let mode = there.mode() & 0o7777;
    if there.is_file() && mode & 0o077 != 0 && there.uid() == geteuid().as_raw() {
        file.set_permissions(Permissions::from_mode(mode & 0o700))?;
    }
    Ok(())
}

/// Whether everybody may put files in the place of those in a folder.
pub fn is_open_to_all(folder: &Path) -> bool {
    // Where the sticky bit is set, as in /tmp, only owners may.
    folder.metadata().is_ok_and(|folder| folder.mode() & 0o1002 == 0o002)
}

/// The path with the links on the way to its folder followed, but not one in its own place.
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

/// Our folder in the user's cache, if there is a home for it. It may not be there yet.
pub fn cache() -> Option<PathBuf> {
    let own = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = own.or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".cache")))?;
    Some(cache.join("necrodome"))
}
