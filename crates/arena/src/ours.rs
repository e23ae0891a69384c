//! Files of the arena that may hold the secret of the dice: stores, plans, packs and shards, told by how they begin. They often lie beside
//! bots. No bot may read them, and no pack takes them along.

use std::{fs::File, io::Read, path::Path};

/// The name of the plan in a pack, which is its first file.
pub(crate) const PLAN: &str = "plan.toml";
/// How a plan begins, and how a shard does.
pub(crate) const PLAN_BEGINS: &str = "# The plan of a tournament, for `necrodome";
pub(crate) const SHARD_BEGINS: &str = "necrodome-shard ";
/// How a zip file begins, and where the name of its first file is.
pub(crate) const ZIP_BEGINS: [u8; 4] = *b"PK\x03\x04";
const ZIP_NAME: usize = 30;
/// How a file of SQLite begins, and where the number of our stores ends.
const SQLITE_BEGINS: &[u8] = b"SQLite format 3\0";
const STORE: &[u8] = b"NECR";
const HEAD: usize = 72;

/// What SQLite keeps beside a store, by the ends of its names.
const LOGS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Whether a file is one of ours, or belongs to one. Anything else that is a zip file or one of SQLite belongs to its bot.
pub(crate) fn is_ours(path: &Path) -> bool {
    let store = path.to_str().and_then(|path| LOGS.iter().find_map(|end| path.strip_suffix(end)));
    begins_as_ours(path) || store.is_some_and(|store| begins_as_ours(Path::new(store)))
}

fn begins_as_ours(path: &Path) -> bool {
    let mut head = Vec::with_capacity(HEAD);
    let read = File::open(path).and_then(|file| file.take(HEAD as u64).read_to_end(&mut head));
    // One that is just being written to has its number in its log only. A bot could not write to such a file.
    let is_open = || Path::new(&format!("{}-wal", path.display())).exists();
    let is_store =
        || head.len() == HEAD && head.starts_with(SQLITE_BEGINS) && (head.ends_with(STORE) || is_open());
    let is_pack = || {
        head.starts_with(&ZIP_BEGINS)
            && head.get(ZIP_NAME..).is_some_and(|name| name.starts_with(PLAN.as_bytes()))
    };
    let is_text = || [PLAN_BEGINS, SHARD_BEGINS].iter().any(|begins| head.starts_with(begins.as_bytes()));
    read.is_ok() && (is_text() || is_store() || is_pack())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, io::Write};

    #[test]
    fn ours_are_told_from_what_bots_bring_along() {
        let folder = tempfile::tempdir().unwrap();
        let zip = |name: &str| {
            let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
            zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(b"x").unwrap();
            zip.finish().unwrap().into_inner()
        };
        let sqlite = |number: &[u8]| [SQLITE_BEGINS, &[0; 52], number, b"..."].concat();
        for (content, ours) in [
            (sqlite(STORE), true),
            (zip("plan.toml"), true),
            (format!("{SHARD_BEGINS}1\n{{").into_bytes(), true),
            (format!("{PLAN_BEGINS} shard`\n").into_bytes(), true),
            // An opening book, weights of NumPy, a bot of Java.
            (sqlite(&[0; 4]), false),
            (zip("arr_0.npy"), false),
            (zip("META-INF/MANIFEST.MF"), false),
            (Vec::new(), false),
        ] {
            let path = folder.path().join("file");
            fs::write(&path, &content).unwrap();
            assert_eq!(is_ours(&path), ours, "{:?}", String::from_utf8_lossy(&content));
        }
    }
}
