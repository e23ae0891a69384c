//! SQLite's write-ahead log next to a store. SQLite takes a frame that does not fit its checksum for the end of the log, and drops
//! everything after it: that is right after a kill, but wrong if a bit has changed.

use super::{
    StoreError,
    chain::{self, Damage},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// Returns the path of a store's log, which exists while a process writes.
pub(super) fn path_of(store: &Path) -> PathBuf {
    beside(store, "-wal")
}

/// Returns the path of a file that SQLite keeps next to a store.
pub(super) fn beside(store: &Path, end: &str) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(end);
    path.into()
}

/// Returns what is wrong with the log of a store, if there is one. A log that only ends early, as after a kill, is fine.
pub(super) fn examine(store: &Path) -> io::Result<Option<Damage>> {
    let log = match fs::read(path_of(store)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        log => log?,
    };
    let what = Log::read(&log).and_then(|log| log.damage());
    Ok(what.map(|what| Damage { tournament: None, part: "log", blocks: None, what }))
}

/// Refuses a store whose log is damaged.
pub(super) fn check(store: &Path) -> Result<(), StoreError> {
    chain::refuse(examine(store).map_err(|_| StoreError::Broken)?.as_slice())
}

/// A log with a complete header.
pub(super) struct Log<'a> {
    bytes: &'a [u8],
    little: bool,
    page: usize,
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |word| u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
}

type Sum = (u32, u32);

impl<'a> Log<'a> {
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        (bytes.len() > HEADER).then(|| Log {
            bytes,
            // The last bit of the first word says how sums are made.
            little: word(bytes, 0) & 1 == 0,
            page: (word(bytes, 8) as usize).clamp(512, 65536),
        })
    }

    /// Returns the frames: the bytes before the page, and the page.
    fn frames(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let frames = self.bytes[HEADER..].chunks_exact(FRAME_HEADER + self.page);
        frames.map(|frame| frame.split_at(FRAME_HEADER))
    }

    /// Returns the pages of frames that seem to belong to this log, with their numbers, in the order in which they were written.
    pub fn pages(&self) -> impl Iterator<Item = (u32, &'a [u8])> {
        let salt = &self.bytes[16..24];
        self.frames().filter(move |(head, _)| &head[8..16] == salt).map(|(head, page)| (word(head, 0), page))
    }

    fn sum(&self, sum: Sum, bytes: &[u8]) -> Sum {
        let number = |word: &[u8]| {
            let word = [word[0], word[1], word[2], word[3]];
            if self.little { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) }
        };
        bytes.chunks_exact(8).fold(sum, |(one, other), pair| {
            let one = one.wrapping_add(number(&pair[..4])).wrapping_add(other);
            (one, other.wrapping_add(number(&pair[4..])).wrapping_add(one))
        })
    }

    /// Returns the checksum of a frame, and whether it is the stored one, with the salt of this log.
    fn check(&self, before: Sum, (head, page): (&[u8], &[u8])) -> (Sum, bool) {
        let made = self.sum(self.sum(before, &head[..8]), page);
        (made, made == stored(head) && head[8..16] == self.bytes[16..24])
    }

    fn damage(&self) -> Option<String> {
        const NAME: &str = "the log beside it (-wal)";
        let mut sum = self.sum((0, 0), &self.bytes[..24]);
        if sum != stored(&self.bytes[8..]) {
            return Some(format!("{NAME}: its header changed since written"));
        }
        let frames: Vec<_> = self.frames().collect();
        let mut sound = 0;
        while let Some((made, true)) = frames.get(sound).map(|frame| self.check(sum, *frame)) {
            (sum, sound) = (made, sound + 1);
        }
        let (bad, later) = frames[sound..].split_first()?;
        // What comes after it fits what is written in it, or should be: so it was written whole.
        let follows = |pair: &[(&[u8], &[u8])]| self.check(stored(pair[0].0), pair[1]).1;
        let was_whole = frames[sound..].windows(2).any(follows)
            || later.first().is_some_and(|next| self.check(self.check(sum, *bad).0, *next).1)
            || self.is_one_bit_off(sum, bad.0, bad.1);
        was_whole.then(|| format!("{NAME}: frame {sound} changed since written"))
    }

    /// Whether a single changed bit explains what is wrong with a frame: a frame half-written at a kill differs in more.
    fn is_one_bit_off(&self, before: Sum, head: &[u8], page: &[u8]) -> bool {
        let made = self.check(before, (head, page)).0;
        let salt = head[8..16].iter().zip(&self.bytes[16..24]);
        let salt: u32 = salt.map(|(one, other)| (one ^ other).count_ones()).sum();
        let off = (stored(head).0 ^ made.0).count_ones() + (stored(head).1 ^ made.1).count_ones();
        let mut frame = [&head[..8], page].concat();
        salt + off == 1
            || salt == 0
                && (0..frame.len() * 8).any(|bit| {
                    frame[bit / 8] ^= 1 << (bit % 8);
                    let mends = self.sum(before, &frame) == stored(head);
                    frame[bit / 8] ^= 1 << (bit % 8);
                    mends
                })
    }
}

/// Returns the checksum stored in a frame.
fn stored(head: &[u8]) -> Sum {
    (word(head, 16), word(head, 20))
}
