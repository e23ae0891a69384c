//! Follows a file while editors write it, replace it, or remove it for a moment.

use super::picture::Picture;
use crate::error::Error;
use necrodome_judge::script::read;
use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode, ModifyKind},
};
use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// How long the file must be quiet before it is read, since an editor does several things in a row when it saves.
const QUIET: Duration = Duration::from_millis(50);
/// How long to wait for a writer that has not closed the file.
const WRITING: Duration = Duration::from_millis(250);
/// The longest wait for a writer that never stops; after that, the current contents are shown.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often to look at the file itself, since some file systems report no changes.
const LOOK: Duration = Duration::from_secs(1);
/// How long a file must be missing or empty before that no longer means that it is being saved.
const AWAY: Duration = Duration::from_secs(1);

/// What happened to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileEvent {
    /// Somebody is writing to it.
    Writing,
    /// Somebody has finished writing, or the file was replaced.
    Done,
}

/// Identifies a version of a file without reading it.
type Version = (u64, u64, u64, i64, i64);

fn version(path: &Path) -> io::Result<Version> {
    let file = fs::metadata(path)?;
    Ok((file.dev(), file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
}

/// A file that is being followed.
pub struct Follower {
    path: PathBuf,
    picture: Picture,
    /// The version that the picture shows.
    shown: Option<Version>,
    /// When to look again.
    next: Instant,
    /// Since when there have been changes that were not read yet.
    changing: Option<Instant>,
    /// Since when the file has been missing or empty.
    away: Option<Instant>,
    /// Reports changes as long as it lives.
    _watcher: Option<RecommendedWatcher>,
}

impl Follower {
    /// Begins with the current file, and calls `tell` when something happens to it.
    pub fn new(path: &Path, tell: impl Fn(FileEvent) + Send + 'static) -> Result<Self, Error> {
        let watcher = watcher(path, tell);
        let bytes = read(path).map_err(|error| Error::at(path.display(), error))?;
        Ok(Follower {
            path: path.to_owned(),
            picture: Picture::of(bytes),
            shown: None,
            next: Instant::now(),
            changing: None,
            away: None,
            // Without it the file is still looked at now and then.
            _watcher: watcher.ok(),
        })
    }

    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// Returns how long there is nothing to do, unless a change is reported.
    pub fn wait(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Takes note of a change.
    pub fn told(&mut self, change: FileEvent) {
        let now = Instant::now();
        let since = *self.changing.get_or_insert(now);
        let quiet = if change == FileEvent::Writing { WRITING } else { QUIET };
        self.next = (now + quiet).min(since + PATIENCE);
    }

    /// Reads the file if it is time to. Returns whether the picture has changed.
    pub fn look(&mut self) -> bool {
        if !self.wait().is_zero() {
            return false;
        }
        self.changing = None;
        self.next = Instant::now() + LOOK;
        let before = version(&self.path).ok();
        if before.is_some() && before == self.shown {
            self.away = None;
            return self.picture.note.take().is_some();
        }
        let bytes = read(&self.path);
        if version(&self.path).ok() != before {
            self.told(FileEvent::Writing);
            return false;
        }
        match bytes {
            Ok(bytes) if !bytes.is_empty() || self.picture.bytes().is_empty() => {
                self.away = None;
                self.shown = before;
                self.take(bytes)
            }
            Ok(_) if self.is_away() => {
                self.shown = before;
                self.take(Vec::new())
            }
            Err(error) if self.is_away() => {
                let note = Some(format!("the script can't be read; this is the last version: {error}"));
                let new = self.picture.note != note;
                self.picture.note = note;
                new
            }
            _ => {
                self.told(FileEvent::Writing);
                false
            }
        }
    }

    fn is_away(&mut self) -> bool {
        self.away.get_or_insert_with(Instant::now).elapsed() >= AWAY
    }

    fn take(&mut self, bytes: Vec<u8>) -> bool {
        if bytes == self.picture.bytes() {
            return self.picture.note.take().is_some();
        }
        self.picture = Picture::of(bytes);
        true
    }
}

/// Watches the folder, since a file that is replaced is a different file with the same name.
fn watcher(path: &Path, tell: impl Fn(FileEvent) + Send + 'static) -> notify::Result<RecommendedWatcher> {
    let name = path.file_name().map(ToOwned::to_owned);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        let Ok(event) = event else { return };
        let named = event.paths.iter().any(|path| path.file_name() == name.as_deref());
        if event.need_rescan() {
            tell(FileEvent::Done);
        } else if let (true, Some(change)) = (named, change(event.kind)) {
            tell(change);
        }
    })?;
    watcher.watch(folder, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}

/// Returns what an event means for the file. Reading is not a change, and this program reads the file too.
fn change(kind: EventKind) -> Option<FileEvent> {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => Some(FileEvent::Done),
        EventKind::Access(_) => None,
        EventKind::Modify(ModifyKind::Data(_)) => Some(FileEvent::Writing),
        _ => Some(FileEvent::Done),
    }
}
