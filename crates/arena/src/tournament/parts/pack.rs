//! A plan with the bots that it needs, in one archive: a zip file with `plan.toml` and the bots' folders, where they were seen from
//! the plan. A worker unpacks it into a folder of its own, read-only, and needs nothing else but the interpreters.

use super::{super::PlannedEntry, PartError, PlanFile};
use crate::own;
use std::{
    collections::BTreeMap,
    fs::{self, File, Permissions},
    io::{self, Cursor, Read, Write},
    os::unix::fs::PermissionsExt,
    path::{Component, Path, PathBuf},
};
use tempfile::TempDir;
use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions};

/// The name of the plan inside.
const PLAN: &str = "plan.toml";
const EXPECTED: &str = "a pack: expected a file that `necrodome pack` has written";
/// No pack has more files, or is larger when it is unpacked.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 1 << 30;
/// No plan is larger.
const MOST_PLAN: u64 = 16 << 20;
/// What is made anew wherever it is missing, or is nobody's business.
const LEFT_OUT: [&str; 4] = ["__pycache__", "node_modules", "target", "venv"];
/// Files of ours that lie beside bots, by how they begin: stores, shards, packs and plans. They may hold the secret of the dice.
const OURS: [&[u8]; 4] =
    [b"SQLite format 3\0", b"necrodome-shard ", b"PK\x03\x04", b"# The plan of a tournament, for `necrodome"];

/// A plan with its bots.
#[derive(Debug)]
pub struct Packed {
    /// The archive.
    pub bytes: Vec<u8>,
    /// The files of bots in it, with their sizes.
    pub files: Vec<(String, u64)>,
    /// The BLAKE3 hash of the archive.
    pub hash: String,
}

/// Packs a plan with the folders of its bots, of at most so many bytes. `watch` hears what share of them is done.
pub fn pack(file: &PlanFile, most: u64, watch: &mut dyn FnMut(f64)) -> Result<Packed, PartError> {
    let most = most.min(MOST_BYTES);
    let root = file.folder().canonicalize().map_err(PartError::file(file.folder()))?;
    let entries = file.entries()?;
    let members = file.plan().members().map(|member| &file.plan().entries[member]);
    let mut found: BTreeMap<PathBuf, u64> = BTreeMap::new();
    for (planned, entry) in members.zip(&entries) {
        if root.to_str().is_some_and(|root| planned.bot.contains(&format!("{root}/"))) {
            return Err(PartError::Unsuitable(format!(
                "{} cannot be packed: {} is a path of this machine. Name the bot by a path that begins in {}, and write a new plan",
                planned.name,
                planned.bot,
                root.display()
            )));
        }
        for path in entry.luggage(&root) {
            collect(planned, &path, &root, &mut found)?;
        }
    }
    let all: u64 = found.values().sum();
    if found.len() > MOST_FILES || all > most {
        let mut largest: Vec<(&PathBuf, &u64)> = found.iter().collect();
        largest.sort_by_key(|(_, size)| std::cmp::Reverse(**size));
        let named: Vec<String> = largest
            .iter()
            .take(3)
            .map(|(path, size)| format!("{} ({} KB)", path.display(), *size / 1024))
            .collect();
        return Err(PartError::Unsuitable(format!(
            "the folders of the bots have {} files and {} MB, more than {MOST_FILES} files or {} MB; the largest: {}",
            found.len(),
            all >> 20,
            most >> 20,
            named.join(", ")
        )));
    }
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let broken =
        |error: &dyn std::fmt::Display| PartError::Unsuitable(format!("the pack cannot be written: {error}"));
    let options = |mode| {
        // No times: the same bots make the same pack.
        SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).unix_permissions(mode)
    };
    zip.start_file(PLAN, options(0o600)).map_err(|error| broken(&error))?;
    zip.write_all(file.text(file.folder())?.as_bytes()).map_err(|error| broken(&error))?;
    let (mut files, mut done) = (Vec::new(), 0);
    for (path, size) in found {
        watch(done as f64 / all.max(1) as f64);
        done += size;
        let full = root.join(&path);
        let content = fs::read(&full).map_err(PartError::file(&full))?;
        let mode = full.metadata().map_err(PartError::file(&full))?.permissions().mode();
        let name = path.to_str().ok_or_else(|| {
            PartError::Unsuitable(format!("the name of {} is not text in UTF-8", full.display()))
        })?;
        zip.start_file(name, options(if mode & 0o111 == 0 { 0o444 } else { 0o555 }))
            .map_err(|error| broken(&error))?;
        zip.write_all(&content).map_err(|error| broken(&error))?;
        files.push((name.to_owned(), size));
    }
    let bytes = zip.finish().map_err(|error| broken(&error))?.into_inner();
    let hash = blake3::hash(&bytes).to_string();
    Ok(Packed { bytes, files, hash })
}

/// Adds a file, or all files of a folder, as seen from the root.
fn collect(
    planned: &PlannedEntry,
    path: &Path,
    root: &Path,
    found: &mut BTreeMap<PathBuf, u64>,
) -> Result<(), PartError> {
    let path = path.canonicalize().map_err(PartError::file(path))?;
    let Ok(seen) = path.strip_prefix(root).map(Path::to_owned) else {
        return Err(PartError::Unsuitable(format!(
            "{} cannot be packed: {} lies outside of {}, where the plan was made. Run `necrodome tournament ... --plan-out` in a \
             folder that all bots are in or below",
            planned.name,
            path.display(),
            root.display()
        )));
    };
    let size = path.metadata().map_err(PartError::file(&path))?;
    if size.is_file() {
        if !is_ours(&path) && seen != Path::new(PLAN) {
            found.insert(seen, size.len());
        }
        return Ok(());
    }
    // What lies beside the plan may be anything: of that folder only files are taken, of others all that is in them.
    let deep = path != root;
    for entry in fs::read_dir(&path).map_err(PartError::file(&path))? {
        let entry = entry.map_err(PartError::file(&path))?;
        let (name, kind) = (entry.file_name(), entry.file_type().map_err(PartError::file(&path))?);
        let name = name.to_string_lossy();
        if name.starts_with('.') || LEFT_OUT.contains(&&*name) {
            continue;
        }
        // Links might lead anywhere; pipes and devices have no content.
        if kind.is_file() || kind.is_dir() && deep {
            collect(planned, &entry.path(), root, found)?;
        }
        if found.len() > MOST_FILES {
            return Ok(());
        }
    }
    Ok(())
}

fn is_ours(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut start));
    read.is_ok() && OURS.iter().any(|ours| start.starts_with(ours))
}

/// Whether a file is a pack, and not a plan alone.
pub fn is_pack(path: &Path) -> bool {
    let mut start = [0; 4];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == *b"PK\x03\x04"
}

/// A pack that was unpacked; its folder is removed in the end.
#[derive(Debug)]
pub(super) struct Unpacked {
    pub plan: String,
    pub folder: TempDir,
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        // Nothing can be removed from a folder that may not be written.
        let _ = set_folders(self.folder.path(), 0o700);
    }
}

fn set_folders(folder: &Path, mode: u32) -> std::io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            set_folders(&entry.path(), mode)?;
        }
    }
    fs::set_permissions(folder, Permissions::from_mode(mode))
}

/// Unpacks a pack, of which nothing is believed.
pub(super) fn unpack(path: &Path) -> Result<Unpacked, PartError> {
    unpack_within(path, MOST_BYTES)
}

/// Unpacks a pack of at most so many bytes.
pub(super) fn unpack_within(path: &Path, most: u64) -> Result<Unpacked, PartError> {
    let damaged = |what: String| PartError::damaged(path, what);
    let foreign = |_| PartError::Foreign { path: path.to_owned(), expected: EXPECTED };
    let bytes = own::read_bytes(path, most).map_err(PartError::file(path))?;
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(foreign)?;
    if zip.len() > MOST_FILES + 1 {
        return Err(damaged(format!("it has {} files, more than {MOST_FILES}", zip.len())));
    }
    let folder =
        tempfile::Builder::new().prefix("necrodome-pack-").tempdir().map_err(PartError::file(path))?;
    let mut unpacked = Unpacked { plan: String::new(), folder };
    let mut left = most;
    for number in 0..zip.len() {
        let mut file = zip.by_index(number).map_err(|error| damaged(error.to_string()))?;
        let name = file.enclosed_name().filter(|name| is_plain(name) && file.is_file());
        let Some(name) = name else {
            return Err(damaged(format!("it has a file with the odd name {:?}", file.name())));
        };
        let executable = file.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
        let broken = |error: io::Error| damaged(format!("{}: {error}", name.display()));
        // What is packed says how large it is, and is not believed.
        let mut content = (&mut file).take(left + 1);
        let size = if name == Path::new(PLAN) {
            // The plan has the secret: it is not put where bots are.
            let mut plan = String::new();
            content.take(MOST_PLAN).read_to_string(&mut plan).map_err(broken)?;
            unpacked.plan = plan;
            unpacked.plan.len() as u64
        } else {
            let target = unpacked.folder.path().join(&name);
            target.parent().map_or(Ok(()), fs::create_dir_all).map_err(broken)?;
            let mut out = File::create_new(&target).map_err(broken)?;
            let size = io::copy(&mut content, &mut out).map_err(broken)?;
            let mode = if executable { 0o555 } else { 0o444 };
            out.set_permissions(Permissions::from_mode(mode)).map_err(broken)?;
            size
        };
        let too_large = || damaged(format!("it has more than {} MB", most >> 20));
        left = left.checked_sub(size).ok_or_else(too_large)?;
    }
    set_folders(unpacked.folder.path(), 0o555).map_err(PartError::file(path))?;
    match unpacked.plan.is_empty() {
        true => Err(PartError::Foreign { path: path.to_owned(), expected: EXPECTED }),
        false => Ok(unpacked),
    }
}

/// Whether a path is nothing but names.
fn is_plain(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
}
