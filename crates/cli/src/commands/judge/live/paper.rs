//! The script on the disk: locked, appended line by line, replaced as a whole.

use crate::{
    error::{Error, ExitKind},
    output_file::folder,
};
use necrodome_judge::script;
use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

/// A file that stays the same for this long is no longer being saved.
const QUIET: Duration = Duration::from_millis(50);
/// How many times to wait for that.
const TRIES: usize = 10;

/// A script that only this process writes.
pub struct Paper {
    path: PathBuf,
    file: File,
    /// The contents of the file when it was last read.
    bytes: Vec<u8>,
}

/// How the file has changed since the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    None,
    /// Somebody else has written to it.
    Written,
    Gone,
}

impl Paper {
    /// Opens a script, or begins one.
    pub fn open(path: &Path) -> Result<Self, Error> {
        // What a link leads to is replaced, not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let new = !path.exists();
        let file = open(&path)?;
        let bytes = script::read(&path).map_err(failed(&path))?;
        let paper = Paper { path, file, bytes };
        if new {
            paper.sync_folder().map_err(failed(&paper.path))?;
        }
        Ok(paper)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the last line still lacks a line break.
    pub fn is_unfinished(&self) -> bool {
        !self.bytes.is_empty() && !self.bytes.ends_with(b"\n")
    }

    /// Returns the number that the next appended line would get.
    pub fn next_line(&self) -> usize {
        let breaks = self.bytes.iter().filter(|&&byte| byte == b'\n').count();
        breaks + 1 + usize::from(self.is_unfinished())
    }

    /// Checks whether the file is still as this process wrote it, and reads it again if not.
    pub fn look(&mut self) -> Result<Change, Error> {
        let there = match fs::metadata(&self.path) {
            Ok(there) => there,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Change::Gone),
            Err(error) => return Err(failed(&self.path)(error)),
        };
        let ours = self.file.metadata().map_err(failed(&self.path))?;
        let replaced = (there.dev(), there.ino()) != (ours.dev(), ours.ino());
        // The script of a long evening is a few thousand short lines.
        let read = || script::read(&self.path);
        let mut bytes = read();
        for _ in 0..TRIES {
            if bytes.as_ref().is_ok_and(|bytes| *bytes == self.bytes) {
                break;
            }
            // Somebody may be in the middle of writing it.
            thread::sleep(QUIET);
            let before = std::mem::replace(&mut bytes, read());
            if before.ok() == bytes.as_ref().ok().cloned() {
                break;
            }
        }
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Change::Gone),
            Err(error) => return Err(failed(&self.path)(error)),
        };
        if replaced {
            self.file = open(&self.path)?;
        }
        let changed = bytes != self.bytes;
        self.bytes = bytes;
        Ok(if changed { Change::Written } else { Change::None })
    }

    /// Appends a line. It is on the disk when this returns; after an error, the file is as it was.
    pub fn append(&mut self, line: &str) -> io::Result<()> {
        let before = if self.is_unfinished() { "\n" } else { "" };
        let more = format!("{before}{line}\n");
        let written = self.file.write_all(more.as_bytes()).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.bytes.extend(more.into_bytes()),
            // A piece of a line must not stay: it could mean something else.
            Err(_) => self.file.set_len(self.bytes.len() as u64)?,
        }
        written
    }

    /// Replaces the whole script: whatever happens, either the old or the new one is there, never a part.
    pub fn replace(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        let folder = folder(&self.path);
        let mut file =
            tempfile::Builder::new().append(true).prefix(".").suffix(".new").tempfile_in(folder)?;
        file.write_all(&bytes)?;
        // A script that only its judge can read stays so.
        file.as_file().set_permissions(self.file.metadata()?.permissions())?;
        file.as_file().sync_all()?;
        // Before anybody else can see it; nobody else has it, so this succeeds where locks are known.
        let _ = file.as_file().try_lock();
        self.file = file.persist(&self.path).map_err(|error| error.error)?;
        self.bytes = bytes;
        self.sync_folder()
    }

    /// Syncs the folder: a new file name is safe only after that.
    fn sync_folder(&self) -> io::Result<()> {
        File::open(folder(&self.path))?.sync_all()
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |error| Error::at(path.display(), error)
}

/// Opens a file and locks it.
fn open(path: &Path) -> Result<File, Error> {
    loop {
        // A new script tells who is what: it is for the judge alone.
        let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path);
        let file = file.map_err(failed(path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let path = path.display();
                let text = format!("{path} is in use: another `necrodome judge live` writes this script");
                return Err(Error::new(ExitKind::InUse, text));
            }
            // Some file systems know no locks: better to write without than not at all.
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(failed(path)(error)),
        }
        // Another one may have replaced it just before it was locked.
        let ours = file.metadata().map_err(failed(path))?;
        match fs::metadata(path) {
            Ok(there) if (there.dev(), there.ino()) == (ours.dev(), ours.ino()) => return Ok(file),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(path)(error)),
            _ => {}
        }
    }
}
