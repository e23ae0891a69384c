//! A plan with the bots that it needs, in one archive: a zip file with `plan.toml` and the bots' folders, at the same paths relative to
//! the plan. A worker unpacks it into its own read-only folder, and needs nothing else but the interpreters.

use super::{super::PlannedEntry, MOST_PLAN, PartError, PlanFile, check_size};
use crate::{
    ours::{PLAN, ZIP_BEGINS, is_ours},
    own,
};
use nix::unistd::getuid;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, Permissions, TryLockError},
    io::{self, Cursor, Read, Write},
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, PermissionsExt},
    },
    path::{Component, Path, PathBuf},
};
use tempfile::TempDir;
use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions};

const EXPECTED: &str = "a pack: expected a file that `necrodome pack` has written";
/// The most files in a pack; below, its largest size when unpacked.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 1 << 30;
/// What is made anew wherever it is missing, or is nobody's business.
const LEFT_OUT: [&str; 4] = [CACHE, "node_modules", "target", "venv"];
/// What Python makes anew without being asked: nobody misses it.
const CACHE: &str = "__pycache__";
/// How the names of folders begin that packs are unpacked into.
const UNPACKED: &str = "necrodome-pack-";

/// A plan with its bots.
#[derive(Debug)]
pub struct Packed {
    /// The archive.
    pub bytes: Vec<u8>,
    /// The files of bots in it, with their sizes.
    pub files: Vec<(String, u64)>,
    /// The BLAKE3 hash of the archive.
    pub hash: String,
    /// A hash of the bots' files, however they are packed.
    pub bots: String,
    /// What lies in the folders of the bots and was left out: folders by their names with a slash, files and links.
    pub left_out: Vec<String>,
}

/// What is packed: files with their sizes, and what is not.
#[derive(Default)]
struct Found {
    files: BTreeMap<PathBuf, u64>,
    left_out: BTreeSet<PathBuf>,
}

/// The hash of files, by their names: whether they are executable, and their contents.
#[derive(Default)]
struct Bots(BTreeMap<PathBuf, (bool, blake3::Hash)>);

impl Bots {
    fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (name, (executable, content)) in &self.0 {
            let name = name.as_os_str().as_bytes();
            hasher.update(&(name.len() as u64).to_le_bytes()).update(name);
            hasher.update(&[u8::from(*executable)]).update(content.as_bytes());
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }
}

/// Packs a plan with the folders of its bots, at most `most` bytes in all. `watch` gets the share that is done.
pub fn pack(file: &PlanFile, most: u64, watch: &mut dyn FnMut(f64)) -> Result<Packed, PartError> {
    let most = most.min(MOST_BYTES);
    let root = file.folder().canonicalize().map_err(PartError::file(file.folder()))?;
    let entries = file.entries()?;
    let members = file.plan().members().map(|member| &file.plan().entries[member]);
    let mut found = Found::default();
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
    let Found { files: found, left_out } = found;
    // A folder of another bot is not left out.
    let left_out = left_out.into_iter().filter(|path| !found.keys().any(|file| file.starts_with(path)));
    let named = |path: PathBuf| match root.join(&path).is_dir() {
        true => format!("{}/", path.display()),
        false => path.display().to_string(),
    };
    let left_out = left_out.map(named).collect();
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
    let (mut files, mut bots, mut done) = (Vec::new(), Bots::default(), 0);
    for (path, size) in found {
        watch(done as f64 / all.max(1) as f64);
        done += size;
        let full = root.join(&path);
        let content = fs::read(&full).map_err(PartError::file(&full))?;
        let mode = full.metadata().map_err(PartError::file(&full))?.permissions().mode();
        let name = path.to_str().ok_or_else(|| {
            PartError::Unsuitable(format!("the name of {} is not text in UTF-8", full.display()))
        })?;
        let executable = mode & 0o111 != 0;
        zip.start_file(name, options(if executable { 0o555 } else { 0o444 }))
            .map_err(|error| broken(&error))?;
        zip.write_all(&content).map_err(|error| broken(&error))?;
        files.push((name.to_owned(), size));
        bots.0.insert(path, (executable, blake3::hash(&content)));
    }
    let bytes = zip.finish().map_err(|error| broken(&error))?.into_inner();
    let hash = blake3::hash(&bytes).to_string();
    Ok(Packed { bytes, files, hash, bots: bots.hash(), left_out })
}

/// Adds a file, or all files of a folder, as seen from the root.
fn collect(planned: &PlannedEntry, path: &Path, root: &Path, found: &mut Found) -> Result<(), PartError> {
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
            found.files.insert(seen, size.len());
        }
        return Ok(());
    }
    // What lies beside the plan may be anything: of that folder only files are taken, of others all that is in them.
    let deep = path != root;
    for entry in fs::read_dir(&path).map_err(PartError::file(&path))? {
        let entry = entry.map_err(PartError::file(&path))?;
        let (name, kind) = (entry.file_name(), entry.file_type().map_err(PartError::file(&path))?);
        let name = name.to_string_lossy();
        // Links might lead anywhere; pipes and devices have no content.
        let is_taken = kind.is_file() || kind.is_dir() && deep;
        if is_taken && !name.starts_with('.') && !LEFT_OUT.contains(&&*name) {
            collect(planned, &entry.path(), root, found)?;
        } else if name != CACHE {
            found.left_out.insert(seen.join(&*name));
        }
        if found.files.len() > MOST_FILES {
            return Ok(());
        }
    }
    Ok(())
}

/// Whether a file is a pack and not just a plan.
pub fn is_pack(path: &Path) -> bool {
    let mut start = [0; 4];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == ZIP_BEGINS
}

/// An unpacked pack; its folder is removed when it is dropped.
#[derive(Debug)]
pub(super) struct Unpacked {
    pub plan: String,
    /// A hash of its files: that of [`Packed`].
    pub bots: String,
    pub folder: TempDir,
    /// Says that somebody needs the folder, as long as it is open.
    _lock: File,
}

impl Unpacked {
    /// An empty folder that nobody else removes.
    fn new() -> io::Result<Self> {
        loop {
            let folder = tempfile::Builder::new().prefix(UNPACKED).tempdir()?;
            // Somebody who sweeps may have come in between.
            let lock = match File::open(folder.path()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            let is_swept = matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
            if !is_swept && folder.path().exists() {
                return Ok(Unpacked { plan: String::new(), bots: String::new(), folder, _lock: lock });
            }
        }
    }
}

/// Removes the folders of those who were killed: they are this user's, and nobody holds their locks.
fn sweep() {
    let is_own = |path: &Path| {
        path.symlink_metadata().is_ok_and(|data| data.is_dir() && data.uid() == getuid().as_raw())
    };
    for entry in fs::read_dir(tempfile::env::temp_dir()).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name().as_bytes().starts_with(UNPACKED.as_bytes())
            && is_own(&path)
            && let Ok(lock) = File::open(&path)
            && lock.try_lock().is_ok()
        {
            // What cannot be removed now is left to the next one.
            let _ = set_folders(&path, 0o700).and_then(|()| fs::remove_dir_all(&path));
        }
    }
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

/// Unpacks a pack, and trusts nothing in it.
pub(super) fn unpack(path: &Path) -> Result<Unpacked, PartError> {
    unpack_within(path, MOST_BYTES)
}

/// Unpacks a pack of at most `most` bytes.
pub(super) fn unpack_within(path: &Path, most: u64) -> Result<Unpacked, PartError> {
    let damaged = |what: String| PartError::damaged(path, what);
    let foreign = |_| PartError::Foreign { path: path.to_owned(), expected: EXPECTED };
    let bytes = own::read_bytes(path, most).map_err(PartError::file(path))?;
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(foreign)?;
    if zip.len() > MOST_FILES + 1 {
        return Err(damaged(format!("it has {} files, more than {MOST_FILES}", zip.len())));
    }
    sweep();
    let mut unpacked = Unpacked::new().map_err(PartError::file(path))?;
    let (mut bots, mut left) = (Bots::default(), most);
    for number in 0..zip.len() {
        let mut file = zip.by_index(number).map_err(|error| damaged(error.to_string()))?;
        let name = file.enclosed_name().filter(|name| is_plain(name) && file.is_file());
        let Some(name) = name else {
            let name = file.name().unwrap_or_default();
            return Err(damaged(format!("it has a file with the odd name {name:?}")));
        };
        let executable = file.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
        let folder = unpacked.folder.path().to_owned();
        let broken = |error: io::Error| unwritten(path, &folder, &name, error);
        // What is packed says how large it is, and is not believed.
        let mut content = (&mut file).take(left + 1);
        let size = if name == Path::new(PLAN) {
            // The plan has the secret: it is not put where bots are.
            let mut plan = String::new();
            content.take(MOST_PLAN + 1).read_to_string(&mut plan).map_err(broken)?;
            check_size(plan.len()).map_err(damaged)?;
            unpacked.plan = plan;
            unpacked.plan.len() as u64
        } else {
            let target = unpacked.folder.path().join(&name);
            target.parent().map_or(Ok(()), fs::create_dir_all).map_err(broken)?;
            let mut out = File::create_new(&target).map_err(broken)?;
            let mut hasher = blake3::Hasher::new();
            let size = io::copy(&mut Hashed(&mut content, &mut hasher), &mut out).map_err(broken)?;
            let mode = if executable { 0o555 } else { 0o444 };
            out.set_permissions(Permissions::from_mode(mode)).map_err(broken)?;
            bots.0.insert(name.clone(), (executable, hasher.finalize()));
            size
        };
        let too_large = || damaged(format!("it has more than {} MB", most >> 20));
        left = left.checked_sub(size).ok_or_else(too_large)?;
    }
    unpacked.bots = bots.hash();
    set_folders(unpacked.folder.path(), 0o555).map_err(PartError::file(path))?;
    // What is in a pack is nobody's business but this user's.
    fs::set_permissions(unpacked.folder.path(), Permissions::from_mode(0o500))
        .map_err(PartError::file(path))?;
    match unpacked.plan.is_empty() {
        true => Err(PartError::Foreign { path: path.to_owned(), expected: EXPECTED }),
        false => Ok(unpacked),
    }
}

/// Why a file of a pack could not be unpacked: the pack is damaged, unless the disk is full.
pub(super) fn unwritten(path: &Path, folder: &Path, name: &Path, error: io::Error) -> PartError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            PartError::NoRoom { path: path.to_owned(), folder: folder.to_owned(), why: error }
        }
        _ => PartError::damaged(path, format!("{}: {error}", name.display())),
    }
}

/// What is read goes into a hash as well.
struct Hashed<'a, R>(R, &'a mut blake3::Hasher);

impl<R: Read> Read for Hashed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.0.read(buffer)?;
        self.1.update(&buffer[..size]);
        Ok(size)
    }
}

/// Whether a path consists of plain names only.
fn is_plain(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
}
